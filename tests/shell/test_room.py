"""The room of canvas and plots in the default layout, on small screens and at large scales."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.members import for_each
from tests.helpers.present import child, present
from tests.helpers.window import at_rest

from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.plots.qt.legend import Legend
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.plotting.plot_scroll import PlotScroll
from subflow_app.toolkit.workspaces import COLUMN_WIDTH, FIELD_HEIGHT

# Size of the window in logical px, least share of canvas and plots in %, and rows of the inspector. The second and the
# third are a screen of 1366x768 at 125 and at 150 %.
SIZES = [((1366, 768), 68, 8), ((1093, 614), 62, 6), ((911, 512), 55, 4), ((800, 600), 54, 6)]


def area(widget: QWidget) -> int:
    return widget.width() * widget.height() if widget.isVisible() else 0


def share(window: MainWindow) -> float:
    """Share of the window that canvas and plots take, without the legend, %."""
    seen = area(window.topology.canvas.viewport()) + area(child(window.plots, PlotScroll))
    return 100 * seen / (window.width() * window.height())


def place(window: MainWindow, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint()), widget.size())


def shown(qtbot: QtBot, window: MainWindow, size: tuple[int, int]) -> None:
    """Shows the default layout at a size, once nothing moves any more."""
    window.resize(QSize(*size))
    window.workspaces.reset()
    qtbot.waitUntil(at_rest(lambda: (window.plots.geometry(), window.topology.geometry(), window.inspector.width())))


@for_each(("size", "least", "rows"), SIZES)
def test_canvas_and_plots_have_most_of_the_window(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int], size: tuple[int, int], least: int, rows: int
) -> None:
    run_once()
    shown(qtbot, window, size)
    assert (window.width(), window.height()) == size
    assert share(window) >= least
    # Inspector, time bar and toolbar are visible, and nothing has to be scrolled to see a plot.
    strip = window.features[PlayheadFeature].strip
    for part in (window.inspector, strip, window.toolbar):
        assert part.isVisible()
        assert window.rect().contains(place(window, part))
    assert child(window.plots, PlotScroll).verticalScrollBar().maximum() == 0
    # The inspector has its rows, of equal height.
    window.inspector.show_key("links.wifi")
    form = window.inspector.form
    assert form.viewport().height() >= rows * FIELD_HEIGHT
    tops = [row.editor.mapTo(form, QPoint()).y() for row in form.rows()]
    assert FIELD_HEIGHT in {second - first for first, second in pairwise(tops)}
    # Two columns: the legend has the width of the inspector above it.
    legend = place(window, child(window.plots, Legend))
    assert legend.width() == pytest.approx(window.inspector.width(), abs=2)
    assert legend.right() == pytest.approx(place(window, window.inspector).right(), abs=2)


@pytest.mark.parametrize("panel", ["history", "explain", "events", "queue"])
def test_a_panel_opens_beside_the_plots_one_at_a_time(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int], panel: str
) -> None:
    run_once()
    shown(qtbot, window, (1366, 768))
    height = window.plots.height()
    window.docks.set_open("log", True)
    window.docks.set_open(panel, True)
    qtbot.waitUntil(at_rest(lambda: (window.plots.width(), window.docks.content(panel).width())))
    assert not window.docks.is_open("log")
    assert not window.bar["view.log"].isChecked()
    assert window.docks.content(panel).width() == pytest.approx(COLUMN_WIDTH, abs=4)
    # All three plots are whole.
    assert window.plots.height() == height
    assert child(window.plots, PlotScroll).verticalScrollBar().maximum() == 0
    window.docks.set_open(panel, False)
    qtbot.waitUntil(lambda: window.topology.width() + window.inspector.width() >= 1360)


def test_the_time_track_lies_below_the_axis_of_the_plots(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]
) -> None:
    run_once()
    strip, stack = window.features[PlayheadFeature].strip, window.plots.stack
    for size in ((1366, 768), (800, 600)):
        shown(qtbot, window, size)
        first, last = present(stack.axis_ends)
        left = strip.track.mapToGlobal(QPoint(0, 0)).x()
        end_s = strip.track._end_s
        assert left + strip.track._x_of(0.0) == pytest.approx(first, abs=1.5)  # type: ignore[arg-type]
        assert left + strip.track._x_of(end_s) == pytest.approx(last, abs=1.5)  # type: ignore[arg-type]


def test_a_dragged_border_stays_and_moves_the_legend_along(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]
) -> None:
    run_once()
    shown(qtbot, window, (1366, 768))
    window.workspaces.set_side_width(320)
    QApplication.processEvents()
    assert child(window.plots, Legend).width() == pytest.approx(320, abs=2)
    window.resize(1300, 740)
    QApplication.processEvents()
    assert window.inspector.width() == pytest.approx(320, abs=2)
    window.bar.trigger("view.workspace_analyse")
    window.bar.trigger("view.workspace_run")
    QApplication.processEvents()
    assert window.inspector.width() == pytest.approx(320, abs=2)
