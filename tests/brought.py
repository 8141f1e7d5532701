"""Files as people bring them, written byte by byte where no library writes them."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import hookviewer as hv

COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def sentence(spec: Any, model: Any = None) -> str:
    """Return the one sentence with which an input is refused."""
    with pytest.raises(hv.HookViewerError) as caught:
        hv.open_input(spec, model)
    told = str(caught.value)
    assert "\n" not in told
    assert told.isprintable()
    assert told.endswith(".")
    assert ": " in told
    return told


def chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int, height: int, depth: int, colour: int, packed: bytes) -> bytes:
    """Return a PNG file around packed rows."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def png_of_16_bits(pixels: npt.NDArray[np.uint16]) -> bytes:
    """Return a PNG file with pixels [H, W, 1 to 4] of 16 bits."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    return png(width, height, 16, COLOUR_TYPES[channels], zlib.compress(rows))


def npy(descr: str, shape: tuple[Any, ...], content: bytes = b"") -> bytes:
    """Return a .npy file whose header says what it is told to."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def zipped(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def animation(path: Path, count: int = 4, size: tuple[int, int] = (9, 6)) -> list[Image.Image]:
    """Write frames of one grey each, 40 brighter from frame to frame; return them."""
    frames = [Image.new("RGB", size, (40 * number + 20,) * 3) for number in range(count)]
    options: dict[str, Any] = {"lossless": True} if path.suffix == ".webp" else {}
    frames[0].save(path, save_all=True, append_images=frames[1:], **options)
    return frames


class Command:
    """An object whose unpickling would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "code was run")


def pickled(path: Path) -> bytes:
    """Return a pickle that writes `path` when it is loaded carelessly."""
    return pickle.dumps(Command(path))


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    """Return the bytes of a picture file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()
