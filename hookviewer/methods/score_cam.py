"""Score-CAM."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import torch
from torch.nn import functional

from hookviewer.arrays import Hints
from hookviewer.arrays.roles import NOTHING
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.methods.method import Answer, Method, Needs
from hookviewer.methods.notes import notes_on
from hookviewer.methods.occlusion import picture_of
from hookviewer.methods.of_input import Steps, wide
from hookviewer.methods.places import HintsOf, channels_first, hints_of, obstacle
from hookviewer.methods.question import Question, Sample, UnsuitedError, samples
from hookviewer.methods.recorded import attributed, calls_in_order, layers, suited_output, which_leaf
from hookviewer.recording import Recording


@dataclasses.dataclass(frozen=True)
class ScoreCam(Method):
    """The maps, each weighted by the target of the picture masked with it; it needs no gradient.

    One forward pass for each channel of each layer.
    """

    name = "score_cam"
    title = "Score-CAM"
    paper = "Wang et al., Score-CAM: Score-Weighted Visual Explanations, CVPR workshop 2020"
    needs = Needs.FORWARDS
    of_layers = True
    kinds = frozenset({Kind.OUTPUT})

    def unsuited(self, shape: Sequence[int], hints: Hints = NOTHING) -> str:
        """Return why an output of this shape has no such map, or nothing."""
        volume = "its output is a volume; it masks a picture with maps of rows and columns."
        return obstacle(shape, hints) or (volume if len(shape) == 5 else "")

    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield the map of every call of every layer, one layer after the other."""
        recording = question.run(layers(question, self).with_kinds(self.kinds))
        each = samples(question)
        found: dict[Key, tuple[torch.Tensor, tuple[str, ...]]] = {}
        hints_for = hints_of(recording, question.model)
        for path, call in calls_in_order(recording):
            key = Key(path, Kind.ATTRIBUTION, call, self.name)
            try:
                picture_of(each[0])
                found[key] = self.maps(recording, path, call, hints_for)
            except UnsuitedError as error:
                yield key, f"{self.title} does not suit this input: {error}"
            except HookViewerError as error:
                yield key, str(error)
        steps = Steps(question, len(each) * sum(maps.shape[1] for maps, _ in found.values()))
        for key, (maps, said) in found.items():
            computed = torch.stack([self.explain(one, maps[at], steps) for at, one in enumerate(each)])
            yield key, attributed(key.path, key.call, self.name, computed, (*said, *notes_on(computed)))

    def maps(
        self, recording: Recording, path: str, call: int, hints_for: HintsOf
    ) -> tuple[torch.Tensor, tuple[str, ...]]:
        """Return a layer's maps [N, C, H, W], and which of its tensors they are."""
        output = suited_output(recording, self, path, call, hints_for)
        maps = channels_first(wide(output.tensor()), hints_for(output.key.path))
        return maps, which_leaf(recording, output.key)

    def explain(self, sample: Sample, maps: torch.Tensor, steps: Steps) -> torch.Tensor:
        """Return ReLU(Σ_c w_c · map_c), w = softmax over c of the target of the input masked by map_c."""
        leaf, picture = picture_of(sample)
        scores = torch.zeros(len(maps), dtype=torch.float64)
        for portion in steps.portions(sample, len(maps)):
            masks = between_0_and_1(maps[list(portion)], picture.shape[-2:])
            scores[list(portion)] = sample.values({leaf: masks[:, None, None] * wide(picture.detach().cpu())})
        flat = maps.flatten(1).amin(1) == maps.flatten(1).amax(1)
        weights = torch.softmax(scores.masked_fill(flat, -torch.inf), 0) if not flat.all() else 0 * scores
        return torch.einsum("c,chw->hw", weights.to(maps), maps).relu().unsqueeze(0)


def between_0_and_1(maps: torch.Tensor, size: tuple[int, ...]) -> torch.Tensor:
    """Return maps [C, H, W] enlarged to `size`, each from 0 to 1; a map of one value is 0."""
    large = functional.interpolate(maps[None], size=tuple(size), mode="bilinear", align_corners=False)[0]
    low, high = large.amin((1, 2), keepdim=True), large.amax((1, 2), keepdim=True)
    masks: torch.Tensor = (large - low) / torch.where(high > low, high - low, 1.0)
    return masks
