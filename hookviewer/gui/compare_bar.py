"""The line in the panel of layers that says where two columns first go apart."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from hookviewer.gui import parts
from hookviewer.gui.compare_diverging import Found
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.icons import set_icon
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled


class DivergenceBar(QFrame):
    """A sentence, a button that opens the layer it is about, and one that takes it away."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("divergence")
        self._session = session
        self.sign = parts.icon_label("scan-eye", "accent")
        self.said = Elided(size=12)
        self.open = parts.button(self.tr("Open the layer"))
        self.stop = parts.button(self.tr("Stop"))
        self.away = parts.tool("x", self.tr("Take the result away"), size=24)
        layout = parts.row(
            self.sign, self.said, self.open, self.stop, self.away, spacing=8, margins=(12, 2, 8, 2)
        )
        layout.setStretchFactor(self.said, 1)
        self.setLayout(layout)
        self.setFixedHeight(scaled(36))
        self.open.clicked.connect(session.diverging.open)
        self.stop.clicked.connect(session.diverging.stop)
        self.away.clicked.connect(session.diverging.forget)
        session.diverging.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the result, or that it is being looked for."""
        diverging = self._session.diverging
        found = diverging.found
        self.setVisible(diverging.looking or found is not None)
        self.stop.setVisible(diverging.looking)
        self.away.setVisible(found is not None)
        self.open.setVisible(found is not None and found.divergence.first is not None)
        if found is not None:
            first = found.divergence.first
            tone = "ok" if first is None else "warn"
            set_icon(self.sign, "circle-check" if first is None else "triangle-alert", tone)
            self.said.say(self._sentence(found), found.divergence.sentence)
        elif diverging.looking:
            set_icon(self.sign, "scan-eye", "accent")
            self.said.say(self.tr("Both columns are run, every module's inputs and outputs are compared …"))

    def _sentence(self, found: Found) -> str:
        names = self.tr("{} against {}").format(found.item.title, found.reference.title)
        notes = " ".join(found.divergence.notes)
        return " ".join(filter(None, (f"{names}: {found.divergence.sentence}", notes)))
