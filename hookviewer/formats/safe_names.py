"""File names from module names, which may hold anything: slashes, line ends, `CON`, three hundred letters."""

from __future__ import annotations

import hashlib
import re

LONGEST = 80


def safe_name(number: int, text: str, suffix: str = "") -> str:
    """Return `0007_features.2_output_1a2b3c4d.png`: safe on every system, and another one for every `text`.

    The middle keeps letters, digits, `.`, `_` and `-` of `text`, at most 80; 8 digits of its SHA-256 follow.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", text)
    plain = re.sub(r"\.{2,}", ".", plain)[:LONGEST].strip("._-")
    return "_".join(part for part in (f"{number:04d}", plain, digest) if part) + suffix
