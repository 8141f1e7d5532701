"""The panel of inputs: the list, the likely classes of the current one, ways to add and remove."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QWidget

from hookviewer.gui.frame_slider import FrameSlider
from hookviewer.gui.guard import guarded
from hookviewer.gui.input_list import NUMBER, ROW_HEIGHT, InputDelegate, InputModel, tick_rect
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.parts import column, frame
from hookviewer.gui.sample_slider import SampleSlider
from hookviewer.gui.session import Session
from hookviewer.gui.theme import keeper, scaled
from hookviewer.gui.top_classes import TopClasses

SHOWN_ROWS = 3


class InputList(QListView):
    """A click on a tick ticks; Delete takes the current input off the list."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("input_list")
        self.setAccessibleName(self.tr("Inputs"))
        self.rows = InputModel(session, self)
        self.setModel(self.rows)
        self.setItemDelegate(InputDelegate(self.rows, self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMinimumHeight(scaled(ROW_HEIGHT))
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        session.selection_changed.connect(self.show_current)
        session.inputs_changed.connect(self.show_current)
        keeper().changed.connect(self.viewport().update)
        self.show_current()

    def show_current(self) -> None:
        """Make the row of the session's current input the current one."""
        item = self._session.current_input
        index = self.rows.index_of(item.listed) if item is not None else QModelIndex()
        if index.isValid() and index != self.currentIndex():
            self.setCurrentIndex(index)

    def _on_current_changed(self, current: QModelIndex) -> None:
        number = current.data(NUMBER)
        if number is not None:
            self._session.select(input=int(number))

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index = self.indexAt(point)
        area = tick_rect(self.visualRect(index)).adjusted(-8, -12, 6, 12)
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and area.contains(point):
            self._toggle(index)
            event.accept()
            return
        super().mousePressEvent(event)

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid():
            self._toggle(index)
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and index.isValid():
            self._session.remove_input(int(index.data(NUMBER)))
        else:
            super().keyPressEvent(event)

    def _toggle(self, index: QModelIndex) -> None:
        on = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) != Qt.CheckState.Checked
        state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
        self.rows.setData(index, state, Qt.ItemDataRole.CheckStateRole)

    def _on_menu_requested(self, point: QPoint) -> None:
        index = self.indexAt(point)
        if index.isValid():
            self.menu(int(index.data(NUMBER))).popup(self.viewport().mapToGlobal(point))

    def menu(self, number: int) -> QMenu:
        """Return the menu of a row."""
        session = self._session
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Show only this one"), lambda: self.tick_only(number))
        menu.addAction(self.tr("Tick all"), self.tick_all)
        menu.addAction(self.tr("Untick all"), lambda: session.tick_inputs(False))
        menu.addSeparator()
        menu.addAction(self.tr("Remove"), lambda: session.remove_input(number))
        return menu

    def tick_only(self, number: int) -> None:
        """Tick one input and untick the others."""
        for item in self._session.inputs:
            self._session.tick_input(item.number, item.number == number)

    def tick_all(self) -> None:
        """Tick every input."""
        self._session.tick_inputs(True)


class InputPanel(QWidget):
    """The list and, below, the five likeliest classes of the current input."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.list = InputList(session)
        self.top = TopClasses(session)
        self.frames = FrameSlider(session)
        self.samples = SampleSlider(session)
        content = frame(column(self.list, self.frames, self.samples, self.top))
        self._empty = EmptyOr(content, "images", "")
        self.setLayout(column(self._empty))
        session.inputs_changed.connect(self._on_inputs_changed)
        session.model_changed.connect(self._on_inputs_changed)
        session.runs_changed.connect(self._give_way)
        session.selection_changed.connect(self._give_way)
        self._on_inputs_changed()

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        """Show the classes only where the first inputs keep their room."""
        rows = min(len(self._session.inputs), SHOWN_ROWS) * scaled(ROW_HEIGHT)
        sliders = (self.frames, self.samples)
        rows += sum(slider.height() for slider in sliders if slider.isVisibleTo(self))
        self.top.setVisible(bool(self.top.guesses) and self.height() >= rows + self.top.height())

    def _on_inputs_changed(self) -> None:
        self._give_way()
        waiting = self.tr("Add pictures, arrays or text once a model is open.")
        ready = self.tr("Add a picture, an array or a random input (Ctrl+I), or drop files here.")
        self._empty.show_content(
            bool(self._session.inputs), waiting if self._session.model is None else ready
        )


def step_input(session: Session, step: int) -> None:
    """Make the input `step` places further down the current one."""
    numbers = [item.number for item in session.inputs]
    current = session.current_input
    if current is not None:
        place = numbers.index(current.listed) + step
        session.select(input=numbers[max(0, min(place, len(numbers) - 1))])
