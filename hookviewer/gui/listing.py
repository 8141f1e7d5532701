"""Which inputs are listed and in which ways each is run: what becomes a column. Pure."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from hookviewer.gui.state import PLAIN, InputItem, Variant, next_number
from hookviewer.inputs import Input


@dataclasses.dataclass(frozen=True)
class Listing:
    """The rows of the input list, and the variants under which every one of them is run.

    `numbers` are those of inputs under variants, by row and variant; `last` is the latest number given.
    """

    inputs: tuple[InputItem, ...] = ()
    variants: tuple[Variant, ...] = (PLAIN,)
    numbers: Mapping[tuple[int, int], int] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    last: int = 0

    @functools.cached_property
    def items(self) -> tuple[InputItem, ...]:
        """Every listed input under every variant: the variants of the first input first."""
        return tuple(self._under(variant, item) for item in self.inputs for variant in self.variants)

    def _under(self, variant: Variant, item: InputItem) -> InputItem:
        if not variant.number:
            return item
        number = self.numbers[item.number, variant.number]
        return dataclasses.replace(item, number=number, variant=variant, row=item.number)

    @functools.cached_property
    def ticked(self) -> tuple[InputItem, ...]:
        """The ticked inputs in the order of the list, each under every variant."""
        return tuple(item for item in self.items if item.ticked)

    def item(self, number: int) -> InputItem:
        """Return the input with this number; raise `KeyError` when it is not listed."""
        for one in self.items:
            if one.number == number:
                return one
        raise KeyError(number)

    def current(self, number: int) -> InputItem | None:
        """Return the input with this number, or the first one."""
        return next((one for one in self.items if one.number == number), next(iter(self.items), None))

    def added(self, inputs: Iterable[Input], *, ticked: bool) -> Listing:
        """Return the list with further rows at its end."""
        rows, last = list(self.inputs), self.last
        for one in inputs:
            last = next_number(last, rows)
            rows.append(InputItem(last, one, ticked))
        return dataclasses.replace(self, last=last).with_inputs(rows)

    def with_inputs(self, inputs: Iterable[InputItem]) -> Listing:
        """Return the list with these rows in place of all others."""
        return dataclasses.replace(self, inputs=tuple(inputs))._numbered()

    def with_variants(self, variants: Iterable[Variant]) -> Listing:
        """Return the list with these variants; where there is none, the plain one."""
        return dataclasses.replace(self, variants=tuple(variants) or (PLAIN,))._numbered()

    def with_ticks(self, on: bool, number: int | None = None) -> Listing:
        """Return the list with one row ticked or not, or all of them."""
        return self.with_inputs(
            dataclasses.replace(one, ticked=on) if number in (None, one.number) else one
            for one in self.inputs
        )

    def with_made(self, made: Mapping[int, Input]) -> Listing:
        """Return the list with other inputs in the rows of these numbers."""
        return self.with_inputs(
            dataclasses.replace(one, input=made.get(one.number, one.input)) for one in self.inputs
        )

    def without(self, number: int) -> Listing:
        """Return the list without a row."""
        return self.with_inputs(one for one in self.inputs if one.number != number)

    def with_back(self, place: int, item: InputItem) -> Listing:
        """Return the list with a row put back at its place."""
        return self.with_inputs((*self.inputs[:place], item, *self.inputs[place:]))

    def _numbered(self) -> Listing:
        """Return the list with a number for each input under each variant; one that has a number keeps it."""
        numbers, last = dict(self.numbers), self.last
        for key in _lacking(self.inputs, self.variants, numbers):
            last = next_number(last, self.inputs)
            numbers[key] = last
        return dataclasses.replace(self, numbers=MappingProxyType(numbers), last=last)


def _lacking(
    inputs: Sequence[InputItem], variants: Sequence[Variant], numbers: Mapping[tuple[int, int], int]
) -> list[tuple[int, int]]:
    keys = ((item.number, variant.number) for item in inputs for variant in variants if variant.number)
    return [key for key in keys if key not in numbers]
