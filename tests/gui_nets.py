"""A tiny network with one of every habit that the window has a word for, and its inputs."""

from __future__ import annotations

import torch
from torch import nn

from hookviewer.gui.session import Session
from hookviewer.inputs import Input


class Tiny(nn.Module):
    """Two convolutions, one block used twice under two names, one that is never called."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.stem = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(inplace=True))
        self.body = nn.Sequential(nn.Conv2d(6, 6, 3, padding=1), nn.ReLU())
        self.again = self.body
        self.aux = nn.Linear(6, 2)
        self.head = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.again(self.body(self.stem(x)))
        return self.head(x.mean((2, 3)))


def picture(seed: int = 0, channels: int = 3) -> Input:
    """Return an input of 8 × 8 pixels."""
    values = torch.randn(1, channels, 8, 8, generator=torch.Generator().manual_seed(seed))
    return Input(f"picture{seed}", (values,))


def settled(qtbot, session: Session) -> None:
    """Wait until the model thread has nothing to do."""
    qtbot.waitUntil(lambda: not session.runner.busy and not session.running, timeout=30_000)
