"""What tests of comparing do in the panel, and read off the runs."""

from __future__ import annotations

import torch
from gui_nets import settled
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from hookviewer.gui.compare_panel import ComparePanel
from hookviewer.gui.session import Session
from hookviewer.gui.varying import Vary
from hookviewer.kinds import Kind


def tick(qtbot: QtBot, panel: ComparePanel, vary: Vary, name: str) -> None:
    panel.kinds.setCurrentRow(list(Vary).index(vary))
    box = next(one for one in panel.boxes if one.text() == name and not one.isHidden())
    panel.show()
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    settled(qtbot, panel._session)


def values(session: Session, column: int, path: str) -> torch.Tensor:
    number = session.ticked_inputs[column].number
    return session.runs[number].recording.record(path, Kind.OUTPUT).tensor()
