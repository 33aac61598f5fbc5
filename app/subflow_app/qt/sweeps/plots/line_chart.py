"""A figure over a parameter, a line with its 95 % band per series."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QWidget

from subflow_app.core.language import tr, trn
from subflow_app.core.sweeps.views.lines import Line, LinePoint, LinesContent
from subflow_app.qt.plotting.curve_item import make_pen
from subflow_app.qt.sweeps.plots.study_plot import SYMBOLS, Hit, StudyPlot
from subflow_app.qt.theme import Tokens
from subflow_sim.stats import Estimate

_MARK = 7
_BAND_ALPHA = 50


class LineChart(StudyPlot):
    """Lines with marks where something was simulated."""

    content: LinesContent | None = None

    def __init__(self, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None) -> None:
        """No lines yet."""
        super().__init__(tokens, font, parent)
        self.setObjectName("sweep_lines")
        self.setAccessibleName(tr("Lines of a figure over a parameter, with 95 % intervals"))

    def _draw(self) -> None:
        content = self.content
        assert content is not None
        is_log = content.can_be_log
        self.item.setLogMode(is_log, False)
        parameter = content.parameter
        self._label("bottom", parameter.title)
        self._label("left", content.figure.axis_title)
        if parameter.is_numeric:
            self.item.getAxis("bottom").set_names(())
        else:
            self._names("bottom", parameter)
        for line in content.lines:
            self._draw_line(content, line, is_log=is_log)
        self._series(content.series, [line.series for line in content.lines], has_symbols=True)

    def _draw_line(self, content: LinesContent, line: Line, *, is_log: bool) -> None:
        scale = content.figure.scale
        x = np.array([point.x for point in line.points])
        x = np.log10(x) if is_log else x
        y = np.array([point.mean for point in line.points]) * scale
        half = np.array([0.0 if math.isnan(point.ci95) else point.ci95 for point in line.points]) * scale
        colour = self._colour(line.series)
        if half.any():
            # Without a line of their own, and not counted by the legend.
            edges = [pg.PlotCurveItem(x, y + sign * half, pen=None) for sign in (1, -1)]
            fill = QColor(colour)
            fill.setAlpha(_BAND_ALPHA)
            for edge in edges:
                self._add(edge)
            band = pg.FillBetweenItem(*edges, brush=fill)
            band.setZValue(-10)
            self._add(band, counts=False)
        self._add(pg.PlotCurveItem(x, y, pen=make_pen(colour.name(), width=1.5 * self.line_width), antialias=True))
        marks = pg.ScatterPlotItem(
            x, y, size=_MARK, symbol=SYMBOLS[line.series % len(SYMBOLS)], brush=colour, pen=make_pen(self._tokens.base)
        )
        self._add(marks)
        for place, value, point in zip(x, y, line.points, strict=True):
            self._hits.append(Hit(float(place), float(value), self._words(content, line, point), point.points))

    def _words(self, content: LinesContent, line: Line, point: LinePoint) -> str:
        parameter, figure = content.parameter, content.figure
        at = (
            f"{point.x:.6g} {parameter.unit}".strip() if parameter.is_numeric else parameter.levels[round(point.x)].text
        )
        parts = [f"{content.series.key}: {line.name}"] if content.series is not None else []
        parts.append(f"{parameter.key}: {at}")
        value = figure.interval_text(Estimate(point.mean, point.ci95))
        if math.isfinite(point.ci95):
            value = tr("{value} (95 % interval)", value=value)
        parts += [f"{figure.name}: {value}", trn("{count} run", "{count} runs", point.runs)]
        return "\n".join(parts)
