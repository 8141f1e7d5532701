"""The receptive field that is computed from strides is the support of the gradient, cell by cell."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from hookviewer import receptive
from hookviewer.errors import Cancelled, HookViewerError
from hookviewer.hooks import capture
from hookviewer.kinds import Key, Kind
from hookviewer.plan import HookPlan
from hookviewer.targets import unit


class Applied(nn.Module):
    """A module made of a function of its children."""

    def __init__(self, function: Callable[..., torch.Tensor], *children: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(children)
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x, *self.parts)


def _residual(x: torch.Tensor, first: nn.Module, second: nn.Module, short: nn.Module) -> torch.Tensor:
    return torch.relu(second(torch.relu(first(x))) + short(x))


def _inception(x: torch.Tensor, one: nn.Module, other: nn.Module) -> torch.Tensor:
    return torch.cat([one(x), other(x)], 1)


def _unet(x: torch.Tensor, down: nn.Module, up: nn.Module, after: nn.Module) -> torch.Tensor:
    return after(torch.cat([x, up(down(x))], 1))


def _channels_last(x: torch.Tensor, convolution: nn.Module, linear: nn.Module) -> torch.Tensor:
    last = nn.functional.layer_norm(convolution(x).permute(0, 2, 3, 1), (3,))
    return linear(last).permute(0, 3, 1, 2)


def _shuffled(x: torch.Tensor) -> torch.Tensor:
    return x.view(1, 1, 3, *x.shape[2:]).transpose(1, 2).contiguous().view(1, 3, *x.shape[2:])


CONV = nn.Conv2d
NETS: dict[str, nn.Module] = {
    "strides": nn.Sequential(CONV(3, 3, 3, 2, 1), nn.ReLU(), CONV(3, 3, 3, 2, 1)),
    "dilation": nn.Sequential(CONV(3, 3, 3, dilation=2, padding=2), CONV(3, 3, 3, dilation=3)),
    "oblong": CONV(3, 3, (1, 5), stride=(2, 1), padding=(0, 3)),
    "even": nn.Sequential(CONV(3, 3, 4, padding=2), CONV(3, 3, 2, padding=1)),
    "average pool": nn.Sequential(nn.AvgPool2d(3, 2, ceil_mode=True), CONV(3, 3, 3)),
    "adaptive": nn.Sequential(CONV(3, 3, 3), nn.AdaptiveAvgPool2d((4, 3))),
    "batch norm": nn.Sequential(CONV(3, 3, 3), nn.BatchNorm2d(3), nn.SiLU(), nn.Dropout(0.5)),
    "transposed": nn.Sequential(CONV(3, 3, 3, 2), nn.ConvTranspose2d(3, 3, 3, 2, 1, 1)),
    "nearest": nn.Sequential(CONV(3, 3, 3, 2), nn.Upsample(scale_factor=2), CONV(3, 3, 3)),
    "bilinear": nn.Sequential(CONV(3, 3, 3, 3), nn.Upsample(size=(13, 11), mode="bilinear")),
    "corners": nn.Sequential(CONV(3, 3, 3, 3), nn.Upsample((13, 11), mode="bilinear", align_corners=True)),
    "reflected": CONV(3, 3, 5, padding=2, padding_mode="reflect"),
    "replicated": CONV(3, 3, 5, padding=2, padding_mode="replicate"),
    "cut": Applied(lambda x, part: part(x[:, :, 1:, 2:]), CONV(3, 3, 3)),
    "padded": Applied(lambda x, part: part(nn.functional.pad(x, (0, 1, 2, -1))), CONV(3, 3, 3)),
    "pixel shuffle": nn.Sequential(CONV(3, 12, 3, 2), nn.PixelShuffle(2)),
    "residual": Applied(_residual, CONV(3, 3, 3, 2, 1), CONV(3, 3, 3, 1, 1), CONV(3, 3, 1, 2)),
    "inception": Applied(_inception, CONV(3, 3, 1), CONV(3, 3, 5, padding=2)),
    "u-net": Applied(_unet, CONV(3, 3, 2, 2), nn.ConvTranspose2d(3, 3, 2, 2), CONV(6, 3, 3, 1, 1)),
    "channels last": Applied(_channels_last, CONV(3, 3, 3, 2), nn.Linear(3, 3)),
    "channel shuffle": Applied(lambda x, part: part(_shuffled(x)), CONV(3, 3, 3)),
}
KEY = Key("", Kind.OUTPUT)


def _positive(net: nn.Module) -> nn.Module:
    """Return a net whose gradients cannot cancel and whose units are never dead."""
    made = copy.deepcopy(net).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.abs_().add_(0.1)
    return made


def _seen(net: nn.Module, x: torch.Tensor, row: int, column: int) -> tuple[int, int, int, int]:
    x = x.clone().requires_grad_()
    out = net(x)[0, :, row, column]
    (gradient,) = torch.autograd.grad((out * torch.rand(len(out))).sum(), x)
    rows, columns = (np.flatnonzero(gradient[0].abs().sum((0, axis)).numpy()) for axis in (2, 1))
    return rows[0], columns[0], rows[-1] + 1, columns[-1] + 1


@pytest.mark.parametrize("name", NETS)
def test_the_computed_rectangle_is_the_support_of_the_gradient(name: str) -> None:
    net, x = _positive(NETS[name]), torch.rand(1, 3, 14, 12)
    field = receptive.fields(net, x).of(KEY)
    assert isinstance(field, receptive.Field)
    height, width = net(x).shape[2:]
    assert field.shape == (height, width)
    assert not field.everywhere
    for row in {0, 1, height // 2, height - 1}:
        for column in {0, width // 2, width - 1}:
            assert field.box((row, column)) == _seen(net, x, row, column), (row, column)


def test_the_largest_place_is_one_that_may_be_anywhere_in_its_window() -> None:
    net = nn.Sequential(CONV(3, 4, 3, padding=1), nn.MaxPool2d(3, 2, 1), CONV(4, 4, 3, padding=1))
    field = receptive.fields(net, torch.rand(1, 3, 32, 32)).of(KEY)
    assert isinstance(field, receptive.Field)
    assert field.rows.scale == (9, 2, -4)
    assert field.box((8, 8)) == (12, 12, 21, 21)


def _scale(fields: receptive.Fields, path: str) -> tuple[int, int, int]:
    field = fields.of(Key(path, Kind.OUTPUT))
    assert isinstance(field, receptive.Field)
    assert field.rows.scale is not None
    return field.rows.scale


def test_the_fields_of_vgg_are_those_computed_by_hand() -> None:
    """A 3 × 3 convolution adds two strides, a 2 × 2 pooling one and doubles the stride."""
    from torchvision.models import vgg

    fields = receptive.fields(vgg.make_layers(vgg.cfgs["A"]), torch.rand(1, 3, 64, 64))
    by_hand = {
        "0": (3, 1, -1),
        "2": (4, 2, -1),
        "3": (8, 2, -3),
        "5": (10, 4, -3),
        "6": (18, 4, -7),
        "8": (26, 4, -11),
        "10": (30, 8, -11),
        "20": (150, 32, -59),
    }
    assert {path: _scale(fields, path) for path in by_hand} == by_hand


def test_the_fields_of_resnet_are_those_computed_by_hand() -> None:
    """7 × 7 stride 2, pooling 3 stride 2, two blocks of two 3 × 3 in every stage, the first with stride 2."""
    from torchvision.models import resnet18

    fields = receptive.fields(resnet18().eval(), torch.rand(1, 3, 64, 64))
    by_hand = {
        "conv1": (7, 2, -3),
        "maxpool": (11, 4, -5),
        "layer1.0.conv1": (19, 4, -9),
        "layer1.0": (27, 4, -13),
        "layer1": (43, 4, -21),
        "layer2.0.conv1": (51, 8, -25),
        "layer2.0.downsample.0": (43, 8, -21),
        "layer2": (99, 8, -49),
        "layer3": (211, 16, -105),
        "layer4": (435, 32, -217),
    }
    assert {path: _scale(fields, path) for path in by_hand} == by_hand


def test_a_gate_made_of_the_whole_map_is_told_apart_from_the_rectangle() -> None:
    def gated(x: torch.Tensor, conv: nn.Module, gate: nn.Module) -> torch.Tensor:
        y = conv(x)
        return y * torch.sigmoid(gate(y.mean((2, 3), keepdim=True)))

    net = _positive(Applied(gated, CONV(3, 3, 3), CONV(3, 3, 1)))
    x = torch.rand(1, 3, 14, 12)
    field = receptive.fields(net, x).of(KEY)
    assert isinstance(field, receptive.Field)
    assert field.everywhere
    assert field.box((4, 4)) == (4, 4, 7, 7)
    assert _seen(net, x, 4, 4) == (0, 0, 14, 12)


@pytest.mark.parametrize("whole", [torch.mean, torch.sum, torch.amax, torch.amin])
def test_one_number_of_the_whole_map_brings_in_every_place(whole: Callable[..., torch.Tensor]) -> None:
    net = _positive(Applied(lambda x, conv: conv(x) * whole(conv(x)), CONV(3, 3, 3)))
    field = receptive.fields(net, torch.rand(1, 3, 9, 8)).of(KEY)
    assert isinstance(field, receptive.Field)
    assert field.everywhere
    assert field.box((4, 4)) == (4, 4, 7, 7)


@pytest.mark.parametrize("norm", [nn.GroupNorm(1, 3), nn.InstanceNorm2d(3)])
def test_a_normalisation_over_the_map_brings_in_every_place(norm: nn.Module) -> None:
    field = receptive.fields(nn.Sequential(CONV(3, 3, 3), norm), torch.rand(1, 3, 8, 8)).of(KEY)
    assert isinstance(field, receptive.Field)
    assert field.everywhere


def test_an_operation_without_a_rule_is_named_and_its_field_is_measured() -> None:
    net = Applied(lambda x, part: part(torch.roll(x, 2, 3)), CONV(3, 3, 3))
    x = torch.rand(1, 3, 10, 10)
    found = receptive.fields(net, x).of(KEY)
    assert isinstance(found, receptive.Uncomputed)
    assert found.name == "Roll"
    box = receptive.support(net, x, KEY, (0, slice(None), 4, 5))
    assert box == (4, 3, 7, 6)


def test_the_measured_field_of_a_dead_unit_is_found_on_other_inputs() -> None:
    first = CONV(3, 4, 3)
    with torch.no_grad():
        first.weight.fill_(1.0)
        first.bias.fill_(-28.0)  # more than ones can bring
    net, x = nn.Sequential(first, nn.ReLU()), torch.ones(1, 3, 9, 9)
    x[0, 0, 0, 0] = 100.0
    assert (net(x)[0, :, 2, 2] == 0).all()
    assert receptive.support(net, x, KEY, (0, slice(None), 2, 2)) == (2, 2, 5, 5)


def test_what_does_not_depend_on_the_picture_has_no_field() -> None:
    class Constant(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.conv = nn.Embedding(3, 4), CONV(3, 3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.conv(x) + self.table(torch.tensor([1])).sum()

    fields = receptive.fields(Constant(), torch.rand(1, 3, 5, 5))
    assert fields.of(Key("table", Kind.OUTPUT)) is None
    assert isinstance(fields.of(Key("conv", Kind.OUTPUT)), receptive.Field)


def test_looking_leaves_the_model_as_it_was() -> None:
    net = nn.Sequential(CONV(3, 3, 3), nn.BatchNorm2d(3), nn.ReLU(inplace=True)).train()
    before = copy.deepcopy(net.state_dict())
    x = torch.rand(1, 3, 8, 8)
    receptive.fields(net, x, mode="train")
    receptive.support(net, x, KEY, (0, slice(None), 2, 2), mode="train")
    assert net.training
    assert not x.requires_grad
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all(not module._forward_hooks for module in net.modules())
    assert all(parameter.grad is None for parameter in net.parameters())


def test_what_cannot_be_known_says_why() -> None:
    with pytest.raises(HookViewerError, match="no input is a picture"):
        receptive.fields(nn.Linear(3, 2), torch.rand(1, 3))
    with pytest.raises(HookViewerError, match="the model raised RuntimeError"):
        receptive.fields(CONV(3, 3, 3), torch.rand(1, 4, 8, 8))


def test_looking_stops_when_it_is_asked_to() -> None:
    net = nn.Sequential(CONV(3, 3, 3), CONV(3, 3, 3))
    with pytest.raises(Cancelled):
        receptive.fields(net, torch.rand(1, 3, 8, 8), cancelled=lambda: True)
    assert all(not module._forward_hooks for module in net.modules())


def test_a_second_call_and_a_second_name_are_found() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = CONV(3, 3, 3)
            self.again = self.conv

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.again(self.conv(x))

    fields = receptive.fields(Twice(), torch.rand(1, 3, 9, 9))
    second = fields.of(Key("again", Kind.GRAD_OUTPUT, 1))
    assert isinstance(second, receptive.Field)
    assert second.box((0, 0)) == (0, 0, 5, 5)


class Functions(nn.Module):
    """A block of functions that is used twice: convolution, pool, a sum in place, a cut, a concatenation."""

    def __init__(self) -> None:
        super().__init__()
        self.block = Applied(_functions, CONV(3, 3, 3, padding=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.conv2d(x, torch.ones(3, 3, 5, 5), stride=2)
        return self.block(self.block(x)).mean((2, 3))


def _functions(x: torch.Tensor, conv: nn.Module) -> torch.Tensor:
    high = torch.nn.functional.avg_pool2d(conv(x), 2)
    high += x[:, :, ::2, ::2]
    return torch.cat([high, high.relu()], 1)[:, :3]


def test_functional_calls_see_what_their_gradient_reaches() -> None:
    net, x = _positive(Functions()), torch.rand(1, 3, 36, 36)
    fields = receptive.fields(net, x, ops=True)
    plan = HookPlan.of(net, "*:*")
    run = capture(net, x, plan)
    maps = [key for key, record in run.items() if len(record.shape) == 4 and key.path != ":ones#0"]
    names = {key.path.partition(":")[2] for key in maps}
    assert {"conv2d#0", "avg_pool2d#0", "getitem#0", "add_#0", "relu#0", "cat#0", "getitem#1"} <= names
    assert {key.call for key in maps} == {0, 1}
    for key in maps:
        field = fields.of(key)
        assert isinstance(field, receptive.Field), key
        assert field.shape == run[key].shape[2:]
        for cell in ((0, 0), (field.shape[0] // 2, field.shape[1] - 1)):
            target = unit(key.path, (0, slice(None), *cell), key.call)
            own = HookPlan(frozenset({""}), frozenset({Kind.GRAD_INPUT}))
            gradient = capture(net, x, own, target=target).record("", Kind.GRAD_INPUT).array()
            rows, columns = (np.flatnonzero(np.abs(gradient[0]).sum((0, axis))) for axis in (2, 1))
            box = (rows[0], columns[0], rows[-1] + 1, columns[-1] + 1)
            assert field.box(cell) == box == receptive.support(net, x, key, (0, slice(None), *cell)), key
    assert fields.of(Key(":mean#0", Kind.OUTPUT)) is not None
    assert fields.of(Key(":ones#0", Kind.OUTPUT)) is None  # it sees nothing of the picture
    assert receptive.fields(net, x).of(maps[0]) is None  # they are not looked for unless asked
    assert all(not one._forward_hooks and not one._forward_pre_hooks for one in net.modules())
