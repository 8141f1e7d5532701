"""The three demo networks with trained weights."""

from __future__ import annotations

import torch
from torch import nn

from hookviewer.resources import resource
from hookviewer.sources.cards import ModelCard, Preprocess
from hookviewer.sources.source import Opened
from hookviewer.sources.torch_file import sha256

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class PNet(nn.Module):
    """The first stage of the MTCNN face detector (Zhang et al. 2016), as facenet-pytorch builds it.

    Takes [N, 3, H, W], returns the box corrections [N, 4, h, w] and the probabilities [N, 2, h, w] of
    background and face: one place per step of 2 pixels, each seeing 12 × 12 pixels.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.prelu1 = nn.Conv2d(3, 10, 3), nn.PReLU(10)
        self.pool1 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv2, self.prelu2 = nn.Conv2d(10, 16, 3), nn.PReLU(16)
        self.conv3, self.prelu3 = nn.Conv2d(16, 32, 3), nn.PReLU(32)
        self.conv4_1, self.softmax4_1 = nn.Conv2d(32, 2, 1), nn.Softmax(dim=1)
        self.conv4_2 = nn.Conv2d(32, 4, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(x)))
        x = self.prelu3(self.conv3(self.prelu2(self.conv2(x))))
        return self.conv4_2(x), self.softmax4_1(self.conv4_1(x))


def mobilenet_v2() -> Opened:
    """MobileNetV2 with the ImageNet-1k weights; it looks at whole photographs, not at a crop."""
    from torchvision.models import MobileNet_V2_Weights, mobilenet_v2

    preprocess = Preprocess(mean=IMAGENET_MEAN, std=IMAGENET_STD, short_side=320, multiple=8)
    return _opened(
        mobilenet_v2(weights=None),
        "mobilenet_v2",
        "demo/mobilenet_v2_imagenet1k_v1_fp16.safetensors",
        preprocess,
        tuple(MobileNet_V2_Weights.IMAGENET1K_V1.meta["categories"]),
        "demo:chelsea",
        "Trained on ImageNet-1k by torchvision; stored as 16-bit floats, run as 32-bit ones.",
    )


def pnet() -> Opened:
    """The MTCNN P-net with trained weights."""
    # (x − 127.5) / 128 on values up to 255, written for values up to 1
    preprocess = Preprocess(mean=(0.5,) * 3, std=(128 / 255,) * 3, short_side=128)
    note = "Trained by facenet-pytorch. It finds faces of about 12 pixels: pictures are scaled to 128 pixels."
    names = ("background", "face")
    return _opened(PNet(), "pnet", "demo/mtcnn_pnet.safetensors", preprocess, names, "demo:astronaut", note)


def digits() -> Opened:
    """A small network for handwritten digits of 8 × 8 pixels."""
    model = nn.Sequential(
        *(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ),
        *(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)),
    )
    preprocess = Preprocess(height=8, width=8, mean=(0.0,), std=(1.0,), short_side=8, channels=1)
    names = tuple("0123456789")
    note = "Trained on the UCI digits (98 % right): light strokes on black, 8×8 pixels."
    return _opened(model, "digits", "demo/digits.safetensors", preprocess, names, "demo:digit", note)


def _opened(
    model: nn.Module,
    name: str,
    file: str,
    preprocess: Preprocess,
    class_names: tuple[str, ...],
    example: str,
    note: str,
) -> Opened:
    from safetensors.torch import load_file

    path = resource(file)
    model.load_state_dict(load_file(path))  # copies 16-bit floats into 32-bit ones
    card = ModelCard(
        spec=f"demo:{name}",
        name=name,
        sha256=sha256(path),
        preprocess=preprocess,
        class_names=class_names,
        notes=(note,),
        example=example,
    )
    return Opened(model, card)
