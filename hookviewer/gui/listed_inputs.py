"""The inputs of the session and the ways in which each is run: listed, ticked, exchanged, taken off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from hookviewer.gui.input_lane import InputLane
from hookviewer.gui.listing import Listing
from hookviewer.gui.run_lane import RunLane
from hookviewer.gui.state import InputItem, Message, Run, Selection, Variant
from hookviewer.inputs import Input


class ListedInputs(QObject):
    """What `Session` knows of inputs; a run of one under one variant has the number of its item."""

    inputs_changed = Signal()
    auto: bool
    listing: Listing
    runs: Mapping[int, Run]
    selection: Selection
    _input_lane: InputLane
    _run_lane: RunLane

    def run_missing(self) -> None:
        """Record what is wanted and not recorded yet, on the inputs that lack it."""
        raise NotImplementedError

    def tell(self, message: Message) -> None:
        """Show a message in place."""
        raise NotImplementedError

    def set_runs(self, made: Mapping[int, Run]) -> None:
        """Keep these runs, by the number of their item, in place of all others."""
        raise NotImplementedError

    # -- the list

    def open_inputs(self, specs: Sequence[Any], *, ticked: bool = True) -> None:
        """Open inputs (specs, paths, tensors, pictures) for the present model and list them."""
        self._input_lane.open(specs, ticked=ticked)

    def add_inputs(self, inputs: Iterable[Input], *, ticked: bool = True) -> None:
        """List opened inputs; with `auto`, ticked ones are run."""
        before = len(self.inputs)
        self._set_listing(self.listing.added(inputs, ticked=ticked))
        for item in self.inputs[before:]:
            for note in item.input.notes:  # the tooltip has all of them
                if note.startswith("Warning"):
                    self.tell(Message("warn", f"{item.input.name}:", note))
                elif "guess" in note:
                    self.tell(Message("info", note))
        if self.auto and len(self.inputs) > before:
            self.run_missing()

    def prepare_inputs(self) -> None:
        """Make the listed inputs anew for the present model, where a spec says how; the others stay."""
        self._run_lane.drop()
        self._input_lane.prepare()

    def exchange_input(self, number: int, spec: Any) -> None:
        """Put another input into the place of one: the next picture of a folder, another frame of a film."""
        self._input_lane.exchange(number, spec)

    def take_inputs(self, made: Mapping[int, Input]) -> None:
        """Put `made` inputs, by number, into the places of those that are listed; their runs are dropped."""
        listing, before = self.listing.with_made(made), self.inputs
        changed = {one.number for one, old in zip(listing.inputs, before, strict=True) if one != old}
        if changed:
            self._run_lane.drop()
        self._keep_runs_of(item for item in self.items if item.listed not in changed)
        self._set_listing(listing)
        if self.auto:
            self.run_missing()

    def put_back(self, place: int, item: InputItem, run: Run | None) -> None:
        """List an input again that was removed, at its place and with its run."""
        if any(one.number == item.number for one in self.inputs):
            return
        if run is not None:
            self.set_runs({**self.runs, item.number: run})
        self._set_listing(self.listing.with_back(place, item))

    def remove_input(self, number: int) -> None:
        """Take an input off the list; the message offers to put it back."""
        item, run = self.item(number), self.runs.get(number)
        undo = partial(self.put_back, self.inputs.index(item), item, run)
        self.take_off(number)
        self.tell(Message("info", f"Removed {item.input.name}.", undo=undo))

    def take_off(self, number: int) -> None:
        """Take an input and its runs off the list."""
        self._set_listing(self.listing.without(number))
        self._keep_runs_of(self.items)

    def tick_input(self, number: int, on: bool) -> None:
        """Tick or untick an input; ticked ones are run and shown as columns."""
        self._set_listing(self.listing.with_ticks(on, number))
        if on and self.auto:
            self.run_missing()

    def tick_inputs(self, on: bool) -> None:
        """Tick or untick every input."""
        self._set_listing(self.listing.with_ticks(on))
        if on and self.auto:
            self.run_missing()

    def set_variants(self, variants: Sequence[Variant]) -> None:
        """Run every ticked input in these ways, one column each; runs of a variant that changed are dropped.

        The first one is the plain way as a rule; there is at least one.
        """
        listing, before = self.listing.with_variants(variants), self.variants
        if listing.variants == before:
            return
        self._run_lane.drop()
        self._keep_runs_of(item for item in listing.items if item.variant in before)
        self._set_listing(listing)
        self._run_lane.drop_models()
        if self.auto:
            self.run_missing()

    @property
    def inputs(self) -> tuple[InputItem, ...]:
        """The rows of the input list."""
        return self.listing.inputs

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The ways in which every ticked input is run."""
        return self.listing.variants

    @property
    def items(self) -> tuple[InputItem, ...]:
        """Every listed input under every variant: the variants of the first input first."""
        return self.listing.items

    @property
    def ticked_inputs(self) -> tuple[InputItem, ...]:
        """The ticked inputs in the order of the list, each under every variant."""
        return self.listing.ticked

    @property
    def current_input(self) -> InputItem | None:
        """The selected input, or the first one."""
        return self.listing.current(self.selection.input)

    def item(self, number: int) -> InputItem:
        """Return the input with this number; raise `KeyError` when it is not listed."""
        return self.listing.item(number)

    def _keep_runs_of(self, items: Iterable[InputItem]) -> None:
        kept = {item.number for item in items}
        self.set_runs({key: run for key, run in self.runs.items() if key in kept})

    def _set_listing(self, listing: Listing) -> None:
        before, self.listing = self.listing, listing
        if (listing.inputs, listing.variants) != (before.inputs, before.variants):
            self.inputs_changed.emit()
