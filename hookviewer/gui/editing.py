"""The list of edits: what each of them comes to, and the variant of every run that has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from hookviewer.edits import Edit
from hookviewer.errors import HookViewerError
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.edit_values import EditValues, Wanted
from hookviewer.gui.state import InputItem, Message, Run, Variant
from hookviewer.kinds import GRADIENTS, Functional

if TYPE_CHECKING:
    from hookviewer.gui.session import Session


@dataclasses.dataclass(frozen=True)
class ListedEdit:
    """A row of the list; `number` is its identity, its place in the list is when it applies."""

    number: int
    choice: EditChoice
    on: bool = True


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What an edit came to: `tone` is `done`, `off`, `waiting`, `warn` or `error`."""

    tone: str
    words: str


@dataclasses.dataclass(frozen=True)
class EditAsked:
    """Somebody wants to choose an edit, or (`number`) to choose one of the list again."""

    choice: EditChoice
    number: int | None = None


class Editing(QObject):
    """Holds the edits of a session; those that are switched on make one variant of every ticked input.

    Other variants are left alone: only its own one is put in, exchanged and taken out.
    """

    changed = Signal()
    """The list is another one."""
    told = Signal()
    """What edits came to may be something else now."""
    asked = Signal(object)
    """An `EditAsked`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.listed: tuple[ListedEdit, ...] = ()
        self._paths: frozenset[str] = frozenset()
        self._active: tuple[tuple[int, Edit], ...] = ()
        self._made: dict[int, tuple[EditChoice, tuple[Wanted, ...], Edit]] = {}
        self._problems: dict[int, str] = {}
        self._waiting: frozenset[int] = frozenset()
        self._said: set[int] = set()
        self._last = 0
        self._variant = 0
        self._values = EditValues(session, self._apply)
        session.model_changed.connect(self._on_model_changed)
        session.settings_changed.connect(self._on_settings_changed)
        session.inputs_changed.connect(self._on_settings_changed)
        session.runs_changed.connect(self.told)
        session.run_started.connect(self.told)
        session.run_finished.connect(self._on_run_finished)

    # -- the list --------------------------------------------------------------------------------------------

    def set_listed(self, listed: Sequence[ListedEdit]) -> None:
        """Have these edits in place of all others."""
        if tuple(listed) == self.listed:
            return
        self._keep(listed)
        self._values.try_again()
        self.changed.emit()
        self._apply()

    def _keep(self, listed: Sequence[ListedEdit]) -> None:
        self.listed = tuple(listed)
        paths = [one.choice.path for one in self.listed if one.on]
        self._paths = frozenset({*paths, *map(_module, paths)})

    def add(self, choice: EditChoice) -> None:
        """Put an edit at the end of the list."""
        self._last += 1
        self.set_listed((*self.listed, ListedEdit(self._last, choice)))

    def exchange(self, number: int, choice: EditChoice) -> None:
        """Put an edit in the place of one; a file of a function is read again."""
        self._made.pop(number, None)
        before = self.listed
        self.set_listed([ListedEdit(number, choice) if one.number == number else one for one in before])
        if before == self.listed:
            self._apply()

    def switch(self, number: int, on: bool) -> None:
        """Switch an edit on or off."""
        self.set_listed(
            [dataclasses.replace(one, on=on) if one.number == number else one for one in self.listed]
        )

    def switch_all(self, on: bool) -> None:
        """Switch every edit on or off."""
        self.set_listed([dataclasses.replace(one, on=on) for one in self.listed])

    def move(self, number: int, place: int) -> None:
        """Let an edit apply at another place of the list."""
        moved = [one for one in self.listed if one.number == number]
        rest = [one for one in self.listed if one.number != number]
        place = max(0, min(place, len(rest)))
        self.set_listed([*rest[:place], *moved, *rest[place:]])

    def remove(self, number: int) -> None:
        """Take an edit off the list."""
        self.set_listed([one for one in self.listed if one.number != number])

    def clear(self) -> None:
        """Take every edit off the list."""
        self.set_listed(())

    def ask(self, choice: EditChoice, number: int | None = None) -> None:
        """Ask for an edit to be chosen."""
        self.asked.emit(EditAsked(choice, number))

    def row(self, number: int) -> ListedEdit:
        """Return the row of this number; raise `KeyError` where there is none."""
        for one in self.listed:
            if one.number == number:
                return one
        raise KeyError(number)

    @property
    def paths(self) -> frozenset[str]:
        """What an edit that is switched on changes; for a functional call its module too."""
        return self._paths

    @property
    def variant(self) -> int:
        """The number of the variant that has the edits; 0 where there is none."""
        return self._variant if any(one.number == self._variant for one in self._session.variants) else 0

    def pair(self, listed: int) -> tuple[InputItem, InputItem] | None:
        """Return an input in the plain way and with the edits; None where no edit is in force."""
        found = {item.variant.number: item for item in self._session.items if item.listed == listed}
        number = self.variant
        return (found[0], found[number]) if number and 0 in found and number in found else None

    # -- making the variant ----------------------------------------------------------------------------------

    def _apply(self) -> None:
        """Make the edits that can be made, and let every input be run with them."""
        self._problems, waiting, lacking = {}, set(), list[Wanted]()
        made: list[tuple[int, Edit]] = []
        for one in self.listed if self._session.model is not None else ():
            if not one.on:
                continue
            try:
                edit, more = self._edit(one)
            except HookViewerError as error:
                self._problems[one.number] = str(error)
                continue
            lacking += more
            if edit is None:
                waiting.add(one.number)
            else:
                made.append((one.number, edit))
        self._waiting, self._active = frozenset(waiting), tuple(made)
        self._put(tuple(edit for _, edit in made))
        self._values.record(lacking)
        self.told.emit()

    def _edit(self, one: ListedEdit) -> tuple[Edit | None, list[Wanted]]:
        """Return the edit, the same one while nothing has changed; else what has to be recorded first."""
        choice, values = one.choice, self._values
        if choice.kind in GRADIENTS and self._session.settings.target.rule == "none":
            raise HookViewerError(_tr("Choose a target in the run bar: without one there is no gradient."))
        wanted = tuple(values.wanted(number, choice.path, choice.kind) for number in choice.of)
        known = self._made.get(one.number)
        if known is not None and known[:2] == (choice, wanted):
            return known[2], []
        found = [values.get(number, one) for number, one in zip(choice.of, wanted, strict=True)]
        lacking = [key for key, recording in zip(wanted, found, strict=True) if recording is None]
        if lacking:
            return None, lacking
        edit = choice.edit([recording for recording in found if recording is not None])
        self._made[one.number] = (choice, wanted, edit)
        return edit, []

    def _put(self, made: tuple[Edit, ...]) -> None:
        """Have one variant with these edits among those of the session, or none where there are no edits."""
        session, own = self._session, self.variant
        if not made and not own:
            return
        if not made:
            current = session.current_input
            if current is not None and current.variant.number == own:
                session.select(input=current.listed)
            session.set_variants([one for one in session.variants if one.number != own])
            return
        number = own or 1 + max(one.number for one in session.variants)
        variant = Variant(number, _tr("edited"), (("edits", made),))
        self._variant = number
        if own:
            session.set_variants([variant if one.number == own else one for one in session.variants])
        else:
            session.set_variants([*session.variants, variant])

    def _on_settings_changed(self) -> None:
        if self.listed:
            self._apply()

    def _on_model_changed(self) -> None:
        """Keep the edits of the same network made anew, as far as it still has their modules."""
        self._values.forget()
        self._made, self._said = {}, set()
        if not self.listed:
            return
        tree = self._session.tree
        there = {node.path for node in tree.walk()} if tree is not None else set()
        kept = [one for one in self.listed if self._session.exchanging and _module(one.choice.path) in there]
        gone = [one for one in self.listed if one not in kept]
        self._keep(kept)
        if self._session.exchanging and gone:
            what = _tr("{} edits were taken off:") if len(gone) > 1 else _tr("{} edit was taken off:")
            paths = ", ".join(dict.fromkeys(one.choice.path for one in gone))
            now = _tr("the model has no {} any more.").format(paths)
            self._session.tell(Message("warn", what.format(len(gone)), now))
        self.changed.emit()
        self._apply()

    # -- what came of them -----------------------------------------------------------------------------------

    def runs(self) -> list[Run]:
        """Return the runs of ticked inputs that were made with the edits."""
        own, session = self.variant, self._session
        items = [item for item in session.ticked_inputs if own and item.variant.number == own]
        found = (session.runs.get(item.number) for item in items)
        return [run for run in found if run is not None and not run.growing]

    def outcome(self, number: int) -> Outcome:
        """Return what an edit of the list came to in the latest runs."""
        if not self.row(number).on:
            return Outcome("off", _tr("Switched off"))
        if number in self._problems:
            return Outcome("error", self._problems[number])
        if number in self._waiting:
            return Outcome("waiting", _tr("Its values are being recorded first …"))
        runs = self.runs()
        if not runs:
            words = _tr("Running …") if self._session.running else _tr("Not run yet")
            return Outcome("waiting", words)
        edits = dict(self._active)
        return _outcome(edits[number], runs) if number in edits else Outcome("waiting", _tr("Not run yet"))

    def _on_run_finished(self) -> None:
        self.told.emit()
        for number, edit in self._active:
            outcome = self.outcome(number)
            if outcome.tone == "warn" and id(edit) not in self._said:
                self._said.add(id(edit))
                what = _tr("An edit had no effect: {}.").format(self.row(number).choice.words)
                self._session.tell(Message("warn", what, outcome.words))


def _outcome(edit: Edit, runs: Sequence[Run]) -> Outcome:
    failed = next((run.error for run in runs if run.error is not None and _blamed(edit, run)), None)
    if failed is not None:
        return Outcome("error", failed.sentence)
    if any(run.error is not None for run in runs):
        return Outcome("waiting", _tr("The run ended before its end"))
    changing = [run for run in runs if _place(edit, run) in run.recording.edited]
    if not changing:
        return Outcome("warn", next(_notes(edit, runs), _tr("Changed nothing.")))
    if len(changing) == len(runs):
        return Outcome("done", _tr("In force"))
    return Outcome("done", _tr("In force on {} of {} inputs").format(len(changing), len(runs)))


def _place(edit: Edit, run: Run) -> int | None:
    return next((place for place, one in enumerate(run.settings.edits) if one is edit), None)


def _notes(edit: Edit, runs: Sequence[Run]) -> Iterator[str]:
    """Yield what the engine says of an edit without an effect."""
    start = f"The edit {edit} "
    for run in runs:
        for note in run.recording.notes:
            if note.startswith(start):
                said = note.removeprefix(start)
                yield said[:1].upper() + said[1:]


def _blamed(edit: Edit, run: Run) -> bool:
    """Whether a run may have ended by this edit: it ended there, or nowhere else can be blamed."""
    assert run.error is not None
    own = [one for one in run.settings.edits if run.error.path in (one.path, _module(one.path))]
    return edit in own if own else run.error.path is None


def _module(path: str) -> str:
    call = Functional.of(path)
    return path if call is None else call.module


def _tr(text: str) -> str:
    return QCoreApplication.translate("Edits", text)
