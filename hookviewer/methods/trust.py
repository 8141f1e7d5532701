"""Whether a map can be trusted: how fast the target falls when what the map points at goes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from hookviewer.errors import HookViewerError
from hookviewer.methods.attributing import question
from hookviewer.methods.occlusion import picture_of
from hookviewer.methods.of_input import Steps, wide
from hookviewer.methods.question import Sample, UnsuitedError, samples
from hookviewer.recording import Record
from hookviewer.targets import Target


@dataclasses.dataclass(frozen=True)
class Curve:
    """The target's value over the share of the pixels that are gone (or back), from 0 to 1."""

    name: str
    shares: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def area(self) -> float:
        """The mean height of the curve: a good map has a low one for deletion, a high one for insertion."""
        return float(torch.trapezoid(torch.tensor(self.values), torch.tensor(self.shares)))


def trust_curves(
    model: nn.Module,
    input: Any,
    map: Record | torch.Tensor,
    *,
    target: Target,
    sample: int = 0,
    steps: int = 20,
    cover: float = 0.0,
    on_curve: Callable[[Curve], object] | None = None,
    **options: Any,
) -> tuple[Curve, Curve]:
    """Return the deletion and the insertion curve of a map [N, 1, h, w] for one sample of the input.

    Deletion covers the pixels that the map holds highest first with `cover`; insertion begins with a picture
    that is all cover and gives them back. `on_curve` gets a curve each time that it has grown, so that a run
    that is stopped leaves what was done. `options` are those of `attribute`. Source: Petsiuk et al., RISE:
    Randomized Input Sampling for Explanation, BMVC 2018.
    """
    asked = question(model, input, (), target=target, **options)
    each = samples(asked)
    if not 0 <= sample < len(each):
        raise HookViewerError(f"There is no sample {sample}: choose one of 0 to {len(each) - 1}.")
    one = each[sample]
    try:
        leaf, picture = picture_of(one)
    except UnsuitedError as error:
        raise HookViewerError(str(error)) from None
    order = order_of(values_of(map, sample), (picture.shape[-2], picture.shape[-1]))
    counter = Steps(asked, 2 * (steps + 1))
    tell = on_curve or (lambda curve: None)
    deletion = _curve(one, leaf, picture, order, counter, "deletion", steps, cover, tell)
    return deletion, _curve(one, leaf, picture, order, counter, "insertion", steps, cover, tell)


def values_of(map: Record | torch.Tensor, sample: int) -> torch.Tensor:
    """Return one sample of a map, [h, w]."""
    values = map.tensor() if isinstance(map, Record) else map
    if values.dim() != 4 or values.shape[1] != 1 or sample >= len(values):
        raise HookViewerError(f"A map is [sample, 1, row, column]; this one is {list(values.shape)}.")
    return values[sample, 0]


def order_of(map: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Return the pixels of a picture of `size`, in one line, those where the map is highest first.

    A smaller map [h, w] is enlarged smoothly; equal values keep the order of the pixels.
    """
    large = functional.interpolate(wide(map)[None, None], size=size, mode="bilinear", align_corners=False)
    return large.flatten().argsort(descending=True, stable=True)


def mixed(
    inside: torch.Tensor, outside: torch.Tensor, order: torch.Tensor, counts: list[int]
) -> torch.Tensor:
    """Return `outside` once for each count, with that many pixels, first in `order`, taken from `inside`."""
    taken = torch.zeros(len(counts), len(order), dtype=torch.bool)
    for row, count in zip(taken, counts, strict=True):
        row[order[:count]] = True
    return torch.where(taken.reshape(-1, 1, 1, *inside.shape[-2:]), inside, outside)


def _curve(
    one: Sample,
    leaf: str,
    picture: torch.Tensor,
    order: torch.Tensor,
    counter: Steps,
    name: str,
    steps: int,
    cover: float,
    tell: Callable[[Curve], object],
) -> Curve:
    shares = [index / steps for index in range(steps + 1)]
    counts = [round(share * len(order)) for share in shares]
    own = picture.detach().cpu()
    ends = (torch.full_like(own, cover), own)
    inside, outside = ends if name == "deletion" else ends[::-1]
    values: list[float] = []
    for portion in counter.portions(one, len(counts)):
        variants = mixed(inside, outside, order, [counts[index] for index in portion])
        values += one.values({leaf: variants}).tolist()
        tell(Curve(name, tuple(shares[: len(values)]), tuple(values)))
    return Curve(name, tuple(shares), tuple(values))
