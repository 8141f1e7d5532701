"""Starting the window: from the command line, from a script or a notebook, or for a picture of it."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEventLoop
from PySide6.QtWidgets import QApplication, QWidget
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.formats.export import export
from hookviewer.gui import settings
from hookviewer.gui.application import application, own_process
from hookviewer.gui.dropping import shared_out
from hookviewer.gui.export_dialog import shown_by
from hookviewer.gui.export_layers import layer_entries
from hookviewer.gui.first import DEMO
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.opening import DEMO_INPUTS, DEMO_UNTICKED
from hookviewer.gui.parting import part_now
from hookviewer.gui.state import Message
from hookviewer.gui.theme import keeper, set_theme
from hookviewer.plan import HookPlan

PATIENCE_S = 600.0
"""How long a picture of the window waits for its run."""
OFFSCREEN_SIZES = (("dark", "1920x1200"), ("light", "1280x800"))


def view(model: nn.Module, inputs: Any = (), block: bool | None = None) -> MainWindow:
    """Show a model in the window and return the window.

    `inputs` are Inputs, tensors, arrays, PIL pictures or paths, or one of them. `block` None waits until the
    window is closed only in a plain script: not where an event loop runs already, nor in IPython or Jupyter.
    """
    new = QApplication.instance() is None
    window = _made()
    window.opening.expect(_as_list(inputs) or None)
    window.session.set_model(model)
    window.catcher.install()
    window.show()
    keeper().hold(window)
    interactive = _interactive()
    if interactive:
        _enable_qt_loop()
    waits = new and not interactive if block is None else block
    if waits and not _loop_runs():
        _wait_until_closed(window)
    return window


def main(
    model: str | None = None,
    weights: str | None = None,
    inputs: Sequence[str] = (),
    trust: bool = False,
    before: QWidget | None = None,
) -> int:
    """Open the window on a model (the demo by default) and return the exit status when it is closed.

    `before` is a picture that has been shown until now.
    """
    running = own_process()
    window = _made()
    window.catcher.install()
    _open(window, model, weights, inputs, trust)
    window.show()
    if before is not None:
        before.close()
    status = int(running.exec())
    window.session.runner.close()
    window.session.runner.join()
    return status


def shot(
    model: str | None,
    inputs: Sequence[str],
    layers: Sequence[str],
    size: str | tuple[int, int],
    theme: str,
    out: str | Path,
    weights: str | None = None,
    trust: bool = False,
) -> None:
    """Open the main window, wait until it has run the model and painted, and save a picture of it.

    `layers` are patterns of modules to tick, the first match is looked at. Raises `HookViewerError` when the
    model cannot be opened, the run fails to start, or the picture cannot be written.
    """
    own_process()
    set_theme(theme)
    window = MainWindow()
    try:
        window.resize(*_pixels(size))
        window.docks.lay_out(*_pixels(size))
        _open_and_run(window, model, weights, inputs, layers, trust)
        _save(window, Path(out))
    finally:
        window.keeps_layout = False
        window.close()


def main_offscreen(
    model: str | None = None, weights: str | None = None, inputs: Sequence[str] = (), trust: bool = False
) -> list[Path]:
    """Do the main job without a screen: run, write pictures of window and walls, return their paths."""
    folder = fresh_folder(Path("hookviewer-pictures"))
    own_process()
    set_theme("dark")
    window = MainWindow()
    written: list[Path] = []
    try:
        for theme, size in OFFSCREEN_SIZES:
            set_theme(theme)
            window.resize(*_pixels(size))
            window.docks.lay_out(*_pixels(size))
            if not written:
                _open_and_run(window, model, weights, inputs, (), trust)
            written.append(folder / f"window-{theme}.png")
            _save(window, written[-1])
        entries = layer_entries(shown_by(window.session))
        manifest = export(entries, folder / "walls", formats=("png",))
        written += [manifest.folder / name for name in manifest.files]
    finally:
        window.keeps_layout = False
        window.close()
    return written


def fresh_folder(wanted: Path) -> Path:
    """Make a folder that was not there: `wanted`, or with a number behind it."""
    names = itertools.chain([wanted], (wanted.with_name(f"{wanted.name}-{n}") for n in itertools.count(2)))
    for folder in names:
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise HookViewerError(
                f"{folder} cannot be made here ({error.strerror}): start hookviewer in a folder of yours."
            ) from error
        return folder
    raise AssertionError("numbers do not end")


# -- opening ---------------------------------------------------------------------------------------------


def _made() -> MainWindow:
    application()
    set_theme(settings.theme_name())
    return MainWindow()


def _open(
    window: MainWindow, model: str | None, weights: str | None, inputs: Sequence[str], trust: bool
) -> None:
    spec = model or DEMO
    ticked, waiting = shared_out(inputs)
    given: list[str] | None = ticked or None
    demo = spec == DEMO and given in (None, list(DEMO_INPUTS))
    window.opening.open(
        spec,
        weights or "",
        inputs=list(DEMO_INPUTS) if demo else given,
        unticked=DEMO_UNTICKED if demo else waiting,
        trust=trust,
    )


def _open_and_run(
    window: MainWindow,
    model: str | None,
    weights: str | None,
    inputs: Sequence[str],
    layers: Sequence[str],
    trust: bool,
) -> None:
    """Open, tick and run as a person would, and wait until the window is at rest; raise what is wrong."""
    session = window.session
    errors: list[Message] = []
    session.message_told.connect(lambda told: errors.append(told) if told.tone == "error" else None)
    window.show()
    _open(window, model, weights, inputs, trust)
    _wait(lambda: session.model is not None or bool(errors))
    if session.model is None:
        raise HookViewerError(" ".join((errors[0].now or errors[0].what).split()))
    if layers:
        plan = HookPlan.of(session.model, *layers, kinds=session.plan.kinds)
        assert session.tree is not None
        session.select(
            path=next(node.path for node in session.tree.walk() if node.path in plan.paths), channel=0
        )
        session.set_plan(plan)
    _wait(lambda: not session.runner.busy and not session.running)
    if not session.runs and errors:
        raise HookViewerError(errors[0].now or errors[0].what)


def _pixels(size: str | tuple[int, int]) -> tuple[int, int]:
    if not isinstance(size, str):
        return size
    try:
        width, height = (int(part) for part in size.lower().replace("×", "x").split("x"))
    except ValueError:
        raise HookViewerError(f"{size!r} is no size: write width x height, such as 1440x900.") from None
    return width, height


# -- waiting ---------------------------------------------------------------------------------------------


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > until:
            raise HookViewerError("The run took longer than ten minutes: choose fewer layers or inputs.")
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)


def _save(window: MainWindow, out: Path) -> None:
    """Save a picture of the window once everything that waits to be painted has been."""
    for _ in range(8):
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 60)
        time.sleep(0.03)
    if not out.parent.is_dir() or not window.grab().save(str(out)):
        raise HookViewerError(
            f"{out} cannot be written: choose a folder that exists and a name ending in .png."
        )


def _wait_until_closed(window: MainWindow) -> None:
    loop = QEventLoop()
    window.closed.connect(loop.quit)
    loop.exec()
    window.session.runner.join()  # what the script does next finds its model without hooks
    part_now()


def _loop_runs() -> bool:
    application = QCoreApplication.instance()
    return application is not None and application.thread().loopLevel() > 0


def _interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or _shell() is not None


def _shell() -> Any:
    """Return the running IPython shell; None outside of one."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def _enable_qt_loop() -> None:
    shell = _shell()
    if shell is not None:
        shell.enable_gui("qt6")


def _as_list(inputs: Any) -> list[Any]:
    """Return what was given as a list; a lone tensor, array, picture or path counts as one."""
    if isinstance(inputs, list | tuple) and not hasattr(inputs, "shape"):
        return list(inputs)
    return [] if inputs is None else [inputs]
