"""What a cell sees of the picture: found once per model and size of input, on the model thread."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookviewer.gui.attention_records import is_attention
from hookviewer.gui.remembered import remembered
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import InputItem
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import input_leaves
from hookviewer.receptive import COMPUTED, MEASURED, Box, Field, Fields, Uncomputed, fields, support
from hookviewer.recording import Record

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "fields"
OF_A_CALL = (Kind.OUTPUT, Kind.GRAD_OUTPUT, Kind.ATTRIBUTION)
"""The kinds of tensors whose cells are those of a module's output."""

Array = npt.NDArray[np.float64]
Sizes = tuple[int, int]
Signature = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Seen:
    """What one cell sees, in pixels of the input's tensor of so many rows and columns (`size`).

    `middle` is the middle of the field, which may lie outside of the picture; `extent` is its height and
    width on an endless picture where that is known, else that of `box`. `way` says how it was found,
    `unruled` names the operation for which it had to be measured.
    """

    box: Box
    middle: tuple[float, float]
    extent: Sizes
    size: Sizes
    way: str = COMPUTED
    everywhere: bool = False
    unruled: str = ""

    def middle_in(self, height: int, width: int) -> Sizes:
        """Return the middle as a pixel of a picture of this size; it stays inside."""
        rows, columns = self.size
        row = int((self.middle[0] + 0.5) * height / rows)
        column = int((self.middle[1] + 0.5) * width / columns)
        return min(max(row, 0), height - 1), min(max(column, 0), width - 1)


class FieldLane:
    """Answers from what is known at once; `want` brings what is not known yet, and `fields_changed` tells."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[Signature, Fields | str] = {}
        self._measured: dict[tuple[Signature, Key, tuple[Any, ...]], Box | None] = {}
        self._asked: object = None

    def forget(self) -> None:
        """Another model is looked at."""
        self.make_way()
        self._known.clear()
        self._measured.clear()

    def make_way(self) -> None:
        """Stop looking: a run is wanted. Nothing is lost but what was begun."""
        self._asked = None
        self._session.runner.cancel(LANE)

    def seen(self, item: InputItem, record: Record, sizes: Sizes, cell: Sizes, sample: int) -> Seen | None:
        """Return what a cell of a record's maps [C, *sizes] sees, where it is known."""
        known = self._known.get(self._signature(item))
        if not isinstance(known, Fields) or not _of_a_call(record) or of_another_model(item):
            return None
        field = known.of(record.key)
        if isinstance(field, Field) and field.shape == sizes:
            return _computed(field, cell, known.size)
        if not isinstance(field, Uncomputed):
            return None
        box = self._measured.get(self._place(item, record, sizes, cell, sample))
        return None if box is None else _measured(box, known.size, field.name)

    def seen_at(self, item: InputItem, key: Key, place: tuple[int | None, ...]) -> Seen | None:
        """Return what one element of a module's output sees, by its index; None where no rule is known."""
        known = self._known.get(self._signature(item))
        field = known.of(key) if isinstance(known, Fields) else None
        if not isinstance(known, Fields) or not isinstance(field, Field) or field.folded:
            return None
        axes = [axis % len(place) for axis in field.places]
        row, column = (place[axis] for axis in axes)
        if row is None or column is None or not (row < field.shape[0] and column < field.shape[1]):
            return None
        return _computed(field, (row, column), known.size)

    def middles(self, item: InputItem, record: Record, sizes: Sizes) -> tuple[Array, Array] | None:
        """Return where the cells of each row and column of maps see the picture, as shares of its sides.

        It is the middle of what they see; None where no rule is known.
        """
        known = self._known.get(self._signature(item))
        if not isinstance(known, Fields) or not _of_a_call(record) or of_another_model(item):
            return None
        field = known.of(record.key)
        if not isinstance(field, Field) or field.shape != sizes:
            return None
        rows, columns = (axis.middles for axis in (field.rows, field.columns))
        return (rows + 0.5) / known.size[0], (columns + 0.5) / known.size[1]

    @property
    def idle(self) -> bool:
        """Whether nothing is being looked for."""
        return self._asked is None

    def want_all(self, item: InputItem) -> None:
        """Find what the cells of all modules see, where it is not known yet and nothing else is going on."""
        session = self._session
        if session.model is None or session.running or of_another_model(item):
            return
        if looks_like_a_picture(item.input) and self._signature(item) not in self._known:
            self._find(item)

    def want(self, item: InputItem, record: Record, sizes: Sizes, cell: Sizes, sample: int) -> None:
        """Find what a cell sees where that is not known yet and nothing else is going on."""
        session = self._session
        if session.model is None or session.running or of_another_model(item):
            return
        if not looks_like_a_picture(item.input) or not _of_a_call(record):
            return
        known = self._known.get(self._signature(item))
        if known is None:
            self._find(item)
        elif isinstance(known, Fields) and isinstance(known.of(record.key), Uncomputed):
            self._measure(item, record, sizes, cell, sample)

    def _signature(self, item: InputItem) -> Signature:
        return (shapes_of(item.input), self._session.settings.mode, self._session.calls.on)

    def _place(
        self, item: InputItem, record: Record, sizes: Sizes, cell: Sizes, sample: int
    ) -> tuple[Signature, Key, tuple[Any, ...]]:
        signature = self._signature(item)
        known = self._known.get(signature)
        key = known.key_of(record.key) if isinstance(known, Fields) else record.key
        return signature, key, index_of(record.shape, sizes, cell, sample) or ()

    def _find(self, item: InputItem) -> None:
        model, signature = self._session.model, self._signature(item)
        settings, given, ops = self._session.settings, item.input, self._session.calls.on
        assert model is not None

        def work(job: Job) -> Fields:
            return fields(
                model,
                given.args,
                kwargs=given.kwargs,
                mode=settings.mode,
                seed=settings.seed,
                device=settings.device,
                cancelled=job.cancelled,
                ops=ops,
            )

        self._submit(("fields", signature), work, self._known, signature)

    def _measure(self, item: InputItem, record: Record, sizes: Sizes, cell: Sizes, sample: int) -> None:
        place = self._place(item, record, sizes, cell, sample)
        if not place[2] or place in self._measured:
            return
        model, settings, given = self._session.model, self._session.settings, item.input
        assert model is not None

        def work(job: Job) -> Box | None:
            return support(
                model,
                given.args,
                place[1],
                place[2],
                kwargs=given.kwargs,
                mode=settings.mode,
                seed=settings.seed,
                device=settings.device,
                cancelled=job.cancelled,
            )

        self._submit(("measured", place), work, self._measured, place)

    def _submit(self, asked: object, work: Any, kept: dict[Any, Any], key: Any) -> None:
        """Let the model thread find something, unless it does already; the answer is kept under `key`."""
        if asked == self._asked:
            return
        self._asked = asked

        def arrived(found: object) -> None:
            if self._asked == asked:
                self._asked = None
                kept[key] = found
                self._session.fields_changed.emit()

        def failed(failure: Failure) -> None:
            if self._asked == asked:
                self._asked = None
                kept[key] = failure.sentence if kept is self._known else None
                if failure.report:
                    self._session.tell_failure("The receptive field is not known.", failure)

        self._session.runner.submit(LANE, work, on_result=arrived, on_failure=failed)


@remembered()
def shapes_of(given: Input) -> Signature:
    """Return what of an input the geometry of a net depends on: places, shapes and types of its tensors."""
    found = input_leaves(given.args, given.kwargs)
    return tuple((leaf, tuple(tensor.shape), tensor.dtype) for leaf, tensor in found)


def looks_like_a_picture(given: Input) -> bool:
    """Return whether the first tensor of an input has rows and columns."""
    first = next((shape for _, shape, _ in shapes_of(given)), ())
    return len(first) == 4 or (len(first) == 3 and given.image is not None)


def of_another_model(item: InputItem) -> bool:
    """Return whether a column is of another model than the open one, whose geometry is not known."""
    return any(name == "spec" for name, _ in item.variant.changes)


def _of_a_call(record: Record) -> bool:
    """Return whether the cells of a record are those of a module's output; those of attention are pairs."""
    return record.key.kind in OF_A_CALL and not is_attention(record.key)


def index_of(shape: tuple[int, ...], sizes: Sizes, cell: Sizes, sample: int) -> tuple[Any, ...] | None:
    """Return where the values of a cell, of all channels, are in a tensor whose maps have these sizes.

    [N, C, H, W], [C, H, W], [N, H, W, C] and [N, L, D] with L tokens in a grid, at its end; None for others.
    """
    row, column = cell
    if len(shape) == 4 and shape[2:] == sizes:
        return (sample, ..., row, column)
    if len(shape) == 4 and shape[1:3] == sizes:
        return (sample, row, column)
    if len(shape) == 3 and shape[1:] == sizes:
        return (..., row, column)
    tokens = sizes[0] * sizes[1]
    if len(shape) == 3 and tokens <= shape[1] <= tokens + 8:
        return (sample, shape[1] - tokens + row * sizes[1] + column)
    return None


def _computed(field: Field, cell: Sizes, size: Sizes) -> Seen | None:
    box = field.box(cell)
    if box is None:
        return None
    scales = field.rows.scale, field.columns.scale
    extent = box.size if scales[0] is None or scales[1] is None else (scales[0].size, scales[1].size)
    return Seen(box, field.middle(cell), extent, size, COMPUTED, field.everywhere)


def _measured(box: Box, size: Sizes, unruled: str) -> Seen:
    middle = ((box.top + box.bottom - 1) / 2, (box.left + box.right - 1) / 2)
    return Seen(box, middle, box.size, size, MEASURED, False, unruled)
