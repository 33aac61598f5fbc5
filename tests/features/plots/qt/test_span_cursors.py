"""The cursors A and B: set by key, dragged, and evaluated in a table that can be copied."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from tests.helpers.desk import MakeDesk
from tests.helpers.fake_runs import finished_traces
from tests.helpers.present import child
from tests.helpers.table_traces import TableTraces

from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.plots.qt.span import COLUMNS, SpanPanel
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.shell.actions.view import view_rows
from subflow_app.toolkit.theme import DARK, set_current


@pytest.fixture
def view(view: PlotView) -> PlotView:
    view.show_runs([finished_traces()])
    return view


def texts(view: PlotView, row: int) -> list[str]:
    model = child(view, SpanPanel).model
    return [str(model.index(row, column).data()) for column in range(len(COLUMNS))]


def test_table_appears_with_the_second_cursor_and_goes_with_them(view: PlotView) -> None:
    # Without a crosshair they are placed within the view.
    view.stack.set_time_range(3.0, 6.0)
    panel = child(view, SpanPanel)
    for name, is_shown in (("A", False), ("B", True)):
        view.place_cursor(name)
        assert panel.isVisible() == is_shown
    assert view.stack.cursors.span_s == pytest.approx((4.0, 5.0), abs=1e-3)
    view.clear_cursors()
    assert not panel.isVisible()
    # With a crosshair they are placed there.
    for name, time_s in (("A", 2.0), ("B", 6.0)):
        view.stack.set_cursor(time_s)
        view.place_cursor(name)
    assert view.stack.cursors.span_s == (2.0, 6.0)
    assert child(view, QLabel, "span_about").text() == "A at 2 s, B at 6 s, 4 s between them"
    # Empty plots have no cursors.
    view.show_runs([])
    set_current(DARK)
    assert not panel.isVisible()


def test_rows_are_of_the_visible_curves_in_the_units_of_their_plots(view: PlotView) -> None:
    times = {(SUBFLOW, "a/1", "cwnd_pkts"): [10.0, 20.0, 40.0], (SUBFLOW, "a/1", "srtt_s"): [0.1, 0.2, 0.1]}
    view.show_runs([TableTraces(times, interval_s=1.0)])
    view.stack.cursors.set_time("A", 1.0)
    view.stack.cursors.set_time("B", 3.0)

    # The mean weighs by time: the sample at A belongs to the time before it.
    assert texts(view, 0) == ["Congestion window", "packets", "a/1", "10", "40", "30", "15", "30", "10", "40"]
    assert texts(view, 1)[:6] == ["Round-trip time", "ms", "a/1", "100", "100", "0"]
    view.legend_model.set_hidden(frozenset(view.stack.curves))
    assert child(view, SpanPanel).model.rowCount() == 0


def test_dragging_a_line_in_one_plot_moves_it_in_all(view: PlotView) -> None:
    view.place_cursor("A")
    view.place_cursor("B")
    lines = view.stack.cursors.lines["A"]
    lines[1].setValue(1.0)
    lines[1].sigDragged.emit(lines[1])

    assert [line.value() for line in lines] == [1.0] * 3
    assert "A at 1 s" in child(view, QLabel, "span_about").text()


def test_cursors_stay_with_other_plots_and_within_shorter_runs(view: PlotView) -> None:
    view.place_cursor("A")
    view.stack.cursors.set_time("B", 9.0)
    view.set_plot_shown("queue", True)
    assert view.stack.cursors.span_s is not None
    assert len(view.stack.cursors.lines["A"]) == 4

    view.show_runs([TableTraces({(SUBFLOW, "a/1", "cwnd_pkts"): [1.0] * 4}, interval_s=1.0)])
    assert view.stack.cursors.times["B"] == 4.0


def test_table_is_copied_with_all_digits(view: PlotView) -> None:
    view.show_runs([TableTraces({(SUBFLOW, "a/1", "cwnd_pkts"): [1.0, 1234567.0]}, interval_s=1.0)])
    view.place_cursor("A")
    view.stack.cursors.set_time("A", 1.0)
    view.stack.cursors.set_time("B", 2.0)
    child(view, SpanPanel).table.setFocus()
    QTest.keyClick(child(view, SpanPanel).table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text().splitlines()

    assert copied[0].split("\t") == [column.title for column in COLUMNS]
    assert copied[1].split("\t")[3:6] == ["1", "1234567", "1234566"]


def test_actions_set_and_remove_them(make_desk: MakeDesk) -> None:
    desk = make_desk(actions=view_rows())
    desk.run_once()
    for name in ("view.cursor_a", "view.cursor_b"):
        desk.bar.trigger(name)
    assert desk.plots.stack.cursors.span_s is not None
    desk.bar.trigger("view.clear_cursors")
    assert desk.plots.stack.cursors.span_s is None
