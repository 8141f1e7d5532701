"""What the program remembers between two starts: the window, the theme, limits, recipes for pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

LAYOUT_VERSION = 1
KEPT_AT_RESET = ("recent_models", "recent_inputs")
"""What a person did, which is no setting."""


def stored() -> QSettings:
    """Return the settings file of the user."""
    return QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "hookviewer", "hookviewer")


def reset() -> Mapping[str, Any]:
    """Forget every setting, and return what there was, for `put_back`."""
    store = stored()
    before = {name: store.value(name) for name in store.allKeys() if name not in KEPT_AT_RESET}
    for name in before:
        store.remove(name)
    return before


def put_back(before: Mapping[str, Any]) -> None:
    """Set again what `reset` has forgotten."""
    store = stored()
    for name, value in before.items():
        store.setValue(name, value)


def theme_name() -> str:
    """Return `"dark"`, `"light"` or `"system"`."""
    name = str(stored().value("theme", "dark"))
    return name if name in ("dark", "light", "system") else "dark"


def remember_theme(name: str) -> None:
    """Start with this theme from now on."""
    stored().setValue("theme", name)


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


def dragged() -> Mapping[str, int]:
    """Return the sizes of the panels that a person has dragged, in pixels."""
    try:
        found = json.loads(str(stored().value("window/dragged", "{}")))
        return {str(name): int(size) for name, size in found.items()}
    except (ValueError, TypeError, AttributeError):  # a file that somebody edited by hand
        return {}


def remember_dragged(sizes: Mapping[str, int]) -> None:
    """Keep the sizes of the panels that a person has dragged."""
    stored().setValue("window/dragged", json.dumps(dict(sizes)))


def forget_layout() -> None:
    """Start with the usual layout from now on."""
    stored().remove("window")


def export_folder() -> str:
    """Return the folder of the last export, at first one among the user's pictures."""
    return str(stored().value("export_folder", str(Path.home() / "Pictures" / "hookviewer")))


def remember_export_folder(folder: str) -> None:
    """Offer this folder at the next export."""
    stored().setValue("export_folder", folder)


def budget(usual: int) -> int:
    """Return how many bytes a run may keep, `usual` where nobody chose."""
    try:
        return max(int(str(stored().value("budget", usual))), 1 << 20)
    except ValueError:  # a file that somebody edited by hand
        return usual


def remember_budget(size: int) -> None:
    """Start with this limit from now on."""
    stored().setValue("budget", size)


def lists_calls() -> bool:
    """Return whether the tree lists functional calls."""
    return str(stored().value("lists_calls", "")) == "true"


def remember_lists_calls(on: bool) -> None:
    """List functional calls from now on, or no longer."""
    stored().setValue("lists_calls", "true" if on else "false")


def cam_methods() -> tuple[str, ...]:
    """Return the names of the methods whose maps were shown last; none where nobody chose."""
    return tuple(name for name in str(stored().value("cam_methods", "")).split(" ") if name)


def remember_cam_methods(names: Sequence[str]) -> None:
    """Show the maps of these methods from now on."""
    stored().setValue("cam_methods", " ".join(names))


def recipes() -> Mapping[str, Mapping[str, Any]]:
    """Return the options of `Preprocess` that were chosen by hand, by the spec of the model."""
    try:
        found = json.loads(str(stored().value("recipes", "{}")))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def remember_recipe(spec: str, options: Mapping[str, Any] | None) -> None:
    """Prepare the pictures of a model in this way from now on; None is the model's own way again."""
    found = {name: one for name, one in recipes().items() if name != spec}
    if options is not None:
        found[spec] = dict(options)
    stored().setValue("recipes", json.dumps(found))
