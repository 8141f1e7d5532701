"""The one stylesheet: `resources/style.qss` with the tokens of a theme put in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from hookviewer.resources import resource


def of(token: Mapping[str, str], indicators: Path, scale: float) -> str:
    """Return the stylesheet of a theme; `indicators` is the folder of its ticks, `scale` its text size."""
    dark = token["raised"] != "#FFFFFF"
    return Template(resource("style.qss").read_text(encoding="utf-8")).substitute(
        token,
        indicators=indicators.as_posix(),
        caption=round(11 * scale),
        small=round(12 * scale),
        segment=token["control_pressed" if dark else "raised"],
        segment_line=token["control_pressed" if dark else "border"],
        knob=token["text"] if dark else "#FFFFFF",
        knob_line=token["text" if dark else "border_strong"],
    )
