"""The page of keys."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from hookviewer.gui.parts import column, frame, key, label, row, tool
from hookviewer.gui.theme import SEMIBOLD

_Keys = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

_KEYS = (
    (
        QT_TRANSLATE_NOOP("KeysPage", "Look"),
        (
            ("← → ↑ ↓", QT_TRANSLATE_NOOP("KeysPage", "step through channels")),
            ("[ ]", QT_TRANSLATE_NOOP("KeysPage", "layer before, layer after")),
            ("PgUp PgDn", QT_TRANSLATE_NOOP("KeysPage", "input before, input after")),
            ("G", QT_TRANSLATE_NOOP("KeysPage", "output, gradient, product, CAM")),
            ("Z", QT_TRANSLATE_NOOP("KeysPage", "fit; a double click too")),
            ("F", QT_TRANSLATE_NOOP("KeysPage", "fill the width, or fit all")),
            ("+ −", QT_TRANSLATE_NOOP("KeysPage", "zoom at the cursor; wheel and pinch too")),
            ("1", QT_TRANSLATE_NOOP("KeysPage", "one cell, one pixel")),
            ("#", QT_TRANSLATE_NOOP("KeysPage", "go to channel; 3, 7-12: only these")),
            ("O", QT_TRANSLATE_NOOP("KeysPage", "map, overlay, input")),
            ("L", QT_TRANSLATE_NOOP("KeysPage", "levels by arrow keys")),
            ("← → ↑ ↓", QT_TRANSLATE_NOOP("KeysPage", "attention: ask another token")),
            ("A H T", QT_TRANSLATE_NOOP("KeysPage", "attention: way, next head, all heads")),
        ),
    ),
    (
        QT_TRANSLATE_NOOP("KeysPage", "Compare"),
        (
            ("Ctrl K", QT_TRANSLATE_NOOP("KeysPage", "what columns differ in")),
            ("D", QT_TRANSLATE_NOOP("KeysPage", "difference")),
            ("Space", QT_TRANSLATE_NOOP("KeysPage", "blink A and B")),
            ("W", QT_TRANSLATE_NOOP("KeysPage", "swipe from A to B")),
            ("S", QT_TRANSLATE_NOOP("KeysPage", "sort")),
            ("P", QT_TRANSLATE_NOOP("KeysPage", "pin the channel to the front")),
            ("X", QT_TRANSLATE_NOOP("KeysPage", "hide dead channels")),
            ("Ctrl C", QT_TRANSLATE_NOOP("KeysPage", "copy picture")),
            ("Ctrl E", QT_TRANSLATE_NOOP("KeysPage", "export")),
            ("Ctrl T", QT_TRANSLATE_NOOP("KeysPage", "tick this module")),
        ),
    ),
    (
        QT_TRANSLATE_NOOP("KeysPage", "Run and window"),
        (
            ("F5", QT_TRANSLATE_NOOP("KeysPage", "run")),
            ("Esc", QT_TRANSLATE_NOOP("KeysPage", "stop, or close a message")),
            ("Ctrl F", QT_TRANSLATE_NOOP("KeysPage", "filter modules")),
            ("Ctrl O", QT_TRANSLATE_NOOP("KeysPage", "open model")),
            ("Ctrl I", QT_TRANSLATE_NOOP("KeysPage", "add input")),
            ("Ctrl V", QT_TRANSLATE_NOOP("KeysPage", "paste picture or file")),
            ("Ctrl Shift G", QT_TRANSLATE_NOOP("KeysPage", "target of the gradients")),
            ("Ctrl P", QT_TRANSLATE_NOOP("KeysPage", "preprocessing")),
            ("Ctrl PgUp PgDn", QT_TRANSLATE_NOOP("KeysPage", "file before, next in its folder")),
            ("Ctrl Z", QT_TRANSLATE_NOOP("KeysPage", "undo")),
            ("Ctrl R", QT_TRANSLATE_NOOP("KeysPage", "reload model")),
            ("Ctrl Shift E", QT_TRANSLATE_NOOP("KeysPage", "edit this layer")),
            ("Ctrl 1 2 3", QT_TRANSLATE_NOOP("KeysPage", "side panels")),
            ("F1", QT_TRANSLATE_NOOP("KeysPage", "how hooks work: lessons to try")),
            ("?", QT_TRANSLATE_NOOP("KeysPage", "this page")),
        ),
    ),
)

KEYS = cast(_Keys, _KEYS)
"""Per column of the page: its title, and keys with what they do."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("KeysPage", text)


class KeysPage(QFrame):
    """Three columns of keys and what they do."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("overlayPage")
        cross = tool("x", _tr("Close") + "  Esc")
        cross.clicked.connect(self.closed)
        head = row(label(_tr("Keys"), "", 16, weight=SEMIBOLD), None, cross)
        blocks = [_block(title, rows) for title, rows in KEYS]
        self.setLayout(column(head, 12, row(*blocks, spacing=36), margins=(24, 18, 24, 22)))


def _block(title: str, rows: tuple[tuple[str, str], ...]) -> QWidget:
    grid = QGridLayout()
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(7)
    for place, (keys, words) in enumerate(rows):
        grid.addLayout(row(*[key(one) for one in keys.split()], None, spacing=3), place, 0)
        grid.addWidget(label(_tr(words), "second"), place, 1)
    grid.setColumnMinimumWidth(0, 96)
    grid.setColumnStretch(1, 1)
    return frame(column(label(_tr(title), "strong"), 10, grid, None))
