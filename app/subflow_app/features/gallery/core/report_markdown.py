"""The results as pages of the documentation: Markdown, with a figure as SVG for each experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core.figure import FIGURE_STYLE, experiment_figure
from subflow_app.features.gallery.core.recipe import SOURCES
from subflow_app.features.gallery.core.report import (
    CAUSES_TEXT,
    by_paper,
    count_text,
    figure_caption,
    figure_text,
    run_again_text,
)
from subflow_app.features.gallery.core.report_tables import (
    count_table,
    published_table,
    settlement_table,
    trial_table,
    verdict_table,
)
from subflow_app.features.paper.core.panel_figure import render_panels
from subflow_app.features.paper.core.panel_plan import PanelFigure
from subflow_app.foundation.files import made_folder, write_file
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import TextTable

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.results import Results

PAGE_FILE = "report.md"
FIGURES_FOLDER = "figures"
# Text stays text: a third of the size, and documentation is read where fonts are.
_STYLE = replace(FIGURE_STYLE, text_in_svg=True)


def write_pages(
    every: Sequence[Results], folder: Path, *, render: Callable[[PanelFigure], bytes] = render_panels
) -> list[Path]:
    """Write one Markdown page on these experiments, and their figures into a folder beside it.

    Returns:
        The files, the page first.

    Raises:
        ExportError: if a file cannot be written.
        StoreError: if traces cannot be read.
    """
    made_folder(folder / FIGURES_FOLDER)
    lines, files = ["# The papers, reproduced", ""], []
    ordered = by_paper(every)
    lengths = {results.is_quick for results in every}
    length = "Quick runs" if lengths == {True} else "Full runs" if lengths == {False} else "Quick and full runs"
    lines += [
        f"{length} of {count_text(len(every))}, made by `subflow reproduce`. A check with a band requires our "
        "number lies in it; other checks are claims that hold or fail.",
        "",
        *_table(count_table(ordered)),
        CAUSES_TEXT,
        "",
        *_table(settlement_table(ordered)),
    ]
    for paper, members in ordered.items():
        lines += [f"## {SOURCES[paper]}", ""]
        for results in members:
            recipe = results.recipe
            title = figure_text(recipe.figure)
            lines += [f"### {capitalised(title)}: {_plain(recipe.title)}", ""]
            lines += [f"The paper: {_plain(recipe.claim)}", ""]
            figure = experiment_figure(results, style=_STYLE)
            if any(panel.has_values for panel in figure.panels):
                path = folder / FIGURES_FOLDER / f"{recipe.name}.svg"
                write_file(path, render(replace(figure, kind="svg")))
                files.append(path)
                caption = _plain(figure_caption(results, figure))
                lines += [f"![{caption}]({FIGURES_FOLDER}/{path.name})", ""]
            lines += _table(verdict_table(results))
            if recipe.disagrees:
                lines += [f"**Where it differs:** {_plain(recipe.disagrees)}", ""]
            tried = trial_table(results)
            if tried.rows:
                lines += _table(tried)
            beside = published_table(results)
            if beside.rows:
                lines += _table(beside)
            lines += [f"Run it again: `{run_again_text(results)}`", ""]
    page = folder / PAGE_FILE
    write_file(page, "\n".join(lines).rstrip().encode() + b"\n")
    return [page, *files]


def _table(table: TextTable) -> list[str]:
    heads = [f"{column.title} ({column.unit})" if column.unit else column.title for column in table.columns]
    rule = ["--:" if column.is_number else ":--" for column in table.columns]
    rows = [heads, rule, *table.rows]
    return [*(f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows), ""]


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    joined = " ".join(text.split())
    for sign in "\\`*_<>[]":
        joined = joined.replace(sign, "\\" + sign)
    return joined
