"""What was found of top inputs as comma-separated values: every channel of the layer, both ends. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hookviewer.gui.csv_text import csv_text
from hookviewer.strongest import TopInputs, TopK

HEADS = ("channel", "end", "rank", "value", "input", "sample", "cell")


def to_csv(found: TopInputs, top: TopK) -> str:
    """Return a row for every place that is kept; `cell` is `row column` of a map, empty for a vector."""
    return csv_text(HEADS, _rows(found, top))


def _rows(found: TopInputs, top: TopK) -> Iterator[tuple[object, ...]]:
    for channel in range(top.channels):
        for end, places in (("most", top.most(channel)), ("least", top.least(channel))):
            for rank, place in enumerate(places, 1):
                cell = " ".join(map(str, place.cell))
                name = found.inputs[place.input]
                yield channel, end, rank, repr(place.value), name, place.sample, cell
