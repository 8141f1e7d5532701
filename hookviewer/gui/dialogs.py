"""Two small questions: which model by name, and which shape of a generated input."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QWidget

from hookviewer.gui.model_list import ModelList
from hookviewer.gui.parts import button, column, label, row, tool
from hookviewer.gui.theme import font, scaled

FIELD_WIDTH = 76
WEIGHT_FILES = "*.safetensors *.safetensors.index.json *.pt *.pth *.ckpt *.bin"
"""What a dialog for a file of weights shows."""


def field(name: str, *widgets: QWidget) -> QWidget:
    """Return a named line of a form."""
    text = label(name, "second")
    text.setFixedWidth(scaled(FIELD_WIDTH))
    made = QWidget()
    made.setLayout(row(text, *widgets, spacing=8))
    return made


def line_edit(text: str, name: str, hint: str = "") -> QLineEdit:
    """Return a field for code or a path."""
    made = QLineEdit(text)
    made.setFont(font("mono", 12))
    made.setPlaceholderText(hint)
    made.setAccessibleName(name)
    return made


class ModelDialog(QDialog):
    """Asks for a model by name, with the arguments of its callable and a file of weights."""

    chosen = Signal(str, str)

    def __init__(
        self, spec: str, names: Sequence[str] = (), parent: QWidget | None = None, *, weights: str = ""
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Open a model by name"))
        self._weights = weights
        place, _, arguments = spec.partition("?")
        self.name = line_edit(place, self.tr("Model"), "package.module:callable")
        self.arguments = line_edit(arguments, self.tr("Arguments"), "num_classes=10&width_mult=0.5")
        self.weights = line_edit(weights, self.tr("Weights"), self.tr("none: as the callable makes them"))
        self.models = ModelList(names)
        self.go = button(self.tr("Open"), "primary")
        self._lay_out()
        self._connect()
        self._on_typed()
        self.name.setFocus()

    def _lay_out(self) -> None:
        browse = tool("folder-open", self.tr("Choose a file of weights"), size=28)
        browse.clicked.connect(self._on_browse)
        go, cancel = self.go, button(self.tr("Cancel"))
        go.setDefault(True)
        go.clicked.connect(self.accept)
        cancel.clicked.connect(self.reject)
        note = label(
            self.tr("The module is imported, as Python's import does, and the callable is called."),
            "caption",
            11,
        )
        self.setLayout(
            column(
                *(field(self.tr("Model"), self.name), 6, field("", self.models), 10),
                *(field(self.tr("Arguments"), self.arguments), 8),
                *(field(self.tr("Weights"), self.weights, browse), 10, note, 16),
                row(None, cancel, go, spacing=8),
                margins=(24, 20, 24, 20),
            )
        )
        self.setMinimumWidth(scaled(560))

    def _connect(self) -> None:
        self.name.textEdited.connect(self._on_typed)
        self.name.textChanged.connect(lambda text: self.go.setEnabled(bool(text.strip())))
        self.models.picked.connect(self._on_picked)
        self.models.opened.connect(self.accept)
        self.name.installEventFilter(self)

    def _on_typed(self) -> None:
        self.models.show_for(self.name.text().strip())
        self.go.setEnabled(bool(self.name.text().strip()))

    def _on_picked(self, spec: str, weights: str) -> None:
        place, _, arguments = spec.partition("?")
        self.name.setText(place)
        self.arguments.setText(arguments)
        self.weights.setText(weights or self._weights)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = steps.get(Qt.Key(event.key()))
            if step is not None:
                self.models.step(step)
                return True
        return False

    def _on_browse(self) -> None:
        words = self.tr("Weights ({});;All files (*)").format(WEIGHT_FILES)
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Weights"), "", words)
        if path:
            self.weights.setText(path)

    def spec(self) -> str:
        """Return what `open_model` takes."""
        arguments = self.arguments.text().strip().lstrip("?")
        return self.name.text().strip() + (f"?{arguments}" if arguments else "")

    def accept(self) -> None:
        if self.name.text().strip():
            self.chosen.emit(self.spec(), self.weights.text().strip())
            super().accept()


class ShapeDialog(QDialog):
    """Asks for the shape of a generated input; the guess stands there already, with its reason."""

    chosen = Signal(str)

    def __init__(self, kind: str, shape: str, reason: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        titles = {"random": self.tr("A random input"), "ones": self.tr("An input of ones")}
        self.setWindowTitle(titles.get(kind, kind))
        self._kind = kind
        self.shape = line_edit(shape, self.tr("Shape"), "1x3x224x224")
        self.seed = line_edit("0", self.tr("Seed"))
        go, cancel = button(self.tr("Add input"), "primary"), button(self.tr("Cancel"))
        go.setDefault(True)
        go.clicked.connect(self.accept)
        cancel.clicked.connect(self.reject)
        note = label(reason or self.tr("Numbers with × or x between them, the batch first."), "caption", 11)
        note.setWordWrap(True)
        lines = [field(self.tr("Shape"), self.shape)]
        if kind == "random":
            lines.append(field(self.tr("Seed"), self.seed))
        buttons = row(None, cancel, go, spacing=8)
        self.setLayout(column(*lines, 8, note, 14, buttons, spacing=6, margins=(24, 20, 24, 20)))
        self.setMinimumWidth(scaled(440))

    def accept(self) -> None:
        shape = self.shape.text().strip().replace("×", "x").replace(" ", "")
        if shape:
            seed = f"?seed={self.seed.text().strip() or 0}" if self._kind == "random" else ""
            self.chosen.emit(f"{self._kind}:{shape}{seed}")
            super().accept()
