"""The controls of the wall's second row: each can be shortened when there is little room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QStyleOptionComboBox, QToolButton

from hookviewer.gui import icons, parts
from hookviewer.gui.choices import Choice
from hookviewer.gui.state import Shown
from hookviewer.gui.wall import words

ICON_ONLY = 58


class KindSwitch(parts.Segmented):
    """The control `kind`: output, gradient, product, CAM (also found as Grad-CAM) or weights."""

    rest_wanted = Signal()
    """The only segment in sight was clicked: the others are wanted."""

    def __init__(self) -> None:
        super().__init__([words.tr(word) for word in words.KINDS.values()])
        self.setObjectName("kind")
        self.setAccessibleName(self.tr("Which tensor is shown"))
        for button, shown in zip(self.buttons, words.KINDS, strict=True):
            button.setObjectName(words.KINDS[shown])
            button.setAccessibleName(button.text())
            button.setToolTip(words.tr(words.KIND_TIPS[shown]) + "  G")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.alone = self._short = False
        self._unsuited: frozenset[int] = frozenset()
        self._before = 0
        self.group.idPressed.connect(self._on_pressed)
        self.group.idClicked.connect(self._on_clicked)

    def show_alone(self, on: bool) -> None:
        """Show the chosen segment only, or all of them."""
        self.alone = on
        for place, button in enumerate(self.buttons):
            button.setVisible(place not in self._unsuited and (not on or place == self.index))
        self.updateGeometry()

    def offer(self, shown: Shown, on: bool) -> None:
        """Have a segment among the others only where it suits; the chosen one stays."""
        place = list(words.KINDS).index(shown)
        self._unsuited = self._unsuited - {place} if on or place == self.index else self._unsuited | {place}
        self.show_alone(self.alone)

    def offers(self, button: QToolButton) -> bool:
        """Return whether a segment suits what is shown."""
        return self.buttons.index(button) not in self._unsuited

    def _on_pressed(self, place: int) -> None:
        self._before = self.index

    def _on_clicked(self, place: int) -> None:
        if self.alone and place == self._before:
            self.rest_wanted.emit()

    def shorten(self, on: bool) -> None:
        """Take as little room as the words need."""
        if on == self._short:
            return
        self._short = on
        for button, (shown, word) in zip(self.buttons, words.KINDS.items(), strict=True):
            button.setText(words.tr(words.SHORT_KINDS.get(shown, word) if on else word))
            button.setStyleSheet("padding: 0 4px;" if on else "")
        self.updateGeometry()  # at once: the row is measured again before Qt would tell it

    def currentText(self) -> str:
        """Return the word of the chosen segment."""
        return self.buttons[self.index].objectName()

    def setCurrentText(self, text: str) -> None:
        """Choose a segment by its word, as a click does."""
        wanted = text.lower().replace("_", "-")
        wanted = "cam" if wanted == "grad-cam" else wanted
        for button in self.buttons:
            if button.objectName().lower() == wanted:
                button.click()


class WordChoice(Choice):
    """A combo box that says what it chooses before its choice, where there is room."""

    opening = Signal()
    """Its list is about to be seen."""

    # Qt asks for the text while the base class is still being made
    _icon, _short, _bare = "", False, False
    _said: tuple[str, str] | None = None

    def __init__(self, name: str, tip: str, items: dict[str, str]) -> None:
        super().__init__(name, "", tip)
        for key, text in items.items():
            self.addItem(words.tr(text), key)

    def showPopup(self) -> None:
        self.opening.emit()
        super().showPopup()

    def say(self, long: str, short: str) -> None:
        """Show these words, long or short, whatever the item is called."""
        if self._said != (long, short):
            self._said = (long, short)
            self.updateGeometry()
            self.update()

    def show_bare(self, sign: str) -> None:
        """Show an icon alone, or the words again where `sign` is empty."""
        self._bare, self._icon = bool(sign), sign
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        if self._bare:
            return QSize(ICON_ONLY, self.height())
        return QSize(super().sizeHint().width() + (8 if self._short else 14), self.height())

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        super().initStyleOption(option)
        if self._bare:
            option.currentText, option.currentIcon = "", icons.icon(self._icon, "text_2")

    def shown_text(self) -> str:
        if self._said is None:
            return self.currentText()
        return self._said[1 if self._short else 0]
