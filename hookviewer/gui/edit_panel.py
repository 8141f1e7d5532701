"""The panel of edits: the numbered list, and what to do with its rows."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton, QWidget

from hookviewer.gui.edit_list import EditList
from hookviewer.gui.edit_start import whole_layer
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.parts import column, tool
from hookviewer.gui.session import Session


class EditPanel(QWidget):
    """The edits in the order in which they apply; `tools` are for the title of the panel."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.list = EditList(session)
        self._empty = EmptyOr(
            self.list,
            "pencil",
            self.tr(
                "What is changed on the way stands here. Choose a layer and press Ctrl+Shift+E, or click a "
                "map with the right button."
            ),
        )
        self.setLayout(column(self._empty))
        self.tools = self._made_tools()
        session.editing.changed.connect(self.refresh)
        session.model_changed.connect(self.refresh)
        self.list.selectionModel().currentChanged.connect(self.refresh)
        self.refresh()

    def _made_tools(self) -> list[QToolButton]:
        self.add = tool("plus", self.tr("Edit the selected layer") + "  Ctrl+Shift+E", size=24)
        self.again = tool("pencil", self.tr("Edit again") + "  Enter", size=24)
        self.earlier = tool("chevron-up", self.tr("Let it apply earlier") + "  Alt ↑", size=24)
        self.later = tool("chevron-down", self.tr("Let it apply later") + "  Alt ↓", size=24)
        self.remove = tool("trash-2", self.tr("Remove") + "  Del", size=24)
        self.add.clicked.connect(lambda: self._session.editing.ask(whole_layer(self._session)))
        self.again.clicked.connect(self.list.edit_again)
        self.earlier.clicked.connect(lambda: self.list.move_by(-1))
        self.later.clicked.connect(lambda: self.list.move_by(1))
        self.remove.clicked.connect(self.list.remove)
        return [self.add, self.again, self.earlier, self.later, self.remove]

    def refresh(self) -> None:
        """Show the list or why it is empty, and enable what can be done."""
        count, row = len(self._session.editing.listed), self.list.currentIndex().row()
        self._empty.show_content(bool(count))
        self.add.setEnabled(self._session.model is not None)
        self.again.setEnabled(row >= 0)
        self.remove.setEnabled(row >= 0)
        self.earlier.setEnabled(row > 0)
        self.later.setEnabled(0 <= row < count - 1)
