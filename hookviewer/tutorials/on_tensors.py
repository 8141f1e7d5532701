"""Lessons on hooks of tensors: what is given to them is a gradient."""

from __future__ import annotations

from hookviewer.kinds import Kind
from hookviewer.tutorials.lesson import BEFORE, CHANGED, Change, Lesson, Number

_WXABY = "demo:tensor_hook?example=wxaby"
_TWO = "values:[2.]"
_TENSORS = """\
import torch

w = torch.tensor([1.0], requires_grad=True)
x = torch.tensor([2.0], requires_grad=True)
a, b = w + x, w + 1
y = a * b
"""

READ = Lesson(
    "read_gradient",
    "Read a gradient",
    "Tensor.register_hook",
    "demo:tensor_hook?example=plus_one",
    "values:[[1., 2.], [3., 4.]]",
    "The gradient at y is y / 2. In torch it is gone after the backward pass, unless a hook has kept it; "
    "here every tensor that is ticked keeps its value and its gradient.",
    "y",
    """\
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x + 1
seen = []
handle = y.register_hook(lambda grad: seen.append(grad))
out = torch.mean(y * y)
out.backward()
handle.remove()

print(y)
print(seen[0])
print(x.grad)
""",
    (
        Number("y", "y"),
        Number("seen[0]", "y", Kind.GRAD_OUTPUT),
        Number("x.grad", "x", Kind.GRAD_OUTPUT),
        Number("out", "out"),
    ),
    ticks=("x", "out"),
    shown="gradient",
)

CHANGE = Lesson(
    "change_gradient",
    "Change a gradient",
    "Tensor.register_hook",
    _WXABY,
    _TWO,
    "A hook that returns something puts it in place of the gradient. All that lies before it is changed: "
    "x.grad is 4 and not 2, and of the two paths to w only the one through a. What lies after it is not.",
    "a",
    _TENSORS
    + """\
seen = []


def doubled(grad):
    seen.append(grad)
    return 2 * grad  # a new tensor: grad itself may be shared with others


a.register_hook(doubled)
y.backward()

print(seen[0])
print(x.grad)
print(w.grad)
""",
    (
        Number("seen[0]", "a", Kind.GRAD_OUTPUT, BEFORE),
        Number("x.grad", "x", Kind.GRAD_OUTPUT, CHANGED),
        Number("w.grad", "w", Kind.GRAD_OUTPUT, CHANGED),
        Number("y", "y", where=CHANGED),
    ),
    ticks=("w", "x", "y"),
    shown="gradient",
    changes=(Change("a", "scale", Kind.GRAD_OUTPUT, (2.0,)),),
)

ORDER = Lesson(
    "order",
    "Several hooks, in order",
    "Tensor.register_hook, twice",
    _WXABY,
    _TWO,
    "Hooks run in the order in which they were registered, and each gets what the one before has returned: "
    "5 is limited to 4, and three times 4 is 12. In the other order it would be 15, limited to 4: "
    "move the second edit up in the list and see.",
    "w",
    _TENSORS
    + """\
seen = []


def limited(grad):
    seen.append(grad)
    return grad.clamp(-4, 4)


w.register_hook(limited)
w.register_hook(lambda grad: 3 * grad)
y.backward()

print(seen[0])
print(w.grad)
print(x.grad)
""",
    (
        Number("seen[0]", "w", Kind.GRAD_OUTPUT, BEFORE),
        Number("w.grad", "w", Kind.GRAD_OUTPUT, CHANGED),
        Number("x.grad", "x", Kind.GRAD_OUTPUT, CHANGED),
    ),
    ticks=("x", "a", "b", "y"),
    shown="gradient",
    changes=(
        Change("w", "clip", Kind.GRAD_OUTPUT, (4.0,)),
        Change("w", "scale", Kind.GRAD_OUTPUT, (3.0,)),
    ),
)

RETAIN = Lesson(
    "retain_grad",
    "retain_grad, or a hook",
    "Tensor.retain_grad",
    _WXABY,
    _TWO,
    "A tensor that was computed has no grad unless retain_grad asks for it, and then it holds what flows on: "
    "the gradient after every hook, 4. What came in, 2, is seen by a hook alone. Here both are kept.",
    "a",
    _TENSORS
    + """\
seen = []


def doubled(grad):
    seen.append(grad)
    return 2 * grad


a.retain_grad()
a.register_hook(doubled)
y.backward()

print(seen[0])
print(a.grad)
print(x.grad)
""",
    (
        Number("seen[0]", "a", Kind.GRAD_OUTPUT, BEFORE),
        Number("a.grad", "a", Kind.GRAD_OUTPUT, CHANGED),
        Number("x.grad", "x", Kind.GRAD_OUTPUT, CHANGED),
    ),
    ticks=("x", "y"),
    shown="gradient",
    changes=(Change("a", "scale", Kind.GRAD_OUTPUT, (2.0,)),),
)
