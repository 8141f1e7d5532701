"""The small panel that chooses what columns differ in: what varies, and a list to tick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from hookviewer.gui import parts
from hookviewer.gui.columns import MOST_COLUMNS
from hookviewer.gui.compare_matches import MatchRow
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.session import Session
from hookviewer.gui.theme import font, scaled
from hookviewer.gui.varying import NAMES, TIPS, Vary, Way, name_of, tr

SIZE = QSize(500, 352)
KINDS_WIDTH = 128

Line = tuple[str, bool, bool, Callable[[bool], object]]
"""A line of the list: its name, whether it is ticked, whether it can be, and what a tick does."""


class ComparePanel(QFrame):
    """Pops up under a button; every tick takes effect at once."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("panel")
        self._session = session
        self.kinds = self._made_kinds()
        self.note = parts.label("", "second", 11)
        self.note.setWordWrap(True)
        self.boxes: list[QCheckBox] = []
        self._acts: list[Callable[[bool], object]] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(7)
        self.folder = parts.button(self.tr("Choose a folder…"))
        self.spec = QLineEdit()
        self.spec.setFont(font("mono", 12))
        self.spec.setPlaceholderText("torchvision.models:resnet34")
        self.spec.setAccessibleName(self.tr("Another model"))
        self.add = parts.button(self.tr("Compare"))
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("checkpoint_slider")
        self.slider.setAccessibleName(self.tr("Checkpoint in the last column"))
        self.step = parts.label("", "second", 11, mono=True)
        self.match = MatchRow(session)
        self.none = parts.button(self.tr("Only inputs"), "plain")
        self.count = parts.label("", "second", 11)
        self._lay_out()
        self._connect()
        self.refresh()

    def pop_up(self, under: QWidget) -> None:
        """Show the panel below a widget, on its screen."""
        self.resize(SIZE.width(), SIZE.height())
        self.kinds.setCurrentRow(list(Vary).index(self._session.varying.vary))
        place = under.mapToGlobal(QPoint(0, under.height() + 4))
        screen = QGuiApplication.screenAt(place) or under.screen()
        area = screen.availableGeometry()
        place.setX(max(area.left(), min(place.x(), area.right() - self.width())))
        place.setY(max(area.top(), min(place.y(), area.bottom() - self.height())))
        self.move(place)
        self.refresh()
        self.show()
        self.kinds.setFocus()

    @property
    def vary(self) -> Vary:
        """What is chosen at the left."""
        return list(Vary)[max(self.kinds.currentRow(), 0)]

    def refresh(self) -> None:
        """Show the list of what is chosen at the left, and what is ticked in it."""
        vary, held = self.vary, self._session.varying
        self.note.setText(tr(TIPS[vary]))
        self._show_boxes(self._inputs() if vary is Vary.INPUTS else self._ways(vary))
        found = held.checkpoints
        self.folder.setVisible(vary is Vary.CHECKPOINTS)
        for one in (self.spec, self.add):
            one.setVisible(vary is Vary.MODELS)
        for widget in (self.slider, self.step):
            widget.setVisible(vary is Vary.CHECKPOINTS and len(found) > 1)
        self._show_place()
        self.match.setVisible(vary is Vary.MODELS and held.vary is Vary.MODELS)
        self.match.refresh()
        self.none.setEnabled(bool(held.variants))
        self.count.setText(self._counted())

    def _show_place(self) -> None:
        held = self._session.varying
        blocked = self.slider.blockSignals(True)
        self.slider.setRange(0, max(len(held.checkpoints) - 1, 0))
        place = held.place if held.vary is Vary.CHECKPOINTS else -1
        if place >= 0:
            self.slider.setValue(place)
        self.slider.blockSignals(blocked)
        shown = held.checkpoints[place] if place >= 0 else None
        step = shown.step if shown is not None else None
        text = shown.name if shown is not None else self.tr("move to show one")
        self.step.setText(self.tr("step {}").format(step) if step is not None else text)

    def _counted(self) -> str:
        count = len(self._session.ticked_inputs)
        if count <= MOST_COLUMNS:
            return self.tr("{} columns").format(count) if count != 1 else self.tr("1 column")
        return self.tr("{} columns, {} are shown").format(count, MOST_COLUMNS)

    def _inputs(self) -> list[Line]:
        session = self._session
        return [
            (item.input.name, item.ticked, True, partial(session.tick_input, item.number))
            for item in session.inputs
        ]

    def _ways(self, vary: Vary) -> list[Line]:
        held = self._session.varying
        return [
            (way.name, held.chosen(way), bool(way.changes), partial(self._choose, vary, way))
            for way in held.ways(vary)
        ]

    def _choose(self, vary: Vary, way: Way, on: bool) -> None:
        self._session.varying.choose(vary, way, on)

    def _show_boxes(self, lines: Sequence[Line]) -> None:
        while len(self.boxes) < len(lines):
            made = QCheckBox()
            made.setFont(font("ui", 12))
            self._rows.insertWidget(len(self.boxes), made)
            made.clicked.connect(lambda on, box=made: self._on_clicked(self.boxes.index(box), on))
            self.boxes.append(made)
        self._acts = [line[3] for line in lines]
        for place, box in enumerate(self.boxes):
            box.setVisible(place < len(lines))
            if place < len(lines):
                name, on, free, _ = lines[place]
                box.setText(name.replace("&", "&&"))
                box.setChecked(on)
                box.setEnabled(free)

    def _on_clicked(self, place: int, on: bool) -> None:
        self._acts[place](on)
        self.refresh()

    # -- how it is made

    def _made_kinds(self) -> QListWidget:
        made = QListWidget()
        made.setObjectName("model_list")
        made.setAccessibleName(self.tr("What varies"))
        made.setFont(font("ui", 12))
        made.setFixedWidth(scaled(KINDS_WIDTH))
        for vary in NAMES:
            item = QListWidgetItem(name_of(vary).capitalize())
            item.setToolTip(tr(TIPS[vary]))
            made.addItem(item)
        made.setCurrentRow(0)
        return made

    def _lay_out(self) -> None:
        self._rows.addStretch(1)
        body = parts.frame(self._rows)
        area = ScrollDown(body)
        self._rows.setContentsMargins(2, 2, 2, 2)
        named = parts.row(self.spec, self.add, spacing=6)
        slide = parts.row(self.slider, self.step, spacing=8)
        right = parts.column(self.note, area, named, self.folder, slide, self.match, spacing=8)
        right.setStretchFactor(area, 1)
        both = parts.row(self.kinds, right, spacing=12)
        foot = parts.row(self.count, None, self.none, spacing=6)
        head = parts.label(self.tr("What columns differ in"), "strong", 13)
        layout = parts.column(head, both, foot, spacing=10, margins=(12, 10, 12, 10))
        layout.setStretchFactor(both, 1)
        self.setLayout(layout)

    def _connect(self) -> None:
        session = self._session
        self.kinds.currentRowChanged.connect(lambda _: self.refresh())
        self.folder.clicked.connect(self._on_folder)
        self.add.clicked.connect(self._on_add)
        self.spec.returnPressed.connect(self._on_add)
        self.slider.valueChanged.connect(session.varying.slide)
        self.none.clicked.connect(session.varying.only_inputs)
        for signal in (session.varying.changed, session.inputs_changed, session.settings_changed):
            signal.connect(self.refresh)
        session.question_asked.connect(lambda _: self.hide())  # a popup would lie over the question
        for signal in (session.model_changed, session.run_finished, session.selection_changed):
            signal.connect(self._on_other_changed)

    def _on_other_changed(self) -> None:
        if self.isVisible():
            self.refresh()

    def _on_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder of checkpoints"))
        if folder:
            self._session.varying.open_folder(folder)
        self.show()

    def _on_add(self) -> None:
        self._session.varying.add_model(self.spec.text().strip())
        self.spec.clear()
