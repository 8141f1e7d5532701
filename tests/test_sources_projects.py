"""Projects, recipes and reading again: what is found without importing, and what an edit changes."""

from __future__ import annotations

import gc
import os
import sys
import time
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.sources import ChoiceNeeded, card, open_model, recipe_inputs, reopen, scan

HEAD = "raise RuntimeError('imported')\nimport torch\nfrom torch import nn\n"


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


# ------------------------------------------------------------------ reading a folder


def test_a_folder_is_read_without_importing_anything(tmp_path: Path) -> None:
    before = set(sys.modules)
    written(
        tmp_path,
        {
            "net.py": HEAD
            + "class Net(nn.Module):\n"
            + "    def __init__(self, width, depth=2, *, act='relu', **more):\n"
            + "        self.block = Block(width)\n"
            + "class Config: pass\n",
            "parts/block.py": HEAD + "from net import Base\nclass Block(Base):\n    pass\n",
            "parts/base.py": HEAD + "class Base(torch.nn.Module):\n    def __init__(self, width=8): pass\n",
            "build.py": HEAD
            + "def tiny(width=4):\n    model = Net(width)\n    return model\n"
            + "def made() -> nn.Module: ...\n"
            + "def pair():\n    return Net(1), torch.ones(1)\n"
            + "def load_data(path): return 3\n"
            + "def _hidden(): return Net(1)\n",
        },
    )
    found = {one.name: one for one in scan(tmp_path)}
    assert set(found) == {"Net", "Block", "Base", "tiny", "made", "pair"}
    assert found["Net"].signature == "Net(width, depth=2, act='relu')"
    assert found["Net"].required == ("width",)
    assert found["Net"].line == 4
    assert found["Block"].part
    assert not found["Net"].part
    assert found["Block"].signature == "Block(width=8)"
    assert found["tiny"].kind == "function"
    assert found["tiny"].spec == f"{tmp_path}/build.py:tiny"
    assert [one.name for one in scan(tmp_path)][-1] == "Block"
    assert not {name for name in set(sys.modules) - before if name.startswith(("net", "parts"))}


def test_folders_that_are_not_the_projects_own_and_files_that_cannot_be_read_are_skipped(
    tmp_path: Path,
) -> None:
    net = "class Net(Module): pass\n"
    places = (".git/a.py", "venv/a.py", "node_modules/a.py", "x/site-packages/a.py", "own/a.py")
    written(tmp_path, dict.fromkeys(places, net))
    written(tmp_path, {"env2/pyvenv.cfg": "", "env2/lib/a.py": net, "huge.py": net + "#" * (1 << 20)})
    written(
        tmp_path,
        {"broken.py": "class Net(Module:\n", "deep.py": "x = " + "(" * 5000, "minus.py": "-" * 50_000},
    )
    (tmp_path / "nul.py").write_bytes(b"class Net(Module): pass\n\0")
    (tmp_path / "around").symlink_to(tmp_path)
    assert [one.file for one in scan(tmp_path)] == [tmp_path / "own" / "a.py"]


def test_a_thousand_files_are_read_in_seconds(tmp_path: Path) -> None:
    text = HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x + 1\n" * 20
    written(tmp_path, {f"{k % 10}/net{k}.py": text for k in range(300)})
    began = time.process_time()
    assert len(scan(tmp_path)) == 300 * 20
    assert time.process_time() - began < 10


# ------------------------------------------------------------------ opening a folder


def test_a_folder_with_several_models_lists_them_with_arguments_and_defaults(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"net.py": HEAD + "class A(nn.Module):\n    def __init__(self, n, m=3): pass\nclass B(A): pass\n"},
    )
    with pytest.raises(ChoiceNeeded) as caught:
        open_model(str(tmp_path))
    assert [one.name for one in caught.value.candidates] == ["A", "B"]
    assert f"{tmp_path}/net.py:A(n, m=3)" in str(caught.value)
    assert str(caught.value).endswith(f"{tmp_path}/net.py:A?n=VALUE.")


def test_a_folder_with_one_model_opens_it(tmp_path: Path) -> None:
    net = "from torch import nn\nclass Net(nn.Linear):\n    def __init__(self, n=2): super().__init__(n, 1)\n"
    written(tmp_path, {"a/net.py": net})
    assert open_model(f"{tmp_path}?n=5").get_parameter("weight").shape == (1, 5)


def test_a_file_inside_a_package_may_import_its_neighbours_in_every_way(tmp_path: Path) -> None:
    net = (
        "from torch import nn\n"
        "from ..layers import WIDTH\n"
        "from hv_pkg.layers import WIDTH as same\n"
        "import hv_top\n"
        "class Net(nn.Linear):\n"
        "    def __init__(self):\n"
        "        super().__init__(WIDTH + same, hv_top.TWO)\n"
    )
    files = {f"hv_pkg/{name}__init__.py": "" for name in ("", "nets/")}
    written(
        tmp_path,
        {**files, "hv_pkg/layers.py": "WIDTH = 3\n", "hv_pkg/nets/net.py": net, "hv_top.py": "TWO = 2\n"},
    )
    path = list(sys.path)
    model = open_model(f"{tmp_path}/hv_pkg/nets/net.py:Net")
    assert model.in_features == 6
    assert sys.path == path
    written(tmp_path, {"hv_pkg/layers.py": "WIDTH = 4\n"})
    again = reopen(card(model))
    assert again.in_features == 8
    names = {Path(name).name for name in card(again).files}
    assert {"net.py", "layers.py", "hv_top.py"} <= names


def test_a_missing_module_says_where_and_how_to_start_elsewhere(tmp_path: Path) -> None:
    written(tmp_path, {"net.py": "import torch\nimport hv_not_there\n"})
    for spec in (f"{tmp_path}/net.py:Net", "hv_not_there:Net"):
        with pytest.raises(hv.HookViewerError) as caught:
            open_model(spec)
        assert "'hv_not_there'" in str(caught.value)
        assert sys.prefix in str(caught.value)
        assert "packaging/hv.py run --python" in str(caught.value)


# ------------------------------------------------------------------ recipes

RECIPE = """\
import torch
from torch import nn

def one():
    return nn.Linear(2, 1), torch.ones(3, 2)

def several():
    return nn.Linear(2, 1), [torch.ones(3, 2), {"input": torch.zeros(1, 2)}, (torch.ones(2),)]
"""


def test_a_recipe_gives_a_model_and_its_inputs(tmp_path: Path) -> None:
    written(tmp_path, {"recipe.py": RECIPE})
    model = open_model(f"{tmp_path}/recipe.py:one")
    (given,) = recipe_inputs(model)
    assert hv.open_input(given, model).args[0].shape == (3, 2)
    model = open_model(f"{tmp_path}/recipe.py:several")
    inputs = [hv.open_input(one, model) for one in recipe_inputs(model)]
    assert [model(*one.args, **one.kwargs).shape for one in inputs] == [(3, 1), (1, 1), (1,)]
    assert recipe_inputs(nn.Linear(2, 2)) == ()


def test_the_inputs_of_a_recipe_keep_no_model_alive(tmp_path: Path) -> None:
    written(tmp_path, {"recipe.py": RECIPE})
    model = open_model(f"{tmp_path}/recipe.py:one")
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


# ------------------------------------------------------------------ reading again

NET = """\
from torch import nn
class Net(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.linear = nn.Linear(2, width)
"""


def test_an_edited_file_and_edited_weights_are_read_again(tmp_path: Path) -> None:
    written(tmp_path, {"net.py": NET})
    torch.save({"linear.weight": torch.ones(3, 2), "linear.bias": torch.ones(3)}, tmp_path / "w.pt")
    model = open_model(f"{tmp_path}/net.py:Net", weights=tmp_path / "w.pt")
    assert set(card(model).files) == {f"{tmp_path}/net.py", f"{tmp_path}/w.pt"}
    written(tmp_path, {"net.py": NET.replace("width=3", "width=5")})
    torch.save({"linear.weight": torch.ones(5, 2), "linear.bias": torch.zeros(5)}, tmp_path / "w.pt")
    again = reopen(card(model))
    assert again.get_parameter("linear.bias").tolist() == [0.0] * 5
    assert model.get_parameter("linear.bias").tolist() == [1.0] * 3
    assert card(again).spec == card(model).spec


def test_options_and_what_was_allowed_are_kept(tmp_path: Path) -> None:
    written(tmp_path, {"net.py": NET})
    torch.save({"linear.weight": torch.ones(4, 2)}, tmp_path / "w.pt")
    model = open_model(
        f"{tmp_path}/net.py:Net", weights=tmp_path / "w.pt", weights_allow=["missing"], width=4
    )
    again = reopen(card(model))
    assert again.get_parameter("linear.weight").tolist() == [[1.0, 1.0]] * 4


def test_a_syntax_error_is_told_with_its_line_and_the_old_model_still_works(tmp_path: Path) -> None:
    written(tmp_path, {"hv_layers.py": "WIDTH = 3\n", "net.py": f"from hv_layers import WIDTH\n{NET}"})
    model = open_model(f"{tmp_path}/net.py:Net")
    kept = sys.modules["hv_layers"], sys.modules[type(model).__module__]
    for name, text in (("net.py", "from torch import nn\nclass Net(:\n"), ("hv_layers.py", "WIDTH = = 3\n")):
        written(tmp_path, {name: text})
        with pytest.raises(hv.HookViewerError, match=rf"{name}, line {text.count(chr(10))}: SyntaxError"):
            reopen(card(model))
        assert (sys.modules["hv_layers"], sys.modules[type(model).__module__]) == kept
        written(tmp_path, {"net.py": f"from hv_layers import WIDTH\n{NET}"})
    assert model.get_parameter("linear.weight").shape == (3, 2)
    written(tmp_path, {"hv_layers.py": "WIDTH = 3\n"})
    assert type(reopen(card(model))) is not type(model)


def test_a_package_of_the_persons_own_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"hv_mine/__init__.py": "", "hv_mine/nets.py": NET})
    monkeypatch.chdir(tmp_path)
    model = open_model("hv_mine.nets:Net")
    assert card(model).files == (str(tmp_path / "hv_mine" / "nets.py"),)
    written(tmp_path, {"hv_mine/nets.py": NET.replace("width=3", "width=9")})
    assert reopen(card(model)).get_parameter("linear.bias").shape == (9,)
    linear = open_model("torch.nn:Linear?in_features=2&out_features=2")
    assert type(reopen(card(linear))) is nn.Linear


def test_an_untrained_model_read_again_is_the_same_and_the_random_state_stays(tmp_path: Path) -> None:
    written(tmp_path, {"net.py": NET})
    torch.manual_seed(0)
    model = open_model(f"{tmp_path}/net.py:Net")
    before = torch.get_rng_state()
    again = reopen(card(model))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one, again.state_dict()[name]) for name, one in model.state_dict().items())


def test_a_live_model_cannot_be_read_again() -> None:
    with pytest.raises(hv.HookViewerError, match="in your code"):
        reopen(card(nn.Linear(2, 2)))


def test_no_compiled_file_is_left_in_the_persons_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    written(tmp_path, {"hv_side.py": "WIDTH = 3\n", "net.py": f"import hv_side\n{NET}"})
    open_model(f"{tmp_path}/net.py:Net")
    assert sorted(os.fspath(one.name) for one in tmp_path.iterdir()) == ["hv_side.py", "net.py"]
    assert sys.dont_write_bytecode is False


def test_the_command_line_records_what_a_recipe_brings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hookviewer.cli import main

    written(tmp_path, {"recipe.py": RECIPE, "bare.py": NET})
    out = str(tmp_path / "run.npz")
    assert main(["capture", f"{tmp_path}/recipe.py:one", "--layers", "*", "--out", out]) == 0
    (record,) = hv.load(out).values()
    assert record.array().shape == (3, 1)
    assert main(["capture", f"{tmp_path}/bare.py", "--layers", "*", "--out", out]) == 1
    assert "give one with --input" in capsys.readouterr().err
