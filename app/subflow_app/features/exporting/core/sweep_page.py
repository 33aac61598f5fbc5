"""A sweep as a web page: its figures over a parameter, and the run of each point, simulated when chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_app.features.exporting.core.web_page import both_colours, check_offered, stored_run_document, write_runs
from subflow_app.features.sweeps.core.sweep_results import stored_table, text_table
from subflow_app.features.sweeps.core.views.choice import settled, show
from subflow_app.features.sweeps.core.views.study import study_of
from subflow_app.features.sweeps.core.views.view import ViewChoice
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import interval_ends
from subflow_app.vocabulary.tables import html_text, table_html

if TYPE_CHECKING:
    from subflow_app.features.sweeps.core.views.study import Study
    from subflow_app.features.sweeps.core.views.view import Picture
    from subflow_store import Store

MOST_POINTS = 200
"""As a page of some hundred kilobytes holds them, and a menu shows them."""


def write_sweep_page(store: Store, sweep_id: int, path: Path) -> Path:
    """Write the page of a sweep: of each point that has a run, that of the first seed.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the sweep has no run or too many points, or as `write_page` has it.
        StoreError: if there is no such sweep or the database cannot be read.
    """
    check_offered()
    table = stored_table(store, sweep_id)
    first = {
        place: next((run_id for run_id in row.run_ids if run_id is not None), None)
        for place, row in enumerate(table.rows)
    }
    run_ids = {place: run_id for place, run_id in first.items() if run_id is not None}
    if not run_ids:
        raise InputError(f"sweep {sweep_id} has no finished run yet: `subflow sweeps resume {sweep_id}` makes them")
    if len(run_ids) > MOST_POINTS:
        raise InputError(f"sweep {sweep_id} has runs at {len(run_ids)} points: a page holds at most {MOST_POINTS}")
    policies: list[bytes] = []
    runs = [stored_run_document(store, run_id, policies) for run_id in run_ids.values()]
    points = []
    for number, place in enumerate(run_ids):
        pairs = zip(table.keys, table.rows[place].values, strict=True)
        label = ", ".join(f"{key} = {value.text}" for key, value in pairs if value.text)
        points.append({"label": label or table.name, "run": number})
    numbers = {place: number for number, place in enumerate(run_ids)}
    sweep = {**_pictures(study_of(table), numbers), "points": points}
    recorded = table_html(text_table(table)) + (f"<p>{html_text(table.note)}</p>" if table.note else "")
    return write_runs(path, table.name, runs, policies, recorded, sweep=sweep)


def _pictures(study: Study, numbers: Mapping[int, int]) -> dict[str, Any]:
    """The figures over the parameter that the window chooses, too.

    Args:
        study: the sweep.
        numbers: of the points of the page, by those of the sweep.
    """
    choice = settled(ViewChoice("lines"), study)
    figures: list[dict[str, Any]] = []
    axis: dict[str, Any] = {}
    for key in choice.figures:
        shown = show(replace(choice, figure=key), study)
        picture: Picture = shown.content
        hits = iter(picture.hits)
        lines = []
        for marks in picture.marks:
            levels = picture.series.levels if picture.series else ()
            points = []
            lows, _ = interval_ends(marks.y, np.nan_to_num(marks.y_halves), is_signed=picture.y.is_signed)
            columns = (marks.x, marks.y, marks.y_halves, lows)
            for x, y, half, low in zip(*(column.tolist() for column in columns), strict=True):
                hit = next(hits)
                point = next((numbers[each] for each in hit.points if each in numbers), None)
                if point is not None:
                    told = {"x": x, "y": y, "half": half if math.isfinite(half) else None, "low": low, "point": point}
                    points.append({**told, "text": hit.text.replace("\n", ", ")})
            label = levels[marks.series].text if levels else ""
            lines.append({"label": label, "colour": both_colours(ColourKey(marks.series, 0)), "points": points})
        figures.append({"title": picture.y.title, "least": picture.y.least, "lines": lines, "note": shown.note})
        axis = {"title": picture.x.title, "names": list(picture.x.names) or None, "is_log": picture.x.is_log}
    return {"figures": figures, "x": axis}
