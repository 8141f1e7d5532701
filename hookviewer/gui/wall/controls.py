"""The second row of the wall: which tensor, sorting, scale and colours, the difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QStandardItemModel
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui import differing, parts
from hookviewer.gui.cams import Cams
from hookviewer.gui.choices import Choice
from hookviewer.gui.columns import WallState, companion, difference_colormap
from hookviewer.gui.compare_panel import ComparePanel
from hookviewer.gui.comparing import edited_pairs
from hookviewer.gui.giving_way import Step, Yielding
from hookviewer.gui.icons import set_icon
from hookviewer.gui.method_button import MethodButton
from hookviewer.gui.present import present_wall
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import font, scaled
from hookviewer.gui.varying import name_of
from hookviewer.gui.wall import words
from hookviewer.gui.wall.choosers import KindSwitch, WordChoice
from hookviewer.gui.wall.ramp import Ramp, RampChoice
from hookviewer.gui.wall.side_button import SideButton

HEIGHT = 36


class Controls(Yielding):
    """Everything that changes how the wall looks.

    What has no room is shortened first; then it is found in the menu `more`. The scale stays in sight.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self._session = session
        self.kind = KindSwitch()
        tr = words.tr
        keys = ((tr("Pin the selected channel to the front"), "P"), (tr("Hide dead channels"), "X"))
        tip = "\n".join(f"{text}  {key}" for text, key in ((tr("Sort the channels"), "S"), *keys))
        self.sort = WordChoice("sort", tip, words.SORTS)
        self.sort.setAccessibleName(tr("Sort the channels"))
        self.scale = WordChoice("scale", tr("Scale"), words.SCALES)
        self.vary = _drop("vary", "columns-3", tr("What columns differ in"))
        self._panel: ComparePanel | None = None
        self.share = WordChoice("share", tr("What shares a scale"), words.SHARES)
        self.colormap = RampChoice()
        self.low = parts.label("", "second", 11, mono=True)
        self.high = parts.label("", "second", 11, mono=True)
        self.low.setObjectName("scale_low")
        self.high.setObjectName("scale_high")
        self.side = SideButton(session)
        self.methods = MethodButton(session)
        self.difference = _toggle(tr("Difference"), "diff", tr("A − B as a last column") + "  D")
        self.difference.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.difference.setMenu(QMenu(self.difference))
        self.difference_ramp = Ramp()
        self.more = parts.tool("ellipsis", tr("More of these controls"), size=28)
        self.more.setObjectName("more_controls")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(QMenu(self.more))
        self.more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        ramp = (self.low, self.colormap, self.high)
        ways = (None, self.difference_ramp, self.difference, self.more)
        kinds = (self.kind, self.side, self.methods)
        items = (*kinds, self.vary, self.sort, self.scale, self.share, *ramp, *ways)
        super().__init__(parts.row(*items, spacing=5, margins=(10, 0, 10, 8)), self._steps(), parent)
        self.setFixedHeight(scaled(HEIGHT))
        for box, tips in ((self.scale, words.SCALE_TIPS), (self.share, words.SHARE_TIPS)):
            for place, tip in enumerate(tips.values()):
                box.setItemData(place, tr(tip), Qt.ItemDataRole.ToolTipRole)
        self._connect()

    def show_state(self, wall: WallState, inputs: int, cams: Cams | None = None) -> None:
        """Show what is in force; a strip of layers (`cams`) has nothing to sort."""
        look = self._session.look
        self.kind.choose(list(words.KINDS).index(words.segment_of(wall.shown)))
        self.side.show_state()
        self.kind.offer(Shown.ATTENTION, self._session.attention.offered(wall.path))
        _choose(self.sort, look.sort)
        _choose(self.scale, look.scale)
        _choose(self.share, look.share)
        _choose(self.colormap, look.colormap)
        self._show_vary(long=True)
        sort = words.tr(words.SORTS[look.sort])
        self.sort.say(words.tr("Sort: {}").format(sort), sort)
        self._sortable = wall.shown is not Shown.GRAD_CAM
        self.methods.setVisible(not self._sortable)
        self.methods.refresh()
        self._wall = wall
        shared = words.tr(words.SHARES[look.share])
        self.share.say(words.tr("For: {}").format(shared), shared)
        self.scale.say(*words.scale_words(wall, cams))
        self.colormap.show_scale(wall.colormap, wall.levels)
        for label, end in zip((self.low, self.high), words.ramp_ends(wall, cams), strict=True):
            label.setText(end)
        self.difference.setChecked(look.difference)
        self.difference.setEnabled(inputs > 1)
        self.difference.setToolTip(
            words.tr("A − B as a last column") + "  D"
            if inputs > 1
            else words.tr("Tick a second input to see a difference.")
        )
        shown = wall.difference_levels
        self._has_difference = shown is not None
        if shown is not None:
            self.difference_ramp.show_scale(difference_colormap(wall), shown)
        self._has_colours = not wall.filled or any(
            column.maps is not None and column.maps.layout == "maps" for column in wall.filled
        )
        for widget in (self.low, self.colormap, self.high):
            widget.setVisible(self._has_colours)
        self._has_shares = self._has_colours
        self.fit()

    _given: frozenset[QWidget] = frozenset()
    """What is found in the menu only."""
    _has_difference = False
    _has_colours = True
    _has_shares = True
    _wall: WallState | None = None
    _sortable = True

    def _steps(self) -> list[Step]:
        both, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        difference, sort, ramp = self.difference, self.sort, self.difference_ramp
        return [
            (lambda: self._show_vary(long=True), lambda: self._show_vary(long=False)),
            (lambda: self.share.shorten(False), lambda: self.share.shorten(True)),
            self._giving(self.share, lambda: self._has_shares),
            (lambda: difference.setToolButtonStyle(both), lambda: difference.setToolButtonStyle(alone)),
            (lambda: self._bare_vary(False), lambda: self._bare_vary(True)),
            (lambda: self.scale.shorten(False), lambda: self.scale.shorten(True)),
            (lambda: sort.shorten(False), lambda: sort.shorten(True)),
            (lambda: self.methods.shorten(False), lambda: self.methods.shorten(True)),
            (lambda: self.colormap.shorten(False), lambda: self.colormap.shorten(True)),
            (lambda: ramp.shorten(False), lambda: ramp.shorten(True)),
            (lambda: self.kind.shorten(False), lambda: self.kind.shorten(True)),
            (lambda: sort.show_bare(""), lambda: sort.show_bare("arrow-down-up")),
            (lambda: ramp.setVisible(self._has_difference), ramp.hide),  # its numbers are in the foot too
            self._giving(self.vary, lambda: True),
            self._giving(self.side, lambda: self.side.suits),
            self._giving(sort, lambda: self._sortable),
            self._giving(difference, lambda: True),
            self._giving(self.methods, lambda: not self._sortable),
            (lambda: self.kind.show_alone(False), lambda: self.kind.show_alone(True)),
            (lambda: self.colormap.shrink(False), lambda: self.colormap.shrink(True)),
            (lambda: self.side.shorten(False), lambda: self.side.shorten(True)),
        ]

    def _show_vary(self, *, long: bool) -> None:
        name = name_of(self._session.varying.vary)
        self.vary.setText(" " + (words.tr("Vary: {}").format(name) if long else name))

    def _bare_vary(self, on: bool) -> None:
        ways = Qt.ToolButtonStyle
        self.vary.setToolButtonStyle(ways.ToolButtonIconOnly if on else ways.ToolButtonTextBesideIcon)

    def choose_columns(self) -> ComparePanel:
        """Show the panel that chooses what columns differ in."""
        if self._panel is None:
            self._panel = ComparePanel(self._session, self)
        self._panel.pop_up(self.vary if self.vary.isVisible() else self.kind)
        return self._panel

    def _fill_differences(self, menu: QMenu) -> None:
        """Offer the ways in which the difference can be shown."""
        menu.clear()
        menu.setToolTipsVisible(True)
        look = self._session.look
        for way, name in differing.WAYS.items():
            choose = partial(self._session.set_look, difference=True, differs=way)
            _add(menu, words.tr(name), look.differs == way, choose).setToolTip(words.tr(differing.TIPS[way]))
        self._add_pairs(menu, present_wall(self._session, self._session.selection))

    def _add_pairs(self, menu: QMenu, wall: WallState) -> None:
        """Offer the difference of every input and its run with edits, where there are several."""
        pairs = list(edited_pairs(wall.columns))
        if len(pairs) < 2:
            return
        menu.addSeparator()
        shown = (wall.pair.subtrahend, wall.pair.minuend)
        for plain, edited in pairs:
            first, second = wall.columns[plain], wall.columns[edited]
            named = words.tr("{}: edited − original ({} − {})").format(
                first.title, second.letter, first.letter
            )
            choose = partial(self._show_difference_of, second.number)
            _add(menu, named, shown == (plain, edited), choose)

    def _show_difference_of(self, number: int | None) -> None:
        """Show the difference of the pair that an input belongs to: it becomes the current one."""
        self._session.set_look(difference=True)
        self._session.select(input=number)

    def _giving(self, widget: QWidget, wanted: Callable[[], bool]) -> Step:
        """Return the step that puts a control into the menu; one that is not `wanted` is in neither place."""

        def show(on: bool) -> None:
            widget.setVisible(on and wanted())
            self._given = self._given - {widget} if on or not wanted() else self._given | {widget}
            self.more.setVisible(bool(self._given))

        return (lambda: show(True), lambda: show(False))

    def _open_more(self) -> None:
        self.more.menu().popup(self.kind.mapToGlobal(self.kind.rect().bottomLeft()))

    def fill_more(self) -> None:
        """Put everything into the menu that is out of sight now."""
        menu = self.more.menu()
        menu.clear()
        if self.kind.alone:
            for button in self.kind.buttons:
                if self.kind.offers(button):
                    _add(menu, button.accessibleName(), button.isChecked(), button.click)
            menu.addSeparator()
        if self.vary.isHidden():
            menu.addAction(words.tr("What columns differ in…"), self.choose_columns)
        if self.methods.isHidden() and not self._sortable:
            _add(menu, words.tr("Methods and targets…"), False, self.methods.open)
        if self.share.isHidden() and self._has_shares:
            _add_choices(menu.addMenu(words.tr("What shares a scale")), self.share)
        if self.side.isHidden() and self.side.suits:
            self.side.fill(menu.addMenu(words.tr("At the output or the input")))
        if self.sort.isHidden() and self._sortable:
            self.forbid_sorts()
            _add_choices(menu.addMenu(words.tr("Sort the channels")), self.sort)
        if self.difference.isHidden():
            on, tip = self.difference.isChecked(), self.difference.toolTip()
            action = _add(menu, words.tr("Difference") + "\tD", on, self.difference.click)
            action.setEnabled(self.difference.isEnabled())
            action.setToolTip(tip)
            if self.difference.isEnabled():
                self._fill_differences(menu.addMenu(words.tr("Show the difference as")))

    def _connect(self) -> None:
        kinds = tuple(words.KINDS)
        self.more.menu().aboutToShow.connect(self.fill_more)
        self.kind.rest_wanted.connect(self._open_more)
        self.kind.changed.connect(lambda place: self._session.select(shown=kinds[place]))
        boxes = {"sort": self.sort, "scale": self.scale, "share": self.share, "colormap": self.colormap}
        self.sort.opening.connect(self.forbid_sorts)
        for name, box in boxes.items():
            box.currentIndexChanged.connect(
                lambda _, box=box, name=name: self._on_chosen(name, str(box.currentData()))
            )
        self.vary.clicked.connect(self.choose_columns)
        self.difference.menu().aboutToShow.connect(lambda: self._fill_differences(self.difference.menu()))
        self.difference.clicked.connect(lambda on: self._session.set_look(difference=on))

    def _on_chosen(self, name: str, value: str) -> None:
        if name in ("scale", "share"):
            self._session.set_look(levels=None, **{name: value})
        elif name == "sort":
            anchor = self._session.selection.channel if value == "similar" else self._session.look.anchor
            self._session.set_look(sort=value, anchor=anchor)
        else:
            self._session.set_look(**{name: value})

    def why_not(self, sort: str) -> str:
        """Return why the channels cannot be sorted so now; nothing where they can."""
        wall = self._wall
        if wall is None or not wall.filled or sort == "channel":
            return ""
        if len(wall.order) < 2 and not wall.only:
            return words.tr("There is only one channel.")
        try:
            companion(wall.filled, self._session.selection, self._session.look, sort)
        except HookViewerError as error:
            return str(error)
        return ""

    def forbid_sorts(self) -> None:
        """Disable the sorts that cannot be made now; their tips say why."""
        model = self.sort.model()
        for place in range(self.sort.count()):
            sort = str(self.sort.itemData(place))
            reason = self.why_not(sort)
            item = model.item(place) if isinstance(model, QStandardItemModel) else None
            if item is not None:
                item.setEnabled(not reason)
                item.setToolTip(reason or words.tr(words.SORT_TIPS[sort]))


def _add_choices(menu: QMenu, box: Choice) -> None:
    """Put the entries of a combo box into a menu."""
    menu.setToolTipsVisible(True)
    model = box.model()
    for place in range(box.count()):
        choose = partial(box.setCurrentIndex, place)
        action = _add(menu, box.itemText(place), place == box.currentIndex(), choose)
        item = model.item(place) if isinstance(model, QStandardItemModel) else None
        if item is not None:
            action.setEnabled(item.isEnabled())
            action.setToolTip(item.toolTip())


def _choose(box: Choice, value: str) -> None:
    box.blockSignals(True)
    box.setCurrentIndex(max(box.findData(value), 0))
    box.blockSignals(False)
    box.update()


def _add(menu: QMenu, text: str, on: bool, does: Callable[[], object]) -> QAction:
    action = menu.addAction(text)
    action.setCheckable(True)
    action.setChecked(on)
    action.triggered.connect(lambda _=False: does())
    return action


def _drop(name: str, icon: str, tip: str) -> QToolButton:
    made = QToolButton()
    made.setObjectName(name)
    made.setProperty("role", "button")
    made.setFont(font("ui", 12))
    set_icon(made, icon)
    made.setFixedHeight(scaled(28))
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made


def _toggle(text: str, icon: str, tip: str) -> QToolButton:
    made = QToolButton()
    made.setObjectName("difference")
    made.setProperty("role", "button")
    made.setText(f" {text}")
    made.setFont(font("ui", 12))
    set_icon(made, icon)
    made.setCheckable(True)
    made.setFixedHeight(scaled(28))
    made.setToolTip(tip)
    made.setAccessibleName(text)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made
