"""The wall as a panel: head, controls, messages, columns, foot; what is done there goes to the session."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from hookviewer.arrays import Statistics
from hookviewer.differences import Difference
from hookviewer.gui import cams, parts
from hookviewer.gui.attention_place import AttentionPlace
from hookviewer.gui.axis_bar import AxisBar
from hookviewer.gui.call_links import CallLink
from hookviewer.gui.cams import Cams
from hookviewer.gui.columns import WallState
from hookviewer.gui.guard import guarded
from hookviewer.gui.present import present_wall
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Pointed, Progress, Shown
from hookviewer.gui.theme import keeper
from hookviewer.gui.wall import words
from hookviewer.gui.wall.acting import ActingPanel
from hookviewer.gui.wall.blinking import blinked
from hookviewer.gui.wall.channel_field import ChannelField
from hookviewer.gui.wall.controls import Controls
from hookviewer.gui.wall.foot import Foot
from hookviewer.gui.wall.head import Head
from hookviewer.gui.wall.keys import keys_of
from hookviewer.gui.wall.lanes import Lanes
from hookviewer.gui.wall.progress import progress_line
from hookviewer.gui.wall.tile_menu import open_menu
from hookviewer.gui.wall.warming import Warming

QUIET_MS = 150
OWING_MS = 250


class WallPanel(ActingPanel):
    """All channels of the selected tensor for every ticked input.

    `message_place` is an empty layout under the controls. `pointed` tells what is under the pointer in words.
    """

    pointed = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self._session = session
        self._blinking = False
        self._path = ""
        self._wall: WallState | None = None
        self._cams: Cams | None = None
        self._field: ChannelField | None = None
        self.head, self.controls, self.axes = Head(session), Controls(session), AxisBar(session)
        self.message_place = QVBoxLayout()
        self.message_place.setSpacing(0)
        self.progress = progress_line()
        self.call_link = CallLink(session)
        self.lanes, self.foot = Lanes(), Foot()
        self.lanes.fields = session.fields
        self.attention = AttentionPlace(session, self.lanes)
        above = (self.head, self.controls, self.axes, self.call_link, self.attention.bar)
        attention = self.attention.page
        rows = (*above, self.message_place, self.progress, self.lanes, attention, self.foot)
        layout = parts.column(*rows, margins=(1, 1, 1, 1))
        for place in (self.lanes, attention):
            layout.setStretchFactor(place, 1)
        self.setLayout(layout)
        self._owing = QTimer(self)  # runs until the columns are painted and all keys until then are known
        self._owing.setSingleShot(True)
        self.lanes.painted.connect(lambda: self._owing.start(0))
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.refresh)
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(QUIET_MS)
        self._quiet.timeout.connect(self._show_progress)
        self._connect()
        self._warming = Warming(session, self)
        self.refresh()
        self.setFocusProxy(self.lanes)

    @property
    def session(self) -> Session:
        """What is shown and asked."""
        return self._session

    @property
    def wall(self) -> WallState | None:
        """What is shown."""
        return self._wall

    def refresh(self) -> None:
        """Show the session's present state."""
        self._soon.stop()
        session = self._session
        wall = present_wall(session)
        strips = cams.cams_of(
            wall,
            session.runs,
            session.plan.paths,
            session.selection,
            session.look,
            running=session.running,
            waiting=session.attributions.words,
        )
        self._cams = strips
        self._wall = wall
        if self._blinking:
            self._wall, strips = blinked(wall, strips)
        names = (session.card.class_names if session.card is not None else None) or ()
        self.axes.show_state(wall)
        self.call_link.show_state(wall)
        self.attention.show_state(wall)
        self.lanes.show_state(
            self._wall,
            session.items,
            session.selection,
            names=tuple(names),
            sort=session.look.sort,
            cams=strips,
            counted=self._count(wall),
            look=session.look.cam,
        )
        if wall.path != self._path:
            self._path = wall.path
            self.lanes.reveal(session.selection.channel)
        self._paint_now()
        self.lanes.show_heads(self._known(wall))
        self.head.show_state(wall)
        self.controls.show_state(wall, len(session.ticked_inputs), strips)
        self._say_foot(wall)

    def _paint_now(self) -> None:
        """Put the maps on the screen before all that is said of them: that takes longer."""
        layout = self.layout()
        if self.isVisible() and layout is not None:
            layout.activate()  # a row above the columns may have come or gone
            self.lanes.paint_now()

    def _count(self, wall: WallState) -> Difference | None:
        """Return the numbers of the two records that are compared, as soon as they are counted."""
        if wall.difference is None or len(wall.columns) < 3:
            return None
        both = [wall.columns[place].record for place in (wall.pair.reference, wall.pair.other)]
        if both[0] is None or both[1] is None:
            return None
        lane = self._session.differences
        found = lane.counted(both[0], both[1])
        if found is None:
            lane.want([(both[0], both[1])], first=True)
        return found.numbers if found is not None else None

    def _say_foot(self, wall: WallState) -> None:
        look = self._session.look
        target = self._target_words(wall)
        if self._cams is not None:
            pictures = any(cams.seen(item) is not None for item in self._session.ticked_inputs)
            self.foot.say(*words.cam_foot(wall, self._cams, target, pictures=pictures))
        elif self.attention.open:
            self.foot.say(self.attention.words(), arrows=self.tr("token"))
        else:
            self.foot.say(words.foot(wall, look.sort, target, anchor=look.anchor) or self._empty_words())

    # -- events

    @guarded
    def showEvent(self, event: QShowEvent) -> None:
        self._later()  # only now the style is known, and with it what fits

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_picture()
            return
        keys = keys_of(self)
        act = keys.get(event.text()) or keys.get(event.key())
        modifiers = event.modifiers() & ~(
            Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        )
        if act is None or modifiers:
            event.ignore()
            return
        event.accept()
        if event.isAutoRepeat() and self._owing.isActive():
            return  # a key held down asks for nothing more before its last wish has been painted
        self._owing.start(OWING_MS)
        act()

    def _connect(self) -> None:
        session = self._session
        for signal in (
            session.model_changed,
            session.plan_changed,
            session.inputs_changed,
            session.selection_changed,
            session.look_changed,
            session.run_finished,
            session.calls_changed,
        ):
            signal.connect(self.refresh)
        for signal in (
            session.runs_changed,
            session.run_started,
            session.attention.changed,
            keeper().changed,
        ):
            signal.connect(self._later)
        session.run_grew.connect(self._on_run_grew)
        session.differences.changed.connect(self._later)
        session.attributions_changed.connect(self._on_attributions_changed)
        session.run_started.connect(self._quiet.start)
        session.run_finished.connect(self._hide_progress)
        session.run_progressed.connect(self._on_run_progressed)
        session.pointed_changed.connect(self._on_pointed_changed)
        self.lanes.hovered.connect(session.point)
        self.lanes.chosen.connect(self._on_chosen)
        self.lanes.menu_wanted.connect(self._on_menu_wanted)
        self.head.layer_wanted.connect(self.step_layer)
        self.head.copy_wanted.connect(self.copy_picture)
        self.head.fit_wanted.connect(self.fit)
        self.head.fill_wanted.connect(self.fill)

    def _later(self) -> None:
        self._soon.start(0)

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        """Look again where what is shown has arrived: one layer, or for Grad-CAM any."""
        selection = self._session.selection
        if selection.path in paths or selection.shown is Shown.GRAD_CAM:
            self._later()

    def _on_chosen(self, spot: Pointed, number: int | None) -> None:
        current = self._session.selection.input
        path = self._session.selection.path if spot.path is None else spot.path
        number = number or current  # a column without an input has 0, the difference nothing
        cam = self._session.selection.cam if spot.cam is None else spot.cam
        self._session.select(path=path, cam=cam, channel=spot.channel, cell=spot.cell, input=number)
        self._session.point(spot)
        self.pointed.emit(self._words())

    def _on_menu_wanted(self, spot: Pointed | None, place: int, where: QPoint) -> None:
        """Select what was clicked, then show what can be done with it."""
        if self._wall is None or not self._wall.columns:
            return
        if spot is not None:
            self._on_chosen(spot, self._wall.columns[place].number)
        open_menu(self, self._wall.columns[place], spot, where)

    def _on_pointed_changed(self) -> None:
        spot = self._session.pointed
        self.lanes.point(spot)
        if spot is not None:
            self.pointed.emit(self._words())

    def _words(self) -> str:
        return next(iter(read_out(self._session)), "")

    def _on_run_progressed(self, progress: Progress) -> None:
        share = progress.share
        self.progress.setRange(0, 0 if share is None else 1000)
        self.progress.setValue(round(1000 * (share or 0)))

    def _on_attributions_changed(self) -> None:
        lane = self._session.attributions
        self.progress.setVisible(lane.working or self._session.running)
        if lane.progress is not None:
            self.progress.setRange(0, 1000)
            self.progress.setValue(round(1000 * lane.progress.share))
        self._later()

    def _show_progress(self) -> None:
        self.progress.setVisible(self._session.running)

    def _hide_progress(self) -> None:
        self._quiet.stop()
        self.progress.hide()

    def _known(self, wall: WallState) -> dict[int, Statistics]:
        """Return the statistics that the runs have made of what is shown."""
        found = {}
        for column in wall.filled:
            run = self._session.runs.get(column.number) if column.number is not None else None
            known = (
                run.summaries.get(column.record.key)
                if run is not None and column.record is not None
                else None
            )
            if known is not None and column.number is not None:
                found[column.number] = known
        return found

    def _target_words(self, wall: WallState) -> str:
        if wall.shown is Shown.OUTPUT or not wall.filled:
            return ""
        number = wall.filled[0].number
        run = self._session.runs.get(number) if number is not None else None
        value = run.recording.target_value if run is not None else None
        return "" if value is None else self.tr("target {}").format(words.written(value))

    def _empty_words(self) -> str:
        if self._session.model is None:
            return self.tr("Open a model first (Ctrl+O).")
        if not self._session.inputs:
            return self.tr("Add an input first (Ctrl+I).")
        return "" if self._session.ticked_inputs else self.tr("Tick an input in the list at the left.")
