"""The window of top inputs: where to look, how far it is, and what excites the selected channel."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QProgressBar, QWidget

from hookviewer.gui import parts
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.keeping_files import write_picture, write_text
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled
from hookviewer.gui.top_inputs_lane import Exciting
from hookviewer.gui.top_inputs_table import to_csv
from hookviewer.gui.top_inputs_tile import Tile, shared_levels
from hookviewer.gui.wall.ramp import Ramp

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
        self.before = parts.tool("chevron-left", self.tr("The channel before"), size=26)
        self.after = parts.tool("chevron-right", self.tr("The channel after"), size=26)
        self.caption = parts.label("", "second", 11)
        self.ramp = Ramp()
        self.copy = parts.button(self.tr("Copy picture"))
        self.picture = parts.button(self.tr("Save picture…"))
        self.table = parts.button(self.tr("Save CSV…"))
        self.most: list[Tile] = []
        self.least: list[Tile] = []
        self._rows = (QHBoxLayout(), QHBoxLayout())
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self._show_channel)
        self._lay_out()
        self._connect()
        self.refresh()
        self._soon.start()
        self.resize(scaled(880), scaled(580))

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
        self._show_body()
        if found is not None and not lane.working and lane.channel != selection.channel:
            self._soon.start()

    def _show_body(self) -> None:
        """Show the rows of pictures, or say what there will be in their place."""
        lane = self._session.top_inputs
        there = bool(lane.most or lane.least)
        self.content.show_content(there, self._hint())
        for one in (self.copy, self.picture):
            one.setEnabled(there)
        self.table.setEnabled(lane.top is not None)
        last = (lane.top[1].channels if lane.top is not None else 0) - 1
        channel = self._session.selection.channel
        self.before.setEnabled(there and channel > 0)
        self.after.setEnabled(there and channel < last)

    def _hint(self) -> str:
        lane = self._session.top_inputs
        if lane.working:
            return self.tr("Every input is run once …")
        if lane.top is not None:
            return self.tr("Pictures are made of the places that were found …")
        return self.tr(
            "Which inputs, and which places in them, excite this channel most and least? Look through the "
            "inputs of the list, or through a folder of thousands."
        )

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
        self.ramp.show_scale("magma", levels)
        for say in (self.ramp.setToolTip, self.ramp.setAccessibleName):
            say(self.tr("Scale of the channel's maps that lie over the pictures"))
        found = lane.found
        if found is not None:
            words = self.tr("{}, channel {}: its strongest and weakest places in {} inputs")
            self.caption.setText(words.format(lane.path or self.tr("the model"), lane.pictured, found.seen))
        self._show_body()
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
        head = parts.row(
            self.title,
            self.before,
            self.after,
            None,
            self.shows,
            6,
            self.listed,
            self.folder,
            self.stop,
            spacing=6,
        )
        most = parts.label(self.tr("Excite it most"), "second", 11)
        least = parts.label(self.tr("Excite it least"), "second", 11)
        scale = parts.row(self.ramp, None)
        rows = (most, self._rows[0], 6, least, self._rows[1], 6, scale)
        self._body = parts.frame(parts.column(self.caption, 4, *rows, None, spacing=4, margins=(6, 6, 6, 6)))
        self.content = EmptyOr(ScrollDown(self._body), "images", "")
        foot = parts.row(None, self.copy, self.picture, self.table, spacing=6)
        inside = (head, self.progress, self.said, self.content, foot)
        layout = parts.column(*inside, spacing=8, margins=(16, 14, 16, 12))
        layout.setStretchFactor(self.content, 1)
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
        self.before.clicked.connect(lambda: self._step(-1))
        self.after.clicked.connect(lambda: self._step(1))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setImage(self.made_picture()))
        self.picture.clicked.connect(self._on_picture)
        self.table.clicked.connect(self._on_table)
        self.shows.changed.connect(lambda _: self._show_places())

    def _on_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder of inputs"))
        if folder:
            self._session.top_inputs.look(folder)

    def _step(self, way: int) -> None:
        self._session.select(channel=self._session.selection.channel + way)

    def made_picture(self) -> QImage:
        """Return the rows with their caption as a picture."""
        return self._body.grab().toImage()

    def save_picture(self, path: str) -> None:
        """Write the rows as a picture, and say so or why not."""
        write_picture(self._session, path, self.made_picture())

    def save_table(self, path: str) -> None:
        """Write the places of all channels as comma-separated values, and say so or why not."""
        lane = self._session.top_inputs
        if lane.found is not None and lane.top is not None:
            write_text(self._session, path, to_csv(lane.found, lane.top[1]))

    def _on_picture(self) -> None:
        title = self.tr("Save the picture")
        path, _ = QFileDialog.getSaveFileName(self, title, "top inputs.png", "PNG (*.png)")
        if path:
            self.save_picture(path)

    def _on_table(self) -> None:
        title = self.tr("Save the table")
        path, _ = QFileDialog.getSaveFileName(self, title, "top inputs.csv", "CSV (*.csv)")
        if path:
            self.save_table(path)
