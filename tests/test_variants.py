"""Variants of a model against the same thing done by hand in torch; the open model stays as it was."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.sources import WeightsMismatch
from hookviewer.variants import Change, checkpoints, made
from hookviewer.variants.checkpoints import step_of


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
        self.careful, self.last = nn.Linear(64, 64), nn.Linear(64, 5)
        self.last.weight = self.last.weight
        self.register_buffer("steps", torch.tensor(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.conv(x)).flatten(1)
        with torch.autocast("cpu", enabled=False):
            x = self.careful(x.float().to(self.careful.weight.dtype))
        return self.last(x)


@pytest.fixture
def net() -> nn.Module:
    torch.manual_seed(0)
    return Net()


GIVEN = torch.randn(3, 1, 6, 6, generator=torch.Generator().manual_seed(1))
EVERYTHING = [Kind.OUTPUT, Kind.GRAD_OUTPUT, Kind.PARAM_GRAD]


def state_of(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(model: nn.Module, state: dict[str, torch.Tensor]) -> bool:
    now = model.state_dict()
    return list(now) == list(state) and all(torch.equal(now[name], state[name]) for name in state)


def test_no_change_is_the_model_itself(net):
    found = made(net, Change())
    assert found.model is net
    assert dict(found.options) == {}
    assert Change().name == ""


def test_other_weights_are_a_copy_with_them(net, tmp_path):
    before, other = state_of(net), Net()
    torch.save(other.state_dict(), tmp_path / "step_20.pt")
    found = made(net, Change(weights=str(tmp_path / "step_20.pt")))
    assert same(found.model, state_of(other))
    assert same(net, before)
    assert found.change.name == "step_20.pt"
    assert hv.card(found.model).sha256
    plan = hv.HookPlan.of(net, "last")
    expected = copy.deepcopy(other).eval()(GIVEN)
    assert torch.equal(found.capture(GIVEN, plan).output, expected)


def test_weights_that_do_not_fit_change_nothing(net, tmp_path):
    before = state_of(net)
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "other.pt")
    with pytest.raises(WeightsMismatch):
        made(net, Change(weights=str(tmp_path / "other.pt")))
    assert same(net, before)


def test_another_dtype_is_a_converted_copy_with_converted_inputs(net):
    before = state_of(net)
    found = made(net, Change(dtype=torch.float64))
    plan = hv.HookPlan.of(net, "conv")
    record = found.capture(GIVEN, plan).record("conv", Kind.OUTPUT)
    assert torch.equal(record.tensor(), copy.deepcopy(net).double().conv(GIVEN.double()))
    assert found.model.steps.dtype == torch.int64
    assert same(net, before)
    assert net.conv.weight.dtype == torch.float32
    args, kwargs = found.inputs((GIVEN, torch.arange(3)), {"mask": [GIVEN > 0, GIVEN]})
    assert [one.dtype for one in (*args, *kwargs["mask"])] == [
        torch.float64,
        torch.int64,
        torch.bool,
        torch.float64,
    ]


def test_tied_parameters_stay_tied_in_a_converted_copy():
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    net[1].weight = net[0].weight
    found = made(net, Change(dtype=torch.bfloat16)).model
    assert found[1].weight is found[0].weight
    assert found[0].weight is not net[0].weight


def test_mixed_precision_has_the_types_and_gradients_of_torch(net):
    before = state_of(net)
    found = made(net, Change(autocast=torch.bfloat16))
    plan = hv.HookPlan.of(net, "*", kinds=EVERYTHING)
    seen = found.capture(GIVEN, plan, target=hv.total())
    dtypes = {key.path: record.dtype for key, record in seen.items() if key.kind is Kind.OUTPUT}
    assert dtypes["conv"] == dtypes["last"] == torch.bfloat16
    assert dtypes["careful"] == torch.float32
    plain = copy.deepcopy(net).eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = plain(GIVEN)
    output.sum().backward()
    assert torch.equal(seen.output, output)
    for name, value in plain.named_parameters():
        path, _, leaf = name.rpartition(".")
        assert torch.equal(seen[Key(path, Kind.PARAM_GRAD, 0, leaf)].tensor(), value.grad), name
    assert same(net, before)
    assert "forward" not in vars(net)
    assert torch.equal(
        hv.capture(net, GIVEN, plan, target=hv.total()).output, copy.deepcopy(net).eval()(GIVEN)
    )


def test_no_hook_stays_after_a_run_in_mixed_precision(net):
    found = made(net, Change(autocast=torch.bfloat16))
    found.capture(GIVEN, hv.HookPlan.of(net, "*"))
    for module in (*net.modules(), *found.model.modules()):
        assert not module._forward_hooks
        assert not module._forward_pre_hooks


def test_the_options_of_a_run_come_last(net):
    found = made(net, Change(mode="train", seed=5, device="cpu"))
    assert found.model is net
    assert dict(found.options) == {"mode": "train", "seed": 5, "device": "cpu"}
    seen = found.capture(GIVEN, hv.HookPlan.of(net, "norm"), mode="eval")
    assert seen.provenance["mode"] == "train"
    assert found.change.name == "cpu · train · seed 5"


def test_another_model_and_mixed_precision_of_a_checkpoint(net, tmp_path):
    found = made(net, Change(spec="demo:mlp", autocast=torch.bfloat16))
    assert hv.card(found.model).spec == "demo:mlp"
    torch.save(Net().state_dict(), tmp_path / "a.pt")
    both = made(net, Change(weights=str(tmp_path / "a.pt"), dtype=torch.bfloat16))
    assert both.model.conv.weight.dtype == torch.bfloat16
    assert both.change.name == "a.pt · bfloat16"
    assert hv.card(both.model).weights.file.endswith("a.pt")


def test_what_cannot_be_made_says_why(net):
    with pytest.raises(HookViewerError, match="bfloat16 or float16"):
        made(net, Change(autocast=torch.float64))
    with pytest.raises(HookViewerError, match="floating-point type"):
        made(net, Change(dtype=torch.int8))
    net.kept = net.conv.weight * 2
    with pytest.raises(HookViewerError, match="cannot be copied"):
        made(net, Change(dtype=torch.float64))
    complex_net = nn.Linear(2, 2, dtype=torch.complex64)
    with pytest.raises(HookViewerError, match="complex"):
        made(complex_net, Change(dtype=torch.bfloat16))


def test_what_cannot_be_copied_is_opened_again():
    model = hv.open_model("demo:mlp")
    first = next(model.parameters())
    model.kept = first * 2
    found = made(model, Change(dtype=torch.float64)).model
    assert torch.equal(next(found.parameters()), first.double())


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step_1000", 1000),
        ("epoch=3-step=1500", 1500),
        ("checkpoint-500", 500),
        ("ckpt-0007", 7),
        ("model_20", 20),
        ("12", 12),
        ("global_step40000", 40000),
        ("epoch-9", 9),
        ("resnet18", None),
        ("mobilenet_v2", None),
        ("best", None),
    ],
)
def test_steps_are_read_from_names(name, step):
    assert step_of(name) == step


def test_checkpoints_of_a_folder_are_in_the_order_of_their_steps(tmp_path):
    names = ["step_1000.pt", "step_200.pt", "step_30.safetensors", "best.pt", "final.pth"]
    for name in (*names, "optimizer.pt", "log.txt", ".hidden.pt", "model-00001-of-00002.safetensors"):
        Path(tmp_path / name).write_bytes(b"x")
    (tmp_path / "checkpoint-500").mkdir()
    (tmp_path / "checkpoint-500" / "model.safetensors").write_bytes(b"x")
    (tmp_path / "empty-700").mkdir()
    found = checkpoints(tmp_path)
    assert [(one.name, one.step) for one in found] == [
        ("step_30.safetensors", 30),
        ("step_200.pt", 200),
        ("checkpoint-500", 500),
        ("step_1000.pt", 1000),
        ("best.pt", None),
        ("final.pth", None),
    ]
    assert found[2].path.name == "model.safetensors"


def test_a_folder_without_checkpoints_says_so(tmp_path):
    with pytest.raises(HookViewerError, match="holds no file of weights"):
        checkpoints(tmp_path)
    with pytest.raises(HookViewerError, match="cannot be read as a folder"):
        checkpoints(tmp_path / "nowhere")
