"""Descriptions of views of a sweep: their choices, their form, and their pictures without a drawing library.

A view declares its choices, the contents that it shows of them, and the form in which it is drawn. A picture is axes,
marks, and what can be pointed at; all values are in the units of the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.sweeps.core.views.study import Parameter, Study
from subflow_app.vocabulary.language import tr, trn

Form = Literal["plot", "map", "table"]
PLOT: Final = "plot"
MAP: Final = "map"
TABLE: Final = "table"

PARAMETERS = ("x", "y", "series")
"""Fields that are parameters which have a place in the picture."""


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """What is looked at.

    Attributes:
        view: key of VIEWS.
        figure: what colours, boxes and lines tell; of a scatter that up the plot.
        other: of a scatter, the figure along the plot.
        figures: with a column in the table.
        x: parameter along the plot.
        y: parameter up the map; empty: none.
        series: parameter that tells lines, boxes and marks apart; empty: none, None: whichever suits.
        fixed: level of each parameter that is held; those left out are averaged over.
    """

    view: str = "table"
    figure: str = ""
    other: str = ""
    figures: tuple[str, ...] = ()
    x: str = ""
    y: str | None = None
    series: str | None = None
    fixed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SweepView:
    """A view.

    Attributes:
        key: names it in code.
        title: of its tab, English.
        words: what it is to those who do not see it, English.
        fields: what it can be told, fields of :class:`ViewChoice`, by what they are called in it, English; in the order
            in which they are asked.
        content: what it shows of a sweep: a `Picture` if it is a plot or a map. The choice is settled.
        form: how that is drawn.
        is_mean_of_held: whether parameters without a place are averaged over, where they are not held.
    """

    key: str
    title: str
    words: str
    fields: Mapping[str, str]
    content: Callable[[Study, ViewChoice], Any]
    form: Form = PLOT
    is_mean_of_held: bool = True

    def places(self, choice: ViewChoice) -> list[str]:
        """Keys of the parameters that have a place in the picture."""
        return [key for name in PARAMETERS if name in self.fields and (key := getattr(choice, name))]

    @property
    def holds(self) -> bool:
        """Whether parameters without a place can be held."""
        return any(name in self.fields for name in PARAMETERS)


def averaged_over(study: Study, places: Sequence[str], fixed: Mapping[str, int] | None) -> list[str]:
    """Keys of the parameters that have neither a place nor a level that they are held at."""
    return [p.key for p in study.parameters if p.key not in (*places, *(fixed or {})) and len(p.levels) > 1]


def averaged_note(study: Study, places: Sequence[str], fixed: Mapping[str, int] | None) -> str:
    """That means are over several values of other parameters; empty if they are not."""
    averaged = ", ".join(averaged_over(study, places, fixed))
    return tr("Averaged over {keys}, so no interval is shown.", keys=averaged) if averaged else ""


FloatArray = NDArray[np.float64]
NOTHING: FloatArray = np.empty(0)


@dataclass(frozen=True, slots=True)
class Hit:
    """Something in a picture that can be pointed at.

    Attributes:
        x: where it stands, in the coordinates of the axes.
        y: likewise.
        text: what is said about it.
        points: of the sweep that it stands for.
        run_ids: a single run of them; empty: all of theirs.
    """

    x: float
    y: float
    text: str
    points: tuple[int, ...]
    run_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureAxis:
    """An axis.

    Attributes:
        title: with the unit, in the language of the window.
        names: of the places 0, 1, 2 ...; empty: it has numbers.
        names_can_be_cut: whether a part of one says something still.
        is_log: whether it is logarithmic.
        is_reversed: whether values grow to the left, or downwards.
        least: what it reaches over at least, so that what hardly differs does not look far apart.
        is_signed: whether values may be negative; intervals of others are drawn from zero on.
    """

    title: str
    names: tuple[str, ...] = ()
    names_can_be_cut: bool = False
    is_log: bool = False
    is_reversed: bool = False
    least: float = 0.0
    is_signed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Marks of a series, with its line or without.

    Attributes:
        series: level of the parameter that tells series apart; 0 if there is none.
        x: float64 [n].
        y: float64 [n].
        y_halves: float64 [n], half widths of the intervals up the picture; NaN where there is none.
        x_halves: float64 [n], along the picture; empty: the marks are joined by a line, and their intervals are a band.
    """

    series: int
    x: FloatArray
    y: FloatArray
    y_halves: FloatArray
    x_halves: FloatArray = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Box:
    """A box with whiskers.

    Attributes:
        series: level of the parameter that tells boxes beside each other apart; 0 if there is none.
        middle: of it, along the picture.
        width: of it.
        low: where the lower whisker ends.
        q1: lower quartile.
        median: of the values.
        q3: upper quartile.
        high: where the upper whisker ends.
        dots: the single runs that are drawn: where, and whether beyond the whiskers.
    """

    series: int
    middle: float
    width: float
    low: float
    q1: float
    median: float
    q3: float
    high: float
    dots: tuple[tuple[float, float, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Coloured cells at whole numbers.

    Attributes:
        values: float64 [rows, columns]; NaN where nothing is known.
        span: what the colours reach over, never twice the same.
        title: of the colours, with the unit.
        texts: of each cell, by row.
    """

    values: FloatArray
    span: tuple[float, float]
    title: str
    texts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A view with two axes.

    Attributes:
        x: along the picture.
        y: up the picture.
        hits: what can be pointed at, in the order of the keys.
        series: tells marks or boxes apart; None if there is one of them.
        marks: of each series.
        boxes: of all series.
        cells: of a map.
        has_better_corner: whether better is known to be right and up.
        note: what has to be known to read it; empty if nothing has.
    """

    x: PictureAxis
    y: PictureAxis
    hits: tuple[Hit, ...]
    series: Parameter | None = None
    marks: tuple[Marks, ...] = ()
    boxes: tuple[Box, ...] = ()
    cells: Cells | None = None
    has_better_corner: bool = False
    note: str = ""

    @property
    def used_series(self) -> list[int]:
        """Levels of the series that are drawn."""
        return sorted({marks.series for marks in self.marks} | {box.series for box in self.boxes})


def names_axis(parameter: Parameter) -> PictureAxis:
    """An axis with a place for each level of a parameter."""
    names = tuple(level.text for level in parameter.levels)
    # A part of a word says something still, that of a number does not.
    return PictureAxis(parameter.key, names, not parameter.is_numeric)


def hit_text(parts: Iterable[str], runs: int) -> str:
    """What is said about something that stands for so many runs, a line for each part; empty parts are left out."""
    return "\n".join([*filter(None, parts), trn("{count} run", "{count} runs", runs)])


def level_text(parameter: Parameter | None, level: int) -> str:
    """A parameter with one of its values; empty for none."""
    return "" if parameter is None else f"{parameter.key}: {parameter.levels[level].text}"
