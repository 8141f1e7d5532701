#!/usr/bin/env python3
"""Set hookviewer up and start it in one command, with nothing but Python 3.11 or newer.

    python3 packaging/hv.py run  [arguments of hookviewer]     starts the program
    python3 packaging/hv.py test [arguments of pytest]         runs the tests
    python3 packaging/hv.py lint                               checks style, types and layers
    python3 packaging/hv.py run --python PATH [arguments]      starts the program where your model runs

Everything goes into the folder .venv (or $HOOKVIEWER_VENV); a later start finds it ready. On Linux, PyTorch
comes with CUDA, about 3 GB to download; PIP_EXTRA_INDEX_URL set to the CPU index that PyTorch's own
installation page names makes that 0.2 GB. With --python, the Python at PATH runs the program, with its own
PyTorch and your code: what hookviewer needs besides is installed there, and nothing that is there is changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("HOOKVIEWER_VENV") or ROOT / ".venv").expanduser()
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
LINUX = sys.platform.startswith("linux")
TESTED = LINUX and platform.machine() == "x86_64" and sys.version_info[:2] == (3, 11)
SMALL = not LINUX or os.environ.get("PIP_EXTRA_INDEX_URL", "").rstrip("/").endswith("cpu")
"""Whether PyTorch comes without CUDA."""
LIBRARIES = [
    "libgl1",
    "libegl1",
    "libglib2.0-0",
    "libfontconfig1",
    "libdbus-1-3",
    "libxkbcommon0",
    "libxkbcommon-x11-0",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-keysyms1",
    "libxcb-shape0",
    "libxcb-randr0",
    "libxcb-xfixes0",
    "libxcb-sync1",
    "fonts-dejavu-core",
]
WHEEL = re.compile(r"\s*(?:Downloading|Using cached) (?:\S*/)?([^-\s]+)-([^-\s]+)-\S* (\([\d.]+ MB\))")
PROBE = """\
import importlib.metadata, json, sys
there = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
print(json.dumps({"python": sys.version_info[:3], "prefix": sys.prefix, "there": there}))
"""
CHECKS = (
    ["-m", "ruff", "check", "."],
    ["-m", "ruff", "format", "--check", "."],
    ["-m", "mypy"],
    ["-c", "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"],
)


def say(text: str) -> None:
    print(f"hookviewer: {text}", flush=True)


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is the one that an older Python may start
        sys.exit(f"hookviewer needs Python 3.11 or newer, and this is {platform.python_version()}.")
    verb, arguments = (arguments[0], arguments[1:]) if arguments else ("run", [])
    if verb not in ("run", "test", "lint"):
        print(__doc__)
        return 0 if verb in ("-h", "--help", "help") else 2
    if verb == "run" and arguments[:1] == ["--python"]:
        return run_elsewhere(arguments[1:2], arguments[2:])
    install()
    if verb == "lint":
        return lint()
    system_libraries(window=verb == "run" and has_display())
    return test(arguments) if verb == "test" else run(arguments)


def run(arguments: list[str]) -> int:
    try:
        return subprocess.call([PYTHON, "-m", "hookviewer", *arguments])
    except KeyboardInterrupt:
        return 130


def run_elsewhere(path: list[str], arguments: list[str]) -> int:
    """Start the program with another Python, after installing there what it lacks."""
    if not path:
        sys.exit("--python needs the path of a Python: python3 packaging/hv.py run --python ~/env/bin/python")
    python = os.fspath(Path(path[0]).expanduser())
    facts = environment_of(python)
    missing = missing_in(facts["there"])
    if missing:
        say(f"installing {', '.join(map(name_of, missing))} into {facts['prefix']}: all else stays as it is")
        if install_beside(python, missing, facts["there"]) != 0:
            sys.exit(
                f"pip could not install them beside what is in {facts['prefix']}, as its last lines say: "
                f"nothing of yours was changed. A copy of that environment can be tried: {python} -m venv "
                "--system-site-packages NEW"
            )
    if LINUX and not qt_works(has_display(), python):
        apt_install(LIBRARIES, "Qt needs libraries of the system that are missing")
    paths = [os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    try:
        return subprocess.call([python, "-m", "hookviewer", *arguments], env=environment)
    except KeyboardInterrupt:
        return 130


def environment_of(python: str) -> dict:
    """Return what is installed where another Python runs; end with a sentence where hookviewer cannot run."""
    try:
        done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=True)
        facts = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        sys.exit(f"{python} is no Python that can be started ({error}): give the path of its python.")
    if facts["python"] < [3, 11]:
        version = ".".join(map(str, facts["python"]))
        sys.exit(f"{python} is Python {version}, and hookviewer needs 3.11: make that environment anew.")
    if "torch" not in map(plain, facts["there"]):
        sys.exit(f"There is no PyTorch in {facts['prefix']}: give the Python that your model runs with.")
    return facts


def missing_in(there: dict) -> list[str]:
    """Return the requirements of hookviewer of which nothing is installed."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = set(map(plain, there))
    return [line for line in project["dependencies"] if plain(name_of(line)) not in names]


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def plain(name: str) -> str:
    """Return a package's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def install_beside(python: str, missing: list[str], there: dict) -> int:
    """Install packages where everything that is there keeps its version."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "constraints.txt"
        kept.write_text("".join(f"{name}=={version}\n" for name, version in there.items()), encoding="utf-8")
        return subprocess.call(
            [python, "-m", "pip", "install", "--disable-pip-version-check", "-c", str(kept), *missing]
        )


def test(arguments: list[str]) -> int:
    """Run pytest; the whole suite in several processes, each of which takes one core."""
    environment = {"QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1", **os.environ}
    chosen = arguments or ["-n", str(min(os.cpu_count() or 1, 4)), "--dist", "loadfile"]
    return subprocess.call([PYTHON, "-X", "faulthandler", "-m", "pytest", *chosen], cwd=ROOT, env=environment)


def lint() -> int:
    codes = [subprocess.call([PYTHON, *check], cwd=ROOT) for check in CHECKS]
    return max(codes)


def install() -> None:
    """Fill the virtual environment, unless its stamp says that it holds this checkout and these versions."""
    stamp, wanted = VENV / ".hookviewer", fingerprint()
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    check_space()
    if PYTHON.exists():
        say(f"bringing {VENV} up to date")
    else:
        make_venv()
        download, disk = ("0.5 GB", "1.5 GB") if SMALL else ("3 GB", "6 GB")
        say(f"installing PyTorch, Qt and the rest: about {download} to download, {disk} on disk")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if pip(pip_arguments(Path(folder) / "constraints.txt")) != 0:
            sys.exit(
                "pip could not install hookviewer, as its last lines above say: the same command tries again."
            )
    say(f"installed in {time.monotonic() - started:.0f} s")
    stamp.write_text(wanted)


def fingerprint() -> str:
    parts = [
        (ROOT / "pyproject.toml").read_bytes(),
        CONSTRAINTS.read_bytes(),
        os.fsencode(ROOT),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def check_space() -> None:
    place = next(folder for folder in (VENV, *VENV.absolute().parents) if folder.exists())
    free, needed = shutil.disk_usage(place).free / 1e9, 2 if SMALL else 7
    if not PYTHON.exists() and free < needed:
        sys.exit(
            f"{place} has {free:.1f} GB free, about {needed} GB are needed: make room, set HOOKVIEWER_VENV "
            "to a folder on another disk, or leave CUDA out: see the top of packaging/hv.py."
        )


def make_venv() -> None:
    if VENV.exists() and any(VENV.iterdir()) and not (VENV / "pyvenv.cfg").exists():
        sys.exit(f"{VENV} is there and is no virtual environment: set HOOKVIEWER_VENV to another folder.")
    say(f"making {VENV} with Python {platform.python_version()}")
    try:
        venv.create(VENV, with_pip=True, clear=VENV.exists())
    except subprocess.CalledProcessError:
        shutil.rmtree(VENV, ignore_errors=True)
        if not apt_install([f"python3.{sys.version_info.minor}-venv"], "Python's venv module is incomplete"):
            raise SystemExit(1) from None
        venv.create(VENV, with_pip=True)


def pip_arguments(constraints: Path) -> list[str]:
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    kept = lines if TESTED else [line for line in lines if line.startswith("torch")]
    constraints.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return ["install", "--disable-pip-version-check", "-c", str(constraints), "-e", f"{ROOT}[test]"]


def pip(arguments: list[str]) -> int:
    """Run pip; on a terminal with its own progress bars, else with one line for each large download."""
    command = [str(PYTHON), "-m", "pip", *arguments]
    if sys.stdout.isatty():
        return subprocess.call(command)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    tail: list[str] = []
    for line in process.stdout or ():
        tail = [*tail[-30:], line.rstrip()]
        found = WHEEL.match(line)
        if found:
            print("   ", *found.groups(), flush=True)
        elif line.startswith("Installing collected"):
            say(f"unpacking {line.count(',') + 1} packages")
    if process.wait() != 0:
        print("\n".join(tail), flush=True)
    return process.returncode


def has_display() -> bool:
    offscreen = os.environ.get("QT_QPA_PLATFORM") in ("offscreen", "minimal")
    return LINUX and not offscreen and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def system_libraries(window: bool) -> None:
    """See that Qt finds the system's libraries, and install or name the missing ones."""
    kind = "window" if window else "offscreen"
    stamp = VENV / f".hookviewer-{kind}"
    if not LINUX or stamp.exists() or qt_works(window):
        stamp.touch()
        return
    if not apt_install(LIBRARIES, "Qt needs libraries of the system that are missing"):
        sys.exit(1)
    if not qt_works(window):
        sys.exit("Qt still does not start. This shows why: QT_DEBUG_PLUGINS=1 python3 packaging/hv.py run")
    stamp.touch()


def qt_works(window: bool, python: str | Path = PYTHON) -> bool:
    code = "from PySide6.QtWidgets import QApplication; QApplication([])"
    environment = {**os.environ, **({} if window else {"QT_QPA_PLATFORM": "offscreen"})}
    return (
        subprocess.run([python, "-c", code], env=environment, capture_output=True, check=False).returncode
        == 0
    )


def apt_install(packages: list[str], why: str) -> bool:
    """Install system packages where that needs no password; else print the command and return False."""
    if shutil.which("apt-get") is None:
        say(f"{why}. On Debian and Ubuntu they are called: {' '.join(packages)}")
        return False
    if os.geteuid() != 0:
        say(f"{why}. Please run:\n  sudo apt-get install {' '.join(packages)}")
        return False
    say(f"{why}: installing {len(packages)} packages with apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        if subprocess.call(["apt-get", *step], env=environment, stdout=subprocess.DEVNULL) != 0:
            say(f"apt-get {step[0]} failed: its message is above.")
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
