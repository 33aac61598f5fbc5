"""One plot of bars: a mean each, the interval of that mean, and the single runs as dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from subflow_app.features.plots.core import Bar, PlotSpec
from subflow_app.features.plots.core.bars import bar_places, run_count
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.plot_item import show_bottom_axis
from subflow_app.features.plots.qt.stacked_plot import StackedPlot
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.plot_parts import PlotViewBox, Span
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr

# Room for the numbers above the bars: beside the height of their letters, px, and at most so much of the plot.
_GAP_ABOVE, _MOST_ABOVE = 10.0, 0.4
_BEAM = 0.3  # of the width of a bar
# Bars of the k-th experiment of an overlay are this solid, of 255, and have an outline with the dash of its curves.
_FILLS = (235, 150, 80, 45)
_MOST_DOTS = 40  # more runs than these are a cloud


class BarPlot(StackedPlot):
    """Bars by category; those of several experiments stand beside each other."""

    def __init__(self, spec: PlotSpec, font: QFont, *, paper: bool) -> None:
        """Makes an empty plot; see :class:`StackedPlot`."""
        super().__init__(spec, PlotViewBox(), font, paper=paper, over_time=False)
        self.view.setMouseEnabled(x=False, y=False)
        self.view.setLimits(yMin=None)
        self._bars: tuple[Bar, ...] = ()
        self._items: list[Any] = []
        show_bottom_axis(self.item, " ", font)

    def feed_bars(self, bars: Sequence[Bar]) -> None:
        """Replaces the bars."""
        if tuple(bars) != self._bars:
            self._bars = tuple(bars)
            self._draw()

    def clear(self) -> None:
        """Takes all bars away."""
        self.feed_bars(())

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Takes the bars of these lines away, and shows all others."""
        super().set_hidden(hidden)
        self._draw()

    def shown_bars(self) -> list[Bar]:
        """The bars that are visible."""
        return [bar for bar in self._bars if CurveId(bar.run, bar.owner, bar.kind) not in self._hidden]

    def fit_values(self) -> None:
        """Shows all bars from zero."""
        shown = self.shown_bars()
        tops = [bar.mean + (0.0 if math.isnan(bar.ci95) else bar.ci95) for bar in shown if not math.isnan(bar.mean)]
        tops += [value for bar in shown for value in bar.values]
        top = max([*tops, self.spec.ceiling or 0.0]) * self.spec.scale
        categories = len(bar_places(shown).categories)
        # The number above the highest bar takes the same height whatever that of the plot is.
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
        text = QColor(self._tokens.text)
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
            # Beside each other in the order of the runs.
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
        """Gives the names below and the numbers above the bars the room that there is now."""
        self._name_categories(bar_places(self.shown_bars()).categories)
        self.fit_values()

    def _words(self, shown: Sequence[Bar]) -> list[Span]:
        """What the error bars are, and which fill is of which experiment."""
        least, most = run_count(shown)
        if most == 0:
            text = tr("nothing to show yet")
        elif most == 1:
            text = tr("one run each: no interval")
        elif least == most:
            text = tr("mean of {count} runs, 95 % interval", count=most)
        else:
            text = tr("mean of {least} to {most} runs, 95 % interval", least=least, most=most)
        spans = [Span(f"   {text}", self._tokens.muted_text)]
        titles = {bar.run: bar.run_title for bar in shown}
        if len(titles) > 1 and len(bar_places(shown).categories) < len(shown):
            names = ", ".join(titles[run] for run in sorted(titles))
            spans.append(Span(f"   {tr('left to right: {names}', names=names)}", self._tokens.muted_text))
        return spans
