"""All runs together stay within the budget; what was dropped is recorded again when it is looked at."""

from __future__ import annotations

import torch
from gui_compared import values
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot

from hookviewer.gui.keeping import DROPPED
from hookviewer.gui.session import Session
from hookviewer.gui.state import TargetChoice
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
