"""Layers that are overwritten in place: found in the tree, and shown beside what a plain hook would show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from gui_nets import settled
from pytestqt.qtbot import QtBot
from test_gui_functional import Net, X, opened, paths, row

from hookviewer import HookPlan
from hookviewer.gui.module_model import FACTS
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.wall.panel import WallPanel
from hookviewer.hooks import capture
from hookviewer.hooks.plain import reference_to
from hookviewer.kinds import Key, Kind


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    yield one
    one.close()


@pytest.fixture
def wall(qtbot: QtBot, session: Session) -> WallPanel:
    made = WallPanel(session)
    qtbot.addWidget(made)
    made.resize(900, 500)
    made.show()
    return made


def naive(net: Any, path: str) -> np.ndarray[Any, Any]:
    """Return what the usual hook of a notebook keeps: a reference that is read after the run."""
    kept: list[torch.Tensor] = []
    handle = net.get_submodule(path).register_forward_hook(lambda m, args, out: kept.append(out))
    net(X)
    handle.remove()
    return kept[0].detach().numpy()


def test_a_reference_is_what_the_hook_of_a_notebook_keeps() -> None:
    net = Net()
    for path in ("first.conv1", "first.conv2", "second.conv2"):
        target = reference_to(Key(path, Kind.OUTPUT))
        record = capture(net, (X,), HookPlan(frozenset({path}))).record(path, Kind.OUTPUT)
        capture(net, (X,), HookPlan(), target=target)
        assert np.array_equal(target.record(record).array(), naive(net, path))


def test_all_overwritten_layers_can_be_listed(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Net())
    assert panel.overwritten == 4
    panel.show_overwritten()
    found = {path for path in paths(panel) if row(panel, path).data(FACTS).overwritten}
    assert found == {"first.conv2", "first:add_#0", "second.conv2", "second:add_#0"}
    assert set(paths(panel)) == found | {"", "first", "second"}
    assert row(panel, "first:add_#0").data(FACTS).overwritten == "first.relu"


def test_the_value_at_the_hook_stands_beside_that_of_a_plain_hook(
    qtbot: QtBot, session: Session, wall: WallPanel
) -> None:
    opened(qtbot, session, Net(), on=False)
    session.select(path="first.conv2")
    settled(qtbot, session)
    assert wall.head.plain.isVisible()
    wall.head.plain.click()
    settled(qtbot, session)
    net: Any = session.model
    columns = [lane.canvas for lane in wall.lanes.columns]
    assert len(columns) == 3
    qtbot.waitUntil(lambda: columns[1].record is not None)
    at_hook, plain, difference = (column.record.array() for column in columns if column.record is not None)
    expected = net.first.conv2(net.first.conv1(X).relu()).detach().numpy()
    assert np.array_equal(at_hook, expected)
    assert np.array_equal(plain, naive(net, "first.conv2"))
    assert not np.array_equal(plain, expected)
    assert np.array_equal(difference.reshape(plain.shape), expected - plain)
    assert len(np.unique(columns[2].image().reshape(-1, 4), axis=0)) > 5
    run = session.runs[session.inputs[0].number]
    session.select(path="first.conv1")
    settled(qtbot, session)
    assert len(wall.lanes.columns) == 1  # nothing overwrites it
    assert not wall.head.plain.isVisible()
    session.select(path="first.conv2")
    settled(qtbot, session)
    assert session.runs[session.inputs[0].number].plain.keys() == run.plain.keys()
    session.select(shown=Shown.GRADIENT)
    assert len(wall.lanes.columns) == 1


def test_a_functional_call_has_the_value_of_a_kept_reference(
    qtbot: QtBot, session: Session, wall: WallPanel
) -> None:
    opened(qtbot, session, Net())
    session.select(path="first:add_#0")
    session.set_look(plain=True)
    settled(qtbot, session)
    net: Any = session.model
    qtbot.waitUntil(lambda: wall.lanes.columns[1].canvas.record is not None)
    kept = wall.lanes.columns[1].canvas.record
    assert kept is not None
    assert np.array_equal(kept.array(), net.first(X).detach().numpy())
