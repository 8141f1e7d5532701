"""`hookviewer capture`: what modules return, and their gradients, as pictures and arrays in files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hookviewer.arrays import shared_levels
from hookviewer.cli.given import given_inputs
from hookviewer.cli.targets import named_target
from hookviewer.errors import HookViewerError, ModelError
from hookviewer.formats import Caption, Entry, Figure, Manifest, export, recording_formats, save
from hookviewer.hooks import capture
from hookviewer.inputs import Input
from hookviewer.kinds import GRADIENTS, Key, Kind
from hookviewer.methods import attribute, find_method
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording
from hookviewer.sources import card, open_model
from hookviewer.targets import Target


def write_capture(chosen: argparse.Namespace) -> int:
    """Run the model on every input and write what was recorded; print the names of the files.

    When the model raises, what was recorded until then is written, and the error is told after that.
    """
    torch.manual_seed(0)  # a network without weights is the same one at every start
    model = open_model(chosen.model, weights=chosen.weights, trust=chosen.trust)
    kinds, note = _possible_kinds(chosen.kinds, named_target(chosen.target, card(model)), chosen.target)
    plan = HookPlan.of(model, *chosen.layers, kinds=kinds)
    for name in chosen.methods:
        find_method(name)  # a wrong name is told before anything runs
    inputs = given_inputs(chosen, model)
    if not inputs:
        raise HookViewerError(f"{chosen.model} brings no input of its own: give one with --input.")
    place = _checked_place(Path(chosen.out), len(inputs))
    recordings, failure = _run(chosen, model, plan, inputs)
    if failure is not None and not any(recordings):
        raise failure
    if place.suffix.lower() in recording_formats():
        written: Any = _save(recordings, place, force=chosen.force)
    else:
        written = _export(chosen, model, inputs, recordings)
    if note:
        print(note, file=sys.stderr)
    _tell(written, inputs, recordings, as_json=chosen.json)
    if failure is not None:
        raise failure
    return 0


def _possible_kinds(
    kinds: Collection[Kind], target: Target | None, said: str | None
) -> tuple[frozenset[Kind], str]:
    """Return the kinds without gradients where `said` is to have no target, and a note of those left out."""
    if said is None and frozenset(kinds) & GRADIENTS:
        raise HookViewerError("Gradients start from one number: add --target top, or another target.")
    left_out = sorted(frozenset(kinds) & GRADIENTS) if target is None else []
    rest = frozenset(kinds) - frozenset(left_out)
    if left_out and not rest:
        raise HookViewerError(
            f"With --target {said} there is no {', '.join(left_out)}: choose another target."
        )
    return rest, f"Without a target there is no {', '.join(left_out)}." if left_out else ""


def _checked_place(place: Path, inputs: int) -> Path:
    if place.suffix.lower() in recording_formats() and inputs > 1:
        raise HookViewerError(f"{place} holds the run of one input: name a folder for {inputs} inputs.")
    return place


def _run(
    chosen: argparse.Namespace, model: nn.Module, plan: HookPlan, inputs: Sequence[Input]
) -> tuple[list[Recording], ModelError | None]:
    """Return the recordings, the last one unfinished where the model raised, and that error."""
    target = named_target(chosen.target, card(model))
    recordings: list[Recording] = []
    for given in inputs:
        try:
            run = _of_one(chosen, model, plan, given, target)
        except ModelError as error:
            return [*recordings, error.recording], error
        recordings.append(run)
    return recordings, None


def _of_one(
    chosen: argparse.Namespace, model: nn.Module, plan: HookPlan, given: Input, target: Target | None
) -> Recording:
    options = {"target": target, "mode": chosen.mode, "seed": chosen.seed, "device": chosen.device}
    if chosen.methods:
        return attribute(model, given, chosen.methods, chosen.layers, **options)
    return capture(model, given.args, plan, kwargs=given.kwargs, **options)


def _save(recordings: Sequence[Recording], place: Path, *, force: bool) -> Mapping[str, Any]:
    return {"file": str(save(recordings[0], place, overwrite=force))}


def _export(
    chosen: argparse.Namespace, model: nn.Module, inputs: Sequence[Input], recordings: Sequence[Recording]
) -> Mapping[str, Any]:
    entries = _entries(card(model).name, inputs, recordings)
    if not entries:
        raise HookViewerError(f"Nothing was recorded, so nothing was written: {_first_reason(recordings)}")
    figure = None if chosen.plain else Figure()
    manifest: Manifest = export(
        entries, chosen.out, formats=chosen.format, figure=figure, overwrite=chosen.force
    )
    files = {str(manifest.folder / name): dict(identity) for name, identity in manifest.files.items()}
    return {"files": files, "left_out": dict(manifest.left_out), "manifest": str(manifest.path)}


def _first_reason(recordings: Sequence[Recording]) -> str:
    reasons = [reason for run in recordings for reason in run.absent.values()]
    return reasons[0] if reasons else "the plan is empty."


def _entries(model: str, inputs: Sequence[Input], recordings: Sequence[Recording]) -> list[Entry]:
    """Return one entry for each record; the same tensor has one scale over all inputs."""
    levels = {key: _levels(key, recordings) for run in recordings for key in run}
    scale = "one scale for all inputs" if len(recordings) > 1 else ""
    entries = []
    for given, run in zip(inputs, recordings, strict=False):
        for key, record in run.items():
            calls = max(len(run.calls(key.path)), 1)
            target = run.provenance.get("target", "")
            caption = Caption.of(
                record, model=model, calls=calls, input=given.name, target=target, scale=scale
            )
            colormap = "ember" if _signed(record) else "magma"
            entries.append(Entry(record, caption, levels[key], colormap))
    return entries


def _levels(key: Key, recordings: Sequence[Recording]) -> tuple[float, float]:
    records: list[Record] = [run[key] for run in recordings if key in run]
    kept = [record.array() for record in records if record.kept is not None]
    return shared_levels(kept, "symmetric" if any(map(_signed, records)) else "robust")


def _signed(record: Record) -> bool:
    """Return whether zero is the middle: of gradients, and of maps that tell what speaks against a target."""
    if record.key.kind is Kind.ATTRIBUTION and record.kept is not None:
        return bool((record.array() < 0).any())
    return record.key.kind in GRADIENTS


def _tell(
    written: Mapping[str, Any], inputs: Sequence[Input], recordings: Sequence[Recording], *, as_json: bool
) -> None:
    runs = [
        {
            "input": given.name,
            "notes": [*given.notes, *run.notes],
            "target_value": run.target_value,
            "absent": [{**key._asdict(), "reason": reason} for key, reason in run.absent.items()],
        }
        for given, run in zip(inputs, recordings, strict=False)
    ]
    if as_json:
        print(json.dumps({**written, "runs": runs}, indent=1))
        return
    print("\n".join(_lines(written, runs)))


def _lines(written: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [f"{run['input']}: {note}" for run in runs for note in run["notes"]]
    lines += [
        f"{run['input']}: no {one['kind']} of {one['path'] or 'the model'}: {one['reason']}"
        for run in runs
        for one in run["absent"]
    ]
    lines += [
        f"{Path(name).name} was not written: {why}" for name, why in written.get("left_out", {}).items()
    ]
    lines += list(written.get("files", ()))
    return [*lines, written.get("manifest") or written["file"]]
