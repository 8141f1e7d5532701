"""The list of inputs: rows, ticks, states in words, the likely classes, adding and removing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PIL import Image
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from hookviewer.gui import input_words, thumbnails
from hookviewer.gui.dialogs import ShapeDialog
from hookviewer.gui.input_list import LINE, NUMBER, tick_rect
from hookviewer.gui.input_panel import InputPanel, step_input
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem, Message, Progress
from hookviewer.inputs import Input

CHECK = Qt.ItemDataRole.CheckStateRole


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    yield one
    one.close()


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> InputPanel:
    made = InputPanel(session)
    qtbot.addWidget(made)
    session.set_model(Tiny())
    session.add_inputs([picture(0), picture(1)])
    settled(qtbot, session)
    made.resize(340, 420)
    made.show()
    return made


def test_rows_carry_name_number_and_tick(session: Session, panel: InputPanel) -> None:
    rows = panel.list.rows
    assert panel.list.objectName() == "input_list"
    assert [rows.index(row).data() for row in range(rows.rowCount())] == ["picture0", "picture1"]
    assert [rows.index(row).data(NUMBER) for row in range(2)] == [1, 2]
    assert rows.setData(rows.index(1), Qt.CheckState.Unchecked, CHECK)
    assert [item.ticked for item in session.inputs] == [True, False]


def test_a_click_on_the_tick_leaves_the_current_input(
    qtbot: QtBot, session: Session, panel: InputPanel
) -> None:
    before = session.current_input
    place = tick_rect(panel.list.visualRect(panel.list.rows.index(1))).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [item.ticked for item in session.inputs] == [True, False]
    assert session.current_input.number == before.number


def test_a_click_on_a_row_makes_it_the_current_input(
    qtbot: QtBot, session: Session, panel: InputPanel
) -> None:
    place = panel.list.visualRect(panel.list.rows.index(1)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.selection.input == 2
    step_input(session, -1)
    assert session.selection.input == 1
    step_input(session, -1)
    assert session.selection.input == 1


def test_the_top_class_is_the_likeliest_of_the_output(session: Session, panel: InputPanel) -> None:
    model, (values,) = session.model, session.inputs[0].input.args
    with torch.no_grad():
        shares = model.eval()(values)[0].double().softmax(0).numpy()
    line = panel.list.rows.index(0).data(LINE)
    assert line.text == f"class {np.argmax(shares)}"
    assert line.share == pytest.approx(float(shares.max()), abs=1e-6)
    assert [guess.share for guess in panel.top.guesses] == pytest.approx(
        sorted(shares, reverse=True)[:5], abs=1e-6
    )


def test_a_row_says_how_far_its_run_is() -> None:
    item = InputItem(1, picture())
    assert input_words.line(item, None, Progress(1, "stem", 13, 20), True).text == "running, 65 %"
    assert input_words.line(item, None, Progress(2, "stem", 13, 20), True).text == "waiting"
    assert input_words.line(item, None, None, False).text == "not run yet"


def test_a_row_says_why_its_run_failed(qtbot: QtBot, session: Session, panel: InputPanel) -> None:
    session.add_inputs([picture(2, channels=4)])
    settled(qtbot, session)
    line = panel.list.rows.index(2).data(LINE)
    assert line.tone == "error"
    assert "stem.0" in line.text
    assert line.text in panel.list.rows.index(2).data(Qt.ItemDataRole.ToolTipRole)


def test_the_tooltip_says_what_was_done_to_the_picture(session: Session, panel: InputPanel) -> None:
    given = Input("photo", (torch.zeros(1, 3, 8, 8),), notes=("Scaled to 8 × 8.", "Warning: not normalised."))
    text = input_words.tooltip(InputItem(9, given), None)
    assert text.splitlines() == ["photo", "1×3×8×8 float32", "Scaled to 8 × 8.", "Warning: not normalised."]


def test_delete_removes_and_the_message_puts_it_back(
    qtbot: QtBot, session: Session, panel: InputPanel
) -> None:
    told: list[Message] = []
    session.message_told.connect(told.append)
    panel.list.setCurrentIndex(panel.list.rows.index(0))
    qtbot.keyClick(panel.list, Qt.Key.Key_Delete)
    assert [item.input.name for item in session.inputs] == ["picture1"]
    told[-1].undo()
    assert [item.input.name for item in session.inputs] == ["picture0", "picture1"]


def test_the_row_menu_ticks_one_or_all(session: Session, panel: InputPanel) -> None:
    panel.list.tick_only(2)
    assert [item.number for item in session.ticked_inputs] == [2]
    panel.list.tick_all()
    assert [item.number for item in session.ticked_inputs] == [1, 2]


def test_classes_give_way_to_the_rows(qtbot: QtBot, panel: InputPanel) -> None:
    assert panel.top.isVisible()
    panel.resize(340, 150)
    qtbot.wait(1)
    assert not panel.top.isVisible()


def test_an_empty_list_says_what_fills_it(qtbot: QtBot, session: Session) -> None:
    made = InputPanel(session)
    qtbot.addWidget(made)
    made.show()
    assert "once a model is open" in made._empty.empty.sentence.text()
    session.set_model(Tiny())
    assert "Ctrl+I" in made._empty.empty.sentence.text()
    assert made._empty.empty.isVisible()


def test_the_shape_dialog_makes_a_spec(qtbot: QtBot) -> None:
    dialog = ShapeDialog("random", "1x3x8x8", "Its shape is a guess.")
    qtbot.addWidget(dialog)
    dialog.shape.setText("1 × 3 × 16 × 16")
    dialog.seed.setText("7")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.accept()
    assert chosen.args == ["random:1x3x16x16?seed=7"]


def test_thumbnails_show_pictures_and_tensors(qtbot: QtBot) -> None:
    photo = Image.new("RGB", (90, 60), (200, 30, 30))
    assert thumbnails.picture_of(Input("a", (), image=photo)) is photo
    grey = thumbnails.picture_of(Input("b", (torch.arange(12.0).reshape(1, 1, 3, 4),)))
    assert grey.size == (4, 3)
    assert np.asarray(grey)[0, 0].tolist() == [0, 0, 0]
    assert np.asarray(grey)[-1, -1].tolist() == [255, 255, 255]
    assert thumbnails.picture_of(Input("c", (torch.zeros(0, 3),))) is None
    middle = thumbnails.thumbnail(photo).toImage().pixelColor(30, 20)
    assert (middle.red(), middle.green(), middle.blue()) == (200, 30, 30)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(()),
        torch.randint(0, 9, (1, 7)),
        torch.rand(2, 3, 4, 5, 6),
        torch.rand(1, 5, dtype=torch.float16),
    ],
)
def test_any_tensor_has_a_thumbnail(tensor: torch.Tensor, qtbot: QtBot) -> None:
    drawn = thumbnails.picture_of(Input("x", (tensor,)))
    assert drawn is not None
    assert not thumbnails.thumbnail(drawn).isNull()
