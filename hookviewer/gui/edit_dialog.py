"""The form of an edit: which tensor, where in it, what is done; below, what will happen in one sentence."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QDialog, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui import edit_start
from hookviewer.gui.choices import Choice
from hookviewer.gui.dialogs import field, line_edit
from hookviewer.gui.edit_choice import EditChoice, operations_for
from hookviewer.gui.edit_fields import EditFields
from hookviewer.gui.edit_places import Region, shapes
from hookviewer.gui.edit_words import ranges
from hookviewer.gui.numbers import shape as shape_words
from hookviewer.gui.parts import button, column, frame, label, row, rule
from hookviewer.gui.session import Session
from hookviewer.gui.sorting import listed
from hookviewer.gui.theme import scaled
from hookviewer.kinds import Functional, Kind
from hookviewer.recording import Recording

MOST = 1 << 20
"""Numbers of channels from here on are no channels."""
MOST_NAMES = 6
"""So many calls are named where a wished one is not among them."""
WHERE = (Kind.OUTPUT, Kind.INPUT, Kind.GRAD_OUTPUT, Kind.GRAD_INPUT, Kind.PARAM_GRAD)


class EditDialog(QDialog):
    """Asks for an edit; `number` is that of the edit of the list which is chosen again."""

    chosen = Signal(object)
    """The `EditChoice`."""

    def __init__(
        self, session: Session, choice: EditChoice, parent: QWidget | None = None, *, again: bool = False
    ) -> None:
        super().__init__(parent)
        self.setObjectName("edit_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Edit again") if again else self.tr("Change values on the way"))
        self._session = session
        self._filling = False
        self._tensors: tuple[str, ...] | None = None
        current = session.current_input
        self.fields = EditFields(session.inputs, current.listed if current is not None else 0)
        self._make_parts()
        self.go = button(self.tr("Apply"), "primary")
        self.go.setDefault(True)
        self._lay_out()
        self.show_choice(choice)
        self._connect()
        session.model_changed.connect(self.reject)

    def _make_parts(self) -> None:
        tree = self._session.calls.tree
        nodes = tree.walk() if tree is not None else ()
        self._paths = {node.path: node.alias_of or node.path for node in nodes}
        self.path = line_edit("", self.tr("Layer"), self.tr("the model"))
        completer = QCompleter(list(self._paths), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.path.setCompleter(completer)
        self.where = Choice("edit_where", "", self.tr("Which tensor is changed"))
        for kind in WHERE:
            self.where.addItem(self._where_words(kind), kind)
        self.call = Choice("edit_call", "", self.tr("In which call of the layer"))
        self.leaf = Choice("edit_tensor", "", self.tr("Which of several tensors"))
        self.operation = Choice("edit_operation", "", self.tr("What is done with it"))
        self.channels = line_edit("", self.tr("Channels"), self.tr("all, or 3, 7-12"))
        self.selected, self.pinned = button(self.tr("Selected")), button(self.tr("Pinned"))
        self.rows = line_edit("", self.tr("Rows"), self.tr("all, or 4-9"))
        self.places = line_edit("", self.tr("Columns"), self.tr("all, or 4-9"))
        self.sentence, self.shape = label("", "strong", 13), label("", "caption", 11, mono=True)
        self.problem = label("", "error", 12)
        for text in (self.sentence, self.problem):
            text.setWordWrap(True)
            text.setAlignment(Qt.AlignmentFlag.AlignTop)
            text.setFixedHeight(scaled(38))

    def _where_words(self, kind: Kind) -> str:
        return {
            Kind.OUTPUT: self.tr("After it: the output"),
            Kind.INPUT: self.tr("Before it: the input"),
            Kind.GRAD_OUTPUT: self.tr("The gradient at the output"),
            Kind.GRAD_INPUT: self.tr("The gradient at the input"),
            Kind.PARAM_GRAD: self.tr("The gradient of a parameter"),
        }[kind]

    def _operation_words(self, operation: str) -> str:
        return {
            "zero": self.tr("Zero"),
            "scale": self.tr("Scale by a factor"),
            "add": self.tr("Add a number"),
            "clamp": self.tr("Limit to a range"),
            "constant": self.tr("Set to a number"),
            "mean": self.tr("Mean over the ticked inputs"),
            "patch": self.tr("Same tensor of another input"),
            "noise": self.tr("Noise"),
            "function": self.tr("Function from a file"),
            "reverse": self.tr("Reverse the sign"),
            "clip": self.tr("Clip every value"),
            "clip_norm": self.tr("Limit the norm"),
        }[operation]

    def _lay_out(self) -> None:
        cancel = button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self._call = field(self.tr("Call"), self.call, QWidget())
        self._leaf = field(self.tr("Tensor"), self.leaf, QWidget())
        of_rows, of_places = label(self.tr("rows"), "second"), label(self.tr("columns"), "second")
        self._region = field(self.tr("Rectangle"), of_rows, self.rows, of_places, self.places)
        which = (field(self.tr("Layer"), self.path), field(self.tr("Change"), self.where, QWidget()))
        part = (field(self.tr("Channels"), self.channels, self.selected, self.pinned), self._region)
        what = field(self.tr("What"), self.operation, QWidget())
        lines = column(*which, self._call, self._leaf, *part, 8, rule(), 8, what, self.fields, spacing=6)
        foot = row(None, cancel, self.go, spacing=8)
        self.setLayout(
            column(
                *(frame(lines), None, 14, self.sentence, self.problem, self.shape, 10, foot),
                margins=(20, 18, 20, 18),
            )
        )
        self.setMinimumWidth(scaled(500))
        self.resize(scaled(520), scaled(430))

    def _connect(self) -> None:
        self.path.textChanged.connect(self._on_tensor)
        self.where.currentIndexChanged.connect(self._on_tensor)
        self.call.currentIndexChanged.connect(self.refresh)
        self.leaf.currentIndexChanged.connect(self.refresh)
        self.operation.currentIndexChanged.connect(self._on_operation)
        for line in (self.channels, self.rows, self.places):
            line.textChanged.connect(self.refresh)
        self.fields.changed.connect(self.refresh)
        self.selected.clicked.connect(self._on_selected)
        self.pinned.clicked.connect(self._on_pinned)
        self.go.clicked.connect(self.accept)

    # -- what stands in it -----------------------------------------------------------------------------------

    @property
    def kind(self) -> Kind:
        """Which tensor is changed."""
        return Kind(self.where.currentData())

    def show_choice(self, choice: EditChoice) -> None:
        """Show an edit."""
        self.path.setText(choice.path)
        self.where.setCurrentIndex(WHERE.index(choice.kind))
        self._fill_tensors()
        self._fill_operations()
        self.call.setCurrentIndex(max(self.call.findData(choice.call), 0))
        self.leaf.setCurrentIndex(max(self.leaf.findData(choice.leaf), 0))
        self.operation.setCurrentIndex(max(self.operation.findData(choice.operation), 0))
        self.channels.setText(ranges(choice.channels).replace("–", "-"))
        if choice.region is not None:
            top, left, bottom, right = choice.region
            self.rows.setText(f"{top}-{bottom - 1}")
            self.places.setText(f"{left}-{right - 1}")
        self.fields.show_choice(choice)
        self.refresh()

    def _fill_tensors(self) -> None:
        """Offer the calls and tensors that the last run knows of, or the parameters of the layer."""
        path, kind = self._path(), self.kind
        recording = edit_start.recording_of(self._session)
        calls = len(recording.calls(path)) if kind is not Kind.PARAM_GRAD else 0
        if kind is Kind.PARAM_GRAD:
            leaves = tuple(name for name, _ in edit_start.parameters_of(self._session, path))
        else:
            leaves = tuple(shapes(recording, path, kind, 0))
        tensors = (*map(str, range(calls)), *leaves)
        if tensors == self._tensors:
            return
        self._tensors = tensors
        self._filling = True
        self.call.clear()
        self.call.addItem(self.tr("Every call"), None)
        for one in range(calls):
            self.call.addItem(self.tr("Call {} of {}").format(one + 1, calls), one)
        self.leaf.clear()
        every = self.tr("All parameters") if kind is Kind.PARAM_GRAD else self.tr("All tensors")
        self.leaf.addItem(every, None)
        for name in leaves:
            self.leaf.addItem(name or self.tr("the output"), name)
        self._call.setVisible(calls > 1)
        self._leaf.setVisible(len(leaves) > 1)
        self._filling = False

    def _fill_operations(self) -> None:
        there = [self.operation.itemData(place) for place in range(self.operation.count())]
        wanted, before = list(operations_for(self.kind)), self.operation.currentData()
        if there != wanted:
            self._filling = True
            self.operation.clear()
            for one in wanted:
                self.operation.addItem(self._operation_words(one), one)
            self.operation.setCurrentIndex(max(self.operation.findData(before), 0))
            self._filling = False
        self._region.setVisible(self.kind is not Kind.PARAM_GRAD)
        self.fields.show_operation(str(self.operation.currentData()))

    def _on_tensor(self) -> None:
        self._fill_tensors()
        self._fill_operations()
        self.refresh()

    def _on_operation(self) -> None:
        if not self._filling:
            self.fields.show_operation(str(self.operation.currentData()))
            self.refresh()

    def _on_selected(self) -> None:
        self.channels.setText(str(self._session.selection.channel))

    def _on_pinned(self) -> None:
        self.channels.setText(", ".join(map(str, sorted(self._session.look.pinned(self._path())))))

    def _path(self) -> str:
        path = self.path.text().strip()
        return self._paths.get(path, path)

    # -- the edit as it stands -------------------------------------------------------------------------------

    def choice(self) -> EditChoice:
        """Return the edit as it stands; raise `HookViewerError` for what lacks or cannot be."""
        path, kind = self._path(), self.kind
        self._check_path(path)
        made = EditChoice(
            path,
            str(self.operation.currentData()),
            kind,
            call=self.call.currentData(),
            leaf=self.leaf.currentData(),
            channels=self._read(self.channels.text()),
            region=None if kind is Kind.PARAM_GRAD else self._read_region(),
        )
        made = edit_start.placed(self._session, self.fields.told(made))
        if not made.recorded and made.operation != "function":
            made.edit()  # it is checked here; what comes from a run or a file is made when it is applied
        return made

    def _check_path(self, path: str) -> None:
        call = Functional.of(path)
        if (path if call is None else call.module) not in self._paths.values():
            raise HookViewerError(self.tr("The model has no layer {}.").format(path))
        recording = edit_start.recording_of(self._session)
        reason = recording.never_called.get(path)
        if reason:
            raise HookViewerError(reason)
        if call is not None and path not in recording.module_calls and recording.op_calls:
            raise HookViewerError(self._no_such_call(call, recording))
        if self.kind is Kind.PARAM_GRAD and not edit_start.parameters_of(self._session, path):
            raise HookViewerError(
                self.tr("{} has no parameters of its own.").format(path or self.tr("The model"))
            )

    def _no_such_call(self, call: Functional, recording: Recording) -> str:
        own = [Functional.of(one.path) for one in recording.op_calls]
        names = dict.fromkeys(f"{one.op}#{one.number}" for one in own if one and one.module == call.module)
        words = self.tr("{} made no such call in the last run; it made {}.")
        made = ", ".join([*names][:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
        return words.format(call.module or self.tr("The model"), made or self.tr("none"))

    def _read(self, text: str) -> tuple[int, ...]:
        try:
            return listed(text, MOST)
        except ValueError:
            raise HookViewerError(
                self.tr("{} is no list of numbers: write them like 3, 7-12.").format(text.strip())
            ) from None

    def _read_region(self) -> Region | None:
        rows, places = self._read(self.rows.text()), self._read(self.places.text())
        if not rows and not places:
            return None
        height, width = self._room()
        rows, places = rows or tuple(range(height)), places or tuple(range(width))
        if len(rows) != rows[-1] - rows[0] + 1 or len(places) != places[-1] - places[0] + 1:
            raise HookViewerError(self.tr("Rows and columns are one range each, like 4-9."))
        return rows[0], places[0], rows[-1] + 1, places[-1] + 1

    def _room(self) -> tuple[int, int]:
        _, shape = edit_start.tensor_of(self._session, EditChoice(self._path(), kind=self.kind))
        if shape is None or len(shape) < 2:
            raise HookViewerError(self.tr("Write rows and columns: the size of the maps is not known."))
        return shape[-2], shape[-1]

    def refresh(self) -> None:
        """Say what will happen, or why it cannot."""
        if self._filling:
            return
        try:
            made = self.choice()
        except HookViewerError as error:
            self._say("", str(error))
            return
        words = made.words
        self._say(f"{words[:1].upper()}{words[1:]}.", "")
        _, shape = edit_start.tensor_of(self._session, made)
        self.shape.setText("" if shape is None else self.tr("of {}").format(shape_words(shape)))

    def _say(self, sentence: str, problem: str) -> None:
        self.sentence.setText(sentence)
        self.problem.setText(problem)
        self.sentence.setVisible(not problem)
        self.problem.setVisible(bool(problem))
        self.shape.setText("")
        self.go.setEnabled(not problem)

    def accept(self) -> None:
        """Hand the edit over; a function's file is run here, and what is wrong with it stands in the form."""
        try:
            made = self.choice()
            if made.operation == "function":
                made.edit()
        except HookViewerError as error:
            self._say("", str(error))
            return
        self.chosen.emit(made)
        super().accept()
