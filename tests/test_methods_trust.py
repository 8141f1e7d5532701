"""Deletion and insertion curves, and maps of a network with shuffled weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hookviewer import methods
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.methods.randomised import (
    likeness,
    randomisation_check,
    rank_correlation,
    shuffled,
    structural_similarity,
)
from hookviewer.methods.trust import order_of, trust_curves
from hookviewer.targets import class_score, top_class

T = torch.Tensor


class Weighted(nn.Module):
    """The sum of the pixels, each with a weight of its own."""

    def __init__(self, weights: T) -> None:
        super().__init__()
        self.weights = nn.Parameter(weights)

    def forward(self, x: T) -> T:
        return (x * self.weights).sum((1, 2, 3)).reshape(-1, 1)


WEIGHTS = torch.tensor([[4.0, 1.0], [2.0, 3.0]])


def test_deletion_takes_the_highest_pixels_first_and_insertion_gives_them_back():
    model, x = Weighted(WEIGHTS), torch.ones(1, 1, 2, 2)
    deletion, insertion = trust_curves(model, x, WEIGHTS[None, None], target=class_score(0), steps=4)
    assert deletion.shares == insertion.shares == (0, 0.25, 0.5, 0.75, 1)
    assert deletion.values == (10, 6, 3, 1, 0)
    assert insertion.values == (0, 4, 7, 9, 10)
    assert deletion.area == pytest.approx((10 + 0) / 8 + (6 + 3 + 1) / 4)
    assert insertion.area == pytest.approx((0 + 10) / 8 + (4 + 7 + 9) / 4)


def test_a_true_map_has_a_lower_deletion_curve_than_its_opposite():
    torch.manual_seed(0)
    model = Weighted(torch.rand(6, 6))
    x = torch.ones(2, 1, 6, 6)
    true = methods.attribute(model, x, "gradient_input", target=class_score(0)).record("", Kind.ATTRIBUTION)
    runs: list[int] = []
    model.register_forward_hook(lambda *_: runs.append(1))
    good = trust_curves(model, x, true, target=class_score(0), sample=1, steps=7, batch=4)
    assert len(runs) == 3 + 2 * 2  # the input, its samples, and eight pictures a curve in batches of four
    bad = trust_curves(model, x, -true.tensor(), target=class_score(0), sample=1, steps=7)
    assert good[0].area < bad[0].area
    assert good[1].area > bad[1].area


def test_a_small_map_is_enlarged_to_the_picture():
    order = order_of(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), (4, 4))
    assert order[0] == 3  # the upper right corner
    assert set(order.tolist()) == set(range(16))


def test_what_is_no_map_or_no_sample_is_refused():
    model, x = Weighted(WEIGHTS), torch.ones(1, 1, 2, 2)
    with pytest.raises(HookViewerError, match=r"\[sample, 1, row, column\]"):
        trust_curves(model, x, WEIGHTS, target=class_score(0))
    with pytest.raises(HookViewerError, match="no sample 1"):
        trust_curves(model, x, WEIGHTS[None, None], target=class_score(0), sample=1)


def test_rank_correlation_shares_ranks_among_equals():
    # ranks 1.5 1.5 3 4 and 1 2 3 4: around the mean −1 −1 .5 1.5 and −1.5 −.5 .5 1.5
    found = rank_correlation(torch.tensor([0.0, 0.0, 5.0, 9.0]), torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert found == pytest.approx((1.5 + 0.5 + 0.25 + 2.25) / (4.5 * 5) ** 0.5)
    assert rank_correlation(torch.arange(5.0), -torch.arange(5.0)) == pytest.approx(-1)
    assert rank_correlation(torch.ones(5), torch.arange(5.0)) == 0


def test_a_map_is_like_itself_whatever_its_scale_and_unlike_noise():
    one = torch.rand(2, 1, 12, 12, generator=torch.Generator().manual_seed(0))
    other = torch.rand(2, 1, 12, 12, generator=torch.Generator().manual_seed(1))
    assert likeness(one, 3 * one + 2) == pytest.approx((1, 1))
    assert structural_similarity(one, other) < 0.3
    assert likeness(one[..., :3, :3], one[..., :3, :3]).structure == pytest.approx(1)


def net() -> nn.Sequential:
    torch.manual_seed(0)
    first = [nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU()]
    return nn.Sequential(*first, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)).eval()


def test_a_method_that_does_not_look_at_the_later_layers_is_seen_to():
    model, x = net(), torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(3))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    chosen = [methods.find_method(name) for name in ("grad_cam", "eigen_cam", "saliency")]
    check = randomisation_check(model, x, chosen, ["2"], target=top_class(), share=0.34)
    assert check.layers == ("6",)
    eigen, grad = (check.likeness[Key("2", Kind.ATTRIBUTION, 0, name)] for name in ("eigen_cam", "grad_cam"))
    assert eigen == pytest.approx((1, 1))
    assert grad.rank < 0.9
    assert check.likeness[Key("", Kind.ATTRIBUTION, 0, "saliency")].rank < 0.95
    winner = int(model(x).argmax())
    assert check.shuffled.provenance["target"] == f"top class ({winner})"
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_shuffling_keeps_the_values_of_each_parameter():
    model = net()
    twin = shuffled(model, ["2", "6"], seed=1)
    assert torch.equal(twin[0].weight, model[0].weight)
    assert not torch.equal(twin[2].weight, model[2].weight)
    assert torch.equal(twin[2].weight.flatten().sort().values, model[2].weight.flatten().sort().values)
