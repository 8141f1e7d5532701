"""Attention in the window: real widgets on a tiny transformer whose attention is computed anew in float64."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from torch import nn

from hookviewer import render
from hookviewer.gui.attention_tokens import names_of
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import theme
from hookviewer.gui.wall import WallPanel
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from tests.gui_nets import settled

T = torch.Tensor
HEADS, WIDTH, SIDE = 2, 8, 4


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(WIDTH, HEADS, dropout=0.5, batch_first=True)
        self.gate: threading.Event | None = None
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: T) -> T:
        if self.gate is not None:
            self.gate.wait(30)
        return x + self.mix(x + self.attend(x, x, x, need_weights=False)[0])


class TinyViT(nn.Module):
    """A class token before 4 × 4 patches of 4 × 4 pixels, and two layers of attention."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.patches = nn.Conv2d(3, WIDTH, SIDE, SIDE)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.first, self.second = Block(), Block()
        self.head = nn.Linear(WIDTH, 3)
        with torch.no_grad():
            for block in (self.first, self.second):
                block.attend.in_proj_weight.mul_(2)  # weights that differ

    def forward(self, x: T) -> T:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(x), -1, -1), tokens], 1)
        return self.head(self.second(self.first(tokens))[:, 0])


class Sentence(nn.Module):
    """Embedded words that attend to each other."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.embed, self.attend = nn.Embedding(50, WIDTH), nn.MultiheadAttention(WIDTH, 2, batch_first=True)

    def forward(self, ids: T) -> T:
        x = self.embed(ids)
        return self.attend(3 * x, 3 * x, x)[0]


def picture(seed: int = 0) -> Input:
    values = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(seed))
    shades = np.random.default_rng(seed).integers(0, 255, (16, 16, 3), dtype=np.uint8)
    return Input(f"picture{seed}", (values,), image=Image.fromarray(shades))


def by_hand(model: TinyViT, x: T) -> list[T]:
    """Return the weights [heads, 17, 17] of both layers, in float64, from the parameters alone."""
    kernel = model.patches.weight.double().flatten(1)
    cut = x.double()[0].unfold(1, SIDE, SIDE).unfold(2, SIDE, SIDE).permute(1, 2, 0, 3, 4).reshape(16, -1)
    tokens = torch.cat([model.token[0].double(), cut @ kernel.T + model.patches.bias.double()])
    found = []
    for block in (model.first, model.second):
        layer = block.attend
        made = tokens @ layer.in_proj_weight.double().T + layer.in_proj_bias.double()
        q, k, v = (part.reshape(17, HEADS, -1).transpose(0, 1) for part in made.chunk(3, 1))
        scores = torch.einsum("hqd,hkd->hqk", q, k) / math.sqrt(WIDTH / HEADS)
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        found.append(weights.detach())
        joined = torch.einsum("hqk,hkd->qhd", weights, v).reshape(17, WIDTH)
        joined = joined @ layer.out_proj.weight.double().T + layer.out_proj.bias.double()
        tokens = tokens + (tokens + joined) @ block.mix.weight.double().T + block.mix.bias.double()
    return found


def session_with(qtbot, model: nn.Module, *inputs: Input) -> Session:
    session = Session()
    session.set_model(model)
    session.add_inputs(inputs)
    settled(qtbot, session)
    return session


def panel_of(qtbot, session: Session) -> WallPanel:
    panel = WallPanel(session)
    qtbot.addWidget(panel)
    panel.resize(900, 700)
    panel.show()
    return panel


@pytest.fixture
def shown(qtbot):
    """A panel that shows the attention of the second layer."""
    model = TinyViT().eval()
    session = session_with(qtbot, model, picture())
    panel = panel_of(qtbot, session)
    session.select(path="second.attend", shown=Shown.ATTENTION)
    settled(qtbot, session)
    panel.refresh()
    yield model, session, panel
    session.close()


def click(widget, point: QPointF) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=point.toPoint())


def test_the_kind_is_offered_where_a_module_attends_and_a_click_on_it_shows_every_head(qtbot):
    model = TinyViT().eval()
    session = session_with(qtbot, model, picture())
    panel = panel_of(qtbot, session)
    button = next(one for one in panel.controls.kind.buttons if one.objectName() == "Attention")
    for path, offered in (("patches", False), ("second.attend", True), ("second", True), ("", False)):
        session.select(path=path)
        settled(qtbot, session)
        panel.refresh()
        assert button.isHidden() is not offered, path
    for _ in Shown:
        panel.cycle_kind()
        assert session.selection.shown is not Shown.ATTENTION  # the whole model holds two
    session.select(path="second.attend")
    panel.refresh()
    button.click()
    settled(qtbot, session)
    session.attention.set_look(page="heads")
    panel.refresh()
    record = panel.wall.filled[0].record
    assert record.key == Key("second.attend", Kind.ATTRIBUTION, 0, "attention")
    expected = torch.stack(by_hand(model, session.inputs[0].input.args[0])[1:])
    torch.testing.assert_close(record.tensor().double(), expected, atol=1e-5, rtol=1e-4)
    assert panel.wall.filled[0].maps.values.shape == (HEADS, 17, 17)
    session.select(channel=1, cell=(3, 5))
    assert read_out(session)[0].startswith("head 1  query 3  key 5  = ")
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in model.modules())
    session.close()


def test_a_click_on_a_patch_shows_what_it_attends_to_and_the_strongest_keys(qtbot, shown):
    model, session, panel = shown
    page = panel.attention.page
    assert page.isVisible()
    assert panel.lanes.isHidden()
    assert page.scene.query.token == 0  # the class token comes first
    assert page.photo.cell_rect(0).isEmpty()
    expected = by_hand(model, session.inputs[0].input.args[0])[1]
    place = page.photo.cell_rect(1 + 2 * 4 + 1)
    click(page.photo, place.center())
    panel.refresh()
    assert session.selection.cell[0] == 10
    row = expected[:, 10].mean(0)
    torch.testing.assert_close(page.scene.query.seen.double(), row, atol=1e-5, rtol=1e-4)
    order = row.argsort(descending=True)
    assert [key for key, _ in page.keys.rows[:5]] == order[:5].tolist()
    bits = -(expected[:, 10] * expected[:, 10].log2()).sum(-1)
    assert page.scene.query.entropies == pytest.approx(bits.tolist(), rel=1e-4)
    accent = page.photo.grab().toImage().pixelColor(place.topLeft().toPoint())
    assert accent.blue() > accent.red() + 60  # the query is outlined
    click(page.keys, QPointF(20, 5))
    assert session.selection.cell[0] == int(order[0])
    panel.step_channel(1, 0)
    assert session.selection.cell[0] == int(order[0]) + 1


def test_cells_over_the_picture_have_the_colour_of_their_weight(qtbot, shown):
    model, session, panel = shown
    page = panel.attention.page
    weights = by_hand(model, session.inputs[0].input.args[0])[1].mean(0)[0, 1:]
    low, high = page.scene.seen_levels
    assert (low, high) == (0.0, pytest.approx(float(np.quantile(weights, 0.99)), rel=1e-4))
    image = page.photo.image()
    shades = {}
    for token in (int(weights.argmin()) + 1, int(weights.argmax()) + 1):
        row, column = divmod(token - 1, 4)
        at = (round((column + 0.5) * image.width() / 4), round((row + 0.5) * image.height() / 4))
        colour = image.pixelColor(*at)
        shades[token] = np.array([colour.red(), colour.green(), colour.blue()])
    weak, strong = shades.values()
    brightest = render.to_rgba([[high]], (low, high), "magma")[0, 0, :3]
    assert np.abs(strong - 0.8 * brightest).max() < 60  # 80 % of it, the rest is the grey picture
    assert weak.max() < 0.62 * 255


def test_a_row_of_the_matrix_and_a_head_are_chosen_by_a_click(qtbot, shown):
    model, session, panel = shown
    page = panel.attention.page
    expected = by_hand(model, session.inputs[0].input.args[0])[1]
    np.testing.assert_allclose(page.scene.matrix(), expected.mean(0), atol=1e-5)
    np.testing.assert_allclose(page.scene.matrix().sum(-1), 1, atol=1e-5)
    click(page.matrix, page.matrix.row_rect(7).center())
    click(page.heads, page.heads.rect_of(1).center())
    panel.refresh()
    assert (session.selection.cell[0], session.selection.channel) == (7, 1)
    torch.testing.assert_close(page.scene.query.seen.double(), expected[1, 7], atol=1e-5, rtol=1e-4)
    click(page.heads, page.heads.rect_of(1).center())
    panel.refresh()
    torch.testing.assert_close(page.scene.query.seen.double(), expected[:, 7].mean(0), atol=1e-5, rtol=1e-4)


def test_rollout_is_the_product_through_the_layers_until_this_one_or_the_ticked_ones(qtbot, shown):
    model, session, panel = shown
    first, second = by_hand(model, session.inputs[0].input.args[0])
    eye = torch.eye(17, dtype=torch.float64)
    through = [(weights.mean(0) + eye) / 2 for weights in (first, second)]
    panel.attention.bar.way.buttons[2].click()
    panel.refresh()
    query = panel.attention.page.scene.query
    torch.testing.assert_close(query.seen.double(), (through[1] @ through[0])[0], atol=1e-5, rtol=1e-4)
    session.tick(["second"], True)
    panel.attention.bar.ticked.click()
    settled(qtbot, session)
    panel.refresh()
    query = panel.attention.page.scene.query
    torch.testing.assert_close(query.seen.double(), through[1][0], atol=1e-5, rtol=1e-4)


def test_a_rollout_that_cannot_be_says_so_in_the_place_of_every_map(qtbot):
    pytest.importorskip("torchvision")
    from torchvision.models import SwinTransformer

    torch.manual_seed(0)
    model = SwinTransformer([4, 4], 8, [1, 1], [2, 2], [2, 2], num_classes=3).eval()
    session = session_with(qtbot, model, picture())
    panel = panel_of(qtbot, session)
    session.select(path="features.3.0.attn", shown=Shown.ATTENTION)
    settled(qtbot, session)
    session.attention.set_look(way="rollout")
    panel.refresh()
    page = panel.attention.page
    assert page.scene.query.reason.startswith("Rollout needs the same tokens in every layer: 1 of 2 layers")
    assert page.matrix.reason() == page.scene.query.reason
    assert page.keys.rows == ()
    image = page.photo.grab().toImage()
    corner = page.photo.area.topLeft() + QPointF(4, 4)
    assert image.pixelColor(corner.toPoint()) == theme()["canvas"]  # no map of something else
    session.tick(["features.3.0.attn"], True)
    session.attention.set_look(ticked=True)
    settled(qtbot, session)
    panel.refresh()
    assert page.scene.query.reason == ""
    assert page.keys.rows
    session.close()


def test_heads_are_sorted_by_entropy_on_the_wall_and_on_the_page(qtbot, shown):
    model, session, panel = shown
    weights = by_hand(model, session.inputs[0].input.args[0])[1]
    bits = -(weights * weights.log2()).sum(-1)
    session.set_look(sort="entropy")
    panel.refresh()
    assert panel.wall.order.tolist() == bits.mean(-1).argsort().tolist()
    assert list(panel.attention.page.scene.order) == bits[:, 0].argsort().tolist()
    session.select(path="patches", shown=Shown.OUTPUT)
    settled(qtbot, session)
    panel.refresh()
    assert "Only attention" in panel.controls.why_not("entropy")
    assert panel.wall.order.tolist() == list(range(WIDTH))


def test_dropout_makes_the_check_fail_and_the_bar_says_so(qtbot, shown):
    _, session, panel = shown
    assert panel.attention.bar.check.isHidden()
    session.set_settings(mode="train")
    settled(qtbot, session)
    panel.refresh()
    assert panel.attention.bar.check.isVisible()
    assert "differ from what the layer made" in panel.attention.bar.check.toolTip()
    np.testing.assert_allclose(panel.attention.page.scene.matrix().sum(-1), 1, atol=1e-5)


def test_a_stopped_run_keeps_what_it_found_and_leaves_no_hook(qtbot):
    model = TinyViT().eval()
    session = session_with(qtbot, model, picture())
    panel = panel_of(qtbot, session)
    session.select(path="first.attend")
    settled(qtbot, session)
    model.second.gate = threading.Event()
    session.select(shown=Shown.ATTENTION)
    qtbot.waitUntil(lambda: session.runner.busy and session.attention.running)
    panel.refresh()
    assert panel.attention.bar.stop.isVisible()
    panel.attention.bar.stop.click()
    model.second.gate.set()
    settled(qtbot, session)
    panel.refresh()
    assert panel.attention.bar.stop.isHidden()
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in model.modules())
    found = [key.path for key in session.recording(1) if key.leaf == "attention"]
    assert "second.attend" not in found
    model.second.gate = None
    session.run()
    settled(qtbot, session)
    assert [key.path for key in session.recording(1) if key.leaf == "attention"][-1] == "second.attend"
    session.close()


def test_closing_while_attention_is_looked_for_ends_the_thread(qtbot):
    model = TinyViT().eval()
    session = session_with(qtbot, model, picture())
    model.second.gate = threading.Event()
    session.select(path="first.attend")
    model.second.gate.set()
    settled(qtbot, session)
    model.second.gate = threading.Event()
    session.select(shown=Shown.ATTENTION)
    qtbot.waitUntil(lambda: session.attention.running)
    gate = model.second.gate
    threading.Timer(0.2, gate.set).start()
    session.close()
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in model.modules())
    assert not any(one.name.startswith("hookviewer-model") for one in threading.enumerate())


class ByHand(nn.Module):
    """Attention that only the code of `forward` tells."""

    def __init__(self, fused: bool) -> None:
        super().__init__()
        self.made, self.fused = nn.Linear(3, 6), fused

    def forward(self, x: T) -> T:
        q, k = self.made(x.flatten(2).transpose(1, 2)).chunk(2, -1)
        if self.fused:
            return nn.functional.scaled_dot_product_attention(q[:, None], k[:, None], k[:, None])[:, 0]
        return (q @ k.transpose(1, 2)).softmax(-1) @ k


@pytest.mark.parametrize("fused", [True, False])
def test_attention_is_offered_where_only_the_code_of_a_module_computes_it(qtbot, fused):
    model = nn.Sequential(ByHand(fused), nn.Softmax(-1)).eval()
    session = session_with(qtbot, model, picture())
    assert [path for path in ("", "0", "0.made", "1") if session.attention.offered(path)] == ["0"]
    session.select(path="0", shown=Shown.ATTENTION)
    settled(qtbot, session)
    q, k = model[0].made(session.inputs[0].input.args[0].flatten(2).transpose(1, 2)).double().chunk(2, -1)
    scores = (q @ k.transpose(1, 2)) / (math.sqrt(3) if fused else 1)
    seen = session.attention.at(session.ticked_inputs[0]).record.tensor()[0, 0].double()
    torch.testing.assert_close(seen, torch.softmax(scores, -1)[0].detach(), atol=1e-6, rtol=1e-5)
    session.close()


class Translating(nn.Module):
    """Queries of a decoder that attend to the states of an encoder."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.embed, self.cross = nn.Embedding(50, WIDTH), nn.MultiheadAttention(WIDTH, 2, batch_first=True)

    def forward(self, input_ids: T, attention_mask: T, decoder_input_ids: T) -> T:
        seen, asked = 3 * self.embed(input_ids), 3 * self.embed(decoder_input_ids)
        return self.cross(asked, seen, seen, key_padding_mask=attention_mask == 0)[0]


def test_queries_that_are_other_tokens_than_the_keys_can_be_asked_by_their_own_chips(qtbot):
    model = Translating().eval()
    ids, mask, asked = (
        torch.tensor([[4, 8, 15, 16]]),
        torch.tensor([[1, 1, 1, 0]]),
        torch.tensor([[7, 9, 11]]),
    )
    words = ("le", "chat", "dort", "_")
    given = Input("a sentence", (ids, mask), {"decoder_input_ids": asked}, words=words)
    session = session_with(qtbot, model, given)
    panel = panel_of(qtbot, session)
    session.select(path="cross", shown=Shown.ATTENTION)
    settled(qtbot, session)
    panel.refresh()
    page = panel.attention.page
    assert page.asking.chips.words == ("7", "9", "11")
    assert page.chips.chips.words == words
    click(page.asking, page.asking.rects(page.asking.width())[2].center())
    panel.refresh()
    states, queries = 3 * model.embed(ids), 3 * model.embed(asked)
    weights = model.cross(queries, states, states, key_padding_mask=mask == 0)[1][0, 2].detach()
    torch.testing.assert_close(page.scene.query.seen, weights, atol=1e-5, rtol=1e-4)
    assert panel.attention.bar.said.text().endswith("(11)")
    assert page.chips.tip(page.chips.rects(page.chips.width())[1].center()).startswith("token 1  chat  =")
    assert page.matrix.tip(page.matrix.row_rect(2).center()).startswith("query 2  11\nkey 2  dort\n= ")
    # a click on a key asks nothing: it is no query
    click(page.chips, page.chips.rects(page.chips.width())[0].center())
    assert session.attention.query(session.ticked_inputs[0]).token == 2
    session.close()


def test_tokens_before_the_grid_are_chips_below_the_picture(qtbot, shown):
    model, session, panel = shown
    page = panel.attention.page
    assert page.chips.chips.words == ("class token",)
    session.attention.select_token(5)
    panel.refresh()
    assert page.chips.chips.asked is None
    click(page.chips, page.chips.rects(page.chips.width())[0].center())
    panel.refresh()
    assert page.scene.query.token == 0
    weight = by_hand(model, session.inputs[0].input.args[0])[1].mean(0)[0, 0]
    assert page.chips.chips.weights == pytest.approx((float(weight),), abs=1e-6)


def test_names_that_would_be_a_guess_are_left_out():
    one, other = torch.tensor([[1, 2, 3]]), torch.tensor([[4, 5, 6]])
    model = nn.Transformer(8, 2, 1, 1, 8, batch_first=True)
    both = Input("two", (one, other))
    assert names_of(both, None, 3, 0) == ()
    assert names_of(both, model, 3, 0, decoder=True) == ("4", "5", "6")
    assert names_of(both, model, 3, 0, decoder=False) == ("1", "2", "3")
    assert names_of(Input("floats", (one.float(),)), None, 3, 0) == ()
    assert names_of(Input("mask", (), {"attention_mask": one}), None, 3, 0) == ()


def test_keys_step_through_heads_and_ways_and_turn_the_page(qtbot, shown):
    _, session, panel = shown
    page = panel.attention.page
    panel.setFocus()
    for key, way, head in (
        ("h", "head", 0),
        ("h", "head", 1),
        ("h", "head", 0),
        ("a", "rollout", 0),
        ("a", "mean", 0),
    ):
        qtbot.keyClicks(panel, key)
        qtbot.wait(60)
        assert (session.attention.look.way, session.selection.channel) == (way, head)
    assert panel.foot.arrows.text() == "token"
    qtbot.keyClicks(panel, "t")
    qtbot.waitUntil(lambda: page.isHidden())
    assert panel.foot.arrows.text() == "channel"


def test_tokens_without_a_picture_are_chips_whose_ground_is_the_weight(qtbot):
    model = Sentence().eval()
    ids = torch.tensor([[7, 3, 3, 41, 9]])
    session = session_with(qtbot, model, Input("words", (ids,)))
    panel = panel_of(qtbot, session)
    session.select(path="attend", shown=Shown.ATTENTION)
    settled(qtbot, session)
    panel.refresh()
    page = panel.attention.page
    assert page.chips.isVisible()
    assert page.photo.isHidden()
    assert [page.chips.text_of(token) for token in range(5)] == ["7", "3", "3", "41", "9"]
    rects = page.chips.rects(page.chips.width())
    click(page.chips, rects[3].center())
    panel.refresh()
    x = model.embed(ids)
    weights = model.attend(3 * x, 3 * x, x, average_attn_weights=True)[1][0, 3].detach()
    torch.testing.assert_close(page.scene.query.seen, weights, atol=1e-5, rtol=1e-4)
    image = page.chips.grab().toImage()
    for token, rect in enumerate(rects):
        red, green, blue = render.to_rgba([[weights[token]]], page.scene.seen_levels, "magma")[0, 0, :3]
        colour = image.pixelColor(rect.topLeft().toPoint() + QPointF(5, 4).toPoint())
        assert (colour.red(), colour.green(), colour.blue()) == pytest.approx((red, green, blue), abs=3)
    session.close()


def test_the_inspector_shows_the_token_beside_all_heads_and_a_click_asks_another(qtbot, shown):
    _, session, panel = shown
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.resize(320, 900)
    inspector.show()
    section = inspector._attention
    assert section.isHidden()  # the page shows it already
    panel.attention.bar.page.buttons[1].click()
    inspector.refresh()
    inspector.refresh_slow()
    panel.refresh()
    assert section.isVisible()
    assert panel.lanes.isVisible()
    click(section.photo, section.photo.cell_rect(16).center())
    assert session.selection.cell[0] == 16
    inspector.refresh()
    assert inspector.place.text() == f"query 16  key {session.selection.cell[1]}"
    assert inspector.input_place.text() == ""


def test_a_module_that_does_not_attend_says_so_and_two_inputs_have_their_own_attention(qtbot, shown):
    model, session, panel = shown
    session.add_inputs([picture(5)])
    settled(qtbot, session)
    session.select(input=2)
    panel.refresh()
    expected = by_hand(model, picture(5).args[0])[1]
    np.testing.assert_allclose(panel.attention.page.scene.matrix(), expected.mean(0), atol=1e-5)
    session.select(path="patches")
    settled(qtbot, session)
    panel.refresh()
    assert panel.attention.page.scene is None
    assert "attention" in panel.attention.page.reason.text().lower()
