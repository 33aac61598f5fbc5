"""The visible figure as a file: the plots, range and lines of the window, but light, with a legend, for print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt

from subflow_app.features.history.core.run_names import told_apart
from subflow_app.features.paper.core.figure_plan import FigureKind, figure_kind
from subflow_app.features.paper.core.paper_styles import HEIGHT_RANGE_MM, MM_PER_INCH
from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id, run_names
from subflow_app.features.plots.qt.curve_item import curve_pen
from subflow_app.features.plots.qt.figure_file import LAYOUT_DPI, FigureSize, paper_font, picture_content
from subflow_app.features.plots.qt.plot_stack import PlotStack
from subflow_app.features.plots.qt.stacked_plot import PAPER_WIDTH
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.files import write_file
from subflow_app.toolkit.plotting.legend_strip import Entry, LegendStrip
from subflow_app.toolkit.theme import LIGHT
from subflow_app.vocabulary.language import tr

_LEGEND_MARGIN = 70.0
_MOST_LEGEND_ROWS = 8
_FEW_PLOTS = 3  # that share the height that was asked for, low as they may be
_LEAST_PLOT, _PLOT_OF_MANY = 80, 140  # px; titles of axes are not over each other


def save_figure(shown: PlotStack, path: Path, size: FigureSize) -> None:
    """Writes what ``shown`` shows.

    Args:
        shown: the plots of the window.
        path: its suffix says the format, one of :data:`FIGURE_KINDS`.
        size: of the figure.

    Raises:
        InputError: if the suffix is none of these or nothing is shown.
        ExportError: if the file cannot be written.
    """
    write_file(path, figure_content(shown, figure_kind(path), size))


def figure_content(shown: PlotStack, kind: FigureKind, size: FigureSize) -> bytes:
    """The content of a file with what ``shown`` shows.

    Raises:
        InputError: if nothing is shown, or no figure is that large.
    """
    size.layout_size()
    if not shown.runs:
        raise InputError(tr("no figure to export yet: run a scenario or open a stored run first"))
    figure, head = _paper_copy(shown, size)
    plots = len(shown.specs)
    least = head + plots * (_LEAST_PLOT if plots <= _FEW_PLOTS else _PLOT_OF_MANY)
    least_mm = min(least / LAYOUT_DPI * MM_PER_INCH, HEIGHT_RANGE_MM[1])
    if least_mm > size.height_mm:
        # Many plots make the page higher than was asked for. Anew: what is laid out keeps the places that it has.
        figure.close()
        figure.deleteLater()
        size = replace(size, height_mm=least_mm)
        figure, _ = _paper_copy(shown, size)
    try:
        return picture_content(figure, kind, size)
    finally:
        figure.close()
        figure.deleteLater()


def _paper_copy(shown: PlotStack, size: FigureSize) -> tuple[PlotStack, float]:
    """The figure, and how high its legend is, px."""
    figure = PlotStack(shown.specs, paper=True, font=paper_font())
    width, height = size.layout_size().toTuple()
    # Laid out like a widget on screen, without ever being one.
    figure.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    figure.resize(width, height)
    figure.show_like(shown)
    lines: dict[CurveId, Curve] = {}
    for plot in figure.plots:
        for curve in plot.shown_curves():
            lines.setdefault(curve_id(curve), curve)
    names = run_names(figure.curves.values())
    runs = dict(zip(names, told_apart(list(names.values()))[1], strict=True))
    entries = [
        Entry(
            f"{runs[curve.run]}: {curve.label}" if len(runs) > 1 else curve.label,
            curve_pen(curve, dark=False, width=PAPER_WIDTH),
        )
        for curve in lines.values()
    ]
    strip = LegendStrip(entries, paper_font(), width - _LEGEND_MARGIN, LIGHT.text, most_rows=_MOST_LEGEND_ROWS)
    figure.set_head(strip)
    figure.show()
    return figure, strip.maximumHeight()
