"""The small pictures that the stylesheet names by file: ticks, switches, arrows; one set for each theme."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QStandardPaths

TICK = 14
_ROUND = 'stroke-linecap="round" stroke-linejoin="round"'
_BOX = '<rect x=".75" y=".75" width="12.5" height="12.5" rx="3.25" {}/>'
_SWITCH = '<rect width="28" height="16" rx="8" fill="{}"/><circle cx="{}" cy="8" r="6" fill="{}"/>'


def _stroke(path: str, colour: str, width: float) -> str:
    return f'<path d="{path}" stroke="{colour}" stroke-width="{width}" fill="none" {_ROUND}/>'


def pictures(token: Mapping[str, str]) -> dict[str, str]:
    """Return the SVG text of every indicator by name, in the colours of a theme."""
    filled = _BOX.format(f'fill="{token["accent_fill"]}" stroke="{token["accent_fill"]}" stroke-width="1.5"')
    empty = _BOX.format(f'fill="{token["sunken"]}" stroke="{token["text_3"]}" stroke-width="1.25"')
    off = _BOX.format(f'fill="none" stroke="{token["border_strong"]}" stroke-width="1.25"')
    knob = token["raised"] if token["raised"] == "#FFFFFF" else token["text_2"]
    bodies = {
        "tick-on": (14, 14, filled + _stroke("M3.8 7.3l2.2 2.2 4.4-4.9", token["on_accent"], 2)),
        "tick-part": (14, 14, filled + _stroke("M4 7h6", token["on_accent"], 2)),
        "tick-off": (14, 14, empty),
        "tick-none": (14, 14, off),
        "chevron": (16, 16, _stroke("M4 6l4 4 4-4", token["text_2"], 1.5)),
        "chevron-off": (16, 16, _stroke("M4 6l4 4 4-4", token["text_off"], 1.5)),
        "menu-on": (14, 14, _stroke("M3.5 7.4l2.4 2.4 4.8-5.3", token["text"], 1.7)),
        "submenu": (14, 14, _stroke("M5.5 3.5l3.5 3.5-3.5 3.5", token["text_2"], 1.5)),
        "switch-on": (28, 16, _SWITCH.format(token["accent_fill"], 20, "#FFFFFF")),
        "switch-off": (28, 16, _SWITCH.format(token["border_strong"], 8, knob)),
    }
    return {name: _svg(*body) for name, body in bodies.items()}


def _svg(width: int, height: int, body: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{body}</svg>'


def folder(token: Mapping[str, str]) -> Path:
    """Return a folder with a theme's indicators as files, in the user's cache; missing ones are written."""
    drawn = pictures(token)
    name = hashlib.sha256("".join(drawn.values()).encode()).hexdigest()[:12]
    cache = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericCacheLocation) or ".")
    try:
        return _written(cache / "hookviewer" / f"indicators-{name}", drawn)
    except OSError:  # a home that cannot be written to
        return _written(Path(tempfile.gettempdir()) / f"hookviewer-indicators-{name}", drawn)


def _written(place: Path, drawn: Mapping[str, str]) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name, text in drawn.items():
        file = place / f"{name}.svg"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    return place
