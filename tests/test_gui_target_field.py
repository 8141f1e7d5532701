"""What a cell sees of the picture: one choice leads to its gradient there, inside the computed rectangle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot
from torch import nn
from torchvision.models import resnet18
from torchvision.models.vgg import cfgs, make_layers

from hookviewer.gui.columns import resolve
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Pointed, Shown
from hookviewer.gui.target_menu import targets_at
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind

SEES = "What this cell sees of the picture"
SIZE = 112


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session()
    yield made
    made.close()


def looked_at(qtbot: QtBot, session: Session, model: nn.Module, given: Input, path: str) -> None:
    session.set_model(model)
    session.add_inputs([given])
    session.select(path=path)
    settled(qtbot, session)


def choose(qtbot: QtBot, session: Session, entry: str, spot: Pointed) -> None:
    """Choose an entry of the menu of a right click on a cell."""
    wall = resolve(session.ticked_inputs, session.runs, session.selection, session.look, running=False)
    dict(targets_at(session, wall.columns[0], spot))[entry]()
    settled(qtbot, session)


def strongest_at(session: Session, path: str, cell: tuple[int, int]) -> Pointed:
    values = session.runs[1].recording.record(path, Kind.OUTPUT).array()[0]
    return Pointed(int(values[:, cell[0], cell[1]].argmax()), cell)


@pytest.mark.parametrize(
    ("net", "path", "cell"),
    [
        ("vgg", "3", (20, 31)),
        ("vgg", "8", (0, 13)),
        ("vgg", "13", (6, 6)),
        ("resnet", "conv1", (30, 8)),
        ("resnet", "layer1.0.conv2", (13, 27)),
        ("resnet", "layer2.0", (5, 9)),
    ],
)
def test_the_gradient_of_a_cell_reaches_exactly_its_rectangle(
    qtbot: QtBot, session: Session, net: str, path: str, cell: tuple[int, int]
) -> None:
    torch.manual_seed(1)
    model = resnet18() if net == "resnet" else make_layers(cfgs["A"][:9])
    given = Input("noise", (torch.rand(1, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(3)),))
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.show()
    looked_at(qtbot, session, model.eval(), given, path)
    choose(qtbot, session, SEES, strongest_at(session, path, cell))
    qtbot.waitUntil(lambda: inspector.drawn is not None)
    assert session.selection.shown is Shown.MAGNITUDE
    assert inspector.big_map.showing.mode == "overlay"
    focus = inspector.focus
    assert focus is not None
    reached = (np.asarray(focus.maps.values) != 0).any(0)
    rows, columns = np.flatnonzero(reached.any(1)), np.flatnonzero(reached.any(0))
    box = inspector.drawn
    assert box is not None
    assert (rows[0], columns[0], rows[-1] + 1, columns[-1] + 1) == tuple(box.box)
    assert inspector.big_map.seen == box
    height, width = box.extent
    assert inspector.field.versions[0].startswith(f"sees {height} × {width} px")


def test_the_gradient_is_that_of_plain_torch(qtbot: QtBot, session: Session) -> None:
    looked_at(qtbot, session, Tiny(), picture(0), "body.0")
    choose(qtbot, session, SEES, Pointed(4, (3, 5)))
    net, x = Tiny().eval(), picture(0).args[0].clone().requires_grad_()
    net.body[0](net.stem(x))[0, 4, 3, 5].backward()
    own = session.runs[1].recording[Key("", Kind.GRAD_INPUT, 0, "[0]")].array()
    assert x.grad is not None
    np.testing.assert_allclose(own, x.grad.numpy(), rtol=1e-5, atol=1e-7)


def test_cells_of_an_input_have_no_field_of_the_output(qtbot: QtBot, session: Session) -> None:
    told: list[Message] = []
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.show()
    session.message_told.connect(told.append)
    looked_at(qtbot, session, Tiny(), picture(0), "body.0")
    qtbot.waitUntil(lambda: inspector.seen is not None)
    session.select(side="input", shown=Shown.MAGNITUDE)
    settled(qtbot, session)
    assert inspector.focus is not None
    assert inspector.seen is None
    session.select(path="")
    settled(qtbot, session)
    inspector.refresh_slow()
    settled(qtbot, session)
    assert not [one for one in told if one.tone == "error"]


def test_undo_leads_back_to_where_it_was(qtbot: QtBot, session: Session) -> None:
    told: list[Message] = []
    looked_at(qtbot, session, Tiny(), picture(0), "body.0")
    before = session.selection, session.settings.target, session.look.over
    session.message_told.connect(told.append)
    choose(qtbot, session, SEES, Pointed(4, (3, 5)))
    assert session.selection.path == ""
    undo = told[-1].undo
    assert undo is not None
    undo()
    settled(qtbot, session)
    assert (session.selection, session.settings.target, session.look.over) == before


def test_the_message_of_a_target_offers_the_picture(qtbot: QtBot, session: Session) -> None:
    told: list[Message] = []
    looked_at(qtbot, session, Tiny(), picture(0), "body.0")
    session.message_told.connect(told.append)
    choose(qtbot, session, "Gradient of this cell", Pointed(4, (3, 5)))
    assert session.selection.path == "body.0"
    told[-1].offers[0].does()
    settled(qtbot, session)
    assert (session.selection.path, session.selection.shown) == ("", Shown.MAGNITUDE)


def test_a_vector_is_no_picture(qtbot: QtBot, session: Session) -> None:
    looked_at(qtbot, session, nn.Sequential(nn.Linear(4, 3)), Input("row", (torch.ones(1, 4),)), "0")
    wall = resolve(session.ticked_inputs, session.runs, session.selection, session.look, running=False)
    assert SEES not in dict(targets_at(session, wall.columns[0], Pointed(0, (0, 1))))
