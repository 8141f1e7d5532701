"""Naming what is near when a name is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearby(name: str, known: Iterable[str], limit: int = 5) -> str:
    """Return the rest of a sentence: "did you mean …?" for close names, else "choose one of …"."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=limit, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(near)
    shown = ", ".join(names[:12]) + (f" … ({len(names)} in all)" if len(names) > 12 else "")
    return f"choose one of {shown}" if names else "there is none to choose from"
