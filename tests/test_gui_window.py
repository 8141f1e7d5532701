"""The main window: actions and keys, panels, themes, messages, dropping, closing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PIL import Image
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from hookviewer.errors import HookViewerError
from hookviewer.gui import dropping, recent, settings
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.messages import Catcher, message_of
from hookviewer.gui.overlay import Overlay
from hookviewer.gui.state import Message
from hookviewer.gui.theme import set_theme, theme


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    set_theme("dark")
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture(0), picture(1)])
    made.session.set_model(Tiny())
    made.show()
    settled(qtbot, made.session)
    yield made
    made.close()
    set_theme("dark")


def action(window: MainWindow, name: str) -> QAction:
    found = window.findChild(QAction, name)
    assert found is not None
    return found


def test_every_promised_name_is_there(window: MainWindow) -> None:
    for name in ("open_model", "add_input", "run", "stop", "auto", "export", "reload"):
        action(window, name)
    for name in ("module_tree", "input_list", "wall_0", "wall_1", "big_map", "inspector", "layer_curve"):
        assert window.findChild(object, name) is not None, name
    for name in ("device", "mode", "target", "scale", "colormap", "sort", "kind"):
        assert window.findChild(object, name) is not None, name
    assert isinstance(window.findChild(QLabel, "pixel"), QLabel)


class _Shown(QObject):
    """Keeps which widgets become windows of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.windows: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.windows.append(f"{type(watched).__name__} {watched.objectName()}")
        return False


def test_no_part_of_the_window_flashes_as_a_window_of_its_own(qtbot: QtBot) -> None:
    shown = _Shown()
    application = QApplication.instance()
    assert application is not None
    application.installEventFilter(shown)
    made = MainWindow()
    qtbot.addWidget(made)
    assert shown.windows == []
    made.session.set_model(Tiny())
    made.session.add_inputs([picture(0), picture(1)])
    made.show()
    settled(qtbot, made.session)
    made.session.select(path=next(node.path for node in made.session.tree.walk() if node.path))
    QApplication.processEvents()
    application.removeEventFilter(shown)
    made.close()
    assert [name for name in shown.windows if not name.startswith("MainWindow")] == []


def test_a_lone_icon_has_a_tip_and_a_name(window: MainWindow) -> None:
    lone = [
        button
        for button in window.findChildren(QAbstractButton)
        if not button.text() and not button.icon().isNull() and button.isVisible()
        if not isinstance(button.parent(), QLineEdit) and not window.docks.inspector.isAncestorOf(button)
    ]
    assert len(lone) > 8
    for button in lone:
        assert button.toolTip(), button.objectName()
        assert button.accessibleName() or button.toolTip()


def test_every_menu_entry_has_words_and_no_key_is_taken_twice(window: MainWindow) -> None:
    keys = [one.shortcut().toString() for one in window.actions() if not one.shortcut().isEmpty()]
    assert len(keys) == len(set(keys))
    titles = [entry.text() for entry in window.menuBar().actions()]
    assert titles == ["File", "Edit", "View", "Run", "Layer", "Compare", "Help"]
    for entry in window.menuBar().actions():
        assert all(one.text() or one.isSeparator() for one in entry.menu().actions())


def test_a_click_on_a_tile_says_its_value_below(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    session.select(path="stem.0", channel=2, cell=(3, 5))
    settled(qtbot, session)
    values = session.runs[1].recording.record("stem.0", "output").array()
    text = window.status.pixel.toolTip()
    assert text.startswith("c 2  y 3  x 5")
    said = float(text.split("A ")[1].split()[0].replace("−", "-"))
    assert said == pytest.approx(float(values[0, 2, 3, 5]), abs=6e-4)


def test_the_status_bar_counts_runs_and_bytes(window: MainWindow) -> None:
    session = window.session
    kept = sum(run.recording.nbytes for run in session.runs.values())
    assert kept > 0
    assert "kept" in window.status._words["kept"][0]
    assert window.status.meter.value() == round(1000 * kept / session.settings.budget)
    assert window.status.result.text().startswith("2 runs in ")


@pytest.mark.parametrize(
    ("side", "names"), [("left", ("modules", "inputs")), ("bottom", ("layers",)), ("right", ("inspector",))]
)
def test_a_side_is_shown_and_hidden(window: MainWindow, side: str, names: tuple[str, ...]) -> None:
    switch = action(window, f"panel_{side}")
    assert switch.isChecked()
    switch.trigger()
    assert all(window.docks.panels[name].isHidden() for name in names)
    switch.trigger()
    assert not any(window.docks.panels[name].isHidden() for name in names)
    assert switch.isChecked()


def test_closing_one_panel_takes_its_mark_off(qtbot: QtBot, window: MainWindow) -> None:
    window.docks.panels["inspector"].close()
    assert not action(window, "panel_right").isChecked()
    action(window, "reset_layout").trigger()
    qtbot.waitUntil(lambda: action(window, "panel_right").isChecked())


def test_the_layout_comes_back_at_the_next_start(qtbot: QtBot, window: MainWindow) -> None:
    action(window, "panel_bottom").trigger()
    window.close()
    again = MainWindow()
    qtbot.addWidget(again)
    assert settings.layout() is not None
    assert again.docks.panels["layers"].isHidden()
    again.close()


def test_the_theme_is_switched_and_remembered(window: MainWindow) -> None:
    action(window, "theme").trigger()
    assert theme().name == "light"
    assert settings.theme_name() == "light"
    light = window.docks.modules.grab().toImage().pixelColor(4, 4)
    action(window, "theme").trigger()
    dark = window.docks.modules.grab().toImage().pixelColor(4, 4)
    assert dark.lightness() < 60 < 200 < light.lightness()


def test_keys_walk_layers_and_kinds_from_anywhere(qtbot: QtBot, window: MainWindow) -> None:
    window.session.select(path="stem.0")
    settled(qtbot, window.session)
    window.wall.setFocus()
    qtbot.keyClick(window.wall, Qt.Key.Key_G)
    assert window.session.selection.shown == "gradient"
    qtbot.keyClick(window, Qt.Key.Key_G)
    assert window.session.selection.shown == "product"


def test_a_letter_in_the_filter_stays_a_letter(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    action(window, "filter").trigger()
    field = window.docks.modules.filter
    before = window.session.selection
    qtbot.keyClicks(field, "gd[")
    assert field.text() == "gd["
    assert window.session.selection.shown == before.shown


def test_escape_closes_the_page_of_keys_then_messages(qtbot: QtBot, window: MainWindow) -> None:
    window.session.tell(Message("error", "No.", "Do this."))
    action(window, "keys").trigger()
    page = window.findChild(Overlay)
    assert page.isVisible()
    window._on_escape()
    assert not page.isVisible()
    assert len(window.messages.bars) == 1
    window._on_escape()
    assert window.messages.bars == []
    assert not window.messages.isVisible()


def test_escape_stops_a_run(qtbot: QtBot, window: MainWindow) -> None:
    window.session.run()
    window._on_escape()
    settled(qtbot, window.session)
    assert not window.session.running


def test_a_message_is_a_line_in_place_with_its_report(qtbot: QtBot, window: MainWindow) -> None:
    window.session.tell(Message("error", "It broke <b>.", "Try this.", "the report"))
    bar = window.messages.bars[0]
    assert bar.isVisible()
    assert "It broke &lt;b&gt;." in bar.text.text()
    bar.buttons[0].click()
    assert QGuiApplication.clipboard().text() == "the report"
    assert window.wall.isVisible()


def test_messages_stack_count_and_undo(window: MainWindow) -> None:
    done: list[int] = []
    window.session.tell(Message("info", "Removed.", undo=lambda: done.append(1)))
    window.session.tell(Message("error", "Same."))
    window.session.tell(Message("error", "Same."))
    assert [bar.count for bar in window.messages.bars] == [2, 1]
    window.messages.bars[1].buttons[0].click()
    assert done == [1]
    assert len(window.messages.bars) == 1


def test_busy_words_go_when_the_work_is_done(qtbot: QtBot, window: MainWindow) -> None:
    window.session.open_model("demo:three_layers")
    assert window.messages.bars[0].message.tone == "busy"
    qtbot.waitUntil(lambda: window.session.card.spec.startswith("demo:three_layers"), timeout=20_000)
    settled(qtbot, window.session)
    assert all(bar.message.tone != "busy" for bar in window.messages.bars)


def test_a_model_that_is_not_there_ends_in_a_sentence(qtbot: QtBot, window: MainWindow) -> None:
    before = window.session.model
    window.opening.open("demo:nothing_like_it")
    qtbot.waitUntil(lambda: any(bar.message.tone == "error" for bar in window.messages.bars), timeout=20_000)
    assert window.session.model is before
    assert "demo model" in window.messages.bars[0].message.now


def test_a_new_model_ticks_and_shows_something(qtbot: QtBot, window: MainWindow) -> None:
    window.opening.open("demo:simple_cnn", inputs=["demo:ones"])
    qtbot.waitUntil(lambda: window.session.card.spec.startswith("demo:simple_cnn"), timeout=20_000)
    settled(qtbot, window.session)
    assert window.session.plan.paths
    assert window.session.selection.path in window.session.plan.paths
    assert recent.models()[0].spec == window.session.card.spec
    assert window.windowTitle().endswith("hookviewer")


def test_reload_keeps_ticks_and_selection(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    session.set_plan(session.plan.__class__(frozenset({"stem.1"}), session.plan.kinds))
    session.select(path="body.0", channel=4)
    with qtbot.waitSignal(session.model_changed):
        action(window, "reload").trigger()
    settled(qtbot, session)
    assert session.plan.paths == {"stem.1"}
    assert (session.selection.path, session.selection.channel) == ("body.0", 4)


def test_copy_puts_the_wall_on_the_clipboard(qtbot: QtBot, window: MainWindow) -> None:
    QGuiApplication.clipboard().clear()
    action(window, "copy").trigger()
    assert not QGuiApplication.clipboard().image().isNull()
    assert window.status.result.text() == "Copied"


def test_copy_in_a_text_field_copies_its_text(qtbot: QtBot, window: MainWindow) -> None:
    field = window.docks.modules.filter
    window.activateWindow()
    field.setFocus()
    field.setText("stem")
    field.selectAll()
    assert isinstance(window.focusWidget(), QLineEdit)
    action(window, "copy").trigger()
    assert QGuiApplication.clipboard().text() == "stem"


# -- dropping ------------------------------------------------------------------------------------------------


def _dragged(paths: list[Path]) -> tuple[QMimeData, QDragEnterEvent]:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    no, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    return data, QDragEnterEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, left, no)


def _dropped(data: QMimeData) -> QDropEvent:
    no, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    return QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, left, no)


def test_dropped_files_are_added_and_said_before(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    np.save(tmp_path / "batch.npy", np.zeros((1, 3, 8, 8), np.float32))
    Image.new("RGB", (8, 8), (10, 200, 30)).save(tmp_path / "green.png")
    paths = [tmp_path / "batch.npy", tmp_path / "green.png"]
    data, enter = _dragged(paths)
    window.dragEnterEvent(enter)
    assert window._drop_zone.head == "Drop to add 2 inputs"
    assert not window._drop_zone.grab().isNull()
    window.dropEvent(_dropped(data))
    assert window._drop_zone is None
    settled(qtbot, window.session)
    assert {item.input.name for item in window.session.inputs} >= {"batch", "green"}


def test_leaving_takes_the_drop_zone_away(window: MainWindow, tmp_path: Path) -> None:
    data, enter = _dragged([tmp_path / "a.png"])
    window.dragEnterEvent(enter)
    window.dragLeaveEvent(None)
    assert window._drop_zone is None
    assert data.hasUrls()


def test_a_dropped_python_file_is_opened(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from torch import nn\n\n\ndef build():\n    return nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU())\n"
    )
    window.bringing.drop(dropping.sorted_files([file]))
    qtbot.waitUntil(lambda: "mine.py" in window.session.card.spec, timeout=20_000)
    settled(qtbot, window.session)
    assert [node.path for node in window.session.tree.walk()] == ["", "0", "1"]


def test_dropped_files_are_sorted_by_what_they_become(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a.py", "b.safetensors", "c.PNG", "d.npy", "e.zip", "folder/f.jpg", "folder/g.txt"):
        (tmp_path / name).write_text("x")
    found = dropping.sorted_files(sorted(tmp_path.iterdir()))
    names = {kind: [path.name for path in getattr(found, kind)] for kind in vars(found)}
    assert names == {
        "models": ["a.py"],
        "weights": ["b.safetensors"],
        "pictures": ["c.PNG", "f.jpg"],
        "arrays": ["d.npy"],
        "unusable": ["e.zip"],
        "projects": [],
    }


def test_a_drop_says_what_it_does() -> None:
    pictures = dropping.Dropped(pictures=(Path("a.png"), Path("b.png"), Path("c.png")))
    assert dropping.words(pictures, "Net")[:2] == (
        "Drop to add 3 pictures",
        "They become inputs of Net and run at once",
    )
    assert dropping.words(pictures, "")[0] == "Open a model first"
    assert dropping.words(dropping.Dropped(unusable=(Path("x.zip"),)), "Net") == (
        "Nothing to drop here",
        "Pictures, arrays, Python files, weights, and folders of these are taken.",
        "x.zip cannot be used here.",
    )


# -- closing, and what nobody foresaw ------------------------------------------------------------------------


def test_closing_stops_and_joins_the_model_thread(qtbot: QtBot) -> None:
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture()])
    made.session.set_model(Tiny())
    made.show()
    with qtbot.waitSignal(made.closed):
        made.close()
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("hookviewer-model") and made.session.running]
    with pytest.raises(RuntimeError):
        made.session.runner._worker.submit(print)


def test_uncaught_exceptions_of_all_threads_are_told(qtbot: QtBot) -> None:
    told: list[Message] = []
    seen: list[str] = []
    before = (sys.excepthook, threading.excepthook)
    sys.excepthook = lambda kind, error, trace: seen.append(str(error))
    threading.excepthook = lambda what: seen.append(str(what.exc_value))
    catcher = Catcher(told.append)
    catcher.install()
    try:
        sys.excepthook(ValueError, ValueError("here"), None)
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: len(told) == 2)
    finally:
        catcher.remove()
        sys.excepthook, threading.excepthook = before
    assert "ValueError: here" in told[0].what
    assert "ZeroDivisionError" in told[1].report
    assert "torch" in told[1].report
    assert seen == ["here", "division by zero"]


def test_a_users_mistake_is_told_as_it_is() -> None:
    message = message_of(HookViewerError("Choose a target: there is none."))
    assert (message.what, message.report) == ("Choose a target: there is none.", "")


def test_no_widget_is_left_when_the_window_is_gone(qtbot: QtBot) -> None:
    before = len(QApplication.topLevelWidgets())
    made = MainWindow()
    made.session.set_model(torch.nn.Linear(2, 2))
    made.close()
    made.deleteLater()
    QApplication.sendPostedEvents(None, 52)  # QEvent.DeferredDelete
    QApplication.processEvents()
    assert len(QApplication.topLevelWidgets()) <= before
