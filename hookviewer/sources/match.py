"""How well a state dict fits a model: pure comparison of names and shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import nn

from hookviewer.modules import unwrapped
from hookviewer.sources.wording import some, spelled_shape

ALLOWED = ("missing", "unexpected", "mismatched")
"""What a person may allow not to fit."""

WRAPPERS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")
"""Names that wrappers of torch put anywhere in a path."""

PREFIXES = ("module.", "model.", "net.", "network.")
"""Names under which DataParallel, Lightning and training scripts keep the network."""


class Mismatched(NamedTuple):
    """A tensor of one shape in the file and of another in the model."""

    name: str
    in_file: tuple[int, ...]
    in_model: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Match:
    """What differs between a state dict and a model, by the model's names.

    `missing`: of the model and not in the file. `unexpected`: in the file and not of the model, by the file's
    names. `mismatched`: of other shapes. `renamed`: the file's names of those found under another name.
    `fitting`: names of all that can be loaded. `in_model` and `in_file`: the shapes of the missing and of the
    unexpected ones, as far as they are tensors of a known shape.
    """

    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[Mismatched, ...] = ()
    renamed: Mapping[str, str] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    fitting: tuple[str, ...] = ()
    in_model: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    in_file: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=lambda: MappingProxyType({}))

    @property
    def exact(self) -> bool:
        """Whether everything fits."""
        return not self.trouble()

    def trouble(self, allow: Collection[str] = ()) -> tuple[str, ...]:
        """Return the kinds of difference that there are and that nobody allowed."""
        return tuple(kind for kind in ALLOWED if getattr(self, kind) and kind not in allow)

    def described(self, kinds: Iterable[str] = ALLOWED) -> str:
        """Return the differences of these kinds in words."""
        shapes = (
            f"{name} is {spelled_shape(there)} in the file and {spelled_shape(here)} in the model"
            for name, there, here in self.mismatched
        )
        words = {
            "missing": f"the file lacks {some(self.missing)}",
            "unexpected": f"the model has no {some(self.unexpected)}",
            "mismatched": some(shapes),
        }
        return "; ".join(words[kind] for kind in kinds if getattr(self, kind))


def match(model: nn.Module, state: Mapping[str, Any]) -> Match:
    """Return how well `state` fits `model`; nothing is loaded.

    Prefixes of wrappers are taken off the file's names where that lets more of them fit.
    """
    own = unwrapped(model)[0].state_dict()
    renamed = _renamed(tuple(state), frozenset(own))
    by_model = {renamed[name]: name for name in state}
    shared = [name for name in own if name in by_model]
    mismatched = tuple(
        Mismatched(name, tuple(state[by_model[name]].shape), tuple(own[name].shape))
        for name in shared
        if not same_shape(state[by_model[name]], own[name])
    )
    wrong = {entry.name for entry in mismatched}
    missing = tuple(name for name in own if name not in by_model and not _is_count(name))
    unexpected = tuple(name for name in state if renamed[name] not in own)
    return Match(
        missing=missing,
        unexpected=unexpected,
        mismatched=mismatched,
        renamed=MappingProxyType({by_model[name]: name for name in shared if by_model[name] != name}),
        fitting=tuple(name for name in shared if name not in wrong),
        in_model=_shapes(own, missing),
        in_file=_shapes(state, unexpected),
    )


def _shapes(values: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    tensors = {name: values[name] for name in names if isinstance(values[name], torch.Tensor)}
    known = {name: one for name, one in tensors.items() if not nn.parameter.is_lazy(one)}
    return MappingProxyType({name: tuple(one.shape) for name, one in known.items()})


def _is_count(name: str) -> bool:
    # torch itself takes a file from before 0.4.1 without it
    return name.endswith("num_batches_tracked")


def same_shape(stored: Any, own: Any) -> bool:
    """Whether a value can be loaded; what is no tensor, and what a lazy module still has to make, can be."""
    if not isinstance(stored, torch.Tensor) or not isinstance(own, torch.Tensor):
        return isinstance(stored, torch.Tensor) == isinstance(own, torch.Tensor)
    return nn.parameter.is_lazy(own) or tuple(stored.shape) == tuple(own.shape)


def _renamed(names: tuple[str, ...], own: frozenset[str]) -> Mapping[str, str]:
    """Return the model's name for each name of the file: the way of stripping under which most names fit."""
    best = {name: name for name in names}
    for candidate in strippings(best):
        if len(set(candidate.values())) == len(names) and _hits(candidate, own) > _hits(best, own):
            best = candidate
    return best


def _hits(renamed: Mapping[str, str], own: frozenset[str]) -> int:
    return sum(name in own for name in renamed.values())


def strippings(names: dict[str, str]) -> Iterable[dict[str, str]]:
    """Yield the names with wrappers taken off, then with one prefix after the other taken off as well."""
    for wrapper in WRAPPERS:
        names = {old: new.replace(wrapper, "") for old, new in names.items()}
    yield names
    for _ in range(3):
        prefix = _common_prefix(names.values())
        if not prefix:
            return
        names = {old: new.removeprefix(prefix) for old, new in names.items()}
        yield names


def _common_prefix(names: Iterable[str]) -> str:
    """Return the known prefix that most names have; others may stand beside the network, as a loss does."""
    counts = {prefix: 0 for prefix in PREFIXES}
    for name in names:
        for prefix in PREFIXES:
            counts[prefix] += name.startswith(prefix)
    best = max(PREFIXES, key=lambda prefix: counts[prefix])
    return best if counts[best] else ""
