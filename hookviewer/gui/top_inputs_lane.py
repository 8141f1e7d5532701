"""The inputs that excite the channels of a layer most and least, found in one pass on the model thread."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from PySide6.QtCore import QCoreApplication, QObject, Signal

from hookviewer import arrays, receptive
from hookviewer.errors import HookViewerError
from hookviewer.gui import thumbnails
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import Message, Settings
from hookviewer.hooks import capture
from hookviewer.inputs import Input, in_folder, open_input
from hookviewer.kinds import Key
from hookviewer.plan import HookPlan
from hookviewer.strongest import Place, TopInputs, TopK, patch, top_inputs

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE, PICTURES = "top inputs", "pictures of top inputs"
KEPT = 6
"""So many places are kept at each end for every channel."""


@dataclasses.dataclass(frozen=True, eq=False)
class Exciting:
    """One place with what is shown of it: the input's picture, the channel's map, and what the cell sees.

    `box` is top, left, bottom and right in pixels of the input tensor, `sizes` its height and width.
    """

    place: Place
    name: str
    picture: Image.Image | None = None
    map: npt.NDArray[Any] | None = None
    box: tuple[int, int, int, int] | None = None
    sizes: tuple[int, int] = (1, 1)
    reason: str = ""


class TopInputsLane(QObject):
    """Looks through the listed inputs, or a folder, for one layer at a time."""

    changed = Signal()
    pictures_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.path = ""
        self.found: TopInputs | None = None
        self.working = False
        self.given: tuple[Any, ...] = ()
        """What was looked through: opened inputs, or names of files."""
        self.most: tuple[Exciting, ...] = ()
        self.least: tuple[Exciting, ...] = ()
        self.channel = -1
        """The channel that pictures were asked for last."""
        self.pictured = -1
        """The channel that `most` and `least` are of."""
        session.model_changed.connect(self.forget)

    def forget(self) -> None:
        """Stop, and take the result back."""
        for lane in (LANE, PICTURES):
            self._session.runner.cancel(lane, drop=True)
        self.found, self.working, self.most, self.least = None, False, (), ()
        self.changed.emit()
        self.pictures_changed.emit()

    def stop(self) -> None:
        """Stop looking; what was found until then stays."""
        self._session.runner.cancel(LANE)

    def look(self, folder: str = "") -> None:
        """Look through a folder, or the inputs of the list, for the selected layer."""
        session, model = self._session, self._session.model
        if model is None:
            return
        try:
            given = tuple(in_folder(folder)) if folder else tuple(item.input for item in session.inputs)
        except HookViewerError as error:
            session.tell(Message("error", _tr("The folder was not looked through."), str(error)))
            return
        if not given:
            now = _tr("Add inputs to the list, or choose a folder.")
            session.tell(Message("warn", _tr("There is no input to look through."), now))
            return
        self.path, self.given, self.found, self.working = session.selection.path, given, None, True
        self.most = self.least = ()
        path, settings = self.path, session.settings
        readings = {path: session.look.readings[path]} if path in session.look.readings else {}
        self.changed.emit()

        def work(job: Job) -> TopInputs:
            def tell(found: TopInputs) -> None:
                if job.due():
                    job.report(found)

            return top_inputs(
                model,
                given,
                [path],
                k=KEPT,
                readings=readings,
                progress=tell,
                cancelled=job.cancelled,
                **_options(settings),
            )

        session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_result, on_failure=self._on_failure
        )

    @property
    def top(self) -> tuple[Key, TopK] | None:
        """The tensor that was looked at, with its places; None before there is one."""
        layers = self.found.layers if self.found is not None else {}
        return next(((key, top) for key, top in layers.items() if key.call == 0), None)

    def show(self, channel: int) -> None:
        """Make the pictures of the places of a channel: each input is run once more."""
        session, model, found = self._session, self._session.model, self.top
        if model is None or found is None or channel >= found[1].channels:
            return
        key, top = found
        sides = top.most(channel), top.least(channel)
        self.channel = channel
        given, settings, names = self.given, session.settings, self.found.inputs if self.found else ()

        def work(job: Job) -> tuple[tuple[Exciting, ...], ...]:
            shown = _Shower(model, key, top.reading, channel, given, names, settings)
            return tuple(tuple(shown.of(place, job) for place in side) for side in sides)

        session.runner.submit(
            PICTURES,
            work,
            on_result=lambda made: self._on_pictures(channel, made),
            on_failure=self._on_failure,
        )

    def bring(self, exciting: Exciting) -> None:
        """Select an input: one of the list, or added to it."""
        session = self._session
        one = self.given[exciting.place.input]
        for item in session.inputs:
            if item.input is one or (isinstance(one, str) and item.input.spec == one):
                session.tick_input(item.number, True)
                session.select(input=item.number, cell=_cell(exciting.place), path=self.path)
                return
        session.open_inputs([one])

    def _on_report(self, found: TopInputs) -> None:
        self.found = found
        self.changed.emit()

    def _on_result(self, found: TopInputs) -> None:
        self.found, self.working = found, False
        self.changed.emit()

    def _on_pictures(self, channel: int, made: tuple[tuple[Exciting, ...], ...]) -> None:
        self.pictured = channel
        self.most, self.least = made
        self.pictures_changed.emit()

    def _on_failure(self, failure: Failure) -> None:
        self.working = False
        self.changed.emit()
        what = _tr("The inputs were not looked through to the end.")
        self._session.tell(Message("error", what, failure.sentence, failure.report))


@dataclasses.dataclass(frozen=True, eq=False)
class _Shower:
    """Runs inputs again for the maps of one channel."""

    model: torch.nn.Module
    key: Key
    reading: str
    channel: int
    given: Sequence[Any]
    names: Sequence[str]
    settings: Settings
    fields: dict[tuple[int, int], receptive.Fields] = dataclasses.field(default_factory=dict)
    """What cells see, by the size of the input."""

    def of(self, place: Place, job: Job) -> Exciting:
        name = self.names[place.input].replace("\\", "/").rpartition("/")[2]
        try:
            return self._shown(place, name, job)
        except HookViewerError as error:
            return Exciting(place, name, reason=str(error))

    def _shown(self, place: Place, name: str, job: Job) -> Exciting:
        given = open_input(self.given[place.input], self.model)
        plan = HookPlan(frozenset({self.key.path}))
        options = _options(self.settings)
        recording = capture(
            self.model, given.args, plan, kwargs=given.kwargs, cancelled=job.cancelled, **options
        )
        maps = arrays.as_maps(recording[self.key].array(), sample=place.sample, reading=self.reading or None)
        fits = maps.layout == "maps" and self.channel < len(maps.values)
        sizes = _sizes(given)
        if fits and sizes not in self.fields:
            self.fields[sizes] = receptive.fields(self.model, given.args, kwargs=given.kwargs)
        box = patch(self.fields[sizes], self.key, place) if fits else None
        values = np.array(maps.values[self.channel]) if fits else None
        return Exciting(place, given.name or name, thumbnails.picture_of(given), values, box, sizes)


def _sizes(given: Input) -> tuple[int, int]:
    """Return height and width of the first tensor that has them."""
    tensor = next((one for one in given.args if isinstance(one, torch.Tensor) and one.ndim > 2), None)
    return (1, 1) if tensor is None else (int(tensor.shape[-2]), int(tensor.shape[-1]))


def _cell(place: Place) -> tuple[int, int] | None:
    return (place.cell[0], place.cell[1]) if len(place.cell) == 2 else None


def _options(settings: Settings) -> dict[str, Any]:
    names = ("edits", "mode", "seed", "device", "budget")
    return {name: getattr(settings, name) for name in names}


def _tr(text: str) -> str:
    return QCoreApplication.translate("TopInputs", text)
