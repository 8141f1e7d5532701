"""One channel, looked at closely: map, value, levels, statistics, profile, and what is like it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QSlider, QStackedLayout, QWidget

from hookviewer.arrays import Maps
from hookviewer.gui import parts
from hookviewer.gui.cell_words import value_words
from hookviewer.gui.columns import WallState
from hookviewer.gui.field_lane import Seen
from hookviewer.gui.field_words import field_tip, field_words
from hookviewer.gui.giving_way import Elided, Yielding, hidden
from hookviewer.gui.inspector.big_map import BigMap, Showing, cross_colours
from hookviewer.gui.inspector.focus import (
    Focus,
    focus_of,
    gradient_of,
    known_statistics,
    line_words,
    place_words,
    reason_of,
    statistics_rows,
)
from hookviewer.gui.inspector.level_plot import LevelPlot
from hookviewer.gui.inspector.over_map import Region
from hookviewer.gui.inspector.profile import Profile
from hookviewer.gui.inspector.region import compared, region_in, region_table, region_words
from hookviewer.gui.inspector.section import Section
from hookviewer.gui.inspector.signal_plot import SignalPlot
from hookviewer.gui.inspector.similar_maps import SimilarMaps
from hookviewer.gui.inspector.stat_table import StatTable
from hookviewer.gui.present import present_wall
from hookviewer.gui.reading import input_position
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.session import Session
from hookviewer.gui.state import OVERS as MODES
from hookviewer.gui.state import Message, Pointed, Shown, over_in_force
from hookviewer.gui.target_field import cells_are_of_the_output, target_seen, want_target
from hookviewer.gui.theme import MEDIUM, keeper
from hookviewer.gui.wall import words
from hookviewer.kinds import Kind

SLOW_MS = 60
"""Statistics and likeness wait until stepping pauses for so long."""


class Inspector(QWidget):
    """Shows the selected channel of the current input; every change is asked of the session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self._session = session
        self._wall: WallState | None = None
        self.focus: Focus | None = None
        self._counted: Maps | None = None
        """The maps that the statistics and the similar channels are of."""
        self.big_map, self.levels, self.profile = BigMap(), LevelPlot(), Profile()
        self.signal = SignalPlot()
        heads = (self.tr("channel"), self.tr("layer"))
        self.statistics, self.similar = StatTable(self.tr("Statistics"), heads), SimilarMaps()
        self.region = StatTable(self.tr("Statistics of the region"))
        self.value = parts.label("", "", 16, mono=True, weight=MEDIUM)
        self.place = parts.label("", "second", 11, mono=True)
        self.input_place = parts.label("", "caption", 11, mono=True)
        self.field = Elided(role="caption", size=11)
        self.field.setObjectName("field")
        self.contour = parts.tool("activity", self.tr("Lines of one value"), checkable=True, size=24)
        self.framing = parts.tool(
            "square",
            self.tr("Draw a rectangle on the map for its statistics (or Shift and drag)"),
            checkable=True,
            size=24,
        )
        self.mode = parts.Segmented([self.tr("Map"), self.tr("Overlay"), self.tr("Input")], height=26)
        self.opacity = QSlider(Qt.Orientation.Horizontal)
        self.share = parts.label("", "second", 11, mono=True)
        self.reason = parts.label("", "caption", 12)
        self._build()
        self._slow, self._soon, self._painted = (_timer(self, wait) for wait in (SLOW_MS, 0, 0))
        self._slow.timeout.connect(self.refresh_slow)
        self._painted.timeout.connect(self._slow.start)
        self._soon.timeout.connect(self.refresh)
        self._connect()
        self.refresh()

    def refresh(self) -> None:
        """Show the session's present state; statistics and likeness follow."""
        self._soon.stop()
        session = self._session
        self._wall = present_wall(session)
        self.focus = focus_of(self._wall, session.selection, session.items)
        self._stack.setCurrentIndex(0 if self.focus is None else 1)
        if self.focus is None:
            self.reason.setText(
                self.tr("Open a model to look inside.")
                if session.model is None
                else reason_of(self._wall, session.selection)
            )
            self.big_map.show_focus(None, Showing())
            self._slow.stop()
            return
        if self._counted is not self.focus.maps:  # numbers of other maps may not stand beside these
            self._counted = None
            self.statistics.wait()
            self.similar.wait()
        self._show_focus(self.focus)
        self._slow.stop()
        self._painted.start()  # what is slow begins to wait when the map is there

    def refresh_slow(self) -> None:
        """Show statistics and the most similar channels now."""
        if self._soon.isActive():  # the runs are other ones by now
            self.refresh()
        self._slow.stop()
        focus, session = self.focus, self._session
        if focus is None:
            return
        number = focus.column.number
        run = session.runs.get(number) if number is not None else None
        key = focus.column.record.key if focus.column.record is not None else None
        gradient = gradient_of(run, session.selection, key, session.look)
        own = known_statistics(run, focus, key.kind) if key is not None else None
        slope = known_statistics(run, focus, Kind.GRAD_OUTPUT)
        self.statistics.show_rows(statistics_rows(focus, gradient, own, slope))
        self._counted = focus.maps
        if focus.is_map and len(focus.maps.values) > 1:
            self.similar.show_focus(focus)
        if focus.is_map and focus.item is not None and focus.column.record is not None:
            sizes = focus.maps.values.shape[1], focus.maps.values.shape[2]
            if cells_are_of_the_output(session.selection, focus.column.record):
                session.fields.want(focus.item, focus.column.record, sizes, focus.cell, session.look.sample)
            want_target(session, focus.item, focus.column.record)

    @property
    def seen(self) -> Seen | None:
        """What the cell in focus sees of the picture, where that is known."""
        focus = self.focus
        if focus is None or not focus.is_map or focus.item is None or focus.column.record is None:
            return None
        if not cells_are_of_the_output(self._session.selection, focus.column.record):
            return None
        sizes = focus.maps.values.shape[1], focus.maps.values.shape[2]
        sample = self._session.look.sample
        return self._session.fields.seen(focus.item, focus.column.record, sizes, focus.cell, sample)

    @property
    def drawn(self) -> Seen | None:
        """What is drawn on the picture: what the target sees of it, or else what the cell in focus does."""
        focus = self.focus
        if focus is None or not focus.is_map:
            return None
        return target_seen(self._session, focus.item, focus.column.record) or self.seen

    def _show_focus(self, focus: Focus) -> None:
        self._choose_mode()
        for widget in (self.big_map, self._under, self._profile):
            widget.setVisible(focus.is_map)
        attends = self._session.selection.shown is Shown.ATTENTION
        self._controls.setVisible(focus.is_map and focus.item is not None and not attends)
        self._attention.show_state()
        self._similar.setVisible(focus.is_map and len(focus.maps.values) > 1)
        self._show_map(focus)
        mean = self.tr("mean {}") if focus.maps.colours is not None else "{}"
        self.value.setText(mean.format(value_words(focus.value, whole=focus.maps.whole)))
        self.place.setText(place_words(focus))
        self._show_place(focus)
        self._show_region(focus)
        self._levels.setVisible(focus.maps.layout in ("maps", "bars"))
        if self._wall is not None:
            self._scale.setText(words.scale_words(self._wall)[1])
        self.levels.show_focus(focus)
        self.signal.setVisible(focus.is_signal)
        if focus.is_signal:
            self.signal.show_focus(focus)
        if focus.is_map:
            self.profile.show_focus(focus)
            for label, along in zip((self._row, self._column), line_words(focus), strict=True):
                label.setText(along)

    def _show_place(self, focus: Focus) -> None:
        seen = self.seen
        position = input_position(focus.column, focus.cell, self._session.items, seen)
        self.input_place.setText(position)
        self.field.say(field_words(self.drawn))
        self.field.setToolTip(field_tip(self.drawn))

    def _show_region(self, focus: Focus) -> None:
        sizes = focus.maps.values.shape[1], focus.maps.values.shape[2]
        region = region_in(self._session.selection.region, sizes) if focus.is_map else None
        self._region.setVisible(region is not None)
        if region is None or self._wall is None:
            return
        self._where.say(region_words(region))
        heads, rows = region_table(compared(self._wall, focus), focus.channel, region)
        self.region.show_heads(heads)
        self.region.show_rows(rows)

    def _show_map(self, focus: Focus) -> None:
        mode = MODES[self.mode.index]
        self.opacity.setEnabled(mode == "overlay")
        self.share.setText(f"{self.opacity.value()} %")
        showing = Showing(mode, self.opacity.value() / 100, self.contour.isChecked())
        if not focus.is_map:
            self.big_map.show_focus(None, showing)
            return
        sizes = focus.maps.values.shape[1], focus.maps.values.shape[2]
        region = region_in(self._session.selection.region, sizes)
        self.big_map.show_focus(focus, showing, self.drawn, region)

    def _choose_mode(self) -> None:
        self.mode.choose(MODES.index(over_in_force(self._session.look, self._session.selection.shown)))

    def _loosen(self) -> None:
        for button in self.mode.buttons:
            parts.restyle(button, "")

    def _tighten(self) -> None:
        for button in self.mode.buttons:
            parts.restyle(button, "padding: 0 4px;")

    # -- how it is made

    def _build(self) -> None:
        self.opacity.setRange(5, 99)
        self.opacity.setValue(75)
        self.opacity.setAccessibleName(self.tr("Opacity of the map over the picture"))
        self.opacity.setMinimumWidth(30)
        for button in self.mode.buttons:
            button.setToolTip(self.tr("Map, map over the picture, or the picture") + "  O")
        self.share.setFixedWidth(self.share.fontMetrics().horizontalAdvance("100 %") + 4)
        for one in (self.place, self.input_place):
            one.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.reason.setWordWrap(True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(_centred(self.reason))
        self._stack.addWidget(self._scrolled())

    def _scrolled(self) -> ScrollDown:
        where = parts.column(self.place, self.input_place, spacing=1)
        read = parts.row(self.value, None, where, margins=(2, 8, 2, 2))
        line = parts.row(self.mode, self.opacity, self.share, spacing=8, margins=(0, 8, 0, 0))
        self._controls = Yielding(line, [hidden(self.share), (self._loosen, self._tighten)])
        under = parts.row(self.field, self.contour, self.framing, spacing=2, margins=(0, 4, 0, 0))
        under.setStretchFactor(self.field, 1)
        self._under = parts.frame(under)
        top = parts.frame(
            parts.column(self.big_map, self.signal, read, self._controls, self._under, margins=(11, 0, 11, 8))
        )
        body = QFrame()
        body.setLayout(parts.column(top, *self._sections(), None))
        self._area = ScrollDown(body)
        return self._area

    def _sections(self) -> tuple[QWidget, ...]:
        self._scale = parts.label("", "second", 11)
        copy = parts.tool("copy", self.tr("Copy as CSV"), size=24)
        copy.clicked.connect(lambda: self._copy(self.statistics))
        self._row, self._column = parts.label(self.tr("row"), "", 11), parts.label(self.tr("column"), "", 11)
        self._levels = Section(self.tr("Levels"), self.levels, self._scale, margins=(8, 0, 8, 6))
        self._statistics = Section(self.tr("Statistics"), self.statistics, copy)
        self._profile = Section(
            self.tr("Profile"), self.profile, self._row, self._column, margins=(6, 0, 10, 6)
        )
        likeness = parts.label(self.tr("correlation"), "caption", 11)
        self._similar = Section(self.tr("Most similar"), self.similar, likeness, margins=(11, 0, 11, 10))
        self._where = Elided(role="caption", size=11)
        away = parts.tool("x", self.tr("Take the rectangle away") + "  Esc", size=24)
        away.clicked.connect(lambda: self._session.select(region=None))
        copied = parts.tool("copy", self.tr("Copy as CSV"), size=24)
        copied.clicked.connect(lambda: self._copy(self.region))
        body = parts.frame(parts.column(self._where, 4, self.region))
        self._region = Section(self.tr("Region"), body, copied, away)
        from hookviewer.gui.attention_section import AttentionSection  # it builds on parts of this package
        from hookviewer.gui.compare_section import ComparedSections  # it too

        self._attention = AttentionSection(self._session)
        self._recolour()
        self.compared = ComparedSections(self._session)
        tops = self._attention, self._region, self._levels, self._statistics
        return *tops, self.compared, self._profile, self._similar

    def _connect(self) -> None:
        session = self._session
        for signal in (session.model_changed, session.selection_changed, session.look_changed):
            signal.connect(self.refresh)
        for signal in (session.inputs_changed, session.runs_changed, session.run_finished):
            signal.connect(self._soon.start)
        session.run_grew.connect(self._on_run_grew)
        session.attention.changed.connect(self._soon.start)
        keeper().changed.connect(self._recolour)
        self.mode.changed.connect(lambda place: session.set_look(over=MODES[place]))
        session.levels_asked.connect(self._on_levels_asked)
        self.opacity.valueChanged.connect(lambda _: self._show_again())
        self.big_map.chosen.connect(self._on_chosen)
        self.big_map.hovered.connect(session.point)
        self.signal.chosen.connect(self._on_chosen)
        self.signal.hovered.connect(session.point)
        self.big_map.region_chosen.connect(self._on_region_chosen)
        self.contour.toggled.connect(lambda _: self._show_again())
        self.framing.toggled.connect(self._on_framing)
        session.fields_changed.connect(self._on_fields_changed)
        self.levels.levels_wanted.connect(lambda pair: session.set_look(levels=pair))
        self.similar.chosen.connect(lambda channel: session.select(channel=channel))

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        if self._session.selection.path in paths:
            self._soon.start()

    def _on_framing(self, on: bool) -> None:
        self.big_map.draws_regions = on
        self.big_map.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)

    def _on_levels_asked(self) -> None:
        if not self.isVisible():
            where = self.tr("Show it first (Ctrl+3).")
            self._session.tell(Message("info", self.tr("The levels are in the inspector."), where))
            return
        if self._levels.isHidden():
            return
        self._levels.arrow.setChecked(False)
        self._area.ensureWidgetVisible(self.levels)
        self.levels.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_again(self) -> None:
        if self.focus is not None:
            self._show_map(self.focus)

    def _on_chosen(self, spot: Pointed) -> None:
        self._session.select(channel=spot.channel, cell=spot.cell)

    def _on_region_chosen(self, region: Region | None) -> None:
        self._session.select(region=region)

    def _on_fields_changed(self) -> None:
        self._show_again()
        if self.focus is not None:
            self._show_place(self.focus)
        if self.isVisible():
            self._slow.start()  # what has no rule is measured next

    def _copy(self, table: StatTable) -> None:
        QGuiApplication.clipboard().setText(table.csv())
        self._session.tell(Message("ok", self.tr("Copied the statistics.")))

    def _recolour(self) -> None:
        for one, colour in zip((self._row, self._column), cross_colours(), strict=True):
            one.setStyleSheet(f"color: {colour.name()};")


def _centred(label: QLabel) -> QFrame:
    return parts.frame(parts.column(None, label, None, margins=(24, 12, 24, 12)))


def _timer(owner: QWidget, milliseconds: int) -> QTimer:
    made = QTimer(owner)
    made.setSingleShot(True)
    made.setInterval(milliseconds)
    return made
