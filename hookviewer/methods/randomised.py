"""Whether a method looks at the network: the same map with the weights of its later layers shuffled."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key
from hookviewer.methods.attributing import answered, question
from hookviewer.methods.stacked import settled
from hookviewer.modules import module_index, unwrapped
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.targets import Target

if TYPE_CHECKING:
    from hookviewer.methods.method import Method


class Likeness(NamedTuple):
    """How alike two maps are: 1 the same, 0 nothing in common.

    `rank` is Spearman's correlation of their values, `structure` the mean structural similarity (SSIM) of
    the maps, each from 0 to 1, in squares of 7 cells.
    """

    rank: float
    structure: float


@dataclasses.dataclass(frozen=True, eq=False)
class Randomised:
    """The maps of the network, those of the one with shuffled weights, and how alike they are."""

    original: Recording
    shuffled: Recording
    likeness: Mapping[Key, Likeness]
    layers: tuple[str, ...]
    """The layers whose weights were shuffled, in the order in which the network runs."""


def randomisation_check(
    model: nn.Module,
    input: Any,
    methods: Sequence[Method],
    paths: Iterable[str] = (),
    *,
    target: Target,
    share: float = 0.5,
    **options: Any,
) -> Randomised:
    """Compare the maps of several methods with those of a copy whose later layers have shuffled weights.

    `share` of the layers with weights, counted from the output, is shuffled, each parameter by itself and
    with the seed of the run. A method whose map stays the same does not look at these layers. The model is
    copied, which takes its memory once more. Source: Adebayo et al., Sanity Checks for Saliency Maps,
    NeurIPS 2018.
    """
    asked = question(model, input, paths, target=target, **options)
    first = asked.run(HookPlan())
    asked = dataclasses.replace(asked, target=settled(target, first.output))
    layers = last_layers(model, first, share)
    original = answered(asked, methods)
    other = dataclasses.replace(asked, model=shuffled(model, layers, asked.seed or 0))
    again = answered(other, methods)
    both = [key for key in original if key in again]
    alike = {key: likeness(original[key].tensor(), again[key].tensor()) for key in both}
    return Randomised(original, again, alike, layers)


def last_layers(model: nn.Module, run: Recording, share: float) -> tuple[str, ...]:
    """Return the last `share` of the layers with weights of their own, in the order in which they run."""
    modules = module_index(unwrapped(model)[0]).modules
    calls = {path: calls[0].order for path, calls in run.module_calls.items() if calls and path in modules}
    weighted = [path for path in calls if any(True for _ in modules[path].parameters(recurse=False))]
    ordered = sorted(weighted, key=calls.__getitem__)
    return tuple(ordered[len(ordered) - round(share * len(ordered)) :])


def shuffled(model: nn.Module, layers: Sequence[str], seed: int) -> nn.Module:
    """Return a copy of the model in which the values of each parameter of these layers are shuffled."""
    try:
        twin = copy.deepcopy(unwrapped(model)[0])
    except (RuntimeError, TypeError) as error:
        raise HookViewerError(
            f"This model cannot be copied ({error}): the check shuffles the weights of a copy."
        ) from None
    modules = module_index(twin).modules
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for path in layers:
            for value in modules[path].parameters(recurse=False):
                order = torch.randperm(value.numel(), generator=generator).to(value.device)
                value.copy_(value.flatten()[order].reshape(value.shape))
    return twin


def likeness(first: torch.Tensor, second: torch.Tensor) -> Likeness:
    """Return how alike two maps [N, 1, H, W] are, the mean over the samples."""
    ranks = [rank_correlation(one, other) for one, other in zip(first, second, strict=True)]
    return Likeness(sum(ranks) / len(ranks), structural_similarity(first, second))


def rank_correlation(first: torch.Tensor, second: torch.Tensor) -> float:
    """Return Spearman's correlation; equal values share their mean rank, a constant has none (0)."""
    one, other = (_ranks(values) for values in (first, second))
    below = float(one.norm() * other.norm())
    return float(one @ other) / below if below else 0.0


def structural_similarity(first: torch.Tensor, second: torch.Tensor, side: int = 7) -> float:
    """Return the mean SSIM of two maps, each from 0 to 1. Source: Wang et al., IEEE TIP 2004."""
    one, other = (_from_0_to_1(values.double()) for values in (first, second))
    size = min(side, *one.shape[-2:])

    def mean(values: torch.Tensor) -> torch.Tensor:
        return functional.avg_pool2d(values, size, stride=1)

    means = mean(one), mean(other)
    spreads = mean(one * one) - means[0] ** 2, mean(other * other) - means[1] ** 2
    common = mean(one * other) - means[0] * means[1]
    c1, c2 = 0.01**2, 0.03**2
    above = (2 * means[0] * means[1] + c1) * (2 * common + c2)
    below = (means[0] ** 2 + means[1] ** 2 + c1) * (spreads[0] + spreads[1] + c2)
    return float((above / below).mean())


def _ranks(values: torch.Tensor) -> torch.Tensor:
    """Return the ranks around their mean."""
    _, places, counts = torch.unique(values.flatten(), return_inverse=True, return_counts=True)
    ranks: torch.Tensor = (counts.cumsum(0) - (counts - 1) / 2).double()[places]
    return ranks - ranks.mean()


def _from_0_to_1(maps: torch.Tensor) -> torch.Tensor:
    low, high = maps.amin((1, 2, 3), keepdim=True), maps.amax((1, 2, 3), keepdim=True)
    return (maps - low) / torch.where(high > low, high - low, 1.0)
