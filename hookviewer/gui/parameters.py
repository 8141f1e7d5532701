"""Parameters and buffers of one module as they are in the model, and their gradients, as frozen values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.modules import module_index, unwrapped
from hookviewer.recording import Record, Recording
from hookviewer.snapshot import Budget, snapshot

BUFFER = "A buffer: it is not trained."


@dataclasses.dataclass(frozen=True, eq=False)
class Parameters:
    """What was read of one module: `path` is None before anything was.

    `gradients` are those of a run on the input `number`; `why` says why there are none, or none yet. `source`
    tells apart the models that weights were read of; `variant` names the one that is not open as it is.
    """

    path: str | None = None
    values: Recording = dataclasses.field(default_factory=lambda: Recording({}))
    number: int | None = None
    gradients: Recording | None = None
    why: str = ""
    source: tuple[object, ...] = ()
    variant: str = ""

    def leaves(self, path: str) -> tuple[str, ...]:
        """Return the names of what was read of a module; nothing where another one was read."""
        return self.values.leaves(path, Kind.PARAM) if path == self.path else ()

    def leaf(self, path: str, wanted: str) -> str:
        """Return the wanted name where there is such a parameter, else the first one."""
        there = self.leaves(path)
        return wanted if wanted in there or not there else there[0]

    def value(self, path: str, wanted: str) -> Record:
        """Return a parameter or buffer; raise `HookViewerError` with the reason where there is none."""
        return self.values[self._key(self.values, path, Kind.PARAM, self.leaf(path, wanted))]

    def gradient(self, path: str, wanted: str) -> Record:
        """Return the gradient of a parameter; raise `HookViewerError` with the reason where there is none."""
        if self.gradients is None:
            raise HookViewerError(self.why)
        leaf = self.leaf(path, wanted)
        if BUFFER in self.value(path, leaf).notes:
            raise HookViewerError(f"{leaf} is a buffer: it has no gradient.")
        return self.gradients[self._key(self.gradients, path, Kind.PARAM_GRAD, leaf)]

    def _key(self, recording: Recording, path: str, kind: Kind, leaf: str) -> Key:
        key = Key(path, kind, 0, leaf)
        if key not in recording:
            raise HookViewerError(recording.reason(key))
        return key


def read(model: nn.Module, path: str, budget: int) -> Recording:
    """Return copies of the parameters and buffers of a module itself; call it on the model's own thread.

    What it has not is absent with its reason, under the leaf `""`.
    """
    index = module_index(unwrapped(model)[0])
    canonical = index.canonical(path)
    if canonical is None:
        return _absent(path, f"{path} is a call of a function: it has no weights.")
    own = dict(_own(index.modules[canonical]))
    if not own:
        return _absent(path, _nothing(index.modules[canonical]))
    left = Budget(budget)
    keys = {Key(path, Kind.PARAM, 0, name): value for name, value in own.items()}
    return Recording({key: _taken(key, value, left) for key, value in keys.items()})


def _taken(key: Key, value: torch.Tensor, budget: Budget) -> Record:
    record = snapshot(key, value, budget)
    trained = isinstance(value, nn.Parameter)
    return record if trained else dataclasses.replace(record, notes=(*record.notes, BUFFER))


def _absent(path: str, why: str) -> Recording:
    return Recording({}, absent={Key(path, Kind.PARAM): why})


def _nothing(module: nn.Module) -> str:
    if any(value is not None and is_lazy(value) for value in module._parameters.values()):
        return "Its weights do not exist before the first run: run the model (F5), then look again."
    if any(True for _ in module.parameters()):
        return "It has no weights of its own: select a module inside it."
    return "It has no weights."


def _own(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the parameters, then the buffers; those of a quantized layer as it gives them."""
    for name, value in (*module._parameters.items(), *module._buffers.items()):
        if value is not None and not is_lazy(value):
            yield name, value
    for name in ("weight", "bias"):
        given = getattr(module, name, None)
        if callable(given) and type(module).__module__.startswith("torch.ao.nn.quantized"):
            value = given()
            if isinstance(value, torch.Tensor):
                yield name, value


def unread(path: str, why: str) -> Recording:
    """Return what is known of a module whose parameters could not be read: the reason."""
    return _absent(path, why)
