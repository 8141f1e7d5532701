"""The menu of a right click on the wall: what can be done with the tile under the pointer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QGuiApplication, QImage
from PySide6.QtWidgets import QMenu

from hookviewer.gui.columns import Column
from hookviewer.gui.edit_menu import edits_at
from hookviewer.gui.icons import icon
from hookviewer.gui.reading import value
from hookviewer.gui.scaling import scale_for
from hookviewer.gui.sorting import PINNED
from hookviewer.gui.state import Message, Pointed
from hookviewer.gui.target_menu import targets_at
from hookviewer.gui.trust_maps_dialog import ask_trust
from hookviewer.gui.wall import words
from hookviewer.gui.wall.lanes import colormap_for
from hookviewer.gui.wall.words import tr
from hookviewer.render import to_rgba

if TYPE_CHECKING:
    from hookviewer.gui.wall.panel import WallPanel

LEAST = 256
"""Pixels that the longer side of a copied map has at least, as far as whole pixels a cell allow."""


def tile_menu(panel: WallPanel, column: Column, spot: Pointed | None) -> QMenu:
    """Return the menu for a place of a column; `spot` is None between the tiles."""
    menu = QMenu(panel)
    if spot is not None and _holds(column, spot):
        _add_tile(menu, panel, column, spot)
    _add(menu, tr("Copy the picture of the wall") + "\tCtrl+C", "copy", panel.copy_picture)
    if not panel.shows_strip:
        menu.addSeparator()
        _add_sorts(menu, panel)
        hide = _add(menu, tr("Hide dead channels") + "\tX", "", panel.toggle_dead)
        hide.setCheckable(True)
        hide.setChecked(panel.session.look.hide_dead)
        only = panel.session.look.only
        alone = _add(
            menu,
            tr("Show pinned channels only"),
            "",
            partial(panel.show_only, PINNED if only != PINNED else ""),
        )
        alone.setCheckable(True)
        alone.setChecked(only == PINNED)
        alone.setEnabled(bool(panel.session.look.pinned(panel.session.selection.path)) or only == PINNED)
        if only:
            _add(menu, tr("Show all channels again"), "", partial(panel.show_only, ""))
        _add(menu, tr("Go to channel, or show only some…") + "\t#", "hash", panel.go_to_channel)
    _add(menu, tr("Show all tiles") + "\tZ", "maximize", panel.fit)
    return menu


def _add_tile(menu: QMenu, panel: WallPanel, column: Column, spot: Pointed) -> None:
    said = value(column, spot.channel, spot.cell)
    _add(menu, tr("Copy the value {}").format(said), "copy", partial(copy_value, panel, column, spot))
    for text, does in targets_at(panel.session, column, spot):
        _add(menu, text, "crosshair", does)
    for text, does in edits_at(panel.session, column, spot):
        _add(menu, text, "pencil", does)
    if column.maps is None or column.maps.layout != "maps":
        return
    if panel.shows_strip:
        _add(menu, tr("How much does this map say?…"), "", partial(ask_trust, panel.session, panel.window()))
    _add(menu, tr("Copy the picture of this map"), "image", partial(copy_map, panel, column, spot))
    if not panel.shows_strip and len(column.maps.values) > 1:
        pinned = spot.channel in panel.session.look.pinned(panel.session.selection.path)
        text, sign = (tr("Let go of channel {}"), "pin-off") if pinned else (tr("Pin channel {}"), "pin")
        _add(menu, text.format(spot.channel) + "\tP", sign, partial(panel.pin, spot.channel))


def _add_sorts(menu: QMenu, panel: WallPanel) -> None:
    below = menu.addMenu(icon("arrow-down-up", "text_2"), tr("Sort the channels by"))
    below.setToolTipsVisible(True)
    for key, text in words.SORTS.items():
        action = _add(below, tr(text), "", partial(panel.sort_by, key))
        action.setCheckable(True)
        action.setChecked(panel.session.look.sort == key)
        reason = panel.controls.why_not(key)
        action.setEnabled(not reason)
        action.setToolTip(reason or tr(words.SORT_TIPS[key]))


def _add(menu: QMenu, text: str, sign: str, does: Callable[[], object]) -> QAction:
    action = menu.addAction(text)
    if sign:
        action.setIcon(icon(sign, "text_2"))
    action.triggered.connect(lambda _=False: does())
    return action


def _holds(column: Column, spot: Pointed) -> bool:
    if column.maps is None:
        return False
    count, height, width = column.maps.values.shape
    return bool(spot.channel < count and spot.cell[0] < height and spot.cell[1] < width)


def copy_value(panel: WallPanel, column: Column, spot: Pointed) -> None:
    """Put a cell's value on the clipboard with all of its digits."""
    if column.maps is None:
        return
    exact = column.maps.values[spot.channel, spot.cell[0], spot.cell[1]]
    QGuiApplication.clipboard().setText(str(exact.item()))
    panel.session.tell(Message("ok", tr("Copied the value.")))


def copy_map(panel: WallPanel, column: Column, spot: Pointed) -> None:
    """Put a map's picture on the clipboard; a cell is a square of whole pixels."""
    if column.maps is None or panel.wall is None:
        return
    scale, colormap = scale_for(panel.wall, column), colormap_for(panel.wall, column)
    one = column.maps.values[spot.channel]
    cells = to_rgba(one, scale.of(spot.channel), colormap, curve=scale.curve)
    larger = max(LEAST // max(cells.shape[:2]), 1)
    pixels = np.ascontiguousarray(cells.repeat(larger, axis=0).repeat(larger, axis=1))
    height, width = pixels.shape[:2]
    image = QImage(pixels.tobytes(), width, height, width * 4, QImage.Format.Format_RGBA8888)
    QGuiApplication.clipboard().setImage(image.copy())
    panel.session.tell(Message("ok", tr("Copied the picture of channel {}.").format(spot.channel)))


def open_menu(panel: WallPanel, column: Column, spot: Pointed | None, where: QPoint) -> None:
    """Show the menu at a place of the screen; it frees itself."""
    menu = tile_menu(panel, column, spot)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(where)
