"""Sequences, transformers, frozen, compiled, wrapped and lazy models, and tensors of every make."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, prune, rnn
from truth_nets import Plain, state_of

import hookviewer as hv
from hookviewer import Key, Kind

T = torch.Tensor
EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


def run(net: nn.Module, *args: Any, target: Any = None, kinds: Any = EVERY, **options: Any) -> hv.Recording:
    target = (target or hv.total()) if any(kind.needs_target for kind in kinds) else None
    before = state_of(net)
    recording = hv.capture(net, args, hv.HookPlan.of(net, "*", kinds=kinds), target=target, **options)
    assert state_of(net) == before
    return recording


def near(tensor: T) -> Any:
    return pytest.approx(tensor.detach().numpy(), rel=1e-5, abs=1e-6)


# ------------------------------------------------------------------ sequences and attention


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(3, 5, batch_first=True, bidirectional=True), nn.Linear(10, 2)

    def forward(self, x: T, lengths: T) -> T:
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        padded, _ = rnn.pad_packed_sequence(out, batch_first=True)
        return self.head(padded).tanh()


def test_an_lstm_with_a_packed_sequence() -> None:
    net, x, lengths = Packed(), torch.randn(3, 4, 3), torch.tensor([2, 4, 1])
    leaf = x.clone().requires_grad_()
    packed = rnn.pack_padded_sequence(leaf, lengths, batch_first=True, enforce_sorted=False)
    out, (h, c) = net.lstm(packed)
    padded, _ = rnn.pad_packed_sequence(out, batch_first=True)
    output = net.head(padded).tanh()
    gradients = torch.autograd.grad(output.sum(), [leaf, packed.data, out.data])
    recording = run(net, x, lengths)
    assert torch.equal(recording.output, output)
    assert recording[Key("lstm", Kind.OUTPUT, 0, "[0].data")].array() == near(out.data)
    assert recording[Key("lstm", Kind.OUTPUT, 0, "[1][0]")].array() == near(h)
    assert recording[Key("lstm", Kind.OUTPUT, 0, "[1][1]")].array() == near(c)
    assert recording[Key("lstm", Kind.GRAD_OUTPUT, 0, "[0].data")].array() == near(gradients[2])
    assert recording[Key("lstm", Kind.GRAD_INPUT, 0, "[0].data")].array() == near(gradients[1])
    assert recording[Key("", Kind.GRAD_INPUT, 0, "[0]")].array() == near(gradients[0])
    for leaf_name in ("[1][0]", "[1][1]"):
        assert recording.absent[Key("lstm", Kind.GRAD_OUTPUT, 0, leaf_name)].strip()
    assert "int64" in recording.reason(Key("", Kind.GRAD_INPUT, 0, "[1]"))


@pytest.mark.parametrize("mode", ["eval", "train"])
def test_a_transformer_encoder_with_a_padding_mask(mode: str) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    net = nn.TransformerEncoder(layer, 2)
    x, mask = torch.randn(2, 5, 8), torch.zeros(2, 5, dtype=torch.bool)
    mask[1, 3:] = True
    weights = torch.randn(2, 5, 8)
    twin = copy.deepcopy(net).train(mode == "train")
    seen, leaf = Plain(twin), x.clone().requires_grad_()
    with torch.random.fork_rng():
        torch.manual_seed(3)
        output = twin(leaf, src_key_padding_mask=mask)
    (gradient,) = torch.autograd.grad((output * weights).sum(), leaf)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    before = state_of(net)
    recording = hv.capture(
        *(net, x, plan), kwargs={"src_key_padding_mask": mask}, target=hv.dot(weights), mode=mode, seed=3
    )
    assert state_of(net) == before
    assert torch.equal(recording.output, output)
    assert recording[Key("", Kind.GRAD_INPUT, 0, "[0]")].array() == near(gradient)
    assert len(seen.outputs) > 15
    for (path, call, place), value in seen.outputs.items():
        assert torch.equal(recording[Key(path, Kind.OUTPUT, call, place)].tensor(), value)
    for (path, call, place), value in seen.output_gradients.items():
        assert recording[Key(path, Kind.GRAD_OUTPUT, call, place)].array() == near(value), path
    assert np.array_equal(recording[Key("", Kind.INPUT, 0, "['src_key_padding_mask']")].array(), mask.numpy())


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(10, 4), nn.Linear(4, 3)

    def forward(self, tokens: T) -> T:
        return self.head(self.words(tokens)).tanh()


@pytest.mark.parametrize("frozen", [False, True])
def test_tokens_have_their_gradient_at_the_embedding(frozen: bool) -> None:
    net, tokens = Tokens(), torch.tensor([[1, 4, 4]])
    net.requires_grad_(not frozen)
    words = net.words(tokens).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(net.head(words).tanh().sum(), words)
    recording = run(net, tokens)
    assert recording.record("words", Kind.GRAD_OUTPUT).array() == near(gradient)
    assert recording.record("head", Kind.GRAD_INPUT).array() == near(gradient)
    assert "int64" in recording.absent[Key("", Kind.GRAD_INPUT, 0, "[0]")]
    weight = Key("words", Kind.PARAM_GRAD, 0, "weight")
    assert (weight in recording.absent) == frozen
    if frozen:
        assert "frozen" in recording.absent[weight] or "require" in recording.absent[weight]
    assert all(parameter.requires_grad is not frozen for parameter in net.parameters())


def test_a_frozen_net_has_gradients_through_its_input() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)).requires_grad_(False)
    x = torch.randn(2, 3)
    leaf = x.clone().requires_grad_()
    first = net[0](leaf)
    hidden = functional.relu(first)
    gradients = torch.autograd.grad(net[2](hidden).sum(), [leaf, first, hidden])
    recording = run(net, x)
    got = [
        recording.record(*key)
        for key in (("", Kind.GRAD_INPUT), ("0", Kind.GRAD_OUTPUT), ("1", Kind.GRAD_OUTPUT))
    ]
    for record, gradient in zip(got, gradients, strict=True):
        assert record.array() == near(gradient)


# ------------------------------------------------------------------ where there is no gradient, and why


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.silent, self.cut, self.used, self.dead = (nn.Linear(3, 3) for _ in range(4))
        self.never, self.box = nn.Linear(3, 3), nn.ModuleList([nn.Linear(3, 3)])

    def forward(self, x: T) -> T:
        with torch.no_grad():
            silent = self.silent(x)
        self.dead(x)
        return self.used(x) + silent + self.cut(x).detach() + self.box[0](x)


def test_each_missing_gradient_has_its_own_true_reason() -> None:
    recording = run(Parts(), torch.randn(2, 3))
    for path in ("silent", "cut", "dead", "never", "box"):
        with pytest.raises(KeyError):
            recording.record(path, Kind.GRAD_OUTPUT)
    reasons = {
        path: recording.reason(Key(path, Kind.GRAD_OUTPUT)) for path in ("silent", "cut", "never", "box")
    }
    assert "no_grad" in reasons["silent"]
    assert "no gradient reached" in reasons["cut"].lower()
    assert "not called" in reasons["never"].lower()
    assert "container" in reasons["box"].lower() or "ModuleList" in reasons["box"]
    assert len(set(reasons.values())) == 4
    assert recording.record("used", Kind.GRAD_OUTPUT).array().tolist() == [[1.0] * 3] * 2
    assert recording.record("box.0", Kind.GRAD_OUTPUT).array().tolist() == [[1.0] * 3] * 2
    never = recording.absent[Key("never", Kind.OUTPUT)]
    assert "not called" in never.lower()


def test_a_model_built_in_inference_mode_says_why_it_has_no_gradient() -> None:
    with torch.inference_mode():
        net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    x = torch.randn(4, 3)
    recording = hv.capture(net, x, hv.HookPlan.of(net, "*"))
    with torch.inference_mode():
        assert torch.equal(recording.record("0", Kind.OUTPUT).tensor(), net[0](x))
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    try:
        text = " ".join(hv.capture(net, x, plan, target=hv.total()).absent.values())
    except hv.HookViewerError as error:
        text = str(error)
    assert "inference" in text.lower()


# ------------------------------------------------------------------ forms of programs


def small() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))


def same_recordings(a: hv.Recording, b: hv.Recording) -> None:
    assert list(a) == list(b)
    assert all(torch.equal(a[key].tensor(), b[key].tensor()) for key in a)


@pytest.mark.parametrize("wrap", [nn.DataParallel, torch.compile], ids=["DataParallel", "compile"])
def test_a_wrapped_model_shows_the_inner_one(wrap: Any) -> None:
    net, x = small(), torch.randn(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = wrap(net)
    expected = hv.capture(net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    plan = hv.HookPlan.of(wrapped, "*", kinds=EVERY)
    recording = hv.capture(wrapped, x, plan, target=hv.total())
    same_recordings(recording, expected)
    assert hv.module_tree(wrapped).type == "Sequential"
    assert [node.path for node in hv.module_tree(wrapped).walk()] == ["", "0", "1", "2"]
    assert recording.notes
    assert not expected.notes


def test_a_compiled_part_runs_eagerly_and_is_seen() -> None:
    net = small()
    net[0].compile(backend="eager")
    recording = run(net, torch.ones(1, 3))
    plain = small()
    plain.load_state_dict(net.state_dict())
    expected = run(plain, torch.ones(1, 3))
    for path in ("0", "1", "2"):
        for kind in (Kind.OUTPUT, Kind.GRAD_OUTPUT):
            assert torch.equal(recording.record(path, kind).tensor(), expected.record(path, kind).tensor())


class Hidden(nn.Module):
    """Modules in a plain list, weights used without their module, a function made in forward."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = [nn.Linear(3, 3)]
        self.direct = nn.Linear(3, 3)

    def forward(self, x: T) -> T:
        return nn.Tanh()(self.plain[0](x)) + functional.linear(x, self.direct.weight)


def test_weights_used_directly_still_have_their_gradient() -> None:
    net, x = Hidden(), torch.randn(2, 3)
    (gradient,) = torch.autograd.grad(net(x).sum(), net.direct.weight)
    recording = run(net, x)
    assert recording[Key("direct", Kind.PARAM_GRAD, 0, "weight")].array() == near(gradient)
    assert recording.absent[Key("direct", Kind.OUTPUT)].strip()
    assert recording.absent[Key("direct", Kind.PARAM_GRAD, 0, "bias")].strip()


def test_modules_in_a_plain_list_are_found_on_the_way() -> None:
    net, x = Hidden(), torch.randn(2, 3)
    first = net.plain[0](x).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(first.tanh().sum(), first)
    before = state_of(net.plain[0])
    recording = run(net, x)
    assert state_of(net.plain[0]) == before
    assert {"plain[0]", ":Tanh#0"} <= {key.path for key in recording}
    assert any(":Tanh#0 is a Tanh that no module holds" in note for note in recording.notes)
    linear = "plain[0]"
    assert torch.equal(recording.record(linear, Kind.OUTPUT).tensor(), first)
    assert recording.record(linear, Kind.GRAD_OUTPUT).array() == near(gradient)
    for leaf in ("weight", "bias"):
        key = Key(linear, Kind.PARAM_GRAD, 0, leaf)
        assert key in recording or "no parameters" not in recording.reason(key)


def test_a_lazy_model_is_initialised_by_its_first_run() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = nn.Sequential(nn.LazyConv2d(4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.LazyLinear(2))
    assert [node.path for node in hv.module_tree(net).walk()] == ["", "0", "1", "2", "3"]
    x = torch.randn(1, 3, 6, 6)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    recording = hv.capture(net, x, plan, target=hv.total())
    assert torch.equal(recording.output, net(x))
    again = hv.capture(net, x, plan, target=hv.total())
    parameters = {key for key in again if key.kind in (Kind.PARAM, Kind.PARAM_GRAD)}
    assert set(again) - set(recording) <= parameters
    for key in again:
        if key in recording:
            assert torch.equal(again[key].tensor(), recording[key].tensor())
        else:
            assert "initialised" in recording.absent[key]


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_parametrized_layers_show_their_values_and_keep_their_state(mode: str) -> None:
    net = nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(3, 4)),
        parametrizations.weight_norm(nn.Linear(4, 3)),
        prune.l1_unstructured(nn.Linear(3, 3), "weight", amount=0.5),
    )
    x = torch.randn(2, 3)
    twin = nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(3, 4)),
        parametrizations.weight_norm(nn.Linear(4, 3)),
        prune.l1_unstructured(nn.Linear(3, 3), "weight", amount=0.5),
    )
    twin.load_state_dict(net.state_dict())
    twin.train(mode == "train")
    leaf = x.clone().requires_grad_()
    output = twin(leaf)
    (gradient,) = torch.autograd.grad(output.sum(), leaf)
    recording = run(net, x, mode=mode)
    assert torch.equal(recording.output, output)
    assert recording.record("", Kind.GRAD_INPUT).array() == near(gradient)


# ------------------------------------------------------------------ tensors of every make


class Give(nn.Module):
    """Returns what it was made to return."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self.make = make

    def forward(self, x: T) -> Any:
        return self.make(x)


MAKES: dict[str, Any] = {
    "bfloat16": lambda x: x.to(torch.bfloat16) * 3,
    "half": lambda x: x.half() * 3,
    "double": lambda x: x.double().exp(),
    "complex": lambda x: torch.complex(x, x * 2),
    "conjugate": lambda x: torch.complex(x, x * 2).conj(),
    "negated": lambda x: torch.complex(x, x * 2).conj().imag,
    "not finite": lambda x: torch.stack([x, x / 0, -x / 0, x * float("nan")]),
    "empty": lambda x: x[:0] * 2,
    "number": lambda x: x.sum() * 2,
    "integers": lambda x: (x * 10).long(),
    "booleans": lambda x: x > 0,
    "bytes": lambda x: (x.abs() * 10).to(torch.uint8),
    "fp8": lambda x: x.to(torch.float8_e4m3fn),
    "expanded": lambda x: (x * 2)[:, None].expand(4, 5, 3),
    "channels last": lambda x: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last) * x.sum(),
    "slice of a large one": lambda x: (x.sum() * torch.ones(1000, 10))[::100, 3],
}


@pytest.mark.parametrize("name", MAKES)
def test_a_tensor_of_any_make_is_recorded_in_its_true_dtype(name: str) -> None:
    net, x = nn.Sequential(Give(MAKES[name])), torch.tensor([[1.0, -2.0, 3.0]] * 4)
    torch.manual_seed(0)
    expected = MAKES[name](x)
    recording = run(net, x, kinds={Kind.OUTPUT})
    record = recording.record("0", Kind.OUTPUT)
    assert record.shape == tuple(expected.shape)
    assert record.dtype == expected.dtype
    kept = record.tensor()
    assert (kept.dtype, kept.shape) == (expected.dtype, expected.shape)
    wide = torch.float32 if expected.dtype in (torch.bfloat16, torch.float8_e4m3fn) else expected.dtype
    assert np.array_equal(
        record.array(), expected.resolve_conj().resolve_neg().to(wide).numpy(), equal_nan=True
    )
    assert kept.is_contiguous()
    assert kept.untyped_storage().nbytes() == kept.numel() * kept.element_size()
    assert hv.statistics(record).count + hv.statistics(record).nan >= 0


def test_a_complex_tensor_has_its_complex_gradient() -> None:
    net = nn.Sequential(Give(lambda x: torch.complex(x, x * 2)), Give(lambda z: z.abs()))
    x = torch.tensor([1.0, 3.0])
    z = torch.complex(x, x * 2).requires_grad_()
    (gradient,) = torch.autograd.grad(z.abs().sum(), z)
    record = run(net, x).record("0", Kind.GRAD_OUTPUT)
    assert torch.allclose(record.tensor(), gradient)


def test_a_bfloat16_net_has_bfloat16_gradients() -> None:
    net, x = small().bfloat16(), torch.randn(2, 3).bfloat16()
    leaf = x.clone().requires_grad_()
    first = net[0](leaf)
    gradients = torch.autograd.grad(net[2](functional.relu(first)).float().sum(), [leaf, first])
    recording = run(net, x, target=lambda out: out.float().sum())
    for key, gradient in zip((("", Kind.GRAD_INPUT), ("0", Kind.GRAD_OUTPUT)), gradients, strict=True):
        assert recording.record(*key).dtype == torch.bfloat16
        assert torch.equal(recording.record(*key).tensor(), gradient)


def test_not_finite_values_pass_through_forward_and_backward() -> None:
    net = nn.Sequential(Give(lambda x: x.sqrt()), Give(lambda x: x * 2))
    recording = run(net, torch.tensor([-1.0, 0.0, 4.0]))
    assert recording.record("0", Kind.OUTPUT).array() == pytest.approx([np.nan, 0.0, 2.0], nan_ok=True)
    assert recording.record("", Kind.GRAD_INPUT).array() == pytest.approx([np.nan, np.inf, 0.5], nan_ok=True)
    assert hv.statistics(recording.record("0", Kind.OUTPUT)).nan == 1


def test_an_empty_batch_is_recorded() -> None:
    recording = run(small(), torch.zeros(0, 3))
    assert recording.record("0", Kind.OUTPUT).shape == (0, 4)
    assert recording.record("", Kind.GRAD_INPUT).array().shape == (0, 3)
