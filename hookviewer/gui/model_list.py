"""The models that can be opened by name, listed under the field: recent ones, demos, examples, what fits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from hookviewer.gui import recent
from hookviewer.gui.theme import SEMIBOLD, font, scaled

EXAMPLES = ("resnet18", "vit_b_16", "convnext_tiny", "mobilenet_v3_small", "efficientnet_b0")
"""Of torchvision's many, those that an empty field proposes."""
MOST_SHOWN = 60
SPEC, WEIGHTS = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class ModelList(QListWidget):
    """Shows what `names` and the recent models offer for the words of a field."""

    picked = Signal(str, str)
    """A row was clicked: its spec, and its file of weights."""
    opened = Signal()
    """A row was clicked twice."""

    def __init__(self, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("model_list")
        self.setAccessibleName(self.tr("Models"))
        self.setFont(font("mono", 12))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setFixedHeight(scaled(236))
        self._names = tuple(names)
        self._recent = [one for one in recent.models() if not one.missing]
        self.itemClicked.connect(self._on_clicked)
        self.itemDoubleClicked.connect(lambda item: self.opened.emit())

    def show_for(self, words: str) -> None:
        """Show what fits these words, the usual proposals for none."""
        self.clear()
        last = [(one.spec, one.weights) for one in self._recent if words.lower() in one.spec.lower()]
        self._add(self.tr("Recent"), last[: 5 if words else 4])
        named = [(name, "") for name in fitting(self._names, words)]
        demos = [one for one in named if one[0].startswith("demo:")]
        self._add(self.tr("Demo models"), demos)
        others = [one for one in named if one not in demos]
        self._add(self.tr("By name") if words else self.tr("Examples"), others[:MOST_SHOWN])
        self.setCurrentRow(-1)

    def specs(self) -> list[str]:
        """Return the specs of the rows in sight."""
        rows = [self.item(row) for row in range(self.count())]
        return [str(item.data(SPEC)) for item in rows if item.data(SPEC)]

    def step(self, step: int) -> None:
        """Go to the next row that is a model and pick it."""
        row = self.currentRow() + step
        while 0 <= row < self.count() and not self.item(row).data(SPEC):
            row += step
        if 0 <= row < self.count():
            self.setCurrentRow(row)
            self._on_clicked(self.item(row))

    def _add(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        if not rows:
            return
        head = QListWidgetItem(title, self)
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        head.setFont(font("ui", 11, SEMIBOLD))
        for spec, weights in rows:
            item = QListWidgetItem(f"{spec}  {weights}".rstrip(), self)
            item.setData(SPEC, spec)
            item.setData(WEIGHTS, weights)
            item.setToolTip(f"{spec}\n{weights}".strip())
            item.setSizeHint(QSize(0, scaled(24)))

    def _on_clicked(self, item: QListWidgetItem) -> None:
        if item.data(SPEC):
            self.picked.emit(str(item.data(SPEC)), str(item.data(WEIGHTS)))


def fitting(names: Sequence[str], words: str) -> list[str]:
    """Return the names that hold every word, the best first; demos and examples where there is no word."""
    wanted = words.lower().split()
    if not wanted:
        usual = {f"torchvision.models:{name}" for name in EXAMPLES}
        return [name for name in names if name.startswith("demo:") or name in usual] or list(names)
    found = [name for name in names if all(word in name.lower() for word in wanted)]
    return sorted(found, key=lambda name: not name.lower().endswith(wanted[-1]))
