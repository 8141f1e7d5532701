"""The pages of the target dialog: what each kind of target needs to be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCompleter,
    QFileDialog,
    QLineEdit,
    QListView,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from hookviewer import target_words
from hookviewer.errors import HookViewerError
from hookviewer.gui.dialogs import field, line_edit
from hookviewer.gui.parts import Segmented, column, label, tool
from hookviewer.gui.state import Guess
from hookviewer.gui.target_names import float_leaves
from hookviewer.gui.target_rows import rows
from hookviewer.gui.theme import font
from hookviewer.target_choice import TargetChoice

LOSSES = ("cross_entropy", "mse_loss", "binary_cross_entropy_with_logits")
ARRAY_FILES = "*.npy *.npz *.pt *.safetensors"
PLACE = Qt.ItemDataRole.UserRole


class Page(QWidget):
    """What one kind of target needs; `choice` raises `HookViewerError` until it is all there."""

    changed = Signal()
    accepted = Signal()
    of_a_leaf = True
    """Whether it is taken of a tensor of the output that is chosen beside."""

    def choice(self, leaf: str | None) -> TargetChoice:
        """Return the target as it stands."""
        raise NotImplementedError

    def show_choice(self, choice: TargetChoice) -> None:
        """Show a target of this kind."""


class PlainPage(Page):
    """A target that needs to be told nothing."""

    def __init__(self, rule: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rule = rule
        self.of_a_leaf = rule != "none"
        text = label(words, "second")
        text.setWordWrap(True)
        self.setLayout(column(text, None))

    def choice(self, leaf: str | None) -> TargetChoice:
        return TargetChoice(self._rule, leaf=leaf if self.of_a_leaf else None)


class ClassPage(Page):
    """Type a part of a name or a number; the likeliest classes of the current input come first."""

    def __init__(
        self, names: Sequence[str], guesses: Sequence[Guess] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        first = [guess.index for guess in guesses if guess.index < len(names)]
        self._classes = [*first, *(one for one in range(len(names)) if one not in first)]
        shares = {guess.index: f"   {guess.share:.2f}" for guess in guesses}
        texts = [f"{one}   {names[one]}{shares.get(one, '')}" for one in self._classes]
        self.search = line_edit("", self.tr("Search classes"), self.tr("Name or number"))
        self.search.setFont(font("ui", 12))
        self._rows = QSortFilterProxyModel(self)
        self._rows.setSourceModel(QStringListModel(texts, self))
        self._rows.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list = QListView()
        self.list.setObjectName("class_list")
        self.list.setAccessibleName(self.tr("Classes"))
        self.list.setModel(self._rows)
        self.list.setFont(font("ui", 12))
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setLayout(column(self.search, 8, self.list))
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(self.accepted)
        self.list.doubleClicked.connect(self.accepted)
        self.list.selectionModel().currentChanged.connect(self.changed)
        self._on_search("")

    def _on_search(self, words: str) -> None:
        self._rows.setFilterFixedString(words.strip())
        exact = [row for row in range(self._rows.rowCount()) if str(self._class(row)) == words.strip()]
        self.list.setCurrentIndex(self._rows.index(exact[0] if exact else 0, 0))
        self.changed.emit()

    def _class(self, row: int) -> int:
        return self._classes[self._rows.mapToSource(self._rows.index(row, 0)).row()]

    def choice(self, leaf: str | None) -> TargetChoice:
        current: QModelIndex = self.list.currentIndex()
        if not current.isValid():
            raise HookViewerError(self.tr("No class is called so: search for another word."))
        return TargetChoice("class", self._class(current.row()), leaf)

    def show_choice(self, choice: TargetChoice) -> None:
        if choice.index in self._classes:
            row = self._rows.mapFromSource(
                self._rows.sourceModel().index(self._classes.index(choice.index), 0)
            )
            self.list.setCurrentIndex(row)


class OutputPage(Page):
    """One entry of the last run's real output, picked from a list or by its index."""

    of_a_leaf = True

    def __init__(self, output: Any, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._output, self._names, self._leaf = output, names, ""
        self.list = QListWidget()
        self.list.setObjectName("class_list")
        self.list.setAccessibleName(self.tr("Entries of the output"))
        self.list.setFont(font("mono", 11))
        self.list.setUniformItemSizes(True)
        self.place = line_edit("", self.tr("Index"), "0, 37, :, :")
        hint = label(self.tr("An axis that is left out, or a colon, is summed."), "caption", 11)
        self.setLayout(column(self.list, 8, field(self.tr("Index"), self.place), 2, hint))
        self.list.currentItemChanged.connect(self._on_picked)
        self.list.itemDoubleClicked.connect(lambda item: self.accepted.emit())
        self.place.textChanged.connect(self.changed)
        self.place.returnPressed.connect(self.accepted)

    def show_leaf(self, leaf: str) -> None:
        """List the entries of one tensor of the output."""
        self._leaf = leaf
        self.list.blockSignals(True)
        self.list.clear()
        there = leaf in dict(float_leaves(self._output))
        for one in rows(self._output, leaf, self._names) if there else ():
            index = f"[{', '.join(map(str, one.place))}]"
            item = QListWidgetItem(f"{index:<12}{one.value:>10}   {one.name}".rstrip(), self.list)
            item.setData(PLACE, ", ".join(map(str, one.place)))
        self.list.blockSignals(False)
        if self.list.count():
            self.list.setCurrentRow(0)

    def _on_picked(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.place.setText(str(item.data(PLACE)))

    def choice(self, leaf: str | None) -> TargetChoice:
        text = self.place.text().strip()
        if not float_leaves(self._output):
            raise HookViewerError(
                self.tr("The last run returned nothing to pick from: run on another input.")
            )
        if not text:  # every axis is left out
            return TargetChoice("sum", leaf=leaf)
        return TargetChoice("output", leaf=leaf, place=target_words.place(text))

    def show_choice(self, choice: TargetChoice) -> None:
        self.place.setText(", ".join(":" if one is None else str(one) for one in choice.place))


class UnitPage(Page):
    """A channel or a cell of any layer."""

    of_a_leaf = False

    def __init__(self, paths: Sequence[str], path: str, channel: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._leaf: str | None = None
        self._call = 0
        self.path = line_edit(path, self.tr("Layer"), self.tr("the model"))
        self.path.setCompleter(_completer(paths, self))
        self.place = line_edit(str(channel), self.tr("Channel or index"), "37")
        text = label(
            self.tr(
                "One number is a channel, summed over its places; several are the index of one cell: "
                "sample, channel, row, column. A right click on a map offers the cell under the pointer. "
                "Its gradient in the input shows what the unit sees."
            ),
            "caption",
            11,
        )
        text.setWordWrap(True)
        line, place = field(self.tr("Layer"), self.path), field(self.tr("Index"), self.place)
        self.setLayout(column(line, 6, place, 10, text, None))
        self.path.textChanged.connect(self._on_path)
        self.place.textChanged.connect(self.changed)
        self.place.returnPressed.connect(self.accepted)

    def _on_path(self) -> None:
        self._leaf, self._call = None, 0
        self.changed.emit()

    def choice(self, leaf: str | None) -> TargetChoice:
        place = target_words.place(self.place.text())
        path = self.path.text().strip()
        return TargetChoice("unit", leaf=self._leaf, path=path, call=self._call, place=place)

    def show_choice(self, choice: TargetChoice) -> None:
        self.path.setText(choice.path)
        self._leaf, self._call = choice.leaf, choice.call
        self.place.setText(", ".join(":" if one is None else str(one) for one in choice.place))


class LossPage(Page):
    """A loss against a label."""

    def __init__(self, names: Sequence[str], likely: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = names
        self.loss = Segmented([self.tr("Cross entropy"), "MSE", self.tr("BCE of logits")])
        self.label = line_edit(str(likely), self.tr("Label"))
        self.label.setCompleter(_completer(names, self))
        self.browse = tool("folder-open", self.tr("Choose a file with the label"), size=28)
        self.browse.clicked.connect(lambda: _browse(self, self.label))
        self.hint = label("", "caption", 11)
        self.hint.setWordWrap(True)
        self.setLayout(
            column(
                *(field(self.tr("Loss"), self.loss, QWidget()), 6),
                *(field(self.tr("Label"), self.label, self.browse), 10, self.hint, None),
            )
        )
        self.loss.changed.connect(self._on_loss)
        self.label.textChanged.connect(self.changed)
        self.label.returnPressed.connect(self.accepted)
        self._on_loss()

    def _on_loss(self) -> None:
        of_class = self.tr("The name or number of the right class.")
        of_values = self.tr("A number for every element, numbers joined by commas, or a file of values.")
        self.hint.setText(of_values if self.loss.index else of_class)
        self.changed.emit()

    def choice(self, leaf: str | None) -> TargetChoice:
        name, text = LOSSES[self.loss.index], self.label.text().strip()
        if text.partition("?")[0].lower().endswith(target_words.FILES):
            return TargetChoice("loss", leaf=leaf, loss=name, file=text)
        label = target_words.labels(name, text, self._names)
        return TargetChoice("loss", leaf=leaf, loss=name, label=label)

    def show_choice(self, choice: TargetChoice) -> None:
        if choice.loss in LOSSES:
            self.loss.choose(LOSSES.index(choice.loss))
            self.label.setText(choice.file or ", ".join(f"{one:g}" for one in choice.label))
            self._on_loss()


class VectorPage(Page):
    """A vector from a file that the output is weighted by."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.file = line_edit("", self.tr("File"), "vector.npy")
        self.browse = tool("folder-open", self.tr("Choose a file"), size=28)
        self.browse.clicked.connect(lambda: _browse(self, self.file))
        text = label(
            self.tr(
                "One weight for each element of the output: the shape of the output, or of its last axes."
            ),
            "caption",
            11,
        )
        text.setWordWrap(True)
        self.setLayout(column(field(self.tr("File"), self.file, self.browse), 10, text, None))
        self.file.textChanged.connect(self.changed)
        self.file.returnPressed.connect(self.accepted)

    def choice(self, leaf: str | None) -> TargetChoice:
        if not self.file.text().strip():
            raise HookViewerError(self.tr("Choose a file with a vector: .npy, .npz, .pt or .safetensors."))
        return TargetChoice("dot", leaf=leaf, file=self.file.text().strip())

    def show_choice(self, choice: TargetChoice) -> None:
        self.file.setText(choice.file)


def _completer(words: Sequence[str], parent: QWidget) -> QCompleter:
    made = QCompleter(list(words), parent)
    made.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    made.setFilterMode(Qt.MatchFlag.MatchContains)
    return made


def _browse(page: Page, line: QLineEdit) -> None:
    words = page.tr("Arrays ({});;All files (*)").format(ARRAY_FILES)
    path, _ = QFileDialog.getOpenFileName(page, page.tr("Choose a file"), "", words)
    if path:
        line.setText(path)
