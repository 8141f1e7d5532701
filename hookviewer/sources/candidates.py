"""What a Python file could be opened as, read from its text without running it."""

from __future__ import annotations

import ast
from pathlib import Path

from hookviewer.sources.wording import shown

MODULES = frozenset(("Module", "Sequential", "LightningModule", "ModuleList", "PreTrainedModel"))
"""Last names of classes that are modules wherever they come from."""

_BUILDERS = ("build", "create", "make", "get", "load", "model", "net")


def builds(name: str) -> bool:
    """Whether a function of this name is likely to build a model."""
    words = name.lower().split("_")
    return words[0] in _BUILDERS or words[-1] in ("model", "net", "network")


def candidates(source: str) -> tuple[str, ...]:
    """Return the classes that look like modules, then the functions that build one, by name."""
    tree = ast.parse(source)
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_looks_like_module(base, found) for base in node.bases):
            found.append(node.name)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and builds(node.name)]
    return (*found, *functions)


def _looks_like_module(base: ast.expr, known: list[str]) -> bool:
    name = ast.unparse(base)
    inside_nn = name.rpartition(".")[0] in ("nn", "torch.nn")
    return name in known or inside_nn or name.rpartition(".")[2] in MODULES


def sentence(path: Path) -> str:
    """Return the sentence that says what to write to open one of the models in a file."""
    names, place = candidates(path.read_text(encoding="utf-8", errors="replace")), shown(path, 300)
    if not names:
        return f"{place} defines no nn.Module and no function that builds one: write {place}:NAME."
    choices = " or ".join(f"{place}:{name}" for name in names[:8])
    if len(names) == 1:
        return f"{place} has one model, which needs arguments: write {choices}?NAME=VALUE."
    return f"{place} has more than one model: write {choices}."
