"""Plots keep a readable height, and the view scrolls if they do not fit."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.helpers.fake_runs import finished_traces
from tests.helpers.members import for_each
from tests.helpers.present import child

from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.plots.qt.span import SpanPanel
from subflow_app.features.plots.qt.stacked_plot import LEAST_HEIGHT
from subflow_app.toolkit.plotting.plot_scroll import PlotScroll


@for_each(
    ("size", "with_table"), [(size, shown) for size in ((900, 600), (700, 260), (420, 180)) for shown in (False, True)]
)
def test_no_plot_is_lower_than_can_be_read(view: PlotView, size: tuple[int, int], *, with_table: bool) -> None:
    view.set_plot_shown("goodput", is_shown=True)
    view.show_runs([finished_traces()])
    view.resize(*size)
    view.clear_cursors()
    for name in "AB" if with_table else "":
        view.place_cursor(name)
    QApplication.processEvents()

    assert child(view, SpanPanel).isVisible() == with_table
    assert len(view.stack.plots) > 3
    for plot in view.stack.plots:
        assert plot.item.geometry().height() >= LEAST_HEIGHT
        axis = plot.item.getAxis("left")
        low, high = plot.view.viewRange()[1]
        assert len(axis.tickValues(low, high, plot.view.height())[0][1]) >= 2, plot.spec.id


def test_plots_that_do_not_fit_are_scrolled_by_wheel_and_keys(view: PlotView) -> None:
    view.show_runs([finished_traces()])
    view.resize(700, 200)
    QApplication.processEvents()
    scroll = child(view, PlotScroll)
    bar = scroll.verticalScrollBar()
    assert bar.maximum() > 0
    assert scroll.focusPolicy() == Qt.FocusPolicy.TabFocus

    QTest.keyClick(view.stack, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    QTest.keyClick(view.stack, Qt.Key.Key_PageUp)
    assert bar.value() == 0

    # Over a curve the wheel zooms time; over a title it scrolls.
    title = view.stack.mapFromScene(view.stack.plots[0].title.sceneBoundingRect().center())
    before = view.stack.time_range
    wheel(view.stack.viewport(), QPoint(title), -1)
    assert bar.value() > 0
    assert view.stack.time_range == before
    on_curve = view.stack.mapFromScene(view.stack.plots[1].view.sceneBoundingRect().center())
    at = bar.value()
    wheel(view.stack.viewport(), QPoint(on_curve), 1)
    assert bar.value() == at
    assert view.stack.time_range != before


def wheel(target: QWidget, at: QPoint, steps: int) -> None:
    QTest.wheelEvent(target.window().windowHandle(), QPointF(target.mapTo(target.window(), at)), QPoint(0, 120 * steps))
