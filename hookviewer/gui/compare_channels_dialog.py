"""The window with the numbers of every channel of the two columns that are compared."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from hookviewer.differences import MapDifferences
from hookviewer.gui import parts
from hookviewer.gui.columns import Column
from hookviewer.gui.compare_channels import compared_columns, same_shape
from hookviewer.gui.compare_table import ChannelTable
from hookviewer.gui.comparing import why_no_difference
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.keeping_files import write_text
from hookviewer.gui.numbers import number
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.present import present_wall
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message
from hookviewer.gui.theme import scaled

WAIT_MS = 60


class ChannelsDialog(QDialog):
    """Follows what is looked at: the layer, the kind of tensor, and the columns."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Channels compared"))
        self._session = session
        self._shown: MapDifferences | None = None
        self.title = parts.label("", "strong", 13)
        self.layer = Elided(role="second", size=12)
        self.table = ChannelTable()
        self.body = EmptyOr(self.table, "table-2", "")
        self.copy = parts.button(self.tr("Copy CSV"))
        self.save = parts.button(self.tr("Save CSV…"))
        hint = parts.label(
            self.tr("A click on a head sorts, a click on a row goes to the channel."), "caption", 11
        )
        foot = parts.row(hint, None, self.copy, self.save, spacing=6)
        layout = parts.column(self.title, self.layer, self.body, foot, spacing=8, margins=(16, 14, 16, 14))
        layout.setStretchFactor(self.body, 1)
        self.setLayout(layout)
        self.resize(scaled(920), scaled(560))
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        self._connect()
        self.refresh()

    def refresh(self) -> None:
        """Show the numbers, or why there are none."""
        session = self._session
        several = len(session.ticked_inputs) > 1
        wall = present_wall(session) if several else None
        pair = compared_columns(wall)
        self.title.setText(self._title(wall.pair.title if wall is not None else "", pair))
        lane = session.differences.channels
        found = None
        if pair is not None and same_shape(*pair):
            found = lane.counted(*pair)
            if found is None:
                lane.want(*pair)
        self._show(found, pair)
        self.table.mark(session.selection.channel)

    def _show(self, found: MapDifferences | None, pair: tuple[Column, Column] | None) -> None:
        if found is not self._shown:
            self._shown = found
            maps = pair[0].maps if pair is not None else None
            self.table.rows.show_numbers(found, maps.titles if maps is not None else ())
        self.layer.say(self._layer_words(found))
        self.body.show_content(found is not None, self._reason(pair))
        for one in (self.copy, self.save):
            one.setEnabled(found is not None)

    def _title(self, what: str, pair: tuple[Column, Column] | None) -> str:
        path = self._session.selection.path or self.tr("the model")
        if pair is None:
            return path
        names = [" ".join(filter(None, (one.letter, one.title))) for one in pair]
        return self.tr("{}: {} ({} and {})").format(path, what, *names)

    def _layer_words(self, found: MapDifferences | None) -> str:
        if found is None:
            return ""
        channels = found.channels
        words = self.tr("{} channels. All together: PSNR {} dB, SSIM {}, largest |Δ| {}")
        largest = max((float(one) for one in channels.max_abs if one == one), default=float("nan"))
        numbers = [number(one) for one in (found.layer_psnr, found.layer_ssim, largest)]
        return words.format(len(found.ssim), *numbers)

    def _reason(self, pair: tuple[Column, Column] | None) -> str:
        if pair is None:
            return self.tr(
                "Two columns can be compared: tick a second input, or choose what columns differ in."
            )
        one, other = pair
        if one.maps is None or other.maps is None:
            return one.reason or other.reason
        return why_no_difference(one.maps, other.maps) or self.tr("Counting …")

    def _connect(self) -> None:
        session = self._session
        for signal in (session.selection_changed, session.look_changed, session.inputs_changed):
            signal.connect(self._soon.start)
        for signal in (session.runs_changed, session.run_finished, session.model_changed):
            signal.connect(self._soon.start)
        session.differences.channels.changed.connect(self.refresh)
        self.table.channel_chosen.connect(lambda channel: session.select(channel=channel))
        self.copy.clicked.connect(self._on_copy)
        self.save.clicked.connect(self._on_save)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.table.csv())
        self._session.tell(Message("ok", self.tr("Copied the table.")))

    def _on_save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save the table"), "channels.csv", self.tr("Comma-separated values (*.csv)")
        )
        if path:
            self.write_table(path)

    def write_table(self, path: str) -> None:
        """Write the table as it is sorted into a file, and say so or why not."""
        write_text(self._session, path, self.table.csv())
