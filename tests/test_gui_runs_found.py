"""What a run that gave way to another one leaves behind."""

from __future__ import annotations

import threading

import torch
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.session import Session
from hookviewer.inputs import Input
from tests.gui_nets import settled


class Gate(nn.Module):
    """Waits in the middle of the forward pass until it is told to go on, `longest` seconds at most."""

    def __init__(self, longest: float) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.longest = longest

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.go_on.wait(self.longest)
        return x


def test_a_run_that_gives_way_is_made_again_with_the_statistics_of_every_module(qtbot: QtBot) -> None:
    gate = Gate(20)
    net = nn.Sequential(nn.Linear(3, 3), Gate(0.4), gate, nn.ReLU(), nn.Linear(3, 2))
    session = Session()
    session.set_model(net)
    session.set_auto(True)

    def tick_another(paths: frozenset[str]) -> None:
        session.run_grew.disconnect(tick_another)
        session.tick(["4"], True)  # the run that goes on gives way to one that records this, too
        gate.go_on.set()

    session.run_grew.connect(tick_another)
    session.tick(["0"], True)
    session.add_inputs([Input("three", (torch.ones(1, 3),))])
    settled(qtbot, session)
    (run,) = session.runs.values()
    assert not run.growing
    assert {key.path for key in run.summaries} == {"", "0", "1", "2", "3", "4"}
    assert set(run.recording.module_calls) == {"", "0", "1", "2", "3", "4"}
    session.close()
