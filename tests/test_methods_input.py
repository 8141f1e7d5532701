"""Methods for the input: beside captum, beside a few lines in double precision, and on awkward models."""

from __future__ import annotations

import copy
import dataclasses
import itertools

import pytest
import torch
from torch import nn

from hookviewer import methods
from hookviewer.errors import Cancelled, HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.methods.integrated_gradients import IntegratedGradients
from hookviewer.methods.occlusion import Occlusion
from hookviewer.methods.score_cam import ScoreCam
from hookviewer.methods.smooth_grad import SmoothGrad
from hookviewer.recording import Recording
from hookviewer.targets import class_score, top_class, unit

T = torch.Tensor


def net(seed: int = 0, *, double: bool = True) -> nn.Sequential:
    torch.manual_seed(seed)
    layers = [nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, 3, stride=2), nn.ReLU()]
    head = [nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5)]
    model = nn.Sequential(*layers, *head).eval()
    return model.double() if double else model


def picture(samples: int = 1, seed: int = 1) -> T:
    return torch.randn(samples, 3, 13, 11, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def gradient_of(model: nn.Module, x: T, target: int) -> T:
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(x)[:, target].sum(), x)
    return gradient


def the_map(recording: Recording, name: str) -> T:
    return recording[Key("", Kind.ATTRIBUTION, 0, name)].tensor()


def test_saliency_and_gradient_times_input_are_those_of_autograd():
    model, x = net(), picture(2)
    found = methods.attribute(model, x, ["saliency", "gradient_input"], target=class_score(3))
    gradient = gradient_of(model, x, 3)
    torch.testing.assert_close(the_map(found, "saliency"), gradient.abs().amax(1, keepdim=True))
    torch.testing.assert_close(the_map(found, "gradient_input"), (gradient * x).sum(1, keepdim=True))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_methods_for_the_input_agree_with_captum():
    attr = pytest.importorskip("captum.attr")
    model, x = net(), picture(2)
    names = ["saliency", "gradient_input", "guided_backpropagation", IntegratedGradients(most=50)]
    found = methods.attribute(model, x, names, target=class_score(1))
    given = x.clone().requires_grad_()
    captum = {
        "saliency": attr.Saliency(model).attribute(given, 1).amax(1, keepdim=True),
        "gradient_input": attr.InputXGradient(model).attribute(given, 1).sum(1, keepdim=True),
        "guided_backpropagation": attr.GuidedBackprop(model).attribute(given, 1).abs().amax(1, keepdim=True),
        "integrated_gradients": attr.IntegratedGradients(model)
        .attribute(given, target=1, n_steps=50)
        .sum(1, keepdim=True),
    }
    for name, reference in captum.items():
        torch.testing.assert_close(the_map(found, name), reference.detach(), msg=name)


def test_occlusion_agrees_with_captum():
    attr = pytest.importorskip("captum.attr")
    model, x = net(), picture()
    ours = methods.attribute(model, x, Occlusion(window=4, stride=3), target=class_score(2))
    captum = attr.Occlusion(model).attribute(x, (3, 4, 4), (3, 3, 3), 0, 2)
    torch.testing.assert_close(the_map(ours, "occlusion").float(), captum[:, :1].float())


def test_occlusion_is_the_mean_fall_over_the_windows_of_a_pixel():
    model, x = net(), picture(2)
    found = the_map(
        methods.attribute(model, x, Occlusion(window=5, stride=4), target=class_score(0)), "occlusion"
    )
    for sample in range(2):
        falls, counts = torch.zeros(13, 11, dtype=torch.float64), torch.zeros(13, 11, dtype=torch.float64)
        for top, left in itertools.product((0, 4, 8), (0, 4, 8)):
            covered = x[sample : sample + 1].clone()
            covered[..., top : top + 5, left : left + 5] = 0
            fall = (model(x[sample : sample + 1]) - model(covered))[0, 0].detach()
            falls[top : top + 5, left : left + 5] += fall
            counts[top : top + 5, left : left + 5] += 1
        torch.testing.assert_close(found[sample, 0], falls / counts)


def test_integrated_gradients_add_up_and_say_how_well():
    model, x = net(), picture(2)
    recording = methods.attribute(model, x, "integrated_gradients", target=class_score(4))
    wanted = (model(x) - model(torch.zeros_like(x)))[:, 4].detach()
    found = the_map(recording, "integrated_gradients").sum((1, 2, 3))
    assert (found - wanted).abs().max() < 0.01 * wanted.abs().min()
    notes = recording[Key("", Kind.ATTRIBUTION, 0, "integrated_gradients")].notes
    assert [note.partition(" error")[0] for note in notes] == [
        "Sample 0: Completeness",
        "Sample 1: Completeness",
    ]
    few = methods.attribute(model, x[:1], IntegratedGradients(steps=1, most=1), target=class_score(4))
    assert "More steps" in few.record("", Kind.ATTRIBUTION).notes[0]


def test_integrated_gradients_take_more_points_until_they_add_up_and_keep_the_best_when_stopped():
    class Step(nn.Module):
        """Straight to 0.37, then steep: few points do not see how long the steep part is."""

        def forward(self, x: T) -> T:
            return (x + 40 * (x - 0.37).relu()).reshape(-1, 1)

    x = torch.ones(1, 1, dtype=torch.float64)
    told: list[tuple[int, int]] = []
    method = IntegratedGradients(steps=5, most=160)
    recording = methods.attribute(
        Step(), x, method, target=class_score(0), on_progress=lambda *far: told.append(far)
    )
    (record,) = recording.values()
    few = methods.attribute(Step(), x, dataclasses.replace(method, most=5), target=class_score(0))
    wanted = 1 + 40 * 0.63
    assert abs(the_map(few, method.name).item() - wanted) > 0.01 * wanted
    assert abs(record.tensor().item() - wanted) < 0.01 * wanted
    assert "More steps" not in record.notes[0]
    assert told[-1][0] == told[-1][1] > 5
    told = [(0, 0)]
    with pytest.raises(Cancelled) as stop:
        methods.attribute(
            Step(),
            x,
            method,
            target=class_score(0),
            batch=1,
            cancelled=lambda: told[-1][0] > 6,
            on_progress=lambda *far: told.append(far),
        )
    assert stop.value.recording is not None
    (kept,) = stop.value.recording.values()
    assert kept.tensor().item() == the_map(few, method.name).item()


def test_integrated_gradients_of_a_product_are_exact():
    class Product(nn.Module):
        def forward(self, x: T) -> T:
            return (x[:, 0] * x[:, 1] * x[:, 1]).reshape(-1, 1)

    x = torch.tensor([[2.0, 3.0]])
    recording = methods.attribute(Product(), x, "integrated_gradients", target=class_score(0))
    # along t·x: ∂/∂x0 = (3t)², ∂/∂x1 = 2·2t·3t: x0 · 9/3 = 6 and x1 · 12/3 = 12
    torch.testing.assert_close(recording.record("", Kind.ATTRIBUTION).tensor(), torch.tensor([[6.0, 12.0]]))


def test_smooth_grad_is_the_mean_gradient_over_the_noise_of_its_seed():
    model, x = net(), picture()
    found = methods.attribute(
        model, x, SmoothGrad(noises=11, spread=0.1), target=class_score(1), seed=5, batch=4
    )
    generator = torch.Generator().manual_seed(5)
    noise = torch.cat([torch.randn(n, *x.shape, generator=generator, dtype=torch.float64) for n in (4, 4, 3)])
    copies = (x + 0.1 * (x.max() - x.min()) * noise).flatten(0, 1)
    mean = gradient_of(model, copies, 1).mean(0, keepdim=True)
    torch.testing.assert_close(the_map(found, "smooth_grad"), mean.abs().amax(1, keepdim=True))


def test_guided_backpropagation_reaches_functional_relus_too():
    class Functional(nn.Module):
        def __init__(self, layers: nn.Sequential) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, x: T) -> T:
            for layer in self.layers:
                x = torch.relu(x) if isinstance(layer, nn.ReLU) else layer(x)
            return x

    model, x = net(), picture()
    guided = [
        the_map(
            methods.attribute(one, x, "guided_backpropagation", target=class_score(1)),
            "guided_backpropagation",
        )
        for one in (model, Functional(model))
    ]
    torch.testing.assert_close(*guided)
    plain = the_map(methods.attribute(model, x, "saliency", target=class_score(1)), "saliency")
    assert not torch.allclose(guided[0], plain)
    smooth = nn.Sequential(nn.Conv2d(3, 2, 3), nn.GELU(), nn.Flatten(), nn.LazyLinear(2)).double()
    smooth(x)
    found = methods.attribute(smooth, x, "guided_backpropagation", target=class_score(0))
    assert "no ReLU" in found.record("", Kind.ATTRIBUTION).notes[0]


def test_a_unit_inside_the_model_can_be_the_target_of_methods_of_many_runs():
    model, x = net(), picture()
    inside = unit("2", (0, 3, 2, 1))
    found = methods.attribute(model, x, ["integrated_gradients", "occlusion"], target=inside)

    def value(given: T) -> T:
        return model[:3](given)[:, 3, 2, 1]

    total = the_map(found, "integrated_gradients").sum()
    torch.testing.assert_close(
        total, (value(x) - value(torch.zeros_like(x)))[0].detach(), rtol=0.02, atol=1e-3
    )
    corner = the_map(found, "occlusion")[0, 0]
    assert corner[-1, -1] == 0  # the unit does not see that far
    assert corner.abs().max() > 0


def test_the_top_class_of_a_changed_input_is_still_that_of_the_input():
    model, x = net(), picture(2)
    winners = model(x).argmax(1).tolist()
    found = the_map(methods.attribute(model, x, Occlusion(window=6), target=top_class()), "occlusion")
    for sample, winner in enumerate(winners):
        own = methods.attribute(
            model, x[sample : sample + 1], Occlusion(window=6), target=class_score(winner)
        )
        torch.testing.assert_close(found[sample : sample + 1], the_map(own, "occlusion"))


class Two(nn.Module):
    """Two inputs, one by name, and a tuple of outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(2, 2, 3)

    def forward(self, x: T, *, scale: T) -> tuple[T, T]:
        maps = self.layer(x)
        return maps.mean((2, 3)) * scale, maps


def test_each_of_several_inputs_has_a_map():
    torch.manual_seed(0)
    model = Two().double()
    x = torch.randn(1, 2, 6, 6, dtype=torch.float64)
    scale = torch.tensor([[2.0, 3.0]], dtype=torch.float64)
    asked = methods.question(model, (x,), (), target=class_score(1, leaf="[0]"))
    asked = type(asked)(model, (x,), {"scale": scale}, asked.target)
    found = methods.answered(asked, [methods.find_method("gradient_input"), IntegratedGradients(steps=4)])
    assert [key.leaf for key in found] == [
        "gradient_input",
        "gradient_input['scale']",
        "integrated_gradients",
        "integrated_gradients['scale']",
    ]
    mean = model.layer(x).mean((2, 3)).detach()
    by_scale = found[Key("", Kind.ATTRIBUTION, 0, "gradient_input['scale']")].tensor()
    torch.testing.assert_close(by_scale, torch.tensor([[0.0, 1.0]]).double() * mean * scale)


def test_frozen_models_have_the_same_maps():
    model, x = net(), picture()
    frozen = copy.deepcopy(model).requires_grad_(False)
    names = ["saliency", "integrated_gradients", "guided_backpropagation"]
    one, other = (methods.attribute(each, x, names, target=class_score(0)) for each in (model, frozen))
    for key in one:
        torch.testing.assert_close(one[key].tensor(), other[key].tensor())


def test_half_precision_runs_and_its_completeness_is_told():
    model, x = net(double=False).to(torch.bfloat16), picture().to(torch.bfloat16)
    found = methods.attribute(
        model, x, ["saliency", "integrated_gradients", "occlusion"], target=class_score(0)
    )
    assert [record.dtype for record in found.values()] == [torch.float32] * 3
    assert "Completeness error" in found[Key("", Kind.ATTRIBUTION, 0, "integrated_gradients")].notes[0]


def test_a_model_of_numbers_for_words_is_sent_to_its_layers():
    model = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(12, 2))
    found = methods.attribute(
        model, torch.tensor([[1, 2, 3]]), ["saliency", "occlusion"], target=class_score(0)
    )
    assert not found
    assert all("int64" in reason and "embedding" in reason for reason in found.absent.values())
    assert len(found.absent) == 2


def test_a_model_for_one_picture_without_a_batch_runs_its_variants_one_by_one():
    class Single(nn.Module):
        def forward(self, x: T) -> T:
            assert x.shape == (3, 4)
            return (x * torch.arange(12.0, dtype=torch.float64).reshape(3, 4)).sum().reshape(1)

    x = torch.ones(3, 4, dtype=torch.float64)
    found = methods.attribute(Single(), x, "integrated_gradients", target=class_score(0))
    expected = torch.arange(12.0, dtype=torch.float64).reshape(3, 4)
    torch.testing.assert_close(found.record("", Kind.ATTRIBUTION).tensor(), expected)
    refused = methods.attribute(Single(), x, "occlusion", target=class_score(0))
    assert "needs a picture" in refused.absent[Key("", Kind.ATTRIBUTION, 0, "occlusion")]


def test_a_constant_model_says_so():
    class Constant(nn.Module):
        def forward(self, x: T) -> T:
            return x.sum((2, 3)) * 0 + 1

    recording = methods.attribute(
        Constant(), picture(), ["saliency", "integrated_gradients"], target=class_score(0)
    )
    assert all("zero everywhere" in record.notes[-1] for record in recording.values())


def test_score_cam_weighs_maps_by_the_score_of_the_masked_picture():
    model, x = net(), picture(2)
    found = methods.attribute(model, x, "score_cam", ["2"], target=class_score(3)).record(
        "2", Kind.ATTRIBUTION
    )
    for sample in range(2):
        one = x[sample : sample + 1]
        maps = model[:3](one).detach()
        large = nn.functional.interpolate(maps, size=(13, 11), mode="bilinear", align_corners=False)[0]
        scores = []
        for channel in large:
            mask = (channel - channel.min()) / (channel.max() - channel.min())
            scores.append(model(one * mask)[0, 3].detach())
        weights = torch.softmax(torch.stack(scores), 0)
        expected = (weights[:, None, None] * maps[0]).sum(0).relu()
        torch.testing.assert_close(found.tensor()[sample, 0], expected)


def test_progress_counts_the_runs_and_ends_at_their_number():
    model, x = net(), picture()
    for method, runs in (
        (SmoothGrad(noises=9), 9),
        (IntegratedGradients(steps=5, most=5), 5),
        (ScoreCam(), 4),
    ):
        told: list[tuple[int, int]] = []
        methods.attribute(
            model,
            x,
            method,
            ["2"],
            target=class_score(0),
            batch=2,
            on_progress=lambda done, total, told=told: told.append((done, total)),
        )
        assert told[0] == (0, runs)
        assert told[-1] == (runs, runs)
        assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("name", ["occlusion", "smooth_grad", "score_cam"])
def test_what_is_done_is_kept_when_a_method_is_stopped(name):
    model, x = net(), picture()
    progress: list[int] = []
    with pytest.raises(Cancelled) as stop:
        methods.attribute(
            model,
            x,
            name,
            ["0", "2"],
            target=class_score(0),
            batch=2,
            on_progress=lambda done, total: progress.append(done),
            cancelled=lambda: bool(progress) and progress[-1] >= 7,
        )
    recording = stop.value.recording
    assert recording is not None
    (record,) = recording.values()
    assert record.array().any()
    if name == "score_cam":
        assert record.key.path == "0"  # the layer that was finished: six channels
    else:
        assert any("Stopped after 8 of" in note for note in record.notes)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("method", methods.methods(), ids=lambda method: method.name)
def test_no_method_changes_the_model(method):
    model, x = net(), picture()
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    methods.attribute(model, x, method, ["2"], target=class_score(0))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
    assert all(module.training for module in model.modules())
    hooks = [(m._forward_hooks, m._forward_pre_hooks, m._backward_hooks) for m in model.modules()]
    assert not any(itertools.chain.from_iterable(hooks))


def test_without_a_target_or_a_layer_it_is_said_what_to_do():
    model, x = net(), picture()
    with pytest.raises(HookViewerError, match="Choose a layer"):
        methods.attribute(model, x, "grad_cam", target=class_score(0))
    for name in ("saliency", "occlusion", "grad_cam"):
        with pytest.raises(HookViewerError, match="Choose a target"):
            methods.attribute(model, x, name, ["2"])
