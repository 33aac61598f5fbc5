"""Descriptions of views of a sweep: their choices and their pictures without a drawing library.

A view declares its choices and the contents that it shows of them: a table, or a picture and what can be pointed at in
it. All values are in the units of the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from subflow_app.features.sweeps.core.views.study import Parameter, SweepStudy
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import FloatArray, Hit, Panel, PanelSeries

NOTHING: FloatArray = np.empty(0)

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
        content: what it shows of a sweep: a `Picture`, or the content of a table. The choice is settled.
        is_mean_of_held: whether parameters without a place are averaged over, where they are not held.
    """

    key: str
    title: str
    words: str
    fields: Mapping[str, str]
    content: Callable[[SweepStudy, ViewChoice], Any]
    is_mean_of_held: bool = True

    def places(self, choice: ViewChoice) -> list[str]:
        """Keys of the parameters that have a place in the picture."""
        return [key for name in PARAMETERS if name in self.fields and (key := getattr(choice, name))]

    @property
    def holds(self) -> bool:
        """Whether parameters without a place can be held."""
        return any(name in self.fields for name in PARAMETERS)


def averaged_over(study: SweepStudy, places: Sequence[str], fixed: Mapping[str, int] | None) -> list[str]:
    """Keys of the parameters that have neither a place nor a level that they are held at."""
    return [p.key for p in study.parameters if p.key not in (*places, *(fixed or {})) and len(p.levels) > 1]


def averaged_note(study: SweepStudy, places: Sequence[str], fixed: Mapping[str, int] | None) -> str:
    """That means are over several values of other parameters; empty if they are not."""
    averaged = ", ".join(averaged_over(study, places, fixed))
    return tr("Averaged over {keys}, so no interval is shown.", keys=averaged) if averaged else ""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A view with two axes.

    Attributes:
        panel: what is drawn.
        hits: what can be pointed at, in the order of the keys.
    """

    panel: Panel
    hits: tuple[Hit, ...]

    @property
    def note(self) -> str:
        """Facts that a reader needs; may be empty."""
        return self.panel.note


def level_names(parameter: Parameter) -> tuple[str, ...]:
    """The values of a parameter as they are written."""
    return tuple(level.text for level in parameter.levels)


def series_of(parameter: Parameter | None, level: int, means: FloatArray, **more: Any) -> PanelSeries:
    """A series for a level of the parameter by which series differ; None: the only one."""
    name = "" if parameter is None else parameter.levels[level].text
    halves = more.pop("halves", NOTHING)
    return PanelSeries(name, ColourKey(level, 0), level, False, means, halves, **more)


def hit_text(parts: Iterable[str], runs: int) -> str:
    """What is said about something that stands for so many runs, a line for each part; empty parts are left out."""
    return "\n".join([*filter(None, parts), trn("{count} run", "{count} runs", runs)])


def level_text(parameter: Parameter | None, level: int) -> str:
    """A parameter with one of its values; empty for none."""
    return "" if parameter is None else f"{parameter.key}: {parameter.levels[level].text}"
