"""Maps of importance of tokens and of channels in the last place, as they are painted, beside plain hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.cam_choice import CamChoice
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import set_theme
from hookviewer.gui.views.cam_strip import CamStrip
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.inputs import Input
from hookviewer.resources import resource
from hookviewer.target_choice import TargetChoice

T = torch.Tensor
Shows = Callable[[nn.Module, str, T], tuple[Session, WallPanel]]


class Tokens(nn.Module):
    """A picture cut into patches of 2 × 2 pixels behind a class token and registers."""

    def __init__(self, leading: int, *, samples_second: bool = False) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.leading, self.samples_second = leading, samples_second
        self.cut, self.mix = nn.Conv2d(3, 16, 2, stride=2), nn.Linear(16, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x: T) -> T:
        tokens = self.cut(x).flatten(2).transpose(1, 2)
        apart = 7 * tokens.mean(1, keepdim=True).expand(-1, self.leading, -1)  # they would outshine the rest
        tokens = torch.cat([apart, tokens], 1)
        along = 0 if self.samples_second else 1
        mixed = self.mix((tokens.transpose(0, 1) if self.samples_second else tokens).sigmoid())
        return self.head((mixed**3).sum(along))


class Last(nn.Module):
    """Channels in the last place, as a permuted ConvNeXt or a Swin has them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.maps, self.mix = nn.Conv2d(3, 16, 1), nn.LayerNorm(16)
        self.head = nn.Linear(16, 3)

    def forward(self, x: T) -> T:
        return self.head((self.mix(self.maps(x).permute(0, 2, 3, 1)) ** 3).sum((1, 2)))


@pytest.fixture
def shows(qtbot: QtBot) -> Iterator[Shows]:
    """Show Grad-CAM of one layer for class 1 without a picture: cells are painted as they are."""
    sessions: list[Session] = []

    def shown(model: nn.Module, path: str, x: T) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.auto = False
        session.set_model(model.eval())
        session.add_inputs([Input("given", (x,))])
        session.tick((path,), True)
        session.set_settings(target=TargetChoice("class", 1))
        session.select(path=path, shown=Shown.GRAD_CAM)
        session.set_look(cam=CamChoice())
        with qtbot.waitSignal(session.run_finished, timeout=30_000):
            session.run()
        panel = WallPanel(session)
        qtbot.addWidget(panel)
        panel.resize(700, 600)
        panel.show()
        qtbot.waitExposed(panel)
        QApplication.processEvents()
        return session, panel

    yield shown
    for session in sessions:
        session.close()


def picture(rows: int, columns: int) -> T:
    return torch.randn(1, 3, rows, columns, generator=torch.Generator().manual_seed(1))


def hooked(model: nn.Module, path: str, x: T) -> tuple[T, T]:
    """Return what a layer returned and the gradient of class 1 at it."""
    kept: list[T] = []
    handle = model.get_submodule(path).register_forward_hook(lambda *seen: kept.append(seen[2]))
    score = model(x)[0, 1]
    handle.remove()
    (gradient,) = torch.autograd.grad(score, kept[0])
    return kept[0].detach(), gradient


def is_painted(panel: WallPanel, path: str, values: np.ndarray) -> None:
    """Check every pixel of a tile against the colour of its cell."""
    canvas = panel.findChild(Canvas, "wall_0")
    assert isinstance(canvas.view, CamStrip)
    rect = canvas.view.rect_of(path).toRect()
    assert rect.height() / rect.width() == pytest.approx(values.shape[0] / values.shape[1], abs=0.02)
    image = canvas.image()
    part = image[rect.top() : rect.top() + rect.height(), rect.left() : rect.left() + rect.width(), :3]
    rows, columns = ((np.arange(length) + 0.5) / length for length in part.shape[:2])
    cells = values[np.ix_((rows * values.shape[0]).astype(int), (columns * values.shape[1]).astype(int))]
    with np.load(resource("colormaps.npz")) as tables:
        table = tables["magma"]
    place = np.clip(np.floor(cells.astype(float) / values.max() * 255 + 0.5), 0, 255).astype(int)
    assert values.max() > 0
    assert np.quantile(np.abs(part - table[place].astype(float)), 0.995) <= 6


@pytest.mark.parametrize("leading", [0, 1, 5])
@pytest.mark.parametrize("samples_second", [False, True])
def test_tokens_are_painted_in_their_grid_without_those_that_have_no_place(
    shows: Shows, leading: int, samples_second: bool
) -> None:
    model, x = Tokens(leading, samples_second=samples_second), picture(8, 12)
    _, panel = shows(model, "mix", x)
    output, gradient = hooked(model, "mix", x)
    if samples_second:
        output, gradient = output.transpose(0, 1), gradient.transpose(0, 1)
    weights = gradient[0, leading:].mean(0)
    expected = (output[0, leading:] @ weights).relu().reshape(4, 6)
    is_painted(panel, "mix", expected.numpy())


def test_channels_in_the_last_place_are_painted_as_maps(shows: Shows) -> None:
    model, x = Last(), picture(7, 7)
    _, panel = shows(model, "mix", x)
    output, gradient = hooked(model, "mix", x)
    is_painted(panel, "mix", (output[0] @ gradient[0].mean((0, 1))).relu().numpy())


def test_a_vision_transformer_and_a_swin_of_torchvision_are_painted_as_hooks_say(shows: Shows) -> None:
    models = pytest.importorskip("torchvision.models")
    torch.manual_seed(0)
    vit = models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=5).eval()
    with torch.no_grad():
        vit.heads.head.weight.normal_(std=1.0)  # torchvision begins with zeros
    x, path = picture(32, 32), "encoder.layers.encoder_layer_0"
    _, panel = shows(vit, path, x)
    output, gradient = hooked(vit, path, x)
    weights = gradient[0, 1:].mean(0)
    is_painted(panel, path, (output[0, 1:] @ weights).relu().reshape(4, 4).numpy())
    swin = models.SwinTransformer([4, 4], 32, [1, 1], [2, 4], [2, 2], num_classes=5).eval()
    _, panel = shows(swin, "features.1", x)
    output, gradient = hooked(swin, "features.1", x)
    is_painted(panel, "features.1", (output[0] @ gradient[0].mean((0, 1))).relu().numpy())
