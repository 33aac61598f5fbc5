"""Does the work of very many curves in slices, so that input is answered in between: 100 flows of two paths are 700."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QObject, Signal

from subflow_app.toolkit.widgets.shorthand import timer

# As long as a slice takes, s.
_SLICE_S = 0.015
END_OF_SLICE = True
"""What a piece of work yields when nothing may follow in the same turn of the event loop: a picture is painted."""


class SlicedFeed(QObject):
    """The work of one stack that waits for its turn of the event loop."""

    done = Signal()  # everything is fed and about to be painted

    def __init__(self, stack: Any) -> None:
        """Nothing waits.

        Args:
            stack: the `PlotStack`, whose pictures are held back meanwhile: one of each plot at the end is enough.
        """
        super().__init__(stack)
        self._stack = stack
        self._mode = stack.viewportUpdateMode()
        self._work: Iterator[object] | None = None
        self._began = 0.0
        self.took_s = 0.0  # from the start to the end of the latest work that was done, s
        self._timer = timer(self, self._go_on, 1, is_single=True)

    @property
    def is_busy(self) -> bool:
        """Whether anything waits for its turn."""
        return self._work is not None

    def start(self, work: Iterator[object]) -> None:
        """Do this work, which yields wherever it may be interrupted."""
        self._work = work
        self._began = time.perf_counter()
        self._stack.setViewportUpdateMode(self._stack.ViewportUpdateMode.NoViewportUpdate)
        self._timer.start()

    def clear(self) -> None:
        """Forget everything that waits."""
        self._work = None
        self._timer.stop()
        self._stack.setViewportUpdateMode(self._mode)

    def _go_on(self) -> None:
        if self._work is None:
            return
        if _is_left(self._work):
            self._timer.start()
            return
        self.took_s = time.perf_counter() - self._began
        self.clear()
        self.done.emit()


def _is_left(work: Iterator[object]) -> bool:
    """Works for the time of a slice; whether more may be left to do."""
    end = time.perf_counter() + _SLICE_S
    return any(said is END_OF_SLICE or time.perf_counter() >= end for said in work)
