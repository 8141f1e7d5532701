"""A folder of hostile and broken files, and a program that opens them all: python tests/hostile.py FOLDER."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import os
import pickle
import struct
import sys
import tarfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

MARK = "RAN"
"""A file of this name appears when something in a hostile file runs."""

HTML = b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
BOMB = 200 << 20


@dataclasses.dataclass(frozen=True)
class Hostile:
    """A file and the word that must be in what is said when it is opened through its own door."""

    name: str
    door: str
    word: str
    content: Callable[[Path], bytes | None]


class Evil:
    """Pickles into a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.call


class Hooked(nn.Linear):
    """A module with a passenger."""

    def __init__(self, passenger: Evil) -> None:
        super().__init__(2, 2)
        self.passenger = passenger


def touch(folder: Path) -> Evil:
    """Return what writes the mark when it is unpickled."""
    return Evil(os.system, f"touch '{folder / MARK}'")


def saved(content: Any, **options: Any) -> bytes:
    """Return what torch.save writes."""
    file = io.BytesIO()
    torch.save(content, file, **options)
    return file.getvalue()


def zipped(members: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip archive."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", how) as archive:
        warnings.simplefilter("ignore")
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def repacked(content: bytes, changed: dict[str, bytes] | None = None, how: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive with members replaced or added; a name is matched by its end."""
    changed = dict(changed or {})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for end, new in changed.items():
        name = next((name for name in members if name.endswith(end)), end)
        members[name] = new
    return zipped(members, how)


@functools.cache
def program() -> bytes:
    """Return a program of torch.export."""
    file = io.BytesIO()
    torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)), file)
    return file.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    """Return a tar archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def overlapping(count: int) -> bytes:
    """Return an archive whose many entries are the same bytes."""
    content = zipped({"archive/data.pkl": b"\x80\x02}.", "archive/data/0": b"\0" * 100_000})
    end = content.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<L", content, end + 16)[0]
    directory = content[start:end]
    one = directory[directory.index(b"PK\x01\x02", 4) :]
    more = b"".join(one.replace(b"data/0", b"data/%s" % bytes([65 + k])) for k in range(count))
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count + 2, count + 2, len(directory + more), start, 0)
    return content[:start] + directory + more + tail


def crowded() -> bytes:
    """Return an archive that states a billion members."""
    wide = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1 << 30, 1 << 30, 0, 0)
    where = struct.pack("<4sLQL", b"PK\x06\x07", 0, 4, 1)
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0, 0xFFFFFFFF, 0)
    return b"PK\x03\x04" + wide + where + tail


def locked() -> bytes:
    """Return an archive whose members ask for a password."""
    content = bytearray(saved({"w": torch.ones(2)}))
    place = content.index(b"PK\x01\x02")
    content[place + 8] |= 1
    return bytes(content)


def twice() -> bytes:
    """Return an archive with two pickles of one name."""
    return zipped({"a/data.pkl": b"\x80\x02}.", "a/data.pkX": b"\x80\x02}."}).replace(b".pkX", b".pkl")


def tensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    """Return a .safetensors file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def one(shape: list[int], offsets: list[int], dtype: str = "F32") -> dict[str, Any]:
    """Return the header's entry of one tensor."""
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def array(header: str) -> bytes:
    """Return a .npy file with any header."""
    text = header.encode().ljust(118)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"\0" * 64


def png(width: int, height: int) -> bytes:
    """Return a PNG that states a size and has nearly no pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">L", len(content)) + kind + content + struct.pack(">L", check)

    head = chunk(b"IHDR", struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def picture(kind: str) -> bytes:
    """Return a small whole picture."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.arange(48 * 48 * 3, dtype=np.uint8).reshape(48, 48, 3)).save(file, kind)
    return file.getvalue()


def nested(depth: int) -> dict[str, Any]:
    """Return dictionaries inside each other."""
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"state_dict": inner}
    return inner


def many_sets(count: int) -> bytes:
    """Return an archive whose small pickle builds many large objects."""
    return repacked(saved({}), {"data.pkl": b"\x80\x04]" + b"\x8f" * count + b"."})


NAMES = ("../../x", "a\0b", "<b>bold</b>", "line\nbreak", "\x1b[31mred", "w" * 300, "=1+1", "CON")


def strange_names() -> dict[str, torch.Tensor]:
    """Return tensors under names that are no good names of files."""
    return {name: torch.ones(2) for name in NAMES}


def safetensors_of(values: dict[str, torch.Tensor]) -> bytes:
    """Return a whole .safetensors file."""
    from safetensors.torch import save

    return save(values)


def project(place: Path, folder: Path) -> None:
    """Write a project whose files leave the mark when they are imported."""
    place.mkdir()
    code = f"import os\nos.system({f'touch {folder / MARK}'!r})\nfrom torch import nn\n"
    for name in ("one", "two"):
        (place / f"{name}.py").write_text(f"{code}class Net{name}(nn.Module):\n    pass\n")


def evil_array(folder: Path) -> bytes:
    """Return a .npy file of pickled objects."""
    file = io.BytesIO()
    np.save(file, np.array([touch(folder)], dtype=object), allow_pickle=True)
    return file.getvalue()


def evil_arrays(folder: Path) -> bytes:
    """Return a .npz file of pickled objects."""
    return zipped({"x.npy": evil_array(folder)})


RUN, CUT, PAGE = "could run code", "cut off", "web page"

FILES: tuple[Hostile, ...] = (
    # pickles that run something
    Hostile("system.pt", "model", RUN, lambda f: saved(touch(f))),
    Hostile("old.pt", "model", RUN, lambda f: saved(touch(f), _use_new_zipfile_serialization=False)),
    Hostile("plain.pkl", "model", RUN, lambda f: pickle.dumps(touch(f), protocol=4)),
    Hostile("text.pkl", "model", "is text", lambda f: pickle.dumps(touch(f), protocol=0)),
    Hostile("exec.ckpt", "model", RUN, lambda f: saved({"epoch": Evil(exec, f"open('{f / MARK}', 'w')")})),
    Hostile("open.pth", "model", RUN, lambda f: saved([Evil(open, str(f / MARK), "w")])),
    Hostile(
        "beside.bin", "weights", RUN, lambda f: saved({"state_dict": {"w": torch.ones(2)}, "x": touch(f)})
    ),
    Hostile("module.pt", "model", RUN, lambda f: saved(Hooked(touch(f)))),
    Hostile("module.pth", "weights", RUN, lambda f: saved(Hooked(touch(f)))),
    Hostile("memo.pt", "model", RUN, lambda f: saved([("posix", "system"), touch(f)], pickle_protocol=4)),
    Hostile(
        "extension.pt", "model", "copyreg", lambda f: repacked(saved({}), {"data.pkl": b"\x80\x02\x82\x01."})
    ),
    Hostile("mislabelled.safetensors", "weights", RUN, lambda f: saved(touch(f))),
    Hostile("pickle.png", "input", "not a picture", lambda f: saved(touch(f))),
    Hostile("objects.npy", "input", "Python objects", evil_array),
    Hostile("objects.npz", "input", "objects.npz", evil_arrays),
    Hostile(
        "tar.pt",
        "model",
        "tar archive",
        lambda f: tarred({"pickle": pickle.dumps(touch(f)), "sys_info": b""}),
    ),
    Hostile(
        "hidden_tar.pt",
        "model",
        "tar archive",
        lambda f: tarred({"\x80x": b"", "pickle": pickle.dumps(touch(f))}),
    ),
    Hostile("project", "model", "2 models", lambda f: project(f / "files" / "project", f)),
    # programs
    Hostile("program.pt2", "model", RUN, lambda f: program()),
    Hostile(
        "tampered.pt2",
        "model",
        "system",
        lambda f: repacked(program(), {"sample_inputs/model.pt": saved(touch(f))}),
    ),
    Hostile("cut.pt2", "model", CUT, lambda f: program()[:-300]),
    Hostile(
        "script.pt",
        "model",
        "TorchScript",
        lambda f: zipped(
            {"s/constants.pkl": b"\x80\x02).", "s/code/x.py": b"x", "s/data.pkl": b"\x80\x02}."}
        ),
    ),
    # archives
    Hostile(
        "bomb.pt",
        "model",
        "compressed",
        lambda f: zipped({"a/data.pkl": b"\x80\x02}.", "a/data/0": bytes(BOMB)}, 8),
    ),
    Hostile(
        "bomb_pickle.pt",
        "weights",
        "compressed",
        lambda f: zipped({"a/data.pkl": b"\x80\x02" + bytes(BOMB)}, 8),
    ),
    Hostile(
        "bomb.pt2",
        "model",
        "compressed",
        lambda f: zipped({"a/archive_format": b"pt2", "a/models/m.json": bytes(BOMB)}, 8),
    ),
    Hostile(
        "bomb.npz",
        "input",
        "bomb.npz",
        lambda f: zipped(
            {
                "x.npy": array("{'descr': '|u1', 'fortran_order': False, 'shape': (209715200,), }")
                + bytes(BOMB)
            },
            8,
        ),
    ),
    Hostile("overlapping.pt", "weights", "compressed", lambda f: overlapping(50)),
    Hostile("crowded.pt", "model", "more members", lambda f: crowded()),
    Hostile("locked.pt", "model", "password", lambda f: locked()),
    Hostile(
        "outside.pt",
        "weights",
        "lead out",
        lambda f: repacked(saved({"w": torch.ones(2)}), {"../../x": b"x"}),
    ),
    Hostile(
        "absolute.pt",
        "weights",
        "lead out",
        lambda f: repacked(saved({"w": torch.ones(2)}), {"/etc/x": b"x"}),
    ),
    Hostile("twice.pt", "weights", CUT, lambda f: twice()),
    Hostile("other.pt", "model", "zip archive", lambda f: zipped({"word/document.xml": b"<w/>"})),
    # cut off, or something else
    Hostile("cut.pt", "weights", CUT, lambda f: saved({"w": torch.ones(999)})[:-500]),
    Hostile(
        "cut_old.pt",
        "weights",
        CUT,
        lambda f: saved({"w": torch.ones(999)}, _use_new_zipfile_serialization=False)[:-500],
    ),
    Hostile("cut.safetensors", "weights", "damaged", lambda f: safetensors_of({"w": torch.ones(999)})[:-500]),
    Hostile(
        "cut.npy",
        "input",
        "cut.npy",
        lambda f: array("{'descr': '<f4', 'fortran_order': False, 'shape': (999,), }"),
    ),
    Hostile("cut.png", "input", "cut.png", lambda f: picture("PNG")[:200]),
    Hostile("cut.jpg", "input", "cut.jpg", lambda f: picture("JPEG")[:500]),
    Hostile("empty.pt", "model", "is empty", lambda f: b""),
    Hostile("empty.safetensors", "weights", "is empty", lambda f: b""),
    Hostile("empty.png", "input", "empty", lambda f: b""),
    Hostile("empty.npy", "input", "empty.npy", lambda f: b""),
    Hostile("pointer.safetensors", "weights", "git lfs pull", lambda f: LFS),
    Hostile("pointer.png", "input", "git lfs pull", lambda f: LFS),
    Hostile("page.pt", "model", PAGE, lambda f: HTML),
    Hostile("page.jpg", "input", PAGE, lambda f: b"\xef\xbb\xbf\n" + HTML),
    Hostile("words.pth", "model", "is text", lambda f: b"404: Not Found"),
    Hostile(
        "words.safetensors", "weights", "is text", lambda f: b'{"error":{"message":"Repository not found"}}'
    ),
    Hostile("keras.pt", "model", "HDF5", lambda f: b"\x89HDF\r\n\x1a\n" + bytes(99)),
    Hostile("picture.pt", "model", "is a picture", lambda f: picture("PNG")),
    Hostile("packed.pt", "model", "compressed file", lambda f: b"\x1f\x8b\x08" + bytes(99)),
    Hostile(
        "array.pt",
        "model",
        "array of numpy",
        lambda f: array("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"),
    ),
    Hostile("noise.pt", "model", "no file of weights", lambda f: bytes(range(256)) * 9),
    Hostile("network.onnx", "model", "not a PyTorch model", lambda f: b"\x08\x07\x12\x07pytorch"),
    Hostile("folder.pt", "weights", "is a folder", lambda f: (f / "files" / "folder.pt").mkdir()),
    Hostile("pipe.pt", "model", "not a file", lambda f: os.mkfifo(f / "files" / "pipe.pt")),
    Hostile("zero.pt", "model", "not a file", lambda f: (f / "files" / "zero.pt").symlink_to("/dev/zero")),
    # headers that lie
    Hostile("header.safetensors", "weights", "damaged", lambda f: tensors(b"{", length=1 << 40)),
    Hostile(
        "overlap.safetensors",
        "weights",
        "damaged",
        lambda f: tensors({"a": one([2], [0, 8]), "b": one([2], [0, 8])}, bytes(8)),
    ),
    Hostile(
        "huge.safetensors", "weights", "damaged", lambda f: tensors({"a": one([1 << 40], [0, 8])}, bytes(8))
    ),
    Hostile(
        "negative.safetensors", "weights", "damaged", lambda f: tensors({"a": one([-2], [0, 8])}, bytes(8))
    ),
    Hostile(
        "unknown.safetensors",
        "weights",
        "damaged",
        lambda f: tensors({"a": one([2], [0, 8], "F99")}, bytes(8)),
    ),
    Hostile(
        "deep.safetensors", "weights", "damaged", lambda f: tensors(b'{"a":' * 9999 + b"1" + b"}" * 9999)
    ),
    Hostile(
        "terabytes.npy",
        "input",
        "terabytes.npy",
        lambda f: array("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }"),
    ),
    Hostile(
        "negative.npy",
        "input",
        "negative.npy",
        lambda f: array("{'descr': '<f4', 'fortran_order': False, 'shape': (-5,), }"),
    ),
    Hostile(
        "code.npy",
        "input",
        "code.npy",
        lambda f: array("{'descr': '<f4', 'fortran_order': False, 'shape': (os.getpid(),), }"),
    ),
    Hostile("bomb.png", "input", "megapixels", lambda f: png(50_000, 50_000)),
    Hostile(
        "million.gif",
        "input",
        "million.gif",
        lambda f: (
            b"GIF89a"
            + struct.pack("<HH", 65535, 65535)
            + b"\xf0\0\0"
            + bytes(6)
            + b"\x2c"
            + struct.pack("<HHHH", 0, 0, 65535, 65535)
            + b"\0\x02\x02\x4c\x01\0;"
        ),
    ),
    # tensors that lie
    Hostile(
        "expanded.pt",
        "weights",
        "states 100,000,000,000",
        lambda f: saved({"weight": torch.ones(1).expand(100_000, 1_000_000), "bias": torch.ones(2)}),
    ),
    Hostile(
        "nested.pt",
        "weights",
        "no state dict",
        lambda f: repacked(
            saved({}), {"data.pkl": b"\x80\x02" + b"}X\x01\0\0\0a" * 9000 + b"}" + b"s" * 9000 + b"."}
        ),
    ),
    Hostile("sets.pt", "weights", "pickled steps", lambda f: many_sets(1_200_000)),
    Hostile(
        "sets_old.pt",
        "weights",
        "pickled steps",
        lambda f: (
            saved({}, _use_new_zipfile_serialization=False)[:15]
            + b"\x80\x02M\xe9\x03.\x80\x02]"
            + b"\x8f" * 1_200_000
            + b"."
        ),
    ),
    Hostile(
        "meta.pt",
        "weights",
        "weight",
        lambda f: saved({"weight": torch.empty(1 << 40, device="meta"), "bias": torch.ones(2)}),
    ),
    # names
    Hostile("names.safetensors", "weights", "../../x", lambda f: safetensors_of(strange_names())),
    Hostile("names.pt", "weights", r"a\x00b", lambda f: saved(strange_names())),
    Hostile("<b>bold<b><img src=x>.pt", "model", "is empty", lambda f: b""),
    Hostile("line\nbreak\x1b[31m.pt", "model", r"line\nbreak\x1b[31m", lambda f: b""),
    Hostile("long" * 60 + ".pt", "model", "is empty", lambda f: b""),
    Hostile(
        "shard.safetensors.index.json",
        "weights",
        "does not lie beside it",
        lambda f: json.dumps({"weight_map": {"w": "../../../etc/passwd"}}).encode(),
    ),
    Hostile(
        "lacking.safetensors.index.json",
        "weights",
        "There is no file",
        lambda f: json.dumps({"weight_map": {"w": "a.safetensors"}}).encode(),
    ),
    Hostile("deep.index.json", "weights", "no weight_map", lambda f: b"[" * 100_000),
)

SPECS = (
    "nul\0byte.pt",
    "../" * 60 + "x.pt",
    "x" * 5000 + ".pt",
    "<b>none</b>.pt",
    "C:\\none.pt",
    "~nobody/x.pt",
)
"""Names of files that are not there."""


def make(folder: Path) -> None:
    """Write all files into `folder/files`."""
    (folder / "files").mkdir(parents=True)
    for entry in FILES:
        content = entry.content(folder)
        if content is not None:
            (folder / "files" / entry.name).write_bytes(content)


def peak(*, start: bool = False) -> int:
    """Return the most memory that this process has had since the last start, in kilobytes."""
    if start:  # else it would begin with what the process that started this one has
        Path("/proc/self/clear_refs").write_text("5")
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0])


def opened(folder: Path) -> dict[str, Any]:
    """Open every file through every door and return what was said, and how much memory it took."""
    from PIL import Image

    import hookviewer as hv

    Image.init()
    hv.open_model("torchvision.models:squeezenet1_1")
    model = hv.open_model("torch.nn:Conv2d?in_channels=3&out_channels=2&kernel_size=3")
    doors: dict[str, Callable[[str], object]] = {
        "model": hv.open_model,
        "weights": lambda spec: hv.open_model("torch.nn:Linear?in_features=2&out_features=2", weights=spec),
        "input": lambda spec: hv.open_input(spec, model),
    }
    before = peak(start=True)
    said: dict[str, dict[str, str]] = {}
    for spec in (*(str(folder / "files" / entry.name) for entry in FILES), *SPECS):
        said[spec] = {}
        for door, function in doors.items():
            start = time.perf_counter()
            try:
                function(spec)
                said[spec][door] = ""
            except hv.HookViewerError as error:
                said[spec][door] = str(error)
            except BaseException as error:
                said[spec][door] = f"BUG {type(error).__name__}: {error}"
            if (took := time.perf_counter() - start) > 20:
                said[spec][door] += f" BUG: it took {took:.0f} s"
    return {"said": said, "kilobytes": peak() - before}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(opened(Path(sys.argv[1]))))
