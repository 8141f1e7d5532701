"""Values changed on the way: the list of edits, the variant of every run, what came of each edit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from gui_nets import settled
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.gui.columns import resolve
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.edit_start import of_channel, of_region, placed
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Message, Shown, TargetChoice, Variant
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind


class Straight(nn.Sequential):
    """A purely sequential net: patching a whole layer patches all that follows."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        super().__init__(
            nn.Conv2d(3, 4, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(4, 5, 3, padding=1),
            nn.Flatten(),
            nn.Linear(5 * 36, 3),
        )


def picture(seed: int) -> Input:
    return Input(f"picture{seed}", (torch.rand(1, 3, 6, 6, generator=torch.Generator().manual_seed(seed)),))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    made = Session()
    yield made
    made.close()


@pytest.fixture
def straight(qtbot: QtBot, session: Session) -> Session:
    session.set_model(Straight())
    session.add_inputs([picture(1)])
    session.add_inputs([picture(2)], ticked=False)
    session.set_settings(target=TargetChoice("sum"))
    session.tick(["1", "2", "4"], True)
    session.select(path="1")
    settled(qtbot, session)
    return session


@pytest.fixture
def teaching(qtbot: QtBot, session: Session) -> Session:
    """The net of 882 = 10·7 + 30·27 + 2, with the gradients of inputs and parameters."""
    session.set_model(hv.open_model("demo:fc_relu_fc"))
    kinds = session.plan.kinds | {Kind.GRAD_INPUT, Kind.PARAM_GRAD}
    session.set_plan(dataclasses.replace(session.plan, paths=frozenset({"", "fc1", "fc2"}), kinds=kinds))
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([Input("ones", (torch.ones(1, 3),))])
    settled(qtbot, session)
    return session


def output(session: Session, place: int = -1) -> torch.Tensor:
    made: torch.Tensor = session.runs[session.ticked_inputs[place].number].recording.output
    return made


def value(session: Session, place: int, path: str, kind: Kind, leaf: str = "") -> torch.Tensor:
    recording = session.runs[session.ticked_inputs[place].number].recording
    return recording[Key(path, kind, 0, leaf)].tensor()


# ------------------------------------------------------------------ the values


def test_zeroing_channel_2_of_the_teaching_nets_relu_gives_72(qtbot: QtBot, teaching: Session) -> None:
    before = {name: tensor.clone() for name, tensor in teaching.model.state_dict().items()}  # type: ignore[union-attr]
    teaching.select(path="relu1")
    settled(qtbot, teaching)
    teaching.editing.add(of_channel(teaching, 2))
    settled(qtbot, teaching)
    assert [one.title for one in teaching.ticked_inputs] == ["ones", "ones · edited"]
    assert output(teaching, 0).tolist() == [[882.0]]
    assert output(teaching, 1).tolist() == [[72.0]]
    assert teaching.editing.outcome(1).words == "In force"
    after = teaching.model.state_dict()  # type: ignore[union-attr]
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert all(run.hooks_left == 0 for run in teaching.runs.values())


def test_a_gradient_doubled_at_the_relu_leaves_the_later_layer_alone(qtbot: QtBot, teaching: Session) -> None:
    teaching.editing.add(EditChoice("relu1", "scale", Kind.GRAD_OUTPUT, numbers=(2.0,)))
    settled(qtbot, teaching)
    plain, doubled = (value(teaching, place, "", Kind.GRAD_INPUT, "[0]") for place in (0, 1))
    assert plain.tolist() == [[220.0, 260.0, 300.0]]
    assert doubled.tolist() == [[440.0, 520.0, 600.0]]
    later = [value(teaching, place, "fc2", Kind.PARAM_GRAD, "weight") for place in (0, 1)]
    assert later[0].tolist() == later[1].tolist() == [[7.0, 0.0, 27.0, 0.0]]


def test_a_gradient_doubled_at_the_first_layers_input_leaves_its_weight_alone(
    qtbot: QtBot, teaching: Session
) -> None:
    teaching.editing.add(EditChoice("fc1", "scale", Kind.GRAD_INPUT, numbers=(2.0,)))
    settled(qtbot, teaching)
    assert value(teaching, 1, "", Kind.GRAD_INPUT, "[0]").tolist() == [[440.0, 520.0, 600.0]]
    weights = [value(teaching, place, "fc1", Kind.PARAM_GRAD, "weight") for place in (0, 1)]
    assert weights[0].tolist() == weights[1].tolist() == [[10.0] * 3, [0.0] * 3, [30.0] * 3, [0.0] * 3]


@pytest.mark.parametrize(("path", "kind"), [("1", Kind.OUTPUT), ("2", Kind.INPUT)])
def test_patching_every_channel_from_another_input_gives_that_inputs_output(
    qtbot: QtBot, straight: Session, path: str, kind: Kind
) -> None:
    choice = EditChoice(path, "patch", kind, channels=(0, 1, 2, 3), of=(2,), names=("picture2",))
    straight.editing.add(placed(straight, choice))  # picture2 is not ticked and was never run
    assert straight.editing.outcome(1).tone == "waiting"
    settled(qtbot, straight)
    expected = straight.model(*straight.inputs[1].input.args)  # type: ignore[misc]
    assert torch.equal(output(straight, 1), expected.detach())
    assert not torch.equal(output(straight, 0), output(straight, 1))


def test_the_mean_over_inputs_is_put_in_place(qtbot: QtBot, straight: Session) -> None:
    names = tuple(one.input.name for one in straight.inputs)
    straight.editing.add(EditChoice("0", "mean", of=(1, 2), names=names))
    settled(qtbot, straight)
    first = straight.model[0]  # type: ignore[index]
    both = [first(*one.input.args).detach().double() for one in straight.inputs]
    mean = ((both[0] + both[1]) / 2).float()
    torch.testing.assert_close(value(straight, 1, "1", Kind.OUTPUT), mean.relu())


def test_edits_apply_in_the_order_of_the_list(qtbot: QtBot, teaching: Session) -> None:
    editing = teaching.editing
    editing.add(EditChoice("relu1", "add", numbers=(1.0,)))
    editing.add(EditChoice("relu1", "scale", numbers=(2.0,)))
    settled(qtbot, teaching)
    # fc2 of (relu + 1) · 2, with relu = 7, 0, 27, 0 and weights 10, 20, 30, 40
    assert output(teaching).tolist() == [[2 * (880 + 100) + 2.0]]
    editing.move(2, 0)
    settled(qtbot, teaching)
    assert output(teaching).tolist() == [[2 * 880 + 100 + 2.0]]
    editing.switch(1, False)
    settled(qtbot, teaching)
    assert output(teaching).tolist() == [[2 * 880 + 2.0]]
    editing.clear()
    settled(qtbot, teaching)
    assert teaching.variants == (PLAIN,)
    assert len(teaching.ticked_inputs) == 1


def test_a_rectangle_is_edited_in_every_channel(qtbot: QtBot, straight: Session) -> None:
    straight.select(region=(1, 2, 3, 5))
    straight.editing.add(of_region(straight))
    settled(qtbot, straight)
    expected = value(straight, 0, "1", Kind.OUTPUT)
    assert bool((expected[:, :, 1:3, 2:5] > 0).any())
    expected[:, :, 1:3, 2:5] = 0
    assert torch.equal(value(straight, 1, "1", Kind.OUTPUT), expected)
    assert straight.editing.listed[0].choice.words == "zero rows 1, 2, columns 2–4 of 1 output"


@pytest.mark.parametrize(
    ("reading", "place"),
    [
        ("sample × channel × time", (slice(None), 1)),
        ("sample × token × feature", (slice(None), slice(1, 3), slice(2, 5))),  # one map: a rectangle of it
    ],
)
def test_channels_and_rectangles_are_those_that_the_wall_shows(
    qtbot: QtBot, session: Session, reading: str, place: tuple[slice, ...]
) -> None:
    torch.manual_seed(0)
    session.set_model(nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 2)))
    session.add_inputs([Input("tokens", (torch.rand(1, 5, 6),))])
    session.tick(["0"], True)
    session.select(path="0")
    settled(qtbot, session)
    session.set_reading(reading)
    session.select(region=(1, 2, 3, 5))
    session.editing.add(of_channel(session, 1) if "channel" in reading else of_region(session))
    settled(qtbot, session)
    changed = value(session, 0, "0", Kind.OUTPUT)
    changed[place] = 0
    assert torch.equal(value(session, 1, "0", Kind.OUTPUT), changed)


# ------------------------------------------------------------------ what came of them


def told(session: Session) -> list[Message]:
    messages: list[Message] = []
    session.message_told.connect(messages.append)
    return messages


def test_an_edit_that_changed_nothing_says_so_once(qtbot: QtBot, straight: Session) -> None:
    messages = told(straight)
    straight.editing.add(EditChoice("1", "clamp", numbers=(0.0, None)))
    settled(qtbot, straight)
    outcome = straight.editing.outcome(1)
    assert outcome.tone == "warn"
    assert outcome.words.startswith("Changed nothing")
    assert [one.what for one in messages if one.tone == "warn"] == [
        "An edit had no effect: limit 1 output to at least 0."
    ]
    straight.run()
    settled(qtbot, straight)
    assert sum("no effect" in one.what for one in messages) == 1


def test_an_edit_of_a_call_that_does_not_come_did_not_run(qtbot: QtBot, straight: Session) -> None:
    straight.editing.add(EditChoice("1", call=4))
    settled(qtbot, straight)
    assert straight.editing.outcome(1).words.startswith("Did not run")


def test_a_function_that_raises_says_so_on_its_row_and_the_plain_run_stays(
    qtbot: QtBot, straight: Session, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.py"
    wrong = (
        "def half(tensor):\n    return tensor[:, :1]\n\n\ndef fails(tensor):\n    raise ValueError('no')\n"
    )
    file.write_text(wrong)
    plain = straight.recording(1)
    straight.editing.add(EditChoice("1", "function", file=str(file), function="fails"))
    settled(qtbot, straight)
    outcome = straight.editing.outcome(1)
    assert outcome.tone == "error"
    assert "fails()" in outcome.words
    assert "ValueError" in outcome.words
    straight.editing.exchange(1, EditChoice("1", "function", file=str(file), function="half"))
    settled(qtbot, straight)
    assert "it must return [1, 4, 6, 6]" in straight.editing.outcome(1).words
    assert straight.recording(1) is plain
    straight.editing.exchange(1, EditChoice("1", "function", file=str(file), function="none"))
    assert "has no function none" in straight.editing.outcome(1).words
    settled(qtbot, straight)
    assert straight.variants == (PLAIN,)


def test_a_gradient_edit_without_a_target_says_what_is_missing(qtbot: QtBot, straight: Session) -> None:
    straight.editing.add(EditChoice("1", "reverse", Kind.GRAD_OUTPUT))
    straight.set_settings(target=TargetChoice("none"))
    settled(qtbot, straight)
    assert "Choose a target" in straight.editing.outcome(1).words
    straight.set_settings(target=TargetChoice("sum"))
    settled(qtbot, straight)
    assert straight.editing.outcome(1).words == "In force"


def test_other_variants_are_left_alone(qtbot: QtBot, straight: Session) -> None:
    other = Variant(1, "trained", (("mode", "train"),))
    straight.set_variants((PLAIN, other))
    straight.editing.add(EditChoice("1"))
    assert [one.name for one in straight.variants] == ["", "trained", "edited"]
    straight.editing.switch(1, False)
    assert straight.variants == (PLAIN, other)
    settled(qtbot, straight)


# ------------------------------------------------------------------ the model read again


def test_another_model_begins_without_edits(qtbot: QtBot, straight: Session) -> None:
    straight.editing.add(EditChoice("1"))
    settled(qtbot, straight)
    straight.set_model(Straight())
    assert straight.editing.listed == ()
    assert straight.variants == (PLAIN,)
    settled(qtbot, straight)


def test_the_same_network_made_anew_keeps_the_edits_of_layers_that_it_still_has(
    qtbot: QtBot, straight: Session
) -> None:
    messages = told(straight)
    straight.editing.add(EditChoice("1", "patch", of=(2,), names=("picture2",)))
    straight.editing.add(EditChoice("4", "scale", numbers=(2.0,)))
    settled(qtbot, straight)
    shorter = nn.Sequential(*list(Straight().children())[:4])
    with torch.no_grad():
        shorter[0].weight.mul_(3)
    straight.exchange_model(shorter)
    straight.run()
    settled(qtbot, straight)
    assert [one.choice.path for one in straight.editing.listed] == ["1"]
    assert any("no 4 any more" in one.now for one in messages)
    assert torch.equal(output(straight, 1), shorter(*straight.inputs[1].input.args).detach())


# ------------------------------------------------------------------ the columns


def test_the_difference_of_an_input_and_its_edited_run_is_edited_minus_original(
    qtbot: QtBot, straight: Session
) -> None:
    straight.tick_input(2, True)
    straight.editing.add(EditChoice("0", "scale", numbers=(-1.0,)))
    straight.set_look(difference=True)
    for number, letters in ((1, "B − A"), (2, "D − C")):
        straight.select(path="2", input=number, shown=Shown.OUTPUT)
        settled(qtbot, straight)
        wall = resolve(
            straight.ticked_inputs, straight.runs, straight.selection, straight.look, running=False
        )
        last = wall.difference
        assert last is not None
        assert last.title == f"edited − original ({letters})"
        places = (0, 1) if number == 1 else (2, 3)
        plain, edited = (value(straight, place, "2", Kind.OUTPUT)[0] for place in places)
        assert last.maps is not None
        assert torch.equal(torch.from_numpy(last.maps.values), edited - plain)
        assert bool((edited != plain).any())
