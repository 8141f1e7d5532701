"""Channels in every order: what comes first, why an order is not to be had, and showing only some."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from wall_nets import canvas, walls

from hookviewer import arrays
from hookviewer.gui import sorting
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.wall import WallPanel, words
from hookviewer.gui.wall.channel_field import ChannelField
from hookviewer.kinds import Kind


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Callable[..., tuple[Session, WallPanel]]]:
    """Make walls."""
    yield from walls(qtbot)


def _values(session: Session, kind: Kind, place: int = 0) -> np.ndarray:
    values = session.recording(session.inputs[place].number).record("conv", kind).array()[0]
    return values.reshape(len(values), -1).astype(np.float64)


def _expected(session: Session, sort: str) -> list[int]:
    output, gradient = _values(session, Kind.OUTPUT), _values(session, Kind.GRAD_OUTPUT)
    numbers = {
        "mean": output.mean(1),
        "max": output.max(1),
        "std": output.std(1),
        "gradient": np.abs(gradient).mean(1),
        "product": np.abs((output * gradient).sum(1)),
        "similar": np.corrcoef(output)[2],
        "difference": np.abs(output - _values(session, Kind.OUTPUT, 1)).mean(1),
    }
    return np.argsort(-numbers[sort], kind="stable").tolist()


@pytest.mark.parametrize("sort", ["mean", "max", "std", "gradient", "product", "similar", "difference"])
def test_the_wall_is_in_the_order_asked_for(make, sort: str) -> None:
    session, panel = make(2)
    session.select(channel=2)
    panel.sort_by(sort)
    assert panel.wall.order.tolist() == _expected(session, sort)
    assert panel.wall.sort == sort
    assert "sorted by" in panel.foot.words.toolTip()
    session.select(shown=Shown.GRADIENT)  # the order is one of the channels: it goes along
    if sort in ("gradient", "product", "difference"):
        assert sorted(panel.wall.order.tolist()) == list(range(6))


def test_sorting_by_similarity_stays_when_another_channel_is_selected(make) -> None:
    session, panel = make()
    session.select(channel=2)
    panel.sort_by("similar")
    before = panel.wall.order.tolist()
    assert before[0] == 2
    session.select(channel=before[3])
    assert panel.wall.order.tolist() == before
    assert "similarity to channel 2" in panel.foot.words.toolTip()


def test_a_sort_that_cannot_be_made_is_disabled_and_says_why(make) -> None:
    _, panel = make(1)
    panel.controls.forbid_sorts()
    model = panel.controls.sort.model()
    items = {panel.controls.sort.itemData(place): model.item(place) for place in range(model.rowCount())}
    assert not items["difference"].isEnabled()
    assert items["difference"].toolTip() == "Tick a second input to sort by the difference."
    assert items["gradient"].isEnabled()


def test_without_gradients_the_order_is_by_number_and_the_foot_says_so(make, qtbot: QtBot) -> None:
    session, panel = make()
    session.set_settings(target=session.settings.target.__class__("none"))
    with qtbot.waitSignal(session.run_finished):
        session.run()
    session.set_look(sort="gradient")
    assert panel.wall.order.tolist() == list(range(6))
    assert "not sorted by |gradient|" in panel.foot.words.toolTip()
    assert panel.controls.why_not("gradient")


def test_s_skips_what_cannot_be_sorted_by(make) -> None:
    session, panel = make(1)
    seen = []
    for _ in words.SORTS:
        panel.cycle_sort()
        seen.append(session.look.sort)
    assert not {"difference", "entropy"} & set(seen)
    assert seen[-3:] == ["channel", "mean", "max"]


def test_the_order_is_kept_in_another_layer(make) -> None:
    session, panel = make()
    panel.sort_by("std")
    session.select(path="relu")
    assert session.look.sort == "std"
    values = session.recording(session.inputs[0].number).record("relu", Kind.OUTPUT).array()[0]
    order = np.argsort(-values.reshape(6, -1).std(1), kind="stable")
    assert panel.wall.order.tolist() == order.tolist()


def _type(panel: WallPanel, text: str) -> None:
    panel.go_to_channel()
    field = QApplication.activePopupWidget()
    assert isinstance(field, ChannelField)
    field.number.setText(text)
    QTest.keyClick(field.number, Qt.Key.Key_Return)
    assert not field.isVisible()


def test_a_list_of_channels_shows_only_these_and_nothing_shows_all(make) -> None:
    session, panel = make()
    _type(panel, "5, 1-2")
    assert panel.wall.order.tolist() == [1, 2, 5]
    assert canvas(panel, 0).tile_rect(0).isEmpty()
    assert "3 of them shown" in panel.foot.words.toolTip()
    panel.sort_by("mean")
    means = _values(session, Kind.OUTPUT).mean(1)
    assert panel.wall.order.tolist() == sorted([1, 2, 5], key=lambda one: -means[one])
    _type(panel, "")
    assert len(panel.wall.order) == 6


def test_only_the_pinned_channels_can_be_shown(make) -> None:
    _, panel = make()
    panel.pin(4)
    panel.pin(3)
    panel.show_only(sorting.PINNED)
    assert panel.wall.order.tolist() == [4, 3]


def test_a_list_that_names_no_channel_here_shows_all(make) -> None:
    session, panel = make()
    session.set_look(only="700-800")
    assert len(panel.wall.order) == 6


@given(st.sets(st.integers(0, 99), min_size=1), st.integers(1, 120))
def test_a_written_list_is_read_back(channels: set[int], count: int) -> None:
    text = ", ".join(map(str, sorted(channels, reverse=True)))
    assert sorting.listed(text, count) == tuple(sorted(one for one in channels if one < count))


def test_a_range_holds_both_ends_and_other_words_are_refused() -> None:
    assert sorting.listed("3, 7-9; 12–13", 13) == (3, 7, 8, 9, 12)
    assert sorting.listed("1-99999999999", 4) == (1, 2, 3)
    for text in ("three", "9-7", "1--2"):
        with pytest.raises(ValueError, match=r".+"):
            sorting.listed(text, 10)


def test_channels_without_a_number_come_last() -> None:
    values = np.array([[[np.nan]], [[1.0]], [[-3.0]]], np.float32)
    maps = arrays.Maps(values, "channel × row × column", "maps")
    assert sorting.channel_order(maps, "gradient").tolist() == [2, 1, 0]
