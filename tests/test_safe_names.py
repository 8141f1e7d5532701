"""File names for modules that are called what no file may be called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookviewer.formats.safe_names import safe_name

HOSTILE = [
    "../../x",
    "..",
    ".",
    "",
    "/etc/passwd",
    "C:\\Windows\\x",
    "a\0b",
    "a\nb",
    "a\tb",
    "CON",
    "nul.txt",
    "x" * 300,
    "=1+1",
    "-rf",
    "<b>bold</b>",
    "~",
    "$HOME",
    "`id`",
    "a;b",
    "a|b",
    "a b ",
    "ümläut",
    "层.卷积",
    "\udcff",
    "trailing.",
    "*?",
    '"quoted"',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_makes_a_plain_file_in_its_folder(text, tmp_path):
    name = safe_name(7, text, ".png")
    assert re.fullmatch(r"0007_([A-Za-z0-9_-][A-Za-z0-9._-]{0,79}_)?[0-9a-f]{8}\.png", name)
    assert ".." not in name
    (tmp_path / name).write_text("")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_names_that_look_alike_stay_apart():
    names = {safe_name(1, text) for text in (*HOSTILE, "a/b", "a\\b", "a:b", "A_b", "a_b", "x" * 301)}
    assert len({name.lower() for name in names}) == len(HOSTILE) + 6


@given(st.text())
def test_any_text_makes_the_same_short_name_every_time(text):
    name = safe_name(12, text, ".npz")
    assert name == safe_name(12, text, ".npz")
    assert len(name) <= 4 + 1 + 80 + 1 + 8 + 4
    assert re.fullmatch(r"[A-Za-z0-9._-]+", name)


def test_an_ordinary_name_can_be_read():
    assert safe_name(3, "features.4.conv.1.0_output_chelsea").startswith(
        "0003_features.4.conv.1.0_output_chelsea_"
    )
