"""Every method in every awkward situation: right, or refused with the reason."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from hookviewer import methods
from hookviewer.kinds import Key, Kind
from hookviewer.methods import Method
from hookviewer.methods.integrated_gradients import IntegratedGradients
from hookviewer.methods.occlusion import Occlusion
from hookviewer.methods.smooth_grad import SmoothGrad
from hookviewer.recording import Record
from hookviewer.targets import class_score

T = torch.Tensor
QUICK: dict[str, Method] = {
    "integrated_gradients": IntegratedGradients(steps=6, most=6),
    "smooth_grad": SmoothGrad(noises=5),
    "occlusion": Occlusion(window=3, stride=2),
}
EVERY = [QUICK.get(method.name, method) for method in methods.methods()]
every_method = pytest.mark.parametrize("method", EVERY, ids=lambda method: method.name)
of_layers = pytest.mark.parametrize(
    "method", [one for one in EVERY if one.of_layers], ids=lambda method: method.name
)


class Net(nn.Module):
    """Maps, an attention between their places, a layer that returns a tuple, and a vector."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.maps, self.pair = nn.Conv2d(3, 16, 2, stride=2), Pair()
        self.attend, self.head = nn.MultiheadAttention(16, 2, batch_first=True), nn.Linear(16, 4)

    def forward(self, x: T) -> T:
        maps, _ = self.pair(self.maps(x).relu())
        tokens = maps.flatten(2).transpose(1, 2)
        tokens = tokens + self.attend(3 * tokens, 3 * tokens, tokens, need_weights=False)[0]
        return self.head(tokens.relu().mean(1))


class Pair(nn.Module):
    def forward(self, x: T) -> tuple[T, T]:
        return x * 2, x.mean((2, 3))


def net() -> Net:
    return Net().double().eval()


def pictures(count: int = 1) -> T:
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def path_of(method: Method, path: str = "maps") -> str:
    return path if method.of_layers else ""


def found(method: Method, model: nn.Module, x: T, path: str = "maps", target: int = 1) -> Record:
    """Return the one map that a method makes."""
    recording = methods.attribute(
        model, x, method, [path] if method.of_layers else [], target=class_score(target)
    )
    return recording[Key(path_of(method, path), Kind.ATTRIBUTION, 0, method.name)]


@every_method
def test_a_batch_has_the_map_of_each_of_its_samples(method: Method) -> None:
    model, x = net(), pictures(3)
    together = found(method, model, x).tensor()
    assert together.shape[:2] == (3, 1)
    for sample in range(3):
        if isinstance(method, SmoothGrad) and sample:
            continue  # its noise goes with the size of the batch
        alone = found(method, model, x[sample : sample + 1]).tensor()
        torch.testing.assert_close(together[sample : sample + 1], alone, atol=1e-5, rtol=1e-5)
    assert together.abs().max() > 0


@every_method
def test_a_frozen_model_has_the_same_map_and_stays_frozen(method: Method) -> None:
    model, x = net(), pictures()
    frozen = copy.deepcopy(model).requires_grad_(False)
    torch.testing.assert_close(found(method, frozen, x).tensor(), found(method, model, x).tensor())
    assert not any(value.requires_grad for value in frozen.parameters())


@every_method
def test_bfloat16_gives_the_map_of_the_same_numbers_in_single_precision(method: Method) -> None:
    half = net().to(torch.bfloat16)
    single = copy.deepcopy(half).float()
    x = pictures().to(torch.bfloat16)
    rough, fine = found(method, half, x).tensor(), found(method, single, x.float()).tensor()
    assert rough.dtype == torch.float32
    assert functional.cosine_similarity(rough.flatten(), fine.flatten(), 0) > 0.98
    assert (rough - fine).abs().max() < 0.15 * fine.abs().max()


@of_layers
def test_of_a_tuple_the_maps_are_taken_and_a_vector_is_refused(method: Method) -> None:
    model, x = net(), pictures()
    of_pair = found(method, model, x, "pair")
    assert of_pair.shape == (1, 1, 4, 4)
    assert "[0]" in of_pair.notes[0]
    refused = methods.attribute(model, x, method, ["head"], target=class_score(1))
    reason = refused.absent[Key("head", Kind.ATTRIBUTION, 0, method.name)]
    assert "1×4" in reason
    assert "The nearest layer that suits is" in reason


@every_method
def test_a_model_that_looks_at_nothing_has_a_map_without_shape_that_says_so(method: Method) -> None:
    model, x = net(), pictures()
    with torch.no_grad():
        model.head.weight.zero_()
        model.attend.in_proj_weight.zero_()
        model.maps.weight.zero_()
        model.maps.bias.fill_(0.5)
    record = found(method, model, x)
    assert record.tensor().max() == pytest.approx(float(record.tensor().min()), abs=1e-6)
    assert any("everywhere" in note for note in record.notes)
    assert torch.isfinite(record.tensor()).all()


class Two(nn.Module):
    """Two pictures, of which the second counts for nothing in class 0."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.other = net(), net()

    def forward(self, x: T, y: T) -> T:
        other = self.other(y)
        return self.net(x) + other * torch.tensor([0.0, 1.0, 1.0, 1.0], dtype=other.dtype)


@every_method
def test_of_several_inputs_each_has_its_map_or_the_first_that_is_meant(method: Method) -> None:
    model, x = Two().eval(), pictures(2)
    given, paths = (x[:1], x[1:]), ["net.maps"] if method.of_layers else []
    recording = methods.attribute(model, given, method, paths, target=class_score(0))
    if method.name == "attention_rollout":
        return _is_a_map_or_a_reason(recording, method)
    record = recording[Key("net.maps" if method.of_layers else "", Kind.ATTRIBUTION, 0, method.name)]
    if method.name not in ("score_cam", "smooth_grad"):  # their masks and noise go into both pictures
        alone = found(method, model.net, x[:1], target=0)
        torch.testing.assert_close(record.tensor(), alone.tensor(), atol=1e-5, rtol=1e-5)
    second = recording.records.get(Key("", Kind.ATTRIBUTION, 0, f"{method.name}[1]"))
    if second is not None and method.name != "occlusion":
        assert second.tensor().abs().max() == 0
    return None


def _is_a_map_or_a_reason(recording: methods.Recording, method: Method) -> None:
    key = Key("", Kind.ATTRIBUTION, 0, method.name)
    assert key in recording or recording.absent[key]
