"""Random nets: in-place steps, views, re-use, slices, eaten inputs, against a model of memory.

Every program is run twice: by a real net, and by `Memory`, which knows no in-place operation. It holds one
graph node per storage and makes a new one for every write: its gradients are those of plain arithmetic.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
import torch
from torch import nn
from truth_nets import state_of

import hookviewer as hv
from hookviewer import Key, Kind

T = torch.Tensor
OUTPUTS = frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT})
EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


@dataclasses.dataclass(eq=False)
class Register:
    """What a Python variable holds: a place in a storage, and the node that a view object has of its own."""

    storage: int
    index: T
    base: bool
    node: T | None = None
    version: int = -1


class Memory:
    """Storages as nodes of an ordinary graph; `expected` holds, per key, the node and the place in it."""

    def __init__(self) -> None:
        self.nodes: list[T] = []
        self.versions: list[int] = []
        self.values: dict[Key, T] = {}
        self.expected: dict[Key, tuple[T, T | None]] = {}
        self.unsettled: set[Key] = set()
        self.views: list[tuple[Register, Key]] = []
        self.calls: dict[str, int] = {}

    def fresh(self, node: T) -> Register:
        self.nodes.append(node)
        self.versions.append(0)
        index = torch.arange(node.numel()).reshape(node.shape)
        return Register(len(self.nodes) - 1, index, base=True)

    def read(self, register: Register) -> T:
        if register.base:
            return self.nodes[register.storage]
        if register.node is None or register.version != self.versions[register.storage]:
            register.node = self.nodes[register.storage].flatten()[register.index]
            register.version = self.versions[register.storage]
        return register.node

    def view(self, register: Register, change: Any) -> Register:
        version = self.versions[register.storage]
        return Register(register.storage, change(register.index), False, change(self.read(register)), version)

    def write(self, register: Register, value: T) -> None:
        if not register.base:
            flat = self.nodes[register.storage].flatten()
            flat = flat.index_put((register.index,), value)
            value = flat.reshape(self.nodes[register.storage].shape)
        self.nodes[register.storage] = value
        self.versions[register.storage] += 1
        others = (
            key for seen, key in self.views if seen.storage == register.storage and seen is not register
        )
        self.unsettled.update(
            others
        )  # what a view that another name overwrites stands for is a matter of taste

    def start(self, path: str) -> int:
        self.calls[path] = self.calls.get(path, -1) + 1
        return self.calls[path]

    def note(self, key: Key, register: Register, gradient: Kind, *, through_memory: bool = False) -> None:
        self.values[key] = self.read(register).detach()
        key = key._replace(kind=gradient)
        if through_memory and not register.base:
            self.expected[key] = (self.nodes[register.storage], register.index)
        else:
            self.expected[key] = (self.read(register), None)
            if not register.base:
                self.views.append((register, key))

    # what each module of the random nets does

    def call(self, path: str, module: nn.Module, given: Register) -> Any:
        call = self.start(path)
        version = self.versions[given.storage]
        self.note(Key(path, Kind.INPUT, call, "[0]"), given, Kind.GRAD_INPUT_TOTAL)
        made = module.twin(self, path, given) if hasattr(module, "twin") else self.plain(path, module, given)
        for leaf, part in (
            [("", made)] if isinstance(made, Register) else [("[0]", made[0]), ("[1]", made[1])]
        ):
            ate = part is given and self.versions[given.storage] != version
            self.note(Key(path, Kind.OUTPUT, call, leaf), part, Kind.GRAD_OUTPUT, through_memory=ate)
        return made

    def plain(self, path: str, module: nn.Module, given: Register) -> Register:
        if isinstance(module, nn.Sequential):
            for name, part in module.named_children():
                given = self.call(f"{path}.{name}", part, given)
            return given
        if isinstance(module, nn.ReLU):
            self.write(given, self.read(given).relu())
        return given  # Identity, Dropout in eval


class Shift(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.randn(4))

    def forward(self, x: T) -> T:
        return x + self.by

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        given = memory.read(x).clone()
        memory.expected[Key(path, Kind.GRAD_INPUT, memory.calls[path], "[0]")] = (given, None)
        return memory.fresh(given + self.by)


class Wave(nn.Module):
    def forward(self, x: T) -> T:
        return x.sin()

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        given = memory.read(x).clone()
        memory.expected[Key(path, Kind.GRAD_INPUT, memory.calls[path], "[0]")] = (given, None)
        return memory.fresh(given.sin())


class Double(nn.Module):
    def forward(self, x: T) -> T:
        return x.mul_(-2.0)

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        memory.write(x, memory.read(x) * -2)
        return x


class Turn(nn.Module):
    def forward(self, x: T) -> T:
        return x.flip(0).neg() if x.shape[0] != 4 else x.t()

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        if x.index.shape[0] != 4:
            return memory.fresh(memory.read(x).flip(0).neg())
        return memory.view(x, lambda t: t.t())


class Eat(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Shift()

    def forward(self, x: T) -> T:
        x.mul_(3.0)
        return self.inner(x)

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        memory.write(x, memory.read(x) * 3)
        return memory.call(f"{path}.inner", self.inner, x)


class Nibble(nn.Module):
    """Changes a part of its input in place and returns the input."""

    def forward(self, x: T) -> T:
        x[:1].mul_(0.5)
        return x

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        part = memory.view(x, lambda t: t[:1])
        memory.write(part, memory.read(part) * 0.5)
        return x


class Pair(nn.Module):
    def forward(self, x: T) -> tuple[T, T]:
        return x * 1.5, x[:2]

    def twin(self, memory: Memory, path: str, x: Register) -> tuple[Register, Register]:
        return memory.fresh(memory.read(x) * 1.5), memory.view(x, lambda t: t[:2])


class Block(nn.Module):
    """A residual block that adds in place."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.drop, self.relu = Shift(), nn.Dropout(0.5), nn.ReLU(inplace=True)

    def forward(self, x: T) -> T:
        out = self.drop(self.a(x))
        out += x
        return self.relu(out)

    def twin(self, memory: Memory, path: str, x: Register) -> Register:
        out = memory.call(f"{path}.drop", self.drop, memory.call(f"{path}.a", self.a, x))
        memory.write(out, memory.read(out) + memory.read(x))
        return memory.call(f"{path}.relu", self.relu, out)


class RandomNet(nn.Module):
    """A list of steps over variables; the same program for the real net and for its twin."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.wave, self.shift, self.twice, self.relu = Wave(), Shift(), Double(), nn.ReLU(inplace=True)
        self.turn, self.eat, self.nibble, self.pair, self.block = Turn(), Eat(), Nibble(), Pair(), Block()
        self.drop, self.boxed = nn.Dropout(0.5), nn.Sequential(nn.Identity(), nn.Sequential(nn.Dropout(0.5)))
        self.chain = nn.Sequential(Shift(), nn.ReLU(inplace=True), nn.Identity())
        self.program = self.invent(random.Random(seed))

    def invent(self, dice: random.Random) -> list[tuple[Any, ...]]:
        names = [name for name, _ in self.named_children()]
        shapes, program = [(4, 4)], []
        for _ in range(dice.randint(4, 10)):
            one = dice.randrange(len(shapes))
            same = [i for i, shape in enumerate(shapes) if shape == shapes[one] and i != one]
            what = dice.choice(["call", "call", "call", "ignore", "iadd", "add", "half", "put"])
            if what in ("call", "ignore"):
                name = dice.choice(names)
                program.append((what, name, one))
                made = [shapes[one], (2, 4)] if name == "pair" else [shapes[one]]
                shapes += made if what == "call" else []
            elif what == "half" and shapes[one] == (4, 4):
                program.append((what, one))
                shapes.append((2, 4))
            elif what == "put" and shapes[one] == (2, 4):
                program.append(
                    (what, one, dice.choice([i for i, shape in enumerate(shapes) if shape == (4, 4)]))
                )
            elif what in ("iadd", "add") and same:
                program.append((what, one, dice.choice(same)))
                shapes += [shapes[one]] if what == "add" else []
        return program

    def forward(self, x: T) -> T:
        values = [x]
        for what, *rest in self.program:
            if what in ("call", "ignore"):
                made = getattr(self, rest[0])(values[rest[1]])
                made = [made] if isinstance(made, T) else list(made)
                values += made if what == "call" else []
            elif what == "half":
                values.append(values[rest[0]][1:3])
            elif what == "put":
                values[rest[1]][::2] = values[rest[0]].clone()  # they may share memory
            elif what == "iadd":
                values[rest[0]] += values[rest[1]]
            else:
                values.append(values[rest[0]] + values[rest[1]])
        return torch.cat([value * (i + 1) for i, value in enumerate(values)])

    def twin(self, memory: Memory, x: T) -> T:
        values = [memory.fresh(x)]
        for what, *rest in self.program:
            if what in ("call", "ignore"):
                made = memory.call(rest[0], getattr(self, rest[0]), values[rest[1]])
                made = [made] if isinstance(made, Register) else list(made)
                values += made if what == "call" else []
            elif what == "half":
                values.append(memory.view(values[rest[0]], lambda t: t[1:3]))
            elif what == "put":
                rows = memory.view(values[rest[1]], lambda t: t[::2])
                memory.write(rows, memory.read(values[rest[0]]))
            elif what == "iadd":
                memory.write(values[rest[0]], memory.read(values[rest[0]]) + memory.read(values[rest[1]]))
            else:
                values.append(memory.fresh(memory.read(values[rest[0]]) + memory.read(values[rest[1]])))
        return torch.cat([memory.read(value) * (i + 1) for i, value in enumerate(values)])


def runs_in_plain_torch(net: RandomNet, x: T) -> tuple[T, T] | None:
    """Return output and input gradient without hooks, or None for a program that torch itself refuses."""
    leaf = x.clone().requires_grad_()
    try:
        output = net(leaf.clone())
        (gradient,) = torch.autograd.grad(output.tanh().sum(), leaf)
    except RuntimeError as refusal:
        if not any(word in str(refusal) for word in ("inplace", "in-place", "memory location")):
            raise
        return None
    return output.detach(), gradient


def mistakes(net: RandomNet, memory: Memory, recording: hv.Recording, target: T) -> list[str]:
    """Name every value and gradient of the recording that is not what the model of memory says."""
    wrong = [
        f"{key} value"
        for key, value in memory.values.items()
        if key in recording and not near(recording[key], value)
    ]
    nodes = {key: node for key, (node, _) in memory.expected.items()}
    found = torch.autograd.grad(target, list(nodes.values()), allow_unused=True) if nodes else ()
    for (key, (_, index)), gradient in zip(memory.expected.items(), found, strict=True):
        if key in memory.unsettled or (key not in recording and key not in recording.absent):
            continue
        if gradient is None:
            wrong += (
                [f"{key}: no gradient expected"] if key in recording and recording[key].array().any() else []
            )
        elif key not in recording:
            wrong += [f"{key}: {recording.reason(key)}"] if gradient.any() else []
        elif not near(recording[key], gradient if index is None else gradient.flatten()[index]):
            wrong.append(f"{key}: {recording[key].array().tolist()}")
    return wrong


def near(record: hv.Record, value: T) -> bool:
    return record.shape == tuple(value.shape) and torch.allclose(
        record.tensor(), value, rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("kinds", [OUTPUTS, EVERY], ids=["outputs", "everything"])
@pytest.mark.parametrize("hundred", range(3))
def test_random_nets_show_what_a_model_of_memory_computes(hundred: int, kinds: frozenset[Kind]) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        tried = 0
        for seed in range(100 * hundred, 100 * hundred + 100):
            torch.manual_seed(seed)
            net, x = RandomNet(seed).eval(), torch.randn(4, 4)
            plain = runs_in_plain_torch(net, x)
            if plain is None:
                continue
            tried += 1
            leaf, memory = x.clone().requires_grad_(), Memory()
            output = net.twin(memory, leaf.clone())
            target = output.tanh().sum()
            (gradient,) = torch.autograd.grad(target, leaf, retain_graph=True)
            assert torch.allclose(output, plain[0])
            assert torch.allclose(gradient, plain[1])
            before = state_of(net)
            plan = hv.HookPlan.of(net, "*", kinds=kinds)
            recording = hv.capture(net, (x,), plan, target=lambda out: out.tanh().sum())
            assert state_of(net) == before
            assert torch.equal(recording.output, plain[0]), seed
            assert mistakes(net, memory, recording, target) == [], (seed, net.program)
        assert tried > 30
    finally:
        torch.set_default_dtype(torch.float32)
