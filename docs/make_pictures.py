"""Make the pictures of the documentation: the real window, real runs, real photographs.

python docs/make_pictures.py [NAME …] [--out docs/pictures]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import torch
import torchvision
from PIL import Image
from PySide6.QtCore import QCoreApplication, QSettings
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QLineEdit

import hookviewer as hv
from hookviewer.gui.cam_choice import CamChoice
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.export_dialog import ExportDialog
from hookviewer.gui.state import Shown, TargetChoice
from hookviewer.gui.target_menu import see
from hookviewer.gui.theme import set_theme
from hookviewer.gui.varying import Vary
from hookviewer.resources import resource
from hookviewer.tutorials import LESSONS

OWN_NET = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return x + self.act(self.conv(x))


class Net(nn.Module):
    def __init__(self, features=32, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 7, stride=2, padding=3)
        self.blocks = nn.Sequential(Block(32), Block(32), Block(32))
        self.spare = nn.Linear(3, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(features, classes)

    def forward(self, x):
        return self.head(self.pool(self.blocks(self.stem(x))).flatten(1))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCENES)}")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pictures")
    options = parser.parse_args()
    torch.set_num_threads(1)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, tempfile.mkdtemp())
    for name in options.names or SCENES:
        window = SCENES[name]()
        settle(window)
        shown = window.findChild(ExportDialog) or window
        options.out.mkdir(parents=True, exist_ok=True)
        picture = shown.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
        place = options.out / f"{name}.png"
        picture.save(str(place))
        with Image.open(place) as full:  # 256 colours: a third of the size, and no eye sees it
            full.quantize(256).save(place, optimize=True)
        if shown is not window:
            shown.close()
        window.keeps_layout = False
        window.close()
        print(name)


def settle(window) -> None:
    """Wait until nothing is opening, running or waiting to be painted."""
    quiet = 0
    while quiet < 12:
        QCoreApplication.processEvents()
        time.sleep(0.03)
        busy = window.session.runner.busy or window.session.running
        quiet = 0 if busy else quiet + 1


def opened(model, inputs: list, theme: str = "dark", size: tuple[int, int] = (1920, 1200)):
    """Return a window that has opened a model and run it on its inputs."""
    live = hv.open_model(model) if isinstance(model, str) else model
    window = hv.view(live, inputs, block=False)
    set_theme(theme)
    window.resize(*size)
    window.docks.lay_out(*size)
    settle(window)
    return window


def demo(theme: str = "dark", inputs: tuple[str, ...] = ("chelsea",), size=(1920, 1200), **select):
    window = opened("demo:mobilenet_v2", [f"demo:{name}" for name in inputs], theme, size)
    window.session.select(**select)
    settle(window)
    return window


def difference():
    window = demo(inputs=("chelsea", "coffee"), path="features.2", channel=5, cell=(30, 40))
    window.session.set_look(difference=True, sort="difference")
    return window


def edited():
    window = demo("light", size=(1440, 900), path="features.7")
    session = window.session
    channels = tuple(range(12))
    session.editing.add(EditChoice("features.2", channels=channels, index=list(channels)))
    session.set_look(difference=True)
    return window


def why():
    window = demo("light", size=(1440, 900), path="features.18", shown=Shown.GRAD_CAM)
    window.session.tick(window.session.plan.paths - {"features.18"}, False)
    methods = ("grad_cam", "layer_cam", "saliency", "gradient_input")
    window.session.set_look(cam=CamChoice(methods, (TargetChoice("class", 281),)))
    return window


def compared():
    """The same network and photograph in float32 and in bfloat16."""
    window = demo(path="features.14", channel=3)
    varying = window.session.varying
    way = next(one for one in varying.ways(Vary.DTYPE) if "bfloat16" in one.name)
    varying.choose(Vary.DTYPE, way, True)
    settle(window)
    window.session.diverging.look()
    settle(window)
    window.session.select(path="features.14", channel=3)
    window.session.set_look(difference=True)
    return window


def attention():
    """What one patch of a photograph attends to, in a small network with random weights."""
    torch.manual_seed(0)
    sizes = {"image_size": 224, "patch_size": 16, "num_layers": 3, "num_heads": 6, "hidden_dim": 96}
    net = torchvision.models.VisionTransformer(**sizes, mlp_dim=192, num_classes=10)
    window = opened(net, [str(resource("demo/images/astronaut.jpg"))])
    window.session.select(path="encoder.layers.encoder_layer_1.self_attention", shown=Shown.ATTENTION)
    settle(window)
    return window


def functional():
    """A ResNet with its additions, in the order of execution."""
    window = opened("torchvision.models:resnet18", ["demo:coffee"], "light", (1440, 900))
    window.session.calls.set_on(True)
    settle(window)
    window.docks.modules.by_order.setChecked(True)
    window.session.select(path="layer1.0:add_#0", channel=8)
    settle(window)
    return window


def own_net(broken: bool):
    folder = Path(tempfile.mkdtemp())
    (folder / "net.py").write_text(OWN_NET)
    torch.manual_seed(1)
    arguments = "?features=64" if broken else ""
    photograph = str(resource("demo/images/astronaut.jpg"))
    return opened(f"{folder / 'net.py'}:Net{arguments}", [photograph], "light", (1280, 800))


def export():
    window = demo("light", ("chelsea", "coffee"), path="features.2", channel=5)
    window.findChild(QAction, "export").trigger()
    settle(window)
    for field in window.findChild(ExportDialog).findChildren(QLineEdit):
        if field.text().endswith("hookviewer"):
            field.setText("~/Pictures/hookviewer")
    return window


def tutorial():
    """A lesson that was tried."""
    window = opened("demo:fc_relu_fc", [], "dark")
    page = window.commands.show_tutorial()
    page.show_lesson(next(lesson for lesson in LESSONS if lesson.name == "forward_change"))
    for _ in ("open", "try"):
        page.lesson.go.click()
        settle(window)
    return window


def receptive_field():
    """The gradient of one cell over the cat."""
    window = demo(path="features.7", cell=(8, 13))
    session = window.session
    values = session.runs[1].recording.record("features.7", hv.Kind.OUTPUT).array()[0]
    channel = int(values[:, 8, 13].argmax())
    see(session, TargetChoice("unit", path="features.7", place=(0, channel, 8, 13)))
    settle(window)
    return window


SCENES: dict[str, Callable] = {
    "demo-dark": lambda: demo(cell=(66, 92)),
    "demo-light": lambda: demo("light", cell=(66, 92)),
    "two-inputs": difference,
    "edited": edited,
    "gradient": lambda: demo(shown=Shown.GRADIENT, channel=64, cell=(128, 139)),
    "grad-cam": lambda: demo(inputs=("chelsea", "coffee"), shown=Shown.GRAD_CAM, path="features.18"),
    "why": why,
    "compared": compared,
    "attention": attention,
    "small": lambda: demo(size=(1280, 800), cell=(66, 92)),
    "vector": lambda: demo("light", ("chelsea", "coffee"), (1440, 900), path="classifier.1"),
    "overwritten": lambda: demo("light", size=(1440, 900), path="features.0.1", channel=8),
    "failed-forward": lambda: own_net(broken=True),
    "own-net": lambda: own_net(broken=False),
    "export": export,
    "digits": lambda: opened("demo:digits", ["demo:digit"], "light", (1440, 900)),
    "tutorial": tutorial,
    "receptive-field": receptive_field,
    "faces": lambda: opened("demo:pnet", ["demo:astronaut"], "dark", (1440, 900)),
    "functional": functional,  # the last one: the window remembers that calls are listed
}


if __name__ == "__main__":
    main()
