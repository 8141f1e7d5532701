"""Panels: docks with a flat title and rounded corners, and what an empty one says."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDockWidget, QFrame, QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QWidget

from hookviewer.gui.giving_way import Elided
from hookviewer.gui.icons import set_icon
from hookviewer.gui.parts import column, frame, icon_label, label, row
from hookviewer.gui.still import Still
from hookviewer.gui.theme import scaled

TITLE_HEIGHT = 36


class TitleBar(Still):
    """The title row of a panel; a dock asks it for its size hint only, a fixed height is not heard."""

    def __init__(self, layout: QHBoxLayout) -> None:
        layout.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        super().__init__(frame(layout, "panelTitle"))

    def sizeHint(self) -> QSize:
        return QSize(120, scaled(TITLE_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class Panel(QDockWidget):
    """A dock: icon, name and a caption in the title, tools at the right, a body in the panel's colour.

    `name` is the object name that the saved state of the window knows it by; `title` is what is read.
    """

    def __init__(
        self, name: str, title: str, icon: str, body: QWidget, tools: Sequence[QWidget | int] = ()
    ) -> None:
        super().__init__(title)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.heading = label(title, "strong")
        self.caption = Elided(role="caption", size=11)
        parts = (icon_label(icon), 2, self.heading, 2, self.caption, *tools)
        layout = row(*parts, spacing=4, margins=(12, 0, 6, 0))
        layout.setStretchFactor(self.caption, 1)
        self.heading.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.setTitleBarWidget(TitleBar(layout))
        self.setWidget(Still(frame(column(body, margins=(1, 0, 1, 1)), "panelBody")))

    def say(self, caption: str) -> None:
        """Show a count or a subject beside the title."""
        self.caption.say(caption)


class Empty(QFrame):
    """An empty place: an icon and the sentence that says why it is empty, and what fills it."""

    def __init__(self, icon: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        mark = QLabel()
        set_icon(mark, icon, "text_3")
        mark.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.sentence = label(sentence, "caption")
        self.sentence.setWordWrap(True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.sentence.setMaximumWidth(scaled(360))
        self.setLayout(column(None, mark, 8, row(16, self.sentence, 16), None, margins=(8, 8, 8, 8)))


class EmptyOr(QWidget):
    """A content, or in its place the sentence why there is none."""

    def __init__(self, content: QWidget, icon: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = Empty(icon, sentence)
        self._content = content
        self._stack = QStackedLayout(self)
        self._stack.addWidget(content)
        self._stack.addWidget(self.empty)

    def show_content(self, on: bool, sentence: str = "") -> None:
        """Show the content, or the place that is empty with its sentence."""
        if sentence:
            self.empty.sentence.setText(sentence)
        self._stack.setCurrentWidget(self._content if on else self.empty)
