"""Naming what is near when a name is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearby(name: str, known: Iterable[str]) -> str:
    """Return the rest of a sentence: "did you mean …?" for close names, else "choose one of …"."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=5)
    if near:
        return f"did you mean {' or '.join(near)}"
    shown = ", ".join(names[:12]) + (f" … ({len(names)} in all)" if len(names) > 12 else "")
    return f"choose one of {shown}" if names else "there is none to choose from"


def close(name: str, specs: Iterable[str]) -> str:
    """Return the specs whose last part is close to `name`, joined by "or"; empty when none is."""
    by_name: dict[str, list[str]] = {}
    for spec in specs:
        by_name.setdefault(spec.rpartition(":")[2], []).append(spec)
    near = difflib.get_close_matches(name.rpartition(":")[2].lower(), by_name, n=3, cutoff=0.75)
    return " or ".join(spec for one in near for spec in by_name[one])
