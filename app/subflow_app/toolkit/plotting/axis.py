"""Axes of the plots: every tick has its number, and a logarithmic axis counts 1, 2, 5, 10."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QRectF

from subflow_app.toolkit import format as fmt

# Room past both ends of the axis for half of a number, px.
_OVERHANG = 15.0
# A decade of a logarithmic axis that is at least this long, px, has room for 2 and 5 beside its power of ten.
_DECADE_WITH_STEPS = 60.0


class Axis(pg.AxisItem):  # type: ignore[misc] # pyqtgraph is untyped
    """An axis with a grid."""

    def boundingRect(self) -> QRectF:
        """The area it draws in.

        WORKAROUND(pyqtgraph 0.14.0): with a grid the room past the ends is forgotten, and with it the numbers there, so
        that an axis that starts at zero has no 0.
        """
        area: QRectF = super().boundingRect()
        if self.grid is False:
            return area
        if self.orientation in ("left", "right"):
            return area.adjusted(0.0, -_OVERHANG, 0.0, _OVERHANG)
        return area.adjusted(-_OVERHANG, 0.0, _OVERHANG, 0.0)

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """Spacings of the ticks and where they begin; the numbers of a short upright axis keep clear of each other."""
        spacings: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        if not spacings or self.orientation not in ("left", "right"):
            return spacings
        least = (high - low) * self.style["tickTextHeight"] / size
        if spacings[0][0] >= least:
            return spacings
        decade = 10.0 ** math.floor(math.log10(least))
        return [(next(digit * decade for digit in (1, 2, 5, 10) if digit * decade >= least), 0.0)]

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Ticks with their spacing; none for an axis that only closes the frame, where each would still be a dot."""
        if self.style["tickLength"] == 0:
            return []
        ticks: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
        return ticks

    def logTickValues(
        self, low: float, high: float, size: float, _linear: Sequence[tuple[float, Sequence[float]]]
    ) -> list[tuple[float | None, list[float]]]:
        """Ticks of a logarithmic axis, as exponents: the numbered ones first, then those with a grid line only."""
        decades = range(math.floor(low), math.ceil(high) + 1)
        numbered = (1, 2, 5) if size >= _DECADE_WITH_STEPS * (high - low) else (1,)

        def ticks(digits: Sequence[int]) -> list[float]:
            values = (decade + math.log10(digit) for decade in decades for digit in digits)
            return [value for value in values if low <= value <= high]

        return [(None, ticks(numbered)), (None, ticks([digit for digit in range(1, 10) if digit not in numbered]))]

    def logTickStrings(self, values: Sequence[float], _scale: float, _spacing: float | None) -> list[str]:
        """Numbers of the ticks 1, 2 and 5 (and their powers of ten); nothing for the ticks between."""
        numbers = [10.0**value for value in values]
        return [fmt.number(number, 1) if _leading_digit(number) in (1, 2, 5) else "" for number in numbers]


def _leading_digit(number: float) -> int:
    return round(number / 10.0 ** math.floor(math.log10(number) + 1e-9))
