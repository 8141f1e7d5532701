"""The session: what ticking, clicking, running, stopping and failing do to its state."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.edits import Edit, scale
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Message, Shown, TargetChoice, Variant
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind


class Slow(nn.Module):
    """Sleeps, so that a test can stop it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.02)
        return x * 1.5


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("seven is not eight")


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(4 * 4 * 4, 5))


def picture(seed: int = 0) -> Input:
    values = torch.randn(1, 3, 6, 6, generator=torch.Generator().manual_seed(seed))
    return Input(f"picture{seed}", (values,))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    yield one
    one.close()


def settled(qtbot: QtBot, session: Session) -> None:
    qtbot.waitUntil(lambda: not session.runner.busy and not session.running, timeout=20_000)


def test_a_tick_records_what_a_plain_hook_with_a_clone_sees(qtbot: QtBot, session: Session) -> None:
    model, given = net(), picture()
    session.set_model(model)
    session.add_inputs([given])
    session.tick(["0"], True)
    settled(qtbot, session)
    seen = []
    with torch.no_grad(), model[0].register_forward_hook(lambda m, a, out: seen.append(out.clone()) and None):
        model.eval()(*given.args)
    record = session.recording(1).record("0", Kind.OUTPUT)
    assert torch.equal(record.tensor(), seen[0])
    assert record.overwritten_by == "1"
    assert Key("0", Kind.GRAD_OUTPUT) in session.recording(1)


def test_clicking_an_unrecorded_module_records_it_and_keeps_the_rest(qtbot: QtBot, session: Session) -> None:
    session.set_model(net())
    session.add_inputs([picture()])
    session.tick(["0"], True)
    settled(qtbot, session)
    before = session.recording(1).record("0", Kind.OUTPUT)
    session.select(path="3")
    settled(qtbot, session)
    assert Key("3", Kind.OUTPUT) in session.recording(1)
    assert session.recording(1).record("0", Kind.OUTPUT) is before
    assert {key.path for key in session.runs[1].summaries} >= {"0", "3"}


def test_without_auto_nothing_runs_until_run(qtbot: QtBot, session: Session) -> None:
    session.set_auto(False)
    session.set_model(net())
    session.add_inputs([picture()])
    session.tick(["0"], True)
    assert not session.running
    assert session.runs == {}
    session.run()
    settled(qtbot, session)
    assert Key("0", Kind.OUTPUT) in session.recording(1)


def test_two_ticked_inputs_are_both_run_and_a_third_one_is_not(qtbot: QtBot, session: Session) -> None:
    session.set_auto(False)
    session.set_model(net())
    session.add_inputs([picture(0), picture(1), picture(2)])
    session.tick_input(3, False)
    session.run()
    settled(qtbot, session)
    assert set(session.runs) == {1, 2}


def test_another_target_makes_the_runs_anew(qtbot: QtBot, session: Session) -> None:
    session.set_model(net())
    session.add_inputs([picture()])
    session.tick(["3"], True)
    settled(qtbot, session)
    session.set_settings(target=TargetChoice("class", 2))
    settled(qtbot, session)
    assert session.recording(1).record("3", Kind.GRAD_OUTPUT).array().tolist() == [[0, 0, 1, 0, 0]]
    session.set_settings(target=TargetChoice("none"))
    settled(qtbot, session)
    assert Key("3", Kind.GRAD_OUTPUT) not in session.recording(1)


def test_a_raising_layer_is_named_and_what_came_before_is_kept(qtbot: QtBot, session: Session) -> None:
    told: list[Message] = []
    session.message_told.connect(told.append)
    session.set_model(nn.Sequential(nn.Conv2d(3, 4, 3), Raises()))
    session.add_inputs([picture()])
    session.tick(["0", "1"], True)
    settled(qtbot, session)
    run = session.runs[1]
    assert run.error.path == "1"
    assert "seven is not eight" in run.error.sentence
    assert Key("0", Kind.OUTPUT) in run.recording
    assert any(message.tone == "error" and "Traceback" in message.report for message in told)


def test_stop_ends_the_run_within_a_layer_and_keeps_what_was_recorded(qtbot: QtBot, session: Session) -> None:
    session.set_auto(False)
    model = nn.Sequential(*[Slow() for _ in range(100)])
    session.set_model(model)
    session.add_inputs([picture()])
    session.tick([str(i) for i in range(100)], True)
    session.set_settings(target=TargetChoice("sum"))
    session.run()
    qtbot.waitUntil(lambda: session.recording(1) is not None and len(session.recording(1)) > 3)
    started = time.monotonic()
    session.stop()
    settled(qtbot, session)
    assert time.monotonic() - started < 1
    assert 3 < len(session.recording(1)) < 100
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in model.modules())


def test_a_removed_input_can_be_put_back_with_its_run(qtbot: QtBot, session: Session) -> None:
    told: list[Message] = []
    session.message_told.connect(told.append)
    session.set_model(net())
    session.add_inputs([picture()])
    session.tick(["0"], True)
    settled(qtbot, session)
    runs = session.runs
    session.remove_input(1)
    assert session.inputs == ()
    told[-1].undo()
    assert [item.number for item in session.inputs] == [1]
    assert session.runs == runs


def test_a_setter_emits_only_on_a_real_change(qtbot: QtBot, session: Session) -> None:
    session.set_model(net())
    with qtbot.waitSignal(session.selection_changed):
        session.select(shown=Shown.GRADIENT)
    with qtbot.assertNotEmitted(session.selection_changed):
        session.select(shown=Shown.GRADIENT)
    with qtbot.assertNotEmitted(session.look_changed):
        session.set_look(scale="auto")


def test_another_model_drops_runs_and_ticks_and_keeps_the_inputs(qtbot: QtBot, session: Session) -> None:
    session.set_model(net())
    session.add_inputs([picture()])
    session.tick(["0"], True)
    settled(qtbot, session)
    session.set_auto(False)
    session.set_model(nn.Sequential(nn.Conv2d(3, 2, 1)))
    assert session.runs == {}
    assert session.plan.paths == frozenset()
    assert len(session.inputs) == 1


class TwoHeads(nn.Module):
    """Returns a class index and two tensors of scores."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.a(x).argmax(1), self.a(x), self.b(x)


def test_an_output_of_several_tensors_starts_the_gradient_at_the_first_float_one(
    qtbot: QtBot, session: Session
) -> None:
    session.set_model(TwoHeads())
    session.add_inputs([Input("x", (torch.ones(1, 3),))])
    session.set_settings(target=TargetChoice("sum"))
    session.tick(["a", "b"], True)
    settled(qtbot, session)
    assert session.recording(1).record("a", Kind.GRAD_OUTPUT, 1).array().tolist() == [[1, 1, 1, 1]]
    assert Key("b", Kind.GRAD_OUTPUT) not in session.recording(1)
    session.set_settings(target=TargetChoice("sum", leaf="[2]"))
    settled(qtbot, session)
    assert session.recording(1).record("b", Kind.GRAD_OUTPUT).array().tolist() == [[1, 1]]


def test_while_it_runs_again_the_earlier_values_stay_and_then_only_the_new_ones(
    qtbot: QtBot, session: Session
) -> None:
    session.set_auto(False)
    session.set_model(nn.Sequential(Slow(), Slow(), Slow()))
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([picture()])
    session.tick(["0", "2"], True)
    session.run()
    settled(qtbot, session)
    session.tick(["0"], False)
    kept: list[bool] = []
    for changed in (session.runs_changed, session.run_grew):
        changed.connect(lambda *_: kept.append(Key("2", Kind.OUTPUT) in session.recording(1)))
    session.run()
    settled(qtbot, session)
    assert kept
    assert all(kept)
    assert session.recording(1).record("0", Kind.OUTPUT).kept is None


def test_every_module_has_statistics_and_only_ticked_ones_have_values(qtbot: QtBot, session: Session) -> None:
    model, given = net(), picture()
    session.set_model(model)
    session.add_inputs([given])
    session.select(path="3")
    settled(qtbot, session)
    seen = []
    with torch.no_grad(), model[0].register_forward_hook(lambda m, a, out: seen.append(out.clone()) and None):
        model.eval()(*given.args)
    summary = session.runs[1].summaries[Key("0", Kind.OUTPUT)]
    assert summary.mean_abs == pytest.approx(float(seen[0].abs().mean()), rel=1e-6)
    assert Key("0", Kind.GRAD_OUTPUT) in session.runs[1].summaries
    assert session.recording(1).record("0", Kind.OUTPUT).kept is None
    session.tick(["0"], True)
    settled(qtbot, session)
    assert session.recording(1).record("0", Kind.OUTPUT).kept is not None
    assert session.recording(1).record("1", Kind.OUTPUT).kept is None


def test_another_target_keeps_the_outputs_in_sight_and_drops_the_old_gradients(
    qtbot: QtBot, session: Session
) -> None:
    session.set_auto(False)
    session.set_model(nn.Sequential(Slow(), Slow(), nn.Linear(3, 3)))
    session.add_inputs([Input("x", (torch.ones(1, 3),))])
    session.tick(["0", "2"], True)
    session.run()
    settled(qtbot, session)
    session.set_settings(target=TargetChoice("class", 1))
    seen: list[tuple[bool, bool]] = []

    def look(*_: object) -> None:
        kinds = (Kind.OUTPUT, Kind.GRAD_OUTPUT)
        seen.append(tuple(Key("2", kind) in session.recording(1) for kind in kinds))

    session.runs_changed.connect(look)
    session.run_grew.connect(look)
    session.run()
    settled(qtbot, session)
    assert all(output for output, _ in seen)
    assert not seen[0][1]
    assert session.recording(1).record("2", Kind.GRAD_OUTPUT).array().tolist() == [[0, 1, 0]]


def test_another_model_does_not_inherit_the_class_of_the_one_before(qtbot: QtBot, session: Session) -> None:
    session.set_model(net())
    session.set_settings(target=TargetChoice("class", 4))
    session.set_model(nn.Sequential(nn.Conv2d(3, 2, 6), nn.Flatten()))
    session.add_inputs([picture()])
    settled(qtbot, session)
    assert session.settings.target == TargetChoice("top")
    assert session.runs[1].error is None


def test_stopping_a_second_run_keeps_the_shapes_of_the_first(qtbot: QtBot, session: Session) -> None:
    session.set_auto(False)
    session.set_model(nn.Sequential(*[Slow() for _ in range(30)]))
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([picture()])
    session.tick(["0", "29"], True)
    session.run()
    settled(qtbot, session)
    session.run()
    qtbot.waitUntil(lambda: session.running)
    qtbot.wait(60)
    session.stop()
    settled(qtbot, session)
    assert session.runs[1].stopped
    assert session.recording(1).calls("29")[0].output_shapes == ((1, 3, 6, 6),)
    assert Key("29", Kind.OUTPUT) in session.runs[1].summaries
    assert session.recording(1).record("29", Kind.OUTPUT).kept is not None


def test_clicking_what_the_run_will_bring_does_not_start_it_again(qtbot: QtBot, session: Session) -> None:
    started: list[int] = []
    model = nn.Sequential(*[Slow() for _ in range(12)])
    model.register_forward_pre_hook(lambda module, args: started.append(1))
    session.set_auto(False)
    session.set_model(model)
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([picture()])
    session.tick([str(i) for i in range(12)], True)
    session.set_auto(True)
    qtbot.waitUntil(lambda: bool(started))
    for path in ("3", "7", "11", "0"):
        session.select(path=path)
    settled(qtbot, session)
    assert len(started) == 1
    assert session.recording(1).record("11", Kind.OUTPUT).kept is not None


def test_a_superseded_run_leaves_no_record_that_does_not_know_what_overwrote_it(
    qtbot: QtBot, session: Session
) -> None:
    model = nn.Sequential(nn.Linear(3, 3), Slow(), nn.ReLU(inplace=True), Slow(), Slow())
    session.set_auto(False)
    session.set_model(model)
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([Input("x", (torch.randn(2, 3),))])
    session.tick(["0", "1", "4"], True)
    session.set_auto(True)
    qtbot.waitUntil(lambda: session.recording(1) is not None and len(session.recording(1)) > 0)
    session.tick(["3"], True)
    settled(qtbot, session)
    assert session.recording(1).record("1", Kind.OUTPUT).overwritten_by == "2"
    assert session.recording(1).record("3", Kind.OUTPUT).kept is not None
    assert not session.runs[1].growing


def test_records_arrive_one_by_one_with_their_numbers_and_are_told_by_their_paths(
    qtbot: QtBot, session: Session
) -> None:
    session.set_auto(False)
    first = Slow()
    session.set_model(nn.Sequential(first, Slow(), Slow(), first))
    session.set_settings(target=TargetChoice("none"))
    session.add_inputs([Input("x", (torch.tensor([[1.0, -2.0, 0.0]]),))])
    session.tick(["0", "1", "2"], True)
    told: list[frozenset[str]] = []
    whole: list[bool] = []
    session.runs_changed.connect(lambda: whole.append(session.runs[1].growing))

    def grew(paths: frozenset[str]) -> None:
        told.append(paths)
        run = session.runs[1]
        assert run.growing
        for key, record in run.recording.items():
            assert run.summaries[key].mean_abs == pytest.approx(float(record.tensor().abs().mean()))

    session.run_grew.connect(grew)
    session.run()
    settled(qtbot, session)
    assert any("0" in paths for paths in told)
    assert all(("0" in paths) == ("3" in paths) for paths in told)  # a second name of the same module
    assert whole == [False]


def test_every_ticked_input_is_run_in_every_variant_and_the_plain_one_stays_as_it_was(
    qtbot: QtBot, session: Session
) -> None:
    session.set_model(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2)))
    session.set_settings(target=TargetChoice("sum"))
    values = torch.tensor([[1.0, -2.0, 0.5]])
    session.add_inputs([Input("x", (values,)), Input("y", (2 * values,))])
    session.tick(["0", "2"], True)
    settled(qtbot, session)
    plain = session.recording(1)
    doubled = Variant(1, "doubled", (("edits", (Edit("0", scale(2.0)),)),))
    session.set_variants((PLAIN, doubled))
    assert session.recording(1) is plain
    settled(qtbot, session)
    columns = session.ticked_inputs
    assert [one.title for one in columns] == ["x", "x · doubled", "y", "y · doubled"]
    assert [one.listed for one in columns] == [1, 1, 2, 2]
    assert len({one.number for one in columns}) == 4
    for usual, other in (columns[:2], columns[2:]):
        before = session.recording(usual.number).record("0", Kind.OUTPUT).tensor()
        after = session.recording(other.number).record("0", Kind.OUTPUT).tensor()
        torch.testing.assert_close(after, 2 * before)
    session.take_off(1)
    assert [one.title for one in session.ticked_inputs] == ["y", "y · doubled"]
    assert set(session.runs) == {one.number for one in session.ticked_inputs}
    kept = session.recording(2)
    session.set_variants((PLAIN,))
    assert set(session.runs) == {2}
    assert session.recording(2) is kept
