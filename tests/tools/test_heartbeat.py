"""The window answers while a hundred flows run: no turn of its event loop does a large part of the work.

How many milliseconds that is depends on the machine: `dev.py measure many_flows` tells it beside the target.
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

# Of all that the thread does from the key that starts the run until its last picture.
_LARGEST_SHARE = 0.1


@pytest.mark.parametrize(
    "speed", ["express", pytest.param("fast", marks=pytest.mark.full("at full speed there is more to do"))]
)
def test_the_window_answers_while_a_hundred_flows_run(
    qtbot: QtBot, window: MainWindow, speed: str, record_property: Callable[[str, object], None]
) -> None:
    window.resize(1400, 900)
    window.documents.open_text(many_flows_text(duration_s=2.0), "crowd")
    window.bar.trigger(f"run.speed_{speed}")
    window.bar.trigger("view.flow_medians")  # every curve by itself is the most that there can be to draw
    assert not window.bar["view.flow_medians"].isChecked()
    assert all(part.isVisible() for part in (window.plots, window.topology, window.history))
    # What it took to open the scenario is not of the run.
    QApplication.processEvents()
    gc.collect()
    heart = Heartbeat(window)
    with qtbot.waitSignal(window.runs.ended, timeout=60_000):
        window.bar.trigger("run.toggle")
    stack = window.plots.stack
    # The last picture comes in slices: every curve with all its samples, and every line in the legend.
    qtbot.waitUntil(lambda: window.plots.legend_model.rowCount() >= FLOWS, timeout=60_000)
    model = window.plots.legend_model
    first_total = model.index(2, 1, model.index(0, 0))
    qtbot.waitUntil(lambda: first_total.data() != "", timeout=20_000)

    def sizes() -> set[tuple[int, int]]:
        return {(len(plot.curves), len(item.time_s)) for plot in stack.time_plots for item in plot.curves.values()}

    qtbot.waitUntil(lambda: {samples for _curves, samples in sizes()} == {20}, timeout=20_000)
    heart.stop()
    assert {curves for curves, _samples in sizes()} <= {2 * FLOWS, 3 * FLOWS}
    # What the thread itself has worked: a busy machine makes the pauses longer, which are told and not asserted.
    record_property("longest_wall_ms", heart.longest_wall_ms)
    assert heart.longest_cpu_ms < _LARGEST_SHARE * sum(turn.cpu_ms for turn in heart.turns)
