"""What the program remembers between two starts: the window, the theme, what was open last."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

LAYOUT_VERSION = 1
MOST_RECENT = 10


@dataclasses.dataclass(frozen=True)
class Recent:
    """A model that was open: how to open it again, and when that was last done."""

    spec: str
    weights: str = ""
    when: str = ""


def stored() -> QSettings:
    """Return the settings file of the user."""
    return QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "hookviewer", "hookviewer")


def theme_name() -> str:
    """Return `"dark"`, `"light"` or `"system"`."""
    name = str(stored().value("theme", "dark"))
    return name if name in ("dark", "light", "system") else "dark"


def remember_theme(name: str) -> None:
    """Start with this theme from now on."""
    stored().setValue("theme", name)


def recent_models() -> list[Recent]:
    """Return what was open last, the latest first."""
    try:
        found = json.loads(str(stored().value("recent_models", "[]")))
        return [Recent(*(str(part) for part in entry)) for entry in found][:MOST_RECENT]
    except (ValueError, TypeError):  # a file that somebody edited by hand
        return []


def remember_model(spec: str, weights: str = "") -> None:
    """Put a model at the head of the recent ones."""
    now = datetime.datetime.now().isoformat(timespec="seconds")
    others = [one for one in recent_models() if (one.spec, one.weights) != (spec, weights)]
    _store_recent([Recent(spec, weights, now), *others][:MOST_RECENT])


def forget_models() -> None:
    """Empty the list of recent models."""
    _store_recent([])


def _store_recent(models: list[Recent]) -> None:
    stored().setValue("recent_models", json.dumps([dataclasses.astuple(one) for one in models]))


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


def layout() -> tuple[QByteArray, QByteArray] | None:
    """Return the window's geometry and the state of its docks, if they were stored by this version."""
    store = stored()
    geometry, state = store.value("window/geometry"), store.value("window/state")
    if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
        return geometry, state
    return None


def remember_layout(geometry: QByteArray, state: QByteArray) -> None:
    """Keep the window's geometry and the state of its docks."""
    store = stored()
    store.setValue("window/geometry", geometry)
    store.setValue("window/state", state)


def forget_layout() -> None:
    """Start with the usual layout from now on."""
    stored().remove("window")


def export_folder() -> str:
    """Return the folder of the last export, at first one among the user's pictures."""
    return str(stored().value("export_folder", str(Path.home() / "Pictures" / "hookviewer")))


def remember_export_folder(folder: str) -> None:
    """Offer this folder at the next export."""
    stored().setValue("export_folder", folder)
