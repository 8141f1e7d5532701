"""The likely classes of an input without and with edits, side by side. Pure."""

from __future__ import annotations

import dataclasses
import itertools

from hookviewer.gui.running import guesses
from hookviewer.gui.state import Guess, Run

EVERY = 1 << 20


@dataclasses.dataclass(frozen=True)
class Change:
    """One class: its probability before and after."""

    guess: Guess
    after: float


def changes(before: Run | None, after: Run | None, most: int = 5) -> tuple[Change, ...]:
    """Return the likeliest classes of both runs in the order of the first; none where one has no classes."""
    if before is None or after is None or not (before.guesses and after.guesses):
        return ()
    chosen: dict[int, Guess] = {}
    for guess in itertools.chain(*zip(before.guesses, after.guesses, strict=False)):
        chosen.setdefault(guess.index, guess)
    shares, later = _shares(before), _shares(after)
    rows = [
        Change(dataclasses.replace(guess, share=shares.get(index, 0.0)), later.get(index, 0.0))
        for index, guess in itertools.islice(chosen.items(), most)
    ]
    return tuple(sorted(rows, key=lambda row: -row.guess.share))


def _shares(run: Run) -> dict[int, float]:
    """Return the probabilities of all classes."""
    return {one.index: one.share for one in guesses(run.recording.output, (), EVERY)}
