"""The second row of the wall: which tensor, sorting, scale and colours, the difference."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from hookviewer.gui import parts
from hookviewer.gui.cams import Cams
from hookviewer.gui.choices import Choice
from hookviewer.gui.columns import WallState, difference_colormap
from hookviewer.gui.giving_way import Step, Yielding, hidden
from hookviewer.gui.icons import set_icon
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import font, scaled
from hookviewer.gui.wall import words
from hookviewer.gui.wall.ramp import Ramp, RampChoice

HEIGHT = 36


class KindSwitch(parts.Segmented):
    """The control `kind`: output, gradient, product or Grad-CAM."""

    def __init__(self) -> None:
        super().__init__([words.tr(word) for word in words.KINDS.values()])
        self.setObjectName("kind")
        self.setAccessibleName(self.tr("Which tensor is shown"))
        for button, shown in zip(self.buttons, words.KINDS, strict=True):
            button.setObjectName(words.KINDS[shown])
            button.setAccessibleName(button.text())
            button.setToolTip(words.tr(words.KIND_TIPS[shown]) + "  G")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def shorten(self, on: bool) -> None:
        """Take as little room as the words need."""
        for button, (shown, word) in zip(self.buttons, words.KINDS.items(), strict=True):
            button.setText(words.tr(words.SHORT_KINDS.get(shown, word) if on else word))
            button.setStyleSheet("padding: 0 4px;" if on else "")
        self.updateGeometry()  # at once: the row is measured again before Qt would tell it

    def currentText(self) -> str:
        """Return the word of the chosen segment."""
        return self.buttons[self.index].objectName()

    def setCurrentText(self, text: str) -> None:
        """Choose a segment by its word, as a click does."""
        for button in self.buttons:
            if button.objectName().lower() == text.lower().replace("_", "-"):
                button.click()


class WordChoice(Choice):
    """A combo box that says what it chooses before its choice, where there is room."""

    # Qt asks for the text while the base class is still being made
    _icon, _short = "", False
    _said: tuple[str, str] | None = None

    def __init__(self, name: str, tip: str, items: dict[str, str]) -> None:
        super().__init__(name, "", tip)
        for key, text in items.items():
            self.addItem(words.tr(text), key)

    def say(self, long: str, short: str) -> None:
        """Show these words, long or short, whatever the item is called."""
        if self._said != (long, short):
            self._said = (long, short)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width() + (8 if self._short else 14), self.height())

    def shown_text(self) -> str:
        if self._said is None:
            return self.currentText()
        return self._said[1 if self._short else 0]


class Controls(Yielding):
    """Everything that changes how the wall looks; what has no room is shortened first, then hidden."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self._session = session
        self.kind = KindSwitch()
        tr = words.tr
        keys = ((tr("Pin the selected channel to the front"), "P"), (tr("Hide dead channels"), "X"))
        tip = "\n".join(f"{text}  {key}" for text, key in ((tr("Sort the channels"), "S"), *keys))
        self.sort = WordChoice("sort", tip, words.SORTS)
        self.sort.setAccessibleName(tr("Sort the channels"))
        self.scale = WordChoice("scale", tr("Scale"), words.SCALES)
        self.colormap = RampChoice()
        self.low = parts.label("", "second", 11, mono=True)
        self.high = parts.label("", "second", 11, mono=True)
        self.low.setObjectName("scale_low")
        self.high.setObjectName("scale_high")
        self.difference = _toggle(tr("Difference"), "diff", tr("A − B as a last column") + "  D")
        self.difference_ramp = Ramp()
        ramp = (self.low, self.colormap, self.high)
        items = (self.kind, self.sort, self.scale, *ramp, None, self.difference_ramp, self.difference)
        super().__init__(parts.row(*items, spacing=5, margins=(10, 0, 10, 8)), self._steps(), parent)
        self.setFixedHeight(scaled(HEIGHT))
        for place, tip in enumerate(words.SCALE_TIPS.values()):
            self.scale.setItemData(place, tr(tip), Qt.ItemDataRole.ToolTipRole)
        self._connect()

    def show_state(self, wall: WallState, inputs: int, cams: Cams | None = None) -> None:
        """Show what is in force; a strip of layers (`cams`) has nothing to sort."""
        look = self._session.look
        self.kind.choose(list(Shown).index(wall.shown))
        _choose(self.sort, look.sort)
        _choose(self.scale, look.scale)
        _choose(self.colormap, look.colormap)
        sort = words.tr(words.SORTS[look.sort])
        self.sort.say(words.tr("Sort: {}").format(sort), sort)
        self._sortable = cams is None
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
        self.fit()

    _has_difference = False
    _has_colours = True
    _sortable = True

    def _steps(self) -> list[Step]:
        return [
            (lambda: self.difference_ramp.setVisible(self._has_difference), lambda: None),
            (
                lambda: self.difference.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon),
                lambda: self.difference.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly),
            ),
            (lambda: self.scale.shorten(False), lambda: self.scale.shorten(True)),
            (lambda: self.sort.shorten(False), lambda: self.sort.shorten(True)),
            (lambda: self.colormap.shorten(False), lambda: self.colormap.shorten(True)),
            (lambda: None, lambda: self.difference_ramp.hide()),
            (lambda: self.kind.shorten(False), lambda: self.kind.shorten(True)),
            (lambda: self.sort.setVisible(self._sortable), self.sort.hide),
            hidden(self.scale),
        ]

    def _connect(self) -> None:
        kinds = tuple(words.KINDS)
        self.kind.changed.connect(lambda place: self._session.select(shown=kinds[place]))
        for box, name in ((self.sort, "sort"), (self.scale, "scale"), (self.colormap, "colormap")):
            box.currentIndexChanged.connect(
                lambda _, box=box, name=name: self._on_chosen(name, str(box.currentData()))
            )
        self.difference.clicked.connect(lambda on: self._session.set_look(difference=on))

    def _on_chosen(self, name: str, value: str) -> None:
        if name == "scale":
            self._session.set_look(scale=value, levels=None)
        elif name == "sort" and value == "difference":
            self._session.set_look(sort=value, difference=True)
        else:
            self._session.set_look(**{name: value})


def _choose(box: Choice, value: str) -> None:
    box.blockSignals(True)
    box.setCurrentIndex(max(box.findData(value), 0))
    box.blockSignals(False)
    box.update()


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
