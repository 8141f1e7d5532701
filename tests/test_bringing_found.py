"""What a person brings the first time: a folder of photographs, a broken picture, a model of two inputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from pytestqt.qtbot import QtBot
from torch import Tensor, nn

import hookviewer as hv
from hookviewer.cli import main
from hookviewer.errors import HookViewerError
from hookviewer.gui.dropping import shared_out
from hookviewer.gui.main_window import MainWindow
from hookviewer.inputs import ArgumentsLacking, guess, spread
from hookviewer.sources import card
from tests.gui_nets import settled


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(1, 12):
        Image.new("RGB", (20, 20), (number, 0, 0)).save(folder / f"{number}.png")
    (folder / "notes.txt").write_text("not an input")
    return folder


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        difference: Tensor = self.layer(left) - self.layer(right)
        return difference


def test_a_folder_among_inputs_stands_for_the_files_in_it(photos: Path, tmp_path: Path) -> None:
    found = spread(["demo:chelsea", str(photos), "random:1x3x8x8"])
    assert [Path(one).name for one in found[1:-1]] == [f"{number}.png" for number in range(1, 12)]
    assert (found[0], found[-1]) == ("demo:chelsea", "random:1x3x8x8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(HookViewerError, match="holds no pictures and no arrays"):
        spread([str(tmp_path / "empty")])


def test_the_command_line_runs_every_picture_of_a_folder(photos: Path, tmp_path: Path) -> None:
    words = ["capture", "demo:simple_cnn", "--input", str(photos), "--layers", "conv*"]
    assert main([*words, "--out", str(tmp_path / "out"), "--format", "npz"]) == 0
    names = {path.name.split("output_")[1].split("_")[0] for path in (tmp_path / "out").glob("*.npz")}
    assert names == {str(number) for number in range(1, 12)}


def test_the_window_ticks_the_first_of_a_folder_and_lists_the_rest(photos: Path) -> None:
    ticked, waiting = shared_out([str(photos)])
    assert [Path(one).name for one in ticked] == ["1.png", "2.png", "3.png", "4.png"]
    assert [Path(one).name for one in waiting] == [f"{number}.png" for number in range(5, 12)]
    named = [str(path) for path in sorted(photos.glob("*.png"))]
    assert shared_out(named) == (named, [])  # who names eleven files means eleven columns


def test_a_broken_picture_is_not_called_a_picture_that_is_no_picture(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff and nothing more")
    with pytest.raises(HookViewerError, match="damaged, cut off") as told:
        hv.open_input(str(broken))
    assert "not a picture" not in str(told.value)


def test_a_generator_is_given_a_latent_of_the_size_that_it_unfolds() -> None:
    unfolds = nn.Sequential(nn.ConvTranspose2d(16, 4, 4, 1, 0), nn.ConvTranspose2d(4, 3, 4, 2, 1))
    assert guess(unfolds).args[0].shape == (1, 16, 1, 1)
    assert unfolds(guess(unfolds).args[0]).shape == (1, 3, 8, 8)
    assert guess(nn.ConvTranspose2d(16, 4, 2, 2)).args[0].shape == (1, 16, 8, 8)


def test_one_number_is_the_size_of_a_square(photos: Path) -> None:
    net = nn.Conv2d(3, 2, 3)
    given = hv.open_input(f"{photos / '1.png'}?size=12", net)
    assert given.args[0].shape == (1, 3, 12, 12)
    assert not [note for note in given.notes if "224" in note]  # what was not made is not told


def test_gradients_without_a_target_name_the_option_that_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["capture", "demo:mlp", "--input", "demo:ones", "--layers", "*", "--out", "out"]
    assert main([*words, "--kinds", "output,grad_output"]) == 1
    assert "add --target top" in capsys.readouterr().err


def test_a_detector_is_not_told_to_take_what_it_was_given() -> None:
    spec = "torchvision.models.detection:ssdlite320_mobilenet_v3_large?num_classes=2"
    (told,) = card(hv.open_model(spec)).notes
    assert "add score_thresh=0" in told
    (told,) = card(hv.open_model(f"{spec}&score_thresh=0")).notes
    assert told.startswith("Random weights")
    assert "score_thresh" not in told


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    yield made
    made.keeps_layout = False
    made.close()


def test_a_model_of_several_inputs_offers_the_form_for_them_at_once(qtbot: QtBot, window: MainWindow) -> None:
    with pytest.raises(ArgumentsLacking, match=r"needs 2 inputs \(left, right\)"):
        guess(Two())
    asked: list[bool] = []
    window.session.arguments_asked.connect(lambda: asked.append(True))
    window.session.set_model(Two())
    settled(qtbot, window.session)
    (bar,) = [bar for bar in window.messages.bars if "needs 2 inputs" in bar.message.what]
    bar.buttons[0].click()
    assert asked
    assert bar.buttons[0].text() == "Several arguments…"
