"""Finding the files that ship with hookviewer: pictures, weights, icons, colour tables."""

from __future__ import annotations

from pathlib import Path

from hookviewer.errors import HookViewerError

_PACKAGE = Path(__file__).resolve().parent
ROOTS = (_PACKAGE / "resources", _PACKAGE.parent / "resources")
"""In a wheel the files lie in the package; an editable installation sees them beside it."""


def resource(name: str) -> Path:
    """Return the path of a shipped file or folder, named with forward slashes (`demo/digits.safetensors`)."""
    for root in ROOTS:
        if (root / name).exists():
            return root / name
    raise HookViewerError(f"{name} is missing from this installation of hookviewer: install it again.")
