"""The queue in the window: runs beside the one in the foreground, kept and tagged; closing asks about them."""

from __future__ import annotations

import re

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.editor.core.algorithm_choices import controller_choices
from subflow_app.features.running.qt.enqueue_dialog import EnqueueDialog, Enqueueing
from subflow_app.features.running.qt.queue import COLUMNS
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.toml_edit import read_toml
from subflow_app.shell.main_window import MainWindow
from subflow_sim.scenario import parse_scenario
from subflow_store import StoreFull

ENDLESS = TWO_PATHS.replace('duration = "2s"', 'duration = "200000s"')


def states(window: MainWindow) -> list[JobState]:
    return [entry.state for entry in window.queue_session.queue.entries()]


def wait_for(qtbot: QtBot, window: MainWindow, *wanted: JobState) -> None:
    qtbot.waitUntil(lambda: states(window) == list(wanted), timeout=20_000)
    window.queue_session.refresh()


def select(window: MainWindow, *rows: int) -> None:
    window.queue_session.panel.table.clearSelection()
    for row in rows:
        index = window.queue_session.panel.table.model().index(row, 0)
        flags = window.queue_session.panel.table.selectionModel().SelectionFlag
        window.queue_session.panel.table.selectionModel().select(index, flags.Select | flags.Rows)


def test_a_grid_of_runs_goes_on_beside_the_foreground_run(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs
) -> None:
    dialogs.answer("EnqueueDialog", Enqueueing(range(1, 3), "download", ("lia", "olia"), "batch"))
    window.bar.trigger("queue.add_several")
    with qtbot.waitSignal(window.runs.ended, timeout=20_000):
        window.bar.trigger("run.toggle")
    wait_for(qtbot, window, *[JobState.FINISHED] * 4)
    runs = window.history.runs()
    assert len(runs) == 5
    assert {(run.name, run.seed) for run in runs if run.tags == ("batch",)} == {
        (f"Two paths, {name}", seed) for name in ("lia", "olia") for seed in (1, 2)
    }
    table = window.queue_session.panel.table.model()
    assert [table.index(0, column).data() for column in range(4)] == ["Two paths, lia", "1", "finished", "100 %"]
    assert table.rowCount() == 4
    assert table.columnCount() == len(COLUMNS)
    assert not window.queue_session._timer.isActive()
    window.bar.trigger("queue.clear")
    assert table.rowCount() == 0


def test_the_panel_shows_how_long_the_queue_takes_before_it_starts(qtbot: QtBot, window: MainWindow) -> None:
    session = window.queue_session
    session.queue.pause()
    window.bar.trigger("queue.add")
    qtbot.waitUntil(lambda: "left" in session.panel._text.text(), timeout=20_000)
    assert re.fullmatch(r"0 of 1 runs, paused, .+ left", session.panel._text.text())
    window.bar.trigger("queue.toggle")
    wait_for(qtbot, window, JobState.FINISHED)
    assert session.panel._text.text() == "1 of 1 runs"


def test_selected_runs_are_cancelled_moved_and_tried_again(qtbot: QtBot, window: MainWindow) -> None:
    window.documents.open_text(ENDLESS, "endless")
    window.queue_session.queue.set_parallel(1)
    for _ in range(3):
        window.bar.trigger("queue.add")
    assert not window.bar["file.open_database"].isEnabled()
    select(window, 2)
    window.bar.trigger("queue.up")
    first, third, second = (entry.number for entry in window.queue_session.queue.entries())
    assert first < second < third
    assert window.queue_session.panel.selected_numbers() == [third]
    select(window, 0, 1)
    assert not window.bar["queue.retry"].isEnabled()
    window.bar.trigger("queue.cancel")
    wait_for(qtbot, window, JobState.CANCELLED, JobState.CANCELLED, JobState.RUNNING)
    window.bar.trigger("queue.toggle")
    select(window, 1)
    window.bar.trigger("queue.retry")
    assert states(window)[1] is JobState.WAITING
    window.bar.trigger("queue.remove")
    assert len(states(window)) == 2


def test_closing_asks_about_queued_runs_and_keeps_what_ran(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs
) -> None:
    window.documents.open_text(ENDLESS, "endless")
    window.bar.trigger("queue.add")
    qtbot.waitUntil(lambda: window.queue_session.queue.entries()[0].fraction > 0)
    dialogs.answer("confirm", False)
    window.close()
    assert window.isVisible()
    assert states(window) == [JobState.RUNNING]
    store = window.database.store
    assert store is not None
    queue = window.queue_session.queue
    queue.cancel([queue.entries()[0].number])
    wait_for(qtbot, window, JobState.CANCELLED)
    assert [run.status for run in store.runs()] == ["stopped"]


def test_a_store_that_fails_leaves_a_banner_with_ways_on_and_the_queue_goes_on(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise StoreFull("the disk is full", path="x.db", way_on="Free some.")

    monkeypatch.setattr(window.database.store, "start_run", fail)
    window.bar.trigger("queue.add")
    window.bar.trigger("queue.add")
    wait_for(qtbot, window, JobState.FINISHED, JobState.FINISHED)
    assert "the disk is full" in window.banners.text("not_stored")
    assert len(window.unsaved.jobs) == 2
    window.unsaved._runs.clear()


def test_the_dialog_counts_and_bounds_the_runs(qapp: QApplication) -> None:
    dialog = EnqueueDialog(3, controller_choices(read_toml(TWO_PATHS), parse_scenario(TWO_PATHS)), None)
    assert dialog.answer == Enqueueing(range(3, 8), "", (), "batch")
    dialog.flow.setCurrentIndex(1)
    dialog.controllers.choose(["lia", "olia"])
    assert dialog.answer == Enqueueing(range(3, 8), "download", ("lia", "olia"), "batch")
    assert dialog.controllers.choices[0].text == "as in the scenario: lia"
    assert "bbr3" in [each.value for each in dialog.controllers.choices]
    assert dialog._replaced.isHidden()  # LIA has no options here
    assert dialog._count.text() == "10 runs will be added"
    dialog.last.setValue(2)
    assert not dialog._add.isEnabled()
    dialog.last.setValue(500)
    assert "allowed: up to 200" in dialog._count.text()
    assert not dialog._add.isEnabled()
    dialog.deleteLater()
