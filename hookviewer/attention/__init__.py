"""What attention looks at: the weights of every head, rebuilt from what the layer was given and checked."""

from hookviewer.attention.attention import Attention, Attentions
from hookviewer.attention.measures import entropy, head_mean, rollout
from hookviewer.attention.run import capture_attention

__all__ = [
    "Attention",
    "Attentions",
    "capture_attention",
    "entropy",
    "head_mean",
    "rollout",
]
