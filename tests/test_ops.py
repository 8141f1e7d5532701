"""Functional calls: what is listed, recorded and edited of the functions that a model calls."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
import torch
from ops_nets import Attention, Checkpointed, Inner, Parts, Steps, Twice, Unheld
from torch import nn
from truth_nets import state_of

import hookviewer as hv
from hookviewer import Edit, HookPlan, HookViewerError, Key, Kind

T = torch.Tensor
EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}
X = torch.tensor([[1.0, -2.0], [-3.0, 4.0]])


def run(net: nn.Module, x: Any, *patterns: str, edits: Any = (), **more: Any) -> hv.Recording:
    plan = HookPlan.of(net, *patterns, kinds=EVERY)
    return hv.capture(net, x, plan, target=more.pop("target", hv.total()), edits=edits, **more)


def values(recording: hv.Recording, path: str, kind: Kind, leaf: str | None = None, call: int = 0) -> Any:
    if leaf is None:
        return recording.record(path, kind, call).array().tolist()
    return recording[Key(path, kind, call, leaf)].array().tolist()


def paths(recording: hv.Recording) -> list[str]:
    return [call.path for call in recording.op_calls]


# ------------------------------------------------------------------ what is listed


def test_functional_calls_are_listed_in_order_of_execution_with_their_shapes() -> None:
    net = Inner()
    recording = hv.capture(net, torch.ones(2, 3), HookPlan.of(net, "linear").with_ops())
    assert [call.path for call in recording.in_order()] == ["", "linear", ":relu#0", ":add#0"]
    assert [call.functional for call in recording.in_order()] == [False, False, True, True]
    (added,) = recording.calls(":add#0")
    assert (added.input_shapes, added.output_shapes) == (((2, 3), (2, 3)), ((2, 3),))
    assert (added.input_leaves, added.output_leaves) == (("[0]", "[1]"), ("",))
    assert list(recording) == [Key("linear", Kind.OUTPUT)]


def test_nothing_is_listed_nor_watched_unless_it_is_asked_for() -> None:
    depths = []

    class Spy(Inner):
        def forward(self, x: T) -> Any:
            depths.append(torch._C._len_torch_function_stack())
            return super().forward(x)

    net = Spy()
    assert hv.capture(net, torch.ones(2, 3), HookPlan.of(net, "*")).op_calls == ()
    assert hv.capture(net, torch.ones(2, 3), HookPlan.of(net, "*").with_ops()).op_calls != ()
    assert depths == [0, 1]


def test_functional_calls_can_be_summarised_like_modules() -> None:
    net, x = Twice(), torch.rand(2, 3)
    plan = HookPlan(frozenset({":tanh#0"}), EVERY, summarised=frozenset({"inner", "*:*"}))
    recording = hv.capture(net, x, plan, target=hv.total())
    everything = run(net, x, "*:*")
    for key, record in recording.records.items():
        if key.path == ":tanh#0":
            assert torch.equal(record.tensor(), everything[key].tensor())
        else:
            assert record.kept is None
            assert record.summary is not None
            if key.path != "inner":
                assert record.summary.mean_abs == hv.statistics(everything[key]).mean_abs
    assert {key.path for key in recording} == {"inner", "inner:relu#0", "inner:add#0", ":tanh#0", ":tanh#1"}


def test_a_call_of_a_module_tells_its_class() -> None:
    net = Unheld()
    recording = hv.capture(net, torch.rand(2, 3), HookPlan(frozenset({""})).with_ops())
    types = {call.path: call.type for call in recording.in_order()}
    assert types[""] == "Unheld"
    assert types["blocks[0]"] == "Sequential"
    assert types[":Softplus#1"] == "Softplus"
    inner = hv.capture(Inner(), torch.ones(2, 3), HookPlan(frozenset({""})).with_ops())
    assert [call.type for call in inner.op_calls] == ["", ""]


def test_a_call_is_counted_within_one_call_of_its_module() -> None:
    net, x = Twice(), torch.rand(2, 3)
    recording = run(net, x, "*:*")
    assert paths(recording) == [
        *("inner:relu#0", "inner:add#0", ":tanh#0"),
        *("inner:relu#0", "inner:add#0", ":tanh#1"),
    ]
    assert [call.number for call in recording.calls("inner:add#0")] == [0, 1]
    first = net.inner(x)
    second = net.inner(first.tanh())
    for call, expected in enumerate((first, second)):
        assert torch.equal(recording.record("inner:add#0", Kind.OUTPUT, call).tensor(), expected)
    assert torch.equal(recording.record(":tanh#1", Kind.OUTPUT).tensor(), second.tanh())
    assert recording.calls("again:add#0") == recording.calls("inner:add#0")
    assert recording.record("again:add#0", Kind.OUTPUT).key.path == "inner:add#0"


def test_what_runs_inside_of_a_layer_of_torch_is_its_record_already() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.GELU(), nn.LSTM(3, 3))
    recording = hv.capture(net, torch.ones(2, 3), HookPlan.of(net, "0").with_ops())
    assert recording.op_calls == ()
    recording = hv.capture(net, torch.ones(2, 3), HookPlan.of(net, "0:linear#0"))
    assert recording.absent[Key("0:linear#0", Kind.OUTPUT)].startswith("What runs inside of a Linear")


def test_the_calls_of_hookviewer_itself_are_never_listed() -> None:
    net = Inner()
    edits = [Edit("linear", lambda t: t.abs().sqrt()), Edit(":relu#0", hv.scale(2), kind=Kind.GRAD_OUTPUT)]
    recording = run(net, torch.ones(2, 3), "*", "*:*", edits=edits, target=hv.unit("", 0))
    assert paths(recording) == [":relu#0", ":add#0"]


# ------------------------------------------------------------------ how a plan names them


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("inner:add#0", {"inner:add#0"}),
        ("again:add#0", {"inner:add#0"}),
        ("inner:*", {"inner:relu#0", "inner:add#0"}),
        ("aga*:re*", {"inner:relu#0"}),
        ("op:tanh", {":tanh#0", ":tanh#1"}),
        (":tanh#1", {":tanh#1"}),
        ("*:*", {"inner:relu#0", "inner:add#0", ":tanh#0", ":tanh#1"}),
    ],
)
def test_a_pattern_with_a_colon_means_functional_calls(pattern: str, expected: set[str]) -> None:
    net = Twice()
    recording = hv.capture(net, torch.ones(2, 3), HookPlan.of(net, pattern))
    assert {key.path for key in recording} == expected
    assert not recording.absent


def test_a_pattern_of_a_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(HookViewerError, match="did you mean 'inner'"):
        HookPlan.of(Twice(), "iner:add*")
    with pytest.raises(HookViewerError, match="did you mean"):
        hv.capture(Twice(), torch.ones(2, 3), HookPlan(frozenset({"iner:add#0"})))


def test_what_no_call_matches_is_told() -> None:
    net = Twice()
    plan = HookPlan.of(net, "inner:mul#0", "op:addd")
    recording = hv.capture(net, torch.ones(2, 3), plan)
    reason = recording.absent[Key("inner:mul#0", Kind.OUTPUT)]
    assert reason == "inner made no such call in this run; it made relu#0, add#0."
    assert "No functional call of this run matches 'op:addd'; it made add." in recording.notes


# ------------------------------------------------------------------ values and gradients


def test_in_place_forms_keep_the_value_before_and_after() -> None:
    recording = run(Steps(), X, "", "*:*")
    names = paths(recording)
    assert names == [":mul#0", ":setitem#0", ":add_#0", ":relu#0"]
    steps = [[[2, -4], [-6, 8]], [[5, 5], [-6, 8]], [[6, 6], [-5, 9]], [[6, 6], [0, 9]]]
    assert [values(recording, path, Kind.OUTPUT) for path in names] == steps
    assert [values(recording, path, Kind.INPUT, "[0]") for path in names[1:]] == steps[:-1]
    overwritten = [recording.record(path, Kind.OUTPUT).overwritten_by for path in names]
    assert overwritten == [":setitem#0", ":add_#0", ":relu#0", None]
    ones, mask, kept = [[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]]
    gradients = [values(recording, path, Kind.GRAD_OUTPUT) for path in names]
    assert gradients == [kept, mask, mask, ones]
    assert values(recording, ":setitem#0", Kind.GRAD_INPUT, "[0]") == kept
    assert values(recording, "", Kind.GRAD_INPUT, "[0]") == [[0.0, 0.0], [0.0, 2.0]]


def test_a_use_of_a_tensor_is_told_from_all_its_uses() -> None:
    class Net(nn.Module):
        def forward(self, x: T) -> Any:
            h = x * 1
            return h.mul(3) + h * 10

    recording = run(Net(), torch.ones(1), "*:*")
    assert values(recording, ":mul#1", Kind.GRAD_INPUT, "[0]") == [3.0]
    assert values(recording, ":mul#2", Kind.GRAD_INPUT, "[0]") == [10.0]
    assert values(recording, ":mul#1", Kind.GRAD_INPUT_TOTAL, "[0]") == [13.0]


def test_every_part_of_a_nested_output_is_a_leaf() -> None:
    x = torch.arange(8.0).reshape(2, 4)
    recording = run(Parts(), x, "*:*", target=lambda out: (out * torch.arange(8.0).reshape(2, 4)).sum())
    assert recording.leaves(":chunk#0", Kind.OUTPUT) == ("[0]", "[1]")
    assert values(recording, ":chunk#0", Kind.OUTPUT, "[1]") == [[2.0, 3.0], [6.0, 7.0]]
    assert values(recording, ":unbind#0", Kind.OUTPUT, "[1]") == [6.0, 7.0]
    assert values(recording, ":cat#0", Kind.INPUT, "[0][1]") == [[0.0, 1.0], [4.0, 5.0]]
    assert values(recording, ":chunk#0", Kind.GRAD_OUTPUT, "[0]") == [[2.0, 3.0], [6.0, 7.0]]
    assert values(recording, ":unbind#0", Kind.GRAD_OUTPUT, "[1]") == [12.0, 15.0]
    assert torch.equal(recording.output, Parts()(x))


def test_one_call_of_a_tied_weight_has_a_gradient_of_its_own() -> None:
    net, tokens = Attention(), torch.tensor([[0, 1, 2]])
    recording = run(net, tokens, "*", "*:*")
    head = recording[Key(":linear#1", Kind.GRAD_INPUT, 0, "[1]")].tensor()
    hidden = recording[Key(":linear#1", Kind.INPUT, 0, "[0]")].tensor()
    assert torch.allclose(head, hidden.sum((0, 1)).expand(5, 4))
    total = recording[Key("embed", Kind.PARAM_GRAD, 0, "weight")].tensor()
    assert not torch.allclose(total, head)


def test_weights_used_without_their_module_point_to_the_call() -> None:
    recording = run(Attention(), torch.tensor([[0, 1, 2]]), "*", "*:*")
    assert recording.absent[Key("spare", Kind.OUTPUT)].endswith("used directly by :linear#0.")
    reason = recording.reason(Key("attention.out_proj", Kind.OUTPUT))
    assert reason.endswith("used directly by attention:multi_head_attention_forward#0.")
    output = Key("attention:multi_head_attention_forward#0", Kind.OUTPUT, 0, "[0]")
    assert recording[output].shape == (3, 1, 4)


def test_a_unit_of_a_functional_call_is_a_target() -> None:
    net, x = Twice(), torch.rand(2, 3)
    recording = run(net, x, "inner:add#0", target=hv.unit("again:add#0", (1, 2), call=1))
    leaf = x.clone().requires_grad_()
    second = net.inner(net.inner(leaf).tanh())
    assert recording.target_value == pytest.approx(float(second[1, 2].detach()))
    (gradient,) = torch.autograd.grad(second[1, 2], leaf)
    assert torch.allclose(
        run(net, x, "", target=hv.unit("inner:add#0", (1, 2), 1))[
            Key("", Kind.GRAD_INPUT, 0, "[0]")
        ].tensor(),
        gradient,
    )
    with pytest.raises(HookViewerError, match="no call 0 of inner:mul#0"):
        run(net, x, "", target=hv.unit("inner:mul#0", 0))


# ------------------------------------------------------------------ edits of functional calls


def test_an_edit_of_a_functional_call_flows_on() -> None:
    recording = run(Inner(), torch.ones(2, 3), "*:*", edits=[Edit(":relu#0", hv.replace(7.0))])
    assert recording.output.tolist() == [[8.0] * 3] * 2
    assert recording.edited == (0,)


def test_an_edit_of_one_call_of_a_functional_call_leaves_the_others() -> None:
    net, x = Twice(), torch.rand(2, 3)
    edits = [Edit("inner:relu#0", hv.zero(), call=1), Edit(":tanh#1", hv.add(1.0))]
    recording = hv.capture(net, x, HookPlan.of(net, ""), edits=edits)
    assert torch.equal(recording.output, net.inner(x).tanh().tanh() + 1)


def test_an_edit_of_an_input_is_seen_by_that_call_only() -> None:
    net = Parts()
    edit = Edit(":stack#0", hv.scale(2), kind=Kind.INPUT, leaf="[0][1]")
    recording = hv.capture(net, X.repeat(1, 2), HookPlan.of(net, "*:*"), edits=[edit])
    assert values(recording, ":stack#0", Kind.OUTPUT) == [[1.0, -2.0], [-6.0, 8.0]]
    assert values(recording, ":unbind#0", Kind.OUTPUT, "[1]") == [-3.0, 4.0]


def test_a_gradient_edit_at_the_output_or_at_one_input_of_a_call() -> None:
    net = Inner()
    at_output = [Edit(":add#0", hv.scale(2), kind=Kind.GRAD_OUTPUT)]
    at_input = [Edit(":add#0", hv.zero(), kind=Kind.GRAD_INPUT, leaf="[0]")]
    plain, doubled, cut = (
        run(net, torch.ones(2, 3), "*", "*:*", edits=edits) for edits in ((), at_output, at_input)
    )
    given = Key("", Kind.GRAD_INPUT, 0, "[0]")
    assert torch.allclose(doubled[given].tensor(), 2 * plain[given].tensor())
    assert cut[given].array().tolist() == [[1.0] * 3] * 2
    assert not cut.record("linear", Kind.PARAM_GRAD).array().any()
    before = doubled.record(":add#0", Kind.GRAD_OUTPUT).before_edit
    assert before is not None
    assert before.array().tolist() == [[1.0] * 3] * 2


def test_what_an_edit_cannot_do_is_told() -> None:
    notes = " ".join(run(Steps(), X, "", edits=[Edit(":setitem#0", hv.zero())]).notes)
    assert "no effect: :setitem#0 returns nothing" in notes
    notes = " ".join(run(Steps(), X, "", edits=[Edit(":add_#0", hv.zero())]).notes)
    assert ":add_#0 works in place" in notes
    notes = " ".join(run(Steps(), X, "", edits=[Edit(":mul#7", hv.zero())]).notes)
    assert "did not run" in notes


# ------------------------------------------------------------------ regions with rules of their own


@pytest.mark.parametrize("function", [False, True])
@pytest.mark.parametrize("reentrant", [False, True])
def test_calls_in_a_checkpointed_region_are_seen_once(reentrant: bool, function: bool) -> None:
    net, x = Checkpointed(reentrant=reentrant, function=function), torch.rand(2, 3)
    recording = run(net, x, "*:*")
    middle = [":relu#0"] if function else []
    assert paths(recording) == [":mul#0", "inner:relu#0", "inner:add#0", *middle, ":mul#1"]
    relu = net.inner.linear(x).relu().detach().requires_grad_()
    out = (relu + x).relu() if function else relu + x
    (gradient,) = torch.autograd.grad(out.sum() * 2, relu)
    assert torch.allclose(recording.record("inner:relu#0", Kind.GRAD_OUTPUT).tensor(), gradient)


@pytest.mark.parametrize("reentrant", [False, True])
def test_an_edit_in_a_checkpointed_module_is_made_in_its_second_run_too(reentrant: bool) -> None:
    net, x = Checkpointed(reentrant=reentrant), torch.rand(2, 3)
    edit = Edit("inner:relu#0", lambda t: t * t)
    recording = run(net, x, "", edits=[edit])
    leaf = x.clone().requires_grad_()
    out = (net.inner.linear(leaf).relu() ** 2 + leaf) * 2
    (gradient,) = torch.autograd.grad(out.sum(), leaf)
    assert torch.allclose(recording.output, out)
    assert torch.allclose(recording[Key("", Kind.GRAD_INPUT, 0, "[0]")].tensor(), gradient)


@pytest.mark.parametrize("reentrant", [False, True])
def test_an_edit_that_a_second_run_cannot_repeat_is_refused(reentrant: bool) -> None:
    net = Checkpointed(reentrant=reentrant, function=True)
    with pytest.raises(HookViewerError, match="second run of a checkpointed function"):
        run(net, torch.rand(2, 3), "", edits=[Edit(":relu#0", hv.scale(2))])
    assert torch._C._len_torch_function_stack() == 0


def test_calls_inside_no_grad_and_vmap_have_values_or_reasons() -> None:
    class Net(nn.Module):
        def forward(self, x: T) -> Any:
            with torch.no_grad():
                gate = torch.sigmoid(x)
            return torch.func.vmap(lambda row: row.exp() * 2)(x) * gate

    edits = [Edit(":exp#0", hv.zero())]
    recording = run(Net(), X, "*:*", edits=edits)
    assert torch.equal(recording.record(":sigmoid#0", Kind.OUTPUT).tensor(), X.sigmoid())
    assert "no_grad" in recording.absent[Key(":sigmoid#0", Kind.GRAD_OUTPUT)]
    assert "vmap" in recording.record(":exp#0", Kind.OUTPUT).missing
    assert "vmap" in recording.absent[Key(":exp#0", Kind.GRAD_OUTPUT)]
    assert [note for note in recording.notes if "did not run" in note] == [
        "The edit zero() on output of :exp#0 did not run inside a vmap or grad transform."
    ]


def test_functions_of_a_compiled_module_are_seen_as_it_runs_uncompiled() -> None:
    net: Any = torch.compile(Inner(), backend="eager")
    recording = hv.capture(net, torch.ones(2, 3), HookPlan.of(net, "*:*"))
    assert paths(recording) == [":relu#0", ":add#0"]


class Stops(Inner):
    def forward(self, x: T) -> Any:
        h = super().forward(x)
        return torch.cat([h, x[:, :1].T])


@pytest.mark.parametrize("how", ["fine", "raises", "cancelled"])
def test_no_mode_and_no_hook_is_left_behind(how: str) -> None:
    net = Stops() if how == "raises" else Inner()
    before, asked = state_of(net), []

    def cancelled() -> bool:
        asked.append(1)
        return how == "cancelled" and len(asked) > 3

    plan = HookPlan.of(net, "*", "*:*", kinds=EVERY)
    expected: Any = {"raises": hv.ModelError, "cancelled": hv.Cancelled}.get(how)
    ends = contextlib.nullcontext() if expected is None else pytest.raises(expected)
    with ends as caught:
        hv.capture(net, torch.ones(2, 3), plan, target=hv.total(), cancelled=cancelled)
    assert torch._C._len_torch_function_stack() == 0
    assert state_of(net) == before
    if how == "raises":
        assert caught is not None
        recording = caught.value.recording
        assert recording.calls(":cat#0")[0].status == "raised"
        assert recording.absent[Key(":cat#0", Kind.OUTPUT)].startswith("The call raised")
        assert recording.record(":relu#0", Kind.OUTPUT).shape == (2, 3)


# ------------------------------------------------------------------ modules that no module holds


def test_modules_that_are_no_submodules_have_a_path_under_what_holds_them() -> None:
    torch.manual_seed(0)
    net, x = Unheld(), torch.rand(2, 3)
    linear: Any = net.blocks[0][0]
    plan = HookPlan.of(net, "*", "blocks[0].0", kinds=EVERY)
    recording = hv.capture(net, x, plan, target=hv.total())
    found = [call.path for call in recording.in_order()]
    assert found == [
        *("", "blocks[0]", "blocks[0].0", "blocks[0].1", "box.layer"),
        *(":Softplus#0", ":Softplus#1", "heads['a']"),
    ]
    assert not any(call.functional for call in recording.in_order())
    assert torch.equal(recording.record("blocks[0].0", Kind.OUTPUT).tensor(), linear(x))
    assert torch.equal(recording.record("blocks[0].0", Kind.PARAM).tensor(), linear.weight)
    assert sum("no module holds" in note for note in recording.notes) == 2


def test_found_modules_can_be_planned_and_edited_by_their_paths() -> None:
    net, x = Unheld(), torch.rand(2, 3)
    names = ("blocks[0].0", "box.layer", ":Softplus#1", "heads['a']")
    edits = [Edit("blocks[0]", hv.zero())]
    recording = hv.capture(net, x, HookPlan.of(net, *names), edits=edits)
    assert {key.path for key in recording} == set(names)
    assert torch.equal(recording.record("box.layer", Kind.OUTPUT).tensor()[0], net.box.layer.bias)
    with pytest.raises(HookViewerError, match="No module matches"):
        HookPlan.of(net, "block[0]")


def test_a_module_that_every_call_builds_anew_has_one_path() -> None:
    class Builds(nn.Module):
        def forward(self, x: T) -> Any:
            return nn.Tanh()(x)

    inner = Builds()
    net = nn.Sequential(inner, inner)
    recording = hv.capture(net, X, HookPlan.of(net, "*"))
    assert [call.number for call in recording.calls("0:Tanh#0")] == [0, 1]
    assert torch.equal(recording.record("0:Tanh#0", Kind.OUTPUT, 1).tensor(), X.tanh().tanh())


# ------------------------------------------------------------------ what is kept


def test_a_saved_recording_keeps_its_functional_calls(tmp_path: Path) -> None:
    net = Inner()
    recording = run(net, torch.ones(2, 3), "*:*", edits=[Edit(":relu#0", hv.scale(3))])
    hv.save(recording, tmp_path / "run.npz")
    again = hv.load(tmp_path / "run.npz")
    assert paths(again) == paths(recording)
    assert again.edited == recording.edited
    assert again.record(":add#0", Kind.OUTPUT).array().tolist() == values(recording, ":add#0", Kind.OUTPUT)


def test_the_functional_calls_of_one_run_stay_known_beside_another_that_lists_none() -> None:
    net, x = Inner(), torch.ones(2, 3)
    listed, plain = run(net, x, "op:add"), run(net, x, "linear")
    for merged in (listed.merged(plain), plain.merged(listed)):
        assert paths(merged) == [":relu#0", ":add#0"]
        assert {key.path for key in merged} == {":add#0", "linear"}


def test_a_model_with_functions_is_left_as_it_was() -> None:
    net, x = Attention(), torch.tensor([[0, 1, 2]])
    before, plain = state_of(net), net(x)
    recording = run(net, x, "*", "*:*")
    assert torch.equal(recording.output, plain)
    assert state_of(net) == before
