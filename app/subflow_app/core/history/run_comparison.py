"""Stored runs side by side: what differed in what they were told, and by how much in what came out."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from subflow_app.core.history.run_columns import RunColumn, Value, column
from subflow_store.run_values import figure_values, parameter_values
from subflow_store.values import RunRow

Kind = Literal["parameter", "figure"]
PARAMETER: Kind = "parameter"
FIGURE: Kind = "figure"

DIFFERENT = "\N{NOT EQUAL TO} "
"""Stands before a parameter that is not that of the first run, so that colour is not needed to see it."""

# Differences of the last digits are of the arithmetic, not of the runs.
_CLOSE = 1e-9

# Parameters that the list of runs has columns for, and what is asked about a run first.
_LISTED = ("scenario", "fork", "controllers", "seed", "duration_s", "warmup_s", "profile", "version", "status")
_LISTED_FIGURES = ("goodput_bps", "mean_rtt_s", "jain", "packets")
# Of a summary, these tell what was in force rather than what came out.
_SETTINGS = (
    "transport.",
    ".controller",
    ".controller_options.",
    ".scheduler",
    ".scheduler_options.",
    ".kind",
    ".policy",
)
# Found among the columns already, or of the machine rather than of the run.
_LEFT_OUT = (
    "profile",
    "fairness.jain",
    "duration_s",
    "warmup_s",
    "wall_s",
    "simulated_s",
    "packets",
    "run_id",
    "status",
)


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One line of a comparison.

    Attributes:
        kind: "parameter" or "figure".
        column: how its values are shown, and its key.
        values: of each run; None where it has none.
    """

    kind: Kind
    column: RunColumn
    values: tuple[Value, ...]

    @property
    def is_different(self) -> tuple[bool, ...]:
        """Of each run, whether the value is another than that of the first."""
        return tuple(not _is_same(self.values[0], value) for value in self.values)

    @property
    def differs(self) -> bool:
        """Whether any run has another value than the first."""
        return any(self.is_different)

    def relative(self, number: int) -> float | None:
        """How much a figure of a run exceeds that of the first, as a ratio of that; None where there is no telling."""
        first, value = self.values[0], self.values[number]
        if self.kind == PARAMETER or isinstance(first, str) or isinstance(value, str) or not first or value is None:
            return None
        return (value - first) / abs(first)

    def text(self, number: int) -> str:
        """What the cell of a run says: the value, marked where it differs; of figures with the difference in %."""
        text = self.column.text(self.values[number]) or "–"
        if number == 0 or not self.is_different[number]:
            return text
        relative = self.relative(number)
        return f"{DIFFERENT}{text}" if relative is None else f"{text}  ({relative * 100:+.1f} %)"


def compare_runs(runs: Sequence[RunRow]) -> list[ComparedValue]:
    """All that is known of the runs, one line each: parameters that differ, figures, then what is equal.

    Args:
        runs: with their documents; the others are compared with the first.
    """
    lines = [
        *_lines(PARAMETER, [_listed(run, _LISTED) | _parameters(run) for run in runs]),
        *_lines(FIGURE, [run_figures(run) for run in runs]),
    ]
    order = {(PARAMETER, True): 0, (FIGURE, True): 1, (FIGURE, False): 2, (PARAMETER, False): 3}
    return sorted(lines, key=lambda line: order[line.kind, line.differs])


def comparison_text(lines: Sequence[ComparedValue], runs: Sequence[RunRow], separator: str) -> str:
    """The table as text: a line each with its unit, a column per run, and of figures the difference to the first in %.

    Args:
        lines: of the comparison.
        runs: in the same order.
        separator: between cells: a tab for spreadsheets' clipboard, a comma for CSV.
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    titles = [f"run {run.id}: {run.name}" for run in runs]
    differences = [f"run {run.id}: difference, %" for run in runs[1:]]
    writer.writerow(["kind", "name", "unit", *titles, *differences])
    for line in lines:
        relative = [line.relative(number) for number in range(1, len(runs))]
        values = [line.column.text(value) for value in line.values]
        shown = ["" if each is None else f"{each * 100:.2f}" for each in relative]
        writer.writerow([line.kind, line.column.title, line.column.unit, *values, *shown])
    return out.getvalue()


def run_figures(run: RunRow) -> dict[str, Value]:
    """All figures of a run by key: those of the list of runs, then those of its summary.

    Args:
        run: with its documents.
    """
    return _listed(run, _LISTED_FIGURES) | _figures(run)


def run_parameters(run: RunRow) -> dict[str, Value]:
    """What a run was told, by key: the parameters that its scenario names and what was in force, but its seed.

    Args:
        run: with its documents.
    """
    return _parameters(run)


def _lines(kind: Kind, values: Sequence[Mapping[str, Value]]) -> list[ComparedValue]:
    keys = dict.fromkeys(key for each in values for key in each)
    return [ComparedValue(kind, column(key), tuple(each.get(key) for each in values)) for key in keys]


def _listed(run: RunRow, keys: Sequence[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key in keys:
        get = column(key).of
        assert get is not None
        found[key] = get(run)
    return found


def _parameters(run: RunRow) -> dict[str, Value]:
    values = {each.key: _value(each.number, each.text) for each in parameter_values(run.scenario_text or "")}
    told = {each.key: _value(each.number, each.text) for each in figure_values(run.summary or {})}
    values |= {key: value for key, value in told.items() if _is_setting(key)}
    return {key: value for key, value in values.items() if key not in ("seed", "duration", "warmup", "profile")}


def _figures(run: RunRow) -> dict[str, Value]:
    values = {each.key: _value(each.number, each.text) for each in figure_values(run.summary or {})}
    return {key: value for key, value in values.items() if not _is_setting(key) and key not in _LEFT_OUT}


def _is_setting(key: str) -> bool:
    return any(part in key if part.endswith(".") else key.endswith(part) for part in _SETTINGS)


def _value(number: float | None, text: str | None) -> Value:
    return text if number is None else number


def _is_same(first: Value, second: Value) -> bool:
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) <= _CLOSE * max(abs(first), abs(second))
    return first == second
