"""What a row of the input list says: the likely class, how far the run is, or what went wrong. Pure."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QCoreApplication

from hookviewer.gui import likely, numbers
from hookviewer.gui.state import InputItem, Progress, Run
from hookviewer.inputs import Input
from hookviewer.leaves import input_leaves, leaves


@dataclasses.dataclass(frozen=True)
class Line:
    """The second line of a row: `tone` is `done`, `running`, `waiting` or `error`; `share` draws a bar."""

    text: str
    tone: str = "done"
    share: float | None = None


def _tr(text: str) -> str:
    return QCoreApplication.translate("InputPanel", text)


def line(item: InputItem, run: Run | None, progress: Progress | None, running: bool) -> Line:
    """Return the second line of an input's row."""
    if running and progress is not None and progress.input == item.number:
        return Line(_running(progress), "running")
    if run is None:
        if running and item.ticked:
            return Line(_tr("waiting"), "waiting")
        return Line(_tr("not run yet"), "waiting")
    if run.error is not None:
        return Line(run.error.sentence, "error")
    if run.stopped:
        return Line(_tr("stopped"), "waiting")
    if run.guesses:
        return Line(run.guesses[0].name, share=run.guesses[0].share)
    broken = likely.not_finite(run)
    return Line(broken, "error") if broken else Line(_outputs(run))


def _running(progress: Progress) -> str:
    if not progress.total:
        return _tr("running")
    return _tr("running, {} %").format(round(100 * min(progress.done / progress.total, 1)))


def _outputs(run: Run) -> str:
    shapes = [numbers.shape(tuple(tensor.shape)) for _, tensor in leaves(run.recording.output)]
    made = _tr("output {}").format(", ".join(shapes[:3])) if shapes else _tr("no output")
    return f"{made} · {numbers.seconds(run.seconds)}"


def shapes(given: Input) -> str:
    """Return the shapes and dtypes of what the model is called with."""
    found = input_leaves(given.args, given.kwargs)
    return ", ".join(
        f"{numbers.shape(tuple(tensor.shape))} {str(tensor.dtype).removeprefix('torch.')}"
        for _, tensor in found
    )


def tooltip(item: InputItem, run: Run | None) -> str:
    """Return all that is known of an input, one sentence a line."""
    lines = [item.input.name, shapes(item.input), *item.input.notes]
    if run is not None and run.error is not None:
        lines.append(run.error.sentence)
    elif run is not None:
        lines.append(_tr("Run in {}").format(numbers.seconds(run.seconds)))
    return "\n".join(text for text in lines if text)
