"""The order of the channels on the wall: by number, by a statistic, or by what stands beside them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hookviewer import arrays
from hookviewer.gui.remembered import remembered

Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]

SORTS = (*arrays.CHANNEL_ORDERS, "gradient", "product", "similar", "difference", "entropy")
"""The ways to sort channels; all but `"channel"` put the largest first.

`gradient`: mean |gradient|. `product`: |sum of output × gradient|, to first order what the target loses
without the channel (Molchanov et al. 2017). `similar`: correlation with one channel. `difference`: mean
|A − B| of the first two inputs. `entropy`: heads of attention, the most focused first.
"""


@remembered()
def channel_order(maps: arrays.Maps, sort: str, anchor: int = 0) -> Indices:
    """Return the channels in the order of `sort`, by the maps that it goes by.

    For `similar` the channel `anchor` comes first. `maps` are the gradients for `gradient`, the products for
    `product`, the difference for `difference`.
    """
    count = len(maps.values)
    if sort == "channel":
        return np.arange(count)
    if sort == "similar":
        anchor = anchor if anchor < count else 0
        return np.concatenate([[anchor], arrays.similar(maps, anchor)[0]]).astype(np.intp)
    if sort in ("gradient", "difference"):
        return _largest_first(_rows(maps, np.abs).mean(axis=1))
    if sort == "entropy":
        return np.argsort(_entropies(maps.values), kind="stable")
    if sort == "product":
        return _largest_first(np.abs(_rows(maps).sum(axis=1)))
    return arrays.channel_order(arrays.channel_statistics(maps.values), sort)


@remembered()
def arranged(
    maps: arrays.Maps,
    sort: str,
    anchor: int,
    count: int,
    dead: tuple[int, ...],
    pinned: tuple[int, ...],
    only: tuple[int, ...],
) -> Indices:
    """Return `count` channels in order: without the dead ones, the pinned ones in front, or `only` some."""
    order = channel_order(maps, sort, anchor)
    order = np.concatenate([order[order < count], np.arange(len(order), count)])
    rest = order[~np.isin(order, [*dead, *pinned])]
    order = np.concatenate([np.array(pinned, np.intp), rest])
    return order[np.isin(order, only)] if only else order


def listed(text: str, count: int) -> tuple[int, ...]:
    """Return the channels of a list like `"3, 7-12"` that there are, in order.

    Raises `ValueError` for other text. Numbers from `count` on are left out, however far a range goes.
    """
    found: set[int] = set()
    for part in filter(None, (one.strip() for one in text.replace("–", "-").replace(";", ",").split(","))):
        first, _, last = part.partition("-")
        start, stop = int(first), int(last or first)
        if stop < start:
            raise ValueError(f"{part!r} ends before it begins")
        found.update(range(min(max(start, 0), count), min(stop + 1, count)))
    return tuple(sorted(found))


def only_these(text: str, count: int, pinned: Sequence[int]) -> tuple[int, ...]:
    """Return the channels to show alone: those of a list, the `"pinned"` ones; none means all."""
    if text == PINNED:
        return tuple(pinned)
    try:
        return listed(text, count)
    except ValueError:
        return ()


PINNED = "pinned"
"""What stands in the place of a list where only the pinned channels are shown."""


def _rows(maps: arrays.Maps, change: np.ufunc | None = None) -> Numbers:
    """Return all values of each channel in a row, with NaN and the infinities as zero."""
    rows = maps.values.reshape(len(maps.values), -1)
    rows = rows if change is None else change(rows)
    return np.nan_to_num(rows.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def _entropies(rows: npt.NDArray[np.generic]) -> Numbers:
    """Return −Σ p log₂ p of rows that add up to 1, the mean over the rows of each channel."""
    shares = np.nan_to_num(rows.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    entropies: Numbers = -(shares * logs).sum(axis=-1).mean(axis=-1)
    return entropies


def _largest_first(numbers: Numbers) -> Indices:
    return np.argsort(-numbers, kind="stable")
