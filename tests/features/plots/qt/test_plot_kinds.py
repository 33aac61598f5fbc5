"""Plots that are not over time, beside plots over time: distributions, paths through two quantities, bars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.present import child, present
from tests.helpers.table_traces import TableTraces

from subflow_app.features.plots.core import PLOTS
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.plots.qt.xy_plot import BarPlot, XYPlot
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces
from subflow_app.toolkit.theme import DARK, set_current

PAIR = make_scenario(make_flow("download"), make_flow("cross", "tcp", ("wifi",)))


def show(view: PlotView, *plot_ids: str, runs: list[Traces] | None = None) -> None:
    """Shows only these plots; called before the first run, so that no other plot is made."""
    for plot_id in plot_ids:
        view.set_plot_shown(plot_id, True)
    for spec in PLOTS:
        if spec.id not in plot_ids:
            view.set_plot_shown(spec.id, False)
    view.show_runs(runs or [finished_traces(PAIR)])
    QApplication.processEvents()  # the plots get their sizes
    view.grab()


def xy_plot(view: PlotView) -> XYPlot:
    return next(plot for plot in view.stack.plots if isinstance(plot, XYPlot))


def bar_plot(view: PlotView) -> BarPlot:
    return next(plot for plot in view.stack.plots if isinstance(plot, BarPlot))


def test_others_stand_in_pairs_below_those_over_time(view: PlotView) -> None:
    show(view, "cwnd", "rtt_cdf", "phase", "goodput_bars")
    cwnd, cdf, phase, bars = (plot.item.sceneBoundingRect() for plot in view.stack.plots)

    assert [plot.spec.id for plot in view.stack.time_plots] == ["cwnd"]
    assert cwnd.bottom() <= cdf.top()
    assert cdf.top() == phase.top()
    assert cdf.right() <= phase.left()
    assert cdf.bottom() <= bars.top()
    assert bars.width() == pytest.approx(cwnd.width())
    assert bars.bottom() <= view.stack.height()
    # Axes name quantities other than time.
    assert view.stack.time_plots[-1].item.getAxis("bottom").style["showValues"]
    plot = xy_plot(view)
    assert plot.item.getAxis("bottom").labelText == "Smoothed RTT (ms)"
    assert plot.title.text() == "Distribution of RTT  Share of samples (%)"
    assert plot.view.viewRange()[1] == pytest.approx([0.0, 100.0], abs=12.0)
    assert all(spec.x_text for spec in PLOTS if spec.bars is None)
    # Quantities get logarithmic axes, shares do not.
    view.set_log(True)
    assert [plot.item.getAxis(side).logMode for side in ("bottom", "left")] == [True, False]
    assert not bar_plot(view).item.getAxis("left").logMode
    view.grab()
    view.set_log(False)
    set_current(DARK)
    assert plot.item.getAxis("bottom").textPen().color().name() == DARK.muted_text.lower()


def test_mouse_over_a_distribution_reads_it(view: PlotView) -> None:
    values = [0.1, 0.2, 0.3, 0.4]
    show(view, "rtt_cdf", runs=[TableTraces({(SUBFLOW, "a/1", "srtt_s"): values, (FLOW, "a", "x"): values})])
    plot = xy_plot(view)
    view.stack.scene().sigMouseMoved.emit(plot.view.mapViewToScene(QPointF(250.0, 50.0)))

    # Two of four samples are at most 250 ms.
    assert plot.title.text().split()[-4:] == ["250", "ms", "a/1", "50"] or "50" in plot.title.text()
    assert view.stack.cursor_s is None
    view.stack.set_cursor(1.0)
    view.stack.scene().sigMouseMoved.emit(QPointF(-5.0, -5.0))
    assert "250" not in plot.title.text()


def test_crosshair_shows_where_a_path_is_at_that_time(view: PlotView) -> None:
    show(view, "cwnd", "phase")
    for time_s, dots in ((5.0, 3), (None, 0)):  # one for each subflow
        view.stack.set_cursor(time_s)
        assert len(xy_plot(view).dots.getData()[0]) == dots


def test_hidden_lines_leave_all_kinds_of_plots(view: PlotView) -> None:
    show(view, "goodput", "throughput_cdf", "goodput_bars")
    assert [bar.owner for bar in bar_plot(view).shown_bars()] == ["download", "cross"]
    total = next(key for key in view.stack.curves if key.owner == "download")
    view.legend_model.set_hidden(frozenset({total}))

    assert [bar.owner for bar in bar_plot(view).shown_bars()] == ["cross"]
    assert [curve.owner for curve in xy_plot(view).shown_curves()] == ["cross/1"]


def test_several_seeds_give_an_interval_and_it_is_said(view: PlotView) -> None:
    show(view, "goodput_bars", runs=[finished_traces(replace(PAIR, seed=seed)) for seed in range(5)])
    assert bar_plot(view).title.text().endswith("mean of 5 runs, 95 % interval")

    show(view, "goodput_bars")
    assert bar_plot(view).title.text().endswith("one run each: no interval")
    # Experiments are named in the order of their bars.
    runs = [finished_traces(PAIR, title="LIA"), finished_traces(replace(PAIR, duration_s=11.0), title="OLIA")]
    show(view, "goodput_bars", runs=list(runs))
    assert bar_plot(view).title.text().endswith("left to right: LIA, OLIA")


def test_absurd_values_break_nothing(view: PlotView) -> None:
    odd = [np.nan, np.inf, -np.inf, 3e38, 0.0, 1e-38]
    of_subflows = ("throughput_bps", "goodput_bps", "cwnd_pkts", "srtt_s", "inflight_pkts", "losses_pkts")
    columns = {(SUBFLOW, f"{flow}/1", name): odd for flow in "ab" for name in of_subflows}
    columns |= {(FLOW, flow, name): odd for flow in "ab" for name in ("goodput_bps", "recv_buffer_bytes")}
    traces = TableTraces(columns)
    shown = [spec.id for spec in PLOTS if spec.is_in(traces)]
    show(view, *shown, runs=[traces])
    for is_log in (True, False):
        view.set_log(is_log)
        view.stack.set_cursor(1.0)
        view.grab()

    assert len(shown) > 10


def test_others_follow_a_run_that_goes_on(qtbot: QtBot, view: PlotView) -> None:
    samples = [1.0, 2.0]
    traces = TableTraces({(FLOW, "a", "goodput_bps"): samples, (SUBFLOW, "a/1", "throughput_bps"): samples})
    show(view, "goodput_bars", runs=[traces])
    assert bar_plot(view).shown_bars()[0].mean == 1.5

    traces.append(FLOW, "a", "goodput_bps", [3.0])
    view.refresh()
    qtbot.waitUntil(lambda: bar_plot(view).shown_bars()[0].mean == 2.0)


def test_plot_that_no_run_has_says_why(view: PlotView) -> None:
    view.set_plot_shown("jain", True)
    show(view, "cwnd", "jain", runs=[finished_traces(make_scenario(make_flow("cross", "tcp", ("wifi",))))])
    left_out = child(view, QLabel, "plots_left_out")
    assert left_out.isVisible()
    assert "at least two tcp or mptcp flows" in left_out.text()

    show(view, "cwnd", "jain")
    assert not left_out.isVisible()


def test_another_screen_keeps_plots_right(view: PlotView, monkeypatch: pytest.MonkeyPatch) -> None:
    show(view, "cwnd", "goodput_bars")
    monkeypatch.setattr(view.stack, "devicePixelRatioF", lambda: 2.0)
    present(view.window().windowHandle()).screenChanged.emit(view.screen())
    view.grab()

    assert {item.opts["pen"].widthF() for item in view.stack.time_plots[0].curves.values()} == {2.0}
