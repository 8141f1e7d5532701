"""The words on the command line for where a gradient starts."""

from __future__ import annotations

from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources import ModelCard
from hookviewer.sources.nearby import nearby
from hookviewer.targets import class_score, top_class, total


def named_target(text: str | None, card: ModelCard) -> Any:
    """Return the target that `text` names: top, total, a class by number or by name; `None` for `None`."""
    if text is None:
        return None
    if text in ("top", "total"):
        return {"top": top_class, "total": total}[text]()
    if text.isdecimal():
        return class_score(int(text))
    if text in card.class_names:
        return class_score(card.class_names.index(text))
    raise HookViewerError(
        f"{text!r} is no target: write top, total or the number of a class"
        + (f"; as a class, {nearby(text, card.class_names)}." if card.class_names else ".")
    )
