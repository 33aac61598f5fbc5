"""How much of an experiment there is: which of its runs have come to something, and where they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.results import Results


def n_wanted(results: Results) -> int:
    """How many runs the experiment has: each series at each point with each seed."""
    return len(results.series) * len(results.points) * len(results.seeds)


def n_finished(results: Results) -> int:
    """How many of them have measured anything."""
    return sum(
        max((results.cell(measure, series, point).n for measure in results.recipe.measures), default=0)
        for series in results.series
        for point in results.points
    )


def is_complete(results: Results) -> bool:
    """Whether all of them have."""
    return n_finished(results) >= n_wanted(results)


def problems(results: Results) -> dict[str, str]:
    """Why values are missing, by series, or by series and point where the points of a series differ."""
    found: dict[str, str] = {}
    for series in results.series:
        by_point = {point: results.problem(series, point) for point in results.points}
        told = {text for text in by_point.values() if text}
        if len(told) == 1 and all(by_point.values()):
            found[series] = told.pop()
        else:
            found |= {f"{series} at {point}": text for point, text in by_point.items() if text}
    return found
