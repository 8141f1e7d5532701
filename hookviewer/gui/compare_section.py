"""The parts of the inspector with the numbers of a comparison: of channel and layer, and of outputs."""

from __future__ import annotations

import math

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QWidget

from hookviewer.differences import Difference, MapDifferences
from hookviewer.gui import parts
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.compare_channels import compared_columns, same_shape
from hookviewer.gui.compare_channels_dialog import ChannelsDialog
from hookviewer.gui.compare_outputs import compared_outputs
from hookviewer.gui.inspector.section import Section
from hookviewer.gui.inspector.stat_table import Row, StatTable
from hookviewer.gui.numbers import number
from hookviewer.gui.present import present_wall
from hookviewer.gui.session import Session

WAIT_MS = 80
NARROW = 46
"""Probabilities have three digits: their columns leave the room to the names."""


class ComparedSections(QFrame):
    """A table of differences and one of outputs, for the two columns that are compared; else nothing."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.numbers = StatTable(self.tr("Differences"), (self.tr("channel"), self.tr("layer")))
        self.outputs = StatTable(self.tr("Outputs"), least=NARROW)
        self.title = parts.label("", "second", 11)
        self.channels = parts.tool("table-2", self.tr("All channels as a table"), size=24)
        self.channels.clicked.connect(self._on_channels)
        self._numbers = Section(self.tr("Difference"), self.numbers, self.title, self.channels)
        self.outputs_title = parts.label("", "second", 11)
        self._outputs = Section(self.tr("Outputs"), self.outputs, self.outputs_title)
        self.setLayout(parts.column(self._numbers, self._outputs))
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        for signal in (session.selection_changed, session.look_changed, session.inputs_changed):
            signal.connect(self._soon.start)
        for signal in (session.runs_changed, session.differences.changed, session.model_changed):
            signal.connect(self._soon.start)
        session.differences.channels.changed.connect(self._soon.start)
        self.hide()

    def refresh(self) -> None:
        """Show the numbers of the two columns."""
        session = self._session
        several = len(session.ticked_inputs) > 1
        wall = present_wall(self._session) if several else None
        pair = compared_columns(wall)
        self.setVisible(pair is not None)
        if wall is None or pair is None:
            return
        self._show_numbers(wall, *pair)
        self._show_outputs(wall, *pair)

    def _show_numbers(self, wall: WallState, a: Column, b: Column) -> None:
        self.title.setText(wall.pair.title)
        same = same_shape(a, b) and a.record is not None and b.record is not None
        self._numbers.setVisible(same)
        if not same or a.record is None or b.record is None:
            return
        lane = self._session.differences
        counted = lane.counted(a.record, b.record)
        if counted is None:
            lane.want([(a.record, b.record)], first=True)
        channels = lane.channels.counted(a, b)
        if channels is None:
            lane.channels.want(a, b)
        layer = counted.numbers if counted is not None else None
        self.numbers.show_rows(difference_rows(channels, self._session.selection.channel, layer))

    def _on_channels(self) -> None:
        ChannelsDialog(self._session, self.window()).show()

    def _show_outputs(self, wall: WallState, a: Column, b: Column) -> None:
        self.outputs_title.setText(wall.pair.title)
        card = self._session.card
        names = (card.class_names if card is not None else None) or ()
        found = compared_outputs(a, b, names, sign=1 if wall.pair.minuend == wall.pair.reference else -1)
        self._outputs.setVisible(bool(found.rows))
        letters = (a.letter or "A", b.letter or "B")
        words = self.tr("Δ logit") if found.logits else self.tr("Δ")
        self.outputs.show_heads((*letters, words) if found.classes else letters)
        self.outputs.show_rows(found.rows)


def difference_rows(found: MapDifferences | None, channel: int, layer: Difference | None) -> tuple[Row, ...]:
    """Return the numbers of a channel beside those of its layer, each where it is counted."""
    own = None if found is None else found.channels.channel(min(channel, len(found.ssim) - 1))
    both = (own, layer)
    rows: list[Row] = [
        (words, *(_number(one, name) for one in both))
        for words, name in (
            ("cosine", "cosine"),
            ("relative L2", "relative_l2"),
            ("max |Δ|", "max_abs"),
            ("mean |Δ|", "mean_abs"),
            ("max rel. Δ", "max_relative"),
        )
    ]
    rows.append(("signs changed", *("" if one is None else f"{100 * one.sign_share:.1f} %" for one in both)))
    if own is None or not math.isnan(own.max_ulp):
        rows.append(("max ULP", *(_number(one, "max_ulp") for one in both)))
    return (*rows, *_likeness_rows(found, channel))


def _likeness_rows(found: MapDifferences | None, channel: int) -> tuple[Row, ...]:
    """Return how alike the maps look, of the channel and of all maps together."""
    if found is None:
        return (("PSNR, dB", "", ""), ("SSIM", "", ""))
    channel = min(channel, len(found.ssim) - 1)
    likeness = (float(found.ssim[channel]), found.layer_ssim)
    rows: list[Row] = [("PSNR, dB", number(float(found.channels.psnr[channel])), number(found.layer_psnr))]
    if not math.isnan(likeness[1]):
        rows.append(("SSIM", *("–" if math.isnan(one) else number(one) for one in likeness)))
    return tuple(rows)


def _number(found: Difference | None, name: str) -> str:
    return "" if found is None else number(float(getattr(found, name)))
