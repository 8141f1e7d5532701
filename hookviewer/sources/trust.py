"""Which files may run code when they are loaded: a yes is for a content, never for a name."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import IO, Any

from hookviewer.sources.decisions import TrustNeeded
from hookviewer.sources.pickles import is_usual
from hookviewer.sources.wording import shown, some

_HASH = re.compile(r"[0-9a-f]{64}")
_LARGEST = 1 << 20


def store() -> Path:
    """Return the file that remembers every yes."""
    import platformdirs

    return platformdirs.user_config_path("hookviewer") / "trusted.json"


def trusted() -> frozenset[str]:
    """Return the SHA-256 of every file that the person has said yes to.

    A store that is damaged, or is not what `remember` writes, trusts nothing.
    """
    return frozenset(entry["sha256"] for entry in _entries())


def remember(sha256: str, path: str | Path) -> None:
    """Remember that the person trusts this content; `path` is kept only to show where it was."""
    entries = [entry for entry in _entries() if entry["sha256"] != sha256]
    entries.append({"sha256": sha256, "path": os.fspath(path)})
    file = store()
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".trusted")
    with os.fdopen(handle, "w", encoding="ascii") as written:
        json.dump({"version": 1, "files": entries}, written, indent=1)
    Path(name).replace(file)  # never half a store, and readable by its owner only


def _entries() -> list[dict[str, str]]:
    try:
        with store().open("rb") as file:
            content: Any = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return []
    files = content.get("files") if isinstance(content, dict) and content.get("version") == 1 else None
    if not isinstance(files, list) or not all(_is_entry(entry) for entry in files):
        return []
    return files


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or entry.keys() != {"sha256", "path"}:
        return False
    digest, path = entry["sha256"], entry["path"]
    return isinstance(path, str) and isinstance(digest, str) and _HASH.fullmatch(digest) is not None


def require(file: IO[bytes], path: Path, yes: bool, names: tuple[str, ...]) -> str:
    """Return the SHA-256 of an open file whose content may run code, and remember a yes.

    Raises `TrustNeeded` unless `yes`, or an earlier yes to the same content. The file is left at its start,
    so that what is loaded from it is what was hashed.
    """
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    if yes:
        remember(digest, path.absolute())
    elif digest not in trusted():
        raise TrustNeeded(_sentence(path, digest, names), path=path, sha256=digest, names=names)
    return digest


def _sentence(path: Path, digest: str, names: tuple[str, ...]) -> str:
    unusual = [name for name in names if not is_usual(name)]
    would = f"it names {some(unusual, 5)}" if unusual else "none was found in it, which proves nothing"
    return (
        f"{shown(path, 300)} could run code when it is loaded ({would}; SHA-256 {digest[:16]}…): if you know "
        "where it comes from, open it with --trust (trust=True); else give the state dict alone."
    )
