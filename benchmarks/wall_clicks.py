"""A click on a layer of ResNet-50, and four linked columns, beside pyqtgraph and matplotlib, in turns.

    python benchmarks/wall_clicks.py [--rounds 9] [--json FILE]

A click is a press of the mouse on a row of the module tree in the whole window; it lasts until all channels
are on the screen. What the rest of the window says of them follows, and is a line of its own: time of the
processor until nothing is left to do. The peers draw the same tensor on as much room and do nothing else. The
output is read as that of `wall.py`. Exit status 1 when a peer did not run, never when a goal is short.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
import torch
import wall
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from wall import Do, ImageItem, Imshow, Line, Subplots, line, painted, shown

from hookviewer import arrays, render
from hookviewer.gui.columns import Column
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.module_filter import ModuleFilter
from hookviewer.gui.module_model import ModuleModel
from hookviewer.gui.session import Session
from hookviewer.gui.theme import set_theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.wall import geometry
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.inputs import Input
from hookviewer.kinds import Kind

SETTLED = 20
LAYERS = ("conv1", "layer1.0.conv3", "layer2.1.bn2", "layer3.2.conv3", "layer4.0.conv1", "layer4.2.bn3")
COLUMNS = 4


class Window:
    """The whole window, with a session that has run ResNet-50."""

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
        self.window = MainWindow(self.session)
        self.window.keeps_layout = False
        self.window.show()
        self.tree = self.window.docks.modules.tree
        self.tree.expandAll()
        self.settle()
        self.canvas = self.window.wall.lanes.columns[0].canvas
        self.paints = wall.Paints(self.canvas)
        self.spent: list[float] = []
        self._ended = 0.0
        self._watch(self.canvas.repaint)
        self._enlarge()
        self.session.set_auto(True)

    def _enlarge(self) -> None:
        """Give the channels the room that the peers have."""
        for _ in range(4):  # the panels take a share of what is gained
            more = QSize(*wall.WINDOW) - self.canvas.size()
            self.window.resize(self.window.size() + more)
            self.settle()

    def _watch(self, repaint: Callable[[], None]) -> None:
        """Notice when the channels are on the screen: `repaint` returns when it has brought them there."""

        def watched() -> None:
            repaint()
            self._ended = self._ended or time.perf_counter()

        self.canvas.repaint = watched  # type: ignore[method-assign, assignment]

    def settle(self) -> None:
        """Return when nothing is left to do but what waits for a pause."""
        for _ in range(SETTLED):
            QApplication.processEvents()

    def array(self, path: str) -> np.ndarray:
        """Return the maps of a layer."""
        recording = self.session.recording(self.session.inputs[0].number)
        assert recording is not None
        return np.asarray(recording.record(path, Kind.OUTPUT).array()[0])

    def place(self, path: str) -> QPoint:
        """Bring a row of the tree into sight; return where to click on it."""
        rows = self.tree.model()
        assert isinstance(rows, ModuleFilter)
        model = rows.sourceModel()
        assert isinstance(model, ModuleModel)
        index = rows.mapFromSource(model.index_of(path))
        self.tree.scrollTo(index)
        self.settle()
        area = self.tree.visualRect(index)
        return QPoint(area.right() - 4, area.center().y())

    def click(self, turn: int) -> float:
        """Click on another layer; return the time in ms until its channels are on the screen."""
        path = LAYERS[turn % len(LAYERS)]
        place, before, there = self.place(path), self.paints.count, self.tree.viewport()
        self._ended = 0.0
        used, started = time.process_time(), time.perf_counter()
        QTest.mousePress(there, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        if self.paints.count == before or not self._ended:
            raise RuntimeError("the click has painted nothing")
        QTest.mouseRelease(there, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        self.settle()
        self.spent.append((time.process_time() - used) * 1e3)
        if self.session.selection.path != path:
            raise RuntimeError(f"the click on {path} chose {self.session.selection.path}")
        return (self._ended - started) * 1e3


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


class SharedAxes:
    """Four matplotlib axes that share x and y, with an imshow each."""

    def __init__(self, data: np.ndarray) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        columns = geometry.fitted(len(data), 1.0, (300, 880), 2).columns
        figure = Figure(figsize=(wall.WINDOW[0] / 100, wall.WINDOW[1] / 100), dpi=100)
        self.canvas = FigureCanvasAgg(figure)
        self.axes = figure.subplots(1, COLUMNS, sharex=True, sharey=True)
        for place, axes in enumerate(self.axes):
            atlas = render.tiled(data + place, columns, 2, np.float32(np.nan))
            axes.imshow(atlas, cmap="magma", vmin=wall.LEVELS[0], vmax=wall.LEVELS[1])
            axes.set_axis_off()
        self.height, self.width = atlas.shape
        self.canvas.draw()

    def pan(self, turn: int) -> None:
        """Move all columns by some pixels."""
        self.axes[0].set_xlim(turn % 9, self.width + turn % 9)
        self.canvas.draw()

    def zoom(self, turn: int) -> None:
        """Zoom all columns."""
        part = 0.1 if turn % 2 else 0.05
        self.axes[0].set_xlim(self.width * part, self.width * (1 - part))
        self.axes[0].set_ylim(self.height * (1 - part), self.height * part)
        self.canvas.draw()


def clicks(rounds: int) -> list[Line]:
    """Return the claims about a click; matplotlib's subplots are made for two layers only."""
    window = Window()
    times = rounds * len(LAYERS)
    peers = (("ImageItem", ClickedItem, 2.0), ("imshow", ClickedImshow, 12.0))
    made = [compared(window, name, peer(window).step, goal, times) for name, peer, goal in peers]
    plots = Subplots([window.array("conv1")])
    made.append(compared(window, "subplots of conv1", plots.step, 500.0, 3))
    worst, size = max(one.p95 for one in made[:2]), made[0].size
    verdict = "ok" if worst <= 16 else "short"
    print(f"{'click, p95, goal one frame of 16 ms':<38} {size:<12} {worst:8.2f} ms  {verdict}")
    spent = statistics.median(window.spent)
    print(f"{'click, processor until all is said':<38} {size:<12} {spent:8.2f} ms")
    window.window.close()
    return made


def compared(window: Window, name: str, peer: Do, goal: float, times: int) -> Line:
    """Measure a click in turns with a peer's drawing of the same layer."""
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(times + 2):
        ours.append(window.click(turn))
        started = time.perf_counter()
        peer(turn)
        theirs.append((time.perf_counter() - started) * 1e3)
    ours, theirs = ours[2:], theirs[2:]
    p95 = sorted(ours)[min(int(0.95 * len(ours)), len(ours) - 1)]
    middle = (statistics.median(ours), statistics.median(theirs))
    made = Line(f"click, beside {name}", f"{len(LAYERS)} layers", *middle, goal, len(ours), p95)
    print(made, flush=True)
    return made


def linked(rounds: int) -> list[Line]:
    """Return the claims about four linked columns."""
    made = []
    for size in ((256, 56, 56), (64, 112, 112), (512, 128, 128)):
        data = np.random.default_rng(0).standard_normal(size).astype(np.float32)
        ours, words = Linked(data), "×".join(map(str, size))
        for peer, called, aim in ((LinkedItems(data), "ImageItems", 2.0), (SharedAxes(data), "axes", 20.0)):
            for name in ("pan", "zoom"):
                goal = 1.0 if name == "zoom" and size[0] == 512 and aim == 2.0 else aim
                do = (getattr(ours, name), getattr(peer, name))
                made.append(line(f"{name} of four columns, linked {called}", words, *do, goal, rounds))
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
