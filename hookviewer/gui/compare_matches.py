"""Which layer of another model stands beside the selected one: matched by itself, or chosen by hand."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QFrame, QWidget

from hookviewer.gui import parts
from hookviewer.gui.renaming import Renaming
from hookviewer.gui.session import Session
from hookviewer.gui.state import Variant
from hookviewer.gui.theme import font

NONE = "–"


class MatchRow(QFrame):
    """The selected layer of the open model, and a list of the layers of the other one."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.own = parts.label("", "", 11, mono=True)
        self.how = parts.label("", "second", 11)
        self.box = QComboBox()
        self.box.setFont(font("mono", 11))
        self.box.setAccessibleName(self.tr("Layer of the other model"))
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(18)
        self.setLayout(
            parts.column(parts.row(self.own, None, self.how), parts.row(self.box, spacing=0), spacing=4)
        )
        self.box.activated.connect(self._on_activated)

    def refresh(self) -> None:
        """Show the layer that stands beside the selected one."""
        found = self._other()
        path = self._session.selection.path
        self.own.setText(self.tr("Beside {}").format(path or self.tr("the model")))
        self.box.clear()
        self.box.setEnabled(found is not None)
        if found is None:
            self.how.setText(self.tr("known after a run"))
            return
        renaming = found[1]
        for other in (NONE, *renaming.others):
            self.box.addItem(other or self.tr("the model"), other)
        there = renaming.there(path)
        self.box.setCurrentIndex(0 if there is None else max(self.box.findData(there), 0))
        how = renaming.how.get(renaming.aliases.get(path, path), "")
        words = {"path": self.tr("same name"), "order and shape": self.tr("by order and shape")}
        self.how.setText(words.get(how, self.tr("by hand") if how else ""))

    def _other(self) -> tuple[Variant, Renaming] | None:
        """Return the last other model that was run, with its matching."""
        own = self._session.varying.variants
        for item in reversed(self._session.ticked_inputs):
            run = self._session.runs.get(item.number)
            if item.variant in own and run is not None and run.renaming is not None:
                return item.variant, run.renaming
        return None

    def _on_activated(self, place: int) -> None:
        found = self._other()
        if found is not None:
            other = "" if place == 0 else str(self.box.itemData(place))
            self._session.varying.match(found[0], self._session.selection.path, other)
