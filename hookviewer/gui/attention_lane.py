"""The attention of the ticked inputs: rebuilt by a run of its own on the model thread, kept in their runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from PySide6.QtCore import QCoreApplication, QObject, Signal

from hookviewer.attention import Attention, Attentions, capture_attention
from hookviewer.errors import Cancelled, ModelError
from hookviewer.gui import runs
from hookviewer.gui.attention_query import MEAN, Query, check_words, first_token, query_of
from hookviewer.gui.attention_records import attends, is_attention, is_written_in, keys_at
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import InputItem, Message, Run, Settings, Shown
from hookviewer.kinds import Key, Kind
from hookviewer.modules import unwrapped
from hookviewer.recording import Recording, statistics

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "attention"


@dataclasses.dataclass(frozen=True)
class AttentionLook:
    """How attention is looked at: one token over the picture, or all heads as matrices.

    `way` is what lies over the picture: `mean` of the heads, the selected `head`, or the `rollout` through
    all layers until this one, or through the `ticked` ones of them.
    """

    page: str = "token"
    way: str = MEAN
    ticked: bool = False


@dataclasses.dataclass(frozen=True)
class Found:
    """The attention of one input; `stopped` says that the run did not come to its end."""

    number: int
    attentions: Attentions
    stopped: bool = False


@dataclasses.dataclass(frozen=True)
class Way:
    """Where the run for attention is: the module that runs, and the share of all calls (None: not known)."""

    path: str
    share: float | None


class AttentionLane(QObject):
    """Looks for attention where it is to be shown, once for each run of an input."""

    changed = Signal()
    """Another look, or what is known is something else by now."""
    progressed = Signal(object)
    """A `Way`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._found: dict[int, Attentions] = {}
        self._tried: dict[int, Run] = {}
        self.look = AttentionLook()
        self.running = False
        session.selection_changed.connect(self._on_wanted)
        session.run_finished.connect(self.want)
        session.run_started.connect(self._make_way)
        session.inputs_changed.connect(self._on_wanted)
        session.model_changed.connect(self._on_model_changed)

    def set_look(self, **changes: object) -> None:
        """Change how attention is looked at."""
        look = dataclasses.replace(self.look, **changes)  # type: ignore[arg-type]
        if look != self.look:
            self.look = look
            self.changed.emit()

    # -- what is known ---------------------------------------------------------------------------------------

    def offered(self, path: str) -> bool:
        """Return whether a module attends, as far as is known."""
        session = self._session
        recordings = [run.recording for run in session.runs.values()]
        if any(attends(session.tree, path, one) for one in recordings) or attends(session.tree, path):
            return True
        try:
            return session.model is not None and is_written_in(
                unwrapped(session.model)[0].get_submodule(path)
            )
        except AttributeError:  # a functional call is no module
            return False

    def at(self, item: InputItem) -> Attention | None:
        """Return the selected attention of an input; None where there is none, or none yet."""
        session, known = self._session, self._found.get(item.number)
        recording = session.recording(item.number)
        if known is None or recording is None:
            return None
        selection = session.selection
        keys = keys_at(recording, selection.path, selection.call)
        if len({key.path for key in keys}) != 1:
            return None
        key = next((one for one in keys if one.leaf == selection.leaf), keys[0])
        found = known.found.get(key)
        return found if found is not None and found.record is recording.records[key] else None

    def layers(self, item: InputItem) -> tuple[Attention, ...]:
        """Return what a rollout goes through, in the order of the run: all attention, or the ticked ones."""
        known = self._found.get(item.number)
        if known is None:
            return ()
        ticked = self._session.plan.paths
        chosen = [one for key, one in known.found.items() if not self.look.ticked or _ticked(key, ticked)]
        return tuple(chosen)

    def query(self, item: InputItem | None) -> Query | None:
        """Return what the selected token of an input attends to; None where no attention is known."""
        one = None if item is None else self.at(item)
        if one is None or item is None or one.record.kept is None:
            return None
        session, look = self._session, self.look
        cell = session.selection.cell
        token = first_token(one) if cell is None else cell[0]
        layers = self.layers(item)
        return query_of(one, session.look.sample, token, look.way, session.selection.channel, layers)

    def check(self, item: InputItem | None) -> str:
        """Return a sentence where the attention of an input is not what the layer used."""
        one, model = None if item is None else self.at(item), self._session.model
        if one is None or model is None:
            return ""
        floats = (value.dtype for value in model.parameters() if value.is_floating_point())
        return check_words(one, next(floats, torch.float32))

    def select_token(self, token: int) -> None:
        """Choose the token that is asked about."""
        cell = self._session.selection.cell
        self._session.select(cell=(token, token if cell is None else cell[1]))

    # -- looking for it --------------------------------------------------------------------------------------

    def want(self) -> None:
        """Look for attention where it is shown and not known; it waits for a run that goes on."""
        session = self._session
        if session.model is None or session.running or self.running or session.runner.closed:
            return
        if session.selection.shown is not Shown.ATTENTION:
            return
        items = [item for item in session.ticked_inputs if self._lacks(item)]
        if items:
            self._start(items)

    def stop(self) -> None:
        """End within one layer; what was found until then stays."""
        self._session.runner.cancel(LANE)

    def _on_wanted(self) -> None:
        if self._session.auto:
            self.want()

    def _make_way(self) -> None:
        """A run is wanted: it comes first, and attention is looked for again after it."""
        self._session.runner.cancel(LANE, drop=True)
        self._set_running(False)

    def _on_model_changed(self) -> None:
        self._found.clear()
        self._tried.clear()
        self._make_way()

    def _lacks(self, item: InputItem) -> bool:
        run = self._session.runs.get(item.number)
        if run is None or run.growing or not runs.fits(run, item.variant.settings(self._session.settings)):
            return False
        known = any(is_attention(key) for key in (*run.recording.records, *run.recording.absent))
        return not known and self._tried.get(item.number) is not run

    def _start(self, items: Sequence[InputItem]) -> None:
        session = self._session
        model, usual = session.model, session.settings
        assert model is not None
        for item in items:
            self._tried[item.number] = session.runs[item.number]
        asked = [(item, item.variant.settings(usual)) for item in items]
        calls = runs.calls_expected(session.runs.values())
        self._set_running(True)

        def work(job: Job) -> bool:
            return attend(job, model, asked, calls)

        session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_done, on_failure=self._on_failed
        )

    def _on_report(self, report: Way | Found) -> None:
        if isinstance(report, Way):
            self.progressed.emit(report)
            return
        run = self._session.runs.get(report.number)
        if run is None:
            return
        self._found[report.number] = report.attentions
        joined = self._tried[report.number] = with_attention(run, report.attentions)
        self._session.store_run(report.number, joined)
        self.changed.emit()

    def _on_done(self, stopped: bool) -> None:
        if stopped:
            now = _tr("What was found until then is shown; Run (F5) looks again.")
            self._session.tell(Message("info", _tr("Stopped looking for attention."), now))
        self._set_running(False)
        self._on_wanted()

    def _on_failed(self, failure: Failure) -> None:
        if failure.report or failure.error is not None:
            self._session.tell_failure(_tr("The attention could not be rebuilt."), failure)
        self._set_running(False)

    def _set_running(self, on: bool) -> None:
        if on != self.running:
            self.running = on
            self.changed.emit()


def attend(
    job: Job, model: torch.nn.Module, asked: Sequence[tuple[InputItem, Settings]], calls: int | None
) -> bool:
    """Look for the attention of each input, report each as `Found`; return whether it was stopped."""
    for place, (item, settings) in enumerate(asked):
        done = 0

        def on_module(path: str, place: int = place) -> None:
            nonlocal done
            done += 1
            if job.due():
                share = None if not calls else min((place + min(done / calls, 1)) / len(asked), 1.0)
                job.report(Way(path, share))

        found = attention_of(job, model, item, settings, on_module)
        job.report(found)
        if found.stopped:
            return True
    return False


def attention_of(
    job: Job, model: torch.nn.Module, item: InputItem, settings: Settings, on_module: object
) -> Found:
    """Return the attention of one input; a stopped run, or a model that raises, gives what there was."""
    seen: dict[Key, Attention] = {}
    try:
        attentions = capture_attention(
            model,
            item.input.args,
            kwargs=item.input.kwargs,
            edits=settings.edits,
            mode=settings.mode,
            seed=settings.seed,
            device=settings.device,
            budget=settings.budget,
            on_module=on_module,  # type: ignore[arg-type]
            on_attention=lambda one: seen.__setitem__(one.record.key, one),
            cancelled=job.cancelled,
        )
    except (Cancelled, ModelError) as stop:
        records = {key: one.record for key, one in seen.items()}
        return Found(item.number, Attentions(Recording(records), seen), isinstance(stop, Cancelled))
    return Found(item.number, attentions)


def with_attention(run: Run, attentions: Attentions) -> Run:
    """Return a run with the attention among its records; that none was seen is said where it is asked for."""
    records, absent = attentions.recording.records, attentions.recording.absent
    if not records and not absent:
        absent = {Key("", Kind.ATTRIBUTION, 0, "attention"): _tr("No attention was seen in this run.")}
    recording = dataclasses.replace(
        run.recording,
        records={**run.recording.records, **records},
        absent={**run.recording.absent, **absent},
    )
    kept = {key: one for key, one in records.items() if one.kept is not None or one.summary is not None}
    summaries: Mapping[Key, object] = {key: statistics(one) for key, one in kept.items()}
    return dataclasses.replace(run, recording=recording, summaries={**run.summaries, **summaries})  # type: ignore[dict-item]


def _ticked(key: Key, ticked: frozenset[str]) -> bool:
    return any(key.path == path or key.path.startswith(f"{path}.") for path in ticked)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attention", text)
