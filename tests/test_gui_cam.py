"""Grad-CAM on the wall: every ticked layer that suits, over the picture that the network saw."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from torch import nn
from torch.nn import functional

from hookviewer.gui import blending
from hookviewer.gui.cams import Cam
from hookviewer.gui.numbers import number
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Run, Settings, Shown
from hookviewer.gui.theme import set_theme
from hookviewer.gui.views.cam_strip import CamStrip
from hookviewer.gui.views.cam_words import flat_words, peak_words, tip_of
from hookviewer.gui.wall import WallPanel, strip
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.gui.wall.geometry import Sight
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Call, Record, Recording
from hookviewer.resources import resource

Made = Callable[..., tuple[Session, WallPanel]]


class Net(nn.Module):
    """Maps of two sizes and a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.late = nn.Conv2d(4, 5, 3, stride=2, padding=1)
        self.early = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.late(self.early(x).sigmoid()).sigmoid().mean((2, 3)))


def _photograph(seed: int) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 256, (12, 18, 3), dtype=np.uint8)
    return Image.fromarray(values)


def _input(seed: int, *, picture: bool = True) -> Input:
    values = torch.randn(1, 3, 12, 18, generator=torch.Generator().manual_seed(seed))
    return Input(f"input{seed}", (values,), image=_photograph(seed) if picture else None)


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    """Collect sessions, and close them."""
    made: list[Session] = []
    yield made
    for session in made:
        session.close()


def _panel(qtbot: QtBot, session: Session) -> WallPanel:
    panel = WallPanel(session)
    qtbot.addWidget(panel)
    panel.resize(900, 600)
    panel.show()
    qtbot.waitExposed(panel)
    QApplication.processEvents()
    return panel


@pytest.fixture
def make(qtbot: QtBot, sessions: list[Session]) -> Made:
    """Make a wall of Grad-CAM: `early` and `late` and `head` are ticked, `late` is selected."""

    def made(inputs: int = 1, *, picture: bool = True) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.auto = False
        torch.manual_seed(3)
        model = Net()
        with torch.no_grad():
            model.head.weight *= 1000
        session.set_model(model)
        session.add_inputs([_input(seed, picture=picture) for seed in range(1, inputs + 1)])
        session.tick(("early", "late", "head"), True)
        session.select(path="late", shown=Shown.GRAD_CAM)
        with qtbot.waitSignal(session.run_finished):
            session.run()
        return session, _panel(qtbot, session)

    return made


@pytest.fixture
def by_hand(qtbot: QtBot, sessions: list[Session]) -> Made:
    """Make a wall of hand-made outputs and gradients; the layers were called in the order given."""

    def made(*columns: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.auto = False
        session.add_inputs([_input(seed) for seed in range(1, len(columns) + 1)])
        runs = {item.number: _run(layers) for item, layers in zip(session.inputs, columns, strict=True)}
        session.set_runs(runs)
        session.tick(columns[0], True)
        session.select(path=next(iter(columns[0])), shown=Shown.GRAD_CAM)
        return session, _panel(qtbot, session)

    return made


def _run(layers: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> Run:
    records = {}
    for path, tensors in layers.items():
        for kind, values in zip((Kind.OUTPUT, Kind.GRAD_OUTPUT), tensors, strict=True):
            key = Key(path, kind)
            records[key] = Record(key, tuple(values.shape), values.dtype, kept=values.contiguous())
    calls = {path: (Call(path, 0, order, "ok"),) for order, path in enumerate(layers)}
    return Run(Recording(records, module_calls=calls), Settings(), summaries=dict.fromkeys(records))


def _maps(values: list[list[float]]) -> tuple[torch.Tensor, torch.Tensor]:
    """An output whose Grad-CAM is its own positive part."""
    output = torch.tensor(values)[None, None]
    return output, torch.ones_like(output)


def _canvas(panel: WallPanel, place: int) -> Canvas:
    found = panel.findChild(QWidget, f"wall_{place}")
    assert isinstance(found, Canvas)
    return found


def _strip(panel: WallPanel, place: int) -> CamStrip:
    view = _canvas(panel, place).view
    assert isinstance(view, CamStrip)
    return view


def _grad_cam(model: nn.Module, path: str, x: torch.Tensor) -> torch.Tensor:
    """Grad-CAM of the top class by plain hooks, [H, W]."""
    kept: list[torch.Tensor] = []
    handle = model.get_submodule(path).register_forward_hook(lambda *call: kept.append(call[2]))
    scores = model.eval()(x)[0]
    handle.remove()
    (gradient,) = torch.autograd.grad(scores[scores.argmax()], kept[0])
    return torch.einsum("c,chw->hw", gradient[0].mean((1, 2)), kept[0][0].detach()).clamp(min=0)


def _part(panel: WallPanel, place: int, path: str) -> np.ndarray:
    rect = _strip(panel, place).rect_of(path).toRect()
    image = _canvas(panel, place).image()
    return image[rect.top() : rect.top() + rect.height(), rect.left() : rect.left() + rect.width(), :3]


def _looked_up(values: np.ndarray, low: float, high: float, name: str) -> np.ndarray:
    with np.load(resource("colormaps.npz")) as tables:
        table = tables[name]
    place = np.floor((values.astype(np.float64) - low) / (high - low) * 255 + 0.5)
    return table[np.clip(place, 0, 255).astype(int)].astype(float)


def test_every_ticked_layer_that_suits_has_a_tile_in_order_of_execution(make: Made) -> None:
    _, panel = make(2)
    for place in range(2):
        assert [cam.path for cam in _strip(panel, place).sheet.strip.cams] == ["early", "late", "head"]
        assert (
            _strip(panel, place).sheet.strip.cams[2].reason.endswith("The nearest layer that suits is late.")
        )
        left, right = (_strip(panel, place).rect_of(path) for path in ("early", "late"))
        assert (left.top(), left.left()) < (right.top(), right.left())
        assert left.height() / left.width() == pytest.approx(12 / 18, abs=0.02)
    assert (
        panel.foot.words.toolTip().splitlines()[0].startswith("3 layers, each on one scale for all columns")
    )
    assert "head: Grad-CAM does not suit head: its output is 1×3" in panel.foot.words.toolTip()


def test_the_selected_layer_has_a_tile_though_it_is_not_ticked(make: Made) -> None:
    session, panel = make()
    session.tick(("late", "head"), False)
    assert [cam.path for cam in _strip(panel, 0).sheet.strip.cams] == ["early", "late"]
    session.tick(("early",), False)
    assert [cam.path for cam in _strip(panel, 0).sheet.strip.cams] == ["late"]
    assert panel.foot.words.toolTip().startswith("1 layer")


def test_what_is_painted_is_the_smooth_map_over_the_grey_picture(make: Made) -> None:
    session, panel = make(2)
    for path in ("early", "late"):
        found = [_grad_cam(session.model, path, item.input.args[0]) for item in session.inputs]
        top = float(max(one.max() for one in found))
        for place, item in enumerate(session.inputs):
            part = _part(panel, place, path)
            size = part.shape[:2]
            smooth = functional.interpolate(found[place][None, None], size, mode="bilinear")[0, 0].numpy()
            grey = item.input.image.convert("L").resize(size[::-1], Image.Resampling.LANCZOS)
            cover = (0.75 * (0.1 + 0.9 * np.clip(smooth / top, 0, 1)))[..., None]
            under = np.asarray(grey, float)[..., None] * (0.8 - 0.3 * 0.75)
            expected = _looked_up(smooth, 0, top, "magma") * cover + under * (1 - cover)
            assert np.abs(part - expected).max() <= 4  # a value at the edge of two colours


def test_the_record_is_that_of_the_selected_layer(make: Made) -> None:
    session, panel = make(2)
    for path in ("early", "late"):
        session.select(path=path)
        for place, item in enumerate(session.inputs):
            expected = _grad_cam(session.model, path, item.input.args[0])
            record = _canvas(panel, place).record
            assert record.key == Key(path, Kind.ATTRIBUTION, 0, "grad_cam")
            torch.testing.assert_close(record.tensor()[0, 0], expected)


def test_a_click_on_a_tile_selects_its_layer_cell_and_input_and_says_the_value(
    make: Made, qtbot: QtBot
) -> None:
    session, panel = make(2)
    rect = _strip(panel, 1).rect_of("early")
    at = QPointF(rect.left() + rect.width() * 7.5 / 18, rect.top() + rect.height() * 4.5 / 12)
    qtbot.mouseClick(_canvas(panel, 1), Qt.MouseButton.LeftButton, pos=at.toPoint())
    selection = session.selection
    assert (selection.path, selection.cell, selection.input) == ("early", (4, 7), session.inputs[1].number)
    values = [_grad_cam(session.model, "early", item.input.args[0])[4, 7] for item in session.inputs]
    written = [f"{letter} {number(float(value))}" for letter, value in zip("AB", values, strict=True)]
    assert read_out(session)[0].startswith(f"early  y 4  x 7  {written[0]}   {written[1]}   input ≈ (4, 7)")


def test_pointing_at_another_layer_reads_that_layer_and_selects_nothing(make: Made, qtbot: QtBot) -> None:
    session, panel = make()
    rect = _strip(panel, 0).rect_of("early")
    qtbot.mouseMove(_canvas(panel, 0), rect.center().toPoint())
    assert session.selection.path == "late"
    assert session.pointed.path == "early"
    row, column = session.pointed.cell
    value = float(_grad_cam(session.model, "early", session.inputs[0].input.args[0])[row, column])
    assert f"early  y {row}  x {column}  = {number(value)}" in read_out(session)[0]
    assert "early" in _canvas(panel, 0).toolTip()
    panel.grab()


def test_the_scale_in_force_is_written_and_the_end_of_a_shared_one_too(by_hand: Made) -> None:
    low, high = (
        {"a": _maps([[0.0, 1.0]]), "b": _maps([[0.5, 0.0]])},
        {"a": _maps([[4.0, 1.0]]), "b": _maps([[2.0, 0.0]])},
    )
    _, panel = by_hand(low, high)
    texts = [panel.findChild(QLabel, name).text() for name in ("scale_low", "scale_high")]
    assert texts == ["0", "max"]
    assert panel.controls.scale.shown_text() in ("Scale: each 0 to its max", "0 to max")
    assert panel.controls.sort.isHidden()
    cams = [_strip(panel, place).sheet.strip.cams for place in range(2)]
    assert [[cam.levels for cam in column] for column in cams] == [[(0, 4), (0, 2)]] * 2
    assert [peak_words(column[0])[0] for column in cams] == ["max 1.000 of 4.000", "max 4.000"]


def test_one_layer_has_its_scale_in_numbers(by_hand: Made) -> None:
    _, panel = by_hand({"a": _maps([[0.0, 3.0]])})
    assert panel.findChild(QLabel, "scale_high").text() == "3.000"


def test_a_map_of_one_value_says_so(by_hand: Made) -> None:
    _, panel = by_hand(
        {"dead": _maps([[-1.0, -2.0]]), "even": _maps([[0.4, 0.4]]), "fine": _maps([[0.0, 1.0]])}
    )
    dead, even, _ = _strip(panel, 0).sheet.strip.cams
    assert flat_words(0.0) == "zero everywhere"
    assert flat_words(0.4) == "= 0.400 everywhere"
    assert "zero everywhere: nothing in this layer speaks for the target" in tip_of(dead)
    assert "the value 0.4 everywhere: it does not tell places apart" in tip_of(even)
    canvas = _canvas(panel, 0)
    plain, marked = canvas.image(), canvas.grab().toImage()
    for path, labelled in (("dead", True), ("even", True), ("fine", False)):
        middle = _strip(panel, 0).rect_of(path).center().toPoint()
        places = [middle + QPoint(dx, 4) for dx in range(-24, 25)]
        changed = [tuple(plain[at.y(), at.x(), :3]) != marked.pixelColor(at).getRgb()[:3] for at in places]
        assert all(changed[10:-10]) if labelled else not any(changed)
    part = _part(panel, 0, "dead")
    grey = np.asarray(_photograph(1).convert("L").resize(part.shape[1::-1], Image.Resampling.LANCZOS))
    np.testing.assert_allclose(part[..., 1], grey * 0.575 * 0.925, atol=3)


def test_bad_values_are_counted_and_coloured(by_hand: Made) -> None:
    _, panel = by_hand({"a": _maps([[float("nan"), 1.0], [2.0, 3.0]])})
    panel.grab()
    part = _part(panel, 0, "a")
    assert (part[2, 2] > (30, 140, 80)).all()
    assert part[2, 2, 1] > part[2, 2, 0] + 60


def test_without_a_picture_the_cells_are_shown_as_they_are(make: Made) -> None:
    session, panel = make(picture=False)
    values = _grad_cam(session.model, "late", session.inputs[0].input.args[0]).numpy()
    part = _part(panel, 0, "late")
    rows = [int((y + 0.5) / part.shape[0] * len(values)) for y in range(part.shape[0])]
    columns = [int((x + 0.5) / part.shape[1] * values.shape[1]) for x in range(part.shape[1])]
    expected = _looked_up(values[np.ix_(rows, columns)], 0, float(values.max()), "magma")
    assert np.abs(part - expected).max() <= 4
    assert "without a picture" in panel.foot.words.toolTip()


def test_the_difference_column_holds_a_minus_b_of_every_layer(by_hand: Made) -> None:
    session, panel = by_hand(
        {"a": _maps([[0.0, 1.0]]), "b": _maps([[0.5, 2.0]])},
        {"a": _maps([[4.0, 1.0]]), "b": _maps([[0.0, 0.0]])},
    )
    panel.toggle_difference()
    first, second = _strip(panel, 2).sheet.strip.cams
    np.testing.assert_array_equal(first.maps.values, [[[-4.0, 0.0]]])
    np.testing.assert_array_equal(second.maps.values, [[[0.5, 2.0]]])
    assert (first.levels, second.levels) == ((-4, 4), (-2, 2))
    part = _part(panel, 2, "a")
    np.testing.assert_allclose(part[5, 5], _looked_up(np.array(-4.0), -4, 4, "ember"), atol=1)
    np.testing.assert_allclose(part[5, -5], _looked_up(np.array(0.0), -4, 4, "ember"), atol=1)
    session.select(cell=(0, 0))
    assert "A 0   B 4.000   A − B −4.000" in read_out(session)[0]


def test_layers_of_unlike_shapes_have_no_difference_and_say_why(by_hand: Made) -> None:
    _, panel = by_hand({"a": _maps([[0.0, 1.0]])}, {"a": _maps([[4.0], [1.0]])})
    panel.toggle_difference()
    (cam,) = _strip(panel, 2).sheet.strip.cams
    assert cam.maps is None
    assert cam.reason == "No difference: the shapes 1×1×2 and 1×2×1 are not the same."
    panel.grab()


def test_blinking_swaps_the_strips_but_not_the_difference(by_hand: Made) -> None:
    _, panel = by_hand({"a": _maps([[0.0, 1.0]])}, {"a": _maps([[4.0, 1.0]])})
    panel.toggle_difference()
    before = [_strip(panel, place).sheet.strip.cams for place in range(3)]
    panel.blink()
    after = [_strip(panel, place).sheet.strip.cams for place in range(3)]
    np.testing.assert_array_equal(after[0][0].maps.values, before[1][0].maps.values)
    np.testing.assert_array_equal(after[1][0].maps.values, before[0][0].maps.values)
    np.testing.assert_array_equal(after[2][0].maps.values, before[2][0].maps.values)


def test_arrow_keys_step_through_the_layers(by_hand: Made, qtbot: QtBot) -> None:
    session, panel = by_hand({name: _maps([[0.0, 1.0]]) for name in "abc"})
    canvas = _canvas(panel, 0)
    for key, path in (
        (Qt.Key.Key_Right, "b"),
        (Qt.Key.Key_Right, "c"),
        (Qt.Key.Key_Right, "c"),
        (Qt.Key.Key_Left, "b"),
    ):
        qtbot.keyClick(canvas, key)
        assert session.selection.path == path


def test_a_layer_that_does_not_suit_leaves_the_others_in_sight(by_hand: Made) -> None:
    session, panel = by_hand({"a": _maps([[0.0, 1.0]]), "fc": (torch.ones(1, 3), torch.ones(1, 3))})
    session.select(path="fc")
    assert _canvas(panel, 0).record is None
    fine, unsuited = _strip(panel, 0).sheet.strip.cams
    assert (fine.path, unsuited.path) == ("a", "fc")
    assert fine.maps is not None
    assert unsuited.maps is None
    assert "does not suit fc" in unsuited.reason
    session.tick(("a",), False)
    assert _canvas(panel, 0).view is None
    assert "does not suit fc" in panel.wall.columns[0].reason


def test_zoom_and_pan_are_linked_and_z_fits_again(by_hand: Made, qtbot: QtBot) -> None:
    layers = {name: _maps([[0.0, 1.0]]) for name in "abcd"}
    _, panel = by_hand(layers, layers)
    before = _strip(panel, 0).rect_of("a")
    panel.zoom(2.0)
    first, second = (_strip(panel, place).rect_of("a") for place in range(2))
    assert first.width() == pytest.approx(2 * before.width(), abs=2)
    assert first == second
    qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_Z)
    assert _strip(panel, 1).rect_of("a") == before
    panel.fill(True)
    panel.one_to_one()
    assert _strip(panel, 0).rect_of("a").width() == 18


def test_every_tile_of_a_strip_is_in_sight_with_room_for_its_words() -> None:
    for count in (1, 2, 5, 11, 40):
        for room in ((300, 700), (900, 300)):
            grid = strip.strip_of((count,), 2 / 3, room, Sight(), 8, 20)
            across, down = grid.wall
            assert across <= room[0]
            assert down <= room[1]
            assert grid.height == int(grid.width * 2 / 3) + 20


def test_smooth_enlarging_is_that_of_torch_and_shrinking_takes_means() -> None:
    values = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    expected = functional.interpolate(values[None, None], (33, 20), mode="bilinear")[0, 0]
    np.testing.assert_allclose(blending.smooth(values.numpy(), 33, 20), expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(
        blending.smooth(np.arange(16.0).reshape(4, 4), 2, 2), [[2.5, 4.5], [10.5, 12.5]]
    )


def test_a_peak_is_the_value_farthest_from_zero() -> None:
    assert np.isnan(Cam("a", None, (0.0, 1.0)).peak)
    assert peak_words(Cam("a", None, (0.0, 1.0), "why")) == ()
    assert tip_of(Cam("", None, (0.0, 1.0), "why")) == "the model\nwhy"


def test_a_new_run_leaves_no_map_of_the_old_one(make: Made, qtbot: QtBot) -> None:
    session, panel = make(2)
    panel.toggle_difference()
    panel.grab()
    old = [
        weakref.ref(session.recording(item.number).record(path, Kind.OUTPUT))
        for item in session.inputs
        for path in ("early", "late")
    ]
    with qtbot.waitSignal(session.run_finished):
        session.run()
    panel.grab()
    QApplication.processEvents()
    gc.collect()
    assert [record() for record in old] == [None] * 4
