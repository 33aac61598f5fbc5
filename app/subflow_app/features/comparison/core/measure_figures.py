"""The figures of a comparison: for each measure the runs of each group as dots, and the interval of their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subflow_app.features.comparison.core.conditions import ConditionGroup
from subflow_app.features.comparison.core.group_table import FigureRow, GroupTable, difference_text, spread_text
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.measures import run_measure
from subflow_app.vocabulary.palette import CONTROLLER_COLOURS, ColourKey, free_colour
from subflow_app.vocabulary.picture import Hit, Panel, PanelSeries
from subflow_store.values import RunRow

MOST_FIGURES = 20
"""Maximum number of figures; the table has all measures."""

_MARGIN = 0.08  # share of the range of values that stays free on both sides
_CLEAR = 0.05
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A group in the figure of a measure.

    Attributes:
        label: name of the group.
        colour: its colour, the same in every comparison of the same controllers.
        mean: mean with half of its interval, as text.
        difference: difference from the reference, as text; empty for the reference.
        unit: unit of the measure.
        verdict: 1 if the group is better than the reference, -1 if worse, 0 if unclear or neither; None without a test.
        p: p of the difference, as text, or the reason why a test is missing.
    """

    label: str
    colour: ColourKey
    mean: str
    difference: str
    unit: str
    verdict: int | None
    p: str

    @property
    def result(self) -> str:
        """The verdict as a word; empty without a test."""
        if self.verdict is None:
            return ""
        return {1: tr("better"), -1: tr("worse"), 0: tr("unclear")}[self.verdict]


@dataclass(frozen=True, slots=True, eq=False)
class MeasureFigure:
    """A measure with its figure.

    Attributes:
        title: title of the measure.
        hint: unit, and which values are better.
        panel: the figure.
        hits: the dots, each with the number of its run.
        lines: the groups, in order.
        is_of_flow: whether it belongs to one of several flows.
    """

    title: str
    hint: str
    panel: Panel
    hits: tuple[Hit, ...]
    lines: tuple[FigureLine, ...]
    is_of_flow: bool = False


def group_colours(groups: Sequence[ConditionGroup]) -> list[ColourKey]:
    """A different colour for each group: that of its controller, or else the nearest free one."""
    found: list[ColourKey] = []
    for group in groups:
        names = [name.strip() for name in (group.label, *group.runs[0].controllers.split(","))]
        wanted = next((CONTROLLER_COLOURS[name] for name in names if name in CONTROLLER_COLOURS), None)
        found.append(free_colour(wanted, found))
    return found


def measure_figures(table: GroupTable) -> list[MeasureFigure]:
    """The figures of a table, without measures of a flow that repeat those of the whole run."""
    colours = group_colours(table.groups)
    shown: list[FigureRow] = []
    for row in table.rows:
        means = [estimate.mean for estimate in row.estimates]
        is_known = any(math.isfinite(mean) for mean in means)
        is_repeated = any(_base(each.column.key) == _base(row.column.key) and _agree(each, row) for each in shown)
        if is_known and not is_repeated:
            shown.append(row)
    owners = {row.column.key.rpartition(".")[0] for row in shown} - {""}
    return [_figure(table, row, colours, has_owner=len(owners) > 1) for row in shown[:MOST_FIGURES]]


def _agree(first: FigureRow, second: FigureRow) -> bool:
    """True if two measures have the same means, apart from rounding."""
    pairs = zip(first.estimates, second.estimates, strict=True)
    return all(math.isclose(one.mean, other.mean, rel_tol=_ROUNDING) for one, other in pairs)


def _base(key: str) -> str:
    """Key of a measure of a flow, or of the measure of flows that a measure of whole runs combines."""
    name = key.rpartition(".")[2]
    return {"weighted_rtt_s": "mean_rtt_s", "total_loss_ratio": "loss_ratio", "mean_completion_s": "completion_s",
            "active_goodput_per_flow_bps": "active_goodput_bps"}.get(name, name)  # fmt: skip


def _figure(table: GroupTable, row: FigureRow, colours: Sequence[ColourKey], *, has_owner: bool) -> MeasureFigure:
    """The figure of a measure; with `has_owner`, the title names its flow, because several flows have figures."""
    column, scale = row.column, row.column.scale
    measure = run_measure(column.key)
    count = len(table.groups)
    series: list[PanelSeries] = []
    hits: list[Hit] = []
    for place, (group, estimate) in enumerate(zip(table.groups, row.estimates, strict=True)):
        at = float(count - 1 - place)  # the first group is on top
        values = np.array([value * scale for value in estimate.values], dtype=np.float64)
        known = values[np.isfinite(values)]
        if len(known):
            mean, half = np.array([estimate.mean * scale]), np.array([estimate.ci95 * scale])
            for x, halves, shape, words in (
                (known, np.full(len(known), math.nan), 0, ""),
                (mean, half, 3, group.label),
            ):
                y, none = np.full(len(x), at), np.full(len(x), math.nan)
                series.append(
                    PanelSeries("", colours[place], shape, bool(words), y, none, x=x, x_halves=halves, words=words)
                )
        if len(values) == len(group.runs):
            hits += [
                Hit(float(value), at, f"{run_label(group, run)}: {column.text(value / scale)} {column.unit}".rstrip(),
                    (place,), (run.id,))
                for run, value in zip(group.runs, values, strict=True)
                if math.isfinite(value)
            ]  # fmt: skip
    title = tr(column.title)
    if not has_owner and "." in column.key:
        title = title.rpartition(": ")[2]
    names = tuple((float(place), group.label) for place, group in enumerate(reversed(table.groups)))
    panel = Panel(
        "scatter",
        title,
        column.unit or " ",
        "",
        (),
        np.empty(0),
        tuple(series),
        x_is_signed=True,
        y_ticks=names,
        view=(*_ends(row), -0.5, count - 0.5),
    )
    hints = {1: tr("more is better"), -1: tr("less is better")}
    hint = ", ".join(filter(None, (column.unit, hints.get(measure.better, ""))))
    lines = tuple(_line(table, row, place, colours[place], measure.better) for place in range(count))
    return MeasureFigure(title, hint, panel, tuple(hits), lines, is_of_flow=has_owner and "." in column.key)


def run_label(group: ConditionGroup, run: RunRow) -> str:
    """Name of a run in its group: "lia, seed 3"."""
    return tr("{name}, seed {seed}", name=group.label, seed=run.seed)


def _ends(row: FigureRow) -> tuple[float, float]:
    """First and last value in view: all runs and intervals, with a margin."""
    scale = row.column.scale
    drawn = (value for each in row.estimates for value in (*each.values, each.mean, each.low, each.high))
    known = [value * scale for value in drawn if math.isfinite(value)]
    low, high = min(known), max(known)
    margin = abs(low) * _MARGIN or 1.0 if low == high else (high - low) * _MARGIN
    return low - margin, high + margin


def _line(table: GroupTable, row: FigureRow, place: int, colour: ColourKey, better: int) -> FigureLine:
    group, difference = table.groups[place], row.differences[place]
    verdict: int | None = None
    p = ""
    if difference.is_tested:
        is_clear = difference.p_holm < _CLEAR and better != 0
        verdict = (1 if (difference.value > 0) == (better > 0) else -1) if is_clear else 0
        p = "p < 0.001" if difference.p_holm < 0.001 else f"p = {difference.p_holm:.3f}"
    difference_shown = difference_text(row, place, table.reference)
    return FigureLine(group.label, colour, spread_text(row, place), difference_shown, row.column.unit, verdict, p)


def _with_unit(line: FigureLine) -> str:
    number, space, share = line.difference.partition(" ")
    unit = tr("percentage points") if line.unit == "%" else line.unit
    return f"{number} {unit}{space}{share}" if unit else line.difference


def lead_text(table: GroupTable) -> str:
    """One sentence on each group: the measures in which it is clearly better or worse than the reference.

    With several flows, only measures of whole runs are mentioned.
    """
    sentences = []
    every = measure_figures(table)
    figures = [figure for figure in every if not figure.is_of_flow] or every
    for place, group in enumerate(table.groups):
        if place == table.reference or not figures:
            continue
        lines = [(figure.title, figure.lines[place]) for figure in figures]
        tested = [(title, line) for title, line in lines if line.verdict is not None]
        if not tested:
            continue
        parts = [
            tr("{measure} {difference}, {result}", measure=title, difference=_with_unit(line), result=line.result)
            for title, line in tested
            if line.verdict
        ]
        names = {"group": group.label, "reference": table.groups[table.reference].label}
        sentences.append(
            tr("{group} compared with {reference}: {told}.", told="; ".join(parts), **names)
            if parts
            else tr("{group} compared with {reference}: no clear difference.", **names)
        )
    if not sentences and all(len(group.runs) == 1 for group in table.groups):
        return tr("One run each: no interval, and no verdict.")
    return " ".join(sentences)
