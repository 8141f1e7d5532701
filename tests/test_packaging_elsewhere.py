"""Starting hookviewer in the environment of the person's own model."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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


def python_that(tmp_path: Path, there: dict[str, str], version: tuple[int, ...] = (3, 11, 7)) -> Path:
    """Return a stand-in for a Python: it answers the question and writes down what else it is asked."""
    answer = json.dumps({"python": version, "prefix": str(tmp_path), "there": there})
    (tmp_path / "answer").write_text(answer)
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"folder = {str(tmp_path)!r}\n"
        "if sys.argv[1] == '-c' and 'metadata' in sys.argv[2]:\n    print(open(folder + '/answer').read())\n"
        "elif sys.argv[1] == '-m':\n"
        "    lines = [*sys.argv[1:], os.environ.get('PYTHONPATH', '')]\n"
        "    if '-c' in sys.argv: lines.append(open(sys.argv[sys.argv.index('-c') + 1]).read())\n"
        "    open(folder + '/asked', 'a').write(repr(lines) + '\\n')\n"
    )
    program.chmod(0o755)
    return program


def started(python: Path | str, *arguments: str, venv: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "run", "--python", python, *arguments],
        env={**os.environ, "HOOKVIEWER_VENV": str(venv)},
        capture_output=True,
        text=True,
        check=False,
    )


EVERYTHING = dict.fromkeys(
    (
        "torch",
        "torchvision",
        "numpy",
        "pillow",
        "safetensors",
        "platformdirs",
        "pyqtgraph",
        "pyside6_essentials",
    ),
    "1.0",
)


def test_an_environment_that_has_everything_is_only_used(tmp_path: Path) -> None:
    done = started(python_that(tmp_path, EVERYTHING), "net.py", "--trust", venv=tmp_path / "venv")
    assert done.returncode == 0, done.stderr
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.startswith("['-m', 'hookviewer', 'net.py', '--trust', ")
    assert str(ROOT) in asked
    assert not (tmp_path / "venv").exists()


def test_what_is_missing_is_installed_and_what_is_there_keeps_its_version(tmp_path: Path) -> None:
    there = {name: version for name, version in EVERYTHING.items() if name not in ("pyqtgraph", "pillow")}
    done = started(python_that(tmp_path, {**there, "torch": "2.6.0+cu124"}), venv=tmp_path / "venv")
    assert "installing pillow, pyqtgraph" in done.stdout
    install, run = (tmp_path / "asked").read_text().splitlines()
    assert "'pip', 'install'" in install
    assert "'pyqtgraph>=0.14'" in install
    assert "torch==2.6.0+cu124" in install
    assert "'torch>=" not in install
    assert "'hookviewer'" in run


@pytest.mark.parametrize(
    ("there", "version", "words"),
    [
        ({"numpy": "2"}, (3, 11, 7), "There is no PyTorch"),
        (EVERYTHING, (3, 9, 1), "Python 3.9.1, and hookviewer needs 3.11"),
    ],
)
def test_an_environment_that_cannot_do_is_told(
    tmp_path: Path, there: dict[str, str], version: tuple[int, ...], words: str
) -> None:
    done = started(python_that(tmp_path, there, version), venv=tmp_path / "venv")
    assert done.returncode == 1
    assert words in done.stderr
    assert not (tmp_path / "asked").exists()


def test_what_is_no_python_is_told(tmp_path: Path) -> None:
    assert "no Python that can be started" in started(tmp_path / "none", venv=tmp_path / "venv").stderr


def test_the_real_environment_of_this_test_lacks_nothing(script: ModuleType) -> None:
    facts = script.environment_of(sys.executable)
    assert facts["prefix"] == sys.prefix
    assert script.missing_in(facts["there"]) == []
