"""Starts the window as a person would, prints the times of its start as one line of JSON, and closes it.

    python -m tools.measure.start_probe SPAWNED

``SPAWNED`` is the time at which this process was started, in seconds since 1970, because the interpreter's start
counts, too. `start` runs this probe several times.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QTimer

# Imported as in the program: this module starts before the modules of the window.
from subflow_app.shell import app

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


class StartProbe(QObject):
    """Records the times at which the window is first painted, becomes usable, and has listed its stored runs."""

    def __init__(self, window: MainWindow, spawned_s: float) -> None:
        """Watches ``window``, which is not shown yet."""
        super().__init__(window)
        self._window = window
        self._spawned_s = spawned_s
        self._told: dict[str, Any] = {}
        window.installEventFilter(self)
        # The timer fires after all other receivers of the signal and after the following paint: only then is input
        # handled.
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
