"""Table of the figures of groups of runs: mean, interval, difference from the reference, and significance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from subflow_app.features.comparison.core.conditions import ConditionGroup, Grouping, flows_of
from subflow_app.features.history.core.run_columns import RunColumn, column
from subflow_app.features.history.core.run_comparison import run_figures
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.measures import MEASURES, default_measures, headline_measures
from subflow_app.vocabulary.number_text import MINUS, agreeing_decimals, finite, signed_text, typeset
from subflow_app.vocabulary.tables import Column, NumberColumn, csv_number, csv_text
from subflow_sim.stats import (
    NO_TEST,
    PAIRED,
    Difference,
    Estimate,
    Reason,
    paired,
    stars,
    welch,
    with_holm,
)
from subflow_store.values import RunRow

REASONS: Mapping[Reason, str] = {
    "nothing": translatable("nothing to compare"),
    "one seed": translatable("only one distinct run: no test"),
    "no spread": translatable("no spread between seeds: no test"),
    "no pairs": translatable("no seed in common: no test"),
    "one pair": translatable("one pair only: no test"),
}
"""Explanations of a missing p-value, by reason."""


_JAIN = "jain"
_OF_ALL_RUNS = ("weighted_rtt_s", _JAIN)
_OF_ALL_FLOWS = ("mean_rtt_s", "p95_rtt_s", "loss_ratio", "retransmits")


def has_shares(runs: Sequence[RunRow]) -> bool:
    """True if a run has several flows with congestion control; Jain's index of a single flow is always 1.

    Args:
        runs: runs with their documents.
    """
    # Datagram flows have no subflows; older summaries may list no subflows for any flow.
    shares = ([each for each in flows_of(run) if each.get("subflows", True)] for run in runs)
    return any(sum(finite(each.get("goodput_bps")) is not None for each in flows) > 1 for flows in shares)


def main_keys(runs: Sequence[RunRow]) -> list[str]:
    """The keys of the main figures of runs and flows, without figures of subflows.

    These include completion time and goodput while active for flows with a size, and goodput for other flows.

    Args:
        runs: runs with their documents.
    """
    of_all_runs = _OF_ALL_RUNS if has_shares(runs) else [key for key in _OF_ALL_RUNS if key != _JAIN]
    flows = [flow for run in runs for flow in flows_of(run)]
    by_name = {str(flow["name"]): flow for flow in flows}
    of_flows = [*headline_measures(flows), *(MEASURES[key] for key in _OF_ALL_FLOWS)]
    return [
        *(each.of_run for each in headline_measures(flows)),
        *of_all_runs,
        *(
            f"flows.{name}.{each.key}"
            for each in of_flows
            for name, flow in by_name.items()
            if each.key in _OF_ALL_FLOWS or each in default_measures(flow)
        ),
    ]


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure, i.e. a numeric result of runs, in all groups.

    Attributes:
        column: key and format, with enough decimals that printed differences agree with printed means.
        estimates: estimate of each group.
        differences: difference of each group from the reference; untested for the reference itself.
    """

    column: RunColumn
    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]

    def relative(self, place: int, reference: int) -> float:
        """The difference of a group relative to the reference's mean; NaN where undefined."""
        mean = self.estimates[reference].mean
        return self.differences[place].value / abs(mean) if mean else math.nan


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Result of a comparison.

    Attributes:
        groups: groups in order.
        reference: index of the reference group.
        rows: one row for each figure.
        is_paired: whether runs were compared seed by seed.
        is_corrected: whether p-values are corrected by Holm's method over all rows and groups.
        notices: notices for the user, a sentence each.
    """

    groups: tuple[ConditionGroup, ...]
    reference: int
    rows: tuple[FigureRow, ...]
    is_paired: bool
    is_corrected: bool
    notices: tuple[str, ...]

    @property
    def method_text(self) -> str:
        """Test and correction in a sentence."""
        test = tr("paired t test by seed") if self.is_paired else tr("Welch's t test")
        if not self.is_corrected:
            return tr("{test}, 95 % intervals; p is not corrected for the number of measures", test=test)
        count = sum(each.is_tested for row in self.rows for each in row.differences)
        return tr("{test}, 95 % intervals; p with Holm's correction for {count} tests", test=test, count=count)


def compare_groups(
    grouping: Grouping,
    *,
    reference: int = 0,
    figures: Sequence[str] = (),
    has_all: bool = True,
    is_paired: bool = False,
    is_corrected: bool = False,
) -> GroupTable:
    """Compare all groups with the reference group.

    Args:
        grouping: groups of runs with their documents.
        reference: index of the reference group.
        figures: keys or patterns such as ``flows.*.goodput_bps``; empty for all.
        has_all: whether to include all of these figures; otherwise only the main figures, if any exist.
        is_paired: whether to compare runs of the same seed, where groups have seeds in common.
        is_corrected: whether to correct p by Holm's method for the number of tests in the table.

    Raises:
        InputError: if a key or pattern in `figures` matches no figure of the runs.
    """
    values = [[_numbers(run_figures(run)) for run in group.runs] for group in grouping.groups]
    keys = _chosen(list(dict.fromkeys(key for group in values for run in group for key in run)), figures)
    if not has_all:
        main = main_keys([run for group in grouping.groups for run in group.runs])
        keys = [key for key in main if key in keys] or keys
    rows = []
    for key in keys:
        of_groups = [{run.id: each[key] for run, each in _with(group, told, key)}
                     for group, told in zip(grouping.groups, values, strict=True)]  # fmt: skip
        estimates = tuple(Estimate.of(list(each.values())) for each in of_groups)
        differences = []
        for place, ours in enumerate(of_groups):
            if place == reference:
                differences.append(Difference(NO_TEST, 0.0))
            elif is_paired:
                differences.append(
                    _paired(grouping.groups[place], ours, grouping.groups[reference], of_groups[reference])
                )
            else:
                differences.append(welch(list(ours.values()), list(of_groups[reference].values())))
        rows.append((_agreeing(column(key), estimates, differences, reference), estimates, differences))
    if is_corrected:
        corrected = iter(with_holm([each for _, _, differences in rows for each in differences]))
        rows = [(shown, estimates, [next(corrected) for _ in differences]) for shown, estimates, differences in rows]
    notices = [*grouping.notices, *(_unpaired(grouping.groups, reference) if is_paired else ())]
    return GroupTable(
        grouping.groups,
        reference,
        tuple(FigureRow(shown, estimates, tuple(differences)) for shown, estimates, differences in rows),
        is_paired,
        is_corrected,
        tuple(notices),
    )


def can_pair(groups: Sequence[ConditionGroup]) -> bool:
    """True if all groups have the same two or more seeds, each once, as a paired comparison requires."""
    seeds = [sorted(group.seeds) for group in groups]
    return len(groups) > 1 and len(set(seeds[0])) == len(seeds[0]) > 1 and all(each == seeds[0] for each in seeds)


def reference_of(groups: Sequence[ConditionGroup], text: str) -> int:
    """Index of the group that a letter, a label, the number of a run, or part of a label identifies.

    Raises:
        InputError: if no group or several groups match.
    """
    wanted = text.strip().lower()
    for matches in (
        lambda group: wanted == group.letter.lower(),
        lambda group: wanted == group.label.lower(),
        lambda group: wanted in (str(run.id) for run in group.runs),
        lambda group: wanted and wanted in group.label.lower(),
    ):
        found = [place for place, group in enumerate(groups) if matches(group)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    known = "; ".join(f"{group.letter}: {group.label}" for group in groups)
    raise InputError(f'"{text}" names no single group; the groups are {known}')


def significance_text(difference: Difference) -> str:
    """Text of a p-value: number, stars and words, or the reason why a test is missing; empty for the reference."""
    if difference.reason:
        return tr(REASONS[difference.reason])
    if not difference.is_tested:
        return ""
    p = difference.p_holm
    # One more digit near 0.05 shows on which side of the limit p lies.
    number = "p < 0.001" if p < 0.001 else f"p = {p:.4f}" if abs(p - 0.05) < 0.001 else f"p = {p:.3f}"
    word = tr("significant") if p < 0.05 else tr("not significant")
    return " ".join(part for part in (number, stars(p), word) if part)


def spread_text(row: FigureRow, place: int) -> str:
    """Mean of a group and half the width of its interval: ``4.123 ± 0.045``; ``–`` for a group without values."""
    estimate = row.estimates[place]
    if estimate.n == 0:
        return "–"
    mean = row.column.text(estimate.mean)
    return mean if math.isnan(estimate.ci95) else f"{mean} ± {_width_text(row.column, estimate.ci95)}"


def difference_text(row: FigureRow, place: int, reference: int) -> str:
    """Difference from the reference, also in %: ``+0.123 (+4.5 %)``; empty if unknown, and for the reference itself."""
    value = row.differences[place].value
    if place == reference or math.isnan(value):
        return ""
    text = row.column.text(value)
    relative = row.relative(place, reference)
    signed = text if text.startswith(MINUS) else f"+{text}"
    return signed if math.isnan(relative) else f"{signed} ({signed_text(relative * 100, 1)} %)"


def figure_columns(table: GroupTable, place: int) -> tuple[Column[FigureRow], ...]:
    """Columns of a group: its mean, and for groups other than the reference the difference and its significance."""
    group, reference = table.groups[place], table.reference
    runs = ", ".join(str(run.id) for run in group.runs)
    mean: Column[FigureRow] = NumberColumn(
        f"{group.letter}: {group.label}",
        lambda row: spread_text(row, place),
        sort=lambda row: row.estimates[place].mean,
        tip=tr("{label}: mean ± half of its 95 % interval, of runs {runs}", label=group.label, runs=runs),
    )
    if place == reference:
        return (mean,)
    return (
        mean,
        NumberColumn(
            f"{group.letter} − {table.groups[reference].letter}",
            lambda row: difference_text(row, place, reference),
            # The figures have different units, so they are sorted by the relative difference.
            sort=lambda row: row.relative(place, reference),
            tip=tr("Difference of the means, and as a share of the reference"),
        ),
        Column(
            tr("{letter}: significance", letter=group.letter),
            lambda row: significance_text(row.differences[place]),
            sort=lambda row: row.differences[place].p_holm,
            tip=tr("Probability of a difference at least this large by chance alone: *** below 0.1 %, ** 1 %, * 5 %"),
        ),
    )


def _agreeing(
    shown: RunColumn, estimates: Sequence[Estimate], differences: Sequence[Difference], reference: int
) -> RunColumn:
    """The column with enough decimals that printed differences agree with the printed means."""
    if shown.decimals is None:
        return shown
    others = [
        (estimate.mean * shown.scale, difference.value * shown.scale)
        for place, (estimate, difference) in enumerate(zip(estimates, differences, strict=True))
        if place != reference
    ]
    mean = estimates[reference].mean * shown.scale
    return replace(shown, decimals=agreeing_decimals(mean, others, shown.decimals))


def _width_text(shown: RunColumn, value: float) -> str:
    """Half the width of an interval as text, with the fixed decimals of the figure, or else with three digits."""
    return typeset(f"{value * shown.scale:.3g}") if shown.decimals is None else shown.text(value)


def table_document(table: GroupTable) -> dict[str, Any]:
    """The table as a JSON document; unknown values are null."""
    return {
        "groups": [
            {"letter": group.letter, "label": group.label, "run_ids": [run.id for run in group.runs],
             "seeds": list(group.seeds)}
            for group in table.groups
        ],
        "reference": table.groups[table.reference].letter if table.groups else None,
        "method": PAIRED if table.is_paired else "welch",
        "correction": "holm" if table.is_corrected else None,
        "notices": list(table.notices),
        "figures": [_row_document(table, row) for row in table.rows],
    }  # fmt: skip


def _row_document(table: GroupTable, row: FigureRow) -> dict[str, Any]:
    groups = []
    for place, (group, estimate, difference) in enumerate(
        zip(table.groups, row.estimates, row.differences, strict=True)
    ):
        document: dict[str, Any] = {
            "letter": group.letter,
            "n": estimate.n,
            "mean": finite(estimate.mean),
            "ci95": finite(estimate.ci95),
        }
        if place != table.reference:
            document["difference"] = {
                "value": finite(difference.value),
                "relative": finite(row.relative(place, table.reference)),
                "low": finite(difference.low),
                "high": finite(difference.high),
                "t": finite(difference.t),
                "degrees_of_freedom": finite(difference.freedom),
                "p": finite(difference.p),
                "p_holm": finite(difference.p_holm) if table.is_corrected else None,
                "hedges_g": finite(difference.effect),
                "why_no_test": difference.reason or None,
            }
        groups.append(document)
    return {"key": row.column.key, "groups": groups}


def table_csv(table: GroupTable, rows: Sequence[FigureRow], separator: str = ",") -> str:
    """The table as CSV: a line per figure in SI units, with n, mean and interval of each group, then differences."""
    heading = ["figure"]
    others = [place for place in range(len(table.groups)) if place != table.reference]
    for group in table.groups:
        name = f"{group.letter}: {group.label}"
        heading += [f"{name}: n", f"{name}: mean", f"{name}: ci95"]
    for place in others:
        name = f"{table.groups[place].letter} - {table.groups[table.reference].letter}"
        heading += [f"{name}: {each}" for each in ("difference", "relative", "low", "high", "t", "df", "p", "hedges_g")]
        heading += [f"{name}: p_holm"] if table.is_corrected else []
        heading += [f"{name}: note"]
    lines = []
    for row in rows:
        cells: list[str] = [row.column.key]
        for estimate in row.estimates:
            cells += [str(estimate.n), csv_number(estimate.mean), csv_number(estimate.ci95)]
        for place in others:
            each = row.differences[place]
            relative = row.relative(place, table.reference)
            numbers = (each.value, relative, each.low, each.high, each.t, each.freedom, each.p, each.effect)
            cells += [csv_number(number) for number in numbers]
            cells += [csv_number(each.p_holm)] if table.is_corrected else []
            cells += [each.reason]
        lines.append(cells)
    return csv_text(heading, lines, separator)


def _with(
    group: ConditionGroup, figures: Sequence[Mapping[str, float]], key: str
) -> list[tuple[Any, Mapping[str, float]]]:
    """The runs of a group that have the figure."""
    return [(run, each) for run, each in zip(group.runs, figures, strict=True) if key in each]


def _paired(
    group: ConditionGroup, ours: Mapping[int, float], other: ConditionGroup, theirs: Mapping[int, float]
) -> Difference:
    first = {run.seed: ours[run.id] for run in group.runs if run.id in ours}
    second = {run.seed: theirs[run.id] for run in other.runs if run.id in theirs}
    common = [seed for seed in first if seed in second]
    return paired([first[seed] for seed in common], [second[seed] for seed in common])


def _unpaired(groups: Sequence[ConditionGroup], reference: int) -> list[str]:
    """Notices on groups whose seeds differ from those of the reference, because only common seeds count."""
    theirs = set(groups[reference].seeds)
    return [
        tr(
            "{group} and {reference} have {count} seeds in common: the paired test uses only these.",
            group=group.letter,
            reference=groups[reference].letter,
            count=len(theirs & set(group.seeds)),
        )
        for group in groups
        if set(group.seeds) != theirs
    ]


def _numbers(figures: Mapping[str, Any]) -> dict[str, float]:
    return {
        key: float(value)
        for key, value in figures.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }


def _chosen(keys: Sequence[str], patterns: Sequence[str]) -> list[str]:
    if not patterns:
        return list(keys)
    chosen: list[str] = []
    for pattern in patterns:
        found = [key for key in keys if fnmatchcase(key, pattern)]
        if not found:
            raise InputError(f'no run has the figure "{pattern}"; allowed: {", ".join(keys[:12])}…')
        chosen += found
    return list(dict.fromkeys(chosen))
