"""Is the window free while a model runs? Ticks every 10 ms and pans a painted wall at each.

VGG-16, a batch of 8, forward and backward, everything recorded, on the model thread. The peer is the same
window with nothing running: the ratio says what a run costs the person at the screen.

    python benchmarks/responsive.py [--seconds 7] [--batch 8] [--json FILE]

Exits 1 when the idle window or the run could not be measured, never because a goal is short.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import torch
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

import hookviewer as hv
from hookviewer.gui.main_window import MainWindow

TICK_MS = 10
GAP_GOAL_MS = 33.0
FRAME_GOAL_MS = 16.0
WALL_LAYER = "features.12"
"""256 channels of 56 × 56: what is panned."""


class Ticks:
    """Times between ticks and of each panned and painted frame, in milliseconds."""

    def __init__(self, window: MainWindow) -> None:
        self.gaps: list[float] = []
        self.frames: list[float] = []
        self._canvas = window.findChild(object, "wall_0")
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self._last = time.perf_counter()
        self._timer.start(TICK_MS)

    def stop(self) -> None:
        self._timer.stop()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.append((now - self._last) * 1000)
        self._last = now
        way = 3 if len(self.gaps) % 60 < 30 else -3
        if self._canvas.view is not None:
            self._canvas.sight_changed.emit(self._canvas.view.moved(way, way), False)
        self._canvas.repaint()
        self.frames.append((time.perf_counter() - now) * 1000)


def wait(until, seconds: float) -> bool:
    """Spin the event loop until `until()` holds; False when it did not in time."""
    end = time.monotonic() + seconds
    loop = QEventLoop()
    while not until():
        if time.monotonic() > end:
            return False
        QTimer.singleShot(5, loop.quit)
        loop.exec()
    return True


def measured(window: MainWindow, until, seconds: float) -> Ticks:
    """Return the ticks of the window until `until()` holds."""
    ticks = Ticks(window)
    ticks.start()
    wait(until, seconds)
    ticks.stop()
    return ticks


def opened(batch: int) -> MainWindow:
    """Return a window on VGG-16 with one layer recorded and shown."""
    torch.manual_seed(0)
    model = hv.open_model("torchvision.models:vgg16")
    window = hv.view(model, [torch.randn(batch, 3, 224, 224)], block=False)
    session = window.session
    window.resize(1280, 900)
    wait(lambda: session.inputs and not session.runner.busy, 120)
    session.set_auto(False)
    session.tick([node.path for node in session.tree.walk()], False)
    session.select(path=WALL_LAYER)
    session.run()
    wait(lambda: not session.running and not session.runner.busy, 120)
    return window


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=7.0, help="how long the idle window is measured")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    application = QApplication.instance() or QApplication([])
    window = opened(options.batch)
    session = window.session
    end = time.monotonic() + options.seconds
    idle = measured(window, lambda: time.monotonic() > end, options.seconds + 5)
    session.tick([node.path for node in session.tree.walk()], True)
    started = time.perf_counter()
    session.run()
    busy = measured(window, lambda: not session.running, 300)
    took = time.perf_counter() - started
    recording = session.recording(session.inputs[0].number)
    kept = sum(record.nbytes for record in recording.values()) / 2**20
    session.stop()
    window.close()
    application.processEvents()
    if not idle.gaps or not busy.gaps or len(recording) < 2:
        print("nothing was measured: the idle window or the run did not happen")
        return 1
    print(f"run of {took:.1f} s, {len(recording)} records, {kept:.0f} MiB; n {len(busy.gaps)} ticks")
    rows = [
        ("largest gap between ticks", max(busy.gaps), max(idle.gaps), GAP_GOAL_MS),
        ("p99 gap between ticks", _p99(busy.gaps), _p99(idle.gaps), GAP_GOAL_MS),
        ("p99 of a panned frame", _p99(busy.frames), _p99(idle.frames), FRAME_GOAL_MS),
    ]
    print(f"{'':28}{'running':>10}{'idle':>10}{'ratio':>8}{'goal ms':>9}")
    for name, ours, peer, goal in rows:
        verdict = "ok" if ours <= goal else "short"
        print(f"{name:28}{ours:10.1f}{peer:10.1f}{ours / peer:8.2f}{goal:9.0f}  {verdict}")
    if options.json:
        fields = ("name", "ours", "peer", "goal")
        options.json.write_text(json.dumps([dict(zip(fields, row, strict=True)) for row in rows], indent=1))
    return 0


def _p99(values: list[float]) -> float:
    return float(np.percentile(values, 99))


if __name__ == "__main__":
    sys.exit(main())
