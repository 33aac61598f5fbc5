"""Cost of a list of thousands of runs for the GUI thread, as part of ``dev.py measure store``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from subflow_app.features.history.qt.run_table import RunTable, RunView

if TYPE_CHECKING:
    from subflow_store import Store

_REPEATS = 8
_SIZE = (1200, 700)  # px: about 25 rows are visible


def measure_list(store: Store) -> dict[str, float]:
    """CPU time in ms of loading all runs of a store into the list, of its first paint, and of a later paint."""
    application = QApplication.instance() or QApplication([])
    place = QWidget()
    model = RunTable(place)
    view = RunView(model, place)
    view.resize(*_SIZE)
    rows = store.runs()
    best: dict[str, float] = {}

    def measure(name: str, work: Callable[[], object]) -> None:
        start = time.thread_time()
        work()
        best[name] = min(best.get(name, float("inf")), 1e3 * (time.thread_time() - start))

    for _ in range(_REPEATS):
        model.set_rows([], {})
        pixmap = QPixmap(view.size())
        measure("reset_list_cpu_ms", lambda: model.set_rows(rows, {}))
        measure("first_paint_of_list_cpu_ms", lambda pixmap=pixmap: view.render(pixmap))  # type: ignore[misc]
        measure("paint_list_cpu_ms", lambda pixmap=pixmap: view.render(pixmap))  # type: ignore[misc]
    place.deleteLater()
    application.processEvents()
    return best
