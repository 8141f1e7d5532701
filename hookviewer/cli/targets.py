"""The words on the command line for where a gradient starts."""

from __future__ import annotations

from hookviewer.sources import ModelCard
from hookviewer.target_words import chosen
from hookviewer.targets import Target


def named_target(text: str | None, card: ModelCard) -> Target | None:
    """Return the target that `text` names, as `hookviewer.target_words` reads it; `None` for `None`."""
    return None if text is None else chosen(text, card.class_names).target()
