"""Figures in every format, drawn by the command and by the process that draws for the window."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

from subflow_app.selftest.check import SHORT_RUN, Check, Place, require

_STARTS = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


def check(place: Place) -> str:
    """Draws a run both ways."""
    database = place.folder / "runs.db"
    place.subflow("run", *SHORT_RUN, "--db", database)
    place.subflow(
        *("export", 1, "--db", database, "--format", ",".join(_STARTS), "--figure", "throughput", "--out", "drawn")
    )
    drawn = {kind: (place.folder / "drawn" / f"throughput.{kind}").read_bytes() for kind in _STARTS}
    for kind, content in drawn.items():
        require(content.startswith(_STARTS[kind]), f"throughput.{kind} begins with {content[:8]!r}")
    ElementTree.fromstring(drawn["svg"])
    require(_drawn_for_the_window(database, "png") == drawn["png"], "the window's figure is another than the command's")
    return f"{', '.join(_STARTS)}: {sum(map(len, drawn.values())) // 1000} kB; the window's the same"


def _drawn_for_the_window(database: Path, kind: str) -> bytes:
    from subflow_app.core.paper.figure_plan import FigureLook, figure_kind, run_plan
    from subflow_app.core.paper.figure_process import FigureProcess
    from subflow_app.core.traces import StoredTraces
    from subflow_app.plots import PLOTS_BY_ID
    from subflow_store import open_store

    process = FigureProcess()
    try:
        process.start()
        with open_store(database, read_only=True) as store:
            plan = run_plan([PLOTS_BY_ID["throughput"]], [StoredTraces(store, 1)])
        look = replace(FigureLook(), dpi=300)
        return process.draw(look.of(plan, figure_kind(Path(f"figure.{kind}"))))
    finally:
        process.close()


CHECK = Check("export of figures", check)
