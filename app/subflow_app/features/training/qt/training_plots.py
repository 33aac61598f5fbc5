"""The curves of training runs over decisions or training time, in a grid with one small plot per metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen
from PySide6.QtWidgets import QWidget

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.stacked_plot import (
    INNER_AXIS_HEIGHT,
    LEAST_HEIGHT,
    bottom_axis_height,
    colour_axes,
    make_plot_item,
    show_bottom_axis,
)
from subflow_app.features.training.core.training_metrics import TrainingPlot
from subflow_app.features.training.core.training_progress import Comparison, Training
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.legend_strip import Entry, LegendStrip
from subflow_app.toolkit.plotting.plot_parts import ScrolledPlots, Span, TimeViewBox, TitleItem
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.picture import Panel, PanelSeries, interval_ends
from subflow_sim.stats import Estimate

# Possible horizontal axes: for each metric, the title of the axis and the factor to its unit.
X_AXES: Mapping[str, tuple[str, float]] = {
    "step": (translatable("Decisions (thousands)"), 1e-3),
    "elapsed_s": (translatable("Training time (min)"), 1.0 / 60.0),
}
_MOST_COLUMNS = 3
_ASPECT = 1.7  # width over height of a readable plot
_BAND_ALPHA = 46
_FLOOR_MARGIN = 1e-9
_RIGHT_MARGIN = 14
_MARGIN = 4
_SPACING = 4
_DOT = 7
# Maximum number of points per curve, enough for several in each pixel column of the widest plot.
_MOST_POINTS = 4000


class TrainingPlots(ScrolledPlots):
    """Plots of the selected training runs in their colours.

    Bands show the classic controllers from the latest evaluation of the first training run.
    """

    def __init__(self, specs: Sequence[TrainingPlot], parent: QWidget | None = None) -> None:
        """Starts with empty plots of ``specs``."""
        super().__init__(parent)
        named(self, "training_plots", tr("Curves of the selected trainings"))
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._font = QFont(self.font())
        self.x = "step"  # horizontal axis, a key of :data:`X_AXES`
        self._is_zoomed = False
        self._specs = tuple(specs)
        self._shown: tuple[tuple[Training, int], ...] = ()
        self._legend: LegendStrip | None = None
        self._legend_key: object = None
        self._columns = 2
        self._axis_rows: set[int] = set()  # rows of plots with numbers along the bottom
        self.plots: list[MetricPlot] = []
        self.ci.layout.setSpacing(_SPACING)
        self.ci.layout.setContentsMargins(_MARGIN, _MARGIN, _RIGHT_MARGIN, _MARGIN)
        self._lay_out()
        follow_theme(self._recolour)

    def set_x(self, x: str) -> None:
        """Sets the horizontal axis: decisions or training time.

        Raises:
            KeyError: if the axis does not exist.
        """
        title, _scale = X_AXES[x]
        self.x = x
        for plot in self.plots:
            plot.set_x_title(tr(title))
        self.fit()

    def set_specs(self, specs: Sequence[TrainingPlot]) -> None:
        """Replaces the plots if ``specs`` differ from the current ones."""
        if tuple(specs) != self._specs:
            self._specs = tuple(specs)
            self._lay_out()
            self._recolour(current_tokens())
            self.refresh()

    def show_trainings(self, trainings: Sequence[tuple[Training, int]]) -> None:
        """Shows these training runs, each with the index of its colour."""
        self._shown = tuple(trainings)
        for plot in self.plots:
            plot.clear()
        self.fit()

    def refresh(self) -> None:
        """Draws reports that have arrived since the last call; cheap if no reports have arrived."""
        low, high = self.plots[0].view.viewRange()[0] if self._is_zoomed else (-math.inf, math.inf)
        for plot in self.plots:
            plot.feed(self._shown, self.x, low, high)
        self._show_legend()

    def fit(self) -> None:
        """Shows the curves over their full range."""
        self._is_zoomed = False
        for plot in self.plots:
            plot.fit()
        self.refresh()

    def legend_texts(self) -> list[str]:
        """Texts of the legend: the training runs, then the classic controllers with their goodput."""
        return [entry.text for entry in self._entries()]

    def panels(self) -> tuple[Panel, ...]:
        """The plots as panels for a figure: the curves of the training runs over the chosen horizontal axis."""
        title, x_scale = X_AXES[self.x]
        made = []
        for spec in self._specs:
            metric = spec.metric
            series: list[PanelSeries] = []
            for training, hue in self._shown:
                at, values = training.log.outline(metric.key, self.x, _MOST_POINTS)
                if len(at):
                    y = np.array(values * metric.scale)
                    colour = palette.ColourKey(hue, 0)
                    name = training.name
                    series.append(PanelSeries(name, colour, len(series), False, y, np.empty(0), x=at * x_scale))
            if series:
                text = f"{tr(metric.title)} ({tr(metric.unit)})" if metric.unit else tr(metric.title)
                made.append(Panel("trace", "", tr(title), text, (), np.empty(0), tuple(series), is_signed=True))
        return tuple(made)

    def data_text(self) -> str:
        """The curves as CSV: training, measure, position and value, in SI units."""
        rows = ["training,measure,axis,position,value"]
        for training, _ in self._shown:
            for spec in self._specs:
                at, values = training.log.outline(spec.metric.key, self.x, _MOST_POINTS)
                name = training.name.replace('"', '""')
                rows += [
                    f'"{name}",{spec.metric.key},{self.x},{position!r},{value!r}'
                    for position, value in zip(at.tolist(), values.tolist(), strict=True)
                ]
        return "\n".join(rows) + "\n"

    def _recolour(self, tokens: Tokens) -> None:
        self.setBackground(tokens.base)
        for plot in self.plots:
            plot.recolour(tokens)
        self._legend_key = None
        self._show_legend()

    def resizeEvent(self, event: Any) -> None:
        """Lays out the plots and the legend for the new width."""
        super().resizeEvent(event)
        # The base class also calls this method during construction, and during closing when the layout is gone already.
        if self.closed or getattr(self, "_legend_key", None) is None:
            return
        if self._best_columns() != self._columns:
            self._place()
        self._show_legend()

    # ---- internals ----

    def _lay_out(self) -> None:
        self.plots = [MetricPlot(spec, self._font) for spec in self._specs]
        self._is_zoomed = False
        title, _scale = X_AXES[self.x]
        for plot in self.plots:
            plot.set_x_title(tr(title))
            plot.view.reset_requested.connect(self.fit)
            plot.view.sigRangeChangedManually.connect(self._on_zoomed)
            if plot is not self.plots[0]:
                plot.item.setXLink(self.plots[0].item)
        self._place()

    def _on_zoomed(self) -> None:
        self._is_zoomed = True
        self.refresh()

    def _best_columns(self) -> int:
        """Number of columns for which plots of a readable shape are as large as possible."""
        count = max(1, len(self.plots))
        # The visible height is used, because the height of the scrolled widget itself depends on the columns.
        around = self.parentWidget()
        seen = float(around.height() if around is not None else self.height())

        def size(columns: int) -> float:
            rows = math.ceil(count / columns)
            return min(float(self.width()) / columns / _ASPECT, seen / rows)

        return max(range(1, min(count, _MOST_COLUMNS) + 1), key=size)

    def _place(self) -> None:
        """Places the legend and the plots. Only the lowest plot in each column has a labelled horizontal axis."""
        self.clear()
        self._legend, self._legend_key = None, None
        layout = self.ci.layout
        # Otherwise, columns would keep the stretch factors of the previous layout.
        for column in range(layout.columnCount()):
            layout.setColumnStretchFactor(column, 0)
        columns = self._columns = self._best_columns()
        lowest = range(max(0, len(self.plots) - columns), len(self.plots))
        self._axis_rows = {number // columns for number in lowest}
        for number, plot in enumerate(self.plots):
            row, column = divmod(number, columns)
            self.addItem(plot.title, row=2 * row + 1, col=column)
            self.addItem(plot.item, row=2 * row + 2, col=column)
            layout.setColumnStretchFactor(column, 1)
            plot.show_x_axis(number in lowest, keeps_room=row in self._axis_rows)

    def _share_height(self) -> None:
        """Sets the same height for all curves, because the layout would otherwise keep its previous row heights.

        A row with a labelled horizontal axis is taller by the height of the labels.
        """
        if not self.plots:
            return
        layout = self.ci.layout
        axis = bottom_axis_height(self._font) - INNER_AXIS_HEIGHT
        rows = math.ceil(len(self.plots) / self._columns)
        legend = self._legend.minimumHeight() if self._legend is not None else 0.0
        titles = rows * self.plots[0].title.minimumHeight()
        gaps = 2 * _MARGIN + _SPACING * (layout.rowCount() - 1)
        axes = axis * len(self._axis_rows)
        beside = legend + titles + gaps + axes
        self.setMinimumHeight(math.ceil(beside + LEAST_HEIGHT * rows))
        height = max(LEAST_HEIGHT, (self.height() - beside) / rows)
        for row in range((layout.rowCount() - 1) // 2):
            shown = height + (axis if row in self._axis_rows else 0.0)
            layout.setRowFixedHeight(2 * row + 2, shown if row < rows else 0.0)

    def _show_legend(self) -> None:
        entries = self._entries()
        key = (tuple(entry.text for entry in entries), self.width())
        if key == self._legend_key:
            self._share_height()
            return
        self._legend_key = key
        if self._legend is not None:
            self.removeItem(self._legend)
        self._legend = LegendStrip(entries, self._font, self.width() - 3.0 * _RIGHT_MARGIN, current_tokens().text)
        self.addItem(self._legend, row=0, col=0, colspan=self._columns)
        self._share_height()

    def _entries(self) -> list[Entry]:
        dark = current_tokens().is_dark
        entries = [Entry(training.name, _training_pen(hue, dark=dark, width=2.0)) for training, hue in self._shown]
        newest = self._shown[0][0].comparison if self._shown else None
        for number, (name, estimate) in enumerate(newest.classics.items() if newest else ()):
            text = f"{name} {fmt.rate(estimate.mean)}"
            entries.append(Entry(text, _classic_pen(number, dark=dark)))
        return entries


class MetricPlot:
    """Plot of one metric with the curves of training runs, and for goodput also with bands for the classic controllers.

    If a single training run is shown, the title contains its latest value.
    """

    def __init__(self, spec: TrainingPlot, font: QFont) -> None:
        self.spec = spec
        self.view = TimeViewBox()
        self.view.enableAutoRange(x=True, y=True)
        self.item: Any = make_plot_item(self.view, font)
        self.title = TitleItem(font)
        self.curves: dict[str, Any] = {}
        self._dots: dict[str, tuple[Any, Any]] = {}
        self.bands: dict[str, _Band] = {}
        self._threshold: Any = None
        self._hues: dict[str, int] = {}
        self._latest: list[tuple[int, float]] = []
        self._drawn: object = None
        self._x_title = ""
        self._has_x_axis = True
        self._font = QFont(font)
        self._set_up()

    def set_x_title(self, title: str) -> None:
        """Sets the title of the horizontal axis."""
        self._drawn = None
        self._x_title = title
        if self._has_x_axis:
            show_bottom_axis(self.item, title, self._font)

    def show_x_axis(self, is_shown: bool, *, keeps_room: bool) -> None:
        """Shows the labels and the title of the horizontal axis, or hides them and optionally reserves their space."""
        self._has_x_axis = is_shown
        show_bottom_axis(self.item, self._x_title if is_shown else "", self._font, keeps_room=keeps_room)

    def feed(
        self, shown: Sequence[tuple[Training, int]], x: str, low: float = -math.inf, high: float = math.inf
    ) -> None:
        """Draws the curves of these training runs between two positions on the horizontal axis, if anything changed."""
        reports = tuple((training.id, training.log.revision, len(training.comparisons)) for training, _hue in shown)
        key = (x, low, high, reports)
        if key == self._drawn:
            return
        self._drawn = key
        _title, x_scale = X_AXES[x]
        end = 0.0
        self._latest = []
        for training, hue in shown:
            at, values = training.log.outline(self.spec.metric.key, x, _MOST_POINTS, low / x_scale, high / x_scale)
            self._curve(training.id, hue).setData(at * x_scale, values * self.spec.metric.scale)
            latest = training.log.latest(x)
            end = max(end, latest * x_scale) if math.isfinite(latest) else end
            self._latest.append((hue, training.log.latest(self.spec.metric.key)))
            if self.spec.compares:
                self._draw_dots(training, hue, x, x_scale)
        if self.spec.compares and shown:
            comparison = shown[0][0].comparison
            end = max(end, *(_at(each, x) * x_scale for each in shown[0][0].comparisons), 0.0)
            self._draw_bands(comparison.classics if comparison else {}, end)
        self._update_title()

    def clear(self) -> None:
        """Removes all curves."""
        dots = [item for pair in self._dots.values() for item in pair]
        for item in (*self.curves.values(), *dots):
            self.item.removeItem(item)
        for name in list(self.bands):
            self.bands.pop(name).remove_from(self.item)
        self.curves.clear()
        self._dots.clear()
        self._latest = []
        self._drawn = None
        self._update_title()

    def fit(self) -> None:
        """Shows the curves over their full range."""
        self.view.enableAutoRange(x=True)
        if self.spec.floor is not None and self.spec.ceiling is not None:
            low, high = self.spec.floor * self.spec.metric.scale, self.spec.ceiling * self.spec.metric.scale
            self.view.setYRange(low, high, padding=0.02)
        else:
            self.view.enableAutoRange(y=True)

    def recolour(self, tokens: Tokens) -> None:
        """Applies the colours of a theme."""
        colour_axes(self.item, tokens)
        for owner, curve in self.curves.items():
            curve.setPen(_training_pen(self._hues[owner], dark=tokens.is_dark))
        for owner, (bars, dots) in self._dots.items():
            colour = _training_colour(self._hues[owner], dark=tokens.is_dark)
            bars.setOpts(pen=make_pen(colour))
            dots.setBrush(QColor(colour))
        for number, band in enumerate(self.bands.values()):
            band.colour(number, tokens)
        if self._threshold is not None:
            self._threshold.setPen(make_pen(tokens.warning, (4.0, 3.0)))
        self._update_title()

    # ---- internals ----

    def _set_up(self) -> None:
        width = QFontMetricsF(self._font).horizontalAdvance("-000.00") + 12
        self.item.getAxis("left").setWidth(width)
        limits: dict[str, float] = {"xMin": -_FLOOR_MARGIN}
        if self.spec.floor is not None:
            limits["yMin"] = self.spec.floor * self.spec.metric.scale - _FLOOR_MARGIN
        self.view.setLimits(**limits)
        if self.spec.warn_above is not None:
            self._threshold = pg.InfiniteLine(self.spec.warn_above * self.spec.metric.scale, angle=0, movable=False)
            self._threshold.setZValue(-5)
            self.item.addItem(self._threshold, ignoreBounds=True)
        self.fit()

    def _curve(self, owner: str, hue: int) -> Any:
        curve = self.curves.get(owner)
        if curve is None:
            curve = self.curves[owner] = pg.PlotDataItem(autoDownsampleFactor=1.0)
            curve.opts["autoDownsampleFactor"] = 1.0
            self._hues[owner] = hue
            curve.setPen(_training_pen(hue, dark=current_tokens().is_dark))
            self.item.addItem(curve)
        return curve

    def _draw_dots(self, training: Training, hue: int, x: str, x_scale: float) -> None:
        """Draws evaluations as dots with their confidence intervals."""
        pair = self._dots.get(training.id)
        if pair is None:
            colour = _training_colour(hue, dark=current_tokens().is_dark)
            bars = pg.ErrorBarItem(pen=make_pen(colour))
            dots = pg.ScatterPlotItem(size=_DOT, pxMode=True, pen=None, brush=QColor(colour))
            for item in (bars, dots):
                item.setZValue(10)
                self.item.addItem(item)
            pair = self._dots[training.id] = (bars, dots)
        bars, dots = pair
        made = [each for each in training.comparisons if math.isfinite(each.goodput_bps.mean)]
        at = np.array([_at(each, x) * x_scale for each in made])
        scale = self.spec.metric.scale
        mean = np.array([each.goodput_bps.mean * scale for each in made])
        halves = np.array([each.goodput_bps.ci95 * scale for each in made])
        low, high = interval_ends(mean, halves, is_signed=self.spec.floor is None)
        dots.setData(at, mean)
        if made:
            top, bottom = np.nan_to_num(high - mean), np.nan_to_num(mean - low)
            bars.setData(x=at, y=mean, top=top, bottom=bottom)

    def _draw_bands(self, classics: Mapping[str, Estimate], end: float) -> None:
        for name in [name for name in self.bands if name not in classics]:
            self.bands.pop(name).remove_from(self.item)
        for number, (name, estimate) in enumerate(classics.items()):
            if name not in self.bands:
                self.bands[name] = _Band(self.item)
                self.bands[name].colour(number, current_tokens())
            self.bands[name].move(estimate, end, self.spec.metric.scale, self.spec.floor)

    def _update_title(self) -> None:
        tokens = current_tokens()
        spans = [
            Span(tr(self.spec.metric.title), tokens.text, bold=True),
            Span(f"  {tr(self.spec.metric.unit)}", tokens.muted_text),
        ]
        limit = self.spec.warn_above
        if limit is not None and any(value > limit for _hue, value in self._latest):
            bound = f"{fmt.number(limit * self.spec.metric.scale)} {tr(self.spec.metric.unit)}"
            spans.append(Span(f"  {tr('above {value}!', value=bound)}", tokens.warning, bold=True))
        if len(self._latest) == 1 and math.isfinite(self._latest[0][1]):
            # The title only has space for the value of one training run. The table shows the values of all.
            hue, value = self._latest[0]
            text = f"   {fmt.number(value * self.spec.metric.scale)}"
            spans.append(Span(text, _training_colour(hue, dark=tokens.is_dark)))
        self.title.set_spans(spans)


class _Band:
    """The mean of a classic controller as a dashed line, with its confidence interval as a filled band."""

    def __init__(self, plot: Any) -> None:
        self._low, self._high = pg.PlotDataItem(pen=None), pg.PlotDataItem(pen=None)
        self._fill = pg.FillBetweenItem(self._low, self._high)
        self._mean = pg.PlotDataItem()
        self.estimate = Estimate(math.nan)
        for item in self._items:
            item.setZValue(-10)
            plot.addItem(item)

    @property
    def _items(self) -> tuple[Any, ...]:
        return self._low, self._high, self._fill, self._mean

    def move(self, estimate: Estimate, end: float, scale: float, floor: float | None) -> None:
        self.estimate = estimate
        low = estimate.low if math.isfinite(estimate.low) else estimate.mean
        low = low if floor is None else max(low, min(floor, estimate.mean))
        high = estimate.high if math.isfinite(estimate.high) else estimate.mean
        at = np.array([0.0, max(end, _FLOOR_MARGIN)])
        for item, value in ((self._low, low), (self._high, high), (self._mean, estimate.mean)):
            item.setData(at, np.full(2, value * scale))

    def colour(self, number: int, tokens: Tokens) -> None:
        fill = QColor(tokens.muted_text)
        fill.setAlpha(_BAND_ALPHA)
        self._fill.setBrush(fill)
        self._mean.setPen(_classic_pen(number, dark=tokens.is_dark))

    def remove_from(self, plot: Any) -> None:
        for item in self._items:
            plot.removeItem(item)


def _at(comparison: Comparison, x: str) -> float:
    return comparison.step if x == "step" else comparison.elapsed_s


def _training_colour(hue: int, *, dark: bool) -> str:
    return palette.hex_colour(palette.ColourKey(hue, 0), dark=dark)


def _training_pen(hue: int, *, dark: bool, width: float = 1.0) -> QPen:
    return make_pen(_training_colour(hue, dark=dark), width=width)


def _classic_pen(number: int, *, dark: bool) -> QPen:
    # Neutral colours with different dashes, because hues identify training runs.
    return make_pen(palette.hex_colour(palette.ColourKey(palette.TOTAL, 1), dark=dark), palette.dash(number + 1))
