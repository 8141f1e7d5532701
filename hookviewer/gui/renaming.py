"""The records of another model under the paths of the open one, so that both stand side by side. Pure."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QCoreApplication

from hookviewer.kinds import Functional, Key
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording


@dataclasses.dataclass(frozen=True, eq=False)
class Renaming:
    """Which layer of another model stands beside which of the open one.

    `paths` gives the other model's path for one of the open model, `how` the way in which they were matched,
    `others` are all paths of the other model, `aliases` the second names of modules of the open one.
    """

    paths: Mapping[str, str]
    how: Mapping[str, str] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    others: tuple[str, ...] = ()
    aliases: Mapping[str, str] = dataclasses.field(default_factory=lambda: MappingProxyType({}))

    @functools.cached_property
    def _back(self) -> Mapping[str, str]:
        return {other: own for own, other in self.paths.items()}

    def there(self, path: str) -> str | None:
        """Return the other model's path of a layer or functional call, None where it has no partner."""
        call = Functional.of(path)
        if call is None:
            return self._partner(path)
        module = self._partner(call.module)
        return None if module is None else call._replace(module=module).path

    def _partner(self, path: str) -> str | None:
        return self.paths.get(self.aliases.get(path, path))

    def here(self, path: str) -> str | None:
        """Return the open model's path of a layer or functional call of the other one, None without one."""
        call = Functional.of(path)
        if call is None:
            return self._back.get(path)
        module = self._back.get(call.module)
        return None if module is None else call._replace(module=module).path

    def plan(self, plan: HookPlan) -> HookPlan:
        """Return the plan for the other model: the partners of its layers."""
        return dataclasses.replace(
            plan, paths=self._there(plan.paths), summarised=self._there(plan.summarised)
        )

    def _there(self, paths: frozenset[str]) -> frozenset[str]:
        return frozenset(found for found in map(self.there, paths) if found is not None)

    def record(self, record: Record) -> Record | None:
        """Return a record of the other model under the open model's path, None without one."""
        path = self.here(record.key.path)
        if path is None:
            return None
        return dataclasses.replace(record, key=record.key._replace(path=path))

    def recording(self, recording: Recording, plan: HookPlan) -> Recording:
        """Return a recording of the other model under the open model's paths.

        What `plan` asks for and has no partner is absent, with its reason.
        """
        records = [made for made in map(self.record, recording.records.values()) if made is not None]
        lacking = [path for path in plan.paths if self.there(path) is None]
        words = _tr("The other model has no layer that stands beside {}: choose one by hand.")
        absent = {
            Key(self.aliases.get(path, path), kind): words.format(path or _tr("the model"))
            for path in lacking
            for kind in plan.kinds
        }
        calls = self._keyed(recording.module_calls)
        return dataclasses.replace(
            recording,
            records={record.key: record for record in records},
            absent=absent | self._absent(recording.absent),
            never_called=self._keyed(recording.never_called),
            module_calls={
                path: tuple(dataclasses.replace(call, path=path) for call in found)
                for path, found in calls.items()
            },
            aliases=self.aliases,
        )

    def _keyed(self, found: Mapping[str, Any]) -> dict[str, Any]:
        here: Callable[[str], str | None] = self.here
        return {own: value for path, value in found.items() if (own := here(path)) is not None}

    def _absent(self, absent: Mapping[Key, str]) -> dict[Key, str]:
        found = ((key, self.here(key.path), why) for key, why in absent.items())
        return {key._replace(path=path): why for key, path, why in found if path is not None}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Renaming", text)
