"""How a stored run goes on: shown, listed, drawn, exported and reported, as a person would do with it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from subflow_app.features.traces.core.traces import StoredTraces
from subflow_store import Store

_DRAWN = 25
"""One run of so many is drawn by matplotlib too, which takes a hundred times as long as all the rest."""

_MOST_NUMBERS = 200_000
"""Longer runs are shown, but neither drawn nor exported: the time that takes is that of their length alone."""


def follow(store: Store, run_id: int, folder: Path, chance: int) -> None:
    """Does it with a run.

    Args:
        store: open for reading.
        run_id: which run.
        folder: for the files, which are removed by whoever gave it.
        chance: any number that comes with the input: 0 of `_DRAWN` draws figures and a report.

    Raises:
        Exception: what the project tells people, and what is a bug.
    """
    from subflow_app.features.comparison.core.results import results_of
    from subflow_app.features.exporting.core.exports import ExportPlan, export_run
    from subflow_app.features.exporting.core.table_formats import export_table
    from subflow_app.features.exporting.core.web_page import recorded_curves
    from subflow_app.features.history.cli import run_document, shown_document
    from subflow_app.features.history.core.run_comparison import compare_settings, run_figures, settings_text
    from subflow_app.features.plots.core import PLOTS, TIME
    from subflow_app.features.plots.core.bar_plots import measured_value
    from subflow_app.features.traces.core.summary_text import summary_line, summary_tables
    from subflow_app.foundation.json_document import json_text

    row = store.run(run_id)
    json_text(run_document(row, {}))
    document = shown_document(row)
    json_text(document)
    summary_line(document)
    summary_tables(document)
    figures = run_figures(row)
    settings_text(compare_settings([row, row]), [row, row], ",")
    traces = StoredTraces(store, run_id)
    results_of([traces])
    if row.duration_s / row.sample_interval_s * len(traces.keys()) > _MOST_NUMBERS:
        return
    plots = [plot for plot in PLOTS if plot.is_in(traces)]
    for plot in plots:
        plot.all_bars([traces])
        for curve in plot.overlay([traces]) if plot.kind == TIME else ():
            measured_value(plot, curve, figures, traces.warmup_s)
    recorded_curves(traces)
    plan = ExportPlan(figures=tuple(plots), figure_formats=(), figure_data=True)
    export_run(traces, folder / "csv", plan, summary=document)
    if traces.keys():
        export_table(traces, folder / "long", "csv-long")
    if chance % _DRAWN == 0 and plots:
        _draw(store, run_id, traces, folder, chance)


def _draw(store: Store, run_id: int, traces: StoredTraces, folder: Path, chance: int) -> None:
    from subflow_app.features.exporting.core.exports import ExportPlan, export_run
    from subflow_app.features.paper.core.report import build_report, read_runs
    from subflow_app.features.paper.core.report_file import render_html
    from subflow_app.features.plots.core import PLOTS

    plots = [plot for plot in PLOTS if plot.is_in(traces)]
    plot = plots[chance // _DRAWN % len(plots)]
    plan = ExportPlan(run_data=False, figures=(plot,), figure_formats=("svg",))
    for path in export_run(traces, folder / "svg", plan):
        ElementTree.parse(path)  # it is well-formed, whatever the names are
    render_html(build_report(read_runs(store, [run_id]), plots=[plot]))
