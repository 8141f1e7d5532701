"""From a module's output of any layout and type, through a run, to the maps and the pixels of the wall."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from gui_nets import settled
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer import HookPlan, Kind, capture, statistics
from hookviewer.gui.hinting import hints_of
from hookviewer.gui.session import Session
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall.panel import WallPanel
from hookviewer.inputs import Input
from hookviewer.modules import module_tree

GENERATOR = torch.Generator().manual_seed(3)


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=GENERATOR)


def jagged(x: torch.Tensor) -> torch.Tensor:
    return torch.nested.nested_tensor([noise(3, 5), noise(6, 5)], layout=torch.jagged)


def pictures(x: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls it a prototype
        return torch.nested.nested_tensor([noise(2, 3, 5), noise(2, 6, 4)])


def quantized() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it will go
        return torch.quantize_per_tensor(noise(1, 4, 6, 6), 0.05, 2, torch.quint8)


MADE = {
    "bool": lambda x: noise(1, 4, 6, 6) > 0,
    "labels": lambda x: torch.arange(144).reshape(1, 4, 6, 6) % 7,
    "half": lambda x: noise(1, 4, 6, 6).half(),
    "bfloat16": lambda x: noise(1, 4, 6, 6).bfloat16(),
    "fp8": lambda x: noise(1, 4, 6, 6).to(torch.float8_e4m3fn),
    "fp8 e5m2": lambda x: noise(1, 4, 6, 6).to(torch.float8_e5m2),
    "complex": lambda x: torch.complex(noise(1, 4, 6, 6), noise(1, 4, 6, 6)),
    "double": lambda x: noise(1, 4, 6, 6).double(),
    "strided": lambda x: noise(1, 6, 6, 4).permute(0, 3, 1, 2),
    "expanded": lambda x: noise(1, 1, 6, 6).expand(1, 4, 6, 6),
    "sparse": lambda x: (noise(1, 4, 6, 6) * (noise(1, 4, 6, 6) > 0.5)).to_sparse(),
    "quantized": lambda x: quantized(),
}


GIVEN: dict[str, object] = {}


class Makes(nn.Module):
    """Gives back a tensor of some layout and lets it be known; what it kept itself, a run would take back."""

    def __init__(self, make) -> None:
        super().__init__()
        self.make = make

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        GIVEN["last"] = self.make(x)
        return GIVEN["last"]


class Around(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x):
        self.inner(x)
        return torch.zeros(1, 2)


@pytest.fixture
def shown(qtbot: QtBot):
    sessions = []

    def show(inner: nn.Module, given: object = None, **selection: object):
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.set_auto(False)
        session.set_settings(target=session.settings.target.__class__("none"))
        session.set_model(Around(inner))
        session.add_inputs([Input("x", (torch.zeros(1, 3) if given is None else given,))])
        session.select(path="inner", **selection)
        session.run()
        settled(qtbot, session)
        panel = WallPanel(session)
        qtbot.addWidget(panel)
        panel.resize(700, 600)
        panel.show()
        panel.refresh()
        return session, panel

    yield show
    for session in sessions:
        session.close()


def expected(tensor: torch.Tensor) -> np.ndarray:
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.is_sparse:
        tensor = tensor.to_dense()
    if tensor.is_complex():
        return np.hypot(tensor.real.numpy(), tensor.imag.numpy())
    return tensor.to(torch.float32).numpy()


@pytest.mark.parametrize("name", MADE)
def test_a_tensor_of_any_type_is_shown_as_the_module_gave_it(shown, name: str, caplog) -> None:
    _, panel = shown(Makes(MADE[name]))
    column = panel.wall.columns[0]
    assert column.reason == ""
    np.testing.assert_allclose(column.maps.values, expected(GIVEN["last"])[0], rtol=1e-6)
    assert panel.lanes.columns[0].canvas.image()[..., :3].std() > 5
    assert caplog.records == []


def test_the_parts_of_complex_numbers_can_be_chosen(shown) -> None:
    _, panel = shown(Makes(MADE["complex"]))
    part = panel.findChild(QWidget, "part")
    assert not part.isHidden()
    given = GIVEN["last"][0].numpy()
    parts = [np.abs(given), np.arctan2(given.imag, given.real), given.real, given.imag]
    for place in (1, 2, 3, 0):
        part.buttons[place].click()
        np.testing.assert_allclose(panel.wall.columns[0].maps.values, parts[place], rtol=1e-5)
        assert panel.wall.colormap == ("magma" if place == 0 else "ember")


def test_a_nested_tensor_is_laid_out_and_its_ends_are_known(shown) -> None:
    session, panel = shown(Makes(jagged))
    given = GIVEN["last"].unbind()
    for sample, one in enumerate(given):
        session.set_look(sample=sample)
        maps = panel.wall.columns[0].maps
        np.testing.assert_array_equal(maps.values[0], one.numpy().T)
        assert maps.longest == 6
        panel.lanes.columns[0].canvas.grab()


def test_padding_of_a_nested_tensor_is_no_value(shown) -> None:
    session, panel = shown(Makes(pictures))
    given = [one.numpy() for one in GIVEN["last"].unbind()]
    for sample, one in enumerate(given):
        session.set_look(sample=sample)
        np.testing.assert_array_equal(panel.wall.columns[0].maps.values, one)
    record = panel.wall.columns[0].record
    every = np.concatenate([one.ravel() for one in given])
    found = statistics(record)
    assert (found.count, found.nan) == (every.size, 0)
    assert found.mean == pytest.approx(every.mean())
    few = capture(session.model, (torch.zeros(1),), HookPlan.of(session.model, "inner"), budget=0)
    small = statistics(few.record("inner", Kind.OUTPUT))
    assert (small.count, small.nan) == (every.size, 0)


class Packs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 5)

    def forward(self, x: torch.Tensor):
        lengths = torch.tensor([4, 9, 6])
        GIVEN["last"] = self.lstm(nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False))[0]
        return GIVEN["last"]


def test_a_packed_sequence_stands_in_rows_again(shown, qtbot: QtBot) -> None:
    session, panel = shown(Packs(), noise(9, 3, 3))
    session.select(path="inner.lstm")
    session.run()
    settled(qtbot, session)
    panel.refresh()
    padded, lengths = nn.utils.rnn.pad_packed_sequence(GIVEN["last"])
    assert lengths.tolist() == [4, 9, 6]
    for sample, length in enumerate(lengths.tolist()):
        session.set_look(sample=sample)
        maps = panel.wall.columns[0].maps
        assert (maps.reading, maps.longest) == ("time × sample × feature", 9)
        np.testing.assert_array_equal(maps.values[0], padded[:length, sample].detach().numpy().T)


def test_empty_and_single_values_have_a_place(shown) -> None:
    _, panel = shown(Makes(lambda x: torch.zeros(1, 0, 4, 4)))
    assert type(panel.lanes.columns[0].canvas.view).__name__ == "Table"
    _, panel = shown(Makes(lambda x: torch.tensor(2.5)))
    assert type(panel.lanes.columns[0].canvas.view).__name__ == "SingleNumber"


def test_a_slider_on_the_axis_of_depth_moves_all_columns(shown) -> None:
    _, panel = shown(Makes(lambda x: torch.arange(2 * 5 * 9.0).reshape(1, 2, 5, 3, 3)))
    axis = panel.axes.findChild(QWidget, "axis_depth")
    assert axis.words.text() == "depth 2 of 5"
    axis.slider.setValue(4)
    given = GIVEN["last"][0].numpy()
    np.testing.assert_array_equal(panel.wall.columns[0].maps.values, given[:, 4])
    axis.maximum.click()
    np.testing.assert_array_equal(panel.wall.columns[0].maps.values, given.max(axis=1))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 4, 4)
        self.class_token = nn.Parameter(torch.ones(1, 1, 16))
        self.register_tokens = nn.Parameter(torch.ones(1, 4, 16))
        self.norm = nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.conv(x).flatten(2).transpose(1, 2)
        return self.norm(torch.cat([self.class_token, self.register_tokens, tokens], 1))


def test_tokens_are_folded_to_the_grid_of_the_picture_and_say_what_stands_before_it(shown) -> None:
    session, panel = shown(Tokens(), noise(1, 3, 20, 36))
    maps, given = panel.wall.columns[0].maps, session.model.inner
    with torch.no_grad():
        tokens = given(session.inputs[0].input.args[0])[0].numpy()
    assert maps.values.shape == (16, 5, 9)
    np.testing.assert_array_equal(maps.values[3, 4, 7], tokens[5 + 4 * 9 + 7, 3])
    said = panel.axes.said.text()
    assert said.startswith("5×9 tokens folded to their grid;  5 tokens before it stand apart: mean ")


def test_hints_are_read_off_the_model_and_its_inputs() -> None:
    tree = module_tree(Tokens())
    hints = hints_of(
        tree, [Input("a", (torch.zeros(1, 3, 20, 36),)), Input("b", (torch.zeros(1, dtype=int),))]
    )
    assert (hints.leading, hints.pictures, hints.rank) == (5, ((20, 36),), 2)
    assert hints.of("norm").module == "LayerNorm"
    assert hints.of("norm").details.startswith("(16,)")
    assert hints.of("m:softmax#0").module == "softmax"
    assert hints_of(tree, []).pictures is None
    assert hints_of(tree, [Input("b", (torch.zeros(1, 9, dtype=int),))]).pictures == ()


def test_a_module_that_returns_a_nested_tensor_has_its_padded_shape(shown) -> None:
    session, _ = shown(Makes(pictures))
    assert session.runs[1].recording.calls("inner")[0].output_shapes == ((2, 2, 6, 5),)
