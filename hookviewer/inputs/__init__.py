"""Where inputs come from: one class a file, found by walking this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from hookviewer.inputs import arguments
from hookviewer.inputs.entries import Entry, TensorFile
from hookviewer.inputs.fitting import fitted
from hookviewer.inputs.folder import in_folder, spread, suffixes
from hookviewer.inputs.from_picture import for_model, used, with_frame
from hookviewer.inputs.generated import guess
from hookviewer.inputs.image_file import frames_of
from hookviewer.inputs.input import Input, InputSource
from hookviewer.inputs.lacking import ArgumentsLacking, EntryNeeded
from hookviewer.inputs.live import from_value, picture_input
from hookviewer.inputs.pixels import Picture
from hookviewer.inputs.places import file_and_options
from hookviewer.inputs.prepare import needed, prepare
from hookviewer.inputs.preprocess import Preprocess, from_options
from hookviewer.inputs.shapes import preprocess as preprocess_for
from hookviewer.inputs.signatures import Argument, signature
from hookviewer.inputs.words import in_words
from hookviewer.registry import classes_in
from hookviewer.sources import files

__all__ = [
    "Argument",
    "ArgumentsLacking",
    "Entry",
    "EntryNeeded",
    "Input",
    "InputSource",
    "Picture",
    "Preprocess",
    "again",
    "entries",
    "from_options",
    "guess",
    "in_folder",
    "in_words",
    "input_sources",
    "needed",
    "open_input",
    "picture_input",
    "pictures_of",
    "prepare",
    "preprocess_for",
    "signature",
    "spread",
    "suffixes",
    "used",
    "with_frame",
]


def open_input(spec: Any, model: nn.Module | None = None) -> Input:
    """Make the input that `spec` names, fit for `model`.

    `spec` is `demo:chelsea`, a picture file (`film.gif?frame=3`), a file of tensors (`batch.npz?entry=x`;
    .npy, .npz, .pt, .safetensors), `random:1x3x224x224?seed=0`, `ones:1x3`, `constant:1x3x32x32?value=1`,
    `values:[[1., 2.]]`, several arguments (`args:x=random:1x3x8x8;mask=ones:1x8;scale=0.5`), or a value: a
    tensor, an array, a picture, a tuple of arguments, a mapping of names to specs or values, or an `Input`. A
    tensor of a file gets the axes that the model takes, with a note (`?layout=keep` leaves it as it is). A
    picture becomes what the model's card says, or a guess; the options of `Preprocess` change that
    (`photo.jpg?size=224x224&normalise=imagenet`). Raises `HookViewerError` when there is no such input, or it
    does not suit the model.
    """
    given = open_argument(spec, model)
    if model is None or not isinstance(spec, str | os.PathLike):
        return given
    _check_complete(given, model)
    text = os.fspath(spec)
    as_it_is = not isinstance(_source(text), TensorFile) or _has_options(text, "layout=keep", "dtype=")
    return given if as_it_is else fitted(given, model)


def _has_options(spec: str, *starts: str) -> bool:
    return any(part.startswith(starts) for part in spec.rpartition("?")[2].split("&"))


def open_argument(spec: Any, model: nn.Module | None) -> Input:
    """Make the input for one argument of a model, which may need others besides."""
    if not isinstance(spec, str | os.PathLike):
        return from_value(spec, model, open_argument)
    text = os.fspath(spec)
    return _source(text).open(text, model)


def _check_complete(given: Input, model: nn.Module) -> None:
    known = signature(model)
    places = [one.name for one in known if one.kind in arguments.PLACES]
    if known:
        named = {*places[: len(given.args)], *given.kwargs}
        arguments.check_complete(named, known, type(model).__name__)


def again(given: Input, model: nn.Module | None) -> Input:
    """Make an input anew for another model, or after the recipe of its model was changed.

    What no spec opens again is made of the picture that the input keeps; a tensor stays what it is.
    """
    return open_input(given.spec, model) if given.spec else for_model(given, model)


def pictures_of(given: Input, count: int = 1) -> Sequence[Picture]:
    """Return the pictures that an input was made of, as they were brought; empty when it is no picture."""
    if given.source is not None or given.image is None or not given.spec:
        return (given.source or ())[:count]
    if given.spec.startswith(("demo:", "args:")):
        return _demo_pictures(given.spec, count)
    path, _ = file_and_options(given.spec)
    return frames_of(path)(given.frame, count)


def _demo_pictures(spec: str, count: int) -> Sequence[Picture]:
    from hookviewer.inputs.demo import pictures

    return pictures(spec, count) if spec.startswith("demo:") else ()


def entries(path: str | os.PathLike[str]) -> tuple[Entry, ...]:
    """Return the tensors in a file of tensors by name, shape and type, without reading them where possible.

    Empty for every other kind of file. Raises `HookViewerError` when there is no such file (a pipe is none:
    reading it would never end), or it is damaged.
    """
    source = _source(os.fspath(path))
    return source.entries(files.existing(Path(path))) if isinstance(source, TensorFile) else ()


def input_sources() -> tuple[InputSource, ...]:
    """Return one of each kind of input source, in the order in which they are asked; the last takes all."""
    found = [kind() for kind in classes_in(sys.modules[__name__], InputSource)]  # type: ignore[type-abstract]
    return tuple(sorted(found, key=lambda source: source.rank))


def _source(spec: str) -> InputSource:
    return next(source for source in input_sources() if source.accepts(spec))
