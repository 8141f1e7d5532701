"""Inputs as they are brought: dropped, pasted, from folders, frame by frame, argument by argument."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PIL import Image
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file
from torch import nn

from hookviewer.gui import dropping, recent, settings
from hookviewer.gui.arguments_dialog import ArgumentsDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.recipe_dialog import RecipeDialog


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture(0)])
    made.session.set_model(Tiny())
    made.show()
    settled(qtbot, made.session)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "pictures"
    made.mkdir()
    for number in range(1, 8):
        Image.new("RGB", (8, 8), (30 * number, 0, 0)).save(made / f"{number}.png")
    np.save(made / "10.npy", np.ones((1, 3, 8, 8), np.float32))
    (made / "notes.txt").write_text("no input")
    return made


def names(window: MainWindow) -> list[str]:
    return [item.input.name for item in window.session.inputs]


def drop(qtbot: QtBot, window: MainWindow, *paths: Path) -> None:
    window.bringing.drop(dropping.sorted_files(paths))
    settled(qtbot, window.session)


def test_a_dropped_folder_gives_its_pictures_a_few_of_them_ticked(
    qtbot: QtBot, window: MainWindow, folder: Path
) -> None:
    drop(qtbot, window, folder)
    assert names(window) == ["picture0", *"1234567", "10"]
    assert [item.ticked for item in window.session.inputs[1:]] == [True] * 4 + [False] * 4
    window.commands.actions["tick_inputs"].trigger()
    settled(qtbot, window.session)
    assert len(window.session.runs) == 9
    window.commands.actions["untick_inputs"].trigger()
    assert window.session.ticked_inputs == ()


def test_next_and_previous_walk_through_the_folder(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    session = window.session
    drop(qtbot, window, folder / "2.png")
    number = session.inputs[1].number
    session.select(input=number)
    for step, name in ((1, "3"), (1, "4"), (-1, "3"), (-1, "2"), (-1, "1")):
        window.commands.actions["next_file" if step > 0 else "previous_file"].trigger()
        settled(qtbot, session)
        assert session.item(number).input.name == name
    assert float(session.item(number).input.args[0].max()) > 0
    assert session.runs[number].error is None
    window.commands.actions["previous_file"].trigger()
    assert "first in its folder" in window.messages.bars[0].message.what


def test_next_of_what_is_no_file_says_so(window: MainWindow) -> None:
    window.commands.actions["next_file"].trigger()
    assert "comes from no file" in window.messages.bars[0].message.what


def test_a_file_with_one_tensor_is_an_input_and_one_with_many_are_weights(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    save_file({"x": torch.zeros(1, 3, 8, 8)}, tmp_path / "x.safetensors")
    drop(qtbot, window, tmp_path / "x.safetensors")
    assert len(window.session.inputs) == 2
    save_file({"a": torch.zeros(2), "b": torch.zeros(2)}, tmp_path / "w.safetensors")
    drop(qtbot, window, tmp_path / "w.safetensors")
    assert "no name to open it by" in window.messages.bars[0].message.what  # the model is a live one


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("name", ["pipe.pt", "zero.safetensors", "pipe.npy"])
def test_a_pipe_or_a_device_is_told_and_the_window_goes_on(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    if name.startswith("zero"):
        file.symlink_to("/dev/zero")
    else:
        os.mkfifo(file)
    drop(qtbot, window, file)
    said = window.messages.bars[0].message
    # a model without a name is not opened again, whatever the weights
    expected = "a device or a pipe, not a file" if file.suffix == ".npy" else "Load its weights in your code"
    assert expected in said.now
    np.save(tmp_path / "good.npy", np.ones((1, 3, 8, 8), np.float32))
    drop(qtbot, window, tmp_path / "good.npy")
    assert names(window)[-1] == "good"


def test_a_folder_of_code_is_a_project_and_an_empty_one_is_not_usable(tmp_path: Path) -> None:
    (tmp_path / "code" / "models").mkdir(parents=True)
    (tmp_path / "code" / "models" / "net.py").write_text("x = 1\n")
    (tmp_path / "empty").mkdir()
    found = dropping.sorted_files([tmp_path / "code", tmp_path / "empty"])
    assert (found.projects, found.unusable) == ((tmp_path / "code",), (tmp_path / "empty",))
    assert dropping.words(found, "")[0] == "Drop to open code"


# -- pasting -------------------------------------------------------------------------------------------------


def paste(qtbot: QtBot, window: MainWindow) -> None:
    window.wall.setFocus()
    window.commands.actions["paste"].trigger()
    settled(qtbot, window.session)


def test_a_pasted_picture_is_an_input_with_its_pixels(qtbot: QtBot, window: MainWindow) -> None:
    image = QImage(7, 5, QImage.Format.Format_RGB32)
    image.fill(QColor(10, 200, 30))
    QGuiApplication.clipboard().setImage(image)
    paste(qtbot, window)
    given = window.session.inputs[-1].input
    assert given.name == "pasted picture"
    assert given.source[0].image.size == (7, 5)
    assert given.source[0].image.getpixel((3, 2)) == (10, 200, 30)


def test_pasted_files_paths_and_names_are_opened(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(folder / "1.png")), QUrl.fromLocalFile(str(folder / "10.npy"))])
    QGuiApplication.clipboard().setMimeData(data)
    paste(qtbot, window)
    QGuiApplication.clipboard().setText(str(folder / "3.png"))
    paste(qtbot, window)
    QGuiApplication.clipboard().setText("ones:1x3x8x8")
    paste(qtbot, window)
    assert names(window) == ["picture0", "1", "10", "3", "ones 1 × 3 × 8 × 8"]
    QGuiApplication.clipboard().setText("two\nlines")
    paste(qtbot, window)
    assert window.messages.bars[0].message.what == "There is nothing to paste."


# -- frames, arguments, preprocessing ------------------------------------------------------------------------


def test_the_frames_of_a_film_are_stepped_through(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), (80 * place, 0, 0)) for place in range(3)]
    frames[0].save(tmp_path / "film.gif", save_all=True, append_images=frames[1:])
    slider = window.docks.inputs.frames
    assert slider.isHidden()
    drop(qtbot, window, tmp_path / "film.gif")
    number = window.session.inputs[1].number
    window.session.select(input=number)
    assert slider.isVisible()
    assert (slider.words.text(), slider.slider.maximum()) == ("Frame 0 of 3", 2)
    slider.after.click()
    qtbot.waitUntil(lambda: window.session.item(number).input.frame == 1, timeout=10_000)
    settled(qtbot, window.session)
    red = np.asarray(window.session.item(number).input.image)[0, 0, 0]
    assert abs(int(red) - 80) < 6
    window.session.select(input=1)
    assert slider.isHidden()


class TwoInputs(nn.Module):
    def forward(
        self, x: torch.Tensor, mask: torch.Tensor, scale: float = 1.0, *, add: int = 0
    ) -> torch.Tensor:
        return x * mask * scale + add


def test_every_argument_of_forward_has_a_line(qtbot: QtBot, window: MainWindow) -> None:
    window.opening.expect([])
    window.session.set_model(TwoInputs())
    settled(qtbot, window.session)
    window.commands.actions["arguments"].trigger()
    dialog = window.findChild(ArgumentsDialog)
    assert list(dialog.fields) == ["x", "mask", "scale", "add"]
    assert dialog.fields["scale"].placeholderText() == "1.0"
    dialog.fields["x"].setText("ones:1x4")
    assert not dialog.go.isEnabled()
    dialog.fields["mask"].setText("constant:1x4?value=3")
    dialog.fields["add"].setText("5")
    dialog.go.click()
    settled(qtbot, window.session)
    number = window.session.inputs[-1].number
    assert window.session.runs[number].recording.output.tolist() == [[8.0] * 4]


def test_preprocessing_is_previewed_used_and_kept_for_the_model(
    qtbot: QtBot, window: MainWindow, folder: Path
) -> None:
    session = window.session
    window.opening.open("demo:simple_cnn", inputs=[str(folder / "7.png")])
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        pass
    settled(qtbot, session)
    own = session.inputs[-1].input.args[0]
    window.commands.actions["preprocessing"].trigger()
    dialog = window.findChild(RecipeDialog)
    dialog.extent.setText("12×16")
    dialog.preset.setCurrentText("none")
    dialog.order.buttons[1].click()
    qtbot.waitUntil(lambda: "12×16" in dialog.tensor.text(), timeout=10_000)
    assert not dialog.picture.pixmap().isNull()
    dialog.go.click()
    settled(qtbot, session)
    tensor = session.inputs[-1].input.args[0]
    assert tuple(tensor.shape[2:]) == (12, 16)
    assert settings.recipes()[session.card.spec]["size"] == "12x16"
    window.opening.open("demo:simple_cnn")  # it is there again when the model is
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        pass
    assert session.card.preprocess.height == 12
    settled(qtbot, session)
    assert torch.equal(session.inputs[-1].input.args[0], tensor)
    window.commands.actions["preprocessing"].trigger()
    window.findChildren(RecipeDialog)[-1].own.click()
    settled(qtbot, session)
    assert torch.equal(session.inputs[-1].input.args[0], own)
    assert settings.recipes() == {}


def test_a_wrong_size_says_so_and_cannot_be_used(qtbot: QtBot, window: MainWindow) -> None:
    dialog = window.bringing.ask_recipe()
    dialog.extent.setFocus()
    qtbot.keyClicks(dialog.extent, "wide")
    assert not dialog.go.isEnabled()
    assert dialog.problem.property("role") == "error"
    dialog.close()


def test_a_model_that_takes_no_pictures_says_so(qtbot: QtBot, window: MainWindow) -> None:
    window.session.set_model(nn.Sequential(nn.Linear(10, 2)))
    settled(qtbot, window.session)
    assert window.bringing.ask_recipe() is None
    assert window.messages.bars[0].message.what == "There is nothing to prepare."
    assert window.findChild(RecipeDialog) is None


# -- what was open -------------------------------------------------------------------------------------------


def test_recent_inputs_are_offered_and_gone_ones_are_grey(
    qtbot: QtBot, window: MainWindow, folder: Path
) -> None:
    drop(qtbot, window, folder / "1.png", folder / "2.png")
    (folder / "1.png").unlink()
    menu = window.findChild(QMenu, "recent_inputs")
    window.menus._fill_recent_inputs(menu)
    shown = {action.text(): action.isEnabled() for action in menu.actions() if action.text()}
    assert shown[str(folder / "2.png")]
    assert not shown[f"{folder / '1.png'}  (not there any more)"]
    before = len(window.session.inputs)
    next(action for action in menu.actions() if action.text() == str(folder / "2.png")).trigger()
    settled(qtbot, window.session)
    assert len(window.session.inputs) == before + 1


def test_ten_are_remembered_without_repeats(tmp_path: Path) -> None:
    for number in [*range(12), 11, 5]:
        recent.remember_model(f"demo:{number}")
    assert [one.spec for one in recent.models()] == [f"demo:{n}" for n in (5, 11, 10, 9, 8, 7, 6, 4, 3, 2)]
    (tmp_path / "net.py").write_text("")
    here, gone = f"{tmp_path}/net.py:Net?a=1", f"{tmp_path}/no.py:Net"
    assert [recent.Recent(spec).missing for spec in (here, gone, "demo:pnet", "torchvision.models:x")] == [
        False,
        True,
        False,
        False,
    ]
