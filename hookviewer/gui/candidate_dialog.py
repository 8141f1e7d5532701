"""The models found in a project folder or a file: which one, and with which arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from hookviewer.gui.dialogs import WEIGHT_FILES, field, line_edit
from hookviewer.gui.parts import button, column, frame, label, row, tool
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.theme import SEMIBOLD, font, scaled
from hookviewer.sources import Candidate
from hookviewer.sources.scan import Argument
from hookviewer.sources.wording import shown

SIZE = (760, 470)


class CandidateDialog(QDialog):
    """A list of candidates at the left; at the right the arguments of the chosen one, with their defaults."""

    chosen = Signal(str, str)

    def __init__(
        self, found: Sequence[Candidate], place: Path, weights: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("candidate_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Choose a model"))
        self._found, self._place = tuple(found), place
        self.fields: dict[str, QLineEdit] = {}
        self.list = self._made_list()
        self.form = ScrollDown(QFrame())
        self.weights = line_edit(weights, self.tr("Weights"), self.tr("none: as the code makes them"))
        self.go = button(self.tr("Open"), "primary")
        self.go.setDefault(True)
        self._lay_out()
        self.list.currentRowChanged.connect(self._show_form)
        self.list.itemDoubleClicked.connect(self.accept)
        self.go.clicked.connect(self.accept)
        self.list.setCurrentRow(0)

    def _made_list(self) -> QListWidget:
        made = QListWidget()
        made.setObjectName("class_list")
        made.setAccessibleName(self.tr("Models"))
        made.setFont(font("mono", 12))
        made.setSpacing(2)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in self._found:
            where = f"{self._relative(one.file)}:{one.line}"
            entry = QListWidgetItem(f"{shown(one.name, 40)}\n{shown(where, 44)}")
            part = self.tr("a part that another class here uses") if one.part else ""
            entry.setToolTip(
                "\n".join(filter(None, (shown(one.signature, 400), f"{one.kind}, {where}", part)))
            )
            if one.part:
                entry.setForeground(self.palette().placeholderText())
            made.addItem(entry)
        return made

    def _relative(self, file: Path) -> str:
        return str(file.relative_to(self._place)) if file.is_relative_to(self._place) else file.name

    def _lay_out(self) -> None:
        count = len(self._found)
        words = self.tr("1 model in {}") if count == 1 else self.tr("{} models in {}")
        files = {one.file for one in self._found}
        name = shown(files.pop().name if len(files) == 1 else self._place.name, 60)
        head = label(words.format(name) if count == 1 else words.format(count, name), "", 16, weight=SEMIBOLD)
        note = label(
            self.tr("Found by reading the files. Nothing was imported; Open imports what you choose."),
            "second",
        )
        browse = tool("folder-open", self.tr("Choose a file of weights"), size=28)
        browse.clicked.connect(self._on_browse)
        cancel = button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.signature = label("", "second", 11, mono=True)
        self.signature.setWordWrap(True)
        right = column(
            *(self.signature, 10, self.form, 10, field(self.tr("Weights"), self.weights, browse)), spacing=0
        )
        middle = row(self.list, right, spacing=20)
        middle.setStretch(0, 4)
        middle.setStretch(1, 5)
        self.setLayout(
            column(
                *(head, 4, note, 14, middle, 16, row(None, cancel, self.go, spacing=8)),
                margins=(24, 20, 24, 20),
            )
        )
        self.resize(scaled(SIZE[0]), scaled(SIZE[1]))

    def _show_form(self, place: int) -> None:
        if not 0 <= place < len(self._found):
            return
        one = self._found[place]
        self.signature.setText(shown(one.signature, 400))
        self.fields = {argument.name: self._field(argument) for argument in one.arguments if _named(argument)}
        lines = [field(name, made) for name, made in self.fields.items()]
        empty = label(self.tr("It takes no arguments."), "caption")
        self.form.setWidget(frame(column(*(lines or [empty]), None, spacing=6)))
        self._allow()

    def _field(self, argument: Argument) -> QLineEdit:
        needed = self.tr("needed, such as 10")
        made = line_edit("", argument.name, needed if argument.default is None else argument.default)
        made.textChanged.connect(self._allow)
        return made

    def _allow(self) -> None:
        """Open only what has all its arguments."""
        place = self.list.currentRow()
        lacking = [
            name for name in self._found[place].required if name in self.fields and not self.value(name)
        ]
        self.go.setEnabled(not lacking)
        self.go.setToolTip(self.tr("{} is needed.").format(", ".join(lacking)) if lacking else "")

    def value(self, name: str) -> str:
        """Return what was typed for an argument; empty where the default holds."""
        return self.fields[name].text().strip()

    def spec(self) -> str:
        """Return what `open_model` takes."""
        one = self._found[self.list.currentRow()]
        given = [f"{name}={quote(self.value(name), safe=_PLAIN)}" for name in self.fields if self.value(name)]
        return one.spec + (f"?{'&'.join(given)}" if given else "")

    def _on_browse(self) -> None:
        words = self.tr("Weights ({});;All files (*)").format(WEIGHT_FILES)
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Weights"), str(self._place), words)
        if path:
            self.weights.setText(path)

    def accept(self) -> None:
        if self.go.isEnabled() and self.list.currentRow() >= 0:
            self.chosen.emit(self.spec(), self.weights.text().strip())
            super().accept()


_PLAIN = "(),.'\"[]{}:/ "


def _named(argument: Argument) -> bool:
    return argument.name.isidentifier()
