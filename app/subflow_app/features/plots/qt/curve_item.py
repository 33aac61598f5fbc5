"""Curve item that draws 100,000 samples quickly, and pens of curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.core.reading import nearest
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.vocabulary import palette


class TraceCurve(pg.PlotDataItem):  # type: ignore[misc] # pyqtgraph is untyped
    """One curve of a plot, fed repeatedly while its run continues; reused for the curves of later runs."""

    def __init__(self, scale: float) -> None:
        """``scale`` converts SI values to the unit of the axis."""
        # One sample per pixel column instead of five halves the drawing time, and the picture still shows all peaks.
        super().__init__(connect="finite", autoDownsampleFactor=1.0)
        self.opts["autoDownsampleFactor"] = 1.0
        self.setDownsampling(auto=True, method="peak")
        self.setClipToView(True)
        self._scale = scale
        self._log = False
        self._mended: Any = None
        self.time_s: NDArray[np.float64] = np.empty(0)  # sample times, float64 [n], s
        self.shown_values: NDArray[np.float64] = np.empty(0)

    def feed(self, curve: Curve) -> None:
        """Replaces the samples; returns early if they are unchanged."""
        count = min(len(curve.time_s), len(curve.values))
        # A changed bin length or a grown last bin changes the first or last time, even at an equal number of samples.
        if 0 < count == len(self.shown_values) and tuple(curve.time_s[[0, -1]]) == tuple(self.time_s[[0, -1]]):
            return
        self.time_s = curve.time_s
        self.shown_values = curve.values.astype(np.float64) * self._scale
        self._draw()

    def forget(self) -> None:
        """Hides the item and drops its samples, for reuse by another curve."""
        self.hide()
        self.time_s = self.shown_values = np.empty(0)

    def set_antialiased(self, is_on: bool) -> None:
        if bool(self.opts["antialias"]) != is_on:
            self.opts["antialias"] = self.curve.opts["antialias"] = is_on
            self.curve.update()

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic or linear axis; on a logarithmic axis, zero and negative values become gaps."""
        self._log = is_log
        self.setLogMode(False, is_log)
        self._draw()

    def value_at(self, time_s: float) -> float:
        """Value of the sample nearest to ``time_s``, in the unit of the axis; NaN outside the samples."""
        index = self._nearest(time_s)
        return float("nan") if index is None else float(self.shown_values[index])

    def range_near(self, time_s: float, reach_s: float) -> tuple[float, float]:
        """Lowest and highest position on the value axis within ``reach_s`` of a time; NaN if no sample is visible."""
        nearest = self._nearest(time_s)
        if nearest is None:
            return float("nan"), float("nan")
        first, last = np.searchsorted(self.time_s, (time_s - reach_s, time_s + reach_s))
        values = self.shown_values[min(int(first), nearest) : max(int(last), nearest + 1)]
        shown = values[np.isfinite(values) & ((values > 0) | (not self._log))]
        if len(shown) == 0:
            return float("nan"), float("nan")
        low, high = float(shown.min()), float(shown.max())
        return (float(np.log10(low)), float(np.log10(high))) if self._log else (low, high)

    def last_value(self) -> float:
        """The latest value, in the unit of the axis; NaN before the first sample."""
        return float(self.shown_values[-1]) if len(self.shown_values) else float("nan")

    def _nearest(self, time_s: float) -> int | None:
        times = self.time_s
        if len(times) == 0:
            return None
        step = float(times[1] - times[0]) if len(times) > 1 else float(times[0])
        if not times[0] - step / 2 <= time_s <= times[-1] + step / 2:
            return None
        return nearest(times, time_s)

    def _getDisplayDataset(self) -> Any:
        """The points on screen, where a gap is only as wide as its missing samples.

        WORKAROUND(pyqtgraph 0.14): the peaks of several samples become NaN if one sample is NaN. A curve with scattered
        samples would vanish when several samples share a pixel column.
        """
        shown, samples = super()._getDisplayDataset(), int(self._adsLastValue)
        if shown is None or samples <= 1 or shown is self._mended:
            return shown
        self._mended = shown
        whole = self._datasetMapped
        gaps = np.flatnonzero(np.isnan(shown.y[::2]))
        begins = np.searchsorted(whole.x, shown.x[::2][gaps]) - samples // 2
        parts = whole.y[np.minimum(begins[:, np.newaxis] + np.arange(samples), len(whole.y) - 1)]
        known = np.isfinite(parts)
        is_part = known.any(axis=1)
        shown.y[2 * gaps[is_part]] = np.where(known, parts, -np.inf).max(axis=1)[is_part]
        shown.y[2 * gaps[is_part] + 1] = np.where(known, parts, np.inf).min(axis=1)[is_part]
        return shown

    def _draw(self) -> None:
        values = self.shown_values
        if self._log:
            values = np.where(values > 0, values, np.nan)
        if not np.isfinite(values).any():
            # pyqtgraph warns about the bounds of a curve that consists only of gaps.
            self.setData(np.empty(0), np.empty(0))
            return
        self.setData(self.time_s, values)


def curve_pen(curve: Curve, *, dark: bool, width: float = 1.0) -> QPen:
    """Pen of a curve. The default width is 1, because pyqtgraph draws wider lines four to seven times slower."""
    if curve.is_ghost:
        colour = QColor(palette.hex_colour(curve.colour, dark=dark))
        colour.setAlphaF(palette.GHOST_OPACITY)
        # On high-resolution screens and on paper, ghosts are thinner than the curves beside them.
        return make_pen(colour.name(QColor.NameFormat.HexArgb), palette.GHOST_DASH, 0.6 * width if width > 1 else width)
    return make_pen(palette.hex_colour(curve.colour, dark=dark), palette.dash(curve.dash), width)


def make_pen(colour: str, dash: tuple[float, ...] = (), width: float = 1.0) -> QPen:
    """A cosmetic pen, whose width in pixels is the same at every zoom.

    Args:
        colour: ``#rrggbb`` or ``#aarrggbb``.
        dash: on and off lengths in multiples of the width; empty is solid.
        width: width in pixels.
    """
    pen = QPen(QColor(colour), width)
    pen.setCosmetic(True)
    if dash:
        pen.setDashPattern(list(dash))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen
