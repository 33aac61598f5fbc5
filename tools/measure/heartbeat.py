"""Time without an answer from the window: intervals between beats of a fast timer."""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt

from subflow_app.toolkit.widgets.shorthand import timer

INTERVAL_MS = 5


class Turn(NamedTuple):
    """Time between two beats."""

    cpu_ms: float  # of the GUI thread only, independent of other load
    wall_ms: float


class Heartbeat(QObject):
    """Beats in the event loop of its thread, and keeps the times between beats."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Starts to beat at once."""
        super().__init__(parent)
        self.turns: list[Turn] = []
        self._before = self._now()
        self._timer = timer(self, self.beat, INTERVAL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.start()

    def beat(self) -> None:
        """Records the time since the last beat."""
        now = self._now()
        self.turns.append(Turn(*(1e3 * (late - early) for late, early in zip(now, self._before, strict=True))))
        self._before = now

    def stop(self) -> None:
        """Stops after a last beat."""
        self._timer.stop()
        self.beat()

    @property
    def longest_cpu_ms(self) -> float:
        """Longest processor time of the thread between two beats."""
        return max((turn.cpu_ms for turn in self.turns), default=0.0)

    @property
    def longest_wall_ms(self) -> float:
        """Longest pause between two beats, which includes other work of the machine."""
        return max((turn.wall_ms for turn in self.turns), default=0.0)

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.thread_time(), time.perf_counter()
