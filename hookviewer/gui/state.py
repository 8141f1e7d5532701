"""What the window holds, as frozen values: inputs, runs, the selection, how it is looked at."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from hookviewer.arrays import PARTS, Statistics
from hookviewer.edits import Edit
from hookviewer.gui.cam_choice import CamChoice
from hookviewer.gui.hinting import AxisHints
from hookviewer.gui.parameters import Parameters
from hookviewer.gui.renaming import Renaming
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording
from hookviewer.sources import ChoiceNeeded, TrustNeeded, WeightsMismatch, WeightsOnly
from hookviewer.target_choice import TargetChoice as TargetChoice

DECISIONS = (ChoiceNeeded, TrustNeeded, WeightsMismatch, WeightsOnly)
"""Failures that a person can turn into a success by a decision."""


class Shown(StrEnum):
    """Which tensor of the selected module the wall shows."""

    OUTPUT = "output"
    GRADIENT = "gradient"
    PRODUCT = "product"
    GRAD_CAM = "grad_cam"
    WEIGHTS = "weights"
    ATTENTION = "attention"
    MAGNITUDE = "magnitude"
    """The gradient without its sign."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The recorded kinds that it is made of."""
        if self is Shown.OUTPUT:
            return (Kind.OUTPUT,)
        if self in (Shown.GRADIENT, Shown.MAGNITUDE):
            return (Kind.GRAD_OUTPUT,)
        if self is Shown.WEIGHTS:
            return (Kind.PARAM,)
        if self is Shown.ATTENTION:
            return (Kind.ATTRIBUTION,)
        return (Kind.OUTPUT, Kind.GRAD_OUTPUT)


SIDED = frozenset({Shown.OUTPUT, Shown.GRADIENT, Shown.PRODUCT, Shown.MAGNITUDE})
"""What there is at the output of a module and at its input."""

SIDES: Mapping[str, Mapping[Kind, Kind]] = {
    "output": {},
    "input": {Kind.OUTPUT: Kind.INPUT, Kind.GRAD_OUTPUT: Kind.GRAD_INPUT},
    "total": {Kind.OUTPUT: Kind.INPUT, Kind.GRAD_OUTPUT: Kind.GRAD_INPUT_TOTAL},
}
"""What is recorded at each side in place of the output and its gradient."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """How runs are made: what makes two runs of the same input comparable.

    `weights` is a file of weights in place of those that the model was opened with, `spec` another model than
    the open one, `dtype` the type of a converted copy, `autocast` that of automatic mixed precision; all are
    empty for the open model as it is. `matches` are layers of the open model and of the other one that a
    person has put beside each other, as paths.
    """

    device: str = "cpu"
    mode: str = "eval"
    target: TargetChoice = dataclasses.field(default_factory=TargetChoice)
    seed: int = 0
    budget: int = 2 << 30
    edits: tuple[Edit, ...] = ()
    weights: str = ""
    spec: str = ""
    dtype: str = ""
    autocast: str = ""
    matches: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way in which every ticked input is run; `number` is its identity, 0 that of the plain way.

    `changes` are the settings in which it differs from those of the run bar, by name.
    """

    number: int = 0
    name: str = ""
    changes: tuple[tuple[str, Any], ...] = ()

    def settings(self, usual: Settings) -> Settings:
        """Return the settings of its runs."""
        return dataclasses.replace(usual, **dict(self.changes))


PLAIN = Variant()


COLOURS = 6
"""Identity colours that `theme.json` has for inputs: so many listed ones always differ."""


@dataclasses.dataclass(frozen=True)
class InputItem:
    """An input under a variant: what is run, and shown as a column.

    `number` is its identity and chooses its colour; `listed` is the number of its row in the input list, the
    same one for the plain variant.
    """

    number: int
    input: Input
    ticked: bool = True
    variant: Variant = PLAIN
    row: int = 0

    @property
    def listed(self) -> int:
        """The number of its row in the input list."""
        return self.row or self.number

    @property
    def title(self) -> str:
        """The input's name, and the variant's where it is not the plain one."""
        return f"{self.input.name} · {self.variant.name}" if self.variant.name else self.input.name


def next_number(last: int, items: Iterable[InputItem]) -> int:
    """Return the next number for an input: the first above `last` whose colour the fewest of `items` have."""
    taken = Counter(item.number % COLOURS for item in items)
    return min(range(last + 1, last + 1 + COLOURS), key=lambda number: taken[number % COLOURS])


@dataclasses.dataclass(frozen=True)
class Guess:
    """One class of the output: `share` is its probability."""

    index: int
    name: str
    share: float


@dataclasses.dataclass(frozen=True)
class RunError:
    """Why a run ended early: `path` is the module that raised (None when it was not in a module).

    `decision` is what a person has to decide before it can be made.
    """

    sentence: str
    path: str | None = None
    report: str = ""
    decision: TrustNeeded | None = None


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of the model on one input: what was recorded, how it ended, and its numbers.

    `hooks_left` counts the hooks that are on the model after the run and were not before it. `renaming` says
    which layers of another model its records are of; they stand under the paths of the open one.
    """

    recording: Recording
    settings: Settings
    seconds: float = 0.0
    error: RunError | None = None
    stopped: bool = False
    guesses: tuple[Guess, ...] = ()
    summaries: Mapping[Key, Statistics] = dataclasses.field(default_factory=dict)
    growing: bool = False
    """Whether records are still to come, and what overwrites those that are there is not known yet."""
    hooks_left: int = 0
    renaming: Renaming | None = None
    lists_calls: bool = False
    """Whether its plan asked for functional calls."""
    plain: Mapping[Key, Record] = dataclasses.field(default_factory=dict)
    """What a plain hook would have shown of tensors that are overwritten, as far as somebody asked."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """What is looked at: a module, which tensor of it, a channel, a cell (row, column) and an input.

    `region` is a rectangle of the maps: top, left, and bottom and right just outside of it. `cam` is the leaf
    of the map of importance, the first one that is shown where it is none of them.
    """

    path: str = ""
    shown: Shown = Shown.OUTPUT
    call: int = 0
    leaf: str = ""
    channel: int = 0
    cell: tuple[int, int] | None = None
    input: int = 0
    region: tuple[int, int, int, int] | None = None
    cam: str = ""
    side: str = "output"
    """One of `SIDES`: at the output, at the input through this module, or at the input in total."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The recorded kinds that what is looked at is made of."""
        kinds = self.shown.kinds
        return tuple(SIDES[self.side].get(kind, kind) for kind in kinds) if self.shown in SIDED else kinds


@dataclasses.dataclass(frozen=True)
class Pointed:
    """The cell under the pointer: its channel, and its row and column.

    `path` names its module where several are shown at once, `cam` which of their maps; None is the selected
    one. `input` is the number of the column whose cell it is, 0 where that has the selected input's cells.
    """

    channel: int
    cell: tuple[int, int]
    path: str | None = None
    cam: str | None = None
    input: int = 0


@dataclasses.dataclass(frozen=True)
class Look:
    """How it is looked at. `scale` and `colormap` `"auto"` follow the kind; `levels` are set by hand.

    `over` says how the big map lies on the picture: `"map"`, `"overlay"`, `"input"`, or `"auto"` by the kind.
    `pins` are the pinned channels as (path, channel), `hide_dead` leaves channels out that are zero
    everywhere, `readings` holds how the axes are read where it is not the guess, by path; `hints` are what
    the guesses go by. `places` are those on axes that slide (depth, frame), by role; `part` is what is shown
    of complex numbers. `beside` shows the gradient beside the weights, which are in `parameters`. `share` is
    one of `scaling.SHARES`, `only` a list of the channels to show (`"3, 7-12"`, `"pinned"`), `anchor` the
    channel that sorting by similarity goes by, `cam` which maps of importance are shown.
    """

    scale: str = "auto"
    colormap: str = "auto"
    sort: str = "channel"
    difference: bool = False
    differs: str = "minus"
    """How the difference is shown: one of `differing.WAYS`."""
    levels: tuple[float, float] | None = None
    sample: int = 0
    over: str = "auto"
    hide_dead: bool = False
    pins: tuple[tuple[str, int], ...] = ()
    readings: Mapping[str, str] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    hints: AxisHints = dataclasses.field(default_factory=AxisHints)
    places: Mapping[str, int] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    part: str = PARTS[0]
    beside: bool = False
    parameters: Parameters = dataclasses.field(default_factory=Parameters)
    share: str = "inputs"
    only: str = ""
    anchor: int = 0
    plain: bool = False
    """Whether a layer that is overwritten in place has what a plain hook shows beside it."""
    cam: CamChoice = dataclasses.field(default_factory=CamChoice)

    def pinned(self, path: str) -> tuple[int, ...]:
        """Return the pinned channels of a module, in the order in which they were pinned."""
        return tuple(channel for where, channel in self.pins if where == path)

    def with_pin_turned(self, path: str, channel: int) -> tuple[tuple[str, int], ...]:
        """Return the pins with this channel pinned, or no longer."""
        pin = (path, channel)
        return tuple(one for one in self.pins if one != pin) if pin in self.pins else (*self.pins, pin)


OVERS = ("map", "overlay", "input")
"""Ways in which the big map lies on the picture."""


def over_in_force(look: Look, shown: Shown) -> str:
    """Return how the big map lies on the picture: Grad-CAM over it, everything else plain, until chosen."""
    if shown is Shown.ATTENTION:
        return "map"  # its rows and columns are tokens, no places of the picture
    if look.over in OVERS:
        return look.over
    return "overlay" if shown is Shown.GRAD_CAM else "map"


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run is: which input, which module, how many of its module calls are done.

    `hooks` counts those of hookviewer's that are in place on the model's modules.
    """

    input: int
    path: str
    done: int
    total: int | None
    position: int = 1
    inputs: int = 1
    hooks: int = 0

    @property
    def share(self) -> float | None:
        """The share of all inputs' module calls that is done."""
        if not self.total:
            return None
        return min((self.position - 1 + min(self.done / self.total, 1.0)) / self.inputs, 1.0)


@dataclasses.dataclass(frozen=True)
class Offer:
    """What a message offers to do: the words on a button, and what it does."""

    words: str
    does: Callable[[], object]


@dataclasses.dataclass(frozen=True)
class Message:
    """A line in place: `what` happened, `now` what to do; `report` can be copied; `undo` puts it back.

    `offers` are further buttons; a message has at most two buttons in all.
    """

    tone: str
    what: str
    now: str = ""
    report: str = ""
    undo: Callable[[], None] | None = None
    offers: tuple[Offer, ...] = ()


@dataclasses.dataclass(frozen=True)
class OpenAsked:
    """What was asked for when a model was to be opened; `reloads` says that it takes its own place."""

    spec: str
    weights: str = ""
    allow: tuple[str, ...] = ()
    reloads: bool = False


@dataclasses.dataclass(frozen=True)
class Question:
    """What a person has to decide, and what was asked for before the question came up.

    That is None for a variant of the open model, whose runs are made again after a yes.
    """

    error: BaseException
    asked: OpenAsked | None
