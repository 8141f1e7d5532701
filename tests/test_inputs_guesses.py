"""Guesses of inputs: every family of torchvision, and networks that say what they take."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from brought import sentence
from torch import nn

import hookviewer as hv
from hookviewer.inputs import guess, preprocess_for
from hookviewer.inputs.shapes import expected

STILL, LISTED = (1, 3, 224, 224), (1, 3, 320, 320)
CLIP, LARGE_CLIP = (1, 3, 16, 112, 112), (1, 3, 16, 224, 224)

LIVE: dict[str, tuple[int, ...]] = {
    "alexnet": STILL,
    "vgg11": STILL,
    "resnet18": STILL,
    "densenet121": STILL,
    "efficientnet_b0": STILL,
    "mobilenet_v3_small": STILL,
    "shufflenet_v2_x0_5": STILL,
    "squeezenet1_1": STILL,
    "mnasnet0_5": STILL,
    "convnext_tiny": STILL,
    "swin_t": STILL,
    "swin_v2_t": STILL,
    "maxvit_t": STILL,
    "vit_b_16": STILL,
    "googlenet": STILL,
    "inception_v3": (1, 3, 299, 299),
    "quantized_mobilenet_v2": STILL,
    "fcn_resnet50": (1, 3, 520, 520),
    "deeplabv3_mobilenet_v3_large": (1, 3, 520, 520),
    "lraspp_mobilenet_v3_large": (1, 3, 520, 520),
    "fasterrcnn_mobilenet_v3_large_fpn": LISTED,
    "maskrcnn_resnet50_fpn": LISTED,
    "keypointrcnn_resnet50_fpn": LISTED,
    "retinanet_resnet50_fpn": LISTED,
    "fcos_resnet50_fpn": LISTED,
    "ssd300_vgg16": (1, 3, 300, 300),
    "ssdlite320_mobilenet_v3_large": LISTED,
    "r3d_18": CLIP,
    "mc3_18": CLIP,
    "r2plus1d_18": CLIP,
    "s3d": LARGE_CLIP,
    "mvit_v1_b": LARGE_CLIP,
    "mvit_v2_s": LARGE_CLIP,
    "swin3d_t": LARGE_CLIP,
    "raft_small": (1, 3, 256, 256),
}


def built(name: str, device: str = "meta") -> nn.Module:
    """Return a network of torchvision as a script builds it; on "meta" it takes no time."""
    from torchvision import models

    more: dict[str, Any] = {}
    if "rcnn" in name or "retinanet" in name or name.startswith(("fc", "deeplab", "lraspp", "ssd")):
        more["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        more["init_weights"] = False
    with torch.device(device):
        return models.get_model(name, weights=None, **more)


@pytest.mark.filterwarnings("ignore::UserWarning")  # quantization says that it is old
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", LIVE)
def test_the_shape_of_every_family_is_guessed_from_the_live_network(name: str) -> None:
    want = expected(built(name))
    assert want.shape == LIVE[name]
    assert want.listed == any(word in name for word in ("rcnn", "retinanet", "fcos", "ssd"))
    assert len(want.shapes) == (2 if "raft" in name else 1)
    assert "guess" in want.reason


@pytest.mark.parametrize(
    "spec",
    [
        "torchvision.models:squeezenet1_1",
        "torchvision.models.detection:ssdlite320_mobilenet_v3_large",
        "torchvision.models.segmentation:lraspp_mobilenet_v3_large",
        "torchvision.models.optical_flow:raft_small",
        "torchvision.models.video:r3d_18",
    ],
)
def test_a_guess_and_a_photograph_run_through_each_family(spec: str) -> None:
    model = hv.open_model(spec).eval()
    shapes = []
    for given in (guess(model), hv.open_input("demo:chelsea?size=128x160", model)):
        tensors = [one[0] if isinstance(one, list) else one for one in given.args]
        shapes.append([(one.ndim, one.shape[:-2]) for one in tensors])
        if "segmentation" in spec or "video" in spec:  # to be quick
            given = dataclasses.replace(given, args=tuple(one[..., :64, :64] for one in tensors))
        with torch.no_grad():
            assert model(*given.args) is not None
    assert shapes[0] == shapes[1]


def test_live_networks_get_the_recipe_of_their_family() -> None:
    recipe, notes = preprocess_for(built("r3d_18"))
    assert (recipe.frames, recipe.resize, recipe.mean) == (16, (128, 171), (0.43216, 0.394666, 0.37645))
    assert "usual ones of VideoResNet" in notes[0]
    assert preprocess_for(built("raft_small"))[0].pair
    assert preprocess_for(built("inception_v3"))[0].short_side == 342
    assert not preprocess_for(built("ssd300_vgg16"))[0].batch


class Timm(nn.Module):
    """A network that says what it wants as those of timm do."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3)
        self.default_cfg = {
            "input_size": (3, 96, 128),
            "mean": (0.5, 0.5, 0.5),
            "std": (0.25, 0.25, 0.25),
            "interpolation": "bicubic",
            "crop_pct": 0.75,
        }

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


@dataclasses.dataclass
class Config:
    image_size: int = 48
    num_channels: int = 1


class Transformer(nn.Module):
    """A network that says what it wants as those of transformers do."""

    def __init__(self) -> None:
        super().__init__()
        self.config = Config()
        self.conv = nn.Conv2d(1, 2, 3)

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return self.conv(pixel_values)


def test_networks_that_say_what_they_want_are_believed() -> None:
    recipe, _ = preprocess_for(Timm())
    assert (recipe.height, recipe.width, recipe.short_side) == (96, 128, 128)
    assert (recipe.mean, recipe.interpolation) == ((0.5,) * 3, "bicubic")
    assert guess(Timm()).args[0].shape == (1, 3, 96, 128)
    assert guess(Transformer()).args[0].shape == (1, 1, 48, 48)
    assert hv.open_input("demo:chelsea", Transformer()).args[0].shape == (1, 1, 48, 48)
    broken = Timm()
    broken.default_cfg = {"input_size": "large"}
    assert guess(broken).args[0].shape == STILL


def test_text_comes_as_whole_numbers_of_the_vocabulary() -> None:
    model = nn.Sequential(nn.Embedding(50, 4), nn.Linear(4, 2))
    given = guess(model)
    assert given.args[0].dtype == torch.int64
    assert given.args[0].max() < 50
    assert model(*given.args).shape == (1, 16, 2)
    ones = hv.open_input("demo:ones", model)
    assert ones.args[0].dtype == torch.int64


def test_an_animation_is_a_clip_and_a_pair(tmp_path: Any) -> None:
    from brought import animation

    animation(tmp_path / "film.gif", count=6, size=(40, 30))
    clip = hv.open_input(f"{tmp_path / 'film.gif'}?frame=2", built("r3d_18", "cpu")).args[0]
    assert clip.shape == CLIP
    assert [len(np.unique(clip[0, :, number].numpy())) for number in (0, 15)] == [3, 3]
    assert len(clip[0, 0, :, 0, 0].unique()) == 4  # frames 2 to 5, and the last one again
    pair = hv.open_input(f"{tmp_path / 'film.gif'}?frame=5", built("raft_small"))
    assert torch.equal(pair.args[0], pair.args[1])
    pair = hv.open_input(f"{tmp_path / 'film.gif'}?frame=4", built("raft_small"))
    assert not torch.equal(pair.args[0], pair.args[1])
    assert not any("no motion" in note for note in pair.notes)


def test_two_photographs_are_the_pair_of_a_flow_network() -> None:
    given = hv.open_input("args:demo:coffee;demo:chelsea?size=256x384", built("raft_small"))
    assert [one.shape for one in given.args] == [(1, 3, 256, 384)] * 2
    assert not torch.equal(given.args[0], given.args[1])
    assert not any("no motion" in note for note in given.notes)


def test_a_network_of_several_inputs_says_how_to_give_them() -> None:
    told = sentence("demo:ones", nn.Bilinear(2, 3, 4))
    assert "args:input1=random:SHAPE;input2=random:SHAPE" in told
    given = hv.open_input("args:random:1x2;random:1x3", nn.Bilinear(2, 3, 4))
    assert nn.Bilinear(2, 3, 4)(*given.args).shape == (1, 4)
