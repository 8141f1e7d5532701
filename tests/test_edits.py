from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from models import Chain

import hookviewer as hv
from hookviewer import Edit, HookPlan, HookViewerError, Key, Kind
from hookviewer.edits import edited

X = torch.tensor([[1.0]])
ALL = set(Kind) - {Kind.ATTRIBUTION}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (hv.zero(), [0.0, 0.0, 0.0]),
        (hv.scale(2), [2.0, -4.0, 6.0]),
        (hv.add(1.5), [2.5, -0.5, 4.5]),
        (hv.add(torch.tensor([1, 2, 3])), [2.0, 0.0, 6.0]),
        (hv.clamp(-1, 2), [1.0, -1.0, 2.0]),
        (hv.clamp(low=0), [1.0, 0.0, 3.0]),
        (hv.replace(7), [7.0, 7.0, 7.0]),
        (hv.replace(torch.tensor([3, 2, 1])), [3.0, 2.0, 1.0]),
        (lambda t: t.mul_(3), [3.0, -6.0, 9.0]),
        (hv.reverse(), [-1.0, 2.0, -3.0]),
        (hv.clip(1.5), [1.0, -1.5, 1.5]),
        (hv.clip_norm(100), [1.0, -2.0, 3.0]),
        (hv.noise(0.0), [0.0, 0.0, 0.0]),
    ],
)
def test_operations_do_what_they_say_and_leave_the_tensor_alone(
    operation: Any, expected: list[float]
) -> None:
    tensor = torch.tensor([1.0, -2.0, 3.0])
    assert edited(tensor, Edit("m", operation)).tolist() == expected
    assert tensor.tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize(
    ("index", "changed"),
    [
        (1, [(0, 1), (1, 1)]),
        ([0, 2], [(0, 0), (0, 2), (1, 0), (1, 2)]),
        ((slice(0, 1), slice(2, 3)), [(0, 2)]),
    ],
)
def test_an_index_is_a_channel_or_a_region(index: Any, changed: list[tuple[int, int]]) -> None:
    result = edited(torch.ones(2, 3), Edit("m", hv.zero(), index=index))
    assert [tuple(place) for place in (result == 0).nonzero().tolist()] == changed


def test_the_channels_of_a_parameter_are_its_rows() -> None:
    result = edited(torch.ones(2, 3), Edit("m", hv.zero(), kind=Kind.PARAM_GRAD, index=1))
    assert result.tolist() == [[1.0] * 3, [0.0] * 3]


def test_a_constant_keeps_its_place_in_the_graph_and_passes_zeros_on() -> None:
    tensor = torch.full((2,), torch.inf, requires_grad=True)
    result = edited(tensor * 1, Edit("m", hv.zero()))
    assert result.tolist() == [0.0, 0.0]
    (gradient,) = torch.autograd.grad(result.sum(), tensor)
    assert gradient.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "edit",
    [
        Edit("m", lambda t: t[:1]),
        Edit("m", lambda t: t.double()),
        Edit("m", lambda t: None),
        Edit("m", hv.zero(), index=9),
        Edit("m", hv.replace(torch.ones(5, 5))),
    ],
)
def test_an_edit_that_does_not_fit_says_so(edit: Edit) -> None:
    with pytest.raises(HookViewerError, match=r"must return|does not fit|cannot replace"):
        edited(torch.ones(2, 3), edit)


def test_an_edit_of_what_cannot_be_edited_is_refused() -> None:
    with pytest.raises(HookViewerError, match="cannot be edited"):
        Edit("m", hv.zero(), kind=Kind.PARAM)
    with pytest.raises(HookViewerError, match="operation"):
        Edit("m", 3)  # type: ignore[arg-type]


def test_an_edit_of_the_output_flows_on() -> None:
    net = Chain()
    plan = HookPlan.of(net, "*")
    recording = hv.capture(
        net, X, plan, edits=[Edit("first", hv.scale(-1)), Edit("first", hv.add(1), index=0)]
    )
    assert recording.record("first", Kind.OUTPUT).array().tolist() == [[0.0, 1.0]]
    assert recording.output.tolist() == [[6.0]]
    assert hv.capture(net, X, plan).output.tolist() == [[3.0]]


def test_an_edit_of_the_input_is_seen_by_the_module_only() -> None:
    net = Chain()
    recording = hv.capture(
        net,
        X,
        HookPlan.of(net, "*", kinds=ALL),
        target=hv.total(),
        edits=[Edit("last", hv.scale(10), kind=Kind.INPUT)],
    )
    assert recording.record("last", Kind.INPUT).array().tolist() == [[10.0, 0.0]]
    assert recording.record("relu", Kind.OUTPUT).array().tolist() == [[1.0, 0.0]]
    assert recording.output.tolist() == [[21.0]]
    assert recording.record("relu", Kind.GRAD_OUTPUT).array().tolist() == [[20.0, 50.0]]


def test_an_edit_of_one_call_leaves_the_others() -> None:
    relu = torch.nn.ReLU()
    net = torch.nn.Sequential(relu, relu)
    recording = hv.capture(net, X, HookPlan.of(net, "0"), edits=[Edit("1", hv.add(1), call=1)])
    assert [recording[Key("0", Kind.OUTPUT, call)].array().item() for call in (0, 1)] == [1.0, 2.0]


def test_edits_that_did_nothing_are_told() -> None:
    net = Chain()
    edits = [Edit("last", hv.clamp(-99, 99)), Edit("last", hv.zero(), call=5)]
    notes = " ".join(hv.capture(net, X, HookPlan.of(net, "*"), edits=edits).notes)
    assert "changed nothing" in notes
    assert "did not run" in notes


def test_a_mistake_in_an_edit_is_not_swallowed_by_the_model() -> None:
    class Swallows(Chain):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            try:
                return super().forward(x)
            except Exception:
                return x

    with pytest.raises(hv.ModelError, match="must return") as caught:
        hv.capture(Swallows(), X, HookPlan.of(Swallows(), "*"), edits=[Edit("relu", lambda t: t[:, :1])])
    assert caught.value.path == "relu"
    assert caught.value.recording.record("first", Kind.OUTPUT).array().tolist() == [[1.0, -1.0]]


def test_a_clipped_norm_keeps_the_direction() -> None:
    result = edited(torch.tensor([3.0, -4.0]), Edit("m", hv.clip_norm(1.0)))
    assert torch.allclose(result, torch.tensor([0.6, -0.8]))


def test_noise_is_the_same_for_the_same_seed() -> None:
    tensor = torch.linspace(5, 9, 4000)
    one, again, other = (edited(tensor, Edit("m", hv.noise(seed=seed))) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert float(one.mean()) == pytest.approx(7.0, abs=0.1)
    assert float(one.std()) == pytest.approx(float(tensor.std()), rel=0.05)
    assert float(edited(tensor, Edit("m", hv.noise(3.0))).std()) == pytest.approx(3.0, rel=0.05)


# ------------------------------------------------------------------ the teaching net: 882 = 10·7 + 30·27 + 2


def teaching(*edits: Edit, kinds: Any = ALL) -> hv.Recording:
    net = hv.open_model("demo:fc_relu_fc")
    return hv.capture(
        net, torch.ones(1, 3), HookPlan.of(net, "*", kinds=kinds), target=hv.total(), edits=edits
    )


def gradient_of(recording: hv.Recording, path: str = "", leaf: str = "[0]") -> Any:
    kind = Kind.PARAM_GRAD if path else Kind.GRAD_INPUT
    return recording[Key(path, kind, 0, leaf)].tensor()


def test_zeroing_channel_2_of_the_relu_gives_72() -> None:
    assert teaching(Edit("relu1", hv.zero(), index=2)).output.tolist() == [[72.0]]
    assert teaching(Edit("relu1", hv.zero(), index=(slice(None), slice(2, 3)))).output.tolist() == [[72.0]]


def test_a_gradient_doubled_at_the_relu_leaves_the_later_layer_alone() -> None:
    plain, doubled = teaching(), teaching(Edit("relu1", hv.scale(2), kind=Kind.GRAD_OUTPUT))
    assert torch.equal(gradient_of(doubled), 2 * gradient_of(plain))
    assert torch.equal(gradient_of(doubled, "fc2", "weight"), gradient_of(plain, "fc2", "weight"))
    assert torch.equal(gradient_of(doubled, "fc1", "weight"), 2 * gradient_of(plain, "fc1", "weight"))


def test_a_gradient_doubled_at_the_first_layers_input_leaves_its_weight_alone() -> None:
    plain, doubled = teaching(), teaching(Edit("fc1", hv.scale(2), kind=Kind.GRAD_INPUT))
    assert torch.equal(gradient_of(doubled), 2 * gradient_of(plain))
    assert torch.equal(gradient_of(doubled, "fc1", "weight"), gradient_of(plain, "fc1", "weight"))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (hv.zero(), [0.0, 0.0, 0.0]),
        (hv.scale(0.5), [110.0, 130.0, 150.0]),
        (hv.clip(250), [220.0, 250.0, 250.0]),
        (hv.reverse(), [-220.0, -260.0, -300.0]),
    ],
)
def test_a_gradient_is_zeroed_scaled_clipped_or_reversed(operation: Any, expected: list[float]) -> None:
    recording = teaching(Edit("fc1", operation, kind=Kind.GRAD_INPUT))
    assert gradient_of(recording)[0].tolist() == expected


def test_the_gradient_of_a_parameter_is_edited_by_its_name() -> None:
    edit = Edit("fc2", hv.reverse(), kind=Kind.PARAM_GRAD, leaf="weight")
    recording = teaching(edit)
    assert gradient_of(recording, "fc2", "weight").tolist() == [[-7.0, 0.0, -27.0, 0.0]]
    assert gradient_of(recording, "fc2", "bias").tolist() == [1.0]
    assert recording.edited == (0,)


# ------------------------------------------------------------------ values of other runs


def sequential() -> torch.nn.Sequential:
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(inplace=True), torch.nn.Conv2d(4, 5, 3)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(5 * 16, 2))


def photographs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    first, second = torch.rand(2, 1, 3, 8, 8, generator=generator)
    return first, second


@pytest.mark.parametrize("path", ["0", "1", "2", "3", "4"])
@pytest.mark.parametrize("index", [None, list(range(4)), (slice(None),)])
def test_patching_a_whole_layer_gives_the_other_inputs_output(path: str, index: Any) -> None:
    net, (first, second) = sequential(), photographs()
    plan = HookPlan.of(net, "*")
    source = hv.capture(net, second, plan)
    if isinstance(index, list):
        index = list(range(source.record(path, Kind.OUTPUT).shape[1]))
    patched = hv.capture(net, first, plan, edits=[Edit(path, hv.same_as(source, "second"), index=index)])
    assert torch.equal(patched.output, source.output)
    assert not torch.equal(patched.output, hv.capture(net, first, plan).output)


def test_patching_one_channel_takes_that_channel_only() -> None:
    net, (first, second) = sequential(), photographs()
    plan = HookPlan.of(net, "0", "1")
    plain, source = hv.capture(net, first, plan), hv.capture(net, second, plan)
    region = (slice(None), 2, slice(1, 3), slice(0, 4))
    for index in (2, region):
        patched = hv.capture(net, first, plan, edits=[Edit("0", hv.same_as(source), index=index)])
        expected, place = (
            plain.record("0", Kind.OUTPUT).tensor(),
            index if index == region else (slice(None), 2),
        )
        expected[place] = source.record("0", Kind.OUTPUT).tensor()[place]
        assert torch.equal(patched.record("0", Kind.OUTPUT).tensor(), expected)


def test_a_patch_takes_the_same_call_and_leaf() -> None:
    relu = torch.nn.ReLU()
    net = torch.nn.Sequential(relu, torch.nn.Linear(1, 1), relu)
    plan = HookPlan.of(net, "0")
    source = hv.capture(net, torch.tensor([[5.0]]), plan)
    patched = hv.capture(net, X, plan, edits=[Edit("0", hv.same_as(source), call=1)])
    assert patched[Key("0", Kind.OUTPUT, 0)].array().item() == 1.0
    assert torch.equal(patched.output, source.output)


def test_the_mean_of_several_runs_takes_their_place() -> None:
    net, inputs = sequential(), (*photographs(), torch.zeros(1, 3, 8, 8))
    plan = HookPlan.of(net, "2")
    runs = [hv.capture(net, x, plan) for x in inputs]
    edit = Edit("2", hv.mean_of(*runs, names=("a", "b", "c")))
    recording = hv.capture(net, inputs[0], plan, edits=[edit])
    expected = torch.stack([run.record("2", Kind.OUTPUT).tensor().double() for run in runs]).mean(0).float()
    assert torch.equal(recording.record("2", Kind.OUTPUT).tensor(), expected)
    assert recording.provenance["edits"] == "mean_of(a, b, c) on output of 2"


def test_a_patch_from_a_run_that_has_no_such_tensor_says_so() -> None:
    net, (first, second) = sequential(), photographs()
    source = hv.capture(net, second, HookPlan.of(net, "0"))
    with pytest.raises(HookViewerError, match="The run of coffee has no output of 1"):
        hv.capture(net, first, HookPlan.of(net, "0"), edits=[Edit("1", hv.same_as(source, "coffee"))])
    wide = hv.capture(net[:3], torch.rand(1, 3, 9, 9), HookPlan.of(net[:3], "0"))
    for operation in (hv.same_as(wide), hv.mean_of(source, wide)):
        with pytest.raises(HookViewerError, match=r"cannot replace|different shapes"):
            hv.capture(net, first, HookPlan.of(net, "0"), edits=[Edit("0", operation)])
    with pytest.raises(HookViewerError, match="at least one"):
        hv.mean_of()


# ------------------------------------------------------------------ a function from a file


def test_a_function_from_a_file_is_an_operation(tmp_path: Path) -> None:
    file = tmp_path / "my_edits.py"
    file.write_text("def half(t):\n    return t / 2\n\ndef broken(t):\n    return t.no_such\n")
    edit = Edit("fc1", hv.function_of(str(file), "half"))
    assert teaching(edit).output.tolist() == [[442.0]]
    assert str(edit) == "function_of(my_edits.py, half) on output of fc1"
    with pytest.raises(HookViewerError, match="raised AttributeError"):
        teaching(Edit("fc1", hv.function_of(str(file), "broken")))
    with pytest.raises(HookViewerError, match="no function third: it has half, broken"):
        hv.function_of(str(file), "third")
    with pytest.raises(HookViewerError, match="no file"):
        hv.function_of(str(tmp_path / "none.py"))
    file.write_text("def half(t:\n")
    with pytest.raises(HookViewerError, match=r"cannot be run \(SyntaxError"):
        hv.function_of(str(file), "half")


# ------------------------------------------------------------------ what an edit did


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (Edit("relu1", hv.clamp(low=0)), False),
        (Edit("relu1", hv.scale(2)), True),
        (Edit("fc2", hv.clip(1), kind=Kind.GRAD_OUTPUT), False),
        (Edit("fc2", hv.scale(2), kind=Kind.GRAD_OUTPUT), True),
        (Edit("fc2", hv.clip(27), kind=Kind.PARAM_GRAD), False),
        (Edit("fc2", hv.clip(26), kind=Kind.PARAM_GRAD), True),
        (Edit("fc1", hv.zero(), index=1), True),
        (Edit("relu1", hv.zero(), index=1), False),
    ],
)
def test_an_edit_that_changed_nothing_says_so(edit: Edit, changed: bool) -> None:
    recording = teaching(edit)
    assert recording.edited == ((0,) if changed else ())
    assert any("changed nothing" in note for note in recording.notes) is not changed


def test_an_edit_that_changes_a_later_call_only_has_changed_something() -> None:
    relu = torch.nn.ReLU()
    net = torch.nn.Sequential(relu, torch.nn.Flatten(), relu)
    net[1].register_forward_hook(lambda module, args, output: output * 0 + 5)
    edits = [Edit("0", hv.clamp(high=3)), Edit("0", hv.clamp(low=0))]
    recording = hv.capture(net, X, HookPlan.of(net, "0"), edits=edits)
    assert recording.edited == (0,)
    assert [note for note in recording.notes if "changed nothing" in note] == [
        "The edit clamp(0, None) on output of 0 changed nothing: the values were like that before."
    ]


# ------------------------------------------------------------------ written down

PLAIN = [
    Edit("a.b", hv.zero()),
    Edit("a.b", hv.scale(0.5), kind=Kind.GRAD_OUTPUT, call=1, leaf="[0]"),
    Edit("a.b", hv.add(torch.tensor([1, 2])), index=3),
    Edit(":add#0", hv.clamp(None, 2.0), index=[0, 2]),
    Edit("", hv.replace(7.0), kind=Kind.INPUT, index=(slice(None), 2, slice(0, 4, 2))),
    Edit("a", hv.reverse(), kind=Kind.GRAD_INPUT),
    Edit("a", hv.clip(1.0), kind=Kind.PARAM_GRAD, leaf="weight"),
    Edit("a", hv.clip_norm(1.0)),
    Edit("a", hv.noise(seed=3), index=slice(0, 1)),
]


@pytest.mark.parametrize("edit", PLAIN, ids=str)
def test_an_edit_survives_being_written_down(edit: Edit) -> None:
    words = json.loads(json.dumps(hv.describe(edit)))
    for again in (hv.edit_of(words), eval(hv.script_of(edit), {"hv": hv, "torch": torch})):
        assert hv.describe(again) == words
        assert str(again) == str(edit)
        assert (again.index, again.kind, again.call, again.leaf) == (
            edit.index,
            edit.kind,
            edit.call,
            edit.leaf,
        )


def test_edits_from_runs_are_written_down_by_the_names_of_inputs(tmp_path: Path) -> None:
    net = Chain()
    runs = {name: hv.capture(net, X * k, HookPlan.of(net, "*")) for k, name in enumerate(("cat", "a dog"))}
    edits = [
        Edit("relu", hv.same_as(runs["cat"], "cat")),
        Edit("relu", hv.mean_of(*runs.values(), names=tuple(runs))),
    ]
    for edit in edits:
        again = hv.edit_of(json.loads(json.dumps(hv.describe(edit))), runs)
        assert hv.describe(again) == hv.describe(edit)
    assert hv.script_of(edits[0]) == "hv.Edit('relu', hv.same_as(cat, 'cat'))"
    assert hv.script_of(edits[1], {"cat": "first", "a dog": "second"}) == (
        "hv.Edit('relu', hv.mean_of(first, second, names=('cat', 'a dog')))"
    )
    with pytest.raises(HookViewerError, match="no run of the input cat"):
        hv.edit_of(hv.describe(edits[0]), {})
    file = tmp_path / "edits.py"
    file.write_text("def edit(t):\n    return -t\n")
    words = hv.describe(Edit("relu", hv.function_of(str(file))))
    assert words["operation"] == {"name": "function_of", "file": str(file), "name_of": "edit"}
    assert hv.edit_of(words).operation(torch.ones(1)).tolist() == [-1.0]
    assert (
        hv.script_of(hv.edit_of(words)) == f"hv.Edit('relu', hv.function_of(file={str(file)!r}, name='edit'))"
    )


def test_what_has_no_words_says_so() -> None:
    with pytest.raises(HookViewerError, match="function_of"):
        hv.describe(Edit("m", lambda t: t))
    with pytest.raises(HookViewerError, match="too large"):
        hv.describe(Edit("m", hv.replace(torch.ones(100, 100))))
    with pytest.raises(HookViewerError, match="cannot be written down"):
        hv.describe(Edit("m", hv.zero(), index=(torch.tensor([1]),)))
    for words in ({}, {**hv.describe(Edit("m", hv.zero())), "operation": {"name": "rm"}}):
        with pytest.raises(HookViewerError, match="no edit"):
            hv.edit_of(words)
