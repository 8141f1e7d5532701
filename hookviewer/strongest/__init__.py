"""The inputs, and the places in them, that excite each channel most and least."""

from hookviewer.strongest.driver import TopInputs, top_inputs
from hookviewer.strongest.patches import patch
from hookviewer.strongest.topk import Place, TopK

__all__ = ["Place", "TopInputs", "TopK", "patch", "top_inputs"]
