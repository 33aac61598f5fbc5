"""The queue: runs beside the run in the foreground, kept and tagged; closing the window asks about them."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.raising import raising
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.running.qt.queue import COLUMNS, QueueSession
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.shell.actions.file import file_rows
from subflow_app.shell.actions.run import run_rows
from subflow_store import StoreFull

ENDLESS = TWO_PATHS.replace('duration = "2s"', 'duration = "200000s"')


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(QueueSession, actions=chain(run_rows(), file_rows()))


def states(desk: Desk) -> list[JobState]:
    return [entry.state for entry in desk.features[QueueSession].queue.entries()]


def wait_for(qtbot: QtBot, desk: Desk, *wanted: JobState) -> None:
    qtbot.waitUntil(lambda: states(desk) == list(wanted))
    desk.features[QueueSession].refresh()


def select(desk: Desk, *rows: int) -> None:
    desk.features[QueueSession].panel.table.clearSelection()
    for row in rows:
        index = desk.features[QueueSession].panel.table.model().index(row, 0)
        flags = desk.features[QueueSession].panel.table.selectionModel().SelectionFlag
        desk.features[QueueSession].panel.table.selectionModel().select(index, flags.Select | flags.Rows)


def test_queued_runs_go_on_beside_the_foreground_run(qtbot: QtBot, desk: Desk) -> None:
    desk.bar.trigger("queue.add")
    desk.bar.trigger("queue.add")
    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.toggle")
    wait_for(qtbot, desk, *[JobState.FINISHED] * 2)
    assert len(desk.history.runs()) == 3
    table = desk.features[QueueSession].panel.table.model()
    assert [table.index(0, column).data() for column in range(4)] == ["Two paths", "7", "finished", "100 %"]
    assert table.rowCount() == 2
    assert table.columnCount() == len(COLUMNS)
    assert not desk.features[QueueSession]._timer.isActive()
    desk.bar.trigger("queue.clear")
    assert table.rowCount() == 0


def test_the_panel_shows_how_long_the_queue_takes_before_it_starts(qtbot: QtBot, desk: Desk) -> None:
    session = desk.features[QueueSession]
    session.queue.pause()
    desk.bar.trigger("queue.add")
    qtbot.waitUntil(lambda: "left" in session.panel._text.text())
    assert re.fullmatch(r"0 of 1 runs, paused, .+ left", session.panel._text.text())
    desk.bar.trigger("queue.toggle")
    wait_for(qtbot, desk, JobState.FINISHED)
    assert session.panel._text.text() == "1 of 1 runs"


def test_selected_runs_are_cancelled_moved_and_tried_again(qtbot: QtBot, desk: Desk) -> None:
    desk.documents.open_text(ENDLESS, "endless")
    desk.features[QueueSession].queue.set_parallel(1)
    for _ in range(3):
        desk.bar.trigger("queue.add")
    assert not desk.bar["file.open_database"].isEnabled()
    select(desk, 2)
    desk.bar.trigger("queue.up")
    first, third, second = (entry.number for entry in desk.features[QueueSession].queue.entries())
    assert first < second < third
    assert desk.features[QueueSession].panel.selected_numbers() == [third]
    select(desk, 0, 1)
    assert not desk.bar["queue.retry"].isEnabled()
    desk.bar.trigger("queue.cancel")
    wait_for(qtbot, desk, JobState.CANCELLED, JobState.CANCELLED, JobState.RUNNING)
    desk.bar.trigger("queue.toggle")
    select(desk, 1)
    desk.bar.trigger("queue.retry")
    assert states(desk)[1] is JobState.WAITING
    desk.bar.trigger("queue.remove")
    assert len(states(desk)) == 2


def test_closing_asks_about_queued_runs_and_keeps_what_ran(qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs) -> None:
    desk.documents.open_text(ENDLESS, "endless")
    desk.bar.trigger("queue.add")
    qtbot.waitUntil(lambda: desk.features[QueueSession].queue.entries()[0].fraction > 0)
    dialogs.answer("confirm", False)
    assert not desk.features.may_close()
    assert states(desk) == [JobState.RUNNING]
    queue = desk.features[QueueSession].queue
    queue.cancel([queue.entries()[0].number])
    wait_for(qtbot, desk, JobState.CANCELLED)
    assert [run.status for run in desk.store.runs()] == ["stopped"]


def test_a_store_that_fails_leaves_the_queue_going(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert desk.session is not None  # the session reports runs that no database contains
    monkeypatch.setattr(
        desk.database.store, "start_run", raising(StoreFull("the disk is full", path="x.db", way_on="Free some."))
    )
    desk.bar.trigger("queue.add")
    desk.bar.trigger("queue.add")
    wait_for(qtbot, desk, JobState.FINISHED, JobState.FINISHED)
    assert "the disk is full" in desk.banners.text("not_stored")
    assert len(desk.unsaved.jobs) == 2
    desk.unsaved._runs.clear()
