"""Uses of a stored run by a person: shown, listed, drawn, exported and reported."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from subflow_app.features.traces.core.traces import StoredTraces
from subflow_store import Store

_DRAWN = 25
"""matplotlib draws one run of so many, because it takes a hundred times as long as all other uses."""

_MOST_NUMBERS = 200_000
"""Longer runs are shown, but neither drawn nor exported: their length alone determines the time."""


def follow(store: Store, run_id: int, folder: Path, chance: int) -> None:
    """Shows, draws, exports and reports a run.

    Args:
        store: open for reading.
        run_id: the run.
        folder: for the files; the caller removes them.
        chance: any number that is derived from the input: multiples of `_DRAWN` draw figures and a report.

    Raises:
        Exception: errors that the project shows to people, and bugs.
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
        ElementTree.parse(path)  # well-formed with any names
    render_html(build_report(read_runs(store, [run_id]), plots=[plot]))
