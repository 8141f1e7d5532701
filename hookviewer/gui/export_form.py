"""The choices of an export: what, format, size, page, what stands on it, and where it goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QSizePolicy,
    QStyledItemDelegate,
    QWidget,
)

from hookviewer.formats import Figure
from hookviewer.formats.entry import PAGES, SIZES
from hookviewer.gui.dialogs import field, line_edit
from hookviewer.gui.parts import Segmented, column, label, rule, tool
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import font

FORMATS = (("png",), ("png",), ("npz",))
FIGURE, PLAIN, ARRAYS = range(3)


class ExportForm(QFrame):
    """Holds the controls and reads them as `formats()`, `figure()` and `folder_path()`."""

    changed = Signal()

    def __init__(
        self, whats: Sequence[str], folder: str, side: str = "output", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.what = QComboBox()
        self.what.addItems(list(whats))
        self.what.setItemDelegate(QStyledItemDelegate(self.what))
        self.what.setFont(font("ui", 12))
        self.what.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.format = Segmented([self.tr("PNG on a page"), self.tr("PNG plain"), "npz"])
        self.scale = Segmented([f"{size}×" for size in SIZES])
        self.page = Segmented([self.tr("White"), self.tr("Dark"), self.tr("Clear")])
        self.kind_names = self._kind_names(side)
        self.kinds = {kind: self._box(words, on=False) for kind, words in self.kind_names.items()}
        self.kinds[Shown.WEIGHTS].setToolTip(
            self.tr("Parameters and buffers; beside them their gradients where they were recorded")
        )
        self.side = label(self._side_words(side), "caption", 11)
        self.side.setVisible(bool(self._side_words(side)))
        self.caption = self._box(self.tr("Caption: model, layer, kind, shape, input, target"), on=True)
        self.colour_bar = self._box(self.tr("Colour bar with the scale in force"), on=True)
        self.numbers = self._box(self.tr("Channel numbers on the tiles"), on=False)
        self.arrays = self._box(self.tr("Arrays beside the pictures (.npz)"), on=True)
        self.overwrite = self._box(self.tr("Overwrite the files that exist already"), on=False)
        self.folder = line_edit(folder, self.tr("Folder"))
        self.folder.setFont(font("mono", 11))
        self.browse = tool("folder-open", self.tr("Choose folder"), size=28)
        self.scale.choose(1)
        self.overwrite.hide()
        self._lay_out()
        for one in (self.format, self.scale, self.page):
            one.changed.connect(self._on_changed)
        self.folder.textChanged.connect(self._on_changed)

    def _kind_names(self, side: str) -> dict[Shown, str]:
        return {
            Shown.OUTPUT: self.tr("Output") if side == "output" else self.tr("Input"),
            Shown.GRADIENT: self.tr("Gradient"),
            Shown.MAGNITUDE: self.tr("|Gradient|"),
            Shown.PRODUCT: self.tr("Product"),
            Shown.GRAD_CAM: self.tr("CAM"),
            Shown.ATTENTION: self.tr("Attention"),
            Shown.WEIGHTS: self.tr("Weights"),
        }

    def _side_words(self, side: str) -> str:
        words = {
            "input": self.tr("At the input of each layer, through this module"),
            "total": self.tr("At the input of each layer, through all its uses"),
        }
        return words.get(side, "")

    def choose_kinds(self, chosen: Sequence[Shown]) -> None:
        """Tick these kinds and no others, without telling of it."""
        for kind, made in self.kinds.items():
            before = made.blockSignals(True)
            made.setChecked(kind in chosen)
            made.blockSignals(before)

    def chosen_kinds(self) -> tuple[Shown, ...]:
        """Return the kinds to write of every layer."""
        return tuple(kind for kind, made in self.kinds.items() if made.isChecked())

    def _box(self, words: str, *, on: bool) -> QCheckBox:
        made = QCheckBox(words)
        made.setFont(font("ui", 12))
        made.setChecked(on)
        made.toggled.connect(self._on_changed)
        return made

    def _lay_out(self) -> None:
        kinds = QWidget()
        grid = QGridLayout(kinds)
        grid.setContentsMargins(0, 0, 0, 0)
        for place, made in enumerate(self.kinds.values()):
            grid.addWidget(made, place // 3, place % 3)
        boxes = (self.caption, self.colour_bar, self.numbers, self.arrays)
        self.setLayout(
            column(
                *(field(self.tr("What"), self.what), 8, field(self.tr("Kinds"), kinds), self.side, 8),
                *(field(self.tr("Format"), self.format, _rest()), 8),
                *(field(self.tr("Size"), self.scale, _rest()), 8, field(self.tr("Page"), self.page, _rest())),
                *(12, rule(), 12, column(*boxes, spacing=9), 12, rule(), 12),
                *(field(self.tr("Folder"), self.folder, self.browse), 8, self.overwrite),
            )
        )

    def _on_changed(self) -> None:
        on_page, picture = self.format.index == FIGURE, self.format.index != ARRAYS
        for one in (self.scale, self.page, self.caption, self.colour_bar, self.numbers):
            one.setEnabled(on_page)
        self.arrays.setEnabled(picture)
        self.changed.emit()

    def formats(self) -> tuple[str, ...]:
        """Return the names of the formats to write."""
        chosen = FORMATS[self.format.index]
        return (*chosen, "npz") if chosen == ("png",) and self.arrays.isChecked() else chosen

    def figure(self) -> Figure | None:
        """Return how the page looks; None for plain pictures."""
        if self.format.index != FIGURE:
            return None
        return Figure(
            PAGES[self.page.index],
            SIZES[self.scale.index],
            self.caption.isChecked(),
            self.colour_bar.isChecked(),
            self.numbers.isChecked(),
        )

    def folder_path(self) -> Path:
        """Return the folder that was typed or chosen."""
        return Path(self.folder.text().strip() or ".").expanduser()


def _rest() -> QWidget:
    made = QWidget()
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return made
