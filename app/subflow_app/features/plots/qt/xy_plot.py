"""Plots over quantities other than time: distributions, phase plots of two quantities, and bars.

A bar shows a mean, its interval, and the individual runs as dots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from subflow_app.features.plots.core import Bar, Curve, PlotSpec
from subflow_app.features.plots.core.bars import bar_places, run_count
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id, x_axis_of
from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.stacked_plot import StackedPlot, make_crosshair, show_bottom_axis
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.plot_parts import PlotViewBox, Span
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr


class XYPlot(StackedPlot):
    """Plot of curves over a quantity other than time; connects the points of a curve in the given order."""

    def __init__(self, spec: PlotSpec, font: QFont) -> None:
        """Creates an empty plot; see :class:`StackedPlot`."""
        super().__init__(spec, PlotViewBox(), font, over_time=False)
        assert spec.x is not None
        self._x = spec.x
        self.curves: dict[CurveId, Any] = {}
        self._latest: dict[CurveId, Curve] = {}
        self._log = False
        self._line: Any = make_crosshair()
        self.dots: Any = pg.ScatterPlotItem(size=6, pxMode=True)
        for item in (self._line, self.dots):
            item.setZValue(20)
            self.item.addItem(item, ignoreBounds=True)
        show_bottom_axis(self.item, x_axis_of(spec), font)

    # ---- curves ----

    def feed(self, curves: Iterable[Curve]) -> None:
        """Adds new curves, and updates the points of existing ones."""
        for curve in curves:
            key = curve_id(curve)
            item = self.curves.get(key)
            if item is None:
                item = self.curves[key] = pg.PlotDataItem(connect="finite")
                item.setVisible(key not in self._hidden)
                item.setPen(self._pen_of(curve))
                self.item.addItem(item)
            self._latest[key] = curve
            self._draw(key)

    def clear(self) -> None:
        for item in self.curves.values():
            self.item.removeItem(item)
        self.curves.clear()
        self._latest.clear()
        self.set_pointer(None)

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these curves, and shows all others."""
        super().set_hidden(hidden)
        for key, item in self.curves.items():
            item.setVisible(key not in hidden)
        # pyqtgraph fits visible curves only, but does not notice changes of visibility.
        self.view.updateAutoRange()

    def shown_curves(self) -> list[Curve]:
        return [curve for key, curve in self._latest.items() if key not in self._hidden]

    def curve_at(self, position: QPointF) -> tuple[CurveId, float] | None:
        """The visible curve with the point nearest to a position of the scene, and its distance in px."""
        at = self.view.mapSceneToView(position)
        width, height = self.view.viewPixelSize()
        found: tuple[CurveId, float] | None = None
        for key in self.curves:
            x, y = self.curves[key].getData() if key not in self._hidden else (None, None)
            if x is None or len(x) == 0 or width <= 0 or height <= 0:
                continue
            distance = float(np.nanmin(np.hypot((x - at.x()) / width, (y - at.y()) / height)))
            if found is None or distance < found[1]:
                found = key, distance
        return found

    def _points(self, key: CurveId) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points in the units of the axes; NaN for values at or below zero on a logarithmic axis."""
        curve = self._latest[key]
        count = min(len(curve.positions), len(curve.values))
        x = curve.positions[:count] * self._x.scale
        y = curve.values[:count].astype(np.float64) * self.spec.scale
        if self._log:
            x = np.where(x > 0, x, np.nan)
            y = np.where(y > 0, y, np.nan) if self._has_log_y else y
        return x, y

    def _draw(self, key: CurveId) -> None:
        x, y = self._points(key)
        known = np.isfinite(x) & np.isfinite(y)
        self.curves[key].setLogMode(self._log, self._log and self._has_log_y)
        # pyqtgraph warns about the bounds of a curve that consists only of gaps.
        self.curves[key].setData(*((x, y) if known.any() else (x[:0], y[:0])))

    # ---- axes ----

    @property
    def _has_log_y(self) -> bool:
        # Shares cover 0 to 100 %, and a logarithmic axis would omit the lower end.
        return self.spec.ceiling is None

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic or linear scale; shares remain linear."""
        self._log = is_log
        self.item.setLogMode(is_log, is_log and self._has_log_y)
        for key in self.curves:
            self._draw(key)
        self.fit_values()

    # ---- reading ----

    def set_cursor(self, time_s: float | None) -> None:
        """Marks the point of every phase curve at this time, s; None removes the marks. Distributions have no times."""
        spots = []
        for key, curve in self._latest.items():
            if time_s is None or key in self._hidden or len(curve.time_s) == 0:
                continue
            index = min(int(np.searchsorted(curve.time_s, time_s)), len(curve.time_s) - 1)
            x, y = self._points(key)
            spots += self._spot(key, float(x[index]), float(y[index]))
        self.dots.setData(spots=spots)

    def set_pointer(self, x: float | None) -> None:
        """Shows the values of distributions at x in view coordinates (log10 on a logarithmic axis); None hides them."""
        at = None if x is None else (10.0**x if self._log else x)
        is_shown = at is not None and any(len(curve.time_s) == 0 for curve in self.shown_curves())
        self._line.setVisible(is_shown)
        self.dots.setData(spots=[])
        if at is None or not is_shown:
            self.set_readout(())
            return
        self._line.setValue(x)
        spans = [Span(f"   {fmt.number(at, 4)} {tr(self._x.unit)}", current_tokens().muted_text)]
        spots = []
        for key, curve in self._latest.items():
            xs, ys = self._points(key)
            if key in self._hidden or len(xs) == 0:
                continue
            # A distribution keeps its value until the next point.
            index = int(np.searchsorted(xs, at, side="right")) - 1
            y = float(ys[index]) if index >= 0 else 0.0
            spots += self._spot(key, at, y)
            spans.append(Span(f"   {curve.label} ", current_tokens().muted_text))
            spans.append(Span(fmt.number(y), self._hex(curve.colour).name(), bold=True))
        self.dots.setData(spots=spots)
        self.set_readout(spans)

    def _spot(self, key: CurveId, x: float, y: float) -> list[dict[str, object]]:
        if self._log:
            x = float(np.log10(x)) if x > 0 else float("nan")
            y = y if not self._has_log_y else (float(np.log10(y)) if y > 0 else float("nan"))
        if not (np.isfinite(x) and np.isfinite(y)):
            return []
        return [{"pos": (x, y), "brush": self._hex(self._latest[key].colour), "pen": None}]

    # ---- colours ----

    def recolour(self) -> None:
        """Draws everything in the colours of the theme."""
        super().recolour()
        for key, curve in self._latest.items():
            self.curves[key].setPen(self._pen_of(curve))
        self._line.setPen(make_pen(current_tokens().muted_text))


# Space for the numbers above the bars: gap in px in addition to the font height, and maximum share of the plot height.
_GAP_ABOVE, _MOST_ABOVE = 10.0, 0.4
_BEAM = 0.3  # width of the ends of an error bar, as a share of the width of the bar
# Opacity (0 to 255) of the bars of the k-th overlaid experiment; the outlines use the dashes of its curves.
_FILLS = (235, 150, 80, 45)
_MOST_DOTS = 40  # more dots would merge


class BarPlot(StackedPlot):
    """Bars by category; the bars of several experiments are side by side."""

    def __init__(self, spec: PlotSpec, font: QFont) -> None:
        """Creates an empty plot; see :class:`StackedPlot`."""
        super().__init__(spec, PlotViewBox(), font, over_time=False)
        self.view.setMouseEnabled(x=False, y=False)
        self.view.setLimits(yMin=None)
        self._bars: tuple[Bar, ...] = ()
        self._items: list[Any] = []
        show_bottom_axis(self.item, " ", font)

    def feed_bars(self, bars: Sequence[Bar]) -> None:
        if tuple(bars) != self._bars:
            self._bars = tuple(bars)
            self._draw()

    def clear(self) -> None:
        self.feed_bars(())

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides the bars of these lines, and shows all others."""
        super().set_hidden(hidden)
        self._draw()

    def shown_bars(self) -> list[Bar]:
        return [bar for bar in self._bars if CurveId(bar.run, bar.owner, bar.kind) not in self._hidden]

    def fit_values(self) -> None:
        """Shows all bars in full, from zero up."""
        shown = self.shown_bars()
        tops = [bar.mean + (0.0 if math.isnan(bar.ci95) else bar.ci95) for bar in shown if not math.isnan(bar.mean)]
        tops += [value for bar in shown for value in bar.values]
        top = max([*tops, self.spec.ceiling or 0.0]) * self.spec.scale
        categories = len(bar_places(shown).categories)
        # The number above the highest bar needs the same height in plots of all sizes.
        above = min(_MOST_ABOVE, (QFontMetricsF(self._font).height() + _GAP_ABOVE) / max(self.view.height(), 1.0))
        self.view.setRange(
            xRange=(-0.5, max(categories, 1) - 0.5), yRange=(0.0, top / (1.0 - above) if top > 0 else 1.0), padding=0
        )

    def recolour(self) -> None:
        """Draws everything in the colours of the theme."""
        super().recolour()
        self._draw()

    def _draw(self) -> None:
        for item in self._items:
            self.item.removeItem(item)
        self._items.clear()
        shown = self.shown_bars()
        places = bar_places(shown)
        numbers = {run: rank for rank, run in enumerate(sorted({bar.run for bar in shown}))}
        is_grouped = len(places.categories) < len(shown)
        for bar, (middle, width) in zip(shown, places.bars, strict=True):
            self._draw_bar(bar, middle, width, numbers[bar.run] if is_grouped else 0)
        self._name_categories(places.categories)
        self.set_readout(self._words(shown))
        self.fit_values()

    def _draw_bar(self, bar: Bar, middle: float, width: float, number: int) -> None:
        text = QColor(current_tokens().text)
        if math.isnan(bar.mean):
            note = pg.TextItem(tr(bar.note), color=text, anchor=(0.0, 0.5), angle=90)
            note.setFont(self._font)
            note.setPos(middle, 0.0)
            self._add(note)
            return
        scale = self.spec.scale
        colour = self._hex(bar.colour)
        outline = make_pen(colour.name(), palette.dash(number), self._line_width)
        filled = QColor(colour)
        filled.setAlpha(_FILLS[number % len(_FILLS)])
        self._add(pg.BarGraphItem(x=[middle], height=[bar.mean * scale], width=width, brush=filled, pen=outline))
        pen = make_pen(text.name(), width=self._line_width)
        if 1 < len(bar.values) <= _MOST_DOTS:
            # Side by side in the order of the runs.
            x = middle + width * np.linspace(-0.3, 0.3, len(bar.values))
            dots = pg.ScatterPlotItem(x, np.array(bar.values) * scale, size=5, pen=pen, brush=None)
            self._add(dots)
        above = max([bar.mean, *bar.values, bar.mean if math.isnan(bar.ci95) else bar.mean + bar.ci95]) * scale
        number_text = pg.TextItem(fmt.number(bar.mean * scale), color=text, anchor=(0.5, 1.0))
        number_text.setFont(self._font)
        number_text.setPos(middle, above)
        self._add(number_text)
        if not math.isnan(bar.ci95):
            below, above_mean = (np.array([part * scale]) for part in bar.reach(is_signed=self.spec.is_signed))
            x, y = np.array([middle]), np.array([bar.mean * scale])
            error = pg.ErrorBarItem(x=x, y=y, top=above_mean, bottom=below, beam=width * _BEAM, pen=pen)
            self._add(error)

    def _add(self, item: Any) -> None:
        self._items.append(item)
        self.item.addItem(item, ignoreBounds=True)

    def _name_categories(self, categories: Sequence[str]) -> None:
        metrics = QFontMetricsF(self._font)
        room = max(40.0, self.view.width()) / max(1, len(categories)) - 6.0
        names = [metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room) for name in categories]
        self.item.getAxis("bottom").setTicks([list(enumerate(names))])

    def take_room(self) -> None:
        """Adapts the names below and the space above the bars to the current size."""
        self._name_categories(bar_places(self.shown_bars()).categories)
        self.fit_values()

    def _words(self, shown: Sequence[Bar]) -> list[Span]:
        """Meaning of the error bars, and order of the experiments."""
        least, most = run_count(shown)
        if most == 0:
            text = tr("nothing to show yet")
        elif most == 1:
            text = tr("one run each: no interval")
        elif least == most:
            text = tr("mean of {count} runs, 95 % interval", count=most)
        else:
            text = tr("mean of {least} to {most} runs, 95 % interval", least=least, most=most)
        spans = [Span(f"   {text}", current_tokens().muted_text)]
        titles = {bar.run: bar.run_title for bar in shown}
        if len(titles) > 1 and len(bar_places(shown).categories) < len(shown):
            names = ", ".join(titles[run] for run in sorted(titles))
            spans.append(Span(f"   {tr('left to right: {names}', names=names)}", current_tokens().muted_text))
        return spans
