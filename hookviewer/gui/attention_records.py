"""Which modules attend, and where a recording holds the attention of one. Pure."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Iterator
from types import CodeType

from PySide6.QtCore import QCoreApplication
from torch import nn

from hookviewer.arrays.roles import ATTENTION as READING
from hookviewer.attention.run import LEAF
from hookviewer.errors import HookViewerError
from hookviewer.gui.remembered import remembered
from hookviewer.kinds import Key, Kind
from hookviewer.modules import ModuleNode
from hookviewer.recording import Record, Recording

__all__ = ["READING", "attends", "is_attention", "is_written_in", "keys_at", "record_at"]

_NAMES = re.compile("attention|attn", re.IGNORECASE)
_FUSED = frozenset({"scaled_dot_product_attention", "multi_head_attention_forward"})
_PRODUCTS = frozenset({"matmul", "bmm", "einsum"})
_NOT_ALONE = re.compile("pool|norm|mask|drop", re.IGNORECASE)


def is_attention(key: Key) -> bool:
    """Return whether a record holds attention weights."""
    return key.kind is Kind.ATTRIBUTION and key.leaf.partition("[")[0] == LEAF


def attends(tree: ModuleNode | None, path: str, recording: Recording | None = None) -> bool:
    """Return whether a module attends, as its type or what was seen of it says, or holds one that does.

    A module that holds several is none: which of them is meant would be a guess.
    """
    if recording is not None and keys_at(recording, path):
        return len({key.path for key in keys_at(recording, path)}) == 1
    nodes = tree.walk() if tree is not None else ()
    here = next((node for node in nodes if node.path == path), None)
    return here is not None and len(list(_outermost(here))) == 1


@remembered(1)
def is_written_in(module: nn.Module) -> bool:
    """Return whether the code of a module's own class computes attention, by the names of what it calls.

    That is `scaled_dot_product_attention`, or a softmax beside a product of matrices.
    """
    own = type(module)
    if own.__module__.partition(".")[0] == "torch":
        return False
    functions = [one for one in vars(own).values() if inspect.isfunction(one)]
    names = {name for one in functions for name in _names_in(one.__code__)}
    return bool(names & _FUSED) or ("softmax" in names and bool(names & _PRODUCTS))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    if any(step.opname == "BINARY_OP" and step.argrepr == "@" for step in dis.get_instructions(code)):
        yield "matmul"


def keys_at(recording: Recording, path: str, call: int | None = None) -> tuple[Key, ...]:
    """Return the attention recorded for a module, or for those that it holds; of one call, or of all."""
    path = recording.aliases.get(path, path)
    below = f"{path}." if path else ""
    return tuple(
        key
        for key in recording.records
        if is_attention(key) and (key.path == path or key.path.startswith(below)) and call in (None, key.call)
    )


def record_at(recording: Recording, path: str, call: int, leaf: str = "") -> Record:
    """Return the attention of one call of a module; raise `HookViewerError` with the reason where none is."""
    keys = keys_at(recording, path, call)
    if len({key.path for key in keys}) > 1:
        several = ", ".join(dict.fromkeys(key.path for key in keys[:3]))
        raise HookViewerError(_tr("Several modules attend in it: choose one of them, as {}.").format(several))
    if keys:
        return recording[next((key for key in keys if key.leaf == leaf), keys[0])]
    absent = _absent(recording, path)
    raise HookViewerError(absent or _tr("Its attention is looked for in a run of its own. Press Run (F5)."))


def _absent(recording: Recording, path: str) -> str:
    below = f"{path}." if path else ""
    reasons = [
        why
        for key, why in recording.absent.items()
        if is_attention(key) and (key.path == path or key.path.startswith(below))
    ]
    return next(iter(reasons), "")


def _outermost(node: ModuleNode) -> Iterator[ModuleNode]:
    """Yield the modules that are called attention and lie in no other such module."""
    if _NAMES.search(node.type) and not _NOT_ALONE.search(node.type):
        yield node
        return
    for child in node.children:
        yield from _outermost(child)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attention", text)
