"""The tree of a model's modules: frozen facts that hold no module."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from hookviewer import torch_private
from hookviewer.errors import HookViewerError

MAXIMUM_NAMES = 64
"""Names of one shared module that are followed; nested sharing doubles them at every level."""


@dataclasses.dataclass(frozen=True)
class ModuleNode:
    """One name of one module.

    `alias_of` is the canonical path where this is a second name of a shared module, `aliases` all its other
    names. `parameters` and `trainable` count elements, shared ones once, of the module and all below it.
    `own` lists the module's own parameters as (name, shape), shape `None` before a lazy module's first run.
    `tied` says which of them are the same tensor as a parameter elsewhere. `user_hooks` counts hooks that the
    user has put on it. `recursive` marks a module that contains itself: it is not followed further.
    """

    path: str
    type: str
    children: tuple[ModuleNode, ...] = ()
    alias_of: str | None = None
    aliases: tuple[str, ...] = ()
    parameters: int = 0
    trainable: int = 0
    own: tuple[tuple[str, tuple[int, ...] | None], ...] = ()
    tied: tuple[tuple[str, str], ...] = ()
    user_hooks: int = 0
    uninitialised: bool = False
    recursive: bool = False
    details: str = ""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def walk(self) -> Iterator[ModuleNode]:
        """Yield this node and all below it, parents first, in the order of registration."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclasses.dataclass(frozen=True, eq=False)
class ModuleIndex:
    """All modules of a model: `modules` by canonical (first) path, `aliases` from second paths to first."""

    root: nn.Module
    modules: dict[str, nn.Module]
    names: dict[int, list[str]]
    aliases: dict[str, str]

    def canonical(self, path: str) -> str | None:
        """Return the canonical path for any name of a module, `None` for no name at all."""
        path = self.aliases.get(path, path)
        return path if path in self.modules else None

    def path_of(self, module: nn.Module) -> str | None:
        """Return the canonical path of a module object."""
        names = self.names.get(id(module))
        return names[0] if names else None


def unwrapped(model: nn.Module) -> tuple[nn.Module, tuple[str, ...]]:
    """Return the module inside wrappers, and a sentence for each that was taken off.

    Raises `HookViewerError` for programs that have no modules to hook.
    """
    notes: list[str] = []
    while True:
        compiled = torch_private.compiled_original(model) if isinstance(model, nn.Module) else None
        if compiled is not None:
            model = compiled
            notes.append("The torch.compile wrapper was taken off: the module ran uncompiled.")
        elif isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
            notes.append(
                f"The {type(model).__name__} wrapper was taken off: paths are those of the inner model."
            )
            model = model.module
        else:
            return _hookable(model), tuple(notes)


def _hookable(model: Any) -> nn.Module:
    if isinstance(model, torch.jit.ScriptModule):
        raise HookViewerError(
            "TorchScript modules take no hooks: open the Python model that this program was made from."
        )
    if type(model).__name__ == "ExportedProgram":
        raise HookViewerError(
            "An exported program has no modules: pass torch.export.unflatten(program) instead."
        )
    if not isinstance(model, nn.Module):
        raise HookViewerError(
            f"A model is a torch.nn.Module, not a {type(model).__name__}: build the model first."
        )
    return model


def module_index(model: nn.Module) -> ModuleIndex:
    """Return every module of `model` (already unwrapped) by path; one that contains itself ends there."""
    index = ModuleIndex(model, {}, {}, {})
    _enter(model, "", frozenset(), index)
    return index


def _enter(module: nn.Module, path: str, above: frozenset[int], index: ModuleIndex) -> None:
    names = index.names.setdefault(id(module), [])
    if len(names) >= MAXIMUM_NAMES:
        return
    names.append(path)
    if len(names) == 1:
        index.modules[path] = module
    else:
        index.aliases[path] = names[0]
    if id(module) in above:
        return
    for name, child in children_of(module):
        _enter(child, joined(path, name), above | {id(module)}, index)


def children_of(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Return the named children, a shared child under each of its names."""
    return [(name, child) for name, child in module._modules.items() if child is not None]


def joined(path: str, name: str) -> str:
    """Return the path of a child."""
    return f"{path}.{name}" if path else name


HELD_DEPTH = 3
"""How deep lists, mappings and plain objects are searched for a module."""


_NO_HOLDERS = (nn.Module, torch.Tensor, str, bytes, type, types.ModuleType, types.FunctionType)


def place_in(owner: nn.Module, wanted: nn.Module) -> str | None:
    """Return where `owner` holds a module that is none of its submodules: `blocks[0]`, `heads['a']`."""
    named = [(name, child) for name, child in children_of(owner) if child is wanted]
    if named:
        return named[0][0]
    for name, value in vars(owner).items():
        if not name.startswith("_"):
            place = _place(value, wanted, name, HELD_DEPTH)
            if place is not None:
                return place
    return None


def _place(value: object, wanted: nn.Module, place: str, depth: int) -> str | None:
    if value is wanted:
        return place
    if depth == 0 or isinstance(value, _NO_HOLDERS):
        return None
    inner: Iterable[tuple[str, object]] = ()
    if isinstance(value, Mapping):
        inner = ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        inner = ((f"[{number}]", item) for number, item in enumerate(value))
    elif hasattr(value, "__dict__"):
        inner = ((f".{name}", item) for name, item in vars(value).items())
    found = (_place(item, wanted, place + name, depth - 1) for name, item in inner)
    return next((one for one in found if one is not None), None)


def module_tree(model: nn.Module) -> ModuleNode:
    """Return the module tree of `model`, wrappers taken off; nothing of the model is kept or changed."""
    inner, _ = unwrapped(model)
    index = module_index(inner)
    owners: dict[int, list[str]] = {}
    for path, module in index.modules.items():
        for name, parameter in _own_parameters(module):
            owners.setdefault(id(parameter), []).append(joined(path, name))
    return _node(inner, "", frozenset(), index, owners)


def _node(
    module: nn.Module, path: str, above: frozenset[int], index: ModuleIndex, owners: dict[int, list[str]]
) -> ModuleNode:
    names = index.names[id(module)]
    recursive = id(module) in above
    below = above | {id(module)}
    children = (
        ()
        if recursive
        else tuple(
            _node(child, joined(path, name), below, index, owners)
            for name, child in children_of(module)
            if joined(path, name) in index.names[id(child)]
        )
    )
    own = _own_parameters(module)
    everything = {id(parameter): parameter for parameter in module.parameters() if not is_lazy(parameter)}
    return ModuleNode(
        path,
        type(module).__name__,
        children,
        alias_of=None if path == names[0] else names[0],
        aliases=tuple(name for name in names if name != path),
        parameters=sum(parameter.numel() for parameter in everything.values()),
        trainable=sum(parameter.numel() for parameter in everything.values() if parameter.requires_grad),
        own=tuple((name, None if is_lazy(value) else tuple(value.shape)) for name, value in own),
        tied=tuple(_ties(names[0], own, owners)),
        user_hooks=torch_private.foreign_hooks(module),
        uninitialised=any(is_lazy(value) for _, value in own),
        recursive=recursive,
        details=_details(module),
    )


def _own_parameters(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return [(name, value) for name, value in module._parameters.items() if value is not None]


def _ties(
    path: str, own: list[tuple[str, nn.Parameter]], owners: dict[int, list[str]]
) -> Iterator[tuple[str, str]]:
    for name, value in own:
        others = [other for other in owners[id(value)] if other != joined(path, name)]
        if others:
            yield name, ", ".join(others)


def _details(module: nn.Module) -> str:
    """Return the constructor's arguments as the module itself prints them; a broken `extra_repr` says so."""
    try:
        return module.extra_repr()
    except Exception as error:
        return f"(extra_repr raised {type(error).__name__})"
