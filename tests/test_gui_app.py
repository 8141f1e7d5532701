"""Starting: from a script, for a picture, without a screen; what is shown at first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, settled
from PIL import Image
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import hookviewer
from hookviewer.errors import HookViewerError
from hookviewer.gui import app, first
from hookviewer.gui.theme import theme
from hookviewer.inputs import Input
from hookviewer.kinds import Kind
from hookviewer.modules import module_tree


def test_view_shows_a_live_model_with_any_inputs(qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "stored.npy", np.ones((1, 3, 8, 8), np.float32))
    inputs = [
        Input("mine", (torch.zeros(1, 3, 8, 8),)),
        torch.ones(1, 3, 8, 8),
        np.full((1, 3, 8, 8), 0.5, np.float32),
        Image.new("RGB", (8, 8)),
        str(tmp_path / "stored.npy"),
    ]
    window = hookviewer.view(Tiny(), inputs, block=False)
    qtbot.addWidget(window)
    assert window.isVisible()
    settled(qtbot, window.session)
    assert len(window.session.inputs) == 5
    assert window.session.inputs[0].input.name == "mine"
    assert all(run.error is None for run in window.session.runs.values())
    window.close()


def test_view_takes_one_tensor_as_one_input(qtbot: QtBot) -> None:
    window = hookviewer.view(Tiny(), torch.ones(1, 3, 8, 8), block=False)
    qtbot.addWidget(window)
    settled(qtbot, window.session)
    assert len(window.session.inputs) == 1
    window.close()


def test_view_without_inputs_guesses_one_and_says_so(qtbot: QtBot) -> None:
    window = hookviewer.view(Tiny(), block=False)
    qtbot.addWidget(window)
    settled(qtbot, window.session)
    assert len(window.session.inputs) == 1
    assert "guess" in window.messages.bars[0].message.what
    window.close()


def test_view_waits_until_closed_when_asked(qtbot: QtBot) -> None:
    closed: list[bool] = []

    def close() -> None:
        for window in QApplication.topLevelWidgets():
            window.close()
        closed.append(True)

    QTimer.singleShot(300, close)
    window = hookviewer.view(Tiny(), torch.ones(1, 3, 8, 8), block=True)
    qtbot.addWidget(window)
    assert closed == [True]


def test_records_in_the_window_are_those_of_a_plain_hook(qtbot: QtBot) -> None:
    model, given = Tiny().eval(), torch.randn(1, 3, 8, 8)
    seen: list[torch.Tensor] = []
    handle = model.body.register_forward_hook(lambda m, args, out: seen.append(out.clone()) and None)
    with torch.no_grad():
        model(given)
    handle.remove()
    window = hookviewer.view(model, [given], block=False)
    qtbot.addWidget(window)
    tree = window.docks.modules
    index = tree.rows.mapFromSource(tree.model.index_of("body"))
    settled(qtbot, window.session)
    assert tree.rows.setData(index, 2, 10)  # Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole
    settled(qtbot, window.session)
    record = window.session.recording(1).record("body", Kind.OUTPUT, 0)
    assert torch.equal(record.tensor(), seen[0])
    window.close()


def test_a_picture_of_the_window_is_taken_after_its_run(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "shot.png"
    app.shot("demo:digits", ["demo:digit"], ["type:Conv2d"], "1100x700", "light", out)
    with Image.open(out) as opened:
        image = opened.convert("RGB")
    assert image.size == (1100, 700)
    assert theme().name == "light"
    assert len(image.resize((200, 140), Image.Resampling.NEAREST).getcolors(28_000)) > 60
    app.set_theme("dark")


def test_a_picture_that_cannot_be_written_ends_in_a_sentence(qtbot: QtBot, tmp_path: Path) -> None:
    with pytest.raises(HookViewerError, match="cannot be written"):
        app.shot("demo:three_layers", [], [], (900, 600), "dark", tmp_path / "no" / "shot.png")


def test_an_unknown_layer_and_an_unknown_model_end_in_sentences(qtbot: QtBot, tmp_path: Path) -> None:
    with pytest.raises(HookViewerError, match="No module matches"):
        app.shot("demo:digits", [], ["nowhere"], "900x600", "dark", tmp_path / "a.png")
    with pytest.raises(HookViewerError, match="nothing_like_it"):
        app.shot("demo:nothing_like_it", [], [], "900x600", "dark", tmp_path / "a.png")
    with pytest.raises(HookViewerError, match="is no size"):
        app.shot("demo:digits", [], [], "large", "dark", tmp_path / "a.png")


def test_without_a_screen_the_main_job_is_done_in_pictures(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = app.main_offscreen("demo:digits", inputs=["demo:digit"])
    assert [path.name for path in paths][:2] == ["window-dark.png", "window-light.png"]
    assert len(paths) > 4
    assert all(path.suffix == ".png" and path.is_file() for path in paths)
    assert {path.parts[0] for path in paths} == {"hookviewer-pictures"}
    app.set_theme("dark")


def test_a_folder_of_pictures_that_is_there_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [str(app.fresh_folder(Path("hookviewer-pictures"))) for _ in range(3)]
    assert names == ["hookviewer-pictures", "hookviewer-pictures-2", "hookviewer-pictures-3"]
    with pytest.raises(HookViewerError, match="cannot be made here"):
        app.fresh_folder(tmp_path / "nowhere" / "deep")


def test_what_is_ticked_first_spreads_over_the_depth() -> None:
    net = torch.nn.Sequential(
        *[torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU()) for _ in range(40)]
    )
    start = first.start_of(module_tree(net))
    assert len(start.ticks) == first.MOST
    assert start.path == "0.0"
    assert {"0.0", "39.0"} <= start.ticks


def test_a_model_without_weights_still_shows_something() -> None:
    start = first.start_of(module_tree(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())))
    assert start.ticks == {"0", "1"}


def test_the_demo_starts_at_its_best_layer() -> None:
    model = hookviewer.open_model(first.DEMO)
    tree = module_tree(model)
    start = first.start_of(tree, first.DEMO)
    assert start.ticks <= {node.path for node in tree.walk()}
    assert (start.path, start.channel) == ("features.2.conv.0", 3)
