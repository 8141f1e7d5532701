"""What the window says of attribution methods: one line each, and what they cost. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from hookviewer.gui import target_names
from hookviewer.gui.cam_choice import method_of, parts_of
from hookviewer.methods import LayerMethod, Method, methods
from hookviewer.target_choice import TargetChoice
from hookviewer.target_words import words

NOOP = QT_TRANSLATE_NOOP
LINES = {
    "grad_cam": str(NOOP("Methods", "maps × their mean gradient, summed")),
    "grad_cam_plus_plus": str(NOOP("Methods", "the same, fair to several objects")),
    "hires_cam": str(NOOP("Methods", "maps × gradient, cell by cell")),
    "layer_cam": str(NOOP("Methods", "maps × positive gradient; fine in early layers")),
    "eigen_cam": str(NOOP("Methods", "what the maps have in common; no target")),
    "score_cam": str(NOOP("Methods", "the score of the picture masked by each map")),
    "saliency": str(NOOP("Methods", "how fast the score changes with a pixel")),
    "gradient_input": str(NOOP("Methods", "gradient × pixel, with its sign")),
    "smooth_grad": str(NOOP("Methods", "mean gradient over noisy copies")),
    "integrated_gradients": str(NOOP("Methods", "summed on the way from black; adds up")),
    "guided_backpropagation": str(NOOP("Methods", "only positive gradients pass a ReLU")),
    "occlusion": str(NOOP("Methods", "how far the score falls when a patch is covered")),
    "attention_rollout": str(NOOP("Methods", "attention through all layers; no target")),
}
ORDER = tuple(LINES)


def in_order() -> tuple[Method, ...]:
    """Return all methods: those for layers first, each kind in the order of this page, unknown ones last."""
    known = {name: place for place, name in enumerate(ORDER)}
    names = [method.name for method in methods()]
    found = sorted(names, key=lambda name: (not method_of(name).of_layers, known.get(name, len(known)), name))
    return tuple(method_of(name) for name in found)


def line_of(method: Method) -> str:
    """Return what a method is, in one line."""
    return tr(LINES[method.name]) if method.name in LINES else (method.__doc__ or "").partition("\n")[0]


def tip_of(method: Method) -> str:
    """Return what a method is, and the paper that it is from."""
    said = " ".join((method.__doc__ or "").partition("\n\n")[0].split())
    return "\n".join(filter(None, (said, method.paper)))


def cost_of(method: Method) -> str:
    """Return what a map costs beside the run: nothing, or how many runs."""
    if isinstance(method, LayerMethod):
        return tr("from the run")
    runs = {
        "score_cam": tr("1 run a channel"),
        "smooth_grad": tr("{} runs").format(getattr(method, "noises", 0)),
        "integrated_gradients": tr("{} runs or more").format(getattr(method, "steps", 0)),
        "occlusion": tr("1 run a window"),
    }
    return runs.get(method.name, tr("1 run"))


def weight_of(method: Method) -> int:
    """Return roughly how many runs a map needs: what is quick is computed first."""
    many = {"smooth_grad": 25, "integrated_gradients": 50, "occlusion": 200, "score_cam": 500}
    return many.get(method.name, 1)


def title_of(leaf: str, class_names: Sequence[str] = (), targets: Sequence[TargetChoice] = ()) -> str:
    """Return what a map is called: its method, and its target where that is not the run's."""
    name, target = parts_of(leaf)
    title = tr(method_of(name).title)
    if not target:
        return title
    chosen = next((one for one in targets if words(one) == target), None)
    return f"{title}, {target if chosen is None else target_names.short(chosen, class_names)}"


def tr(text: str) -> str:
    """Return a sentence about methods in the language of the window."""
    return QCoreApplication.translate("Methods", text)
