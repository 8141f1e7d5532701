"""Functional calls of random nets, and what recording them does to modules, against a model of memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_truth_random import EVERY, OUTPUTS, Memory, RandomNet, Register, mistakes, runs_in_plain_torch

import hookviewer as hv
from hookviewer import Key, Kind

T = torch.Tensor


class CountedMemory(Memory):
    """Notes what the net's own functional calls are given and make."""

    def call_op(self, name: str, *given: Register) -> str:
        number = self.calls.get(f":{name}", -1) + 1
        self.calls[f":{name}"] = number
        path = f":{name}#{number}"
        for place, register in enumerate(given):
            self.note(Key(path, Kind.INPUT, 0, f"[{place}]"), register, Kind.GRAD_INPUT_TOTAL)
        return path

    def through(self, path: str, *given: Register) -> list[T]:
        """Return a node for each input, which stands for what this call alone reads; one for one register."""
        own = {id(register): self.read(register).clone() for register in given}
        for place, register in enumerate(given):
            key = Key(path, Kind.GRAD_INPUT, 0, f"[{place}]")
            self.expected[key] = (own[id(register)], None)
            if len(own) > 1 and given[0].storage == given[1].storage:
                self.unsettled.add(key)  # two views of one memory
        return [own[id(register)] for register in given]

    def result(self, path: str, register: Register, *, written: bool = False) -> Register:
        self.note(Key(path, Kind.OUTPUT), register, Kind.GRAD_OUTPUT, through_memory=written)
        return register


class FunctionalNet(RandomNet):
    def twin(self, memory: Any, x: T) -> T:
        values = [memory.fresh(x)]
        for what, *rest in self.program:
            first = values[rest[0]] if what not in ("call", "ignore") else None
            if what in ("call", "ignore"):
                made = memory.call(rest[0], getattr(self, rest[0]), values[rest[1]])
                made = [made] if isinstance(made, Register) else list(made)
                values += made if what == "call" else []
            elif what == "half":
                path = memory.call_op("getitem", first)
                values.append(memory.result(path, memory.view(first, lambda t: t[1:3])))
            elif what == "put":
                rows, put = memory.view(values[rest[1]], lambda t: t[::2]), memory.read(first)
                memory.write(rows, put)
                path = memory.call_op("setitem")
                memory.result(path, values[rest[1]], written=True)
            elif what == "iadd":
                path = memory.call_op("add_", first, values[rest[1]])
                before, other = memory.through(path, first, values[rest[1]])
                memory.write(first, before + other)
                memory.result(path, first, written=True)
            else:
                path = memory.call_op("add", first, values[rest[1]])
                one, other = memory.through(path, first, values[rest[1]])
                values.append(memory.result(path, memory.fresh(one + other)))
        return torch.cat([memory.read(value) * (i + 1) for i, value in enumerate(values)])


@pytest.mark.parametrize("kinds", [OUTPUTS, EVERY], ids=["outputs", "everything"])
@pytest.mark.parametrize("first", [0, 30])
def test_functional_calls_of_random_nets_are_what_a_model_of_memory_computes(
    first: int, kinds: frozenset[Kind]
) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        for seed in range(first, first + 30):
            torch.manual_seed(seed)
            net, x = FunctionalNet(seed).eval(), torch.randn(4, 4)
            plain = runs_in_plain_torch(net, x)
            if plain is None:
                continue
            memory = CountedMemory()
            target = net.twin(memory, x.clone().requires_grad_().clone()).tanh().sum()
            plan = hv.HookPlan.of(net, "*", "*:*", kinds=kinds)
            recording = hv.capture(net, (x,), plan, target=lambda out: out.tanh().sum())
            assert torch.equal(recording.output, plain[0]), seed
            assert mistakes(net, memory, recording, target) == [], (seed, net.program)
    finally:
        torch.set_default_dtype(torch.float32)
