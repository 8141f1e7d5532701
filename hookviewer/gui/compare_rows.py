"""The table of compared channels without its widgets: its columns, how they sort, and as CSV. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QT_TRANSLATE_NOOP

from hookviewer.differences import MapDifferences
from hookviewer.gui.csv_text import csv_text
from hookviewer.gui.numbers import number

NOOP = QT_TRANSLATE_NOOP
Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Number:
    """One number of the table: its `name` in CSV, its head in the window, and what it means."""

    name: str
    head: str
    tip: str


NUMBERS = (
    Number("cosine", str(NOOP("Compared", "cosine")), str(NOOP("Compared", "Cosine of the angle"))),
    Number("relative_l2", str(NOOP("Compared", "rel. L2")), str(NOOP("Compared", "|A − B| ÷ |A|, L2 norms"))),
    Number("max_abs", str(NOOP("Compared", "max |Δ|")), str(NOOP("Compared", "Largest |A − B|"))),
    Number("mean_abs", str(NOOP("Compared", "mean |Δ|")), str(NOOP("Compared", "Mean of |A − B|"))),
    Number(
        "max_relative",
        str(NOOP("Compared", "max rel. Δ")),
        str(NOOP("Compared", "Largest |A − B| ÷ max(|A|, |B|), from 0 to 2")),
    ),
    Number(
        "signs_changed_percent",
        str(NOOP("Compared", "signs %")),
        str(NOOP("Compared", "Share of places with opposite signs")),
    ),
    Number(
        "max_ulp",
        str(NOOP("Compared", "max ULP")),
        str(
            NOOP("Compared", "Most representable numbers between A and B; only where the types are the same")
        ),
    ),
    Number(
        "psnr_db",
        str(NOOP("Compared", "PSNR dB")),
        str(NOOP("Compared", "Peak signal-to-noise ratio; the peak is the range of A in all channels")),
    ),
    Number(
        "ssim",
        str(NOOP("Compared", "SSIM")),
        str(
            NOOP(
                "Compared", "Structural similarity, 1 for equal maps; none for NaN and for maps under 3 cells"
            )
        ),
    ),
)


def columns_of(found: MapDifferences) -> dict[str, Array]:
    """Return the values [C] of every number of the table, float64."""
    own = found.channels
    named = {
        **{name: getattr(own, name) for name in ("cosine", "relative_l2", "max_abs", "mean_abs")},
        "max_relative": own.max_relative,
        "signs_changed_percent": 100 * own.sign_share,
        "max_ulp": own.max_ulp,
        "psnr_db": own.psnr,
        "ssim": found.ssim,
    }
    return {name: np.asarray(values, np.float64) for name, values in named.items()}


def order_of(values: Array, *, falling: bool) -> npt.NDArray[np.intp]:
    """Return the channels sorted by a number; those without one come last either way."""
    keyed = -values if falling else values
    return np.argsort(np.where(np.isnan(keyed), np.inf, keyed), kind="stable")


def written(name: str, value: float) -> str:
    """Return a number as a cell shows it, a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:.1f}" if name == "signs_changed_percent" else number(value)


def to_csv(found: MapDifferences, order: Sequence[int], titles: Sequence[str] = ()) -> str:
    """Return the rows as they are sorted as comma-separated values with all digits; empty for no number."""
    values = columns_of(found)

    def cells(channel: int) -> tuple[object, ...]:
        numbers = (float(values[one.name][channel]) for one in NUMBERS)
        title = titles[channel] if channel < len(titles) else channel
        return (title, *("" if math.isnan(one) else repr(one) for one in numbers))

    return csv_text(("channel", *(one.name for one in NUMBERS)), map(cells, order))
