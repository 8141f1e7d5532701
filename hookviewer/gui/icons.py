"""Icons: static pictures (Lucide, ISC) painted in the colours of the theme.

No icon engine in Python: it would run inside Qt's paint. `set_icon` remembers the name, so that a button
follows a change of theme by itself.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from hookviewer.gui import indicators
from hookviewer.gui.theme import keeper, theme
from hookviewer.resources import resource

SMALL = 16
_PROPERTY = "themed_icon"


def pixmap(
    name: str, colour: QColor | str = "text_2", size: int = SMALL, ratio: float | None = None
) -> QPixmap:
    """Return one icon in one colour (or token), `size` in device-independent pixels."""
    ink = theme()[colour] if isinstance(colour, str) else colour
    ratio = ratio if ratio is not None else _ratio()
    key = f"hookviewer/{name}/{ink.name(QColor.NameFormat.HexArgb)}/{size}/{ratio}"
    found = QPixmap()
    if not QPixmapCache.find(key, found):
        found = _rendered(_recoloured(name, ink, size), size, ratio)
        QPixmapCache.insert(key, found)
    return found


def icon(name: str, token: str = "text_2", size: int = SMALL) -> QIcon:
    """Return an icon that is `text` when on and `text_off` when disabled, and `token` at rest."""
    made = QIcon()
    on = "text" if token == "text_2" else token
    for mode, state, colour in (
        (QIcon.Mode.Normal, QIcon.State.Off, token),
        (QIcon.Mode.Normal, QIcon.State.On, on),
        (QIcon.Mode.Disabled, QIcon.State.Off, "text_off"),
        (QIcon.Mode.Disabled, QIcon.State.On, "text_off"),
    ):
        made.addPixmap(pixmap(name, colour, size), mode, state)
    return made


def set_icon(target: QAbstractButton | QAction | QLabel, name: str, token: str = "text_2") -> None:
    """Give a button, an action or a label an icon that is painted anew when the theme changes."""
    target.setProperty(_PROPERTY, f"{name}/{token}")
    _recolour(target)
    holder = keeper()
    if not holder.property("recolours_icons"):
        holder.setProperty("recolours_icons", True)
        holder.changed.connect(_recolour_all)


def indicator(name: str) -> QPixmap:
    """Return a tick or arrow of the stylesheet (`tick-on`, `tick-part`, …), for rows that paint their own."""
    key = f"hookviewer/indicator/{name}/{theme().name}/{_ratio()}"
    found = QPixmap()
    if not QPixmapCache.find(key, found):
        found = _rendered(indicators.pictures(theme().token)[name], indicators.TICK, _ratio())
        QPixmapCache.insert(key, found)
    return found


def mark(size: int = 256) -> QPixmap:
    """Return the program's mark: four tiles of a wall and a hook."""
    return _rendered(resource("icons/mark.svg").read_text(encoding="utf-8"), size, _ratio())


def window_icon() -> QIcon:
    """Return the mark in the sizes that desktops ask for."""
    made = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        made.addPixmap(mark(size))
    return made


def _recolour_all() -> None:
    for widget in QApplication.allWidgets():
        _recolour(widget)
        for action in widget.actions():
            _recolour(action)


def _recolour(target: QObject) -> None:
    remembered = target.property(_PROPERTY)
    if not remembered:
        return
    name, token = str(remembered).split("/")
    if isinstance(target, QLabel):
        target.setPixmap(pixmap(name, token))
    elif isinstance(target, QAbstractButton | QAction):
        target.setIcon(icon(name, token))


def _ratio() -> float:
    screen = QGuiApplication.primaryScreen()
    return screen.devicePixelRatio() if screen is not None else 1.0


def _recoloured(name: str, ink: QColor, size: int) -> str:
    text = resource(f"icons/{name}.svg").read_text(encoding="utf-8").replace("currentColor", ink.name())
    return text.replace('stroke-width="2"', 'stroke-width="1.9"') if size <= SMALL else text


def _rendered(svg: str, size: int, ratio: float) -> QPixmap:
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(svg.encode()).render(painter, QRectF(0, 0, picture.width(), picture.height()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture
