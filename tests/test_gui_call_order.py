"""The order of execution: one list of every call, beside the tree as it is built; both do the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

import pytest
import torch
from gui_nets import settled
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.gui.call_order import in_order
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.module_delegate import tick_rect
from hookviewer.gui.module_model import CALL, CALLS, FACTS, NAME, OUTPUT, PATH
from hookviewer.gui.module_panel import ModulePanel
from hookviewer.gui.session import Session
from hookviewer.gui.state import TargetChoice
from hookviewer.gui.theme import set_theme
from hookviewer.inputs import Input
from hookviewer.modules import module_tree
from hookviewer.recording import Recording

LEFT = Qt.MouseButton.LeftButton
T = torch.Tensor


class Block(nn.Module):
    """A residual block whose activation is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.ReLU()
        self.second, self.first = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: T) -> T:
        return self.act(self.second(self.act(self.first(x))) + x)


class Net(nn.Module):
    """One block used twice, with its weights between; a layer that is not called, one that has two names."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.tail, self.spare, self.block = nn.Linear(3, 2), nn.Linear(3, 3), Block()
        self.same = self.block

    def forward(self, x: T) -> T:
        x = self.block(x)
        return self.tail(torch.cat([self.same(x)[:, :1], x[:, 1:]], 1))


ONCE = ["block", "block.first", "block.act", "block.second", "block:add#0", "block.act"]
X = torch.randn(1, 3, generator=torch.Generator().manual_seed(3))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    yield one
    one.close()


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> ModulePanel:
    set_theme("dark")
    made = ModulePanel(session)
    qtbot.addWidget(made)
    made.resize(600, 700)
    made.show()
    session.set_model(Net())
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([Input("x", (X,))])
    settled(qtbot, session)
    return made


def listed(panel: ModulePanel) -> list[QModelIndex]:
    top = panel.rows.index(0, 0)
    return [panel.rows.index(place, 0, top) for place in range(panel.rows.rowCount(top))]


def paths(panel: ModulePanel) -> list[str]:
    return [str(index.data(PATH)) for index in listed(panel)]


def switch(qtbot: QtBot, session: Session, panel: ModulePanel, *, calls: bool = True) -> None:
    """Press the buttons for the order of execution and for functional calls."""
    qtbot.mouseClick(panel.by_order, LEFT)
    if calls:
        qtbot.mouseClick(panel.calls, LEFT)
    settled(qtbot, session)


def test_every_call_stands_in_the_order_in_which_it_began(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    switch(qtbot, session, panel)
    slices = [":getitem#0", ":getitem#1", ":cat#0"]
    assert paths(panel) == [*ONCE, *ONCE, *slices, "tail", "spare"]
    assert [index.data(CALL) for index in listed(panel)] == [*[0] * 5, 1, *[1, 1, 2, 1, 1, 3], *[0] * 4, None]
    names = [str(index.data()) for index in listed(panel)]
    assert names == paths(panel)  # whole paths: nothing above them says where they are
    acts = [index for index in listed(panel) if index.data(PATH) == "block.act"]
    assert [index.siblingAtColumn(CALLS).data() for index in acts] == ["1/4", "2/4", "3/4", "4/4"]
    assert "not called" in listed(panel)[-1].data(FACTS).reason


def test_each_row_has_the_shape_and_the_size_of_its_own_call(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    switch(qtbot, session, panel)
    seen: list[float] = []
    net = session.model
    assert isinstance(net, Net)
    handle = net.block.act.register_forward_hook(
        lambda m, a, out: seen.append(float(out.detach().abs().mean()))
    )
    net.eval()(X)
    handle.remove()
    acts = [index for index in listed(panel) if index.data(PATH) == "block.act"]
    assert [index.data(FACTS).mean_abs for index in acts] == pytest.approx(seen)
    assert {index.siblingAtColumn(OUTPUT).data() for index in acts} == {"3"}


def test_a_click_on_a_call_looks_at_that_call_and_the_row_follows_it(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    switch(qtbot, session, panel)
    index = listed(panel)[11]
    qtbot.mouseClick(panel.tree.viewport(), LEFT, pos=panel.tree.visualRect(index).center())
    settled(qtbot, session)
    assert (session.selection.path, session.selection.call) == ("block.act", 3)
    run = session.runs[session.inputs[0].number]
    value = run.recording.record("block.act", hv.Kind.OUTPUT, 3).array()
    net = session.model
    assert isinstance(net, Net)
    twice = net.block(net.block(X)).detach().numpy()
    assert (value == twice).all()
    session.select(call=1)
    assert panel.tree.currentIndex().data(CALL) == 1
    session.select(path="tail")
    assert panel.tree.currentIndex().data(PATH) == "tail"


def test_a_tick_holds_for_every_call_and_for_the_tree(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    switch(qtbot, session, panel)
    box = tick_rect(panel.tree.visualRect(listed(panel)[10])).center()
    qtbot.mouseClick(panel.tree.viewport(), LEFT, pos=box)
    assert session.plan.paths == {"block:add#0"}
    ticks = [Qt.CheckState(one.data(Qt.ItemDataRole.CheckStateRole)) for one in listed(panel)]
    assert [place for place, one in enumerate(ticks) if one is Qt.CheckState.Checked] == [4, 10]
    panel.ticked_only.click()
    assert paths(panel) == ["block:add#0"] * 2
    panel.by_order.click()
    assert paths(panel) == ["block"]


def test_the_list_keeps_qts_rules(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    testers = [
        QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
        for model in (panel.model, panel.rows)
    ]
    switch(qtbot, session, panel, calls=False)
    panel.filter.setText("act")
    panel.by_order.click()
    session.set_model(Block())
    assert paths(panel) == ["act"]
    del testers


def test_the_filter_finds_calls_in_the_list(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    switch(qtbot, session, panel)
    panel.filter.setText("type:Linear")
    assert paths(panel) == ["block.first", "block.second"] * 2 + ["tail", "spare"]
    panel.filter.setText("op:cat")
    assert paths(panel) == [":cat#0"]
    panel.filter.setText("")
    assert len(paths(panel)) == 17


def test_the_tree_comes_back_as_it_was_open(qtbot: QtBot, session: Session, panel: ModulePanel) -> None:
    panel.tree.collapseAll()
    panel.tree.expand(panel.rows.index(0, 0))
    session.select(path="tail")
    before = paths(panel)
    switch(qtbot, session, panel, calls=False)
    assert len(paths(panel)) == 5 * 2 + 2
    panel.by_order.click()
    assert paths(panel) == before == ["tail", "spare", "block", "same"]
    assert not panel.tree.isExpanded(listed(panel)[2])
    assert panel.tree.currentIndex().data(PATH) == "tail"


def test_another_model_is_open_when_the_tree_comes_back(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    panel.tree.collapseAll()
    switch(qtbot, session, panel, calls=False)
    session.set_model(nn.Sequential(nn.Sequential(nn.Linear(3, 3))))
    panel.by_order.click()
    assert panel.tree.isExpanded(listed(panel)[0])


def test_without_a_run_the_list_has_every_module_once(qtbot: QtBot) -> None:
    rows = in_order(module_tree(Net()), None)
    assert [(row.node.path, row.call) for row in rows][:3] == [
        ("tail", None),
        ("spare", None),
        ("block", None),
    ]
    assert len(rows) == 6
    assert in_order(module_tree(Net()), Recording({})) == rows


def test_a_path_that_has_no_room_keeps_its_last_name(
    qtbot: QtBot, session: Session, panel: ModulePanel
) -> None:
    deep = nn.Sequential(OrderedDict(a_rather_long_name=nn.Sequential(OrderedDict(of_a_stage=Block()))))
    session.set_model(deep)
    settled(qtbot, session)
    switch(qtbot, session, panel, calls=False)
    row = next(one for one in listed(panel) if str(one.data(PATH)).endswith("second"))
    inks = []
    for width in (600, 220):
        panel.resize(width, 700)
        panel.tree._measure()
        picture = panel.tree.viewport().grab(panel.tree.visualRect(row)).toImage()
        columns = range(24, min(picture.width(), panel.tree.columnWidth(NAME) - 30))
        bright = [picture.pixelColor(x, y).lightness() > 190 for x in columns for y in range(24)]
        inks.append(sum(bright))
    room, whole = panel.tree.columnWidth(NAME), panel.tree.fontMetrics().horizontalAdvance(row.data(PATH))
    assert room < whole
    assert inks[1] == pytest.approx(inks[0], rel=0.15)
    assert inks[0] > 20


def test_the_view_menu_has_the_order_too(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    window.keeps_layout = False
    action, button = window.commands.actions["by_order"], window.docks.modules.by_order
    action.trigger()
    assert button.isChecked()
    assert window.docks.modules.model.by_order
    button.click()
    assert not action.isChecked()
    menus = [action.menu() for action in window.menuBar().actions()]
    assert any(action in menu.actions() for menu in menus)
    window.close()
