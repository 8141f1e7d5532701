"""A form for every argument that the model's `forward` takes: tensors, numbers, masks."""

from __future__ import annotations

import torch
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui.dialogs import line_edit
from hookviewer.gui.parts import Item, button, column, frame, label, row, tool
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.theme import SEMIBOLD, scaled
from hookviewer.inputs import Argument, guess, signature, suffixes

WIDTH = 640
EXAMPLES = "random:1x3x64x64   ones:1x8   photo.jpg   batch.npz?entry=x   0.5   true"


class ArgumentsDialog(QDialog):
    """One line an argument; what is left empty keeps its default. `chosen` carries the spec of an input."""

    chosen = Signal(str)

    def __init__(self, model: torch.nn.Module, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("arguments_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("An input of several arguments"))
        self.arguments = tuple(one for one in signature(model) if not one.variable)
        self.fields: dict[str, QLineEdit] = {}
        guessed = _guessed(model, self.arguments)
        lines = [self._line(one, guessed.get(one.name, "")) for one in self.arguments]
        self.go = button(self.tr("Add input"), "primary")
        self.go.setDefault(True)
        self.go.clicked.connect(self.accept)
        self._lay_out(type(model).__name__, lines)
        self._allow()

    def _line(self, one: Argument, guessed: str) -> QWidget:
        made = line_edit(guessed, one.name, self.tr("needed") if one.required else repr(one.default))
        made.textChanged.connect(self._allow)
        self.fields[one.name] = made
        browse = tool("folder-open", self.tr("Choose a file for {}").format(one.name), size=28)
        browse.clicked.connect(lambda: self._on_browse(made))
        name = label(one.name, "", 12, mono=True)
        name.setFixedWidth(scaled(130))
        kind = label(_short(one.annotation), "caption", 11)
        kind.setFixedWidth(scaled(90))
        kind.setToolTip(one.annotation)
        holder = QWidget()
        holder.setLayout(row(name, kind, made, browse, spacing=8))
        return holder

    def _lay_out(self, name: str, lines: list[QWidget]) -> None:
        head = label(self.tr("What {} is called with").format(name), "", 16, weight=SEMIBOLD)
        text = label(self.tr("Each line is a file, a generated tensor, or a plain value:"), "second")
        examples = label(EXAMPLES, "caption", 11, mono=True)
        none = label(self.tr("Nothing tells which arguments this model takes."), "caption")
        content: list[Item] = [*lines] if lines else [none]
        area = ScrollDown(frame(column(*content, None, spacing=6)))
        area.setMinimumHeight(scaled(min(36 * max(len(lines), 1) + 8, 360)))
        cancel = button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.setLayout(
            column(
                *(head, 6, text, 2, examples, 14, area, 16, row(None, cancel, self.go, spacing=8)),
                margins=(24, 20, 24, 20),
            )
        )
        self.setMinimumWidth(scaled(WIDTH))

    def _on_browse(self, made: QLineEdit) -> None:
        ends = " ".join(f"*{end}" for end in sorted(suffixes()))
        words = self.tr("Pictures and arrays ({});;All files (*)").format(ends)
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Choose a file"), "", words)
        if path:
            made.setText(path)

    def _allow(self) -> None:
        lacking = [one.name for one in self.arguments if one.required and not self.value(one.name)]
        self.go.setEnabled(bool(self.fields) and not lacking)
        self.go.setToolTip(self.tr("{} is needed.").format(", ".join(lacking)) if lacking else "")

    def value(self, name: str) -> str:
        """Return what was written for an argument."""
        return self.fields[name].text().strip()

    def spec(self) -> str:
        """Return what `open_input` takes."""
        given = [f"{one.name}={self.value(one.name)}" for one in self.arguments if self.value(one.name)]
        return f"args:{';'.join(given)}"

    def accept(self) -> None:
        if self.go.isEnabled():
            self.chosen.emit(self.spec())
            super().accept()


def _guessed(model: torch.nn.Module, arguments: tuple[Argument, ...]) -> dict[str, str]:
    """Return a spec for each required argument whose shape can be told."""
    try:
        given = guess(model)
    except HookViewerError:
        return {}
    required = [one.name for one in arguments if one.required]
    tensors = [one for one in given.args if isinstance(one, torch.Tensor) and one.is_floating_point()]
    return {
        name: f"random:{'x'.join(map(str, tensor.shape))}"
        for name, tensor in zip(required, tensors, strict=False)
    }


def _short(annotation: str) -> str:
    return annotation.rpartition(".")[2][:16]
