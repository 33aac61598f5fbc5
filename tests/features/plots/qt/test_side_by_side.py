"""Runs side by side: one column each, with common axes, and all functions of overlaid runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.present import child

from subflow_app.features.exporting.core.exports import export_shown
from subflow_app.features.exporting.qt.plots_figure import shown_plan
from subflow_app.features.forking.core.words import Ghost
from subflow_app.features.paper.core.figure_plan import AS_SHOWN, FigureChoice
from subflow_app.features.paper.core.figures import render_figure
from subflow_app.features.plots.core import Bar
from subflow_app.features.plots.core.drawing import BY_SUBFLOW, CurveChoices
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.plot_grid import LEAST_COLUMN_WIDTH
from subflow_app.features.plots.qt.plot_stack import PlotStack
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.features.traces.core.traces import SUBFLOW, LiveTraces
from subflow_app.toolkit.plotting.plot_scroll import PlotScroll
from subflow_app.toolkit.theme import DARK, set_current

SPECS = ["throughput", "cwnd"]


@pytest.fixture
def view(view: PlotView) -> PlotView:
    view.set_plot_shown("rtt", False)
    return view


def run_of(controller: str, until_s: float | None = None) -> LiveTraces:
    scenario = make_scenario(make_flow("download", controller=controller))
    return finished_traces(scenario, title="Two paths", until_s=until_s)


def show(view: PlotView, *controllers: str) -> list[list[TimePlot]]:
    view.show_runs([run_of(controller) for controller in controllers])
    view.set_side_by_side(True)
    QApplication.processEvents()  # columns get their widths
    view.grab()  # the range of values is fitted when drawn
    return rows(view.stack)


def as_shown(stack: PlotStack, height_mm: float = 150.0) -> bytes:
    return render_figure(
        FigureChoice(AS_SHOWN, height_mm=height_mm).look("").of(shown_plan(stack, has_all=True), "svg")
    )


def rows(stack: PlotStack) -> list[list[TimePlot]]:
    return [[plot for plot in plots if isinstance(plot, TimePlot)] for _spec, plots in stack.plots_by_spec()]


def runs_in(plot: TimePlot) -> set[int]:
    return {key.run for key in plot.curves}


def titles(stack: PlotStack) -> list[str]:
    return [title.toolTip() for title in stack.grid.column_titles]


def test_each_run_has_a_column_named_after_what_differs(view: PlotView) -> None:
    shown = show(view, "lia", "olia", "balia")

    assert [[runs_in(plot) for plot in row] for row in shown] == [[{0}, {1}, {2}]] * 2
    assert [row[0].spec.id for row in shown] == SPECS
    assert titles(view.stack) == ["Two paths: lia", "Two paths: olia", "Two paths: balia"]
    for row in shown:
        assert [plot.view.width() for plot in row] == pytest.approx([row[0].view.width()] * 3, abs=1.5)
        places = [plot.view.sceneBoundingRect() for plot in row]
        assert all(left.right() < right.left() for left, right in pairwise(places))
        assert len({round(place.top()) for place in places}) == 1
        # Only the first column shows the numbers of the axis.
        assert [plot.item.getAxis("left").style["showValues"] for plot in row] == [True, False, False]
    assert all(plot.item.getAxis("bottom").style["showValues"] for plot in shown[-1])


def test_switching_back_and_one_run_alone_are_as_before(view: PlotView) -> None:
    show(view, "lia", "olia")
    view.stack.set_time_range(2.0, 4.0)
    view.set_side_by_side(False)

    assert [[runs_in(plot) for plot in row] for row in rows(view.stack)] == [[{0, 1}]] * 2
    assert view.stack.time_range == pytest.approx((2.0, 4.0), abs=1e-3)
    assert view.stack.minimumWidth() == 0
    assert not view.stack.grid.column_titles
    view.grab()
    assert rows(view.stack)[0][0].view.width() > 400
    view.set_side_by_side(True)
    view.show_runs([run_of("lia")])
    assert [len(row) for row in rows(view.stack)] == [1, 1]


def test_axes_are_those_of_one_picture(view: PlotView) -> None:
    _, cwnd = show(view, "lia", "olia")
    left, right = cwnd
    assert right.view.viewRange()[1] == pytest.approx(left.view.viewRange()[1])
    right.view.setXRange(2.0, 4.0, padding=0)
    for row in rows(view.stack):
        for plot in row:
            assert plot.view.viewRange()[0] == pytest.approx([2.0, 4.0], abs=1e-3)

    right.view.setYRange(10.0, 20.0, padding=0)
    assert left.view.viewRange()[1] == pytest.approx([10.0, 20.0])
    assert [plot.view.is_fitting_values for plot in cwnd] == [False, False]
    view.fit()
    view.grab()
    assert right.view.is_fitting_values
    assert left.view.viewRange()[1] == pytest.approx(right.view.viewRange()[1])
    assert left.view.viewRange()[1][1] > 38
    assert view.stack.time_range == pytest.approx((0.0, 10.0), abs=1e-3)


def test_values_fit_the_curves_of_all_columns(view: PlotView) -> None:
    # The first run ends before its window grows; only the second reaches 40 packets.
    view.show_runs([run_of("lia", until_s=0.5), run_of("olia")])
    view.set_side_by_side(True)
    view.legend_model.set_hidden(frozenset({CurveId(0, "download/1", SUBFLOW), CurveId(0, "download/2", SUBFLOW)}))
    view.grab()
    left, right = rows(view.stack)[1]
    assert left.view.viewRange()[1] == pytest.approx(right.view.viewRange()[1])
    assert left.view.viewRange()[1][1] > 40
    both = {CurveId(run, f"download/{path}", SUBFLOW) for run in (0, 1) for path in (1, 2)}
    view.legend_model.set_hidden(frozenset(both - {CurveId(0, "download/2", SUBFLOW)}))
    view.grab()
    assert right.view.viewRange()[1][1] < 35


def test_legend_hides_and_tells_values_of_all_columns(view: PlotView) -> None:
    shown = show(view, "lia", "olia")
    hidden = CurveId(1, "download/1", SUBFLOW)
    view.legend_model.set_hidden(frozenset({hidden}))

    assert [plot.curves[hidden].isVisible() for _left, plot in shown] == [False] * 2
    assert shown[0][0].curves[hidden._replace(run=0)].isVisible()
    assert view.legend_model.columnCount() == 1 + len(SPECS)
    view.stack.set_cursor(5.0)
    values = view.stack.values_at(5.0)
    assert [{key.run for key in each} for each in values] == [{0, 1}] * 2
    assert all(plot.crosshair.isVisible() for row in shown for plot in row)
    view.set_legend_shown(False)
    assert " / " in shown[1][0].title.text()  # the title contains the values of both runs
    view.set_choices(CurveChoices(colour_by=BY_SUBFLOW))
    view.set_colour(hidden, "#123456")
    pens = {plot.curves[hidden._replace(run=run)].opts["pen"].color().name() for run, plot in enumerate(shown[1])}
    assert pens == {"#123456"}


def test_click_and_mouse_find_the_curves_and_the_time_of_their_column(view: PlotView) -> None:
    _, (_, right) = show(view, "lia", "olia")
    clicked: list[CurveId] = []
    times: list[float] = []
    view.curve_clicked.connect(clicked.append)
    view.time_clicked.connect(times.append)
    value = right.values_at(3.0)[CurveId(1, "download/2", SUBFLOW)]
    at = right.view.mapViewToScene(QPointF(3.0, value))
    view.stack.scene().sigMouseMoved.emit(at)
    assert view.stack.cursor_s == pytest.approx(3.0, abs=0.1)
    place = QPoint(view.stack.mapFromScene(at))
    QTest.mouseClick(view.stack.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert clicked == [CurveId(1, "download/2", SUBFLOW)]
    assert times == [pytest.approx(3.0, abs=0.1)]


def test_pin_cursors_marks_and_logarithms_are_in_every_column(view: PlotView) -> None:
    shown = show(view, "lia", "olia")
    view.set_pin(4.0)
    view.stack.cursors.set_time("A", 2.0)
    view.set_log(True)
    view.grab()

    assert all(plot.pin.isVisible() and plot.pin.value() == 4.0 for row in shown for plot in row)
    assert [line.value() for line in view.stack.cursors.lines["A"]] == [2.0] * 4
    left, right = shown[1]
    assert left.view.is_fitting_values
    assert left.view.viewRange()[1] == pytest.approx(right.view.viewRange()[1])
    assert left.view.viewRange()[1][1] == pytest.approx(1.6, abs=0.2)  # 40 packets
    wifi = [CurveId(run, "download/1", SUBFLOW) for run in (0, 1)]
    assert [bool(plot.mark_times(key, "loss")) for plot in (left, right) for key in wifi] == [True, False, False, True]
    set_current(DARK)


def test_fork_and_its_ghost_stay_in_one_column(view: PlotView, monkeypatch: pytest.MonkeyPatch) -> None:
    original, other, fork = (run_of(controller) for controller in ("lia", "olia", "lia"))
    ghost = Ghost(original=1, fork=0, at_s=5.0, changes=())
    monkeypatch.setattr("subflow_app.features.plots.qt.fed_plots.find_ghosts", lambda runs: {1: ghost} if runs else {})
    view.show_runs([fork, original, other])
    view.set_side_by_side(True)

    assert [[runs_in(plot) for plot in row] for row in rows(view.stack)] == [[{0, 1}, {2}]] * 2
    lines = view.stack.forks.lines[0]
    assert [line.isVisible() for line in lines] == [True, False] * 2
    assert titles(view.stack)[0].startswith("Fork: ")
    view.set_choices(replace(view.choices, ghosts_shown=False))
    assert [[runs_in(plot) for plot in row] for row in rows(view.stack)] == [[{0}, {2}]] * 2


def test_live_samples_and_popped_plots_follow(view: PlotView) -> None:
    show(view, "lia", "olia")
    view.pop_out("cwnd")
    popped = view._popped["cwnd"].stack
    assert [[runs_in(plot) for plot in row] for row in rows(popped)] == [[{0}, {1}]]
    view.refresh()
    view.set_side_by_side(False)
    assert [[runs_in(plot) for plot in row] for row in rows(popped)] == [[{0, 1}]]
    view.return_all()
    assert view.stack.specs == list(view.specs)
    # Distributions draw all runs in one plot.
    view.set_plot_shown("throughput_cdf", True)
    show(view, "lia", "olia")
    ((below,),) = [plots for spec, plots in view.stack.plots_by_spec() if spec.id not in SPECS]
    assert {curve.run for curve in below.shown_curves()} == {0, 1}


def test_figure_and_data_have_every_run_once(view: PlotView, tmp_path: Path) -> None:
    show(view, "lia", "olia")
    over_each_other = PlotStack(view.specs)
    over_each_other.show_runs(view.runs)
    for stack, name in ((view.stack, "columns"), (over_each_other, "overlaid")):
        by_spec = stack.plots_by_spec()
        shown = [
            (spec, [each for plot in plots for each in plot.shown_curves()], list[Bar]()) for spec, plots in by_spec
        ]
        export_shown(shown, tmp_path / f"{name}.csv")
    assert (tmp_path / "columns.csv").read_text() == (tmp_path / "overlaid.csv").read_text()
    columns, overlaid = (shown_plan(stack).plots for stack in (view.stack, over_each_other))
    assert [(plot.id, len(plot.curves)) for plot in columns] == [(plot.id, len(plot.curves)) for plot in overlaid]
    texts = [(each.text or "").strip() for each in ElementTree.fromstring(as_shown(view.stack)).iter()]
    assert [text for text in texts if text in titles(view.stack)] == titles(view.stack)
    over_each_other.close()
    over_each_other.deleteLater()


def test_a_page_grows_with_its_plots_and_names_runs_shortly(view: PlotView) -> None:
    for plot_id in ("cwnd", "rtt", "queue", "utilisation", "goodput", "inflight"):
        view.set_plot_shown(plot_id, True)
    show(view, "lia", "olia")
    view.set_side_by_side(False)
    grown = as_shown(view.stack, height_mm=100.0)
    root = ElementTree.fromstring(grown)
    height = float(root.attrib["viewBox"].split()[3])
    assert height > 100 * len(view.stack.specs)  # pt
    texts = [text for each in root.iter() if (text := (each.text or "").strip())]
    assert {"lia", "olia"} <= set(texts)
    assert not any(text.startswith("Two paths: olia") for text in texts)


def test_more_columns_than_fit_are_scrolled(qtbot: QtBot, view: PlotView) -> None:
    show(view, "lia", "olia", "balia", "cubic", "reno", "ewtcp")
    scroll = child(view, PlotScroll)
    assert view.stack.width() >= 6 * LEAST_COLUMN_WIDTH
    assert scroll.horizontalScrollBar().maximum() > 0
    assert scroll.focusPolicy() == Qt.FocusPolicy.TabFocus
    title = view.stack.grid.column_titles[1]
    assert title.shown_text() in ("Two paths: olia", "… olia")
    view.set_side_by_side(False)
    qtbot.waitUntil(lambda: scroll.horizontalScrollBar().maximum() == 0)
    assert scroll.focusPolicy() == Qt.FocusPolicy.NoFocus
