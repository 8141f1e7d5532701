"""The state of the window: model, inputs, plan, runs, selection. Widgets show it and ask it.

Every value is frozen and replaced as a whole; a setter emits its signal only on a real change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from PySide6.QtCore import QObject, Signal

from hookviewer import memory, modules, sources
from hookviewer.gui.aiming import Aiming
from hookviewer.gui.attention_lane import AttentionLane
from hookviewer.gui.attribution_lane import AttributionLane
from hookviewer.gui.call_lane import CallLane
from hookviewer.gui.carrying import carried
from hookviewer.gui.compare_cka_lane import Similar
from hookviewer.gui.compare_diverging import Diverging
from hookviewer.gui.compare_lane import CompareLane
from hookviewer.gui.editing import Editing
from hookviewer.gui.field_lane import FieldLane
from hookviewer.gui.hinting import Hinting
from hookviewer.gui.input_lane import InputLane
from hookviewer.gui.input_offers import offers_for
from hookviewer.gui.keeping import Keeping
from hookviewer.gui.linking import along
from hookviewer.gui.listed_inputs import ListedInputs
from hookviewer.gui.listing import Listing
from hookviewer.gui.model_lane import ModelLane
from hookviewer.gui.parameter_lane import ParameterLane
from hookviewer.gui.plain_lane import PlainLane
from hookviewer.gui.run_lane import RunLane
from hookviewer.gui.runner import Failure, Runner
from hookviewer.gui.state import (
    SIDED,
    Look,
    Message,
    Pointed,
    Run,
    Selection,
    Settings,
    Shown,
)
from hookviewer.gui.top_inputs_lane import TopInputsLane
from hookviewer.gui.variant_lane import VariantModels
from hookviewer.gui.varying import Varying
from hookviewer.kinds import Kind
from hookviewer.modules import ModuleNode
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording


class Session(ListedInputs):
    """All that the window knows."""

    model_changed = Signal()
    plan_changed = Signal()
    settings_changed = Signal()
    selection_changed = Signal()
    look_changed = Signal()
    pointed_changed = Signal()
    arguments_asked = Signal()
    """Someone wants to give the model several arguments."""
    shape_asked = Signal(int)
    """Someone wants a guessed input, of this number, to have another shape."""
    recipe_asked = Signal()
    """Someone wants to change how pictures are prepared."""
    levels_asked = Signal()
    """Someone wants to set the levels by keys."""
    calls_changed = Signal()
    """Functional calls are listed from now on, or no longer."""
    runs_changed = Signal()
    """A run arrived or was dropped."""
    run_grew = Signal(object)
    """Records arrived in a run that goes on: a frozenset of the paths of their modules, aliases too."""
    attributions_changed = Signal()
    """Maps that need runs of their own have begun or ended, or are further."""
    fields_changed = Signal()
    """It is known by now what cells see of the picture."""
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
        self.listing = Listing()
        self.runs: Mapping[int, Run] = MappingProxyType({})
        self.settings = Settings()
        self.selection = Selection()
        self.look = Look()
        self.pointed: Pointed | None = None
        self.auto = True
        self.running = False
        self.exchanging = False
        """Whether `model_changed` tells of the same network made anew."""
        self._hinting, self._aiming = Hinting(self), Aiming(self)
        self._parameter_lane = ParameterLane(self)
        self._readings: dict[str, str] = {}
        """How the axes are read, by the type of the module: the next model is read in the same way."""
        self._run_lane = RunLane(self)
        self.fields = FieldLane(self)
        self.calls = CallLane(self)
        self._plain_lane = PlainLane(self)
        self._model_lane = ModelLane(self)
        self._input_lane = InputLane(self)
        self.attributions = AttributionLane(self)
        self.attention = AttentionLane(self)
        self.editing = Editing(self)
        self.varying = Varying(self)
        self.differences, self.diverging = CompareLane(self), Diverging(self)
        self.similar, self.top_inputs = Similar(self), TopInputsLane(self)
        self.keeping = Keeping(self)

    # -- the model -------------------------------------------------------------------------------------------

    def open_model(
        self, spec: str, *, weights: str | None = None, allow: Sequence[str] = (), trust: bool = False
    ) -> None:
        """Open a model on the model thread; `model_changed`, `question_asked` or an error message follows."""
        self._model_lane.open(spec, weights=weights, allow=allow, trust=trust)

    def reload_model(self, weights: sources.Weights | None = None) -> None:
        """Read the model's code and weights again; ticks, inputs, target and selection stay."""
        self._model_lane.reload(weights)

    def exchange_model(self, model: torch.nn.Module) -> None:
        """Look at the same network made anew: only what it no longer has is unticked."""
        self._take_model(model)
        paths = self.calls.possible(self.plan.paths | {self.selection.path})
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
        self.fields.forget()
        self.model, self.card = model, sources.card(model)
        self.tree = modules.module_tree(model)
        self.set_runs({})
        memory.give_back()

    def set_model(self, model: torch.nn.Module) -> None:
        """Look at `model`; runs and ticks of the one before are dropped, inputs stay."""
        self._take_model(model)
        self.plan = HookPlan(frozenset(), self.plan.kinds)
        self.listing = self.listing.with_variants(())
        self._run_lane.drop_models()
        self.settings = dataclasses.replace(self.settings, target=self.settings.target.for_any_model())
        self.selection = dataclasses.replace(self.selection, path="", call=0, leaf="", channel=0, cell=None)
        look, cam = self.look, dataclasses.replace(self.look.cam, targets=())
        self.look = dataclasses.replace(
            look, levels=None, pins=(), readings=self._readings_by_path(), cam=cam
        )
        changed = (self.model_changed, self.plan_changed, self.settings_changed)
        for signal in (*changed, self.selection_changed, self.look_changed):
            signal.emit()

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
        placed = "cell" in changes
        if "path" in changes and changes["path"] != self.selection.path:
            taken = carried(self.selection, changes["path"], self.runs, self.look)
            changes = {"call": 0, "leaf": "", "region": None, **taken, **changes}
        selection = dataclasses.replace(self.selection, **changes)
        if not placed:
            selection = along(self, selection)
        if selection == self.selection:
            return
        before = self.selection
        moved = _tensor_of(selection) != _tensor_of(before)
        self.selection = selection
        if moved and self.look.levels is not None:
            self.set_look(levels=None)
        self.selection_changed.emit()
        if self.auto and moved and selection.shown is not Shown.WEIGHTS:
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
        self.attributions.resume()
        self._run_lane.start(self.ticked_inputs, self.wanted_paths, fresh=True)

    def run_missing(self) -> None:
        """Record what is wanted and not recorded yet, on the inputs that lack it."""
        if self.model is None:
            return
        wanted = self.wanted_paths
        lacking = {
            item.number: self.calls.lacking(item, wanted) | self.keeping.lacking(item)
            for item in self.ticked_inputs
        }
        items = [item for item in self.ticked_inputs if lacking[item.number]]
        if items and not self._run_lane.brings(lacking):
            self._run_lane.start(items, frozenset().union(*lacking.values()), fresh=False)

    def stop(self) -> None:
        """Stop the run, and maps that are computed, within one layer; what is done stays."""
        self.runner.cancel("run")
        self.attributions.stop()
        self.attention.stop()

    def close(self) -> None:
        """Stop and join the model thread."""
        self.runner.close()

    @property
    def variant_models(self) -> VariantModels:
        """The models of variants, for work on the model thread."""
        return self._run_lane.models

    @property
    def wanted_paths(self) -> frozenset[str]:
        """The ticked modules and the one that is looked at."""
        if self.tree is None:
            return frozenset()
        return self.plan.paths | {self.selection.path}

    @property
    def wanted_kinds(self) -> frozenset[Kind]:
        """What is recorded of every wanted module: the plan's kinds, and those that are looked at."""
        sided = self.selection.shown in SIDED
        return self.plan.kinds | frozenset(self.selection.kinds if sided else ())

    def recording(self, number: int) -> Recording | None:
        """Return the recording of an input, growing while it is made; None when it was not run."""
        run = self.runs.get(number)
        return None if run is None else run.recording

    def tell(self, message: Message) -> None:
        """Show a message in place."""
        self.message_told.emit(message)

    def store_run(self, number: int, run: Run) -> None:
        """Keep the run of an input in place of the one before."""
        self.set_runs({**self.runs, number: run})

    def grow_run(self, number: int, run: Run, paths: Iterable[str]) -> None:
        """Keep the run of an input with the records of the modules `paths`, which have just arrived."""
        first = frozenset(paths)
        nodes = self.tree.walk() if self.tree is not None else ()
        self.runs = MappingProxyType({**self.runs, number: run})
        self.run_grew.emit(first | {node.path for node in nodes if node.alias_of in first})

    def set_running(self, on: bool) -> None:
        """Say whether a run goes on."""
        if on != self.running:
            self.running = on
            if on:
                self.fields.make_way()
            (self.run_started if on else self.run_finished).emit()

    def set_runs(self, made: Mapping[int, Run]) -> None:
        """Keep these runs, by the number of their input, in place of all others."""
        self.runs = MappingProxyType(dict(made))
        self.runs_changed.emit()

    def tell_failure(self, what: str, failure: Failure) -> None:
        """Show why something failed."""
        offers = offers_for(self, failure.error)
        self.tell(Message("error", what, failure.sentence, failure.report, offers=offers))


def _tensor_of(selection: Selection) -> tuple[object, ...]:
    """Return what says which tensor is looked at."""
    return selection.path, selection.shown, selection.cam, selection.side


__all__ = ["Session", "Shown"]
