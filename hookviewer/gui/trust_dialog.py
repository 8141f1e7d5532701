"""The question before code from a file is run: which file, which content, what it would do."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLabel, QWidget

from hookviewer.gui.parts import Item, button, column, frame, icon_label, label, row
from hookviewer.gui.theme import SEMIBOLD, scaled
from hookviewer.sources import TrustNeeded
from hookviewer.sources.wording import shown

MOST_NAMES = 8
WIDTH = 560


class TrustDialog(QDialog):
    """Asks for a yes to the content of one file; No is what Esc and Enter mean."""

    allowed = Signal()

    def __init__(self, question: TrustNeeded, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trust_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Run code from a file?"))
        self.question = question
        self.yes = button(self.tr("Load it"))
        self.yes.setObjectName("trust_yes")
        self.no = button(self.tr("Do not load it"), "primary")
        self.no.setObjectName("trust_no")
        self.no.setDefault(True)
        self.yes.setAutoDefault(False)
        self.yes.clicked.connect(self._on_yes)
        self.no.clicked.connect(self.reject)
        self._lay_out()
        self.no.setFocus()

    def _lay_out(self) -> None:
        name = shown(self.question.path.name, 120)
        head = label(self.tr("Loading {} can run code").format(name), "", 16, weight=SEMIBOLD)
        text = self._long(
            self.tr(
                "It is a program that builds objects, and hookviewer has not run it. Load it only if you "
                "know who made it; a state dict (.safetensors) never needs this question."
            )
        )
        remembered = self._long(
            self.tr("A yes is remembered for this content only: another file, or a changed one, asks again.")
        )
        remembered.setProperty("role", "caption")
        facts: list[Item] = [
            *(label(self.tr("File"), "caption", 11), self._code(shown(self.question.path, 400)), 8),
            *(label("SHA-256", "caption", 11), self._code(self.question.sha256), 8),
            *(label(self.tr("What it would import"), "caption", 11), self._code(self._names())),
        ]
        card = frame(column(*facts, spacing=2, margins=(16, 12, 16, 12)), "card")
        top = row(icon_label("triangle-alert", "warn"), head, None, spacing=10)
        buttons = row(None, self.yes, self.no, spacing=8)
        self.setLayout(column(top, 10, text, 14, card, 10, remembered, 18, buttons, margins=(24, 20, 24, 20)))
        self.setFixedWidth(scaled(WIDTH))

    def _names(self) -> str:
        names = self.question.names
        if not names:
            return self.tr("Nothing was found in it, which proves nothing.")
        more = len(names) - MOST_NAMES
        lines = [shown(name, 80) for name in names[:MOST_NAMES]]
        return "\n".join([*lines, *([self.tr("and {} more").format(more)] if more > 0 else [])])

    def _long(self, text: str) -> QLabel:
        made = label(text, "second")
        made.setWordWrap(True)
        return made

    def _code(self, text: str) -> QLabel:
        made = label(_breakable(text), "", 11, mono=True)
        made.setWordWrap(True)
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return made

    def _on_yes(self) -> None:
        self.allowed.emit()
        self.accept()


def _breakable(text: str) -> str:
    """Return long names with places to break them, which are not seen."""
    return text.replace("/", "/\u200b").replace("\\", "\\\u200b") if len(text) > 60 else text
