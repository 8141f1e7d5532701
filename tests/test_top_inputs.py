"""The strongest inputs of every channel against sorting all values, and one pass over a folder."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import hookviewer as hv
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.receptive import fields
from hookviewer.recording import Record
from hookviewer.strongest import Place, TopK, patch, top_inputs

KEY = Key("layer", Kind.OUTPUT)
MAPS = "sample × channel × row × column"


def record(values: torch.Tensor) -> Record:
    return Record(KEY, tuple(values.shape), values.dtype, kept=values.clone())


def over(tensors: list[torch.Tensor], k: int, reading: str = "") -> TopK:
    found = TopK(k, reading)
    for number, values in enumerate(tensors):
        found = found.added(record(values), number)
    return found


def expected(tensors: list[torch.Tensor], channel: int, k: int, *, highest: bool) -> list[Place]:
    """Sort the best cells of all samples of all inputs [N, C, H, W] in plain Python."""
    places = []
    for number, batch in enumerate(tensors):
        for sample, maps in enumerate(batch):
            cells = [
                (float(value), cell)
                for cell, value in np.ndenumerate(maps[channel].numpy())
                if not math.isnan(value)
            ]
            if cells:
                best = max(value for value, _ in cells) if highest else min(value for value, _ in cells)
                cell = next(cell for value, cell in cells if value == best)
                places.append(Place(best, number, sample, cell))
    return sorted(places, key=lambda place: -place.value if highest else place.value)[:k]


@pytest.mark.parametrize("k", [1, 4, 50])
def test_the_places_are_those_of_sorting_everything(k):
    draw = torch.Generator().manual_seed(0)
    tensors = [torch.randint(-9, 9, (1 + n % 3, 5, 4, 3), generator=draw).float() for n in range(12)]
    found = over(tensors, k)
    for channel in range(5):
        assert list(found.most(channel)) == expected(tensors, channel, k, highest=True)
        assert list(found.least(channel)) == expected(tensors, channel, k, highest=False)
    assert found.channels == 5
    assert found.reading == MAPS


def test_nan_never_counts():
    values = [torch.full((1, 2, 2, 2), math.nan), torch.zeros(1, 2, 2, 2), torch.ones(1, 2, 2, 2)]
    values[1][0, 0, 0, 0] = math.nan
    values[2][0, 1] = math.nan
    found = over(values, 3, MAPS)
    assert found.most(0) == (Place(1, 2, 0, (0, 0)), Place(0, 1, 0, (0, 1)))
    assert found.least(0) == (Place(0, 1, 0, (0, 1)), Place(1, 2, 0, (0, 0)))
    assert found.most(1) == (Place(0, 1, 0, (0, 0)),)


def test_infinity_counts():
    found = over([torch.tensor([[1.0, -math.inf]]), torch.tensor([[math.inf, 2.0]])], 2, "sample × feature")
    assert [place.value for place in found.most(0)] == [math.inf, 1]
    assert [place.value for place in found.least(1)] == [-math.inf, 2]


def test_vectors_tokens_and_channels_last_have_their_cells():
    vector = over([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 2.0]])], 1, "sample × feature")
    assert vector.most(0) == (Place(3, 1, 0, ()),)
    assert vector.most(1) == (Place(5, 0, 0, ()),)
    tokens = torch.zeros(1, 7, 3)
    tokens[0, 4, 2] = 8
    assert over([tokens], 1, "sample × token × feature").most(2) == (Place(8, 0, 0, (4,)),)
    assert over([tokens.transpose(0, 1)], 1, "token × sample × feature").most(2) == (Place(8, 0, 0, (4,)),)
    last = torch.zeros(1, 4, 5, 3)
    last[0, 1, 2, 0] = -6
    assert over([last], 1, "sample × row × column × channel").least(0) == (Place(-6, 0, 0, (1, 2)),)
    attention = torch.zeros(1, 2, 4, 4)
    attention[0, 1, 3, 2] = 1
    assert over([attention], 1, "sample × head × query × key").most(1) == (Place(1, 0, 0, (3, 2)),)


def test_whole_numbers_truth_values_and_a_single_number():
    assert over([torch.tensor(4), torch.tensor(7)], 2).most(0)[0] == Place(7, 1, 0, ())
    found = over([torch.tensor([[False, True]]), torch.tensor([[True, True]])], 1, "sample × feature")
    assert found.most(0) == (Place(1, 1, 0, ()),)


def test_maps_of_another_size_are_taken_other_channels_are_not():
    found = over([torch.zeros(1, 3, 4, 4), torch.ones(1, 3, 9, 2)], 2, MAPS)
    assert found.most(2)[0] == Place(1, 1, 0, (0, 0))
    with pytest.raises(HookViewerError, match="2 channels for this input and 3"):
        found.added(record(torch.zeros(1, 2, 4, 4)), 2)
    with pytest.raises(HookViewerError, match="cannot be read as"):
        found.added(record(torch.zeros(1, 3)), 2)
    with pytest.raises(HookViewerError, match="not kept"):
        found.added(Record(KEY, (1, 3), torch.float32), 2)


@pytest.fixture
def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 3, 3, stride=2), nn.ReLU(), nn.Conv2d(3, 4, 3), nn.Flatten())


def test_one_pass_over_a_list(net):
    given = [torch.randn(1, 1, 15, 15) for _ in range(9)]
    seen = []
    found = top_inputs(net, given, ["0", "2"], k=3, progress=seen.append)
    assert [key.path for key in found.layers] == ["0", "2"]
    with torch.no_grad():
        outputs = [net[:3](one) for one in given]
    assert list(found.layers[Key("2", Kind.OUTPUT)].most(1)) == expected(outputs, 1, 3, highest=True)
    assert [one.seen for one in seen] == list(range(1, 10))
    assert found.complete
    assert found.inputs[4] == "input 4"


def test_a_patch_is_where_the_cell_looks(net):
    given = torch.zeros(1, 1, 15, 15)
    given[0, 0, 8:11, 4:7] = net[0].weight.detach()[1, 0].sign()
    found = top_inputs(net, [given], "0", k=1).layers[Key("0", Kind.OUTPUT)]
    place = found.most(1)[0]
    assert place.cell == (4, 2)
    assert patch(fields(net, given), Key("0", Kind.OUTPUT), place) == (8, 4, 11, 7)
    assert patch(fields(net, given), Key("3", Kind.OUTPUT), Place(0, 0, 0, ())) is None


def test_what_is_done_is_kept_when_it_is_stopped(net):
    given = [torch.randn(1, 1, 9, 9) for _ in range(6)]
    done = []
    found = top_inputs(net, given, "0", k=6, progress=done.append, cancelled=lambda: len(done) == 2)
    assert (found.seen, found.complete) == (2, False)
    assert len(found.layers[Key("0", Kind.OUTPUT)].most(0)) == 2
    inside = iter([False, False, False, True])
    stopped = top_inputs(net, given, "0", cancelled=lambda: next(inside, True))
    assert not stopped.complete


def test_a_folder_of_pictures_with_a_broken_one(tmp_path):
    model = hv.open_model("demo:digits")
    for number in range(4):
        Image.new("L", (8, 8), 60 * number).save(tmp_path / f"{number}.png")
    Path(tmp_path / "2.png").write_bytes(b"no picture")
    found = top_inputs(model, tmp_path, "type:Linear", k=2)
    assert [Path(name).name for name in found.inputs] == ["0.png", "1.png", "2.png", "3.png"]
    assert list(found.failed) == [2]
    assert "2.png" in found.failed[2]
    layer = found.layers[Key("9", Kind.OUTPUT)]
    numbers = {place.input for channel in range(10) for place in layer.most(channel)}
    assert numbers <= {0, 1, 3}
    assert found.complete


def test_without_inputs_or_with_none_that_fits_it_says_so(net, tmp_path):
    with pytest.raises(HookViewerError, match="no input to look at"):
        top_inputs(net, tmp_path, "0")
    with pytest.raises(HookViewerError, match="None of 2 inputs can be used"):
        top_inputs(net, [torch.zeros(1, 2, 9, 9)] * 2, "0")


def test_a_layer_that_cannot_be_ranked_has_its_reason(net):
    found = top_inputs(net, [torch.zeros(1, 1, 9, 9), torch.zeros(1, 1, 15, 15)], ["0", "3"])
    assert list(found.layers) == [Key("0", Kind.OUTPUT), Key("3", Kind.OUTPUT)]
    assert "channels for this input" in found.absent[Key("3", Kind.OUTPUT)]
    assert found.layers[Key("3", Kind.OUTPUT)].most(0)[0].input == 0


def test_the_model_is_left_as_it_was(net):
    before = {name: value.clone() for name, value in net.state_dict().items()}
    top_inputs(net, [torch.randn(1, 1, 9, 9)], "*")
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not any(module._forward_hooks for module in net.modules())
