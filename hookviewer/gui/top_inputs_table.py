"""What was found of top inputs as comma-separated values: every channel of the layer, both ends. Pure."""

from __future__ import annotations

import csv
import io

from hookviewer.strongest import TopInputs, TopK

HEADS = ("channel", "end", "rank", "value", "input", "sample", "cell")


def to_csv(found: TopInputs, top: TopK) -> str:
    """Return a row for every place that is kept; `cell` is `row column` of a map, empty for a vector."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADS)
    for channel in range(top.channels):
        for end, places in (("most", top.most(channel)), ("least", top.least(channel))):
            for rank, place in enumerate(places, 1):
                cell = " ".join(map(str, place.cell))
                name = found.inputs[place.input]
                writer.writerow((channel, end, rank, repr(place.value), name, place.sample, cell))
    return text.getvalue()
