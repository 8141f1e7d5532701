"""An input that does not fit says so with a button that leads on; a batch has a slider for its samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PIL import Image
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.arguments_dialog import ArgumentsDialog
from hookviewer.gui.dialogs import ShapeDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.message_bar import MessageBar
from hookviewer.gui.recipe_dialog import RecipeDialog
from hookviewer.inputs import Input


class Masked(nn.Module):
    """Takes two tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.linear(x * mask)
        return found


class Strict(nn.Module):
    """Takes pictures of one size only."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3)
        self.linear = nn.Linear(2 * 6 * 6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.linear(self.conv(x).flatten(1))
        return found


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close()


def looking_at(qtbot: QtBot, window: MainWindow, model: nn.Module, given: Input) -> None:
    window.opening.expect([given])
    window.session.set_model(model)
    settled(qtbot, window.session)


def bar(qtbot: QtBot, window: MainWindow, words: str) -> MessageBar:
    """Return the message that has a button of this name."""

    def found() -> list[MessageBar]:
        return [one for one in window.messages.bars if words in [made.text() for made in one.buttons]]

    qtbot.waitUntil(lambda: bool(found()), timeout=10_000)
    return found()[0]


def press(made: MessageBar, words: str) -> None:
    next(one for one in made.buttons if one.text() == words).click()


def test_a_model_of_several_arguments_offers_their_form(qtbot: QtBot, window: MainWindow) -> None:
    both = Input("both", (torch.ones(1, 4), torch.ones(1, 4)))
    looking_at(qtbot, window, Masked(), both)
    window.session.open_inputs(["random:1x4"])
    press(bar(qtbot, window, "Several arguments…"), "Several arguments…")
    dialog = window.findChild(ArgumentsDialog)
    assert dialog is not None
    assert list(dialog.fields) == ["x", "mask"]
    dialog.close()


def test_a_run_that_lacks_an_argument_offers_their_form(qtbot: QtBot, window: MainWindow) -> None:
    looking_at(qtbot, window, Masked(), Input("one", (torch.ones(1, 4),)))
    assert "missing" in bar(qtbot, window, "Several arguments…").message.now


def test_a_picture_of_the_wrong_size_offers_the_preprocessing(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    Image.new("RGB", (16, 12), "red").save(tmp_path / "red.png")
    looking_at(qtbot, window, Strict(), Input("fits", (torch.rand(1, 3, 8, 8),)))
    window.session.open_inputs([str(tmp_path / "red.png?size=12x12")])
    press(bar(qtbot, window, "Preprocessing…"), "Preprocessing…")
    dialog = window.findChild(RecipeDialog)
    assert dialog is not None
    settled(qtbot, window.session)
    dialog.close()


def test_a_tensor_of_the_wrong_size_does_not(qtbot: QtBot, window: MainWindow) -> None:
    looking_at(qtbot, window, Strict(), Input("large", (torch.rand(1, 3, 12, 12),)))
    (error,) = [one for one in window.messages.bars if one.message.tone == "error"]
    assert [one.text() for one in error.buttons] == ["Copy report"]


def test_a_guess_of_the_wrong_size_offers_another_shape(qtbot: QtBot, window: MainWindow) -> None:
    looking_at(qtbot, window, Strict(), Input("fits", (torch.rand(1, 3, 8, 8),)))
    window.session.open_inputs(["random:1x3x12x12?seed=3"])
    press(bar(qtbot, window, "Another shape…"), "Another shape…")
    dialog = window.findChild(ShapeDialog)
    assert dialog is not None
    assert dialog.shape.text() == "1x3x12x12"
    dialog.shape.setText("2x3x8x8")
    dialog.accept()
    settled(qtbot, window.session)
    assert len(window.session.inputs) == 2
    last = window.session.inputs[-1]
    assert last.input.args[0].shape == (2, 3, 8, 8)
    recording = window.session.recording(last.number)
    assert recording is not None
    assert recording.output.shape == (2, 2)


def test_a_file_of_several_tensors_offers_each_and_all_as_arguments(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    np.savez(tmp_path / "two.npz", x=np.ones((1, 4), np.float32), mask=np.zeros((1, 4), np.float32))
    looking_at(qtbot, window, Masked(), Input("both", (torch.ones(1, 4), torch.ones(1, 4))))
    window.session.open_inputs([str(tmp_path / "two.npz")])
    press(bar(qtbot, window, "As arguments x, mask"), "As arguments x, mask")
    settled(qtbot, window.session)
    made = window.session.inputs[-1].input
    assert [float(one.sum()) for one in made.args] == [4, 0]
    assert window.session.runs[2].error is None


def test_a_file_of_several_tensors_is_added_one_by_one(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    shape = (1, 3, 8, 8)
    np.savez(tmp_path / "two.npz", a=np.ones(shape, np.float32), b=np.zeros(shape, np.float32))
    looking_at(qtbot, window, Tiny(), picture(0))
    window.session.open_inputs([str(tmp_path / "two.npz")])
    press(bar(qtbot, window, "Add all 2"), "Add all 2")
    settled(qtbot, window.session)
    assert [item.input.name for item in window.session.inputs] == ["picture0", "two a", "two b"]


def test_the_samples_of_a_batch_have_a_slider(qtbot: QtBot, window: MainWindow) -> None:
    looking_at(qtbot, window, Tiny(), picture(0))
    panel = window.docks.inputs
    assert not panel.samples.isVisibleTo(panel)
    window.session.add_inputs([Input("batch", (torch.rand(3, 3, 8, 8),))])
    window.session.select(input=2)
    settled(qtbot, window.session)
    assert panel.samples.isVisibleTo(panel)
    panel.samples.slider.setValue(2)
    assert window.session.look.sample == 2
    assert panel.samples.words.text() == "Sample 2 of 3"
    window.session.set_look(sample=1)
    assert panel.samples.slider.value() == 1
    window.session.select(input=1)
    assert not panel.samples.isVisibleTo(panel)


def test_of_many_files_the_first_are_ticked_and_all_can_be(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    for number in range(6):
        np.save(tmp_path / f"{number}.npy", np.full((1, 3, 8, 8), number, np.float32))
    looking_at(qtbot, window, Tiny(), picture(0))
    window.bringing.add_folder(tmp_path)
    made = bar(qtbot, window, "Tick all")
    qtbot.waitUntil(lambda: len(window.session.inputs) == 7, timeout=10_000)
    assert [item.ticked for item in window.session.inputs] == [True] * 5 + [False] * 2
    press(made, "Tick all")
    settled(qtbot, window.session)
    assert all(item.ticked for item in window.session.inputs)
    assert len(window.session.runs) == 7
