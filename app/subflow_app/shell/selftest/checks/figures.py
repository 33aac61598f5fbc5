"""Figures in every format and reports to hand in, drawn by the command and by the process that draws for the window."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

from subflow_app.shell.selftest.check import Check, Place, keep_short_run, require

_STARTS = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


def check(place: Place) -> str:
    """Draws a run both ways."""
    database = place.folder / "runs.subflow"
    number = keep_short_run(database)
    words = ("--format", ",".join(_STARTS), "--figure", "throughput", "--out", "drawn")
    place.subflow("export", number, "--db", database, *words)
    drawn = {kind: (place.folder / "drawn" / f"throughput.{kind}").read_bytes() for kind in _STARTS}
    for kind, content in drawn.items():
        require(content.startswith(_STARTS[kind]), f"throughput.{kind} begins with {content[:8]!r}")
    ElementTree.fromstring(drawn["svg"])
    picture, page, pages = _drawn_for_the_window(database, number)
    require(picture == drawn["png"], "the window's figure is another than the command's")
    require(b"<svg" in page and b"T-2link" in page, "the report for browsers has no figure, or not the run's name")
    require(pages.startswith(b"%PDF-") and b"%%EOF" in pages[-64:], "the report as PDF is not whole")
    sizes = ", ".join(f"{kind} {len(content) // 1000} kB" for kind, content in drawn.items())
    return f"{sizes}, the window's the same; report html {len(page) // 1000} kB, pdf {len(pages) // 1000} kB"


def _drawn_for_the_window(database: Path, number: int) -> tuple[bytes, bytes, bytes]:
    """A figure, and the report in both forms."""
    from subflow_app.features.paper.core.figure_plan import FigureLook, run_plan
    from subflow_app.features.paper.core.figure_process import FigureProcess
    from subflow_app.features.paper.core.report import build_report, read_runs
    from subflow_app.features.plots.core import PLOTS_BY_ID
    from subflow_app.features.traces.core.traces import StoredTraces
    from subflow_store import open_store

    process, plots = FigureProcess(), [PLOTS_BY_ID["throughput"]]
    try:
        process.start()
        with open_store(database, read_only=True) as store:
            plan = run_plan(plots, [StoredTraces(store, number)])
            report = build_report(read_runs(store, [number]), plots=plots)
        picture = process.draw(FigureLook(dpi=300).of(plan, "png"))
        return picture, process.draw(replace(report, kind="html")), process.draw(replace(report, kind="pdf"))
    finally:
        process.close()


CHECK = Check("export of figures", check)
