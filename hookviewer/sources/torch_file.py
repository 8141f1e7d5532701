"""Reading files of torch.save: safely, or as the program they are once a person said yes."""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import pickle
import re
from pathlib import Path
from typing import Any, NamedTuple

import torch

from hookviewer.errors import HookViewerError
from hookviewer.sources import pickles
from hookviewer.sources import trust as trusting
from hookviewer.sources.calling import told
from hookviewer.sources.wording import shown


class Loaded(NamedTuple):
    """What a file held, and the SHA-256 of the file. `code` is true where loading it ran code from it."""

    content: Any
    sha256: str
    code: bool


def load(path: Path, *, trust: bool = False, data: bool = True, modules: Any = pickle) -> Loaded:
    """Return what a file of torch.save holds, all tensors on the CPU; without `data`, with shapes only.

    Objects that are not tensors or plain values are built only with `trust`, or when the person trusted this
    very content before; else `TrustNeeded` is raised. `modules` is the pickle module that finds their
    classes. Raises `HookViewerError` for damaged files.
    """
    names = pickles.names_in_file(path)
    _check_version()
    try:
        return Loaded(_as_tensors(path, "cpu" if data else "meta"), sha256(path), False)
    except pickle.UnpicklingError as refused:
        if not names:
            raise _damaged(path, refused) from None
    # torch refuses this file because it holds objects: from here on a person decides, nothing else does
    with path.open("rb") as file:
        digest = trusting.require(file, path, trust, names)
        return Loaded(_as_program(file, path, modules), digest, True)


def _check_version() -> None:
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < (2, 10):
        raise HookViewerError(
            f"torch {torch.__version__} can be made to run code by a .pt file (CVE-2026-24747): "
            "update to torch 2.10, or give a .safetensors file."
        )


def _as_tensors(path: Path, device: str) -> Any:
    try:
        # an open file: by a name, torch chooses another reader for some endings
        with path.open("rb") as file, torch.serialization.safe_globals(_harmless()):
            return torch.load(file, map_location=device, weights_only=True)
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # what a damaged file makes of torch.load is nowhere stated
        raise _damaged(path, error) from error


def _as_program(file: Any, path: Path, modules: Any) -> Any:
    try:
        return torch.load(file, map_location="cpu", weights_only=False, pickle_module=modules)
    except ModuleNotFoundError as error:
        raise HookViewerError(_lacks(path, f"the module {error.name!r}")) from error
    except AttributeError as error:
        found = re.search(r"attribute '(\w+)' on <module '([\w.]+)'", str(error))
        if found is None:
            raise _damaged(path, error) from error
        raise HookViewerError(_lacks(path, f"{found[1]} of {_script(found[2])}")) from error
    except Exception as error:  # code from the file may raise anything
        raise _damaged(path, error) from error


def _script(module: str) -> str:
    return "the script that saved it" if module.endswith("__main__") else module


def _lacks(path: Path, what: str) -> str:
    return (
        f"{shown(path, 300)} needs {what}, which is not there: write {shown(path, 300)}?code=FILE.py with "
        "the file that defines it, or start hookviewer where the model's own code can be imported "
        "(python packaging/hv.py run --python PATH)."
    )


def _damaged(path: Path, error: BaseException) -> HookViewerError:
    return HookViewerError(
        f"{shown(path, 300)} is damaged or cut off ({shown(told(error), 200)}): save it again."
    )


def _harmless() -> list[Any]:
    """Return the types that checkpoints have beside tensors and that do nothing when they are built."""
    import numpy as np

    core = getattr(np, "_core", None) or np.core
    arrays = [core.multiarray.scalar, core.multiarray._reconstruct, np.ndarray, np.dtype]
    # files written with numpy 1 say numpy.core
    older = [(one, f"numpy.core.multiarray.{one.__name__}") for one in arrays[:2]]
    types = [getattr(np.dtypes, name) for name in np.dtypes.__all__]
    paths = [pathlib.PurePosixPath, pathlib.PureWindowsPath, type(Path())]
    paths += [(type(Path()), "pathlib.PosixPath"), (type(Path()), "pathlib._local.PosixPath")]
    empty = [(_empty_list, "builtins.list"), (_empty_dict, "builtins.dict"), (_zero, "builtins.int")]
    plain = [argparse.Namespace, (_without_default, "collections.defaultdict")]
    return [*arrays, *older, *types, *paths, *empty, *plain]


def _without_default(factory: Any = None) -> dict[Any, Any]:
    # torch fills no dictionary but its own three kinds
    return {}


# what a defaultdict is given to begin with; the real types would copy what a file hands them
def _empty_list() -> list[Any]:
    return []


def _empty_dict() -> dict[Any, Any]:
    return {}


def _zero() -> int:
    return 0


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
