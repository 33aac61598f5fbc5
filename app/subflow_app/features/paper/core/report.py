"""Report on one or several runs, ready to be handed in: setup, results, and the commands that repeat the runs.

The document consists of blocks without layout; `report_file` lays them out.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.history.core.run_columns import fork_of
from subflow_app.features.paper.core.figure_plan import FigurePlan, kind_of_suffix, run_plan
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE
from subflow_app.features.paper.core.report_tables import (
    ReportRun,
    comparison_table,
    events_table,
    flows_table,
    general_table,
    links_table,
    options_table,
    run_table,
)
from subflow_app.features.paper.core.topology_sketch import sketch_of
from subflow_app.features.plots.core import PLOTS_BY_ID, PlotSpec
from subflow_app.features.traces.core.summary_text import (
    connection_table,
    delay_table,
    flow_table,
    impossible_table,
    link_table,
    summary_line,
)
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.citation import citation_bibtex, citation_text
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.picture import Panel
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable, text_columns
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from subflow_store import Store

PageSize = Literal["a4", "letter"]
PAGE_SIZES: dict[PageSize, str] = {"a4": "A4", "letter": "Letter"}
ReportKind = Literal["html", "pdf"]
REPORT_KINDS: tuple[ReportKind, ...] = ("html", "pdf")

DEFAULT_PLOTS = ("throughput", "cwnd", "rtt", "queue")
# As wide as the text of a page, and with markers because reports are often printed without colours.
_FIGURE_STYLE = replace(DEFAULT_STYLE.sized(168.0, 60.0), has_markers=True)
_LONGEST_LEGEND_NAME = 24

MOST_RUNS = 50
"""Maximum number of runs in a report; for more runs, `subflow runs` prints a table."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 (a section), 2 or 3."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text with automatic line breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Text whose line breaks are kept."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure with its caption."""

    caption: str
    figure: FigurePlan


Block = Heading | Paragraph | Listing | Picture | TextTable


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Document of headings, paragraphs, tables and pictures.

    Attributes:
        title: title of the document.
        subtitle: subject of the document and its date.
        blocks: content in reading order.
        kind: format of the file.
        page: size of the pages of a PDF.
        contents: deepest level of headings in the table of contents. If 0, an HTML page lists only its sections, and a
            PDF has no table of contents.
    """

    title: str
    subtitle: str
    blocks: tuple[Block, ...]
    kind: ReportKind = "html"
    page: PageSize = "a4"
    contents: int = 0


def report_kind(path: PurePath) -> ReportKind:
    """The report format that the suffix of a file name selects.

    Raises:
        InputError: if the name has no suffix, or the suffix is not a report format.
    """
    return kind_of_suffix(path, REPORT_KINDS, "reports are written as .html or .pdf")


def page_size(name: str) -> PageSize:
    """The page size with this name, in upper or lower case.

    Raises:
        InputError: if the name is unknown.
    """
    for size in PAGE_SIZES:
        if size == name.lower():
            return size
    raise InputError(f'pages of size "{name}": must be one of {", ".join(PAGE_SIZES)}')


def read_runs(store: Store, numbers: Sequence[int]) -> list[ReportRun]:
    """The runs with these numbers in a store, in this order; repeated numbers count once.

    Raises:
        InputError: if `numbers` is empty or too long, or a run was deleted or is still running.
        RunNotFound: if the store does not contain one of the runs.
        StoreError: if a run cannot be read.
    """
    chosen = list(dict.fromkeys(numbers))
    if not chosen:
        raise InputError("a report needs a run: choose one in the history")
    if len(chosen) > MOST_RUNS:
        raise InputError(f"a report covers at most {MOST_RUNS} runs, not {len(chosen)}")
    runs = []
    for number in chosen:
        row = store.run(number)
        if row.deleted:
            raise InputError(f"run {number} is deleted: `subflow runs restore {number}` brings it back")
        if row.status == "running":
            raise InputError(f"run {number} is still running: wait for its end, or stop it")
        try:
            scenario = read_scenario(Use.REPORT, row.scenario_text or "")
        except SimError:
            scenario = None
        runs.append(ReportRun(row, StoredTraces(store, number), scenario))
    return runs


def build_report(
    runs: Sequence[ReportRun],
    *,
    plots: Sequence[PlotSpec] | None = None,
    title: str = "",
    made_at: datetime | None = None,
) -> Report:
    """Builds the report on these runs.

    Args:
        runs: the runs; their order determines their dash patterns in figures.
        plots: figures to show; plots that no run supports are omitted. None: `DEFAULT_PLOTS`.
        title: title of the report; if empty, the title consists of the names of the runs.
        made_at: date of the report; None: now.

    Raises:
        StoreError: if traces cannot be read.
    """
    names = list(dict.fromkeys(run.row.name for run in runs))
    counted = f"run {runs[0].row.id}" if len(runs) == 1 else f"{len(runs)} runs"
    numbering = FigureNumbers()
    wanted = [PLOTS_BY_ID[name] for name in DEFAULT_PLOTS] if plots is None else plots
    blocks = [
        *_overview(runs),
        *_setup(runs, numbering),
        *_figures(runs, wanted, numbering),
        *_results(runs),
        *_repeating(runs),
        *citation_blocks(),
        *_scenario_texts(runs),
    ]
    return Report(
        title
        or (names[0] if len(names) == 1 else " and ".join(names[:2]) if len(names) == 2 else f"{names[0]} and others"),
        f"Report on {counted}, {made_text(made_at)}",
        tuple(blocks),
    )


def made_text(made_at: datetime | None) -> str:
    """Date and version as text: ``made 2026-03-01 12:00 UTC with Subflow 1.0``; `made_at` None means now."""
    from subflow_app import __version__

    return f"made {made_at or datetime.now(UTC):%Y-%m-%d %H:%M UTC} with Subflow {__version__}"


def versions_table(made: tuple[str, str], *more: tuple[str, str]) -> TextTable:
    """Table of the software and the computer with which a report was created.

    Args:
        made: label and value of the row after the version of Subflow.
        more: labels and values of further rows at the end.
    """
    from subflow_app import __version__

    program = ("Subflow that made this report", __version__)
    computer = (("Python", platform.python_version()), ("Platform", platform.platform()))
    return TextTable("Versions", text_columns("Item", "Value"), (program, made, *computer, *more))


def filled(*tables: TextTable) -> Iterator[TextTable]:
    """The tables that have rows."""
    return (table for table in tables if table.rows)


def citation_blocks() -> Iterator[Block]:
    """Section that shows how to cite Subflow in a paper."""
    yield Heading("How to cite Subflow")
    yield Paragraph(citation_text())
    yield Listing(citation_bibtex())


class FigureNumbers:
    """Numbers the figures of a report, from 1."""

    def __init__(self) -> None:
        self._count = 0

    def caption(self, text: str) -> str:
        """The caption with the next figure number."""
        self._count += 1
        return f"Figure {self._count}. {text}"


def _overview(runs: Sequence[ReportRun]) -> Iterator[Block]:
    yield Heading("Summary")
    yield run_table(runs)
    if len(runs) > 1:
        yield comparison_table(runs)
        yield Paragraph(
            "Runs that differ in nothing but their seed are repetitions of one experiment. Where an experiment has "
            "several, its figures are the mean ± half the 95 % confidence interval over the runs (Student's t). "
            "Identical runs count once."
        )
    for run in runs:
        fork = fork_of(run.row)
        if fork is not None:
            yield Paragraph(f"Run {run.row.id} is a fork of {fork}.")
        if run.row.note:
            yield Paragraph(f"Note on run {run.row.id}: {run.row.note}")
        if run.row.tags:
            yield Paragraph(f"Tags of run {run.row.id}: {', '.join(run.row.tags)}")


def _setup(runs: Sequence[ReportRun], numbering: FigureNumbers) -> Iterator[Block]:
    """Topology and parameters of each scenario; runs that differ only in their seed share one section."""
    groups = _by_condition(runs)
    for members in groups:
        run = members[0]
        yield Heading("Setup" if len(groups) == 1 else f"Setup of {_runs_text(members)}: {run.row.name}")
        scenario = run.scenario
        if scenario is None:
            yield Paragraph(
                "The scenario of these runs cannot be read by this version of Subflow, so its topology and parameters "
                "are not shown; its text is in the appendix."
            )
            continue
        yield Picture(
            numbering.caption(
                "Topology. Dots are hosts, squares are routers; coloured lines are the ways of the subflows."
            ),
            figure=FigurePlan(panels=(Panel.of_topology(sketch_of(scenario)),)),
        )
        yield general_table(scenario)
        yield links_table(scenario.links.values())
        yield flows_table(scenario.flows.values())
        yield from filled(options_table(scenario.flows.values()))
        if scenario.events:
            yield events_table(scenario)


def _figures(runs: Sequence[ReportRun], plots: Sequence[PlotSpec], numbering: FigureNumbers) -> Iterator[Block]:
    traces = [run.traces for run in runs]
    shown = [plot for plot in plots if any(plot.is_in(each) for each in traces)]
    if not shown:
        return
    yield Heading("Figures")
    for plot in shown:
        try:
            plan = run_plan([plot], traces)
        except InputError:
            continue  # the run ended before its first sample
        caption = plot.title if len(runs) == 1 else f"{plot.title}, {len(runs)} runs: each with its own dashes"
        named = plan.with_run_names(dict(enumerate(_run_names(runs))))
        yield Picture(numbering.caption(f"{caption}."), figure=replace(named, style=_FIGURE_STYLE))


def _results(runs: Sequence[ReportRun]) -> Iterator[Block]:
    yield Heading("Results")
    for run in runs:
        if len(runs) > 1:
            yield Heading(f"Run {run.row.id}: {run.row.name}, seed {run.row.seed}", level=2)
        if not run.summary.get("flows"):
            yield Paragraph(f"Run {run.row.id} ended ({run.row.status}) without a summary.")
            continue
        yield Paragraph(f"{summary_line(run.summary)}.")
        yield replace(flow_table(run.summary), title="Per flow and subflow")
        yield from filled(connection_table(run.summary))
        yield from filled(delay_table(run.summary))
        links = link_table(run.summary, run.scenario)
        yield replace(links, title=links.title.replace("Links", "Per link direction", 1))
        yield from filled(impossible_table(run.summary))


def _repeating(runs: Sequence[ReportRun]) -> Iterator[Block]:
    yield Heading("How to repeat it")
    yield Paragraph(
        "Save the scenario of the appendix to a file and run it with the seed and the version of the run: the same "
        "scenario, seed and version give the same signature, bit for bit."
    )
    names = _file_names(runs)
    commands = [f"subflow run {names[run.traces.condition]} --seed {run.row.seed}" for run in runs]
    yield Listing("\n".join(dict.fromkeys(commands)))
    columns: tuple[Column[ReportRun], ...] = (
        NumberColumn("Run", lambda run: run.row.id),
        NumberColumn("Seed", lambda run: run.row.seed),
        Column("Signature", lambda run: run.row.signature or "unknown"),
        Column("Version", lambda run: run.row.version),
        Column("Sampled every", lambda run: f"{run.row.sample_interval_s:g} s"),
        Column("Started (UTC)", lambda run: run.row.started_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")),
    )
    yield TextTable.of(runs, columns, "Seeds and signatures")
    formats = sorted({run.scenario.format for run in runs if run.scenario is not None})
    rows = []
    machines = list(dict.fromkeys(tuple(sorted((run.row.machine or {}).items())) for run in runs))
    for number, machine in enumerate(machines, start=1):
        where = "Runs were made on" if len(machines) == 1 else f"Runs were made on (computer {number})"
        # The name of the computer is left out, because it is private.
        told = ", ".join(f"{key}: {value}" for key, value in machine if key not in ("host", "hostname", "node"))
        if told:
            rows.append((where, told))
    yield versions_table(("Scenario format", ", ".join(map(str, formats)) or "unknown"), *rows)


def _scenario_texts(runs: Sequence[ReportRun]) -> Iterator[Block]:
    names = _file_names(runs)
    yield Heading("Appendix: scenario" if len(names) == 1 else "Appendix: scenarios")
    for members in _by_condition(runs):
        run = members[0]
        if len(names) > 1:
            yield Heading(f"{names[run.traces.condition]}, of {_runs_text(members)}", level=2)
        yield Listing((run.row.scenario_text or "(the text of this scenario was not kept)").rstrip())


def _by_condition(runs: Sequence[ReportRun]) -> list[list[ReportRun]]:
    groups: dict[str, list[ReportRun]] = {}
    for run in runs:
        groups.setdefault(run.traces.condition, []).append(run)
    return list(groups.values())


def _run_names(runs: Sequence[ReportRun]) -> list[str]:
    """Legend names of the runs: their names if short and distinct, else number, controllers and seed."""
    names = [run.row.name for run in runs]
    if len(set(names)) == len(names) and max(map(len, names)) <= _LONGEST_LEGEND_NAME:
        return names
    told = []
    for run in runs:
        controllers = run.row.controllers
        what = f" {controllers}," if controllers and len(controllers) <= _LONGEST_LEGEND_NAME else ""
        told.append(f"run {run.row.id}:{what} seed {run.row.seed}")
    return told


def _file_names(runs: Sequence[ReportRun]) -> dict[str, str]:
    """File name for the scenario of each condition."""
    groups = _by_condition(runs)
    if len(groups) == 1:
        return {groups[0][0].traces.condition: "scenario.toml"}
    return {members[0].traces.condition: f"scenario-{number}.toml" for number, members in enumerate(groups, start=1)}


def _runs_text(members: Sequence[ReportRun]) -> str:
    numbers = ", ".join(str(run.row.id) for run in members)
    return f"run {numbers}" if len(members) == 1 else f"runs {numbers}"
