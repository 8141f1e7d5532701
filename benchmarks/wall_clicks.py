"""A click on a layer of ResNet-50, and four linked columns, beside pyqtgraph and matplotlib, in turns.

    python benchmarks/wall_clicks.py [--rounds 9] [--json FILE]

A click is what the window does when a row of the tree is selected: the state is resolved, head, controls
and foot say it, and all channels are painted in a wall of 1280 × 900. The peers get the same tensor. The
output is read as that of `wall.py`. Exit status 1 when a peer did not run, never when a goal is short.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
import torch
import wall
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from wall import ImageItem, Imshow, Line, Subplots, in_turns, line, painted, shown

from hookviewer import arrays, render
from hookviewer.gui.columns import Column
from hookviewer.gui.session import Session
from hookviewer.gui.theme import set_theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.wall import WallPanel, geometry
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.inputs import Input
from hookviewer.kinds import Kind

LAYERS = ("conv1", "layer1.0.conv3", "layer2.1.bn2", "layer3.2.conv3", "layer4.0.conv1", "layer4.2.bn3")
COLUMNS = 4


class Window:
    """The wall of a session that has run ResNet-50."""

    def __init__(self) -> None:
        import torchvision

        self.session = Session()
        self.session.auto = False
        self.session.set_model(torchvision.models.resnet50(weights=None).eval())
        self.session.set_settings(target=dataclasses.replace(self.session.settings.target, rule="none"))
        self.session.add_inputs([Input("random", (torch.randn(1, 3, 224, 224),))])
        self.session.tick(LAYERS, True)
        self.session.run()
        until = time.monotonic() + 120
        while (self.session.running or self.session.runner.busy) and time.monotonic() < until:
            QApplication.processEvents()
            time.sleep(0.01)
        self.panel = WallPanel(self.session)
        self.panel.resize(*wall.WINDOW)
        shown(self.panel)
        self.canvas = self.panel.lanes.columns[0].canvas
        self.canvas.setProperty("paints", wall.Paints(self.canvas))
        QApplication.processEvents()

    def array(self, path: str) -> np.ndarray:
        """Return the maps of a layer."""
        recording = self.session.recording(self.session.inputs[0].number)
        assert recording is not None
        return np.asarray(recording.record(path, Kind.OUTPUT).array()[0])

    def step(self, turn: int) -> None:
        """Click on another layer; return when all of its channels are painted."""
        self.session.select(path=LAYERS[turn % len(LAYERS)])
        painted(self.canvas)


class ClickedItem(ImageItem):
    """One ImageItem that gets the atlas of another layer."""

    def __init__(self, window: Window) -> None:
        self.layers = [window.array(path) for path in LAYERS]
        super().__init__(self.layers[:1])

    def step(self, turn: int) -> None:
        """Draw another layer."""
        maps = self.layers[turn % len(self.layers)]
        columns = geometry.fitted(len(maps), maps.shape[1] / maps.shape[2], wall.WINDOW, 2).columns
        atlas = render.tiled(maps, columns, 2, np.float32(np.nan))
        self.item.setImage(atlas, levels=wall.LEVELS, autoLevels=False)
        self.box.setRange(QRectF(0, 0, *atlas.shape[::-1]), padding=0)
        painted(self.widget)


class ClickedImshow:
    """One imshow for each layer."""

    def __init__(self, window: Window) -> None:
        self.plots = [Imshow([window.array(path)]) for path in LAYERS]

    def step(self, turn: int) -> None:
        """Draw another layer."""
        self.plots[turn % len(self.plots)].step(0)


class Linked:
    """Four columns of the wall on one sight."""

    def __init__(self, data: np.ndarray) -> None:
        self.host = QWidget()
        layout = QHBoxLayout(self.host)
        self.canvases = [Canvas() for _ in range(COLUMNS)]
        for canvas in self.canvases:
            layout.addWidget(canvas)
        self.host.resize(*wall.WINDOW)
        shown(self.host)
        maps = [arrays.Maps(data + place, "channel × row × column", "maps") for place in range(COLUMNS)]
        room = (self.canvases[0].width(), self.canvases[0].height())
        order = np.arange(len(data))
        self.sheets = [
            Sheet(Column("", "data", 1, None, one), order, wall.LEVELS, "magma", room, one) for one in maps
        ]
        self.show()

    def show(self, **changes: Any) -> None:
        """Show all columns with a change."""
        self.sheets = [dataclasses.replace(sheet, **changes) for sheet in self.sheets]
        for canvas, sheet in zip(self.canvases, self.sheets, strict=True):
            canvas.show_sheet(sheet)
        painted(self.host)

    def pan(self, turn: int) -> None:
        """Move all columns by some pixels."""
        view = self.canvases[0].view
        assert view is not None
        grid = view.grid  # type: ignore[attr-defined]
        sight = dataclasses.replace(view.sight, columns=grid.columns, tile=grid.width, x=turn % 9)
        self.show(sight=sight, hurry=False)

    def zoom(self, turn: int) -> None:
        """Turn the wheel by a notch."""
        view = self.canvases[0].view
        assert view is not None
        self.show(sight=view.zoomed(1.1 if turn % 2 else 1 / 1.1, QPointF(100, 300)), hurry=True)


class LinkedItems:
    """Four linked ViewBoxes with an ImageItem each."""

    def __init__(self, data: np.ndarray) -> None:
        columns = geometry.fitted(len(data), 1.0, (300, 880), 2).columns
        self.widget = pg.GraphicsLayoutWidget()
        self.widget.resize(*wall.WINDOW)
        self.boxes = []
        for place in range(COLUMNS):
            box = self.widget.addViewBox(lockAspect=True, invertY=True, enableMenu=False)
            atlas = render.tiled(data + place, columns, 2, np.float32(np.nan))
            item = pg.ImageItem(atlas, axisOrder="row-major", levels=wall.LEVELS, autoLevels=False)
            item.setLookupTable(render.colour_table("magma"))
            box.addItem(item)
            if self.boxes:
                box.setXLink(self.boxes[0])
                box.setYLink(self.boxes[0])
            self.boxes.append(box)
        shown(self.widget)
        self.area = QRectF(0, 0, *atlas.shape[::-1])
        self.show(self.area)

    def show(self, area: QRectF) -> None:
        """Show a part of all atlases."""
        self.boxes[0].setRange(area, padding=0)
        painted(self.widget)

    def pan(self, turn: int) -> None:
        """Move all columns by some pixels."""
        self.show(self.area.translated(turn % 9, 0))

    def zoom(self, turn: int) -> None:
        """Zoom all columns."""
        part = self.area.width() * (0.1 if turn % 2 else 0.05)
        self.show(self.area.adjusted(part, part, -part, -part))


def clicks(rounds: int) -> list[Line]:
    """Return the claims about a click; matplotlib's subplots are made for two layers only."""
    window = Window()
    size = f"{len(LAYERS)} layers"
    times = rounds * len(LAYERS)
    made = []
    for name, peer, goal in (("ImageItem", ClickedItem, 2.0), ("imshow", ClickedImshow, 12.0)):
        there = peer(window)
        made.append(line(f"click, beside {name}", size, window.step, there.step, goal, times))
        print(made[-1], flush=True)
    plots = Subplots([window.array("conv1")])
    made.append(line("click, beside subplots of conv1", size, window.step, plots.step, 500.0, 3))
    print(made[-1], flush=True)
    first, _ = in_turns(window.step, lambda turn: None, times)
    worst = sorted(first)[int(0.95 * len(first))]
    verdict = "ok" if worst <= 16 else "short"
    print(f"{'click, p95, goal one frame of 16 ms':<38} {size:<12} {worst:8.2f} ms  {verdict}")
    window.session.close()
    return made


def linked(rounds: int) -> list[Line]:
    """Return the claims about four linked columns."""
    made = []
    for size in ((256, 56, 56), (64, 112, 112), (512, 128, 128)):
        data = np.random.default_rng(0).standard_normal(size).astype(np.float32)
        ours, peer = Linked(data), LinkedItems(data)
        for name in ("pan", "zoom"):
            goal = 1.0 if name == "zoom" and size[0] == 512 else 2.0
            words = "×".join(map(str, size))
            do = (getattr(ours, name), getattr(peer, name))
            made.append(line(f"{name} of four linked columns", words, *do, goal, rounds))
            print(made[-1], flush=True)
    return made


def main() -> int:
    """Measure, print, and write JSON where asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    application = QApplication([])
    set_theme("dark")
    try:
        lines = [*linked(chosen.rounds), *clicks(chosen.rounds)]
    except ImportError as missing:
        print(f"a peer did not run: {missing}")
        return 1
    if chosen.json:
        rows = [{**dataclasses.asdict(one), "ratio": one.peer / one.ours} for one in lines]
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    application.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
