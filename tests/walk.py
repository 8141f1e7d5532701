"""A random walk over the real window: open, tick, run, stop, reload, switch, export, close, reopen.

Not a test by itself: `python tests/walk.py --seconds 300 --seed 0` prints what it did and what was left.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import random
import sys
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

torch.set_num_threads(1)

from PIL import Image  # noqa: E402
from PySide6.QtCore import QCoreApplication, QEvent, QSettings, Qt  # noqa: E402
from PySide6.QtGui import QGuiApplication  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from hookviewer.gui import dropping  # noqa: E402
from hookviewer.gui.application import application  # noqa: E402
from hookviewer.gui.export_dialog import ExportDialog  # noqa: E402
from hookviewer.gui.main_window import MainWindow  # noqa: E402
from hookviewer.gui.running import hooks_on  # noqa: E402
from hookviewer.gui.state import Shown  # noqa: E402
from hookviewer.gui.theme import set_theme  # noqa: E402

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        convolution = nn.Conv2d(3, {width}, 3, padding=1)
        self.first = nn.Sequential(convolution, nn.BatchNorm2d({width}), nn.ReLU(inplace=True))
        self.second = nn.Conv2d({width}, 6, 3, padding=1)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        return self.head(self.second(self.first(x)).mean((2, 3)))
"""
KEYS = "gdsz1xpol"
MODELS = ("demo:simple_cnn", "demo:mlp", "demo:three_layers", "demo:fc_relu_fc", "demo:pnet")
PATIENCE_S = 60.0


class Errors(logging.Handler):
    """Keeps what the program logs as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Walk:
    """One person who does things at random; every window that was closed has left nothing behind."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random, self.folder = random.Random(seed), folder
        self.errors = Errors()
        self.done: Counter[str] = Counter()
        self.left: list[str] = []
        self.memory: list[float] = []
        self.handles: list[int] = []
        self.net, self.pictures = folder / "net.py", folder / "pictures"
        self.net.write_text(NET.format(width=5))
        self.pictures.mkdir()
        for number in range(6):
            colour = tuple(self.random.randrange(256) for _ in range(3))
            Image.new("RGB", (24, 16), colour).save(self.pictures / f"{number}.png")
        logging.getLogger("hookviewer").addHandler(self.errors)
        sys.excepthook = self._on_exception
        self.hooks = 0
        self.window = self._opened()

    def _on_exception(self, kind: Any, error: BaseException, trace: Any) -> None:
        self.errors.lines.append(f"{kind.__name__}: {error}")
        sys.__excepthook__(kind, error, trace)

    # -- steps ----------------------------------------------------------------------------------------------

    def steps(self) -> dict[str, Callable[[], object]]:
        """Return what can be done, by name."""
        session, actions = self.window.session, self.window.commands.actions
        return {
            "open a file": lambda: self.window.opening.open(f"{self.net}:Net"),
            "open by name": lambda: self.window.opening.open(self.random.choice(MODELS)),
            "tick": self.tick,
            "look at a module": self.look,
            "run": actions["run"].trigger,
            "stop": session.stop,
            "reload": self.reload,
            "break the code and reload": self.break_code,
            "switch kind": lambda: session.select(shown=self.random.choice(list(Shown))),
            "press a key": self.press,
            "switch theme": actions["theme"].trigger,
            "show and hide a panel": lambda: actions[
                f"panel_{self.random.choice(('left', 'right', 'bottom'))}"
            ].trigger(),
            "add pictures": self.add,
            "next file": actions["next_file"].trigger,
            "remove an input": self.remove,
            "tick an input": self.tick_input,
            "difference": lambda: session.set_look(difference=not session.look.difference),
            "train or eval": lambda: session.set_settings(mode=self.random.choice(("eval", "train"))),
            "undo": actions["undo"].trigger,
            "redo": actions["redo"].trigger,
            "paste": self.paste,
            "export": self.export,
            "preprocessing": self.preprocess,
            "resize": lambda: self.window.resize(
                self.random.randint(900, 1500), self.random.randint(560, 950)
            ),
        }

    def paths(self) -> list[str]:
        tree = self.window.session.tree
        return [node.path for node in tree.walk()] if tree is not None else []

    def tick(self) -> None:
        paths = self.paths()
        if paths:
            self.window.session.tick([self.random.choice(paths)], self.random.random() < 0.6)

    def look(self) -> None:
        paths = self.paths()
        if paths:
            self.window.session.select(path=self.random.choice(paths))

    def reload(self) -> None:
        self.net.write_text(NET.format(width=self.random.choice((3, 5, 8))))
        self.window.opening.reload()

    def break_code(self) -> None:
        self.net.write_text("def broken(:\n")
        self.window.opening.reload()
        self.rest()
        self.net.write_text(NET.format(width=5))

    def press(self) -> None:
        key = self.random.choice([*KEYS, "[", "]"])
        QTest.keyClick(self.window.wall, key)
        if key == "#":
            QTest.keyClick(self.window, Qt.Key.Key_Escape)

    def add(self) -> None:
        if len(self.window.session.inputs) < 6:
            path = self.random.choice(sorted(self.pictures.iterdir()))
            self.window.bringing.drop(dropping.sorted_files([path]))

    def remove(self) -> None:
        if self.window.session.inputs:
            self.window.session.remove_input(self.random.choice(self.window.session.inputs).number)

    def tick_input(self) -> None:
        if self.window.session.inputs:
            item = self.random.choice(self.window.session.inputs)
            self.window.session.tick_input(item.number, not item.ticked)

    def paste(self) -> None:
        QGuiApplication.clipboard().setText(self.random.choice(("ones:1x3x16x24", "no such thing", "")))
        if len(self.window.session.inputs) < 6:
            self.window.bringing.paste()

    def export(self) -> None:
        if not self.window.session.runs:
            return
        dialog = ExportDialog(self.window.session, self.random.randrange(3), self.window)
        dialog.form.folder.setText(tempfile.mkdtemp(dir=self.folder))
        dialog.show()
        self.rest()
        if dialog.go.isEnabled():
            dialog.start()
            if self.random.random() < 0.3:
                dialog._on_cancel()
        self.rest()
        dialog.close()
        dialog.deleteLater()

    def preprocess(self) -> None:
        dialog = self.window.bringing.ask_recipe()
        if dialog is not None:
            dialog.range.buttons[self.random.randrange(3)].click()
            self.random.choice((dialog.go.click, dialog.own.click, dialog.close))()

    # -- the walk -------------------------------------------------------------------------------------------

    def go(self, seconds: float, windows: int = 0) -> None:
        """Walk for so long; a window is closed and another opened a few times on the way."""
        until, pause = time.monotonic() + seconds, seconds / max(windows, 1 + seconds / 15)
        while time.monotonic() < until:
            end = min(time.monotonic() + pause, until)
            while time.monotonic() < end:
                name, step = self.random.choice(list(self.steps().items()))
                self.done[name] += 1
                step()
                del step  # it holds the window
                self.breathe(self.random.choice((0.0, 0.0, 0.02, 0.1, 0.4)))
            self.reopen()
        self.close()

    def breathe(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        QCoreApplication.processEvents()
        while time.monotonic() < end:
            QCoreApplication.processEvents()
            time.sleep(0.005)

    def rest(self) -> None:
        session, end = self.window.session, time.monotonic() + PATIENCE_S
        while session.runner.busy or session.running:
            self.breathe(0.01)
            if time.monotonic() > end:
                raise TimeoutError("the window does not come to rest")

    def _opened(self) -> MainWindow:
        window = MainWindow()
        window.catcher.install()
        window.session.model_changed.connect(self._on_model_changed)
        window.show()
        window.opening.open(
            f"{self.net}:Net", inputs=[str(self.pictures / "0.png"), str(self.pictures / "1.png")]
        )
        return window

    def _on_model_changed(self) -> None:
        """Count the hooks that a model brings itself: a run has not begun yet."""
        model = self.window.session.model
        self.hooks = hooks_on(model) if model is not None else 0

    def reopen(self) -> None:
        """Close the window, in the middle of things or at rest, look what it left, and open another."""
        if self.random.random() < 0.5:
            self.rest()
        self.close()
        self.window = self._opened()
        self.rest()

    def close(self) -> None:
        self.done["close"] += 1
        model, runner = self.window.session.model, self.window.session.runner
        self.window.close()
        runner.join()
        if model is not None and hooks_on(model) != self.hooks:
            self.left.append(f"{hooks_on(model)} hooks instead of {self.hooks}")
        window = weakref.ref(self.window)
        del self.window, runner, model
        for _ in range(3):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
            QCoreApplication.processEvents()
            gc.collect()
        self.left += [
            f"widget {type(one).__name__}" for one in QApplication.topLevelWidgets() if one.isVisible()
        ]
        named = [thread.name for thread in threading.enumerate() if thread.name.startswith("hookviewer")]
        self.left += [f"thread {name}" for name in named]
        if window() is not None:
            self.left.append("a window that is still in memory")
        self.memory.append(resident())
        self.handles.append(
            len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0
        )


def resident() -> float:
    """Return the megabytes that the process holds; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> int:
    """Walk and print, as JSON, what was done and what was left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--windows", type=int, default=0, help="how often the window is closed on the way")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, folder)
        application()
        set_theme("dark")
        walk = Walk(chosen.seed, Path(folder))
        walk.go(chosen.seconds, chosen.windows)
    print(
        json.dumps(
            {
                "done": dict(walk.done),
                "errors": walk.errors.lines,
                "left": walk.left,
                "memory": [round(size, 1) for size in walk.memory],
                "handles": walk.handles,
            },
            indent=1,
        )
    )
    return 1 if walk.errors.lines or walk.left else 0


if __name__ == "__main__":
    sys.exit(main())
