"""Attribution methods on layers small enough to work out by hand, and beside captum."""

from __future__ import annotations

import pytest
import torch
from captum.attr import LayerGradCam
from torch import nn

from hookviewer import methods
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording
from hookviewer.targets import class_score

OUTPUT = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 5.0]]]])
GRADIENT = torch.tensor([[[[4.0, 0.0], [0.0, 0.0]], [[-1.0, -1.0], [-1.0, -1.0]]]])


def recorded(
    output: torch.Tensor, gradient: torch.Tensor | None, path: str = "layer", leaf: str = ""
) -> Recording:
    records = {}
    for kind, tensor in ((Kind.OUTPUT, output), (Kind.GRAD_OUTPUT, gradient)):
        if tensor is not None:
            key = Key(path, kind, 0, leaf)
            records[key] = Record(key, tuple(tensor.shape), tensor.dtype, kept=tensor.detach().clone())
    absent = {Key(path, Kind.GRAD_OUTPUT): "Nothing flowed back to it."} if gradient is None else {}
    return Recording(records, absent)


def classifier() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(3, 6, 3),
        nn.ReLU(),
        nn.Conv2d(6, 8, 3, stride=2),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, 5),
    )


def run_by_hand(model: nn.Sequential, layer: int, image: torch.Tensor, target: int) -> Recording:
    output = image
    for module in model[: layer + 1]:
        output = module(output)
    score = output
    for module in model[layer + 1 :]:
        score = module(score)
    (gradient,) = torch.autograd.grad(score[:, target].sum(), output)
    return recorded(output, gradient)


def test_grad_cam_weighs_maps_by_their_mean_gradient():
    # weights 1 and −1: [[1−1, 2−0], [3−0, 4−5]] cut off at zero
    record = methods.attribution(recorded(OUTPUT, GRADIENT), "grad_cam", "layer")
    assert record.array().tolist() == [[[[0, 2], [3, 0]]]]
    assert record.key == Key("layer", Kind.ATTRIBUTION, 0, "grad_cam")
    assert record.notes == ()


def test_layer_cam_weighs_each_cell_by_its_positive_gradient():
    record = methods.attribution(recorded(OUTPUT, GRADIENT), "layer_cam", "layer")
    assert record.array().tolist() == [[[[4, 0], [0, 0]]]]


@pytest.mark.parametrize("layer", [0, 2])
def test_grad_cam_agrees_with_captum(layer):
    model, image = classifier(), torch.randn(2, 3, 15, 17)
    found = methods.attribution(run_by_hand(model, layer, image, 3), "grad_cam", "layer").tensor()
    reference = LayerGradCam(model, model[layer]).attribute(image, 3, relu_attributions=True)
    torch.testing.assert_close(found, reference.detach())
    assert found.max() > 0


def test_a_run_gives_the_attributions_of_every_layer_and_a_reason_for_the_rest():
    model, image = classifier(), torch.randn(1, 3, 15, 17)
    recording = methods.attribute(model, image, "grad_cam", ["0", "2", "5"], target=class_score(1))
    assert [key.path for key in recording] == ["0", "2"]
    for path, layer in (("0", 0), ("2", 2)):
        by_hand = methods.attribution(run_by_hand(model, layer, image, 1), "grad_cam", "layer").tensor()
        torch.testing.assert_close(recording.record(path, Kind.ATTRIBUTION).tensor(), by_hand)
    assert "convolution" in recording.absent[Key("5", Kind.ATTRIBUTION, 0, "grad_cam")]
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1, 11, 64), "tokens"),
        ((1, 10), "1×10"),
        ((), "single number"),
        ((0, 2, 3, 3), "empty"),
    ],
)
def test_a_layer_without_maps_is_refused_with_the_reason(shape, words):
    with pytest.raises(HookViewerError, match=words) as error:
        methods.attribution(recorded(torch.zeros(shape), torch.zeros(shape)), "grad_cam", "layer")
    assert str(error.value).startswith("Grad-CAM does not suit layer: ")


def test_a_missing_gradient_passes_its_reason_on():
    with pytest.raises(HookViewerError, match=r"Nothing flowed back to it\."):
        methods.attribution(recorded(OUTPUT, None), "grad_cam", "layer")


def test_nothing_that_speaks_for_the_target_is_said_not_divided_by():
    record = methods.attribution(recorded(OUTPUT, -GRADIENT.abs()), "grad_cam", "layer")
    assert record.array().max() == 0
    assert "zero everywhere" in record.notes[0]
    flat = methods.attribution(recorded(torch.ones(1, 2, 3, 3), torch.ones(1, 2, 3, 3)), "grad_cam", "layer")
    assert "everywhere" in flat.notes[0]
    assert flat.array().tolist() == torch.full((1, 1, 3, 3), 2.0).tolist()


def test_half_precision_is_added_up_in_single():
    record = methods.attribution(recorded(OUTPUT.bfloat16(), GRADIENT.bfloat16()), "grad_cam", "layer")
    assert record.dtype == torch.float32
    assert record.array().tolist() == [[[[0, 2], [3, 0]]]]


def test_the_first_leaf_of_a_nested_output_is_taken():
    record = methods.attribution(recorded(OUTPUT, GRADIENT, leaf="['out']"), "grad_cam", "layer")
    assert record.array().max() == 3


def test_an_unknown_method_names_those_there_are():
    with pytest.raises(HookViewerError, match="grad_cam, grad_cam_plus_plus"):
        methods.find_method("gradcam")


@pytest.mark.parametrize("method", methods.methods(), ids=lambda method: method.name)
def test_every_method_names_its_paper_and_what_it_needs(method):
    assert method.title
    assert method.paper
    assert method.needs in methods.Needs
    assert methods.find_method(method.name).title == method.title


LAYER_METHODS = [method for method in methods.methods() if isinstance(method, methods.LayerMethod)]


@pytest.mark.parametrize("method", LAYER_METHODS, ids=lambda method: method.name)
def test_every_layer_method_gives_one_map_per_sample_of_any_number_of_axes(method):
    output, gradient = torch.randn(3, 4, 5, 6), torch.randn(3, 4, 5, 6)
    assert method.compute(output, gradient).shape == (3, 5, 6)
    deep = method.compute(output.unsqueeze(2), gradient.unsqueeze(2))
    torch.testing.assert_close(deep.squeeze(1), method.compute(output, gradient))


def test_a_method_with_runs_of_its_own_cannot_be_computed_from_records():
    with pytest.raises(HookViewerError, match="needs runs of its own"):
        methods.attribution(recorded(OUTPUT, GRADIENT), "occlusion", "layer")
