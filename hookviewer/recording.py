"""What a run leaves behind: records that nobody can change, and a reason for everything that is missing."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hookviewer import arrays
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Functional, Key, Kind

CPU = torch.device("cpu")


SUMMARISED = "Only its statistics were kept: tick it to keep its values."
"""Why there are no values of a module that a plan only summarises."""


def readable(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """Return a CPU tensor as numpy; dtypes that numpy lacks (bfloat16, fp8, complex32) as 32-bit ones."""
    if tensor.dtype == torch.complex32:
        tensor = tensor.to(torch.complex64)
    elif tensor.dtype.is_floating_point and tensor.dtype not in (torch.float16, torch.float32, torch.float64):
        tensor = tensor.to(torch.float32)
    return tensor.numpy()


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """One tensor of one run, copied at the moment the hook saw it; the value that flows on, after all edits.

    `shape`, `dtype` and `device` are those of the tensor in the model. `overwritten_by` names the module that
    later overwrote the tensor in place (where a plain hook would show the wrong value). `before_edit` is the
    gradient before the gradient edits of this run, if there were any. `missing` says why no values are kept.
    """

    key: Key
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device = CPU
    notes: tuple[str, ...] = ()
    overwritten_by: str | None = None
    before_edit: Record | None = None
    missing: str = ""
    kept: torch.Tensor | None = dataclasses.field(default=None, repr=False)
    """The record's own CPU tensor; use `array()` or `tensor()`, which cannot change it."""
    summary: arrays.Statistics | None = dataclasses.field(default=None, repr=False)
    """Statistics of a tensor whose values were not kept."""
    parts: tuple[tuple[int, ...], ...] = ()
    """The sizes of each part of a nested tensor, along the first axis; what lies beyond them is padding."""

    def array(self) -> npt.NDArray[Any]:
        """Return the values as a read-only numpy array of `shape` (bfloat16 and fp8 as float32).

        Raises `HookViewerError` with the reason when the values were not kept.
        """
        view = readable(self._own()).view()
        view.flags.writeable = False
        return view

    def tensor(self) -> torch.Tensor:
        """Return an own copy of the values in the true dtype, on the CPU."""
        return self._own().clone()

    @property
    def nbytes(self) -> int:
        """Bytes that the record keeps in memory."""
        return 0 if self.kept is None else self.kept.numel() * self.kept.element_size()

    def _own(self) -> torch.Tensor:
        if self.kept is None:
            raise HookViewerError(self.missing or "The values of this tensor were not kept.")
        return self.kept


def statistics(record: Record) -> arrays.Statistics:
    """Return the statistics of all values of `record`; they exist even where the values were not kept."""
    if record.kept is None and record.summary is not None:
        return record.summary
    return arrays.statistics(unpadded(record.array(), record.parts))


def unpadded(values: npt.NDArray[Any], parts: Sequence[Sequence[int]]) -> npt.NDArray[Any]:
    """Return the values of a nested tensor's parts in a row, without its padding; all where there is none."""
    if not parts or values.ndim < 2 or len(parts) != len(values):
        return values
    return np.concatenate([one[inside(sizes)].reshape(-1) for one, sizes in zip(values, parts, strict=True)])


def inside(sizes: Sequence[int]) -> tuple[slice, ...]:
    """Return the corner of these sizes of an array."""
    return tuple(slice(size) for size in sizes)


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of a module: `number` within its path, `order` among all calls of the run, in order of start.

    A `functional` one is a call of a torch function (path `layer1.0:add#0`), in the call of that number of
    the module that made it.

    Shapes and leaves are those of all tensors that went in and came out. `status` is `"ok"`, `"raised"` or
    `"running"` (it never ended: the run was stopped inside it). `type` is the class of the module.
    """

    path: str
    number: int
    order: int
    status: str = "running"
    input_shapes: tuple[tuple[int, ...], ...] = ()
    input_leaves: tuple[str, ...] = ()
    output_shapes: tuple[tuple[int, ...], ...] = ()
    output_leaves: tuple[str, ...] = ()
    functional: bool = False
    type: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Recording(Mapping[Key, Record]):
    """All records of one run, in the order in which they were made.

    `absent` holds exactly the keys that the plan asked for and that have no value, each with its reason.
    `never_called` gives the reason for every module of the model that no call reached, ticked or not.
    `output` is a detached CPU copy of what the model returned. `edited` holds the places (in the list that
    the run was given) of the edits that changed something. `aliases` maps every second name of a shared
    module to its canonical path. `provenance` says how the run was made (device, mode, seed, target, edits).
    """

    records: Mapping[Key, Record]
    absent: Mapping[Key, str] = dataclasses.field(default_factory=dict)
    never_called: Mapping[str, str] = dataclasses.field(default_factory=dict)
    module_calls: Mapping[str, tuple[Call, ...]] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    output: Any = None
    target_value: float | None = None
    edited: tuple[int, ...] = ()
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)
    provenance: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("records", "absent", "never_called", "module_calls", "aliases", "provenance"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, key: Key) -> Record:
        key = self._canonical(Key(*key))
        if key in self.records:
            return self.records[key]
        raise KeyError(self.reason(key))

    def __iter__(self) -> Iterator[Key]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def record(self, path: str, kind: Kind, call: int = 0) -> Record:
        """Return the first leaf's record; raise `KeyError` with the reason where there is none."""
        leaves = self.leaves(path, kind, call)
        return self[Key(path, kind, call, leaves[0] if leaves else "")]

    def leaves(self, path: str, kind: Kind, call: int = 0) -> tuple[str, ...]:
        """Return the leaves that were recorded for this path, kind and call, in order."""
        path = self._own(path)
        return tuple(key.leaf for key in self.records if key[:3] == (path, kind, call))

    def calls(self, path: str) -> tuple[Call, ...]:
        """Return one entry per call of the module, in order of start; empty when it was never called."""
        return self.module_calls.get(self._own(path), ())

    def in_order(self) -> tuple[Call, ...]:
        """Return all calls of the run in order of start, functional calls too where the plan lists them."""
        return tuple(sorted(itertools.chain(*self.module_calls.values()), key=lambda call: call.order))

    @property
    def op_calls(self) -> tuple[Call, ...]:
        """The functional calls in order of execution; none unless the plan lists them (`plan.with_ops()`)."""
        return tuple(call for call in self.in_order() if call.functional)

    def reason(self, key: Key) -> str:
        """Return why there is no record for `key`, in words."""
        key = self._canonical(key)
        if key in self.absent:
            return self.absent[key]
        same = [why for other, why in self.absent.items() if other[:3] == key[:3]]
        if same:
            return same[0]
        if key.path in self.never_called:
            return self.never_called[key.path]
        calls = self.calls(key.path)
        if calls and key.call not in {call.number for call in calls}:
            count = f"{key.path or 'The model'} was called {len(calls)} time(s) in this run"
            return f"{count}; there is no call {key.call}."
        return f"The {key.kind} of {key.path or 'the model'} was not asked for in this run."

    def merged(self, newer: Recording) -> Recording:
        """Return the records of both, for runs that differ in their plan only.

        Those of `newer` win, unless only the older one has its values.
        """
        losing = {
            key
            for key, record in newer.records.items()
            if record.kept is None and key in self.records and self.records[key].kept is not None
        }
        winning = {key: record for key, record in newer.records.items() if key not in losing}
        records = {**self.records, **winning}
        absent = {**self.absent, **newer.absent}
        listed = self if self.op_calls and not newer.op_calls else newer
        return dataclasses.replace(
            newer,
            records=records,
            absent={key: why for key, why in absent.items() if key not in records},
            module_calls=listed.module_calls,
        )

    @property
    def nbytes(self) -> int:
        """Bytes that all records keep in memory."""
        return sum(record.nbytes for record in self.records.values())

    def _canonical(self, key: Key) -> Key:
        return key._replace(path=self._own(key.path))

    def _own(self, path: str) -> str:
        """Return the canonical path of a module, or of a functional call that it makes."""
        call = Functional.of(path)
        if call is None or path in self.module_calls:
            return self.aliases.get(path, path)
        return call._replace(module=self.aliases.get(call.module, call.module)).path
