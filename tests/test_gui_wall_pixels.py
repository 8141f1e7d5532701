"""What a column paints equals levels, look-up and nearest or mean, computed in another way."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hookviewer import arrays, render
from hookviewer.gui.columns import Column
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.wall import tiles
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.gui.wall.geometry import Grid, Sight
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record
from hookviewer.resources import resource

SIZE = (332, 240)
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool)
RATIOS = (1.0, 1.25, 2.0)
ODD = {"nan": render.NAN, "inf": render.POS_INF, "-inf": render.NEG_INF}


class Dense(Canvas):
    """A canvas on a screen with more device pixels than pixels."""

    ratio = 1.0

    def devicePixelRatioF(self) -> float:
        return self.ratio


@pytest.fixture(scope="module")
def canvases(qapp: object) -> Iterator[dict[float, Dense]]:
    """One canvas for each ratio."""
    set_theme("dark")
    made = {}
    for ratio in RATIOS:
        made[ratio] = Dense()
        made[ratio].ratio = ratio
        made[ratio].resize(*SIZE)
    yield made
    for one in made.values():
        one.deleteLater()


@functools.cache
def _table(name: str) -> np.ndarray:
    with np.load(resource("colormaps.npz")) as tables:
        return tables[name]


def _tensor(seed: int, shape: tuple[int, int, int], dtype: torch.dtype, odd: bool) -> torch.Tensor:
    random = np.random.default_rng(seed)
    values = torch.from_numpy(random.normal(size=shape) * 4)
    made = values > 0 if dtype is torch.bool else values.to(dtype)
    if odd and dtype.is_floating_point:
        flat = made.view(-1)
        for place, value in enumerate((float("nan"), float("inf"), -float("inf"))):
            flat[random.integers(0, len(flat), 2)] = value
            assert place < 3
    return made


def _colour(value: float, levels: tuple[float, float]) -> tuple[int, ...]:
    if not np.isfinite(value):
        return ODD[str(float(value))]
    low, span = np.float32(levels[0]), np.float32(levels[1] - levels[0])
    place = (np.float32(value) - low) / span * np.float32(255) + np.float32(0.5)
    return tuple(_table("magma")[int(min(max(place, 0), 255))])


def _mean(one: np.ndarray, down: tuple[float, float], across: tuple[float, float]) -> tuple[float, bool]:
    """The mean over an area in cells with the weights of a plain double sum, and whether it is finite."""
    rows = np.array([max(min(down[1], r + 1) - max(down[0], r), 0) for r in range(one.shape[0])])
    columns = np.array([max(min(across[1], c + 1) - max(across[0], c), 0) for c in range(one.shape[1])])
    weights = np.outer(rows, columns)
    under = one[weights > 1e-6]
    if not np.isfinite(under).all():
        return float("nan"), False
    return float((weights * np.where(np.isfinite(one), one, 0)).sum() / weights.sum()), True


def _shown(canvas: Canvas, tensor: torch.Tensor, zoom: float, levels: tuple[float, float]) -> Grid:
    record = Record(Key("conv", Kind.OUTPUT), tuple(tensor.shape), tensor.dtype, kept=tensor)
    maps = arrays.as_maps(record.array())
    column = Column("", "data", 1, record, maps)
    room = (round(SIZE[0] * canvas.devicePixelRatioF()), round(SIZE[1] * canvas.devicePixelRatioF()))
    sheet = Sheet(column, np.arange(len(maps.values)), levels, "magma", room, maps)
    tile = max(round(maps.values.shape[2] * zoom), 2)
    canvas.show_sheet(Sheet(*sheet.__dict__.values()))
    columns = canvas.view.grid.columns
    canvas.show_sheet(Sheet(*{**sheet.__dict__, "sight": Sight("all", columns, tile)}.values()))
    return canvas.view.grid


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 9),
    cells=st.tuples(st.integers(2, 24), st.integers(2, 24)),
    dtype=st.sampled_from(DTYPES),
    odd=st.booleans(),
    zoom=st.floats(0.1, 40),
    ratio=st.sampled_from(RATIOS),
)
def test_every_pixel_is_the_nearest_cell_or_the_mean_of_its_area(
    canvases: dict[float, Dense], seed, count, cells, dtype, odd, zoom, ratio
) -> None:
    canvas, levels = canvases[ratio], (-3.0, 5.0)
    tensor = _tensor(seed, (count, *cells), dtype, odd)
    values = tensor.to(torch.float32).numpy()
    grid = _shown(canvas, tensor, zoom, levels)
    image, sight = canvas.image(), canvas.view.sight
    assert image.shape[:2] == (round(SIZE[1] * ratio), round(SIZE[0] * ratio))
    flat = [one.min() == one.max() for one in np.nan_to_num(values, nan=99, posinf=98, neginf=-98)]
    shrunk = grid.height < cells[0] or grid.width < cells[1]
    random = np.random.default_rng(seed)
    for _ in range(40):
        y, x = int(random.integers(image.shape[0])), int(random.integers(image.shape[1]))
        found = grid.tile_at(x + sight.x, y + sight.y)
        painted = image[y, x, :3].astype(int)
        if found is None or found[0] >= count:
            assert tuple(painted) == theme()["canvas"].getRgb()[:3]
            continue
        one = values[found[0]]
        if flat[found[0]]:
            continue
        left, top = grid.corner(found[0])
        down, across = y + sight.y - top, x + sight.x - left
        wide, high = min(grid.width, cells[1]), min(grid.height, cells[0])
        column = int((across + 0.5) * wide / grid.width)
        row = int((down + 0.5) * high / grid.height)
        if not shrunk:
            assert tuple(painted) == _colour(one[row, column], levels)
            continue
        area = [
            (place * n / m, (place + 1) * n / m)
            for place, n, m in ((row, cells[0], high), (column, cells[1], wide))
        ]
        mean, finite = _mean(one, *area)
        if not finite:
            assert tuple(painted) in ODD.values()
            continue
        near = [_colour(mean + step * (levels[1] - levels[0]) / 255, levels) for step in (-1, 0, 1)]
        assert min(np.abs(painted - other).max() for other in near) <= 1


@pytest.mark.parametrize("background", ["zero", "noise"])
def test_one_hot_cell_of_four_millions_is_seen_when_all_of_them_are(
    canvases: dict[float, Dense], background: str
) -> None:
    noise = torch.randn(1, 2000, 2000) * 0.01
    tensor = torch.zeros(1, 2000, 2000) if background == "zero" else noise
    tensor[0, 1234, 567] = 1.0
    canvas = canvases[1.0]
    grid = _shown(canvas, tensor, 0.1, (0.0, 1.0))
    assert grid.width == 200
    image, sight = canvas.image(), canvas.view.sight
    brightest = tuple(_table("magma")[255])
    hot = np.argwhere((image[..., :3] == brightest).all(axis=2))
    assert hot.tolist() == [[123 - sight.y, 56 - sight.x]]
    assert arrays.statistics(tensor.numpy()).max == 1.0
    assert tiles.spread(canvas.view.sheet.lead).high[0] == 1.0


def test_a_spike_that_is_low_and_two_in_one_pixel_are_kept_too(canvases: dict[float, Dense]) -> None:
    tensor = torch.zeros(1, 400, 400)
    tensor[0, 10, 10], tensor[0, 11, 11], tensor[0, 300, 300] = 0.6, 0.9, -1.0
    canvas = canvases[1.0]
    _shown(canvas, tensor, 0.25, (-1.0, 1.0))
    image, sight = canvas.image(), canvas.view.sight
    for (row, column), value in (((10, 10), 0.9), ((300, 300), -1.0)):
        painted = image[row // 4 - sight.y, column // 4 - sight.x, :3]
        assert tuple(painted) == _colour(value, (-1, 1))


@given(st.integers(0, 100))
def test_values_without_a_spike_are_only_averaged(seed: int) -> None:
    random = np.random.default_rng(seed)
    for values in (
        random.normal(size=(2, 40, 40)),
        random.exponential(size=(2, 40, 40)),
        np.zeros((1, 40, 40)),
    ):
        maps = arrays.Maps(values.astype(np.float32), "channel × row × column", "maps")
        assert tiles.spread(maps).spikes == {}
