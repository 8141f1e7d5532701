"""The last row of the wall: what there is to know of the channels, and the keys that act on the wall."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP
from PySide6.QtWidgets import QWidget

from hookviewer.gui import parts
from hookviewer.gui.giving_way import Step, Yielding, hidden
from hookviewer.gui.theme import scaled
from hookviewer.gui.wall.claiming import Claiming
from hookviewer.gui.wall.words import tr

HEIGHT = 28
KEYS = (
    (("←", "→"), str(QT_TRANSLATE_NOOP("Wall", "channel"))),
    (("[", "]"), str(QT_TRANSLATE_NOOP("Wall", "layer"))),
    (("G",), str(QT_TRANSLATE_NOOP("Wall", "kind"))),
    (("Z",), str(QT_TRANSLATE_NOOP("Wall", "fit"))),
    (("D",), str(QT_TRANSLATE_NOOP("Wall", "difference"))),
    (("?",), str(QT_TRANSLATE_NOOP("Wall", "all keys"))),
)


class Foot(Yielding):
    """A sentence at the left; hints of keys at the right, which go first when room is short."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.words = Claiming(role="caption")
        hints: list[parts.Item] = []
        steps: list[Step] = []
        self.arrows = parts.label(tr(KEYS[0][1]), "caption", 11)
        for place, (keys, text) in enumerate(KEYS):
            said = parts.label(tr(text), "caption", 11) if place else self.arrows
            group = [*(parts.key(one) for one in keys), said]
            hints += [*group, 6]
            steps.insert(0, hidden(*group))
        layout = parts.row(self.words, *hints[:-1], spacing=4, margins=(12, 0, 10, 0))
        super().__init__(layout, [*steps[1:], steps[0]], parent)
        self.setFixedHeight(scaled(HEIGHT))

    def say(self, text: str, tip: str = "", arrows: str = "") -> None:
        """Say something else of the channels; the tip says all where the text is only a part of it.

        `arrows` is what the arrow keys step through where that is not the channels.
        """
        self.arrows.setText(arrows or tr(KEYS[0][1]))
        self.words.say(text)
        self.words.setToolTip(tip or text)
        self.fit()
