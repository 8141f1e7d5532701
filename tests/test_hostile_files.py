"""Files from the internet: nothing in them runs, nothing is written, memory stays, each has its sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hostile
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    hostile.make(place)
    return place


def listing(folder: Path) -> dict[str, int]:
    return {str(one): one.lstat().st_size for one in sorted(folder.rglob("*")) if not one.is_dir()}


def surroundings(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    places = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "TMPDIR": str(home)}
    return {**os.environ, **places, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def result(folder: Path) -> dict[str, Any]:
    environment, before = surroundings(folder), listing(folder)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", hostile.__file__, folder],
        env=environment,
        cwd=folder / "home",
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    found["written"] = [one for one, size in listing(folder).items() if before.get(one) != size]
    return found


def test_there_are_more_than_sixty_files_of_different_names() -> None:
    assert len({entry.name for entry in hostile.FILES}) == len(hostile.FILES) > 60


def test_nothing_runs_and_nothing_is_written(result: dict[str, Any]) -> None:
    assert result["written"] == []


def test_memory_stays_within_500_megabytes_of_the_start(result: dict[str, Any]) -> None:
    assert result["kilobytes"] < 500_000


@pytest.mark.parametrize("entry", hostile.FILES, ids=lambda entry: repr(entry.name[:40]))
def test_each_file_gets_its_own_sentence(
    entry: hostile.Hostile, folder: Path, result: dict[str, Any]
) -> None:
    said = result["said"][str(folder / "files" / entry.name)]
    assert entry.word in said[entry.door]


def test_no_door_lets_a_bug_through(result: dict[str, Any]) -> None:
    wrong = [(spec, said) for spec, said in result["said"].items() if "BUG" in str(said)]
    assert wrong == []


def test_every_sentence_is_one_line_of_printable_text(result: dict[str, Any]) -> None:
    sentences = [text for said in result["said"].values() for text in said.values()]
    assert all(text.isprintable() and len(text) < 1500 for text in sentences)


@pytest.mark.parametrize("spec", hostile.SPECS, ids=lambda spec: repr(spec[:20]))
def test_names_of_files_that_cannot_be_are_told(spec: str, result: dict[str, Any]) -> None:
    for door, text in result["said"][spec].items():
        assert text, door


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("system.pt", ["tree", "FILE"]),
        ("tampered.pt2", ["tree", "FILE"]),
        ("bomb.pt", ["tree", "demo:mlp", "--weights", "FILE"]),
        ("objects.npy", ["tree", "demo:mlp", "--input", "FILE"]),
    ],
)
def test_the_command_line_says_it_in_one_sentence(folder: Path, name: str, words: list[str]) -> None:
    file, environment = str(folder / "files" / name), surroundings(folder)
    before = listing(folder)
    command = [sys.executable, "-m", "hookviewer", *(file if word == "FILE" else word for word in words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("hookviewer: ")
    assert done.stderr.count("\n") == 1
    assert listing(folder) == before
