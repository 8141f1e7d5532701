"""The parts of the inspector with the numbers of a comparison: of channel and layer, and of outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QWidget

from hookviewer.differences import Difference, MapDifferences
from hookviewer.gui import parts
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.compare_channels import compared_columns, same_shape
from hookviewer.gui.compare_channels_dialog import ChannelsDialog
from hookviewer.gui.inspector.section import Section
from hookviewer.gui.inspector.stat_table import Row, StatTable
from hookviewer.gui.likely import share
from hookviewer.gui.numbers import number
from hookviewer.gui.present import present_wall
from hookviewer.gui.running import guesses
from hookviewer.gui.session import Session
from hookviewer.leaves import leaves
from hookviewer.target_choice import float_leaf

WAIT_MS = 80
MOST = 5


class ComparedSections(QFrame):
    """A table of differences and one of outputs, for the two columns that are compared; else nothing."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.numbers = StatTable(self.tr("Differences"), (self.tr("channel"), self.tr("layer")))
        self.outputs = StatTable(self.tr("Outputs"))
        self.title = parts.label("", "second", 11)
        self.channels = parts.tool("table-2", self.tr("All channels as a table"), size=24)
        self.channels.clicked.connect(self._on_channels)
        self._numbers = Section(self.tr("Difference"), self.numbers, self.title, self.channels)
        self._outputs = Section(self.tr("Outputs"), self.outputs)
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
        self._show_outputs(*pair)

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

    def _show_outputs(self, a: Column, b: Column) -> None:
        card = self._session.card
        names = (card.class_names if card is not None else None) or ()
        rows = output_rows(a, b, names)
        self._outputs.setVisible(bool(rows))
        self.outputs.show_heads((a.letter or "A", b.letter or "B"))
        self.outputs.show_rows(rows)


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


def output_rows(a: Column, b: Column, names: Sequence[str]) -> tuple[Row, ...]:
    """Return the likeliest classes of both columns with their probabilities, and how far the outputs are."""
    outputs = [column.run.recording.output if column.run is not None else None for column in (a, b)]
    tensors = [dict(leaves(one)).get(float_leaf(one)) if one is not None else None for one in outputs]
    first, second = tensors
    if first is None or second is None or first.shape != second.shape or not first.is_floating_point():
        return ()
    known = [{one.index: one for one in guesses(output, names, first.numel())} for output in outputs]
    likely = list(dict.fromkeys(index for found in known for index in list(found)[:MOST]))
    rows: list[Row] = [
        (known[0][index].name, *(share(found[index].share, 3) for found in known if index in found))
        for index in likely[: MOST + 2]
        if index in known[0]
    ]
    gap = (first.double() - second.double()).abs()
    rows.append(("max |Δ|", number(float(gap.max())) if gap.numel() else "", ""))
    rows.append(("L2 of A − B", number(float(torch.linalg.vector_norm(gap))), ""))
    return tuple(rows)
