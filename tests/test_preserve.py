from __future__ import annotations

import copy
import random

import numpy as np
import pytest
import torch
from models import Norm
from torch import nn
from torch.nn.utils import weight_norm

from hookviewer import HookViewerError
from hookviewer.preserve import chosen_device, device_of, on_device, preserved

OTHERS = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def keep(model: nn.Module, mode: str = "train", seed: int | None = 0):
    return preserved(list(model.modules()), mode=mode, seed=seed)


def test_buffers_and_flags_come_back_one_by_one() -> None:
    net = Norm().train()
    net.norm.eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with keep(net):
        assert net.norm.training
        net(torch.randn(4, 1, 8, 8))
        assert not torch.equal(net.norm.running_mean, before["norm.running_mean"])
    assert (net.training, net.norm.training, net.drop.training) == (True, False, True)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_a_graph_that_the_user_still_holds_stays_usable() -> None:
    net = Norm().eval()
    loss = net(torch.randn(4, 1, 8, 8)).sum()
    with keep(net), torch.no_grad():
        net(torch.randn(4, 1, 8, 8))
    loss.backward()
    assert net.conv.weight.grad is not None


def test_a_buffer_that_was_replaced_or_resized_comes_back() -> None:
    net = nn.BatchNorm1d(2)
    own = net.running_mean
    with keep(net):
        net.running_mean = torch.ones(5)
        net.running_var.resize_(7)
        net.num_batches_tracked.data = torch.tensor(2.5)
    assert net.running_mean is own
    assert net.running_var.tolist() == [1.0, 1.0]
    assert net.num_batches_tracked.dtype == torch.int64
    assert net.num_batches_tracked.item() == 0


class Zeroed(nn.Module):
    """Writes `value` into the memory of its buffer."""

    def __init__(self, buffer: torch.Tensor, memory: torch.Tensor, value: float) -> None:
        super().__init__()
        self.register_buffer("kept", buffer)
        self.memory, self.value = memory, value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.memory.fill_(self.value)
        return x


def bits(tensor: torch.Tensor) -> bytes:
    plain = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return torch.empty(plain.shape, dtype=plain.dtype).copy_(plain).view(torch.uint8).numpy().tobytes()


DTYPES = (
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.complex64,
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_minus_zero_that_a_model_writes_over_a_zero_is_taken_back(dtype: torch.dtype) -> None:
    buffer = torch.zeros(2, 3, dtype=torch.float32).to(dtype)
    net, before = Zeroed(buffer, buffer, -0.0), bits(buffer)
    with keep(net):
        net(torch.ones(1))
        assert bits(net.kept) != before
    assert bits(net.kept) == before


@pytest.mark.parametrize("size", [(4, 4), (1 << 20, 1 << 20)], ids=["small", "a terabyte written out"])
def test_an_expanded_buffer_comes_back_and_is_never_written_out(size: tuple[int, int]) -> None:
    memory = torch.zeros(1, 1)
    net = Zeroed(memory.expand(size), memory, -0.0)
    with keep(net):
        net(torch.ones(1))
        assert bits(net.kept[:1, :1]) == bits(torch.full((1, 1), -0.0))
    assert bits(net.kept[:1, :1]) == bits(torch.zeros(1, 1))
    assert net.kept.shape == size
    assert net.kept.stride() == (0, 0)


def test_an_expanded_buffer_of_nan_is_left_as_it_is() -> None:
    memory = torch.full((1, 1), float("nan"))
    net = Zeroed(memory.expand(4, 4), torch.zeros(1), 0.0)
    with keep(net):
        net(torch.ones(1))
    assert net.kept.isnan().all()


def test_a_buffer_with_holes_in_its_memory_comes_back() -> None:
    memory = torch.zeros(4, 6)
    net = Zeroed(memory[:, ::2].t(), memory, -0.0)
    with keep(net):
        net(torch.ones(1))
    assert bits(net.kept) == bits(torch.zeros(3, 4))
    assert net.kept.data_ptr() == memory.data_ptr()


def test_gradients_and_requires_grad_come_back() -> None:
    net = nn.Linear(1, 1)
    net.weight.grad = torch.ones(1, 1)
    own = net.weight.grad
    with keep(net):
        assert net.weight.grad is None
        net(torch.ones(1, 1)).sum().backward()
        net.bias.requires_grad_(False)
    assert net.weight.grad is own
    assert own.tolist() == [[1.0]]
    assert net.bias.grad is None
    assert net.bias.requires_grad


def test_the_random_state_comes_back_and_the_seed_counts() -> None:
    net = nn.Dropout(0.5)
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    drawn = []
    for _ in range(2):
        with keep(net, seed=3):
            drawn.append((torch.rand(1).item(), random.random(), float(np.random.rand())))
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert np.random.get_state()[1].tolist() == before[2]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_weight_that_torch_computes_is_the_old_object_again() -> None:
    net = weight_norm(nn.Linear(2, 2))
    own = net.weight
    with keep(net):
        net(torch.ones(1, 2))
        assert net.weight is not own
    assert net.weight is own


def test_everything_comes_back_after_an_error() -> None:
    net = Norm().eval()
    fast = torch.backends.mha.get_fastpath_enabled()
    seen = []

    def interrupted() -> None:
        with keep(net):
            seen.append(torch.backends.mha.get_fastpath_enabled())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert seen == [False]
    assert not net.training
    assert torch.backends.mha.get_fastpath_enabled() == fast


def test_as_is_leaves_the_flags_alone() -> None:
    net = Norm().eval()
    net.drop.train()
    with keep(net, mode="as is"):
        assert (net.training, net.drop.training) == (False, True)


def test_an_unknown_mode_or_device_ends_in_a_sentence() -> None:
    with pytest.raises(HookViewerError, match="eval"), keep(nn.ReLU(), mode="test"):
        pass
    with pytest.raises(HookViewerError, match="choose cpu"):
        chosen_device("quantum")


def test_a_model_that_cannot_be_moved_says_so_and_stays_where_it_is() -> None:
    net = Norm()
    net.twin = net.conv
    places = {name: (value.data_ptr(), id(value)) for name, value in net.state_dict(keep_vars=True).items()}
    with (
        pytest.raises(HookViewerError, match="choose another device"),
        on_device(list(net.modules()), torch.device("meta")),
    ):
        pass
    after = {name: (value.data_ptr(), id(value)) for name, value in net.state_dict(keep_vars=True).items()}
    assert after == places
    assert device_of(list(net.modules())).type == "cpu"
    assert device_of([nn.ReLU()]).type == "cpu"


@pytest.mark.parametrize("other", [name for name, there in OTHERS.items() if there])
def test_a_model_moves_and_comes_back_to_its_own_memory(other: str) -> None:
    net = Norm()
    net.twin = net.conv
    places = {name: (value.data_ptr(), id(value)) for name, value in net.state_dict(keep_vars=True).items()}
    with on_device(list(net.modules()), chosen_device(other)):
        assert device_of(list(net.modules())) == chosen_device(other)
        assert net.twin.weight is net.conv.weight
    after = {name: (value.data_ptr(), id(value)) for name, value in net.state_dict(keep_vars=True).items()}
    assert after == places


class Remembering(nn.Module):
    """Keeps tensors of its last call in plain attributes, as networks with a cache or a memory do."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.levels, self.last, self.steps = [torch.tensor(0)], None, torch.zeros(1)
        self.names = ["a"]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        self.levels, self.last, self.fresh = [y, y * 2], {"y": y}, y
        self.steps += 1
        self.names.append("b")
        return y


def test_tensors_that_a_model_keeps_of_a_run_are_not_kept_after_it() -> None:
    net = Remembering()
    levels, steps = net.levels, net.steps
    with keep(net):
        net(torch.ones(1, 2))
        assert len(net.levels) == 2
    assert net.levels is levels
    assert net.last is None
    assert not hasattr(net, "fresh")
    assert net.steps is steps
    assert net.steps.tolist() == [0.0]
    assert net.names == ["a", "b"]  # what is no tensor is the model's own business
    copy.deepcopy(net)
