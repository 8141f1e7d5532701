"""Reading state dicts from files, without running anything in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import files, safetensors_file, torch_file
from hookviewer.sources.source import split_arguments
from hookviewer.sources.wording import shown, some

INSIDE = ("state_dict", "model_state_dict", "model_state", "model", "net", "network", "weights", "params")
"""Where training scripts keep the state dict in a larger checkpoint, the likeliest first."""

AVERAGED = ("ema", "model_ema", "ema_state_dict", "state_dict_ema", "params_ema")
"""Where they keep averaged weights."""

DEPTH = 4
"""How deep in a checkpoint a state dict is looked for."""


@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """A state dict: `values` by the names in the file. `key` is its place in a larger checkpoint.

    `others` are the places of further state dicts. `sha256` is that of the file.
    """

    path: Path
    values: Mapping[str, Any]
    sha256: str
    key: str = ""
    others: tuple[str, ...] = ()

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every tensor."""
        return {name: tuple(one.shape) for name, one in self.values.items() if isinstance(one, torch.Tensor)}


class Named(NamedTuple):
    """A file of weights as it is named: which of its state dicts, and what may differ from the model."""

    path: Path
    key: str = ""
    allow: tuple[str, ...] = ()


def named(spec: str | Path) -> Named:
    """Return what `checkpoint.pt?key=ema&allow=missing,unexpected` names; raise a sentence for no file."""
    text = str(spec)
    if "?" not in text or _is_file(text):
        return Named(files.existing(text))
    place, arguments = split_arguments(text)
    unknown = [name for name in arguments if name not in ("key", "allow")]
    if unknown:
        raise HookViewerError(
            f"A file of weights takes no {shown(unknown[0])!r}: write {shown(place, 300)}?key=NAME or "
            f"{shown(place, 300)}?allow=missing."
        )
    allow = tuple(word for word in str(arguments.get("allow") or "").split(",") if word)
    return Named(files.existing(place), str(arguments.get("key") or ""), allow)


def read(spec: str | Path, *, trust: bool = False, data: bool = True) -> State:
    """Read the state dict of a .safetensors file, of an index of several, or of a file of torch.save.

    Without `data` the tensors have shapes only and take no
    memory. Raises `HookViewerError` for everything else, and `TrustNeeded` for a file that holds objects.
    """
    path, key, _ = named(spec)
    if path.name.endswith(".index.json"):
        return State(path, safetensors_file.read_index(path, _torch_shard, data), torch_file.sha256(path))
    kind = files.usable_kind(path)
    if kind == "safetensors":
        return State(path, safetensors_file.read(path, data), torch_file.sha256(path))
    if kind == "exported":
        raise HookViewerError(f"{shown(path, 300)} is a whole program of torch.export: open it as the MODEL.")
    loaded = torch_file.load(path, trust=trust, data=data)
    return _chosen(path, loaded.content, key, loaded.sha256)


def _torch_shard(path: Path, data: bool) -> Mapping[str, Any]:
    return _chosen(path, torch_file.load(path, data=data).content, "", "").values


def _is_file(text: str) -> bool:
    try:
        return Path(text).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def from_content(path: Path, content: Any, digest: str) -> State | None:
    """Return the state dict in what a file held, `None` when there is none."""
    found = _ranked(content)
    if not found:
        return None
    key, values = found[0]
    check_sizes(path, values)
    return State(path, values, digest, key, tuple(other for other, _ in found[1:]))


def _chosen(path: Path, content: Any, key: str, digest: str) -> State:
    found = dict(_ranked(content))
    if not found:
        raise HookViewerError(
            f"{shown(path, 300)} holds no state dict: save one with torch.save(model.state_dict(), …)."
        )
    if key and key not in found:
        named_ones = [place for place in found if place]
        now = f"choose from {some(named_ones, 8)}" if named_ones else "it is one as a whole, leave ?key= out"
        raise HookViewerError(f"{shown(path, 300)} has no state dict {shown(key)!r}: {now}.")
    key = key or next(iter(found))
    check_sizes(path, found[key])
    return State(path, found[key], digest, key, tuple(other for other in found if other != key))


def _ranked(content: Any) -> list[tuple[str, Mapping[str, Any]]]:
    if isinstance(content, nn.Module):
        return [("", content.state_dict())]
    found = list(_state_dicts(content, "", 0))
    return sorted(found, key=lambda entry: (_rank(entry[0]), -len(entry[1])))


def _rank(key: str) -> int:
    words = key.split(".")
    for place, names in ((0, ("",)), (1, INSIDE), (len(INSIDE) + 1, AVERAGED)):
        if words[-1] in names:
            return place + names.index(words[-1])
    return 100


def _state_dicts(content: Any, key: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every mapping from names to tensors with its place, going no deeper than `DEPTH`."""
    if isinstance(content, nn.Module):
        yield key, content.state_dict()
    elif isinstance(content, Mapping) and depth <= DEPTH:
        names = [name for name in content if isinstance(name, str)]
        tensors = [name for name in names if isinstance(content[name], torch.Tensor)]
        if tensors and 2 * len(tensors) > len(content):
            # as it is where it can be: a state dict of torch carries the versions of its modules
            yield key, content if len(names) == len(content) else {name: content[name] for name in names}
            return
        for name in names:
            if name not in ("optimizer", "optimizer_states", "lr_schedulers"):
                yield from _state_dicts(content[name], f"{key}.{name}" if key else name, depth + 1)


def check_sizes(path: Path, values: Mapping[str, Any]) -> None:
    """Raise a sentence for a tensor that states more numbers than its file holds bytes for."""
    for name, value in values.items():
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
            continue
        if value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise HookViewerError(
                f"{shown(path, 300)}: {shown(name)} states {value.numel():,} numbers and holds fewer, so "
                "that loading it would fill the memory: save contiguous tensors."
            )
