"""Twenty seconds of the random walk; the walk of five minutes is `python tests/walk.py --seconds 300`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WALK = Path(__file__).with_name("walk.py")
SECONDS = 20
SLACK_MB = 80.0


@pytest.mark.timeout(240)
def test_a_random_walk_leaves_nothing_behind() -> None:
    command = [sys.executable, str(WALK), "--seconds", str(SECONDS), "--windows", "5", "--seed", "7"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment, check=False)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["errors"] == []
    assert found["left"] == []
    assert done.returncode == 0
    assert sum(found["done"].values()) > 15
    assert len(set(found["handles"])) == 1
    if len(found["memory"]) > 3:
        assert found["memory"][-1] - found["memory"][2] < SLACK_MB
