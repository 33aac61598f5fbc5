"""One context: a stored run of another scenario is shown with its own network, read-only, and a way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.editor.qt import documents
from subflow_app.features.measured.core.measured_run import keep_run, make_run, read_trace
from subflow_app.features.measured.core.measured_table import ReadingOptions
from subflow_app.features.playhead.qt.context import ContextFeature
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.shell.main_window import MainWindow

OTHER = TWO_PATHS.replace("Two paths", "Other").replace("wifi", "dsl")


@pytest.fixture
def context(window: MainWindow, run_once: object) -> ContextFeature:
    """A window with another open scenario than that of its only stored run."""
    run_once()  # type: ignore[operator]
    window.documents.open_text(OTHER, "other")
    window.document_stack.setClean()
    return window.features[ContextFeature]


def links(window: MainWindow) -> set[str]:
    return set(window.topology.scene.link_items())


def open_run(qtbot: QtBot, window: MainWindow, *numbers: int) -> None:
    store = window.database.store
    assert store is not None
    with qtbot.waitSignal(window.shown.changed):
        window.shown.show_stored(store, numbers)


def test_canvas_inspector_and_lanes_show_the_network_of_the_run(
    qtbot: QtBot, window: MainWindow, context: ContextFeature
) -> None:
    assert (context.banner.text, links(window)) == ("", {"dsl", "lte"})
    open_run(qtbot, window, 1)
    assert context.banner.text.startswith("Run 1 ")
    assert "seed 7 · stored today" in context.banner.text
    assert links(window) == {"wifi", "lte"}
    # Nothing of it can be changed.
    assert not window.topology.is_editable
    assert not window.topology.tools.isVisible()
    assert not window.bar["topology.tool_host"].isEnabled()
    window.inspector.show_key("links.wifi")
    assert "read only" in window.inspector.text_button.text()
    assert all(not row.reset.isVisible() for row in window.inspector.form.rows())
    playhead = window.features[PlayheadFeature]
    playhead.lanes.add_outage("links.wifi", 0.5)
    assert "events" not in playhead.lanes._doc.data
    # The picture follows the run, without a notice about a different scenario.
    playhead.playhead.seek(1.0)
    qtbot.waitUntil(lambda: playhead.canvas is not None and playhead.canvas.places is not None)
    assert playhead.canvas is not None
    assert playhead.canvas.difference() == ""
    # Escape leads back, to an editable scenario.
    window.activateWindow()
    QTest.keyClick(window.topology.canvas, Qt.Key.Key_Escape)
    if context.is_of_run:  # the first Escape left the time or a selection
        QTest.keyClick(window.topology.canvas, Qt.Key.Key_Escape)
    assert (context.banner.text, links(window)) == ("", {"dsl", "lte"})
    assert window.topology.is_editable
    assert window.shown.count == 0


def test_a_copy_can_be_edited(qtbot: QtBot, window: MainWindow, context: ContextFeature) -> None:
    open_run(qtbot, window, 1)
    with qtbot.waitSignal(window.documents.replaced):
        context.banner.copy.click()
    assert context.banner.isHidden()
    assert links(window) == {"wifi", "lte"}
    assert window.topology.is_editable
    assert window.shown.count == 1  # the run is of this scenario now


def test_a_measurement_leaves_the_open_scenario_as_it_is(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "bench.csv"
    path.write_text("time_s,cwnd_pkts,srtt_ms\n" + "".join(f"{k},{10 + k},40\n" for k in range(1, 9)))
    store = present(window.database.writable)
    number = keep_run(make_run(read_trace(path, ReadingOptions()), name="bench", path=path), store)
    window.documents.open_text(OTHER, "other")
    window.document_stack.setClean()
    open_run(qtbot, window, number)
    context = window.features[ContextFeature]
    assert context.banner.text.startswith(f"Run {number} measured · stored today")
    assert "without a network" in context.banner.text
    assert not context.banner.copy.isVisible()
    assert links(window) == {"dsl", "lte"}
    assert window.topology.is_editable
    assert "read only" not in window.inspector.text_button.text()
    window.opening.open_scenario_of(number)
    qtbot.waitUntil(lambda: "it has no scenario" in window.banners.text("action"))
    assert links(window) == {"dsl", "lte"}


def test_a_run_of_the_open_scenario_has_no_banner(qtbot: QtBot, window: MainWindow, run_once: object) -> None:
    run_once()  # type: ignore[operator]
    open_run(qtbot, window, 1)
    context = window.features[ContextFeature]
    assert context.banner.isHidden()
    assert window.topology.is_editable
    # A change of the scenario while its run is shown keeps the scenario on the canvas.
    documents.set_value(window.document_stack, window.documents.doc, "links.wifi.rate", "1Mbit/s")
    assert window.topology.is_editable


def test_of_several_runs_the_network_is_that_of_the_line_chosen_in_the_legend(
    qtbot: QtBot, window: MainWindow, context: ContextFeature, run_once: object
) -> None:
    run_once()  # type: ignore[operator]
    open_run(qtbot, window, 1, 2)
    assert context.banner.text.startswith("2 runs ")
    assert "the network shows" in context.banner.text
    assert links(window) == {"wifi", "lte"}
    playhead = window.features[PlayheadFeature].playhead
    line = next(key for key in window.plots.stack.curves if key.run == 1)
    window.plots.line_chosen.emit(line)
    assert playhead.run_shown == 1
    assert links(window) == {"dsl", "lte"}
    assert not context.banner.copy.isVisible()
