"""Results of sweeps: read from the store, and written as CSV, JSON and tables of text.

What is written depends on the plan and the simulator alone: the same sweep gives the same bytes, whoever made its runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from subflow_app.features.sweeps.core.axes import SweptValue
from subflow_app.features.sweeps.core.sweep_table import JAIN, TOTALS, SweepTable, is_read, shown_figures, sweep_table
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.measures import run_measure
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import TextColumn, TextTable, csv_text
from subflow_sim.stats import Estimate
from subflow_store.run_values import quantity

if TYPE_CHECKING:
    from subflow_store import Store

# By the unit that values are written with, the SI unit that their numbers have.
_SI = {
    **dict.fromkeys(("bit/s", "kbit/s", "Mbit/s", "Gbit/s"), "bit/s"),
    **dict.fromkeys(("ns", "us", "µs", "ms", "s", "min"), "s"),
    **dict.fromkeys(("B", "kB", "MB", "GB"), "B"),
    "pkt": "pkt",
    "%": "ratio",
}


def stored_table(store: Store, sweep_id: int) -> SweepTable:
    """What is known of a sweep of the store.

    Raises:
        RunNotFound: if there is no such sweep.
        StoreError: if it cannot be read.
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
    """A line for each point: its values, and of each figure mean, half-width of the 95 % interval and seeds."""
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
    """A line for each point, seed and figure."""
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
    """The table as a JSON document: every mean, interval and value in SI units."""
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
    """Means with their intervals for people; of the figures named, else of those of whole runs that there are.

    Where all seeds of a point gave the same run, this run counts once and has no interval: `SweepTable.note` says so.
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
        told = [each.interval_text(cell) for cell, each in zip(found, measures, strict=True)]
        rows.append((*(value.text or NOTHING for value in row.values), runs, *told))
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
    """Numbers in SI units where all values of a key are such; else as they are written."""
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


__all__ = ["TOTALS", "long_csv", "stored_table", "table_document", "text_table", "wide_csv"]
