"""Descriptions of the views of a sweep, with their choices and pictures, independent of the drawing library.

A view declares its choices and computes its contents from them: a table, or a picture with the places that have
tooltips. All values are in the units of the axes.
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
"""Fields of `ViewChoice` for parameters that are part of the picture."""


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """Choices of a view.

    Attributes:
        view: key of VIEWS.
        figure: figure shown by colours, boxes and lines; in a scatter plot, the figure on the vertical axis.
        other: in a scatter plot, the figure on the horizontal axis.
        figures: figures in the columns of the table.
        x: parameter on the horizontal axis.
        y: parameter on the vertical axis of the map; empty for no parameter, None to choose it automatically.
        series: parameter that distinguishes lines, boxes and marks; empty and None as for `y`.
        fixed: level of each fixed parameter; other parameters that are not in the picture are averaged over.
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
    """A kind of view.

    Attributes:
        key: identifies the view in code.
        title: title of its tab, in English.
        words: description for people who cannot see the view, in English.
        fields: English labels of its choices, by field of :class:`ViewChoice`, in the order of the form.
        content: computes the contents for a study and a complete choice: a `Picture`, or the content of a table.
        is_mean_of_held: whether the view averages over parameters that are neither in the picture nor fixed.
    """

    key: str
    title: str
    words: str
    fields: Mapping[str, str]
    content: Callable[[SweepStudy, ViewChoice], Any]
    is_mean_of_held: bool = True

    def places(self, choice: ViewChoice) -> list[str]:
        """Keys of the parameters that are part of the picture."""
        return [key for name in PARAMETERS if name in self.fields and (key := getattr(choice, name))]

    @property
    def holds(self) -> bool:
        """True if parameters that are not part of the picture can be fixed."""
        return any(name in self.fields for name in PARAMETERS)


def averaged_over(study: SweepStudy, places: Sequence[str], fixed: Mapping[str, int] | None) -> list[str]:
    """Keys of the parameters with several values that are neither in the picture nor fixed."""
    return [p.key for p in study.parameters if p.key not in (*places, *(fixed or {})) and len(p.levels) > 1]


def averaged_note(study: SweepStudy, places: Sequence[str], fixed: Mapping[str, int] | None) -> str:
    """A note about the parameters that means average over; empty if each mean describes one point."""
    averaged = ", ".join(averaged_over(study, places, fixed))
    return tr("Averaged over {keys}, so no interval is shown.", keys=averaged) if averaged else ""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A view with two axes.

    Attributes:
        panel: panel to draw.
        hits: places with tooltips.
    """

    panel: Panel
    hits: tuple[Hit, ...]

    @property
    def note(self) -> str:
        """Remark about the picture, e.g. about parameters that it averages over; may be empty."""
        return self.panel.note


def level_names(parameter: Parameter) -> tuple[str, ...]:
    """The values of a parameter in their original notation."""
    return tuple(level.text for level in parameter.levels)


def series_of(parameter: Parameter | None, level: int, means: FloatArray, **more: Any) -> PanelSeries:
    """The series for a level of the parameter that distinguishes series; if that is None, the only series."""
    name = "" if parameter is None else parameter.levels[level].text
    halves = more.pop("halves", NOTHING)
    return PanelSeries(name, ColourKey(level, 0), level, False, means, halves, **more)


def hit_text(parts: Iterable[str], runs: int) -> str:
    """Tooltip with a line for each part that is not empty, and a line with the number of runs."""
    return "\n".join([*filter(None, parts), trn("{count} run", "{count} runs", runs)])


def level_text(parameter: Parameter | None, level: int) -> str:
    """A parameter and one of its values as text; empty if the parameter is None."""
    return "" if parameter is None else f"{parameter.key}: {parameter.levels[level].text}"
