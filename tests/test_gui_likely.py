"""What is said of an output: shares that can be told from nothing, and that it is not finite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui import input_words, likely
from hookviewer.gui.columns import resolve
from hookviewer.gui.session import Session
from hookviewer.inputs import Input


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    """A session with a classifier of a thousand classes that are all equally likely."""
    made = Session()
    made.auto = False
    net = nn.Sequential(nn.Flatten(), nn.Linear(4, 1000))
    nn.init.zeros_(net[1].weight)
    nn.init.zeros_(net[1].bias)
    made.set_model(net)
    made.tick(("1",), True)
    made.select(path="1")
    yield made
    made.close()


def _run(session: Session, qtbot: QtBot, value: float) -> None:
    session.add_inputs([Input("one", (torch.full((1, 1, 2, 2), value),))])
    with qtbot.waitSignal(session.run_finished):
        session.run()


def _said(session: Session) -> tuple[str, input_words.Line]:
    item = session.inputs[0]
    run = session.runs[item.number]
    wall = resolve(session.inputs, session.runs, session.selection, session.look, running=False)
    return wall.columns[0].top, input_words.line(item, run, None, False)


@pytest.mark.parametrize(
    ("value", "decimals", "said"),
    [
        (0.874, 2, "0.87"),
        (0.005, 2, "0.01"),
        (0.001, 2, "0.001"),
        (0.0001, 2, "<0.001"),
        (0.0484, 3, "0.048"),
    ],
)
def test_no_share_is_written_as_nothing(value: float, decimals: int, said: str) -> None:
    assert likely.share(value, decimals) == said


def test_a_thousand_equal_classes_have_a_share(session: Session, qtbot: QtBot) -> None:
    _run(session, qtbot, 1.0)
    assert _said(session)[0] == "class 0 0.001"


@pytest.mark.parametrize(("value", "odd"), [(float("nan"), "1000 NaN"), (float("inf"), "1000 NaN")])
def test_an_output_that_is_not_finite_has_no_class(
    session: Session, qtbot: QtBot, value: float, odd: str
) -> None:
    _run(session, qtbot, value)  # infinity times zero is no number either
    top, line = _said(session)
    assert top == f"output not finite: {odd}"
    assert (line.text, line.tone, line.share) == (top, "error", None)
