"""What is said of a model's output: its likely classes with their shares, or that it is not finite. Pure."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.state import Run
from hookviewer.kinds import Kind


def share(value: float, decimals: int = 2) -> str:
    """Return a probability in so many decimals, a small one in three: `0.87`, `0.001`, `<0.001`."""
    if value >= 0.5 * 10**-decimals:
        return f"{value:.{decimals}f}"
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"


def not_finite(run: Run) -> str:
    """Return that the model's output holds NaN or inf, and how many; empty where it does not."""
    outputs = [one for key, one in run.summaries.items() if key.path == "" and key.kind is Kind.OUTPUT]
    counts = (
        ("NaN", sum(one.nan for one in outputs)),
        ("inf", sum(one.pos_inf + one.neg_inf for one in outputs)),
    )
    odd = ", ".join(f"{count} {word}" for word, count in counts if count)
    words = QCoreApplication.translate("Likely", "output not finite: {}")
    return words.format(odd) if odd else ""


def top(run: Run | None) -> str:
    """Return the likeliest class with its share, or that there is none since the output is not finite."""
    if run is None:
        return ""
    if not run.guesses:
        return not_finite(run)
    return f"{run.guesses[0].name} {share(run.guesses[0].share)}"
