"""A click near a curve shows its owner, and finds its run in the history."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_runs import finished_traces
from tests.helpers.table_traces import TableTraces

from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.shell.actions.view import view_rows

UPPER, LOWER = CurveId(0, "a/1", "subflow"), CurveId(0, "b/1", "subflow")


def two_levels(qtbot: QtBot) -> PlotView:
    """A view of two flat curves, at 10 and 20 packets."""
    view = PlotView()
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    levels = {(SUBFLOW, "a/1", "cwnd_pkts"): [20.0] * 10, (SUBFLOW, "b/1", "cwnd_pkts"): [10.0] * 10}
    view.show_runs([TableTraces(levels, interval_s=1.0)])
    for plot_id in ("throughput", "rtt"):
        view.set_plot_shown(plot_id, False)
    view.grab()
    return view


def click(view: PlotView, x: float, y: float) -> None:
    plot = view.stack.plots[0]
    position = view.stack.mapFromScene(plot.view.mapViewToScene(QPointF(x, y)))
    QTest.mouseClick(view.stack.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(position))


def test_click_near_a_curve_chooses_it(qtbot: QtBot) -> None:
    view = two_levels(qtbot)
    clicked: list[CurveId] = []
    view.curve_clicked.connect(clicked.append)
    click(view, 5.0, 20.0)
    click(view, 5.0, 10.0)
    click(view, 5.0, 15.0)  # between both, near none of them

    assert clicked == [UPPER, LOWER]
    assert view.current_curve == LOWER
    view.show_runs([])


def test_hidden_and_logarithmic_curves_are_hit_where_they_are_drawn(qtbot: QtBot) -> None:
    view = two_levels(qtbot)
    view.set_log(True)
    view.grab()
    plot = view.stack.plots[0]
    at = plot.view.mapViewToScene(QPointF(5.0, 1.0))  # 10 packets

    assert view.stack.curve_at(at) == LOWER
    view.legend_model.set_hidden(frozenset({LOWER}))
    assert view.stack.curve_at(at) is None
    view.show_runs([])


def test_path_through_two_quantities_is_hit_at_its_points(qtbot: QtBot) -> None:
    view = two_levels(qtbot)
    columns = {(SUBFLOW, "a/1", "cwnd_pkts"): [10.0, 20.0], (SUBFLOW, "a/1", "srtt_s"): [0.1, 0.2]}
    view.show_runs([TableTraces(columns)])
    view.set_plot_shown("phase", True)
    QApplication.processEvents()  # the plots get their places
    view.grab()
    plot = next(each for each in view.stack.plots if each.spec.id == "phase")

    assert view.stack.curve_at(plot.view.mapViewToScene(QPointF(20.0, 200.0))) == UPPER
    view.show_runs([])


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=view_rows())


def test_run_of_a_curve_is_selected_in_the_history(qtbot: QtBot, desk: Desk) -> None:
    assert desk.curve_finder is not None  # the finder follows clicks
    ids = [desk.run_once(), desk.run_once()]
    desk.shown.show_stored(desk.store, ids)
    desk.history.select([])
    first, second = (next(key for key in desk.plots.stack.curves if key.run == run) for run in (0, 1))

    desk.plots.stack.curve_clicked.emit(second)
    assert [row.id for row in desk.history.selected()] == [ids[1]]
    assert f"belongs to run {ids[1]}" in desk.statusBar().currentMessage()

    desk.history.search.setText("no such run")
    desk.history.reload()
    desk.docks.set_open("history", False)
    desk.plots.stack.curve_clicked.emit(first)
    desk.bar.trigger("view.find_curve_run")
    assert [row.id for row in desk.history.selected()] == [ids[0]]
    assert desk.docks.is_open("history")
    assert desk.history.search.text() == ""


def test_curve_of_a_run_that_is_not_kept_says_so(desk: Desk) -> None:
    desk.plots.show_runs([finished_traces(title="Not kept")])
    desk.curve_finder.find_run()

    assert "not in the history: Not kept" in desk.statusBar().currentMessage()
    desk.plots.show_runs([])
