"""A policy as a picture: colour is the action over two observation features, dots are where it was lately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QWidget

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.stacked_plot import SIDES, colour_axis, label_style, make_plot_item
from subflow_app.features.training.core.policy_surface import Surface
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.plot_parts import TimeViewBox
from subflow_app.toolkit.theme import Tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

# Uniform to the eye and safe for the colour-blind: one with a neutral middle for actions that go both ways, else one
# from dark to light.
_BOTH_WAYS, _ONE_WAY = "CET-D1A", "viridis"
_DOT = 4
_DOT_ALPHA = 150


class HeatMap(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    """One picture with its colour bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty picture."""
        super().__init__(parent)
        named(self, "heat_map", tr("Action of the policy over two observation features"))
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.surface: Surface | None = None
        self._area = QRectF()
        font = QFont(self.font())
        metrics = QFontMetricsF(font)
        self._label_style = label_style(font)
        view = TimeViewBox()
        self._plot: Any = make_plot_item(view, font, over_time=False)
        self._plot.setMenuEnabled(False)
        self._plot.getAxis("bottom").setStyle(showValues=True)
        self._plot.getAxis("left").setWidth(metrics.horizontalAdvance("-0.000") + metrics.height() + 16)
        self._plot.getAxis("bottom").setHeight(2 * metrics.height() + 14)
        self._image: Any = pg.ImageItem(axisOrder="row-major")
        self._image.setZValue(-20)
        self._points: Any = pg.ScatterPlotItem(size=_DOT, pxMode=True)
        self._plot.addItem(self._image)
        self._plot.addItem(self._points, ignoreBounds=True)
        self._bar: Any = pg.ColorBarItem(
            values=(-1.0, 1.0), colorMap=pg.colormap.get(_BOTH_WAYS), interactive=False, width=14
        )
        self._bar.setImageItem(self._image, insert_in=self._plot)
        self._bar.axis.setTickFont(font)
        self._bar.axis.setWidth(metrics.horizontalAdvance("-0.000") + metrics.height() + 18)
        self.addItem(self._plot)
        self.ci.layout.setContentsMargins(4, 8, 8, 4)
        view.reset_requested.connect(self.fit)
        follow_theme(self._recolour)

    def show_surface(
        self,
        surface: Surface,
        x_title: str,
        y_title: str,
        action_title: str,
        low: float,
        high: float,
        choices: Sequence[str] = (),
    ) -> None:
        """Shows a picture.

        Args:
            surface: what to show.
            x_title: of the feature along the picture, with its unit.
            y_title: of the feature up the picture, with its unit.
            action_title: of the action, with its unit.
            low: least action there can be, so that colours keep their meaning while the policy learns.
            high: greatest action there can be.
            choices: names of the actions 0, 1, 2 ... where it is one of several.
        """
        is_other = self.surface is None or not (
            np.array_equal(self.surface.x, surface.x) and np.array_equal(self.surface.y, surface.y)
        )
        self.surface = surface
        self._bar.setColorMap(pg.colormap.get(_BOTH_WAYS if low < 0 < high else _ONE_WAY))
        self._image.setImage(surface.action, autoLevels=False)
        self._bar.setLevels((low, high))
        # Pixels are centred on the values they stand for.
        width, height = surface.x[-1] - surface.x[0], surface.y[-1] - surface.y[0]
        half_x, half_y = width / (len(surface.x) - 1) / 2, height / (len(surface.y) - 1) / 2
        self._area = QRectF(surface.x[0] - half_x, surface.y[0] - half_y, width + 2 * half_x, height + 2 * half_y)
        self._image.setRect(self._area)
        self._points.setData(surface.points[:, 0], surface.points[:, 1])
        self._plot.getAxis("bottom").setLabel(x_title, **self._label_style)
        self._plot.getAxis("left").setLabel(y_title, **self._label_style)
        self._bar.axis.setTicks([list(enumerate(choices))] if choices else None)
        self._bar.axis.setLabel(action_title, **self._label_style)
        if is_other:
            self.fit()

    def fit(self) -> None:
        """Shows all of the picture."""
        if self.surface is not None:
            self._plot.getViewBox().setRange(self._area, padding=0.0)

    def text_at(self, x: float, y: float) -> str:
        """The action at a place in words; empty outside the picture."""
        shown = self.surface
        if shown is None or not (shown.x[0] <= x <= shown.x[-1] and shown.y[0] <= y <= shown.y[-1]):
            return ""
        column, row = int(np.abs(shown.x - x).argmin()), int(np.abs(shown.y - y).argmin())
        return fmt.number(float(shown.action[row, column]))

    def bar_ticks(self) -> list[str]:
        """Names beside the colour bar; empty where it has numbers."""
        levels = self._bar.axis._tickLevels
        return [text for _value, text in levels[0]] if levels else []

    def _recolour(self, tokens: Tokens) -> None:
        """Everything but the picture."""
        self.setBackground(tokens.base)
        for axis in (*(self._plot.getAxis(name) for name in SIDES), self._bar.axis):
            colour_axis(axis, tokens)
        dot = QColor(tokens.text)
        dot.setAlpha(_DOT_ALPHA)
        rim = QColor(tokens.base)
        rim.setAlpha(_DOT_ALPHA)
        self._points.setBrush(dot)
        self._points.setPen(make_pen(rim.name(QColor.NameFormat.HexArgb)))
