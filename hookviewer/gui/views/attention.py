"""Attention: one matrix of query × key for each head."""

from __future__ import annotations

from hookviewer.gui.views.feature_maps import FeatureMaps
from hookviewer.gui.views.view import Sheet
from hookviewer.gui.wall.words import tr


class Attention(FeatureMaps):
    """The weights of all heads as tiles on one scale; a row is a query, a column a key."""

    gutter = 6

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        maps = sheet.drawn
        return 20 if maps.layout == "maps" and maps.reading.endswith("query × key") else -1

    def _title(self, channel: int) -> str:
        return tr("head {}").format(channel) if "head" in self._maps.reading else tr("mean of the heads")
