"""Every word of the wall and the inspector can be translated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot
from wall_nets import walls

from hookviewer.gui.inspector import Inspector
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.wall import WallPanel
from hookviewer.render import COLORMAPS


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Callable[..., tuple[Session, WallPanel]]]:
    """Make walls."""
    yield from walls(qtbot)


class Hidden(QTranslator):
    """A language without Latin letters: what is still readable did not go through `tr()`."""

    def translate(self, context: str, text: str, comment: str | None = None, n: int = -1) -> str:
        return re.sub(r"[A-Za-z]", "░", text)


def _said(widget: QWidget) -> set[str]:
    """Every visible word of a widget and of all in it."""
    found = set()
    for one in [widget, *widget.findChildren(QWidget)]:
        if one.objectName().startswith("qt_"):
            continue
        found |= {one.toolTip(), one.accessibleName()}
        if isinstance(one, QLabel | QAbstractButton):
            found.add(one.text())
        if isinstance(one, QComboBox):
            found |= {one.itemText(place) for place in range(one.count())}
    return found


@pytest.mark.parametrize("shown", list(Shown))
def test_every_word_of_wall_and_inspector_can_be_translated(qtbot: QtBot, make, shown: Shown) -> None:
    translator = Hidden()
    QApplication.installTranslator(translator)
    try:
        session, panel = make(2)
        panel.toggle_difference()
        session.tick(("fc",), False)  # why Grad-CAM does not suit it is the engine's sentence
        session.select(shown=shown, cell=(1, 1))
        inspector = Inspector(session)
        qtbot.addWidget(inspector)
        inspector.refresh_slow()
        data = {"conv", "relu", "fc", "model", "input1", "input2", "Conv2d", "ReLU", "Linear", "float32"}
        data |= {"Esc", "Ctrl", "C", "D", "S", "G", "Z", "O", "L", "A", "B", "x", "y", "c", *COLORMAPS}
        data |= {"kernel_size", "stride", "padding", "CET", "D1A", "Net", "class"}
        said = " ".join(_said(panel) | _said(inspector))
        words = set(re.findall(r"[A-Za-z]\w+", said))
        assert words - data == set()
    finally:
        QApplication.removeTranslator(translator)
