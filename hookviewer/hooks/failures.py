"""An error of the model as one sentence: where, what, and what to do."""

from __future__ import annotations

import re
import traceback

import torch

from hookviewer.errors import ModelError
from hookviewer.hooks.calls import Frame
from hookviewer.recording import Recording

_ADVICE = (
    ("more than 1 value per channel when training", "run in eval mode, or with a batch of two or more"),
    ("can't allocate memory", "use a smaller input or batch, or close other programs"),
    ("out of memory", "use a smaller input or batch, another device, or tick fewer modules"),
    ("storage size calculation overflowed", "its size cannot be right: check the shape of the input"),
    ("expected all tensors to be on the same device", "the model makes a tensor on a device of its own"),
    ("inference tensors cannot be saved", "build the model outside of torch.inference_mode"),
    ("modified by an inplace operation", "plain torch cannot differentiate this model either"),
    ("should be the same", "give the input the dtype and device of the weights"),
    ("does not require grad", "the model runs its own backward pass: ask for a gradient kind, too"),
)


def out_of_memory(error: BaseException) -> bool:
    """Return whether `error` says that memory ran out."""
    message = str(error).lower()
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in message


def model_error(error: BaseException, path: str, recording: Recording, *, given: str) -> ModelError:
    """Return the error for a person; the model's own traceback is a note on it, as text.

    The frames of the traceback itself would keep every activation of the failed run alive.
    """
    text = "".join(traceback.format_exception(error))
    failure = ModelError(_sentence(error, path, given), path=path, recording=recording)
    failure.add_note(text)
    return failure


def forget_frames(error: BaseException | None) -> None:
    """Let go of what the frames of an error and of its causes hold."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def given_shapes(frame: Frame | None) -> str:
    """Return what the failing call was given, in words."""
    if frame is None or not frame.input_shapes:
        return ""
    shapes = ", ".join("×".join(map(str, shape)) or "a number" for shape in frame.input_shapes[:4])
    return f"It was given {shapes}"


def _sentence(error: BaseException, path: str, given: str) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].rstrip(".:") if lines else "no message"
    what = f"raised {type(error).__name__}"
    if out_of_memory(error):
        what = "ran out of memory"
        asked = re.search(r"tried to allocate ([\d.]+ ?\w+)", str(error), re.IGNORECASE)
        said = f"it asked for {asked[1]}" if asked else said
    advice = next((advice for sign, advice in _ADVICE if sign in str(error).lower()), "")
    sentence = f"{path or 'The model'} {what}: {said}."
    rest = "; ".join(part for part in (given, advice) if part)
    return f"{sentence} {rest[0].upper()}{rest[1:]}." if rest else sentence
