"""What stored runs were told and what came out of them, by key; and where they were told something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subflow_app.features.history.core.run_columns import RunColumn, Value, column, totals_of
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import csv_text
from subflow_store.run_values import RunValue, figure_values, parameter_values
from subflow_store.values import RunRow

DIFFERENT = "\N{NOT EQUAL TO} "
"""Stands before a setting that is not that of the first run, so that colour is not needed to see it."""

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
class ComparedSetting:
    """What several runs were told of one thing.

    Attributes:
        column: how its values are shown, and its key.
        values: of each run; None where it has none.
    """

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

    def text(self, number: int) -> str:
        """What the cell of a run says: the value, marked where it differs."""
        text = self.column.text(self.values[number]) or NOTHING
        return f"{DIFFERENT}{text}" if self.is_different[number] else text


def compare_settings(runs: Sequence[RunRow]) -> list[ComparedSetting]:
    """All that the runs were told, one line each: what differs first.

    Args:
        runs: with their documents; the others are compared with the first.
    """
    told = [_listed(run, _LISTED) | _parameters(run) for run in runs]
    keys = dict.fromkeys(key for each in told for key in each)
    lines = [ComparedSetting(column(key), tuple(each.get(key) for each in told)) for key in keys]
    return sorted(lines, key=lambda line: not line.differs)


def settings_text(lines: Sequence[ComparedSetting], runs: Sequence[RunRow], separator: str) -> str:
    """The table as text: a line each with its unit, a column per run.

    Args:
        lines: of the comparison.
        runs: in the same order.
        separator: between cells: a tab for spreadsheets' clipboard, a comma for CSV.
    """
    heads = ("setting", "unit", *(f"run {run.id}: {run.name}" for run in runs))
    rows = ((line.column.key, line.column.unit, *map(line.column.text, line.values)) for line in lines)
    return csv_text(heads, rows, separator)


def run_figures(run: RunRow) -> dict[str, Value]:
    """All figures of a run by key: those of the list of runs, those of all its flows together, then its summary's.

    Args:
        run: with its documents.
    """
    listed = _listed(run, _LISTED_FIGURES)
    totals = {key: value for key, value in totals_of(run).items() if listed.get(key) is None}
    return listed | totals | _figures(run)


def run_parameters(run: RunRow) -> dict[str, Value]:
    """What a run was told, by key: the parameters that its scenario names and what was in force, but its seed.

    Args:
        run: with its documents.
    """
    return _parameters(run)


def _listed(run: RunRow, keys: Sequence[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key in keys:
        get = column(key).of
        assert get is not None
        found[key] = get(run)
    return found


def _parameters(run: RunRow) -> dict[str, Value]:
    values = {each.key: _value(each.number, each.text) for each in parameter_values(run.scenario_text or "")}
    values |= {
        each.key: _value(each.number, each.text) for each in figure_values(run.summary or {}) if _is_setting(each)
    }
    return {key: value for key, value in values.items() if key not in ("seed", "duration", "warmup", "profile")}


def _figures(run: RunRow) -> dict[str, Value]:
    return {
        each.key: _value(each.number, each.text)
        for each in figure_values(run.summary or {})
        if not _is_setting(each) and each.key not in _LEFT_OUT
    }


def _is_setting(value: RunValue) -> bool:
    """True if a value of a summary is a setting; the end of the key decides for flows and links."""
    told = f".{value.name}" if value.name else value.key
    return any(part in told if part.endswith(".") else told.endswith(part) for part in _SETTINGS)


def _value(number: float | None, text: str | None) -> Value:
    return text if number is None else number


def _is_same(first: Value, second: Value) -> bool:
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) <= _CLOSE * max(abs(first), abs(second))
    return first == second
