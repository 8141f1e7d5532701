"""One small torchvision network of each family, bit-equal to plain torch; the sweep does them all."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from sweep_torchvision import two, with_targets
from torch import nn
from torchvision_oracle import Inputs, truth, verdict
from truth_nets import OutOfPlace, Plain, never_zero, state_of, without_inplace

import hookviewer as hv
from hookviewer import Key, Kind
from hookviewer.inputs import guess

torchvision = pytest.importorskip("torchvision")
models = torchvision.models

EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


def with_a_small_head(model: nn.Module, inputs: int, width: int = 32) -> nn.Module:
    """Replace the hundred million weights of an old classifier head by a few."""
    model.classifier = nn.Sequential(
        nn.Linear(inputs, width), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(width, 10)
    )
    return model


def small_vit() -> nn.Module:
    return models.VisionTransformer(
        image_size=64, patch_size=16, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10
    )


def small_maxvit() -> nn.Module:
    return models.MaxVit(
        input_size=(64, 64),
        stem_channels=16,
        block_channels=[16, 32, 32],
        block_layers=[1, 2, 1],
        head_dim=16,
        stochastic_depth_prob=0.2,
        partition_size=2,
        num_classes=10,
    )


def no_init(name: str, **options: Any) -> Callable[[], nn.Module]:
    return lambda: getattr(models, name)(num_classes=10, **options)


FAMILIES: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "alexnet": (lambda: with_a_small_head(models.AlexNet(num_classes=10), 256 * 36), 64),
    "vgg11_bn": (lambda: with_a_small_head(models.vgg11_bn(init_weights=False), 512 * 49), 32),
    "resnet18": (no_init("resnet18"), 64),
    "resnext50_32x4d": (no_init("resnext50_32x4d"), 64),
    "densenet121": (no_init("densenet121"), 64),
    "squeezenet1_1": (no_init("squeezenet1_1"), 64),
    "googlenet": (no_init("googlenet", init_weights=False), 64),
    "inception_v3": (no_init("inception_v3", init_weights=False), 80),
    "shufflenet_v2_x0_5": (no_init("shufflenet_v2_x0_5"), 64),
    "mobilenet_v2": (no_init("mobilenet_v2"), 64),
    "mobilenet_v3_small": (no_init("mobilenet_v3_small"), 64),
    "efficientnet_b0": (no_init("efficientnet_b0"), 64),
    "regnet_y_400mf": (no_init("regnet_y_400mf"), 64),
    "mnasnet0_5": (no_init("mnasnet0_5"), 64),
    "convnext_tiny": (no_init("convnext_tiny"), 64),
    "vit": (small_vit, 64),
    "swin_t": (no_init("swin_t"), 64),
    "maxvit": (small_maxvit, 64),
}


def plain_run(
    model: nn.Module, picture: torch.Tensor, **how: Any
) -> tuple[Plain, torch.Tensor, torch.Tensor, Any]:
    """Run a copy without in-place operations under plain hooks; return what they saw."""
    twin = without_inplace(copy.deepcopy(model)).eval()
    seen = Plain(twin, **how)
    leaf = picture.clone().requires_grad_()
    with OutOfPlace():
        output = twin(leaf)
    parameters = dict(twin.named_parameters())
    gradients = torch.autograd.grad(output[:, 3].sum(), [leaf, *parameters.values()], allow_unused=True)
    assert seen.never_overwritten()
    return seen, output.detach(), gradients[0], dict(zip(parameters, gradients[1:], strict=True))


def wrong(
    recording: hv.Recording, kind: Kind, expected: dict[tuple[str, int, str], torch.Tensor]
) -> list[str]:
    """Name every tensor that is missing or differs in a single bit."""
    problems = []
    for (path, call, leaf), tensor in expected.items():
        key = Key(path, kind, call, leaf)
        if key not in recording.records:
            problems.append(f"{key}: {recording.reason(key)}")
        elif not torch.equal(recording[key].tensor(), tensor):
            apart = (recording[key].tensor() - tensor).abs().max().item()
            problems.append(f"{key}: differs by {apart:.3g} of {tensor.abs().max().item():.3g}")
    extra = {key for key in recording if key.kind is kind} - {
        Key(p, kind, c, leaf) for p, c, leaf in expected
    }
    return problems + [f"{key}: recorded, but plain torch has none" for key in extra]


def problems(model: nn.Module, picture: torch.Tensor) -> list[str]:
    """Run `model` with everything recorded; name all that differs from plain torch or lacks a reason."""
    total, output, input_gradient, gradients = plain_run(model, picture)
    through, output_again, _, _ = plain_run(model, picture, separate=True)
    assert torch.equal(output, output_again)
    assert input_gradient.abs().max() > 0
    plan = hv.HookPlan.of(model, "*", kinds=EVERY)
    recording = hv.capture(model, (picture,), plan, target=hv.class_score(3), mode="eval", budget=1 << 40)
    # what a module hands on as the same object has one gradient: there is no "through this module only"
    separate = {
        key: total.input_gradients[key] if key in total.passed else g
        for key, g in through.input_gradients.items()
    }
    named = {name: gradient for name, gradient in gradients.items() if gradient is not None}
    own = {
        (name.rpartition(".")[0], 0, name.rpartition(".")[2]): gradient for name, gradient in named.items()
    }
    found = [] if torch.equal(recording.output, output) else ["the output differs"]
    if not torch.equal(recording.record("", Kind.GRAD_INPUT).tensor(), input_gradient):
        found.append("the input gradient differs")
    found += wrong(recording, Kind.OUTPUT, total.outputs)
    found += wrong(recording, Kind.INPUT, total.inputs)
    found += wrong(recording, Kind.GRAD_OUTPUT, total.output_gradients)
    found += wrong(recording, Kind.GRAD_INPUT_TOTAL, total.input_gradients)
    found += wrong(recording, Kind.GRAD_INPUT, separate)
    found += wrong(recording, Kind.PARAM_GRAD, own)
    never = {path for path, _ in model.named_modules()} - {path for path, _, _ in total.outputs}
    bare = {path for path, module in model.named_modules() if not module._parameters}
    rightly = {(path, kind) for path in bare for kind in (Kind.PARAM, Kind.PARAM_GRAD)}
    constant = total.inputs.keys() - total.input_gradients.keys()
    for key, why in recording.absent.items():
        if key.path not in never and key[:2] not in rightly and (key.path, *key[2:]) not in constant:
            found.append(f"{key}: {why}")
    return found + [f"{key}: no reason" for key, why in recording.absent.items() if not why.strip()]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_classifier_shows_exactly_what_plain_torch_computes(family: str) -> None:
    build, size = FAMILIES[family]
    model = never_zero(build()).train()  # flags of training, run in eval: the flags must come back
    picture = torch.randn(1, 3, size, size)
    before = state_of(model)
    assert problems(model, picture) == []
    assert state_of(model) == before


def halved(tensor: torch.Tensor) -> torch.Tensor:
    return tensor * 0.5


EDITS: dict[str, tuple[list[hv.Edit], Callable[[nn.Module], Any]]] = {
    "outputs": (
        [hv.Edit("layer1.0.bn1", hv.zero(), index=3), hv.Edit("layer2.0", halved)],
        lambda net: (
            net.layer1[0].bn1.register_forward_hook(
                lambda m, a, o: o * (torch.arange(64) != 3).float()[None, :, None, None]
            ),
            net.layer2[0].register_forward_hook(lambda m, a, o: halved(o)),
        ),
    ),
    "inputs": (
        [hv.Edit("layer1.0.relu", halved, kind=Kind.INPUT, call=1), hv.Edit("fc", halved, kind=Kind.INPUT)],
        lambda net: (
            net.layer1[0].relu.register_forward_pre_hook(every_second(lambda a: (halved(a[0]),))),
            net.fc.register_forward_pre_hook(lambda m, a: (halved(a[0]),)),
        ),
    ),
    "gradients at outputs": (
        [
            hv.Edit(path, lambda g: g.mul_(0.5), kind=Kind.GRAD_OUTPUT)
            for path in ("layer1.0.conv1", "layer1.1.bn2", "layer3")
        ],
        lambda net: [
            part.register_forward_hook(lambda m, a, o: o.register_hook(halved) and None)
            for part in (net.layer1[0].conv1, net.layer1[1].bn2, net.layer3)
        ],
    ),
    "gradients at inputs": (
        [hv.Edit(path, halved, kind=Kind.GRAD_INPUT) for path in ("layer1.0.conv2", "layer2.0.conv1")],
        lambda net: [
            part.register_full_backward_hook(lambda m, gi, go: (halved(gi[0]),))
            for part in (net.layer1[0].conv2, net.layer2[0].conv1)
        ],
    ),
}


def every_second(change: Callable[[Any], Any]) -> Callable[[nn.Module, Any], Any]:
    calls: list[int] = []

    def hook(module: nn.Module, args: Any) -> Any:
        calls.append(len(calls))
        return change(args) if calls[-1] % 2 else None

    return hook


@pytest.mark.parametrize("name", EDITS)
def test_edits_of_a_classifier_are_those_of_plain_hooks(name: str) -> None:
    edits, hook = EDITS[name]
    model, picture = never_zero(models.resnet18(num_classes=10)).train(), torch.randn(1, 3, 64, 64)
    twin = without_inplace(copy.deepcopy(model)).eval()
    hook(twin)
    leaf = picture.clone().requires_grad_()
    with OutOfPlace():
        output = twin(leaf)
    named = dict(twin.named_parameters())
    gradients = torch.autograd.grad(output[:, 3].sum(), [leaf, *named.values()])
    before = state_of(model)
    plan = hv.HookPlan.of(model, "*", kinds=EVERY)
    recording = hv.capture(model, (picture,), plan, target=hv.class_score(3), edits=edits)
    assert state_of(model) == before
    assert torch.equal(recording.output, output)
    assert torch.equal(recording.record("", Kind.GRAD_INPUT).tensor(), gradients[0])
    for parameter, gradient in zip(named, gradients[1:], strict=True):
        home, _, own = parameter.rpartition(".")
        assert torch.equal(recording[Key(home, Kind.PARAM_GRAD, 0, own)].tensor(), gradient), parameter
    untouched = hv.capture(model, (picture,), plan, target=hv.class_score(3))
    assert not torch.equal(untouched.record("", Kind.GRAD_INPUT).tensor(), gradients[0])


# ------------------------------------------------------------------ what is no classifier, and train mode

PLACE = "torchvision.models"
SMALL: dict[str, tuple[str, int]] = {
    "ssdlite": (f"{PLACE}.detection:ssdlite320_mobilenet_v3_large?score_thresh=0.0&num_classes=5", 320),
    "fasterrcnn": (
        f"{PLACE}.detection:fasterrcnn_mobilenet_v3_large_320_fpn?box_score_thresh=0.0&num_classes=5"
        "&min_size=128&max_size=128&box_detections_per_img=10&rpn_post_nms_top_n_test=50"
        "&rpn_post_nms_top_n_train=50",
        128,
    ),
    "fcos": (
        f"{PLACE}.detection:fcos_resnet50_fpn?score_thresh=0.0&num_classes=5"
        "&min_size=96&max_size=96&detections_per_img=5",
        96,
    ),
    "lraspp": (f"{PLACE}.segmentation:lraspp_mobilenet_v3_large", 96),
    "deeplabv3": (f"{PLACE}.segmentation:deeplabv3_mobilenet_v3_large?aux_loss=true", 64),
    "swin3d": (f"{PLACE}.video:swin3d_t", 32),
    "raft": (f"{PLACE}.optical_flow:raft_small", 128),
    "quantizable": (f"{PLACE}.quantization:mobilenet_v2", 64),
}
TRAINED = ("googlenet", "efficientnet_b0", "shufflenet_v2_x0_5", "swin_t", "vit")
"""Classifiers with several outputs, dropped blocks and batch statistics."""


def sized(given: Inputs, side: int) -> Inputs:
    """Return the input that the program guesses, cut to `side` pixels, and to four frames of a film."""
    if isinstance(given[0], list):
        return ([given[0][0][:, :side, :side]],)
    return tuple(one[..., :side, :side] if one.ndim == 4 else one[:, :, :4, :side, :side] for one in given)


def faults(model: nn.Module, given: Inputs, mode: str) -> list[str]:
    """Run the model in `mode`; name all that differs from plain torch, or lacks a reason."""
    if mode == "train":
        given = with_targets(given) if isinstance(given[0], list) else two(given)
    found = verdict(model, given, truth(model, given, mode=mode), mode=mode)
    assert found.values > 30
    assert found.gradients > 30
    return found.wrong + found.notes


CHEAP = [(name, "eval" if name in ("ssdlite", "lraspp", "raft") else "train") for name in SMALL]


@pytest.mark.parametrize(("name", "mode"), CHEAP)
def test_other_networks_show_exactly_what_plain_torch_computes(name: str, mode: str) -> None:
    spec, side = SMALL[name]
    model = never_zero(hv.open_model(spec)).train()
    assert faults(model, sized(guess(model).args, side), mode) == []


@pytest.mark.parametrize("family", TRAINED)
def test_a_classifier_in_train_mode_shows_exactly_what_plain_torch_computes(family: str) -> None:
    build, size = FAMILIES[family]
    model = never_zero(build()).eval()
    assert faults(model, (torch.randn(1, 3, max(size, 64), max(size, 64)),), "train") == []


def test_the_comparison_sees_one_bit_in_one_weight() -> None:
    model, picture = never_zero(models.squeezenet1_1(num_classes=10)), torch.randn(1, 3, 64, 64)
    expected = truth(model, (picture,), mode="eval")
    changed = model.features[12].expand3x3.bias
    with torch.no_grad():
        changed.view(torch.int32)[0] ^= 1 << 20
    wrong = verdict(model, (picture,), expected, mode="eval").wrong
    assert "the output differs" in wrong
    named = {line.partition("path='")[2].partition("'")[0] for line in wrong if "Kind.OUTPUT" in line}
    assert {"features.12.expand3x3", "features.12", "classifier.1"} <= named
    assert not any(path.startswith(("features.11", "features.12.expand1x1")) for path in named)
