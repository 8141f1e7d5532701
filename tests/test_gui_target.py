"""Every kind of target, chosen in the dialog, runs as the number that its sentence says."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot
from torch import nn
from torch.nn import functional

from hookviewer.gui.export_entries import Shown, wall_entries
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Selection, TargetChoice
from hookviewer.gui.target_box import TargetBox
from hookviewer.gui.target_dialog import RULES, TargetDialog
from hookviewer.gui.target_names import sentence, short
from hookviewer.gui.target_pages import LossPage, OutputPage, UnitPage, VectorPage
from hookviewer.gui.target_rows import rows
from hookviewer.gui.target_value import TargetValue
from hookviewer.kinds import Key, Kind
from hookviewer.target_words import chosen

NAMES = ("cat", "dog", "hen", "owl")


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    made = Session()
    made.set_model(Tiny())
    made.add_inputs([picture(0)])
    made.tick(("stem.0", "body.0", "head"), True)
    settled(qtbot, made)
    yield made
    made.close()


def opened(qtbot: QtBot, session: Session, rule: str) -> TargetDialog:
    dialog = TargetDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.kinds.setCurrentRow(RULES.index(rule))
    return dialog


def used(qtbot: QtBot, session: Session, dialog: TargetDialog) -> float:
    """Press *Use it* and return the target's value of the run that follows."""
    dialog.chosen.connect(lambda target: session.set_settings(target=target))
    dialog.go.click()
    settled(qtbot, session)
    value = session.runs[1].recording.target_value
    assert value is not None
    return value


def scores(session: Session) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = copy.deepcopy(session.model).eval()(*session.inputs[0].input.args)  # type: ignore[union-attr]
    return found


def test_a_part_of_the_output_is_picked_from_what_was_returned(qtbot: QtBot, session: Session) -> None:
    dialog = opened(qtbot, session, "output")
    page = dialog.page
    assert isinstance(page, OutputPage)
    assert page.list.count() == 4
    page.list.setCurrentRow(2)
    assert dialog.sentence.text() == "The gradient starts from out[0,2]."
    expected = float(scores(session)[0, 2])
    assert f"{expected:.3f}".replace("-", "−") in dialog.value.text()
    assert used(qtbot, session, dialog) == pytest.approx(expected, rel=1e-5)
    assert session.settings.target == chosen("out[0,2]")


def test_an_index_outside_says_so_before_it_is_used(qtbot: QtBot, session: Session) -> None:
    dialog = opened(qtbot, session, "output")
    page = dialog.page
    assert isinstance(page, OutputPage)
    page.place.setText("0, 9")
    assert "not in the output" in dialog.value.text()
    page.place.setText("0, x")
    assert not dialog.go.isEnabled()
    assert "no index" in dialog.value.text()


def test_a_unit_of_a_layer_leaves_later_layers_a_reason(qtbot: QtBot, session: Session) -> None:
    dialog = opened(qtbot, session, "unit")
    page = dialog.page
    assert isinstance(page, UnitPage)
    page.path.setText("stem.0")
    page.place.setText("0, 5, 3, 4")
    assert dialog.sentence.text() == "The gradient starts from the one cell [0,5,3,4] of stem.0."
    expected = session.runs[1].recording.record("stem.0", Kind.OUTPUT).array()[0, 5, 3, 4]
    assert used(qtbot, session, dialog) == pytest.approx(float(expected))
    run = session.runs[1].recording
    assert run.record("stem.0", Kind.GRAD_OUTPUT).array().sum() == 1
    with pytest.raises(KeyError, match=r"computed after the target, unit:stem\.0:0,5,3,4"):
        run.record("head", Kind.GRAD_OUTPUT)


def test_a_loss_is_torchs_own(qtbot: QtBot, session: Session) -> None:
    dialog = opened(qtbot, session, "loss")
    page = dialog.page
    assert isinstance(page, LossPage)
    page.label.setText("3")
    expected = functional.cross_entropy(scores(session), torch.tensor([3]))
    assert used(qtbot, session, dialog) == pytest.approx(float(expected), rel=1e-5)


def test_a_vector_weights_the_output(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([0, 2, 0, -1], np.float32))
    dialog = opened(qtbot, session, "dot")
    page = dialog.page
    assert isinstance(page, VectorPage)
    assert not dialog.go.isEnabled()
    page.file.setText(str(tmp_path / "none.npy"))
    assert "no file" in dialog.value.text()
    page.file.setText(str(tmp_path / "v.npy"))
    found = scores(session)[0]
    assert used(qtbot, session, dialog) == pytest.approx(float(2 * found[1] - found[3]), rel=1e-5)


def test_the_dialog_begins_with_what_is_chosen(qtbot: QtBot, session: Session) -> None:
    for text in ("class 2", "unit:stem.0:0,1,2,3", "out[0,3]", "loss:mse:0.5"):
        session.set_settings(target=chosen(text))
        dialog = TargetDialog(session)
        qtbot.addWidget(dialog)
        assert dialog.choice() == chosen(text)
    settled(qtbot, session)


def test_captions_write_the_target_as_the_command_line_reads_it(qtbot: QtBot, session: Session) -> None:
    for text in ("unit:body.0:0,1,2,3", "out[0,3]", "loss:cross_entropy:2", "class 1", "sum"):
        session.set_settings(target=chosen(text))
        settled(qtbot, session)
        shown = Shown(
            session.inputs, session.runs, Selection("stem.0"), session.look, session.settings, "Tiny"
        )
        (entry,) = wall_entries(shown)
        assert chosen(entry.caption.target) == chosen(text)


class Detector(nn.Module):
    """Returns what a detection network returns: boxes, labels, scores, each a mapping of one picture."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x: torch.Tensor) -> list[dict[str, torch.Tensor]]:
        found = self.conv(x).mean((2, 3))[0].sigmoid()
        boxes = torch.tensor([[0.0, 1, 5, 6]]).expand(3, 4) * found[:, None].sign()
        return [{"boxes": boxes, "labels": torch.tensor([2, 1, 3]), "scores": found}]


def test_a_detection_is_picked_with_its_class_and_box(qtbot: QtBot) -> None:
    session = Session()
    session.set_model(Detector())
    session.add_inputs([picture(0)])
    settled(qtbot, session)
    output = session.runs[1].recording.output
    found = rows(output, "[0]['scores']", NAMES)
    assert [row.name for row in found] == [f"{name}  (0, 1) to (5, 6)" for name in ("hen", "dog", "owl")]
    dialog = opened(qtbot, session, "output")
    page = dialog.page
    assert isinstance(page, OutputPage)
    assert dialog.leaf.currentText().startswith("[0]['scores']")
    page.list.setCurrentRow(1)
    expected = float(output[0]["scores"][1])
    assert used(qtbot, session, dialog) == pytest.approx(expected)
    assert session.settings.target == chosen("out[0]['scores'][1]")
    session.close()


class Nothing(Detector):
    """Finds nothing."""

    def forward(self, x: torch.Tensor) -> list[dict[str, torch.Tensor]]:
        return [{name: value[:0] for name, value in super().forward(x)[0].items()}]


def told_by(session: Session) -> list[Message]:
    told: list[Message] = []
    session.message_told.connect(told.append)
    return told


def test_a_picture_with_nothing_in_it_is_shown_without_gradients(qtbot: QtBot) -> None:
    session = Session()
    told = told_by(session)
    session.set_model(Nothing())
    value = TargetValue(session)
    qtbot.addWidget(value)
    session.add_inputs([picture(0), picture(1)])
    session.tick(["conv"], True)
    settled(qtbot, session)
    run = session.runs[1]
    assert run.error is None
    assert run.guesses == ()
    assert run.recording.record("conv", Kind.OUTPUT).shape == (1, 3, 8, 8)
    assert "nothing was found" in run.recording.reason(Key("conv", Kind.GRAD_OUTPUT))
    assert [(one.tone, one.what) for one in told] == [("info", "picture0 has no gradients.")]
    assert "nothing was found" in told[0].now
    assert value.text() == "= –"
    assert value.toolTip().count("nothing was found") == 2
    dialog = opened(qtbot, session, "output")
    assert not dialog.go.isEnabled()
    assert "nothing to pick from" in dialog.value.text()
    session.set_settings(target=chosen("class 1 of [0]['scores']"))
    settled(qtbot, session)
    error = session.runs[1].error
    assert error is not None
    assert "no class 1" in error.sentence  # what somebody chose is a mistake that is told
    session.close()


class Flow(nn.Module):
    """Returns an answer in three steps, as an optical flow network does."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 1)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        first = self.conv(x)
        return [first, first * 2, first * 3]


def test_an_answer_in_steps_has_the_sum_of_the_last_one_as_its_target(qtbot: QtBot) -> None:
    session = Session()
    told = told_by(session)
    box = TargetBox(session)
    qtbot.addWidget(box)
    session.set_model(Flow())
    session.add_inputs([picture(0)])
    session.tick(["conv"], True)
    settled(qtbot, session)
    run = session.runs[1]
    assert run.error is None
    assert told == []
    assert run.recording.target_value == pytest.approx(float(run.recording.output[2].sum()))
    np.testing.assert_array_equal(run.recording.record("conv", Kind.GRAD_OUTPUT).array(), 3.0)
    assert box.currentText() == "Sum of [2], the last of 3"
    assert "the sum of [2]" in box.toolTip()
    session.close()


class Integers(Detector):
    def forward(self, x: torch.Tensor) -> Any:
        return self.conv(x).argmax(1)


class Words(Detector):
    def forward(self, x: torch.Tensor) -> Any:
        return f"mean {self.conv(x).mean():.3f}"


class Detached(Detector):
    def forward(self, x: torch.Tensor) -> Any:
        return self.conv(x).mean((2, 3)).detach()


class Complex(Detector):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.fft.fft2(self.conv(x))


@pytest.mark.parametrize("net", [Integers, Words, Detached, Complex])
def test_no_output_makes_the_first_run_fail(qtbot: QtBot, net: type[nn.Module]) -> None:
    session = Session()
    told = told_by(session)
    session.set_model(net())
    session.add_inputs([picture(0)])
    session.tick(["conv"], True)
    settled(qtbot, session)
    run = session.runs[1]
    assert run.error is None
    assert "There is no target in this run" in run.recording.reason(Key("conv", Kind.GRAD_OUTPUT))
    assert [one.tone for one in told] == ["info"]
    session.close()


def test_the_boxes_of_a_detection_are_no_classes(qtbot: QtBot) -> None:
    session = Session()
    session.set_model(Detector())
    session.add_inputs([picture(0)])
    settled(qtbot, session)
    assert session.runs[1].guesses == ()
    assert session.runs[1].error is None
    session.close()


def test_maps_of_classes_are_summed_or_picked_by_place() -> None:
    maps: Any = {"out": torch.arange(24.0).reshape(1, 4, 2, 3)}
    found = rows(maps, "['out']", NAMES)
    assert [row.name for row in found] == list(NAMES)
    assert [float(row.value) for row in found] == [15, 51, 87, 123]
    target = chosen("out['out'][0,2,1,0]").target()
    assert target is not None
    assert float(target(maps)) == 15


@pytest.mark.parametrize(
    ("text", "named", "said"),
    [
        ("class 1", "dog", "the score of class 1, dog"),
        ("class 9", "class 9", "the score of class 9."),
        ("unit:a.b:7", "a.b channel 7", "channel 7 of a.b, summed"),
        ("unit:a.b:0,7,:,2", "a.b[0,7,:,2]", "[0,7,:,2] of a.b, summed"),
        ("sum of [1]", "Sum of [1]", "the sum of [1]"),
        ("top of [1]", "Top class of [1]", "the highest score, each sample's own of [1]"),
        ("loss:ce:owl", "Cross entropy, owl", "the loss cross entropy against owl"),
        ("dot:/a/v.npy", "Vector v.npy", "the output weighted by v.npy"),
        ("none", "No gradients", "forward pass only"),
    ],
)
def test_a_target_has_a_name_and_a_sentence(text: str, named: str, said: str) -> None:
    assert short(chosen(text, NAMES), NAMES) == named
    assert said in sentence(chosen(text, NAMES), NAMES)


def test_what_was_chosen_stands_in_the_run_bar(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    window.opening.expect([picture(0)])
    window.session.set_model(Tiny())
    window.show()
    settled(qtbot, window.session)
    window.session.set_settings(target=TargetChoice("unit", path="stem.0", place=(4,)))
    settled(qtbot, window.session)
    assert window.run_bar.target.currentText() == "stem.0 channel 4"
    window.close()
