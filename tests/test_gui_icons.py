"""Icons: painted in the colours of the theme, and anew when it changes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage, QPixmap
from pytestqt.qtbot import QtBot

from hookviewer.gui import icons, parts
from hookviewer.gui.theme import set_theme, theme
from hookviewer.resources import resource

SHIPPED = sorted(path.stem for path in Path(resource("icons")).glob("*.svg") if path.stem != "mark")


def _strongest(picture: QPixmap) -> QColor:
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    row, column = np.unravel_index(np.argmax(pixels[..., 3]), pixels.shape[:2])
    assert pixels[row, column, 3] > 128
    return QColor(*(int(value) for value in pixels[row, column]))


def _near(one: QColor, other: QColor) -> bool:
    return max(abs(a - b) for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)) <= 3


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_icon_is_painted_in_the_colour_asked_for(name: str, qtbot: QtBot) -> None:
    assert _near(_strongest(icons.pixmap(name, QColor("#FF8000"), 32, 2.0)), QColor("#FF8000"))


def test_every_icon_that_the_window_names_is_shipped() -> None:
    source = Path(icons.__file__).parent
    named = set()
    for file in source.rglob("*.py"):
        text = file.read_text("utf-8")
        named.update(re.findall(r'(?:\bicon|tool|pixmap|icon_label)\("([a-z][a-z0-9-]+)"', text))
        named.update(re.findall(r'set_icon\([\w.\[\]"]+, "([a-z][a-z0-9-]+)"', text))
    assert len(named) > 15
    assert named <= set(SHIPPED)


def test_a_disabled_icon_is_paler(qtbot: QtBot) -> None:
    set_theme("dark")
    made = icons.icon("copy")
    assert _near(_strongest(made.pixmap(32, 32, made.Mode.Disabled)), theme()["text_off"])


def test_icons_follow_the_theme(qtbot: QtBot) -> None:
    set_theme("dark")
    button, picture = parts.tool("copy", "Copy"), parts.icon_label("info")
    qtbot.addWidget(button)
    qtbot.addWidget(picture)
    set_theme("light")
    light_button, light_picture = _strongest(button.icon().pixmap(32, 32)), _strongest(picture.pixmap())
    set_theme("dark")
    assert _near(light_button, QColor("#4C535F"))
    assert _near(light_picture, QColor("#616875"))
    assert _near(_strongest(button.icon().pixmap(32, 32)), theme()["text_2"])


def test_a_lone_icon_has_a_name_for_those_who_cannot_see_it(qtbot: QtBot) -> None:
    button = parts.tool("copy", "Copy the picture")
    qtbot.addWidget(button)
    assert button.accessibleName() == button.toolTip() == "Copy the picture"


def test_the_mark_has_four_tiles_and_a_hook(qtbot: QtBot) -> None:
    image = icons.mark(48).toImage()
    corners = {image.pixelColor(x, y).name() for x, y in ((8, 8), (40, 8), (8, 40), (40, 40))}
    assert len(corners) == 4
    assert image.pixelColor(30, 18).lightness() > 240
