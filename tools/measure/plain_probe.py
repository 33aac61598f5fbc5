"""A window with one empty plot of pyqtgraph's and nothing of ours: what no start on this machine can be quicker than.

    python -m tools.measure.plain_probe SPAWNED

Tells the first turn of its event loop as `start_probe` tells the moments of our window.
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
