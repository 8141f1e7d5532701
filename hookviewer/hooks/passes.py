"""The steps of one run: a forward pass, and a backward pass where gradients are asked for."""

from __future__ import annotations

import contextlib
import difflib
import gc
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from hookviewer import torch_private
from hookviewer.errors import Cancelled, HookViewerError, ModelError
from hookviewer.hooks.calls import Frame
from hookviewer.hooks.failures import forget_frames, given_shapes, model_error, out_of_memory
from hookviewer.hooks.functional import FunctionalCalls
from hookviewer.hooks.gradients import Gradients
from hookviewer.hooks.journal import Journal
from hookviewer.hooks.number import aimed
from hookviewer.hooks.observer import Observer
from hookviewer.hooks.prepare import (
    all_parameters,
    own_inputs,
    own_parameters,
    parameter_versions,
    take_parameters,
    uninitialised,
)
from hookviewer.hooks.reasons import Absence
from hookviewer.hooks.request import Request
from hookviewer.hooks.state import Halt, State
from hookviewer.kinds import Functional, Key, Kind
from hookviewer.leaves import leaves, mapped
from hookviewer.modules import ModuleIndex, joined
from hookviewer.preserve import cuda_in_use
from hookviewer.recording import Recording
from hookviewer.snapshot import Budget, snapshot
from hookviewer.targets import Target, described


def stopper(cancelled: Callable[[], bool] | None) -> Callable[[], None]:
    """Return a function that raises `Cancelled` once the run was asked to stop."""

    def check() -> None:
        if cancelled is not None and cancelled():
            raise Cancelled("The run was stopped.")

    return check


class Run:
    """One run of one model on one input."""

    def __init__(
        self,
        index: ModuleIndex,
        request: Request,
        journal: Journal,
        *,
        provenance: dict[str, str],
        on_module: Callable[[str], object] | None,
        keep: Callable[[nn.Module], object],
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.index = index
        self.request = request
        self.journal = journal
        self.provenance = provenance
        check_cancelled = stopper(cancelled)  # neither is a method: what holds the records must be no cycle
        gradients = Gradients(journal, check_cancelled) if request.gradients else None
        self.gradients = gradients

        def found(path: str, module: nn.Module) -> None:
            keep(module)
            take_parameters(index, [path], request, journal, gradients)

        self.state = State(request, journal, self.gradients)
        self.observer = Observer(
            index, self.state, on_module=on_module, on_found=found, check_cancelled=check_cancelled
        )
        self.functional = None if request.ops is None else FunctionalCalls(index, self.state, check_cancelled)
        self.used: set[str] = set()
        self.stopped = self.aimless = ""
        self.output: Any = None
        self.target_value: float | None = None

    def execute(self, inputs: Any, device: torch.device) -> ModelError | None:
        """Run the model; return the error that it raised, if any, with what was recorded until then."""
        try:
            given, self.state.origins = own_inputs(inputs, device, differentiable=self.request.gradients)
            args, kwargs = given
            self.state.starts_gradients = self._nothing_requires_grad(args, kwargs)
            versions = parameter_versions(self.index)
            late = uninitialised(self.index)
            self._take_parameters(self.request.modules)
            output = self._forward(args, kwargs)
            self._take_parameters(path for path in late if path in self.request.modules)
            self._tell_written(versions)
            if self.request.target is not None:
                self._aim(self.request.target, output)
        except Halt as halt:
            return self._mistake(halt.mistake, halt.path)
        except HookViewerError as mistake:
            return self._mistake(mistake, "")
        except Cancelled as stop:
            self.stopped = "The run was stopped."
            stop.recording = self.recording()
            raise
        except Exception as error:
            return self._failure(error)
        return None

    def _take_parameters(self, paths: Iterable[str]) -> None:
        take_parameters(self.index, paths, self.request, self.journal, self.gradients)

    def _tell_written(self, versions: list[tuple[nn.Parameter, int]]) -> None:
        written = {id(value) for value, version in versions if torch_private.version(value) != version}
        if not written:
            return
        for name, value in all_parameters(self.index).items():
            module = self.index.modules[name.rpartition(".")[0]]
            if (
                id(value) in written and getattr(module, "max_norm", None) is None
            ):  # an embedding's are put back
                self.journal.note(f"The model wrote into its own parameter {name}: that cannot be undone.")

    def _nothing_requires_grad(self, args: Any, kwargs: Any) -> bool:
        if self.gradients is None:
            return False
        tensors = (*all_parameters(self.index).values(), *(tensor for _, tensor in leaves((args, kwargs))))
        return not any(tensor.requires_grad for tensor in tensors)

    def _forward(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.observer.attach()
        self.observer.phase = "forward"
        try:
            with self._functional_calls(repeating=False):
                output = self.index.root(*args, **kwargs)
        finally:
            self.observer.phase = "idle"
            self.state.overwrites.finish()
        if self.gradients is not None:
            self.gradients.settle_views()
        self.output = self._copied(output)
        return output

    def _functional_calls(self, *, repeating: bool) -> contextlib.AbstractContextManager[Any]:
        if self.functional is None or (repeating and not self.functional.recorded()):
            return contextlib.nullcontext()
        return self.functional.seen(repeating=repeating)

    def _copied(self, output: Any) -> Any:
        key = Key("", Kind.OUTPUT)

        def copied(tensor: torch.Tensor) -> torch.Tensor:
            kept = snapshot(key, tensor, Budget(sys.maxsize)).kept
            return tensor.detach() if kept is None else kept

        try:
            return mapped(output, copied)
        except Exception as error:  # an output class of the user that cannot be copied
            self.journal.note(f"The output, a {type(output).__name__}, could not be copied: {error}")
            return None

    def _aim(self, target: Target, output: Any) -> None:
        """Evaluate the target, and run the backward pass from it."""
        number = aimed(self.state, target, output)
        if isinstance(number, str):
            self.aimless = number
            self.journal.note(number)
            return
        self.target_value = float(number.detach())
        self.provenance["target"] = described(target, output)
        if self.gradients is not None:
            self._backward(self.gradients, number)

    def _backward(self, gradients: Gradients, number: torch.Tensor) -> None:
        self.observer.phase = "backward"
        try:
            with self._functional_calls(repeating=True):
                used_grad = gradients.drive(number, list(all_parameters(self.index).values()))
        finally:
            self.observer.phase = "idle"
        self._find_used(gradients)
        if used_grad:
            self._take_accumulated(gradients)

    def _take_accumulated(self, gradients: Gradients) -> None:
        """A re-entrant backward pass adds to a parameter's gradient in steps: only `.grad` holds the sum."""
        parameters = all_parameters(self.index)
        for key in [key for key in gradients.watched if key.kind is Kind.PARAM_GRAD]:
            value = parameters[joined(key.path, key.leaf)]
            self.journal.records.pop(key, None)
            if value.grad is not None:
                self.journal.take(key, value.grad, before_edit=gradients.before.get(key))

    def _find_used(self, gradients: Gradients) -> None:
        """Note the modules that were not called but whose parameters are in the graph all the same."""
        for path in self.index.modules:
            if path not in self.state.calls.by_path:
                own = [value for _, value in own_parameters(self.index, path) if value.requires_grad]
                if any(get_gradient_edge(value).node in gradients.reached for value in own):
                    self.used.add(path)

    def close(self) -> None:
        """Take every hook off and let go of the graph."""
        self.observer.detach()
        if self.gradients is not None:
            self.gradients.close()
        self.state.unit_value = None
        self.state.origins.clear()
        self.state.strays.clear()

    def _mistake(self, mistake: HookViewerError, path: str) -> ModelError:
        self.stopped = f"The run stopped: {mistake}"
        return ModelError(str(mistake), path=path, recording=self.recording())

    def _failure(self, error: Exception) -> ModelError:
        seen = self.observer.failure
        frame = seen[1] if seen is not None and seen[0] is error else None
        path = frame.path if frame is not None else self._last_gradient()
        self.stopped = f"The run stopped because {path or 'the model'} raised {type(error).__name__}."
        failure = model_error(error, path, self.recording(), given=given_shapes(frame))
        forget_frames(error)
        if out_of_memory(error):
            gc.collect()
            if cuda_in_use():
                torch.cuda.empty_cache()
        return failure

    def _last_gradient(self) -> str:
        """Return the module whose gradient came last: as near as is known to where a backward pass fails."""
        paths = [key.path for key in self.journal.records if key.kind is Kind.GRAD_OUTPUT]
        return paths[-1] if paths else ""

    def recording(self) -> Recording:
        """Return what was recorded, with a reason for everything that is missing."""
        edited = self._tell_edits()
        self._tell_unmatched()
        absence = Absence(
            self.index,
            self.request,
            self.state.calls,
            said=self.journal.reasons,
            used=self.used,
            used_by={} if self.functional is None else self.functional.used,
            stopped=self.stopped,
            aimless=self.aimless,
            after_target=self._comes_after_target,
        )
        return Recording(
            self.journal.records,
            absent=absence.reasons(self.journal.records),
            never_called=absence.never_called(),
            module_calls=self.state.calls.log(),
            notes=tuple(self.journal.notes),
            output=self.output,
            target_value=self.target_value,
            edited=edited,
            aliases=self.index.aliases,
            provenance=self.provenance,
        )

    def _comes_after_target(self, frame: Frame, kind: Kind) -> bool:
        """Return whether a tensor of a call came to be only after the unit that is the target."""
        started = self.state.unit_started
        around = (frame.path, frame.number) in self.state.unit_around and "output" in kind
        return started is not None and (frame.order >= started or around)

    def _tell_edits(self) -> tuple[int, ...]:
        """Return the places of the edits that changed something, and note what the others did."""
        told = (
            [self.state.effects] if self.gradients is None else [self.state.effects, self.gradients.effects]
        )
        changing = []
        for place, edit in enumerate(self.request.edits):
            changed = [effects[id(edit)] for effects in told if id(edit) in effects]
            if any(changed):
                changing.append(place)
            elif changed:
                self.journal.note(f"The edit {edit} changed nothing: the values were like that before.")
            elif id(edit) not in self.state.refused:
                self.journal.note(f"The edit {edit} did not run: nothing that it is for came by in this run.")
        return tuple(changing)

    def _tell_unmatched(self) -> None:
        """Note the patterns of functional calls that none matched."""
        seen = [path for path, frames in self.state.calls.by_path.items() if frames[0].module is None]
        for pattern in sorted(self.request.unmatched(seen)):
            made = sorted({call.op for call in map(Functional.of, seen) if call is not None})
            near = difflib.get_close_matches(pattern.rpartition(":")[2], made, n=3) or made[:8]
            self.journal.note(
                f"No functional call of this run matches {pattern!r}; it made {', '.join(near) or 'none'}."
            )
