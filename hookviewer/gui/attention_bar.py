"""The row over the attention: one token or all heads, which weights lie over the picture, what is asked."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from hookviewer.gui import parts
from hookviewer.gui.attention_lane import Way
from hookviewer.gui.attention_query import HEAD, ROLLOUT, WAYS
from hookviewer.gui.attention_scene import Scene
from hookviewer.gui.attention_showing import item_of
from hookviewer.gui.giving_way import Elided, Yielding, hidden
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled
from hookviewer.gui.wall.progress import progress_line

HEIGHT = 36
PAGES = ("token", "heads")


class AttentionBar(Yielding):
    """Asks the session's attention; what is being looked for can be stopped here."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self._session = session
        tr = _tr
        self.page = parts.Segmented([tr("Token"), tr("All heads")])
        self.page.setObjectName("attention_page_choice")
        self.page.setAccessibleName(tr("One token, or the matrices of all heads"))
        self.way = parts.Segmented([tr("Mean of heads"), tr("One head"), tr("Rollout")])
        self.way.setObjectName("attention_way")
        self.way.setAccessibleName(tr("Which weights are shown"))
        tips = (
            tr("The mean over the heads of this layer"),
            tr("The selected head alone: click one below"),
            tr("Through all layers until this one: the product of (mean of heads + what goes around) / 2"),
        )
        for button, tip in zip(self.way.buttons, tips, strict=True):
            button.setToolTip(tip)
        self.ticked = parts.tool("list-checks", tr("Rollout through the ticked layers only"), checkable=True)
        self.ticked.setObjectName("attention_ticked")
        self.said = Elided(role="second", size=12)
        self.said.setObjectName("attention_said")
        self.check = Elided(role="warn", size=12)
        self.check.setObjectName("attention_check")
        self.progress = progress_line()
        self.progress.setFixedWidth(scaled(90))
        self.stop = parts.button(tr("Stop"))
        self.stop.setObjectName("attention_stop")
        items = (self.page, 4, self.way, self.ticked, 6, self.said, self.check, self.progress, self.stop)
        layout = parts.row(*items, spacing=5, margins=(10, 0, 10, 8))
        layout.setStretchFactor(self.said, 2)
        layout.setStretchFactor(self.check, 3)
        super().__init__(layout, [hidden(self.said), (self._loosen, self._tighten)], parent)
        self.setFixedHeight(scaled(HEIGHT))
        self._connect()

    def show_scene(self, scene: Scene | None) -> None:
        """Show what is in force."""
        lane = self._session.attention
        look = lane.look
        self.page.choose(PAGES.index(look.page))
        self.way.choose(WAYS.index(look.way))
        head = scene.head if scene is not None else self._session.selection.channel
        self.way.buttons[WAYS.index(HEAD)].setText(_tr("Head {}").format(head))
        self.way.setVisible(look.page == "token")
        self.ticked.setVisible(look.page == "token" and look.way == ROLLOUT)
        self.ticked.setChecked(look.ticked)
        check = lane.check(item_of(self._session))
        self.check.say(check)
        self.check.setToolTip(check)
        self.check.setVisible(bool(check))
        self.said.say(*(token_words(scene) if scene is not None else ("",)))
        self.stop.setVisible(lane.running)
        self.progress.setVisible(lane.running)
        self.fit()

    def _connect(self) -> None:
        lane = self._session.attention
        self.page.changed.connect(lambda place: lane.set_look(page=PAGES[place]))
        self.way.changed.connect(lambda place: lane.set_look(way=WAYS[place]))
        self.ticked.clicked.connect(lambda on: lane.set_look(ticked=on))
        self.stop.clicked.connect(lambda: lane.stop())
        lane.progressed.connect(self._on_progressed)

    def _on_progressed(self, way: Way) -> None:
        self.progress.setRange(0, 0 if way.share is None else 1000)
        self.progress.setValue(round(1000 * (way.share or 0)))
        self.progress.setToolTip(way.path)

    def _loosen(self) -> None:
        for button in (*self.page.buttons, *self.way.buttons):
            button.setStyleSheet("")

    def _tighten(self) -> None:
        for button in (*self.page.buttons, *self.way.buttons):
            button.setStyleSheet("padding: 0 4px;")


def token_words(scene: Scene) -> tuple[str, ...]:
    """Return which token is asked, in versions from the longest to the shortest."""
    query = scene.query
    place = scene.asked_words(query.token)
    said = _tr("token {} of {}").format(query.token, query.tokens)
    short = _tr("token {}").format(query.token)
    return (f"{said}  ({place})", f"{short}  ({place})", short) if place else (said, short)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attention", text)
