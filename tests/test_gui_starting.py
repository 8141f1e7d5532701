"""The first picture: there before torch is loaded, alive while it is, and gone when the window comes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from hookviewer.gui import starting
from hookviewer.gui.theme import theme

ASKS = """
import sys
from hookviewer.gui import starting
picture = starting.started()
print(picture.isVisible(), picture.painted, "torch" in sys.modules)
"""


def test_it_is_on_the_screen_before_torch_is_loaded() -> None:
    ran = subprocess.run([sys.executable, "-c", ASKS], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == ["True", "True", "False"], ran.stderr


def test_it_shows_the_mark_beside_its_words(qtbot: QtBot) -> None:
    picture = starting.started()
    qtbot.addWidget(picture)
    image = picture.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    assert (image.width(), image.height()) == (picture.width(), picture.height())
    colours = {image.pixel(x, y) for x in range(20, 70, 2) for y in range(20, 72, 2)}
    assert len(colours) > 20  # the mark has many
    beside = [image.pixelColor(x, y).lightness() for x in range(80, 200) for y in range(20, 72)]
    assert abs(max(beside, key=lambda one: abs(one - theme()["panel"].lightness())) - beside[0]) > 100


def test_what_an_import_raises_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    (tmp_path / "broken_part.py").write_text("raise ImportError('a part is missing')")
    (tmp_path / "whole_part.py").write_text("value = 3")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match="a part is missing"):
        starting.load("broken_part")
    starting.load("whole_part")
    assert sys.modules.pop("whole_part").value == 3
