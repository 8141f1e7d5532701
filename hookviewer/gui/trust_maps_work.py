"""How much a map says: its curves beside those of a random order, and maps of shuffled copies. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from hookviewer.errors import Cancelled, HookViewerError
from hookviewer.gui.state import Settings
from hookviewer.gui.variant_lane import VariantModels
from hookviewer.inputs import Input
from hookviewer.methods import Curve, Likeness, Method, Question, answered, question, trust_curves
from hookviewer.methods.randomised import last_layers, likeness, shuffled
from hookviewer.methods.stacked import settled
from hookviewer.plan import HookPlan
from hookviewer.recording import Record
from hookviewer.targets import Target

SHARES = (0.1, 0.25, 0.5, 1.0)
"""How many of the layers with weights are shuffled, from the output on."""
STEPS = 20
PARTS = 4 + len(SHARES)


@dataclasses.dataclass(frozen=True, eq=False)
class Asked:
    """The map to check: by a method, in a call of a layer (`""` for maps of the input), of one sample."""

    model: nn.Module
    input: Input
    method: Method
    path: str
    settings: Settings
    target: Target
    sample: int = 0
    steps: int = STEPS
    call: int = 0

    @property
    def place(self) -> str:
        """The path that the map lies under."""
        return self.path if self.method.of_layers else ""

    def made_ready(self, models: VariantModels) -> Asked:
        """Return what to ask of the model that the settings mean; it runs on the model thread."""
        runnable = models.runnable(self.model, self.settings, self.input)
        made, names, path = runnable.made, runnable.renaming, self.path
        if names is not None and self.method.of_layers:
            there = names.there(path)
            if there is None:
                raise HookViewerError(f"The other model has no layer beside {path}: choose another layer.")
            path = there
        if made is None:
            return dataclasses.replace(self, model=runnable.model, path=path)
        args, kwargs = made.inputs(self.input.args, self.input.kwargs)
        given = dataclasses.replace(self.input, args=args, kwargs=kwargs)
        return dataclasses.replace(self, model=runnable.model, input=given, path=path)


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """The map [h, w] of a copy with a `share` of all `layers` shuffled; `reason` says why there is none."""

    share: float
    layers: int
    map: torch.Tensor | None
    alike: Likeness | None
    reason: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Trial:
    """What is known so far. `curves` go by the map, `random` by an order of cells that is drawn by lot."""

    map: torch.Tensor | None = None
    curves: tuple[Curve, ...] = ()
    random: tuple[Curve, ...] = ()
    rounds: tuple[Round, ...] = ()
    done: float = 0.0
    stopped: bool = False


Tell = Callable[[Trial], object]


def tried(asked: Asked, tell: Tell, cancelled: Callable[[], bool]) -> Trial:
    """Check a map, and tell each step; a check that is stopped returns what was done.

    Raises `HookViewerError` where the method does not suit the layer, or the input is no picture.
    """
    trial = Trial()

    def grown(part: float, **changes: object) -> None:
        nonlocal trial
        trial = dataclasses.replace(trial, done=part / PARTS, **changes)  # type: ignore[arg-type]
        tell(trial)

    try:
        asking = _question(asked, cancelled)
        record = map_of(asking, asked)
        own = record.tensor()[asked.sample, 0]
        grown(0, map=own)
        _curves(asked, own, cancelled, lambda part, curves: grown(part, curves=curves))
        lot = by_lot(own, asked.settings.seed)
        _curves(asked, lot, cancelled, lambda part, curves: grown(2 + part, random=curves))
        for place, one in enumerate(_rounds(asking, asked, record)):
            grown(5 + place, rounds=(*trial.rounds, one))
    except Cancelled:
        return dataclasses.replace(trial, stopped=True)
    return trial


def map_of(asking: Question, asked: Asked) -> Record:
    """Return the map [N, 1, h, w] that is checked; raise `HookViewerError` with the reason where none is."""
    found = answered(asking, [asked.method])
    place, call = found.aliases.get(asked.place, asked.place), asked.call if asked.method.of_layers else 0
    record = next((one for key, one in found.items() if (key.path, key.call) == (place, call)), None)
    if record is None:
        why = next(iter(found.absent.values()), f"{asked.method.title} made no map of {asked.place}.")
        raise HookViewerError(why)
    if len(record.shape) != 4:
        raise HookViewerError("This map has no rows and columns: choose a layer with maps.")
    return record


def by_lot(map: torch.Tensor, seed: int) -> torch.Tensor:
    """Return a map as large whose cells stand in an order that is drawn by lot."""
    order = torch.randperm(map.numel(), generator=torch.Generator().manual_seed(seed))
    return order.reshape(map.shape).float()


def _curves(
    asked: Asked,
    values: torch.Tensor,
    cancelled: Callable[[], bool],
    tell: Callable[[float, tuple[Curve, ...]], object],
) -> None:
    """Tell how much of the two curves is done, of 2, and the curves so far."""
    kept: dict[str, Curve] = {}

    def on_curve(curve: Curve) -> None:
        kept[curve.name] = curve
        tell(sum(len(one.values) for one in kept.values()) / (asked.steps + 1), tuple(kept.values()))

    trust_curves(
        asked.model,
        asked.input,
        values[None, None].expand(asked.sample + 1, 1, -1, -1),
        target=asked.target,
        sample=asked.sample,
        steps=asked.steps,
        on_curve=on_curve,
        cancelled=cancelled,
        **_options(asked.settings),
    )


def _rounds(asking: Question, asked: Asked, original: Record) -> Iterator[Round]:
    first = asking.run(HookPlan())
    fixed = dataclasses.replace(asking, target=settled(asked.target, first.output))
    every = last_layers(asked.model, first, 1.0)
    for share in SHARES:
        layers = every[len(every) - max(round(share * len(every)), 1) :]
        twin = shuffled(asked.model, layers, asked.settings.seed)
        try:
            again = map_of(dataclasses.replace(fixed, model=twin), asked)
        except HookViewerError as error:
            yield Round(share, len(layers), None, None, str(error))
            continue
        one, other = (record.tensor()[asked.sample][None] for record in (original, again))
        yield Round(share, len(layers), other[0, 0], likeness(one, other))


def _question(asked: Asked, cancelled: Callable[[], bool]) -> Question:
    paths = (asked.path,) if asked.method.of_layers else ()
    options = _options(asked.settings)
    return question(asked.model, asked.input, paths, target=asked.target, cancelled=cancelled, **options)


def _options(settings: Settings) -> dict[str, Any]:
    return {"mode": settings.mode, "seed": settings.seed, "device": settings.device, "edits": settings.edits}


def csv_of(trial: Trial) -> str:
    """Return the curves and the rounds as CSV."""
    lines = ["curve,order,share,score"]
    for order, curves in (("map", trial.curves), ("random", trial.random)):
        for curve in curves:
            pairs = zip(curve.shares, curve.values, strict=True)
            lines += [f"{curve.name},{order},{share:.6g},{value:.9g}" for share, value in pairs]
    lines += ["", "shuffled share,shuffled layers,rank correlation,structural similarity"]
    for one in trial.rounds:
        said = ("", "") if one.alike is None else (f"{one.alike.rank:.6g}", f"{one.alike.structure:.6g}")
        lines.append(",".join((f"{one.share:.6g}", str(one.layers), *said)))
    return "\n".join(lines) + "\n"
