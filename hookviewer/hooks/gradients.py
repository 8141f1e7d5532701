"""Gradients: hooks on tensors at the moment they flow, and one backward pass that touches no `.grad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge
from torch.utils.hooks import RemovableHandle

from hookviewer import torch_private
from hookviewer.edits import Edit, edited, same
from hookviewer.errors import HookViewerError
from hookviewer.hooks.journal import Journal
from hookviewer.hooks.survey import survey
from hookviewer.kinds import Key
from hookviewer.recording import Record
from hookviewer.snapshot import snapshot

OVERWRITTEN = "View overwritten in place later: gradient taken from the memory that it was a view of."
WRITTEN = "The module wrote into its input: the gradient counts all later uses of that memory."
ALL_USES = "The gradient counts all uses of the memory that this is a view of."


class Geometry(NamedTuple):
    """Where a view lies in its base."""

    base_size: tuple[int, ...]
    base_stride: tuple[int, ...]
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, view: torch.Tensor, base: torch.Tensor) -> Geometry:
        """Return the place of `view` in `base`."""
        offset = int(view.storage_offset() - base.storage_offset())
        return cls(tuple(base.size()), base.stride(), tuple(view.size()), view.stride(), offset)

    def cut(self, gradient: torch.Tensor) -> torch.Tensor:
        """Return the part of the base's gradient that belongs to the view."""
        whole = torch.empty_strided(
            self.base_size, self.base_stride, dtype=gradient.dtype, device=gradient.device
        )
        return whole.copy_(gradient).as_strided(self.size, self.stride, self.offset)


class View(NamedTuple):
    """A view whose gradient is wanted; if it is overwritten later its own hook does not see everything."""

    key: Key
    base: torch.Tensor
    version: int
    base_edge: GradientEdge
    geometry: Geometry


class Gradients:
    """Watches tensors during the forward pass and records their gradients during the backward pass."""

    def __init__(self, journal: Journal, check_cancelled: Callable[[], None]) -> None:
        self.journal = journal
        self.check_cancelled = check_cancelled
        self.watched: set[Key] = set()
        self.parts: dict[Key, list[torch.Tensor]] = {}
        self.elsewhere: set[Key] = set()
        """Keys whose gradient comes from another place than the hook on their own tensor."""
        self.notes: dict[Key, tuple[str, ...]] = {}
        self.before: dict[Key, Record] = {}
        self.edited: dict[Key, list[Edit]] = {}
        self.edges: list[GradientEdge] = []
        self.views: list[View] = []
        self.reached: set[Node] = set()
        self.effects: dict[int, bool] = {}
        """The edits (by `id`) that were applied, and whether any of them has changed a gradient."""
        self.handles: list[RemovableHandle] = []

    def watch(
        self,
        key: Key,
        tensor: torch.Tensor,
        edits: list[Edit] | None = None,
        beside: Sequence[torch.Tensor] = (),
    ) -> None:
        """Record the gradient of `tensor` as it is now, also if it is a view that is overwritten later.

        The gradients of the tensors `beside` it, which stand for it too, are added.
        """
        for other in beside:
            self.parts.setdefault(key, [])
            self.edit(key, other, edits or [])
            self._read(key, other)
        base = torch_private.base_of(tensor)
        if base is not None and base.requires_grad:
            edge = self._wanted(base)
            version = torch_private.version(tensor)
            self.views.append(View(key, base, version, edge, Geometry.of(tensor, base)))
        self.watch_object(key, tensor, edits)

    def watch_memory(self, key: Key, tensor: torch.Tensor, edits: list[Edit] | None = None) -> None:
        """Record the gradient of the memory behind `tensor`: its module has just written there in place."""
        base = torch_private.base_of(tensor)
        if base is None or not base.requires_grad:
            self.watch_object(key, tensor, edits)
            return
        self._unable(edits)
        self.notes[key] = (WRITTEN,)
        self._read(key, base, Geometry.of(tensor, base).cut)

    def watch_object(self, key: Key, tensor: torch.Tensor, edits: list[Edit] | None = None) -> None:
        """Record the gradient that flows into this very tensor object, after `edits`."""
        if edits:
            self.edited[key] = edits
            self._read_before(key, tensor)
            self.edit(key, tensor, edits)
        self._read(key, tensor)

    def edit(self, key: Key, tensor: torch.Tensor, edits: list[Edit]) -> None:
        """Change the gradient that flows into `tensor`."""
        for edit in edits:
            self.handles.append(_hooked(tensor, self._editor(edit, key)))

    def watch_total(self, key: Key, tensor: torch.Tensor, note: str) -> None:
        """Record the gradient of `tensor` for a key whose own tensor object is not used any further."""
        self.elsewhere.add(key)
        self.notes[key] = (note,)
        self._read(key, tensor, None, from_elsewhere=True)

    def _wanted(self, tensor: torch.Tensor) -> GradientEdge:
        edge = get_gradient_edge(tensor)
        self.edges.append(edge)
        return edge

    def _read(
        self,
        key: Key,
        tensor: torch.Tensor,
        cut: Callable[[torch.Tensor], torch.Tensor] | None = None,
        *,
        from_elsewhere: bool = False,
    ) -> None:
        self.watched.add(key)
        self._wanted(tensor)

        def hook(
            gradient: torch.Tensor | None,
        ) -> None:  # it must hold neither the tensor nor return anything
            if gradient is not None and (from_elsewhere or key not in self.elsewhere):
                self._arrived(key, gradient if cut is None else cut(gradient))

        self.handles.append(_hooked(tensor, hook))

    def _read_before(self, key: Key, tensor: torch.Tensor) -> None:
        def hook(gradient: torch.Tensor | None) -> None:
            if gradient is not None:
                self.before[key] = snapshot(key, gradient, self.journal.budget)

        self.handles.append(_hooked(tensor, hook))

    def _editor(self, edit: Edit, key: Key) -> Callable[[torch.Tensor | None], torch.Tensor | None]:
        def hook(gradient: torch.Tensor | None) -> torch.Tensor | None:
            if gradient is None:
                return None
            new = edited(gradient, edit, key)
            if not self.effects.get(id(edit)):
                self.effects[id(edit)] = not same(new, gradient)
            return new

        return hook

    def _unable(self, edits: list[Edit] | None) -> None:
        for edit in edits or ():
            self.journal.note(
                f"The edit {edit} did not run: the tensor is a view of memory changed in place."
            )

    def _arrived(self, key: Key, gradient: torch.Tensor) -> None:
        self.check_cancelled()
        if key in self.parts:
            self.parts[key].append(gradient.clone())
        elif key not in self.journal.records:
            self.journal.take(key, gradient, notes=self.notes.get(key, ()), before_edit=self.before.get(key))

    def settle_views(self) -> None:
        """After the forward pass: find the gradients of views that have been overwritten since."""
        for view in self.views:
            if torch_private.version(view.base) != view.version:
                self.through_overwrite(view.key, view.base, view.base_edge, view.geometry, OVERWRITTEN)
        self.views.clear()

    def through_overwrite(
        self, key: Key, base: torch.Tensor, base_edge: GradientEdge, geometry: Geometry, note: str
    ) -> None:
        """Add what flows to a view's old values through the in-place operations that overwrote them.

        The operation became a `CopySlices` node of the base, fed by the base's edge from before. Where none
        is found, the base's own gradient is taken instead, which counts all uses of the base.
        """
        self._unable(self.edited.get(key))
        node = _copy_slices(base, base_edge)
        if node is not None:
            self.parts.setdefault(key, [])
            self.notes[key] = (*self.notes.get(key, ()), note)

            def after(inputs: tuple[Any, ...], _outputs: tuple[Any, ...]) -> None:
                if inputs and inputs[0] is not None:
                    self._arrived(key, geometry.cut(inputs[0]))

            self.handles.append(node.register_hook(after))
            return
        self.elsewhere.add(key)
        self.notes[key] = (*self.notes.get(key, ()), note, ALL_USES)

        def before(outputs: tuple[Any, ...]) -> None:
            if outputs[base_edge.output_nr] is not None:
                self._arrived(key, geometry.cut(outputs[base_edge.output_nr]))

        self.handles.append(base_edge.node.register_prehook(before))

    def drive(self, number: torch.Tensor, parameters: list[torch.Tensor]) -> bool:
        """Run the backward pass from `number`; return whether `.grad` had to be used for it.

        Only the edges from which no other wanted edge can be reached are asked for: the hooks on the way to
        them run all the same, and torch then holds no second copy of the gradients.
        """
        graph = survey(get_gradient_edge(number).node, {edge.node for edge in self.edges})
        self.reached = graph.reached
        if graph.reentrant:
            if torch_private.steps_after_gradients(parameters):
                raise HookViewerError(
                    "This model checkpoints with use_reentrant=True and steps an optimizer inside the "
                    "backward pass: looking would train it. Use use_reentrant=False."
                )
            torch_private.backward_inside(number, None)
        else:
            ends = [edge for edge in dict.fromkeys(self.edges) if edge.node in graph.frontier]
            if ends:
                torch_private.backward_inside(number, ends)
        self._sum_up()
        return graph.reentrant

    def _sum_up(self) -> None:
        for key, parts in self.parts.items():
            if parts:
                self.journal.take(key, sum(parts[1:], parts[0]), notes=self.notes.get(key, ()))
        self.parts.clear()

    def close(self) -> None:
        """Remove every hook and let go of the graph."""
        for handle in self.handles:
            handle.remove()
        for held in (self.handles, self.edges, self.views, self.reached, self.parts, self.before):
            held.clear()


def _hooked(tensor: torch.Tensor, hook: Callable[[torch.Tensor | None], Any]) -> RemovableHandle:
    def quiet(gradient: torch.Tensor | None) -> Any:
        with (
            torch_private.without_torch_function()
        ):  # what a hook computes is no functional call of the model
            return hook(gradient)

    handle: RemovableHandle = tensor.register_hook(quiet)  # type: ignore[no-untyped-call]
    return handle


def _copy_slices(base: torch.Tensor, edge: GradientEdge) -> Node | None:
    node = base.grad_fn
    while node is not None:
        following = node.next_functions[0][0] if node.next_functions else None
        if node.name().endswith("CopySlices") and following is edge.node:
            return node
        node = following
    return None
