"""Columns of other models: checkpoints, dtypes, and networks whose layers are matched."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from gui_compared import tick, values
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.compare_panel import ComparePanel
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Variant
from hookviewer.gui.varying import Vary
from hookviewer.gui.wall import WallPanel


@pytest.fixture
def session(qtbot: QtBot) -> Session:
    made = Session()
    made.set_model(Tiny().eval())
    made.add_inputs([picture(0)])
    made.select(path="stem.1")
    settled(qtbot, made)
    yield made
    made.close()


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> ComparePanel:
    made = ComparePanel(session)
    qtbot.addWidget(made)
    return made


def test_what_cannot_be_run_says_why_in_its_column(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    session.set_variants((PLAIN, Variant(-1, "other", (("weights", str(tmp_path / "none.pt")),))))
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    settled(qtbot, session)
    wall.refresh()
    assert "none.pt" in wall.wall.columns[1].reason
    assert wall.wall.columns[0].maps is not None


@pytest.fixture
def opened(session: Session, tmp_path: Path, qtbot: QtBot) -> Session:
    """A session with a network that can be opened again, and four files of weights beside it."""
    code = tmp_path / "net.py"
    code.write_text(
        "import torch\nfrom torch import nn\n\n"
        "def net():\n    torch.manual_seed(0)\n"
        "    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(),"
        " nn.Conv2d(4, 5, 3, padding=1))\n\n"
        "def wide():\n    torch.manual_seed(1)\n"
        "    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.Identity(), nn.ReLU(),"
        " nn.Conv2d(4, 5, 3, padding=1))\n"
    )
    folder = tmp_path / "steps"
    folder.mkdir()
    for step in (100, 200, 1000):
        torch.manual_seed(step)
        net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 5, 3, padding=1))
        torch.save(net.state_dict(), folder / f"step_{step}.pt")
    torch.save({"other": torch.zeros(2)}, folder / "step_2000.pt")
    session.open_model(f"{code}:net")
    qtbot.waitUntil(lambda: session.card is not None and str(code) in session.card.spec, timeout=20_000)
    session.select(path="2")
    settled(qtbot, session)
    return session


def test_a_converted_copy_gives_a_column_and_the_open_model_stays(
    qtbot: QtBot, session: Session, panel: ComparePanel
) -> None:
    before = {name: value.clone() for name, value in session.model.state_dict().items()}
    tick(qtbot, panel, Vary.DTYPE, "bfloat16")
    a, b = values(session, 0, "stem.1"), values(session, 1, "stem.1")
    assert (a.dtype, b.dtype) == (torch.float32, torch.bfloat16)
    assert 0 < float((a - b.float()).abs().max()) < 0.1
    for name, value in session.model.state_dict().items():
        assert value.dtype == before[name].dtype
        assert torch.equal(value, before[name])
    assert session.variant_models.count == 1
    qtbot.mouseClick(panel.none, Qt.MouseButton.LeftButton)
    settled(qtbot, session)
    assert session.variant_models.count == 0


def test_the_slider_exchanges_the_file_of_the_last_column(
    qtbot: QtBot, opened: Session, panel: ComparePanel, tmp_path: Path
) -> None:
    opened.varying.open_folder(str(tmp_path / "steps"))
    panel.kinds.setCurrentRow(list(Vary).index(Vary.CHECKPOINTS))
    names = [box.text() for box in panel.boxes if not box.isHidden()]
    assert [name.partition(".")[0] for name in names[1:]] == [
        "step_100",
        "step_200",
        "step_1000",
        "step_2000",
    ]
    tick(qtbot, panel, Vary.CHECKPOINTS, names[1])
    panel.slider.setFocus()
    qtbot.keyClick(panel.slider, Qt.Key.Key_Right)
    settled(qtbot, opened)
    assert [item.variant.name for item in opened.ticked_inputs] == ["", names[2]]
    weights = torch.load(tmp_path / "steps" / "step_200.pt")
    x = picture(0).args[0]
    hidden = torch.relu(torch.conv2d(x, weights["0.weight"], weights["0.bias"], padding=1))
    expected = torch.conv2d(hidden, weights["2.weight"], weights["2.bias"], padding=1)
    torch.testing.assert_close(values(opened, 1, "2"), expected)
    assert panel.step.text() == "step 200"


def test_weights_that_do_not_fit_say_so_in_their_column(
    qtbot: QtBot, opened: Session, panel: ComparePanel, tmp_path: Path
) -> None:
    opened.varying.open_folder(str(tmp_path / "steps"))
    panel.refresh()
    panel.kinds.setCurrentRow(list(Vary).index(Vary.CHECKPOINTS))
    tick(qtbot, panel, Vary.CHECKPOINTS, [box.text() for box in panel.boxes if not box.isHidden()][-1])
    wall = WallPanel(opened)
    qtbot.addWidget(wall)
    wall.refresh()
    first, second = wall.wall.columns[:2]
    assert first.maps is not None
    assert second.maps is None
    assert "weight" in second.reason
    assert "Run (F5)" not in second.reason


def test_layers_of_another_model_are_matched_and_can_be_chosen_by_hand(
    qtbot: QtBot, opened: Session, panel: ComparePanel, tmp_path: Path
) -> None:
    panel.kinds.setCurrentRow(list(Vary).index(Vary.MODELS))
    panel.show()
    panel.spec.setText(f"{tmp_path / 'net.py'}:wide")
    qtbot.mouseClick(panel.add, Qt.MouseButton.LeftButton)
    settled(qtbot, opened)
    assert opened.selection.path == "2"
    torch.manual_seed(1)
    nets = [nn.Conv2d(3, 4, 3, padding=1), nn.Identity(), nn.ReLU(), nn.Conv2d(4, 5, 3, padding=1)]
    made = [picture(0).args[0]]
    for net in nets:
        made.append(net(made[-1]).detach())
    run = opened.runs[opened.ticked_inputs[1].number]
    assert run.renaming.there("2") == "3"  # path 2 is a ReLU there: the convolution of this shape is 3
    torch.testing.assert_close(values(opened, 1, "2"), made[4])
    wall = WallPanel(opened)
    qtbot.addWidget(wall)
    wall.resize(1500, 700)
    wall.show()
    wall.refresh()
    assert wall.lanes.columns[1].head.top.versions[0].startswith("3")
    panel.refresh()
    assert panel.match.box.currentData() == "3"
    panel.match.box.setCurrentIndex(panel.match.box.findData("0"))
    panel.match.box.activated.emit(panel.match.box.currentIndex())
    settled(qtbot, opened)
    torch.testing.assert_close(values(opened, 1, "2"), made[1])
    panel.refresh()
    assert panel.match.how.text() == "by hand"


def test_the_first_layer_that_goes_apart_is_named_and_opened(qtbot: QtBot, session: Session) -> None:
    session.set_variants((PLAIN, Variant(-1, "train", (("mode", "train"),))))
    layers = LayerPanel(session)
    qtbot.addWidget(layers)
    layers.resize(1300, 300)
    layers.show()
    settled(qtbot, session)
    layers.refresh()
    session.select(path="head")
    settled(qtbot, session)
    assert not layers.diverging.isHidden()
    qtbot.mouseClick(layers.diverging, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.diverging.found is not None, timeout=20_000)
    said = layers.divergence.said.toolTip()
    assert "stem.1" in said
    assert "producer" in said or "produces" in said or "makes" in said
    qtbot.mouseClick(layers.divergence.open, Qt.MouseButton.LeftButton)
    assert session.selection.path == "stem.1"
