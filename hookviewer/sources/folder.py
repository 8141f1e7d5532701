"""A project folder as a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources import python_file
from hookviewer.sources.decisions import ChoiceNeeded
from hookviewer.sources.scan import Candidate, scan
from hookviewer.sources.source import Opened, Source, split_arguments
from hookviewer.sources.wording import counted, shown

SHOWN = 8
"""Candidates that fit into a sentence."""


class Folder(Source):
    """`project/`: the one model in a folder of Python files; where there are more, a list of them."""

    rank = 20

    def accepts(self, spec: str) -> bool:
        return bool(spec) and _is_folder(spec.partition("?")[0])

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        place, arguments = split_arguments(spec)
        found = scan(Path(place).expanduser())
        if not found:
            raise HookViewerError(
                f"{shown(place, 300)} is a folder in which no Python file defines or builds an nn.Module: "
                "name a file in it."
            )
        if len(found) > 1:
            raise ChoiceNeeded(_choice(place, found), candidates=found)
        return python_file.opened(found[0].file, found[0].name, {**arguments, **options})


def _is_folder(place: str) -> bool:
    try:
        return Path(place).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):
        return False


def _choice(place: str, found: tuple[Candidate, ...]) -> str:
    lines = "; ".join(f"{shown(one.file, 300)}:{one.signature}" for one in found[:SHOWN])
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    first = found[0]
    needed = "&".join(f"{name}=VALUE" for name in first.required)
    spec = f"{shown(first.spec, 300)}?{needed}" if needed else shown(first.spec, 300)
    return (
        f"{shown(place, 300)} has {counted(len(found), 'model')}: choose one ({lines}{more}) and write it "
        f"like {spec}."
    )
