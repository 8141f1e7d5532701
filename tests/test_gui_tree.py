"""The module tree: what its rows say, ticks, filter, order, menu, and what a failed run leaves in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui import module_facts
from hookviewer.gui.first import start_of
from hookviewer.gui.module_columns import fitting
from hookviewer.gui.module_delegate import bar_share, tick_rect
from hookviewer.gui.module_filter import matched_part, matches
from hookviewer.gui.module_model import CALLS, FACTS, OUTPUT, PATH, TYPE, ModuleModel
from hookviewer.gui.module_panel import ModulePanel
from hookviewer.gui.session import Session
from hookviewer.gui.state import TargetChoice
from hookviewer.modules import module_tree

CHECK = Qt.ItemDataRole.CheckStateRole
TIP = Qt.ItemDataRole.ToolTipRole


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    yield one
    one.close()


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> ModulePanel:
    made = ModulePanel(session)
    qtbot.addWidget(made)
    session.set_model(Tiny())
    made.resize(600, 500)
    made.show()
    return made


def rows(panel: ModulePanel) -> list[QModelIndex]:
    found: list[QModelIndex] = []

    def walk(parent: QModelIndex) -> None:
        for row in range(panel.rows.rowCount(parent)):
            index = panel.rows.index(row, 0, parent)
            found.append(index)
            walk(index)

    walk(QModelIndex())
    return found


def paths(panel: ModulePanel) -> list[str]:
    return [index.data(PATH) for index in rows(panel)]


def row(panel: ModulePanel, path: str) -> QModelIndex:
    return next(index for index in rows(panel) if index.data(PATH) == path)


def tick(panel: ModulePanel, path: str, on: bool = True) -> None:
    state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
    assert panel.tree.model().setData(row(panel, path), state, CHECK)


def test_the_model_keeps_qts_rules(qtbot: QtBot, session: Session) -> None:
    model = ModuleModel(session)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    session.set_model(Tiny())
    session.tick(["stem.0"], True)
    session.set_model(nn.Sequential(nn.Linear(2, 3)))
    session.tick(["0"], True)
    assert model.rowCount() == 1
    del tester


def test_the_filter_keeps_qts_rules(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    tester = QAbstractItemModelTester(panel.rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for words in ("conv", "type:ReLU", "nothing at all", ""):
        panel.filter.setText(words)
    panel.ticked_only.setChecked(True)
    tick_paths = ["stem.0", "head"]
    session.tick(tick_paths, True)
    assert set(paths(panel)) == {"", "stem", "stem.0", "head"}
    panel.by_order.setChecked(True)
    assert set(paths(panel)) == {"", "stem.0", "head"}
    del tester


def test_every_name_of_every_module_has_a_row(panel: ModulePanel) -> None:
    assert paths(panel) == [node.path for node in module_tree(Tiny()).walk()]
    assert panel.tree.objectName() == "module_tree"


def test_a_tick_goes_into_the_plan_and_marks_the_parents(session: Session, panel: ModulePanel) -> None:
    tick(panel, "stem.0")
    assert session.plan.paths == {"stem.0"}
    assert Qt.CheckState(row(panel, "stem.0").data(CHECK)) == Qt.CheckState.Checked
    assert Qt.CheckState(row(panel, "stem").data(CHECK)) == Qt.CheckState.PartiallyChecked
    assert Qt.CheckState(row(panel, "").data(CHECK)) == Qt.CheckState.PartiallyChecked
    tick(panel, "stem")
    assert Qt.CheckState(row(panel, "stem").data(CHECK)) == Qt.CheckState.Checked
    tick(panel, "stem", False)
    assert session.plan.paths == {"stem.0"}


def test_ticking_a_second_name_ticks_the_module(session: Session, panel: ModulePanel) -> None:
    tick(panel, "again.0")
    assert session.plan.paths == {"body.0"}
    assert Qt.CheckState(row(panel, "again.0").data(CHECK)) == Qt.CheckState.Checked


def _click_tick(qtbot: QtBot, panel: ModulePanel, path: str, keys: Qt.KeyboardModifier) -> None:
    index = row(panel, path)
    panel.tree.scrollTo(index)
    centre = tick_rect(panel.tree.visualRect(index)).center()
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, keys, centre)


def test_a_click_on_the_tick_ticks_this_module_only(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    before = session.selection.path
    _click_tick(qtbot, panel, "stem", Qt.KeyboardModifier.NoModifier)
    assert session.plan.paths == {"stem"}
    assert session.selection.path == before
    _click_tick(qtbot, panel, "stem", Qt.KeyboardModifier.NoModifier)
    assert session.plan.paths == frozenset()


def test_shift_and_a_click_ticks_all_below(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    _click_tick(qtbot, panel, "stem", Qt.KeyboardModifier.ShiftModifier)
    assert session.plan.paths == {"stem", "stem.0", "stem.1", "stem.2"}


def test_space_ticks_the_current_row(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    panel.tree.setCurrentIndex(row(panel, "head"))
    qtbot.keyClick(panel.tree, Qt.Key.Key_Space)
    assert "head" in session.plan.paths


def test_the_current_row_and_the_selection_follow_each_other(session: Session, panel: ModulePanel) -> None:
    session.select(path="stem.2")
    assert panel.tree.currentIndex().data(PATH) == "stem.2"
    panel.tree.setCurrentIndex(row(panel, "head"))
    assert session.selection.path == "head"


def test_after_a_run_rows_say_shapes_calls_and_sizes(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    session.add_inputs([picture()])
    session.tick(["stem.0", "head"], True)
    settled(qtbot, session)
    assert row(panel, "stem.0").siblingAtColumn(OUTPUT).data() == "6×8×8"
    assert row(panel, "head").siblingAtColumn(OUTPUT).data() == "4"
    assert row(panel, "body.0").siblingAtColumn(CALLS).data() == "2"
    model, (values,) = session.model, session.inputs[0].input.args
    with torch.no_grad():
        expected = float(model.stem[0](values).abs().mean())
    assert row(panel, "stem.0").data(FACTS).mean_abs == pytest.approx(expected, rel=1e-5)
    assert "1×3×8×8 → 1×6×8×8" in row(panel, "stem.0").data(TIP)


def test_what_was_never_called_says_why(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    session.add_inputs([picture()])
    session.tick(["head"], True)
    settled(qtbot, session)
    facts = row(panel, "aux").data(FACTS)
    assert facts.calls == 0
    assert facts.reason
    assert facts.reason in row(panel, "aux").data(TIP)


def test_a_failed_run_leaves_shapes_up_to_the_module_that_failed(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    class Breaks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(3, 4, 3)
            self.second = nn.Conv2d(5, 4, 3)
            self.third = nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.third(self.second(self.first(x)))

    session.set_model(Breaks())
    session.add_inputs([picture()])
    session.tick(["first", "third"], True)
    settled(qtbot, session)
    assert row(panel, "first").siblingAtColumn(OUTPUT).data() == "4×6×6"
    failed = row(panel, "second").data(FACTS).failed
    assert "second" in failed
    assert failed in row(panel, "second").data(TIP)
    assert row(panel, "third").data(FACTS).reason


def test_the_foot_counts_ticks_and_bytes(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    session.add_inputs([picture()])
    session.tick(["stem.0", "head"], True)
    settled(qtbot, session)
    count = sum(1 for _ in module_tree(Tiny()).walk()) - 1
    floats = 2 * (6 * 8 * 8 + 4)  # output and gradient of both
    assert panel.foot.versions[0] == f"2 of {count} ticked, {floats * 4 / 1024:.0f} kB per run with gradients"
    session.set_settings(target=TargetChoice("none"))
    settled(qtbot, session)
    assert "without gradients" in panel.foot.versions[0]
    session.set_settings(budget=100)
    assert "over the limit of 100 bytes" in panel.foot.versions[0]
    assert panel.foot.property("role") == "warn"


def test_the_filter_knows_names_globs_and_types(session: Session, panel: ModulePanel) -> None:
    panel.filter.setText("stem")
    assert set(paths(panel)) == {"", "stem", "stem.0", "stem.1", "stem.2"}
    panel.filter.setText("*.0")
    assert set(paths(panel)) == {"", "stem", "stem.0", "body", "body.0", "again", "again.0"}
    panel.filter.setText("type:Linear")
    assert set(paths(panel)) == {"", "aux", "head"}
    panel.filter.clear()
    assert len(paths(panel)) == len(list(module_tree(Tiny()).walk()))


def test_filter_words_match_as_a_person_expects() -> None:
    node = next(one for one in module_tree(Tiny()).walk() if one.path == "stem.1")
    assert matches(node, "STEM")
    assert matches(node, "type:norm")
    assert matches(node, "type:BatchNorm?d")
    assert matches(node, "st*.1")
    assert not matches(node, "type:Conv2d")
    assert matched_part("conv1", "layer1.conv1", "conv") == (0, 4)
    assert matched_part("conv1", "layer1.conv1", "layer1.c") == (0, 1)
    assert matched_part("conv1", "layer1.conv1", "type:Conv2d") is None


def test_ticked_only_hides_the_rest_at_once(session: Session, panel: ModulePanel) -> None:
    panel.ticked_only.setChecked(True)
    session.tick(["body.1"], True)
    assert set(paths(panel)) == {"", "body", "body.1", "again", "again.1"}


def test_order_of_execution_puts_the_uncalled_last(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    session.add_inputs([picture()])
    session.tick(["head"], True)
    settled(qtbot, session)
    panel.by_order.setChecked(True)
    top = row(panel, "")
    names = [panel.rows.index(place, 0, top).data(PATH) for place in range(panel.rows.rowCount(top))]
    assert names[-2:] == ["head", "aux"]
    panel.by_order.setChecked(False)
    assert panel.rows.index(3, 0, row(panel, "")).data(PATH) == "aux"


def test_the_menu_ticks_by_type_and_copies_paths(session: Session, panel: ModulePanel) -> None:
    menu = panel.menu(row(panel, "stem.0"))
    acts = {action.text(): action for action in menu.actions()}
    acts["Tick all of type Conv2d"].trigger()
    assert session.plan.paths == {"stem.0", "body.0"}
    acts["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == "stem.0"
    acts["Untick all"].trigger()
    assert not session.plan.paths
    menu.close()


def test_your_own_hooks_and_shared_names_are_named(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    model = Tiny()
    handle = model.head.register_forward_hook(lambda module, args, output: None)
    session.set_model(model)
    assert "1 of your own hooks" in row(panel, "head").data(TIP)
    assert "also called again" in row(panel, "body").data(TIP)
    handle.remove()


def test_columns_give_way_in_their_order(qtbot: QtBot, panel: ModulePanel) -> None:
    seen = {}
    for width in (600, 450, 390, 320):
        panel.resize(width, 400)
        qtbot.wait(1)
        seen[width] = [column for column in range(6) if not panel.tree.isColumnHidden(column)]
    assert seen == {600: [0, 1, 2, 3, 4, 5], 450: [0, 1, 2, 4, 5], 390: [0, 1, 2, 4], 320: [0, 1, 2]}


def test_a_long_name_never_runs_under_its_neighbour(panel: ModulePanel) -> None:
    assert panel.tree.visualRect(row(panel, "head")).right() <= panel.tree.columnViewportPosition(TYPE)


def test_the_tree_paints_without_a_word_on_standard_error(
    qtbot: QtBot, session: Session, panel: ModulePanel, capfd: pytest.CaptureFixture[str]
) -> None:
    session.add_inputs([picture()])
    session.tick(["stem.0"], True)
    settled(qtbot, session)
    panel.filter.setText("stem")
    assert not panel.grab().isNull()
    assert "Error" not in capfd.readouterr().err


def test_the_bar_grows_with_the_size_of_the_values() -> None:
    assert bar_share(0.0) == pytest.approx(0.04)
    assert bar_share(1.0) == pytest.approx(0.5)
    assert bar_share(0.1) < bar_share(1.0) < bar_share(3.0) < bar_share(1e6) == 1.0


def test_families_of_types() -> None:
    net = nn.Sequential(nn.Conv2d(1, 1, 1), nn.LayerNorm(3), nn.GELU(), nn.MaxPool2d(2), nn.Linear(2, 2))
    net.append(nn.MultiheadAttention(4, 2))
    net.append(nn.Dropout())
    families = {
        node.type: module_facts.family_of(node) for node in module_tree(net).walk() if node.type != "X"
    }
    assert families["Sequential"] == "container"
    assert [
        families[name] for name in ("Conv2d", "LayerNorm", "GELU", "MaxPool2d", "MultiheadAttention")
    ] == [
        "conv",
        "norm",
        "activation",
        "pool",
        "attention",
    ]
    assert families["Dropout"] == "other"


def test_the_next_layer_in_the_order_of_the_run() -> None:
    assert module_facts.neighbour(["a", "b", "c"], "a", 1) == "b"
    assert module_facts.neighbour(["a", "b", "c"], "a", -1) is None
    assert module_facts.neighbour(["a", "b", "c"], "elsewhere", -1) == "c"
    assert module_facts.neighbour([], "a", 1) is None


def test_a_row_hovers_and_leaves(qtbot: QtBot, panel: ModulePanel) -> None:
    place = panel.tree.visualRect(row(panel, "stem")).center()
    qtbot.mouseMove(panel.tree.viewport(), place)
    qtbot.mouseMove(panel.tree.viewport(), QPoint(5, panel.tree.viewport().height() - 2))
    assert not panel.tree.grab().isNull()


def test_attention_is_ticked_first_and_not_its_uncalled_parts() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    start = start_of(module_tree(nn.TransformerEncoder(layer, 2)))
    assert "layers.0.self_attn" in start.ticks
    assert not any("out_proj" in path for path in start.ticks)


# -- room ----------------------------------------------------------------------------------------------------


def test_names_take_the_room_of_other_columns() -> None:
    assert fitting(700, 150, 80) == (150, 190, 70, 44, 60)
    assert fitting(560, 150, 80) == (150, 84, 70, 44, 60)
    assert fitting(298, 120, 80) == (86, 84, 0, 0, 0)
    assert fitting(298, 150, 0).type == 60
    assert fitting(298, 190, 80) == (0, 84, 0, 0, 0)
    assert fitting(225, 190, 80) == (0, 0, 0, 0, 0)


def test_a_long_shape_gets_a_wider_column() -> None:
    assert fitting(366, 150, 102).output == 102
    assert fitting(366, 150, 400).output == 150


class Deep(nn.Module):
    """One long name below another."""

    def __init__(self) -> None:
        super().__init__()
        block = nn.Sequential()
        block.add_module("self_attention", nn.Sequential(nn.Linear(3, 3)))
        self.encoder_layers = nn.Sequential()
        self.encoder_layers.add_module("encoder_layer_0", block)


def test_a_narrow_tree_shows_the_names_of_deep_rows(qtbot: QtBot, session: Session) -> None:
    panel = ModulePanel(session)
    qtbot.addWidget(panel)
    session.set_model(Deep())
    panel.resize(260, 400)
    panel.show()
    index = row(panel, "encoder_layers.encoder_layer_0.self_attention")
    text = panel.tree.fontMetrics().horizontalAdvance("self_attention")

    def shown() -> bool:
        return panel.tree.visualRect(index).width() >= text + tick_rect(panel.tree.visualRect(index)).width()

    qtbot.waitUntil(shown, timeout=2000)
    assert panel.tree.isColumnHidden(TYPE)
    panel.resize(700, 400)
    qtbot.waitUntil(lambda: not panel.tree.isColumnHidden(TYPE), timeout=2000)


# -- the filter ----------------------------------------------------------------------------------------------


def test_a_filter_that_finds_nothing_says_so(panel: ModulePanel) -> None:
    panel.filter.setText("zzz")
    assert not panel.tree.isVisible()
    assert panel._found.empty.sentence.text() == "No module matches zzz: Esc clears the filter."
    panel.filter.setText("")
    assert panel.tree.isVisible()
    panel.ticked_only.setChecked(True)
    assert "No module is ticked" in panel._found.empty.sentence.text()


def test_escape_clears_the_filter_and_leaves_it(qtbot: QtBot, panel: ModulePanel) -> None:
    panel.activateWindow()
    panel.filter.setFocus()
    qtbot.keyClicks(panel.filter, "stem")
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert panel.filter.text() == ""
    assert not panel.filter.hasFocus()


def test_after_the_filter_the_tree_is_as_it_was(panel: ModulePanel, session: Session) -> None:
    panel.tree.collapseAll()
    panel.tree.expand(panel.rows.index(0, 0))
    session.select(path="stem.1")
    panel.tree.collapse(row(panel, "body"))
    panel.filter.setText("head")
    assert panel.tree.isExpanded(row(panel, ""))
    assert session.selection.path == "stem.1"
    panel.filter.setText("")
    assert session.selection.path == "stem.1"
    assert panel.tree.currentIndex().data(PATH) == "stem.1"
    assert panel.tree.selectionModel().isSelected(row(panel, "stem.1"))
    assert panel.tree.isExpanded(row(panel, "stem"))
    assert not panel.tree.isExpanded(row(panel, "body"))


# -- whose facts ---------------------------------------------------------------------------------------------


def test_the_tree_tells_of_the_current_inputs_run(qtbot: QtBot, panel: ModulePanel, session: Session) -> None:
    session.add_inputs([picture(0), picture(1, channels=4)])
    settled(qtbot, session)
    first, second = session.inputs
    assert session.runs[second.number].error is not None
    session.select(input=first.number)
    assert row(panel, "stem.0").data(FACTS).failed == ""
    assert row(panel, "head").data(FACTS).outputs == ((1, 4),)
    session.select(input=second.number)
    assert "stem.0" in row(panel, "stem.0").data(FACTS).failed
    session.select(input=first.number)
    assert row(panel, "stem.0").data(FACTS).failed == ""
