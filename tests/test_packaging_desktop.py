"""The files for desktops and for PyInstaller say the same as the project does."""

from __future__ import annotations

import ast
import configparser
import inspect
import re
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtSvg import QSvgRenderer

import hookviewer
from hookviewer.gui import application

ROOT = Path(__file__).parent.parent
PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SHARED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]


def entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(PACKAGING / "hookviewer.desktop", encoding="utf-8")
    return parser["Desktop Entry"]


def metainfo() -> ElementTree.Element:
    return ElementTree.parse(PACKAGING / "hookviewer.metainfo.xml").getroot()


def test_the_desktop_entry_starts_the_programs_own_command() -> None:
    command, _, argument = entry()["Exec"].partition(" ")
    assert command == entry()["TryExec"]
    assert command in PROJECT["project"]["gui-scripts"]
    assert argument == "%f"
    assert entry()["Name"] == PROJECT["project"]["name"]


def test_windows_belong_to_the_desktop_entry() -> None:
    made = dict(re.findall(r"made\.set(\w+)\(\"(\w+)\"\)", inspect.getsource(application)))
    assert entry()["StartupWMClass"] == made["ApplicationName"]
    assert metainfo().findtext("launchable") == f"{made['DesktopFileName']}.desktop"


def test_the_wheel_brings_entry_description_and_icon_to_where_desktops_look() -> None:
    places = {place: ROOT / file for file, place in SHARED.items()}
    assert all(file.is_file() for file in places.values())
    icon = places[f"share/icons/hicolor/scalable/apps/{entry()['Icon']}.svg"]
    assert QSvgRenderer(str(icon)).defaultSize() == QSize(256, 256)
    assert places["share/applications/hookviewer.desktop"].name == metainfo().findtext("launchable")
    assert "share/metainfo/hookviewer.metainfo.xml" in places


def test_the_description_names_version_licence_and_commands_of_the_project() -> None:
    found = metainfo()
    release = found.find("releases/release")
    assert release is not None
    assert release.get("version") == hookviewer.__version__
    assert found.findtext("project_license") == PROJECT["project"]["license"]
    assert found.findtext("name") == PROJECT["project"]["name"]
    assert found.findtext("icon") == entry()["Icon"]
    commands = {one.text for one in found.findall("provides/binary")}
    assert commands == {*PROJECT["project"]["scripts"], *PROJECT["project"]["gui-scripts"]}


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-utils is not there")
def test_the_desktop_entry_is_valid() -> None:
    command = ["desktop-file-validate", str(PACKAGING / "hookviewer.desktop")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_frozen_program_is_given_files_that_are_there() -> None:
    text = (PACKAGING / "hookviewer.spec").read_text(encoding="utf-8")
    ast.parse(text)
    named = re.findall(r'str\(root((?: / "[\w.]+")+)\)', text)
    assert len(named) == 3
    for parts in named:
        assert ROOT.joinpath(*re.findall(r'"([\w.]+)"', parts)).exists(), parts
    assert set(re.findall(r'name="(\w+)"', text)) == set(PROJECT["project"]["scripts"])
