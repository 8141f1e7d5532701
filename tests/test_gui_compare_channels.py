"""The table of compared channels: its numbers, its order, its file, and what it says without numbers."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_compared import values
from gui_nets import picture, settled
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.differences import map_differences
from hookviewer.errors import Cancelled
from hookviewer.gui.compare_channels_dialog import ChannelsDialog
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.session import Session


class Odd(nn.Module):
    """Channel 1 is constant, channel 2 has one NaN where the picture's first pixel is negative."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 5, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        y[:, 1] = 0.25
        if float(x.detach()[0, 0, 0, 0]) < 0:
            y[:, 2, 4, 4] = math.nan
        return y


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    made = Session()
    made.set_model(Odd().eval())
    made.add_inputs([picture(5), picture(2)])
    made.select(path="", channel=3)
    settled(qtbot, made)
    assert float(picture(5).args[0][0, 0, 0, 0]) > 0 > float(picture(2).args[0][0, 0, 0, 0])
    yield made
    made.close()


@pytest.fixture
def dialog(qtbot: QtBot, session: Session) -> ChannelsDialog:
    made = ChannelsDialog(session)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.table.rows.rowCount() == 5, timeout=10_000)
    return made


def shown(dialog: ChannelsDialog) -> dict[str, dict[str, float]]:
    """Return the numbers of the table's CSV by channel and name; NaN for an empty cell."""
    rows = list(csv.DictReader(dialog.table.csv().splitlines()))
    return {row["channel"]: {name: float(cell or "nan") for name, cell in row.items()} for row in rows}


def ssim_of(a: np.ndarray, b: np.ndarray, reach: float) -> float:
    """Mean structural similarity of two maps of 8 × 8, window by window."""
    found = []
    for row in range(2):
        for column in range(2):
            x, y = (one[row : row + 7, column : column + 7].ravel() for one in (a, b))
            (xx, xy), (_, yy) = np.cov(x, y)
            c1, c2 = (0.01 * reach) ** 2, (0.03 * reach) ** 2
            top = (2 * x.mean() * y.mean() + c1) * (2 * xy + c2)
            found.append(top / ((x.mean() ** 2 + y.mean() ** 2 + c1) * (xx + yy + c2)))
    return float(np.mean(found))


def test_every_channel_has_its_numbers_beside_each_other(session: Session, dialog: ChannelsDialog) -> None:
    a, b = (values(session, column, "")[0].double().numpy() for column in (0, 1))
    reach = a.max() - a.min()
    for channel in (0, 3, 4):
        one, other = a[channel], b[channel]
        row = shown(dialog)[str(channel)]
        gap = np.abs(one - other)
        assert row["cosine"] == pytest.approx(
            (one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum())
        )
        assert row["relative_l2"] == pytest.approx(np.sqrt((gap**2).sum() / (one**2).sum()))
        assert row["max_abs"] == pytest.approx(gap.max())
        assert row["mean_abs"] == pytest.approx(gap.mean())
        assert row["max_relative"] == pytest.approx((gap / np.maximum(np.abs(one), np.abs(other))).max())
        assert row["signs_changed_percent"] == pytest.approx(100 * (one * other < 0).mean())
        assert row["psnr_db"] == pytest.approx(10 * math.log10(reach**2 / (gap**2).mean()))
        assert row["ssim"] == pytest.approx(ssim_of(one, other, reach))


def test_constant_channels_and_nan_have_true_numbers(session: Session, dialog: ChannelsDialog) -> None:
    constant, broken = shown(dialog)["1"], shown(dialog)["2"]
    assert (constant["cosine"], constant["ssim"]) == (pytest.approx(1), pytest.approx(1))
    assert (constant["max_abs"], constant["max_ulp"], constant["psnr_db"]) == (0, 0, math.inf)
    a, b = (values(session, column, "")[0, 2].double() for column in (0, 1))
    there = torch.isfinite(b)
    assert int((~there).sum()) == 1
    assert broken["max_abs"] == pytest.approx(float((a - b)[there].abs().max()))
    assert math.isnan(broken["ssim"])
    known = [shown(dialog)[channel]["ssim"] for channel in "0134"]
    assert dialog._shown.layer_ssim == pytest.approx(np.mean(known))


def test_the_ulp_are_those_that_torch_steps_over(session: Session, dialog: ChannelsDialog) -> None:
    a, b = (values(session, column, "")[0, 3].reshape(-1) for column in (0, 1))
    bits = [one.view(torch.int32).to(torch.int64) for one in (a, b)]
    ordered = [torch.where(one < 0, -(one & 0x7FFFFFFF), one) for one in bits]
    assert shown(dialog)["3"]["max_ulp"] == float((ordered[0] - ordered[1]).abs().max())


def test_a_head_sorts_and_a_row_selects_its_channel(
    qtbot: QtBot, session: Session, dialog: ChannelsDialog
) -> None:
    heads = dialog.table.horizontalHeader()
    names = [str(dialog.table.rows.headerData(place, Qt.Orientation.Horizontal)) for place in range(10)]
    place = names.index("SSIM")
    where = heads.sectionViewportPosition(place) + heads.sectionSize(place) // 2
    qtbot.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(where, 10))
    likeness = [shown(dialog)[channel]["ssim"] for channel in map(str, range(5))]
    order = [int(one) for one in dialog.table.rows.order]
    assert order[-1] == 2  # what has no number comes last
    known = [likeness[channel] for channel in order[:-1]]
    assert known in (sorted(known), sorted(known, reverse=True))
    first = dialog.table.visualRect(dialog.table.rows.index(0, 0)).center()
    qtbot.mouseClick(dialog.table.viewport(), Qt.MouseButton.LeftButton, pos=first)
    assert session.selection.channel == order[0]
    qtbot.waitUntil(lambda: dialog.table.channel == order[0], timeout=5_000)
    qtbot.keyClick(dialog.table, Qt.Key.Key_Down)
    assert session.selection.channel == order[1]


def test_the_table_is_copied_and_saved_as_it_is_sorted(
    qtbot: QtBot, session: Session, dialog: ChannelsDialog, tmp_path: Path
) -> None:
    dialog.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["channel", "4", "3", "2", "1", "0"]
    dialog.write_table(str(tmp_path / "channels.csv"))
    assert (tmp_path / "channels.csv").read_text().splitlines() == lines
    told = []
    session.message_told.connect(told.append)
    dialog.write_table(str(tmp_path / "none" / "channels.csv"))
    assert told[-1].tone == "error"


def test_the_inspector_has_the_same_numbers_and_opens_the_table(qtbot: QtBot, session: Session) -> None:
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.resize(340, 1300)
    inspector.show()
    part = inspector.compared
    part.refresh()
    qtbot.waitUntil(lambda: any(row[0] == "SSIM" and row[1] for row in part.numbers.rows), timeout=10_000)
    rows = {row[0]: row[1:] for row in part.numbers.rows}
    a, b = (values(session, column, "")[0].double().numpy() for column in (0, 1))
    reach = a.max() - a.min()
    assert float(rows["SSIM"][0].replace("−", "-")) == pytest.approx(ssim_of(a[3], b[3], reach), rel=2e-3)
    there = np.isfinite(b)
    psnr = 10 * math.log10(reach**2 / ((a - b)[there] ** 2).mean())
    assert float(rows["PSNR, dB"][1]) == pytest.approx(psnr, rel=2e-3)
    qtbot.mouseClick(part.channels, Qt.MouseButton.LeftButton)
    made = inspector.findChild(ChannelsDialog)
    assert made.isVisible()
    made.close()


def test_one_column_says_what_to_do(qtbot: QtBot, session: Session, dialog: ChannelsDialog) -> None:
    session.tick_input(session.inputs[1].number, False)
    qtbot.waitUntil(lambda: not dialog.save.isEnabled(), timeout=5_000)
    assert "tick a second input" in dialog.body.empty.sentence.text()


def test_the_numbers_of_many_channels_are_those_of_one_piece_and_a_stop_is_heard() -> None:
    generator = np.random.default_rng(0)
    a = generator.normal(size=(40, 200, 200)).astype(np.float32)
    b = (a + 0.1 * generator.normal(size=a.shape)).astype(np.float32)
    found = map_differences(a, b)
    assert len(found.ssim) == 40
    mean = float(((a.astype(np.float64) - b) ** 2).mean())
    reach = float(a.max()) - float(a.min())
    assert found.layer_psnr == pytest.approx(10 * math.log10(reach**2 / mean))
    last = float(np.abs(a[39].astype(np.float64) - b[39]).max())
    assert found.channels.max_abs[39] == pytest.approx(last)
    asked = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 1

    with pytest.raises(Cancelled):
        map_differences(a, b, cancelled=cancelled)
