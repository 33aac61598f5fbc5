"""What came out of the runs that are shown together, as a small table with a sentence: differences, and who won a race.

Two runs or more are compared group by group, with the first (the oldest) as reference; runs that differ in their seeds
alone are one group. The flows of a single run are a race where their controllers differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subflow_app.core.comparison.conditions import ConditionGroup, Grouping, flows_of, group_runs
from subflow_app.core.comparison.group_table import (
    REASONS,
    FigureRow,
    GroupTable,
    compare_groups,
    difference_text,
    spread_text,
)
from subflow_app.core.history.run_columns import RunColumn
from subflow_app.core.history.run_comparison import run_figures
from subflow_app.core.traces import Traces
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import MINUS, NOTHING, finite, mbit_text, milliseconds_text, percent_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextColumn, TextTable
from subflow_sim.stats import Estimate, stars, welch
from subflow_store.values import RunRow

_OF_RUN = ("goodput_bps", "mean_rtt_s", "jain")
_OF_ONLY_FLOW = ("loss_ratio",)
_OF_EACH_FLOW = ("goodput_bps", "loss_ratio")
# Of more flows the figures of each would hide those of the run, and racers are told by controller.
_MOST_FLOWS = 4
# Two that differ by less have shared equally, whichever is ahead.
_EQUAL = 1.01


@dataclass(frozen=True, slots=True)
class Racer:
    """A flow of a race, or the flows of one controller.

    Attributes:
        name: for people.
        goodput_bps: bit/s; of several flows the mean of them.
        mean_rtt_s: s; NaN where it is not known.
        loss_ratio: share of packets lost; NaN where it is not known.
    """

    name: str
    goodput_bps: float
    mean_rtt_s: float
    loss_ratio: float


def results_of(runs: Sequence[Traces]) -> TextTable | None:
    """The results of the runs shown, whose title is the sentence; None while one goes on, and where there are none."""
    rows = [run.row for run in runs]
    known = [row for row in rows if row is not None and row.summary]
    if len(known) < len(rows) or not known:
        return None
    if len(known) == 1:
        return race_table(known[0])
    # Runs that are not stored have no number; here each needs one of its own.
    numbered = [
        (row if row.id else row._replace(id=-place), run.condition)
        for place, (row, run) in enumerate(zip(known, runs, strict=True), start=1)
    ]
    numbered.sort(key=lambda each: (each[0].started_at, max(0, each[0].id)))
    return comparison_table([row for row, _ in numbered], {row.id: condition for row, condition in numbered})


def comparison_table(rows: Sequence[RunRow], conditions: Mapping[int, str] | None = None) -> TextTable | None:
    """Runs group by group: a line for each, and for each but the first one with its difference to that.

    None where they have no figure in common.

    Args:
        rows: two or more with their documents, the reference first.
        conditions: of which experiment each is a repetition, by number, where that is known already.
    """
    grouping = group_runs(rows, conditions=conditions)
    if len(grouping.groups) == 1:
        # Nothing but seeds, or nothing at all: then the runs themselves are compared.
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
    """The flows of a run as a race; None unless flows of different controllers ran against each other."""
    racers = racers_of(row.summary or {})
    if len(racers) < 2:
        return None
    total = math.fsum(racer.goodput_bps for racer in racers)
    columns: tuple[Column[Racer], ...] = (
        Column(tr("Flow"), lambda racer: racer.name),
        NumberColumn(tr("Goodput"), lambda racer: racer.goodput_bps, mbit_text, "Mbit/s"),
        NumberColumn(tr("Share"), lambda racer: racer.goodput_bps / total if total else None, percent_text, "%"),
        NumberColumn(tr("Mean RTT"), lambda racer: racer.mean_rtt_s, milliseconds_text, "ms"),
        NumberColumn(tr("Loss"), lambda racer: racer.loss_ratio, percent_text, "%"),
    )
    return TextTable.of(racers, columns, race_line(racers))


def racers_of(summary: Mapping[str, Any]) -> list[Racer]:
    """Who raced in a run, the one with the most goodput first; nobody if all flows have the same controller."""
    flows = [flow for flow in summary.get("flows", ()) if flow.get("controller") and flow.get("subflows")]
    controllers = dict.fromkeys(str(flow["controller"]) for flow in flows)
    if len(controllers) < 2:
        return []
    if len(flows) <= _MOST_FLOWS:
        racers = [_racer(_racer_name(str(flow["name"]), str(flow["controller"])), [flow]) for flow in flows]
    else:
        of_each = {name: [flow for flow in flows if flow["controller"] == name] for name in controllers}
        racers = [
            _racer(tr("{controller}, mean of {count}", controller=name, count=len(members)), members)
            for name, members in of_each.items()
        ]
    return sorted(racers, key=lambda racer: -racer.goodput_bps)


def race_line(racers: Sequence[Racer], *, is_by_chance: bool = False) -> str:
    """Who won, and at which price, in a sentence.

    Args:
        racers: two or more, the winner first.
        is_by_chance: whether other seeds would have made such a difference in goodput.
    """
    first, last = racers[0], racers[-1]
    if first.goodput_bps <= last.goodput_bps * _EQUAL:
        share = f"{first.goodput_bps / last.goodput_bps - 1.0:+.1%}".replace("%", " %") if last.goodput_bps else ""
        if share in ("", "+0.0 %"):
            won = tr("{first} and {last} got the same", first=first.name, last=last.name)
        else:
            won = tr("{first} got about the same as {last}: {share}", first=first.name, last=last.name, share=share)
    elif is_by_chance:
        won = tr("{first} and {last} differ no more than seeds do", first=first.name, last=last.name)
    elif last.goodput_bps > 0:
        times = f"{first.goodput_bps / last.goodput_bps:.2f}"
        won = tr("{first} won: {times}× the goodput of {last}", first=first.name, times=times, last=last.name)
    else:
        won = tr("{first} won: {last} got nothing", first=first.name, last=last.name)
    said = tr(
        "{won} ({goodput} against {other} Mbit/s)",
        won=won,
        goodput=mbit_text(first.goodput_bps),
        other=mbit_text(last.goodput_bps),
    )
    if math.isfinite(first.mean_rtt_s) and math.isfinite(last.mean_rtt_s):
        rtts = (milliseconds_text(each.mean_rtt_s) for each in (first, last))
        said += "; " + tr("mean RTT {first} against {last} ms", **dict(zip(("first", "last"), rtts, strict=True)))
    if math.isfinite(first.loss_ratio) and math.isfinite(last.loss_ratio):
        losses = (percent_text(each.loss_ratio) for each in (first, last))
        said += "; " + tr("loss {first} against {last} %", **dict(zip(("first", "last"), losses, strict=True)))
    return said


def _racer_name(flow: str, controller: str) -> str:
    """The flow with its controller, unless it is called after that."""
    return flow if flow == controller else f"{flow} ({controller})"


def _racer(name: str, flows: Sequence[Mapping[str, Any]]) -> Racer:
    return Racer(name, *(_mean(flow.get(key) for flow in flows) for key in ("goodput_bps", "mean_rtt_s", "loss_ratio")))


def _mean(values: Any) -> float:
    known = [float(value) for value in values if value is not None]
    return math.fsum(known) / len(known) if known else math.nan


def _figures(grouping: Grouping) -> list[str]:
    """What is compared: of the runs, and of their flows where these are few and the same in all of them."""
    runs = [run for group in grouping.groups for run in group.runs]
    told = [run_figures(run) for run in runs]
    flows_in = [_measured_flows(run) for run in runs]
    flows = list(dict.fromkeys(flow for each in flows_in for flow in each))
    # One flow is as fair as can be.
    wanted = [key for key in _OF_RUN if key != "jain" or min(map(len, flows_in)) > 1]
    if len(flows) == 1:
        wanted += [f"flows.{flows[0]}.{name}" for name in _OF_ONLY_FLOW]
    elif len(flows) <= _MOST_FLOWS:
        wanted += [f"flows.{flow}.{name}" for name in _OF_EACH_FLOW for flow in flows]
    return [key for key in wanted if all(each.get(key) is not None for each in told)]


def _measured_flows(run: RunRow) -> list[str]:
    """Names of the flows whose goodput is known."""
    return [str(flow["name"]) for flow in flows_of(run) if finite(flow.get("goodput_bps")) is not None]


def _titles(table: GroupTable) -> list[str]:
    """What the figures are called; those of flows with their flow, where there are several."""
    owners = {row.column.key.rpartition(".")[0] for row in table.rows} - {""}
    titles = [(row.column.key, tr(row.column.title)) for row in table.rows]
    return [title.rpartition(": ")[2] if "." in key and len(owners) == 1 else title for key, title in titles]


def _group_text(group: ConditionGroup) -> str:
    count = f" (n = {len(group.runs)})" if len(group.runs) > 1 else ""
    return f"{group.letter}: {group.label}{count}"


def _difference_name(table: GroupTable, place: int) -> str:
    """What a line of differences is headed with: with the interval, or why there is none."""
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
    low, high = (_end_text(row.column, end).replace("-", MINUS) for end in (difference.low, difference.high))
    interval = f"[{low}, {high}]"
    return " ".join(part for part in (text, interval, stars(difference.p)) if part)


def _difference_text(row: FigureRow, place: int) -> str:
    """The difference to the reference; of what is a percentage itself without its share in percent."""
    text = difference_text(row, place, 0).replace("-", MINUS)
    return text.partition(" ")[0] if row.column.unit == "%" else text


def _end_text(shown: RunColumn, value: float) -> str:
    text = shown.text(value)
    return text if float(text) else text.removeprefix("-")


def _comparison_line(table: GroupTable) -> str:
    """Of two groups who won, where their controllers differ, and else by how much they differ; of more the goodputs."""
    titles = _titles(table)
    first = table.rows[0]
    if len(table.groups) > 2:
        told = [f"{side} {spread_text(first, place)}" for place, side in enumerate(_sides(table))]
        return f"{titles[0]}, {first.column.unit}: " + " · ".join(told)
    if raced := _raced_flows(table):
        return _race_of_groups(table, raced)
    told = [
        f"{title} {_with_unit(_difference_text(row, 1), row.column.unit)}"
        for title, row in zip(titles, table.rows, strict=True)
    ]
    reference, other = _sides(table)
    compared = tr("{one} compared with {reference}", one=other, reference=reference)
    return f"{compared}: " + " · ".join(told)


def _sides(table: GroupTable) -> list[str]:
    """What the sentence calls the groups: a fork and its original as the legend does, else by what tells them apart."""
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
    """The flows that have another controller in the second group; none where the groups have other flows, too."""
    first, second = ({str(each["name"]): each.get("controller") for each in flows_of(group.runs[0])}
                     for group in table.groups)  # fmt: skip
    if first.keys() != second.keys():
        return []
    return [name for name in first if first[name] and second[name] and first[name] != second[name]]


def _race_of_groups(table: GroupTable, names: Sequence[str]) -> str:
    """Who won between the controllers of two groups: what counts is what the flows got that have them."""
    racers, goodputs = [], []
    for group in table.groups:
        of_runs = [[each for each in flows_of(run) if each["name"] in names] for run in group.runs]
        goodputs.append([math.fsum(each.get("goodput_bps") or 0.0 for each in flows) for flows in of_runs])
        controllers = dict.fromkeys(str(each["controller"]) for each in of_runs[0])
        told = _racer(f"{group.letter} ({', '.join(controllers)})", [each for flows in of_runs for each in flows])
        racers.append(replace(told, goodput_bps=Estimate.of(goodputs[-1]).mean))
    difference = welch(goodputs[1], goodputs[0])
    racers.sort(key=lambda racer: -racer.goodput_bps)
    return race_line(racers, is_by_chance=difference.is_tested and difference.p >= 0.05)


def _with_unit(text: str, unit: str) -> str:
    number, space, share = text.partition(" ")
    if unit == "%":
        return tr("{number} percentage points", number=number)
    return f"{number} {unit}{space}{share}" if unit else text
