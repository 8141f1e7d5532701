"""A wall of six maps to look at, and its pixels computed another way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.session import Session
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.inputs import Input
from hookviewer.resources import resource


class Net(nn.Module):
    """Six maps, a ReLU that overwrites them, a vector and a number."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(6, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.relu(self.conv(x)).mean((2, 3)))


PATHS = ("conv", "relu", "fc")


def input_of(name: str, seed: int, size: tuple[int, int] = (8, 12)) -> Input:
    return Input(name, (torch.randn(1, 1, *size, generator=torch.Generator().manual_seed(seed)),))


def made_session(qtbot: QtBot, inputs: int = 1, **sizes: tuple[int, int]) -> Session:
    session = Session()
    session.auto = False
    torch.manual_seed(3)
    session.set_model(Net())
    size = sizes.get("size", (8, 12))
    session.add_inputs([input_of(f"input{seed}", seed, size) for seed in range(1, inputs + 1)])
    session.tick(PATHS, True)
    session.select(path="conv")
    with qtbot.waitSignal(session.run_finished):
        session.run()
    return session


def walls(qtbot: QtBot) -> Iterator[Callable[..., tuple[Session, WallPanel]]]:
    """Give what makes a wall of a session with so many inputs, 900 × 560; sessions are closed at the end."""
    sessions: list[Session] = []

    def made(inputs: int = 1, **sizes: tuple[int, int]) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = made_session(qtbot, inputs, **sizes)
        sessions.append(session)
        panel = WallPanel(session)
        qtbot.addWidget(panel)
        panel.resize(900, 560)
        panel.show()
        qtbot.waitExposed(panel)
        QApplication.processEvents()
        return session, panel

    yield made
    for session in sessions:
        session.close()


def canvas(panel: WallPanel, place: int) -> Canvas:
    found = panel.findChild(QWidget, f"wall_{place}")
    assert isinstance(found, Canvas)
    return found


def plain_hook(session: Session, path: str, x: torch.Tensor) -> np.ndarray:
    kept = []
    module = session.model.get_submodule(path)
    handle = module.register_forward_hook(lambda *call: kept.append(call[2].detach().clone()))
    with torch.no_grad():
        session.model.eval()(x)
    handle.remove()
    return kept[0].numpy()


def expected(values: np.ndarray, levels: tuple[float, float], name: str, size: tuple[int, int]) -> np.ndarray:
    """One map as RGB, width × height pixels: levels, look-up, nearest cell, in plain numpy."""
    with np.load(resource("colormaps.npz")) as tables:
        table = tables[name]
    low, span = np.float32(levels[0]), np.float32(levels[1] - levels[0])
    place = (values.astype(np.float32) - low) / span * np.float32(255) + np.float32(0.5)
    index = np.clip(place, 0, 255).astype(np.uint8)
    width, height = size
    rows = [int((y + 0.5) / height * len(values)) for y in range(height)]
    columns = [int((x + 0.5) / width * values.shape[1]) for x in range(width)]
    return table[index][np.ix_(rows, columns)]


def means_along(values: np.ndarray, pixels: int) -> np.ndarray:
    """The mean of each of `pixels` equal parts of the first axis, by differences of a running sum."""
    running = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    edges = np.linspace(0, len(values), pixels + 1)
    places = np.arange(len(running))
    at_edges = np.stack([np.interp(edges, places, column) for column in running.T], axis=1)
    return np.diff(at_edges, axis=0) / (len(values) / pixels)


def click(canvas: Canvas, point: QPoint, qtbot: QtBot) -> None:
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=point)


def middle(canvas: Canvas, channel: int) -> QPoint:
    return canvas.tile_rect(channel).center()
