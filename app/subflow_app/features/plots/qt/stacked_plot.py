"""What plots of all kinds have in common: an item and a title for the stack, colours, and what most leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen

from subflow_app.features.plots.core import TIME, Bar, Curve, PlotSpec
from subflow_app.features.plots.qt.curve_id import CurveId, axis_of, title_of
from subflow_app.features.plots.qt.curve_item import curve_pen
from subflow_app.features.plots.qt.plot_item import (
    PAPER_WIDTH,
    bottom_axis_height,
    colour_axes,
    label_style,
    make_plot_item,
)
from subflow_app.features.traces.core.traces import TraceMark
from subflow_app.toolkit.plotting.plot_parts import PlotViewBox, Span, TitleItem
from subflow_app.toolkit.theme import LIGHT, Tokens, current_tokens
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr


class StackedPlot:
    """One of the stacked plots. Not a widget: :class:`PlotStack` lays out its title and its plot item."""

    def __init__(self, spec: PlotSpec, view: PlotViewBox, font: QFont, *, paper: bool, over_time: bool) -> None:
        """Makes an empty plot.

        Args:
            spec: what it shows.
            view: its view box.
            font: of titles and ticks.
            paper: for print, with the quantity along its axis, instead of a title above the plot.
            over_time: whether its x axis is time.
        """
        self.spec = spec
        self.view = view
        self.runs: frozenset[int] | None = None  # positions of those it shows; None: of all
        self.item: Any = make_plot_item(view, font, over_time=over_time)
        self.title = TitleItem(font)
        self._font = QFont(font)
        self._paper = paper
        self._line_width = PAPER_WIDTH if paper else 1.0
        self._hidden: frozenset[CurveId] = frozenset()
        self._readout: tuple[Span, ...] = ()
        self.time_axis_height = bottom_axis_height(font)
        metrics = QFontMetricsF(font)
        # The same width of every left axis, so that equal times stand above each other.
        left = self.item.getAxis("left")
        left.setWidth(metrics.horizontalAdvance("0000.0") + 12 + (metrics.height() + 4 if paper else 0))
        if paper:
            left.setLabel(spec.axis_text, **label_style(font))

    def has_run(self, run: int) -> bool:
        """Whether the run at this position has its place here."""
        return self.runs is None or run in self.runs

    # ---- curves ----

    def feed(self, curves: Iterable[Curve]) -> None:
        """Adds the curves that are new and gives the others their newest samples."""

    def feed_bars(self, bars: Sequence[Bar]) -> None:
        """Replaces the bars."""

    def clear(self) -> None:
        """Takes everything away that is of the runs."""

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these curves, and shows all others."""
        self._hidden = hidden

    def shown_curves(self) -> list[Curve]:
        """The curves that are visible, with the samples they were drawn from."""
        return []

    def shown_bars(self) -> list[Bar]:
        """The bars that are visible."""
        return []

    def set_marks(
        self, marks_by_run: Sequence[Sequence[TraceMark]], colours: Mapping[CurveId, palette.ColourKey]
    ) -> None:
        """Draws what happened, where that has a place."""

    def marking(
        self, marks_by_run: Sequence[Sequence[TraceMark]], colours: Mapping[CurveId, palette.ColourKey]
    ) -> Iterator[None]:
        """The same in small steps, which may be taken in later turns of the event loop."""
        self.set_marks(marks_by_run, colours)
        yield

    def clear_marks(self) -> None:
        """Takes the marks away."""

    def curve_at(self, _position: QPointF) -> tuple[CurveId, float] | None:
        """The visible curve nearest to a position of the scene, and how far it is, px; None if there is none."""
        return None

    # ---- axes ----

    def set_log(self, is_log: bool) -> None:
        """Logarithmic or linear values, where that makes sense."""

    def fit_values(self) -> None:
        """Lets the axes follow the curves again."""
        self.view.enableAutoRange()

    # ---- reading ----

    def set_cursor(self, time_s: float | None) -> None:
        """Shows where the curves are at this time."""

    def set_pin(self, time_s: float | None) -> None:
        """Marks a time that stays."""

    def values_at(self, _time_s: float | None) -> dict[CurveId, float]:
        """Value of every curve at a time, or its newest one; in the unit of the axis, NaN where there is none."""
        return {}

    def set_readout(self, spans: Sequence[Span]) -> None:
        """Text behind the title."""
        self._readout = tuple(spans)
        self._update_title()

    # ---- colours ----

    def recolour(self) -> None:
        """Draws everything in the colours of the theme, and in lines of the width that is set."""
        colour_axes(self.item, self._tokens, line_width=self._line_width, paper=self._paper)
        self._update_title()

    def set_line_width(self, width: float) -> None:
        """Draws with wider lines, px, from the next `recolour` on."""
        self._line_width = width * (PAPER_WIDTH if self._paper else 1.0)

    @property
    def _tokens(self) -> Tokens:
        return LIGHT if self._paper else current_tokens()

    def _pen_of(self, curve: Curve) -> QPen:
        return curve_pen(curve, dark=self._tokens.is_dark, width=self._line_width)

    def _hex(self, colour: palette.ColourKey) -> QColor:
        return QColor(palette.hex_colour(colour, dark=self._tokens.is_dark))

    def _update_title(self) -> None:
        if not self._paper:
            name = Span(title_of(self.spec), self._tokens.text, bold=True)
            # Over time the title is the quantity; another title says what is drawn, and the axis has to be named.
            has_unit = self.spec.kind == TIME and bool(self.spec.unit)
            is_named = has_unit or self.spec.y_label == self.spec.title
            axis = tr(self.spec.unit) if is_named else axis_of(self.spec)
            unit = Span(f"  {axis}", self._tokens.muted_text)
            self.title.set_spans([name, unit, *self._notes(), *self._readout])

    def _notes(self) -> list[Span]:
        """What there is to say of how the curves are drawn."""
        return []


def make_crosshair() -> Any:
    """A line across a plot that nobody can grab; hidden at first."""
    line = pg.InfiniteLine(angle=90, movable=False)
    line.hide()
    return line
