"""The plots without a window: linked time, crosshair and values, legend, marks, logarithms, overlays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import LEARNING, RICH, finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.members import for_each
from tests.helpers.present import child, present

from subflow_app.features.exporting.qt.plots_figure import shown_plan
from subflow_app.features.plots.core import PLOTS, PLOTS_BY_ID, TIME, Curve
from subflow_app.features.plots.core.drawing import BY_RUN, CurveChoices
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id
from subflow_app.features.plots.qt.curve_item import TraceCurve
from subflow_app.features.plots.qt.legend import Legend
from subflow_app.features.plots.qt.legend_model import AT, LegendModel
from subflow_app.features.plots.qt.plot_stack import PlotStack
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.traces.core.traces import LiveTraces, TraceMark
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.plot_parts import Axis
from subflow_app.toolkit.theme import DARK, LIGHT, set_current
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.vocabulary import palette

WIFI, LTE = (CurveId(0, f"download/{path}", "subflow") for path in (1, 2))
TOTAL = CurveId(0, "download", "flow")


def show(view: PlotView, *runs: LiveTraces) -> None:
    view.show_runs(runs or [finished_traces()])


def test_nothing_is_imported_before_it_is_needed(qtbot: QtBot) -> None:
    view = PlotView()
    qtbot.addWidget(view)

    assert view.findChild(PlotStack) is None
    # The empty state disappears with the first run, and returns without runs.
    empty = child(view, EmptyState)
    for runs in ([finished_traces()], []):
        view.show_runs(runs)
        assert empty.isVisibleTo(view) == (not runs)


def test_three_plots_with_units_on_every_axis(view: PlotView) -> None:
    show(view)

    titles = [plot.title.text() for plot in view.stack.time_plots]
    assert titles == ["Throughput  Mbit/s", "Congestion window  packets", "Round-trip time  ms"]
    assert view.stack.time_plots[-1].item.getAxis("bottom").tickStrings([10.0], 1.0, 10.0) == ["10 s"]
    # All plots have the same height, left edge and time range, and show values from zero on.
    view.grab()
    areas = [plot.view.sceneBoundingRect() for plot in view.stack.time_plots]
    assert max(a.height() for a in areas) - min(a.height() for a in areas) <= 2.0
    assert len({round(a.left()) for a in areas}) == 1
    assert all(plot.view.viewRange()[1][0] >= -1e-5 for plot in view.stack.time_plots)
    view.stack.time_plots[2].view.setXRange(2.0, 4.0, padding=0)
    for plot in view.stack.time_plots:
        assert plot.view.viewRange()[0] == pytest.approx([2.0, 4.0])
    # The time range cannot leave the run completely.
    view.stack.set_time_range(500.0, 600.0)
    low, high = view.stack.time_range
    assert (low < 10.0, high <= 10.6) == (True, True)


def test_columns_of_the_legend_that_fit_leave_room_for_the_names(view: PlotView) -> None:
    show(view, finished_traces(RICH))
    legend = child(view, Legend)
    header = legend.blocks[0].header()
    assert header.sectionSize(0) >= 80
    assert header.length() <= legend.width()


def test_every_listed_plot_can_be_shown_and_leaves_room_for_the_names(view: PlotView) -> None:
    for spec in PLOTS:
        view.set_plot_shown(spec.id, True)
    show(view, finished_traces(RICH))
    QApplication.processEvents()
    legend = child(view, Legend)
    shown = [block for block in legend.blocks if block.isVisible()]
    assert len(shown) > 3
    assert all(block.header().sectionSize(0) >= 80 for block in shown)
    assert all(block.header().length() <= legend.width() for block in shown)

    show(view, finished_traces(RICH), finished_traces(LEARNING))
    over_time = [spec.id for spec in PLOTS if spec.kind == TIME]
    assert [plot.spec.id for plot in view.stack.time_plots] == over_time
    assert [plot.spec.id for plot in view.stack.plots] == over_time + [s.id for s in PLOTS if s.kind != TIME]
    assert len(view.stack.time_plots[-1].curves) > 0


def test_plots_that_no_run_has_wait_until_one_does(view: PlotView) -> None:
    view.set_plot_shown("utility", True)
    show(view)
    assert [spec.id for spec in view.specs] == ["throughput", "cwnd", "rtt"]
    assert "utility" in view.without_data
    assert "schedule_share" not in view.without_data

    show(view, finished_traces(), finished_traces(RICH))
    assert [plot.spec.id for plot in view.stack.time_plots] == ["throughput", "cwnd", "rtt", "utility"]
    assert view.without_data == {"reward", "agent_action", "agent_observation", "jain", "fairness_bars"}
    assert len(view.stack.time_plots[-1].curves) == 2

    for spec_id in ("throughput", "cwnd", "rtt"):
        view.set_plot_shown(spec_id, False)
    show(view)
    # A run always shows a plot, so the last plot stays.
    assert [spec.id for spec in view.specs] == ["throughput"]
    assert [spec.id for spec in view.wanted] == ["utility"]
    view.set_plot_shown("utility", False)
    assert len(view.specs) == 1


def test_values_that_may_be_negative_are_not_cut_at_zero(view: PlotView) -> None:
    view.set_plot_shown("rtt_gradient", True)
    show(view, finished_traces(RICH))
    plot = view.stack.time_plots[-1]
    QApplication.processEvents()

    assert plot.spec.id == "rtt_gradient"
    # A wave of 1 s/s around zero, in ms/s.
    assert plot.view.viewRange()[1][0] < -500
    view.set_log(True)
    view.set_log(False)
    QApplication.processEvents()
    assert plot.view.viewRange()[1][0] < -500


def test_values_are_drawn_in_the_unit_of_the_axis(view: PlotView) -> None:
    traces = finished_traces()
    show(view, traces)

    for plot in view.stack.time_plots:
        for curve in plot.spec.curves(traces):
            item = plot.curves[CurveId(0, curve.owner, "flow" if curve.kind == "total" else curve.kind)]
            np.testing.assert_allclose(item.shown_values, curve.values * plot.spec.scale, rtol=1e-6)
    # Items are reused while a run continues.
    before = [id(item) for plot in view.stack.time_plots for item in plot.curves.values()]
    view.refresh()
    assert [id(item) for plot in view.stack.time_plots for item in plot.curves.values()] == before


# ---- time ----


def test_the_longest_duration_is_shown_also_of_runs_that_have_only_begun(view: PlotView) -> None:
    for runs, end_s in (
        ([finished_traces(until_s=1.0)], 10.0),
        ([finished_traces(), finished_traces(make_scenario(duration_s=25.0))], 25.0),
    ):
        show(view, *runs)
        assert view.stack.time_range == pytest.approx((0.0, end_s), abs=1e-3)


def test_zoom_and_double_click(qtbot: QtBot, view: PlotView) -> None:
    show(view)
    view.zoom(3)
    low, high = view.stack.time_range
    # Around the middle of 10 s, three steps of 1.25.
    assert (low + high) / 2 == pytest.approx(5.0, abs=1e-3)
    assert high - low == pytest.approx(10.0 / 1.25**3, rel=1e-3)
    view.stack.time_plots[0].view.setYRange(0.0, 100.0)

    middle = view.stack.mapFromScene(view.stack.time_plots[0].view.sceneBoundingRect().center())
    QTest.mouseClick(view.stack.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseDClick(view.stack.viewport(), Qt.MouseButton.LeftButton, pos=middle)

    assert view.stack.time_range == pytest.approx((0.0, 10.0), abs=1e-3)
    assert view.stack.time_plots[0].view.is_fitting_values


def test_wheel_zooms_time_and_values_follow(qtbot: QtBot, view: PlotView) -> None:
    show(view)
    plot = view.stack.time_plots[0]
    middle = view.stack.viewport().mapTo(view.window(), view.stack.mapFromScene(plot.view.sceneBoundingRect().center()))
    QTest.wheelEvent(view.window().windowHandle(), QPointF(middle), QPoint(0, 120))

    low, high = view.stack.time_range
    assert high - low < 9.9
    assert plot.view.is_fitting_values


# ---- crosshair ----


def test_values_at_the_crosshair(view: PlotView) -> None:
    traces = finished_traces()
    show(view, traces)
    view.stack.set_cursor(4.98)  # nearest sample: 5.0 s

    cwnd = next(curve for curve in PLOTS_BY_ID["cwnd"].curves(traces) if curve.owner == "download/2")
    row = view.legend_model.index_of(LTE, "cwnd")
    shown = row.siblingAtColumn(AT).data()
    assert row.data() == "lte"
    # Samples are at 0.1 s, 0.2 s, ...: 5.0 s has index 49.
    assert float(shown) == pytest.approx(float(cwnd.values[49]), abs=0.05)
    assert view.legend_model.heading(AT) == "At 4.98 s"
    # The crosshair stays when other runs are shown, and can be switched off.
    show(view, finished_traces(title="Another"))
    assert view.stack.cursor_s == 4.98
    assert all(plot.crosshair.isVisible() for plot in view.stack.time_plots)
    view.set_crosshair_shown(False)
    view.stack.set_cursor(3.0)
    assert view.stack.cursor_s is None


def test_crosshair_follows_the_mouse_and_the_arrow_keys(view: PlotView) -> None:
    show(view)
    view.grab()  # the range of values is fitted when drawn
    plot = view.stack.time_plots[1]
    view.stack.scene().sigMouseMoved.emit(plot.view.mapViewToScene(QPointF(5.0, 20.0)))
    start = present(view.stack.cursor_s)
    assert start == pytest.approx(5.0, abs=0.05)

    clicked: list[float] = []
    view.time_clicked.connect(clicked.append)
    QTest.keyClick(view.stack, Qt.Key.Key_Right)
    assert view.stack.cursor_s == pytest.approx(start + 0.1, abs=1e-3)  # a sample
    assert clicked == [view.stack.cursor_s]
    QTest.keyClick(view.stack, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert view.stack.cursor_s == pytest.approx(start - 0.9, abs=1e-3)


def test_values_stand_behind_the_titles_while_there_is_no_legend(view: PlotView) -> None:
    show(view)
    view.set_legend_shown(False)
    view.stack.set_cursor(5.0)
    text = view.stack.time_plots[1].title.text()
    assert "at 5 s" in text
    assert "download · wifi" in text

    view.set_legend_shown(True)
    assert "wifi" not in view.stack.time_plots[1].title.text()


@for_each(
    ("time_s", "expected"), [(0.04, math.nan), (0.06, 1.0), (0.14, 1.0), (0.16, 2.0), (0.34, 3.0), (0.36, math.nan)]
)
def test_nearest_sample_counts_up_to_half_a_step(time_s: float, expected: float) -> None:
    item = TraceCurve(scale=1.0)
    times = np.array([0.1, 0.2, 0.3])
    item.feed(Curve("", "a", "subflow", palette.ColourKey(0, 0), times, np.array([1, 2, 3], dtype=np.float32)))

    assert item.value_at(time_s) == pytest.approx(expected, nan_ok=True)


# ---- legend ----


def test_switching_a_line_off_hides_it_in_all_plots(view: PlotView) -> None:
    show(view)
    view.legend_model.toggle(view.legend_model.index_of(WIFI))

    assert view.hidden == {WIFI}
    assert [plot.curves[WIFI].isVisible() for plot in view.stack.time_plots] == [False] * 3
    assert [plot.curves[LTE].isVisible() for plot in view.stack.time_plots] == [True] * 3
    for plot_id in ("throughput", "cwnd", "rtt"):
        index = view.legend_model.index_of(WIFI, plot_id)
        assert index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Unchecked
    assert not view.stack.time_plots[1].ticks[WIFI, "loss"].isVisible()
    # The curve stays hidden in the next run.
    show(view, finished_traces(title="Again"))
    assert not view.stack.time_plots[0].curves[WIFI].isVisible()
    # A plot switches its curves, and a curve can be shown on its own.
    model = view.legend_model
    model.set_hidden(frozenset())
    group = model.index(0, 0)
    alone = model.index_of(LTE)
    for change, hidden in (
        (lambda: model.toggle(group), {WIFI, LTE, TOTAL}),
        (lambda: model.toggle(group), set()),
        (lambda: model.show_only(alone), {WIFI, TOTAL}),
        (lambda: model.show_only(alone), set()),
    ):
        change()
        assert view.hidden == hidden


def test_click_on_a_name_switches_it(qtbot: QtBot, view: PlotView) -> None:
    show(view)
    QApplication.processEvents()
    tree = child(view, Legend).blocks[0]
    rect = tree.visualRect(view.legend_model.index_of(WIFI))

    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert view.hidden == {WIFI}
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, rect.center())
    assert view.hidden == {LTE, TOTAL}


def test_legend_model_names_flows_that_differ_and_is_sound(qtmodeltester, view: PlotView) -> None:
    show(view, finished_traces(make_scenario(make_flow("download", count=11), make_flow("noise", "cbr", ("wifi",)))))
    model = view.legend_model
    assert [model.index(row, 0).data() for row in range(3)] == ["Throughput", "Congestion window", "Round-trip time"]
    names = model.names(0, short=False)
    paths = ("wifi", "lte", "total")
    assert names == [*(f"download.{number} · {path}" for number in range(1, 12) for path in paths), "noise"]
    qtmodeltester.check(model)
    qtmodeltester.check(LegendModel())


# ---- overlays ----


def test_overlay_has_colour_per_run_or_colour_per_subflow_and_dash_per_run(view: PlotView) -> None:
    show(view, finished_traces(title="LIA"), finished_traces(title="Uncoupled"))
    plot = view.stack.time_plots[0]
    other = CurveId(1, "download/1", "subflow")
    view.set_choices(CurveChoices(colour_by=BY_RUN))
    first, second = plot.curves[WIFI].opts["pen"], plot.curves[other].opts["pen"]
    assert first.color() != second.color()
    assert first.style() == second.style() == Qt.PenStyle.SolidLine

    view.set_choices(CurveChoices())
    first, second = plot.curves[WIFI].opts["pen"], plot.curves[other].opts["pen"]
    assert first.color() == second.color()
    assert first.style() == Qt.PenStyle.SolidLine
    assert list(second.dashPattern()) == list(palette.dash(1))
    assert first.color() != plot.curves[LTE].opts["pen"].color()
    # The legend names the runs.
    assert view.legend_model.names(0, short=False)[:2] == ["LIA · wifi", "Uncoupled · wifi"]


def test_seeds_are_their_mean_and_each_again(view: PlotView) -> None:
    show(view, *(finished_traces(title=f"seed {number}") for number in range(3)))
    plot = view.stack.time_plots[0]
    assert {key.run for key in plot.curves} == {0}
    assert "95 % interval" in plot.title.text()
    assert all(view.shown_keys())

    view.set_choices(CurveChoices(seeds_averaged=False))
    assert {key.run for key in plot.curves} == {0, 1, 2}


def test_of_many_flows_the_median_is_drawn_and_the_one_under_the_mouse(view: PlotView) -> None:
    show(view, finished_traces(make_scenario(make_flow("many", count=13))))
    plot = view.stack.time_plots[1]
    assert [key.owner for key in plot.curves] == ["many/1", "many/2"]
    assert len(view.stack.sampled_curves(plot.spec)) == 26
    view.stack.scene().sigMouseMoved.emit(plot.view.sceneBoundingRect().center())
    flow = present(view.stack.pointed_flow)
    assert flow.owner.startswith("many.")
    time_s = plot.view.mapSceneToView(plot.view.sceneBoundingRect().center()).x()
    (own,) = (each for each in view.stack.sampled_curves(plot.spec) if curve_id(each) == flow)
    value = fmt.number(float(own.values[np.abs(own.time_s - time_s).argmin()]) * plot.spec.scale)
    assert f"{view.names_of(flow)[0]} {value}" in plot.title.text()


def test_bins_are_said_and_follow_the_zoom(view: PlotView, qtbot: QtBot) -> None:
    show(view, finished_traces(make_scenario(duration_s=60.0)))
    plot = view.stack.time_plots[0]
    assert "mean of 0.5 s" in plot.title.text()
    assert len(plot.curves[WIFI].time_s) == 120

    view.stack.set_time_range(10.0, 20.0)
    qtbot.waitUntil(lambda: "mean of" not in plot.title.text())
    assert len(plot.curves[WIFI].time_s) == 600
    view.set_choices(CurveChoices(bin_s=2.0))
    assert "mean of 2 s" in plot.title.text()
    assert len(view.stack.sampled_curves(plot.spec)[0].values) == 600
    assert shown_plan(view.stack).plots[0].bin_s == 2.0


# ---- marks ----


def test_losses_are_ticked_below_the_window(view: PlotView) -> None:
    show(view)
    cwnd = view.stack.time_plots[1]
    # The fake loses a packet each second on the first subflow.
    assert cwnd.mark_times(WIFI, "loss") == [float(second) for second in range(1, 11)]
    assert cwnd.mark_times(LTE, "loss") == []
    assert view.stack.time_plots[0].mark_times(WIFI, "loss") == []

    view.set_marks_shown(False)
    assert cwnd.mark_times(WIFI, "loss") == []
    view.set_marks_shown(True)
    assert len(cwnd.mark_times(WIFI, "loss")) == 10


def test_link_changes_are_lines_in_every_plot(view: PlotView) -> None:
    traces = finished_traces()
    traces.add_marks(TraceMark(3.0, f"wifi/{way}", "link_down", 0.0) for way in ("forward", "reverse"))
    show(view, traces)

    assert [[float(line.value()) for line in plot.lines] for plot in view.stack.time_plots] == [[3.0]] * 3


def test_new_marks_are_added_while_the_run_goes_on(view: PlotView) -> None:
    traces = finished_traces()
    show(view, traces)
    marks = [TraceMark(10.0, "download/2", kind, 1.0) for kind in ("loss", "penalised", "rto")]
    traces.add_marks([*marks, TraceMark(10.75, "download/1", "loss", 3.0)])
    cwnd = view.stack.time_plots[1]
    for _ in range(2):
        view.refresh()
        assert [cwnd.mark_times(LTE, mark.kind) for mark in marks] == [[10.0]] * 3
        assert cwnd.mark_times(WIFI, "loss") == [*map(float, range(1, 11)), 10.75]


# ---- values ----


def test_logarithmic_values(view: PlotView) -> None:
    show(view)
    view.set_log(True)
    show(view)  # also a run that is shown now
    for plot in view.stack.time_plots:
        for item in plot.curves.values():
            assert item.opts["logMode"] == [False, True]
            _, drawn = item.getOriginalDataset()
            assert (drawn[np.isfinite(drawn)] > 0).all()
    view.grab()  # the range of values is fitted when drawn
    # Windows between 20 and 40 packets, with a margin.
    low, high = view.stack.time_plots[1].view.viewRange()[1]
    assert 10 < 10**low < 10**high < 80

    view.set_log(False)
    view.grab()
    assert view.stack.time_plots[1].view.viewRange()[1][1] > 39


@pytest.mark.usefixtures("qapp")
def test_log_axis_counts_one_two_five() -> None:
    axis = Axis("left")
    axis.setLogMode(True)
    numbered, others = (ticks for _, ticks in axis.tickValues(0.0, 2.0, 200))

    assert axis.logTickStrings(numbered, 1.0, None) == ["1", "2", "5", "10", "20", "50", "100"]
    assert set(axis.logTickStrings(others, 1.0, None)) == {""}


def test_run_without_samples_draws_nothing_and_warns_of_nothing(view: PlotView) -> None:
    show(view, finished_traces(until_s=0.0))
    view.grab()

    assert view.stack.latest_time_s == 0.0
    assert view.legend_model.heading(AT) == ""


def test_curves_follow_the_speed_rules(view: PlotView) -> None:
    show(view)
    for plot in view.stack.time_plots:
        for item in plot.curves.values():
            kept = ("autoDownsample", "downsampleMethod", "autoDownsampleFactor", "clipToView")
            assert [item.opts[name] for name in kept] == [True, "peak", 1.0, True]
            assert item.opts["pen"].widthF() == 1.0


def test_own_menu_instead_of_pyqtgraphs(qtbot: QtBot, view: PlotView) -> None:
    show(view)
    assert all(plot.view.menu is None or not plot.view.menuEnabled() for plot in view.stack.time_plots)
    middle = view.stack.mapFromScene(view.stack.time_plots[0].view.sceneBoundingRect().center())

    with qtbot.waitSignal(view.menu_requested):
        QTest.mouseClick(view.stack.viewport(), Qt.MouseButton.RightButton, pos=middle)


def test_theme_reaches_everything_drawn(view: PlotView) -> None:
    show(view)
    set_current(DARK)
    total = view.stack.time_plots[0].curves[TOTAL].opts["pen"].color().name().upper()
    assert total == palette.TOTAL_ON_DARK
    assert view.stack.backgroundBrush().color().name() == DARK.base

    set_current(LIGHT)
    assert view.stack.time_plots[0].curves[TOTAL].opts["pen"].color().name() == palette.TOTAL_ON_LIGHT


def test_very_many_ticks_are_drawn_once_per_column_of_pixels(view: PlotView) -> None:
    traces = finished_traces()
    traces.add_marks(TraceMark(k / 10_000, "download/1", "action", 3.0) for k in range(100_000))
    show(view, traces)
    QApplication.processEvents()
    cwnd = next(plot for plot in view.stack.time_plots if plot.spec.id == "cwnd")
    ticks = cwnd.ticks[WIFI, "action"]
    paper = QPixmap(10, 10)
    painter = QPainter(paper)
    painter.scale(50.0, 1.0)
    # 50 pixels a second: the ten seconds in view are 500 columns, each tick is a line of two points.
    assert ticks.thinned(painter).elementCount() == pytest.approx(2 * 500, abs=4)
    painter.end()
    assert len(ticks.times) == 100_000


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
    # Each curve has all its samples.
    qtbot.waitUntil(lambda: [len(item.time_s) for item in plot.curves.values()] == [20] * 220)
    stack.show_runs([])
    assert plot.curves == {}
