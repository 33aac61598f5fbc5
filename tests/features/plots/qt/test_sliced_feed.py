"""Very many curves come in slices, all of them and with all their samples in the end."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario

from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.core.drawing import CurveChoices
from subflow_app.features.plots.qt.plot_stack import PlotStack


def test_curves_of_many_flows_are_fed_in_slices_until_all_are_there(qtbot: QtBot) -> None:
    # 110 flows of two subflows: 220 windows.
    traces = finished_traces(make_scenario(make_flow("many", count=110), duration_s=2.0))
    stack = PlotStack([PLOTS_BY_ID["cwnd"]])
    qtbot.addWidget(stack)
    stack.set_choices(CurveChoices(crowds_summed_up=False))
    stack.show_runs([traces])
    (plot,) = stack.time_plots
    assert len(plot.curves) < 220
    stack.refresh()  # drops a frame
    # Each with all its samples.
    qtbot.waitUntil(lambda: [len(item.time_s) for item in plot.curves.values()] == [20] * 220)
    stack.show_runs([])
    assert plot.curves == {}
