"""Messages in place: a line that says what happened and what to do now, never a dialog in the way."""

from __future__ import annotations

import html
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from hookviewer.gui.focus import hand_back
from hookviewer.gui.guard import guarded
from hookviewer.gui.parts import button, icon_label, row, tool
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Offer
from hookviewer.gui.theme import font, keeper, theme

MOST_BARS = 3
MOST_OFFERS = 2
PASSING_MS = {"ok": 6000, "info": 9000}
_ICONS = {
    "error": ("circle-alert", "error"),
    "warn": ("triangle-alert", "warn"),
    "info": ("info", "accent"),
    "busy": ("refresh-cw", "accent"),
    "ok": ("circle-check", "ok"),
}


class MessageBar(QFrame):
    """One message: 3 px of its tone at the left, what in bold, what now, at most two actions and a cross."""

    closed = Signal(object)

    def __init__(self, message: Message, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.message = message
        self.count = 1
        icon, _ = _ICONS.get(message.tone, _ICONS["info"])
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setFont(font("ui", 12))
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._say()
        self.buttons: list[QPushButton] = []
        for offer in message.offers[:MOST_OFFERS]:
            self._offer(offer.words, partial(self._take, offer))
        if message.undo is not None:
            self._offer(self.tr("Undo"), self._undo)
        if message.report:
            self._offer(self.tr("Copy report"), self._copy)
        self.cross = tool("x", self.tr("Close") + "  Esc", size=24)
        self.cross.clicked.connect(self.close_bar)
        mark = icon_label(icon, _ICONS.get(message.tone, _ICONS["info"])[1])
        layout = row(mark, 2, self.text, *self.buttons, self.cross, spacing=4, margins=(13, 6, 8, 6))
        layout.setStretch(2, 1)
        self.setLayout(layout)
        self.setAccessibleName(f"{message.what} {message.now}")
        keeper().changed.connect(self.update)
        if message.tone in PASSING_MS and not self.buttons:
            QTimer.singleShot(PASSING_MS[message.tone], self, self.close_bar)

    def again(self) -> None:
        """Count the same message once more instead of stacking it."""
        self.count += 1
        self._say()

    def close_bar(self) -> None:
        """Take the message away."""
        self.closed.emit(self)

    def _say(self) -> None:
        times = f" ({self.count}×)" if self.count > 1 else ""
        what, now = html.escape(self.message.what), html.escape(self.message.now)
        self.text.setText(f"<b>{what}</b>{times} {now}")

    def _offer(self, words: str, act: object) -> None:
        made = button(words, "plain")
        made.clicked.connect(act)
        self.buttons.append(made)

    def _take(self, offer: Offer) -> None:
        self.close_bar()
        offer.does()

    def _undo(self) -> None:
        if self.message.undo is not None:
            self.message.undo()
        self.close_bar()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.message.report)
        self.buttons[-1].setText(self.tr("Copied"))

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        colours, tone = theme(), self.message.tone
        ink = colours[_ICONS.get(tone, _ICONS["info"])[1]]
        tint = colours[f"{tone}_tint" if f"{tone}_tint" in colours.token else "info_tint"]
        painter = QPainter(self)
        painter.fillRect(self.rect(), tint)
        painter.fillRect(0, 0, 3, self.height(), QColor(ink))


class MessageStack(QFrame):
    """The messages of a session, the latest on top; Esc closes it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messages")
        self._session = session
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(1)
        self.bars: list[MessageBar] = []
        self._earlier: frozenset[MessageBar] = frozenset()
        """What was there when the latest try to open a model began."""
        session.message_told.connect(self._on_message_told)
        session.busy_changed.connect(self._on_busy_changed)
        session.model_changed.connect(self._on_model_changed)
        self.hide()

    def close_latest(self) -> bool:
        """Close the latest message; return whether there was one."""
        if not self.bars:
            return False
        self._close(self.bars[0])
        return True

    def _on_message_told(self, message: Message) -> None:
        self._close_tone("busy")
        if message.tone == "busy":
            self._earlier = frozenset(self.bars)
        else:
            self._close_outdated(message)
        same = [
            bar for bar in self.bars if (bar.message.what, bar.message.now) == (message.what, message.now)
        ]
        if same:
            same[0].again()
            return
        bar = MessageBar(message)
        bar.closed.connect(self._close)
        self.bars.insert(0, bar)
        self._layout.insertWidget(0, bar)
        for old in self.bars[MOST_BARS:]:
            self._close(old)
        self.show()

    def _close_outdated(self, message: Message) -> None:
        """Take away how earlier tries failed, now that the latest one did, too."""
        for bar in self._earlier & frozenset(self.bars):
            if bar.message.tone == message.tone == "error" and bar.message.what == message.what:
                self._close(bar)

    def _on_busy_changed(self, busy: bool) -> None:
        if not busy:
            self._close_tone("busy")

    def _on_model_changed(self) -> None:
        for tone in ("busy", "error", "warn"):
            self._close_tone(tone)
        for bar in [bar for bar in self.bars if bar.message.offers]:  # they were about the model before
            self._close(bar)

    def _close_tone(self, tone: str) -> None:
        for bar in [bar for bar in self.bars if bar.message.tone == tone]:
            self._close(bar)

    def _close(self, bar: MessageBar) -> None:
        if bar in self.bars:
            self.bars.remove(bar)
            self._layout.removeWidget(bar)
            hand_back(bar)
            bar.hide()
            bar.deleteLater()
        if not self.bars:
            self.hide()
