"""What stands in the wall's panel while attention is shown: a bar, and one token in place of the columns."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from hookviewer.gui.attention_bar import AttentionBar
from hookviewer.gui.attention_page import AttentionPage
from hookviewer.gui.attention_query import HEAD, WAYS
from hookviewer.gui.attention_showing import item_of, scene_of
from hookviewer.gui.columns import WallState
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown


class AttentionPlace:
    """Shows the bar over the columns, and the page or the columns; all of it in the panel's own layout."""

    def __init__(self, session: Session, columns: QWidget) -> None:
        self._session, self._columns = session, columns
        self.bar, self.page = AttentionBar(session), AttentionPage(session)
        for widget in (self.bar, self.page):
            widget.hide()

    @property
    def open(self) -> bool:
        """Whether one token is shown instead of the columns."""
        return not self.page.isHidden()

    def show_state(self, wall: WallState) -> None:
        """Show what there is of attention, or nothing of it where something else is shown."""
        shown, lane = wall.shown is Shown.ATTENTION, self._session.attention
        scene = scene_of(self._session) if shown else None
        one = shown and lane.look.page == "token"
        self.bar.setVisible(shown)
        if shown:
            self.bar.show_scene(scene)
        if one or self.open:
            self.page.show_scene(scene if one else None, self._reason(wall))
        self.page.setVisible(one)
        self._columns.setVisible(not one)

    def step_head(self, step: int) -> None:
        """Show another head alone, in the order in which they stand; the first one where none was."""
        scene = self.page.scene
        if scene is None or not self.open:
            return
        order, alone = scene.order, scene.query.way == HEAD
        place = (order.index(scene.head) + step) % len(order) if alone else order.index(scene.head)
        self._session.select(channel=order[place])
        self._session.attention.set_look(way=HEAD)

    def cycle_way(self) -> None:
        """Show the next of the mean of heads, one head, and the rollout."""
        lane = self._session.attention
        if self.open:
            lane.set_look(way=WAYS[(WAYS.index(lane.look.way) + 1) % len(WAYS)])

    def turn_page(self) -> None:
        """Show the matrices of all heads instead of one token, or the token again."""
        lane = self._session.attention
        if self._session.selection.shown is Shown.ATTENTION:
            lane.set_look(page="heads" if lane.look.page == "token" else "token")

    def picture(self) -> QImage:
        """Return the page as it is painted."""
        return self.page.grab().toImage()

    def words(self) -> str:
        """Return what the foot says while one token is shown."""
        return _tr(
            "Click a token in the picture, in the matrix or in the list; click a head to see it alone."
        )

    def _reason(self, wall: WallState) -> str:
        if self._session.attention.running:
            return _tr("Looking for attention …")
        item = item_of(self._session)
        column = next((one for one in wall.columns if item is not None and one.number == item.number), None)
        if column is None:
            return _tr("Tick an input in the list at the left.")
        kept = column.record.missing if column.record is not None else ""
        return column.reason or kept or _tr("Its attention is no longer kept: press Run (F5).")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attention", text)
