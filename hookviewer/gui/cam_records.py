"""The record of one map of importance: computed from what a run holds, or found among what came later."""

from __future__ import annotations

from hookviewer import methods
from hookviewer.arrays import Hints
from hookviewer.errors import HookViewerError
from hookviewer.gui.cam_choice import method_of, parts_of
from hookviewer.gui.hinting import AxisHints
from hookviewer.gui.remembered import remembered
from hookviewer.kinds import Key, Kind
from hookviewer.methods import LayerMethod
from hookviewer.recording import Record, Recording


class NotYetError(HookViewerError):
    """A map that needs runs of its own, which have not been made."""


def cam_record(recording: Recording, path: str, call: int, leaf: str, hints: AxisHints | None) -> Record:
    """Return a map by its `leaf` (see `cam_choice.leaf_of`) of a layer, or of the input.

    Raises `HookViewerError` with the reason where there is none, `NotYetError` where one can still come.
    """
    name, target = parts_of(leaf)
    method = method_of(name)
    if isinstance(method, LayerMethod) and not target:
        return _from_records(recording, method, path, call, hints)
    key = key_of(recording, path, leaf, call)
    if key in recording:
        return recording[key]
    if key in recording.absent:
        raise HookViewerError(recording.absent[key])
    raise NotYetError(f"{method.title} is not computed yet: press Compute in the list Methods.")


def key_of(recording: Recording, path: str, leaf: str, call: int = 0) -> Key:
    """Return the key of a map; that of the input has the path of the model."""
    if not method_of(parts_of(leaf)[0]).of_layers:
        return Key("", Kind.ATTRIBUTION, 0, leaf)
    return Key(recording.aliases.get(path, path), Kind.ATTRIBUTION, call, leaf)


def _from_records(
    recording: Recording, method: LayerMethod, path: str, call: int, hints: AxisHints | None
) -> Record:
    leaves = recording.leaves(path, Kind.OUTPUT, call)
    first = leaves[0] if leaves else ""
    output = Key(path, Kind.OUTPUT, call, first)
    wanted = [output._replace(kind=kind) for kind in (Kind.OUTPUT, Kind.GRAD_OUTPUT) if kind in method.kinds]
    known = None if hints is None else hints.of
    if len(leaves) > 1 or not all(key in recording for key in wanted):
        return methods.attribution(recording, method.name, path, call, hints_for=known)
    found = [recording[key] for key in wanted]
    said = None if hints is None else hints.of(found[0].key.path)
    try:
        return _computed(found[0], tuple(found[1:]), method.name, said)
    except HookViewerError:  # the whole run knows which layer suits
        return methods.attribution(recording, method.name, path, call, hints_for=known)


@remembered(32)
def _computed(output: Record, others: tuple[Record, ...], name: str, hints: Hints | None) -> Record:
    found = Recording({record.key: record for record in (output, *others)})
    known = None if hints is None else lambda path: hints
    return methods.attribution(found, name, output.key.path, output.key.call, hints_for=known)
