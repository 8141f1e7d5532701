"""What every test runs under: no screen, one thread, settings in a folder of its own."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # before Qt: on Windows torch cannot be loaded after it

torch.set_num_threads(1)

from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402
from PySide6.QtCore import QSettings  # noqa: E402

hypothesis.settings.register_profile(
    "hookviewer",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("hookviewer")


@pytest.fixture(autouse=True)
def settings_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep settings, logs and trust of a test away from those of the person who runs it."""
    folder = tmp_path_factory.mktemp("settings")
    for place in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(place, str(folder))
    for scope in (QSettings.Scope.UserScope, QSettings.Scope.SystemScope):
        QSettings.setPath(QSettings.Format.IniFormat, scope, str(folder))
        QSettings.setPath(QSettings.Format.NativeFormat, scope, str(folder))
    return folder


@pytest.fixture(autouse=True)
def random_state() -> None:
    """Start every test from the same random numbers."""
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def kept() -> Iterator[list[Any]]:
    """Hold one window for all tests of a file: making it takes longer than what is tried in it."""
    made: list[Any] = []
    yield made
    for window in made:
        window.close()
