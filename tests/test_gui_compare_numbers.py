"""The numbers of a comparison in the inspector: of the channel, the layer and the outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from gui_compared import values
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot

from hookviewer.gui.columns import Column
from hookviewer.gui.compare_outputs import compared_outputs
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Run, Settings, Variant
from hookviewer.recording import Recording


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
        both = tuple(f"{float(one[index]):.3f}" for one in shares)
        gap = number(float(outputs[0][0, index] - outputs[1][0, index]))
        assert said[f"class {index}"] == (*both, gap)
    assert list(shown.outputs.heads) == ["A", "B", "Δ logit"]
    first, second = (one.reshape(-1) for one in outputs)
    assert said["cosine"] == (number(float(torch.nn.functional.cosine_similarity(first, second, dim=0))),)
    assert said["relative L2"] == (number(float((first - second).norm() / first.norm())),)


def column_of(output: object) -> Column:
    return Column("A", "a", 1, run=Run(Recording({}, output=output), Settings()))


def test_the_five_likeliest_classes_of_both_are_told_though_they_share_none() -> None:
    one, other = torch.zeros(1, 30), torch.zeros(1, 30)
    one[0, :5] = torch.arange(5.0) + 5
    other[0, 10:15] = torch.arange(5.0) + 5
    found = compared_outputs(column_of(one), column_of(other), ())
    assert [row[0] for row in found.rows[:10]] == [
        *(f"class {index}" for index in (4, 3, 2, 1, 0)),
        *(f"class {index}" for index in (14, 13, 12, 11, 10)),
    ]
    assert [row[3] for row in found.rows[:2]] == [number(9.0), number(8.0)]
    assert found.rows[5][3] == number(-9.0)
    turned = compared_outputs(column_of(one), column_of(other), (), sign=-1)
    assert turned.rows[0][3] == number(-9.0)


def test_outputs_that_are_probabilities_or_no_classes_are_told_as_what_they_are() -> None:
    one, other = torch.tensor([[0.1, 0.9]]), torch.tensor([[0.5, 0.5]])
    found = compared_outputs(column_of(one), column_of(other), ())
    assert (found.classes, found.logits) == (True, False)
    maps = compared_outputs(column_of(torch.ones(1, 2, 3)), column_of(torch.full((1, 2, 3), 3.0)), ())
    assert not maps.classes
    assert dict(maps.rows)["max |Δ|"] == number(2.0)
    unlike = compared_outputs(column_of(torch.ones(1, 10)), column_of(torch.ones(1, 1000)), ())
    assert unlike.rows == (("shapes differ", "1×10", "1×1000"),)
    broken = compared_outputs(column_of(torch.tensor([[1.0, math.nan]])), column_of(one), ())
    assert not broken.classes  # NaN has no classes
    assert dict(broken.rows)["max |Δ|"] == number(0.9)  # over what is a number in both


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
