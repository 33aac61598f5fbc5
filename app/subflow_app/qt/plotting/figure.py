"""The visible figure as a file: the same plots, range and lines as in the window, but light, with a legend, for print.

Qt's own writers are used: pyqtgraph 0.14.0 cannot write SVG on Qt 6.11 (its exporter raises ValueError).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from subflow_app.core.errors import InputError
from subflow_app.core.language import tr
from subflow_app.core.paper.figure_plan import FigureKind, figure_kind
from subflow_app.core.paper.figures import write_figure
from subflow_app.core.paper.paper_styles import MM_PER_INCH, checked_height, checked_width
from subflow_app.plots import Curve
from subflow_app.qt.plotting.curve_id import CurveId, curve_id, run_names
from subflow_app.qt.plotting.curve_item import curve_pen
from subflow_app.qt.plotting.legend_strip import Entry, LegendStrip
from subflow_app.qt.plotting.plot_item import PAPER_WIDTH
from subflow_app.qt.plotting.plot_stack import PlotStack
from subflow_app.qt.theme import LIGHT

# The layout is made at this resolution, px per inch, whatever the file's own; a font of 10.5 px is then 7.9 pt.
_LAYOUT_DPI = 96.0
_FONT_PX = 10.5
_LEGEND_MARGIN = 70.0


@dataclass(frozen=True, slots=True)
class FigureSize:
    """Size on paper, mm, and resolution of a PNG, px per inch."""

    width_mm: float = 170.0
    height_mm: float = 150.0
    dpi: int = 300


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
    write_figure(path, figure_content(shown, figure_kind(path), size))


def figure_content(shown: PlotStack, kind: FigureKind, size: FigureSize) -> bytes:
    """The content of a file with what ``shown`` shows.

    Raises:
        InputError: if nothing is shown, or no figure is that large.
    """
    checked_width(size.width_mm)
    checked_height(size.height_mm)
    if not shown.runs:
        raise InputError(tr("there is no figure to export yet: run a scenario or open a stored run first"))
    write = {"svg": _write_svg, "pdf": _write_pdf, "png": _write_png}[kind]
    figure = _paper_copy(shown, size)
    # Into memory, because Qt's writers fail without a reason.
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    try:
        write(figure, content, size)
    finally:
        figure.close()
        figure.deleteLater()
    return bytes(content.data().data())


def _paper_copy(shown: PlotStack, size: FigureSize) -> PlotStack:
    figure = PlotStack([plot.spec for plot in shown.plots], LIGHT, paper=True, font=_font())
    width, height = _layout_size(size)
    # Laid out like a widget on screen, without ever being one.
    figure.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    figure.resize(width, height)
    figure.show_like(shown)
    lines: dict[CurveId, Curve] = {}
    for plot in figure.plots:
        for curve in plot.shown_curves():
            lines.setdefault(curve_id(curve), curve)
    runs = run_names(figure.curves.values())
    entries = [
        Entry(
            f"{runs[curve.run]}: {curve.label}" if len(runs) > 1 else curve.label,
            curve_pen(curve, dark=False, width=PAPER_WIDTH),
        )
        for curve in lines.values()
    ]
    figure.set_head(LegendStrip(entries, _font(), width - _LEGEND_MARGIN, LIGHT.text))
    figure.show()
    return figure


def _font() -> QFont:
    font = QFont()
    font.setPixelSize(round(_FONT_PX))
    return font


def _layout_size(size: FigureSize) -> tuple[int, int]:
    scale = _LAYOUT_DPI / MM_PER_INCH
    return round(size.width_mm * scale), round(size.height_mm * scale)


def _write_svg(figure: PlotStack, content: QBuffer, size: FigureSize) -> None:
    width, height = _layout_size(size)
    writer = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    writer.setOutputDevice(content)
    writer.setTitle("Subflow figure")
    writer.setResolution(round(_LAYOUT_DPI))
    writer.setSize(QSize(width, height))
    writer.setViewBox(QRect(0, 0, width, height))
    painter = QPainter(writer)
    _draw(figure, painter, QRectF(0, 0, width, height))


def _write_pdf(figure: PlotStack, content: QBuffer, size: FigureSize) -> None:
    writer = QPdfWriter(content)
    writer.setCreator("Subflow")
    writer.setTitle("Subflow figure")
    # At the resolution of the layout a pen of 1 px is 0.75 pt; at a finer one lines would be hairlines.
    writer.setResolution(round(_LAYOUT_DPI))
    page = QPageSize(QSizeF(size.width_mm, size.height_mm), QPageSize.Unit.Millimeter)
    writer.setPageSize(page)
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter(writer)
    _draw(figure, painter, QRectF(0, 0, writer.width(), writer.height()))


def _write_png(figure: PlotStack, content: QBuffer, size: FigureSize) -> None:
    width, height = _layout_size(size)
    scale = size.dpi / _LAYOUT_DPI
    image = QImage(round(width * scale), round(height * scale), QImage.Format.Format_RGB32)
    # While it is drawn on, the picture has the resolution of the layout: pyqtgraph's axes are recordings (QPicture),
    # and Qt would scale them by the ratio of the resolutions, on top of the scale that the whole figure has.
    _set_resolution(image, _LAYOUT_DPI)
    image.fill(Qt.GlobalColor.white)
    figure.set_line_width(scale)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    _draw(figure, painter, QRectF(0, 0, image.width(), image.height()))
    _set_resolution(image, size.dpi)
    # The stubs know names of files alone.
    image.save(content, "PNG")  # type: ignore[call-overload]


def _set_resolution(image: QImage, dpi: float) -> None:
    image.setDotsPerMeterX(round(dpi / MM_PER_INCH * 1000))
    image.setDotsPerMeterY(round(dpi / MM_PER_INCH * 1000))


def _draw(figure: PlotStack, painter: QPainter, target: QRectF) -> None:
    try:
        figure.render(painter, target, figure.viewRect().toRect())
    finally:
        painter.end()
