"""`capture`: run a model once, record, and leave it as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from hookviewer.edits import Edit
from hookviewer.hooks.journal import Journal, OnRecord
from hookviewer.hooks.passes import Run
from hookviewer.hooks.request import checked
from hookviewer.modules import module_index, unwrapped
from hookviewer.plan import HookPlan
from hookviewer.preserve import chosen_device, device_of, on_device, preserved
from hookviewer.recording import Recording
from hookviewer.targets import Target


@runtime_checkable
class Given(Protocol):
    """What holds all that a model is called with: an `Input`, for example."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def capture(
    model: nn.Module,
    args: Any,
    plan: HookPlan,
    *,
    kwargs: Mapping[str, Any] | None = None,
    target: Target | None = None,
    edits: Sequence[Edit] = (),
    mode: str = "eval",
    seed: int | None = 0,
    device: str | torch.device | None = None,
    budget: int = 2 << 30,
    on_module: Callable[[str], object] | None = None,
    on_record: OnRecord | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Recording:
    """Run `model` once on `args` and return the records that `plan` asks for.

    The model is left bit for bit as it was found. `args` is a tuple, one lone argument or an `Input`; inputs
    are copied and moved to where the model runs. `device=None` is where the model is; another one is used for
    this run only. `mode` is `"eval"`, `"train"` or `"as is"`. `budget` is how many bytes the records may
    keep. `on_module` is called with the path as each module starts, `on_record` with each record as it is
    made (what overwrites its tensor later is known in the recording only), `cancelled` is asked at every
    module and gradient.

    Raises `HookViewerError` before anything runs for what cannot be done, `ModelError` (with all that was
    recorded until then) when the run fails, `Cancelled` when it is stopped.
    """
    inner, notes = unwrapped(model)
    index = module_index(inner)
    request = checked(index, plan, target=target, edits=edits)
    modules = list(index.modules.values())
    where = device_of(modules) if device is None else chosen_device(device)
    inputs = _called_with(args, kwargs)
    journal = Journal(budget, on_record, notes, request.summarised)
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.set_grad_enabled(request.gradients))
        keep = stack.enter_context(preserved(modules, mode=mode, seed=seed))
        stack.enter_context(on_device(modules, where))
        if request.gradients and where.type == "cuda" and any(isinstance(m, nn.RNNBase) for m in modules):
            # cuDNN cannot differentiate recurrent layers in eval mode; torch's own kernels can
            stack.enter_context(torch.backends.cudnn.flags(enabled=False))
        run = Run(
            index,
            request,
            journal,
            provenance=_provenance(inner, plan, edits, target, mode=mode, seed=seed, device=where),
            on_module=on_module,
            keep=keep,
            cancelled=cancelled,
        )
        stack.callback(run.close)
        failure = run.execute(inputs, where)
    if failure is not None:
        raise failure
    return run.recording()


def _called_with(args: Any, kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(args, Given) and not isinstance(args, nn.Module | torch.Tensor):
        return tuple(args.args), {**args.kwargs, **(kwargs or {})}
    return (args if isinstance(args, tuple) else (args,)), dict(kwargs or {})


def _provenance(
    model: nn.Module,
    plan: HookPlan,
    edits: Sequence[Edit],
    target: Target | None,
    *,
    mode: str,
    seed: int | None,
    device: torch.device,
) -> dict[str, str]:
    return {
        "model": type(model).__name__,
        "device": str(device),
        "mode": mode,
        "seed": "" if seed is None else str(seed),
        "target": "" if target is None else str(target),
        "edits": "; ".join(map(str, edits)),
        "kinds": ", ".join(sorted(plan.kinds)),
        "torch": torch.__version__,
    }
