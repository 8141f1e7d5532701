"""How long until there is something on the screen, beside a program that imports torch and torchvision first.

    xvfb-run python benchmarks/start.py [--rounds 7] [--json FILE]

Every start is a process of its own, in turns; the time is from before the process is made until its first
picture has been painted. A line of its own tells when the whole window is there. napari is a peer where it is
installed. Exit status 1 when a start failed, never when a goal is short.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from turns import row, show

OURS = """
import time
from hookviewer.gui import starting
picture = starting.started()
assert picture.painted
print(time.time())
starting.load("torch")
from hookviewer.gui import app
window = app._made()
window.show()
from PySide6.QtWidgets import QApplication
QApplication.processEvents()
print(time.time())
window.keeps_layout = False
window.close()
"""
PEER = """
import time
import torch, torchvision
from PySide6.QtWidgets import QApplication, QLabel
application = QApplication([])
label = QLabel("ready")
label.show()
application.processEvents()
print(time.time())
"""
NAPARI = """
import time
import napari
viewer = napari.Viewer()
from qtpy.QtWidgets import QApplication
QApplication.processEvents()
print(time.time())
viewer.close()
"""


def start(program: str, home: str) -> list[float]:
    """Return after how many seconds a program printed each of its lines."""
    begun = time.time()
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": home},
    )
    return [float(line) - begun for line in ran.stdout.split()]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    programs = {"ours": OURS, "torch and torchvision first": PEER}
    if importlib.util.find_spec("napari"):
        programs["napari"] = NAPARI
    else:
        print("napari: not run, it is not installed")
    times: dict[str, list[list[float]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as home:
        for turn in range(chosen.rounds + 1):
            for name, program in programs.items():
                taken = start(program, home)
                if turn:  # the first start of each reads files from the disk
                    times[name].append(taken)
    first = [taken[0] for taken in times["ours"]]
    goals = {"torch and torchvision first": 1 / 15, "napari": 1 / 8}
    lines = [
        row(f"first picture / {name}", first, [taken[0] for taken in times[name]], round(goals[name], 3))
        for name in programs
        if name in goals
    ]
    for line in lines:
        show(line)
    whole = statistics.median(taken[1] for taken in times["ours"])
    print(f"whole window after {whole:.2f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
