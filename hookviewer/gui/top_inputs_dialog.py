"""The window of top inputs: where to look, how far it is, and what excites the selected channel."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QProgressBar, QWidget

from hookviewer.gui import parts
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled
from hookviewer.gui.top_inputs_lane import Exciting
from hookviewer.gui.top_inputs_tile import Tile, shared_levels

WAIT_MS = 120
"""Pictures are made when stepping through channels pauses for so long."""


class TopInputsDialog(QDialog):
    """Follows the selected channel of the layer that was looked at."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Top inputs"))
        self._session = session
        self.title = parts.label("", "strong", 13)
        self.listed = parts.button(self.tr("Inputs of the list"), "primary")
        self.folder, self.stop = parts.button(self.tr("A folder…")), parts.button(self.tr("Stop"))
        self.shows = parts.Segmented([self.tr("Patch"), self.tr("Whole")], height=26)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self.said = Elided(role="second", size=11)
        self.most: list[Tile] = []
        self.least: list[Tile] = []
        self._rows = (QHBoxLayout(), QHBoxLayout())
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self._show_channel)
        self._lay_out()
        self._connect()
        self.refresh()
        self._soon.start()
        self.resize(scaled(860), scaled(520))

    def refresh(self) -> None:
        """Show what was found, or how far it is."""
        session, lane = self._session, self._session.top_inputs
        selection = session.selection
        layer = selection.path or self.tr("the model")
        self.title.setText(self.tr("{}, channel {}").format(layer, selection.channel))
        found = lane.found
        self.progress.setVisible(lane.working)
        self.progress.setRange(0, max(len(lane.given), 1))
        self.progress.setValue(found.seen if found is not None else 0)
        self.stop.setVisible(lane.working)
        for one in (self.listed, self.folder):
            one.setVisible(not lane.working)
        self.said.say(self._words())
        if found is not None and not lane.working and lane.channel != selection.channel:
            self._soon.start()

    def _words(self) -> str:
        session, lane = self._session, self._session.top_inputs
        found = lane.found
        if found is None:
            return self.tr("Each input is run once; only the best of every channel are kept.")
        said = [self.tr("{} of {} inputs looked through.").format(found.seen, len(found.inputs))]
        if found.failed:
            first = next(iter(found.failed.values()))
            said.append(self.tr("{} could not be used: {}").format(len(found.failed), first))
        said += [why for why in found.absent.values()][:1] if lane.top is None else []
        if lane.path != session.selection.path:
            said.append(self.tr("This is what was found for {}: look again.").format(lane.path))
        return " ".join(said)

    def _show_channel(self) -> None:
        session = self._session
        lane = session.top_inputs
        if lane.top is not None and not lane.working and lane.path == session.selection.path:
            lane.show(session.selection.channel)

    def _show_places(self) -> None:
        lane = self._session.top_inputs
        levels = shared_levels((*lane.most, *lane.least))
        for tiles, row, places in zip(
            (self.most, self.least), self._rows, (lane.most, lane.least), strict=True
        ):
            self._fill(tiles, row, places, levels)

    def _fill(
        self,
        tiles: list[Tile],
        row: QHBoxLayout,
        places: tuple[Exciting, ...],
        levels: tuple[float, float],
    ) -> None:
        while len(tiles) < len(places):
            made = Tile()
            made.chosen.connect(self._session.top_inputs.bring)
            row.insertWidget(len(tiles), made)
            tiles.append(made)
        for place, tile in enumerate(tiles):
            tile.setVisible(place < len(places))
            if place < len(places):
                tile.show_place(places[place], levels, whole=self.shows.index == 1)

    def _lay_out(self) -> None:
        for row in self._rows:
            row.setSpacing(6)
            row.addStretch(1)
        head = parts.row(self.title, None, self.shows, 6, self.listed, self.folder, self.stop, spacing=6)
        most = parts.label(self.tr("Excite it most"), "second", 11)
        least = parts.label(self.tr("Excite it least"), "second", 11)
        body = parts.frame(parts.column(most, self._rows[0], 6, least, self._rows[1], None, spacing=4))
        area = ScrollDown(body)
        layout = parts.column(head, self.progress, self.said, area, spacing=8, margins=(16, 14, 16, 12))
        layout.setStretchFactor(area, 1)
        self.setLayout(layout)

    def _connect(self) -> None:
        session = self._session
        lane = session.top_inputs
        lane.changed.connect(self.refresh)
        lane.pictures_changed.connect(self._show_places)
        session.selection_changed.connect(self.refresh)
        self.listed.clicked.connect(lambda: lane.look())
        self.folder.clicked.connect(self._on_folder)
        self.stop.clicked.connect(lane.stop)
        self.shows.changed.connect(lambda _: self._show_places())

    def _on_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder of inputs"))
        if folder:
            self._session.top_inputs.look(folder)
