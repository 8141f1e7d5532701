"""Comparing over many inputs: the CKA matrix of two variants, and what excites a channel most and least."""

from __future__ import annotations

import csv as csv_module
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PIL import Image
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer import render
from hookviewer.gui.compare_cka import CkaDialog
from hookviewer.gui.compare_cka_lane import csv
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Variant
from hookviewer.gui.top_inputs_dialog import TopInputsDialog

RAMP = {"#{:02x}{:02x}{:02x}".format(*colour[:3]) for colour in render.colour_table("magma")}


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    made = Session()
    made.set_auto(False)
    made.set_model(Tiny().eval())
    made.add_inputs([picture(seed) for seed in range(5)])
    yield made
    made.close()


def outputs(model: nn.Module, path: str) -> torch.Tensor:
    """Return a layer's first outputs for five pictures, [5, features]."""
    kept: list[torch.Tensor] = []
    hook = model.get_submodule(path).register_forward_hook(lambda *args: kept.append(args[2].clone()))
    rows = []
    with torch.no_grad():
        for seed in range(5):
            kept.clear()
            model(picture(seed).args[0])
            rows.append(kept[0].double().reshape(-1))
    hook.remove()
    return torch.stack(rows)


def linear_cka(x: torch.Tensor, y: torch.Tensor) -> float:
    x, y = x - x.mean(0), y - y.mean(0)
    return float((y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm()))


def test_the_matrix_holds_the_cka_of_every_two_layers(qtbot: QtBot, session: Session) -> None:
    dialog = CkaDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.similar.result is not None, timeout=20_000)
    result = session.similar.result
    paths = [key.path for key in result.rows]
    assert paths == ["stem.0", "stem.1", "stem.2", "body.0", "body.1", "head"]
    for row, one in enumerate(paths[:4]):
        if one == "stem.1":
            continue  # it is overwritten: a plain hook would see another tensor
        for column, other in enumerate(paths[:4]):
            if other != "stem.1":
                expected = linear_cka(outputs(session.model, one), outputs(session.model, other))
                assert result.values[row, column] == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(np.diag(result.values), 1.0)
    assert csv(result).splitlines()[0] == "," + ",".join(paths)


def test_a_click_on_a_cell_opens_its_layers(qtbot: QtBot, session: Session) -> None:
    variant = Variant(-1, "train", (("mode", "train"),))
    session.varying._variants = (variant,)
    session.set_variants((PLAIN, variant))
    dialog = CkaDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.b.currentText() == "train"
    qtbot.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.similar.result is not None, timeout=20_000)
    where = dialog.matrix.place_of((0, 3)).toPoint()
    qtbot.mouseMove(dialog.matrix, where)
    qtbot.mouseClick(dialog.matrix, Qt.MouseButton.LeftButton, pos=where)
    assert dialog.said.versions[0].startswith("stem.0 of A × body.0 of B: ")
    assert session.selection.path == "stem.0"
    assert dict(session.varying.variants[0].changes)["matches"] == (("stem.0", "body.0"),)


def test_the_picture_and_the_table_of_the_matrix_are_saved(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    dialog = CkaDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.go.click()
    qtbot.waitUntil(lambda: session.similar.result is not None, timeout=20_000)
    dialog.save_picture(str(tmp_path / "cka.png"))
    dialog.save_table(str(tmp_path / "cka.csv"))
    with Image.open(tmp_path / "cka.png") as image:
        assert min(image.size) > 200
    rows = (tmp_path / "cka.csv").read_text().splitlines()
    assert float(rows[2].split(",")[2]) == pytest.approx(1.0)


def test_the_picture_of_the_matrix_says_what_it_shows(qtbot: QtBot, session: Session) -> None:
    dialog = CkaDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    empty = dialog.matrix.grab().toImage()
    assert "Compute compares every layer" in dialog.matrix._hint
    dialog.go.click()
    qtbot.waitUntil(lambda: session.similar.result is not None, timeout=20_000)
    picture = dialog.matrix.picture()
    assert picture != empty
    bottom = [
        picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())
    ]
    colours = {colour for colour in bottom if colour in RAMP}
    assert len(colours) > 60  # the scale lies below the cells, which alone have some thirty colours
    assert dialog.matrix._names == ("Tiny", "Tiny")


def test_what_was_found_is_saved_as_a_picture_and_as_a_table(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    session.select(path="stem.0", channel=2)
    dialog = TopInputsDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.table.isEnabled()
    assert "excite this channel most" in dialog.content.empty.sentence.text()
    dialog.listed.click()
    qtbot.waitUntil(lambda: len(session.top_inputs.most) == 5, timeout=20_000)
    dialog.save_picture(str(tmp_path / "top.png"))
    dialog.save_table(str(tmp_path / "top.csv"))
    with Image.open(tmp_path / "top.png") as image:
        assert image.width > 5 * 100
    rows = list(csv_module.DictReader((tmp_path / "top.csv").read_text().splitlines()))
    assert len(rows) == 6 * 2 * 5  # channels, ends, inputs
    with torch.no_grad():
        maps = [session.model.stem[0](picture(seed).args[0])[0] for seed in range(5)]
    for row in rows:
        one = maps[int(row["input"].removeprefix("picture"))][int(row["channel"])]
        best = one.max() if row["end"] == "most" else one.min()
        assert float(row["value"]) == pytest.approx(float(best), rel=1e-5)
        place = tuple(map(int, row["cell"].split()))
        assert float(one[place]) == pytest.approx(float(best), rel=1e-5)
    assert dialog.after.isEnabled()
    qtbot.mouseClick(dialog.after, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "channel 3" in dialog.caption.text(), timeout=20_000)
    assert session.top_inputs.pictured == 3


def test_too_few_inputs_are_said(qtbot: QtBot, session: Session) -> None:
    told = []
    session.message_told.connect(told.append)
    for item in session.inputs[1:]:
        session.tick_input(item.number, False)
    dialog = CkaDialog(session)
    qtbot.addWidget(dialog)
    dialog.go.click()
    assert "at least 2 inputs" in told[-1].what
    assert not session.similar.computing


def test_the_inputs_that_excite_a_channel_most_come_first(qtbot: QtBot, session: Session) -> None:
    session.select(path="stem.0", channel=2)
    dialog = TopInputsDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.mouseClick(dialog.listed, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(session.top_inputs.most) == 5, timeout=20_000)
    with torch.no_grad():
        maps = [session.model.stem[0](picture(seed).args[0])[0, 2] for seed in range(5)]
    strongest = sorted(range(5), key=lambda seed: -float(maps[seed].max()))
    assert [one.name for one in session.top_inputs.most] == [f"picture{seed}" for seed in strongest]
    weakest = sorted(range(5), key=lambda seed: float(maps[seed].min()))
    assert [one.name for one in session.top_inputs.least] == [f"picture{seed}" for seed in weakest]
    first = session.top_inputs.most[0]
    np.testing.assert_allclose(first.map, maps[strongest[0]].numpy(), rtol=1e-5, atol=1e-6)
    row, column = divmod(int(maps[strongest[0]].argmax()), 8)
    assert first.place.cell == (row, column)
    assert first.box == (max(row - 1, 0), max(column - 1, 0), min(row + 2, 8), min(column + 2, 8))
    assert not dialog.most[0].image.isNull()
    qtbot.mouseClick(dialog.most[0], Qt.MouseButton.LeftButton)
    assert session.current_input.input.name == first.name
    assert session.selection.cell == (row, column)


def test_another_channel_gets_pictures_of_its_own(qtbot: QtBot, session: Session) -> None:
    session.select(path="stem.0", channel=2)
    dialog = TopInputsDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.listed.click()
    qtbot.waitUntil(lambda: session.top_inputs.channel == 2 and bool(session.top_inputs.most), timeout=20_000)
    session.select(channel=4)
    qtbot.waitUntil(lambda: session.top_inputs.channel == 4, timeout=20_000)
    settled(qtbot, session)
    with torch.no_grad():
        best = max(float(session.model.stem[0](picture(seed).args[0])[0, 4].max()) for seed in range(5))
    assert session.top_inputs.most[0].place.value == pytest.approx(best)


def test_a_folder_is_looked_through_and_a_click_lists_the_file(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    for shade in (10, 120, 250):
        Image.new("RGB", (12, 12), (shade, 20, 20)).save(tmp_path / f"shade{shade}.png")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    session.select(path="stem.0")
    dialog = TopInputsDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    session.top_inputs.look(str(tmp_path))
    qtbot.waitUntil(lambda: len(session.top_inputs.most) == 3, timeout=20_000)
    assert session.top_inputs.found.seen == 4
    assert "1 could not be used" in dialog.said.versions[0]
    before = len(session.inputs)
    dialog.most[0].chosen.emit(session.top_inputs.most[0])
    qtbot.waitUntil(lambda: len(session.inputs) == before + 1, timeout=20_000)
    assert session.inputs[-1].input.name.startswith("shade")
