"""The command line: what is printed, what is written, and how each mistake ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import hookviewer as hv
from hookviewer.cli import main
from hookviewer.cli.window import has_screen

Captured = pytest.CaptureFixture[str]

MLP = ("capture", "demo:mlp", "--out", "OUT", "--input", "demo:ones")

FAILING = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(3, 4), nn.Linear(5, 2), nn.ReLU()

    def forward(self, x):
        return self.last(self.second(self.first(x)))
"""


@pytest.fixture
def failing(tmp_path: Path) -> str:
    file = tmp_path / "failing.py"
    file.write_text(FAILING)
    return f"{file}:Net"


def fails(capsys: Captured, *words: str) -> str:
    """Run a command that must end with status 1 and one sentence on standard error; return the sentence."""
    assert main(words) == 1
    error = capsys.readouterr().err
    assert error.startswith("hookviewer: ")
    assert error.count("\n") == 1
    return error


def misused(capsys: Captured, *words: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    return capsys.readouterr().err


# ------------------------------------------------------------------ tree


def test_the_tree_names_every_module_with_its_type_and_parameters(capsys: Captured) -> None:
    assert main(["tree", "demo:three_layers"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["module", "type", "parameters"]
    assert rows[1:] == [
        ["(the", "model)", "ThreeLayers", "77"],
        ["layer1", "Linear", "55"],
        ["layer2", "Linear", "18"],
        ["layer3", "Linear", "4"],
    ]


def test_the_tree_with_an_input_has_shapes_and_calls(capsys: Captured) -> None:
    assert main(["tree", "demo:simple_cnn", "--input", "demo:ones"]) == 0
    out = capsys.readouterr().out
    assert "1×3×32×32 → 1×16×30×30" in out
    assert out.splitlines()[0] == "ones"


def test_the_tree_as_json_is_what_the_library_says(capsys: Captured) -> None:
    assert main(["tree", "demo:simple_cnn", "--input", "demo:ones", "random:2x3x8x8", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert [entry["path"] for entry in tree["modules"]] == ["", "conv1", "relu"]
    assert tree["parameters"] == 448
    runs = tree["modules"][1]["runs"]
    assert runs["random 2 × 3 × 8 × 8"]["calls"][0]["outputs"] == [[2, 16, 6, 6]]
    assert runs["ones"]["never_called"] is None


def test_two_inputs_of_one_name_are_two_runs(capsys: Captured, tmp_path: Path) -> None:
    for folder, size in (("a", 5), ("b", 7)):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "x.npy", np.ones((1, 3, size, size), np.float32))
    inputs = [str(tmp_path / folder / "x.npy") for folder in ("a", "b")]
    assert main(["tree", "demo:simple_cnn", "--input", *inputs, "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["modules"][1]["runs"]
    shapes = {name: run["calls"][0]["outputs"] for name, run in runs.items()}
    assert list(shapes.values()) == [[[1, 16, 3, 3]], [[1, 16, 5, 5]]]
    first, second = shapes
    assert second == f"{first} (2)"


def test_shared_and_uncalled_modules_say_what_they_are(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.a = self.b = nn.Linear(2, 2)\n"
        "        self.idle = nn.ReLU()\n"
        "    def forward(self, x):\n"
        "        return self.b(self.a(x))\n"
    )
    assert main(["tree", str(tmp_path / "net.py"), "--input", "ones:1x2"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:]}
    assert lines["a"].endswith(" 2")
    assert "the same module as a" in lines["b"]
    model = hv.open_model(str(tmp_path / "net.py"))
    run = hv.capture(model, torch.ones(1, 2), hv.HookPlan())
    assert run.never_called["idle"] in lines["idle"]


def test_a_tree_of_a_model_that_raises_is_printed_up_to_the_failing_module(
    capsys: Captured, failing: str
) -> None:
    assert main(["tree", failing, "--input", "ones:1x3"]) == 1
    done = capsys.readouterr()
    assert "1×3 → 1×4" in done.out
    assert "second" in done.err
    assert "Traceback" not in done.err


# ------------------------------------------------------------------ capture


def test_capture_writes_every_layer_and_input_in_every_format(capsys: Captured, tmp_path: Path) -> None:
    out = tmp_path / "maps"
    words = ["capture", "demo:simple_cnn", "--input", "demo:ones", "--input", "random:1x3x32x32"]
    assert main([*words, "--layers", "*", "--format", "png,npz", "--out", str(out)]) == 0
    printed = [Path(line) for line in capsys.readouterr().out.splitlines() if line.startswith(str(out))]
    assert {path.name for path in printed} == {path.name for path in out.iterdir()}
    assert sorted(path.suffix for path in printed) == [".json", *[".npz"] * 6, *[".png"] * 6]
    manifest = json.loads((out / "manifest.json").read_text())
    named = {(what["path"], what["input"]) for what in manifest["files"].values()}
    assert named == {
        (path, name) for path in ("", "conv1", "relu") for name in ("ones", "random 1 × 3 × 32 × 32")
    }


def test_what_capture_writes_is_what_a_plain_hook_sees(tmp_path: Path) -> None:
    seen: list[torch.Tensor] = []
    model = hv.open_model("demo:pnet")
    model.get_submodule("conv2").register_forward_hook(
        lambda m, i, output: seen.append(output.detach().clone())
    )
    model(*hv.open_input("demo:astronaut", model).args)
    words = ["capture", "demo:pnet", "--input", "demo:astronaut", "--layers", "conv2", "--format", "npz"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    (file,) = (tmp_path / "out").glob("*.npz")
    with np.load(file) as arrays:
        assert any(np.array_equal(arrays[name], seen[0].numpy()) for name in arrays.files)


def test_capture_with_methods_writes_their_maps_in_place_of_tensors(tmp_path: Path) -> None:
    file = tmp_path / "maps.npz"
    words = ["capture", "demo:pnet", "--input", "demo:astronaut", "--layers", "conv2", "--out", str(file)]
    assert main([*words, "--method", "grad_cam", "gradient_input", "--target", "class 1 of [1]"]) == 0
    found = hv.load(file)
    assert [(key.path, key.leaf) for key in found] == [("conv2", "grad_cam"), ("", "gradient_input")]
    assert main([*words, "--force", "--method", "gradcam", "--target", "top"]) == 1


def test_capture_into_one_file_is_a_recording_that_opens_again(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    words = ["capture", "demo:fc_relu_fc", "--input", "demo:ones", "--layers", "*", "--out", str(file)]
    assert main([*words, "--kinds", "output,grad_output,param_grad", "--target", "total"]) == 0
    run = hv.load(file)
    assert run.record("relu1", hv.Kind.GRAD_OUTPUT).array().tolist() == [[10.0, 20.0, 30.0, 40.0]]
    assert run[hv.Key("fc1", hv.Kind.PARAM_GRAD, 0, "bias")].array().tolist() == [10.0, 0.0, 30.0, 0.0]


def test_capture_as_json_names_files_targets_and_what_is_absent(capsys: Captured, tmp_path: Path) -> None:
    words = [
        "capture",
        "demo:tensor_hook",
        "--input",
        "values:[[1., 2.], [3., 4.]]",
        "--layers",
        "y",
        "--json",
    ]
    words += ["--kinds", "output,grad_output", "--target", "total", "--out", str(tmp_path / "o")]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"][0]["target_value"] == 13.5
    assert told["runs"][0]["absent"] == []
    assert {what["kind"] for what in told["files"].values()} == {"output", "grad_output"}
    assert all(Path(name).is_file() for name in told["files"])


def test_a_class_may_be_named_or_numbered(capsys: Captured, tmp_path: Path) -> None:
    values = []
    for number, target in enumerate(["3", "7", "top"]):
        words = ["capture", "demo:digits", "--input", "demo:digit", "--layers", "9", "--kinds", "grad_output"]
        assert main([*words, "--target", target, "--json", "--out", str(tmp_path / str(number))]) == 0
        values.append(json.loads(capsys.readouterr().out)["runs"][0]["target_value"])
    model = hv.open_model("demo:digits")
    scores = model(*hv.open_input("demo:digit", model).args)[0].tolist()
    assert values == pytest.approx([scores[3], scores[7], max(scores)])
    words = ["capture", "demo:mobilenet_v2", "--input", "demo:chelsea", "--layers", "features.0"]
    assert "Egyptian cat" in fails(capsys, *words, "--target", "egyptian cat", "--out", str(tmp_path / "x"))


def test_nothing_is_overwritten_without_force(capsys: Captured, tmp_path: Path) -> None:
    words = ["capture", "demo:three_layers", "--input", "demo:ones", "--layers", "layer1", "--format", "npz"]
    words += ["--out", str(tmp_path / "out")]
    assert main(words) == 0
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
    assert "exist already" in fails(capsys, *words)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()} == before
    assert main([*words, "--force"]) == 0


def test_when_a_model_raises_what_was_recorded_until_then_is_written(
    capsys: Captured, failing: str, tmp_path: Path
) -> None:
    words = ["capture", failing, "--input", "ones:1x3", "--layers", "*", "--format", "npz"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 1
    done = capsys.readouterr()
    assert "second" in done.err
    assert done.err.count("\n") == 1
    assert any("first" in file.name for file in (tmp_path / "out").glob("*.npz"))


def test_when_a_model_raises_before_anything_was_recorded_its_error_is_told(
    capsys: Captured, tmp_path: Path
) -> None:
    place = str(tmp_path / "out")
    error = fails(
        capsys, "capture", "demo:simple_cnn", "--input", "ones:1x1x8x8", "--layers", "relu", "--out", place
    )
    assert "conv1 raised RuntimeError" in error
    assert "channels" in error
    assert not Path(place).exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tree", "demo:mobilenetv2"], "mobilenet_v2"),
        (["tree", "nothing.py"], "There is no file"),
        (["tree", "demo:digits", "--input", "demo:chelse"], "chelsea"),
        (["tree", "demo:digits", "--weights", "nothing.pt"], "There is no file"),
        ([*MLP, "--layers", "fc3"], "fc1"),
        ([*MLP, "--layers", "fc1", "--device", "moon"], "moon"),
        ([*MLP, "--layers", "fc1", "--kinds", "grad_output"], "target"),
        ([*MLP, "ones:2x784", "--layers", "fc1", "--out", "OUT.npz"], "folder"),
        (["capture", "demo:mlp", "--out", "OUT", "--input", "ones:1x7", "--layers", "fc2"], "fc1"),
    ],
)  # fmt: skip
def test_a_mistake_ends_in_one_sentence_and_status_1(
    capsys: Captured, tmp_path: Path, words: list[str], told: str
) -> None:
    place = str(tmp_path / "out")
    assert told in fails(capsys, *[word.replace("OUT", place) for word in words])
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["capture", "demo:mlp", "--layers", "fc1", "--out", "x"],
        ["capture", "demo:mlp", "--input", "demo:ones", "--out", "x"],
        ["capture", "demo:mlp", "--input", "demo:ones", "--layers", "fc1"],
        ["capture", "demo:mlp", "--input", "demo:ones", "--layers", "fc1", "--out", "x", "--kinds", "maps"],
        ["capture", "demo:mlp", "--input", "demo:ones", "--layers", "fc1", "--out", "x", "--format", "bmp"],
        ["shot", "demo:mlp", "--out", "x.png", "--size", "big"],
        ["shot", "demo:mlp"],
        ["tree"],
        ["--nonsense"],
    ],
)
def test_wrong_usage_ends_with_status_2(capsys: Captured, words: list[str]) -> None:
    assert "usage: hookviewer" in misused(capsys, *words)


# ------------------------------------------------------------------ the program as a whole


def test_a_network_without_weights_is_the_same_one_at_every_start(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        words = [
            "capture",
            "torch.nn:Linear?in_features=2&out_features=3",
            "--input",
            "ones:1x2",
            "--layers",
            "",
        ]
        assert main([*words, "--out", str(tmp_path / name)]) == 0
    first, second = (
        hv.load(tmp_path / name).record("", hv.Kind.OUTPUT).array() for name in ("a.npz", "b.npz")
    )
    assert np.array_equal(first, second)


def test_ctrl_c_ends_quietly(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt\n")
    assert main(["tree", str(tmp_path / "slow.py")]) == 130
    assert capsys.readouterr().err == ""


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hookviewer"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"hookviewer {hv.__version__}\n"
    wrong = subprocess.run([*command, "tree", "demo:nothing"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "Traceback" not in wrong.stderr


def offscreen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run hookviewer as a program on a machine without a screen."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "hookviewer", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_shot_is_a_picture_of_the_window_in_the_size_asked_for(tmp_path: Path) -> None:
    words = ["--input", "demo:digit", "--layers", "0", "--size", "1300x820", "--out", "window.png"]
    done = offscreen(tmp_path, "shot", "demo:digits", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "window.png\n"
    with Image.open(tmp_path / "window.png") as image:
        assert image.size == (1300, 820)
        assert len(image.convert("RGB").getcolors(1 << 24)) > 100


def test_a_shot_of_nothing_ends_in_a_sentence(tmp_path: Path) -> None:
    done = offscreen(tmp_path, "shot", "demo:nothing", "--out", "window.png")
    assert done.returncode == 1
    assert done.stderr.startswith("hookviewer: There is no demo model 'nothing'")
    assert not (tmp_path / "window.png").exists()


def test_without_a_target_gradients_are_left_out_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["capture", "demo:fc_relu_fc", "--input", "demo:ones", "--layers", "fc1", "--target", "none"]
    out = str(tmp_path / "run.npz")
    assert main([*asked, "--kinds", "output,grad_output", "--out", out]) == 0
    assert "Without a target there is no grad_output." in capsys.readouterr().err
    assert {key.kind for key in hv.load(out)} == {hv.Kind.OUTPUT}
    assert main([*asked, "--kinds", "grad_output", "--out", str(tmp_path / "other.npz")]) == 1
    assert "choose another target" in capsys.readouterr().err


def test_without_a_screen_the_main_job_is_done_in_pictures(tmp_path: Path) -> None:
    done = offscreen(tmp_path, "demo:fc_relu_fc", "--input", "demo:ones")
    assert done.returncode == 0, done.stderr
    written = [tmp_path / line for line in done.stdout.splitlines()[1:]]
    assert all(file.is_file() for file in written)
    assert sum(file.suffix == ".png" for file in written) >= 2


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: nn.Module) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("hookviewer.cli.tree.module_tree", broken)
    with pytest.raises(ZeroDivisionError):
        main(["tree", "demo:mlp"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells by its environment")
@pytest.mark.parametrize(
    ("environment", "screen"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ({"DISPLAY": ""}, False),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "xcb"}, True),
    ],
)
def test_what_counts_as_a_screen(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], screen: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_screen() is screen
