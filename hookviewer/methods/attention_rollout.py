"""Attention rollout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import torch

from hookviewer.attention import Attentions, capture_attention, rollout
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.methods.method import Answer, Method, Needs
from hookviewer.methods.notes import notes_on
from hookviewer.methods.question import Question
from hookviewer.methods.recorded import attributed


class AttentionRollout(Method):
    """How much of what the class token ends up with comes from each place, through all layers of attention.

    It does not know the target. Without a class token it is the mean over all tokens.
    """

    name = "attention_rollout"
    title = "Attention rollout"
    paper = "Abnar and Zuidema, Quantifying Attention Flow in Transformers, ACL 2020"
    needs = Needs.FORWARDS
    of_layers = False

    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield the map of the input, [N, 1, rows, columns] of the tokens' grid."""
        key = Key("", Kind.ATTRIBUTION, 0, self.name)
        question.tell(0, 1)
        attentions = capture_attention(
            question.model,
            question.args,
            kwargs=question.kwargs,
            edits=question.edits,
            mode=question.mode,
            seed=question.seed,
            device=question.device,
            cancelled=question.cancelled,
        )
        if question.on_run is not None:
            question.on_run(attentions.recording)
        question.tell(1, 1)
        try:
            values = rolled_out(attentions)
        except HookViewerError as error:
            yield key, f"{self.title} does not suit the model: {error}"
            return
        yield key, attributed("", 0, self.name, values, notes_on(values))


def rolled_out(attentions: Attentions) -> torch.Tensor:
    """Return the map of the input, from the layers whose tokens are those of most layers."""
    kinds = [(one.record.shape[-1], one.grid) for one in attentions.values() if one.windows is None]
    if not kinds:
        raise HookViewerError("no attention between all tokens was seen in it.")
    (count, grid), _ = Counter(kinds).most_common(1)[0]
    if grid is None:
        raise HookViewerError(f"its {count} tokens make no grid of places.")
    alike = [one for one in attentions.values() if one.windows is None]
    layers = [one.record.tensor() for one in alike if one.record.shape[-2:] == (count, count)]
    whole = rollout([layer.double() for layer in layers])
    leading, rows, columns = grid
    seen = whole[:, 0, leading:] if leading else whole.mean(1)
    return seen.reshape(-1, 1, rows, columns).float()
