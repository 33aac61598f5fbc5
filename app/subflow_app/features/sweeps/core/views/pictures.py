"""Views of a sweep: lines, boxes, scatter, map and table.

Lines show a figure and its 95 % intervals over a parameter, with a line for each value of a second parameter. If the
values of the first parameter are names, points are drawn instead of lines. A map shows a figure over two parameters as
cells.

Boxes show the distribution of a figure for each value of a parameter.

The scatter plot shows two figures, by default throughput against delay, with a mark and its 95 % intervals for each
point of a sweep. As in the reports of Pantheon, a delay axis runs from right to left, so that the best results are at
the top right.

The table has a row for each point, with the parameters and the mean ± 95 % interval of the figures. The values of all
runs can be written as CSV.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.sweeps.core.views.study import StudyFigure, SweepStudy
from subflow_app.features.sweeps.core.views.view import (
    NOTHING,
    Picture,
    SweepView,
    averaged_note,
    averaged_over,
    hit_text,
    level_names,
    level_text,
    series_of,
)
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.picture import ColourScale, Hit, Panel, PanelSeries
from subflow_app.vocabulary.tables import Column, NumberColumn, csv_number, csv_text
from subflow_sim.stats import Estimate

_ASIDE = 0.12
_LEAST_SHARE = 0.1


def line_plot(
    study: SweepStudy, figure: str, parameter: str, series: str = "", fixed: Mapping[str, int] | None = None
) -> Picture:
    """Draw a figure over a parameter as lines, or as separate points with intervals if its values are names.

    The range of the figure's axis is at least a tenth of the largest value, and at least the mean width of the
    intervals.

    Args:
        study: the sweep.
        figure: key of the figure.
        parameter: key of the parameter on the horizontal axis; names appear in the order of the parameter's levels.
        series: key of the parameter that distinguishes lines; empty or equal to `parameter` for a single line.
        fixed: levels of further parameters; all other parameters are averaged over.

    Raises:
        KeyError: if the sweep has no such figure or parameter.
    """
    series = "" if series == parameter else series
    shown, along = study.figure(figure), study.parameter(parameter)
    told_apart = study.parameter(series) if series else None
    members = study.by_levels((series, parameter), fixed)
    ranks, levels = (sorted({key[place] for key in members}) for place in (0, 1))
    lines, hits = [], []
    for rank in ranks:
        # Marks at the same name are placed side by side.
        aside = 0.0 if along.is_numeric else _ASIDE * (rank - (len(ranks) - 1) / 2)
        points = [members.get((rank, level), ()) for level in levels]
        means = [study.mean(each, figure) for each in points]
        x = np.array([along.position(level) + aside for level in levels])
        y = np.array([mean.mean for mean in means]) * shown.scale
        halves = np.array([mean.ci95 for mean in means]) * shown.scale
        known = np.isfinite(y)
        if along.is_numeric:
            lines.append(series_of(told_apart, rank, y, halves=halves))
        else:
            nothing = np.full(int(known.sum()), math.nan)
            lines.append(
                series_of(told_apart, rank, y[known], halves=halves[known], x=x[known], x_halves=nothing),
            )
        for place in np.flatnonzero(known):
            at = along.levels[levels[place]].text
            at = f"{x[place]:.6g} {along.unit}".strip() if along.is_numeric else at
            parts = [level_text(told_apart, rank), f"{along.key}: {at}", shown.mean_text(means[place])]
            text = hit_text(parts, means[place].n)
            hits.append(Hit(float(x[place]), float(y[place]), text, tuple(points[place])))
    names = level_names(along)
    positions = np.array([along.position(level) for level in levels]) if along.is_numeric else NOTHING
    # If positive values span a decade, a logarithmic axis shows them all.
    is_log = along.is_numeric and len(names) > 0 and positions.min() > 0 and positions.max() >= 10 * positions.min()
    panel = Panel(
        "lines" if along.is_numeric else "scatter",
        "",
        along.title if along.is_numeric else along.key,
        shown.axis_title,
        tuple(f"{position:.6g}" for position in positions),
        positions,
        tuple(lines),
        averaged_note(study, (parameter, series), fixed),
        is_log_x=bool(is_log),
        is_signed=shown.is_signed,
        legend=series,
        least=_least(lines),
        x_ticks=() if along.is_numeric else tuple((float(place), name) for place, name in enumerate(names)),
    )
    return Picture(panel, tuple(hits))


def _least(lines: Sequence[PanelSeries]) -> float:
    """Minimum range of a value axis: a tenth of the largest value, or the mean width of the intervals if larger."""
    halves = [half for half in chain.from_iterable(line.halves for line in lines) if math.isfinite(half)]
    largest = max((abs(y) for line in lines for y in line.means if math.isfinite(y)), default=0.0)
    return float(max(_LEAST_SHARE * largest, 2 * math.fsum(halves) / len(halves) if halves else 0.0))


LINES = SweepView(
    "lines",
    translatable("Lines"),
    translatable("Lines of a measure over a parameter, with 95 % intervals"),
    {"figure": translatable("&Measure"), "x": translatable("A&long"), "series": translatable("&Compare")},
    lambda study, choice: line_plot(study, choice.figure, choice.x, choice.series or "", choice.fixed),
)


def box_plot(
    study: SweepStudy, figure: str, parameter: str, series: str = "", fixed: Mapping[str, int] | None = None
) -> Picture:
    """Draw the distribution of a figure as a box for each value of a parameter.

    Args:
        study: the sweep.
        figure: key of the figure.
        parameter: key of the parameter on the horizontal axis.
        series: key of the parameter that distinguishes adjacent boxes; empty or equal to `parameter` for one box per
            value.
        fixed: levels of further parameters; boxes combine all levels of all other parameters.

    Raises:
        KeyError: if the sweep has no such figure or parameter.
    """
    series = "" if series == parameter else series
    shown, along = study.figure(figure), study.parameter(parameter)
    told_apart = study.parameter(series) if series else None
    members = {
        place: runs
        for place, points in sorted(study.by_levels((parameter, series), fixed).items())
        if (runs := study.single_runs(points, figure))
    }
    ranks = sorted({rank for _level, rank in members})
    averaged = ", ".join(averaged_over(study, (parameter, series), fixed))
    values = {
        rank: tuple(
            np.array([value for *_, value in members.get((level, rank), ())]) * shown.scale
            for level in range(len(along.levels))
        )
        for rank in ranks
    }
    largest = max((float(np.abs(each).max()) for boxes in values.values() for each in boxes if len(each)), default=0.0)
    panel = Panel(
        "box",
        "",
        along.key,
        shown.axis_title,
        level_names(along),
        NOTHING,
        tuple(
            series_of(
                told_apart,
                rank,
                np.array([each.mean() if len(each) else math.nan for each in values[rank]]),
                values=values[rank],
            )
            for rank in ranks
        ),
        tr("Each box has runs with all values of {keys}.", keys=averaged) if averaged else "",
        legend=series,
        least=_LEAST_SHARE * largest,
    )
    hits = []
    for (level, rank), runs in members.items():
        box = panel.box(ranks.index(rank), level)
        assert box is not None
        where = [level_text(along, level), level_text(told_apart, rank)]
        quartiles = tr(
            "median {median}, half of the runs between {q1} and {q3}",
            median=shown.text(box.median / shown.scale),
            q1=shown.text(box.q1 / shown.scale),
            q3=shown.text(box.q3 / shown.scale),
        )
        points = tuple(dict.fromkeys(point for point, _run, _value in runs))
        hits.append(Hit(box.middle, box.median, hit_text([*where, quartiles], len(runs)), points))
        for number, x in box.dots:
            point, run, value = runs[number]
            words = [*filter(None, where), tr("seed {seed}", seed=run.seed), shown.text(value)]
            ids = () if run.run_id is None else (run.run_id,)
            hits.append(Hit(x, value * shown.scale, "\n".join(words), (point,), ids))
    return Picture(panel, tuple(hits))


BOXES = SweepView(
    "boxes",
    translatable("Boxes"),
    translatable("Box plots of a measure by a parameter"),
    {"figure": translatable("&Measure"), "x": translatable("B&y"), "series": translatable("&Compare")},
    lambda study, choice: box_plot(study, choice.figure, choice.x, choice.series or "", choice.fixed),
    is_mean_of_held=False,
)


def scatter(study: SweepStudy, x: str, y: str, series: str = "", fixed: Mapping[str, int] | None = None) -> Picture:
    """Draw a scatter plot of two figures.

    Args:
        study: the sweep.
        x: key of the figure on the horizontal axis.
        y: key of the figure on the vertical axis.
        series: key of the parameter by which marks are distinguished; empty: all marks look the same.
        fixed: levels of parameters; points with other levels are omitted.

    Raises:
        KeyError: if the sweep has no such figure or parameter.
    """
    held = {key: level for key, level in (fixed or {}).items() if key != series}
    along, up = study.figure(x), study.figure(y)
    told_apart = study.parameter(series) if series else None
    members: dict[int, list[tuple[Estimate, Estimate]]] = {}
    hits = []
    for point in study.chosen(held):
        found_x, found_y = study.mean([point], x), study.mean([point], y)
        if math.isfinite(found_x.mean) and math.isfinite(found_y.mean):
            rank = study.place(point, series) if series else 0
            members.setdefault(rank, []).append((found_x, found_y))
            parts = [level_text(told_apart, rank), study.words(point, (series, *held))]
            parts += [f"{f.name}: {f.interval_text(v)}" for f, v in ((up, found_y), (along, found_x))]
            at = (found_x.mean * along.scale, found_y.mean * up.scale)
            hits.append(Hit(*at, hit_text(parts, found_x.n), (point,)))
    marks = [
        series_of(
            told_apart,
            rank,
            np.array([each.mean for _, each in pairs]) * up.scale,
            halves=np.array([each.ci95 for _, each in pairs]) * up.scale,
            x=np.array([each.mean for each, _ in pairs]) * along.scale,
            x_halves=np.array([each.ci95 for each, _ in pairs]) * along.scale,
        )
        for rank, pairs in sorted(members.items())
    ]
    panel = Panel(
        "scatter",
        "",
        along.axis_title,
        up.axis_title,
        ("",),
        NOTHING,
        tuple(marks),
        is_signed=up.is_signed,
        x_is_signed=along.is_signed,
        better=(along.better, up.better),
        legend=series,
    )
    return Picture(panel, tuple(hits))


SCATTER = SweepView(
    "scatter",
    translatable("Scatter"),
    translatable("Scatter of two measures, a mark per point of the sweep"),
    {"figure": translatable("&Up"), "other": translatable("Ac&ross"), "series": translatable("&Compare")},
    lambda study, choice: scatter(study, choice.other, choice.figure, choice.series or "", choice.fixed),
    is_mean_of_held=False,
)


def span_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """The smallest and the largest finite value, moved apart if they are equal; 0 and 1 if no value is finite."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = abs(low) * 0.05 or 0.5
    # Smaller differences may be rounding errors in sums of the same numbers.
    are_apart = high - low > 1e-9 * max(abs(low), abs(high))
    return (low, high) if are_apart else (low - margin, high + margin)


def heat_map(study: SweepStudy, figure: str, x: str, y: str = "", fixed: Mapping[str, int] | None = None) -> Picture:
    """Draw a heat map of a figure.

    The colours range from the smallest to the largest mean, but at least over the mean width of the intervals, so that
    means that hardly differ have similar colours.

    Args:
        study: the sweep.
        figure: key of the figure.
        x: key of the parameter on the horizontal axis.
        y: key of the parameter on the vertical axis; empty for a single row.
        fixed: levels of further parameters; all other parameters are averaged over.

    Raises:
        KeyError: if the sweep has no such figure or parameter.
    """
    shown, across, up = study.figure(figure), study.parameter(x), study.parameter(y) if y else None
    members = study.by_levels((y, x), fixed)
    rows = [
        [members.get((row, column), []) for column in range(len(across.levels))]
        for row in range(len(up.levels) if up else 1)
    ]
    means = [[study.mean(points, figure) for points in row] for row in rows]
    values = np.array([[found.mean for found in row] for row in means], dtype=np.float64) * shown.scale
    halves = [found.ci95 for row in means for found in row if math.isfinite(found.ci95)]
    width = 2 * math.fsum(halves) / len(halves) * shown.scale if halves else 0.0
    low, high = span_of(values)
    missing = max(0.0, width - (high - low))
    notes = [averaged_note(study, (x, y), fixed)]
    if missing:
        text = shown.text(width / shown.scale)
        notes.append(
            tr("The colours span {width}, the mean width of the intervals: the cells hardly differ.", width=text)
        )
    hits, texts = [], []
    for row, cells in enumerate(rows):
        for column, points in enumerate(cells):
            found = means[row][column]
            lines = [level_text(across, column), level_text(up, row)]
            if math.isfinite(found.mean):
                message = trn("{count} run", "{count} runs", found.n)
                if len(points) > 1:
                    message = tr(
                        "mean over {count} settings of the other parameters, {runs}", count=len(points), runs=message
                    )
                lines += [shown.mean_text(found), message]
            else:
                lines.append(tr("no run yet"))
            hits.append(Hit(column, row, "\n".join(filter(None, lines)), tuple(points)))
        texts.append(tuple(shown.interval_text(found, with_unit=False) for found in means[row]))
    panel = Panel(
        "map",
        "",
        across.key,
        up.key if up else " ",
        (),
        NOTHING,
        (),
        " ".join(filter(None, notes)),
        x_ticks=tuple((float(place), name) for place, name in enumerate(level_names(across))),
        y_ticks=tuple((float(place), name) for place, name in enumerate(level_names(up) if up else ("",))),
        cells=tuple(values),
        cell_texts=tuple(texts),
        scale=ColourScale(shown.axis_title, low - missing / 2, high + missing / 2),
    )
    return Picture(panel, tuple(hits))


HEAT_MAP = SweepView(
    "heat",
    translatable("Heat map"),
    translatable("Heat map of a measure over two parameters"),
    {"figure": translatable("C&olour"), "x": translatable("A&long"), "y": translatable("&Up")},
    lambda study, choice: heat_map(study, choice.figure, choice.x, choice.y or "", choice.fixed),
)


@dataclass(frozen=True, slots=True, eq=False)
class TableContent:
    """The rows of the table, and the figures shown in its columns."""

    study: SweepStudy
    figures: tuple[StudyFigure, ...]
    rows: tuple[StudyRow, ...]


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A row of the table.

    Attributes:
        point: number of the point.
        levels: levels of the parameters, in their original notation.
        positions: index of each level among the levels of its parameter, for sorting.
        figures: values of the figures in SI units.
        runs: number of distinct runs; 1 if all seeds gave the same run.
    """

    point: int
    levels: tuple[str, ...]
    positions: tuple[int, ...]
    figures: tuple[Estimate, ...]
    runs: int


def study_rows(study: SweepStudy, figures: Sequence[str]) -> list[StudyRow]:
    """The rows of the table, in the order of the points.

    Args:
        study: the sweep.
        figures: keys of the figures in the columns.
    """
    rows = []
    for number, point in enumerate(study.points):
        levels = tuple(
            parameter.levels[place].text for parameter, place in zip(study.parameters, point.places, strict=True)
        )
        found = tuple(study.mean([number], key) for key in figures)
        rows.append(StudyRow(number, levels, point.places, found, point.distinct_runs))
    return rows


def study_columns(study: SweepStudy, figures: Sequence[StudyFigure]) -> list[Column[StudyRow]]:
    """Columns for the parameters, the figures and the number of runs; titles are translated."""

    def parameter(place: int) -> Column[StudyRow]:
        shown = study.parameters[place]
        return Column(
            shown.key,
            lambda row: row.levels[place],
            is_number=shown.is_numeric,
            sort=lambda row: row.positions[place],
            tip=shown.key,
        )

    def figure(place: int) -> Column[StudyRow]:
        shown = figures[place]
        return NumberColumn(
            shown.axis_title,
            lambda row: row.figures[place],
            lambda found: shown.interval_text(found).removesuffix(f" {shown.unit}"),
            # Unknown values come first in ascending order.
            sort=lambda row: row.figures[place].mean if math.isfinite(row.figures[place].mean) else -math.inf,
            tip=shown.axis_title,
        )

    return [
        *map(parameter, range(len(study.parameters))),
        *map(figure, range(len(figures))),
        NumberColumn(tr("Runs"), lambda row: row.runs, tip=tr("Runs")),
    ]


def runs_csv(study: SweepStudy) -> str:
    """CSV with a line for each run of a sweep: parameters in their original notation, and figures in SI units."""
    keys = [figure.key for figure in study.figures]
    lines: list[list[object]] = []
    for point in study.points:
        levels = [p.levels[place].text for p, place in zip(study.parameters, point.places, strict=True)]
        for run in point.runs:
            values = [run.figures.get(key, math.nan) for key in keys]
            lines.append([*levels, run.seed, "" if run.run_id is None else run.run_id, *map(csv_number, values)])
    return csv_text([*(parameter.key for parameter in study.parameters), "seed", "run_id", *keys], lines)


def write_runs(study: SweepStudy, path: Path) -> Path:
    """Writes :func:`runs_csv` to a file in one step.

    Raises:
        ExportError: if the file cannot be written.
    """
    return write_file(path, runs_csv(study))


TABLE_VIEW = SweepView(
    "table",
    translatable("Table"),
    translatable("Means of the sweep with their 95 % intervals"),
    {"figures": translatable("Mea&sures")},
    lambda study, choice: TableContent(
        study, tuple(map(study.figure, choice.figures)), tuple(study_rows(study, choice.figures))
    ),
)
