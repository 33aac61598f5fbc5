"""``subflow report``: writes a report on stored runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.features.exporting.cli import named_figures
from subflow_app.terminal.options import Database, Json, RunIds, opened_store, run_number
from subflow_app.terminal.terminal import print_json, print_line


def report(
    runs: RunIds,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File .html or .pdf; default: report-N.html.")
    ] = None,
    figure: Annotated[
        str | None, typer.Option(metavar="LIST", help="Figures, as in `export`; default: the usual ones.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title; default: the names of the runs.")] = "",
    page: Annotated[str, typer.Option(metavar="SIZE", help="Page size of a PDF: a4 or letter.")] = "a4",
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Write a report on stored runs.

    It has the topology, parameters, figures, tables, seeds and versions, and the commands that repeat the runs.

    Runs that differ only in their seed share a row, with mean and 95 % confidence interval. HTML is one
    self-contained file; PDF has numbered pages.
    """
    from subflow_app.features.paper.core.report import build_report, page_size, read_runs, report_kind
    from subflow_app.features.paper.core.report_file import render_report
    from subflow_app.foundation.files import write_file

    size = page_size(page)
    plots = None if figure is None else named_figures(figure)
    with opened_store(database, read_only=True) as store:
        numbers = [run_number(store, run) for run in runs]
        target = out or Path(f"report-{'-'.join(map(str, dict.fromkeys(numbers)))}.html")
        kind = report_kind(target)
        made = build_report(read_runs(store, numbers), plots=plots, title=title)
    write_file(target, render_report(replace(made, kind=kind, page=size)))
    if as_json:
        print_json({"run_ids": list(dict.fromkeys(numbers)), "file": str(target)})
    else:
        print_line(f"wrote {target}")
