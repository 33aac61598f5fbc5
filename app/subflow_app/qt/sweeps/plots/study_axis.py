"""Axes of pictures of sweeps: room for whatever numbers there are, and short numbers where all are nearly the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtGui import QFont, QFontMetricsF

from subflow_app.qt.plotting.axis import Axis

# Numbers of more digits than these are told as their difference from a round one, which the title names.
_MOST_DIGITS = 5
_TICK_ROOM = 12.0  # of the tick and the gaps beside its number, px


class StudyAxis(Axis):
    """An axis whose owner tells it which stretch it shows."""

    def __init__(self, orientation: str, **arguments: Any) -> None:
        """Without a title."""
        super().__init__(orientation, **arguments)
        self.title = ""
        self.tick_font = QFont()
        self.start = 0.0  # what numbers count from
        self._decimals = 0

    def show_range(self, low: float, high: float) -> None:
        """Makes room for the numbers between two values, and chooses what they count from."""
        view = self.linkedView()
        size = view.height() if self.orientation == "left" else view.width()
        has_numbers = self._tickLevels is None and not self.logMode and size > 0 and high > low
        start = start_of(low, high) if has_numbers else 0.0
        if start != self.start:
            self.start = start
            self.setLabel(self.title if start == 0 else f"{self.title} − {start:.10g}", **self.labelStyle)
            self.picture = None
        if not has_numbers:
            return
        levels = self.tickValues(low, high, size)[: self.style["maxTickLevel"] + 1]
        finest = min((spacing for spacing, _values in levels), default=1.0)
        self._decimals = max(0, -math.floor(math.log10(finest) + 1e-9))
        if self.orientation != "left":
            return
        metrics = QFontMetricsF(self.tick_font)
        texts = [text for spacing, values in levels for text in self.tickStrings(values, 1.0, spacing)]
        widest = max(map(metrics.horizontalAdvance, texts), default=0.0)
        self.setWidth(math.ceil(widest + metrics.height() + _TICK_ROOM))

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        """Numbers of the ticks, all with as many decimals."""
        if self.logMode or spacing is None:
            logarithmic: list[str] = super().tickStrings(values, scale, spacing)
            return logarithmic
        return [f"{value - self.start:.{self._decimals}f}" for value in values]


def start_of(low: float, high: float) -> float:
    """What numbers between two values count from: 0 if they are short anyway, else a round one below them.

    >>> start_of(9.6521, 9.6527)
    9.652
    """
    greatest = max(abs(low), abs(high))
    # About as far apart as the ticks, of which there are five or so.
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    if greatest < step * 10.0**_MOST_DIGITS:
        return 0.0
    round_step = 10.0 ** math.ceil(math.log10(high - low))
    return round(math.floor(low / round_step) * round_step, 12)
