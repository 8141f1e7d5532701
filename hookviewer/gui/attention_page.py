"""One token of an attention: over the picture, head by head, in the matrix, and its strongest keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget

from hookviewer.gui import parts
from hookviewer.gui.attention_chips import AIR, HEIGHT, AttentionChips, Chips, key_chips, query_chips
from hookviewer.gui.attention_heads import AttentionHeads
from hookviewer.gui.attention_keys import AttentionKeys
from hookviewer.gui.attention_matrix import AttentionMatrix
from hookviewer.gui.attention_photo import AttentionPhoto
from hookviewer.gui.attention_query import HEAD, ROLLOUT, Query
from hookviewer.gui.attention_scene import Scene, entropy_words, scale_words, strongest_words
from hookviewer.gui.attention_showing import item_of
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.guard import guarded
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled

MOST_LINES = 12
"""Lines of chips that are in sight without a picture; more are scrolled."""


class AttentionPage(QFrame):
    """Takes the place of the wall's columns while one token is looked at; the wall hands it its scene."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_page")
        self._session = session
        self.scene: Scene | None = None
        self.photo, self.chips = AttentionPhoto(), AttentionChips()
        self.asking = AttentionChips("attention_asking")
        self.heads, self.matrix, self.keys = AttentionHeads(), AttentionMatrix(), AttentionKeys()
        self.reason = parts.label("", "caption", 12)
        self.reason.setWordWrap(True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._said = {name: Elided(role="caption", size=11) for name in ("photo", "heads", "matrix")}
        self._photo_title = parts.label(self.tr("Token over the picture"), "strong")
        self._stack = QStackedLayout(self)
        waiting = parts.frame(parts.column(None, self.reason, None, margins=(24, 12, 24, 12)))
        self._stack.addWidget(waiting)
        self._stack.addWidget(self._body())
        self._connect()

    def show_scene(self, scene: Scene | None, reason: str = "") -> None:
        """Show a query, or why there is none."""
        self.scene = scene
        self._stack.setCurrentIndex(0 if scene is None else 1)
        self.reason.setText(reason)
        for widget in (self.photo, self.heads, self.matrix, self.keys):
            widget.show_scene(scene)
        self.chips.show_chips(Chips(()) if scene is None else key_chips(scene))
        self.asking.show_chips(Chips(()) if scene is None else query_chips(scene))
        if scene is None:
            return
        placed = scene.query.grid is not None
        self.photo.setVisible(placed)
        self._chips.setVisible(bool(self.chips.chips.words))
        for one in (self._asking, self._asking_title):
            one.setVisible(bool(self.asking.chips.words))
        self._fit_chips()
        self._photo_title.setText(self._title(scene, placed=placed))
        most, scale = strongest_words(scene.query), scale_words(scene.seen_levels)
        why = "" if placed else scene.query.reason  # over the picture there is room for it
        self._said["photo"].say(*((why,) if scene.query.reason else (f"{most}; {scale}", scale)))
        entropy, scale = entropy_words(scene.query), scale_words(scene.levels)
        self._said["heads"].say(f"{entropy}; {scale}", scale)
        way = _way_words(scene)
        scale = scale_words(self.matrix.levels)
        rows = self.tr("{}, rows are queries; {}").format(way, scale)
        self._said["matrix"].say(*((rows, f"{way}; {scale}", way) if self.matrix.there else (way,)))

    def step(self, across: int, down: int) -> None:
        """Ask the token so many places to the right and down."""
        if self.scene is None:
            return
        query = self.scene.query
        wide = query.grid[2] if query.grid is not None and query.of_grid else 1
        token = stepped(query, across + down * wide)
        if token != query.token:
            self._session.attention.select_token(token)

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_chips()

    def _fit_chips(self) -> None:
        """Give chips the room that they need, so that what is below them gets the rest."""
        for area, chips, most in ((self._chips, self.chips, MOST_LINES), (self._asking, self.asking, 3)):
            needed = chips.heightForWidth(area.viewport().width())
            area.setMaximumHeight(min(needed, most * (scaled(HEIGHT) + AIR) + 4))

    def _title(self, scene: Scene, *, placed: bool) -> str:
        item = item_of(self._session)
        over = self.tr("Token over {}") if scene.picture is not None else self.tr("Token of {}")
        words = over if placed else self.tr("Keys of {}")
        return words.format(item.title if item is not None else "")

    def _body(self) -> QFrame:
        self._chips, self._asking = ScrollDown(self.chips), ScrollDown(self.asking)
        self._asking_title = parts.label(self.tr("Queries"), "strong")
        left = parts.column(
            *(self._asking_title, self._asking),
            parts.row(self._photo_title, self._said["photo"], spacing=8),
            *(4, self.photo, self._chips, 8),
            parts.row(parts.label(self.tr("Heads"), "strong"), self._said["heads"], spacing=8),
            *(4, self.heads),
        )
        right = parts.column(
            parts.row(parts.label(self.tr("Matrix"), "strong"), self._said["matrix"], spacing=8),
            *(4, self.matrix, 8),
            *(parts.label(self.tr("Strongest keys"), "strong"), 4, self.keys),
        )
        for said in self._said.values():
            said.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for layout, widget, share in (
            *((left, self.photo, 5), (left, self._chips, 5), (left, self.heads, 3)),
            *((right, self.matrix, 5), (right, self.keys, 3)),
        ):
            layout.setStretchFactor(widget, share)
        body = parts.row(left, right, spacing=12, margins=(10, 0, 10, 6))
        body.setStretch(0, 11)
        body.setStretch(1, 9)
        return parts.frame(body)

    def _connect(self) -> None:
        lane = self._session.attention
        for widget in (self.photo, self.chips, self.asking, self.matrix, self.keys):
            widget.chosen.connect(lane.select_token)
        self.heads.chosen.connect(self._on_head_chosen)

    def _on_head_chosen(self, head: int) -> None:
        """Look at one head; a second click goes back to the mean of all."""
        lane, again = self._session.attention, self.scene is not None and self.scene.head == head
        self._session.select(channel=head)
        lane.set_look(way="mean" if again and lane.look.way == HEAD else HEAD)


def stepped(query: Query, step: int) -> int:
    """Return the token so many steps on, the same one where there is none."""
    wish = query.token + step
    return wish if 0 <= wish < query.tokens else query.token


def _way_words(scene: Scene) -> str:
    if scene.query.way == ROLLOUT:
        return f"rollout over {len(scene.layers)} layers"
    return f"head {scene.head}" if scene.query.way == HEAD else "mean of heads"
