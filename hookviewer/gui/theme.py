"""The look: colour tokens, fonts and the palette of the theme in force, and a signal when it changes.

The numbers come from `resources/theme.json`; a widget never names a colour of its own.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from hookviewer.gui import indicators, stylesheet
from hookviewer.resources import resource

MEDIUM = QFont.Weight.Medium
SEMIBOLD = QFont.Weight.DemiBold
BASE_PIXELS = 13

_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.Base: "panel",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Button: "control",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "error",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Highlight: "accent_fill",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.PlaceholderText: "text_3",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "control",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border_strong",
    QPalette.ColorRole.Shadow: "window",
    QPalette.ColorRole.Accent: "accent_fill",
}


@functools.cache
def tokens() -> Mapping[str, Any]:
    """Return everything in `theme.json`."""
    found: dict[str, Any] = json.loads(resource("theme.json").read_text(encoding="utf-8"))
    return found


class Theme:
    """The tokens of one theme, `"dark"` or `"light"`: `theme()["panel"]` is a colour."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dark = name == "dark"
        self.token: Mapping[str, str] = tokens()[name]
        self.inputs = tuple(QColor(colour) for colour in tokens()["inputs"][name])
        self.family = {family: QColor(colour) for family, colour in tokens()["families"][name].items()}
        self._colours = {token: _colour(value) for token, value in self.token.items()}

    def __getitem__(self, token: str) -> QColor:
        return QColor(self._colours[token])

    def input(self, number: int) -> QColor:
        """Return the identity colour of the input with this number (numbers start at 1)."""
        return QColor(self.inputs[(number - 1) % len(self.inputs)])

    def tint(self, colour: QColor, amount: float, on: str = "panel") -> QColor:
        """Return `amount` of a colour mixed into the ground `on`."""
        ground = self[on]
        pairs = (
            (colour.redF(), ground.redF()),
            (colour.greenF(), ground.greenF()),
            (colour.blueF(), ground.blueF()),
        )
        return QColor.fromRgbF(*(front * amount + back * (1 - amount) for front, back in pairs))

    def palette(self) -> QPalette:
        """Return the Qt palette of this theme."""
        palette = QPalette()
        for role, token in _ROLES.items():
            palette.setColor(role, self[token])
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self["text_off"])
        palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Highlight, self["select_off"])
        return palette


def _colour(value: str) -> QColor:
    if len(value) == len("#RRGGBBAA"):
        colour = QColor(value[:7])
        colour.setAlpha(int(value[7:], 16))
        return colour
    return QColor(value)


class ThemeKeeper(QObject):
    """A child of the application that holds the theme in force and says when it changes."""

    changed = Signal()

    def __init__(self, application: QObject) -> None:
        super().__init__(application)
        self.setObjectName("theme_keeper")
        self.theme = Theme("dark")
        self._held: list[QObject] = []

    def hold(self, window: QObject) -> None:
        """Keep a window that nobody else keeps, until it is released."""
        self._held.append(window)

    def release(self, window: QObject) -> None:
        """Keep a window no longer."""
        self._held = [one for one in self._held if one is not window]


def keeper() -> ThemeKeeper:
    """Return the application's theme keeper; `keeper().changed` tells of another theme."""
    application = QApplication.instance()
    if application is None:
        raise RuntimeError("There is no QApplication yet: the theme belongs to it.")
    found = application.findChild(ThemeKeeper, "theme_keeper", Qt.FindChildOption.FindDirectChildrenOnly)
    return found if found is not None else ThemeKeeper(application)


def theme() -> Theme:
    """Return the theme in force."""
    return keeper().theme


def set_theme(name: str) -> None:
    """Put `"dark"`, `"light"` or the desktop's own (`"system"`) theme in force for the whole application."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    if name == "system":
        application.styleHints().setColorScheme(Qt.ColorScheme.Unknown)
    wanted = Theme(system_theme() if name == "system" else name)
    if name != "system":
        scheme = Qt.ColorScheme.Dark if wanted.dark else Qt.ColorScheme.Light
        application.styleHints().setColorScheme(scheme)
    sheet = stylesheet.of(wanted.token, indicators.folder(wanted.token), text_scale())
    holder = keeper()
    if holder.theme.name == wanted.name and application.styleSheet() == sheet:
        return  # each of the lines below would polish every widget of every window again
    holder.theme = wanted
    if not application.styleSheet():
        application.setStyle("Fusion")
        application.setFont(font())
    application.setPalette(wanted.palette())
    application.setStyleSheet(sheet)
    holder.changed.emit()


def system_theme() -> str:
    """Return the theme that the desktop asks for; dark where it does not say."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return "light" if application.styleHints().colorScheme() == Qt.ColorScheme.Light else "dark"


def font(kind: str = "ui", size: float = BASE_PIXELS, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the interface (`"ui"`) or the monospaced (`"mono"`) font; `size` in pixels at 100 %."""
    made = QFont(_family(kind))
    made.setPixelSize(scaled(size))
    made.setWeight(weight)
    return made


def scaled(pixels: float) -> int:
    """Return a length that follows the size of the user's font."""
    return round(pixels * text_scale())


@functools.cache
def text_scale() -> float:
    """Return how much larger than usual the user's own font is (at least 1)."""
    usual = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).pixelSize()
    return max(1.0, usual / BASE_PIXELS)


@functools.cache
def _family(kind: str) -> str:
    present = set(QFontDatabase.families())
    fixed = QFontDatabase.systemFont(
        QFontDatabase.SystemFont.FixedFont if kind == "mono" else QFontDatabase.SystemFont.GeneralFont
    )
    return next((family for family in tokens()["fonts"][kind] if family in present), fixed.family())
