"""Summary of the shown runs as a small table with a sentence: differences between groups, or the result of a race.

Two or more runs are compared in groups; runs that differ only in their seeds form one group. The reference is the first
group, which contains the oldest run. The flows of a single run are a race if their controllers differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subflow_app.features.comparison.core.conditions import ConditionGroup, Grouping, flows_of, group_runs
from subflow_app.features.comparison.core.group_table import (
    REASONS,
    FigureRow,
    GroupTable,
    compare_groups,
    difference_text,
    has_shares,
    spread_text,
)
from subflow_app.features.history.core.run_comparison import run_figures
from subflow_app.features.traces.core.traces import Traces
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import MEASURES, default_measures, headline_measures, rate_measure
from subflow_app.vocabulary.number_text import NOTHING, finite, mbit_text, percent_text, signed_percent_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextColumn, TextTable
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.stats import Difference, Estimate, stars, welch
from subflow_store.values import RunRow

_RATE_WORDS = {
    "goodput_bps": translatable("goodput"),
    "active_goodput_bps": translatable("goodput while active"),
}
_RTT = "weighted_rtt_s"
# With more flows than this, tables omit the figures of flows, and races list controllers instead of flows.
_MOST_FLOWS = 4
# Rates that differ by a smaller factor count as equal.
_EQUAL = 1.01


@dataclass(frozen=True, slots=True)
class Racer:
    """A flow of a race, or the flows of one controller.

    Attributes:
        name: display name.
        measured: rate measure of the race, from `rate_measure`.
        rate_bps: value of `measured`, bit/s; for several flows the mean.
        mean_rtt_s: mean RTT, s; for several flows weighted by acknowledged packets; NaN if unknown.
        loss_ratio: share of the sent packets that were lost; NaN if unknown.
        completion_s: duration of the transfer, s; for several flows the mean; NaN if unknown.
    """

    name: str
    measured: Measure
    rate_bps: float
    mean_rtt_s: float
    loss_ratio: float
    completion_s: float = math.nan


def results_of(runs: Sequence[Traces]) -> TextTable | None:
    """Results of the shown runs, with a sentence as title; None if results are missing, or a run is in progress."""
    rows = [run.row for run in runs]
    known = [row for row in rows if row is not None and row.summary]
    if len(known) < len(rows) or not known:
        return None
    if len(known) == 1:
        return race_table(known[0])
    # Runs that are not stored have no number, but the comparison needs a unique number for each run.
    numbered = [
        (row if row.id else row._replace(id=-place), run.condition)
        for place, (row, run) in enumerate(zip(known, runs, strict=True), start=1)
    ]
    versions = {
        (f"{section}.{name}.content", row.id): version
        for (row, _), run in zip(numbered, runs, strict=True)
        for name, version in run.versions.items()
        for section in SCRIPT_SECTIONS.values()
    }
    numbered.sort(key=lambda each: (each[0].started_at, max(0, each[0].id)))
    return comparison_table([row for row, _ in numbered], {row.id: condition for row, condition in numbered}, versions)


def comparison_table(
    rows: Sequence[RunRow],
    conditions: Mapping[int, str] | None = None,
    versions: Mapping[tuple[str, int], str] | None = None,
) -> TextTable | None:
    """Table with one line for each group of runs, followed by the differences of the other groups from the first.

    None if the runs have no figure in common.

    Args:
        rows: two or more runs with their documents, the reference first.
        conditions: `Traces.condition` by number of run, where known; None to compute all conditions.
        versions: names of script versions, as `version_names` returns them; None to show hashes of their texts.
    """
    grouping = group_runs(rows, conditions=conditions, versions=versions)
    if len(grouping.groups) == 1:
        # All runs repeat one experiment, so the individual runs are compared.
        grouping = group_runs(rows, "run")
    figures = _figures(grouping)
    if not figures:
        return None
    table = compare_groups(grouping, figures=figures)
    columns = (
        TextColumn(tr("Run") if all(len(each.runs) == 1 for each in table.groups) else tr("Runs"), is_number=False),
        *(TextColumn(title, row.column.unit) for title, row in zip(_titles(table), table.rows, strict=True)),
    )
    lines = [(_group_text(group), *(spread_text(row, place) for row in table.rows))
             for place, group in enumerate(table.groups)]  # fmt: skip
    for place in range(1, len(table.groups)):
        lines.append((_difference_name(table, place), *(_difference_cell(row, place) for row in table.rows)))
    return TextTable(_comparison_line(table), columns, tuple(lines))


def race_table(row: RunRow) -> TextTable | None:
    """The flows of a run as a race; None unless flows with different controllers ran against each other."""
    summary = row.summary or {}
    racers = racers_of(summary)
    if len(racers) < 2:
        return None
    total = math.fsum(racer.rate_bps for racer in racers)
    columns: list[Column[Racer]] = [Column(tr("Flow"), lambda racer: racer.name)]
    if any(math.isfinite(racer.completion_s) for racer in racers):
        columns.append(MEASURES["completion_s"].column(lambda racer: racer.completion_s))
    columns += [
        racers[0].measured.column(lambda racer: racer.rate_bps),
        NumberColumn(
            tr("Share"), lambda racer: racer.rate_bps / total if total else None, percent_text, tr("% of the sum")
        ),
        MEASURES["mean_rtt_s"].column(lambda racer: racer.mean_rtt_s),
        MEASURES["loss_ratio"].column(lambda racer: racer.loss_ratio),
    ]
    shown = [replace(column, title=tr(column.title)) for column in columns]
    return TextTable.of(racers, shown, race_line(racers))


def racers_of(summary: Mapping[str, Any]) -> list[Racer]:
    """Racers of a run, the highest rate first; empty if all flows have the same controller."""
    flows = _racing(summary)
    controllers = dict.fromkeys(str(flow["controller"]) for flow in flows)
    if len(controllers) < 2:
        return []
    measured = rate_measure(*flows)
    if len(flows) <= _MOST_FLOWS:
        racers = [_racer(_racer_name(str(flow["name"]), str(flow["controller"])), [flow], measured) for flow in flows]
    else:
        of_each = {name: [flow for flow in flows if flow["controller"] == name] for name in controllers}
        racers = [
            _racer(tr("{controller}, mean of {count}", controller=name, count=len(members)), members, measured)
            for name, members in of_each.items()
        ]
    return sorted(racers, key=lambda racer: -racer.rate_bps)


def race_line(racers: Sequence[Racer], *, runs: int = 1, difference: Difference | None = None) -> str:
    """Sentence on the highest and lowest rate, with RTT and loss; names a winner only for a significant difference.

    Args:
        racers: two or more racers, the highest rate first.
        runs: number of runs from which the rates were computed.
        difference: difference of the rates over several seeds; None for one run.
    """
    first, last = racers[0], racers[-1]
    names = {"first": first.name, "last": last.name, "measure": tr(_RATE_WORDS[first.measured.key])}
    if first.rate_bps <= last.rate_bps * _EQUAL:
        share = f"{signed_percent_text(first.rate_bps / last.rate_bps - 1.0)} %" if last.rate_bps else ""
        if share in ("", "+0.0 %"):
            won = tr("{first} and {last} have the same {measure}", **names)
        else:
            won = tr("{first} has about the same {measure} as {last}: {share}", share=share, **names)
    elif difference is None or not difference.is_tested:
        won = _had_line(first, last, runs)
    elif difference.p >= 0.05:
        won = tr("{first} and {last} differ in {measure} no more than seeds do", **names)
    elif last.rate_bps > 0:
        won = tr("{first} won: {times}× the {measure} of {last}", times=_times_text(first, last), **names)
    else:
        won = tr("{first} won: {last} got nothing", first=first.name, last=last.name)
    message = tr(
        "{won} ({goodput} against {other} Mbit/s)",
        won=won,
        goodput=mbit_text(first.rate_bps),
        other=mbit_text(last.rate_bps),
    )
    for text, key in (
        (translatable("completion time {first} against {last} s"), "completion_s"),
        (translatable("mean RTT {first} against {last} ms"), "mean_rtt_s"),
        (translatable("loss {first} against {last} %"), "loss_ratio"),
    ):
        values = [getattr(each, key) for each in (first, last)]
        if all(map(math.isfinite, values)):
            texts = (MEASURES[key].text(value) for value in values)
            message += "; " + tr(text, **dict(zip(("first", "last"), texts, strict=True)))
    return message


def _had_line(first: Racer, last: Racer, runs: int) -> str:
    """Sentence on rates that cannot be tested; it names no winner, because other seeds might reverse the order."""
    where = (
        tr("In this run")
        if runs == 1
        else tr("In these two runs")
        if runs == 2
        else tr("In these {count} runs", count=runs)
    )
    names = {"where": where, "first": first.name, "last": last.name, "measure": tr(_RATE_WORDS[first.measured.key])}
    if last.rate_bps > 0:
        return tr("{where}, {first} had {times}× the {measure} of {last}", times=_times_text(first, last), **names)
    return tr("{where}, {first} had all the {measure}: {last} got nothing", **names)


def _times_text(first: Racer, last: Racer) -> str:
    return f"{first.rate_bps / last.rate_bps:.2f}"


def _racing(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The flows of a summary with congestion control."""
    return [flow for flow in summary.get("flows", ()) if flow.get("controller") and flow.get("subflows")]


def _racer_name(flow: str, controller: str) -> str:
    """Name of a flow with its controller, unless both are equal."""
    return flow if flow == controller else f"{flow} ({controller})"


def _racer(name: str, flows: Sequence[Mapping[str, Any]], measured: Measure) -> Racer:
    """Combine flows into one racer; for older summaries without goodput while active, uses goodput after the warm-up.

    Args:
        name: display name.
        flows: flows of summaries.
        measured: rate of the race.
    """
    rates = [finite(flow.get(measured.key, flow.get("goodput_bps"))) for flow in flows]
    known = [rate for rate in rates if rate is not None]
    rate_bps = math.fsum(known) / len(known) if known else math.nan
    others = (MEASURES[each].of_parts(flows) for each in ("mean_rtt_s", "loss_ratio", "completion_s"))
    return Racer(name, measured, rate_bps, *(math.nan if value is None else value for value in others))


def _figures(grouping: Grouping) -> list[str]:
    """Keys of the measures to compare: measures of the whole run and, if the flows are few, measures of each flow.

    Measures that some runs lack are left out. A flow contributes its loss ratio and the main measures of its kind, such
    as the completion time of a flow with a size.
    """
    runs = [run for group in grouping.groups for run in group.runs]
    figures = [run_figures(run) for run in runs]
    flows_of_runs = [[flow for flow in flows_of(run) if finite(flow.get("goodput_bps")) is not None] for run in runs]
    by_name = {str(flow["name"]): flow for flows in flows_of_runs for flow in flows}
    everything = [flow for flows in flows_of_runs for flow in flows]
    shown = headline_measures(everything)
    is_listed = len(by_name) <= _MOST_FLOWS
    if len(by_name) == 1:
        (name,) = by_name
        # For one flow, the goodput of the run is the same number, and lists of runs show the goodput of the run.
        rates = [each.key if each.key == "goodput_bps" else f"flows.{name}.{each.key}" for each in shown]
        wanted = [*rates, _RTT, f"flows.{name}.loss_ratio"]
    else:
        # With few flows, each flow is listed, so totals over all flows would be redundant.
        of_all = [each.of_run for each in shown if each.key == "goodput_bps" or not is_listed]
        wanted = [*of_all, _RTT, *(["jain"] if has_shares(runs) else [])]
        if is_listed:
            wanted += [
                f"flows.{name}.{each.key}"
                for each in shown
                for name, flow in by_name.items()
                if each in default_measures(flow)
            ]
            wanted += [f"flows.{name}.loss_ratio" for name in by_name]
        else:
            wanted.append("total_loss_ratio")
    return [key for key in wanted if all(each.get(key) is not None for each in figures)]


def _titles(table: GroupTable) -> list[str]:
    """Titles of the figures; titles for flows include the name of the flow if several flows appear."""
    owners = {row.column.key.rpartition(".")[0] for row in table.rows} - {""}
    titles = [(row.column.key, tr(row.column.title)) for row in table.rows]
    return [title.rpartition(": ")[2] if "." in key and len(owners) == 1 else title for key, title in titles]


def _group_text(group: ConditionGroup) -> str:
    count = f" (n = {len(group.runs)})" if len(group.runs) > 1 else ""
    return f"{group.letter}: {group.label}{count}"


def _difference_name(table: GroupTable, place: int) -> str:
    """Heading of a line of differences, with the interval, or the reason why a test is missing."""
    name = f"{table.groups[place].letter} − {table.groups[table.reference].letter}"
    if any(row.differences[place].is_tested for row in table.rows):
        return tr("{difference} [95 % interval, Welch]", difference=name)
    reasons = [row.differences[place].reason for row in table.rows if row.differences[place].reason]
    return f"{name} ({tr(REASONS[reasons[0]])})" if reasons else name


def _difference_cell(row: FigureRow, place: int) -> str:
    difference = row.differences[place]
    text = _difference_text(row, place)
    if text and row.column.unit == "%":
        text = tr("{number} pp", number=text)
    if not difference.is_tested:
        return text or NOTHING
    low, high = (row.column.text(end) for end in (difference.low, difference.high))
    interval = f"[{low}, {high}]"
    return " ".join(part for part in (text, interval, stars(difference.p)) if part)


def _difference_text(row: FigureRow, place: int) -> str:
    """Text of the difference from the reference; for figures in %, without the relative difference."""
    text = difference_text(row, place, 0)
    return text.partition(" ")[0] if row.column.unit == "%" else text


def _comparison_line(table: GroupTable) -> str:
    """Sentence that describes the race or the differences of two groups, or lists the first figure of more groups."""
    titles = _titles(table)
    first = table.rows[0]
    if len(table.groups) > 2:
        parts = [f"{side} {spread_text(first, place)}" for place, side in enumerate(_sides(table))]
        return f"{titles[0]}, {first.column.unit}: " + " · ".join(parts)
    if raced := _raced_flows(table):
        return _race_of_groups(table, raced)
    parts = [
        f"{title} {_with_unit(_difference_text(row, 1), row.column.unit)}"
        for title, row in zip(titles, table.rows, strict=True)
    ]
    reference, other = _sides(table)
    compared = tr("{one} compared with {reference}", one=other, reference=reference)
    return f"{compared}: " + " · ".join(parts)


def _sides(table: GroupTable) -> list[str]:
    """Names of the groups in the sentence: "Original" and "Fork" as in the legend, or else the labels of the groups."""
    if len(table.groups) == 2:
        first, second = (group.runs for group in table.groups)
        for forks, originals, words in (
            (second, first, [tr("Original"), tr("Fork")]),
            (first, second, [tr("Fork"), tr("Original")]),
        ):
            known = {run.id for run in originals}
            if all(run.fork is not None and run.fork.parent_id in known for run in forks):
                return words
    return [group.label for group in table.groups]


def _raced_flows(table: GroupTable) -> list[str]:
    """The flows whose controllers differ between the two groups; empty if the groups have different flows."""
    first, second = ({str(each["name"]): each.get("controller") for each in flows_of(group.runs[0])}
                     for group in table.groups)  # fmt: skip
    if first.keys() != second.keys():
        return []
    return [name for name in first if first[name] and second[name] and first[name] != second[name]]


def _race_of_groups(table: GroupTable, names: Sequence[str]) -> str:
    """Sentence on the race between the controllers of two groups, over the flows whose controllers differ."""
    measured = rate_measure(*(each for group in table.groups for run in group.runs for each in _of_names(run, names)))
    racers, rates = [], []
    for group in table.groups:
        of_runs = [_of_names(run, names) for run in group.runs]
        rates.append([measured.of_parts(flows) or 0.0 for flows in of_runs])
        controllers = dict.fromkeys(str(each["controller"]) for each in of_runs[0])
        name = f"{group.letter} ({', '.join(controllers)})"
        told = _racer(name, [each for flows in of_runs for each in flows], measured)
        racers.append(replace(told, rate_bps=Estimate.of(rates[-1]).mean))
    difference = welch(rates[1], rates[0])
    racers.sort(key=lambda racer: -racer.rate_bps)
    return race_line(racers, runs=sum(len(group.runs) for group in table.groups), difference=difference)


def _of_names(run: RunRow, names: Sequence[str]) -> list[Mapping[str, Any]]:
    return [each for each in flows_of(run) if each["name"] in names]


def _with_unit(text: str, unit: str) -> str:
    number, space, share = text.partition(" ")
    if unit == "%":
        return tr("{number} percentage points", number=number)
    return f"{number} {unit}{space}{share}" if unit else text
