"""How much a map says: the dialog on a tiny network, its curves beside a loop of their own."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from torch import nn

from hookviewer.gui.cam_choice import CamChoice, leaf_of
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.trust_maps_dialog import TrustMapsDialog
from hookviewer.gui.trust_maps_plot import TrustCurves
from hookviewer.gui.trust_maps_words import curves_words, rounds_words
from hookviewer.gui.trust_maps_work import SHARES, Asked, Trial, by_lot, csv_of, tried
from hookviewer.methods import Curve, Likeness, find_method
from hookviewer.target_choice import TargetChoice
from tests.gui_nets import Tiny, picture, settled

T = torch.Tensor
STEPS = 20


class Gated(Tiny):
    """Waits for a gate, where it has one."""

    gate: threading.Event | None = None

    def forward(self, x: T) -> T:
        if self.gate is not None:
            self.gate.wait(30)
        return super().forward(x)


@pytest.fixture
def session(qtbot):
    made = Session()
    made.set_model(Gated().eval())
    made.add_inputs([picture()])
    made.select(path="stem", shown=Shown.GRAD_CAM)
    settled(qtbot, made)
    yield made
    made.close()


def dialog_of(qtbot, session: Session, **options: bool) -> TrustMapsDialog:
    made = TrustMapsDialog(session, **options)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    return made


def curve_by_hand(model: nn.Module, x: T, order: list[int], target: int, *, deletes: bool) -> list[float]:
    """Return the score while the pixels go, or come back, one by one in a plain loop."""
    found: list[float] = []
    for step in range(STEPS + 1):
        count = round(step / STEPS * len(order))
        changed = x.clone() if deletes else torch.zeros_like(x)
        for pixel in order[:count]:
            row, column = divmod(pixel, 8)
            changed[0, :, row, column] = 0 if deletes else x[0, :, row, column]
        found.append(float(model(changed)[0, target].detach()))
    return found


def test_the_curves_are_those_of_a_plain_loop_and_the_areas_those_under_them(qtbot, session):
    dialog = dialog_of(qtbot, session)
    settled(qtbot, session)
    trial, model, x = dialog.trial, session.model, session.inputs[0].input.args[0]
    target = int(model(x).argmax())
    features = model.stem(x).detach().requires_grad_()
    model.head(model.again(model.body(features * 1.0)).mean((2, 3)))[0, target].backward()
    weights = features.grad.mean((2, 3), keepdim=True)
    expected = (weights * features).sum(1).clamp(min=0)[0].detach()
    torch.testing.assert_close(trial.map, expected, atol=1e-5, rtol=1e-4)
    for map, curves in ((trial.map, trial.curves), (by_lot(trial.map, 0), trial.random)):
        order = sorted(range(64), key=lambda pixel, map=map: (-float(map.flatten()[pixel]), pixel))
        for curve in curves:
            by_hand = curve_by_hand(model, x, order, target, deletes=curve.name == "deletion")
            assert curve.values == pytest.approx(by_hand, abs=1e-4)
            assert curve.area == pytest.approx(np.trapezoid(by_hand, dx=1 / STEPS), abs=1e-3)
    assert dialog.progress.isHidden()
    assert dialog.go.isVisible()
    assert dialog.said[0].text() == curves_words(trial) != ""


def grad_cam_by_hand(model: nn.Module, path: str, call: int, x: T, target: int) -> T:
    """Return the Grad-CAM of one call of a layer by plain hooks."""
    kept: list[T] = []
    handle = model.get_submodule(path).register_forward_hook(lambda *seen: kept.append(seen[2]))
    score = model(x)[0, target]
    handle.remove()
    (gradient,) = torch.autograd.grad(score, kept[call])
    return (gradient[0].mean((1, 2))[:, None, None] * kept[call][0].detach()).sum(0).relu()


@pytest.mark.parametrize("target", [None, TargetChoice("class", 2)])
def test_what_is_checked_is_the_map_of_the_cell_its_target_and_its_call(qtbot, session, target):
    session.tick(["body"], True)
    session.set_look(cam=CamChoice(("grad_cam", "layer_cam"), (TargetChoice("class", 2),)))
    settled(qtbot, session)
    session.select(path="body", call=1, cam=leaf_of("grad_cam", target))
    settled(qtbot, session)
    dialog = dialog_of(qtbot, session)
    qtbot.waitUntil(lambda: bool(dialog.left.text()))
    settled(qtbot, session)
    model, x = session.model, session.inputs[0].input.args[0]
    index = int(model(x).argmax()) if target is None else 2
    assert dialog.chosen.name == "grad_cam"
    by_hand = grad_cam_by_hand(model, "body", 1, x, index)
    torch.testing.assert_close(dialog.trial.map, by_hand, atol=1e-6, rtol=1e-4)
    ends = [curve.values[0 if curve.name == "deletion" else -1] for curve in dialog.trial.curves]
    assert ends == pytest.approx([float(model(x)[0, index].detach())] * 2, abs=1e-5)
    assert dialog.of.text().endswith("class 2" if target else f"top class: class {index}".capitalize())
    assert dialog.left.text() == ""


def test_copies_with_shuffled_weights_are_compared_and_the_model_stays_as_it_was(qtbot, session):
    before = {name: value.clone() for name, value in session.model.state_dict().items()}
    dialog = dialog_of(qtbot, session)
    settled(qtbot, session)
    rounds = dialog.trial.rounds
    assert [one.share for one in rounds] == list(SHARES)
    assert [one.layers for one in rounds] == [1, 1, 2, 4]  # stem has two, body and head one each
    for one in rounds:
        ranks = [
            np.argsort(np.argsort(map.flatten().numpy(), kind="stable"))
            for map in (dialog.trial.map, one.map)
        ]
        if len(np.unique(dialog.trial.map)) == len(np.unique(one.map)) == 64:
            assert one.alike.rank == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-6)
    assert all(torch.equal(value, session.model.state_dict()[name]) for name, value in before.items())
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in session.model.modules())
    assert rounds_words(dialog.trial).startswith("With all weights shuffled")


def test_a_check_that_is_stopped_before_it_begins_says_so(qtbot, session):
    waiting = threading.Event()
    nothing = lambda value: None  # noqa: E731
    session.runner.submit(
        "other", lambda job: waiting.wait(30), on_report=nothing, on_result=nothing, on_failure=nothing
    )
    dialog = dialog_of(qtbot, session)
    dialog.stop.click()
    waiting.set()
    settled(qtbot, session)
    assert dialog.trial.stopped
    assert dialog.go.isVisible()
    assert "incomplete" in dialog.said[0].text()


def test_a_stopped_check_keeps_what_was_done_and_a_closed_dialog_ends_it(qtbot, session):
    session.model.gate = threading.Event()
    dialog = dialog_of(qtbot, session)
    assert dialog.stop.isVisible()
    dialog.stop.click()
    session.model.gate.set()
    settled(qtbot, session)
    assert dialog.trial.stopped
    assert not dialog.trial.rounds
    assert dialog.go.isVisible()
    assert "incomplete" in dialog.said[0].text()
    session.model.gate = threading.Event()
    dialog.start()
    dialog.close()
    session.model.gate.set()
    modules = list(session.model.modules())
    qtbot.waitUntil(lambda: not any(one._forward_hooks or one._forward_pre_hooks for one in modules))


def test_a_stop_in_the_middle_leaves_the_curves_until_then(session):
    asked = Asked(
        session.model, session.inputs[0].input, find_method("grad_cam"), "stem", session.settings,
        session.settings.target.target(),
    )  # fmt: skip
    told: list[Trial] = []
    trial = tried(asked, told.append, lambda: any(one.curves for one in told))
    assert trial.stopped
    (deletion,) = trial.curves
    assert 0 < len(deletion.values) < STEPS + 1
    assert not trial.random
    assert [one.done for one in told] == sorted(one.done for one in told)


def test_what_is_saved_holds_every_number(qtbot, session, tmp_path):
    dialog = dialog_of(qtbot, session)
    settled(qtbot, session)
    assert dialog.save_csv(tmp_path / "trust.csv")
    lines = (tmp_path / "trust.csv").read_text().splitlines()
    assert lines[0] == "curve,order,share,score"
    assert len([line for line in lines if line.startswith(("deletion,", "insertion,"))]) == 4 * (STEPS + 1)
    last = lines[-1].split(",")
    assert float(last[2]) == pytest.approx(dialog.trial.rounds[-1].alike.rank, rel=1e-4)
    assert dialog.save_picture(tmp_path / "trust.png")
    assert not dialog.save_csv(tmp_path / "nowhere" / "trust.csv")
    assert csv_of(Trial()).startswith("curve,order")


def test_a_method_that_does_not_suit_says_why_and_a_run_without_a_target_is_not_begun(qtbot, session):
    session.select(path="head")
    dialog = dialog_of(qtbot, session)
    settled(qtbot, session)
    assert dialog.said[0].text()
    assert dialog.trial.map is None
    dialog.close()
    session.set_settings(target=type(session.settings.target)("none"))
    settled(qtbot, session)
    dialog = dialog_of(qtbot, session)
    assert not session.runner.busy
    assert "target" in dialog.said[0].text()


def test_lines_are_drawn_where_the_scores_are(qtbot):
    curves = TrustCurves()
    qtbot.addWidget(curves)
    curves.resize(600, 240)
    steps = tuple(index / STEPS for index in range(STEPS + 1))
    falling = Curve("deletion", steps, tuple(10 - 10 * share for share in steps))
    curves.show_trial(Trial(curves=(falling,)))
    assert curves.limits() == (0.0, 10.0)
    image = curves.grab().toImage()
    middle = curves.point(0, 0.5, 5.0)
    near = [image.pixelColor(round(middle.x()), round(middle.y()) + step) for step in range(-2, 3)]
    assert any(colour.blue() > 180 and colour.red() < 160 for colour in near)


@pytest.mark.parametrize(("rank", "words"), [(0.95, "much the same"), (0.5, "a part"), (0.0, "another map")])
def test_the_rank_of_the_last_round_has_its_words(rank, words):
    from hookviewer.gui.trust_maps_work import Round

    trial = Trial(rounds=(Round(1.0, 3, torch.zeros(2, 2), Likeness(rank, 0.0)),))
    assert words in rounds_words(trial)
