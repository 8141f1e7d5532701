"""Several methods and targets beside each other on the wall; maps that need runs of their own."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.arrays import Maps
from hookviewer.gui import cams, settings
from hookviewer.gui.cam_choice import CamChoice, leaf_of, parts_of, remembered_choice
from hookviewer.gui.cam_lines import lines_of
from hookviewer.gui.export_dialog import ExportDialog, shown_by
from hookviewer.gui.export_layers import layer_entries
from hookviewer.gui.method_popover import MethodPopover
from hookviewer.gui.method_words import cost_of, in_order, line_of, title_of
from hookviewer.gui.present import present_wall
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.views.cam_strip import CamStrip
from hookviewer.gui.views.cam_words import peak_words, short_note
from hookviewer.gui.wall import WallPanel, cam_heads, strip
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.gui.wall.geometry import Sight
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.resources import resource
from hookviewer.target_choice import TargetChoice

ONE, TWO = TargetChoice("class", 1), TargetChoice("class", 2)
Made = Callable[..., tuple[Session, WallPanel]]


class Net(nn.Module):
    """Maps of two sizes and a vector; a pause makes every run slow."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.early = nn.Conv2d(3, 4, 3, padding=1)
        self.late = nn.Conv2d(4, 5, 3, stride=2, padding=1)
        self.head = nn.Linear(5, 3)
        self.pause = pause

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(self.pause)
        return self.head(self.late(self.early(x).sigmoid()).sigmoid().mean((2, 3))) * 100


def _input(*, picture: bool = True) -> Input:
    values = torch.randn(1, 3, 12, 18, generator=torch.Generator().manual_seed(1))
    seen = np.random.default_rng(1).integers(0, 256, (12, 18, 3), dtype=np.uint8)
    return Input("given", (values,), image=Image.fromarray(seen) if picture else None)


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Made]:
    """Make a wall of maps: all three layers are ticked, `late` is selected, class 0 is the target."""
    sessions: list[Session] = []

    def made(
        methods: tuple[str, ...] = ("grad_cam",),
        targets: tuple[TargetChoice, ...] = (),
        *,
        auto: bool = True,
        model: nn.Module | None = None,
        picture: bool = True,
        wait: bool = True,
    ) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.auto = False
        session.set_model(Net() if model is None else model)
        session.add_inputs([_input(picture=picture)])
        session.tick(("early", "late", "head"), True)
        session.set_settings(target=TargetChoice("class", 0))
        session.select(path="late", shown=Shown.GRAD_CAM)
        session.set_look(cam=CamChoice(methods, targets))
        with qtbot.waitSignal(session.run_finished):
            session.run()
        session.set_auto(auto)
        panel = WallPanel(session)
        qtbot.addWidget(panel)
        panel.resize(1200, 800)
        panel.show()
        qtbot.waitExposed(panel)
        if wait:
            _settle(qtbot, session)
        return session, panel

    yield made
    for session in sessions:
        session.close()


def _settle(qtbot: QtBot, session: Session) -> None:
    qtbot.waitUntil(lambda: not session.runner.busy and not session.running, timeout=30_000)
    QApplication.processEvents()


def _canvas(panel: WallPanel) -> Canvas:
    found = panel.findChild(Canvas, "wall_0")
    assert isinstance(found, Canvas)
    return found


def _strip(panel: WallPanel) -> CamStrip:
    view = _canvas(panel).view
    assert isinstance(view, CamStrip)
    return view


def _cams(panel: WallPanel) -> dict[tuple[str, str], cams.Cam]:
    QApplication.processEvents()
    return {cam.place: cam for cam in _strip(panel).sheet.strip.cams}


def _scores(model: nn.Module, x: torch.Tensor, path: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores, and what a layer returned, by plain hooks."""
    kept: list[torch.Tensor] = []
    handle = model.get_submodule(path).register_forward_hook(lambda *call: kept.append(call[2]))
    scores = model.eval()(x)[0]
    handle.remove()
    return scores, kept[0]


def _grad_cam(model: nn.Module, path: str, x: torch.Tensor, index: int) -> np.ndarray:
    scores, output = _scores(model, x, path)
    (gradient,) = torch.autograd.grad(scores[index], output)
    found = torch.einsum("c,chw->hw", gradient[0].mean((1, 2)), output[0].detach())
    return found.clamp(min=0).numpy()


def _gradient(model: nn.Module, x: torch.Tensor, index: int) -> torch.Tensor:
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model.eval()(x)[0, index], x)
    return gradient[0]


def test_layers_methods_and_targets_stand_in_one_grid_with_maps_as_computed_one_by_one(make: Made) -> None:
    session, panel = make(("grad_cam", "gradient_input"), (ONE, TWO))
    model, x = session.model, session.inputs[0].input.args[0]
    found = _cams(panel)
    assert len(found) == 3 * (3 + 1)
    for index, target in enumerate((None, ONE, TWO)):
        for path in ("early", "late"):
            maps = found[path, leaf_of("grad_cam", target)].maps
            np.testing.assert_allclose(maps.values[0], _grad_cam(model, path, x, index), atol=1e-4)
        product = (_gradient(model, x, index) * x[0]).sum(0)
        maps = found["", leaf_of("gradient_input", target)].maps
        np.testing.assert_allclose(maps.values[0], product.numpy(), atol=1e-4)


def test_the_lines_of_the_grid_are_named_and_every_map_is_on_the_wall(make: Made) -> None:
    _, panel = make(("grad_cam", "layer_cam", "saliency"), (ONE,))
    texts = [text for text, _ in _strip(panel).sheet.strip.lines]
    assert texts == [
        *("Grad-CAM   class 0", "LayerCAM   class 0", "the input   class 0"),
        *("Grad-CAM   class 1", "LayerCAM   class 1", "the input   class 1"),
    ]
    assert _strip(panel).sheet.strip.names[:3] == ("early", "late", "head")
    assert "3 layers × 3 methods × 2 targets" in panel.foot.words.toolTip()
    places = list(_cams(panel))
    rects = [_strip(panel).rect_of(*place) for place in places]
    assert all(rect.width() > 20 for rect in rects)
    lefts = {place: rect.left() for place, rect in zip(places, rects, strict=True)}
    assert lefts["late", "grad_cam"] == lefts["late", leaf_of("layer_cam", ONE)]
    image = _canvas(panel).image()
    grid = _strip(panel).grid
    first = _strip(panel)._rect(grid.starts()[3]).toRect()
    head = image[first.top() - 20 : first.top(), first.left() : first.left() + 150, :3]
    assert head.max() > 150  # it is written there


def test_one_layer_with_more_methods_has_the_methods_beside_each_other(make: Made) -> None:
    session, panel = make(("grad_cam", "hires_cam", "eigen_cam"))
    session.tick(("early", "head"), False)
    QApplication.processEvents()
    assert _strip(panel).sheet.strip.names == ("Grad-CAM", "HiResCAM", "EigenCAM")
    assert _strip(panel).sheet.strip.lines == (("late", 3),)


def test_a_signed_map_is_painted_with_zero_in_the_middle_and_a_plain_one_from_zero(make: Made) -> None:
    session, panel = make(("gradient_input", "saliency"), picture=False)
    model, x = session.model, session.inputs[0].input.args[0]
    gradient = _gradient(model, x, 0)
    signed = (gradient * x[0]).sum(0).numpy()
    ends = float(np.quantile(np.abs(signed), 0.98))
    _same_colours(panel, "gradient_input", signed, -ends, ends, "ember")
    strongest = gradient.abs().amax(0).numpy()
    top = float(np.quantile(strongest, 0.995))
    _same_colours(panel, "saliency", strongest, 0.0, top, "magma")


@pytest.mark.parametrize("sign", ["size", "positive"])
def test_of_signed_maps_the_size_or_only_what_is_above_zero_can_be_shown(make: Made, sign: str) -> None:
    session, panel = make(("gradient_input", "saliency"), picture=False)
    model, x = session.model, session.inputs[0].input.args[0]
    gradient = _gradient(model, x, 0)
    signed = (gradient * x[0]).sum(0).numpy()
    popover = MethodPopover(session)
    QTest.mouseClick(popover.sign.buttons[1 + (sign == "positive")], Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert session.look.cam.sign == sign
    values = np.abs(signed) if sign == "size" else signed.clip(min=0)
    _same_colours(panel, "gradient_input", values, 0.0, float(np.quantile(values, 0.995)), "magma")
    strongest = gradient.abs().amax(0).numpy()  # it has no sign
    _same_colours(panel, "saliency", strongest, 0.0, float(np.quantile(strongest, 0.995)), "magma")
    assert _strip(panel).sheet.strip.names[0] in ("|Gradient × input|", "Gradient × input, for it only")
    session.select(cam="gradient_input", path="")
    column = present_wall(session).columns[0]
    np.testing.assert_allclose(column.maps.values[0], values, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(column.record.array()[0, 0], signed, rtol=1e-4, atol=1e-6)  # never changed
    popover.close()


def test_the_scale_of_a_signed_map_is_written() -> None:
    def cam(*values: float, levels: tuple[float, float]) -> cams.Cam:
        return cams.Cam(
            "", Maps(np.array([[values]], np.float32), "maps", "maps"), levels, leaf="gradient_input"
        )

    assert peak_words(cam(-2.0, 1.0, levels=(-2.0, 2.0)))[0] == "±2.000"
    assert peak_words(cam(-2.0, 1.0, levels=(-0.5, 0.5)))[0] == "largest −2.000, cut at ±0.500"
    assert peak_words(cam(-2.0, 1.0, levels=(-4.0, 4.0)))[0] == "largest −2.000 of ±4.000"


def _same_colours(
    panel: WallPanel, leaf: str, values: np.ndarray, low: float, high: float, name: str
) -> None:
    rect = _strip(panel).rect_of("", leaf).toRect()
    image = _canvas(panel).image()
    part = image[rect.top() : rect.top() + rect.height(), rect.left() : rect.left() + rect.width(), :3]
    rows = [int((y + 0.5) / part.shape[0] * 12) for y in range(part.shape[0])]
    columns = [int((x + 0.5) / part.shape[1] * 18) for x in range(part.shape[1])]
    with np.load(resource("colormaps.npz")) as tables:
        table = tables[name]
    place = np.floor((values[np.ix_(rows, columns)].astype(float) - low) / (high - low) * 255 + 0.5)
    expected = table[np.clip(place, 0, 255).astype(int)].astype(float)
    assert np.quantile(np.abs(part - expected), 0.99) <= 6  # the quantile is not that of numpy to the digit


def test_a_target_beside_the_run_gives_the_maps_that_a_run_for_it_gives(make: Made, qtbot: QtBot) -> None:
    names = ("grad_cam", "score_cam", "smooth_grad", "integrated_gradients")
    session, panel = make(names, (TWO,))
    beside = {place: cam.maps for place, cam in _cams(panel).items() if parts_of(place[1])[1]}
    session.set_look(cam=CamChoice(names))
    session.set_settings(target=TWO)
    _settle(qtbot, session)
    own = _cams(panel)
    assert sum(maps is not None for maps in beside.values()) == 2 * 2 + 2
    for (path, leaf), maps in beside.items():
        if maps is not None:
            np.testing.assert_allclose(own[path, parts_of(leaf)[0]].maps.values, maps.values, atol=1e-5)


def test_targets_beside_the_run_share_one_forward_pass(make: Made, qtbot: QtBot) -> None:
    class Counting(Net):
        forwards = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.forwards += 1
            return super().forward(x)

    model = Counting()
    session, panel = make(("grad_cam", "layer_cam"), (ONE, TWO), model=model)
    _settle(qtbot, session)
    assert model.forwards == 2  # the run, and one for both targets
    x = session.inputs[0].input.args[0]
    for index, target in ((1, ONE), (2, TWO)):
        for path in ("early", "late"):
            shown = _cams(panel)[path, leaf_of("grad_cam", target)].maps.values[0]
            np.testing.assert_allclose(shown, _grad_cam(model, path, x, index), rtol=1e-3, atol=1e-6)


def test_targets_share_a_scale_and_each_map_can_have_its_own(make: Made) -> None:
    session, panel = make(("grad_cam",), (ONE, TWO))
    found = _cams(panel)
    late = [found["late", leaf_of("grad_cam", target)] for target in (None, ONE, TWO)]
    top = max(float(cam.maps.values.max()) for cam in late)
    assert [cam.levels for cam in late] == [(0.0, pytest.approx(top))] * 3
    assert panel.wall.levels == late[0].levels
    session.set_look(share="input")
    found = _cams(panel)
    for target in (None, ONE, TWO):
        cam = found["late", leaf_of("grad_cam", target)]
        assert cam.levels == (0.0, pytest.approx(float(cam.maps.values.max())))
    assert "each map on its own scale" in panel.foot.words.toolTip()


def test_a_click_on_a_map_of_the_input_shows_it_large_and_reads_its_values(make: Made, qtbot: QtBot) -> None:
    session, panel = make(("grad_cam", "saliency"), (ONE,))
    leaf = leaf_of("saliency", ONE)
    qtbot.mouseClick(
        _canvas(panel), Qt.MouseButton.LeftButton, pos=_strip(panel).rect_of("", leaf).center().toPoint()
    )
    assert (session.selection.path, session.selection.cam) == ("late", leaf)
    record = _canvas(panel).record
    assert record.key == Key("", Kind.ATTRIBUTION, 0, leaf)
    expected = _gradient(session.model, session.inputs[0].input.args[0], 1).abs().amax(0)
    torch.testing.assert_close(record.tensor()[0, 0], expected)
    assert read_out(session)[0].startswith("Gradient, class 1  y")


def test_arrow_keys_walk_along_a_line_and_to_the_next_one(make: Made, qtbot: QtBot) -> None:
    session, panel = make(("grad_cam", "layer_cam", "saliency"))
    for key, place in (
        (Qt.Key.Key_Left, ("early", "grad_cam")),
        (Qt.Key.Key_Down, ("early", "layer_cam")),
        (Qt.Key.Key_Down, ("early", "saliency")),
        (Qt.Key.Key_Down, ("early", "saliency")),
        (Qt.Key.Key_Up, ("early", "layer_cam")),
    ):
        qtbot.keyClick(_canvas(panel), key)
        assert (session.selection.path, session.selection.cam) == place


def test_an_unsuited_layer_says_so_in_its_own_tile_and_names_the_nearest_that_suits(make: Made) -> None:
    _, panel = make()
    assert _cams(panel)["head", "grad_cam"].reason.endswith("The nearest layer that suits is late.")
    rect = _strip(panel).rect_of("head").toRect()
    part = _canvas(panel).image()[rect.top() : rect.bottom(), rect.left() : rect.right(), :3].astype(int)
    ground = np.array(theme()["control"].getRgb()[:3])
    written = np.abs(part - ground).max(-1) > 40
    assert (part[2, 2] == ground).all()
    assert 0.005 < written.mean() < 0.4


def test_nothing_is_computed_before_it_is_asked_for_where_auto_is_off(make: Made, qtbot: QtBot) -> None:
    session, panel = make(("grad_cam", "occlusion"), auto=False)
    assert "Press Compute" in _cams(panel)["", "occlusion"].reason
    popover = panel.controls.methods.open()
    qtbot.addWidget(popover)
    assert not popover.compute.isHidden()
    qtbot.mouseClick(popover.compute, Qt.MouseButton.LeftButton)
    _settle(qtbot, session)
    assert popover.compute.isHidden()
    assert _cams(panel)["", "occlusion"].maps is not None
    popover.close()


def test_a_long_one_tells_how_far_it_is_is_stopped_and_keeps_what_is_done(make: Made, qtbot: QtBot) -> None:
    session, panel = make(("grad_cam", "occlusion"), auto=False, model=Net(pause=0.01))
    told: list[str] = []

    def stop_it() -> None:
        progress = session.attributions.progress
        if progress is not None and progress.done:
            told.append(session.attributions.words(session.inputs[0].number, "occlusion"))
            session.stop()

    session.attributions_changed.connect(stop_it)
    session.attributions.compute()
    _settle(qtbot, session)
    session.attributions_changed.disconnect(stop_it)
    assert told
    assert "of 160 runs" in told[0]
    assert "left" in told[0]
    part = _cams(panel)["", "occlusion"]
    assert part.notes[0].startswith("Stopped after")
    assert short_note(part) == part.notes[0].partition(":")[0]
    session.set_auto(True)
    _settle(qtbot, session)
    assert _cams(panel)["", "occlusion"].notes[0].startswith("Stopped after")  # it stays stopped
    session.model.pause = 0.0
    session.attributions.compute()
    _settle(qtbot, session)
    assert not _cams(panel)["", "occlusion"].notes


def test_a_run_goes_first_and_closing_leaves_neither_hook_nor_thread(make: Made, qtbot: QtBot) -> None:
    session, _ = make(("occlusion",), model=Net(pause=0.01), wait=False)
    qtbot.waitUntil(lambda: session.attributions.progress is not None)
    with qtbot.waitSignal(session.run_finished):
        session.run()
    assert session.runs[session.inputs[0].number].error is None
    qtbot.waitUntil(lambda: session.attributions.progress is not None)
    session.close()
    session.runner.join()
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in session.model.modules())
    assert all(parameter.grad is None for parameter in session.model.parameters())


def test_maps_stay_while_layers_are_ticked_and_go_with_the_target(make: Made, qtbot: QtBot) -> None:
    session, _ = make(("saliency",))
    number = session.inputs[0].number
    record = session.recording(number)[Key("", Kind.ATTRIBUTION, 0, "saliency")]
    session.tick(("early",), False)
    session.select(path="early")
    session.tick(("early",), True)
    _settle(qtbot, session)
    assert session.recording(number)[record.key] is record
    session.set_settings(target=ONE)
    _settle(qtbot, session)
    changed = session.recording(number)[record.key]
    expected = _gradient(session.model, session.inputs[0].input.args[0], 1).abs().amax(0)
    torch.testing.assert_close(changed.tensor()[0, 0], expected)


def test_a_map_of_the_input_alone_does_not_count_as_a_record_of_the_model(make: Made, qtbot: QtBot) -> None:
    session, _ = make(("saliency",))
    session.select(path="", shown=Shown.OUTPUT)
    _settle(qtbot, session)
    assert Key("", Kind.OUTPUT) in session.recording(session.inputs[0].number)


def test_what_is_exported_is_what_attribute_gives(make: Made) -> None:
    session, _ = make(("grad_cam", "integrated_gradients"), (TWO,))
    entries = layer_entries(dataclasses.replace(shown_by(session), kinds=(Shown.GRAD_CAM,)))
    given = session.inputs[0].input
    assert len(entries) == 2 * 2 + 2
    assert {entry.caption.target for entry in entries} == {"class 0", "class 2"}
    for entry in entries:
        key = entry.record.key
        name, beside = parts_of(key.leaf)
        target = hv.class_score(2 if beside else 0)
        found = hv.attribute(session.model, given, name, [key.path] if key.path else (), target=target)
        wanted = found[key._replace(leaf=name)].tensor()
        torch.testing.assert_close(entry.record.tensor(), wanted)


def test_a_cell_of_the_strip_is_exported_as_picture_array_and_caption(
    make: Made, qtbot: QtBot, tmp_path: Path
) -> None:
    session, _ = make(("grad_cam", "gradient_input"), (TWO,))
    session.set_look(cam=dataclasses.replace(session.look.cam, sign="size"))
    session.select(cam=leaf_of("gradient_input", TWO))
    dialog = ExportDialog(session, 1)
    qtbot.addWidget(dialog)
    dialog.form.folder.setText(str(tmp_path))
    dialog.go.click()
    qtbot.waitUntil(lambda: (tmp_path / "manifest.json").exists() and not session.runner.busy)
    model, x = session.model, session.inputs[0].input.args[0]
    signed = (_gradient(model, x, 2) * x[0]).sum(0).numpy()
    (array,) = tmp_path.rglob("*.npz")
    with np.load(array) as kept:
        (values,) = [kept[name] for name in kept.files if not name.endswith("json")]
    np.testing.assert_allclose(
        values[0, 0], signed, rtol=1e-4, atol=1e-6
    )  # with its sign, as it was computed
    said = json.dumps(json.loads((tmp_path / "manifest.json").read_text()), ensure_ascii=False)
    assert "class 2" in said
    assert "drawn by its size" in said
    (drawn,) = tmp_path.rglob("*.png")
    with Image.open(drawn) as picture:
        colours = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    with np.load(resource("colormaps.npz")) as tables:
        ember = tables["ember"]
    assert not (colours == ember[20]).all(1).any()  # what speaks against is not blue where its size is drawn


def test_the_list_chooses_methods_and_targets_and_remembers_the_methods(make: Made, qtbot: QtBot) -> None:
    session, panel = make()
    popover = panel.controls.methods.open()
    qtbot.addWidget(popover)
    assert isinstance(popover, MethodPopover)
    popover.boxes["layer_cam"].click()
    popover.boxes["grad_cam"].click()
    popover.boxes["layer_cam"].click()
    assert session.look.cam.methods == ("layer_cam",)
    assert popover.boxes["layer_cam"].isChecked()  # the last one stays
    for index in (1, 2):
        popover.targets[f"class {index}"].click()
    assert session.look.cam.targets == (ONE, TWO)
    popover.opacity.setValue(40)
    popover.contours.click()
    assert (session.look.cam.opacity, session.look.cam.contours) == (0.4, True)
    _settle(qtbot, session)
    assert "LayerCAM" in panel.controls.methods.text()
    popover.close()
    assert remembered_choice(settings.cam_methods()).methods == ("layer_cam",)
    assert remembered_choice(["gone", "eigen_cam"]).methods == ("eigen_cam",)
    assert remembered_choice([]) == CamChoice()


def test_edits_of_the_run_hold_for_its_maps_too(make: Made, qtbot: QtBot) -> None:
    session, panel = make(("grad_cam", "saliency"), (ONE,))
    session.set_settings(edits=(hv.Edit("early", hv.zero()),))
    _settle(qtbot, session)
    found = _cams(panel)
    assert not found["", "saliency"].maps.values.any()
    assert found["", "saliency"].notes
    assert not found["early", leaf_of("grad_cam", ONE)].maps.values.any()


def test_every_method_has_a_line_a_cost_and_a_title() -> None:
    names = [method.name for method in in_order()]
    assert names[0] == "grad_cam"
    assert {"saliency", "occlusion", "score_cam"} <= set(names)
    assert all(line_of(method) and cost_of(method) and title_of(method.name) for method in in_order())
    assert title_of(leaf_of("grad_cam", ONE), ("a", "b"), (ONE,)) == "Grad-CAM, b"


def test_methods_are_across_where_there_are_more_of_them_than_layers() -> None:
    lines = lines_of(["a", "b"], CamChoice(("grad_cam", "layer_cam", "eigen_cam", "saliency")))
    assert [[leaf for _, leaf in line.places] for line in lines] == [
        ["grad_cam", "layer_cam", "eigen_cam"],
        ["grad_cam", "layer_cam", "eigen_cam"],
        ["saliency"],
    ]
    made = cams.Cams(((),), lines=lines)
    assert cam_heads.tile_names(made)[:3] == ("Grad-CAM", "LayerCAM", "EigenCAM")


def test_tiles_that_would_tell_nothing_are_scrolled_instead() -> None:
    grid = strip.strip_of((9, 9, 9, 3), 2 / 3, (640, 400), Sight(), 8, 34, 24)
    assert grid.width >= 4 * 34
    assert grid.wall[0] <= 640
    assert grid.wall[1] > 400
    for tile in range(grid.count):
        left, top = grid.corner(tile)
        assert grid.tile_at(left + 1, top + 1)[0] == tile
    assert grid.tile_at(1, 1) is None  # the head of the first line
