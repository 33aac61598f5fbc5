"""Boxes of a figure by the values of a parameter, with every single run as a dot."""

from __future__ import annotations

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QGraphicsLineItem, QGraphicsRectItem, QWidget

from subflow_app.core.language import tr, trn
from subflow_app.core.sweeps.views.boxes import Box, BoxesContent
from subflow_app.qt.plotting.curve_item import make_pen
from subflow_app.qt.sweeps.plots.study_plot import Hit, StudyPlot
from subflow_app.qt.theme import Tokens

_FILLED = 0.84  # share of a place that its boxes take
_SPREAD = 0.6  # share of a box over which its dots are spread
_FILL_ALPHA = 70
_MOST_DOTS = 60


class BoxChart(StudyPlot):
    """Boxes beside each other."""

    content: BoxesContent | None = None

    def __init__(self, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None) -> None:
        """No boxes yet."""
        super().__init__(tokens, font, parent)
        self.setObjectName("sweep_boxes")
        self.setAccessibleName(tr("Box plots of a figure by a parameter"))
        self.view.setMouseEnabled(x=False, y=True)

    def fit(self) -> None:
        """Shows all boxes."""
        super().fit()
        if self.content is not None:
            self.view.setXRange(-0.6, len(self.content.parameter.levels) - 0.4, padding=0.0)

    def _draw(self) -> None:
        content = self.content
        assert content is not None
        used = sorted({box.series for box in content.boxes})
        width = _FILLED / max(1, len(used))
        for box in content.boxes:
            middle = box.level + (used.index(box.series) + 0.5) * width - _FILLED / 2
            self._draw_box(content, box, middle, width * 0.86)
        self._label("bottom", content.parameter.key)
        self._names("bottom", content.parameter)
        self._label("left", content.figure.axis_title)
        self._series(content.series, used)

    def _draw_box(self, content: BoxesContent, box: Box, middle: float, width: float) -> None:
        scale = content.figure.scale
        colour = self._colour(box.series)
        fill = QColor(colour)
        fill.setAlpha(_FILL_ALPHA)
        pen = make_pen(colour.name(), width=1.3 * self.line_width)
        body = QGraphicsRectItem(QRectF(middle - width / 2, box.q1 * scale, width, (box.q3 - box.q1) * scale))
        body.setPen(pen)
        body.setBrush(fill)
        self._add(body)
        low, q1, q3, high, median = (value * scale for value in (box.low, box.q1, box.q3, box.high, box.median))
        cap = width / 4
        lines = [
            QLineF(middle, low, middle, q1),
            QLineF(middle, q3, middle, high),
            QLineF(middle - cap, low, middle + cap, low),
            QLineF(middle - cap, high, middle + cap, high),
        ]
        for line in lines:
            part = QGraphicsLineItem(line)
            part.setPen(pen)
            self._add(part)
        heavy = QGraphicsLineItem(QLineF(middle - width / 2, median, middle + width / 2, median))
        strong = make_pen(self._tokens.text, width=2.0 * self.line_width)
        strong.setCapStyle(Qt.PenCapStyle.FlatCap)
        heavy.setPen(strong)
        self._add(heavy)
        self._hits.append(Hit(middle, median, self._words(content, box), tuple({v.point: None for v in box.values})))
        self._draw_runs(content, box, middle, width)

    def _draw_runs(self, content: BoxesContent, box: Box, middle: float, width: float) -> None:
        outliers = set(box.outliers)
        shown = box.values if len(box.values) <= _MOST_DOTS else box.outliers
        last = max(1, len(shown) - 1)
        x = []
        for number, run in enumerate(shown):
            # Beside each other in the order of the sweep, so that equal ones are all seen.
            place = middle if len(shown) == 1 else middle + (number / last - 0.5) * width * _SPREAD
            x.append(place)
            words = [self._place_words(content, box), tr("seed {seed}", seed=run.seed), content.figure.text(run.value)]
            ids = () if run.run_id is None else (run.run_id,)
            self._hits.append(Hit(place, run.value * content.figure.scale, "\n".join(words), (run.point,), ids))
        dots = pg.ScatterPlotItem(
            x=x,
            y=[run.value * content.figure.scale for run in shown],
            size=[7 if run in outliers else 5 for run in shown],
            symbol=["d" if run in outliers else "o" for run in shown],
            pen=make_pen(self._tokens.text, width=self.line_width),
            brush=QColor(self._tokens.base),
        )
        self._add(dots)

    def _place_words(self, content: BoxesContent, box: Box) -> str:
        parts = [f"{content.parameter.key}: {content.parameter.levels[box.level].text}"]
        if content.series is not None:
            parts.append(f"{content.series.key}: {content.series.levels[box.series].text}")
        return "\n".join(parts)

    def _words(self, content: BoxesContent, box: Box) -> str:
        figure = content.figure
        quartiles = tr(
            "median {median}, half of the runs between {q1} and {q3}",
            median=figure.text(box.median),
            q1=figure.text(box.q1),
            q3=figure.text(box.q3),
        )
        count = trn("{count} run", "{count} runs", len(box.values))
        return "\n".join([self._place_words(content, box), quartiles, count])
