"""Rows as comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a line of heads and a line for every row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()
