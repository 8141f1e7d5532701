"""The five likeliest classes of the current input, as bars in its colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from hookviewer.gui import likely
from hookviewer.gui.before_after import changes
from hookviewer.gui.guard import guarded
from hookviewer.gui.session import Session
from hookviewer.gui.state import Guess
from hookviewer.gui.theme import font, keeper, scaled, theme

ROW, HEAD = 20, 28
MOST = 5


class TopClasses(QFrame):
    """Painted as a whole: a head, and a row per class. Hidden when the model says no classes."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.number, self.title = -1, ""
        self.guesses: tuple[Guess, ...] = ()
        self.after: tuple[float, ...] = ()
        """The probabilities with the edits that are in force, of the same classes."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for signal in (session.inputs_changed, session.runs_changed, session.selection_changed):
            signal.connect(self.refresh)
        session.editing.told.connect(self.refresh)
        keeper().changed.connect(self.update)
        self.refresh()

    def refresh(self) -> None:
        """Show the current input's classes."""
        before = (self.number, self.title, self.guesses, self.after)
        item = self._session.current_input
        run = self._session.runs.get(item.number) if item is not None else None
        self.number = item.number if item is not None else 0
        self.title = item.input.name if item is not None else ""
        self.guesses = run.guesses[:MOST] if run is not None else ()
        self.after = ()
        self._compare()
        if (self.number, self.title, self.guesses, self.after) == before:
            return
        self.setFixedHeight(scaled(HEAD + ROW * len(self.guesses) + 10))
        spoken = ", ".join(map(self.row_words, range(len(self.guesses))))
        self.setAccessibleName(self.tr("Top 5") + f" {self.title}: {spoken}")
        self.setToolTip(spoken)
        self.update()

    def _compare(self) -> None:
        """With edits in force, show the current input's classes without and with them."""
        session = self._session
        item = session.current_input
        pair = session.editing.pair(item.listed) if item is not None else None
        if pair is None:
            return
        before, after = (session.runs.get(one.number) for one in pair)
        found = changes(before, after, MOST)
        if found:
            self.number, self.edited = pair[0].number, pair[1].number
            self.guesses = tuple(one.guess for one in found)
            self.after = tuple(one.after for one in found)

    def row_words(self, place: int) -> str:
        """Return a class with its probability, or with both where there are edits."""
        guess = self.guesses[place]
        words = f"{guess.name} {likely.share(guess.share, 3)}"
        return f"{words} → {likely.share(self.after[place], 3)}" if self.after else words

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, right = 14, self.width() - 14
        painter.fillRect(1, 0, self.width() - 2, 1, colours["border"])
        painter.setFont(font("ui", 11))
        painter.setPen(colours["text_3"])
        head = QRectF(left, 4, right - left, scaled(HEAD) - 6)
        words = self.tr("Top 5, before → after") if self.after else self.tr("Top 5")
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, words)
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self.title)
        for place, guess in enumerate(self.guesses):
            area = QRectF(left, scaled(HEAD) + place * scaled(ROW), right - left, scaled(ROW))
            if self.after:
                self._paint_change(painter, area, guess, self.after[place])
            else:
                self._paint_row(painter, area, guess.name, guess.share, strong=place == 0)

    def _paint_change(self, painter: QPainter, area: QRectF, guess: Guess, after: float) -> None:
        colours, middle = theme(), Qt.AlignmentFlag.AlignVCenter
        strong = max(guess.share, after) >= max(*(one.share for one in self.guesses), *self.after) * 0.999
        painter.setFont(font("mono", 11))
        numbers = f"{likely.share(guess.share, 3)} → {likely.share(after, 3)}"
        width = painter.fontMetrics().horizontalAdvance("0.000 → 0.000") + 8
        painter.setPen(colours["text" if strong else "text_2"])
        painter.drawText(area, middle | Qt.AlignmentFlag.AlignRight, numbers)
        painter.setFont(font("ui", 12))
        room = int(area.width()) - width - 68
        shown = painter.fontMetrics().elidedText(guess.name, Qt.TextElideMode.ElideRight, max(room, 20))
        painter.drawText(area, middle, shown)
        painter.setPen(Qt.PenStyle.NoPen)
        for share, number, top in ((guess.share, self.number, -5), (after, self.edited, 1)):
            track = QRectF(area.right() - width - 60, area.center().y() + top, 56, 4)
            painter.setBrush(colours["bar_track"])
            painter.drawRoundedRect(track, 2, 2)
            if share > 0.002:
                painter.setBrush(colours.input(number))
                track.setWidth(max(3.0, track.width() * share))
                painter.drawRoundedRect(track, 2, 2)

    def _paint_row(self, painter: QPainter, area: QRectF, name: str, share: float, *, strong: bool) -> None:
        colours = theme()
        middle, end = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignRight
        painter.setPen(colours["text" if strong else "text_2"])
        painter.setFont(font("mono", 11))
        painter.drawText(area, middle | end, likely.share(share, 3))
        painter.setFont(font("ui", 12))
        room = int(area.width()) - scaled(44) - 96
        shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, max(room, 20))
        painter.drawText(area, middle, shown)
        track = QRectF(area.right() - scaled(44) - 80, area.center().y() - 2, 72, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours["bar_track"])
        painter.drawRoundedRect(track, 2, 2)
        if share > 0.002:
            painter.setBrush(colours.input(self.number))
            track.setWidth(max(3.0, track.width() * share))
            painter.drawRoundedRect(track, 2, 2)
