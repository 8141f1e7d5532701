"""Methods for layers beside a few lines in double precision, and on layers with awkward outputs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from hookviewer import methods
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Recording
from hookviewer.targets import class_score, dot

T = torch.Tensor
CAMS = ["grad_cam", "grad_cam_plus_plus", "hires_cam", "layer_cam", "eigen_cam"]


def tensors(seed: int = 0) -> tuple[T, T]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(2, 5, 4, 3, generator=generator, dtype=torch.float64) for _ in range(2))


def computed(name: str, output: T, gradient: T) -> T:
    method = methods.find_method(name)
    assert isinstance(method, methods.LayerMethod)
    return method.compute(output, gradient)


def test_hires_cam_is_the_sum_of_gradient_times_output():
    output, gradient = tensors()
    expected = np.maximum(np.einsum("nchw,nchw->nhw", output.numpy(), gradient.numpy()), 0)
    np.testing.assert_allclose(computed("hires_cam", output, gradient), expected)


def test_grad_cam_plus_plus_is_the_formula_of_its_paper():
    output, gradient = (tensor.numpy() for tensor in tensors())
    expected = np.zeros((2, 4, 3))
    for n in range(2):
        for c in range(5):
            g = gradient[n, c]
            alpha = g**2 / (2 * g**2 + g**3 * output[n, c].sum())
            expected[n] += (alpha * np.maximum(g, 0)).sum() * output[n, c]
    found = computed("grad_cam_plus_plus", torch.from_numpy(output), torch.from_numpy(gradient))
    np.testing.assert_allclose(found, np.maximum(expected, 0))


def test_grad_cam_plus_plus_gives_no_weight_where_there_is_no_gradient():
    output, gradient = tensors()
    assert computed("grad_cam_plus_plus", output, torch.zeros_like(gradient)).abs().max() == 0
    tiny = computed(
        "grad_cam_plus_plus", output, 1e-30 * gradient
    )  # its cube is no number in single precision
    assert torch.isfinite(tiny).all()
    assert tiny.abs().max() > 0


@pytest.mark.parametrize("shape", [(2, 5, 4, 3), (2, 20, 3, 2)])
def test_eigen_cam_is_the_first_singular_direction(shape):
    output = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = computed("eigen_cam", output, torch.zeros(0))
    for sample in range(shape[0]):
        places = output[sample].flatten(1).T.numpy()
        left, values, _ = np.linalg.svd(places, full_matrices=False)
        expected = left[:, 0] * values[0]
        expected *= -1 if expected.sum() < 0 else 1
        np.testing.assert_allclose(found[sample].flatten(), expected, atol=1e-9)


class Tokens(nn.Module):
    """A picture cut into 4 × 4 tokens behind a class token; the head reads all of them."""

    def __init__(self, *, leading: int = 1, class_only: bool = False) -> None:
        super().__init__()
        self.leading, self.class_only = leading, class_only
        self.cut = nn.Conv2d(3, 16, 2, stride=2)
        self.mix = nn.Linear(16, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x: T) -> T:
        tokens = self.cut(x).flatten(2).transpose(1, 2)
        first = tokens.mean(1, keepdim=True).expand(-1, self.leading, -1)
        tokens = self.mix(torch.cat([first, tokens], 1).sigmoid())
        return self.head(tokens[:, 0] if self.class_only else tokens.sum(1))


def picture(size: int = 8) -> T:
    return torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("leading", [0, 1, 5])
def test_tokens_are_put_into_their_grid_and_those_without_a_place_left_out(leading):
    torch.manual_seed(0)
    model, x = Tokens(leading=leading), picture()
    found = methods.attribute(model, x, "hires_cam", ["mix"], target=class_score(2)).record(
        "mix", Kind.ATTRIBUTION
    )
    assert found.shape == (1, 1, 4, 4)
    tokens = model.cut(x).flatten(2).transpose(1, 2)
    output = model.mix(tokens.sigmoid()).detach()
    expected = (output * model.head.weight[2].detach()).sum(2).relu().reshape(1, 1, 4, 4)
    torch.testing.assert_close(found.tensor(), expected)


def test_a_layer_whose_places_are_not_read_any_more_says_where_to_look_instead():
    torch.manual_seed(0)
    found = methods.attribute(Tokens(class_only=True), picture(), CAMS, ["mix"], target=class_score(2))
    for name in CAMS[:4]:
        (note,) = found[Key("mix", Kind.ATTRIBUTION, 0, name)].notes
        assert "before the last attention" in note


def test_channels_in_the_last_place_are_brought_to_the_front():
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.maps = nn.Conv2d(3, 16, 1)
            self.norm = nn.LayerNorm(16)

        def forward(self, x: T) -> T:
            return self.norm(self.maps(x).permute(0, 2, 3, 1)).mean((1, 2))

    torch.manual_seed(0)
    model, x = Last(), picture(6)
    found = methods.attribute(model, x, CAMS, ["norm"], target=class_score(1))
    assert {record.shape for record in found.values()} == {(1, 1, 6, 6)}
    output = model.norm(model.maps(x).permute(0, 2, 3, 1)).detach()
    hires = found[Key("norm", Kind.ATTRIBUTION, 0, "hires_cam")].tensor()
    torch.testing.assert_close(hires[0, 0], (output[0, ..., 1] / 36).relu())


class Awkward(nn.Module):
    """A layer that returns a tuple, one that returns a vector, and one that is called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.both = Both()
        self.twice = nn.Conv2d(4, 4, 3, padding=1)
        self.vector = nn.Linear(4, 3)

    def forward(self, x: T) -> T:
        _, maps = self.both(x)
        return self.vector(self.twice(self.twice(maps).sigmoid()).mean((2, 3)))


class Both(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: T) -> tuple[T, T]:
        maps = self.inner(x)
        return maps.sum((1, 2, 3)), maps


@pytest.fixture
def awkward() -> Recording:
    torch.manual_seed(0)
    paths = ["both", "twice", "vector"]
    return methods.attribute(Awkward(), picture(7), "grad_cam", paths, target=class_score(0))


def test_of_a_tuple_the_tensor_that_suits_is_taken_and_named(awkward):
    record = awkward.record("both", Kind.ATTRIBUTION)
    assert record.shape == (1, 1, 7, 7)
    assert record.notes == ("Of the 2 tensors that the layer returns this is [1].",)


def test_every_call_of_a_layer_has_its_own_map(awkward):
    first, second = (awkward.record("twice", Kind.ATTRIBUTION, call) for call in (0, 1))
    assert not np.array_equal(first.array(), second.array())


def test_a_layer_that_does_not_suit_names_the_nearest_one_that_does(awkward):
    (reason,) = awkward.absent.values()
    assert "its output is 1×3" in reason
    assert reason.endswith("The nearest layer that suits is twice.")


def test_the_layers_come_in_the_order_in_which_the_network_runs(awkward):
    assert [key[:3:2] for key in awkward] == [("both", 0), ("twice", 0), ("twice", 1)]
    assert awkward.output.shape == (1, 3)
    assert awkward.target_value == pytest.approx(float(awkward.output[0, 0]))


def test_volumes_have_maps_of_their_slices():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv3d(1, 8, 3), nn.AdaptiveAvgPool3d(1), nn.Flatten())
    x = torch.randn(1, 1, 6, 8, 8)
    found = methods.attribute(model, x, "grad_cam", ["0"], target=class_score(3)).record(
        "0", Kind.ATTRIBUTION
    )
    maps = model[0](x).detach()
    torch.testing.assert_close(found.tensor(), (maps[:, 3:4] / maps[0, 0].numel()).relu())


def test_methods_that_need_no_more_than_records_share_one_run():
    torch.manual_seed(0)
    model, runs = Awkward(), []
    handle = model.register_forward_hook(lambda *_: runs.append(1))
    methods.attribute(model, picture(7), CAMS, ["both", "twice"], target=class_score(0))
    handle.remove()
    assert len(runs) == 1


def test_answers_come_one_by_one():
    torch.manual_seed(0)
    given: list[Key] = []
    found = methods.attribute(
        Awkward(),
        picture(7),
        ["grad_cam", "eigen_cam"],
        ["twice", "vector"],
        target=class_score(0),
        on_answer=lambda key, _: given.append(key),
    )
    assert set(given) == {*found, *found.absent}


def test_what_speaks_against_the_target_everywhere_is_said():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    against = dot(torch.tensor([-1.0, -2.0, -1.0, -3.0]))
    found = methods.attribute(model, picture(7), CAMS[:4], ["1"], target=against)
    assert all("zero everywhere" in record.notes[0] for record in found.values())
