"""Maps that belong in rows: the slices of a channel, the input channels of a kernel."""

from __future__ import annotations

from hookviewer.gui.views.feature_maps import FeatureMaps
from hookviewer.gui.views.view import Sheet
from hookviewer.gui.wall import geometry
from hookviewer.gui.wall.geometry import Grid, Sight


class Blocks(FeatureMaps):
    """Tiles with as many in a row as belong together; the whole wall is fitted, or scrolled to its width."""

    gutter = 1

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        whole = len(sheet.order) == len(sheet.lead.values) and sheet.sort == "channel" and not sheet.pinned
        return 20 if sheet.drawn.layout == "maps" and sheet.lead.across > 1 and whole else -1

    def _grid_for(self, sheet: Sheet, room: tuple[int, int]) -> Grid:
        sight, across = sheet.sight, sheet.lead.across
        if sight.tile:
            return super()._grid_for(sheet, room)
        shape, gap = geometry.shape_of(*sheet.lead.values.shape[1:]), self._pixels(self.gutter)
        rows = max(len(sheet.order) // across, 1)
        wide = (room[0] - gap * (across - 1)) // across
        high = int((room[1] - gap * (rows - 1)) / rows / shape)
        tile = max(wide if sight.fit == "width" else min(wide, high), geometry.SMALLEST_TILE)
        fixed = Sight(columns=across, tile=tile)
        return geometry.grid_of(len(sheet.order), shape, room, fixed, gap)
