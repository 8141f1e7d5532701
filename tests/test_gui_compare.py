"""Choosing what columns differ in: ticks in the panel become variants, and these become columns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gui_compared import tick, values
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from hookviewer.gui.compare_panel import ComparePanel
from hookviewer.gui.depth import METRICS
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Variant
from hookviewer.gui.varying import Vary
from hookviewer.gui.wall import WallPanel
from hookviewer.kinds import Kind


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


def test_a_tick_at_train_gives_a_column_of_batch_statistics(
    qtbot: QtBot, session: Session, panel: ComparePanel
) -> None:
    session.tick(["stem.0"], True)
    tick(qtbot, panel, Vary.MODE, "train")
    assert [item.title for item in session.ticked_inputs] == ["picture0", "picture0 · train"]
    before = values(session, 1, "stem.0")
    mean, var = before.mean((0, 2, 3), keepdim=True), before.var((0, 2, 3), correction=0, keepdim=True)
    torch.testing.assert_close(values(session, 1, "stem.1"), (before - mean) / (var + 1e-5).sqrt())
    tick(qtbot, panel, Vary.MODE, "train")
    assert session.variants == (PLAIN,)
    assert panel.count.text() == "1 column"


def test_what_is_in_force_is_listed_first_and_cannot_be_unticked(
    qtbot: QtBot, session: Session, panel: ComparePanel
) -> None:
    for vary in (Vary.DTYPE, Vary.MODE, Vary.SEED, Vary.DEVICE, Vary.TARGETS):
        panel.kinds.setCurrentRow(list(Vary).index(vary))
        assert panel.boxes[0].isChecked()
        assert not panel.boxes[0].isEnabled()
        assert all(not box.isChecked() for box in panel.boxes[1:] if not box.isHidden())


def test_ticking_in_another_list_takes_the_place_and_a_foreign_variant_stays(
    qtbot: QtBot, session: Session, panel: ComparePanel
) -> None:
    foreign = Variant(7, "theirs", (("seed", 99),))
    session.set_variants((PLAIN, foreign))
    tick(qtbot, panel, Vary.SEED, "seed 3")
    tick(qtbot, panel, Vary.MODE, "train")
    assert [one.name for one in session.variants] == ["", "train", "theirs"]
    qtbot.mouseClick(panel.none, Qt.MouseButton.LeftButton)
    assert session.variants == (PLAIN, foreign)


def test_inputs_are_ticked_in_the_panel_too(qtbot: QtBot, session: Session, panel: ComparePanel) -> None:
    session.add_inputs([picture(1)], ticked=False)
    tick(qtbot, panel, Vary.INPUTS, "picture1")
    assert [item.title for item in session.ticked_inputs] == ["picture0", "picture1"]


def test_gradients_of_two_targets_stand_side_by_side(
    qtbot: QtBot, session: Session, panel: ComparePanel
) -> None:
    tick(qtbot, panel, Vary.TARGETS, "sum of the output")
    first, second = (session.runs[item.number].recording for item in session.ticked_inputs)
    assert second.target_value == pytest.approx(float(first.output.sum()))
    assert first.target_value == pytest.approx(float(first.output.max()))


def test_the_wall_says_what_varies_and_opens_the_panel(qtbot: QtBot, session: Session) -> None:
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    wall.resize(2200, 700)
    wall.show()
    assert wall.controls.vary.text().strip() == "Vary: inputs"
    qtbot.mouseClick(wall.controls.vary, Qt.MouseButton.LeftButton)
    shown = wall.findChild(ComparePanel)
    assert shown is not None
    assert shown.isVisible()
    tick(qtbot, shown, Vary.MODE, "train")
    shown.hide()
    wall.refresh()
    assert wall.controls.vary.text().strip() == "Vary: mode"
    assert len(wall.lanes.columns) == 2


def compared(qtbot: QtBot, session: Session) -> WallPanel:
    session.add_inputs([picture(1)])
    session.set_look(difference=True)
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    wall.resize(1800, 700)
    wall.show()
    settled(qtbot, session)
    wall.refresh()
    return wall


@pytest.mark.parametrize("way", ["minus", "absolute", "ratio", "relative"])
def test_the_difference_column_has_four_ways(qtbot: QtBot, session: Session, way: str) -> None:
    session.select(path="stem.2")
    wall = compared(qtbot, session)
    session.set_look(differs=way)
    a, b = (values(session, place, "stem.2")[0].double().numpy() for place in (0, 1))
    expected = np.empty_like(a)
    for place in np.ndindex(a.shape):
        one, other = a[place], b[place]
        zero = one == other == 0
        expected[place] = {
            "minus": one - other,
            "absolute": abs(one - other),
            "ratio": 0.0 if zero else -np.inf if one == 0 else np.inf if other == 0 else np.log2(one / other),
            "relative": 0.0 if zero else (one - other) / max(abs(one), abs(other)),
        }[way]
    shown = wall.wall.difference.maps.values
    np.testing.assert_allclose(shown, expected, rtol=2e-4, atol=1e-5)
    low, high = wall.wall.difference_levels
    assert low == (0 if way == "absolute" else -high)
    assert wall.lanes.columns[-1].head.title.text() == wall.wall.difference.title


def test_the_menu_of_the_difference_chooses_the_way(qtbot: QtBot, session: Session) -> None:
    wall = compared(qtbot, session)
    menu = wall.controls.difference.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [True, False, False, False]
    menu.actions()[1].trigger()
    assert session.look.differs == "absolute"
    assert wall.lanes.columns[-1].head.title.text() == "|A − B|"


def test_the_head_of_the_difference_has_its_numbers(qtbot: QtBot, session: Session) -> None:
    wall = compared(qtbot, session)
    a, b = (values(session, place, "stem.1").double() for place in (0, 1))
    qtbot.waitUntil(lambda: "ULP" in wall.lanes.columns[-1].head.numbers.versions[0])
    said = wall.lanes.columns[-1].head.numbers.versions[0]
    assert f"max |Δ| {number(float((a - b).abs().max()))}" in said
    assert f"signs {100 * float((a * b < 0).double().mean()):.1f} %" in said
    assert f"cosine {number(float(torch.cosine_similarity(a.flatten(), b.flatten(), dim=0)))}" in said


def test_the_curve_over_depth_shows_the_difference_to_a(qtbot: QtBot, session: Session) -> None:
    session.tick(["stem.0", "stem.2"], True)
    session.set_variants((PLAIN, Variant(-1, "train", (("mode", "train"),))))
    layers = LayerPanel(session)
    qtbot.addWidget(layers)
    layers.resize(1300, 250)
    layers.show()
    settled(qtbot, session)
    layers.refresh()
    relative = layers.quantity.buttons[len(METRICS)]
    assert not relative.isHidden()
    qtbot.mouseClick(relative, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(layers.plot.series) and len(layers.plot.series[0].places) == 3)
    shown = layers.plot.series[0]
    assert shown.name == "picture0 · train"
    for place, found in zip(shown.places, shown.values, strict=True):
        a, b = (values(session, column, layers.plot.layers[place]).double() for column in (0, 1))
        assert found == pytest.approx(float((a - b).norm() / a.norm()))
    session.set_variants((PLAIN,))
    assert layers.quantity.index == 0
    assert relative.isHidden()


def test_nothing_is_counted_after_the_session_is_closed(qtbot: QtBot, session: Session) -> None:
    session.add_inputs([picture(1)])
    settled(qtbot, session)
    records = [session.runs[item.number].recording.record("stem.1", Kind.OUTPUT) for item in session.inputs]
    session.close()
    session.differences.want([(records[0], records[1])])
    assert session.differences.counted(records[0], records[1]) is None
