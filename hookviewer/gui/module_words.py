"""What the module tree says about a module, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from hookviewer.gui import numbers
from hookviewer.gui.call_nodes import CallNode
from hookviewer.gui.module_facts import Facts
from hookviewer.modules import ModuleNode


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModulePanel", text)


def short_shape(shape: tuple[int, ...]) -> str:
    """Return a shape without a batch of one: `96×160×240`."""
    return numbers.shape(shape[1:] if len(shape) > 1 and shape[0] == 1 else shape)


def shape_words(shapes: tuple[tuple[int, ...], ...]) -> str:
    """Return the first of a call's shapes, and how many more there are."""
    if not shapes:
        return ""
    more = f" +{len(shapes) - 1}" if len(shapes) > 1 else ""
    return short_shape(shapes[0]) + more


def alias_words(node: ModuleNode) -> str:
    """Return what else this module is called: `= decoder.embed`, or which of its weights are tied."""
    if node.alias_of is not None:
        return f"= {node.alias_of or _tr('model')}"
    if node.tied:
        return _tr("tied =") + " " + node.tied[0][1].partition(",")[0]
    return ""


def call_words(call: int | None, calls: int) -> str:
    """Return which call of several a row stands for, counted from 1."""
    return "" if call is None or calls < 2 else _tr("call {}").format(call + 1)


def tooltip(node: ModuleNode, facts: Facts) -> str:
    """Return all that is known of a module, one fact a line."""
    lines = [node.path or _tr("The model itself"), _what(node)]
    if facts.failed:
        lines.append(facts.failed)
    if facts.reason:
        lines.append(facts.reason)
    if facts.edited:
        lines.append(_tr("Changed by an edit"))
    if facts.calls:
        before = ", ".join(numbers.shape(shape) for shape in facts.inputs) or "–"
        after = ", ".join(numbers.shape(shape) for shape in facts.outputs) or "–"
        times = _tr("called once") if facts.calls == 1 else _tr("called {} times").format(facts.calls)
        lines.append(f"{before} → {after}, {times}")
    if facts.overwritten:
        lines.append(_tr("Overwritten in place by {}: a plain hook would miss it").format(facts.overwritten))
    if facts.mean_abs is not None:
        lines.append(_tr("mean |a| {}").format(numbers.number(facts.mean_abs)))
    lines += _parameter_lines(node)
    return "\n".join(lines)


def _what(node: ModuleNode) -> str:
    """Return what a row stands for, in words where it is no submodule."""
    if not isinstance(node, CallNode):
        return f"{node.type}({node.details})"
    if node.functional:
        return _tr("The function {}, called by {}").format(node.op, node.parent or _tr("the model"))
    if node.built:
        return _tr("{}: built in forward, or brought from elsewhere; no module holds it").format(node.type)
    return _tr("{}: held in a plain list, mapping or object, not as a submodule").format(node.type)


def _parameter_lines(node: ModuleNode) -> list[str]:
    lines = []
    if node.parameters:
        frozen = node.parameters - node.trainable
        still = _tr(", {} of them frozen").format(f"{frozen:,}") if frozen else ""
        lines.append(_tr("{} parameters").format(f"{node.parameters:,}") + still)
    if node.uninitialised:
        lines.append(_tr("Its parameters get their shapes in the first run."))
    lines += [_tr("{} is the same tensor as {}").format(name, others) for name, others in node.tied]
    if node.aliases:
        lines.append(_tr("Shared: also called {}").format(", ".join(node.aliases)))
    if node.user_hooks:
        lines.append(_tr("Carries {} of your own hooks; they run as always.").format(node.user_hooks))
    if node.recursive:
        lines.append(_tr("It contains itself and is not followed further."))
    return lines
