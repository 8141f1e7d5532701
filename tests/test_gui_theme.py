"""The themes: every token in both, text that can be read, and widgets that follow a change."""

from __future__ import annotations

import itertools
import re

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from hookviewer.gui import indicators, numbers, stylesheet
from hookviewer.gui.theme import Theme, font, keeper, set_theme, theme, tokens

GROUNDS = ("panel", "window", "canvas", "sunken", "control")
THEMES = ("dark", "light")


def _luminance(colour: QColor) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_on_white_is_21() -> None:
    assert _contrast(QColor("#000000"), QColor("#FFFFFF")) == pytest.approx(21)


def test_both_themes_have_the_same_tokens() -> None:
    assert set(tokens()["dark"]) == set(tokens()["light"])


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(
    ("text", "ground"), [*itertools.product(("text", "text_2"), (*GROUNDS, "raised", "select"))]
)
def test_text_can_be_read(name: str, text: str, ground: str) -> None:
    assert _contrast(Theme(name)[text], Theme(name)[ground]) >= 4.5


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("ground", ["panel", "window", "canvas", "sunken"])
def test_captions_can_be_read(name: str, ground: str) -> None:
    assert _contrast(Theme(name)["text_3"], Theme(name)[ground]) >= 4.5


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("token", ["accent", "ok", "warn", "error"])
def test_tones_and_families_can_be_read_on_a_panel(name: str, token: str) -> None:
    made = Theme(name)
    for colour in (made[token], *made.family.values(), *made.inputs):
        assert _contrast(colour, made["panel"]) >= 4.5


@pytest.mark.parametrize("name", THEMES)
def test_tick_outlines_stand_out(name: str) -> None:
    assert _contrast(Theme(name)["text_3"], Theme(name)["panel"]) >= 3


def test_a_token_with_alpha_keeps_it() -> None:
    assert Theme("dark")["scrim"].alpha() == 0xCC


def test_input_colours_go_round() -> None:
    made = Theme("dark")
    assert made.input(1).name().upper() == tokens()["inputs"]["dark"][0]
    assert made.input(7) == made.input(1)


@pytest.mark.parametrize("name", THEMES)
def test_no_placeholder_is_left_in_the_stylesheet(name: str, tmp_path) -> None:
    text = stylesheet.of(tokens()[name], tmp_path, 1.0)
    assert "$" not in text.split("*/", 1)[1]
    assert set(re.findall(r"#[0-9A-Fa-f]{6,8}\b", text)) <= {*tokens()[name].values(), "#FFFFFF"}


@pytest.mark.parametrize("name", THEMES)
def test_every_picture_the_stylesheet_names_exists(name: str, qapp: QApplication) -> None:
    folder = indicators.folder(tokens()[name])
    named = re.findall(r'url\("([^"]+)"\)', stylesheet.of(tokens()[name], folder, 1.0))
    assert named
    for path in named:
        assert (folder / path.rsplit("/", 1)[1]).is_file()


def test_setting_a_theme_changes_palette_font_and_tells(qtbot: QtBot, qapp: QApplication) -> None:
    set_theme("dark")
    with qtbot.waitSignal(keeper().changed):
        set_theme("light")
    assert theme().name == "light"
    assert qapp.palette().color(QPalette.ColorRole.Base) == theme()["panel"]
    assert qapp.font().pixelSize() == font().pixelSize()
    set_theme("dark")
    assert qapp.palette().color(QPalette.ColorRole.Base).name().upper() == tokens()["dark"]["panel"]


def test_numbers_are_written_with_four_digits_and_a_true_minus() -> None:
    written = [
        numbers.number(value) for value in (1.734, -0.021, 0.0, 3.1e-5, float("nan"), float("-inf"), 432.19)
    ]
    assert written == ["1.734", "−0.021", "0", "3.1e−5", "NaN", "−inf", "432.2"]


def test_sizes_are_written_with_their_unit() -> None:
    assert numbers.size(243 * 1024**2) == "243 MB"
    assert numbers.size(2 << 30) == "2 GB"
    assert numbers.size(12) == "12 bytes"
    assert numbers.shape((96, 160, 240)) == "96×160×240"
    assert numbers.shape(()) == "scalar"
    assert [numbers.count(amount) for amount in (864, 34_112, 3_504_872)] == ["864", "34.1 k", "3.5 M"]
    assert [numbers.seconds(value) for value in (0.085, 1.1, 125)] == ["85 ms", "1.1 s", "2 min 5 s"]
