"""``subflow export``, which writes data and figures of stored runs, and ``subflow verify``, which checks bundles.

``subflow verify`` simulates the run of a bundle again, and reports whether the result is the same on this machine.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from subflow_app.features.history.cli import shown_document
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal.failures import worst_of
from subflow_app.terminal.options import Database, Json, ListedCommand, RunIds, opened_store, run_number, time_option
from subflow_app.terminal.terminal import print_json, print_line, print_note
from subflow_app.vocabulary.plain_text import readable_line

if TYPE_CHECKING:
    from subflow_app.features.exporting.core.exports import ExportPlan
    from subflow_app.features.exporting.core.run_export import RunExport
    from subflow_app.features.paper.core.figure_plan import FigureLook
    from subflow_app.features.plots.core import PlotSpec


CAPTURE, QLOG, BUNDLE, LIGHT_BUNDLE = "pcapng", "qlog", "bundle", "bundle-light"
SWEEP = "sweep-"


def format_names() -> tuple[str, ...]:
    """The values of ``--format``."""
    from subflow_app.features.exporting.core.exports import DATA_FORMAT
    from subflow_app.features.exporting.core.table_formats import TABLE_FORMATS
    from subflow_app.features.paper.core.figure_plan import FIGURE_KINDS

    return (DATA_FORMAT, *FIGURE_KINDS, *(table.name for table in TABLE_FORMATS), CAPTURE, QLOG, BUNDLE, LIGHT_BUNDLE)


def figure_names() -> str:
    """One line for each group of figures, which lists the names of the figures."""
    from subflow_app.features.plots.core import GROUPS, PLOTS

    names = {group: ", ".join(plot.id for plot in PLOTS if plot.group == group) for group in ("", *GROUPS)}
    return "\n".join(f"{group or 'Figures'}: {listed}." for group, listed in names.items())


class ExportCommand(ListedCommand):
    """The command `export`, whose help lists formats and figures."""

    lists: ClassVar = {"formats": lambda: ", ".join(format_names()), "figures": figure_names}


def run_export(
    plan: ExportPlan, kinds: tuple[str, ...], flow: str | None, station: str, since: str | None, until: str | None
) -> RunExport:
    """The parts to export for each run.

    Raises:
        InputError: if a time is invalid.
    """
    from subflow_app.features.capture.core.packet_capture import CapturePlan
    from subflow_app.features.exporting.core.run_export import RunExport
    from subflow_app.features.exporting.core.table_formats import TABLE_FORMATS

    capture = qlog = None
    if CAPTURE in kinds or QLOG in kinds:
        since_s = 0.0 if since is None else time_option("--since", since)
        until_s = None if until is None else time_option("--until", until)
        packets = CapturePlan(flow or "", station, since_s, until_s)
        capture = packets if CAPTURE in kinds else None
        qlog = packets if QLOG in kinds else None
    tables = tuple(table.name for table in TABLE_FORMATS if table.name in kinds)
    return RunExport(plan.run_data, tables, capture, qlog, BUNDLE in kinds, LIGHT_BUNDLE in kinds)


def export(
    runs: RunIds,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to, or with --page also a file.html; default: ./run-N."),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="LIST",
            help="Any of {formats}; comma-separated.",
        ),
    ] = "csv",
    figure: Annotated[
        str | None, typer.Option(metavar="LIST", help="Any of those below, comma-separated, or all.")
    ] = None,
    run_data: Annotated[bool, typer.Option("--run-data", help="With --figure: also all the data of the run.")] = False,
    style: Annotated[
        str, typer.Option(metavar="STYLE", help="page, ieee, ieee-double, acm, acm-double or slide.")
    ] = "page",
    width: Annotated[
        float | None, typer.Option(metavar="MM", help="Width of a figure; default: that of the style.")
    ] = None,
    height: Annotated[
        float | None, typer.Option(metavar="MM", help="Height of each plot; default: that of the style.")
    ] = None,
    dpi: Annotated[int, typer.Option(metavar="N", help="Pixels per inch of a PNG.")] = 300,
    legend: Annotated[str, typer.Option(metavar="PLACE", help="below, above, inside or none.")] = "below",
    title: Annotated[str, typer.Option(metavar="TEXT", help="Heading of each figure; papers have captions.")] = "",
    stacked: Annotated[
        bool, typer.Option("--stacked", help="One figure with all plots stacked, instead of a file for each.")
    ] = False,
    flow: Annotated[str | None, typer.Option(metavar="NAME", help="Packets: the flow; default: the first.")] = None,
    station: Annotated[
        str, typer.Option("--at", metavar="HOST", help="Packets: network card of sender, receiver or both.")
    ] = "sender",
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Packets from this time on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Packets up to this time.")] = None,
    page: Annotated[bool, typer.Option("--page", help="Only a web page that simulates the runs again.")] = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Write data and figures of stored runs.

    Writes tables (csv, parquet), figures (svg, pdf, png), packets (pcapng, qlog) and bundles.

    csv alone writes all the data: subflows.csv, flows.csv, links.csv, marks.csv, summary.json and scenario.toml. With
    --figure it writes what those figures show. svg, pdf and png draw all figures, or those named by --figure.
    For a paper: `subflow export last --format pdf --figure throughput,cwnd --style ieee --stacked`.
    Figures overlay several runs; the data of each run is written to a separate folder.

    csv-long and parquet-long have a row per sample (time_s, scope, owner, quantity, unit, value); parquet has the
    columns of the CSV files, with their units in the metadata. pcapng is a capture of one flow for Wireshark, with
    MPTCP's options; qlog has the events of that flow for qvis, with a path for each subflow. For both the run is
    simulated again. A bundle is the whole run in one file (scenario, seed,
    versions, policies, traces, figures), which `subflow verify` simulates again on another machine and compares;
    bundle-light is the same without traces, which the simulation gives again.

    --page writes run-N.html: one file for any browser, without a network, in which the run is simulated again and you
    can change its links and algorithms. `subflow import` turns such a change into a scenario. `sweep-N` or
    `sweep-last` in place of a run makes a page of a sweep: its curves, and the run at each point.

    {figures}
    Runs whose controllers send by monitor intervals also have intervals.csv; runs that kept their decisions,
    decisions.csv and decision_rules.json; runs of learning agents, agent_steps.csv and agents.json. Figures of
    observations and actions of agents show the first number, or the named one: agent_observation:rtt.
    """
    from subflow_app.features.exporting.core.exports import export_figures, require_numbers
    from subflow_app.features.exporting.core.run_export import export_stored_run
    from subflow_app.features.traces.core.traces import StoredTraces

    if page:
        _export_page(runs, out, formats, figure, database, as_json)
        return
    look = figure_look(style, width, height, dpi=dpi, legend=legend, title=title, is_stacked=stacked)
    kinds = export_formats(formats)
    plan = replace(export_plan(kinds, figure, run_data=run_data), look=look)
    wanted = run_export(plan, kinds, flow, station, since, until)
    with opened_store(database, read_only=True) as store:
        numbers = list(dict.fromkeys(run_number(store, run) for run in runs))
        directory = out or Path(f"run{'' if len(numbers) == 1 else 's'}-{'-'.join(map(str, numbers))}")
        traces = [StoredTraces(store, number) for number in numbers]
        require_numbers(plan.figures, traces)
        written: list[Path] = []
        for number in numbers:
            folder = directory if len(numbers) == 1 else directory / f"run-{number}"
            done = export_stored_run(store, number, folder, wanted, summary=shown_document(store.run(number)))
            written += done.files
            for notice in done.notices:
                print_note(notice)
        written += export_figures(traces, directory, plan)
    if as_json:
        print_json({"run_ids": numbers, "files": [str(path) for path in written]})
        return
    for path in written:
        print_line(f"wrote {path}")


def _export_page(
    runs: RunIds, out: Path | None, formats: str, figure: str | None, database: Database, as_json: bool
) -> None:
    from subflow_app.features.exporting.core.study_pages import write_sweep_page
    from subflow_app.features.exporting.core.web_page import write_page
    from subflow_app.features.sweeps.cli import sweep_number
    from subflow_app.foundation.files import page_place

    if formats != "csv" or figure is not None:
        raise InputError("--page cannot be combined with --format or --figure")
    sweeps = [run.removeprefix(SWEEP) for run in runs if run.startswith(SWEEP)]
    if sweeps and len(runs) > 1:
        raise InputError("--page: the page of a sweep contains one sweep and no other runs")
    with opened_store(database, read_only=True) as store:
        if sweeps:
            number = sweep_number(store, sweeps[0])
            path = write_sweep_page(store, number, page_place(out, f"{SWEEP}{number}"))
            made: dict[str, object] = {"sweep": number}
        else:
            numbers = list(dict.fromkeys(run_number(store, run) for run in runs))
            name = f"run{'' if len(numbers) == 1 else 's'}-{'-'.join(map(str, numbers))}"
            path = write_page(store, numbers, page_place(out, name))
            made = {"run_ids": numbers}
    if as_json:
        print_json({**made, "files": [str(path)]})
    else:
        print_line(f"wrote {path}")


def export_formats(text: str) -> tuple[str, ...]:
    """The distinct formats in the comma-separated value of ``--format``, in order.

    Raises:
        InputError: if a format does not exist.
    """
    return _listed(text, "--format", format_names())


def export_plan(kinds: tuple[str, ...], figure: str | None, *, run_data: bool) -> ExportPlan:
    """The export that the options request.

    Raises:
        InputError: if a figure does not exist.
    """
    from subflow_app.features.exporting.core.exports import DATA_FORMAT, ExportPlan
    from subflow_app.features.paper.core.figure_plan import FIGURE_KINDS
    from subflow_app.features.plots.core import PLOTS

    return ExportPlan(
        run_data=run_data or (figure is None and DATA_FORMAT in kinds),
        figures=PLOTS if figure is None else named_figures(figure),
        figure_formats=tuple(kind for kind in FIGURE_KINDS if kind in kinds),
        figure_data=figure is not None and DATA_FORMAT in kinds,
    )


def figure_look(
    style: str,
    width_mm: float | None,
    height_mm: float | None,
    *,
    dpi: int,
    legend: str,
    title: str,
    is_stacked: bool,
) -> FigureLook:
    """The look of figures that the options request.

    Raises:
        InputError: if a style or legend position does not exist, or a size is out of range.
    """
    from subflow_app.features.paper.core.figure_plan import FigureLook
    from subflow_app.features.paper.core.paper_styles import LEGENDS, checked_dpi, style_named

    sized = style_named(style).sized(width_mm, height_mm)
    for place in LEGENDS:
        if place == legend:
            return FigureLook(sized, place, title, checked_dpi(dpi), is_stacked)
    raise InputError(f'--legend = "{legend}": must be one of {", ".join(LEGENDS)}')


def named_figures(text: str) -> tuple[PlotSpec, ...]:
    """The plots in a comma-separated list of ids; the name of a number may follow an id, as in agent_observation:rtt.

    Raises:
        InputError: if a plot does not exist.
    """
    from subflow_app.features.plots.core import PLOTS, PLOTS_BY_ID

    figures: list[PlotSpec] = []
    for word in dict.fromkeys(word.strip().lower() for word in text.split(",")):
        name, _, number = word.partition(":")
        plot = PLOTS_BY_ID.get(name)
        if number and plot is not None and plot.numbers is not None:
            # The id includes the number, so that each number of an agent has its own file.
            figures.append(replace(plot.of_number(number), id=f"{name}-{number}"))
        elif word == "all":
            return PLOTS
        elif word in PLOTS_BY_ID:
            figures.append(PLOTS_BY_ID[word])
        else:
            raise InputError(f'--figure = "{word}": must be one of {", ".join((*PLOTS_BY_ID, "all"))}')
    return tuple(figures)


def _listed(text: str, option: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The distinct words of a comma-separated list, in order; raises InputError if a word is not allowed."""
    words = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",")))
    for word in words:
        if word not in allowed:
            raise InputError(f'{option} = "{word}": must be one of {", ".join(allowed)}')
    return words


def verify(
    bundle: Annotated[Path, typer.Argument(metavar="FILE", help="Made by `subflow export RUN --format bundle`.")],
    as_json: Json = False,
) -> None:
    """Simulate a bundle's scenario again and compare.

    Signature, figures, samples, pictures, README and description are compared with those that a new simulation gives.
    The name of the run is not compared: its author chose it.

    Exit code: 0 when the run is confirmed, 1 when it is contradicted, 3 when it is not confirmed (it cannot be
    simulated here, or another version made it and the results differ), 2 for a file that is not a bundle or was
    changed after it was made.
    """
    from subflow_app.features.exporting.core.verification import verify_bundle

    found = verify_bundle(bundle)
    if as_json:
        print_json({**asdict(found), **fields(found, "outcome", "holds")})
    else:
        print_line(
            readable_line(
                f'Run "{found.name}": scenario {found.scenario}, seed {found.seed}, made by version {found.made_with}'
            )
        )
        for check in found.checks:
            print_line(readable_line(f"  {check.verdict:12}  {check.what}: {check.told}"))
        print_line(readable_line(f"{found.outcome.upper()}: {found.reason}"))
    raise typer.Exit(worst_of([found.outcome]))
