"""Figure of an experiment in the form of the paper's figure, with our results next to the published values.

A controller has the same colour in all figures of all papers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from subflow_app.features.paper.core.figure_plan import PAPER, FigurePlan, Ground
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE, PaperStyle
from subflow_app.vocabulary.palette import CONTROLLER_COLOURS, HUES, OURS, TOTAL, ColourKey, free_colour
from subflow_app.vocabulary.picture import FloatArray, Panel, PanelSeries, Reference
from subflow_sim.stats import Estimate
from subflow_store.run_values import UNITS

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Measure, Published, Recipe, Series
    from subflow_app.features.gallery.core.recipe import Panel as RecipePanel
    from subflow_app.features.gallery.core.results import Results


def series_colours(recipe: Recipe) -> dict[str, ColourKey]:
    """A different colour for each series of a recipe."""
    found: dict[str, ColourKey] = {}
    # The proposal of the paper comes first, so that it always gets its colour.
    for series in sorted(recipe.series.values(), key=lambda each: not each.is_ours):
        wanted = OURS if series.is_ours else CONTROLLER_COLOURS.get(controller_of(series) or "")
        found[series.name] = free_colour(wanted, found.values())
    return {name: found[name] for name in recipe.series}


def controller_of(series: Series) -> str | None:
    """The controller of a series; None if the series does not name one."""
    for key, value in series.values.items():
        if key.rpartition(".")[2] == "controller":
            name = value.get("name") if isinstance(value, Mapping) else value
            if isinstance(name, str):
                return name
    agent = series.extra.get("agent") or series.extra.get("controller")
    return agent if isinstance(agent, str) else None


FIGURE_STYLE = replace(DEFAULT_STYLE, width_mm=168.0, plot_height_mm=62.0, has_markers=True)
"""Style of experiment figures, which are as wide as the text of a report."""


def experiment_figure(results: Results, *, style: PaperStyle = FIGURE_STYLE, ground: Ground = PAPER) -> FigurePlan:
    """The figure of these results. A note names series without measurements; points that were not run are omitted.

    Raises:
        StoreError: if traces cannot be read.
    """
    recipe = results.recipe
    panels = []
    for asked in recipe.panels:
        panels += _Drawing(results, asked).panels()
    return FigurePlan(panels=_told_once(panels), style=style, ground=ground, implied_text=_implied_text(recipe))


def _told_once(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Remove repeated notes: of several panels with the same note, only the last one keeps the note."""
    later = [{other.note for other in panels[place + 1 :]} for place in range(len(panels))]
    return tuple(
        replace(panel, note="") if panel.note in notes else panel for panel, notes in zip(panels, later, strict=True)
    )


def shown_value(measure: Measure, value: float) -> float:
    """Convert an SI value to the unit in which the measure is shown."""
    return value / UNITS.get(measure.unit, 1.0)


def measure_text(measure: Measure) -> str:
    """Label of an axis: ``Goodput per flow (Mbit/s)``."""
    return f"{measure.label} ({measure.unit})" if measure.unit else measure.label


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number from the paper that can be compared with our value.

    Attributes:
        published: the entry of the recipe.
        value: the value, SI; NaN if our baseline is unknown.
        is_implied: whether the value was computed from a published improvement and our baseline.
    """

    published: Published
    value: float
    is_implied: bool


def published_values(results: Results) -> list[PublishedValue]:
    """All numbers from the paper that can be compared with ours. Improvements are applied to our baseline."""
    found = []
    for each in results.recipe.published:
        if each.value is not None:
            found.append(PublishedValue(each, each.value, False))
        elif each.improvement is not None:
            baseline = cell_of(results, each.measure, each.over, each.point)
            found.append(PublishedValue(each, baseline.mean * (1.0 + each.improvement), True))
    return found


def cell_of(results: Results, measure: str, series: str, point: str) -> Estimate:
    """Our estimate over the seeds, SI; for an axis and an empty `point`, the estimate over the means of all points."""
    if point or point in results.points:
        return results.cell(measure, series, point)
    return Estimate.of(results.cell(measure, series, label).mean for label in results.points)


class _Drawing:
    """Draws the panels of a figure from one panel of a recipe."""

    def __init__(self, results: Results, panel: RecipePanel) -> None:
        self._results = results
        self._panel = panel
        recipe = self._recipe = results.recipe
        self._colours = series_colours(recipe)
        self._shapes = {name: place for place, name in enumerate(recipe.series)}
        self._series = [
            each
            for each in recipe.series_of(is_quick=results.is_quick)
            if not panel.series or each.name in panel.series
        ]
        self._points = [
            each for each in recipe.points(is_quick=results.is_quick) if not panel.points or each.label in panel.points
        ]
        self._measures = [recipe.measures[name] for name in panel.measures]
        # Random draws form no axis: these panels show the statistics over all draws.
        self._is_pooled = recipe.axis.is_drawn and panel.form in ("bars", "box", "table", "scatter")

    def panels(self) -> list[Panel]:
        if self._panel.form == "trace":
            return [self._trace()]
        if len(self._measures) > 1:
            goes_beside = self._panel.form == "table" or (self._panel.form == "bars" and self._has_one_unit)
            if goes_beside and len(self._labels) == 1:
                return [self._beside()]
        return [self._of_measure(measure) for measure in self._measures]

    @property
    def _labels(self) -> list[str]:
        return [""] if self._is_pooled else [point.label for point in self._points]

    @property
    def _has_one_unit(self) -> bool:
        return len({measure.unit for measure in self._measures}) == 1

    def _cell(self, measure: str, series: str, label: str) -> Estimate:
        return cell_of(self._results, measure, series, label)

    def _of_measure(self, measure: Measure) -> Panel:
        """A panel of one measure at all points."""
        labels, axis = self._labels, self._recipe.axis
        series = []
        for each in self._series:
            made = self._over(each, [(measure, label) for label in labels])
            if self._panel.form == "scatter":
                other = self._recipe.measures[self._panel.x]
                across = self._over(each, [(other, label) for label in labels])
                made = replace(made, x=across.means, x_halves=across.halves)
            series.append(made)
        numbers = [point.number for point in self._points]
        is_numeric = not self._is_pooled and bool(axis.unit) and all(number is not None for number in numbers)
        names = [_number_name(point.number) if is_numeric else point.label for point in self._points]
        x_text = f"{axis.label} ({axis.unit})" if axis.unit else axis.label
        if self._panel.form == "scatter":
            x_text = measure_text(self._recipe.measures[self._panel.x])
        elif self._panel.form in ("bars", "box") and len(names) == 1 and axis.label:
            # The tick labels name series here, so the label of the axis names the point.
            x_text = f"{axis.label}: {self._points[0].label}"
        return Panel(
            self._panel.form,
            self._panel.title,
            "" if self._is_pooled and self._panel.form != "scatter" else x_text,
            measure_text(measure),
            ("",) if self._is_pooled else tuple(names),
            np.array(numbers, dtype=np.float64) if is_numeric else np.empty(0),
            tuple(series),
            note=self._note([measure], labels),
            is_log_x=axis.is_log,
            is_log_y=self._panel.is_log,
            is_signed=measure.is_signed,
            x_is_signed=self._panel.form == "scatter" and self._recipe.measures[self._panel.x].is_signed,
        )

    def _beside(self) -> Panel:
        """A panel of several measures at a single point, as columns of a table or groups of bars."""
        label = self._labels[0]
        series = [self._over(each, [(measure, label) for measure in self._measures]) for each in self._series]
        is_table = self._panel.form == "table"
        names = [measure_text(measure) if is_table else measure.label for measure in self._measures]
        unit = self._measures[0].unit
        return Panel(
            self._panel.form,
            self._panel.title,
            "",
            "Mean ± half of the 95 % interval" if is_table else _together_text(self._measures, unit),
            tuple(names),
            np.empty(0),
            tuple(series),
            note=self._note(self._measures, [label]),
            is_log_y=self._panel.is_log,
            is_signed=any(measure.is_signed for measure in self._measures),
        )

    def _trace(self) -> Panel:
        """A panel with curves of individual runs."""
        panel, results = self._panel, self._results
        seeds = list(results.seeds)
        seed = panel.seed if panel.seed in seeds else seeds[0]
        # Unless the panel lists points, the trace shows the first point as an example.
        points = self._points if panel.points else self._points[:1]
        lines = []
        for each in self._series:
            for point in points:
                for number, measure in enumerate(self._measures):
                    course = results.trace(
                        measure.name,
                        each.name,
                        point.label,
                        seed,
                        window_s=panel.window_s,
                        is_running_mean=panel.is_running_mean,
                    )
                    if course is None:
                        continue
                    x, y = course
                    parts = [each.name] if len(self._series) > 1 else []
                    parts += [point.label] if len(points) > 1 else []
                    parts += [measure.label] if len(self._measures) > 1 else []
                    lines.append(
                        PanelSeries(
                            ", ".join(parts) or each.name,
                            self._line_colour(each.name, number),
                            self._shapes[each.name] if len(self._series) > 1 else number,
                            each.is_ours and len(self._measures) == 1,
                            shown_values(measure, y),
                            np.empty(0),
                            x=np.asarray(x, dtype=np.float64),
                        )
                    )
        units = {measure.unit for measure in self._measures}
        labels = list(dict.fromkeys(measure.label for measure in self._measures))
        label = labels[0] if len(labels) == 1 else _kind_text(self._measures[0])
        unit = f" ({units.pop()})" if len(units) == 1 and units != {""} else ""
        smoothing = f", mean of {panel.window_s:g} s" if panel.window_s else ", mean so far" * panel.is_running_mean
        area = None
        if panel.capacity and self._series:
            rates = _capacity(results, panel.capacity, self._series[0].name, points[0].label, seed)
            if rates is not None:
                capacity = shown_values(self._measures[0], rates[1])
                area = PanelSeries("capacity", ColourKey(TOTAL, 0), 0, False, capacity, np.empty(0), x=rates[0])
        return Panel(
            "trace",
            panel.title,
            _course_text(recipe_kind=results.recipe.kind, measure=self._measures[0]),
            f"{label}{smoothing}{unit}",
            (),
            np.empty(0),
            tuple(lines),
            note=f"One run, seed {seed}." if len(seeds) > 1 else "",
            is_log_y=panel.is_log,
            area=area,
        )

    def _line_colour(self, series: str, number: int) -> ColourKey:
        key = self._colours[series]
        if len(self._measures) == 1:
            return key
        if len(self._series) > 1:
            return ColourKey(key.hue, key.shade + number)
        # The panel shows only one series, so the colours distinguish the measures.
        return ColourKey(number % (len(HUES) - 1), 0)

    def _over(self, series: Series, places: Sequence[tuple[Measure, str]]) -> PanelSeries:
        """Values of a series at these measures and points."""
        found = [(measure, self._cell(measure.name, series.name, label)) for measure, label in places]
        return PanelSeries(
            series.name,
            self._colours[series.name],
            self._shapes[series.name],
            series.is_ours,
            np.array([shown_value(measure, cell.mean) for measure, cell in found]),
            np.array([shown_value(measure, cell.ci95) for measure, cell in found]),
            tuple(np.array([shown_value(measure, value) for value in cell.values]) for measure, cell in found),
            self._references(places, series.name),
        )

    def _references(self, places: Sequence[tuple[Measure, str]], series: str) -> tuple[Reference, ...]:
        """Published values of a series at these measures and points."""
        found = []
        known = published_values(self._results)
        overs = {each.published.over for each in known if each.is_implied}
        for number, (measure, label) in enumerate(places):
            for each in known:
                published = each.published
                place = (published.measure, published.series, published.point)
                if place == (measure.name, series, label) and math.isfinite(each.value):
                    baseline = self._colours[published.over] if each.is_implied and len(overs) > 1 else None
                    found.append(Reference(number, shown_value(measure, each.value), each.is_implied, baseline))
        return tuple(found)

    def _note(self, measures: Sequence[Measure], labels: Sequence[str]) -> str:
        """Note on series without measurements, and on the number of random draws."""
        missing = [
            each.name
            for each in self._series
            if not any(self._cell(m.name, each.name, label).n for m in measures for label in labels)
        ]
        lines = [f"Not measured: {', '.join(missing)}."] if missing else []
        if self._is_pooled:
            count = len(self._points)
            lines.append(f"Over {count} random draws." if count > 1 else "Of one random draw.")
        return " ".join(lines)


def shown_values(measure: Measure, values: FloatArray) -> FloatArray:
    """Convert SI values to the unit in which the measure is shown."""
    return np.asarray(values, dtype=np.float64) / UNITS.get(measure.unit, 1.0)


def _capacity(results: Results, links: str, series: str, point: str, seed: int) -> tuple[FloatArray, FloatArray] | None:
    from subflow_app.features.gallery.core.runs_kind import RunValues

    values = results.values
    # Only simulation runs have links.
    return values.capacity(links, series, point, seed) if isinstance(values, RunValues) else None


def _course_text(*, recipe_kind: str, measure: Measure) -> str:
    """Label of the x axis of a trace."""
    if recipe_kind == "training":
        return "Steps of the training"
    return "Monitor interval" if measure.kind.name.startswith("interval_") else "Time (s)"


def _kind_text(measure: Measure) -> str:
    return measure.kind.name.replace("_", " ").capitalize()


def _together_text(measures: Sequence[Measure], unit: str) -> str:
    """Label of the y axis for several measures with the same unit."""
    kinds = {measure.kind.name for measure in measures}
    kind = _kind_text(measures[0]) if len(kinds) == 1 else ""
    return " ".join(part for part in (kind, f"({unit})" if kind and unit else unit) if part)


def _implied_text(recipe: Recipe) -> str:
    overs = list(dict.fromkeys(each.over for each in recipe.published if each.improvement is not None))
    if len(overs) == 1:
        return f"paper: its improvement over our {overs[0]}"
    return "paper: its improvement over our baseline of that colour"


def _number_name(number: float | None) -> str:
    return "" if number is None else f"{number:g}"
