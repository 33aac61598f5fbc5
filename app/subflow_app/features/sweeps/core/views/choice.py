"""The chosen view of a sweep and its contents. Missing or impossible choices are replaced by suitable ones.

If a parameter has too many values for a picture, as in random sweeps, they are divided into classes of equal width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from subflow_app.features.sweeps.core.sweep_results import flow_figures, shown_figures
from subflow_app.features.sweeps.core.views import pictures
from subflow_app.features.sweeps.core.views.study import Level, Parameter, StudyPoint, SweepStudy
from subflow_app.features.sweeps.core.views.view import SweepView, ViewChoice
from subflow_app.vocabulary.language import tr

MOST_LEVELS = 24
"""Maximum number of values of a parameter in a picture. If it has more values, they are divided into classes."""

_CLASSES = 8


def in_classes(study: SweepStudy, *keys: str) -> tuple[SweepStudy, tuple[str, ...]]:
    """Divide the values of numeric parameters into classes if a parameter has too many values.

    Args:
        study: the sweep.
        keys: keys of the parameters in the picture; other parameters are not divided into classes.

    Returns:
        The sweep with classes as levels, and the keys of the parameters that were divided into classes.
    """
    changed = {
        parameter.key: _classes(parameter)
        for parameter in study.parameters
        if parameter.key in keys and parameter.is_numeric and len(parameter.levels) > MOST_LEVELS
    }
    if not changed:
        return study, ()
    parameters = tuple(changed[p.key][0] if p.key in changed else p for p in study.parameters)
    ranks = [changed[p.key][1] if p.key in changed else None for p in study.parameters]
    points = tuple(
        StudyPoint(
            tuple(place if rank is None else rank[place] for place, rank in zip(point.places, ranks, strict=True)),
            point.runs,
        )
        for point in study.points
    )
    return SweepStudy(study.name, parameters, study.figures, points), tuple(changed)


def _classes(parameter: Parameter) -> tuple[Parameter, list[int]]:
    """Divide a parameter into classes.

    Returns:
        The parameter with a level for each class that is not empty, and for each original level the index of its class.
    """
    numbers = np.array([level.number for level in parameter.levels])
    # If the values span two decades or more, their distribution is probably logarithmic.
    is_log = bool(numbers[0] > 0 and numbers[-1] >= 100 * numbers[0])
    scaled = np.log10(numbers) if is_log else numbers
    edges = np.linspace(scaled[0], scaled[-1], _CLASSES + 1)
    found = np.clip(np.searchsorted(edges, scaled, side="right") - 1, 0, _CLASSES - 1)
    used = sorted(set(found.tolist()))
    levels = []
    for number in used:
        low, high = (10.0 ** edges[number : number + 2] if is_log else edges[number : number + 2]) * parameter.scale
        middle = float(np.median(numbers[found == number]))
        levels.append(Level(f"{low:.3g}–{high:.3g} {parameter.unit}".rstrip(), middle))
    ranks = {number: rank for rank, number in enumerate(used)}
    return replace(parameter, levels=tuple(levels)), [ranks[number] for number in found.tolist()]


VIEWS: Mapping[str, SweepView] = {
    view.key: view
    for view in (
        pictures.TABLE_VIEW,
        pictures.HEAT_MAP,
        pictures.LINES,
        pictures.BOXES,
        pictures.SCATTER,
    )
}


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A view with its contents.

    Attributes:
        choice: the choice, completed with defaults.
        study: the sweep, in which parameters with too many values are divided into classes.
        content: content of the view; None if the sweep has no results.
        note: remark about the content, e.g. about parameters in classes; may be empty.
    """

    choice: ViewChoice
    study: SweepStudy
    content: Any
    note: str = ""


def varying(study: SweepStudy) -> list[str]:
    """Keys of the parameters with more than one value; all keys if each parameter has only one value."""
    found = [parameter.key for parameter in study.parameters if len(parameter.levels) > 1]
    return found or [parameter.key for parameter in study.parameters]


def flow_in_question(study: SweepStudy) -> str:
    """Name of the only flow whose parameters vary; empty if several flows vary or the scenario has no other flows.

    By default, the views show figures of this flow, because the total over a saturated link hardly changes.
    """
    varied = {key.split(".")[1] for key in varying(study) if key.startswith("flows.") and key.count(".") > 1}
    flows = {figure.owner for figure in study.figures if figure.key.startswith("flows.")}
    return next(iter(varied)) if len(varied) == 1 and varied < flows else ""


def settled(choice: ViewChoice, study: SweepStudy) -> ViewChoice:
    """Complete a choice with defaults, and replace parameters and figures that the sweep does not have."""
    keys, figures = varying(study), [figure.key for figure in study.figures]
    flow = flow_in_question(study)
    own, of_run = flow_figures(flow, figures) if flow else [], shown_figures(figures)
    rates = [key for key in own if not key.endswith(("rtt_s", "loss_ratio"))]
    usual = (*rates, *of_run) or tuple(figures[:4])
    # If some runs lack the completion time, e.g. because a transfer is incomplete, a rate is the default.
    figure = (
        choice.figure if choice.figure in figures else next(filter(study.is_complete, usual), next(iter(usual), ""))
    )
    delays = [key for key in (*own, *of_run) if key.endswith("rtt_s")]
    other = choice.other if choice.other in figures else study.default_figure(*delays)
    chosen = tuple(key for key in figures if key in choice.figures) or usual
    series = choice.series
    if series is None or (series and series not in keys):
        default = study.default_series()
        series = default if default in keys else ""
    x = choice.x if choice.x in keys else ""
    if not x:
        # A numeric parameter suits the horizontal axis, and the parameter that distinguishes the lines cannot be on it.
        free = [key for key in keys if key != series] or keys
        numbers = [key for key in free if study.parameter(key).is_numeric]
        x = next(iter([*numbers, *free]), "")
    y = choice.y
    if y is None or y == x or (y and y not in keys):
        y = next((key for key in sorted(keys, key=lambda key: key != series) if key != x), "")
    fixed = {
        key: level for key, level in choice.fixed.items() if key in keys and level < len(study.parameter(key).levels)
    }
    view = choice.view if choice.view in VIEWS else pictures.TABLE_VIEW.key
    return replace(choice, view=view, figure=figure, other=other, figures=chosen, series=series, x=x, y=y, fixed=fixed)


def held_parameters(choice: ViewChoice, study: SweepStudy) -> list[str]:
    """Keys of varying parameters that are not in the picture, and therefore have to be fixed or averaged over.

    Parameters with more than `MOST_LEVELS` values are not included.
    """
    view = VIEWS[choice.view]
    if not view.holds:
        return []
    used = view.places(choice)
    return [key for key in varying(study) if key not in used and 1 < len(study.parameter(key).levels) <= MOST_LEVELS]


def show(choice: ViewChoice, study: SweepStudy) -> Shown:
    """Compute the view with its contents. Call it in a worker thread, because large sweeps take time."""
    choice = settled(choice, study)
    if not study.figures or not study.parameters:
        return Shown(choice, study, None)
    view = VIEWS[choice.view]
    study, classed = in_classes(study, *view.places(choice))
    held = {key: level for key, level in choice.fixed.items() if key in held_parameters(choice, study)}
    content = view.content(study, replace(choice, fixed=held))
    notes = [getattr(content, "note", "")]
    notes.append(study.note)
    if classed:
        notes.append(tr("Values of {keys} are grouped into classes.", keys=", ".join(classed)))
    return Shown(choice, study, content, " ".join(filter(None, notes)))
