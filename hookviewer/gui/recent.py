"""What was open last: models and inputs, the latest first, and whether they are still there."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path

from hookviewer.gui.settings import stored

MOST_RECENT = 10


@dataclasses.dataclass(frozen=True)
class Recent:
    """What was open: how to open it again, and when that was last done."""

    spec: str
    weights: str = ""
    when: str = ""

    @property
    def missing(self) -> bool:
        """Whether a file that it needs is no longer there."""
        return _gone(self.spec) or _gone(self.weights)


def _gone(spec: str) -> bool:
    """Return whether a spec names a file that is not there; names of packages and demos are never gone."""
    place = spec.partition("?")[0]
    head, colon, _ = place.rpartition(":")
    if colon and head.endswith(".py"):
        place = head
    path = Path(place).expanduser()
    return path.is_absolute() and not path.exists()


def models() -> list[Recent]:
    """Return the models that were open last."""
    return _read("recent_models")


def inputs() -> list[Recent]:
    """Return the inputs that were open last."""
    return _read("recent_inputs")


def remember_model(spec: str, weights: str = "") -> None:
    """Put a model at the head of the recent ones."""
    _remember("recent_models", spec, weights)


def remember_input(spec: str) -> None:
    """Put an input at the head of the recent ones."""
    _remember("recent_inputs", spec)


def forget_models() -> None:
    """Empty the list of recent models."""
    _store("recent_models", [])


def forget_inputs() -> None:
    """Empty the list of recent inputs."""
    _store("recent_inputs", [])


def _remember(name: str, spec: str, weights: str = "") -> None:
    now = datetime.datetime.now().isoformat(timespec="seconds")
    others = [one for one in _read(name) if (one.spec, one.weights) != (spec, weights)]
    _store(name, [Recent(spec, weights, now), *others][:MOST_RECENT])


def _read(name: str) -> list[Recent]:
    try:
        found = json.loads(str(stored().value(name, "[]")))
        return [Recent(*(str(part) for part in entry)) for entry in found][:MOST_RECENT]
    except (ValueError, TypeError):  # a file that somebody edited by hand
        return []


def _store(name: str, entries: list[Recent]) -> None:
    stored().setValue(name, json.dumps([dataclasses.astuple(one) for one in entries]))


def day(when: str, today: datetime.date | None = None) -> str:
    """Return a time in the words of a person: `today`, `yesterday`, `Monday`, `12 March`."""
    try:
        then = datetime.datetime.fromisoformat(when).date()
    except ValueError:
        return ""
    days = ((today or datetime.date.today()) - then).days
    if days <= 1:
        return "today" if days <= 0 else "yesterday"
    return then.strftime("%A") if days < 7 else f"{then.day} {then.strftime('%B')}"
