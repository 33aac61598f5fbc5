"""Parallel coordinates: an upright axis per parameter and figure, a line per point across all of them.

Source: Inselberg 1985, "The plane with parallel coordinates".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.sweeps.core.views.picture import hit_text, level_text
from subflow_app.features.sweeps.core.views.span import are_apart, shade, span_of
from subflow_app.features.sweeps.core.views.study import Parameter, Study, StudyFigure, short_key
from subflow_app.features.sweeps.core.views.view import PARALLEL, SweepView
from subflow_app.vocabulary.language import translatable

# More levels than these are told by round numbers, and roughly so many of them.
_MOST_LEVEL_TICKS = 12
_TICKS = 5


@dataclass(frozen=True, slots=True)
class ParallelAxis:
    """One axis.

    Attributes:
        key: of the parameter or figure.
        title: with the unit, in the language of the window.
        short: the same where there is little room.
        ticks: where something is written, 0 (bottom) to 1, and what.
        parameter: whose axis it is; None of a figure.
        figure: whose axis it is; None of a parameter.
    """

    key: str
    title: str
    short: str
    ticks: tuple[tuple[float, str], ...]
    parameter: Parameter | None = None
    figure: StudyFigure | None = None


class ParallelLines(Protocol):
    """What parallel coordinates are drawn from; the attributes are those of `ParallelContent`."""

    @property
    def axes(self) -> tuple[ParallelAxis, ...]:
        """From left to right."""

    @property
    def places(self) -> NDArray[np.float64]:
        """A line in a row: its place on each axis."""

    @property
    def shades(self) -> NDArray[np.float64]:
        """What colours the lines."""

    @property
    def colour_title(self) -> str:
        """What that is, with its unit."""

    @property
    def span(self) -> tuple[float, float]:
        """What the first and the last shade stand for."""

    def passing(self, brushes: Mapping[str, tuple[float, float]]) -> NDArray[np.bool_]:
        """Lines that go through all brushed stretches of axes (bottom and top, 0 to 1), bool [points]."""

    def words(self, point: int) -> str:
        """What is said about a line."""


@dataclass(frozen=True, slots=True, eq=False)
class ParallelContent:
    """What is shown.

    Attributes:
        study: the sweep.
        axes: from left to right.
        places: float64 [points, axes], 0 (bottom) to 1 (top); NaN where nothing is known.
        shades: float64 [points], 0 to 1: the figure that colours the lines.
        colour: that figure.
        span: its least and greatest mean, in its unit.
    """

    study: Study
    axes: tuple[ParallelAxis, ...]
    places: NDArray[np.float64]
    shades: NDArray[np.float64]
    colour: StudyFigure
    span: tuple[float, float]

    @property
    def colour_title(self) -> str:
        """The figure that colours the lines, with its unit."""
        return self.colour.axis_title

    def passing(self, brushes: Mapping[str, tuple[float, float]]) -> NDArray[np.bool_]:
        """Lines that go through all brushed stretches of axes (bottom and top, 0 to 1), bool [points]."""
        return passing_lines(self.axes, self.places, brushes)

    def words(self, point: int) -> str:
        """What is said about a line."""
        lines = []
        for axis in self.axes:
            if axis.parameter is not None:
                lines.append(level_text(axis.parameter, self.study.place(point, axis.key)))
            elif axis.figure is not None:
                found = self.study.mean([point], axis.key)
                lines.append(f"{axis.figure.name}: {axis.figure.interval_text(found)}")
        return hit_text(lines, self.study.points[point].distinct_runs)


def passing_lines(
    axes: Sequence[ParallelAxis], places: NDArray[np.float64], brushes: Mapping[str, tuple[float, float]]
) -> NDArray[np.bool_]:
    """Lines that go through all brushed stretches of axes (bottom and top, 0 to 1), bool [points]."""
    passes = np.ones(len(places), dtype=bool)
    for number, axis in enumerate(axes):
        if axis.key in brushes:
            low, high = sorted(brushes[axis.key])
            # What is unknown is nowhere, and so not within.
            passes &= (places[:, number] >= low) & (places[:, number] <= high)
    return passes


def parallel(study: Study, figures: Sequence[str], colour: str, order: Sequence[str] = ()) -> ParallelContent:
    """Axes of all parameters that vary and of these figures.

    Args:
        study: the sweep.
        figures: keys of the figures with an axis.
        colour: key of the figure that colours the lines.
        order: keys from left to right; those that are left out follow.

    Raises:
        KeyError: if there is no such figure.
    """
    axes: list[tuple[ParallelAxis, NDArray[np.float64]]] = []
    for parameter in study.parameters:
        if len(parameter.levels) > 1:
            axes.append(_of_parameter(study, parameter))
    axes += [_of_figure(study, study.figure(key)) for key in figures]
    rank = {key: number for number, key in enumerate(order)}
    axes.sort(key=lambda pair: rank.get(pair[0].key, len(rank)))
    shown = study.figure(colour)
    means = _means(study, shown)
    low, high = span_of(means)
    shades = np.array([shade(float(mean), low, high) for mean in means])
    places = np.column_stack([places for _axis, places in axes]) if axes else np.empty((len(study.points), 0))
    return ParallelContent(study, tuple(axis for axis, _places in axes), places, shades, shown, (low, high))


def _of_parameter(study: Study, parameter: Parameter) -> tuple[ParallelAxis, NDArray[np.float64]]:
    # Levels stand at equal distances, as they were asked for: 1, 10 and 100 kbit/s are told apart as well as names.
    many = len(parameter.levels) > _MOST_LEVEL_TICKS and parameter.is_numeric
    last = max(1, len(parameter.levels) - 1)
    if many:
        positions = [parameter.position(level) for level in range(len(parameter.levels))]
        low, high = positions[0], positions[-1]
        ticks = _number_ticks(low, high)
        where = [(position - low) / ((high - low) or 1.0) for position in positions]
    else:
        where = [level / last for level in range(len(parameter.levels))]
        ticks = tuple((place, level.text) for place, level in zip(where, parameter.levels, strict=True))
    places = np.array([where[study.place(point, parameter.key)] for point in range(len(study.points))], dtype=float)
    title = parameter.title if many else parameter.key
    short = title.replace(parameter.key, short_key(parameter.key, study))
    return ParallelAxis(parameter.key, title, short, ticks, parameter=parameter), places


def _of_figure(study: Study, figure: StudyFigure) -> tuple[ParallelAxis, NDArray[np.float64]]:
    means = _means(study, figure)
    low, high = span_of(means)
    places = (means - low) / (high - low)
    known = means[np.isfinite(means)]
    if len(known) and not are_apart(float(known.min()), float(known.max())):
        # All the same: its one value, and no scale of values that nothing has.
        ticks: tuple[tuple[float, str], ...] = ((0.5, figure.text(float(known[0]) / figure.scale, with_unit=False)),)
    else:
        ticks = _number_ticks(low, high)
    return ParallelAxis(figure.key, figure.axis_title, figure.axis_title, ticks, figure=figure), places


def _means(study: Study, figure: StudyFigure) -> NDArray[np.float64]:
    means = [study.mean([point], figure.key).mean for point in range(len(study.points))]
    return np.array(means, dtype=np.float64) * figure.scale


def _number_ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Round numbers along an axis, and its ends where they are round themselves."""
    step = _round_step((high - low) / _TICKS)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return tuple(((number * step - low) / (high - low), f"{number * step:.6g}") for number in range(first, last + 1))


def _round_step(raw: float) -> float:
    decade = 10.0 ** np.floor(np.log10(raw))
    return float(next(digit * decade for digit in (1, 2, 5, 10) if digit * decade >= raw * (1 - 1e-9)))


VIEW = SweepView(
    "parallel",
    translatable("Parallel"),
    translatable("Parallel coordinates of parameters and figures"),
    {"figure": translatable("C&olour"), "figures": translatable("Fi&gures")},
    lambda study, choice: parallel(study, choice.figures, choice.figure, choice.order),
    form=PARALLEL,
)
