"""Axes of pictures of sweeps: room for numbers or names, and short numbers where all are nearly the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from subflow_app.toolkit.plotting.plot_parts import Axis

# Numbers of more digits than these are told as their difference from a round one, which the title names.
_MOST_DIGITS = 5
_TICK_ROOM = 12.0  # of the tick and the gaps beside its number, px
_NAME_GAP = 8.0  # between two names, px
_LEAST_NAME = "www…"  # names of which less than this is left tell nothing


class StudyAxis(Axis):
    """An axis whose owner tells it which stretch it shows."""

    def __init__(self, orientation: str, **arguments: Any) -> None:
        """Without a title."""
        super().__init__(orientation, **arguments)
        self.title = ""
        self.tick_font = QFont()
        self.start = 0.0  # what numbers count from
        self._names: tuple[str, ...] = ()  # of the places 0, 1, 2 ...; empty: it has numbers
        self._names_can_be_cut = False
        self._decimals = 0

    def set_names(self, names: Sequence[str], *, can_be_cut: bool = False) -> None:
        """Names for the places 0, 1, 2 ... in the place of numbers.

        Args:
            names: in order; none: numbers again.
            can_be_cut: whether a part of one says something still, as that of a word does and that of a number does
                not; where they have no room each, the others are told one in two, three ...
        """
        self._names, self._names_can_be_cut = tuple(names), can_be_cut
        if not names:
            self.setTicks(None)

    def shown_names(self) -> list[str]:
        """The names that stand along it now."""
        return [text for _place, text in self._tickLevels[0]] if self._names and self._tickLevels else []

    def show_range(self, low: float, high: float) -> None:
        """Makes room for the numbers between two values, and chooses what they count from."""
        view = self.linkedView()
        size = view.height() if self.orientation == "left" else view.width()
        if self._names:
            if size > 0 and high > low:
                self._show_names(size / (high - low))
            return
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

    def _show_names(self, room: float) -> None:
        """Shows as much of the names as fits, with so much room for each, px."""
        metrics = QFontMetricsF(self.tick_font)
        texts = list(self._names)
        if self.orientation == "left":
            needed = metrics.height()
        else:
            needed = max(map(metrics.horizontalAdvance, texts)) + _NAME_GAP
            if needed > room and self._names_can_be_cut and room - _NAME_GAP >= metrics.horizontalAdvance(_LEAST_NAME):
                texts = [metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room - _NAME_GAP) for text in texts]
                needed = room
        ticks = [list(enumerate(texts))[:: math.ceil(needed / room - 1e-6)]]
        if ticks != self._tickLevels:
            self.setTicks(ticks)

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
