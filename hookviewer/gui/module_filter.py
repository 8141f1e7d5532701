"""Which rows of the module tree are shown."""

from __future__ import annotations

import fnmatch
import re
from typing import cast

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel

from hookviewer.gui.call_nodes import CallNode
from hookviewer.gui.module_facts import Facts
from hookviewer.gui.module_model import NODE, ModuleModel
from hookviewer.gui.session import Session
from hookviewer.modules import ModuleNode

GLOB_SIGNS = frozenset("*?[")
OVERWRITTEN = "overwritten"
"""The word that finds all layers whose output is overwritten in place."""


def matches(node: ModuleNode, words: str) -> bool:
    """Return whether a row answers to a filter: part of its path, a glob on it, `type:Class` or `op:add`."""
    if words.startswith("op:"):
        wanted = words.removeprefix("op:").strip()
        return isinstance(node, CallNode) and bool(node.op) and fnmatch.fnmatchcase(node.op, f"{wanted}*")
    if words.startswith("type:"):
        wanted = words.removeprefix("type:").strip()
        pattern = wanted if GLOB_SIGNS & set(wanted) else f"*{wanted}*"
        return fnmatch.fnmatchcase(node.type.lower(), pattern.lower())
    if GLOB_SIGNS & set(words):
        return fnmatch.fnmatchcase(node.path, words)
    return words.lower() in node.path.lower()


def matched_part(name: str, path: str, words: str) -> tuple[int, int] | None:
    """Return where in a row's name the filter matched (start, length), for plain words only."""
    if not words or words.startswith(("type:", "op:")) or GLOB_SIGNS & set(words):
        return None
    word = re.split("[.:]", words)[-1].lower()
    at = name.lower().find(word)
    return (at, len(word)) if word and at >= 0 and words.lower() in path.lower() else None


class ModuleFilter(QSortFilterProxyModel):
    """Hides what does not match and keeps the parents."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.words = ""
        self.ticked_only = False
        self.setRecursiveFilteringEnabled(True)
        self.setDynamicSortFilter(True)
        session.plan_changed.connect(self._on_plan_changed)

    def _on_plan_changed(self) -> None:
        if self.ticked_only:
            self.invalidate()

    @property
    def active(self) -> bool:
        """Whether some rows may be hidden."""
        return bool(self.words) or self.ticked_only

    def show_matching(self, words: str) -> None:
        """Show what matches the filter's words."""
        self.words = words.strip()
        self.invalidate()

    def show_ticked(self, on: bool) -> None:
        """Show ticked modules only, or all."""
        self.ticked_only = on
        self.invalidate()

    def hits(self, node: ModuleNode) -> bool:
        """Return whether a module is shown for itself, not only as a parent."""
        ticked = (node.alias_of or node.path) in self._session.plan.paths
        return (not self.ticked_only or ticked) and (not self.words or self._matches(node))

    def _matches(self, node: ModuleNode) -> bool:
        if self.words == OVERWRITTEN and bool(self._facts(node).overwritten):
            return True
        return matches(node, self.words)

    def _facts(self, node: ModuleNode) -> Facts:
        return cast(ModuleModel, self.sourceModel()).facts(node)

    def filterAcceptsRow(self, source_row: int, source_parent: QModelIndex | QPersistentModelIndex) -> bool:
        node = self.sourceModel().index(source_row, 0, source_parent).data(NODE)
        return node is None or self.hits(node)
