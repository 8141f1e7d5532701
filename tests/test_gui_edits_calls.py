"""Edits of functional calls through the form, from end to end; the difference of every edited input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gui_hands import Hands, choose
from kept_window import window_of_hands
from pytestqt.qtbot import QtBot
from torch import nn
from torch.nn import functional

from hookviewer.gui.edit_dialog import EditDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.state import Message, Shown

T = torch.Tensor


class Block(nn.Module):
    """A residual block whose sum can be edited in the oracle as well."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, x: T) -> T:
        return functional.relu(self.summed(x))

    def summed(self, x: T) -> T:
        return self.conv2(functional.relu(self.conv1(x))) + x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.first, self.second = Block(), Block()

    def forward(self, x: T) -> T:
        return self.second(self.first(x))

    def after(self, summed: T) -> T:
        """Return the output where this is the sum of the first block."""
        return self.second(functional.relu(summed)).detach()


A, B = (torch.randn(1, 2, 5, 6, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
SUM = "first:add#0"


@pytest.fixture
def hands(qtbot: QtBot, kept: list[MainWindow]) -> Hands:
    made = Hands(qtbot, window_of_hands(kept))
    made.open(Net(), [A], [B])
    made.session.set_look(difference=False)
    return made


def net(hands: Hands) -> Net:
    model = hands.session.model
    assert isinstance(model, Net)
    return model


def outputs(hands: Hands) -> list[T]:
    """Return the model's output of every column."""
    return [hands.session.runs[item.number].recording.output for item in hands.session.ticked_inputs]


def test_the_sum_of_a_block_is_zeroed(hands: Hands) -> None:
    hands.tick(SUM)
    hands.edit(SUM, "After it", "Zero")
    expected = net(hands).after(torch.zeros(1, 2, 5, 6))
    plain_a, edited_a, plain_b, edited_b = outputs(hands)
    assert torch.equal(edited_a, expected)
    assert torch.equal(edited_b, expected)
    assert torch.equal(plain_a, net(hands)(A))
    assert torch.equal(plain_b, net(hands)(B))
    hands.click(SUM)
    assert np.abs(hands.painted(1)).max() == 0
    assert "In force" in hands.session.editing.outcome(hands.session.editing.listed[0].number).words
    assert {run.hooks_left for run in hands.session.runs.values()} == {0}


def test_one_channel_of_a_call_is_scaled_before_it(hands: Hands) -> None:
    relu = "first:relu#1"
    dialog = hands.form(relu)
    choose(hands.qtbot, dialog.where, "Before it")
    choose(hands.qtbot, dialog.operation, "Scale")
    hands.qtbot.keyClicks(dialog.channels, "1")
    dialog.fields.number.clear()
    hands.qtbot.keyClicks(dialog.fields.number, "-3")
    assert "channel 1" in dialog.sentence.text()
    hands.apply(dialog)
    summed = net(hands).first.summed(A)
    expected = net(hands).after(torch.cat([summed[:, :1], summed[:, 1:] * -3], 1))
    assert torch.equal(outputs(hands)[1], expected)


def test_the_sum_is_that_of_another_input(hands: Hands) -> None:
    hands.session.tick_input(hands.session.inputs[1].number, False)
    hands.edit(SUM, "After it", "Same tensor of another input", "b")
    hands.settle()
    plain, patched = outputs(hands)
    assert torch.equal(patched, net(hands)(B))
    assert not torch.equal(plain, patched)


def test_every_edited_input_has_its_difference(hands: Hands) -> None:
    hands.edit(SUM, "After it", "Scale", 2)
    hands.click("second")
    hands.show(Shown.OUTPUT)
    menu = hands.window.wall.controls.difference.menu()
    menu.aboutToShow.emit()
    entries = {action.text(): action for action in menu.actions() if "original" in action.text()}
    assert list(entries) == ["a: edited − original (B − A)", "b: edited − original (D − C)"]
    assert [action.isChecked() for action in entries.values()] == [True, False]
    entries["b: edited − original (D − C)"].trigger()
    whole = [net(hands).after(factor * net(hands).first.summed(B)) for factor in (2, 1)]
    np.testing.assert_allclose(hands.painted(), (whole[0] - whole[1])[0].numpy(), atol=1e-6)
    last = hands.window.wall.wall.difference
    assert last is not None
    assert last.title == "edited − original (D − C)"
    menu.aboutToShow.emit()
    entries = {action.text(): action for action in menu.actions() if "original" in action.text()}
    entries["a: edited − original (B − A)"].trigger()
    whole = [net(hands).after(factor * net(hands).first.summed(A)) for factor in (2, 1)]
    np.testing.assert_allclose(hands.painted(), (whole[0] - whole[1])[0].numpy(), atol=1e-6)


def test_an_edit_of_a_call_that_changes_nothing_says_so(hands: Hands) -> None:
    told: list[Message] = []
    hands.session.message_told.connect(told.append)
    hands.edit(SUM, "After it", "Scale", 1)
    outcome = hands.session.editing.outcome(hands.session.editing.listed[0].number)
    assert (outcome.tone, outcome.words) == ("warn", "Changed nothing: the values were like that before.")
    warned = [one for one in told if one.tone == "warn"]
    assert [one.what for one in warned] == ["An edit had no effect: scale first:add#0 output by 1."]
    hands.session.message_told.disconnect(told.append)


def test_the_form_knows_which_calls_there_are(hands: Hands) -> None:
    dialog = hands.form(SUM)
    completer = dialog.path.completer()
    completer.setCompletionPrefix("add")
    assert completer.completionModel().rowCount() == 2
    problems = {}
    for path in ("first:sub#0", "nothing:add#0"):
        dialog.path.setText(path)
        problems[path] = dialog.problem.text()
        assert not dialog.go.isEnabled()
    assert problems == {
        "first:sub#0": "first made no such call in the last run; it made relu#0, add#0, relu#1.",
        "nothing:add#0": "The model has no layer nothing:add#0.",
    }
    dialog.path.setText(SUM)
    choose(hands.qtbot, dialog.where, "The gradient of a parameter")
    assert dialog.problem.text() == "first:add#0 has no parameters of its own."
    dialog.reject()
    hands.qtbot.waitUntil(lambda: hands.window.findChild(EditDialog) is None)


def test_where_nothing_differs_the_foot_says_so_and_narrow_columns_say_which_one_is_edited(
    hands: Hands,
) -> None:
    hands.edit("second", "After it", "Scale", 2)
    hands.session.set_look(difference=True)
    hands.click("first")
    hands.show(Shown.OUTPUT)
    wall = hands.window.wall
    hands.painted()
    assert "nothing differs" in wall.foot.words.toolTip()
    hands.click("second")
    hands.painted()
    assert "difference ±" in wall.foot.words.toolTip()
    head = wall.lanes.columns[1].head
    titles = []
    for width in (400, 124, 90):
        head.resize(width, head.height())
        titles.append(head.title.text())
    assert titles[:2] == ["a · edited", "edited"]
    assert titles[2] != "edited"
    last = wall.lanes.columns[-1].head
    last.resize(80, last.height())
    assert last.title.text() == "B − A"
