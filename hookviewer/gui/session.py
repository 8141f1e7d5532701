"""The state of the window: model, inputs, plan, runs, selection. Widgets show it and ask it.

Every value is frozen and replaced as a whole; a setter emits its signal only on a real change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from PySide6.QtCore import QObject, Signal

from hookviewer import memory, modules, sources
from hookviewer.errors import HookViewerError
from hookviewer.gui import runs
from hookviewer.gui.carrying import carried
from hookviewer.gui.run_lane import RunLane
from hookviewer.gui.runner import Failure, Job, Runner
from hookviewer.gui.state import (
    DECISIONS,
    InputItem,
    Look,
    Message,
    OpenAsked,
    Pointed,
    Question,
    Run,
    Selection,
    Settings,
    Shown,
)
from hookviewer.inputs import Input, again, open_input
from hookviewer.kinds import Kind
from hookviewer.modules import ModuleNode
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording


class Session(QObject):
    """All that the window knows."""

    model_changed = Signal()
    plan_changed = Signal()
    inputs_changed = Signal()
    settings_changed = Signal()
    selection_changed = Signal()
    look_changed = Signal()
    pointed_changed = Signal()
    levels_asked = Signal()
    """Someone wants to set the levels by keys."""
    runs_changed = Signal()
    """A run arrived, grew, or was dropped; `Run.growing` is True while records are still to come."""
    run_started = Signal()
    run_progressed = Signal(object)
    run_finished = Signal()
    busy_changed = Signal(bool)
    message_told = Signal(object)
    question_asked = Signal(object)
    """A person has to decide something before a model can be opened: a `Question`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runner = Runner(self)
        self.runner.busy_changed.connect(self.busy_changed)
        self.model: torch.nn.Module | None = None
        self.card: sources.ModelCard | None = None
        self.tree: ModuleNode | None = None
        self.plan = HookPlan(frozenset(), frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT}))
        self.inputs: tuple[InputItem, ...] = ()
        self.runs: Mapping[int, Run] = MappingProxyType({})
        self.settings = Settings()
        self.selection = Selection()
        self.look = Look()
        self.pointed: Pointed | None = None
        self.auto = True
        self.running = False
        self.exchanging = False
        """Whether `model_changed` tells of the same network made anew."""
        self._numbers = 0
        self._readings: dict[str, str] = {}
        """How the axes are read, by the type of the module: the next model is read in the same way."""
        self._lanes = 0
        self._run_lane = RunLane(self)

    # -- the model -------------------------------------------------------------------------------------------

    def open_model(
        self, spec: str, *, weights: str | None = None, allow: Sequence[str] = (), trust: bool = False
    ) -> None:
        """Open a model on the model thread; `model_changed`, `question_asked` or an error message follows."""

        def work(job: Job) -> torch.nn.Module:
            return sources.open_model(spec, weights=weights, weights_allow=allow, trust=trust)

        self.tell(Message("busy", f"Opening {spec} …"))
        asking = OpenAsked(spec, weights or "", tuple(allow))
        self.runner.submit(
            "open", work, on_result=self.set_model, on_failure=partial(self._ask_or_tell, asking)
        )

    def reload_model(self, weights: sources.Weights | None = None) -> None:
        """Read the model's code and weights again; ticks, inputs, target and selection stay.

        Where that fails, the model before stays too, and a message says where its code is wrong. `weights`
        take the place of those that it was opened with.
        """
        card, model = self.card, self.model
        if card is None or model is None:
            return
        if not card.spec:
            self.exchange_model(model)
            return
        wanted = dataclasses.replace(card, weights=weights or card.weights)

        def work(job: Job) -> torch.nn.Module:
            return sources.reopen(wanted)

        file, allow = (wanted.weights.file, wanted.weights.allow) if wanted.weights else ("", ())
        what = f"Loading {Path(file).name} …" if weights else f"Reading {card.name} again …"
        self.tell(Message("busy", what))
        asking = OpenAsked(card.spec, file, allow, reloads=True)
        self.runner.submit(
            "open", work, on_result=self.exchange_model, on_failure=partial(self._ask_or_tell, asking)
        )

    def _ask_or_tell(self, asked: OpenAsked, failure: Failure) -> None:
        if isinstance(failure.error, DECISIONS):
            self.question_asked.emit(Question(failure.error, asked))
        else:
            what = "Not loaded, the model before stays." if asked.reloads else "No model opened."
            self.tell_failure(what, failure)

    def exchange_model(self, model: torch.nn.Module) -> None:
        """Look at the same network made anew: only what it no longer has is unticked."""
        self._take_model(model)
        assert self.tree is not None
        paths = {node.path for node in self.tree.walk()}
        self.plan = dataclasses.replace(self.plan, paths=self.plan.paths & paths)
        if self.selection.path not in paths:
            self.selection = dataclasses.replace(
                self.selection, path="", call=0, leaf="", channel=0, cell=None
            )
        self.exchanging = True
        for signal in (self.model_changed, self.plan_changed, self.selection_changed):
            signal.emit()
        self.exchanging = False

    def _take_model(self, model: torch.nn.Module) -> None:
        self._run_lane.drop()
        self.model, self.card = model, sources.card(model)
        self.tree = modules.module_tree(model)
        self._set_runs({})
        memory.give_back()

    def set_model(self, model: torch.nn.Module) -> None:
        """Look at `model`; runs and ticks of the one before are dropped, inputs stay."""
        self._take_model(model)
        self.plan = HookPlan(frozenset(), self.plan.kinds)
        self.settings = dataclasses.replace(self.settings, target=self.settings.target.for_any_model())
        self.selection = dataclasses.replace(self.selection, path="", call=0, leaf="", channel=0, cell=None)
        self.look = dataclasses.replace(self.look, levels=None, pins=(), readings=self._readings_by_path())
        changed = (self.model_changed, self.plan_changed, self.settings_changed)
        for signal in (*changed, self.selection_changed, self.look_changed):
            signal.emit()

    # -- inputs ----------------------------------------------------------------------------------------------

    def open_inputs(self, specs: Sequence[Any], *, ticked: bool = True) -> None:
        """Open inputs (specs, paths, tensors, pictures) for the present model and list them."""

        def work(job: Job) -> list[Input | Failure]:
            return [_open_one(spec, self.model) for spec in specs]

        def listed(found: list[Input | Failure]) -> None:
            self.add_inputs([one for one in found if isinstance(one, Input)], ticked=ticked)
            for failure in found:
                if isinstance(failure, Failure):
                    self.tell_failure("Not added.", failure)

        self._lanes += 1  # a lane of its own: what was asked for before is still to come
        self.runner.submit(
            f"inputs {self._lanes}",
            work,
            on_result=listed,
            on_failure=lambda failure: self.tell_failure("Nothing added.", failure),
        )

    def add_inputs(self, inputs: Iterable[Input], *, ticked: bool = True) -> None:
        """List opened inputs; with `auto`, ticked ones are run."""
        added = []
        for one in inputs:
            self._numbers += 1
            added.append(InputItem(self._numbers, one, ticked))
        if not added:
            return
        self._set_inputs((*self.inputs, *added))
        for item in added:
            for note in item.input.notes:  # the tooltip has all of them
                if note.startswith("Warning"):
                    self.tell(Message("warn", f"{item.input.name}:", note))
                elif "guess" in note:
                    self.tell(Message("info", note))
        if self.auto:
            self.run_missing()

    def prepare_inputs(self) -> None:
        """Make the listed inputs anew for the present model, where a spec says how; the others stay."""
        before = self.inputs
        model = self.model

        def work(job: Job) -> list[Input | Failure]:
            return [_made_anew(item.input, model) for item in before]

        def made(found: list[Input | Failure]) -> None:
            fresh = {
                item.number: one
                for item, one in zip(before, found, strict=True)
                if isinstance(one, Input) and model is self.model
            }
            items = [dataclasses.replace(one, input=fresh.get(one.number, one.input)) for one in self.inputs]
            changed = {one.number for one, old in zip(items, self.inputs, strict=True) if one != old}
            self._set_runs({key: run for key, run in self.runs.items() if key not in changed})
            self._set_inputs(tuple(items))
            for failure in [one for one in found if isinstance(one, Failure)]:
                self.tell_failure("Not made anew.", failure)
            if self.auto:
                self.run_missing()

        self._run_lane.drop()
        self.runner.submit("prepare", work, on_result=made)

    def exchange_input(self, number: int, spec: Any) -> None:
        """Put another input into the place of one: the next picture of a folder, another frame of a film."""
        model = self.model

        def work(job: Job) -> Input:
            return open_input(spec, model)

        self.runner.submit(
            f"exchange {number}",
            work,
            on_result=partial(self._exchanged, number),
            on_failure=lambda failure: self.tell_failure("Not exchanged.", failure),
        )

    def _exchanged(self, number: int, made: Input) -> None:
        if all(one.number != number for one in self.inputs):
            return
        self._run_lane.drop()
        self._set_runs({key: run for key, run in self.runs.items() if key != number})
        self._set_inputs(
            tuple(
                dataclasses.replace(one, input=made) if one.number == number else one for one in self.inputs
            )
        )
        if self.auto:
            self.run_missing()

    def put_back(self, place: int, item: InputItem, run: Run | None) -> None:
        """List an input again that was removed, at its place and with its run."""
        if any(one.number == item.number for one in self.inputs):
            return
        if run is not None:
            self._set_runs({**self.runs, item.number: run})
        self._set_inputs((*self.inputs[:place], item, *self.inputs[place:]))

    def remove_input(self, number: int) -> None:
        """Take an input off the list; the message offers to put it back."""
        item, run = self.item(number), self.runs.get(number)
        undo = partial(self.put_back, self.inputs.index(item), item, run)
        self.take_off(number)
        self.tell(Message("info", f"Removed {item.input.name}.", undo=undo))

    def take_off(self, number: int) -> None:
        """Take an input and its run off the list."""
        self._set_inputs(tuple(item for item in self.inputs if item.number != number))
        self._set_runs({key: run for key, run in self.runs.items() if key != number})

    def tick_input(self, number: int, on: bool) -> None:
        """Tick or untick an input; ticked ones are run and shown as columns."""
        self._set_inputs(
            tuple(dataclasses.replace(one, ticked=on) if one.number == number else one for one in self.inputs)
        )
        if on and self.auto:
            self.run_missing()

    def tick_inputs(self, on: bool) -> None:
        """Tick or untick every input."""
        self._set_inputs(tuple(dataclasses.replace(one, ticked=on) for one in self.inputs))
        if on and self.auto:
            self.run_missing()

    def item(self, number: int) -> InputItem:
        """Return the input with this number; raise `KeyError` when it is not listed."""
        for one in self.inputs:
            if one.number == number:
                return one
        raise KeyError(number)

    @property
    def ticked_inputs(self) -> tuple[InputItem, ...]:
        """The ticked inputs in the order of the list."""
        return tuple(item for item in self.inputs if item.ticked)

    @property
    def current_input(self) -> InputItem | None:
        """The selected input, or the first one."""
        for one in self.inputs:
            if one.number == self.selection.input:
                return one
        return self.inputs[0] if self.inputs else None

    # -- plan, settings, selection, look ---------------------------------------------------------------------

    def set_plan(self, plan: HookPlan) -> None:
        """Replace the plan; with `auto`, layers that were not recorded yet are recorded."""
        if plan == self.plan:
            return
        self.plan = plan
        self.plan_changed.emit()
        if self.auto:
            self.run_missing()

    def tick(self, paths: Iterable[str], on: bool) -> None:
        """Tick or untick modules by path."""
        change = frozenset(paths)
        self.set_plan(
            dataclasses.replace(self.plan, paths=self.plan.paths | change if on else self.plan.paths - change)
        )

    def set_settings(self, **changes: Any) -> None:
        """Change device, mode, target, seed or budget; runs made otherwise are made anew with `auto`."""
        settings = dataclasses.replace(self.settings, **changes)
        if settings == self.settings:
            return
        self.settings = settings
        self.settings_changed.emit()
        if self.auto:
            self.run_missing()

    def set_auto(self, on: bool) -> None:
        """Switch whether ticking, clicking and changing settings runs the model by itself."""
        if on != self.auto:
            self.auto = on
            self.settings_changed.emit()
            if on:
                self.run_missing()

    def select(self, **changes: Any) -> None:
        """Change what is looked at; with `auto`, an unrecorded module is recorded."""
        if "path" in changes and changes["path"] != self.selection.path:
            along = carried(self.selection, changes["path"], self.runs, self.look)
            changes = {"call": 0, "leaf": "", **along, **changes}
        selection = dataclasses.replace(self.selection, **changes)
        if selection == self.selection:
            return
        moved = (selection.path, selection.shown) != (self.selection.path, self.selection.shown)
        self.selection = selection
        if moved and self.look.levels is not None:
            self.set_look(levels=None)
        self.selection_changed.emit()
        if self.auto and moved:
            self.run_missing()

    def set_look(self, **changes: Any) -> None:
        """Change scale, colour map, sorting, difference, levels, sample, pins and so on."""
        look = dataclasses.replace(self.look, **changes)
        if look != self.look:
            self.look = look
            self.look_changed.emit()

    def ask_levels(self) -> None:
        """Ask for the levels to be set by keys."""
        self.levels_asked.emit()

    def set_reading(self, reading: str) -> None:
        """Say what the axes of the selected module mean, and of all modules of its type."""
        if self.tree is None:
            return
        types = {node.path: node.type for node in self.tree.walk()}
        self._readings[types.get(self.selection.path, "")] = reading
        self.set_look(readings=self._readings_by_path(), levels=None, sample=0)
        self.select(channel=0, cell=None)

    def _readings_by_path(self) -> Mapping[str, str]:
        nodes = self.tree.walk() if self.tree is not None else ()
        known = {node.path: self._readings[node.type] for node in nodes if node.type in self._readings}
        return MappingProxyType(known)

    def point(self, pointed: Pointed | None) -> None:
        """Say which cell is under the pointer; None when it left the maps."""
        if pointed != self.pointed:
            self.pointed = pointed
            self.pointed_changed.emit()

    # -- runs ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the model on all ticked inputs with the whole plan."""
        self._run_lane.start(self.ticked_inputs, self.wanted_paths, fresh=True)

    def run_missing(self) -> None:
        """Record what is wanted and not recorded yet, on the inputs that lack it."""
        if self.model is None:
            return
        wanted = self.wanted_paths
        lacking = {
            item.number: wanted - runs.dealt_with(self.runs.get(item.number), self.settings, wanted)
            for item in self.ticked_inputs
        }
        items = [item for item in self.ticked_inputs if lacking[item.number]]
        if items and not self._run_lane.brings(lacking):
            self._run_lane.start(items, frozenset().union(*lacking.values()), fresh=False)

    def stop(self) -> None:
        """Stop the run within one layer; what was recorded stays."""
        self.runner.cancel("run")

    def close(self) -> None:
        """Stop and join the model thread."""
        self.runner.close()

    @property
    def wanted_paths(self) -> frozenset[str]:
        """The ticked modules and the one that is looked at."""
        if self.tree is None:
            return frozenset()
        return self.plan.paths | {self.selection.path}

    def recording(self, number: int) -> Recording | None:
        """Return the recording of an input, growing while it is made; None when it was not run."""
        run = self.runs.get(number)
        return None if run is None else run.recording

    def tell(self, message: Message) -> None:
        """Show a message in place."""
        self.message_told.emit(message)

    def store_run(self, number: int, run: Run) -> None:
        """Keep the run of an input in place of the one before."""
        self._set_runs({**self.runs, number: run})

    def set_running(self, on: bool) -> None:
        """Say whether a run goes on."""
        if on != self.running:
            self.running = on
            (self.run_started if on else self.run_finished).emit()

    def _set_runs(self, made: Mapping[int, Run]) -> None:
        self.runs = MappingProxyType(dict(made))
        self.runs_changed.emit()

    def _set_inputs(self, inputs: tuple[InputItem, ...]) -> None:
        if inputs != self.inputs:
            self.inputs = inputs
            self.inputs_changed.emit()

    def tell_failure(self, what: str, failure: Failure) -> None:
        """Show why something failed."""
        self.tell(Message("error", what, failure.sentence, failure.report))


def _open_one(spec: Any, model: torch.nn.Module | None) -> Input | Failure:
    try:
        return open_input(spec, model)
    except HookViewerError as error:
        return Failure(str(error), "")


def _made_anew(given: Input, model: torch.nn.Module | None) -> Input | Failure:
    try:
        return again(given, model)
    except HookViewerError as error:
        return Failure(str(error), "")


__all__ = ["Session", "Shown"]
