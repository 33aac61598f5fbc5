"""Starts the window as a person would, tells how long it took as one line of JSON, and closes it.

    python -m tools.measure.start_probe SPAWNED

``SPAWNED`` is when this process was started, s since 1970: the interpreter's own start counts too. `start` runs it
several times.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QTimer

# As the program does it: the window's own modules are imported once this one has begun.
from subflow_app.shell import app

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


class StartProbe(QObject):
    """Looks at the clock when the window is painted first, can be used, and has its stored runs."""

    def __init__(self, window: MainWindow, spawned_s: float) -> None:
        """Watches ``window``, which is not shown yet."""
        super().__init__(window)
        self._window = window
        self._spawned_s = spawned_s
        self._told: dict[str, Any] = {}
        window.installEventFilter(self)
        # Behind everybody else who hears of it, and behind the paint that follows: then input has its turn.
        window.loaded.connect(lambda: QTimer.singleShot(0, self, lambda: self._look("usable")))
        for over in (window.database.opened, window.database.failed):
            over.connect(lambda _told: QTimer.singleShot(0, self, self._end))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Waits for the first paint."""
        if event.type() == QEvent.Type.Paint and not self._told:
            self._look("painted")
        return False

    def _end(self) -> None:
        self._look("listed")
        sys.stdout.write(json.dumps(self._told) + "\n")
        sys.stdout.flush()
        self._window.close_at_once()

    def _look(self, moment: str) -> None:
        self._told[moment] = {
            "wall_s": time.time() - self._spawned_s,
            "cpu_s": time.process_time(),
            "modules": sorted(sys.modules),
        }


def main(arguments: Sequence[str]) -> int:
    """Starts the window and closes it; returns the exit code."""
    (spawned_s,) = map(float, arguments)
    return app.main(None, prepared=lambda window: StartProbe(window, spawned_s))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
