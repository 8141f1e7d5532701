"""Undo and redo: ticks, inputs taken off the list, edits, and changes of the look, as steps of one stack."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QUndoCommand, QUndoStack

from hookviewer.gui.editing import ListedEdit
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem, Look, Run

MOST_STEPS = 200
JOIN_S = 1.0
"""Changes of the look in quick succession, as of dragged levels, are one step."""
LEFT_OUT = ("sample", "readings", "hints", "places", "parameters")
"""Parts of the look that are a place to be rather than a choice."""


class _Step(QUndoCommand):
    """What has been done already: undoing calls one function, redoing another, the first redo none."""

    def __init__(self, words: str, undo: Callable[[], None], redo: Callable[[], None]) -> None:
        super().__init__(words)
        self._undo, self._redo = undo, redo
        self._done = True

    def undo(self) -> None:
        self._undo()

    def redo(self) -> None:
        if self._done:
            self._done = False
        else:
            self._redo()


class _LookStep(_Step):
    """A change of the look; further ones of the same parts join it for a moment."""

    def __init__(self, words: str, before: Look, after: Look, show: Callable[[Look], None]) -> None:
        super().__init__(words, lambda: show(self.before), lambda: show(self.after))
        self.before, self.after = before, after
        self._parts = _changed(before, after)
        self._when = time.monotonic()

    def id(self) -> int:
        return 1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _LookStep) or other._parts != self._parts:
            return False
        if other._when - self._when > JOIN_S:
            return False
        self.after, self._when = other.after, other._when
        return True


class History(QObject):
    """Follows the session and keeps a step for each change; another model begins anew."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(MOST_STEPS)
        self._moving = False
        self._remember()
        session.model_changed.connect(self._on_model_changed)
        session.plan_changed.connect(self._on_plan_changed)
        session.inputs_changed.connect(self._on_inputs_changed)
        session.runs_changed.connect(self._on_runs_changed)
        session.look_changed.connect(self._on_look_changed)
        session.editing.changed.connect(self._on_edits_changed)
        session.selection_changed.connect(self._on_selection_changed)

    def undo(self) -> None:
        """Take the latest step back."""
        self._move(self.stack.undo)

    def redo(self) -> None:
        """Do again what was taken back."""
        self._move(self.stack.redo)

    def _move(self, step: Callable[[], None]) -> None:
        self._moving = True
        try:
            step()
        finally:
            self._moving = False
            self._remember()

    def _remember(self) -> None:
        session = self._session
        self._paths, self._inputs = session.plan.paths, session.inputs
        self._runs, self._look = dict(session.runs), session.look
        self._where = (session.selection.path, session.selection.shown)
        self._edits = session.editing.listed

    def _on_model_changed(self) -> None:
        if not self._session.exchanging:
            self.stack.clear()
        self._remember()

    def begin(self) -> None:
        """Begin here: what was ticked when the model was opened is no step."""
        self.stack.clear()
        self._remember()

    # -- ticks ----------------------------------------------------------------------------------------------

    def _on_plan_changed(self) -> None:
        before, after = self._paths, self._session.plan.paths
        self._paths = after
        if before == after or self._moving or self._session.exchanging:
            return
        step = _Step(_tick_words(before, after), lambda: self._tick(before), lambda: self._tick(after))
        self.stack.push(step)

    def _tick(self, paths: frozenset[str]) -> None:
        there = self._session.calls.possible(paths)
        self._session.set_plan(dataclasses.replace(self._session.plan, paths=there))

    # -- inputs ---------------------------------------------------------------------------------------------

    def _on_runs_changed(self) -> None:
        """Keep the runs of listed inputs, so that one comes back with its own."""
        if len(self._session.runs) >= len(self._runs):
            self._runs = dict(self._session.runs)

    def _on_inputs_changed(self) -> None:
        before, after = self._inputs, self._session.inputs
        self._inputs = after
        if self._moving:
            return
        listed = {item.number for item in after}
        gone = [(place, item) for place, item in enumerate(before) if item.number not in listed]
        for place, item in gone:
            self.stack.push(self._removal(place, item, self._runs.get(item.number)))
        if not gone and len(before) == len(after):
            self._push_ticks(before, after)

    def _removal(self, place: int, item: InputItem, run: Run | None) -> _Step:
        words = _tr("remove {}").format(item.input.name)
        return _Step(
            words,
            lambda: self._session.put_back(place, item, run),
            lambda: self._session.take_off(item.number),
        )

    def _push_ticks(self, before: tuple[InputItem, ...], after: tuple[InputItem, ...]) -> None:
        pairs = zip(before, after, strict=True)
        for number, on in [(new.number, new.ticked) for old, new in pairs if old.ticked != new.ticked]:
            name = self._session.item(number).input.name
            words = (_tr("tick {}") if on else _tr("untick {}")).format(name)
            self.stack.push(_Step(words, self._ticker(number, not on), self._ticker(number, on)))

    def _ticker(self, number: int, on: bool) -> Callable[[], None]:
        def tick() -> None:
            if any(item.number == number for item in self._session.inputs):
                self._session.tick_input(number, on)

        return tick

    # -- edits ----------------------------------------------------------------------------------------------

    def _on_edits_changed(self) -> None:
        editing = self._session.editing
        before, self._edits = self._edits, editing.listed
        after = self._edits
        if self._moving or self._session.exchanging or before == after or self._session.model is None:
            return
        words = _edit_words(before, after)
        self.stack.push(_Step(words, partial(editing.set_listed, before), partial(editing.set_listed, after)))

    # -- the look -------------------------------------------------------------------------------------------

    def _on_selection_changed(self) -> None:
        self._where = (self._session.selection.path, self._session.selection.shown)

    def _on_look_changed(self) -> None:
        before, after, session = self._look, self._session.look, self._session
        self._look = after
        where = (session.selection.path, session.selection.shown)
        if self._moving or where != self._where or not _changed(before, after):
            return  # levels that go when another layer is selected are no step
        self.stack.push(
            _LookStep(_look_words(before, after), before, after, lambda look: self._show(look, where))
        )

    def _show(self, look: Look, where: tuple[str, object]) -> None:
        session = self._session
        here = (session.selection.path, session.selection.shown)
        kept = {name: getattr(session.look, name) for name in LEFT_OUT}
        levels = look.levels if here == where else session.look.levels
        session.set_look(**{**_parts(look), **kept, "levels": levels})


def _parts(look: Look) -> dict[str, object]:
    return {part.name: getattr(look, part.name) for part in dataclasses.fields(look)}


def _changed(before: Look, after: Look) -> frozenset[str]:
    old, new = _parts(before), _parts(after)
    return frozenset(name for name in new if old[name] != new[name]) - set(LEFT_OUT)


def _tr(text: str) -> str:
    return QCoreApplication.translate("History", text)


def _tick_words(before: frozenset[str], after: frozenset[str]) -> str:
    more, less = after - before, before - after
    changed = more or less
    if len(changed) > 1 or (more and less):
        return _tr("ticks of {} modules").format(len(more | less))
    name = next(iter(changed)) or _tr("the model")
    return (_tr("tick {}") if more else _tr("untick {}")).format(name)


def _edit_words(before: tuple[ListedEdit, ...], after: tuple[ListedEdit, ...]) -> str:
    old, new = {one.number: one for one in before}, {one.number: one for one in after}
    more = [one for one in after if one.number not in old]
    less = [one for one in before if one.number not in new]
    if len(more) + len(less) > 1:
        return _tr("{} edits").format(len(more) + len(less))
    if more or less:
        words = _tr("add edit: {}") if more else _tr("remove edit: {}")
        return words.format((more or less)[0].choice.words)
    changed = [one for one in after if one != old[one.number]]
    if not changed:
        return _tr("order of edits")
    if len(changed) == 1 and changed[0].choice == old[changed[0].number].choice:
        words = _tr("switch on: {}") if changed[0].on else _tr("switch off: {}")
        return words.format(changed[0].choice.words)
    return _tr("change edit: {}").format(changed[0].choice.words)


def _look_words(before: Look, after: Look) -> str:
    names = {
        "scale": _tr("scale"),
        "colormap": _tr("colour map"),
        "sort": _tr("sorting"),
        "anchor": _tr("sorting"),
        "share": _tr("scale"),
        "only": _tr("channels shown"),
        "difference": _tr("difference"),
        "levels": _tr("levels"),
        "pins": _tr("pins"),
        "hide_dead": _tr("hiding of dead channels"),
        "over": _tr("overlay"),
        "part": _tr("part of complex numbers"),
        "plain": _tr("plain hook beside it"),
        "beside": _tr("gradient beside the weights"),
        "cam": _tr("maps of importance"),
    }
    changed = sorted(_changed(before, after))
    return ", ".join(names.get(name, name.replace("_", " ")) for name in changed)
