from __future__ import annotations

import pytest
import torch
from models import Chain, Shared

import hookviewer as hv
from hookviewer import HookPlan, Key, Kind, Record, Recording
from hookviewer.recording import Call


def record(path: str, value: float, leaf: str = "", call: int = 0) -> Record:
    key = Key(path, Kind.OUTPUT, call, leaf)
    return Record(key, (1,), torch.float32, kept=torch.tensor([value]))


def recording(*records: Record, **more: object) -> Recording:
    return Recording({one.key: one for one in records}, **more)  # type: ignore[arg-type]


def test_a_recording_is_a_mapping_in_the_order_of_its_records() -> None:
    made = recording(record("b", 1.0), record("a", 2.0))
    assert [key.path for key in made] == ["b", "a"]
    assert made[Key("a", Kind.OUTPUT)].array().tolist() == [2.0]
    assert len(made) == 2
    assert made.nbytes == 8


def test_the_first_leaf_answers_for_a_call() -> None:
    made = recording(record("a", 1.0, "[0]"), record("a", 2.0, "[1]"), record("a", 3.0, "", call=1))
    assert made.record("a", Kind.OUTPUT).array().tolist() == [1.0]
    assert made.record("a", Kind.OUTPUT, 1).array().tolist() == [3.0]
    assert made.leaves("a", Kind.OUTPUT) == ("[0]", "[1]")


def test_an_alias_means_the_canonical_path_everywhere() -> None:
    made = recording(record("a", 1.0), aliases={"z": "a"}, module_calls={"a": (Call("a", 0, 0),)})
    assert made.record("z", Kind.OUTPUT).key.path == "a"
    assert Key("z", Kind.OUTPUT) in made
    assert len(made.calls("z")) == 1


def test_what_is_missing_raises_with_its_reason() -> None:
    made = recording(
        absent={Key("a", Kind.GRAD_OUTPUT): "It was cut."},
        never_called={"n": "Nobody called it."},
        module_calls={"a": (Call("a", 0, 0),)},
    )
    for key, reason in (
        (Key("a", Kind.GRAD_OUTPUT), "It was cut"),
        (Key("n", Kind.OUTPUT), "Nobody called"),
        (Key("a", Kind.OUTPUT, 7), "no call 7"),
        (Key("a", Kind.OUTPUT), "not asked for"),
    ):
        with pytest.raises(KeyError, match=reason):
            made[key]


def test_merging_keeps_both_and_prefers_the_newer() -> None:
    older = recording(record("a", 1.0), record("b", 1.0))
    newer = recording(record("a", 2.0), absent={Key("b", Kind.OUTPUT): "not now"})
    both = older.merged(newer)
    assert both.record("a", Kind.OUTPUT).array().tolist() == [2.0]
    assert both.record("b", Kind.OUTPUT).array().tolist() == [1.0]
    assert not both.absent


def test_nothing_in_it_can_be_changed() -> None:
    made = recording(record("a", 1.0))
    with pytest.raises(TypeError):
        made.records[Key("x", Kind.OUTPUT)] = record("x", 1.0)  # type: ignore[index]
    with pytest.raises(AttributeError):
        made.output = 3  # type: ignore[misc]


def test_every_module_has_its_calls_with_shapes_ticked_or_not() -> None:
    net = Shared()
    made = hv.capture(net, torch.ones(3, 2), HookPlan())
    assert not made
    assert [call.output_shapes for call in made.calls("again")] == [((3, 2),)] * 3
    assert [call.number for call in made.calls("relu")] == [0, 1, 2]
    assert made.calls("layers.1") == ()
    assert set(made.never_called) == {"layers", "layers.1"}
    assert "container" in made.never_called["layers"]


def test_a_recording_says_how_it_was_made() -> None:
    net = Chain()
    made = hv.capture(
        net,
        torch.ones(1, 1),
        HookPlan.of(net, "first"),
        target=hv.top_class(),
        seed=5,
        edits=[hv.Edit("first", hv.scale(2))],
    )
    provenance = made.provenance
    assert (provenance["device"], provenance["mode"], provenance["seed"]) == ("cpu", "eval", "5")
    assert provenance["target"] == "top class (0)"
    assert provenance["edits"] == "scale(2) on output of first"
    assert provenance["torch"] == torch.__version__
