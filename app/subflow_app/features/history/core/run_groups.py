"""Runs in groups: of one sweep, scenario, controller, tag, seed, status or day, with the mean of what they measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from subflow_app.features.history.core.run_columns import Value, local_day
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.repeats import is_one_run
from subflow_sim.stats import Estimate
from subflow_store.sweep_values import is_sweep_tag
from subflow_store.values import RunRow

SWEEP = "sweep"
GROUPINGS: Mapping[str, str] = {
    SWEEP: translatable("Sweeps folded"),
    "": translatable("No groups"),
    "scenario": translatable("By scenario"),
    "controllers": translatable("By controller"),
    "tag": translatable("By tag"),
    "seed": translatable("By seed"),
    "status": translatable("By status"),
    "day": translatable("By day"),
}
"""What runs can be grouped by, and what the choice is called."""

_LABELS: Mapping[str, Callable[[RunRow], Sequence[str]]] = {
    "scenario": lambda row: (row.scenario_name,),
    "controllers": lambda row: (row.controllers,),
    "tag": lambda row: row.tags or ("",),
    "seed": lambda row: (str(row.seed),),
    "status": lambda row: (row.status,),
    "day": lambda row: (local_day(row),),
}


@dataclass(frozen=True, slots=True, eq=False)
class RunGroup:
    """Runs that have something in common.

    Attributes:
        key: tells it from the others.
        label: what they have in common; empty for runs that lack it.
        rows: in the order of the list.
    """

    key: str
    label: str
    rows: list[RunRow]

    @property
    def is_mixed(self) -> bool:
        """True if the runs have different controllers: a mean over all of them measures no controller."""
        return len({row.controllers for row in self.rows}) > 1

    @property
    def is_one_run(self) -> bool:
        """True if all runs are the same, bit for bit."""
        return is_one_run([row.signature for row in self.rows])


def grouped(rows: Iterable[RunRow], by: str) -> list[RunGroup]:
    """The runs in groups, in the order of each group's first run; a run of several tags is in each one's group.

    Args:
        rows: in the order in which they are listed.
        by: one of GROUPINGS but the empty one and that of sweeps.
    """
    groups: dict[str, RunGroup] = {}
    labels = _LABELS[by]
    for row in rows:
        for label in labels(row):
            if label not in groups:
                groups[label] = RunGroup(label, label, [])
            groups[label].rows.append(row)
    return list(groups.values())


def with_sweeps(rows: Iterable[RunRow], names: Mapping[str, str]) -> list[RunRow | RunGroup]:
    """The runs in their order, those that one sweep made as a group in the place of the first of them.

    Experiments and contests are sweeps too. The tag that a sweep gives to its runs tells; a single run stays one.

    Args:
        rows: in the order in which they are listed.
        names: of the sweeps by tag; of one that was deleted, the runs' names tell it.
    """
    listed: list[RunRow | RunGroup] = []
    groups: dict[str, RunGroup] = {}
    for row in rows:
        tag = sweep_of(row)
        if not tag:
            listed.append(row)
        elif tag in groups:
            groups[tag].rows.append(row)
        else:
            groups[tag] = RunGroup(tag, names.get(tag) or row.name.partition(": ")[0], [row])
            listed.append(groups[tag])
    return [each.rows[0] if isinstance(each, RunGroup) and len(each.rows) == 1 else each for each in listed]


def sweep_of(row: RunRow) -> str:
    """The tag of the sweep that made a run; empty for others."""
    return next(filter(is_sweep_tag, row.tags), "") if row.tags else ""


def shared_beginning(name: str, others: Iterable[str]) -> int:
    """How many characters of a name begin one of the others too, up to the end of a word."""
    shared = 0
    for other in others:
        if other == name:
            continue
        least = min(len(name), len(other))
        length = next((n for n in range(least) if name[n] != other[n]), least)
        # Back to where the word begins in which they differ: half a number is none.
        while length > 0 and not name[length - 1].isspace():
            length -= 1
        shared = max(shared, length)
    return shared


def mean_interval(values: Iterable[Value]) -> Estimate | None:
    """Mean and 95 % confidence interval by Student's t of those values that are numbers; None if none is."""
    found = Estimate.of(float(value) for value in values if isinstance(value, int | float))
    return found if found.n else None
