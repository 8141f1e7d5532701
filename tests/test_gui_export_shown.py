"""What is exported is what the wall shows: its scales, order and parts, against pictures made another way."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PIL import Image
from pytestqt.qtbot import QtBot
from torch import nn
from wall_nets import expected

from hookviewer.formats import Figure
from hookviewer.formats.figure import drawn, zero_share
from hookviewer.formats.png import picture as plain_picture
from hookviewer.gui.export_dialog import ALL_LAYERS, THIS_CHANNEL, THIS_LAYER, ExportDialog, shown_by
from hookviewer.gui.export_entries import channel_entries, wall_entries
from hookviewer.gui.export_layers import layer_entries
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.inputs import Input


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    yield from opened(qtbot, Tiny(), [picture(0), picture(1)], "stem.0")


def opened(qtbot: QtBot, model: nn.Module, inputs: list[Input], path: str) -> Iterator[Session]:
    one = Session()
    one.set_model(model)
    one.add_inputs(inputs)
    one.tick([path], True)
    one.select(path=path)
    settled(qtbot, one)
    yield one
    one.close()


def values(session: Session, number: int, path: str = "stem.0", kind: str = "output") -> np.ndarray:
    return session.runs[number].recording.record(path, kind).array()[0]


def cells(image: Image.Image, tile: int, count: int, size: tuple[int, int] = (8, 8)) -> np.ndarray:
    """One tile of a plain picture, in whose rows as many tiles stand as it is wide."""
    columns = (image.width + 2) // (size[1] + 2)
    assert -(-count // columns) == (image.height + 2) // (size[0] + 2)
    top, left = tile // columns * (size[0] + 2), tile % columns * (size[1] + 2)
    return np.asarray(image.convert("RGB"))[top : top + size[0], left : left + size[1]]


def bent(numbers: np.ndarray, levels: tuple[float, float]) -> tuple[np.ndarray, tuple[float, float]]:
    """Numbers and levels on the logarithmic scale, in float32 as pixels are computed."""
    threshold = max(map(abs, levels)) / 1000
    single = np.abs(numbers).astype(np.float32) / np.float32(threshold) + np.float32(1)
    ends = tuple(np.sign(end) * np.log(1 + abs(end) / threshold) for end in levels)
    return np.sign(numbers) * np.log(single), ends


def own_levels(maps: np.ndarray, scale: str) -> tuple[float, float]:
    numbers = maps.astype(np.float64).ravel()
    low, high = numbers.min(), numbers.max()
    if scale == "full":
        return low, high
    if scale == "log":
        return (-max(-low, high), max(-low, high)) if low < 0 else (0.0, high)
    if scale == "symmetric":
        size = np.quantile(np.abs(numbers), 0.98)
        return -size, size
    return (0.0 if low >= 0 else np.quantile(numbers, 0.005)), np.quantile(numbers, 0.995)


@pytest.mark.parametrize("share", ["inputs", "input", "channel"])
@pytest.mark.parametrize("scale", ["full", "robust", "symmetric", "log"])
def test_a_picture_is_what_levels_and_colour_table_give_at_the_scale_of_the_wall(
    session: Session, share: str, scale: str
) -> None:
    session.set_look(scale=scale, share=share)
    both = np.concatenate([values(session, 1), values(session, 2)])
    for number, entry in zip((1, 2), wall_entries(shown_by(session)), strict=True):
        maps, image = values(session, number), plain_picture(entry)
        for channel, one in enumerate(maps):
            whole = {"inputs": both, "input": maps, "channel": one}[share]
            levels = own_levels(whole, scale)
            numbers, ends = bent(one, levels) if scale == "log" else (one, levels)
            wanted = expected(numbers, ends, "magma", (8, 8))
            found = cells(image, channel, len(maps))
            near = np.abs(found.astype(int) - wanted).max(axis=2) > 0
            assert near.mean() <= 0.02  # a quantile computed in float64 may fall beside a step
            assert entry.levels == pytest.approx(own_levels(both if share == "inputs" else maps, scale), 1e-5)


@pytest.mark.parametrize("look", [{}, {"share": "channel", "scale": "log"}, {"levels": (-1.5, 1.6)}])
def test_a_figure_and_a_plain_picture_have_the_same_cells(session: Session, look: dict[str, object]) -> None:
    session.set_look(**look)
    entry = wall_entries(shown_by(session))[0]
    page = np.asarray(drawn(entry, Figure(size=1, caption=False, colour_bar=False)))
    plain = plain_picture(entry)
    corner = page[28, 32:]
    times = int(np.argmax((corner != corner[0]).any(axis=1)))
    tile = page[28 : 28 + 8 * times, 32 : 32 + 8 * times]
    np.testing.assert_array_equal(tile, cells(plain, 0, 6).repeat(times, 0).repeat(times, 1))


def test_tiles_stand_in_the_order_of_the_wall_and_only_those_that_it_shows(session: Session) -> None:
    session.set_look(sort="mean", pins=(("stem.0", 5),), only="0, 2-5", scale="full")
    entry = wall_entries(shown_by(session))[0]
    means = values(session, 1).mean(axis=(1, 2))
    shown = [channel for channel in np.argsort(-means, kind="stable") if channel in (0, 2, 3, 4, 5)]
    order = [5, *(channel for channel in shown if channel != 5)]
    assert entry.order.tolist() == order == entry.identity["channels"]
    both = np.concatenate([values(session, 1), values(session, 2)])
    levels = (float(both.min()), float(both.max()))
    for tile, channel in enumerate(order):
        wanted = expected(values(session, 1)[channel], levels, "magma", (8, 8))
        np.testing.assert_array_equal(cells(plain_picture(entry), tile, 5), wanted)
    assert entry.caption.order == "5 of 6 channels, sorted by mean, 5 pinned in front"


def test_dead_channels_are_left_out_where_the_wall_hides_them(qtbot: QtBot) -> None:
    class Half(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.relu = nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.relu(x - 100 * (torch.arange(3) == 1)[:, None, None]).mean((2, 3))

    for session in opened(qtbot, Half(), [picture(0)], "relu"):
        session.set_look(hide_dead=True)
        entry = wall_entries(shown_by(session))[0]
        assert entry.order.tolist() == [0, 2]
        assert entry.caption.order == "2 of 3 channels, 1 dead left out"
        named = drawn(entry, Figure(numbers=True)).tobytes()
        session.set_look(hide_dead=False)
        assert drawn(wall_entries(shown_by(session))[0], Figure(numbers=True)).tobytes() != named


@pytest.mark.parametrize(
    ("look", "words"),
    [
        ({}, "one scale for all columns, 0.5 % to 99.5 %"),
        ({"share": "input", "scale": "full"}, "each input on its own scale, min to max"),
        ({"share": "channel", "scale": "symmetric"}, "each channel on its own scale, ±98 %"),
        ({"share": "channel", "scale": "log"}, "each channel on its own scale, logarithmic"),
        ({"levels": (0.0, 1.0)}, "one scale for all columns, set by hand"),
        ({"levels": (0.0, 1.0), "scale": "log"}, "one scale for all columns, set by hand, logarithmic"),
    ],
)
def test_the_caption_says_which_scale_it_is(session: Session, look: dict[str, object], words: str) -> None:
    session.set_look(**look)
    assert wall_entries(shown_by(session))[0].caption.scale == words


def test_one_channel_on_a_scale_of_its_own_has_its_numbers_at_the_bar(session: Session) -> None:
    session.set_look(share="channel", scale="full")
    session.select(channel=4)
    entry = channel_entries(shown_by(session))[1]
    one = values(session, 2)[4]
    assert entry.levels == (float(one.min()), float(one.max()))
    assert entry.caption.scale == "a scale of its own, min to max"
    np.testing.assert_array_equal(
        np.asarray(plain_picture(entry).convert("RGB")), expected(one, entry.levels, "magma", (8, 8))
    )


@pytest.mark.parametrize("way", ["minus", "absolute", "ratio", "relative"])
def test_the_difference_has_the_colours_that_it_has_on_the_wall(session: Session, way: str) -> None:
    session.set_look(difference=True, differs=way)
    entry = wall_entries(shown_by(session))[-1]
    assert entry.colormap == ("magma" if way == "absolute" else "ember")
    assert entry.caption.scale == "a scale of its own"
    assert entry.curve == "linear"


def test_more_inputs_than_the_wall_has_columns_share_one_scale_and_order(qtbot: QtBot) -> None:
    for session in opened(qtbot, Tiny(), [picture(seed) for seed in range(6)], "stem.0"):
        session.set_look(scale="full", sort="max")
        entries = layer_entries(shown_by(session))
        every = np.concatenate([values(session, number) for number in range(1, 7)])
        assert {entry.levels for entry in entries} == {(float(every.min()), float(every.max()))}
        assert len({tuple(entry.order.tolist()) for entry in entries}) == 1
        assert len(entries) == 6


def test_every_call_and_every_tensor_of_a_layer_is_written(qtbot: QtBot) -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.lstm(self.lstm(x)[0][..., :4])[0].mean(0)

    sequence = Input("sequence", (torch.randn(7, 1, 4),))
    for session in opened(qtbot, Twice(), [sequence], "lstm"):
        keys = [entry.record.key for entry in layer_entries(shown_by(session))]
        assert {(key.call, key.leaf) for key in keys} == {
            (call, leaf) for call in (0, 1) for leaf in ("[0]", "[1][0]", "[1][1]")
        }


def test_weights_are_read_and_written_with_their_gradients(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    session.select(shown=Shown.WEIGHTS)
    settled(qtbot, session)
    session.set_look(beside=True)
    settled(qtbot, session)
    dialog = ExportDialog(session, ALL_LAYERS)
    qtbot.addWidget(dialog)
    dialog.form.folder.setText(str(tmp_path))
    dialog.show()
    settled(qtbot, session)
    assert dialog.form.chosen_kinds() == (Shown.WEIGHTS,)
    assert dialog.go.text() == "Export 8 files"  # weight and bias, each with its gradient, as png and npz
    dialog.go.click()
    settled(qtbot, session)
    files = json.loads((tmp_path / "manifest.json").read_text())["files"]
    assert {(one["kind"], one["leaf"]) for one in files.values()} == {
        (kind, leaf) for kind in ("param", "param_grad") for leaf in ("weight", "bias")
    }
    name = next(one for one, what in files.items() if what["kind"] == "param" and one.endswith(".npz"))
    with np.load(tmp_path / name) as loaded:
        np.testing.assert_array_equal(loaded["values"], session.model.stem[0].weight.detach().numpy())


def test_captions_of_weights_name_no_input_and_those_of_their_gradients_the_input(
    qtbot: QtBot, session: Session
) -> None:
    session.select(shown=Shown.WEIGHTS)
    settled(qtbot, session)
    session.set_look(beside=True)
    settled(qtbot, session)
    weight, gradient = wall_entries(shown_by(session))
    assert weight.caption.lines()[1:] == (
        "param weight, 6×3×3×3 float32",
        f"{weight.caption.scale}",
    )
    assert gradient.caption.input == "picture0"
    assert gradient.caption.target


def test_kernels_of_three_channels_are_exported_in_colour(qtbot: QtBot, session: Session) -> None:
    session.select(shown=Shown.WEIGHTS)
    settled(qtbot, session)
    entry = wall_entries(shown_by(session))[0]
    kernel = session.model.stem[0].weight.detach().numpy()[2].transpose(1, 2, 0).astype(np.float64)
    low, high = entry.levels
    lights = (np.clip((kernel - low) / (high - low), 0, 1) * 255 + 0.5).astype(int)
    found = cells(plain_picture(entry), 2, 6, (3, 3)).astype(int)
    assert np.abs(found - lights).max() <= 1


def test_a_sorted_vector_is_exported_as_it_stands(qtbot: QtBot, session: Session) -> None:
    session.tick(["head"], True)
    session.select(path="head")
    settled(qtbot, session)
    session.set_look(sort="max")
    entry = wall_entries(shown_by(session))[0]
    vector = session.runs[1].recording.record("head", "output").array()[0]
    row = np.asarray(plain_picture(entry).convert("RGB"))[0]
    ranked = np.sort(vector)[::-1][None]
    np.testing.assert_array_equal(row, expected(ranked, entry.levels, "magma", (4, 1))[0])
    assert entry.caption.order == "the largest value first"


def test_zero_stands_where_the_curve_puts_it() -> None:
    assert zero_share(np.array([[-1.0, 3.0]]), "linear") == 0.25
    share = zero_share(np.array([[-1.0, 3.0]]), "log")
    assert share == pytest.approx(np.log(1 + 1 / 0.003) / (np.log(1 + 1 / 0.003) + np.log(1001)))
    assert zero_share(np.array([[-1.0, 3.0], [-1.0, 1.0]]), "linear") is None
    assert zero_share(np.array([[-2.0, 2.0], [-1.0, 1.0]]), "linear") == 0.5
    assert zero_share(np.array([[0.0, 3.0]]), "linear") is None


def test_what_was_asked_for_and_is_not_there_is_told(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    session.tick(["aux"], True)
    settled(qtbot, session)
    dialog = ExportDialog(session, ALL_LAYERS)
    qtbot.addWidget(dialog)
    dialog.form.folder.setText(str(tmp_path))
    assert dialog.summary.text().endswith("1 layer lacks some of it.")
    assert dialog.summary.toolTip() == "Not there:\naux: Output"


def test_all_pictures_can_be_looked_at_before(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    dialog = ExportDialog(session, THIS_LAYER)
    qtbot.addWidget(dialog)
    dialog.form.folder.setText(str(tmp_path))
    dialog.show()
    settled(qtbot, session)
    first = dialog.preview.picture.pixmap().toImage()
    assert dialog.preview.counted.text() == "1 of 2"
    assert not dialog.preview.back.isEnabled()
    dialog.preview.forth.click()
    settled(qtbot, session)
    assert dialog.preview.counted.text() == "2 of 2"
    assert not dialog.preview.forth.isEnabled()
    assert dialog.preview.picture.pixmap().toImage() != first
    dialog.form.what.setCurrentIndex(THIS_CHANNEL)
    settled(qtbot, session)
    assert dialog.preview.counted.text() == "1 of 2"


def test_weights_of_all_layers_can_be_written_with_the_outputs_looked_at_at_the_input(
    qtbot: QtBot, session: Session
) -> None:
    session.select(side="input")
    settled(qtbot, session)
    entries = layer_entries(shown_by(session))
    assert {entry.record.key.kind for entry in entries} == {"input"}
    session.select(shown=Shown.WEIGHTS)
    settled(qtbot, session)
    entries = layer_entries(dataclasses.replace(shown_by(session), kinds=(Shown.OUTPUT,)))
    assert {entry.record.key.kind for entry in entries} == {"output"}
