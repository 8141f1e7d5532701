"""Small pieces that every panel is made of: labels, keys, lone icons, segments, hairlines, rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from hookviewer.gui.icons import set_icon
from hookviewer.gui.theme import MEDIUM, SEMIBOLD, font, scaled

Item = QWidget | QLayout | int | None


def label(
    text: str = "",
    role: str = "",
    size: float = 12,
    *,
    mono: bool = False,
    weight: QFont.Weight | None = None,
) -> QLabel:
    """Return a line of text; `role` is `caption`, `second`, `strong`, `warn`, `ok` or `error`."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    usual = SEMIBOLD if role == "strong" else QFont.Weight.Normal
    made.setFont(font("mono" if mono else "ui", size, weight or usual))
    made.setProperty("role", role)
    return made


def key(text: str) -> QLabel:
    """Return the picture of a key."""
    made = label(text, "key", 10)
    made.setFixedHeight(scaled(17))
    made.setMinimumWidth(scaled(17))
    made.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return made


def icon_label(name: str, token: str = "text_3") -> QLabel:
    """Return an icon that stands beside words."""
    made = QLabel()
    set_icon(made, name, token)
    return made


def tool(name: str, tip: str, *, checkable: bool = False, size: int = 26) -> QToolButton:
    """Return a lone icon to press; the tip is its accessible name too."""
    made = QToolButton()
    set_icon(made, name)
    made.setIconSize(QSize(16, 16))
    made.setFixedSize(size, size)
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setCheckable(checkable)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made


def button(text: str, role: str = "") -> QPushButton:
    """Return a button with words; `role` is `primary` (filled), `plain` (a link) or none."""
    made = QPushButton(text)
    made.setProperty("role", role)
    made.setFont(font("ui", 12, SEMIBOLD if role == "primary" else MEDIUM))
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made


def rule(length: int = 0) -> QFrame:
    """Return a hairline: horizontal, or vertical of a `length`."""
    made = QFrame()
    made.setObjectName("rule")
    if length:
        made.setFixedSize(1, length)
    else:
        made.setFixedHeight(1)
    return made


def _filled(
    layout: QBoxLayout, items: Sequence[Item], spacing: int, margins: tuple[int, int, int, int]
) -> None:
    layout.setSpacing(spacing)
    layout.setContentsMargins(*margins)
    for item in items:
        if item is None:
            layout.addStretch(1)
        elif isinstance(item, int):
            layout.addSpacing(item)
        elif isinstance(item, QLayout):
            layout.addLayout(item)
        else:
            layout.addWidget(item)


def row(*items: Item, spacing: int = 6, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QHBoxLayout:
    """Return a row of widgets and layouts; a number is a gap, None takes the room that is left."""
    made = QHBoxLayout()
    _filled(made, items, spacing, margins)
    return made


def column(*items: Item, spacing: int = 0, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QVBoxLayout:
    """Return a column of widgets and layouts; a number is a gap, None takes the room that is left."""
    made = QVBoxLayout()
    _filled(made, items, spacing, margins)
    return made


def restyle(widget: QWidget, sheet: str) -> None:
    """Give a widget a stylesheet; the same one again costs nothing."""
    if widget.styleSheet() != sheet:
        widget.setStyleSheet(sheet)


def frame(layout: QLayout, name: str = "") -> QFrame:
    """Return a frame around a layout; `name` chooses its look (`panel`, `card`, `panelBody`)."""
    made = QFrame()
    made.setObjectName(name)
    made.setLayout(layout)
    return made


class Segmented(QFrame):
    """One of a few choices, all in sight."""

    changed = Signal(int)

    def __init__(self, names: Sequence[str], parent: QWidget | None = None, *, height: int = 28) -> None:
        super().__init__(parent)
        self.setProperty("role", "segmented")
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.group = QButtonGroup(self)
        self.buttons = [self._segment(number, name) for number, name in enumerate(names)]
        self.setLayout(row(*self.buttons, spacing=0))
        self.buttons[0].setChecked(True)
        self.group.idClicked.connect(self.changed)

    @property
    def index(self) -> int:
        """Which segment is chosen."""
        return self.group.checkedId()

    def choose(self, index: int) -> None:
        """Choose a segment without telling of it."""
        self.buttons[index].setChecked(True)

    def _segment(self, number: int, name: str) -> QToolButton:
        made = QToolButton(self)
        made.setText(name)
        made.setFont(font("ui", 12, MEDIUM))
        made.setCheckable(True)
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.group.addButton(made, number)
        return made
