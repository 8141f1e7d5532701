"""Edits written down: as plain values for a session file, and as a line of Python for a script."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from hookviewer.edits import operations
from hookviewer.edits.edit import Edit, Operation
from hookviewer.edits.recorded import mean_of, same_as
from hookviewer.edits.user_function import function_of
from hookviewer.errors import HookViewerError

if TYPE_CHECKING:
    from hookviewer.recording import Recording

Words = dict[str, Any]

PLAIN: dict[str, type[Any]] = {
    name: getattr(operations, name)
    for name in ("zero", "scale", "add", "clamp", "replace", "reverse", "clip", "clip_norm", "noise")
}
LARGEST = 4096
"""Elements of a tensor that are still written down as numbers."""


def describe(edit: Edit) -> Words:
    """Return the edit as plain values that JSON can hold; `edit_of` makes it again.

    Raises `HookViewerError` for an operation that has no words: a function of this process, a large tensor.
    """
    return {
        "path": edit.path,
        "operation": _described(edit.operation),
        "kind": str(edit.kind),
        "call": edit.call,
        "leaf": edit.leaf,
        "index": _index_words(edit.index),
    }


def edit_of(words: Mapping[str, Any], recordings: Mapping[str, Recording] | None = None) -> Edit:
    """Return the edit that `describe` has written down; raise `HookViewerError` where the words are damaged.

    `recordings` are those of other inputs by name, for `same_as` and `mean_of`. A file of `function_of` is
    run: ask first where the words come from a file of somebody else.
    """
    try:
        operation = _operation(words["operation"], recordings or {})
        return Edit(
            str(words["path"]),
            operation,
            kind=words["kind"],
            call=words["call"],
            leaf=words["leaf"],
            index=_index(words["index"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise HookViewerError(f"This is no edit ({error}): make it again.") from error


def script_of(edit: Edit, names: Mapping[str, str] | None = None) -> str:
    """Return the Python expression that makes the edit, with `hookviewer` imported as `hv`.

    `names` are the variables of the script that hold the recordings of other inputs, by the input's name.
    """
    words = describe(edit)
    given = [repr(words["path"]), _called(words["operation"], names or {})]
    if words["kind"] != "output":
        given.append(f"kind=hv.Kind.{words['kind'].upper()}")
    given += [f"{name}={words[name]!r}" for name in ("call", "leaf") if words[name] is not None]
    if edit.index is not None:
        given.append(f"index={edit.index!r}")
    return f"hv.Edit({', '.join(given)})"


def _described(operation: Operation) -> Words:
    if isinstance(operation, same_as):
        return {"name": "same_as", "of": operation.name}
    if isinstance(operation, mean_of):
        return {"name": "mean_of", "of": list(operation.names)}
    if isinstance(operation, function_of):
        return {"name": "function_of", "file": operation.file, "name_of": operation.name}
    name = type(operation).__name__
    if PLAIN.get(name) is not type(operation):
        raise HookViewerError(
            f"The operation {getattr(operation, '__name__', operation)} cannot be written down: "
            "put it into a Python file and use function_of(file, name)."
        )
    fields = [field.name for field in dataclasses.fields(operation) if field.init]  # type: ignore[arg-type]
    return {"name": name, **{field: _value_words(getattr(operation, field)) for field in fields}}


def _value_words(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if value.numel() > LARGEST:
        raise HookViewerError(
            f"A tensor {list(value.shape)} is too large to be written down: use same_as(recording)."
        )
    return {"tensor": value.detach().cpu().tolist(), "dtype": str(value.dtype).removeprefix("torch.")}


def _value(words: Any) -> Any:
    if not isinstance(words, Mapping):
        return words
    dtype = getattr(torch, str(words["dtype"]), None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"{words['dtype']} is no dtype")
    return torch.tensor(words["tensor"], dtype=dtype)


def _operation(words: Mapping[str, Any], recordings: Mapping[str, Recording]) -> Operation:
    rest = {name: _value(value) for name, value in words.items() if name not in ("name", "of")}
    name = words["name"]
    if name == "same_as":
        return same_as(_known(recordings, words["of"]), str(words["of"]))
    if name == "mean_of":
        names = tuple(map(str, words["of"]))
        return mean_of(*(_known(recordings, one) for one in names), names=names)
    if name == "function_of":
        return function_of(str(words["file"]), str(words["name_of"]))
    make: Callable[..., Operation] = PLAIN[name]
    return make(**rest)


def _known(recordings: Mapping[str, Recording], name: Any) -> Recording:
    if name not in recordings:
        raise HookViewerError(
            f"There is no run of the input {name}: run it first, then apply the edit again."
        )
    return recordings[name]


def _index_words(index: Any) -> Any:
    """Return an index as lists, a slice as its three numbers in a mapping."""
    if isinstance(index, slice):
        return {"slice": [index.start, index.stop, index.step]}
    if isinstance(index, tuple):
        return {"places": [_index_words(one) for one in index]}
    if index is None or isinstance(index, int):
        return index
    if isinstance(index, list) and all(isinstance(one, int) for one in index):
        return list(index)
    raise HookViewerError(f"An index {index!r} cannot be written down: use numbers, lists and slices.")


def _index(words: Any) -> Any:
    if not isinstance(words, Mapping):
        return words
    if "slice" in words:
        return slice(*words["slice"])
    return tuple(_index(one) for one in words["places"])


def _called(operation: Words, names: Mapping[str, str]) -> str:
    name = operation["name"]
    if name in ("same_as", "mean_of"):
        of = [operation["of"]] if name == "same_as" else operation["of"]
        variables = ", ".join(names.get(one, one.replace(" ", "_")) for one in of)
        words = repr(of[0]) if name == "same_as" else f"names={tuple(of)!r}"
        return f"hv.{name}({variables}, {words})"
    if name == "function_of":
        return f"hv.function_of(file={operation['file']!r}, name={operation['name_of']!r})"
    given = ", ".join(f"{key}={_literal(value)}" for key, value in operation.items() if key != "name")
    return f"hv.{name}({given})"


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"torch.tensor({value['tensor']!r}, dtype=torch.{value['dtype']})"
    return repr(value)
