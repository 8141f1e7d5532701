"""How runs grow, join and answer what is still to be recorded. Pure functions over frozen values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from hookviewer.gui.running import Arrived
from hookviewer.gui.state import Run, Settings
from hookviewer.kinds import Key, Kind
from hookviewer.recording import SUMMARISED, Recording


def fits(run: Run | None, settings: Settings) -> bool:
    """Return whether further records made with `settings` belong to this run."""
    return run is not None and run.settings == settings and run.error is None and not run.stopped


def ended_well(run: Run | None, settings: Settings) -> bool:
    """Return whether this run told of every module, so that further records only add to it."""
    return run is not None and not run.growing and fits(run, settings)


def shown_meanwhile(run: Run | None, settings: Settings) -> Run | None:
    """Return what of an earlier run may be shown while the model runs with `settings`.

    All of it where the settings are the same; what no target touches where only the target is another one.
    """
    if run is None or fits(run, settings):
        return run
    if run.error is not None or dataclasses.replace(run.settings, target=settings.target) != settings:
        return None
    records = {key: record for key, record in run.recording.items() if not _of_a_target(key)}
    summaries = {key: summary for key, summary in run.summaries.items() if not _of_a_target(key)}
    recording = dataclasses.replace(run.recording, records=records, absent={}, target_value=None)
    return dataclasses.replace(run, settings=settings, recording=recording, summaries=summaries)


def grown(before: Run | None, arrived: Arrived, settings: Settings) -> Run:
    """Return the run with the records that have just arrived."""
    recording = before.recording if before else Recording({})
    new = dataclasses.replace(recording, records={record.key: record for record in arrived.records})
    recording = recording.merged(new)
    run = before or Run(recording, settings)
    summaries = {**run.summaries, **arrived.summaries}
    return dataclasses.replace(run, recording=recording, summaries=summaries, growing=True)


def joined(before: Run | None, run: Run) -> Run:
    """Return a finished run together with what was recorded before with the same settings."""
    if before is None or before.settings != run.settings:
        return run
    recording = before.recording.merged(run.recording)
    if run.stopped and before.recording.module_calls:  # what the earlier run saw of the model still holds
        recording = dataclasses.replace(before.recording, records=recording.records)
    return dataclasses.replace(
        run,
        recording=recording,
        guesses=run.guesses or before.guesses,
        summaries={**before.summaries, **run.summaries},
        lists_calls=before.lists_calls or run.lists_calls,
        plain={**before.plain, **run.plain},
    )


def _of_a_target(key: Key) -> bool:
    return key.kind.needs_target or key.kind is Kind.ATTRIBUTION


def dealt_with(run: Run | None, settings: Settings, wanted: frozenset[str]) -> frozenset[str]:
    """Return the paths that need no run with `settings`: recorded, or absent with a reason."""
    if run is None or run.growing or run.settings != settings:
        return frozenset()
    if run.error is not None:
        return wanted  # running again by itself would fail again
    recording = run.recording
    every = recording.records.items()
    tensors = {key: record for key, record in every if key.kind is not Kind.ATTRIBUTION}
    recorded = {key.path for key, record in tensors.items() if record.missing != SUMMARISED}
    summarised = {key.path for key in tensors} - recorded
    absent = {key.path for key in recording.absent if key.kind is not Kind.ATTRIBUTION}
    canonical = recorded | absent - summarised
    aliases = {second for second, first in recording.aliases.items() if first in canonical}
    return frozenset(canonical | aliases)


def without(run: Run | None, paths: frozenset[str], kinds: frozenset[Kind]) -> frozenset[str]:
    """Return those of `paths` of which a run that ended well has neither all of `kinds` nor a reason."""
    if run is None or run.error is not None or not kinds:
        return frozenset()
    recording = run.recording
    told = {(key.path, key.kind) for key, record in recording.items() if record.missing != SUMMARISED}
    told |= {(key.path, key.kind) for key in recording.absent}
    own = recording.aliases
    return frozenset(path for path in paths if any((own.get(path, path), kind) not in told for kind in kinds))


def calls_expected(runs: Iterable[Run]) -> int | None:
    """Return how many module calls a run makes, as told by one that ended well."""
    for run in runs:
        if run.error is None and not run.stopped and run.recording.module_calls:
            return sum(len(calls) for calls in run.recording.module_calls.values())
    return None
