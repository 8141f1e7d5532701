"""What the operation of an edit needs: numbers, another input, or a function from a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui.choices import Choice
from hookviewer.gui.dialogs import field, line_edit
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.parts import column, tool
from hookviewer.gui.state import InputItem

USUAL = {"scale": "2", "add": "1", "constant": "0", "clip": "0.01", "clip_norm": "1"}
"""What stands in the field of a number at first."""


class EditFields(QWidget):
    """The lines of the form that belong to the operation; the others are hidden."""

    changed = Signal()

    def __init__(self, inputs: Sequence[InputItem], current: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inputs = inputs
        self._operation = "zero"
        self._make_numbers()
        self._make_source(current)
        self._make_function()
        lines = (self._number, self._low, self._high, self._deviation, self._seed)
        self.setLayout(column(*lines, self._source, self._mean, self._file, self._name, spacing=6))
        edits = (self.number, self.low, self.high, self.deviation, self.seed, self.file, self.function)
        for one in edits:
            one.textChanged.connect(self.changed)
        self.source.currentIndexChanged.connect(self.changed)
        self.show_operation("zero")

    def _make_numbers(self) -> None:
        self.number = line_edit("2", self.tr("Number"))
        self.low = line_edit("0", self.tr("Least value"), self.tr("none"))
        self.high = line_edit("", self.tr("Greatest value"), self.tr("none"))
        self.deviation = line_edit("", self.tr("Deviation"), self.tr("that of the values it replaces"))
        self.seed = line_edit("0", self.tr("Seed"))
        self._number = field(self.tr("Number"), self.number)
        self._low, self._high = field(self.tr("At least"), self.low), field(self.tr("At most"), self.high)
        self._deviation, self._seed = field(self.tr("Deviation"), self.deviation), field("Seed", self.seed)

    def _make_source(self, current: int) -> None:
        self.source = Choice("edit_source", "", self.tr("The input that the values come from"))
        for item in self._inputs:
            self.source.addItem(item.input.name, item.number)
        others = [place for place, item in enumerate(self._inputs) if item.number != current]
        self.source.setCurrentIndex(others[0] if others else 0)
        self._source = field(self.tr("From"), self.source, QWidget())
        names = ", ".join(item.input.name for item in self._inputs if item.ticked)
        self.means = line_edit(names, self.tr("Ticked inputs"))
        self.means.setReadOnly(True)
        self._mean = field(self.tr("Over"), self.means)

    def _make_function(self) -> None:
        self.file = line_edit("", self.tr("File"), "edits.py")
        self.function = line_edit("edit", self.tr("Function"), "edit")
        browse = tool("folder-open", self.tr("Choose a Python file"), size=28)
        browse.clicked.connect(self._on_browse)
        self._file = field(self.tr("File"), self.file, browse)
        self._name = field(self.tr("Function"), self.function)

    def _on_browse(self) -> None:
        words = self.tr("Python files (*.py)")
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Choose a Python file"), "", words)
        if path:
            self.file.setText(path)

    def show_operation(self, operation: str) -> None:
        """Show the fields that an operation needs."""
        if operation in USUAL and self._operation != operation:
            self.number.setText(USUAL[operation])
        self._operation = operation
        shown = {
            "clamp": (self._low, self._high),
            "noise": (self._deviation, self._seed),
            "patch": (self._source,),
            "mean": (self._mean,),
            "function": (self._file, self._name),
        }.get(operation, (self._number,) if operation in USUAL else ())
        every = (self._number, self._low, self._high, self._deviation, self._seed)
        for one in (*every, self._source, self._mean, self._file, self._name):
            one.setVisible(one in shown)

    def show_choice(self, choice: EditChoice) -> None:
        """Show what an edit was told."""
        self.show_operation(choice.operation)
        texts = ["" if one is None else f"{one:g}" for one in choice.numbers]
        fields: dict[str, tuple[QLineEdit, ...]] = {
            "clamp": (self.low, self.high),
            "noise": (self.deviation, self.seed),
        }
        for line, text in zip(fields.get(choice.operation, (self.number,)), texts, strict=False):
            line.setText(text)
        if choice.file:
            self.file.setText(choice.file)
            self.function.setText(choice.function)
        if choice.operation == "patch" and choice.of:
            self.source.setCurrentIndex(max(self.source.findData(choice.of[0]), 0))

    def told(self, choice: EditChoice) -> EditChoice:
        """Return the edit with what the fields say; raise `HookViewerError` for what is no number."""
        operation = choice.operation
        if operation == "patch":
            return self._of(choice, [one for one in self._inputs if one.number == self.source.currentData()])
        if operation == "mean":
            return self._of(choice, [one for one in self._inputs if one.ticked])
        if operation == "function":
            return self._of_a_file(choice)
        lines = {"clamp": (self.low, self.high), "noise": (self.deviation, self.seed)}
        given = lines.get(operation, (self.number,) if operation in USUAL else ())
        return dataclasses.replace(choice, numbers=tuple(self._read(line) for line in given))

    def _of(self, choice: EditChoice, items: Sequence[InputItem]) -> EditChoice:
        if not items:
            raise HookViewerError(self.tr("Add an input that the values come from (Ctrl+I), and tick it."))
        of, names = (item.number for item in items), (item.input.name for item in items)
        return dataclasses.replace(choice, of=tuple(of), names=tuple(names))

    def _of_a_file(self, choice: EditChoice) -> EditChoice:
        file, _, after = self.file.text().strip().partition(".py:")
        name = after or self.function.text().strip()
        path = f"{file}.py" if after else file
        if not path.endswith(".py"):
            raise HookViewerError(self.tr("Choose a Python file with a function: tensor → tensor."))
        if not name:
            raise HookViewerError(self.tr("Write the name of the function."))
        return dataclasses.replace(choice, file=path, function=name)

    def _read(self, line: QLineEdit) -> float | None:
        text = line.text().strip().replace("−", "-").replace(",", ".")
        if not text:
            return None
        try:
            return float(text)
        except ValueError:
            raise HookViewerError(self.tr("{} is no number.").format(text)) from None
