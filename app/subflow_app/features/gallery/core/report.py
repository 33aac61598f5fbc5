"""Reports on experiments with figures, verdicts, rulings and settings, as HTML, PDF, CSV or Markdown.

Papers are grouped by the column of their agents, as printed or with wider training, and no count mixes the columns.
Figures are drawn as in the papers. `paper.report` lays out the blocks of the document, and CSV files next to the
document contain the numbers. Markdown pages are for the documentation, with an SVG figure for each experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from subflow_app.features.gallery.core.figure import FIGURE_STYLE, experiment_figure
from subflow_app.features.gallery.core.recipe import SOURCES, AgentColumn, Recipe, rulings
from subflow_app.features.gallery.core.report_tables import (
    agent_table,
    agents_text,
    count_table,
    published_table,
    results_csv,
    rulings_table,
    seeds_text,
    settings_table,
    settlement_table,
    side_by_side_table,
    trial_table,
    verdict_counts,
    verdict_table,
    verdicts_csv,
)
from subflow_app.features.gallery.core.results import (
    Group,
    Results,
    VerdictKind,
    check_counts,
    group_order,
    in_column_text,
    problems,
)
from subflow_app.features.paper.core.figure_plan import FigurePlan
from subflow_app.features.paper.core.figures import render_figure
from subflow_app.features.paper.core.report import (
    Block,
    FigureNumbers,
    Heading,
    Listing,
    Paragraph,
    Picture,
    Report,
    citation_blocks,
    filled,
    made_text,
    versions_table,
)
from subflow_app.features.paper.core.report_file import render_report
from subflow_app.features.traces.core.scenario_hash import simulator_version
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.files import made_folder, write_file
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

RESULTS_FILE, VERDICTS_FILE = "results.csv", "verdicts.csv"
HTML_FILE, PDF_FILE = "report.html", "report.pdf"
_CONTENTS = 2

COLUMNS_TEXT = (
    "Agents as printed learned and act as their paper prints it; agents with wider training have the same algorithm "
    "and another policy, and only claims about agents are checked with them."
)
CAUSES_TEXT = (
    "For a failed check, the recipe names a cause, and only an experiment can confirm it: the check passes with the "
    "kernel of that time, with another reading of the paper, or with another agent; or the paper contradicts itself; "
    "or the difference is noise. Every other failed check is listed as not explained."
)


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Files written by `write_report`.

    Attributes:
        html: the report as a web page.
        pdf: the report as PDF.
        results: all values of all runs as CSV.
        verdicts: all checks as CSV.
    """

    html: Path
    pdf: Path
    results: Path
    verdicts: Path

    def __iter__(self) -> Iterator[Path]:
        """The files in the order of the attributes."""
        return iter((self.html, self.pdf, self.results, self.verdicts))


def experiment_report(every: Sequence[Results], *, made_at: datetime | None = None) -> Report:
    """Report on these experiments, grouped by paper in the order of `SOURCES`, and by column of agents.

    Raises:
        InputError: if `every` is empty.
        RecipeError: if a scenario cannot be read.
        StoreError: if traces cannot be read.
    """
    if not every:
        raise InputError("a report needs an experiment: run one first")
    ordered = by_paper(every)
    counted = count_text(len(every))
    lengths = {results.is_quick for results in every}
    length = "" if len(lengths) > 1 else (" (quick runs)" if lengths == {True} else " (full runs)")
    blocks: list[Block] = []
    if len(every) > 1:
        blocks += _summary(ordered)
    figures = FigureNumbers()
    for group, members in ordered.items():
        blocks.append(Heading(group.title))
        blocks += filled(_side_by_side(ordered, group))
        for results in members:
            blocks += _experiment(results, figures)
    blocks += version_blocks()
    return Report(
        _title(ordered),
        f"{counted}{length}, {made_text(made_at)}",
        tuple(blocks),
        contents=_CONTENTS,
    )


def write_report(
    every: Sequence[Results],
    folder: Path,
    *,
    made_at: datetime | None = None,
    render: Callable[[Report], bytes] = render_report,
) -> ReportFiles:
    """Write the report as HTML and PDF, and its numbers as CSV.

    Args:
        every: the experiments.
        folder: folder for the files, created if missing; existing files with the same names are replaced.
        made_at: time of creation shown in the report; None for the current time.
        render: lays out a report; the window passes a function that uses its drawing process.

    Raises:
        ExportError: if a file cannot be written.
        InputError: if `every` is empty.
        StoreError: if traces cannot be read.
    """
    report = experiment_report(every, made_at=made_at)
    made_folder(folder)
    files = ReportFiles(folder / HTML_FILE, folder / PDF_FILE, folder / RESULTS_FILE, folder / VERDICTS_FILE)
    write_file(files.results, results_csv(every).encode())
    write_file(files.verdicts, verdicts_csv(every).encode())
    write_file(files.html, render(replace(report, kind="html")))
    write_file(files.pdf, render(replace(report, kind="pdf")))
    return files


def by_paper(every: Sequence[Results]) -> dict[Group, list[Results]]:
    """Experiments by paper, in the order of `SOURCES`, and by column of agents."""
    found: dict[Group, list[Results]] = {group: [] for group in group_order()}
    for results in every:
        found[Group(results.recipe.paper, results.recipe.column)].append(results)
    return {group: members for group, members in found.items() if members}


def count_text(count: int) -> str:
    """``1 experiment``, ``12 experiments``."""
    return "1 experiment" if count == 1 else f"{count} experiments"


def run_again_text(results: Results) -> str:
    """The command that reproduces these results."""
    recipe = results.recipe
    parts = [command_of(recipe)]
    parts += ["--quick"] if results.is_quick else []
    if list(results.seeds) != list(recipe.seeds_of(is_quick=results.is_quick)):
        parts.append(f"--seeds {seeds_text(results.seeds)}")
    return " ".join(parts)


def command_of(recipe: Recipe) -> str:
    """The command that runs an experiment in its column of agents."""
    return " ".join(
        ["subflow reproduce", recipe.name, *(["--agents wide"] if recipe.column is AgentColumn.WIDE else [])]
    )


def _title(ordered: Mapping[Group, Sequence[Results]]) -> str:
    members = [results for each in ordered.values() for results in each]
    if len(members) == 1:
        recipe = members[0].recipe
        title = f"{SOURCES[recipe.paper]}, {figure_text(recipe.figure)}: {recipe.title}"
        return in_column_text(title, recipe.column)
    if len(ordered) == 1:
        return f"Reproduction of {next(iter(ordered)).title}"
    papers = {group.paper for group in ordered}
    if len(papers) == 1:
        return f"Reproduction of {SOURCES[papers.pop()]}"
    return f"Reproduction of {len(papers)} papers"


def _side_by_side(ordered: Mapping[Group, Sequence[Results]], group: Group) -> TextTable:
    """Table of both columns of a paper under its agents as printed; without rows unless both columns exist."""
    wide = ordered.get(Group(group.paper, AgentColumn.WIDE), ())
    is_shown = group.column is AgentColumn.PRINTED and bool(wide)
    return side_by_side_table(ordered[group] if is_shown else (), wide)


def figure_text(figure: str) -> str:
    """Name of the figure in a sentence: ``figure 3a, 3b``, ``table I``."""
    return figure if not figure[:1].isdecimal() else f"figure {figure}"


def _summary(ordered: Mapping[Group, Sequence[Results]]) -> Iterator[Block]:
    yield Heading("Summary")
    yield Paragraph(agents_paragraph(ordered))
    yield count_table(ordered)
    yield agent_table(ordered)
    yield settlement_table(ordered)
    yield Paragraph(CAUSES_TEXT)
    yield Paragraph(
        "A check with a band requires our number to lie in it; other checks are claims over means that hold or fail. "
        "Bands and tolerances come from the paper and from how its open points are read; none was made wider "
        "for ours to fit. A value that could not be computed is shown as not measured, with the reason."
    )
    columns: list[Column[_Counted]] = [
        Column("Experiment", lambda row: row[0].recipe.label),
        Column("Paper, figure", lambda row: f"{SOURCES[row[0].recipe.paper]}, {row[0].recipe.figure}"),
        Column("Subject", lambda row: row[0].recipe.title),
        *map(_count_column, VerdictKind),
    ]
    every = [results for members in ordered.values() for results in members]
    yield TextTable.of([(results, verdict_counts(results.verdicts())) for results in every], columns, "Experiments")


def agents_paragraph(ordered: Mapping[Group, Sequence[Results]]) -> str:
    """Text on the columns of agents and on the checks that rest on an agent.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    texts = [COLUMNS_TEXT]
    for column in AgentColumn:
        members = [results for group, each in ordered.items() if group.column is column for results in each]
        counts = check_counts(members)
        if counts.agent_checks:
            texts.append(f"{capitalised(column.text)}: {agents_text(counts)}.")
    return " ".join(texts)


_Counted = tuple[Results, Mapping[VerdictKind, int]]


def _count_column(kind: VerdictKind) -> Column[_Counted]:
    return NumberColumn(kind.value.capitalize(), lambda row: row[1][kind] or "")


def _experiment(results: Results, figures: FigureNumbers) -> Iterator[Block]:
    recipe = results.recipe
    yield Heading(f"{capitalised(figure_text(recipe.figure))}: {recipe.title}", level=2)
    yield Paragraph(f"The paper: {recipe.claim}")
    if recipe.prose:
        yield Paragraph(recipe.prose)
    figure = experiment_figure(results)
    if any(panel.has_values for panel in figure.panels):
        yield Picture(figures.caption(figure_caption(results, figure)), figure=figure)
    else:
        yield Paragraph("No figure: nothing of this experiment was measured.")
    yield verdict_table(results)
    tried = trial_table(results)
    if recipe.disagrees or tried.rows:
        yield Heading("Differences and their causes", level=3)
    if recipe.disagrees:
        yield Paragraph(recipe.disagrees)
    if tried.rows:
        yield tried
    yield from filled(published_table(results))
    for place, problem in problems(results).items():
        yield Paragraph(f"Not measured: {place}: {problem}")
    known = [rulings()[name] for name in recipe.rulings if name in rulings()]
    if known:
        yield rulings_table(known)
    yield settings_table(results)
    yield Listing(run_again_text(results))


def figure_caption(results: Results, figure: FigurePlan) -> str:
    """Caption of the figure in one or two sentences."""
    recipe, seeds = results.recipe, results.seeds
    text = f"{recipe.title} ({SOURCES[recipe.paper]}, {figure_text(recipe.figure)})."
    forms = {panel.form for panel in figure.panels}
    if len(seeds) > 1 and forms - {"trace", "box"}:
        text += f" Means over {len(seeds)} seeds with 95 % intervals."
    if any(series.references for panel in figure.panels for series in panel.series):
        text += " Hollow and hatched: what the paper prints."
    return text


def version_blocks() -> Iterator[Block]:
    """Section on versions and repeatability."""
    yield Heading("How it was made")
    yield versions_table(("Simulator", simulator_version()))
    yield Paragraph(
        "The same recipe, seeds and version give the same runs, bit for bit, on any number of cores; processor time "
        "and memory depend on the computer."
    )
    yield from citation_blocks()


PAGE_FILE = "report.md"
FIGURES_FOLDER = "figures"
# Text elements instead of outlines reduce the file to a third, and browsers have the necessary fonts.
_STYLE = replace(FIGURE_STYLE, text_in_svg=True)


def write_pages(
    every: Sequence[Results], folder: Path, *, render: Callable[[FigurePlan], bytes] = render_figure
) -> list[Path]:
    """Write one Markdown page on these experiments, with figures in a subfolder.

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
        "number to lie in it; other checks are claims that hold or fail.",
        "",
        agents_paragraph(ordered),
        "",
        *_table(count_table(ordered)),
        *_table(agent_table(ordered)),
        CAUSES_TEXT,
        "",
        *_table(settlement_table(ordered)),
    ]
    for group, members in ordered.items():
        lines += [f"## {group.title}", ""]
        beside = _side_by_side(ordered, group)
        if beside.rows:
            lines += [f"### {beside.title}", "", *_table(beside)]
        for results in members:
            recipe = results.recipe
            title = figure_text(recipe.figure)
            lines += [f"### {capitalised(title)}: {_plain(recipe.title)}", ""]
            lines += [f"The paper: {_plain(recipe.claim)}", ""]
            figure = experiment_figure(results, style=_STYLE)
            if any(panel.has_values for panel in figure.panels):
                path = folder / FIGURES_FOLDER / f"{recipe.file_name}.svg"
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
    """The text on one line, with Markdown characters escaped."""
    joined = " ".join(text.split())
    for sign in "\\`*_<>[]":
        joined = joined.replace(sign, "\\" + sign)
    return joined
