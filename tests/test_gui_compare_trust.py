"""A folder of checkpoints, some of them pickled: nothing of a file runs before a yes to its content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from gui_compared import tick, values
from gui_nets import picture, settled
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.compare_panel import ComparePanel
from hookviewer.gui.opening import Opening
from hookviewer.gui.session import Session
from hookviewer.gui.trust_dialog import TrustDialog
from hookviewer.gui.varying import Vary
from hookviewer.gui.wall import WallPanel
from hookviewer.sources import trust


class MakesAFolder:
    """Unpickling it makes a folder: what a harmful file could do."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.folder,)


def net(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU())


@pytest.fixture
def sign(tmp_path: Path) -> Path:
    """What is there when a file has run."""
    return tmp_path / "it ran"


@pytest.fixture
def session(qtbot: QtBot, tmp_path: Path, sign: Path) -> Iterator[Session]:
    folder = tmp_path / "steps"
    folder.mkdir()
    torch.save(net(1).state_dict(), folder / "step_1.pt")
    torch.save({"model": net(2).state_dict(), "loop": MakesAFolder(sign)}, folder / "step_2.pt")
    made = Session()
    made.set_model(net(0).eval())
    made.add_inputs([picture(0), picture(1)])
    made.select(path="0")
    settled(qtbot, made)
    made.varying.open_folder(str(folder))
    yield made
    made.close()


@pytest.fixture
def window(qtbot: QtBot, session: Session) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    made.opening = Opening(session, made)  # it asks what has to be decided
    return made


@pytest.fixture
def panel(qtbot: QtBot, session: Session, window: QWidget) -> ComparePanel:
    made = ComparePanel(session)
    qtbot.addWidget(made)
    return made


def asked(qtbot: QtBot, window: QWidget) -> TrustDialog:
    """Wait for the question, and return it: there is one, however many inputs are run."""
    qtbot.waitUntil(lambda: any(one.isVisible() for one in window.findChildren(TrustDialog)), timeout=10_000)
    shown = [one for one in window.findChildren(TrustDialog) if one.isVisible()]
    assert len(shown) == 1
    return shown[0]


def test_a_usual_checkpoint_is_not_asked_about(
    qtbot: QtBot, session: Session, window: QWidget, panel: ComparePanel
) -> None:
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_1.pt")
    assert window.findChildren(TrustDialog) == []
    torch.testing.assert_close(values(session, 1, "0"), net(1)[0](picture(0).args[0]).detach())


def test_no_is_the_usual_answer_and_leaves_the_column_empty_with_its_reason(
    qtbot: QtBot, session: Session, window: QWidget, panel: ComparePanel, sign: Path
) -> None:
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    dialog = asked(qtbot, window)
    assert not panel.isVisible()  # it would lie over the question
    assert "step_2.pt" in dialog.question.path.name
    assert any("mkdir" in name for name in dialog.question.names)
    assert dialog.no.isDefault()
    assert not sign.exists()
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    settled(qtbot, session)
    assert not sign.exists()
    assert trust.trusted() == frozenset()
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    wall.refresh()
    columns = wall.wall.columns
    assert columns[0].maps is not None
    assert columns[1].maps is None
    assert (
        columns[1].reason == "step_2.pt was not loaded, since it could run code: choose it again to decide."
    )
    session.select(path="1")  # a further run of the same columns does not ask again
    settled(qtbot, session)
    qtbot.wait(50)
    assert not any(one.isVisible() for one in window.findChildren(TrustDialog))
    assert not sign.exists()


def test_choosing_it_again_asks_again_and_a_yes_runs_all_inputs(
    qtbot: QtBot, session: Session, window: QWidget, panel: ComparePanel, sign: Path
) -> None:
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    qtbot.keyClick(asked(qtbot, window), Qt.Key.Key_Escape)
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    dialog = asked(qtbot, window)
    assert not sign.exists()
    qtbot.mouseClick(dialog.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: all(
            item.number in session.runs and session.runs[item.number].error is None
            for item in session.ticked_inputs
        ),
        timeout=10_000,
    )
    settled(qtbot, session)
    assert sign.exists()
    assert len(trust.trusted()) == 1
    for column, seed in ((1, 0), (3, 1)):
        torch.testing.assert_close(values(session, column, "0"), net(2)[0](picture(seed).args[0]).detach())


def test_a_yes_is_for_the_content_and_a_changed_file_asks_again(
    qtbot: QtBot, session: Session, window: QWidget, panel: ComparePanel, sign: Path, tmp_path: Path
) -> None:
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    qtbot.mouseClick(asked(qtbot, window).yes, Qt.MouseButton.LeftButton)
    settled(qtbot, session)
    sign.rmdir()
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    file = tmp_path / "steps" / "step_2.pt"
    torch.save({"model": net(3).state_dict(), "loop": MakesAFolder(sign)}, file)
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    dialog = asked(qtbot, window)
    assert not sign.exists()
    dialog.reject()
