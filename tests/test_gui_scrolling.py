"""An area that scrolls keeps the width of its content, whatever the height does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget
from pytestqt.qtbot import QtBot

from hookviewer.gui.parts import column, frame
from hookviewer.gui.scrolling import ScrollDown


class Map(QWidget):
    """As a picture: its height follows its width."""

    def __init__(self) -> None:
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return 2 * width

    def sizeHint(self) -> QSize:
        return QSize(100, 2 * max(self.width(), 100))


@pytest.mark.parametrize("width", [120, 200])
def test_the_bar_that_comes_and_goes_leaves_the_content_as_wide_as_it_was(width: int, qtbot: QtBot) -> None:
    content = Map()
    area = ScrollDown(frame(column(content)))
    qtbot.addWidget(area)
    area.show()
    widths, able = set(), set()
    for height in range(2 * width - 40, 2 * width + 41, 2):
        area.resize(width, height)
        QApplication.processEvents()
        widths.add(content.width())
        able.add(area.verticalScrollBar().isEnabled())
    assert widths == {width - area.verticalScrollBar().width()}
    assert able == {True, False}
