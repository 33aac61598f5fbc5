"""Results of sweeps as tables with a row for each point, written as CSV, JSON and text.

Results are read from the store. A row contains the mean of each figure over the seeds, with its 95 % interval. Rows are
in the order of the points, and values in the order of the seeds.

The same sweep always results in the same bytes. They depend only on the plan and the simulator, and not on when, where
or in how many processes the runs were simulated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from subflow_app.features.sweeps.core.axes import SweptValue
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.means import is_one_run, one_run_notice
from subflow_app.vocabulary.measures import (
    DELAYS,
    RUN_MEASURES,
    default_measures,
    headline_measures,
    run_measure,
    run_values,
)
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import TextColumn, TextTable, csv_text
from subflow_sim.stats import Estimate
from subflow_store.run_values import quantity

if TYPE_CHECKING:
    from subflow_store import Store


TOTALS = (
    "goodput_bps",
    "mean_rtt_s",
    "p95_rtt_s",
    "loss_ratio",
    "retransmits",
    "packets_sent",
    "packets_dropped",
    "completion_s",
    "mean_completion_s",
    "active_goodput_per_flow_bps",
    "goodput_per_flow_bps",
    "weighted_rtt_s",
    "total_loss_ratio",
    "makespan_s",
    *(each.key for each in DELAYS),
)
"""Keys of the measures of whole runs, which are computed from measures of flows."""

JAIN = "fairness.jain"
_FLOW_FIGURES = ("goodput_bps", "active_goodput_bps", *TOTALS[1:8], *(each.key for each in DELAYS))
# Round-trip time and loss over all flows; tables of older versions only contain the means per flow.
_BESIDE = (("weighted_rtt_s", "mean_rtt_s"), ("total_loss_ratio", "loss_ratio"))
_LINK_FIGURES = ("utilisation", "mean_queue_pkts", "max_queue_pkts", "drops_queue", "drops_random")
# Values of flows from which the totals are computed, in addition to the figures in tables.
_NEEDED = tuple(dict.fromkeys(name for key in TOTALS for name in RUN_MEASURES[key].needed_keys))
# A flow, or a copy of a flow ("download.3"), but not a subflow or a parameter of the scenario.
_FLOW_KEY = re.compile(rf"flows\.(?P<owner>[^/]+?)\.(?P<figure>{'|'.join(_FLOW_FIGURES)})")
_NEEDED_KEY = re.compile(rf"flows\.(?P<owner>[^/]+?)\.(?P<figure>{'|'.join(_NEEDED)})")
_LINK_KEY = re.compile(rf"links\.(?P<owner>[^/]+/(?:forward|reverse))\.(?P<figure>{'|'.join(_LINK_FIGURES)})")


@dataclass(frozen=True, slots=True, eq=False)
class SweepRow:
    """The results at one point of the sweep.

    Attributes:
        point: number of the point in the plan.
        values: value of each key, in the order of the keys in the table.
        cells: mean and interval by figure, without figures that no run of this point has.
        run_ids: for each seed, the number of its run in the store; None if it has no run. Exports omit these numbers,
            because they depend on the order in which the runs ended.
        signatures: for each seed, the signature of its run; empty if it has no run or if the signature is unknown.
    """

    point: int
    values: tuple[SweptValue, ...]
    cells: Mapping[str, Estimate]
    run_ids: tuple[int | None, ...] = field(default=())
    signatures: tuple[str, ...] = field(default=())

    @property
    def known_signatures(self) -> list[str]:
        """Signatures of the runs in the order of the seeds, without unknown signatures."""
        return list(filter(None, self.signatures))

    @property
    def is_one_run(self) -> bool:
        """True if several seeds all resulted in the same run, bit for bit, so that an interval would be meaningless."""
        return is_one_run(self.known_signatures)


@dataclass(frozen=True, slots=True, eq=False)
class SweepTable:
    """The results of a sweep, which may be incomplete.

    Attributes:
        name: name of the sweep.
        keys: the swept keys, in the order of the plan.
        seeds: seeds in order.
        figures: keys of the figures in any row; figures of whole runs come first.
        rows: rows in the order of the points; points without a finished run have no cells.
    """

    name: str
    keys: tuple[str, ...]
    seeds: tuple[int, ...]
    figures: tuple[str, ...]
    rows: tuple[SweepRow, ...]

    def column(self, figure: str) -> list[Estimate]:
        """A figure at all points; estimates of NaN at points that lack it."""
        nothing = Estimate.of((math.nan,) * len(self.seeds))
        return [row.cells.get(figure, nothing) for row in self.rows]

    @property
    def note(self) -> str:
        """Notice about points at which all seeds resulted in the same run; empty if this is the case at no point."""
        return one_run_notice([row.known_signatures for row in self.rows if row.cells])

    def parameter(self, key: str) -> list[SweptValue]:
        """The values of a swept key at all points."""
        place = self.keys.index(key)
        return [row.values[place] for row in self.rows]

    def steps(self, key: str) -> list[SweptValue]:
        """The distinct values of a swept key: numbers in ascending order, then other values in plan order."""
        found = list(dict.fromkeys(self.parameter(key)))
        return sorted(found, key=lambda value: (value.number is None, value.number or 0.0))


def is_figure(key: str) -> bool:
    """True if tables show the value with this key as a figure."""
    return key == JAIN or _FLOW_KEY.fullmatch(key) is not None or _LINK_KEY.fullmatch(key) is not None


def is_read(key: str) -> bool:
    """True if tables need the value with this key, either as a figure or to compute a figure."""
    return is_figure(key) or _NEEDED_KEY.fullmatch(key) is not None


def run_figures(recorded: Mapping[str, float]) -> dict[str, float]:
    """The figures of one run's flows and links, and of the whole run.

    Args:
        recorded: parameters and figures of the run, by key.
    """
    figures = {key: value for key, value in recorded.items() if is_figure(key)}
    flows: dict[str, dict[str, float]] = {}
    for key, value in recorded.items():
        if match := _NEEDED_KEY.fullmatch(key):
            flows.setdefault(match["owner"], {})[match["figure"]] = value
    totals = run_values(list(flows.values()))
    # With one flow, this figure would only repeat the goodput.
    left_out = ("goodput_per_flow_bps",) if len(flows) == 1 else ()
    return figures | {key: totals[key] for key in TOTALS if key in totals and key not in left_out}


def shown_figures(figures: Collection[str]) -> list[str]:
    """Keys of the most important figures of whole runs.

    For flows with a size, they include the completion time and active goodput; for other flows, the goodput. Round-trip
    time, loss and fairness follow.

    Args:
        figures: keys of the figures in the table.
    """
    flows = [
        {"completion_s": 0.0 if f"flows.{owner}.completion_s" in figures else None} for owner in flow_owners(figures)
    ]
    wanted = (*((each.of_run,) for each in headline_measures(flows)), *_BESIDE, (JAIN,))
    return [key for ways in wanted for key in [key for key in ways if key in figures][:1]]


def flow_figures(flow: str, figures: Collection[str]) -> list[str]:
    """Keys of the most important figures of a flow.

    Args:
        flow: name of the flow.
        figures: keys of the figures in the table.
    """
    own = {"completion_s": 0.0 if f"flows.{flow}.completion_s" in figures else None}
    wanted = (*(each.key for each in default_measures(own)), "mean_rtt_s", "loss_ratio")
    return [key for name in wanted if (key := f"flows.{flow}.{name}") in figures]


def flow_owners(figures: Iterable[str]) -> list[str]:
    """The flows that appear in the figures of a table."""
    return list(dict.fromkeys(match["owner"] for key in figures if (match := _FLOW_KEY.fullmatch(key))))


def sweep_table(
    name: str,
    keys: Sequence[str],
    seeds: Sequence[int],
    points: Iterable[tuple[int, Sequence[SweptValue]]],
    runs: Mapping[tuple[int, int], tuple[int | None, Mapping[str, float]]],
    signatures: Mapping[tuple[int, int], str] | None = None,
) -> SweepTable:
    """Create the table of a sweep from the values of its runs.

    Args:
        name: name of the sweep.
        keys: the swept keys.
        seeds: seeds in order.
        points: number and values of each point.
        runs: number in the store and recorded values of each finished run, by point and seed.
        signatures: signatures of these runs by point and seed, as far as known.
    """
    figures_of = {place: run_figures(recorded) for place, (_, recorded) in runs.items()}
    rows = []
    for point, values in sorted(points, key=lambda each: each[0]):
        by_seed = [figures_of.get((point, seed), {}) for seed in seeds]
        found = dict.fromkeys(figure for figures in by_seed for figure in figures)
        cells = {figure: Estimate.of([figures.get(figure, math.nan) for figures in by_seed]) for figure in found}
        run_ids = tuple(runs[point, seed][0] if (point, seed) in runs else None for seed in seeds)
        own = tuple((signatures or {}).get((point, seed), "") for seed in seeds)
        rows.append(SweepRow(point, tuple(values), cells, run_ids, own))
    figures = sorted({figure for row in rows for figure in row.cells}, key=_figure_order)
    return SweepTable(name, tuple(keys), tuple(seeds), tuple(figures), tuple(rows))


def _figure_order(figure: str) -> tuple[int, int, list[tuple[int, int, str]]]:
    """Sort key: whole runs first, then fairness, flows and links, with "download.10" after "download.9"."""
    if figure in TOTALS:
        return (0, TOTALS.index(figure), [])
    if figure == JAIN:
        return (1, 0, [])
    match = _FLOW_KEY.fullmatch(figure) or _LINK_KEY.fullmatch(figure)
    assert match is not None
    names = (*_FLOW_FIGURES, *_LINK_FIGURES)
    place = names.index(match["figure"])
    parts = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", match["owner"])]
    return (2 if figure.startswith("flows.") else 3, place, parts)


# The SI unit for each unit in which values are written.
_SI = {
    **dict.fromkeys(("bit/s", "kbit/s", "Mbit/s", "Gbit/s"), "bit/s"),
    **dict.fromkeys(("ns", "us", "µs", "ms", "s", "min"), "s"),
    **dict.fromkeys(("B", "kB", "MB", "GB"), "B"),
    "pkt": "pkt",
    "%": "ratio",
}


def stored_table(store: Store, sweep_id: int) -> SweepTable:
    """Read the results of a sweep from the store.

    Raises:
        RunNotFound: if the store has no such sweep.
        StoreError: if the sweep cannot be read.
    """
    sweeps = store.sweeps
    record = sweeps.get(sweep_id)
    points = sweeps.points(sweep_id)
    keys = list(dict.fromkeys(key for point in points for key in point))
    values = [tuple(_value(point.get(key, "")) for key in keys) for point in points]
    seeds = list(dict.fromkeys(row.seed for row in sweeps.runs(sweep_id)))
    runs = sweeps.figures(sweep_id, is_read)
    return sweep_table(record.name, keys, seeds, list(enumerate(values)), runs, sweeps.signatures(sweep_id))


def wide_csv(table: SweepTable) -> str:
    """CSV with a line for each point: its values, and the mean, half 95 % interval and number of seeds per figure."""
    headings = ["point", *_parameter_headings(table)]
    for figure in table.figures:
        unit = _in_brackets(run_measure(figure).si_unit)
        headings += [f"{figure} mean{unit}", f"{figure} ci95{unit}", f"{figure} n"]
    cells = [table.column(figure) for figure in table.figures]
    rows = [
        [
            str(row.point + 1),
            *_parameters(table, row.values),
            *(
                text
                for column in cells
                for text in (_number(column[n].mean), _number(column[n].ci95), str(column[n].n))
            ),
        ]
        for n, row in enumerate(table.rows)
    ]
    return csv_text(headings, rows)


def long_csv(table: SweepTable) -> str:
    """CSV with a line for each point, seed and figure."""
    headings = ["point", *_parameter_headings(table), "seed", "figure", "unit", "value"]
    return csv_text(headings, _long_rows(table))


def _long_rows(table: SweepTable) -> Iterator[list[str]]:
    for row in table.rows:
        begin = [str(row.point + 1), *_parameters(table, row.values)]
        for place, seed in enumerate(table.seeds):
            for figure in table.figures:
                cell = row.cells.get(figure)
                if cell is not None and not math.isnan(cell.values[place]):
                    yield [*begin, str(seed), figure, run_measure(figure).si_unit, _number(cell.values[place])]


def table_document(table: SweepTable) -> dict[str, Any]:
    """The table as a JSON document, which contains every mean, interval and value in SI units."""
    return {
        **fields(table, "name", "keys", "seeds"),
        "figures": [{"key": figure, "unit": run_measure(figure).si_unit} for figure in table.figures],
        "points": [
            {
                "point": row.point + 1,
                "values": {key: value.text for key, value in zip(table.keys, row.values, strict=True)},
                "numbers": {key: value.number for key, value in zip(table.keys, row.values, strict=True)},
                "figures": {
                    figure: fields(cell, "mean", "ci95", "n", "values")
                    for figure in table.figures
                    if (cell := row.cells.get(figure)) is not None
                },
            }
            for row in table.rows
        ],
    }


def text_table(table: SweepTable, figures: Sequence[str] = ()) -> TextTable:
    """Text table with means and intervals of the given figures, or else of the main figures of whole runs.

    If all seeds of a point resulted in the same run, it counts once and has no interval. `SweepTable.note` reports it.
    """
    shown = list(figures) or [*shown_figures(table.figures), *({"p95_rtt_s"} & {*table.figures})]
    n_most = len(table.seeds)
    columns = [
        *(TextColumn(key, is_number=all(v.number is not None for v in table.parameter(key))) for key in table.keys),
        TextColumn("Runs"),
    ]
    measures = [run_measure(figure) for figure in shown]
    is_short = {*TOTALS, JAIN}
    columns += [TextColumn(each.heading if each.key in is_short else each.key, each.unit) for each in measures]
    cells = [table.column(figure) for figure in shown]
    rows = []
    for number, row in enumerate(table.rows):
        n = max((cell.n for cell in row.cells.values()), default=0)
        runs = "1" if row.is_one_run else str(n) if n == n_most else f"{n} of {n_most}"
        found = [Estimate(cell.mean) if row.is_one_run else cell for cell in (column[number] for column in cells)]
        texts = [each.interval_text(cell) for cell, each in zip(found, measures, strict=True)]
        rows.append((*(value.text or NOTHING for value in row.values), runs, *texts))
    return TextTable(table.name, tuple(columns), tuple(rows))


def _value(text: str) -> SweptValue:
    return SweptValue(text, quantity(text))


def _parameter_unit(table: SweepTable, key: str) -> str | None:
    """The SI unit of a swept key; None if its values are not numbers of one kind."""
    units = set()
    for value in table.parameter(key):
        if not value.text:
            continue
        if value.number is None:
            return None
        written = value.text.lstrip("+-0123456789.eE_ ")
        units.add(_SI.get(written, ""))
    return units.pop() if len(units) == 1 else None


def _parameter_headings(table: SweepTable) -> list[str]:
    return [f"{key}{_in_brackets(_parameter_unit(table, key) or '')}" for key in table.keys]


def _parameters(table: SweepTable, values: Sequence[SweptValue]) -> list[str]:
    """Texts of the values of a point: numbers in SI units for keys with only numeric values, else the original text."""
    return [
        value.text if _parameter_unit(table, key) is None or value.number is None else _number(value.number)
        for key, value in zip(table.keys, values, strict=True)
    ]


def _in_brackets(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
