from __future__ import annotations

import warnings

import pytest
import torch
from models import Chain, Cycle, Shared, Tied
from torch import nn
from torch.nn.utils import spectral_norm

from hookviewer import HookViewerError, module_tree
from hookviewer.modules import module_index, unwrapped


def by_path(model: nn.Module) -> dict:
    return {node.path: node for node in module_tree(model).walk()}


def test_the_tree_has_every_name_in_order_with_its_type() -> None:
    tree = module_tree(Shared())
    assert [node.path for node in tree.walk()] == ["", "relu", "again", "layers", "layers.0", "layers.1"]
    assert [child.type for child in tree.children] == ["ReLU", "ReLU", "ModuleList"]
    assert [node.name for node in tree.walk()][-1] == "1"


def test_a_shared_module_names_its_aliases() -> None:
    nodes = by_path(Shared())
    assert (nodes["relu"].alias_of, nodes["relu"].aliases) == (None, ("again",))
    assert (nodes["again"].alias_of, nodes["again"].aliases) == ("relu", ("relu",))


def test_a_module_that_contains_itself_is_marked_and_not_followed() -> None:
    nodes = by_path(Cycle())
    assert list(nodes) == ["", "layer", "me"]
    assert nodes["me"].recursive
    assert nodes["me"].alias_of == ""


def test_parameters_are_counted_once() -> None:
    nodes = by_path(Tied())
    assert nodes[""].parameters == 15
    assert nodes["head"].tied == (("weight", "embedding.weight"),)
    assert nodes["head"].own == (("weight", (5, 3)),)


def test_trainable_parameters_are_told_from_frozen_ones() -> None:
    net = Chain()
    net.first.requires_grad_(False)
    assert (by_path(net)[""].parameters, by_path(net)[""].trainable) == (5, 3)


def test_the_users_hooks_are_counted_and_torchs_own_are_not() -> None:
    net = Chain()
    spectral_norm(net.first)
    net.relu.register_forward_hook(lambda module, args, output: None)
    net.relu.register_full_backward_hook(lambda module, gi, go: None)
    nodes = by_path(net)
    assert (nodes["first"].user_hooks, nodes["relu"].user_hooks) == (0, 2)


def test_a_lazy_module_is_shown_before_its_first_run() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = module_tree(nn.LazyLinear(3))
    assert node.uninitialised
    assert node.own == (("weight", None), ("bias", None))


def test_nested_sharing_does_not_explode() -> None:
    net: nn.Module = nn.Linear(1, 1)
    for _ in range(40):
        net = nn.ModuleList([net, net])
    assert len(module_index(net).modules) == 41


def test_a_broken_extra_repr_is_told() -> None:
    class Broken(nn.Module):
        def extra_repr(self) -> str:
            raise RuntimeError("no")

    assert "RuntimeError" in module_tree(Broken()).details


def test_wrappers_are_taken_off_with_a_note() -> None:
    net = Chain()
    inner, notes = unwrapped(nn.DataParallel(torch.compile(net)))
    assert inner is net
    assert len(notes) == 2


@pytest.mark.parametrize("model", [3, "resnet18"])
def test_what_is_no_module_is_refused_with_a_sentence(model: object) -> None:
    with pytest.raises(HookViewerError, match="build the model"):
        module_tree(model)  # type: ignore[arg-type]
