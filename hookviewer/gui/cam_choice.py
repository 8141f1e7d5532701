"""Which maps of importance are shown: the methods, the targets, and how they lie on the picture. Pure."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable

import numpy as np

from hookviewer.arrays import Maps
from hookviewer.errors import HookViewerError
from hookviewer.gui.remembered import remembered
from hookviewer.methods import Method, find_method
from hookviewer.target_choice import TargetChoice
from hookviewer.target_words import words

BETWEEN = " for "
SIGNED, SIZE, POSITIVE = "signed", "size", "positive"
SIGNS = (SIGNED, SIZE, POSITIVE)
"""How signed maps are shown: as they are, their size, or only what speaks for the target."""
MOST_TARGETS = 2
"""Targets beside the one of the run."""


@dataclasses.dataclass(frozen=True)
class CamChoice:
    """The methods by name, in the order in which they are shown, and `targets` beside the run's own.

    `opacity` is how much a map covers the picture, 0 to 1; `contours` draws lines of one value; `sign` is how
    signed maps are shown.
    """

    methods: tuple[str, ...] = ("grad_cam",)
    targets: tuple[TargetChoice, ...] = ()
    opacity: float = 0.75
    contours: bool = False
    sign: str = SIGNED

    def leaf(self, wish: str) -> str:
        """Return the leaf to look at: `wish` where that is among those shown, else the first one."""
        return wish if wish in self.leaves else self.leaves[0]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaves of all maps that are shown of a layer, or of the input."""
        return tuple(leaf_of(name, target) for target in self.every_target for name in self.methods)

    @property
    def every_target(self) -> tuple[TargetChoice | None, ...]:
        """The run's own target, which is None here, and those beside it."""
        return (None, *self.targets)

    def with_method(self, name: str, on: bool, order: tuple[str, ...]) -> CamChoice:
        """Return the choice with a method or without it; the last one stays."""
        chosen = {*self.methods, name} if on else {*self.methods} - {name}
        kept = tuple(one for one in order if one in chosen)
        return dataclasses.replace(self, methods=kept or self.methods)

    def with_target(self, target: TargetChoice, on: bool) -> CamChoice:
        """Return the choice with a target or without it; of more than there is room for the oldest goes."""
        kept = tuple(one for one in self.targets if one != target)
        return dataclasses.replace(self, targets=(*kept, target)[-MOST_TARGETS:] if on else kept)


def remembered_choice(names: Iterable[str]) -> CamChoice:
    """Return the choice of methods that were shown the last time, as far as they are still there."""
    kept = tuple(name for name in names if is_cam(name))
    return CamChoice(kept) if kept else CamChoice()


def leaf_of(method: str, target: TargetChoice | None = None) -> str:
    """Return the leaf of a map's record: the method's name, and the target where it is not the run's."""
    return method if target is None else f"{method}{BETWEEN}{words(target)}"


def parts_of(leaf: str) -> tuple[str, str]:
    """Return the method's name and the words of the target (nothing for the run's own) of a leaf."""
    method, _, target = leaf.partition(BETWEEN)
    return method.partition("[")[0], target


@functools.cache
def method_of(name: str) -> Method:
    """Return the method of that name, always the same one."""
    return find_method(name)


def is_cam(leaf: str) -> bool:
    """Return whether a record with this leaf is the map of a method."""
    try:
        method_of(parts_of(leaf)[0])
    except HookViewerError:
        return False
    return True


def of_input(leaf: str) -> bool:
    """Return whether a map with this leaf is one of the input, not of a layer."""
    return bool(leaf) and is_cam(leaf) and not method_of(parts_of(leaf)[0]).of_layers


def scale_of(leaf: str, sign: str = SIGNED) -> str:
    """Return the scale on which a method's maps are seen best: `peak`, `symmetric` or `robust`.

    Maps of the input have few pixels that stand out far.
    """
    if is_signed(leaf, sign):
        return "symmetric"
    return "peak" if method_of(parts_of(leaf)[0]).of_layers else "robust"


def is_signed(leaf: str, sign: str = SIGNED) -> bool:
    """Return whether a method's maps, so shown, tell what speaks against the target, too."""
    return sign == SIGNED and method_of(parts_of(leaf)[0]).signed


def in_sign(maps: Maps, leaf: str, sign: str) -> Maps:
    """Return maps as they are shown; the same ones every time, and only those of signed methods change."""
    return _in_sign(maps, sign) if is_signed(leaf) and sign != SIGNED else maps


@remembered()
def _in_sign(maps: Maps, sign: str) -> Maps:
    values = np.abs(maps.values) if sign == SIZE else np.maximum(maps.values, 0)
    return dataclasses.replace(maps, values=values)
