"""The parts of the inspector with the numbers of a comparison: of channel and layer, and of outputs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import torch
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QWidget

from hookviewer.differences import ChannelDifferences, Difference, channel_differences
from hookviewer.gui import parts
from hookviewer.gui.columns import Column, WallState
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
        self._numbers = Section(self.tr("Difference"), self.numbers, self.title)
        self._outputs = Section(self.tr("Outputs"), self.outputs)
        self.setLayout(parts.column(self._numbers, self._outputs))
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        for signal in (session.selection_changed, session.look_changed, session.inputs_changed):
            signal.connect(self._soon.start)
        for signal in (session.runs_changed, session.differences.changed, session.model_changed):
            signal.connect(self._soon.start)
        self.hide()

    def refresh(self) -> None:
        """Show the numbers of the two columns."""
        session = self._session
        several = len(session.ticked_inputs) > 1
        wall = present_wall(self._session) if several else None
        pair = _pair(wall)
        self.setVisible(pair is not None)
        if wall is None or pair is None:
            return
        self._show_numbers(wall, *pair)
        self._show_outputs(*pair)

    def _show_numbers(self, wall: WallState, a: Column, b: Column) -> None:
        self.title.setText(wall.pair.title)
        same = a.maps is not None and b.maps is not None and a.maps.values.shape == b.maps.values.shape
        self._numbers.setVisible(same and a.record is not None and b.record is not None)
        if not same or a.record is None or b.record is None or a.maps is None or b.maps is None:
            return
        lane = self._session.differences
        counted = lane.counted(a.record, b.record)
        if counted is None:
            lane.want([(a.record, b.record)], first=True)
        channel = min(self._session.selection.channel, len(a.maps.values) - 1)
        dtype = a.record.dtype if a.record.dtype == b.record.dtype else None
        one, other = (maps.values[channel : channel + 1] for maps in (a.maps, b.maps))
        own = channel_differences(one, other, dtype=dtype)
        if dtype is None:  # the maps are float32 both, but no steps of one type lie between these values
            own = dataclasses.replace(own, max_ulp=np.full_like(own.max_ulp, math.nan))
        self.numbers.show_rows(difference_rows(own, counted.numbers if counted is not None else None))

    def _show_outputs(self, a: Column, b: Column) -> None:
        card = self._session.card
        names = (card.class_names if card is not None else None) or ()
        rows = output_rows(a, b, names)
        self._outputs.setVisible(bool(rows))
        self.outputs.show_heads((a.letter or "A", b.letter or "B"))
        self.outputs.show_rows(rows)


def _pair(wall: WallState | None) -> tuple[Column, Column] | None:
    if wall is None:
        return None
    places = wall.pair.reference, wall.pair.other
    inputs = [column for column in wall.columns if column.number is not None]
    if max(places) >= len(inputs):
        return None
    return inputs[places[0]], inputs[places[1]]


def difference_rows(own: ChannelDifferences, layer: Difference | None) -> tuple[Row, ...]:
    """Return the numbers of a channel beside those of its layer, where they are counted."""
    channel = own.channel(0)
    both = (channel, layer)
    rows: list[Row] = [
        ("cosine", *(_number(one, "cosine") for one in both)),
        ("relative L2", *(_number(one, "relative_l2") for one in both)),
        ("max |Δ|", *(_number(one, "max_abs") for one in both)),
        ("mean |Δ|", *(_number(one, "mean_abs") for one in both)),
        ("signs changed", *("" if one is None else f"{100 * one.sign_share:.1f} %" for one in both)),
    ]
    if not math.isnan(channel.max_ulp):
        rows.append(("max ULP", *(_number(one, "max_ulp") for one in both)))
    return (*rows, ("PSNR", f"{number(float(own.psnr[0]))} dB", ""))


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
