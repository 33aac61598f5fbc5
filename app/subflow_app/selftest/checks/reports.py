"""Reports to hand in, as a page for a browser and as a PDF, made by the process that draws for the window."""

from __future__ import annotations

from subflow_app.selftest.check import Check, Place, require
from subflow_app.selftest.short_run import keep_short_run


def check(place: Place) -> str:
    """Makes both."""
    from dataclasses import replace

    from subflow_app.core.paper.figure_process import FigureProcess
    from subflow_app.core.paper.report import build_report, read_runs
    from subflow_app.plots import PLOTS_BY_ID
    from subflow_store import open_store

    database = place.folder / "runs.subflow"
    number = keep_short_run(database)
    process = FigureProcess()
    try:
        process.start()
        with open_store(database, read_only=True) as store:
            report = build_report(read_runs(store, [number]), plots=[PLOTS_BY_ID["throughput"]])
        page, pages = process.draw(replace(report, kind="html")), process.draw(replace(report, kind="pdf"))
    finally:
        process.close()
    require(b"<svg" in page and b"T-2link" in page, "the page has no figure, or not the name of the run")
    require(pages.startswith(b"%PDF-") and b"%%EOF" in pages[-64:], "the PDF is not whole")
    return f"html {len(page) // 1000} kB, pdf {len(pages) // 1000} kB"


CHECK = Check("export of reports", check)
