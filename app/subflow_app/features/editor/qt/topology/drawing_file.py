"""The picture of a topology outside the window: a thumbnail, or a PNG or SVG file with a legend."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QImage, QPainter, QPen, QPixmap
from PySide6.QtSvg import QSvgGenerator

from subflow_app.features.editor.core.topology import TopologyPicture
from subflow_app.features.editor.qt.topology.items import Look
from subflow_app.features.editor.qt.topology.labels import copies_text
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit.theme import LIGHT, Tokens
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import hex_colour

_MARGIN = 24.0
_LEGEND_ROW = 20.0
_SWATCH = 22.0
_MOST_PIXELS = 16_000


class DrawingFileError(AppError):
    """Raised if a drawing cannot be written."""


def draw_thumbnail(picture: TopologyPicture, size: QSize, tokens: Tokens, font: QFont, ratio: float = 1.0) -> QPixmap:
    """Draw nodes, links and subflows without labels, as large as fits.

    Args:
        picture: topology to draw.
        size: size in logical pixels.
        tokens: colours of the theme.
        font: font of the names.
        ratio: device pixels per logical pixel.
    """
    scene = TopologyScene(Look.of(tokens, font))
    scene.show_picture(picture)
    scene.set_labels_shown(False)
    pixmap = QPixmap(size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(QColor(tokens.base))
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    target = QRectF(QPointF(4, 4), QSizeF(size) - QSizeF(8, 8))
    for _ in range(2):
        # Names are enlarged at small scales and may then need more room.
        area = scene.content_rect()
        scene.set_zoom(min(target.width() / max(area.width(), 1.0), target.height() / max(area.height(), 1.0)))
    scene.render(painter, target, scene.content_rect())
    painter.end()
    return pixmap


class DrawingFile:
    """A drawing at 100 % in light colours, with a legend of its subflows below."""

    def __init__(self, picture: TopologyPicture, font: QFont, title: str) -> None:
        """Lays out the picture without writing a file."""
        self._picture = picture
        self._title = title
        self._scene = TopologyScene(Look.of(LIGHT, font))
        self._scene.show_picture(picture)
        self._scene.set_zoom(1.0)
        self._font = font
        self._metrics = QFontMetricsF(font)
        content = self._scene.content_rect()
        self._content = content if not content.isEmpty() else QRectF(0, 0, 200, 100)
        self._rows = self._legend_rows()

    @property
    def size(self) -> QSizeF:
        """Size in canvas units."""
        legend = len(self._rows) * _LEGEND_ROW + (_MARGIN / 2 if self._rows else 0.0)
        return QSizeF(self._content.width() + 2 * _MARGIN, self._content.height() + 2 * _MARGIN + legend)

    def write(self, path: Path, scale: float = 2.0) -> None:
        """Write a PNG or SVG file, depending on the suffix.

        Args:
            path: path of the file, which is replaced.
            scale: pixels per canvas unit in a PNG, reduced if the image would be too large for other programs.

        Raises:
            DrawingFileError: if the file cannot be written, or its suffix is neither `.png` nor `.svg`.
        """
        if path.suffix.lower() == ".svg":
            self._write_svg(path)
        elif path.suffix.lower() == ".png":
            self._write_png(path, scale)
        else:
            raise DrawingFileError(f"{path}: drawings are written as .png or .svg")

    def _write_svg(self, path: Path) -> None:
        generator = QSvgGenerator()
        generator.setFileName(str(path))
        generator.setTitle(self._title)
        generator.setDescription(tr("Topology drawn by Subflow"))
        # Font sizes are in points. At the screen's resolution, texts fit the boxes measured for them.
        generator.setResolution(round(QGuiApplication.primaryScreen().logicalDotsPerInch()))
        generator.setSize(self.size.toSize())
        generator.setViewBox(QRectF(QPointF(0, 0), self.size))
        painter = QPainter()
        if not _can_write(path) or not painter.begin(generator):
            raise DrawingFileError(f"{path} cannot be written: choose another place")
        self._draw(painter)
        painter.end()

    def _write_png(self, path: Path, scale: float) -> None:
        longest = max(self.size.width(), self.size.height())
        scale = min(scale, _MOST_PIXELS / longest)
        image = QImage((self.size * scale).toSize(), QImage.Format.Format_ARGB32)
        image.fill(QColor(LIGHT.base))
        painter = QPainter(image)
        painter.scale(scale, scale)
        self._draw(painter)
        painter.end()
        if not image.save(str(path)):
            raise DrawingFileError(f"{path} cannot be written: choose another place")

    def _draw(self, painter: QPainter) -> None:
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.fillRect(QRectF(QPointF(0, 0), self.size), QColor(LIGHT.base))
        target = QRectF(QPointF(_MARGIN, _MARGIN), self._content.size())
        self._scene.render(painter, target, self._content)
        painter.setFont(self._font)
        y = self._content.height() + 1.5 * _MARGIN
        for row in self._rows:
            x = _MARGIN
            for text, colour, is_dashed in row:
                pen = QPen(QColor(colour), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
                if is_dashed:
                    pen.setDashPattern([1.6, 0.8])
                painter.setPen(pen)
                painter.drawLine(QPointF(x, y + _LEGEND_ROW / 2), QPointF(x + _SWATCH, y + _LEGEND_ROW / 2))
                painter.setPen(QColor(LIGHT.text))
                painter.drawText(
                    QRectF(x + _SWATCH + 6, y, self._metrics.horizontalAdvance(text) + 4, _LEGEND_ROW),
                    Qt.AlignmentFlag.AlignVCenter,
                    text,
                )
                x += self._entry_width(text)
            y += _LEGEND_ROW

    def _legend_rows(self) -> list[list[tuple[str, str, bool]]]:
        """Wrap the legend to the width of the picture."""
        rows: list[list[tuple[str, str, bool]]] = []
        x = self._content.width() + 1
        for path in self._picture.paths.values():
            text = path.label + copies_text(path)
            if x + self._entry_width(text) > self._content.width():
                rows.append([])
                x = 0.0
            rows[-1].append((text, hex_colour(path.colour, dark=False), path.sends_datagrams))
            x += self._entry_width(text)
        return rows

    def _entry_width(self, text: str) -> float:
        return _SWATCH + 6 + self._metrics.horizontalAdvance(text) + 18


def _can_write(path: Path) -> bool:
    """True if the file can be opened for writing; checked here, because the SVG generator reports no error."""
    try:
        with path.open("ab"):
            return True
    except OSError:
        return False
