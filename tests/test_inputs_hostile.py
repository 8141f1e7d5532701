"""Broken and hostile files: each its own sentence, nothing run, no memory filled."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from brought import chunk, npy, pickled, png, saved, sentence, zipped
from PIL import Image
from torch import nn

import hookviewer as hv

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 5\n"
HTML = b"<!DOCTYPE html><html><body>Not found</body></html>"


def small() -> bytes:
    return saved(Image.new("RGB", (64, 64), (9, 8, 7)), "PNG")


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of white pixels that is a thousandth of what it unpacks to."""
    packer = zlib.compressobj(9)
    row = b"\0" + b"\xff" * ((width + 7) // 8)
    packed = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return png(width, height, 1, 0, packed)


def claimed(width: int, height: int) -> bytes:
    return png(width, height, 8, 2, zlib.compress(b"\0" * 64))


def second_page() -> bytes:
    """Return a TIFF whose second page says that it is 60,000 × 60,000."""
    pages = [Image.new("L", (4, 4)), Image.new("L", (333, 222))]
    whole = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    for side in (333, 222):
        for kind in ("<H", "<I"):
            field = struct.pack("<H", 256 if side == 333 else 257)
            for code in (3, 4):
                old = field + struct.pack("<HI", code, 1) + struct.pack(kind, side).ljust(4, b"\0")
                new = field + struct.pack("<HII", 4, 1, 60000)
                whole = whole.replace(old, new)
    return whole


def text_bomb() -> bytes:
    packed = zlib.compress(b"x" * (2 << 20), 9)
    whole = small()
    return whole[:33] + chunk(b"zTXt", b"Comment\0\0" + packed) + whole[33:]


def webp_canvas() -> bytes:
    """Return a WebP whose canvas says that it is 16,384 × 16,384, with one small frame in it."""
    frames = [Image.new("RGB", (8, 8), (9, 9, shade)) for shade in (0, 200)]
    whole = bytearray(saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True))
    place = whole.index(b"VP8X") + 12
    whole[place : place + 6] = (16383).to_bytes(3, "little") * 2
    return bytes(whole)


def torch_bytes(path: Path, value: object) -> bytes:
    torch.save(value, path)
    content = path.read_bytes()
    path.unlink()
    return content


def npz_bytes(folder: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    path = zipped(folder / "made.zip", members, compression)
    content = path.read_bytes()
    path.unlink()
    return content


def compressed_torch(folder: Path) -> bytes:
    plain = folder / "plain.pt"
    torch.save(torch.zeros(1 << 20), plain)
    with zipfile.ZipFile(plain) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    plain.unlink()
    return npz_bytes(folder, members)


def safetensors(header: bytes, content: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + content


WHOLE = b'{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
HUGE = b'{"x":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'
MARKUP = b'{"=cmd|calc":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a\\n<b>/../x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}'  # noqa: E501

FILES: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "empty.jpg": (lambda _: b"", "is empty"),
    "lfs.png": (lambda _: LFS, "Git LFS pointer"),
    "page.jpg": (lambda _: HTML, "web page"),
    "notes.png": (lambda _: b"just text", "is text, not a picture"),
    "random.png": (lambda _: bytes(range(256)) * 4, "no picture that can be read"),
    "cut.png": (lambda _: saved(Image.effect_noise((64, 64), 50), "PNG")[:900], "cut off"),
    "cut.jpg": (lambda _: saved(Image.effect_noise((64, 64), 50), "JPEG")[:700], "cut off"),
    "bomb.png": (lambda _: bomb(12_000, 12_000), "megapixels"),
    "claim.png": (lambda _: claimed(60_000, 60_000), "megapixels"),
    "lie.png": (lambda _: claimed(8_000, 8_000), "cut off"),
    "page2.tiff?frame=1": (lambda _: second_page(), "megapixels"),
    "text.png": (lambda _: text_bomb(), "cannot be read as a picture"),
    "canvas.webp": (lambda _: webp_canvas(), "megapixels"),
    "postscript.png": (
        lambda _: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        "is text, not a picture",
    ),
    "model.jpg": (lambda folder: torch_bytes(folder / "m", nn.Linear(2, 2)), "file of torch.save"),
    "pickle.png": (lambda folder: pickled(folder / "ran"), "pickle"),
    "tensors.png": (lambda _: safetensors(WHOLE, b"\0" * 8), "file of tensors (safetensors)"),
    "archive.png": (lambda folder: npz_bytes(folder, {"../../out.txt": b"x"}), "archive"),
    "terabytes.npy": (lambda _: npy("<f4", (10**6, 10**6)), "is too short for that"),
    "overflow.npy": (lambda _: npy("<f8", (2**62, 4)), "is too short for that"),
    "objects.npy": (lambda folder: npy("|O", (1,), pickled(folder / "ran")), "Python objects"),
    "code.npy": (lambda _: npy("<f4", ("__import__('os')",)), "no plain array"),  # type: ignore[arg-type]
    "header.npy": (lambda _: b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31), "no plain array"),
    "cut.npy": (lambda _: npy("<f4", (100,), b"\0" * 99), "is too short for that"),
    "pickle.npy": (lambda folder: pickled(folder / "ran"), "no plain array"),
    "lfs.npz": (lambda _: LFS, "Git LFS pointer"),
    "cut.npz": (lambda folder: npz_bytes(folder, {"x.npy": npy("<f4", (2,), b"\0" * 8)})[:60], "array"),
    "bomb.npz": (
        lambda folder: npz_bytes(folder, {"x.npy": npy("<f4", (20 << 20,), b"\0" * (80 << 20))}),
        "as an attack does",
    ),
    "terabytes.npz": (lambda folder: npz_bytes(folder, {"x.npy": npy("<f4", (10**6, 10**6))}), "too short"),
    "objects.npz": (
        lambda folder: npz_bytes(folder, {"x.npy": npy("|O", (1,), pickled(folder / "ran"))}),
        "Python objects",
    ),
    "none.npz": (lambda folder: npz_bytes(folder, {"x.txt": b"x"}), "holds no tensor"),
    "module.pt": (lambda folder: torch_bytes(folder / "m", nn.Linear(2, 2)), "could run code"),
    "pickle.pt": (lambda folder: pickled(folder / "ran"), "nothing in it was run"),
    "compressed.pt": (compressed_torch, "compressed archive"),
    "cut.pt": (lambda folder: torch_bytes(folder / "m", torch.zeros(999))[:2000], "file of tensors"),
    "expanded.pt": (lambda folder: torch_bytes(folder / "m", torch.ones(1).expand(10**9)), "repeats 4 bytes"),
    "page.pt": (lambda _: HTML, "web page"),
    "huge.safetensors": (lambda _: safetensors(HUGE, b"\0" * 8), "damaged safetensors"),
    "length.safetensors": (lambda _: safetensors(WHOLE, b"", 1 << 40), "damaged safetensors"),
    "cut.safetensors": (lambda _: safetensors(WHOLE, b"\0" * 4), "damaged safetensors"),
    "markup.safetensors": (lambda _: safetensors(MARKUP, b"\0" * 8), "holds 2 tensors"),
    "<b>bold<b>\n\x1b[31m.png": (lambda _: b"", "is empty"),
    "x" * 200 + ".png": (lambda _: b"just text", "is text"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all these files."""
    place = tmp_path_factory.mktemp("hostile")
    for name, (make, _) in FILES.items():
        (place / name.partition("?")[0]).write_bytes(make(place))
    return place


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_or_broken_file_gets_its_own_sentence(folder: Path, name: str) -> None:
    assert FILES[name][1] in sentence(str(folder / name))


def test_nothing_was_run_and_nothing_written(folder: Path) -> None:
    for name in FILES:
        sentence(str(folder / name))
    assert {one.name for one in folder.iterdir()} == {name.partition("?")[0] for name in FILES}
    assert not (folder.parent / "out.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no peak of memory to ask for")
def test_no_file_fills_the_memory(folder: Path) -> None:
    program = """
import resource, sys
import hookviewer as hv
from hookviewer.errors import HookViewerError
hv.open_input("demo:digit")
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in sys.argv[1:]:
    try:
        hv.open_input(name)
    except HookViewerError:
        pass
    else:
        sys.exit(f"{name} was opened")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024)
"""
    names = [str(folder / name) for name in FILES]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *names], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 500


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("a\0b.png", "There is no file"),
        ("x" * 300 + ".png", "cannot be opened"),
        ("x" * 5000 + ".npy", "cannot be opened"),
        ("../../nowhere.png", "There is no file"),
        ("https://example.org/photo.jpg", "is an address"),
        ("/dev/zero", "is a device"),
        ("", "is a folder"),
    ],
)
def test_names_that_name_no_file_are_told(spec: str, word: str) -> None:
    if spec == "/dev/zero" and sys.platform == "win32":
        pytest.skip("there is no such device")
    assert word in sentence(spec)


def test_a_picture_under_another_ending_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(small())
    assert hv.open_input(tmp_path / "photo.jpg").image is not None


def test_a_picture_with_damaged_exif_is_read(tmp_path: Path) -> None:
    whole = small()
    (tmp_path / "exif.png").write_bytes(whole[:33] + chunk(b"eXIf", b"II*\0\xff\xff\xff\xff") + whole[33:])
    assert hv.open_input(tmp_path / "exif.png").image is not None


@pytest.mark.filterwarnings("ignore")  # the libraries may warn of what they repair
@pytest.mark.parametrize("ending", ["npz", "pt", "safetensors"])
def test_a_damaged_file_of_tensors_is_read_or_told(tmp_path: Path, ending: str) -> None:
    from safetensors.torch import save_file

    file = tmp_path / f"whole.{ending}"
    if ending == "npz":
        np.savez(file, x=np.arange(12.0))
    elif ending == "pt":
        torch.save({"x": torch.arange(12.0)}, file)
    else:
        save_file({"x": torch.arange(12.0)}, file)
    whole, random = file.read_bytes(), np.random.default_rng(0)
    told = 0
    for _ in range(80):
        damaged = bytearray(whole[: random.integers(8, len(whole))] if random.random() < 0.3 else whole)
        for place in random.integers(0, len(damaged), 4):
            damaged[place] = random.integers(256)
        file.write_bytes(damaged)
        try:
            hv.open_input(file)
        except hv.HookViewerError:
            told += 1
    assert told > 0
