"""Arrays of numpy: .npy files and the entries of .npz files, no header believed before it was checked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.errors import HookViewerError
from hookviewer.inputs.entries import MOST, Entry, TensorFile, chosen, too_many_bytes
from hookviewer.inputs.places import explained
from hookviewer.sources.wording import shown

PACKED, RATIO = 64 << 20, 200
"""An entry that unpacks to more than so many bytes and times its size is taken for an attack."""

BFLOAT16 = np.dtype("V2")
"""What numpy makes of bfloat16 when it is saved: two bytes that mean nothing."""


class ArrayFile(TensorFile):
    """`batch.npy`, `batch.npy?dtype=float32`: one array, given to the model as it is."""

    rank = 30
    endings = (".npy",)

    def entries(self, path: Path) -> tuple[Entry, ...]:
        with _plain(path, shown(path, 300)), path.open("rb") as file:
            return (_entry("", file, path.stat().st_size, shown(path, 300)),)

    def read(self, path: Path, entry: str) -> torch.Tensor:
        if entry:
            raise HookViewerError(f"{shown(path, 300)} is one array: leave entry={shown(entry)} away.")
        with _plain(path, shown(path, 300)), path.open("rb") as file:
            return to_tensor(_array(file, path.stat().st_size, shown(path, 300)), shown(path, 300))


class ArrayArchive(TensorFile):
    """`batch.npz?entry=x`: one array of several."""

    rank = 31
    endings = (".npz",)

    def entries(self, path: Path) -> tuple[Entry, ...]:
        found = []
        with _plain(path, shown(path, 300)), zipfile.ZipFile(path) as archive:
            for one in _members(archive):
                with archive.open(one) as file:
                    name = one.filename.removesuffix(".npy")
                    found.append(_entry(name, file, one.file_size, f"{shown(name)} in {shown(path, 300)}"))
        return tuple(found)

    def read(self, path: Path, entry: str) -> torch.Tensor:
        with _plain(path, shown(path, 300)), zipfile.ZipFile(path) as archive:
            members = {one.filename.removesuffix(".npy"): one for one in _members(archive)}
            name = chosen(path, list(members), entry)
            one, what = members[name], f"{shown(name)} in {shown(path, 300)}"
            if one.file_size > max(PACKED, RATIO * min(one.compress_size, path.stat().st_size)):
                raise HookViewerError(
                    f"{what} unpacks from {one.compress_size:,} to {one.file_size:,} bytes, as an attack "
                    "does: save it with numpy.save."
                )
            with archive.open(one) as file:
                return to_tensor(_array(file, one.file_size, what), what)


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [one for one in archive.infolist() if one.filename.endswith(".npy")]


@contextmanager
def _plain(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except HookViewerError:
        raise
    except zipfile.BadZipFile:
        raise HookViewerError(explained(path, "array", "it may be cut off, save it again")) from None
    except Exception as error:  # what a damaged header makes of numpy and zipfile is nowhere stated
        raise HookViewerError(no_plain_array(what, "is damaged, cut off, or something else")) from error


def no_plain_array(what: str, reason: str) -> str:
    """Return the sentence for a file that holds something else than numbers."""
    return f"{what} is no plain array (it {reason}): save one with numpy.save."


def _header(file: IO[bytes], size: int, what: str) -> tuple[tuple[int, ...], bool, npt.DTypeLike, int]:
    """Return shape, order, type and size in bytes of the array that begins here, once they were checked."""
    start = file.read(8)
    if start[:6] != b"\x93NUMPY":
        raise HookViewerError(no_plain_array(what, "is damaged, cut off, or something else"))
    length = file.read(2 if start[6] == 1 else 4)
    rest = file.read(min(int.from_bytes(length, "little"), 1 << 16))
    readers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    shape, fortran, dtype = readers[min(start[6], 2)](io.BytesIO(length + rest))
    if dtype.hasobject:
        raise HookViewerError(no_plain_array(what, "holds Python objects"))
    needed = prod(shape) * dtype.itemsize
    if any(side < 0 for side in shape) or needed > size - len(start) - len(length) - len(rest):
        spelled = " × ".join(map(str, shape))
        raise HookViewerError(
            no_plain_array(what, f"says that it is {spelled:.80} {dtype}, but is too short for that")
        )
    return shape, fortran, dtype, needed


def _entry(name: str, file: IO[bytes], size: int, what: str) -> Entry:
    shape, _, dtype, _ = _header(file, size, what)
    return Entry(name, shape, "bfloat16" if dtype == BFLOAT16 else str(dtype))


def _array(file: IO[bytes], size: int, what: str) -> npt.NDArray[Any]:
    shape, fortran, dtype, needed = _header(file, size, what)
    if needed > MOST:
        raise too_many_bytes(what, needed)
    values = bytearray(needed)
    view, done = memoryview(values), 0
    while done < needed:
        piece = file.read(min(needed - done, 1 << 20))
        if not piece:
            raise HookViewerError(no_plain_array(what, "is cut off"))
        view[done : done + len(piece)] = piece
        done += len(piece)
    flat = np.frombuffer(values, dtype=dtype)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def to_tensor(array: npt.NDArray[Any], name: str) -> torch.Tensor:
    """Return an own tensor with the values of `array`; 64-bit floats become 32-bit, as networks have them."""
    if array.dtype == BFLOAT16:
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int16).copy()).view(torch.bfloat16)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    try:
        return torch.tensor(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="), copy=False))
    except (TypeError, ValueError):
        raise HookViewerError(
            f"{name} has values of type {array.dtype!s:.60}, which torch does not know: save plain numbers."
        ) from None
