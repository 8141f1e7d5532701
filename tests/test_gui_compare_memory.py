"""All runs together stay within the budget; what was dropped is recorded again when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from gui_compared import values
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.keeping import DROPPED
from hookviewer.gui.session import Session
from hookviewer.gui.state import TargetChoice
from hookviewer.gui.wall import WallPanel
from hookviewer.kinds import Key, Kind

LAYER = 6 * 8 * 8 * 4
"""Bytes of a layer's output for one picture."""


def test_the_layers_looked_at_longest_ago_are_dropped_and_come_back(qtbot: QtBot) -> None:
    session = Session()
    session.set_model(Tiny().eval())
    session.set_settings(target=TargetChoice("none"), budget=7 * LAYER)
    session.add_inputs([picture(0), picture(1)])
    for path in ("stem.2", "stem.0", "body.1"):
        session.select(path=path)
        settled(qtbot, session)
    session.tick(["stem.0", "stem.2", "body.0", "body.1"], True)
    settled(qtbot, session)
    kept = [run.recording.nbytes for run in session.runs.values()]
    assert sum(kept) <= 7 * LAYER
    for run in session.runs.values():
        assert run.recording.record("body.1", Kind.OUTPUT).kept is not None
    dropped = [
        (number, key.path)
        for number, run in session.runs.items()
        for key, record in run.recording.items()
        if record.missing == DROPPED
    ]
    assert dropped
    path = dropped[0][1]
    mean = session.runs[dropped[0][0]].recording[Key(path, Kind.OUTPUT)].summary.mean
    session.select(path=path)
    settled(qtbot, session)
    for column in (0, 1):
        assert values(session, column, path).shape == (1, 6, 8, 8)
    torch.testing.assert_close(
        float(values(session, dropped[0][0] - 1, path).mean()), mean, atol=1e-6, rtol=1e-5
    )
    assert sum(run.recording.nbytes for run in session.runs.values()) <= 7 * LAYER
    session.close()


class Deep(nn.Module):
    """Fifty layers of one size: 4 maps of 8 × 8."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(*(nn.Conv2d(4, 4, 1) for _ in range(50)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).mean((2, 3))


SMALL = 4 * 8 * 8 * 4
"""Bytes of one of its layers for one picture."""


@pytest.fixture
def deep(qtbot: QtBot) -> Iterator[Session]:
    """Twenty inputs, fifty ticked layers, and room for a tenth of them."""
    session = Session()
    session.set_auto(False)
    session.set_model(Deep().eval())
    session.set_settings(target=TargetChoice("none"), budget=100 * SMALL)
    session.add_inputs([picture(seed, channels=4) for seed in range(20)])
    session.tick([f"layers.{place}" for place in range(50)], True)
    session.select(path="layers.0")
    session.set_auto(True)
    yield session
    session.close()


def held(session: Session) -> int:
    return sum(run.recording.nbytes for run in session.runs.values())


def test_twenty_inputs_and_fifty_layers_stay_within_the_budget_all_the_time(
    qtbot: QtBot, deep: Session
) -> None:
    seen: list[int] = []
    deep.runs_changed.connect(lambda: seen.append(held(deep)))
    settled(qtbot, deep)
    assert len(deep.runs) == 20
    assert held(deep) <= 100 * SMALL
    # a run that has just ended is counted before what is too much is dropped
    assert max(seen) <= (100 + 51) * SMALL
    known = [len(run.summaries) for run in deep.runs.values()]
    assert min(known) >= 50  # the statistics of all layers are kept
    for column in range(20):
        assert values(deep, column, "layers.0").shape == (1, 4, 8, 8)


def test_a_dropped_layer_says_that_it_is_recorded_again_and_comes_back_with_its_values(
    qtbot: QtBot, deep: Session
) -> None:
    settled(qtbot, deep)
    wall = WallPanel(deep)
    qtbot.addWidget(wall)
    path = "layers.7"
    first = deep.ticked_inputs[0].number
    assert deep.runs[first].recording.record(path, Kind.OUTPUT).missing == DROPPED
    said: list[str] = []
    deep.run_started.connect(lambda: (wall.refresh(), said.append(wall.wall.columns[0].reason)))
    deep.select(path=path)
    assert said == ["Recorded again, as it had no room within the memory limit …"]
    assert wall.wall.columns[0].waiting
    settled(qtbot, deep)
    for column in range(20):
        expected = deep.model.layers[:8](picture(column, channels=4).args[0]).detach()
        torch.testing.assert_close(values(deep, column, path), expected)
    assert held(deep) <= 100 * SMALL
    wall.refresh()
    assert all(one.maps is not None for one in wall.wall.columns)


def test_a_layer_that_others_left_no_room_in_its_own_run_is_recorded_again(qtbot: QtBot) -> None:
    session = Session()
    session.set_auto(False)
    session.set_model(Deep().eval())
    session.set_settings(target=TargetChoice("none"), budget=10 * SMALL)
    session.add_inputs([picture(0, channels=4)])
    session.tick([f"layers.{place}" for place in range(50)], True)
    session.select(path="layers.49")
    session.set_auto(True)
    key = Key("layers.49", Kind.OUTPUT)

    def kept() -> bool:
        found = session.runs[1].recording.records.get(key) if session.runs else None
        return found is not None and found.nbytes > 0

    qtbot.waitUntil(kept, timeout=20_000)
    settled(qtbot, session)
    expected = session.model.layers(picture(0, channels=4).args[0]).detach()
    torch.testing.assert_close(values(session, 0, "layers.49"), expected)
    assert held(session) <= 10 * SMALL
    session.close()


def test_a_layer_that_is_too_large_by_itself_is_not_run_for_without_end(qtbot: QtBot) -> None:
    session = Session()
    started: list[bool] = []
    session.set_model(Deep().eval())
    session.set_settings(target=TargetChoice("none"), budget=SMALL // 2)
    session.run_started.connect(lambda: started.append(True))
    session.add_inputs([picture(0, channels=4)])
    session.select(path="layers.3")
    settled(qtbot, session)
    qtbot.wait(100)
    settled(qtbot, session)
    before = len(started)
    session.select(channel=2)
    session.select(path="layers.4")
    settled(qtbot, session)
    session.select(path="layers.3")
    qtbot.wait(100)
    settled(qtbot, session)
    assert len(started) <= before + 1
    record = session.runs[1].recording.record("layers.3", Kind.OUTPUT)
    assert record.missing.startswith("Not kept:")
    session.close()
