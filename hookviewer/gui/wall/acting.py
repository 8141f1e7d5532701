"""What can be asked of the wall: steps, zoom, blink, sort, pins; keys, menus and tests ask here."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame

from hookviewer.gui import depth
from hookviewer.gui.attention_place import AttentionPlace
from hookviewer.gui.cams import Cams
from hookviewer.gui.columns import WallState
from hookviewer.gui.session import Session
from hookviewer.gui.state import OVERS, Message, Pointed, Shown, over_in_force
from hookviewer.gui.wall import words
from hookviewer.gui.wall.channel_field import ChannelField
from hookviewer.gui.wall.controls import Controls
from hookviewer.gui.wall.lanes import Lanes


class ActingPanel(QFrame):
    """Does what is asked to what `WallPanel` shows; most of it is a change of the session's state."""

    _session: Session
    _wall: WallState | None
    _cams: Cams | None
    _field: ChannelField | None
    _blinking: bool
    lanes: Lanes
    controls: Controls
    attention: AttentionPlace

    def refresh(self) -> None:
        """Show the session's present state."""
        raise NotImplementedError

    def step_channel(self, dx: int, dy: int) -> None:
        """Select the channel so many tiles to the right and down, or the token."""
        if self.attention.open:
            self.attention.page.step(dx, dy)
            return
        selection = self._session.selection
        at = Pointed(selection.channel, selection.cell or (0, 0))
        there = self.lanes.stepped(at, dx, dy)
        if there.cam is not None:  # in a strip a step leads to another layer or method
            path = selection.path if there.path is None else there.path
            self._session.select(path=path, cam=there.cam)
            self.lanes.reveal(there.channel)
        elif there != at:
            cell = there.cell if selection.cell is not None or there.cell != at.cell else None
            self._session.select(channel=there.channel, cell=cell)
            self.lanes.reveal(there.channel)

    def step_layer(self, way: int) -> None:
        """Select the recorded layer before or after this one, in the order of the run."""
        layers = self._layers()
        path = self._session.selection.path
        start = layers.index(path) if path in layers else (-1 if way > 0 else len(layers))
        place = start + way
        if 0 <= place < len(layers):
            self._session.select(path=layers[place])

    def step_input(self, way: int) -> None:
        """Make the ticked input before or after the current one the current one."""
        ticked = [item.number for item in self._session.ticked_inputs]
        current = self._session.selection.input
        place = ticked.index(current) + way if current in ticked else 0
        if 0 <= place < len(ticked):
            self._session.select(input=ticked[place])

    def fit(self) -> None:
        """Show all tiles."""
        self.lanes.fit()

    def fill(self, on: bool) -> None:
        """Use the whole width for tiles and scroll to the rest, or fit all of them."""
        self.lanes.fit("width" if on else "all")

    def zoom(self, factor: float) -> None:
        """Make the tiles `factor` times as large."""
        self.lanes.zoom(factor)

    def one_to_one(self) -> None:
        """Show one cell as one pixel."""
        self.lanes.one_to_one()

    def blink(self) -> None:
        """Show B in the place of A, and back again."""
        if len(self._session.ticked_inputs) > 1:
            self._blinking = not self._blinking
            self.refresh()

    def swipe(self) -> None:
        """Show B at the right of a line through A that follows the pointer, or A alone again."""
        if len(self._session.ticked_inputs) > 1:
            self.lanes.swipe(not self.lanes.swiping)
        else:
            self._session.tell(Message("info", self.tr("Tick a second input to swipe between A and B.")))

    def cycle_kind(self) -> None:
        """Show the next of output, gradient, product and the other kinds that suit the module."""
        attends = self._session.attention.offered(self._session.selection.path)
        kinds = [kind for kind in words.KINDS if kind is not Shown.ATTENTION or attends]
        now = self._session.selection.shown
        self._session.select(shown=kinds[(kinds.index(now) + 1 if now in kinds else 0) % len(kinds)])

    def cycle_sort(self) -> None:
        """Sort the channels in the next way that there is something for."""
        box = self.controls.sort
        places = [(box.currentIndex() + step) % box.count() for step in range(1, box.count() + 1)]
        box.setCurrentIndex(next(one for one in places if not self.controls.why_not(str(box.itemData(one)))))

    def toggle_difference(self) -> None:
        """Show or hide the difference, or the gradient beside weights."""
        if self._session.selection.shown is Shown.WEIGHTS:
            self._session.set_look(beside=not self._session.look.beside)
            return
        if len(self._session.ticked_inputs) > 1:
            self._session.set_look(difference=not self._session.look.difference)

    def cycle_over(self) -> None:
        """Show the big map plain, over the picture, or the picture alone."""
        session = self._session
        now = over_in_force(session.look, session.selection.shown)
        session.set_look(over=OVERS[(OVERS.index(now) + 1) % len(OVERS)])

    def toggle_dead(self) -> None:
        """Hide the channels that are zero everywhere, or show them again."""
        self._session.set_look(hide_dead=not self._session.look.hide_dead)

    @property
    def shows_strip(self) -> bool:
        """Whether layers are shown instead of channels."""
        return self._cams is not None

    def pin_channel(self) -> None:
        """Pin the selected channel to the front of the wall, or let it go back to its place."""
        self.pin(self._session.selection.channel)

    def pin(self, channel: int) -> None:
        """Pin a channel to the front of the wall, or let it go back to its place."""
        if self._wall is not None and not self.shows_strip and len(self._wall.order) > 1:
            path = self._session.selection.path
            self._session.set_look(pins=self._session.look.with_pin_turned(path, channel))
            self.lanes.reveal(channel)

    def sort_by(self, sort: str) -> None:
        """Sort the channels as the control does."""
        self.controls.sort.setCurrentIndex(self.controls.sort.findData(sort))

    def show_only(self, channels: str) -> None:
        """Show the channels of a list like `"3, 7-12"` alone, the `"pinned"` ones, or all again."""
        self._session.set_look(only=channels)

    def go_to_channel(self) -> None:
        """Ask for a channel's number and select it, or for a list of channels and show only these."""
        if self._wall is None or self._cams is not None or not len(self._wall.order):
            return
        maps = self._wall.filled[0].maps
        last = int(self._wall.order.max()) if maps is None else len(maps.values) - 1
        if self._field is None:
            self._field = ChannelField(self._go_to, self.show_only, self.lanes)
        self._field.ask(last)

    def copy_picture(self) -> None:
        """Put the picture of the columns on the clipboard."""
        picture = self.attention.picture() if self.attention.open else self.lanes.picture()
        QGuiApplication.clipboard().setImage(picture)
        self._session.tell(Message("ok", self.tr("Copied the picture of the wall.")))

    def _go_to(self, channel: int) -> None:
        self._session.select(channel=channel)
        self.lanes.reveal(channel)

    def _layers(self) -> list[str]:
        session = self._session
        runs = list(session.runs.values())
        every = [record for run in runs for record in run.recording.values()]
        recorded = {record.key.path for record in every if record.kept is not None}
        order = depth.layers_of(runs)
        if len(recorded) > 1:
            return [path for path in order if path in recorded]
        if order:
            return order
        return [node.path for node in session.tree.walk()] if session.tree is not None else []
