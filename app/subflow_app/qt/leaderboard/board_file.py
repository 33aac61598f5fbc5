"""The leaderboard as a file: its values as CSV, or a picture of it, light for print."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from subflow_app.core.errors import ExportError, InputError
from subflow_app.core.leaderboard.board import Board
from subflow_app.core.leaderboard.board_text import values_csv
from subflow_app.qt.leaderboard.charts import BoardChart
from subflow_app.qt.theme import LIGHT

_SIZE = QSize(800, 560)
_PIXELS = 2  # per unit of a bitmap


def save_board(board: Board, chart: BoardChart, path: Path) -> None:
    """Writes every value (.csv), or a chart (.svg, .png).

    Raises:
        InputError: if the suffix is none of these.
        ExportError: if the file cannot be written.
    """
    suffix = path.suffix.lower()
    area = QRectF(0, 0, _SIZE.width(), _SIZE.height())
    if suffix == ".csv":
        try:
            path.write_text(values_csv(board), encoding="utf-8", newline="")
        except OSError as error:
            raise ExportError(f"{path}: cannot be written: {error.strerror or error}") from error
        return
    if suffix == ".svg":
        generator = QSvgGenerator()
        generator.setFileName(str(path))
        generator.setSize(_SIZE)
        generator.setViewBox(area)
        painter = QPainter()
        if not painter.begin(generator):
            raise ExportError(f"{path}: cannot be written")
        chart.draw(painter, area, LIGHT)
        painter.end()
        return
    if suffix != ".png":
        raise InputError(f"{path}: the ending says the format; allowed are .csv, .svg and .png")
    image = QImage(_SIZE * _PIXELS, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_PIXELS)
    painter = QPainter(image)
    chart.draw(painter, area, LIGHT)
    painter.end()
    if not image.save(str(path)):
        raise ExportError(f"{path}: cannot be written")
