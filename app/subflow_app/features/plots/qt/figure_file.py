"""Pictures as SVG, PDF and PNG files, whatever draws them.

Qt's own writers are used: pyqtgraph 0.14.0 cannot write SVG on Qt 6.11 (its exporter raises ValueError).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from subflow_app.features.paper.core.figure_plan import FigureKind
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH, checked_height, checked_width

# The layout is made at this resolution, px per inch, whatever the file's own; a font of 10.5 px is then 7.9 pt.
LAYOUT_DPI = 96.0
_FONT_PX = 10.5


@dataclass(frozen=True, slots=True)
class FigureSize:
    """Size on paper, mm, and resolution of a PNG, px per inch."""

    width_mm: float = 170.0
    height_mm: float = 150.0
    dpi: int = 300

    def layout_size(self) -> QSize:
        """In px of the layout.

        Raises:
            InputError: if no figure is that large.
        """
        checked_width(self.width_mm)
        checked_height(self.height_mm)
        scale = LAYOUT_DPI / MM_PER_INCH
        return QSize(round(self.width_mm * scale), round(self.height_mm * scale))


class Picture(Protocol):
    """What can be written: something as large as :meth:`FigureSize.layout_size`."""

    def draw_on(self, painter: QPainter, target: QRectF) -> None:
        """Draws all of it into an area."""

    def set_line_width(self, width: float) -> None:
        """Draws wider lines, for a picture of more pixels."""


def paper_font() -> QFont:
    """The font of figures."""
    font = QFont()
    font.setPixelSize(round(_FONT_PX))
    return font


def picture_content(picture: Picture, kind: FigureKind, size: FigureSize) -> bytes:
    """The content of a file with this picture."""
    write = {"svg": _write_svg, "pdf": _write_pdf, "png": _write_png}[kind]
    # Into memory, because Qt's writers fail without a reason.
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    write(picture, content, size)
    return bytes(content.data().data())


def _write_svg(picture: Picture, content: QBuffer, size: FigureSize) -> None:
    layout = size.layout_size()
    writer = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    writer.setOutputDevice(content)
    writer.setTitle("Subflow figure")
    writer.setResolution(round(LAYOUT_DPI))
    writer.setSize(layout)
    writer.setViewBox(QRect(0, 0, layout.width(), layout.height()))
    painter = QPainter(writer)
    _draw(picture, painter, QRectF(0, 0, layout.width(), layout.height()))


def _write_pdf(picture: Picture, content: QBuffer, size: FigureSize) -> None:
    writer = QPdfWriter(content)
    writer.setCreator("Subflow")
    writer.setTitle("Subflow figure")
    # At the resolution of the layout a pen of 1 px is 0.75 pt; at a finer one lines would be hairlines.
    writer.setResolution(round(LAYOUT_DPI))
    page = QPageSize(QSizeF(size.width_mm, size.height_mm), QPageSize.Unit.Millimeter)
    writer.setPageSize(page)
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter(writer)
    _draw(picture, painter, QRectF(0, 0, writer.width(), writer.height()))


def _write_png(picture: Picture, content: QBuffer, size: FigureSize) -> None:
    layout = size.layout_size()
    scale = size.dpi / LAYOUT_DPI
    image = QImage(round(layout.width() * scale), round(layout.height() * scale), QImage.Format.Format_RGB32)
    # While it is drawn on, the picture has the resolution of the layout: pyqtgraph's axes are recordings (QPicture),
    # and Qt would scale them by the ratio of the resolutions, on top of the scale that the whole figure has.
    _set_resolution(image, LAYOUT_DPI)
    image.fill(Qt.GlobalColor.white)
    picture.set_line_width(scale)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    _draw(picture, painter, QRectF(0, 0, image.width(), image.height()))
    _set_resolution(image, size.dpi)
    # The stubs know names of files alone.
    image.save(content, "PNG")  # type: ignore[call-overload]


def _set_resolution(image: QImage, dpi: float) -> None:
    image.setDotsPerMeterX(round(dpi / MM_PER_INCH * 1000))
    image.setDotsPerMeterY(round(dpi / MM_PER_INCH * 1000))


def _draw(picture: Picture, painter: QPainter, target: QRectF) -> None:
    try:
        picture.draw_on(painter, target)
    finally:
        painter.end()
