"""What sets hookviewer up: versions that fit together, a script that says what is wrong."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

import hookviewer
from hookviewer.resources import ROOTS, resource

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "packaging" / "hv.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hookviewer_set_up", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def project() -> dict[str, object]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def pins() -> dict[str, Version]:
    text = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
    lines = [line.split("==") for line in text.splitlines() if line and not line.startswith("#")]
    return {name.lower(): Version(version) for name, version in lines}


def test_every_pinned_version_lies_in_the_range_that_the_project_allows() -> None:
    table = project()
    wanted = [*table["dependencies"], *table["optional-dependencies"]["test"]]  # type: ignore[call-overload, misc, index]
    requirements = [Requirement(text) for text in wanted]
    here = [
        one for one in requirements if one.marker is None or one.marker.evaluate({"python_version": "3.11"})
    ]
    assert len(here) > 10
    for requirement in here:
        assert requirement.specifier.contains(pins()[requirement.name.lower()]), requirement


def test_unsound_releases_of_qt_are_ruled_out() -> None:
    dependencies = [Requirement(text) for text in project()["dependencies"]]  # type: ignore[attr-defined]
    qt = {
        python: next(
            one.specifier
            for one in dependencies
            if one.name == "PySide6-Essentials"
            and one.marker
            and one.marker.evaluate({"python_version": python})
        )
        for python in ("3.11", "3.12")
    }
    assert not any(qt[python].contains(bad) for python in qt for bad in ("6.7.3", "6.9.1", "6.9.2", "6.11.1"))
    assert not qt["3.11"].contains("6.12.0")  # loses a reference to None in every call on this Python
    assert qt["3.12"].contains("6.12.0")


def test_qt_calls_do_not_lose_references_to_none(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(2_000):
        label.setText("")
    assert sys.getrefcount(None) > before - 1_000


def test_the_readme_leads_with_the_commands_that_the_check_runs() -> None:
    readme, check = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", ".ci/run"))
    for command in ("python3 packaging/hv.py run", "python3 packaging/hv.py test"):
        assert command in readme
        assert command.removesuffix("run") in check
    assert readme.index("pip install .") < readme.index("python3 packaging/hv.py run")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_changelog_and_the_version_are_in_order() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", hookviewer.__version__)
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_resources_go_into_the_wheel_where_they_are_looked_for() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    included = table["targets"]["wheel"]["force-include"]
    assert (ROOT / next(iter(included))).is_dir()
    assert ROOTS[0].parent.parent / included["resources"] == ROOTS[0]


def test_a_missing_resource_says_what_to_do() -> None:
    assert resource("demo/digits.safetensors").is_file()
    with pytest.raises(hookviewer.HookViewerError, match="install it again"):
        resource("demo/nothing.bin")


# ------------------------------------------------------------------ packaging/hv.py


def test_an_older_python_can_read_the_script_far_enough_to_be_told() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_an_older_python_is_told_which_one_is_needed(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer"):
        script.main(["run"])


def test_an_unknown_verb_prints_the_usage_and_makes_nothing(tmp_path: Path) -> None:
    place = {**os.environ, "HOOKVIEWER_VENV": str(tmp_path / "venv")}
    done = subprocess.run(
        [sys.executable, SCRIPT, "dance"], env=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "packaging/hv.py test" in done.stdout
    assert not (tmp_path / "venv").exists()


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("keep me")
    place = {**os.environ, "HOOKVIEWER_VENV": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, SCRIPT, "run"], env=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "is no virtual environment" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_other_systems_get_the_tested_torch_and_their_own_choice_of_the_rest(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = {}
    for tested in (True, False):
        monkeypatch.setattr(script, "TESTED", tested)
        arguments = script.pip_arguments(tmp_path / "constraints.txt")
        kept[tested] = (tmp_path / "constraints.txt").read_text()
        assert arguments[-2:] == ["-e", f"{ROOT}[test]"]
    assert "numpy==" in kept[True]
    assert kept[False].split() == [f"torch=={pins()['torch']}", f"torchvision=={pins()['torchvision']}"]


def test_another_checkout_is_installed_anew(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = script.fingerprint()
    assert script.fingerprint() == first
    for name in ("pyproject.toml", "packaging/constraints.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert script.fingerprint() != first


def test_missing_libraries_are_named_where_they_cannot_be_installed(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not script.apt_install(["libgl1", "libegl1"], "Qt needs libraries")
    assert "sudo apt-get install libgl1 libegl1" in capsys.readouterr().out
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not script.apt_install(["libgl1"], "Qt needs libraries")
    assert "apt-get update failed" in capsys.readouterr().out
