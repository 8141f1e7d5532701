"""How fast the wall draws, beside pyqtgraph's ImageItem, one matplotlib imshow and subplots, in turns.

    python benchmarks/wall.py [--rounds 9] [--json FILE]

Each line: what, the size, our median in ms, the peer's, the ratio, the goal, ok or short, rounds, our p95.
Every figure is from new data or a new wish to painted pixels in a window of 1280 × 900. Exit status 1 when a
peer did not run, never when a goal is short.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyqtgraph as pg
import torch
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF
from PySide6.QtWidgets import QApplication, QWidget

from hookviewer import arrays, render
from hookviewer.gui.columns import Column
from hookviewer.gui.theme import set_theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.wall import geometry, tiles
from hookviewer.gui.wall.canvas import Canvas

torch.set_num_threads(1)

WINDOW = (1280, 900)
SIZES = (
    (64, 112, 112),
    (256, 56, 56),
    (512, 28, 28),
    (512, 14, 14),
    (2048, 7, 7),
    (64, 224, 224),
    (512, 128, 128),
)
LEVELS = (-2.0, 2.0)
MOST_SUBPLOTS = 256  # more of them take many seconds for one picture
GOALS = {
    "step": 1.0,
    "levels": 1.0,
    "colour map": 2.0,
    "pan": 2.0,
    "zoom": 1.0,
    "zoom to the exact pixel": 1.0,
}

Do = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class Line:
    """One claim, measured."""

    name: str
    size: str
    ours: float
    peer: float
    goal: float
    rounds: int
    p95: float

    def __str__(self) -> str:
        ratio = self.peer / self.ours
        verdict = "ok" if ratio >= self.goal else "short"
        return (
            f"{self.name:<38} {self.size:<12} {self.ours:8.2f} {self.peer:8.2f} {ratio:7.2f}x"
            f"  goal {self.goal:g}x  {verdict:<5}  n {self.rounds}  p95 {self.p95:.2f}"
        )


class Ours:
    """The canvas of the wall."""

    def __init__(self, data: list[np.ndarray]) -> None:
        self.maps = [arrays.Maps(one, "channel × row × column", "maps") for one in data]
        self.order = np.arange(len(data[0]))
        self.canvas = Canvas()
        self.canvas.resize(*WINDOW)
        shown(self.canvas)
        column = Column("", "data", 1, None, self.maps[0])
        self.sheet = Sheet(column, self.order, LEVELS, "magma", WINDOW, self.maps[0])
        self.show()

    def show(self, **changes: Any) -> None:
        self.sheet = dataclasses.replace(self.sheet, **changes)
        self.canvas.show_sheet(self.sheet)
        painted(self.canvas)

    def step(self, turn: int) -> None:
        tiles.small.forget()  # type: ignore[attr-defined]
        tiles.spread.forget()  # type: ignore[attr-defined]
        maps = self.maps[turn % len(self.maps)]
        self.show(column=dataclasses.replace(self.sheet.column, maps=maps), lead=maps)

    def levels(self, turn: int) -> None:
        self.show(levels=(-2.0, 2.0 + 0.01 * (turn % 7)))

    def colour_map(self, turn: int) -> None:
        self.show(colormap=("magma", "viridis")[turn % 2])

    def pan(self, turn: int) -> None:
        view = self.canvas.view
        assert view is not None
        self.show(
            sight=dataclasses.replace(view.sight, columns=view.grid.columns, tile=view.grid.width, x=turn % 9)
        )

    def zoom(self, turn: int, *, hurry: bool = True) -> None:
        """One notch of the wheel: while the gesture goes on, much data is first shown scaled."""
        view = self.canvas.view
        assert view is not None
        factor = 1.1 if turn % 2 else 1 / 1.1
        self.show(sight=view.zoomed(factor, QPointF(640, 450)), hurry=hurry)

    def zoom_to_the_exact_pixel(self, turn: int) -> None:
        self.zoom(turn, hurry=False)


class ImageItem:
    """All maps as one atlas in pyqtgraph's ImageItem."""

    def __init__(self, data: list[np.ndarray]) -> None:
        count, height, width = data[0].shape
        columns = geometry.fitted(count, height / width, WINDOW, 2).columns
        self.data = [render.tiled(one, columns, 2, np.float32(np.nan)) for one in data]
        self.raw, self.columns = data, columns
        self.widget = pg.GraphicsLayoutWidget()
        self.widget.resize(*WINDOW)
        self.box = self.widget.addViewBox(lockAspect=True, invertY=True, enableMenu=False)
        self.item = pg.ImageItem(axisOrder="row-major")
        self.box.addItem(self.item)
        self.item.setImage(self.data[0], levels=LEVELS, autoLevels=False)
        self.item.setLookupTable(render.colour_table("magma"))
        shown(self.widget)
        self.area = QRectF(0, 0, *self.data[0].shape[::-1])
        self.box.setRange(self.area, padding=0)
        painted(self.widget)

    def step(self, turn: int) -> None:
        atlas = render.tiled(self.raw[turn % len(self.raw)], self.columns, 2, np.float32(np.nan))
        self.item.setImage(atlas, levels=LEVELS, autoLevels=False)
        painted(self.widget)

    def levels(self, turn: int) -> None:
        self.item.setLevels((-2.0, 2.0 + 0.01 * (turn % 7)))
        painted(self.widget)

    def colour_map(self, turn: int) -> None:
        self.item.setLookupTable(render.colour_table(("magma", "viridis")[turn % 2]))
        painted(self.widget)

    def pan(self, turn: int) -> None:
        self.box.setRange(self.area.translated(turn % 9, 0), padding=0)
        painted(self.widget)

    def zoom(self, turn: int) -> None:
        part = self.area.width() * (0.1 if turn % 2 else 0.05)
        self.box.setRange(self.area.adjusted(part, part, -part, -part), padding=0)
        painted(self.widget)

    zoom_to_the_exact_pixel = zoom


class Imshow:
    """All maps as one atlas in a matplotlib imshow."""

    def __init__(self, data: list[np.ndarray]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WINDOW[0] / 100, WINDOW[1] / 100), dpi=100)
        self.canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        self.raw = data
        count, height, width = data[0].shape
        self.columns = geometry.fitted(count, height / width, WINDOW, 2).columns
        atlas = render.tiled(data[0], self.columns, 2, np.float32(np.nan))
        self.image = axes.imshow(atlas, cmap="magma", vmin=LEVELS[0], vmax=LEVELS[1], aspect="auto")
        self.canvas.draw()

    def step(self, turn: int) -> None:
        self.image.set_data(render.tiled(self.raw[turn % len(self.raw)], self.columns, 2, np.float32(np.nan)))
        self.canvas.draw()


class Subplots:
    """One small matplotlib plot for each map, made anew as a notebook does it."""

    def __init__(self, data: list[np.ndarray]) -> None:
        self.raw = data
        count, height, width = data[0].shape
        self.columns = geometry.fitted(count, height / width, WINDOW, 2).columns

    def step(self, turn: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WINDOW[0] / 100, WINDOW[1] / 100), dpi=100)
        canvas = FigureCanvasAgg(figure)
        maps = self.raw[turn % len(self.raw)]
        places = figure.subplots(-(-len(maps) // self.columns), self.columns, squeeze=False).flat
        for axes, one in zip(places, maps, strict=False):
            axes.imshow(one, cmap="magma", vmin=LEVELS[0], vmax=LEVELS[1])
            axes.set_axis_off()
        canvas.draw()


class Paints(QObject):
    """Counts the paint events of a widget, so that nothing is measured that was not painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def face(widget: QWidget) -> QWidget:
    """Return the widget that is painted on."""
    return widget.viewport() if isinstance(widget, pg.GraphicsView) else widget


def shown(widget: QWidget) -> None:
    """Show a widget and return when it can be painted."""
    widget.show()
    until = time.monotonic() + 5
    while not widget.windowHandle().isExposed() and time.monotonic() < until:
        QApplication.processEvents()
    QApplication.processEvents()
    face(widget).setProperty("paints", Paints(face(widget)))


def painted(widget: QWidget) -> None:
    """Return when the widget has been painted."""
    paints = face(widget).property("paints")
    before = paints.count
    face(widget).repaint()
    if paints.count == before:
        raise RuntimeError(f"{type(widget).__name__} was not painted")


def in_turns(first: Do, second: Do, rounds: int) -> tuple[list[float], list[float]]:
    """Return the times in ms of two things done one after the other, again and again."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 2):
        for which, do in enumerate((first, second)):
            started = time.perf_counter()
            do(turn)
            times[which].append((time.perf_counter() - started) * 1e3)
    return times[0][2:], times[1][2:]


def line(name: str, size: str, ours: Do, peer: Do, goal: float, rounds: int) -> Line:
    """Measure one claim."""
    first, second = in_turns(ours, peer, rounds)
    p95 = sorted(first)[min(int(0.95 * len(first)), len(first) - 1)]
    return Line(name, size, statistics.median(first), statistics.median(second), goal, rounds, p95)


def measured(rounds: int, sizes: tuple[tuple[int, int, int], ...]) -> tuple[list[Line], bool]:
    """Return all lines, and whether every peer ran."""
    lines: list[Line] = []
    complete = True
    for size in sizes:
        random = np.random.default_rng(0)
        data = [random.standard_normal(size).astype(np.float32) for _ in range(3)]
        ours, item = Ours(data), ImageItem(data)
        words = "×".join(map(str, size))
        for name, goal in GOALS.items():
            do = name.replace(" ", "_")
            made = line(
                f"{name}, beside ImageItem", words, getattr(ours, do), getattr(item, do), goal, rounds
            )
            lines.append(made)
            print(made, flush=True)
        try:
            plot = Imshow(data)
        except ImportError:
            complete = False
            print(f"step, beside imshow: matplotlib is not installed ({words})")
            continue
        made = line("step, beside imshow", words, ours.step, plot.step, 12.0, rounds)
        lines.append(made)
        print(made, flush=True)
        if size[0] <= MOST_SUBPLOTS:
            made = line("step, beside subplots made anew", words, ours.step, Subplots(data).step, 500.0, 3)
            lines.append(made)
            print(made, flush=True)
    return lines, complete


def main() -> int:
    """Measure, print, and write JSON where asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--few", action="store_true", help="two sizes only")
    chosen = parser.parse_args()
    application = QApplication([])
    set_theme("dark")
    lines, complete = measured(chosen.rounds, SIZES[1:3] if chosen.few else SIZES)
    if chosen.json:
        rows = [{**dataclasses.asdict(one), "ratio": one.peer / one.ours} for one in lines]
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    application.quit()
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
