"""Parameters with more values than a picture has room for, as random sweeps have them, in classes of equal width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from subflow_app.features.sweeps.core.views.study import Level, Parameter, Study, StudyPoint

MOST_LEVELS = 24
"""Values that maps, boxes and lines tell apart; more are put into classes."""

_CLASSES = 8


def in_classes(study: Study, *keys: str) -> tuple[Study, tuple[str, ...]]:
    """The sweep with numbers in classes where there are too many of them.

    Args:
        study: the sweep.
        keys: of the parameters that a picture has axes for.

    Returns:
        The sweep, and the keys of parameters that are in classes now.
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
    return Study(study.name, parameters, study.figures, points), tuple(changed)


def _classes(parameter: Parameter) -> tuple[Parameter, list[int]]:
    """The parameter with a level per class that has values, and the class of each level that it had."""
    numbers = np.array([level.number for level in parameter.levels])
    # Values over more than two decades were drawn, or listed, by their ratio.
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
