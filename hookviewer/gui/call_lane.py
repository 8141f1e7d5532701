"""Functional calls in the session: whether runs list them, and the tree with those that a run has found."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hookviewer.gui import runs
from hookviewer.gui.call_nodes import with_calls
from hookviewer.gui.call_paths import parent_of
from hookviewer.gui.module_facts import telling_run
from hookviewer.gui.state import InputItem, Run
from hookviewer.kinds import GRADIENTS, Functional
from hookviewer.modules import ModuleNode, module_index, unwrapped
from hookviewer.plan import HookPlan, canonical
from hookviewer.recording import Recording

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

EVERY_CALL = "*:*"
"""The pattern of all functional calls."""

Seen = tuple[ModuleNode, Recording, frozenset[str], bool]


class CallLane:
    """Lists functional calls where a person wants them; when off, runs ask for none."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.on = False
        self._put_by: frozenset[str] = frozenset()
        """Functional calls that were ticked when the switch was turned off."""
        self._seen: Seen | None = None
        self._tree: ModuleNode | None = None
        session.model_changed.connect(self._on_model_changed)

    def set_on(self, on: bool) -> None:
        """List functional calls in the tree from now on, or no longer; ticks come back with them."""
        if on == self.on:
            return
        self.on = on
        session = self._session
        calls = frozenset(path for path in session.plan.paths if self._is_call(path))
        paths = session.plan.paths | self.possible(self._put_by) if on else session.plan.paths - calls
        self._put_by = frozenset() if on else calls
        if not on:
            self._leave_call()
        session.calls_changed.emit()
        session.set_plan(dataclasses.replace(session.plan, paths=paths))
        if on and session.auto:
            session.run_missing()

    def _leave_call(self) -> None:
        """Look at the module that makes the functional call that was looked at."""
        session = self._session
        path = session.selection.path
        if self._is_call(path):
            session.select(path=parent_of(path))

    def _is_call(self, path: str) -> bool:
        if Functional.of(path) is None:
            return False
        runs = self._session.runs.values()
        return not any(call.type for run in runs for call in run.recording.calls(path)[:1])

    def possible(self, paths: frozenset[str]) -> frozenset[str]:
        """Return those of `paths` that the session's model can have: modules, and calls that these make."""
        model = self._session.model
        if model is None:
            return frozenset()
        index = module_index(unwrapped(model)[0])
        return frozenset(path for path in paths if canonical(index, path) is not None)

    # -- runs

    def asked(self, plan: HookPlan, run: Run | None) -> HookPlan:
        """Return what to ask of a run: with the switch on, all functional calls, with their statistics."""
        if not self.on:
            return plan
        first = bool(plan.summarised) or run is None or not run.lists_calls
        summarised = plan.summarised | {EVERY_CALL} if first else plan.summarised
        return dataclasses.replace(plan.with_ops(), summarised=summarised)

    def lacking(self, item: InputItem, wanted: frozenset[str]) -> frozenset[str]:
        """Return the paths to run the model for on one input, so that nothing of `wanted` is missing."""
        session = self._session
        run = session.runs.get(item.number)
        settings = item.variant.settings(session.settings)
        missing = wanted - runs.dealt_with(run, settings, wanted)
        more = session.wanted_kinds - session.plan.kinds
        missing |= runs.without(run, wanted, more - GRADIENTS if settings.target.rule == "none" else more)
        unlisted = self.on and run is not None and run.error is None and not run.lists_calls
        return missing | {session.selection.path} if unlisted else missing

    # -- the tree

    @property
    def tree(self) -> ModuleNode | None:
        """The modules of the model, and below them what the run of the current input has found."""
        session = self._session
        current = session.current_input
        run = telling_run(session.runs, current.number if current is not None else None)
        if session.tree is None or run is None:
            return session.tree
        seen = (session.tree, run.recording, session.plan.paths, self.on)
        if self._seen is None or any(one is not other for one, other in zip(seen, self._seen, strict=True)):
            self._seen = seen
            merged = with_calls(session.tree, run.recording, session.plan.paths, functional=self.on)
            if merged != self._tree:
                self._tree = merged
        return self._tree

    def node(self, path: str) -> ModuleNode | None:
        """Return the row of a path."""
        tree = self.tree
        return None if tree is None else next((node for node in tree.walk() if node.path == path), None)

    def _on_model_changed(self) -> None:
        self._seen = self._tree = None
        if not self._session.exchanging:
            self._put_by = frozenset()
