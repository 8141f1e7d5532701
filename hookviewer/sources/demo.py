"""The models that ship with hookviewer: three trained networks and the teaching models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources import teaching, trained
from hookviewer.sources.nearby import nearby
from hookviewer.sources.source import Opened, Source, spelled, split_arguments

DEMOS: Mapping[str, Callable[..., Opened]] = {
    "mobilenet_v2": trained.mobilenet_v2,
    "pnet": trained.pnet,
    "digits": trained.digits,
    "tensor_hook": teaching.tensor_hook,
    "fc_relu_fc": teaching.fc_relu_fc,
    "simple_cnn": teaching.simple_cnn,
    "mlp": teaching.mlp,
    "three_layers": teaching.three_layers,
}


class DemoSource(Source):
    """`demo:mobilenet_v2`, `demo:tensor_hook?example=wxaby`: a model that ships with hookviewer."""

    rank = 10

    def accepts(self, spec: str) -> bool:
        return spec.startswith("demo:")

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        place, arguments = split_arguments(spec)
        name, arguments = place.removeprefix("demo:"), arguments | dict(options)
        if name not in DEMOS:
            raise HookViewerError(f"There is no demo model {name!r}: {nearby(name, DEMOS)}.")
        try:
            opened = DEMOS[name](**arguments)
        except TypeError as error:
            if arguments and "unexpected keyword argument" in str(error):
                raise HookViewerError(
                    f"demo:{name} takes no argument {spelled(arguments)}: leave it out."
                ) from None
            raise
        opened.model.eval()  # a demo model is there to be looked at, not to be trained
        return opened
