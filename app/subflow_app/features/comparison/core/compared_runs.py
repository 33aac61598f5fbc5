"""What the panel of comparisons asks of the store: groups with their table, and traces laid on one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    """How runs are to be compared.

    Attributes:
        by: what those of a group have in common.
        reference: position of the group that the others are compared with.
        is_paired: seed by seed, where the groups have the same seeds.
        is_corrected: p for the number of tests.
        has_all: all figures, not only the main ones.
    """

    by: By = "condition"
    reference: int = 0
    is_paired: bool = False
    is_corrected: bool = False
    has_all: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRuns:
    """An answer.

    Attributes:
        runs: with their documents.
        settings: what they were told; what differs comes first.
        table: of the groups.
        can_pair: whether the groups have the same seeds.
    """

    runs: tuple[RunRow, ...]
    settings: tuple[ComparedSetting, ...]
    table: GroupTable
    can_pair: bool


@dataclass(frozen=True, slots=True, eq=False)
class ComparedTraces:
    """Traces of a run on the time of another.

    Attributes:
        reference: number of that run.
        other: number of the one that was aligned.
        alignment: how.
        errors: of the matched traces.
        is_by_order: whether owners go together by their order, because they have other names.
    """

    reference: int
    other: int
    alignment: Alignment
    errors: tuple[SeriesError, ...]
    is_by_order: bool


def read_runs(store: Store, run_ids: Sequence[int]) -> tuple[RunRow, ...]:
    """The runs with their documents.

    Raises:
        StoreError: if one is not there or cannot be read.
    """
    return tuple(store.run(run_id) for run_id in run_ids)


def compare(runs: Sequence[RunRow], choices: Choices) -> ComparedRuns:
    """The table of these runs; what the choices name and the runs have not is left aside."""
    grouping: Grouping = group_runs(runs, choices.by)
    reference = min(choices.reference, len(grouping.groups) - 1)
    pairs = can_pair(grouping.groups)
    table = compare_groups(
        grouping,
        reference=reference,
        has_all=choices.has_all,
        is_paired=choices.is_paired and pairs,
        is_corrected=choices.is_corrected,
    )
    return ComparedRuns(tuple(runs), tuple(compare_settings(runs)), table, pairs)


def compare_traces(
    store: Store, reference: int, other: int, method: Method, *, with_skew: bool = False, offset_s: float = 0.0
) -> ComparedTraces:
    """Lays a stored run on the time of another.

    Raises:
        InputError: if they have no trace in common that tells.
        StoreError: if they cannot be read.
    """
    ours, theirs = StoredTraces(store, reference), StoredTraces(store, other)
    is_expected = method == MANUAL
    alignment = Alignment(offset_s) if is_expected else align(ours, theirs, method=method, with_skew=with_skew)
    errors = series_errors(ours, theirs, alignment)
    return ComparedTraces(reference, other, alignment, tuple(errors), match_series(ours, theirs).is_by_order)
