"""On the demo's photographs the maps lie where a person would say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.nn import functional

from hookviewer import methods
from hookviewer.inputs import open_input
from hookviewer.kinds import Key, Kind
from hookviewer.methods.integrated_gradients import IntegratedGradients
from hookviewer.methods.occlusion import Occlusion
from hookviewer.methods.smooth_grad import SmoothGrad
from hookviewer.recording import Recording
from hookviewer.sources import open_model
from hookviewer.targets import class_score

CAT = [(35, 0), (395, 0), (390, 120), (370, 200), (335, 290), (280, 320), (60, 320), (0, 120)]
CUP = (60, 10, 390, 310)
FACE = (42, 10, 72, 45)
SUBJECTS = {"chelsea": 285, "coffee": 967}
CAMS = ["grad_cam", "grad_cam_plus_plus", "hires_cam", "layer_cam", "eigen_cam"]
INPUT = [
    *("saliency", "guided_backpropagation"),
    *(IntegratedGradients(steps=6, most=6), SmoothGrad(noises=4), Occlusion(window=60)),
]


def drawn(name: str) -> torch.Tensor:
    """Return where the subject is, drawn by hand over the picture that the network sees."""
    image = Image.new("L", (128, 128) if name == "astronaut" else (480, 320))
    pen = ImageDraw.Draw(image)
    if name == "chelsea":
        pen.polygon(CAT, fill=255)
    else:
        pen.ellipse(CUP if name == "coffee" else FACE, fill=255)
    return torch.from_numpy(np.array(image) > 0)


def contrast(recording: Recording, key: Key, mask: torch.Tensor) -> float:
    """Return the mean of a map's positive part inside the mask, over that outside."""
    values = recording[key].tensor().clamp(min=0)
    large = functional.interpolate(values, size=mask.shape, mode="bilinear")[0, 0]
    return float(large[mask].mean() / large[~mask].mean())


@pytest.fixture(scope="module")
def classifier() -> nn.Module:
    return open_model("demo:mobilenet_v2")


@pytest.mark.parametrize("name", SUBJECTS)
def test_class_activation_maps_lie_on_the_subject(classifier, name):
    x = open_input(f"demo:{name}", classifier)
    target = class_score(SUBJECTS[name])
    found = methods.attribute(classifier, x, CAMS, ["features.18"], target=target)
    assert len(found) == len(CAMS)
    for key in found:
        assert contrast(found, key, drawn(name)) > (1.5 if name == "chelsea" else 2.5), key.leaf


@pytest.mark.parametrize("name", SUBJECTS)
def test_maps_of_the_input_lie_on_the_subject(classifier, name):
    x = open_input(f"demo:{name}", classifier).args[0]
    small = functional.interpolate(x, scale_factor=0.5, mode="bilinear", antialias=True)
    found = methods.attribute(classifier, small, INPUT, target=class_score(SUBJECTS[name]))
    assert int(found.output.argmax()) == SUBJECTS[name]
    assert len(found) == len(INPUT)
    for key in found:
        least = 1.1 if key.leaf == "saliency" else 1.3  # a plain gradient is noise for the most part
        assert contrast(found, key, drawn(name)) > least, key.leaf


def test_score_cam_lies_on_the_cup(classifier):
    x = open_input("demo:coffee", classifier).args[0]
    small = functional.interpolate(x, scale_factor=0.35, mode="bilinear", antialias=True)
    found = methods.attribute(classifier, small, "score_cam", ["features.7"], target=class_score(967))
    assert contrast(found, Key("features.7", Kind.ATTRIBUTION, 0, "score_cam"), drawn("coffee")) > 2


def test_what_makes_a_face_a_face_is_the_face():
    detector = open_model("demo:pnet")
    x = open_input("demo:astronaut", detector)
    face = class_score(1, leaf="[1]")
    found = methods.attribute(detector, x, ["grad_cam", "hires_cam", "saliency"], ["prelu3"], target=face)
    mask = drawn("astronaut")
    assert contrast(found, Key("prelu3", Kind.ATTRIBUTION, 0, "grad_cam"), mask) > 10
    assert contrast(found, Key("prelu3", Kind.ATTRIBUTION, 0, "hires_cam"), mask) > 10
    assert contrast(found, Key("", Kind.ATTRIBUTION, 0, "saliency"), mask) > 2.5
