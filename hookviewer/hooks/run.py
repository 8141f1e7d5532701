"""One run: one forward pass, and a backward pass where gradients are asked for."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge
from torch.nn.parameter import is_lazy

from hookviewer.edits import Edit
from hookviewer.errors import Cancelled, HookViewerError, ModelError
from hookviewer.hooks.failures import given_shapes, mistake_error, model_error, out_of_memory
from hookviewer.hooks.gradients import Gradients
from hookviewer.hooks.journal import Journal, OnRecord
from hookviewer.hooks.observer import Observer
from hookviewer.hooks.overwrites import Overwrites
from hookviewer.hooks.reasons import Absence
from hookviewer.hooks.request import Request, checked
from hookviewer.hooks.state import Halt, State
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import leaves, mapped
from hookviewer.modules import ModuleIndex, joined, module_index, unwrapped
from hookviewer.plan import HookPlan
from hookviewer.preserve import chosen_device, cuda_in_use, device_of, on_device, preserved
from hookviewer.recording import Recording
from hookviewer.snapshot import Budget, snapshot
from hookviewer.targets import Target, described


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

    The model is left bit for bit as it was found. `args` is a tuple (or one lone argument); inputs are copied
    and moved to where the model runs. `device` of `None` is where the model is, another one is used for this
    run only. `mode` is `"eval"`, `"train"` or `"as is"`. `budget` is the number of bytes that the records may
    keep. `on_module` is called with the path as each module starts, `on_record` with each record (what later
    overwrites its tensor is known in the recording only), `cancelled` is asked at every module and gradient.

    Raises `HookViewerError` before anything runs for what cannot be done, `ModelError` (with all that was
    recorded until then) when the model raises, `Cancelled` when stopped.
    """
    inner, notes = unwrapped(model)
    index = module_index(inner)
    request = checked(index, plan, target=target, edits=edits)
    modules = list(index.modules.values())
    where = chosen_device(device) if device is not None else device_of(modules)
    run = Run(index, request, budget=budget, on_module=on_module, on_record=on_record, cancelled=cancelled)
    run.journal.notes.extend(notes)
    run.provenance = {
        "model": type(inner).__name__,
        "device": str(where),
        "mode": mode,
        "seed": "" if seed is None else str(seed),
        "target": "" if target is None else str(target),
        "edits": "; ".join(map(str, edits)),
        "kinds": ", ".join(sorted(plan.kinds)),
        "torch": torch.__version__,
    }
    inputs = (args if isinstance(args, tuple) else (args,), dict(kwargs or {}))
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.set_grad_enabled(request.gradients))
        stack.enter_context(preserved(modules, mode=mode, seed=seed))
        stack.enter_context(on_device(modules, where))
        stack.enter_context(_recurrent_backward(modules, where, request))
        stack.callback(run.close)
        failure = run.execute(*inputs, device=where)
    if failure is not None:
        raise failure
    return run.recording()


class Run:
    """The steps of one run."""

    def __init__(
        self,
        index: ModuleIndex,
        request: Request,
        *,
        budget: int,
        on_module: Callable[[str], object] | None,
        on_record: OnRecord | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.index = index
        self.request = request
        self.cancelled = cancelled
        self.journal = Journal(budget, on_record)
        self.gradients = Gradients(self.journal, self.check_cancelled) if request.gradients else None
        self.state = State(request, self.journal, Overwrites(self.journal), self.gradients)
        self.observer = Observer(index, self.state, on_module=on_module, check_cancelled=self.check_cancelled)
        self.parameters = dict(_parameters(index))
        self.used: set[str] = set()
        self.stopped = ""
        self.output: Any = None
        self.target_value: float | None = None
        self.provenance: dict[str, str] = {}

    def check_cancelled(self) -> None:
        """Stop the run if it was asked to."""
        if self.cancelled is not None and self.cancelled():
            raise Cancelled("The run was stopped.")

    def execute(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, device: torch.device
    ) -> ModelError | None:
        """Run the model; return the error that it raised, if any, with what was recorded until then."""
        try:
            given = self._prepared((args, kwargs), device)
            self._take_parameters()
            number = self._forward(*given)
            del given
            if self.gradients is not None and number is not None:
                self._backward(self.gradients, number)
        except Halt as halt:
            return self._mistake(halt.mistake, halt.path)
        except HookViewerError as mistake:
            return self._mistake(mistake, "")
        except Exception as error:
            return self._failure(error)
        return None

    # -- forward

    def _prepared(self, inputs: tuple[Any, Any], device: torch.device) -> Any:
        """Return own copies of the inputs, in the graph where gradients are asked for.

        They are no leaves of the graph, so that a first layer may work in place; one tensor stays one tensor.
        """
        copies: dict[int, torch.Tensor] = {}

        def prepared(tensor: torch.Tensor) -> torch.Tensor:
            if id(tensor) not in copies:
                copies[id(tensor)] = self._own_input(tensor, device)
            return copies[id(tensor)]

        given = mapped(inputs, prepared)
        if self.gradients is not None:
            learns = any(value.requires_grad for value in self.parameters.values())
            self.state.starts_gradients = not learns and not any(
                tensor.requires_grad for tensor in copies.values()
            )
        return given

    def _own_input(self, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        own = tensor.detach().to(device)
        if self.gradients is not None and (own.is_floating_point() or own.is_complex()):
            own = own.clone() if own.is_inference() or own is tensor else own
            own = own.detach().requires_grad_()
        return own.clone()

    def _take_parameters(self) -> None:
        for path, wanted in self.request.modules.items():
            for name, value in self._own_parameters(path):
                if Kind.PARAM in wanted.kinds:
                    self.journal.take(Key(path, Kind.PARAM, 0, name), value)
                if self.gradients is None or not wanted.has(Kind.PARAM_GRAD) or not value.requires_grad:
                    continue
                key = Key(path, Kind.PARAM_GRAD, 0, name)
                edits = [edit for edit in wanted.edits_of(Kind.PARAM_GRAD) if edit.leaf in (None, name)]
                if Kind.PARAM_GRAD in wanted.kinds:
                    self.gradients.watch_object(key, value, edits)
                else:
                    self.gradients.edit(value, edits)

    def _own_parameters(self, path: str) -> Iterator[tuple[str, nn.Parameter]]:
        module = self.index.modules.get(path)
        for name, value in module._parameters.items() if module is not None else ():
            if value is not None and not is_lazy(value):
                yield name, value

    def _forward(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor | None:
        self.observer.attach()
        self.observer.phase = "forward"
        try:
            output = self.index.root(*args, **kwargs)
        finally:
            self.observer.phase = "idle"
            self.state.overwrites.finish()
        if self.gradients is not None:
            self.gradients.settle_views()
        self.output = self._copied(output)
        if self.request.target is None:
            return None
        number = self._number(output)
        self.target_value = float(number.detach())
        self.provenance["target"] = described(self.request.target, output)
        return number

    def _copied(self, output: Any) -> Any:
        key = Key("", Kind.OUTPUT)

        def copied(tensor: torch.Tensor) -> torch.Tensor:
            kept = snapshot(key, tensor, Budget(sys.maxsize)).kept
            return tensor.detach() if kept is None else kept

        try:
            return mapped(output, copied)
        except Exception as error:
            self.journal.note(f"The output, a {type(output).__name__}, could not be copied: {error}")
            return None

    # -- target

    def _number(self, output: Any) -> torch.Tensor:
        number = self._unit_value() if self.request.unit else self._called_target(output)
        if not isinstance(number, torch.Tensor) or number.numel() != 1:
            what = (
                f"a tensor {list(number.shape)}"
                if isinstance(number, torch.Tensor)
                else type(number).__name__
            )
            raise HookViewerError(
                f"The target gave {what}: a gradient starts from one number; sum it or pick one."
            )
        if not number.is_floating_point():
            raise HookViewerError(
                f"The target is {number.dtype}, which has no gradient: pick a real float output."
            )
        if self.gradients is not None and not number.requires_grad:
            raise HookViewerError(
                "The target depends on nothing that requires grad (the model cuts it off with detach(), no_grad, "
                "integers or quantized layers): choose another target."
            )
        return number.reshape(())

    def _unit_value(self) -> torch.Tensor:
        unit = self.request.unit
        assert unit is not None
        if self.state.unit_value is not None:
            return self.state.unit_value
        count = len(self.state.calls.by_path.get(unit.path, ()))
        raise HookViewerError(
            f"There is no call {unit.call} of {unit.path or 'the model'}: it was called {count} time(s) in this run."
        )

    def _called_target(self, output: Any) -> torch.Tensor:
        assert self.request.target is not None
        try:
            return self.request.target(output)
        except HookViewerError:
            raise
        except Exception as error:
            held = ", ".join(
                f"{leaf or 'one tensor'} {list(tensor.shape)}" for leaf, tensor in leaves(output)[:4]
            )
            raise HookViewerError(
                f"The target raised {type(error).__name__}: {error}. The model returned {held or 'no tensor'}."
            ) from None

    # -- backward

    def _backward(self, gradients: Gradients, number: torch.Tensor) -> None:
        self.observer.phase = "backward"
        try:
            used_grad = gradients.drive(number, list(self.parameters.values()))
        finally:
            self.observer.phase = "idle"
        self._find_used(gradients)
        if used_grad:
            self._take_accumulated(gradients)

    def _take_accumulated(self, gradients: Gradients) -> None:
        """A re-entrant backward pass adds to a parameter's gradient in steps: only `.grad` holds the sum."""
        for key in [key for key in gradients.watched if key.kind is Kind.PARAM_GRAD]:
            value = self.parameters[joined(key.path, key.leaf)]
            self.journal.records.pop(key, None)
            if value.grad is not None:
                self.journal.take(key, value.grad, before_edit=gradients.before.get(key))

    def _find_used(self, gradients: Gradients) -> None:
        """Note the modules that were not called but whose parameters are in the graph all the same."""
        for path in self.index.modules:
            if path not in self.state.calls.by_path:
                own = [value for _, value in self._own_parameters(path) if value.requires_grad]
                if any(get_gradient_edge(value).node in gradients.reached for value in own):
                    self.used.add(path)

    # -- endings

    def close(self) -> None:
        """Take every hook off and let go of the graph."""
        self.observer.detach()
        if self.gradients is not None:
            self.gradients.close()
        self.state.unit_value = None
        self.observer.failure = None

    def _mistake(self, mistake: HookViewerError, path: str) -> ModelError:
        self.stopped = f"The run stopped: {mistake}"
        return mistake_error(mistake, path, self.recording())

    def _failure(self, error: Exception) -> ModelError:
        seen = self.observer.failure
        frame = seen[1] if seen is not None and seen[0] is error else None
        path = frame.path if frame is not None else self._last_gradient()
        where = path or "the model"
        self.stopped = f"The run stopped because {where} raised {type(error).__name__}."
        failure = model_error(error, path, self.recording(), given=given_shapes(frame))
        exhausted = out_of_memory(error)
        error.__traceback__ = None
        if exhausted:
            gc.collect()
            if cuda_in_use():
                torch.cuda.empty_cache()
        return failure

    def _last_gradient(self) -> str:
        """Return the module whose gradient came last: where a backward pass has failed, as near as is known."""
        paths = [key.path for key in self.journal.records if key.kind is Kind.GRAD_OUTPUT]
        return paths[-1] if paths else ""

    def recording(self) -> Recording:
        """Return what was recorded, with a reason for everything that is missing."""
        self._tell_unused_edits()
        absence = Absence(
            self.index,
            self.request,
            self.state.calls,
            said=self.journal.reasons,
            used=self.used,
            stopped=self.stopped,
        )
        return Recording(
            self.journal.records,
            absent=absence.reasons(self.journal.records),
            never_called=absence.never_called(),
            module_calls=self.state.calls.log(),
            notes=tuple(self.journal.notes),
            output=self.output,
            target_value=self.target_value,
            aliases=self.index.aliases,
            provenance=self.provenance,
        )

    def _tell_unused_edits(self) -> None:
        ran = self.state.met | (self.gradients.ran if self.gradients is not None else set())
        for edit in self.request.edits:
            if id(edit) not in ran:
                self.journal.note(f"The edit {edit} did not run: nothing that it is for came by in this run.")


def _parameters(index: ModuleIndex) -> Iterator[tuple[str, nn.Parameter]]:
    for path, module in index.modules.items():
        for name, value in module._parameters.items():
            if value is not None:
                yield joined(path, name), value


def _recurrent_backward(
    modules: list[nn.Module], device: torch.device, request: Request
) -> contextlib.AbstractContextManager[Any]:
    """cuDNN cannot differentiate recurrent layers in eval mode; torch's own kernels can."""
    recurrent = any(isinstance(module, nn.RNNBase) for module in modules)
    if request.gradients and device.type == "cuda" and recurrent:
        return torch.backends.cudnn.flags(enabled=False)
    return contextlib.nullcontext()
