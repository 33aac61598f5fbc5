"""Columns and groups of the list of runs: the values to show and sort by, and their means over each group.

Predefined columns always exist; other columns contain recorded values. A group contains the runs of one sweep,
scenario, controller, tag, seed, status or day, with the mean of their measures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING

from subflow_app.features.forking.core.words import difference_text
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.means import is_one_run
from subflow_app.vocabulary.measures import RUN_MEASURES, measure_title, run_measure, run_values
from subflow_app.vocabulary.number_text import NOTHING, fixed_text, typeset
from subflow_sim.stats import Estimate
from subflow_store.values import RunRow, is_sweep_tag

if TYPE_CHECKING:
    from subflow_store import Store


Value = float | str | None


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column of the list of runs.

    Attributes:
        key: name in settings; for recorded values, the key of the value.
        title: title without the unit, in English; for recorded values, in the language of the window.
        symbol: heading of narrow columns, in the language of `title`; empty to use the title.
        unit: unit of all cells; may be empty.
        scale: factor from SI values to shown values.
        decimals: number of decimals; None for up to six digits.
        is_number: whether the cells are right-aligned.
        is_metric: whether groups show the mean.
        is_of_flows: whether the values are computed from values of the flows, which a list reads separately.
        widest: typical long text of a cell, which sets the initial width.
        tip: description, in English.
        of: returns the value of a run; None for recorded values.
        search: description and example of the query field, which is named like the key but without `_bps` or `_s`;
            empty if the column is not a query field.
    """

    key: str
    title: str
    unit: str = ""
    scale: float = 1.0
    decimals: int | None = None
    is_number: bool = False
    is_metric: bool = False
    is_of_flows: bool = False
    widest: str = ""
    tip: str = ""
    of: Callable[[RunRow], Value] | None = None
    search: str = ""
    symbol: str = ""

    @property
    def is_recorded(self) -> bool:
        """True for a column of recorded values."""
        return self.of is None

    @property
    def is_read(self) -> bool:
        """True if a list must read the values separately, because the rows of the runs lack them."""
        return self.of is None or self.is_of_flows

    def value(self, row: RunRow, read: Mapping[str, Mapping[int, Value]]) -> Value:
        """The value of a listed run.

        Args:
            row: row of the list.
            read: values of the columns with `is_read`, by key and run.
        """
        if self.of is None or self.is_of_flows:
            return read.get(self.key, {}).get(row.id)
        return self.of(row)

    def text(self, value: Value) -> str:
        """The text of a cell with this value."""
        if value is None:
            return NOTHING if self.is_number else ""
        if isinstance(value, str):
            return value
        if self.decimals is None:
            return typeset(f"{value * self.scale:.6g}")
        return fixed_text(value, self.decimals, self.scale)


def _measured(key: str, widest: str, search: str = "", tip: str = "") -> RunColumn:
    """Column of a metric that every run has."""
    shown, of = RUN_MEASURES[key], attrgetter(key)
    return RunColumn(
        key, shown.title, shown.unit, shown.scale, shown.decimals, True, True, False, widest, tip or shown.definition,
        of, search, shown.symbol,
    )  # fmt: skip


def _of_flows(key: str, widest: str) -> RunColumn:
    """Column of a measure of all flows together."""
    shown = RUN_MEASURES[key]
    return RunColumn(
        key, shown.title, shown.unit, shown.scale, shown.decimals, True, True, True, widest, shown.definition,
        of=lambda row: totals_of(row).get(key), symbol=shown.symbol,
    )  # fmt: skip


def totals_of(run: RunRow) -> dict[str, float]:
    """The measures of all flows of a run together, in SI units, by key.

    Args:
        run: a run with its documents; without them the result is empty.
    """
    return run_values((run.summary or {}).get("flows", ()))


def read_totals(store: Store, keys: Collection[str]) -> dict[str, dict[int, Value]]:
    """Read the measures of all flows together, by key and run.

    Args:
        store: database with the runs.
        keys: keys of columns with `is_of_flows`.

    Raises:
        StoreError: if the store cannot be read.
    """
    needed = {name for key in keys for name in RUN_MEASURES[key].needed_keys}
    found: dict[str, dict[int, Value]] = {key: {} for key in keys}
    for run_id, flows in (store.flow_values(needed) if needed else {}).items():
        for key, value in run_values(flows).items():
            if key in found:
                found[key][run_id] = value
    return found


def _written(key: str, title: str, widest: str, search: str = "") -> RunColumn:
    """Column of a text value that every run has."""
    return RunColumn(key, title, widest=widest, of=attrgetter(key), search=search)


NAME = "name"
SCENARIO = "scenario"
STATUS = "status"
STARTED = "started"
TAGS = "tags"
NOTE = "note"
FORK = "fork"

COLUMNS: tuple[RunColumn, ...] = (
    _written(
        NAME,
        translatable("Name"),
        "Two disjoint paths, one lossy: controller olia",
        "part of the run's name: name:baseline",
    ),
    RunColumn("id", translatable("Run"), decimals=0, is_number=True, widest="12345", of=lambda r: r.id),
    RunColumn(SCENARIO, translatable("Scenario"), widest="Two disjoint path", of=lambda r: r.scenario_name),
    _written("controllers", translatable("Controllers"), "uncoupled"),
    RunColumn(
        "seed", translatable("Seed"), decimals=0, is_number=True, widest="1234", of=lambda r: r.seed, search="seed:3"
    ),
    _written(STATUS, translatable("Status"), "    interrupted"),
    _measured(
        "goodput_bps",
        "12.345 ± 0.12345",
        "sum over all flows: goodput>5Mbit/s",
        translatable("Sum over all flows, after warm-up"),
    ),
    _of_flows("mean_completion_s", "12.345 ± 0.12345"),
    _of_flows("active_goodput_per_flow_bps", "12.345 ± 0.12345"),
    _of_flows("weighted_rtt_s", "191.2 ± 10.234"),
    _measured(
        "jain",
        "0.985 ± 0.01234",
        "Jain's fairness index of the flows: jain<0.9",
        translatable("Jain's fairness index of the flows: 1 is equal shares"),
    ),
    RunColumn(STARTED, translatable("Started"), widest="28 Nov 2026 09:12", of=lambda r: r.started_at.timestamp()),
    RunColumn(TAGS, translatable("Tags"), widest="baseline", of=lambda r: ", ".join(r.tags)),
    _written(NOTE, translatable("Note"), "Note", 'part of the note: note:"new cable"'),
)
"""Predefined columns that a new list shows."""


def fork_of(row: RunRow) -> str | None:
    """Origin, time and changes of a fork: ``run 12 at 20 s: wifi loss 2 % → 5 %``; None if the run is not a fork."""
    fork = row.fork
    if fork is None:
        return None

    # The original run may be unstored or deleted; then only its name is known.
    parent = f'"{fork.parent_name}"' if fork.parent_id is None else tr("run {number}", number=fork.parent_id)
    time = f"{fork.forked_at_s:.10g}"
    return tr("{run} at {time} s: {difference}", run=parent, time=time, difference=difference_text(fork.changes))


TRANSFERS = ("mean_completion_s", "active_goodput_per_flow_bps")
"""Keys of the columns that are filled only for runs with flows of a given size."""


MORE_COLUMNS: tuple[RunColumn, ...] = (
    RunColumn(
        FORK,
        translatable("Fork of"),
        widest="run 123 at 12.5 s: wifi loss 2 % → 5 %",
        tip=translatable("The run that it branched off, when, and what was changed there"),
        of=lambda r: fork_of(r),
    ),
    _measured("mean_rtt_s", "191.2 ± 10.234"),
    _of_flows("goodput_per_flow_bps", "12.345 ± 0.12345"),
    _of_flows("total_loss_ratio", "12.34 ± 1.234"),
    _of_flows("makespan_s", "12.345 ± 0.12345"),
    _measured("duration_s", "1200.0", "simulated time that was asked for: duration>60s"),
    _measured("simulated_s", "1200.0", "simulated time that was reached: simulated<60s"),
    _measured("warmup_s", "20.0", "time at the start that figures leave out: warmup>0s"),
    _measured("wall_s", "12.34", "time that the run took: wall>10s"),
    _measured("packets", "123456789", "packets simulated: packets>1e6"),
    _written("profile", translatable("Profile"), "textbook", "transport profile: profile=linux"),
    _written("version", translatable("Version"), "0.1.0.dev0", "version of Subflow that ran it: version:0.1"),
    _written("signature", translatable("Signature"), "0123456789abcdef", "signature of the run: signature:ed8c"),
)
"""Further predefined columns, which a new list omits."""

_BY_KEY: Mapping[str, RunColumn] = {column.key: column for column in (*COLUMNS, *MORE_COLUMNS)}


def column(key: str) -> RunColumn:
    """The column of a key, predefined or for recorded values."""
    return _BY_KEY.get(key) or recorded_column(key)


def recorded_column(key: str) -> RunColumn:
    """A column of recorded values; its unit follows from the key."""
    shown, title = run_measure(key), measure_title(key)
    tip = key if title != key else ""
    return RunColumn(key, title, shown.unit, shown.scale, shown.decimals, True, True, False, title, tip)


def sort_key(value: Value) -> tuple[int, float, str]:
    """Sort key of a value: missing values first, then numbers by size, then texts regardless of case."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, str):
        return (2, 0.0, value.lower())
    return (1, value, "")


def sorted_runs(
    rows: Sequence[RunRow], order: Sequence[tuple[RunColumn, bool]], recorded: Mapping[str, Mapping[int, Value]]
) -> list[RunRow]:
    """Sort runs by several columns.

    Args:
        rows: the runs, newest first; equal runs keep this order.
        order: pairs of a column and True for descending order; the first pair has precedence.
        recorded: values of the columns with `is_read`, by key and run.
    """
    ordered = list(rows)
    for sorted_by, is_descending in reversed(order):
        keyed = [sort_key(sorted_by.value(row, recorded)) for row in ordered]
        places = sorted(range(len(ordered)), key=keyed.__getitem__, reverse=is_descending)
        ordered = [ordered[place] for place in places]
    return ordered


def local_day(row: RunRow, now: datetime | None = None) -> str:
    """The local day on which a run started, as ISO 8601, at the UTC offset in force at `now` (default: today)."""
    return row.started_at.astimezone((now or datetime.now(UTC)).astimezone().tzinfo).date().isoformat()


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
"""Groupings of runs, and their titles in the menu."""

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
    """Runs with a common value.

    Attributes:
        key: identifier of the group.
        label: common value of the runs; empty for runs without a value.
        rows: runs in the order of the list.
    """

    key: str
    label: str
    rows: list[RunRow]

    @property
    def is_mixed(self) -> bool:
        """True if the runs have different controllers, so that a mean would describe none of them."""
        return len({row.controllers for row in self.rows}) > 1

    @property
    def is_one_run(self) -> bool:
        """True if all runs have bit-identical results."""
        return is_one_run([row.signature for row in self.rows])


def grouped(rows: Iterable[RunRow], by: str) -> list[RunGroup]:
    """Group runs, in the order of the first run of each group; a run with several tags is in several groups.

    Args:
        rows: runs in the order of the list.
        by: one of `GROUPINGS`, except "" and `SWEEP`.
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
    """The runs in order, with a group for each sweep at the position of its first run.

    Experiments and contests are sweeps as well. A sweep's runs are identified by its tag. A sweep with a single run
    does not form a group.

    Args:
        rows: runs in the order of the list.
        names: names of the sweeps, by tag; a deleted sweep is named after its runs.
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
    """The tag of the sweep to which a run belongs; empty for other runs."""
    return next(filter(is_sweep_tag, row.tags), "") if row.tags else ""


def shared_beginning(name: str, others: Iterable[str]) -> int:
    """Length, in characters, of the longest sequence of whole words with which a name and another name both begin."""
    shared = 0
    for other in others:
        if other == name:
            continue
        least = min(len(name), len(other))
        length = next((n for n in range(least) if name[n] != other[n]), least)
        # Shorten to whole words, because half a number is meaningless.
        while length > 0 and not name[length - 1].isspace():
            length -= 1
        shared = max(shared, length)
    return shared


def mean_interval(values: Iterable[Value]) -> Estimate | None:
    """Mean and 95 % confidence interval (Student's t) of the numeric values; None if no value is a number."""
    found = Estimate.of(float(value) for value in values if isinstance(value, int | float))
    return found if found.n else None
