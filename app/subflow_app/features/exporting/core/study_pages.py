"""Web pages of experiments and sweeps: results, figures, and runs that the page simulates.

The page of experiments shows the verdicts and the figure of each experiment, and simulates its runs when the reader
opens it. The page of a sweep shows figures over a parameter, and simulates the run of a chosen point.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from subflow_app.features.exporting.core.web_page import (
    both_colours,
    check_offered,
    packed_size,
    runs_page,
    stored_run_document,
    write_runs,
)
from subflow_app.features.gallery.core.exhibits import Exhibit, paper_order
from subflow_app.features.gallery.core.report import (
    CAUSES_TEXT,
    agents_paragraph,
    by_paper,
    command_of,
    figure_caption,
    figure_text,
    run_again_text,
)
from subflow_app.features.gallery.core.report_tables import agent_table, settled_mark, settlement_table, verdict_table
from subflow_app.features.paper.core.figures import render_figure
from subflow_app.features.sweeps.core.sweep_results import stored_table, text_table
from subflow_app.features.sweeps.core.views.choice import settled, show
from subflow_app.features.sweeps.core.views.study import SweepStudy, study_of
from subflow_app.features.sweeps.core.views.view import ViewChoice
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expected_errors import is_expected
from subflow_app.foundation.file_kinds import PAGE_SUFFIX
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.language import ENGLISH
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import TextTable, html_text, table_html

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.results import Results
    from subflow_app.features.paper.core.figure_plan import FigurePlan
    from subflow_app.vocabulary.picture import Panel
    from subflow_store import Store


PAGE_NAME = f"experiments{PAGE_SUFFIX}"
TITLE = "Experiments of the papers, reproduced"
MOST_BYTES = 1_500_000
"""Maximum number of packed bytes that the runs of an experiment add to the page, including traces and policies."""
EXPECTED_S = 0.4
"""Typical processor time of an experiment on the page, s: reading its results, and drawing its figure.

Source: `subflow reproduce --page`, 47 experiments in 17 s on one core of an x86-64 server.
"""
# Number of runs that are overlaid when an experiment is opened; the reader can add the others.
_MOST_SHOWN = 2
_PLAIN = " =:/,;()'!*+-.~$&@[]|"  # characters that need no escape in a quoted address
_NO_RUNS = {
    "training": "This experiment trains agents: no run of a network shows it.",
    "cost": "This experiment measures the cost of computing: no run of a network shows it.",
}


def write_gallery_page(
    exhibits: Mapping[Exhibit, Store | None], path: Path, *, on_written: Callable[[], object] = lambda: None
) -> Path:
    """Write the page of experiments; an existing file is replaced once the new file is complete.

    Args:
        exhibits: the experiments, each with the store of its runs.
        path: the file.
        on_written: called after each experiment.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if no run can be shown, or the program was built without the core for web pages.
        StoreError: if a database cannot be read.
    """
    return write_file(path, gallery_page(exhibits, on_written=on_written))


def gallery_page(
    exhibits: Mapping[Exhibit, Store | None],
    *,
    shared: str = "",
    render: Callable[[FigurePlan], bytes] = render_figure,
    on_written: Callable[[], object] = lambda: None,
) -> str:
    """The HTML text of the page of experiments.

    Args:
        exhibits: the experiments, each with the store of its runs.
        shared: address of the shared parts, see `page_of`; empty to include them in the page.
        render: draws a figure.
        on_written: called after each experiment.

    Raises:
        InputError: if no run can be shown, or the program was built without the core for web pages.
    """
    check_offered()
    runs: list[dict[str, Any]] = []
    policies: list[bytes] = []
    chapters, recorded, reasons = [], [], []
    ordered = paper_order(exhibits)
    for group, members in ordered.items():
        recorded.append(f"<h2>{html.escape(group.title)}</h2>")
        for exhibit in members:
            own, why_not = _runs(exhibit, exhibits[exhibit], policies)
            reasons += [f"{exhibit.name}: {why_not}"] if why_not else []
            numbers = list(range(len(runs), len(runs) + len(own)))
            runs += own
            figure = _figure(exhibit, render)
            chapter = _chapter(exhibit, why_not)
            recorded.append(_recorded(exhibit, chapter, figure))
            chapters.append({**chapter, "group": group.title, "runs": numbers, "shown": _MOST_SHOWN})
            on_written()
    if not runs:
        raise InputError(f"no page, as no run of these experiments can be shown: {'; '.join(reasons)}")
    known = by_paper([each.results for each in exhibits if each.results is not None])
    summary = {
        "title": "",
        "texts": [agents_paragraph(known), CAUSES_TEXT],
        "tables": [_table_document(agent_table(known)), _table_document(settlement_table(known))],
    }
    return runs_page(
        TITLE,
        runs,
        policies,
        "".join(recorded),
        shared=shared,
        language=ENGLISH,
        subject="",
        chapters=chapters,
        summary=summary,
    )


def _chapter(exhibit: Exhibit, why_not: str) -> dict[str, Any]:
    """Document of an experiment: title, texts and tables."""
    recipe, results = exhibit.recipe, exhibit.results
    if recipe is None:
        return {
            "id": exhibit.name,
            "title": exhibit.name,
            "mark": "",
            "texts": [exhibit.problem],
            "tables": [],
            "at": None,
        }
    heading, signs = figure_text(recipe.figure), Counter[str]()
    for way, number in exhibit.counts.items():
        signs[settled_mark(way)] += number
    texts = [
        f"The paper: {recipe.claim}",
        recipe.disagrees,
        "" if results is None else f"Run it again: {run_again_text(results)}",
        why_not,
    ]
    return {
        "id": exhibit.name,
        "title": f"{capitalised(heading)}: {recipe.title}",
        "mark": "  ".join(f"{sign} {number}" for sign, number in signs.items() if number),
        "texts": [" ".join(text.split()) for text in texts if text],
        "tables": [] if results is None else [_table_document(verdict_table(results))],
        "at": None,
    }


def _runs(exhibit: Exhibit, store: Store | None, policies: list[bytes]) -> tuple[list[dict[str, Any]], str]:
    """Documents of one run per series, and the reason if they are missing; adds policies of runs to ``policies``."""
    recipe, results = exhibit.recipe, exhibit.results
    if recipe is None or results is None or store is None:
        command = f"subflow reproduce {exhibit.name}" if recipe is None else command_of(recipe)
        return [], f"This experiment was not run here: `{command}` runs it."
    if recipe.kind in _NO_RUNS:
        return [], _NO_RUNS[recipe.kind]
    known, made = list(policies), []
    try:
        for name, run_id in _run_ids(results).items():
            made.append({**stored_run_document(store, run_id, known), "name": name})
    except Exception as error:
        if not is_expected(error):
            raise
        return [], str(error)
    size = packed_size(made, known[len(policies) :])
    if size > MOST_BYTES:
        most = f"the page takes at most {MOST_BYTES / 1e6:g} MB of each"
        return [], f"The runs of this experiment take {size / 1e6:.1f} MB; {most}."
    policies[:] = known
    return made, ""


def _run_ids(results: Results) -> dict[str, int]:
    """The first run of each series, by name of the series; series that the paper proposes come first."""
    from subflow_app.features.gallery.core.runs_kind import RunValues

    values, found = results.values, {}
    assert isinstance(values, RunValues)
    ours = {series.name for series in results.recipe.series.values() if series.is_ours}
    for series in sorted(results.series, key=lambda name: name not in ours):
        for seed, point in product(results.seeds, results.points):
            run = values.run(series, point, seed)
            if run is not None:
                found[f"{series}, {point}" if point else series] = run.run_id
                break
    return found


def _figure(exhibit: Exhibit, render: Callable[[FigurePlan], bytes]) -> str:
    """The figure as an image, with an id for the script of the page; empty if the figure is missing."""
    if exhibit.figure is None or exhibit.results is None:
        return ""
    # Text elements take a third of the space that outlines take.
    style = replace(exhibit.figure.style, text_in_svg=True)
    drawn = render(replace(exhibit.figure, kind="svg", style=style)).decode()
    source = html.escape(f"data:image/svg+xml,{quote(drawn[drawn.index('<svg') :], safe=_PLAIN)}")
    caption = html.escape(figure_caption(exhibit.results, exhibit.figure))
    return f'<img class="figure" loading="lazy" id="figure-{html.escape(exhibit.name)}" alt="{caption}" src="{source}">'


def _recorded(exhibit: Exhibit, chapter: Mapping[str, Any], figure: str) -> str:
    """HTML of an experiment for browsers that cannot run the simulator."""
    texts = "".join(f"<p>{html.escape(text)}</p>" for text in chapter["texts"])
    verdicts = "" if exhibit.results is None else table_html(verdict_table(exhibit.results))
    return f"<h3>{html.escape(chapter['title'])}</h3>{texts}{figure}{verdicts}"


def _table_document(table: TextTable) -> dict[str, Any]:
    """A table in the form that the script of the page expects."""
    return {"caption": table.title, "heads": [column.title for column in table.columns], "rows": list(table.rows)}


MOST_POINTS = 200
"""Maximum number of points, which limits the page to a few hundred kilobytes and keeps its menu readable."""


def write_sweep_page(store: Store, sweep_id: int, path: Path) -> Path:
    """Write the page of a sweep, with the run of the first seed at each point.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the sweep has no run or too many points, or for the reasons of `write_page`.
        StoreError: if the sweep does not exist or the database cannot be read.
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
    subject = f"sweep of {', '.join(table.keys)}" if table.keys else "sweep"
    return write_runs(path, table.name, runs, policies, recorded, subject=subject, sweep=sweep)


def _pictures(study: SweepStudy, numbers: Mapping[int, int]) -> dict[str, Any]:
    """The figures over the parameter that the window would show by default.

    Args:
        study: the sweep.
        numbers: index of each point in the page, by its index in the sweep.
    """
    choice = settled(ViewChoice("lines"), study)
    figures: list[dict[str, Any]] = []
    axis: dict[str, Any] = {}
    for key in choice.figures:
        shown = show(replace(choice, figure=key), study)
        panel: Panel = shown.content.panel
        hits = iter(shown.content.hits)
        lines = []
        for series in panel.series:
            points = []
            lows = np.fmin(panel.ends(series)[0], series.means)
            columns = (series.x if len(series.x) else panel.positions, series.means, series.halves, lows)
            for x, y, half, low in zip(*(column.tolist() for column in columns), strict=True):
                if math.isnan(y):
                    continue
                hit = next(hits)
                point = next((numbers[each] for each in hit.points if each in numbers), None)
                if point is not None:
                    told = {"x": x, "y": y, "half": half if math.isfinite(half) else None, "low": low, "point": point}
                    points.append({**told, "text": hit.text.replace("\n", ", ")})
            lines.append({"label": series.name, "colour": both_colours(series.colour), "points": points})
        figures.append({"title": panel.y_text, "least": panel.least, "lines": lines, "note": shown.note})
        names = [name for _, name in panel.x_ticks]
        axis = {"title": panel.x_text, "names": names or None, "is_log": panel.is_log_x}
    return {"figures": figures, "x": axis}
