"""Several targets from one run, beside a run for each."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import nn

from hookviewer import methods
from hookviewer.hooks import capture
from hookviewer.kinds import Key, Kind
from hookviewer.methods import LayerMethod
from hookviewer.plan import HookPlan
from hookviewer.targets import Target, class_score, loss, top_class, unit

T = torch.Tensor
CAMS = [one for one in methods.methods() if isinstance(one, LayerMethod)]
TARGETS: list[Target] = [class_score(2), top_class(), loss("cross_entropy", 1)]


class Counting(nn.Module):
    """Counts its forward passes; the samples of its tokens stand in the second place."""

    def __init__(self, tokens_first: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.forwards, self.tokens_first = 0, tokens_first
        self.maps, self.norm = nn.Conv2d(3, 16, 2, stride=2), nn.BatchNorm2d(16)
        self.mix, self.head = nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x: T) -> T:
        self.forwards += 1
        tokens = self.norm(self.maps(x)).relu().flatten(2)
        tokens = tokens.permute(2, 0, 1) if self.tokens_first else tokens.transpose(1, 2)
        return self.head((self.mix(tokens) ** 2).mean(0 if self.tokens_first else 1))


def together(model: nn.Module, x: T, paths: Sequence[str], targets: Sequence[Target], **options: object):
    asked = methods.question(model, x, paths, target=None, **options)
    alone = capture(model, x, HookPlan())
    return methods.answers_together(CAMS, asked, targets, alone)


@pytest.mark.parametrize("tokens_first", [True, False])
@pytest.mark.parametrize("samples", [1, 2])
def test_each_target_has_the_maps_of_a_run_of_its_own_from_one_forward_pass(samples, tokens_first):
    model = Counting(tokens_first).double().eval()
    x = torch.randn(samples, 3, 8, 8, dtype=torch.float64)
    found = together(model, x, ["maps", "mix", "head"], TARGETS)
    assert found is not None
    answers = list(found)
    assert model.forwards == 2  # the run of the input alone, and the one for all three targets
    for place, target in enumerate(TARGETS):
        own = methods.attribute(model, x, CAMS, ["maps", "mix", "head"], target=target)
        here = {key: one for at, (key, one) in answers if at == place}
        assert set(here) == {*own, *own.absent}
        for key, record in own.items():
            torch.testing.assert_close(here[key].tensor(), record.tensor(), atol=1e-9, rtol=1e-7)
            assert here[key].notes == record.notes
        assert {key: here[key] for key in own.absent} == dict(own.absent)


class Mixing(nn.Module):
    """One vector for the whole batch: its samples cannot be told apart."""

    def __init__(self) -> None:
        super().__init__()
        self.maps, self.head = nn.Conv2d(3, 4, 2), nn.Linear(4, 4)

    def forward(self, x: T) -> T:
        return self.head(self.maps(x).mean((0, 2, 3))).expand(len(x), -1)


def test_targets_that_need_runs_of_their_own_are_not_answered_together():
    model, x = Counting().eval(), torch.randn(1, 3, 8, 8)
    assert together(model, x, ["maps"], [class_score(0), unit("mix", (3, 0, 1))]) is None
    assert together(model, x, ["maps"], TARGETS, mode="train") is None
    assert together(Mixing(), x, ["head"], TARGETS) is None
    assert model.forwards == 2


def test_one_picture_without_a_batch_is_not_taken_for_samples():
    class Lone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.maps, self.head = nn.Conv2d(3, 4, 3), nn.Linear(4, 4)

        def forward(self, x: T) -> T:
            return self.head(self.maps(x[None]).mean((2, 3)))[0]

    assert together(Lone(), torch.randn(3, 8, 8), ["maps"], TARGETS) is None


def test_the_key_of_a_map_is_that_of_its_layer():
    found = together(Counting().eval(), torch.randn(1, 3, 8, 8), ["maps"], [class_score(0), class_score(1)])
    keys = [(place, key) for place, (key, _) in found if key.leaf == "grad_cam"]
    assert keys == [
        (0, Key("maps", Kind.ATTRIBUTION, 0, "grad_cam")),
        (1, Key("maps", Kind.ATTRIBUTION, 0, "grad_cam")),
    ]
