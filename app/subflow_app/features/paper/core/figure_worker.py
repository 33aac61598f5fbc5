"""Drawing process, which receives figures and reports as plain values and returns the content of their files.

`subflow figure-worker` starts the process, which ends when its pipe is closed. `figure_process` uses the other end of
the pipe.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from subflow_app.features.paper.core.figure_plan import FigurePlan, Ground, PlotData
from subflow_app.features.paper.core.figure_process import (
    BROKEN,
    CONTENT,
    REFUSED,
    PreviewJob,
    pack,
    read_message,
    unpack,
    write_message,
)
from subflow_app.features.paper.core.figures import render_figure, render_preview
from subflow_app.features.paper.core.paper_styles import PaperStyle
from subflow_app.features.paper.core.report import Heading, Listing, Paragraph, Picture, Report
from subflow_app.features.paper.core.report_file import PrintJob, render_report
from subflow_app.features.plots.core import Band, Bar, Curve, Ticks
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.interruption import ignore_interrupts
from subflow_app.foundation.surroundings import take_stdout
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import (
    ColourScale,
    Panel,
    PanelSeries,
    Reference,
    SketchLink,
    SketchNode,
    TopologySketch,
)
from subflow_app.vocabulary.tables import TextColumn, TextTable

KINDS: tuple[type, ...] = (
    *(FigurePlan, PreviewJob, PlotData, Ticks, PaperStyle, Curve, Band, Bar, ColourKey),
    *(PrintJob, Report, Heading, Paragraph, Listing, Picture, TextTable, TextColumn),
    *(Panel, PanelSeries, Reference, ColourScale, Ground),
    *(TopologySketch, SketchNode, SketchLink),
)
"""Types of the records in jobs."""


Printer: TypeAlias = Callable[[PrintJob], bytes]


def main(print_pages: Printer) -> int:
    """Draws jobs until the pipe is closed; returns the exit code.

    Args:
        print_pages: returns the PDF of an HTML page.
    """
    ignore_interrupts()  # the process ends when the window closes the pipe
    answers = take_stdout()
    _warm_up()
    with os.fdopen(0, "rb", closefd=False) as requests:
        while (content := read_message(requests)) is not None:
            try:
                write_message(answers, pack(_answer(content, print_pages)))
            except BrokenPipeError:
                return 0  # the other process no longer waits for the answer
    return 0


def _answer(content: bytes, print_pages: Printer) -> tuple[str, Any]:
    try:
        job = unpack(content, KINDS)
        return CONTENT, _renderer(job, print_pages)(job)
    except AppError as error:
        return REFUSED, str(error)
    except Exception:
        # The other process raises the error again.
        return BROKEN, traceback.format_exc()


def _renderer(job: object, print_pages: Printer) -> Callable[[Any], object]:
    if isinstance(job, Report):
        return partial(render_report, print_pages=print_pages)
    if isinstance(job, PrintJob):
        return print_pages
    if isinstance(job, PreviewJob):
        return lambda wanted: render_preview(wanted.plan)
    if not isinstance(job, FigurePlan):
        raise TypeError(f"{type(job).__name__} cannot be drawn")
    return render_figure


def _warm_up() -> None:
    """Imports the parts of matplotlib that the first figure needs, before the first job arrives."""
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401
