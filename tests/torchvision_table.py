"""The results of the sweep over torchvision as a page: docs/torchvision.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

HEAD = """# torchvision, network by network

Every network that torchvision {torchvision} can build, opened by its name with random weights, given the
input that the program guesses for it, and run with every module ticked, outputs and gradients ({when}, torch
{torch}, CPU, one thread). Every value and gradient was compared, bit for bit, with a copy of the network in
plain torch that has no in-place operations. The gradient starts from all outputs that have one, each element
weighted differently. Parameters, buffers, modes, hooks and random numbers were compared before and after.

{summary}

To do it again, which goes on where it stopped:

```
python tests/sweep_torchvision.py            # all that have no result yet, the smallest first
python tests/sweep_torchvision.py resnet18   # these, whether they have a result or not
python tests/sweep_torchvision.py --write    # this page
```

- **absent**: tensors without a record, each of which has its reason: modules that a run does not call,
  outputs that no gradient reaches.
- **values**, **gradients**: how many tensors are bit-equal, of how many that plain torch has.
- **train**: the same in train mode, values and gradients together.

| network | kind | modules | records | absent | values | gradients | train | seconds | notes |
|---|---|--:|--:|--:|--:|--:|--:|--:|---|
"""


def written(results: Mapping[str, Row], names: Sequence[str]) -> str:
    """Return the page for the networks `names`; those without a result are listed as not run."""
    rows = [results.get(name, {"name": name, "status": "not run yet"}) for name in names]
    rows.sort(key=lambda row: (row.get("kind", "~"), row["name"]))
    run = [row for row in rows if row["status"] == "run"]
    facts = run[0] if run else {"torch": "?", "torchvision": "?"}
    dates = sorted({row["date"] for row in run}) or ["never"]
    head = HEAD.format(
        torch=facts["torch"],
        torchvision=facts["torchvision"],
        when=" to ".join(sorted({dates[0], dates[-1]})),
        summary=_summary(rows, run),
    )
    return head + "".join(f"{_line(row)}\n" for row in rows)


def _summary(rows: Sequence[Row], run: Sequence[Row]) -> str:
    modes = [row[mode] for row in run for mode in ("eval", "train") if "records" in row[mode]]
    right = sum(mode["values"] + mode["gradients"] for mode in modes)
    wrong = sum(mode["faults"] for mode in modes)
    trained = sum(1 for row in run if "records" in row["train"])
    return (
        f"**{len(run)} of {len(rows)} networks were run, {trained} of them in train mode too: "
        f"{right:,} tensors are right, {wrong} wrong.**"
    )


def _line(row: Row) -> str:
    if row["status"] != "run":
        return f"| {row['name']} | {row.get('kind', '')} | | | | | | | | {row['status']} |"
    found, train = row["eval"], row["train"]
    if "refused" in found:
        return f"| {row['name']} | {row['kind']} | | | | | | | | plain torch: {found['refused']} |"
    cells = (
        row["name"],
        row["kind"],
        row["modules"],
        found["records"],
        found["absent"],
        _share(found["values"], found, "output"),
        _share(found["gradients"], found, "grad_output"),
        _trained(train),
        round(row["seconds"]),
        _notes(row),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _share(right: int, mode: Row, kind: str) -> str:
    """Return how many of those compared are right."""
    return f"{right} of {mode['compared'][kind]}"


def _trained(train: Row) -> str:
    if "refused" in train:
        return "refused"
    return f"{train['values'] + train['gradients']} of {sum(train['compared'].values())}"


def _notes(row: Row) -> str:
    notes = [*row["eval"]["notes"]]
    options = row["spec"].partition("?")[2]
    notes += [f"`{options}`"] if options else []
    notes += [f"train: {note}" for note in row["train"].get("notes", ())]
    notes += [f"train: plain torch says {row['train']['refused']}"] if "refused" in row["train"] else []
    for mode in ("eval", "train"):
        found = row[mode]
        notes += (
            [f"{mode}: {found['not_kept']} over the budget, not compared"] if found.get("not_kept") else []
        )
        notes += [f"{mode}: {found['faults']} wrong: {found['wrong'][0]}"] if found.get("faults") else []
    return "; ".join(notes).replace("|", "\\|")
