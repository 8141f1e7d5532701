"""What the checks of a map mean, in sentences. Pure."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.trust_maps_work import Trial

HIGH, LOW = 0.8, 0.3
"""Rank correlations: above, a map of shuffled weights is the same map; below, it is another one."""


def curves_words(trial: Trial) -> str:
    """Return what the curves say of the map beside a random order; nothing until all are there."""
    areas = {("map", one.name): one.area for one in trial.curves if one.shares[-1] == 1}
    areas |= {("random", one.name): one.area for one in trial.random if one.shares[-1] == 1}
    if len(areas) < 4:
        return _tr("The curves are incomplete: nothing can be said yet.") if trial.stopped else ""
    falls = areas["map", "deletion"] < areas["random", "deletion"]
    rises = areas["map", "insertion"] > areas["random", "insertion"]
    said = {
        (True, True): _tr(
            "The score falls sooner and comes back sooner than in a random order: what the map points at "
            "matters."
        ),
        (True, False): _tr(
            "The score falls sooner than in a random order, but does not come back sooner: what the map "
            "points at is needed, and not enough."
        ),
        (False, True): _tr(
            "The score comes back sooner than in a random order, but does not fall sooner: what the map "
            "points at is enough for the score, and so is the rest of the picture."
        ),
        (False, False): _tr(
            "A random order does as well: the curves do not show that what the map points at matters."
        ),
    }
    return said[falls, rises]


def rounds_words(trial: Trial) -> str:
    """Return what the maps of shuffled copies say of the method; nothing until the last one is there."""
    known = [one for one in trial.rounds if one.alike is not None]
    if not known or known[-1].share < 1:
        return ""
    alike = known[-1].alike
    assert alike is not None
    rank = f"{alike.rank:.2f}".replace("-", "−")
    if alike.rank > HIGH:
        return _tr(
            "With all weights shuffled the map is much the same (r = {}): it shows the picture, not what the "
            "network has learned."
        ).format(rank)
    if alike.rank > LOW:
        return _tr(
            "With all weights shuffled a part of the map stays (r = {}): that part is not what was learned."
        ).format(rank)
    return _tr(
        "With all weights shuffled it is another map (r = {}): it depends on what was learned."
    ).format(rank)


READING = (
    "Deletion covers the pixels that the map holds highest first with the mean colour, insertion gives them "
    "back to a picture of that colour. A map that says something beats the dashed line: a random order of "
    "cells of the same size. r is the rank correlation with the map of the network as it is; a map that "
    "stays the same when weights are shuffled does not depend on them."
)


def reading_words() -> str:
    """Return how to read both checks."""
    return _tr(READING)


def _tr(text: str) -> str:
    return QCoreApplication.translate("TrustInMaps", text)
