"""Calling what the user named, and saying in one sentence what went wrong in it."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources.nearby import nearby
from hookviewer.sources.source import spelled


class Built(NamedTuple):
    """What the user's code returned: a model and, from a recipe, inputs for it."""

    model: nn.Module
    inputs: tuple[Any, ...] = ()


def called(name: str, target: Any, arguments: Mapping[str, Any], file: Path | None = None) -> Built:
    """Return what `target(**arguments)` makes, or `target` itself where it is a module already."""
    if isinstance(target, nn.Module) and not arguments:
        return Built(checked(name, target))
    if not callable(target) or isinstance(target, nn.Module):
        kind = type(target).__name__
        raise HookViewerError(f"{name} is a {kind}: name a class or a function that builds a model.")
    _check_arguments(name, target, arguments)
    with one_sentence(f"{name}({spelled(arguments)})", file):
        made = target(**arguments)
    return _recipe(name, made)


def _recipe(name: str, made: Any) -> Built:
    """Take apart what a recipe returns: a model, or `(model, inputs)`; a list is several inputs."""
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], nn.Module):
        inputs = tuple(made[1]) if isinstance(made[1], list) else (made[1],)
        return Built(checked(name, made[0]), inputs)
    return Built(checked(name, made))


def checked(name: str, made: Any) -> nn.Module:
    """Return `made` if it is a module that hooks can be put on."""
    if isinstance(made, torch.jit.ScriptModule):
        raise HookViewerError(
            f"{name} is TorchScript, which cannot carry hooks: open the Python class it was made from."
        )
    if not isinstance(made, nn.Module):
        raise HookViewerError(
            f"{name} gave a {type(made).__name__}, not an nn.Module: name what builds the model."
        )
    return made


def _check_arguments(name: str, target: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return
    takes_any = any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    unknown = [argument for argument in arguments if argument not in signature.parameters]
    if unknown and not takes_any:
        raise HookViewerError(
            f"{name} takes no argument {unknown[0]!r}: {nearby(unknown[0], signature.parameters)}."
        )
    missing = required(signature) - set(arguments)
    if missing:
        written = "&".join(f"{argument}=VALUE" for argument in signature.parameters if argument in missing)
        raise HookViewerError(f"{name} cannot be called without arguments: write {name}?{written}.")


def required(signature: inspect.Signature) -> set[str]:
    """Return the names of the parameters that have no default."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        one.name
        for one in signature.parameters.values()
        if one.default is one.empty and one.kind not in variable
    }


@contextlib.contextmanager
def one_sentence(what: str, file: Path | None = None) -> Iterator[None]:
    """Turn whatever the user's code raises into a `HookViewerError` with the line of the user's file."""
    try:
        yield
    except HookViewerError:
        raise
    except ModuleNotFoundError as error:
        raise HookViewerError(f"{what} failed{_place(error, file)}: {lacking(error)}") from error
    except URLError as error:
        raise HookViewerError(
            f"{what} tried to download something and could not ({error.reason}): "
            "give the weights as a file, or write weights=none (and weights_backbone=none)."
        ) from error
    except (Exception, SystemExit) as error:
        raise HookViewerError(f"{what} failed{_place(error, file)}: {told(error)}") from error


def lacking(error: ModuleNotFoundError) -> str:
    """Return the sentence that says where a module is missing, and how to start where it is not."""
    return (
        f"there is no module {error.name or 'of that name'!r} in the environment that hookviewer runs in "
        f"({sys.prefix}): install it there, or start hookviewer in the model's own environment with "
        "python packaging/hv.py run --python PATH-OF-ITS-PYTHON."
    )


def told(error: BaseException) -> str:
    """Return an error as one line: its type and its message."""
    message = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{type(error).__name__}: {message}"[:500] if message else type(error).__name__


def _place(error: BaseException, file: Path | None) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f" at {Path(error.filename).name}, line {error.lineno}"
    if file is None:
        return ""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == file
    ]
    return f" at {file.name}, line {lines[-1]}" if lines else ""


@contextlib.contextmanager
def on_paths(first: Iterable[Path] = (), last: Iterable[Path] = ()) -> Iterator[None]:
    """Put folders before and behind `sys.path` while a file is imported and its model built."""
    before = list(sys.path)
    sys.path[:] = [*map(os.fspath, first), *before, *map(os.fspath, last)]
    try:
        yield
    finally:
        sys.path[:] = before
