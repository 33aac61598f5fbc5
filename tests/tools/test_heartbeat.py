"""The window answers while a hundred flows run: no turn of its event loop does a large part of the work.

The time of a turn in milliseconds depends on the machine: `dev.py measure many_flows` prints it beside the target.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tools.measure.heartbeat import Heartbeat
from tools.measure.many_flows import FLOWS, many_flows_text

from subflow_app.shell.main_window import MainWindow

# Share of the thread's work from the key press that starts the run to the last picture.
_LARGEST_SHARE = 0.1


@pytest.mark.parametrize("speed", ["express", pytest.param("fast", marks=pytest.mark.full("full speed takes longer"))])
def test_the_window_answers_while_a_hundred_flows_run(
    qtbot: QtBot, window: MainWindow, speed: str, record_property: Callable[[str, object], None]
) -> None:
    window.resize(1400, 900)
    window.docks.set_open("history", True)
    window.bar.trigger(f"run.speed_{speed}")
    # The first run of a process also loads modules. It does not count, because other tests may have loaded them before.
    with qtbot.waitSignal(window.runs.ended, timeout=60_000):
        window.bar.trigger("run.toggle")
    window.documents.open_text(many_flows_text(duration_s=2.0), "crowd")
    window.bar.trigger("view.flow_medians")  # every curve separately: the most that a plot can draw
    assert not window.bar["view.flow_medians"].isChecked()
    assert all(part.isVisible() for part in (window.plots, window.topology, window.history))
    # The time to open the scenario does not count.
    QApplication.processEvents()
    gc.collect()
    heart = Heartbeat(window)
    with qtbot.waitSignal(window.runs.ended, timeout=60_000):
        window.bar.trigger("run.toggle")
    stack = window.plots.stack
    # The last picture is drawn in slices: every curve with all its samples, and the legend.
    model = window.plots.legend_model
    qtbot.waitUntil(lambda: model.rowCount() > 0 and model.rowCount(model.index(0, 0)) > 3, timeout=60_000)
    # The mean of the first line of the first plot.
    first_total = model.index(0, 2, model.index(0, 0))
    qtbot.waitUntil(lambda: first_total.data() != "", timeout=20_000)

    def sizes() -> set[tuple[int, int]]:
        return {(len(plot.curves), len(item.time_s)) for plot in stack.time_plots for item in plot.curves.values()}

    qtbot.waitUntil(lambda: {samples for _curves, samples in sizes()} == {20}, timeout=20_000)
    heart.stop()
    assert {curves for curves, _samples in sizes()} <= {2 * FLOWS, 3 * FLOWS}
    # Processor time of the thread: a busy machine prolongs the pauses, which are only recorded.
    record_property("longest_wall_ms", heart.longest_wall_ms)
    assert heart.longest_cpu_ms < _LARGEST_SHARE * sum(turn.cpu_ms for turn in heart.turns)
