"""A recording as a JSON document and named tensors, and back: what every recording format stores."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import torch

from hookviewer.arrays import Statistics
from hookviewer.errors import HookViewerError
from hookviewer.formats.values import Fetch, Store, decoded, encoded
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Call, Record, Recording

MARK = "hookviewer recording"
VERSION = 1
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}

Document = dict[str, Any]


def document_of(recording: Recording) -> tuple[str, dict[str, torch.Tensor]]:
    """Return a recording as JSON text and its tensors by name (`t0`, `t1`, …; names of modules are data)."""
    tensors: dict[str, torch.Tensor] = {}

    def store(tensor: torch.Tensor) -> str:
        name = f"t{len(tensors)}"
        tensors[name] = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        return name

    document = _recording(recording, store)
    document["tensors"] = {name: described(tensor) for name, tensor in tensors.items()}
    return json.dumps(document), tensors


def described(tensor: torch.Tensor) -> Document:
    """Return dtype and shape of a tensor, for the check before it is read."""
    return {"dtype": _name(tensor.dtype), "shape": list(tensor.shape)}


def parsed(text: str | bytes) -> Document:
    """Return the document of JSON text; raise `HookViewerError` unless it is a recording of this version."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") != MARK:
        raise HookViewerError("This is not a recording of hookviewer: open a file that hookviewer saved.")
    if document.get("version") != VERSION:
        raise HookViewerError(
            "This recording was saved by a newer hookviewer: install the newest one to open it."
        )
    return document


def recording_of(document: Document, fetch: Fetch) -> Recording:
    """Return the recording of a parsed document; `fetch` gives a tensor by name."""
    try:
        return _from_document(document, fetch)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, RecursionError) as error:
        raise HookViewerError("This recording is damaged and cannot be opened: save it again.") from error


def dtype_of(name: str) -> torch.dtype:
    """Return torch's dtype of that name; raise `ValueError` for any other word."""
    if name not in DTYPES:
        raise ValueError(f"{name} is no dtype")
    return DTYPES[name]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _recording(recording: Recording, store: Store) -> Document:
    return {
        "format": MARK,
        "version": VERSION,
        "records": [_record(record, store) for record in recording.values()],
        "absent": [[*key, why] for key, why in recording.absent.items()],
        "never_called": dict(recording.never_called),
        "calls": [dataclasses.asdict(call) for calls in recording.module_calls.values() for call in calls],
        "called": list(recording.module_calls),
        "notes": list(recording.notes),
        "output": encoded(recording.output, store),
        "target_value": recording.target_value,
        "edited": list(recording.edited),
        "aliases": dict(recording.aliases),
        "provenance": dict(recording.provenance),
    }


def _record(record: Record, store: Store) -> Document:
    return {
        "key": list(record.key),
        "shape": list(record.shape),
        "dtype": _name(record.dtype),
        "device": str(record.device),
        "notes": list(record.notes),
        "overwritten_by": record.overwritten_by,
        "before_edit": None if record.before_edit is None else _record(record.before_edit, store),
        "missing": record.missing,
        "values": None if record.kept is None else store(record.kept),
        "summary": None if record.summary is None else dataclasses.asdict(record.summary),
    }


def _from_document(document: Document, fetch: Fetch) -> Recording:
    records = [_to_record(entry, fetch) for entry in document["records"]]
    calls: dict[str, list[Call]] = {path: [] for path in document["called"]}
    for entry in document["calls"]:
        calls[entry["path"]].append(_to_call(entry))
    return Recording(
        records={record.key: record for record in records},
        absent={_key(entry[:4]): str(entry[4]) for entry in document["absent"]},
        never_called=document["never_called"],
        module_calls={path: tuple(entries) for path, entries in calls.items()},
        notes=tuple(document["notes"]),
        output=decoded(document["output"], fetch),
        target_value=document["target_value"],
        edited=tuple(int(place) for place in document.get("edited", ())),
        aliases=document["aliases"],
        provenance=document["provenance"],
    )


def _to_record(entry: Mapping[str, Any], fetch: Fetch) -> Record:
    return Record(
        key=_key(entry["key"]),
        shape=tuple(map(int, entry["shape"])),
        dtype=dtype_of(entry["dtype"]),
        device=torch.device(entry["device"]),
        notes=tuple(entry["notes"]),
        overwritten_by=entry["overwritten_by"],
        before_edit=None if entry["before_edit"] is None else _to_record(entry["before_edit"], fetch),
        missing=entry["missing"],
        kept=None if entry["values"] is None else fetch(entry["values"]),
        summary=None if entry["summary"] is None else Statistics(**entry["summary"]),
    )


def _key(entry: list[Any]) -> Key:
    path, kind, call, leaf = entry
    return Key(str(path), Kind(kind), int(call), str(leaf))


def _to_call(entry: Mapping[str, Any]) -> Call:
    return Call(
        path=entry["path"],
        number=entry["number"],
        order=entry["order"],
        status=entry["status"],
        input_shapes=tuple(tuple(shape) for shape in entry["input_shapes"]),
        input_leaves=tuple(entry["input_leaves"]),
        output_shapes=tuple(tuple(shape) for shape in entry["output_shapes"]),
        output_leaves=tuple(entry["output_leaves"]),
        functional=bool(entry.get("functional", False)),
        type=str(entry.get("type", "")),
    )
