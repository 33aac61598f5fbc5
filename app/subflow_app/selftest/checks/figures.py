"""Figures in every format, drawn by the command and by the process that draws for the window."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from subflow_app.selftest.check import Check, Place, require
from subflow_app.selftest.short_run import keep_short_run

_STARTS = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


def check(place: Place) -> str:
    """Draws a run both ways."""
    database = place.folder / "runs.db"
    number = keep_short_run(database)
    place.subflow(
        *("export", number, "--db", database, "--format", ",".join(_STARTS), "--figure", "throughput", "--out", "drawn")
    )
    drawn = {kind: (place.folder / "drawn" / f"throughput.{kind}").read_bytes() for kind in _STARTS}
    for kind, content in drawn.items():
        require(content.startswith(_STARTS[kind]), f"throughput.{kind} begins with {content[:8]!r}")
    ElementTree.fromstring(drawn["svg"])
    require(
        _drawn_for_the_window(database, number) == drawn["png"], "the window's figure is another than the command's"
    )
    return f"{', '.join(_STARTS)}: {sum(map(len, drawn.values())) // 1000} kB; the window's the same"


def _drawn_for_the_window(database: Path, number: int) -> bytes:
    from subflow_app.core.paper.figure_plan import FigureLook, run_plan
    from subflow_app.core.paper.figure_process import FigureProcess
    from subflow_app.core.traces import StoredTraces
    from subflow_app.plots import PLOTS_BY_ID
    from subflow_store import open_store

    process = FigureProcess()
    try:
        process.start()
        with open_store(database, read_only=True) as store:
            plan = run_plan([PLOTS_BY_ID["throughput"]], [StoredTraces(store, number)])
        return process.draw(FigureLook(dpi=300).of(plan, "png"))
    finally:
        process.close()


CHECK = Check("export of figures", check)
