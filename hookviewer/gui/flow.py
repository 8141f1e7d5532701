"""Where gradients vanish or explode on their way back through the network. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

VANISHING, EXPLODING = 1e-4, 1e4
"""How small or large a gradient's norm is, relative to where it started, when it is marked."""


@dataclasses.dataclass(frozen=True)
class Flow:
    """Places of layers whose gradient has vanished, or exploded, and the norm that it is compared with."""

    vanishing: tuple[int, ...] = ()
    exploding: tuple[int, ...] = ()
    start: float = float("nan")


def flow(places: npt.NDArray[np.intp], norms: npt.NDArray[np.float64]) -> Flow:
    """Return where the L2 norm of the gradient is below 1e−4 or above 1e4 times what it was at the start.

    The start is the layer next to the target: the last one whose norm is finite and not zero. A gradient of
    zero has vanished; one that is not finite is marked as NaN elsewhere, not here. Norms of whole tensors are
    compared, whatever their sizes: within these four decades that makes no difference to tell.
    """
    good = np.flatnonzero(np.isfinite(norms) & (norms > 0))
    if not len(good):
        return Flow(tuple(int(place) for place in places[norms == 0]))
    start = float(norms[good[-1]])
    finite = np.isfinite(norms)
    small, large = finite & (norms < VANISHING * start), finite & (norms > EXPLODING * start)
    return Flow(tuple(map(int, places[small])), tuple(map(int, places[large])), start)


def joined(flows: Sequence[Flow]) -> Flow:
    """Return the places that are marked for any of several inputs."""
    vanishing = sorted({place for one in flows for place in one.vanishing})
    exploding = sorted({place for one in flows for place in one.exploding})
    return Flow(tuple(vanishing), tuple(exploding))
