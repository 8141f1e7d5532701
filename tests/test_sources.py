"""Opening models: by name, from packages, from Python files, with weights; and what is said when it fails."""

from __future__ import annotations

import gc
import hashlib
import sys
import warnings
import weakref
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import hookviewer as hv
from hookviewer.sources.demo import DEMOS
from hookviewer.sources.source import literal, split_arguments
from hookviewer.sources.weights import load_weights

NET = """\
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)

class Net(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        if width > 9:
            raise ValueError("too wide")
        self.block = Block(width)

    def forward(self, x):
        return self.block(x)
"""


@pytest.fixture
def net_file(tmp_path: Path) -> Path:
    file = tmp_path / "net.py"
    file.write_text(NET)
    return file


def sentence(spec: object, **options: object) -> str:
    with pytest.raises(hv.HookViewerError) as caught:
        hv.open_model(str(spec), **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


# ------------------------------------------------------------------ demo models


@pytest.mark.parametrize("name", DEMOS)
def test_every_demo_model_runs_on_its_own_example(name: str) -> None:
    model = hv.open_model(f"demo:{name}")
    given = hv.open_input(hv.card(model).example, model)
    output = model(*given.args, **given.kwargs)
    first = output[0] if isinstance(output, tuple) else output
    assert torch.isfinite(first).all()
    assert not model.training


def test_the_demo_mobilenet_knows_the_cat_and_the_coffee() -> None:
    model = hv.open_model("demo:mobilenet_v2")
    names = hv.card(model).class_names
    assert len(names) == 1000
    for photograph, expected in (("chelsea", "Egyptian cat"), ("coffee", "espresso"), ("camera", "tripod")):
        with torch.no_grad():
            scores = model(*hv.open_input(f"demo:{photograph}", model).args)
        assert names[int(scores.argmax())] == expected


def test_the_demo_card_carries_the_hash_that_the_notice_states() -> None:
    root = Path(__file__).parent.parent / "resources"
    notice = (root / "NOTICE.md").read_text(encoding="utf-8")
    for file in [*root.glob("demo/*.safetensors"), *root.glob("demo/images/*")]:
        assert f"`{file.name}`" in notice
        assert hashlib.sha256(file.read_bytes()).hexdigest() in notice
    assert hv.card(hv.open_model("demo:digits")).sha256 in notice


def test_the_digits_net_reads_a_handwritten_three() -> None:
    model = hv.open_model("demo:digits")
    scores = model(*hv.open_input("demo:digit", model).args)
    assert hv.card(model).class_names[int(scores.argmax())] == "3"


def test_the_pnet_finds_the_face_of_the_astronaut_and_none_in_the_coffee() -> None:
    model = hv.open_model("demo:pnet")
    _, faces = model(*hv.open_input("demo:astronaut", model).args)
    row, column = divmod(int(faces[0, 1].argmax()), faces.shape[3])
    assert faces[0, 1].max() > 0.95
    assert 8 <= row <= 20  # her face is at a fifth of the height, in the middle
    assert 22 <= column <= 36
    torch.testing.assert_close(faces.sum(1), torch.ones_like(faces[:, 0]))


def test_the_teaching_models_give_the_numbers_of_the_tutorials() -> None:
    ones = torch.ones(1, 3)
    assert hv.open_model("demo:fc_relu_fc")(ones).tolist() == [[882.0]]
    assert hv.open_model("demo:fc_relu_fc?example=forward")(ones).tolist() == [[89.0]]
    channels = hv.open_model("demo:simple_cnn")(torch.ones(1, 3, 32, 32))[0, :, 29, 29]
    assert channels.tolist() == [max(0, k - 5) for k in range(16)]
    assert hv.open_model("demo:three_layers")(torch.ones(10)).tolist() == [900.0]


@pytest.mark.parametrize(
    ("example", "value", "expected"),
    [
        ("plus_one", [[1.0, 2.0], [3.0, 4.0]], 13.5),
        ("wxaby", [2.0], [6.0]),
        ("shared_gradient", [2.0], [13.0]),
        ("mean_of_squares", [2.0] * 4, 4.0),
    ],
)
def test_each_example_of_tensor_hooks_is_a_model(example: str, value: object, expected: object) -> None:
    model = hv.open_model("demo:tensor_hook", example=example)
    given = hv.open_input(hv.card(model).example, model)
    assert given.args[0].tolist() == value
    assert model(*given.args).tolist() == expected


def test_a_tensor_hook_on_the_leaf_w_sees_the_gradient_of_the_tutorial() -> None:
    model = hv.open_model("demo:tensor_hook?example=wxaby")
    model(torch.tensor([2.0])).backward()
    assert model.get_parameter("w.value").grad.tolist() == [5.0]  # type: ignore[union-attr]


def test_random_teaching_models_are_those_of_seed_0_and_leave_the_random_state_alone() -> None:
    torch.manual_seed(0)
    first, second, third = nn.Linear(10, 5), nn.Linear(5, 3), nn.Linear(3, 1)
    before = torch.get_rng_state()
    model = hv.open_model("demo:three_layers?example=random")
    assert torch.equal(torch.get_rng_state(), before)
    for name, layer in (("layer1", first), ("layer2", second), ("layer3", third)):
        assert torch.equal(model.get_parameter(f"{name}.weight"), layer.weight)


def test_the_demo_mlp_carries_the_hooks_of_the_tutorial() -> None:
    model = hv.open_model("demo:mlp")
    model(torch.ones(1, 784)).sum().backward()
    assert [gradient.tolist() for gradient in model.gradients] == [[[1.0] * 10]]  # type: ignore[union-attr]
    assert len(model.conv_outputs) == 1  # type: ignore[arg-type]


def test_an_unknown_demo_model_names_what_is_near() -> None:
    assert "mobilenet_v2" in sentence("demo:mobilenetv2")
    assert "wxaby" in sentence("demo:tensor_hook?example=wxabz")
    assert "no argument size=3" in sentence("demo:mlp?size=3")


# ------------------------------------------------------------------ cards


def test_a_live_model_has_a_card_of_unknowns() -> None:
    card = hv.card(nn.Linear(2, 2))
    assert card.name == "Linear"
    assert (card.spec, card.sha256, card.preprocess, card.class_names, card.notes) == ("", "", None, (), ())


def test_a_card_keeps_no_model_alive() -> None:
    model = hv.open_model("demo:fc_relu_fc")
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


# ------------------------------------------------------------------ arguments in a spec


def test_arguments_are_literals_words_or_text() -> None:
    place, arguments = split_arguments(
        "a.b:c?n=10&shape=(3,+4)&name=IMAGENET1K_V1&off=none&yes=True&plus=a%2Bb+c"
    )
    assert place == "a.b:c"
    assert arguments == {
        "n": 10,
        "shape": (3, 4),
        "name": "IMAGENET1K_V1",
        "off": None,
        "yes": True,
        "plus": "a+b c",
    }


@pytest.mark.parametrize("text", ["__import__('os').system('false')", "open('x')", "1 +", "lambda: 0"])
def test_no_expression_is_evaluated(text: str) -> None:
    assert literal(text) == text


def test_an_argument_without_a_value_is_refused() -> None:
    assert "write name=value" in sentence("torch.nn:Linear?in_features")


# ------------------------------------------------------------------ packages


def test_a_factory_is_called_with_the_arguments_of_the_spec() -> None:
    model = hv.open_model("torchvision.models:resnet18?num_classes=7&weights=none")
    assert model.get_submodule("fc").out_features == 7
    assert type(hv.open_model("torch.nn:Linear?in_features=3", out_features=2)) is nn.Linear


def test_a_torchvision_network_without_weights_guesses_its_preprocessing_and_says_so() -> None:
    card = hv.card(hv.open_model("torchvision.models:mobilenet_v3_small"))
    assert card.preprocess is not None
    assert card.preprocess.guessed
    assert (card.preprocess.height, card.preprocess.short_side) == (224, 256)
    assert card.preprocess.mean == (0.485, 0.456, 0.406)
    assert "random" in card.notes[0]
    assert card.class_names == ()


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("resnet18", "torchvision.models:resnet18"),
        ("mobilenet_v2", "demo:mobilenet_v2"),
        ("nothing at all", "write demo:NAME"),
        ("", "write demo:NAME"),
        ("torchvison.models:resnet18", "torchvision"),
        ("torchvision.modles:resnet18", "models"),
        ("torchvision.models:resnet81", "resnet18"),
        ("torchvision.models:resnet18?weights=IMAGENET1K_V9", "IMAGENET1K_V1"),
        ("torchvision.models:resnet18?num_clases=3", "failed: TypeError"),
        ("torch.nn:Linear", "torch.nn:Linear?in_features=VALUE&out_features=VALUE"),
        ("torch.nn:Linear?in_feature=3&out_features=2", "did you mean in_features"),
        ("math:pi", "name a class or a function"),
        ("math:isfinite?x=3", "failed"),
        ("collections:OrderedDict", "gave a OrderedDict, not an nn.Module"),
    ],
)
def test_what_cannot_be_opened_is_told_with_what_to_write(spec: str, word: str) -> None:
    assert word in sentence(spec)


# ------------------------------------------------------------------ Python files


def test_a_file_with_one_model_that_needs_no_arguments_opens_by_its_name_alone(net_file: Path) -> None:
    model = hv.open_model(str(net_file))
    assert type(model).__name__ == "Net"
    assert hv.card(model).sha256 == hashlib.sha256(NET.encode()).hexdigest()
    assert hv.card(model).spec == str(net_file)


def test_a_file_is_opened_with_arguments(net_file: Path) -> None:
    assert hv.open_model(f"{net_file}:Net?width=5").get_submodule("block.linear").in_features == 5
    assert hv.open_model(f"{net_file}:Block", width=4).get_submodule("linear").in_features == 4


def test_an_error_in_the_users_code_names_the_line(net_file: Path) -> None:
    text = sentence(f"{net_file}:Net?width=12")
    assert "net.py, line 15: ValueError: too wide" in text


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import torch\n\nx = = 2\n")
    assert "broken.py, line 3: SyntaxError" in sentence(file)


def test_a_file_that_ends_the_program_does_not_end_this_one(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text("import sys\nsys.exit(3)\n")
    assert "script.py, line 2: SystemExit: 3" in sentence(file)


def test_a_file_with_two_models_lists_them_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text("from torch import nn\nclass B(nn.Module): pass\nclass A(B): pass\ndef main(): 1 / 0\n")
    assert sentence(file) == f"{file} has more than one model: write {file}:B or {file}:A."
    assert type(hv.open_model(f"{file}:A")).__name__ == "A"


def test_what_is_said_to_write_names_the_file_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "two.py").write_text(
        "from torch import nn\nclass A(nn.Linear):\n    def __init__(self, width):\n"
        "        super().__init__(width, 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert sentence("deep/two.py").endswith("write deep/two.py:A?NAME=VALUE.")
    assert sentence("deep/two.py:A").endswith("write deep/two.py:A?width=VALUE.")
    assert hv.open_model("deep/two.py:A?width=3").in_features == 3


def test_a_file_with_only_a_factory_opens_what_it_builds(tmp_path: Path) -> None:
    file = tmp_path / "factory.py"
    file.write_text("from torch import nn\ndef build_net(): return nn.Linear(2, 3)\ndef train(): 1 / 0\n")
    assert type(hv.open_model(str(file))) is nn.Linear


def test_a_file_without_a_model_says_so(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("x = 1\n")
    assert "defines no nn.Module" in sentence(file)


def test_the_folder_of_a_file_is_on_the_path_during_import_only(tmp_path: Path) -> None:
    path = list(sys.path)
    for folder, value in (("one", 2), ("other", 5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hv_neighbour.py").write_text(f"WIDTH = {value}\n")
        (tmp_path / folder / "net.py").write_text(
            f"from hv_neighbour import WIDTH\n{NET.replace('width=3', 'width=WIDTH')}"
        )
        model = hv.open_model(str(tmp_path / folder / "net.py"))
        assert model.get_submodule("block.linear").in_features == value
    assert sys.path == path


def test_an_edited_file_is_read_again(net_file: Path) -> None:
    assert hv.open_model(f"{net_file}").get_submodule("block.linear").in_features == 3
    net_file.write_text(NET.replace("width=3", "width=8"))
    assert hv.open_model(f"{net_file}").get_submodule("block.linear").in_features == 8


def test_a_file_that_is_not_there_and_a_folder_are_told(tmp_path: Path) -> None:
    assert "There is no file" in sentence(tmp_path / "none.py")
    assert "is a folder" in sentence(tmp_path)


# ------------------------------------------------------------------ weights


def test_weights_of_both_formats_are_loaded_bit_for_bit(net_file: Path, tmp_path: Path) -> None:
    state = {"block.linear.weight": torch.randn(3, 3), "block.linear.bias": torch.randn(3)}
    save_file(state, tmp_path / "w.safetensors")
    torch.save(state, tmp_path / "w.pt")
    for file in ("w.safetensors", "w.pt"):
        model = hv.open_model(str(net_file), weights=tmp_path / file)
        assert all(torch.equal(model.state_dict()[name], value) for name, value in state.items())
        assert hv.card(model).sha256 == hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod."])
def test_the_prefixes_of_wrappers_are_taken_off(net_file: Path, tmp_path: Path, prefix: str) -> None:
    state = {f"{prefix}block.linear.weight": torch.ones(3, 3), f"{prefix}block.linear.bias": torch.ones(3)}
    torch.save({"epoch": 3, "state_dict": state}, tmp_path / "w.pt")
    model = hv.open_model(str(net_file), weights=tmp_path / "w.pt")
    assert model.get_parameter("block.linear.bias").tolist() == [1.0] * 3


def test_weights_that_do_not_fit_name_what_is_missing_unexpected_and_of_another_shape(
    net_file: Path, tmp_path: Path
) -> None:
    save_file(
        {"block.linear.weight": torch.ones(3, 4), "head.weight": torch.ones(2)}, tmp_path / "w.safetensors"
    )
    text = sentence(net_file, weights=tmp_path / "w.safetensors")
    assert "the file lacks block.linear.bias" in text
    assert "the model has no head.weight" in text
    assert "block.linear.weight is 3×4 in the file and 3×3 in the model" in text


def test_a_file_that_is_no_state_dict_is_told_for_what_it_is(net_file: Path, tmp_path: Path) -> None:
    def written(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    torch.save({"w": torch.ones(9)}, tmp_path / "whole.pt")
    cut = (tmp_path / "whole.pt").read_bytes()[:-200]
    cases = {
        written("empty.pt", b""): "is empty",
        written("page.pt", b"<!DOCTYPE html><html>"): "web page",
        written("lfs.safetensors", b"version https://git-lfs.github.com/spec/v1\n"): "Git LFS pointer",
        written("noise.pt", b"hello, world" * 9): "no file of weights",
        written("cut.pt", cut): "cut off",
        written("damaged.safetensors", b"\x08\0\0\0\0\0\0\0{}      x"): "safetensors",
        tmp_path / "missing.pt": "There is no file",
        tmp_path: "is a folder",
    }
    for file, word in cases.items():
        assert word in sentence(net_file, weights=file)


@pytest.mark.filterwarnings("ignore")  # the libraries may warn of what they repair
@pytest.mark.parametrize("ending", ["zip", "old", "safetensors"])
def test_a_damaged_file_of_weights_is_read_or_told_and_never_crashes(tmp_path: Path, ending: str) -> None:
    file, state = tmp_path / "w.pt", {"weight": torch.ones(2, 2), "bias": torch.ones(2)}
    if ending == "safetensors":
        save_file(state, file)
    else:
        torch.save(state, file, _use_new_zipfile_serialization=ending == "zip")
    whole, told = file.read_bytes(), 0
    for number in range(120):
        random = torch.Generator().manual_seed(number)
        damaged = bytearray(whole)
        for place in torch.randint(len(whole), (4,), generator=random).tolist():
            damaged[place] = int(torch.randint(256, (1,), generator=random))
        file.write_bytes(damaged)
        try:
            load_weights(nn.Linear(2, 2), file)
        except hv.HookViewerError:
            told += 1
    assert told > 20


def test_a_pickled_module_is_refused_and_nothing_in_it_runs(net_file: Path, tmp_path: Path) -> None:
    torch.save(nn.Linear(2, 2), tmp_path / "module.pt")
    (tmp_path / "bomb.pkl").write_bytes(
        b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR."
    )
    for file in ("module.pt", "bomb.pkl"):
        sentence(net_file, weights=tmp_path / file)
        sentence(tmp_path / file)
    assert "could run code" in sentence(tmp_path / "module.pt")
    assert not (tmp_path / "ran").exists()


def test_a_file_of_weights_is_no_model_by_itself(tmp_path: Path) -> None:
    save_file({"w": torch.ones(2)}, tmp_path / "w.safetensors")
    assert f"--weights {tmp_path / 'w.safetensors'}" in sentence(tmp_path / "w.safetensors")


def test_programs_that_cannot_carry_hooks_are_refused(net_file: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated; its files are still about
        torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2)).save(tmp_path / "script.pt")  # type: ignore[no-untyped-call]
    torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)), tmp_path / "program.pt2")
    for spec, options in ((tmp_path / "script.pt", {}), (net_file, {"weights": tmp_path / "script.pt"})):
        assert "TorchScript, which cannot carry hooks" in sentence(spec, **options)
    assert "open it as the MODEL" in sentence(net_file, weights=tmp_path / "program.pt2")
