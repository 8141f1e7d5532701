"""Reading a model again: what stays, what a mistake in its code does, and who notices that a file changed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from gui_nets import picture, settled
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.state import Shown, TargetChoice

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.act = nn.ReLU()
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        return self.head(self.act(self.first(x)).mean((2, 3)) * {factor})
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    file = tmp_path / "net.py"
    file.write_text(NET.format(factor=1))
    return file


@pytest.fixture
def window(qtbot: QtBot, net: Path) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    made.opening.open(f"{net}:Net", inputs=[picture(0), picture(1)])
    qtbot.waitUntil(lambda: made.session.model is not None, timeout=20_000)
    settled(qtbot, made.session)
    yield made
    made.close()


def bars(window: MainWindow, tone: str) -> list[str]:
    return [
        f"{bar.message.what} {bar.message.now}" for bar in window.messages.bars if bar.message.tone == tone
    ]


def test_reload_reads_the_code_again_and_keeps_everything_else(
    qtbot: QtBot, window: MainWindow, net: Path
) -> None:
    session = window.session
    session.tick(session.plan.paths, False)
    session.tick(["act", "head"], True)
    session.select(path="head", shown=Shown.GRADIENT, channel=2)
    session.set_settings(target=TargetChoice("class", 3))
    session.set_look(sort="mean", colormap="viridis")
    session.tick_input(2, False)
    settled(qtbot, session)
    before, numbers = session.model, [item.number for item in session.inputs]
    kept = (session.plan, session.selection, session.settings, session.look)
    net.write_text(NET.format(factor=0))
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        window.commands.actions["reload"].trigger()
    settled(qtbot, session)
    assert session.model is not before
    assert (session.plan, session.selection, session.settings, session.look) == kept
    assert [item.number for item in session.inputs] == numbers
    assert [item.ticked for item in session.inputs] == [True, False]
    bias = session.model.head.bias.detach().numpy()
    assert session.runs[1].recording.output.numpy() == pytest.approx(bias[None])


def test_a_module_that_is_gone_after_reload_is_no_longer_ticked(
    qtbot: QtBot, window: MainWindow, net: Path
) -> None:
    session = window.session
    session.tick(["act", "head"], True)
    session.select(path="act")
    net.write_text(NET.format(factor=1).replace("self.act", "self.relu"))
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        window.opening.reload()
    settled(qtbot, session)
    assert "act" not in session.plan.paths
    assert "head" in session.plan.paths
    assert session.selection.path == ""


def test_a_syntax_error_leaves_the_model_and_says_where_it_is(
    qtbot: QtBot, window: MainWindow, net: Path
) -> None:
    session = window.session
    before, runs = session.model, dict(session.runs)
    net.write_text(NET.format(factor=1).replace("def forward(self, x):", "def forward(self, x:"))
    line = NET.splitlines().index("    def forward(self, x):") + 1
    window.opening.reload()
    qtbot.waitUntil(lambda: bool(bars(window, "error")), timeout=20_000)
    said = bars(window, "error")[0]
    assert "the model before stays" in said
    assert "net.py" in said
    assert str(line) in said
    assert session.model is before
    assert dict(session.runs) == runs
    net.write_text(f"{NET.format(factor=1)}\n1 / 0\n")
    window.opening.reload()
    qtbot.waitUntil(lambda: "ZeroDivisionError" in " ".join(bars(window, "error")), timeout=20_000)
    assert len(bars(window, "error")) == 1  # the mistake that was mended is no longer told of
    net.write_text(NET.format(factor=2))
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        window.opening.reload()
    settled(qtbot, session)
    assert session.model is not before
    assert not bars(window, "error")


def test_a_change_on_disk_is_told_and_reload_is_offered(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    session = window.session
    before = session.model
    other = net.with_suffix(".new")
    other.write_text(NET.format(factor=3))
    other.replace(net)  # as many editors save
    qtbot.waitUntil(lambda: bool(bars(window, "info")), timeout=20_000)
    bar = window.messages.bars[0]
    assert bar.message.what == "net.py changed on disk."
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        bar.buttons[0].click()
    settled(qtbot, session)
    assert session.model is not before
    assert not bars(window, "info")
    net.write_text(NET.format(factor=44))  # it is still watched, though it is another file by now
    qtbot.waitUntil(lambda: bool(bars(window, "info")), timeout=20_000)


def test_weights_are_read_again_too(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    session = window.session
    state = {name: torch.full_like(one, 0.5) for name, one in session.model.state_dict().items()}
    save_file(state, tmp_path / "net.safetensors")
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        window.opening.load_weights(tmp_path / "net.safetensors")
    settled(qtbot, session)
    assert float(session.model.head.bias.detach().mean()) == 0.5
    save_file({name: one * 3 for name, one in state.items()}, tmp_path / "net.safetensors")
    qtbot.waitUntil(
        lambda: "net.safetensors changed on disk." in " ".join(bars(window, "info")), timeout=20_000
    )
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        window.opening.reload()
    settled(qtbot, session)
    assert float(session.model.head.bias.detach().mean()) == 1.5


def test_a_live_model_is_looked_at_anew(qtbot: QtBot) -> None:
    made = MainWindow()
    qtbot.addWidget(made)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 1))
    made.opening.expect([picture()])
    made.session.set_model(net)
    settled(qtbot, made.session)
    net.append(torch.nn.ReLU())
    made.opening.reload()
    settled(qtbot, made.session)
    assert [node.path for node in made.session.tree.walk()] == ["", "0", "1"]
    made.close()


def test_nothing_is_logged_as_an_error(
    qtbot: QtBot, window: MainWindow, caplog: pytest.LogCaptureFixture
) -> None:
    window.opening.reload()
    settled(qtbot, window.session)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
