"""Exporting from the window: what the entries hold, what is said before, what is written, what is not."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gui_nets import Tiny, picture, settled
from PIL import Image
from pytestqt.qtbot import QtBot

from hookviewer.gui import export_entries, settings
from hookviewer.gui.columns import resolve
from hookviewer.gui.export_dialog import ALL_LAYERS, THIS_CHANNEL, THIS_LAYER, ExportDialog, shown_by
from hookviewer.gui.export_layers import layer_entries
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Shown


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    one.set_model(Tiny())
    one.add_inputs([picture(0), picture(1)])
    one.tick(["stem.0", "body.0"], True)
    one.select(path="stem.0")
    settled(qtbot, one)
    yield one
    one.close()


def made(qtbot: QtBot, session: Session, what: int, folder: Path) -> ExportDialog:
    dialog = ExportDialog(session, what)
    qtbot.addWidget(dialog)
    dialog.form.folder.setText(str(folder))
    dialog.show()
    settled(qtbot, session)
    return dialog


def written(qtbot: QtBot, session: Session, dialog: ExportDialog) -> None:
    dialog.go.click()
    settled(qtbot, session)


def test_entries_of_the_wall_are_what_the_wall_shows(session: Session) -> None:
    entries = export_entries.wall_entries(shown_by(session))
    wall = resolve(session.ticked_inputs, session.runs, session.selection, session.look, running=False)
    assert [entry.record for entry in entries] == [column.record for column in wall.columns]
    assert {entry.levels for entry in entries} == {wall.levels}
    assert {entry.colormap for entry in entries} == {"magma"}
    assert entries[0].caption.input == "picture0"


def test_the_difference_has_its_own_scale(session: Session) -> None:
    session.set_look(difference=True)
    entries = export_entries.wall_entries(shown_by(session))
    wall = resolve(session.ticked_inputs, session.runs, session.selection, session.look, running=False)
    assert entries[-1].levels == wall.difference_levels
    assert entries[-1].colormap == "ember"


def test_all_layers_are_each_on_their_own_scale(session: Session) -> None:
    entries = layer_entries(shown_by(session))
    assert [(entry.record.key.path, entry.caption.input) for entry in entries] == [
        ("stem.0", "picture0"),
        ("stem.0", "picture1"),
        *[("body.0", "picture0"), ("body.0", "picture1")] * 2,
    ]
    assert [entry.record.key.call for entry in entries] == [0, 0, 0, 0, 1, 1]
    assert entries[0].levels == entries[1].levels != entries[2].levels


def test_a_layer_with_no_gradient_is_left_out(session: Session) -> None:
    shown = dataclasses.replace(shown_by(session), layers=["aux"])
    assert layer_entries(shown) == []


def test_the_channel_entry_holds_the_selected_channel(session: Session) -> None:
    session.select(channel=3, shown=Shown.GRADIENT)
    entries = export_entries.channel_entries(shown_by(session))
    assert [entry.channel for entry in entries] == [3, 3]
    assert entries[0].colormap == "ember"


def test_files_are_written_with_a_manifest(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    told: list[Message] = []
    session.message_told.connect(told.append)
    dialog = made(qtbot, session, ALL_LAYERS, tmp_path / "out")
    assert dialog.go.text() == "Export 12 files"
    assert "Nothing will be overwritten" in dialog.summary.text()
    assert not dialog.preview.picture.pixmap().isNull()
    written(qtbot, session, dialog)
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len([name for name in files if name.endswith(".png")]) == 6
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert set(manifest["files"]) == {name for name in files if name != "manifest.json"}
    assert told[-1].tone == "ok"
    assert told[-1].what == "12 files written."
    assert settings.export_folder() == str(tmp_path / "out")


def test_arrays_are_the_recorded_values(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    dialog = made(qtbot, session, THIS_LAYER, tmp_path)
    dialog.form.format.buttons[2].click()
    assert dialog.form.formats() == ("npz",)
    written(qtbot, session, dialog)
    file = next(path for path in tmp_path.glob("*.npz") if "picture0" in path.name)
    with np.load(file) as loaded:
        arrays = [loaded[name] for name in loaded.files]
    expected = session.runs[1].recording.record("stem.0", "output").array()
    assert any(array.shape == expected.shape and np.array_equal(array, expected) for array in arrays)


def test_a_plain_channel_is_one_pixel_a_cell(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    dialog = made(qtbot, session, THIS_CHANNEL, tmp_path)
    dialog.form.format.buttons[1].click()
    dialog.form.arrays.setChecked(False)
    assert dialog.form.figure() is None
    written(qtbot, session, dialog)
    files = sorted(tmp_path.glob("*.png"))
    assert len(files) == 2
    with Image.open(files[0]) as opened:
        assert opened.size == (8, 8)


def test_nothing_is_overwritten_without_a_yes(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    written(qtbot, session, made(qtbot, session, THIS_LAYER, tmp_path))
    stamps = {path: path.read_bytes() for path in tmp_path.iterdir()}
    again = made(qtbot, session, THIS_LAYER, tmp_path)
    assert "exist already" in again.summary.text()
    assert not again.go.isEnabled()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == stamps
    again.form.overwrite.setChecked(True)
    assert again.go.isEnabled()


def test_a_folder_that_cannot_be_made_ends_in_a_sentence(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    dialog = made(qtbot, session, THIS_LAYER, tmp_path / "file" / "below")
    written(qtbot, session, dialog)
    assert dialog.isVisible()
    assert dialog.summary.property("role") == "error"
    assert dialog.form.isEnabled()


def test_an_unrecorded_layer_says_so(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    session.set_auto(False)
    session.select(path="aux")
    dialog = made(qtbot, session, THIS_LAYER, tmp_path)
    assert not dialog.go.isEnabled()
    assert "Nothing is recorded" in dialog.summary.text()


def test_every_kind_that_is_ticked_is_written_for_every_layer_and_input(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    dialog = made(qtbot, session, ALL_LAYERS, tmp_path)
    assert dialog.form.chosen_kinds() == (Shown.OUTPUT,)
    dialog.form.kinds[Shown.GRADIENT].click()
    settled(qtbot, session)
    assert dialog.go.text() == "Export 24 files"  # 3 calls of 2 layers, 2 inputs, 2 kinds, 2 formats
    written(qtbot, session, dialog)
    files = json.loads((tmp_path / "manifest.json").read_text())["files"]
    told = {(one["path"], one["call"], one["input"], one["kind"]) for one in files.values()}
    assert len(told) == 12
    assert {kind for *_, kind in told} == {"output", "grad_output"}
    assert all((tmp_path / name).is_file() for name in files)


def test_without_a_kind_there_is_nothing_to_export(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    dialog = made(qtbot, session, ALL_LAYERS, tmp_path)
    dialog.form.kinds[Shown.OUTPUT].click()
    assert not dialog.go.isEnabled()
    assert dialog.summary.text() == "Choose at least one kind."
    dialog.form.what.setCurrentIndex(THIS_LAYER)
    assert dialog.go.isEnabled()
    assert not dialog.form.kinds[Shown.OUTPUT].isEnabled()


KILLED = """
import sys, torch
torch.set_num_threads(1)
from pathlib import Path
sys.path.insert(0, {tests!r})
from gui_nets import Tiny, picture
from PySide6.QtWidgets import QApplication
application = QApplication([])
from hookviewer.gui.export_dialog import ExportDialog
from hookviewer.gui.session import Session
session = Session()
session.set_model(Tiny())
session.add_inputs([picture(number) for number in range(4)])
session.tick([node.path for node in session.tree.walk()], True)
while session.runner.busy or session.running:
    application.processEvents()
dialog = ExportDialog(session)
dialog.form.folder.setText({folder!r})
dialog.form.scale.choose(2)
dialog._on_form_changed()
dialog.start()
print("writing", flush=True)
while session.runner.busy:
    application.processEvents()
print("done", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
@pytest.mark.parametrize("wait", [0.15, 0.5])
def test_what_was_killed_in_the_middle_has_whole_files_only(tmp_path: Path, wait: float) -> None:
    folder = tmp_path / "out"
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(folder))
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        deadline = time.monotonic() + 30
        while not (folder.is_dir() and any(folder.iterdir())) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(wait)
        process.kill()
    finished = [path for path in folder.iterdir() if not path.name.startswith(".")]
    for path in finished:
        if path.suffix == ".png":
            with Image.open(path) as image:
                image.load()
        elif path.suffix == ".npz":
            with np.load(path) as arrays:
                assert all(arrays[name] is not None for name in arrays)
        else:
            json.loads(path.read_text())
    assert {path.suffix for path in finished} <= {".png", ".npz", ".json"}
    assert folder.is_dir()
