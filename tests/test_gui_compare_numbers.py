"""The numbers of a comparison in the inspector: of the channel, the layer and the outputs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from gui_compared import values
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot

from hookviewer.gui.inspector import Inspector
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Variant


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    made = Session()
    made.set_model(Tiny().eval())
    made.add_inputs([picture(0)])
    made.set_variants((PLAIN, Variant(-1, "train", (("mode", "train"),))))
    made.select(path="stem.1", channel=3)
    settled(qtbot, made)
    yield made
    made.close()


def test_channel_layer_and_outputs_are_compared(qtbot: QtBot, session: Session) -> None:
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.resize(330, 1200)
    inspector.show()
    shown = inspector.compared
    shown.refresh()
    qtbot.waitUntil(lambda: bool(shown.numbers.rows) and "" not in shown.numbers.rows[0], timeout=10_000)
    a, b = (values(session, column, "stem.1").double() for column in (0, 1))
    rows = {row[0]: row[1:] for row in shown.numbers.rows}
    for place, (one, other) in enumerate(((a[:, 3], b[:, 3]), (a, b))):
        assert rows["relative L2"][place] == number(float((one - other).norm() / one.norm()))
        assert rows["max |Δ|"][place] == number(float((one - other).abs().max()))
        assert rows["signs changed"][place] == f"{100 * float((one * other < 0).double().mean()):.1f} %"
    outputs = [session.runs[item.number].recording.output.double() for item in session.ticked_inputs]
    said = {row[0]: row[1:] for row in shown.outputs.rows}
    assert said["max |Δ|"][0] == number(float((outputs[0] - outputs[1]).abs().max()))
    assert said["L2 of A − B"][0] == number(float((outputs[0] - outputs[1]).norm()))
    shares = [torch.softmax(one[0], 0) for one in outputs]
    for index in range(4):
        assert said[f"class {index}"] == tuple(f"{float(one[index]):.3f}" for one in shares)


def test_between_two_types_there_is_no_distance_in_ulp(qtbot: QtBot, session: Session) -> None:
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.resize(330, 1200)
    inspector.show()
    shown = inspector.compared
    shown.refresh()
    qtbot.waitUntil(lambda: bool(shown.numbers.rows) and "" not in shown.numbers.rows[0], timeout=10_000)
    assert "max ULP" in [row[0] for row in shown.numbers.rows]
    session.set_variants((PLAIN, Variant(-2, "bfloat16", (("dtype", "bfloat16"),))))
    settled(qtbot, session)
    assert values(session, 1, "stem.1").dtype is torch.bfloat16
    shown.refresh()
    qtbot.waitUntil(lambda: "" not in shown.numbers.rows[0], timeout=10_000)
    assert "max ULP" not in [row[0] for row in shown.numbers.rows]


def test_one_column_has_nothing_to_compare(qtbot: QtBot, session: Session) -> None:
    session.set_variants((PLAIN,))
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.show()
    inspector.compared.refresh()
    assert inspector.compared.isHidden()
