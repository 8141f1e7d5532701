"""Every worked example through the window: hooks set with mouse and keys, numbers read from the screen.

What no module returns is a functional call here; the nets have no tap that names a tensor.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from gui_hands import LEFT, Hands, choose
from kept_window import window_of_hands
from pytestqt.qtbot import QtBot
from test_ops_worked_examples import FcReluFc, MeanSquare, Shared, SquareMean, ThreeLayers, TwoPaths
from torch import nn

import hookviewer as hv
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.module_model import OUTPUT, PARAMETERS
from hookviewer.gui.state import Shown

T = torch.tensor
OUT, GRADIENT = Shown.OUTPUT, Shown.GRADIENT
AFTER, AT_OUTPUT, AT_INPUT = "After it", "The gradient at the output", "The gradient at the input"


@pytest.fixture
def hands(qtbot: QtBot, kept: list[MainWindow]) -> Hands:
    return Hands(qtbot, window_of_hands(kept))


def no_hook_is_left(hands: Hands) -> bool:
    return {run.hooks_left for run in hands.session.runs.values()} == {0}


# ------------------------------------------------------------------ S0-A, S0-L: hooks on tensors


def test_the_mean_of_squares(hands: Hands) -> None:
    hands.open(MeanSquare(), [T([[1.0, 2.0], [3.0, 4.0]])])
    hands.tick(":add#0", ":mean#0")
    assert hands.numbers(":mean#0") == [13.5]
    assert hands.window.run_bar.value.text() == "= 13.500"
    values, gradients, given = [], [], []
    for sample in range(2):
        hands.session.set_look(sample=sample)
        values += hands.numbers(":add#0")
        gradients += hands.numbers(":add#0", GRADIENT)
        given += hands.numbers("", GRADIENT, "input")
    assert sorted(values) == [2, 3, 4, 5]
    assert sorted(gradients) == sorted(given) == [1, 1.5, 2, 2.5]  # 2y/4 at y, and the same at x
    assert no_hook_is_left(hands)


def test_the_mean_of_a_square_has_a_quarter_of_a_gradient(hands: Hands) -> None:
    hands.open(SquareMean(), [T([2.0] * 4)])
    hands.tick(":pow#0", ":mean#0")
    assert hands.numbers(":pow#0") == [4] * 4
    assert hands.numbers(":mean#0") == [4]
    assert hands.numbers(":pow#0", GRADIENT) == [0.25] * 4
    assert hands.numbers("", GRADIENT, "input") == [1] * 4


# ------------------------------------------------------------------ S0-B, S0-C, S0-D, S0-K, S2: w, x, a, b, y


def at_w_and_x(hands: Hands, column: int) -> list[float]:
    """Return the gradients at w and x, the inputs of the model."""
    found = [hands.numbers("", GRADIENT, "input", f"[{one}]", column)[0] for one in range(2)]
    hands.session.select(leaf="")
    return found


def test_w_x_a_b_y_and_a_hook_on_a(hands: Hands) -> None:
    hands.open(TwoPaths(), [T([1.0]), T([2.0])])
    hands.tick(":add#0", ":add#1", ":mul#0")
    assert [hands.numbers(path)[0] for path in (":add#0", ":add#1", ":mul#0")] == [3, 2, 6]
    assert hands.numbers(":add#0", GRADIENT) == [2]
    assert at_w_and_x(hands, 0) == [5, 2]
    hands.edit(":add#0", AT_OUTPUT, "Scale", 2)
    assert at_w_and_x(hands, 1) == [7, 4]
    hands.edit(":add#0", AT_OUTPUT, "Scale", 3)
    assert at_w_and_x(hands, 1) == [15, 12]
    assert no_hook_is_left(hands)


def test_several_hooks_on_w_run_in_their_order(hands: Hands) -> None:
    hands.open(TwoPaths(), [T([1.0]), T([2.0])])
    for factor in (2, 3):
        dialog = hands.form("")
        choose(hands.qtbot, dialog.where, AT_INPUT)
        choose(hands.qtbot, dialog.leaf, "[0]")
        choose(hands.qtbot, dialog.operation, "Scale")
        dialog.fields.number.clear()
        hands.qtbot.keyClicks(dialog.fields.number, str(factor))
        hands.apply(dialog)
    assert at_w_and_x(hands, 0) == [5, 2]  # what the first hook sees
    assert at_w_and_x(hands, 1) == [30, 2]
    edits = hands.session.editing.listed
    assert [one.choice.numbers for one in edits] == [(2.0,), (3.0,)]
    hands.session.editing.switch(edits[1].number, False)
    hands.settle()
    assert at_w_and_x(hands, 1) == [10, 2]  # what the second hook sees


def test_an_edit_of_a_shared_gradient_stays_in_its_branch(hands: Hands) -> None:
    hands.open(Shared(), [T([1.0]), T([2.0])])
    hands.edit(":mul#1", AT_OUTPUT, "Scale", 2)
    assert at_w_and_x(hands, 1) == [3, 10]


# ------------------------------------------------------------------ S0-E to S0-I: fc, relu, fc


def test_fc_relu_fc_forward(hands: Hands) -> None:
    hands.open(FcReluFc([1.0, 2.0, 3.0, 4.0], 1.0), [torch.ones(1, 3)])
    hands.tick("fc1", ":relu#0", "fc2")
    before, after = [7, -13, 27, -29], [7, 0, 27, 0]
    assert hands.numbers("fc1", OUT, "input") == [1, 1, 1]
    assert hands.numbers("fc1") == hands.numbers(":relu#0", OUT, "input") == before
    assert hands.numbers(":relu#0") == hands.numbers("fc2", OUT, "input") == after
    assert hands.numbers("fc2") == [89]
    assert hands.numbers("", GRADIENT, "input") == [22, 26, 30]


@pytest.mark.parametrize("given", [torch.ones(1, 3), torch.ones(3)])
def test_fc_relu_fc_backward_of_a_batch_and_of_a_vector(hands: Hands, given: torch.Tensor) -> None:
    hands.open(FcReluFc([10.0, 20.0, 30.0, 40.0], 2.0), [given])
    hands.tick("fc1", ":relu#0", "fc2")
    assert hands.numbers("fc2") == [882]
    through, at_fc1 = [10, 20, 30, 40], [10, 0, 30, 0]
    assert hands.numbers("fc2", GRADIENT) == [1]
    assert hands.numbers("fc2", GRADIENT, "input") == through
    assert hands.numbers(":relu#0", GRADIENT) == through
    assert hands.numbers(":relu#0", GRADIENT, "input") == at_fc1
    assert hands.numbers("fc1", GRADIENT) == at_fc1
    assert hands.numbers("fc1", GRADIENT, "input") == [220, 260, 300]
    run = hands.session.runs[hands.session.ticked_inputs[0].number]
    assert run.recording.leaves("fc1", hv.Kind.GRAD_INPUT) == ("[0]",)  # inputs only, no weights
    came = [key.path for key in run.recording if key.kind is hv.Kind.GRAD_OUTPUT]
    assert [path for path in dict.fromkeys(came) if path] == ["fc2", ":relu#0", "fc1"]
    assert no_hook_is_left(hands)


def test_fc_relu_fc_weights_have_their_gradients_beside_them(hands: Hands) -> None:
    hands.open(FcReluFc([10.0, 20.0, 30.0, 40.0], 2.0), [torch.ones(1, 3)])
    hands.session.set_look(beside=True)
    expected: dict[str, Any] = {
        "fc1": [[10.0] * 3, [0.0] * 3, [30.0] * 3, [0.0] * 3],
        "fc2": [7.0, 0.0, 27.0, 0.0],
    }
    for path, gradient in expected.items():
        hands.click(path)
        hands.show(Shown.WEIGHTS)
        assert hands.painted() == gradient
    hands.session.set_look(beside=False)
    hands.show(OUT)


def test_an_input_that_is_cut_off_says_why_it_has_no_gradient(hands: Hands) -> None:
    class Cut(FcReluFc):
        def forward(self, x: torch.Tensor) -> Any:
            return super().forward(x.detach())

    hands.open(Cut([10.0, 20.0, 30.0, 40.0], 2.0), [torch.ones(1, 3)])
    hands.tick("fc1")
    assert hands.numbers("fc1", GRADIENT) == [10, 0, 30, 0]
    hands.show(GRADIENT, "input")
    hands.window.wall.refresh()
    assert "require" in hands.window.wall.wall.columns[0].reason


def test_fc_relu_fc_is_changed_on_the_way(hands: Hands) -> None:
    hands.open(FcReluFc([10.0, 20.0, 30.0, 40.0], 2.0), [torch.ones(1, 3)])
    hands.tick("fc1", ":relu#0", "fc2")
    hands.edit(":relu#0", AFTER, "Zero")
    assert hands.numbers("fc2", column=1) == [2]
    assert hands.numbers("fc2", column=0) == [882]
    hands.session.editing.clear()
    hands.edit("fc1", "Before it", "Scale", 2)
    assert hands.numbers("fc1", column=1) == [13, -28, 51, -62]
    assert hands.numbers("fc2", column=1) == [1662]
    assert no_hook_is_left(hands)


# ------------------------------------------------------------------ S1: the small CNN


def test_the_simple_cnn_has_its_shapes_and_parameters(hands: Hands) -> None:
    torch.manual_seed(0)
    net = nn.Sequential()
    net.add_module("conv1", nn.Conv2d(3, 16, 3))
    net.add_module("relu", nn.ReLU())
    hands.open(net, [torch.randn(1, 3, 32, 32)], calls=False)
    hands.tick("conv1", "relu")
    rows = {path: hands.row(path) for path in ("", "conv1", "relu")}
    assert {row.siblingAtColumn(OUTPUT).data() for row in rows.values()} == {"16×30×30"}
    assert rows[""].siblingAtColumn(PARAMETERS).data() == "448"
    tip = str(rows["conv1"].data(3))
    assert "1×3×32×32 → 1×16×30×30" in tip
    shown = {}
    for path in rows:
        hands.click(path)
        hands.show(OUT)
        shown[path] = torch.tensor(hands.painted(0))
    assert torch.equal(shown["relu"], shown["conv1"].clamp(min=0))
    assert torch.equal(shown["relu"], shown[""])


def test_the_simple_cnn_counts_its_channels(hands: Hands) -> None:
    hands.open(hv.open_model("demo:simple_cnn"), [torch.ones(1, 3, 32, 32)], calls=False)
    hands.tick("conv1", "relu")
    inspector = hands.window.docks.inspector
    for path in ("conv1", "relu"):
        hands.click(path)
        hands.show(OUT)
        for channel in (0, 4, 5, 15):
            hands.session.select(channel=channel)
            inspector.refresh_slow()
            rows = {one[0]: one[1].replace("−", "-") for one in inspector.statistics.rows}
            expected = channel - 5 if path == "conv1" else max(channel - 5, 0)
            assert float(rows["mean"]) == float(rows["max"]) == expected


# ------------------------------------------------------------------ S3: the MLP with hooks of its own


def test_the_tutorials_mlp_keeps_its_own_hooks(hands: Hands) -> None:
    model = hv.open_model("demo:mlp")
    given = torch.randn(1, 784, generator=torch.Generator().manual_seed(2))
    hands.open(model, [given])
    hands.tick("fc1", "fc2")
    assert hands.row("").siblingAtColumn(PARAMETERS).data() == "203.5 k"
    assert "203,530 parameters" in str(hands.row("").data(3))
    assert hands.numbers("fc2", GRADIENT) == [1] * 10
    hands.click("fc1")
    hands.show(OUT)
    first, second = model.fc1, model.fc2
    assert isinstance(first, nn.Linear)
    assert isinstance(second, nn.Linear)
    with torch.no_grad():
        expected = (given @ first.weight.T + first.bias)[0]
        at_x = second.weight.sum(0) @ first.weight
    assert torch.allclose(torch.tensor(hands.painted(0)), expected, atol=1e-5)
    hands.show(GRADIENT, "input")
    assert torch.allclose(torch.tensor(hands.painted(0)), at_x, atol=1e-5)
    before = len(model.conv_outputs)  # type: ignore[arg-type]
    assert before
    hands.qtbot.mouseClick(hands.window.run_bar.run, LEFT)
    hands.settle()
    assert len(model.conv_outputs) == before + 1  # type: ignore[arg-type]


# ------------------------------------------------------------------ S4: three linear layers


def test_three_random_layers_follow_the_chain_rule(hands: Hands) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 5), nn.Linear(5, 3), nn.Linear(3, 1))
    hands.open(net, [torch.randn(10)])
    hands.tick("0", "1", "2")
    third, whole = net[2].weight[0], (net[2].weight @ net[1].weight @ net[0].weight)[0]
    assert hands.numbers("1", GRADIENT) == pytest.approx(third.tolist(), rel=5e-3)
    at_input = hands.numbers("0", GRADIENT, "input")
    assert at_input == pytest.approx(whole.tolist(), rel=5e-3)  # three figures are told
    assert len(at_input) == 10  # the gradient by its input, not its feature map
    assert len(hands.numbers("0")) == 5


def test_three_layers_without_modules(hands: Hands) -> None:
    hands.open(ThreeLayers(), [torch.ones(10)])
    names = [f":linear#{place}" for place in range(3)]
    hands.tick(*names)
    assert [hands.numbers(path) for path in names] == [[10] * 5, [100] * 3, [900]]
    assert [hands.numbers(path, GRADIENT) for path in names] == [[18] * 5, [3] * 3, [1]]
    first = {"leaf": "[0]"}
    assert [hands.numbers(path, GRADIENT, "input", **first) for path in names] == [
        [90] * 10,
        [18] * 5,
        [3] * 3,
    ]
    assert hands.numbers("", GRADIENT, "input") == [90] * 10
