"""What differs between columns: the ways to run every input that can be chosen, and those that are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Qt, Signal

from hookviewer.errors import HookViewerError
from hookviewer.gui.devices import devices, words
from hookviewer.gui.state import PLAIN, Guess, Message, Run, Settings, TargetChoice, Variant
from hookviewer.variants import Checkpoint, checkpoints

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

NOOP = QT_TRANSLATE_NOOP
DTYPES = ("float32", "bfloat16", "float16", "float64")
AUTOCASTS = ("bfloat16", "float16")
SEEDS = 8
"""Seeds that are offered: the first ones from 0 on."""

Changes = tuple[tuple[str, Any], ...]


class Vary(StrEnum):
    """What columns may differ in."""

    INPUTS = "inputs"
    CHECKPOINTS = "checkpoints"
    MODELS = "models"
    DEVICE = "device"
    DTYPE = "dtype"
    MODE = "mode"
    SEED = "seed"
    TARGETS = "targets"


NAMES = {
    Vary.INPUTS: str(NOOP("Vary", "inputs")),
    Vary.CHECKPOINTS: str(NOOP("Vary", "checkpoints")),
    Vary.MODELS: str(NOOP("Vary", "models")),
    Vary.DEVICE: str(NOOP("Vary", "device")),
    Vary.DTYPE: str(NOOP("Vary", "dtype")),
    Vary.MODE: str(NOOP("Vary", "mode")),
    Vary.SEED: str(NOOP("Vary", "seed")),
    Vary.TARGETS: str(NOOP("Vary", "target")),
}
TIPS = {
    Vary.INPUTS: str(NOOP("Vary", "One column for every ticked input.")),
    Vary.CHECKPOINTS: str(
        NOOP("Vary", "The same network with other weights: files of a folder, with a slider over its steps.")
    ),
    Vary.MODELS: str(
        NOOP("Vary", "Another model, its layers matched to these by name, then by order and shape.")
    ),
    Vary.DEVICE: str(NOOP("Vary", "The same run on another device.")),
    Vary.DTYPE: str(NOOP("Vary", "A converted copy of the model, or automatic mixed precision.")),
    Vary.MODE: str(
        NOOP(
            "Vary",
            "Eval and train: dropout and batch normalisation differ. As left: every module in its own mode.",
        )
    ),
    Vary.SEED: str(NOOP("Vary", "Other random numbers: dropout in train mode, noise in the model.")),
    Vary.TARGETS: str(NOOP("Vary", "Gradients from another target; outputs stay the same.")),
}


@dataclasses.dataclass(frozen=True)
class Way:
    """A line of the list: `changes` are the settings in which it differs, none for the one in force."""

    name: str
    changes: Changes = ()


def name_of(vary: Vary) -> str:
    """Return what varies in the language of the window."""
    return tr(NAMES[vary])


def modes(settings: Settings) -> tuple[Way, ...]:
    """Return eval and train mode, the one in force first, and every module in the mode it was left in."""
    other = {"eval": "train", "train": "eval"}[settings.mode]
    return Way(settings.mode), Way(other, (("mode", other),)), Way(tr("as left"), (("mode", "as is"),))


def device_ways(settings: Settings) -> tuple[Way, ...]:
    """Return the devices of this machine, the one in force first."""
    others = [one for one in devices() if one != settings.device]
    return Way(words(settings.device)), *(Way(words(one), (("device", one),)) for one in others)


def dtype_ways(model: torch.nn.Module | None) -> tuple[Way, ...]:
    """Return the types of a converted copy and of mixed precision, that of the open model first."""
    own = dtype_name(model)
    copies = [Way(one, (("dtype", one),)) for one in DTYPES if one != own]
    mixed = [Way(f"autocast {one}", (("autocast", one),)) for one in AUTOCASTS]
    return Way(own), *copies, *mixed


def dtype_name(model: torch.nn.Module | None) -> str:
    """Return the type of the first parameter of floating point, `float32` without one."""
    parameters = model.parameters() if model is not None else ()
    found = next((one.dtype for one in parameters if one.is_floating_point()), torch.float32)
    return str(found).removeprefix("torch.")


def seed_ways(settings: Settings) -> tuple[Way, ...]:
    """Return the first seeds, the one in force first."""
    name = tr("seed {}")
    others = [one for one in range(SEEDS) if one != settings.seed]
    return Way(name.format(settings.seed)), *(Way(name.format(one), (("seed", one),)) for one in others)


def target_ways(settings: Settings, guesses: Sequence[Guess], name: str) -> tuple[Way, ...]:
    """Return the likely classes and the sum as targets; the one in force, called `name`, first."""
    ways = [Way(one.name, (("target", TargetChoice("class", one.index)),)) for one in guesses]
    ways.append(Way(tr("sum of the output"), (("target", TargetChoice("sum")),)))
    return Way(name), *(way for way in ways if dict(way.changes)["target"] != settings.target)


def checkpoint_ways(found: Sequence[Checkpoint], own: str) -> tuple[Way, ...]:
    """Return the files of weights of a folder; those that the model was opened with, called `own`, first."""
    return Way(own), *(Way(one.name, (("weights", str(one.path)),)) for one in found)


def model_ways(specs: Sequence[str], own: str) -> tuple[Way, ...]:
    """Return other models; the open one, called `own`, first."""
    return Way(own), *(Way(_short(spec), (("spec", spec),)) for spec in specs)


def _short(spec: str) -> str:
    start, _, name = spec.rpartition(":")
    return name if start and name and "/" not in name else Path(spec).name or spec


class Varying(QObject):
    """Holds the ways that are chosen beside the plain one, and makes them variants of the session.

    Other variants (that of edits) are left alone, behind its own ones.
    """

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.checkpoints: tuple[Checkpoint, ...] = ()
        self.specs: tuple[str, ...] = ()
        self.refused: frozenset[str] = frozenset()
        """The SHA-256 of files that a person has not let run code; choosing them again asks again."""
        self._vary = Vary.INPUTS
        self._variants: tuple[Variant, ...] = ()
        session.model_changed.connect(self._on_model_changed)

    @property
    def vary(self) -> Vary:
        """What varies now."""
        return self._vary if self.variants else Vary.INPUTS

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Its own variants, in the order of their columns."""
        there = {one.number for one in self._session.variants}
        return tuple(one for one in self._variants if one.number in there)

    def ways(self, vary: Vary) -> tuple[Way, ...]:
        """Return what can be chosen, first what is in force and always there; none for inputs."""
        session = self._session
        settings, card = session.settings, session.card
        own = card.name if card is not None and card.name else tr("the open model")
        match vary:
            case Vary.CHECKPOINTS:
                return checkpoint_ways(self.checkpoints, tr("as opened"))
            case Vary.MODELS:
                return model_ways(self.specs, own)
            case Vary.DEVICE:
                return device_ways(settings)
            case Vary.DTYPE:
                return dtype_ways(session.model)
            case Vary.MODE:
                return modes(settings)
            case Vary.SEED:
                return seed_ways(settings)
            case Vary.TARGETS:
                return target_ways(settings, self._guesses(), tr("as in the bar above"))
            case Vary.INPUTS:
                return ()

    def _guesses(self) -> tuple[Guess, ...]:
        item = next((one for one in self._session.ticked_inputs if one.variant == PLAIN), None)
        run = self._session.runs.get(item.number) if item is not None else None
        return run.guesses if run is not None else ()

    def chosen(self, way: Way) -> bool:
        """Return whether a way has a column."""
        return not way.changes or any(_same(one, way) for one in self.variants)

    def choose(self, vary: Vary, way: Way, on: bool) -> None:
        """Give a way a column, or take it away; what varied before in another way gives place."""
        kept = self.variants if vary is self.vary else ()
        kept = tuple(one for one in kept if not _same(one, way))
        if on and way.changes:
            kept = (*kept, Variant(self._number(kept), way.name, way.changes))
        self._put(vary, kept)

    def refuse(self, sha256: str) -> None:
        """Leave the columns of a file empty until it is chosen again."""
        self.refused |= {sha256}

    def run_again(self) -> None:
        """Make the runs that waited for a decision."""
        session = self._session
        if session.running:  # it has been at these columns already
            session.run_finished.connect(self.run_again, Qt.ConnectionType.SingleShotConnection)
            return
        session.set_runs({number: run for number, run in session.runs.items() if not _waits(run)})
        session.run_missing()

    def only_inputs(self) -> None:
        """Run every input in the plain way alone, apart from what others vary."""
        self._put(Vary.INPUTS, ())

    def slide(self, place: int) -> None:
        """Show another checkpoint in the last column of one, or in a new column."""
        way = checkpoint_ways(self.checkpoints[place : place + 1], "")[1]
        if self.chosen(way):
            return
        if self.vary is not Vary.CHECKPOINTS:
            self.choose(Vary.CHECKPOINTS, way, True)
            return
        *kept, last = self.variants
        self._put(Vary.CHECKPOINTS, (*kept, Variant(last.number, way.name, way.changes)))

    @property
    def place(self) -> int:
        """Which checkpoint the last column of one shows, −1 for none."""
        files = [str(one.path) for one in self.checkpoints]
        last = dict(self.variants[-1].changes).get("weights") if self.variants else None
        return files.index(last) if last in files else -1

    def open_folder(self, folder: str) -> None:
        """Offer the files of weights in a folder, or tell why there are none."""
        try:
            self.checkpoints = checkpoints(folder)
        except HookViewerError as error:
            self._session.tell(Message("error", tr("No checkpoints."), str(error)))
        self.changed.emit()

    def add_model(self, spec: str) -> None:
        """Offer another model, and give it a column."""
        if not spec.strip():
            return
        if spec not in self.specs:
            self.specs = (*self.specs, spec)
        self.choose(Vary.MODELS, model_ways([spec], "")[1], True)

    def match(self, variant: Variant, own: str, other: str) -> None:
        """Put a layer of another model beside one of the open model; an empty path is none."""
        changes = dict(variant.changes)
        matches = dict(changes.get("matches", ()))
        changes["matches"] = tuple(sorted({**matches, own: other}.items()))
        made = dataclasses.replace(variant, changes=tuple(changes.items()))
        self._put(self._vary, tuple(made if one == variant else one for one in self.variants))

    def _put(self, vary: Vary, variants: tuple[Variant, ...]) -> None:
        session = self._session
        self.refused = frozenset()
        own = {one.number for one in self._variants}
        others = [one for one in session.variants if one.number and one.number not in own]
        self._vary, self._variants = vary, variants
        session.set_variants((PLAIN, *variants, *others))
        self.changed.emit()

    def _number(self, kept: Sequence[Variant]) -> int:
        """Return a number that no variant has; its own ones are below zero, those of others above."""
        taken = {one.number for one in kept}
        return next(number for number in range(-1, -len(taken) - 2, -1) if number not in taken)

    def _on_model_changed(self) -> None:
        if self._session.exchanging:
            return
        self._variants, self.checkpoints = (), ()
        self.changed.emit()


def _waits(run: Run) -> bool:
    return run.error is not None and run.error.decision is not None


def _same(variant: Variant, way: Way) -> bool:
    changes = dict(variant.changes)
    changes.pop("matches", None)
    return changes == dict(way.changes)


def tr(text: str) -> str:
    return QCoreApplication.translate("Vary", text)
