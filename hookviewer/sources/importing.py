"""Importing Python files anew each time, and forgetting what they brought along."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from hookviewer.errors import HookViewerError
from hookviewer.sources import calling
from hookviewer.sources.wording import shown

BESIDE = "__hookviewer_beside__"
"""Set in modules that came with a Python file: they are read again with the next one."""

PACKAGE = "__hookviewer_package__"
"""Set in modules of the person's that a factory came from: they are read again when it is reopened."""

_ALONE = "hookviewer_opened_"
_MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml")
_INSTALLED = ("site-packages", "dist-packages")


class _Fresh(SourceFileLoader):
    """Compiles the text as it is now: a cached file may be of the same second, and would be written."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def package_root(path: Path) -> Path:
    """Return the folder from which a file is imported: the first one above it that is no package."""
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def project_folders(path: Path) -> tuple[Path, ...]:
    """Return the folders above a file from which its project imports its own files, nearest first."""
    folder, found = package_root(path), []
    while folder.parent != folder:
        found += [folder, folder / "src"]
        above = folder.parent
        if any((folder / name).exists() for name in _MARKERS) or not any(above.glob("*.py")):
            break
        folder = above
    return tuple(one for one in found if one.is_dir())


def imported(path: Path) -> ModuleType:
    """Run a Python file as a module, anew each time: of its own package, or of a name of its own.

    The modules of its project that it imports are forgotten again before the next file is opened, so that an
    edited one is read again and two folders may each have a `layers.py`.
    """
    root = package_root(path)
    with restored(BESIDE), calling.on_paths(first=_first(path), last=project_folders(path)):
        before = set(sys.modules)
        try:
            with calling.one_sentence(f"Running {shown(path.name)}", path), _without_writing():
                module = _alone(path) if root == path.parent else _in_package(path, root)
        finally:
            _mark(set(sys.modules) - before, (*project_folders(path), root))
    return module


def _first(path: Path) -> tuple[Path, ...]:
    root = package_root(path)
    return (root,) if root == path.parent else (root, path.parent)


def _alone(path: Path) -> ModuleType:
    digest = hashlib.sha256(str(path).encode(errors="replace")).hexdigest()
    name = f"{_ALONE}{digest[:8]}_{path.stem}"
    spec = importlib.util.spec_from_loader(name, _Fresh(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if before is not None:
            sys.modules[name] = before  # classes of the model that is still open look for it
        raise
    return module


def _in_package(path: Path, root: Path) -> ModuleType:
    parts = path.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    module = importlib.import_module(name)
    if module.__file__ is None or Path(module.__file__).resolve() != path:
        raise HookViewerError(
            f"{shown(path, 300)} is hidden by another {name} ({module.__file__}): rename its folder."
        )
    return module


@contextlib.contextmanager
def _without_writing() -> Iterator[None]:
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _mark(names: set[str], folders: tuple[Path, ...]) -> None:
    for name in names:
        module = sys.modules.get(name)
        if module is None or name.startswith(_ALONE):
            continue
        if any(_comes_from(module, folder) for folder in folders):
            setattr(module, BESIDE, True)


def _comes_from(module: ModuleType, folder: Path) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    paths = [Path(place) for place in places if place]
    return any(
        path.resolve().is_relative_to(folder) and not set(_INSTALLED) & set(path.parts) for path in paths
    )


def mark_package(names: set[str]) -> None:
    """Mark those modules that are the person's own, neither installed nor Python's."""
    own = {name for name in names if not _is_installed(sys.modules.get(name))}
    for name in own:
        setattr(sys.modules[name], PACKAGE, True)


def _is_installed(module: ModuleType | None) -> bool:
    file = getattr(module, "__file__", None)
    if module is None or not file or module.__name__.partition(".")[0] == "hookviewer":
        return True
    path = Path(file)
    inside = any(path.is_relative_to(place) for place in (sys.base_prefix, sys.prefix))
    return inside or bool(set(_INSTALLED) & set(path.parts))


@contextlib.contextmanager
def restored(*marks: str) -> Iterator[None]:
    """Forget the marked modules; when the body fails, they are back as they were."""
    marked = {
        name: module
        for name, module in list(sys.modules.items())
        if any(mark in getattr(module, "__dict__", {}) for mark in marks)
    }
    for name in marked:
        del sys.modules[name]
    importlib.invalidate_caches()
    before = set(sys.modules)
    try:
        yield
    except BaseException:
        for name in set(sys.modules) - before:
            if any(mark in getattr(sys.modules[name], "__dict__", {}) for mark in marks):
                del sys.modules[name]
        sys.modules.update(marked)
        raise


def files_of(module: ModuleType) -> tuple[str, ...]:
    """Return the Python files that came with a module that `imported` returned, its own first."""
    own = str(module.__file__)
    marked = [one for one in list(sys.modules.values()) if BESIDE in getattr(one, "__dict__", {})]
    beside = {str(one.__file__) for one in marked if getattr(one, "__file__", None)}
    return (own, *sorted(beside - {own}))
