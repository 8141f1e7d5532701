"""Attention of layers of torch, of torchvision and written by hand, beside what they compute themselves."""

from __future__ import annotations

import copy
import math
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from hookviewer import attention, methods
from hookviewer.attention import Attentions, capture_attention
from hookviewer.edits import Edit, scale, zero
from hookviewer.errors import Cancelled, HookViewerError
from hookviewer.hooks import capture
from hookviewer.kinds import Key, Kind
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording

T = torch.Tensor


def run(model: nn.Module, x: T | tuple[object, ...], **options: object) -> Attentions:
    """Return the attention, having checked that model and output are what they would be without looking."""
    plain = capture(model, x, HookPlan()).output
    found = capture_attention(model, x, **options)  # type: ignore[arg-type]
    for one, other in zip(_tensors(plain), _tensors(found.recording.output), strict=True):
        assert (one - other).abs().max() <= 1e-6
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert torch.overrides._get_current_function_mode() is None
    return found


def _tensors(output: object) -> list[T]:
    return [output] if isinstance(output, torch.Tensor) else [one for one in output if one is not None]  # type: ignore[union-attr]


def rows_add_up_to_one(weights: T) -> bool:
    return bool(
        torch.allclose(weights.sum(-1), torch.ones(weights.shape[:-1], dtype=weights.dtype), atol=1e-5)
    )


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
def test_the_heads_of_torchs_own_layer_are_those_it_returns_itself(batch_first, need_weights):
    class Asked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attend = nn.MultiheadAttention(12, 3, dropout=0.5, batch_first=batch_first)

        def forward(self, x: T) -> T:
            other = x[:, :2] if batch_first else x[:2]
            return self.attend(x, other, other, need_weights=need_weights)[0]

    torch.manual_seed(0)
    model, x = Asked().eval(), torch.randn(4, 5, 12)
    (found,) = run(model, x).values()
    other = x[:2] if not batch_first else x[:, :2]
    expected = model.attend(x, other, other, average_attn_weights=False)[1]
    assert found.record.key == Key("attend", Kind.ATTRIBUTION, 0, "attention")
    assert found.record.shape == ((4, 3, 5, 2) if batch_first else (5, 3, 4, 2))
    torch.testing.assert_close(found.record.tensor(), expected.detach())
    assert found.deviation < 1e-6
    assert "Rebuilt" in found.record.notes[0]


def test_an_encoder_with_its_fast_path_shows_every_layer():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval()
    x = torch.randn(2, 6, 8)
    found = run(model, x)
    assert [key.path for key in found] == [f"layers.{number}.self_attn" for number in range(3)]
    for one in found.values():
        assert one.record.shape == (2, 2, 6, 6)
        assert rows_add_up_to_one(one.record.tensor())
        assert one.deviation < 1e-6
    inputs = x
    for number, each in enumerate(model.layers):
        expected = each.self_attn(inputs, inputs, inputs, average_attn_weights=False)[1]
        (one,) = found.at(f"layers.{number}.self_attn")
        torch.testing.assert_close(one.record.tensor(), expected.detach(), atol=1e-5, rtol=1e-5)
        inputs = each(inputs)


class ByHand(nn.Module):
    """Attention of 2 heads, fused or as a softmax that is multiplied with values in one of several ways."""

    def __init__(self, form: str, **options: object) -> None:
        super().__init__()
        self.form, self.options, self.num_heads = form, options, 2
        self.project = nn.Linear(8, 24)

    def forward(self, x: T) -> T:
        n, tokens, _ = x.shape
        q, k, v = self.project(x).reshape(n, tokens, 3, 2, 4).permute(2, 0, 3, 1, 4)
        if self.form == "fused":
            return functional.scaled_dot_product_attention(q, k, v, **self.options)
        scores = q @ k.transpose(-2, -1) / 2
        if self.form == "bmm":
            weights = functional.softmax(scores.reshape(n * 2, tokens, tokens), dim=-1)
            return torch.bmm(weights, v.reshape(n * 2, tokens, 4)).reshape(n, 2, tokens, 4)
        weights = functional.dropout(scores.softmax(dim=-1), 0.1, self.training)
        if self.form == "einsum":
            return torch.einsum("bhij,bhjd->bhid", weights, v)
        return weights @ v

    def expected(self, x: T) -> T:
        q, k, _ = self.project(x).reshape(*x.shape[:2], 3, 2, 4).permute(2, 0, 3, 1, 4)
        return torch.softmax(q @ k.transpose(-2, -1) / 2, -1).detach()


@pytest.mark.parametrize("form", ["fused", "matmul", "bmm", "einsum"])
def test_attention_written_by_hand_is_seen_whatever_its_form(form):
    torch.manual_seed(0)
    model, x = ByHand(form).eval(), torch.randn(3, 5, 8)
    (found,) = run(model, x).values()
    torch.testing.assert_close(found.record.tensor(), model.expected(x))
    assert found.deviation < 1e-6


@pytest.mark.parametrize(
    "options",
    [
        {"is_causal": True},
        {"attn_mask": torch.tensor([[True] * 4 + [False]] * 5)},
        {"attn_mask": torch.linspace(-2, 2, 25).reshape(5, 5), "scale": 0.3},
    ],
)
def test_masks_and_scales_of_fused_attention_are_taken_into_account(options):
    torch.manual_seed(0)
    model, x = ByHand("fused", **options).eval(), torch.randn(2, 5, 8)
    (found,) = run(model, x).values()
    assert found.deviation < 1e-6
    assert rows_add_up_to_one(found.record.tensor())
    if "is_causal" in options:
        assert found.record.tensor().triu(1).abs().max() == 0


def test_half_precision_is_rebuilt_within_its_own_steps():
    torch.manual_seed(0)
    model, x = ByHand("fused").eval().to(torch.bfloat16), torch.randn(1, 5, 8).to(torch.bfloat16)
    (found,) = run(model, x).values()
    assert found.record.dtype == torch.float32
    assert found.deviation < 0.02


def test_only_what_was_asked_for_is_kept_and_calls_are_counted():
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.other = ByHand("fused"), ByHand("matmul")

        def forward(self, x: T) -> T:
            self.other(x)
            return self.first(self.first(x).transpose(1, 2).flatten(2))

    torch.manual_seed(0)
    found = run(Twice().eval(), torch.randn(1, 5, 8), paths=["first"])
    assert [(key.path, key.call) for key in found] == [("first", 0), ("first", 1)]


def test_what_is_called_attention_and_is_none_is_absent_with_a_reason():
    class OddAttention(nn.Module):
        def forward(self, x: T) -> T:
            return x * x.mean(1, keepdim=True)

    found = run(nn.Sequential(OddAttention(), nn.Linear(8, 8)), torch.randn(1, 5, 8))
    assert not found
    assert "No attention was seen in 0" in found.recording.absent[Key("0", Kind.ATTRIBUTION, 0, "attention")]


def test_entropy_is_zero_for_one_key_and_the_logarithm_for_all_alike():
    one, alike = torch.eye(8), torch.full((8, 8), 1 / 8)
    weights = torch.stack([one, alike]).unsqueeze(0)
    torch.testing.assert_close(attention.entropy(weights), torch.tensor([[0.0, 3.0]]))
    torch.testing.assert_close(attention.head_mean(weights)[0], (one + alike) / 2)


def test_rollout_is_the_product_over_the_layers_and_its_rows_add_up_to_one():
    generator = torch.Generator().manual_seed(0)
    layers = [torch.rand(2, 3, 4, 4, generator=generator, dtype=torch.float64).softmax(-1) for _ in range(3)]
    found = attention.rollout(layers)
    assert rows_add_up_to_one(found)
    for sample in range(2):
        expected = np.eye(4)
        for layer in layers:
            expected = (0.5 * layer[sample].mean(0).numpy() + 0.5 * np.eye(4)) @ expected
        np.testing.assert_allclose(found[sample], expected)
    with pytest.raises(HookViewerError, match="4×4, 5×5"):
        attention.rollout([layers[0], torch.rand(2, 3, 5, 5)])


class SmallViT(nn.Module):
    """A vision transformer of 4 × 4 patches behind a class token."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 2, stride=2)
        self.class_token = nn.Parameter(torch.randn(1, 1, 16))
        layer = nn.TransformerEncoderLayer(16, 4, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 3)

    def forward(self, x: T) -> T:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(x), -1, -1), tokens], 1)
        return self.head(self.encoder(tokens)[:, 0])


def test_a_cell_of_the_picture_has_what_it_looks_at_as_a_map_of_each_head():
    torch.manual_seed(0)
    found = run(SmallViT().eval(), torch.randn(2, 3, 8, 8))
    (one,) = found.at("encoder.layers.1.self_attn")
    assert one.grid == (1, 4, 4)
    assert one.token_at(2, 3) == 1 + 2 * 4 + 3
    picture = one.picture(1, one.token_at(2, 3))
    assert picture.shape == (4, 4, 4)
    assert picture[2, 1, 3] == one.record.tensor()[1, 2, 12, 1 + 1 * 4 + 3]
    with pytest.raises(HookViewerError, match="0 to 16"):
        one.row(0, 17)
    with pytest.raises(HookViewerError, match="grid is 4×4"):
        one.token_at(4, 0)


def test_attention_rollout_is_a_map_of_the_input():
    torch.manual_seed(0)
    model, x = SmallViT().eval(), torch.randn(2, 3, 8, 8)
    record = methods.attribute(model, x, "attention_rollout").record("", Kind.ATTRIBUTION)
    layers = [one.record.tensor() for one in run(model, x).values()]
    expected = attention.rollout(layers)[:, 0, 1:].reshape(2, 1, 4, 4)
    torch.testing.assert_close(record.tensor(), expected)
    plain = methods.attribute(nn.Conv2d(3, 2, 3), x, "attention_rollout")
    assert "no attention" in plain.absent[Key("", Kind.ATTRIBUTION, 0, "attention_rollout")]


def test_attention_rollout_of_a_run_with_edits_is_that_of_a_network_so_changed():
    torch.manual_seed(0)
    model, x = SmallViT().eval(), torch.randn(1, 3, 8, 8)
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.patches.weight[:8] *= 3
        changed.patches.bias[:8] *= 3
    edits = [Edit("patches", scale(3), index=list(range(8)))]
    edited = methods.attribute(model, x, "attention_rollout", edits=edits)
    expected = methods.attribute(changed, x, "attention_rollout")
    plain = _the_map(methods.attribute(model, x, "attention_rollout"))
    torch.testing.assert_close(_the_map(edited), _the_map(expected))
    assert (plain - _the_map(expected)).abs().max() > 1e-4
    assert (edited.output - changed(x)).abs().max() < 1e-6


def _the_map(recording: Recording) -> T:
    return recording.record("", Kind.ATTRIBUTION).tensor()


@pytest.mark.parametrize("shift", [0, 2])
def test_windows_of_swin_are_put_back_in_place(shift):
    torchvision = pytest.importorskip("torchvision.models.swin_transformer")
    torch.manual_seed(0)
    layer = torchvision.ShiftedWindowAttention(8, [4, 4], [shift, shift], 2).eval()
    model, x = nn.Sequential(layer), torch.randn(2, 8, 12, 8)
    (found,) = run(model, x).values()
    assert found.record.shape == (2, 2, 96, 96)
    assert found.grid == (0, 8, 12)
    weights = found.record.tensor()
    assert rows_add_up_to_one(weights)
    # weights in their true places times the values is what the layer makes, before it projects
    values = layer.qkv(x)[..., 16:].reshape(2, 96, 2, 4).transpose(1, 2)
    made = layer.proj((weights @ values).transpose(1, 2).reshape(2, 8, 12, 8))
    torch.testing.assert_close(made, layer(x), atol=1e-5, rtol=1e-5)
    windowed = found.picture(0, found.token_at(0, 0)) > 0
    assert windowed[0].sum() <= 16


class CutOutside(nn.Module):
    """A block that rolls and cuts what it is given; its attention sees windows [N·windows, t, C] only."""

    def __init__(self) -> None:
        super().__init__()
        self.shift_size = (2, 1)
        self.attend = Inside()

    def forward(self, x: T) -> T:
        n, rows, columns, channels = x.shape
        x = x.roll((-2, -1), (1, 2)).reshape(n, rows // 4, 4, columns // 4, 4, channels)
        return self.attend(x.transpose(2, 3).reshape(-1, 16, channels))


class Inside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.window_size = (4, 4)

    def forward(self, x: T) -> T:
        return (x @ x.transpose(1, 2)).softmax(-1) @ x


def test_windows_that_a_block_cuts_are_put_back_too():
    torch.manual_seed(0)
    model, x = CutOutside().eval(), torch.randn(2, 8, 12, 3)
    (found,) = run(model, x).values()
    assert found.record.shape == (2, 1, 96, 96)
    # a cell looks into its own window only: rows 2–5 and columns 1–4 are one after the roll by 2 and 1
    picture = found.picture(1, found.token_at(3, 2))[0]
    assert picture[2:6, 1:5].sum() == pytest.approx(1, abs=1e-5)
    inside = x[1, 2:6, 1:5].reshape(16, 3)
    expected = torch.softmax(inside @ x[1, 3, 2], 0)
    torch.testing.assert_close(picture[2:6, 1:5].flatten(), expected)


class Flattened(nn.Module):
    """A block like Hugging Face's Swin: given [N, H·W, C] and (H, W), its window and shift are numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.window_size, self.shift_size = 4, torch.tensor(2)
        self.attend = nn.ModuleDict({"self": Plain()})

    def forward(self, x: T, size: tuple[int, int]) -> T:
        cut = x.reshape(len(x), *size, -1).roll((-2, -2), (1, 2))
        cut = cut.reshape(len(x), size[0] // 4, 4, size[1] // 4, 4, -1).transpose(2, 3)
        return self.attend["self"](cut.reshape(-1, 16, x.shape[-1]))


class Plain(nn.Module):
    def forward(self, x: T) -> T:
        return functional.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None])[:, 0]


def test_windows_of_a_block_that_is_given_flat_tokens_and_their_sizes_are_put_back():
    torch.manual_seed(0)
    model, x = Flattened().eval(), torch.randn(2, 96, 3)
    (found,) = run(model, (x, (8, 12))).values()
    assert found.record.shape == (2, 1, 96, 96)
    # rows 2–5 and columns 2–5 are one window after the roll by 2 and 2
    picture, cells = found.picture(1, found.token_at(3, 2))[0], x[1].reshape(8, 12, 3)
    expected = torch.softmax(cells[2:6, 2:6].reshape(16, 3) @ cells[3, 2] / math.sqrt(3), 0)
    torch.testing.assert_close(picture[2:6, 2:6].flatten(), expected)
    assert picture.sum() == pytest.approx(1, abs=1e-5)


class Grouped(nn.Module):
    """Cuts a picture of 8 × 8 into four groups of 16 cells in a way that is nowhere written."""

    def forward(self, x: T) -> T:
        return Plain()(x.flatten(2).transpose(1, 2).reshape(-1, 16, x.shape[1]))


def test_only_tokens_of_a_picture_that_went_in_are_said_to_be_its_places():
    groups, words = torch.randn(1, 3, 8, 8), torch.randn(1, 16, 3)
    (grouped,) = run(Grouped(), groups).values()
    assert grouped.record.shape == (4, 1, 16, 16)
    assert grouped.grid is None
    assert grouped.record.notes[-1].startswith("4 rows of attention for an input of 1")
    (said,) = run(Plain(), words).values()
    assert said.grid is None


def test_windows_that_do_not_fit_and_those_too_large_to_be_put_back(monkeypatch):
    torchvision = pytest.importorskip("torchvision.models.swin_transformer")
    torch.manual_seed(0)
    model = nn.Sequential(torchvision.ShiftedWindowAttention(8, [4, 4], [2, 2], 2)).eval()
    x = torch.randn(1, 6, 7, 8)
    (whole,) = run(model, x).values()
    monkeypatch.setattr(sys.modules["hookviewer.attention.run"], "LARGEST", 100)
    (split,) = run(model, x).values()
    assert whole.record.shape == (1, 2, 42, 42)
    assert split.record.shape == (1, 4, 2, 16, 16)
    assert "it would take" in split.record.notes[1]
    for token in (0, 17, 41):
        torch.testing.assert_close(split.row(0, token), whole.row(0, token))
    assert math.prod(split.picture(0, 41).shape) == 2 * 42


@pytest.mark.parametrize("name", ["vit_b_16", "swin_t"])
def test_the_transformers_of_torchvision_show_every_layer(name):
    models = pytest.importorskip("torchvision.models")
    torch.manual_seed(0)
    if name == "vit_b_16":
        model = models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=5)
    else:
        model = models.SwinTransformer([4, 4], 16, [1, 1], [2, 4], [4, 4], num_classes=5)
    model.eval()
    found = run(model, torch.randn(1, 3, 32, 32))
    assert len(found) == 2
    for one in found.values():
        assert one.deviation < 1e-6
        assert rows_add_up_to_one(one.record.tensor())


def test_a_stopped_run_has_the_attention_until_then_and_edits_are_in_force():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x, seen, paths = torch.randn(1, 6, 8), [], []
    with pytest.raises(Cancelled) as stop:
        capture_attention(
            model, x, on_attention=seen.append, on_module=paths.append, cancelled=lambda: bool(seen)
        )
    assert [key.path for key in stop.value.recording] == ["layers.0.self_attn"] == [seen[0].record.key.path]
    assert paths[:2] == ["", "layers.0"]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    edited = capture_attention(model, x, edits=[Edit("layers.0", zero())])
    (second,) = edited.at("layers.1.self_attn")  # all tokens are alike, and so is what they look at
    torch.testing.assert_close(second.record.tensor(), torch.full((1, 2, 6, 6), 1 / 6))
