"""What a person decides when a model is opened: trust, weights that do not fit, which of several models."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from gui_nets import picture, settled
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file
from torch import nn

from hookviewer.gui import dropping
from hookviewer.gui.candidate_dialog import CandidateDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.trust_dialog import TrustDialog
from hookviewer.gui.weights_page import WeightsPage
from hookviewer.sources import trust

NET = """
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Conv2d(3, width, 1)

    def forward(self, x):
        return self.inner(x)

class Net(nn.Module):
    def __init__(self, classes=4, *, width):
        super().__init__()
        self.block = Block(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.block(x).mean((2, 3)))

def build(depth=2):
    return nn.Sequential(*[nn.Conv2d(3, 3, 1) for _ in range(depth)])
"""


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close()


def found(qtbot: QtBot, window: MainWindow, kind: type) -> object:
    qtbot.waitUntil(lambda: window.findChild(kind) is not None, timeout=20_000)
    return window.findChild(kind)


@pytest.fixture
def pickled(tmp_path: Path) -> Path:
    file = tmp_path / "whole.pt"
    torch.save(nn.Sequential(nn.Conv2d(3, 2, 1), nn.ReLU()), file)
    return file


def test_a_pickled_model_is_asked_about_with_its_name_hash_and_contents(
    qtbot: QtBot, window: MainWindow, pickled: Path
) -> None:
    window.opening.open(str(pickled), inputs=[picture()])
    dialog = found(qtbot, window, TrustDialog)
    words = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "whole.pt" in words
    assert hashlib.sha256(pickled.read_bytes()).hexdigest() in words
    assert "torch.nn.modules.container.Sequential" in words
    assert window.session.model is None
    assert dialog.no.isDefault()


def test_no_leaves_everything_as_it_was(qtbot: QtBot, window: MainWindow, pickled: Path) -> None:
    window.session.set_model(nn.Sequential(nn.ReLU()))
    before = window.session.model
    window.opening.open(str(pickled))
    dialog = found(qtbot, window, TrustDialog)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    settled(qtbot, window.session)
    assert window.session.model is before
    assert trust.trusted() == frozenset()
    assert any("was not loaded" in bar.message.what for bar in window.messages.bars)


def test_yes_is_remembered_for_this_content_only(qtbot: QtBot, window: MainWindow, pickled: Path) -> None:
    window.opening.open(str(pickled), inputs=[picture()])
    dialog = found(qtbot, window, TrustDialog)
    with qtbot.waitSignal(window.session.model_changed, timeout=20_000):
        dialog.yes.click()
    settled(qtbot, window.session)
    assert trust.trusted() == {dialog.question.sha256}
    assert window.session.runs[1].error is None
    with qtbot.waitSignal(window.session.model_changed, timeout=20_000):
        window.opening.open(str(pickled))  # nobody is asked again
    settled(qtbot, window.session)
    torch.save(nn.Sequential(nn.Conv2d(3, 5, 1)), pickled)
    with qtbot.waitSignal(window.session.question_asked, timeout=20_000):
        window.opening.open(str(pickled))
    found(qtbot, window, TrustDialog).reject()
    settled(qtbot, window.session)


def test_a_pickle_that_writes_a_file_is_not_run_by_being_asked_about(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    class Writes:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "was_run",)

    torch.save({"model": Writes()}, tmp_path / "evil.pt", pickle_module=pickle)
    window.bringing.drop(dropping.sorted_files([tmp_path / "evil.pt"]))
    dialog = found(qtbot, window, TrustDialog)
    dialog.grab()
    dialog.reject()
    settled(qtbot, window.session)
    assert not (tmp_path / "was_run").exists()


@pytest.fixture
def net(tmp_path: Path) -> Path:
    file = tmp_path / "net.py"
    file.write_text(NET)
    return file


def test_weights_that_do_not_fit_are_listed_and_loaded_as_far_as_they_do(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path
) -> None:
    with qtbot.waitSignal(window.session.model_changed, timeout=20_000):
        window.opening.open(f"{net}:Net?width=6", inputs=[picture()])
    settled(qtbot, window.session)
    session = window.session
    session.select(path="head")
    ticked = session.plan.paths
    save_file(
        {
            "module.block.inner.weight": torch.full((6, 3, 1, 1), 2.0),
            "module.head.weight": torch.zeros(9, 6),
            "module.extra": torch.zeros(3),
        },
        tmp_path / "other.safetensors",
    )
    window.opening.load_weights(tmp_path / "other.safetensors")
    page = found(qtbot, window, WeightsPage)
    tester = QAbstractItemModelTester(page.rows)
    rows = [tuple(page.rows.index(row, at).data() for at in range(4)) for row in range(page.rows.rowCount())]
    assert ("another shape", "head.weight", "9×6", "4×6") in rows
    assert ("not in the file", "block.inner.bias", "–", "6") in rows
    assert ("not in the file", "head.bias", "–", "4") in rows
    assert ("not in the model", "module.extra", "3", "–") in rows
    assert (
        "found under another name",
        "block.inner.weight",
        "module.block.inner.weight",
        "block.inner.weight",
    ) in rows
    assert page.kinds.buttons[0].text() == "All 6"
    page.kinds.buttons[1].click()
    assert page.rows.rowCount() == 2
    assert tester is not None
    before = session.model
    with qtbot.waitSignal(session.model_changed, timeout=20_000):
        page.go.click()
    settled(qtbot, session)
    assert session.model is not before
    assert session.model.block.inner.weight.unique().tolist() == [2.0]
    assert session.plan.paths == ticked
    assert session.selection.path == "head"
    assert any("kept their initial values" in bar.message.what for bar in window.messages.bars)


def test_cancelled_weights_change_nothing(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path
) -> None:
    with qtbot.waitSignal(window.session.model_changed, timeout=20_000):
        window.opening.open(f"{net}:Net?width=6", inputs=[picture()])
    settled(qtbot, window.session)
    before = window.session.model
    save_file({"nothing": torch.zeros(3)}, tmp_path / "other.safetensors")
    window.opening.load_weights(tmp_path / "other.safetensors")
    page = found(qtbot, window, WeightsPage)
    assert not page.go.isEnabled()
    page.cancel.click()
    settled(qtbot, window.session)
    assert window.session.model is before


def test_a_file_of_weights_alone_offers_its_network(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    from torchvision.models import squeezenet1_1

    save_file(squeezenet1_1().state_dict(), tmp_path / "mine.safetensors")
    window.opening.open(str(tmp_path / "mine.safetensors"), inputs=[])
    qtbot.waitUntil(lambda: any(bar.message.offers for bar in window.messages.bars), timeout=30_000)
    bar = next(bar for bar in window.messages.bars if bar.message.offers)
    assert "52 tensors" in bar.message.what
    assert bar.buttons[0].text() == "Open squeezenet1_1"
    with qtbot.waitSignal(window.session.model_changed, timeout=30_000):
        bar.buttons[0].click()
    settled(qtbot, window.session)
    assert window.session.card.weights.file == str(tmp_path / "mine.safetensors")


def test_a_folder_lists_its_models_with_arguments_and_imports_nothing_before(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path
) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    window.opening.open_path(tmp_path)
    dialog = found(qtbot, window, CandidateDialog)
    assert "3 models in net.py" in [label.text() for label in dialog.findChildren(QLabel)]
    names = [dialog.list.item(row).text().partition("\n")[0] for row in range(dialog.list.count())]
    assert names == ["Net", "build", "Block"]
    assert set(dialog.fields) == {"classes", "width"}
    assert dialog.fields["classes"].placeholderText() == "4"
    assert not dialog.go.isEnabled()
    dialog.fields["width"].setText("5")
    assert dialog.go.isEnabled()
    with qtbot.waitSignal(window.session.model_changed, timeout=20_000):
        dialog.go.click()
    settled(qtbot, window.session)
    assert window.session.model.head.in_features == 5
    assert QApplication.activeModalWidget() is None


def test_the_only_model_of_a_file_is_opened_at_once(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from torch import nn\nclass One(nn.Sequential):\n    pass\n")
    with qtbot.waitSignal(window.session.model_changed, timeout=20_000):
        window.opening.open_path(tmp_path / "one.py")
    settled(qtbot, window.session)
    assert window.session.card.name == "one:One"
