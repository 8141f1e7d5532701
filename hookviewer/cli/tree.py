"""`hookviewer tree`: the module tree as text or JSON, with shapes and calls where an input is given."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Container, Mapping
from typing import Any

import torch

from hookviewer.cli.given import given_inputs
from hookviewer.errors import HookViewerError, ModelError
from hookviewer.hooks import capture
from hookviewer.modules import ModuleNode, module_tree
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.sources import open_model

HEADINGS: tuple[str, ...] = ("module", "type", "input → output", "parameters", "calls")


def print_tree(chosen: argparse.Namespace) -> int:
    """Print the tree; a model that raises is shown up to the module that failed, and the status is 1."""
    torch.manual_seed(0)
    model = open_model(chosen.model, weights=chosen.weights, trust=chosen.trust)
    inputs = given_inputs(chosen, model)
    failures: list[ModelError] = []
    recordings: dict[str, Recording] = {}
    for given in inputs:
        name = _unused(given.name, recordings)
        try:
            recordings[name] = capture(model, given, HookPlan())
        except ModelError as error:
            recordings[name] = error.recording
            failures.append(error)
    tree = module_tree(model)
    print(as_json(chosen.model, tree, recordings) if chosen.json else as_text(tree, recordings))
    if failures:
        raise HookViewerError(str(failures[0]))
    return 0


def _unused(name: str, taken: Container[str]) -> str:
    """Return a name for an input: with a number behind it where another one is called so."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbered) if one not in taken)


def as_json(spec: str, tree: ModuleNode, recordings: Mapping[str, Recording]) -> str:
    """Return the tree as JSON: one entry per name of a module, with its calls by input."""
    modules = [_entry(node, recordings) for node in tree.walk()]
    return json.dumps({"model": spec, "parameters": tree.parameters, "modules": modules}, indent=1)


def _entry(node: ModuleNode, recordings: Mapping[str, Recording]) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": node.path, "type": node.type, "parameters": node.parameters}
    entry["alias_of"], entry["aliases"] = node.alias_of, list(node.aliases)
    entry["runs"] = {
        name: {
            "calls": [
                {"inputs": call.input_shapes, "outputs": call.output_shapes, "status": call.status}
                for call in recording.calls(node.path)
            ],
            "never_called": recording.never_called.get(node.alias_of or node.path),
        }
        for name, recording in recordings.items()
    }
    return entry


def as_text(tree: ModuleNode, recordings: Mapping[str, Recording]) -> str:
    """Return the tree as a table, one for each input."""
    if not recordings:
        return _table(tree, None)
    return "\n\n".join(f"{name}\n{_table(tree, recording)}" for name, recording in recordings.items())


def _table(tree: ModuleNode, recording: Recording | None) -> str:
    rows: list[tuple[str, ...]] = [HEADINGS, *(_row(node, recording) for node in tree.walk())]
    if recording is None:
        rows = [(*row[:2], *row[3:4], row[4] if row is not HEADINGS else "") for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = len(widths) - 2
    return "\n".join(
        "  ".join(
            f"{cell:>{width}}" if column == numbers else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(node: ModuleNode, recording: Recording | None) -> tuple[str, ...]:
    name = node.path or "(the model)"
    count = f"{node.parameters:,}" if node.parameters else ""
    if node.alias_of is not None:
        return name, node.type, "", "", f"the same module as {node.alias_of}"
    if recording is None:
        return name, node.type, "", count, ""
    calls = recording.calls(node.path)
    if not calls:
        return name, node.type, "", count, recording.never_called.get(node.path, "never called")
    failed = "" if calls[-1].status == "ok" else ", failed"
    return name, node.type, _shapes(calls[0]), count, f"{len(calls)}{failed}"


def _shapes(call: Any) -> str:
    sides = (call.input_shapes, call.output_shapes)
    return " → ".join(", ".join("×".join(map(str, shape)) or "number" for shape in side) for side in sides)
