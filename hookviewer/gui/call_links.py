"""The way from a module that is never called to the functional call that uses its weights."""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from hookviewer.gui import parts
from hookviewer.gui.columns import WallState
from hookviewer.gui.session import Session

_USED_BY = re.compile(r"used directly by (\S*:\w+#\d+)\.")
_USED = "uses its parameters directly"


def call_named(reason: str) -> str:
    """Return the path of the functional call that a reason names, or nothing."""
    found = _USED_BY.search(reason)
    return found[1] if found else ""


class CallLink(QWidget):
    """A row with a link under the wall's controls, in sight only where the reason names a call.

    Where functional calls are not listed, it offers to list them.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._call = ""
        self.link = parts.button("", "plain")
        self.link.setObjectName("call_link")
        self.link.setCursor(Qt.CursorShape.PointingHandCursor)
        self.link.clicked.connect(self._follow)
        self.setLayout(parts.row(self.link, None, margins=(10, 0, 10, 6)))
        self.hide()

    def show_state(self, wall: WallState) -> None:
        """Offer the way on from the first reason that names a call."""
        reasons = [column.reason for column in wall.columns if column.maps is None]
        self._call = next(filter(None, map(call_named, reasons)), "")
        used = any(_USED in reason for reason in reasons) and not self._session.calls.on
        self.link.setText(
            _tr("Go to the call that uses its weights: {}").format(self._call)
            if self._call
            else _tr("List functional calls to see which one uses its weights")
        )
        self.setVisible(bool(self._call) or used)

    def _follow(self) -> None:
        if self._call:
            self._session.select(path=self._call)
        else:
            self._session.calls.set_on(True)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Wall", text)
