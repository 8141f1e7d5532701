"""What may run code when it is loaded: asked first, remembered by content, never a way round."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import hostile
import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.sources import TrustNeeded, card, open_model, pickles, trust

NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.relu = nn.Linear(2, 3), nn.ReLU()

    def forward(self, x):
        return self.relu(self.first(x))
"""


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(trust, "store", lambda: tmp_path / "config" / "hookviewer" / "trusted.json")
    return trust.store()


def asked(spec: object, **options: Any) -> TrustNeeded:
    with pytest.raises(TrustNeeded) as caught:
        open_model(str(spec), **options)
    return caught.value


@pytest.fixture
def module_file(tmp_path: Path) -> Path:
    torch.save(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), tmp_path / "module.pt")
    return tmp_path / "module.pt"


# ------------------------------------------------------------------ the question


def test_the_question_carries_the_file_its_hash_and_what_it_names(module_file: Path) -> None:
    error = asked(module_file)
    assert error.path == module_file
    assert error.sha256 == hashlib.sha256(module_file.read_bytes()).hexdigest()
    assert "torch.nn.modules.container.Sequential" in error.names
    assert "--trust" in str(error)
    assert error.sha256[:16] in str(error)


def test_a_yes_opens_the_file_and_is_remembered_for_its_content(module_file: Path, tmp_path: Path) -> None:
    model = open_model(str(module_file), trust=True)
    assert type(model) is nn.Sequential
    assert card(model).sha256 == hashlib.sha256(module_file.read_bytes()).hexdigest()
    assert type(open_model(str(module_file))) is nn.Sequential
    moved = tmp_path / "moved.pth"
    module_file.rename(moved)
    assert type(open_model(str(moved))) is nn.Sequential
    moved.write_bytes(hostile.saved(hostile.touch(tmp_path)))
    asked(moved)
    assert not (tmp_path / hostile.MARK).exists()


def test_a_yes_given_elsewhere_counts(module_file: Path) -> None:
    error = asked(module_file)
    trust.remember(error.sha256, error.path)
    assert type(open_model(str(module_file))) is nn.Sequential


def test_weights_inside_a_pickled_module_need_the_same_yes(module_file: Path) -> None:
    spec = "torch.nn:Linear?in_features=2&out_features=3"
    asked(spec, weights=module_file)
    with pytest.raises(hv.HookViewerError, match="does not fit"):
        open_model(spec, weights=module_file, trust=True)


def test_a_checkpoint_of_modules_opens_the_averaged_one(tmp_path: Path) -> None:
    torch.save({"epoch": 3, "model": nn.Linear(2, 2), "ema": nn.Linear(2, 5)}, tmp_path / "c.pt")
    assert open_model(str(tmp_path / "c.pt"), trust=True).get_parameter("bias").shape == (5,)


def test_mere_weights_are_never_loaded_as_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"w": torch.ones(2)}, tmp_path / "w.pt")
    calls: list[bool] = []
    load = torch.load
    monkeypatch.setattr(torch, "load", lambda *a, **k: (calls.append(k["weights_only"]), load(*a, **k))[1])
    with pytest.raises(hv.HookViewerError, match="holds weights"):
        open_model(str(tmp_path / "w.pt"), trust=True)
    assert calls == [True]


# ------------------------------------------------------------------ the store


def test_the_store_is_small_plain_and_private(own_store: Path, module_file: Path) -> None:
    open_model(str(module_file), trust=True)
    content = json.loads(own_store.read_text())
    assert content["files"] == [
        {"sha256": hashlib.sha256(module_file.read_bytes()).hexdigest(), "path": str(module_file)}
    ]
    assert stat.S_IMODE(own_store.stat().st_mode) == 0o600
    assert list(own_store.parent.iterdir()) == [own_store]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"version": 2, "files": []}',
        '{"version": 1, "files": [{"sha256": "HASH"}]}',
        '{"version": 1, "files": [{"sha256": 5, "path": ""}]}',
        '{"version": 1, "files": {"sha256": "HASH", "path": ""}}',
        "[" * 100_000,
    ],
)
def test_a_store_that_is_not_as_it_was_written_trusts_nothing(
    own_store: Path, module_file: Path, content: str
) -> None:
    digest = hashlib.sha256(module_file.read_bytes()).hexdigest()
    own_store.parent.mkdir(parents=True)
    own_store.write_text(content.replace("HASH", digest))
    assert trust.trusted() == frozenset()
    asked(module_file)


# ------------------------------------------------------------------ classes of a script


def test_a_module_of_a_script_opens_with_the_file_that_defines_it(tmp_path: Path) -> None:
    (tmp_path / "defs.py").write_text(NET)
    import __main__

    model = open_model(f"{tmp_path}/defs.py")
    kind = type(model)
    kind.__module__, before = "__main__", kind.__module__
    __main__.Net = kind  # type: ignore[attr-defined]
    try:
        torch.save(model, tmp_path / "whole.pt")
    finally:
        del __main__.Net  # type: ignore[attr-defined]
        kind.__module__ = before
    with pytest.raises(hv.HookViewerError, match=r"Net of the script that saved it.*\?code=FILE\.py"):
        open_model(f"{tmp_path}/whole.pt", trust=True)
    again = open_model(f"{tmp_path}/whole.pt?code={tmp_path}/defs.py")
    assert all(torch.equal(one, model.state_dict()[name]) for name, one in again.state_dict().items())


def test_a_module_whose_package_is_missing_says_which_and_how(tmp_path: Path) -> None:
    (tmp_path / "hv_gone_defs.py").write_text(NET)
    sys.path.insert(0, str(tmp_path))
    try:
        import hv_gone_defs  # type: ignore[import-not-found]

        torch.save(hv_gone_defs.Net(), tmp_path / "whole.pt")
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("hv_gone_defs")
    (tmp_path / "hv_gone_defs.py").unlink()
    with pytest.raises(
        hv.HookViewerError, match=r"needs the module 'hv_gone_defs'.*hv\.py run --python PATH"
    ):
        open_model(f"{tmp_path}/whole.pt", trust=True)
    (tmp_path / "renamed.py").write_text(NET)
    assert type(open_model(f"{tmp_path}/whole.pt?code={tmp_path}/renamed.py")).__name__ == "Net"


# ------------------------------------------------------------------ programs of torch.export


def test_a_program_opens_after_a_yes_and_every_module_has_its_record(tmp_path: Path) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.relu = nn.Linear(2, 3), nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.relu(self.first(x))

    net, x = Net(), torch.randn(4, 2)
    torch.export.save(torch.export.export(net, (x,)), tmp_path / "program.pt2")
    assert "sample" not in asked(tmp_path / "program.pt2").names
    model = open_model(str(tmp_path / "program.pt2"), trust=True)
    assert card(model).input_shape == (4, 2)
    plan = hv.HookPlan.of(model, "first", "relu", kinds={hv.Kind.OUTPUT, hv.Kind.GRAD_OUTPUT})
    run = hv.capture(model, x, plan, target=hv.total())
    torch.testing.assert_close(run.record("first", hv.Kind.OUTPUT).tensor(), net.first(x))
    torch.testing.assert_close(run.record("relu", hv.Kind.GRAD_OUTPUT).tensor(), torch.ones(4, 3))


# ------------------------------------------------------------------ reading a pickle without running it


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_names_in_a_pickle_are_read_without_importing_them(tmp_path: Path, protocol: int) -> None:
    torch.save([hostile.Evil(os.system, "true"), "posix", "x"], tmp_path / "p.pt", pickle_protocol=protocol)
    assert pickles.names_in_file(tmp_path / "p.pt") == ("posix.system",)


def test_names_out_of_the_memo_are_found(tmp_path: Path) -> None:
    step = b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x8c\x04true\x85R0h\x00h\x01\x93."
    (tmp_path / "p.pt").write_bytes(hostile.repacked(hostile.saved({}), {"data.pkl": step}))
    assert pickles.names_in_file(tmp_path / "p.pt") == ("posix.system",)
