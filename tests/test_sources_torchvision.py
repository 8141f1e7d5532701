"""Networks of torchvision open by name, without a download, and say what they take."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torchvision import models

import hookviewer as hv
from hookviewer.sources import card, model_names, open_model
from hookviewer.sources.torchvision_models import spec_of

V = "torchvision.models"


def test_every_builder_of_torchvision_has_a_spec() -> None:
    specs = [spec for spec in model_names() if spec.startswith(V)]
    assert len(specs) == len(set(specs)) == len(models.list_models()) > 100
    assert {f"{V}.detection:fcos_resnet50_fpn", f"{V}.quantization:resnet18"} <= set(specs)
    assert spec_of("raft_small") == f"{V}.optical_flow:raft_small"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(torch.hub, "load_state_dict_from_url", refuse)
    monkeypatch.setattr("urllib.request.urlopen", refuse)


@pytest.mark.filterwarnings("ignore:.*quantiz")  # deprecated by torch, and still about
@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("spec", "shapes"),
    [
        (f"{V}:mobilenet_v3_small", [(1, 3, 224, 224)]),
        (f"{V}:googlenet", [(1, 3, 224, 224)]),
        (f"{V}:swin_v2_t", [(1, 3, 256, 256)]),
        (f"{V}:vit_b_32?image_size=64", [(1, 3, 64, 64)]),
        (f"{V}.quantization:shufflenet_v2_x0_5?quantize=true", [(1, 3, 224, 224)]),
        (f"{V}.segmentation:lraspp_mobilenet_v3_large", [(1, 3, 520, 520)]),
        (f"{V}.detection:ssdlite320_mobilenet_v3_large", [(1, 3, 320, 320)]),
        (f"{V}.detection:ssd300_vgg16", [(1, 3, 300, 300)]),
        (f"{V}.detection:fasterrcnn_mobilenet_v3_large_320_fpn", [(1, 3, 320, 320)]),
        (f"{V}.video:r3d_18", [(1, 3, 16, 112, 112)]),
        (f"{V}.video:mvit_v2_s", [(1, 3, 16, 224, 224)]),
        (f"{V}.optical_flow:raft_small", [(1, 3, 256, 256)] * 2),
    ],
)
def test_a_network_opens_offline_and_says_what_it_takes(spec: str, shapes: list[tuple[int, ...]]) -> None:
    known = card(open_model(spec))
    assert list(known.input_shapes) == shapes
    assert known.input_shape == (shapes[0] if len(shapes) == 1 else None)
    assert known.spec == spec


@pytest.mark.filterwarnings("ignore:.*quantiz")
@pytest.mark.parametrize(
    "spec",
    [
        f"{V}.quantization:shufflenet_v2_x0_5?quantize=true",
        f"{V}.detection:ssdlite320_mobilenet_v3_large",
        f"{V}:vit_b_32?image_size=64",
    ],
)
def test_an_input_of_the_stated_shape_runs(spec: str) -> None:
    model = open_model(spec).eval()
    picture = torch.rand(card(model).input_shape or ())
    known = card(model).preprocess
    assert known is not None
    with torch.no_grad():
        model(picture if known.batch else [picture[0]])


def test_a_builder_of_another_part_of_torchvision_opens_under_its_common_name() -> None:
    model = open_model(f"{V}:lraspp_mobilenet_v3_large?num_classes=3")
    assert type(model).__name__ == "LRASPP"


def test_a_misspelt_detector_names_the_right_one() -> None:
    with pytest.raises(hv.HookViewerError, match="ssdlite320_mobilenet_v3_large"):
        open_model("ssdlite320_mobilenetv3_large")


@pytest.mark.parametrize(
    ("name", "option"),
    [("fasterrcnn_mobilenet_v3_large_320_fpn", "box_score_thresh"), ("fcos_resnet50_fpn", "score_thresh")],
)
def test_a_detector_with_random_weights_says_how_to_make_it_find_something(name: str, option: str) -> None:
    size = "min_size=64&max_size=64&num_classes=40"
    found = []
    for spec in (f"{V}.detection:{name}?{size}", f"{V}.detection:{name}?{option}=0&{size}"):
        torch.manual_seed(0)
        model = open_model(spec).eval()
        assert any(f"add {option}=0" in note for note in card(model).notes) == (f"{option}=0" not in spec)
        with torch.no_grad():
            found.append(len(model([torch.rand(3, 64, 64)])[0]["scores"]))
    assert found[1] > found[0]
