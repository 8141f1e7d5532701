"""numpy's npz: a zip file of arrays, uncompressed, without pickle."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.errors import HookViewerError
from hookviewer.formats.document import document_of, dtype_of, parsed, recording_of
from hookviewer.formats.entry import Entry, Figure
from hookviewer.formats.format import RecordFormat, RecordingFormat
from hookviewer.recording import Recording

HEADER = "hookviewer.json"
_LARGEST_HEADER = 1 << 28
_CHUNK = 1 << 24
_BITS: dict[int, np.dtype[Any]] = {1: np.dtype(np.uint8), 2: np.dtype(np.int16)}


class NpzRecording(RecordingFormat):
    """A whole recording: `hookviewer.json` says what the arrays `t0`, `t1`, … are.

    bfloat16 and fp8, which numpy lacks, are stored as the integers of the same bits.
    """

    name = "npz"
    suffix = ".npz"

    def write(self, recording: Recording, path: Path) -> None:
        """Write the recording to a new file."""
        text, tensors = document_of(recording)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(HEADER), text)
            for name, tensor in tensors.items():
                _write_array(archive, name, _stored(tensor))

    def read(self, path: Path) -> Recording:
        """Return the recording of a file; sizes are checked before anything big is read."""
        try:
            with zipfile.ZipFile(path) as archive:
                document = parsed(_header(archive, path))
                return recording_of(document, lambda name: _tensor(archive, name, document["tensors"][name]))
        except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
            raise HookViewerError(f"{path.name} is not an npz file, or is damaged: save it again.") from error


class Npz(RecordFormat):
    """The array of one record as `values`, beside `identity.json`; opens with `numpy.load`."""

    name = "npz"
    suffix = ".npz"

    def refusal(self, entry: Entry) -> str:
        """Return why there are no values, or nothing."""
        return "" if entry.record.kept is not None else entry.record.missing or "Its values were not kept."

    def write(self, entry: Entry, path: Path, figure: Figure | None) -> None:
        """Write the whole array, whatever the figure shows of it (bfloat16 and fp8 as float32)."""
        values = entry.record.array()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            _write_array(archive, "values", values)
            archive.writestr(zipfile.ZipInfo("identity.json"), json.dumps(entry.identity, indent=1))

    def estimate(self, entry: Entry, figure: Figure | None) -> int:
        """Return the bytes of the array and what comes with it."""
        itemsize = 4 if entry.record.dtype.itemsize < 4 and entry.record.dtype != torch.float16 else 0
        return math.prod(entry.record.shape) * (itemsize or entry.record.dtype.itemsize) + 1200


def _write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        np.lib.format.write_array(
            member, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False
        )


def _stored(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """Return a tensor as an array that numpy can write, without losing a bit."""
    if tensor.dtype == torch.complex32:
        return torch.view_as_real(tensor).numpy()
    if _numpy_dtype(tensor.dtype) is None:
        return tensor.view(torch.uint8 if tensor.element_size() == 1 else torch.int16).numpy()
    return tensor.numpy()


def _restored(array: npt.NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
    tensor = torch.from_numpy(array)
    if dtype == torch.complex32:
        return torch.view_as_complex(tensor)
    return tensor if tensor.dtype == dtype else tensor.view(dtype)


def _expected(entry: Mapping[str, Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    dtype, shape = dtype_of(entry["dtype"]), tuple(map(int, entry["shape"]))
    if dtype == torch.complex32:
        return np.dtype(np.float16), (*shape, 2)
    known = _numpy_dtype(dtype)
    return _BITS[dtype.itemsize] if known is None else known, shape


def _numpy_dtype(dtype: torch.dtype) -> np.dtype[Any] | None:
    try:
        found: np.dtype[Any] = torch.empty(0, dtype=dtype).numpy().dtype
        return found
    except TypeError:
        return None


def _header(archive: zipfile.ZipFile, path: Path) -> bytes:
    """Return the JSON text, once no member is compressed and all together are no larger than the file."""
    members = archive.infolist()
    stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
    fits = sum(member.file_size for member in members) <= path.stat().st_size
    header = next((member for member in members if member.filename == HEADER), None)
    if header is None or not stored or not fits or header.file_size > _LARGEST_HEADER:
        raise HookViewerError(
            f"{path.name} is not a recording of hookviewer: open a file that hookviewer saved."
        )
    return archive.read(header)


def _tensor(archive: zipfile.ZipFile, name: str, entry: Mapping[str, Any]) -> torch.Tensor:
    dtype, shape = _expected(entry)
    size = math.prod(shape) * dtype.itemsize
    information = archive.getinfo(f"{name}.npy")
    with archive.open(information) as member:
        version = np.lib.format.read_magic(member)
        reader = np.lib.format
        read = reader.read_array_header_1_0 if version == (1, 0) else reader.read_array_header_2_0
        alike = read(member) == (shape, False, dtype)
        if not alike or member.tell() + size != information.file_size:
            raise ValueError("an array that is not what the header says")
        array = np.empty(shape, dtype)
        _fill(array.reshape(-1).view(np.uint8), member)
    return _restored(array, dtype_of(entry["dtype"]))


def _fill(buffer: npt.NDArray[np.uint8], member: Any) -> None:
    for start in range(0, len(buffer), _CHUNK):
        piece = member.read(min(_CHUNK, len(buffer) - start))
        buffer[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
