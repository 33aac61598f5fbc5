"""How long the window does not answer: a timer that should beat every few milliseconds, and what keeps it waiting."""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt

from subflow_app.toolkit.widgets.shorthand import timer

INTERVAL_MS = 5


class Turn(NamedTuple):
    """What lay between two beats."""

    cpu_ms: float  # of the GUI thread alone, whatever else the machine does
    wall_ms: float


class Heartbeat(QObject):
    """Beats in the event loop of the thread that makes it, and keeps the time between the beats."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Beats at once."""
        super().__init__(parent)
        self.turns: list[Turn] = []
        self._before = self._now()
        self._timer = timer(self, self.beat, INTERVAL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.start()

    def beat(self) -> None:
        """Notes the time since the beat before."""
        now = self._now()
        self.turns.append(Turn(*(1e3 * (late - early) for late, early in zip(now, self._before, strict=True))))
        self._before = now

    def stop(self) -> None:
        """Beats a last time."""
        self._timer.stop()
        self.beat()

    @property
    def longest_cpu_ms(self) -> float:
        """The longest that the thread has worked without a beat."""
        return max((turn.cpu_ms for turn in self.turns), default=0.0)

    @property
    def longest_wall_ms(self) -> float:
        """The longest pause between two beats; other work of the machine is in it."""
        return max((turn.wall_ms for turn in self.turns), default=0.0)

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.thread_time(), time.perf_counter()
