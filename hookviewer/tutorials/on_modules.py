"""Lessons on hooks of modules: before the forward pass, after it, and in the backward pass."""

from __future__ import annotations

from hookviewer.kinds import Kind
from hookviewer.tutorials.lesson import CHANGED, Change, Lesson, Number

_BACKWARD = "demo:fc_relu_fc?example=backward"
_ONES = "values:[[1., 1., 1.]]"


def net(second: str, bias: str, relu: str = "nn.ReLU()") -> str:
    """Return the code that builds the teaching net with these weights of its second layer."""
    return f"""\
import torch
from torch import nn

fc1, relu1, fc2 = nn.Linear(3, 4), {relu}, nn.Linear(4, 1)
rows = [[1.0, 2.0, 3.0], [-4.0, -5.0, -6.0], [7.0, 8.0, 9.0], [-10.0, -11.0, -12.0]]
fc1.weight.data, fc1.bias.data = torch.tensor(rows), torch.tensor([1.0, 2.0, 3.0, 4.0])
fc2.weight.data, fc2.bias.data = torch.tensor([[{second}]]), torch.tensor([{bias}])
model = nn.Sequential(fc1, relu1, fc2)
x = torch.ones(1, 3)
"""


_NET = net("10.0, 20.0, 30.0, 40.0", "2.0")

PRE = Lesson(
    "forward_pre",
    "Before a module runs",
    "Module.register_forward_pre_hook",
    _BACKWARD,
    _ONES,
    "The hook gets the arguments of fc1 before it runs, and what it returns is taken in their place. "
    "With x doubled the network gives 1662 in place of 882.",
    "fc1",
    _NET
    + """
handle = fc1.register_forward_pre_hook(lambda module, args: (2 * args[0],))
seen = []
fc1.register_forward_hook(lambda module, args, output: seen.append(output.clone()))
out = model(x)
handle.remove()

print(seen[0])
print(out)
""",
    (
        Number("seen[0]", "fc1", where=CHANGED),
        Number("out", "fc2", where=CHANGED),
        Number("model(x)", "fc2"),
    ),
    ticks=("relu1", "fc2"),
    changes=(Change("fc1", "scale", Kind.INPUT, (2.0,)),),
)

READ = Lesson(
    "forward_read",
    "Read what modules return",
    "Module.register_forward_hook",
    "demo:fc_relu_fc?example=forward",
    _ONES,
    "Row by row the sums of fc1, without the negative ones after relu1, and the sum of those, weighted with "
    "1, 2, 3, 4 and with 1 added: 7 + 3 · 27 + 1 = 89.",
    "fc1",
    net("1.0, 2.0, 3.0, 4.0", "1.0")
    + """
seen = {}


def note(module, args, output):
    seen[module] = output.detach().clone()  # the module that comes next may write into it


for layer in (fc1, relu1, fc2):
    layer.register_forward_hook(note)
model(x)

print(seen[fc1])
print(seen[relu1])
print(seen[fc2])
""",
    (
        Number("seen[fc1]", "fc1"),
        Number("seen[relu1]", "relu1"),
        Number("seen[fc2]", "fc2"),
    ),
    ticks=("relu1", "fc2"),
)

CHANGE = Lesson(
    "forward_change",
    "Change what a module returns",
    "Module.register_forward_hook",
    _BACKWARD,
    _ONES,
    "What the hook returns is taken in place of the output. With channel 2 of relu1 at zero its share of the "
    "result, 30 · 27 = 810, is gone: 882 becomes 72.",
    "relu1",
    _NET
    + """

def without_channel_2(module, args, output):
    changed = output.clone()  # an edit in place would change the graph of the backward pass
    changed[:, 2] = 0
    return changed


handle = relu1.register_forward_hook(without_channel_2)
out = model(x)
handle.remove()

print(out)
print(model(x))
""",
    (Number("out", "fc2", where=CHANGED), Number("model(x)", "fc2")),
    ticks=("fc1", "fc2"),
    changes=(Change("relu1", "zero", channels=(2,)),),
)

BACKWARD = Lesson(
    "full_backward",
    "Gradients at modules",
    "Module.register_full_backward_hook",
    _BACKWARD,
    _ONES,
    "The hooks run from the last module to the first. Each gets the gradient at its module's output and the "
    "one at its input: relu1 takes 20 and 40 away, where its input was negative. The one at the input of fc1 "
    "is x.grad.",
    "relu1",
    _NET
    + """
x.requires_grad_()  # else fc1 has no gradient at its input
seen = {}


def note(module, grad_input, grad_output):
    seen[module] = grad_input[0], grad_output[0]


for layer in (fc1, relu1, fc2):
    layer.register_full_backward_hook(note)
model(x).backward()

print(seen[fc2][1])
print(seen[relu1][1], seen[relu1][0])
print(seen[fc1][1], seen[fc1][0])
""",
    (
        Number("seen[fc2][1]", "fc2", Kind.GRAD_OUTPUT),
        Number("seen[relu1][1]", "relu1", Kind.GRAD_OUTPUT),
        Number("seen[relu1][0]", "relu1", Kind.GRAD_INPUT),
        Number("seen[fc1][1]", "fc1", Kind.GRAD_OUTPUT),
        Number("seen[fc1][0]", "fc1", Kind.GRAD_INPUT),
    ),
    ticks=("fc1", "fc2"),
    shown="gradient",
    kinds=frozenset({Kind.GRAD_INPUT}),
)

REMOVAL = Lesson(
    "removal",
    "Take hooks away",
    "RemovableHandle.remove",
    _BACKWARD,
    _ONES,
    "With relu1 at zero only the bias of fc2 is left: 2. After remove() it is 882 again. A hook that is "
    "forgotten acts on every later run; here none outlives a run, and the status bar counts those in place.",
    "relu1",
    _NET
    + """
handle = relu1.register_forward_hook(lambda module, args, output: 0 * output)
hooked = model(x)
handle.remove()
after = model(x)

print(hooked)
print(after)
""",
    (Number("hooked", "fc2", where=CHANGED), Number("after", "fc2")),
    ticks=("fc1", "fc2"),
    changes=(Change("relu1", "zero"),),
)
