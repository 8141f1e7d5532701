"""Recordings that come back as they were, and files that are there as a whole or not at all."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import types
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from hookviewer import formats
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Call, Record, Recording, statistics

Pair = collections.namedtuple("Pair", "first second")
SUFFIXES = sorted(formats.recording_formats())
DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.complex64,
    torch.complex128,
    torch.int64,
    torch.int8,
    torch.uint8,
    torch.bool,
]


@dataclasses.dataclass
class Boxes:
    scores: torch.Tensor
    label: str


def record(tensor: torch.Tensor, key: Key, **more) -> Record:
    return Record(key, tuple(tensor.shape), tensor.dtype, kept=tensor, **more)


def full_recording() -> Recording:
    values = [
        record((torch.arange(24) - 9).reshape(2, 3, 4).to(dtype), Key(f"m{i}", Kind.OUTPUT))
        for i, dtype in enumerate(DTYPES)
    ]
    lost = torch.tensor([1.0, math.nan, 0.0])
    key = Key("../../x\n<b>", Kind.GRAD_OUTPUT, 2, "['aux'][0]")
    values += [
        record(torch.tensor(math.nan), Key("", Kind.OUTPUT)),
        record(torch.zeros(0, 3), Key("empty", Kind.INPUT, 0, "[0]")),
        record(
            torch.ones(3),
            key,
            overwritten_by="relu",
            notes=("One.", "Two."),
            device=torch.device("cuda:0"),
            before_edit=record(torch.full((3,), 2.0), key),
        ),
        Record(
            Key("lost", Kind.OUTPUT),
            (3,),
            torch.float32,
            missing="Over the budget.",
            summary=statistics(record(lost, key)),
        ),
    ]
    call = Call("m0", 0, 3, "ok", ((1, 3), ()), ("[0]", "['mask']"), ((2, 3, 4),), ("",))
    return Recording(
        records={one.key: one for one in values},
        absent={Key("gone", Kind.GRAD_INPUT): "It was never called."},
        never_called={"gone": "No call reached it."},
        module_calls={"m0": (call, dataclasses.replace(call, number=1, status="raised")), "gone": ()},
        notes=("The model was compiled.",),
        output={
            "logits": torch.randn(2, 5),
            3: [Pair(torch.ones(1), None), (Boxes(torch.zeros(2), "cat"), 1.5)],
        },
        target_value=-0.25,
        aliases={"tied": "m0"},
        provenance={"device": "cpu", "seed": "0"},
    )


def bits(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist()) if tensor.numel() else b""


def assert_same_record(a: Record, b: Record) -> None:
    plain = [
        field.name
        for field in dataclasses.fields(Record)
        if field.name not in ("kept", "before_edit", "summary")
    ]
    assert [getattr(a, name) for name in plain] == [getattr(b, name) for name in plain]
    assert (a.kept is None) == (b.kept is None)
    if a.kept is not None:
        assert a.tensor().dtype == b.tensor().dtype
        assert a.tensor().shape == b.tensor().shape
        assert bits(a.kept) == bits(b.kept)
    assert (a.before_edit is None) == (b.before_edit is None)
    if a.before_edit is not None:
        assert_same_record(a.before_edit, b.before_edit)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_recording_comes_back_complete(suffix, tmp_path):
    saved = full_recording()
    loaded = formats.load(formats.save(saved, tmp_path / f"out{suffix}"))
    assert list(loaded) == list(saved)
    for key in saved:
        assert_same_record(saved[key], loaded[key])
    for name in ("absent", "never_called", "module_calls", "notes", "target_value", "aliases", "provenance"):
        assert getattr(loaded, name) == getattr(saved, name), name
    summary = statistics(loaded[Key("lost", Kind.OUTPUT)])
    assert (summary.nan, summary.zeros, summary.mean) == (1, 1, 0.5)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_output_comes_back_with_its_leaves(suffix, tmp_path):
    saved = full_recording()
    output = formats.load(formats.save(saved, tmp_path / f"out{suffix}")).output
    assert torch.equal(output["logits"], saved.output["logits"])
    assert output[3][0].first.tolist() == [1]
    assert output[3][0].second is None
    boxes, number = output[3][1]
    assert isinstance(boxes, types.SimpleNamespace)
    assert (boxes.scores.tolist(), boxes.label, number) == ([0, 0], "cat", 1.5)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_loaded_has_its_own_memory(suffix, tmp_path):
    path = formats.save(full_recording(), tmp_path / f"out{suffix}")
    loaded = formats.load(path)
    path.unlink()
    loaded[Key("m0", Kind.OUTPUT)].tensor().zero_()
    assert loaded[Key("m0", Kind.OUTPUT)].array()[0, 0, 0] == -9


def test_an_npz_opens_with_plain_numpy_without_pickle(tmp_path):
    with np.load(formats.save(full_recording(), tmp_path / "out.npz"), allow_pickle=False) as file:
        document = json.loads(file["hookviewer.json"])
        first = document["records"][0]
        assert first["key"] == ["m0", "output", 0, ""]
        np.testing.assert_array_equal(file[first["values"]], np.arange(24).reshape(2, 3, 4) - 9)


def test_complex_values_of_half_precision_come_back(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says once a process that complex32 is experimental
        tensor = torch.tensor([1 + 2j, -3j]).to(torch.complex32)
    saved = Recording({Key("c", Kind.OUTPUT): record(tensor, Key("c", Kind.OUTPUT))})
    for suffix in SUFFIXES:
        loaded = formats.load(formats.save(saved, tmp_path / f"out{suffix}"))
        assert loaded[Key("c", Kind.OUTPUT)].array().tolist() == [1 + 2j, -3j]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_overwritten_without_a_yes(suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    path.write_text("mine")
    with pytest.raises(HookViewerError, match="exists already"):
        formats.save(full_recording(), path)
    assert path.read_text() == "mine"
    formats.save(full_recording(), path, overwrite=True)
    assert len(formats.load(path)) == len(full_recording())
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_not_written_through(tmp_path):
    target, link = tmp_path / "target", tmp_path / "out.npz"
    target.write_text("mine")
    link.symlink_to(target)
    with pytest.raises(HookViewerError, match="is a link"):
        formats.save(full_recording(), link, overwrite=True)
    assert target.read_text() == "mine"


class Unwritable(Recording):
    def values(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_half_written_file_is_left(suffix, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        formats.save(Unwritable(full_recording().records), tmp_path / f"out{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_a_name_without_a_known_format_is_refused(tmp_path):
    with pytest.raises(HookViewerError, match=r"\.npz or \.safetensors"):
        formats.save(full_recording(), tmp_path / "out.txt")


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(HookViewerError, match="does not exist"):
        formats.save(full_recording(), tmp_path / "none" / "out.npz")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<html>", b"\x00" * 400])
def test_a_file_that_is_no_recording_gives_one_sentence(suffix, content, tmp_path):
    path = tmp_path / f"other{suffix}"
    path.write_bytes(content)
    with pytest.raises(HookViewerError, match=r"other\S* is not|not a recording"):
        formats.load(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_not_there_is_named(suffix, tmp_path):
    with pytest.raises(HookViewerError, match=f"no file .*none{suffix}"):
        formats.load(tmp_path / f"none{suffix}")


def test_a_foreign_npz_gives_one_sentence(tmp_path):
    np.savez(tmp_path / "foreign.npz", a=np.ones(3))
    with pytest.raises(HookViewerError, match="is not a recording of hookviewer"):
        formats.load(tmp_path / "foreign.npz")


def test_a_foreign_safetensors_file_gives_one_sentence(tmp_path):
    from safetensors.torch import save_file

    save_file({"a": torch.ones(2)}, tmp_path / "foreign.safetensors")
    with pytest.raises(HookViewerError, match="not a recording of hookviewer"):
        formats.load(tmp_path / "foreign.safetensors")


def rewritten(path: Path, change, compression=zipfile.ZIP_STORED) -> Path:
    """Return a copy of an npz recording whose document went through `change`."""
    other = path.with_name("changed.npz")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", compression) as new:
        for member in old.infolist():
            data = old.read(member)
            if member.filename == "hookviewer.json":
                data = json.dumps(change(json.loads(data))).encode()
            new.writestr(member.filename, data)
    return other


def huge(document):
    document["tensors"]["t0"]["shape"] = [1 << 20, 1 << 20, 4]
    return document


def wrong_dtype(document):
    document["tensors"]["t0"]["dtype"] = "load"
    return document


def missing_tensor(document):
    document["records"][0]["values"] = "t999"
    return document


def other_kind(document):
    document["records"][0]["key"][1] = "__class__"
    return document


def unknown_value(document):
    document["output"] = {"eval": "1"}
    return document


@pytest.mark.parametrize("change", [huge, wrong_dtype, missing_tensor, other_kind, unknown_value])
def test_a_document_that_lies_is_found_out_before_anything_big_is_made(change, tmp_path):
    path = rewritten(formats.save(full_recording(), tmp_path / "out.npz"), change)
    with pytest.raises(HookViewerError, match="damaged"):
        formats.load(path)


def test_a_newer_version_says_so(tmp_path):
    path = rewritten(
        formats.save(full_recording(), tmp_path / "out.npz"), lambda document: {**document, "version": 99}
    )
    with pytest.raises(HookViewerError, match="newer hookviewer"):
        formats.load(path)


def test_a_compressed_file_is_refused_unread(tmp_path):
    path = formats.save(full_recording(), tmp_path / "out.npz")
    with pytest.raises(HookViewerError, match="not a recording of hookviewer"):
        formats.load(rewritten(path, dict, zipfile.ZIP_DEFLATED))


def test_a_flipped_bit_is_found(tmp_path):
    path = formats.save(full_recording(), tmp_path / "out.npz")
    data = bytearray(path.read_bytes())
    place = data.find(np.arange(-9, 15, dtype=np.float32).tobytes())
    data[place + 5] ^= 1
    path.write_bytes(data)
    with pytest.raises(HookViewerError, match="damaged"):
        formats.load(path)
