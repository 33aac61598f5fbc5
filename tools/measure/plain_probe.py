"""Reference for the start: a window with an empty pyqtgraph plot and no code of Subflow, a lower bound.

    python -m tools.measure.plain_probe SPAWNED

Prints the time of the first turn of its event loop in the format of `start_probe`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Shows the window and closes it; returns the exit code."""
    (spawned_s,) = map(float, arguments)
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    application = QApplication(sys.argv[:1])
    import pyqtgraph

    window = QMainWindow()
    window.setCentralWidget(pyqtgraph.PlotWidget())
    window.show()

    def end() -> None:
        moment = {"wall_s": time.time() - spawned_s, "cpu_s": time.process_time(), "modules": sorted(sys.modules)}
        sys.stdout.write(json.dumps({"plain": moment}) + "\n")
        application.quit()

    QTimer.singleShot(0, end)
    return int(application.exec())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
