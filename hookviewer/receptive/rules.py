"""What each operation of torch does to the field of its input, by the name of its node in the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from hookviewer.receptive import axes
from hookviewer.receptive.axes import Axis
from hookviewer.receptive.field import Field


class Spread(Enum):
    """What depends on the picture as a whole, without places of its own."""

    SPREAD = "spread"


SPREAD = Spread.SPREAD
Known = Field | Spread | None
Shape = tuple[int, ...]
Rule = Callable[[Any, Field, Shape], Known]


class UnknownError(Exception):
    """An operation, or a use of one, that no rule tells of."""


def field(name: str, node: Any, given: Sequence[Known], shape: Shape) -> Known:
    """Return the field of what an operation made of fields `given`; `shape` is that of its result.

    Raises `UnknownError`.
    """
    if name in _CELLWISE:
        return _together([one for one in given if one is not None], shape)
    if name == "Cat":
        return _concatenated(node, [one for one in given if one is not None], shape)
    rule = _RULES.get(name)
    first, others = given[0] if given else None, [one for one in given[1:] if one is not None]
    if name in ("Addmm", "Mm"):  # the bias comes first in one of them
        fields = [one for one in given if isinstance(one, Field)]
        return _kept_folded(fields)
    if rule is None or not isinstance(first, Field) or others:
        raise UnknownError
    return rule(node, first, shape)


def _together(given: Sequence[Field | Spread], shape: Shape) -> Known:
    """Return the field of cells made of the same cells of several tensors; a lone cell goes to all."""
    fields = [one for one in given if isinstance(one, Field)]
    apart = [one for one in fields if _sizes(one, shape) == one.shape] or fields
    aligned = [_aligned(one, shape) for one in apart]
    if len({(one.places, one.shape, one.folded) for one in aligned}) != 1:
        raise UnknownError
    return Field(
        axes.joined([one.rows for one in aligned]),
        axes.joined([one.columns for one in aligned]),
        any(one.everywhere for one in aligned) or len(apart) < len(given),
        aligned[0].places,
        aligned[0].folded,
    )


def _sizes(one: Field, shape: Shape) -> tuple[int, int]:
    """Return rows and columns of the result where this field's lie in it."""
    if one.folded:
        return one.shape
    try:
        return shape[one.places[0]], shape[one.places[1]]
    except IndexError:
        raise UnknownError from None


def _aligned(one: Field, shape: Shape) -> Field:
    """Return the field with its lone rows and columns repeated."""
    height, width = _sizes(one, shape)
    if one.shape == (height, width):
        return one
    rows, columns = (_repeated(*pair) for pair in ((one.rows, height), (one.columns, width)))
    return dataclasses.replace(one, rows=rows, columns=columns)


def _repeated(axis: Axis, count: int) -> Axis:
    if axis.cells not in (1, count):
        raise UnknownError
    return axis if axis.cells == count else axes.picked(axis, np.zeros(count))


def _concatenated(node: Any, given: Sequence[Field | Spread], shape: Shape) -> Known:
    dim = _number(node._saved_dim) % len(shape)
    fields = [one for one in given if isinstance(one, Field)]
    if len(fields) < len(given) or any(one.folded for one in fields):
        raise UnknownError
    if dim not in fields[0].places:
        return _together(fields, shape)
    if len({one.places for one in fields}) != 1 or len(fields) < len(node.next_functions):
        raise UnknownError
    along = fields[0].places.index(dim)
    rows, columns = [one.rows for one in fields], [one.columns for one in fields]
    ways = (axes.behind, axes.joined) if along == 0 else (axes.joined, axes.behind)
    everywhere = any(one.everywhere for one in fields)
    return Field(ways[0](rows), ways[1](columns), everywhere, fields[0].places)


def _kept_folded(fields: Sequence[Field]) -> Known:
    if len(fields) != 1 or not fields[0].folded:
        raise UnknownError
    return fields[0]


def _changed(one: Field, shape: Shape, change: Callable[[Axis, int, int], Axis]) -> Field:
    """Return the field with `change(axis, cells, 0 or 1)` made to its rows and its columns."""
    if one.folded or one.places != (len(shape) - 2, len(shape) - 1):
        raise UnknownError
    return dataclasses.replace(
        one, rows=change(one.rows, shape[-2], 0), columns=change(one.columns, shape[-1], 1)
    )


def _convolution(node: Any, one: Field, shape: Shape) -> Known:
    kernel, stride = tuple(node._saved_weight.shape[2:]), node._saved_stride
    padding, dilation = node._saved_padding, node._saved_dilation
    if len(kernel) != 2:
        raise UnknownError
    way = axes.transposed if node._saved_transposed else axes.windows
    return _changed(
        one,
        shape,
        lambda axis, cells, i: way(axis, cells, kernel[i], stride[i], padding[i], dilation[i]),
    )


def _pooling(node: Any, one: Field, shape: Shape) -> Known:
    kernel, padding = node._saved_kernel_size, node._saved_padding
    stride = node._saved_stride or kernel
    dilation = getattr(node, "_saved_dilation", (1, 1))
    return _changed(
        one,
        shape,
        lambda axis, cells, i: axes.windows(axis, cells, kernel[i], stride[i], padding[i], dilation[i]),
    )


def _adaptive(node: Any, one: Field, shape: Shape) -> Known:
    return _changed(one, shape, lambda axis, cells, i: axes.adaptive(axis, cells))


def _nearest(node: Any, one: Field, shape: Shape) -> Known:
    return _changed(
        one, shape, lambda axis, cells, i: axes.nearest(axis, cells, _ratio(node, i, axis.cells, cells))
    )


def _linear(node: Any, one: Field, shape: Shape) -> Known:
    corners = bool(node._saved_align_corners)

    def change(axis: Axis, cells: int, i: int) -> Axis:
        ratio = (axis.cells - 1) / max(cells - 1, 1) if corners else _ratio(node, i, axis.cells, cells)
        return axes.linear(axis, cells, ratio, align_corners=corners)

    return _changed(one, shape, change)


def _ratio(node: Any, i: int, before: int, after: int) -> float:
    given = (node._saved_scales_h, node._saved_scales_w)[i]
    return 1 / given if given else before / after


def _constant_pad(node: Any, one: Field, shape: Shape) -> Known:
    pad = [_number(size) for size in node._saved_pad]
    if any(pad[4:]):
        raise UnknownError
    pad = (pad + [0] * 4)[:4]
    return _changed(one, shape, lambda axis, _, i: axes.padded(axis, *((pad[2:4], pad[0:2])[i])))


def _other_pad(node: Any, one: Field, shape: Shape) -> Known:
    pad = [_number(size) for size in node._saved_padding]
    way = "reflect" if "Reflection" in type(node).__name__ else "edge"

    def change(axis: Axis, _: int, i: int) -> Axis:
        cells = np.pad(np.arange(axis.cells), tuple((pad[2:4], pad[0:2])[i]), mode=way)  # type: ignore[call-overload]
        return axes.picked(axis, cells)

    return _changed(one, shape, change)


def _pixel_shuffle(node: Any, one: Field, shape: Shape) -> Known:
    factor = _number(node._saved_upscale_factor)
    return _changed(one, shape, lambda axis, cells, i: axes.picked(axis, np.arange(cells) // factor))


def _over_map(node: Any, one: Field, shape: Shape) -> Known:
    """A normalisation whose mean and deviation are those of the map."""
    return dataclasses.replace(one, everywhere=True)


def _batch_norm(node: Any, one: Field, shape: Shape) -> Known:
    return _over_map(node, one, shape) if node._saved_training else one


def _layer_norm(node: Any, one: Field, shape: Shape) -> Known:
    normalised = range(len(shape) - len(node._saved_normalized_shape), len(shape))
    return _over_map(node, one, shape) if set(one.places) & set(normalised) else one


def _softmax(node: Any, one: Field, shape: Shape) -> Known:
    return _over_map(node, one, shape) if _number(node._saved_dim) % len(shape) in one.places else one


def _reduced(node: Any, one: Field, shape: Shape) -> Known:
    # a mean or sum of everything saves neither: MeanBackward0, SumBackward0
    keeps, saved = bool(getattr(node, "_saved_keepdim", False)), getattr(node, "_saved_dim", ())
    if not saved and not keeps:
        return SPREAD
    count = len(shape) if keeps else len(shape) + len(saved)
    dims = {_number(dim) % count for dim in saved} or set(range(count))
    over = [place in dims for place in one.places]
    if not any(over):
        return _without(one, dims) if not keeps else one
    if not keeps:
        return SPREAD
    rows, columns = (
        axes.whole(axis) if gone else axis for axis, gone in zip((one.rows, one.columns), over, strict=True)
    )
    return dataclasses.replace(one, rows=rows, columns=columns)


def _without(one: Field, dims: set[int]) -> Field:
    """Return the field of a tensor that lost the axes `dims`."""
    first, second = (place - sum(dim < place for dim in dims) for place in one.places)
    return dataclasses.replace(one, places=(first, second))


def _viewed(node: Any, one: Field, shape: Shape) -> Known:
    before = tuple(_number(size) for size in node._saved_self_sym_sizes)
    if one.folded:
        if shape[: len(one.folded)] != one.folded:
            raise UnknownError
        return dataclasses.replace(one, folded=())
    end = max(one.places) + 1
    if shape[:end] == before[:end]:
        return one
    back = len(before) - min(one.places)
    if shape[-back:] == before[-back:]:
        moved = len(shape) - len(before)
        return dataclasses.replace(one, places=(one.places[0] + moved, one.places[1] + moved))
    if len(shape) == 2 and end == len(before) - 1 and shape[1] == before[-1]:
        return dataclasses.replace(one, folded=before[:-1])
    raise UnknownError


def _permuted(node: Any, one: Field, shape: Shape) -> Known:
    order = [_number(dim) % len(shape) for dim in node._saved_dims]
    return dataclasses.replace(one, places=(order.index(one.places[0]), order.index(one.places[1])))


def _swapped(node: Any, one: Field, shape: Shape) -> Known:
    pair = [_number(node._saved_dim0) % len(shape), _number(node._saved_dim1) % len(shape)]
    first, second = (pair[1 - pair.index(place)] if place in pair else place for place in one.places)
    return dataclasses.replace(one, places=(first, second))


def _sliced(node: Any, one: Field, shape: Shape) -> Known:
    dim = _number(node._saved_dim) % len(shape)
    if dim not in one.places:
        return one
    start, step = _number(node._saved_start), _number(node._saved_step)
    length = one.shape[one.places.index(dim)]
    start = max(start + length if start < 0 else start, 0)
    cells = start + np.arange(shape[dim]) * step
    if dim == one.places[0]:
        return dataclasses.replace(one, rows=axes.picked(one.rows, cells))
    return dataclasses.replace(one, columns=axes.picked(one.columns, cells))


def _split(node: Any, one: Field, shape: Shape) -> Known:
    if _number(node._saved_dim) % len(shape) in one.places:
        raise UnknownError
    return one


def _more_axes(node: Any, one: Field, shape: Shape) -> Known:
    dim = _number(node._saved_dim) % len(shape)
    first, second = (place + (place >= dim) for place in one.places)
    return dataclasses.replace(one, places=(first, second))


def _number(value: Any) -> int:
    """Return a whole number of torch, which keeps negative ones as large positive ones."""
    number = int(value)
    return number - (1 << 64) if number >= 1 << 63 else number


_CELLWISE = frozenset(
    (
        *("Add", "Sub", "Rsub", "Mul", "Div", "Neg", "Abs", "Pow", "Exp", "Expm1", "Log", "Log1P", "Sqrt"),
        *("Rsqrt", "Reciprocal", "Sin", "Cos", "Erf", "Sigmoid", "Tanh", "Relu", "Hardtanh", "Silu", "Gelu"),
        *("Hardswish", "Hardsigmoid", "LeakyRelu", "Elu", "Celu", "Selu", "Softplus", "Mish", "Threshold"),
        *("PreluKernel", "LogSigmoid", "Clamp", "ClampMin", "ClampMax", "Maximum", "Minimum", "Where"),
        *("NativeDropout", "Clone", "Copy", "ToCopy", "Contiguous", "Alias", "Expand", "Addcmul", "Square"),
        *("MaskedFill", "Softsign", "Hardshrink", "Softshrink", "RReluWithNoise", "Lerp"),
    )
)
"""Operations whose result at a cell depends on the same cell only."""

_RULES: dict[str, Rule] = {
    "Convolution": _convolution,
    "MaxPool2DWithIndices": _pooling,
    "AvgPool2D": _pooling,
    "AdaptiveAvgPool2D": _adaptive,
    "AdaptiveMaxPool2D": _adaptive,
    "UpsampleNearest2D": _nearest,
    "UpsampleBilinear2D": _linear,
    "ConstantPadNd": _constant_pad,
    "ReflectionPad2D": _other_pad,
    "ReplicationPad2D": _other_pad,
    "PixelShuffle": _pixel_shuffle,
    "NativeBatchNorm": _batch_norm,
    "CudnnBatchNorm": _batch_norm,
    "NativeGroupNorm": _over_map,
    "NativeLayerNorm": _layer_norm,
    "Softmax": _softmax,
    "Mean": _reduced,
    "Sum": _reduced,
    "Amax": _reduced,
    "Amin": _reduced,
    "View": _viewed,
    "UnsafeView": _viewed,
    "ReshapeAlias": _viewed,
    "Permute": _permuted,
    "Transpose": _swapped,
    "Slice": _sliced,
    "Split": _split,
    "SplitWithSizes": _split,
    "Unsqueeze": _more_axes,
}
