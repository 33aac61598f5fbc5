"""Common parts of all plots: plot item, title, axes, colours, and methods that do nothing unless overridden.

All plot items of the window have a frame on four sides, a grid, and a number at every tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPen

from subflow_app.features.plots.core import TIME, Bar, Curve, PlotSpec, Ticks
from subflow_app.features.plots.qt.curve_id import CurveId, axis_of, title_of
from subflow_app.features.plots.qt.curve_item import curve_pen, make_pen
from subflow_app.features.traces.core.traces import TraceMark
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.plot_parts import Axis, PlotViewBox, Span, TitleItem
from subflow_app.toolkit.theme import Tokens, current_tokens
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr

SIDES = ("left", "bottom", "top", "right")
# Width of the left axis of a plot to the right of another plot, px. Two tick labels reach into it: the right half of
# the left plot's last label, and the left half of the right plot's first label.
INNER_AXIS_WIDTH = 20.0
INNER_AXIS_HEIGHT = 6.0  # height of the bottom axis of a plot above another one, px
LEAST_HEIGHT = 58.0  # minimum height of a plot in the window, px: two or three numbers fit along its value axis
_GRID_ALPHA = {"light": 34, "dark": 40}  # opacity of the grid, of 255


def make_plot_item(view: pg.ViewBox, font: QFont, *, over_time: bool = True, axis: type[Axis] = Axis) -> Any:
    """Creates a plot item without pyqtgraph's buttons, with ticks in this font and numbers on the left.

    Curves over time are downsampled to visible points, which requires ascending times; other curves are drawn
    completely.
    """
    item = pg.PlotItem(viewBox=view, axisItems={side: axis(side) for side in SIDES})
    item.hideButtons()
    # Set for the plot too, because a plot item applies its settings to every added curve.
    if over_time:
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
    for name in SIDES:
        made = item.getAxis(name)
        made.setTickFont(font)
        made.enableAutoSIPrefix(False)
        # Numbers may extend past the end of the axis, because an axis that omits its 0 would mislead.
        made.setStyle(
            tickLength=4 if name in ("left", "bottom") else 0,
            maxTickLevel=1,
            hideOverlappingLabels=False,
            autoExpandTextSpace=False,
            tickTextHeight=round(QFontMetricsF(font).height()),
        )
    item.showAxes(True, showValues=(True, False, False, False))
    return item


def bottom_axis_height(font: QFont, *, has_title: bool = True) -> float:
    """Height of the numbers and the title of the bottom axis, px."""
    lines = 2 if has_title else 1
    return lines * QFontMetricsF(font).height() + (12 if has_title else 9)


def label_style(font: QFont) -> dict[str, str]:
    """Keyword arguments for an axis's `setLabel` that give the title the size of this font."""
    return {"font-size": f"{QFontInfo(font).pixelSize()}px"}


def show_bottom_axis(item: Any, title: str, font: QFont, *, keeps_room: bool = False) -> None:
    """Shows numbers and a title along the bottom; an empty title hides both.

    If `keeps_room`, the space of hidden numbers and titles remains empty.
    """
    axis = item.getAxis("bottom")
    axis.setStyle(showValues=bool(title))
    axis.setHeight(bottom_axis_height(font) if title or keeps_room else INNER_AXIS_HEIGHT)
    if title:
        axis.setLabel(title, **label_style(font))
    else:
        axis.showLabel(False)


def colour_axes(item: Any, tokens: Tokens, *, line_width: float = 1.0) -> None:
    """Applies the theme to frame, ticks, numbers and grid."""
    for name in SIDES:
        axis = item.getAxis(name)
        colour_axis(axis, tokens, line_width=line_width)
        if name in ("left", "bottom"):
            axis.setGrid(_GRID_ALPHA["dark" if tokens.is_dark else "light"])


def colour_axis(axis: Any, tokens: Tokens, *, line_width: float = 1.0) -> None:
    """Applies the theme to frame, ticks and numbers of one axis, e.g. of a colour bar."""
    axis.setPen(make_pen(tokens.border, width=line_width))
    axis.setTickPen(make_pen(tokens.muted_text, width=line_width))
    axis.setTextPen(tokens.muted_text)


class StackedPlot:
    """One plot of a stack; not a widget, but a title and a plot item for :class:`PlotStack` to lay out."""

    def __init__(self, spec: PlotSpec, view: PlotViewBox, font: QFont, *, over_time: bool) -> None:
        """Creates an empty plot.

        Args:
            spec: specification of the plot.
            view: view box of the plot.
            font: font of titles and ticks.
            over_time: whether the x axis is time.
        """
        self.spec = spec
        self.view = view
        self.runs: frozenset[int] | None = None  # positions of the runs in this plot; None: all runs
        self.item: Any = make_plot_item(view, font, over_time=over_time)
        self.title = TitleItem(font)
        self._font = QFont(font)
        self._line_width = 1.0
        self._hidden: frozenset[CurveId] = frozenset()
        self._readout: tuple[Span, ...] = ()
        self.axis_height = bottom_axis_height(font, has_title=not over_time)  # where the plot has a bottom axis, px
        metrics = QFontMetricsF(font)
        # Equal widths of all left axes align the time axes.
        left = self.item.getAxis("left")
        left.setWidth(metrics.horizontalAdvance("0000.0") + 12)

    def has_run(self, run: int) -> bool:
        """True if this plot shows the run at this position."""
        return self.runs is None or run in self.runs

    # ---- curves ----

    def feed(self, curves: Iterable[Curve]) -> None:
        """Adds new curves, and updates the samples of existing ones."""

    def feed_bars(self, bars: Sequence[Bar]) -> None:
        """Replaces the bars."""

    def clear(self) -> None:
        """Removes everything that belongs to the runs."""

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these curves, and shows all others."""
        self._hidden = hidden

    def shown_curves(self) -> list[Curve]:
        """The visible curves, with their drawn samples."""
        return []

    def shown_bars(self) -> list[Bar]:
        """The visible bars."""
        return []

    def shown_ticks(self) -> list[Ticks]:
        """Ticks and lines of the events of visible curves."""
        return []

    def set_marks(
        self, marks_by_run: Sequence[Sequence[TraceMark]], colours: Mapping[CurveId, palette.ColourKey]
    ) -> None:
        """Draws marks of events if the plot supports them."""

    def marking(
        self, marks_by_run: Sequence[Sequence[TraceMark]], colours: Mapping[CurveId, palette.ColourKey]
    ) -> Iterator[None]:
        """Draws the marks in small steps, which may run in later turns of the event loop."""
        self.set_marks(marks_by_run, colours)
        yield

    def clear_marks(self) -> None:
        """Removes the marks."""

    def curve_at(self, _position: QPointF) -> tuple[CurveId, float] | None:
        """The visible curve nearest to a position of the scene, and its distance in px; None if no curve is visible."""
        return None

    # ---- axes ----

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic or linear scale if the plot supports it."""

    def fit_values(self) -> None:
        """Lets the axes follow the curves again."""
        self.view.enableAutoRange()

    # ---- reading ----

    def set_cursor(self, time_s: float | None) -> None:
        """Marks the curves at this time, s; None removes the marks."""

    def set_pin(self, time_s: float | None) -> None:
        """Draws the pinned line at this time, s; None hides it."""

    def values_at(self, _time_s: float | None) -> dict[CurveId, float]:
        """Values of all curves at a time, s, or the latest values for None, in the unit of the axis; NaN if unknown."""
        return {}

    def set_readout(self, spans: Sequence[Span]) -> None:
        """Sets the text after the title."""
        self._readout = tuple(spans)
        self._update_title()

    # ---- colours ----

    def recolour(self) -> None:
        """Draws everything in the colours of the theme, with the current line width."""
        colour_axes(self.item, current_tokens(), line_width=self._line_width)
        self._update_title()

    def set_line_width(self, width: float) -> None:
        """Sets the line width, px, for the next `recolour`."""
        self._line_width = width

    def _pen_of(self, curve: Curve) -> QPen:
        return curve_pen(curve, dark=current_tokens().is_dark, width=self._line_width)

    def _hex(self, colour: palette.ColourKey) -> QColor:
        return QColor(palette.hex_colour(colour, dark=current_tokens().is_dark))

    def _update_title(self) -> None:
        name = Span(title_of(self.spec), current_tokens().text, bold=True)
        # The title of a plot over time names the quantity, so the axis shows only the unit. Other titles name the kind
        # of plot, so the axis needs a name.
        has_unit = self.spec.kind == TIME and bool(self.spec.unit)
        is_named = has_unit or self.spec.y_label == self.spec.title
        axis = tr(self.spec.unit) if is_named else axis_of(self.spec)
        unit = Span(f"  {axis}", current_tokens().muted_text)
        self.title.set_spans([name, unit, *self._notes(), *self._readout])

    def _notes(self) -> list[Span]:
        """Notes on the drawing of the curves, which follow the unit in the title."""
        return []


def make_crosshair() -> Any:
    """A vertical line that the mouse cannot move; hidden at first."""
    line = pg.InfiniteLine(angle=90, movable=False)
    line.hide()
    return line
