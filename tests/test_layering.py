"""What importing costs: the core loads no Qt, and naming hookviewer loads nothing heavy."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import hookviewer


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that a fresh process has loaded after `code`."""
    code += "\nimport json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_hookviewer_loads_neither_torch_nor_qt() -> None:
    loaded = modules_after("import hookviewer")
    assert "hookviewer" in loaded
    assert loaded.isdisjoint({"torch", "numpy", "PySide6", "shiboken6", "pyqtgraph"})


def test_the_whole_core_and_a_run_load_no_qt() -> None:
    names = [name for name in hookviewer.__all__ if name not in ("view", "__version__")]
    code = f"""
import hookviewer as hv
for name in {names!r}:
    assert getattr(hv, name) is not None, name
model = hv.open_model("demo:fc_relu_fc")
given = hv.open_input("demo:ones", model)
plan = hv.HookPlan.of(model, "*", kinds=["output", "grad_output"])
run = hv.capture(model, given.args, plan, target=hv.total())
assert run.output.tolist() == [[882.0]]
"""
    loaded = modules_after(code)
    assert "torch" in loaded
    assert loaded.isdisjoint({"PySide6", "shiboken6", "pyqtgraph", "captum", "matplotlib"})


def test_the_command_line_prints_its_help_without_torch_or_qt() -> None:
    code = """
from hookviewer.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert end.code == 0
"""
    assert modules_after(code).isdisjoint({"torch", "numpy", "PySide6", "pyqtgraph"})


def test_no_module_has_the_name_of_a_public_function() -> None:
    modules = {entry.name for entry in pkgutil.iter_modules(hookviewer.__path__)}
    assert "differences" in modules
    assert modules.isdisjoint(hookviewer.__all__)
