"""With more inputs than colours, curves of one colour have unlike lines, and the legend shows which."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.line_styles import styles_of
from hookviewer.gui.session import Session
from hookviewer.gui.state import COLOURS
from hookviewer.gui.theme import set_theme


def test_eight_inputs_have_eight_curves_that_can_be_told_apart(qtbot: QtBot) -> None:
    session = Session()
    session.set_model(Tiny().eval())
    session.add_inputs([picture(seed) for seed in range(8)])
    settled(qtbot, session)
    panel = LayerPanel(session)
    qtbot.addWidget(panel)
    panel.resize(1600, 260)
    panel.show()
    panel.refresh()
    numbers = [item.number for item in session.inputs]
    styles = styles_of(session.items)
    assert [styles[number] for number in numbers] == ["solid"] * COLOURS + ["dash"] * 2
    pens = [line.opts["pen"] for line, _ in panel.plot._lines]
    looks = Counter((pen.color().name(), pen.style()) for pen in pens)
    assert len(looks) == 8
    assert {style for _, style in looks} == {Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine}
    assert [entry[3] for entry in panel.legend.entries] == ["solid"] * COLOURS + ["dash"] * 2
    session.close()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_legend_paints_a_piece_of_the_dashed_line(qtbot: QtBot, name: str) -> None:
    from hookviewer.gui.legend import Legend

    set_theme(name)
    legend = Legend()
    qtbot.addWidget(legend)
    legend.resize(300, 20)
    painted = {}
    for style in ("solid", "dash", "dot"):
        legend.show_entries([(7, "", "", style)])
        image = legend.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
        pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
        ground = pixels[-1, -1, :3].astype(int)
        near = np.abs(pixels[:, :30, :3].astype(int) - ground).sum(axis=2) > 40
        row = near[near.sum(axis=1).argmax()]
        painted[style] = int((np.diff(row.astype(int)) == 1).sum()) + int(row[0])
    assert painted["solid"] == 1
    assert painted["dot"] > painted["dash"] > 1
