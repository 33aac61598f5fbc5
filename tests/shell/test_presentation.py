"""F11: the window for a lecture, and back to the exact previous state, during any activity."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.present import child
from tests.helpers.window import TWO_PATHS, at_rest

from subflow_app.features.plots.qt.legend import Legend
from subflow_app.features.plots.qt.legend_model import AT, MEAN
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.presentation import TYPE_SCALE


def _sizes(window: MainWindow) -> dict[str, tuple[int, int]]:
    """Sizes of the visible panels in pixels."""
    names = [*(name for name in window.docks.names() if window.docks.is_open(name)), "plots"]
    contents = {name: window.plots if name == "plots" else window.docks.content(name) for name in names}
    return {name: (each.width(), each.height()) for name, each in contents.items() if each.isVisible()}


def _rest(window: MainWindow) -> object:
    is_open = [name for name in window.docks.names() if window.docks.is_open(name)]
    return is_open, window.size(), QApplication.font().pointSizeF(), window.menuBar().isVisible()


def test_it_fills_the_screen_and_goes_back(window: MainWindow, qtbot: QtBot, run_once: Callable[[], int]) -> None:
    points, buttons = QApplication.font().pointSizeF(), window.toolbar.actions()
    run_once()
    axis = window.plots.stack.time_plots[0].item.getAxis("left")
    pen = window.plots.stack.line_width
    window.resize(1600, 950)
    for name in ("design", "lab", "run"):
        window.bar.trigger(f"view.workspace_{name}")
        qtbot.waitUntil(at_rest(lambda: _sizes(window)))
        sizes, rest = _sizes(window), _rest(window)
        QTest.keyClick(window, Qt.Key.Key_F11)
        assert window.isFullScreen()
        assert window.bar["view.presentation"].isChecked()
        assert [panel for panel in window.docks.names() if window.docks.is_open(panel)] == ["topology"]
        assert QApplication.font().pointSizeF() == points * TYPE_SCALE
        assert not window.menuBar().isVisible()
        assert window.toolbar.isVisible()
        assert window.toolbar.widgetForAction(window.bar["edit.undo"]) is None
        assert window.toolbar.widgetForAction(window.bar["edit.redo"]) is None
        assert not window.topology.tools.isVisible()
        window.banners.show_banner("file", "warning", "Something is to be said.")
        assert not window.banners.isVisible()
        legend = child(window.plots, Legend)
        for block in legend.blocks:
            for column in (each for each in (AT, MEAN) if not block.isColumnHidden(each)):
                texts = [window.plots.legend_model.widest_value(column), "888.8"]
                widest = max(map(block.fontMetrics().horizontalAdvance, texts))
                assert block.columnWidth(column) >= widest + 6  # Qt's margin beside a text
        axis = window.plots.stack.time_plots[0].item.getAxis("left")
        assert axis.style["tickFont"].pointSizeF() == points * TYPE_SCALE
        assert window.plots.stack.line_width == 2 * pen
        # Closed during the presentation, it would return unchanged.
        assert window.workspaces.current == name
        assert window.presentation.geometry_before is not None
        QTest.keyClick(window.plots, Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: window.presentation.geometry_before is None)
        assert not window.isFullScreen()
        assert window.banners.isVisible()
        window.banners.close_banner("file")
        assert window.topology.tools.isVisible() == window.topology.isVisible()
        assert window.toolbar.actions() == buttons
        qtbot.waitUntil(at_rest(lambda: _sizes(window)))
        assert _rest(window) == rest, name
        assert list(_sizes(window)) == list(sizes), name
        for panel, size in _sizes(window).items():
            assert size == pytest.approx(sizes[panel], abs=6), (name, panel)  # px of a handle, which splitters round
    assert window.plots.stack.line_width == pen


def test_a_run_goes_on_and_a_workspace_ends_it(window: MainWindow, qtbot: QtBot) -> None:
    window.bar.trigger("run.speed_slow")
    window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: window.runs.is_running)
    window.bar.trigger("view.presentation")
    assert window.runs.is_running
    kept = window.workspaces.states()[window.workspaces.current]
    window.bar.trigger("view.workspace_analyse")
    assert not window.presentation.is_on
    qtbot.waitUntil(lambda: window.presentation.geometry_before is None)
    assert window.docks.is_open("history")
    assert window.runs.is_running
    assert window.workspaces.states()["run"] == kept
    window.bar.trigger("run.speed_express")
    qtbot.waitUntil(lambda: not window.runs.is_running)


def test_escape_first_ends_what_it_ends_elsewhere(window: MainWindow, qtbot: QtBot) -> None:
    window.bar.trigger("view.presentation")
    window.topology.canvas.setFocus()
    window.topology.select("links.wifi")
    QTest.keyClick(window.topology.canvas, Qt.Key.Key_Escape)
    assert window.presentation.is_on
    QTest.keyClick(window.topology.canvas, Qt.Key.Key_Escape)
    assert not window.presentation.is_on
    qtbot.waitUntil(lambda: window.presentation.geometry_before is None)


@pytest.mark.parametrize(
    "size", [(1366, 768), pytest.param((1920, 1080), marks=pytest.mark.full("where there is more room"))]
)
def test_names_of_the_legend_are_whole(
    window: MainWindow, qtbot: QtBot, run_once: Callable[[], int], size: tuple[int, int]
) -> None:
    window.documents.open_text(TWO_PATHS.replace("lte", "backhaul"), "two-paths")
    run_once()
    QTest.keyClick(window, Qt.Key.Key_F11)
    window.resize(*size)

    legend = child(window.plots, Legend)
    block = legend.blocks[0]
    qtbot.waitUntil(at_rest(lambda: (block.columnWidth(0), block.viewport().width())))
    names = [block.shown_name(row) for row in range(block.line_count)]
    assert names == ["wifi", "backhaul", "total"]
    assert block.header().length() <= block.viewport().width()
    QTest.keyClick(window.plots, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.presentation.geometry_before is None)
