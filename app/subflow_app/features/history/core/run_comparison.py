"""Settings and results of stored runs by key, and the settings that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subflow_app.features.history.core.run_columns import RunColumn, Value, column, totals_of
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import csv_text
from subflow_store.run_values import RunValue, figure_values, parameter_values
from subflow_store.values import RunRow

DIFFERENT = "\N{NOT EQUAL TO} "
"""Marks a setting that differs from the first run; visible even without colour."""

# Relative differences up to this are rounding errors.
_CLOSE = 1e-9

# Parameters that come first in the comparison, like the columns of the list of runs.
_LISTED = ("scenario", "fork", "controllers", "seed", "duration_s", "warmup_s", "profile", "version", "status")
_LISTED_FIGURES = ("goodput_bps", "mean_rtt_s", "jain", "packets")
# Parts of the summary that are settings, not results.
_SETTINGS = (
    "transport.",
    ".controller",
    ".controller_options.",
    ".scheduler",
    ".scheduler_options.",
    ".kind",
    ".policy",
)
# Values of the summary that are listed elsewhere, or that depend on the machine.
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
    """One setting, with its value in each of several runs.

    Attributes:
        column: key and format of the values.
        values: value of each run; None if the run lacks the setting.
    """

    column: RunColumn
    values: tuple[Value, ...]

    @property
    def is_different(self) -> tuple[bool, ...]:
        """For each run, True if its value differs from that of the first run."""
        return tuple(not _is_same(self.values[0], value) for value in self.values)

    @property
    def differs(self) -> bool:
        """True if any run differs from the first."""
        return any(self.is_different)

    def text(self, number: int) -> str:
        """Text in the cell of a run: the value, marked if it differs."""
        text = self.column.text(self.values[number]) or NOTHING
        return f"{DIFFERENT}{text}" if self.is_different[number] else text


def compare_settings(runs: Sequence[RunRow]) -> list[ComparedSetting]:
    """All settings of the given runs; those that differ come first.

    Args:
        runs: runs with their documents; the first is the reference.
    """
    settings = [_listed(run, _LISTED) | _parameters(run) for run in runs]
    keys = dict.fromkeys(key for each in settings for key in each)
    lines = [ComparedSetting(column(key), tuple(each.get(key) for each in settings)) for key in keys]
    return sorted(lines, key=lambda line: not line.differs)


def settings_text(lines: Sequence[ComparedSetting], runs: Sequence[RunRow], separator: str) -> str:
    """The comparison as text: one line for each setting with its unit, one column for each run.

    Args:
        lines: the compared settings.
        runs: the runs, in the same order.
        separator: separator of cells: a tab for pasting into spreadsheets, a comma for CSV.
    """
    heads = ("setting", "unit", *(f"run {run.id}: {run.name}" for run in runs))
    rows = ((line.column.key, line.column.unit, *map(line.column.text, line.values)) for line in lines)
    return csv_text(heads, rows, separator)


def run_figures(run: RunRow) -> dict[str, Value]:
    """All results of a run by key: values of the list, measures of all flows together, then values of the summary.

    Args:
        run: a run with its documents.
    """
    listed = _listed(run, _LISTED_FIGURES)
    totals = {key: value for key, value in totals_of(run).items() if listed.get(key) is None}
    return listed | totals | _figures(run)


def run_parameters(run: RunRow) -> dict[str, Value]:
    """Settings of a run by key, from its scenario and its summary, without seed, duration, warm-up and profile.

    Args:
        run: a run with its documents.
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
    """True if a value of a summary is a setting; for flows and links, this depends on the end of the key."""
    key = f".{value.name}" if value.name else value.key
    return any(part in key if part.endswith(".") else key.endswith(part) for part in _SETTINGS)


def _value(number: float | None, text: str | None) -> Value:
    return text if number is None else number


def _is_same(first: Value, second: Value) -> bool:
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) <= _CLOSE * max(abs(first), abs(second))
    return first == second
