"""What people give to `capture`: an opened input, and a plan that is none."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import hookviewer as hv


class Weighted(nn.Module):
    """Takes a tensor, and a factor by name."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 3)

    def forward(self, x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
        made: torch.Tensor = self.linear(x) * factor
        return made


def test_an_input_is_taken_with_its_keywords_and_more_of_them() -> None:
    model = Weighted()
    x = torch.tensor([[1.0, -2.0]])
    given = hv.Input("mine", (x,), {"factor": 3.0})
    plan = hv.HookPlan.of(model, "linear")
    alone = hv.capture(model, given, plan)
    assert torch.equal(alone.output, model(x, factor=3.0).detach())
    both = hv.capture(model, given, plan, kwargs={"factor": 5.0})
    assert torch.equal(both.output, model(x, factor=5.0).detach())


@pytest.mark.parametrize("plan", ["linear", ["linear"], None])
def test_a_plan_that_is_none_is_named(plan: object) -> None:
    with pytest.raises(hv.HookViewerError, match=f"not a {type(plan).__name__}: write HookPlan.of"):
        hv.capture(Weighted(), torch.ones(1, 2), plan)
