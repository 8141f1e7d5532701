"""Which layer of one model stands beside which of another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from hookviewer.modules import ModuleNode
from hookviewer.recording import Recording

PATH, ORDER, HAND = "path", "order and shape", "hand"
"""How two layers were matched."""


@dataclasses.dataclass(frozen=True, eq=False)
class Matching(Mapping[str, str]):
    """The path in B of every path in A that has a partner, in order of execution of A.

    `how` says for each path of A whether it was matched by `"path"`, `"order and shape"` or `"hand"`;
    `only_a` and `only_b` are the paths without a partner.
    """

    paths: Mapping[str, str]
    how: Mapping[str, str] = dataclasses.field(default_factory=dict)
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()

    def __getitem__(self, path: str) -> str:
        return self.paths[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def back(self) -> Mapping[str, str]:
        """The path in A of every matched path in B."""
        raise NotImplementedError


def matched(
    tree_a: ModuleNode,
    recording_a: Recording | None,
    tree_b: ModuleNode,
    recording_b: Recording | None,
    *,
    by_hand: Mapping[str, str | None] | None = None,
) -> Matching:
    """Return which layer of A stands beside which of B.

    First what `by_hand` says (A's path → B's path, `None` for no partner), then equal paths of equal type,
    then layers of equal type and output shape in order of execution, then of equal output shape. Without the
    recordings (`None`), the order is that of registration, and shapes are not compared.
    """
    raise NotImplementedError
