"""The part of the inspector that shows, beside all heads as matrices, what one token attends to."""

from __future__ import annotations

from hookviewer.gui import parts
from hookviewer.gui.attention_chips import AttentionChips, Chips, key_chips
from hookviewer.gui.attention_photo import AttentionPhoto
from hookviewer.gui.attention_scene import scale_words
from hookviewer.gui.attention_showing import scene_of
from hookviewer.gui.inspector.section import Section
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import scaled

TALLEST = 260


class AttentionSection(Section):
    """The picture with the grid of tokens, the others as chips; a click asks another token."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.photo, self.chips = AttentionPhoto(), AttentionChips()
        self.said = parts.label("", "second", 11)
        body = parts.frame(parts.column(self.photo, self.chips))
        super().__init__(session.tr("What the token attends to"), body, self.said)
        for widget in (self.photo, self.chips):
            widget.chosen.connect(session.attention.select_token)
        self.hide()

    def show_state(self) -> None:
        """Show the query, where all heads are in the wall's place."""
        lane, shown = self._session.attention, self._session.selection.shown is Shown.ATTENTION
        scene = scene_of(self._session) if shown and lane.look.page == "heads" else None
        self.setVisible(scene is not None)
        self.photo.show_scene(scene)
        self.chips.show_chips(Chips(()) if scene is None else key_chips(scene))
        if scene is None:
            return
        self.photo.setVisible(scene.query.grid is not None)
        self.chips.setVisible(bool(self.chips.chips.words))
        self.said.setText("" if scene.query.reason else scale_words(scene.seen_levels))
        self.photo.setFixedHeight(min(int(self.width() * scene.shape), scaled(TALLEST)))
