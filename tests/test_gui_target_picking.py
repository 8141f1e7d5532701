"""A cell that is clicked is the unit that lies there, however the wall reads the tensor."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer import targets
from hookviewer.gui.columns import resolve
from hookviewer.gui.session import Session
from hookviewer.gui.shown_maps import maps_in
from hookviewer.gui.state import Look, Message, Pointed, Selection, Shown
from hookviewer.gui.target_menu import targets_at
from hookviewer.gui.target_picking import cell_target, channel_target
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording
from hookviewer.target_choice import TargetChoice
from hookviewer.target_words import words


def recorded(shape: tuple[int, ...], leaf: str = "") -> tuple[Record, Recording]:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    record = Record(Key("layer", Kind.OUTPUT, 0, leaf), shape, values.dtype, kept=values)
    return record, Recording({record.key: record})


@pytest.mark.parametrize(
    ("shape", "reading", "sample"),
    [
        ((2, 3, 4, 5), None, 1),
        ((2, 4, 5, 3), "sample × row × column × channel", 0),
        ((1, 17, 16), None, 0),
        ((1, 9, 6), "sample × token × feature", 0),
        ((2, 3, 4, 5, 6), None, 1),
        ((3, 7), None, 2),
        ((7,), None, 0),
        ((2, 3, 4), "sample × channel × time", 1),
    ],
)
def test_the_unit_has_the_value_of_the_cell(shape: tuple[int, ...], reading: str | None, sample: int) -> None:
    record, recording = recorded(shape)
    look = Look(sample=sample, readings={"layer": reading} if reading else {})
    selection = Selection("layer")
    maps = maps_in(record, selection, look)
    for seed in range(6):
        spot = np.random.default_rng(seed).integers(0, maps.values.shape)
        channel, row, column = (int(one) for one in spot)
        choice = cell_target(recording, selection, look, Pointed(channel, (row, column)))
        assert choice is not None
        unit = choice.target()
        assert isinstance(unit, targets.unit)
        assert float(unit(record.tensor())) == maps.values[channel, row, column]


def test_a_channel_is_summed_over_its_places_and_samples() -> None:
    record, recording = recorded((2, 3, 4, 5))
    whole = channel_target(recording, Selection("layer"), Look(), 2)
    assert whole == TargetChoice("unit", path="layer", place=(2,))
    look = Look(readings={"layer": "sample × row × column × channel"})
    last = channel_target(recording, Selection("layer"), look, 4)
    assert last is not None
    assert words(last) == "unit:layer:" + ":,:,:,4"
    unit = last.target()
    assert unit is not None
    assert float(unit(record.tensor())) == pytest.approx(float(record.tensor()[..., 4].sum()), rel=1e-5)


def test_what_is_no_cell_of_an_output_is_no_target() -> None:
    _, recording = recorded((1, 3, 4, 5))
    spot = Pointed(0, (0, 0))
    assert cell_target(recording, Selection("layer", Shown.GRAD_CAM), Look(), spot) is None
    assert cell_target(recording, Selection("other"), Look(), spot) is None
    _, several = recorded((2, 3, 4, 5))
    assert cell_target(several, Selection("layer"), Look(sample=5), spot) is None
    lone = cell_target(recording, Selection("layer"), Look(sample=5), spot)  # the only sample is shown
    assert lone is not None
    assert lone.place == (0, 0, 0, 0)


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    made = Session()
    made.set_model(Tiny())
    made.add_inputs([picture(0)])
    made.tick(("stem.0", "body.0"), True)
    settled(qtbot, made)
    yield made
    made.close()


def test_the_cell_of_a_menu_becomes_the_target_and_can_be_taken_back(qtbot: QtBot, session: Session) -> None:
    session.select(path="body.0", channel=4, cell=(2, 3))
    settled(qtbot, session)
    value = session.runs[1].recording.record("body.0", Kind.OUTPUT).array()[0, 4, 2, 3]
    wall = resolve(session.inputs, session.runs, session.selection, session.look, running=False)
    entries = targets_at(session, wall.columns[0], Pointed(4, (2, 3)))
    assert [text for text, _ in entries] == [
        "Gradient of this cell",
        "What this cell sees of the picture",
        "Gradient of this channel",
    ]
    told: list[Message] = []
    session.message_told.connect(told.append)
    entries[0][1]()
    settled(qtbot, session)
    assert words(session.settings.target) == "unit:body.0:0,4,2,3"
    run = session.runs[1].recording
    assert run.target_value == pytest.approx(float(value))
    gradient = run.record("stem.0", Kind.GRAD_OUTPUT).array().any((0, 1))
    rows, columns = np.nonzero(gradient)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (1, 3, 2, 4)  # what a 3 × 3 kernel sees
    assert told[-1].what == "Gradients start from body.0[0,4,2,3]."
    assert told[-1].undo is not None
    told[-1].undo()
    settled(qtbot, session)
    assert session.settings.target == TargetChoice("top")


def test_between_columns_that_have_no_run_nothing_is_offered(session: Session) -> None:
    wall = resolve(session.inputs, session.runs, session.selection, session.look, running=False)
    column = dataclasses.replace(wall.columns[0], number=None)
    assert targets_at(session, column, Pointed(0, (0, 0))) == []


def test_a_vector_of_a_layer_is_clicked_bar_by_bar(qtbot: QtBot, session: Session) -> None:
    session.tick(("head",), True)
    session.select(path="head")
    settled(qtbot, session)
    wall = resolve(session.inputs, session.runs, session.selection, session.look, running=False)
    (_, does), *rest = targets_at(session, wall.columns[0], Pointed(0, (0, 2)))
    assert not rest
    does()
    assert words(session.settings.target) == "unit:head:0,2"
    settled(qtbot, session)
    assert isinstance(session.model, nn.Module)
