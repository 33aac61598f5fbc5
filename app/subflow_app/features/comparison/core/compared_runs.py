"""Queries for the comparison panel: groups of runs with their table, and aligned traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subflow_app.features.comparison.core.alignment import (
    MANUAL,
    Alignment,
    Method,
    SeriesError,
    align,
    match_series,
    series_errors,
)
from subflow_app.features.comparison.core.conditions import By, Grouping, group_runs
from subflow_app.features.comparison.core.group_table import GroupTable, can_pair, compare_groups
from subflow_app.features.history.core.run_comparison import ComparedSetting, compare_settings
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_store.values import RunRow

if TYPE_CHECKING:
    from subflow_store import Store


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of a comparison.

    Attributes:
        by: property that the runs of a group have in common.
        reference: index of the reference group.
        is_paired: whether to compare seed by seed if the groups have the same seeds.
        is_corrected: whether to correct p for the number of tests.
        has_all: whether to include all figures, not only the main ones.
    """

    by: By = "condition"
    reference: int = 0
    is_paired: bool = False
    is_corrected: bool = False
    has_all: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRuns:
    """Result of a comparison.

    Attributes:
        runs: runs with their documents.
        settings: settings of the runs; those that differ come first.
        table: table of the groups.
        can_pair: whether the groups have the same seeds.
        versions: names of script versions, from `version_names`.
    """

    runs: tuple[RunRow, ...]
    settings: tuple[ComparedSetting, ...]
    table: GroupTable
    can_pair: bool
    versions: Mapping[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedTraces:
    """Traces of a run aligned with another run.

    Attributes:
        reference: number of the reference run.
        other: number of the aligned run.
        alignment: offset and clock rate.
        errors: errors of the matched traces.
        is_by_order: whether owners are matched by order, because their names differ.
    """

    reference: int
    other: int
    alignment: Alignment
    errors: tuple[SeriesError, ...]
    is_by_order: bool


def read_runs(store: Store, run_ids: Sequence[int]) -> tuple[RunRow, ...]:
    """The runs with their documents.

    Raises:
        StoreError: if a run does not exist or cannot be read.
    """
    return tuple(store.run(run_id) for run_id in run_ids)


def compare(
    runs: Sequence[RunRow], choices: Choices, versions: Mapping[tuple[str, int], str] | None = None
) -> ComparedRuns:
    """The table of these runs; ignores choices that do not apply to them.

    Args:
        runs: runs with their documents.
        choices: options of the comparison.
        versions: names of script versions, from `version_names`.
    """
    grouping: Grouping = group_runs(runs, choices.by, versions=versions)
    reference = min(choices.reference, len(grouping.groups) - 1)
    pairs = can_pair(grouping.groups)
    table = compare_groups(
        grouping,
        reference=reference,
        has_all=choices.has_all,
        is_paired=choices.is_paired and pairs,
        is_corrected=choices.is_corrected,
    )
    return ComparedRuns(tuple(runs), tuple(compare_settings(runs)), table, pairs, versions or {})


def compare_traces(
    store: Store, reference: int, other: int, method: Method, *, with_skew: bool = False, offset_s: float = 0.0
) -> ComparedTraces:
    """Align a stored run with another one.

    Raises:
        InputError: if the runs have no common trace that varies.
        StoreError: if a run cannot be read.
    """
    ours, theirs = StoredTraces(store, reference), StoredTraces(store, other)
    is_expected = method == MANUAL
    alignment = Alignment(offset_s) if is_expected else align(ours, theirs, method=method, with_skew=with_skew)
    errors = series_errors(ours, theirs, alignment)
    return ComparedTraces(reference, other, alignment, tuple(errors), match_series(ours, theirs).is_by_order)
