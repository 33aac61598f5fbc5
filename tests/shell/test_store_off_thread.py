"""Stores that answer late or no longer at all neither block the window nor lose the work of a person."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.present import child, present
from tests.helpers.window import TWO_PATHS, ScriptedDialogs
from tests.store.examples import writer_of

from subflow_app.shell.main_window import MainWindow
from subflow_store import RunStart, Store
from subflow_store.database import Database


@pytest.fixture
def runs(window: MainWindow) -> list[int]:
    """Three stored runs; the window waits for the database as briefly as in normal use."""
    store = present(window.database.store)
    numbers = []
    for seed in range(3):
        start = RunStart(
            name=f"run {seed}", scenario_name="Demo", scenario_text="", seed=seed, duration_s=1.0, controllers=""
        )
        run = store.start_run(start, [])
        run.finish("finished", {}, "0")
        numbers.append(run.run_id)
    window.history.reload()
    window.history.changes.patience_ms = window.shown.patience_ms = 1
    return numbers


@contextmanager
def held_by_another(window: MainWindow) -> Iterator[None]:
    """Another connection that holds the write lock."""
    with closing(sqlite3.connect(present(window.database.path), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def names(window: MainWindow) -> dict[int, str]:
    return {row.id: row.name for row in window.history.runs()}


def rename(window: MainWindow, dialogs: ScriptedDialogs, run_id: int, name: str) -> None:
    window.history.select([run_id])
    dialogs.answer("line", name)
    window.bar.trigger("history.rename")


def until_done(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.history.changes.is_busy)
    qtbot.waitUntil(lambda: not window.workers.is_busy)


def test_changes_wait_and_are_made(qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, runs: list[int]) -> None:
    beats: list[float] = []
    heart = QTimer(interval=5)
    heart.timeout.connect(lambda: beats.append(time.monotonic()))
    with held_by_another(window):
        heart.start()
        rename(window, dialogs, runs[0], "first")
        assert child(window.history, QLabel, "history_count").text() == "Saving…"
        rename(window, dialogs, runs[1], "second")
        rename(window, dialogs, runs[0], "third")
        qtbot.waitUntil(lambda: len(beats) > 20)
        assert names(window)[runs[0]] == "run 0"
        assert window.history.changes.is_busy
    until_done(qtbot, window)
    heart.stop()

    assert names(window) == {runs[0]: "third", runs[1]: "second", runs[2]: "run 2"}
    assert child(window.history, QLabel, "history_count").text() == "3 runs"
    assert window.history_stack.count() == 3


def test_a_late_change_is_undone(qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, runs: list[int]) -> None:
    with held_by_another(window):
        rename(window, dialogs, runs[0], "first")
        window.history_stack.undo()
    until_done(qtbot, window)

    assert names(window)[runs[0]] == "run 0"
    window.history_stack.redo()
    until_done(qtbot, window)
    assert names(window)[runs[0]] == "first"


@contextmanager
def gone(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The file of the database is temporarily missing, as on a network drive."""
    monkeypatch.setattr(Database.check_file, "__kwdefaults__", {"at_most_every_s": 0.0})
    path = present(window.database.path)
    away = path.rename(path.with_name("away.db"))
    yield
    away.rename(path)


def test_a_change_of_a_store_that_is_gone_is_told_and_is_no_undo_step(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with gone(window, monkeypatch):
        rename(window, dialogs, runs[0], "first")
        rename(window, dialogs, runs[1], "second")
        until_done(qtbot, window)
        qtbot.waitUntil(lambda: window.history_stack.count() == 0)
        assert "the file is gone" in window.banners.text("history")
        assert sorted(names(window).values()) == ["run 0", "run 1", "run 2"]

    rename(window, dialogs, runs[0], "again")
    until_done(qtbot, window)
    assert names(window)[runs[0]] == "again"


def test_an_undo_that_is_refused_can_be_tried_again(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rename(window, dialogs, runs[0], "first")
    until_done(qtbot, window)
    with gone(window, monkeypatch):
        window.history_stack.undo()
        until_done(qtbot, window)
        qtbot.waitUntil(window.history_stack.canUndo)

    window.history_stack.undo()
    until_done(qtbot, window)
    assert names(window)[runs[0]] == "run 0"


@pytest.mark.own_window
def test_closing_waits_for_changes(qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, runs: list[int]) -> None:
    window.document_stack.setClean()
    path = present(window.database.path)
    with held_by_another(window):
        rename(window, dialogs, runs[0], "first")
        window.close()
        assert window.isVisible()
    qtbot.waitUntil(lambda: not window.isVisible())

    with Store(path, read_only=True) as store:
        assert store.run(runs[0]).name == "first"


@pytest.fixture
def slow(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Semaphore]:
    """A store whose runs can be read only when the semaphore is released."""
    gate = threading.Semaphore(0)
    original: Callable[..., object] = Store.run

    def waiting(self: Store, run_id: int) -> object:
        gate.acquire()
        return original(self, run_id)

    monkeypatch.setattr("subflow_store.store.Store.run", waiting)
    yield gate
    for _ in range(50):
        gate.release()


def test_runs_are_opened_without_holding_up_the_window_and_another_choice_comes_in_their_place(
    qtbot: QtBot, window: MainWindow, runs: list[int], slow: threading.Semaphore
) -> None:
    window.history.select(runs)
    window.bar.trigger("history.open")
    assert window.plots.waiting == "Opening 3 stored runs…"
    assert window.shown.count == 0
    window.history.select([runs[1]])
    window.bar.trigger("history.open")
    assert window.plots.waiting == "Opening 1 stored run…"
    shown: list[frozenset[int]] = []
    window.shown.changed.connect(lambda: shown.append(window.shown.ids))

    for _ in range(4):
        slow.release()

    qtbot.waitUntil(lambda: window.shown.ids == {runs[1]})
    until_done(qtbot, window)
    assert shown == [{runs[1]}]
    assert window.plots.waiting == ""


def test_a_run_ends_the_opening(qtbot: QtBot, window: MainWindow, runs: list[int], slow: threading.Semaphore) -> None:
    window.history.select(runs)
    window.bar.trigger("history.open")
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    for _ in range(10):
        slow.release()
    until_done(qtbot, window)

    assert window.shown.count == 1
    assert not window.shown.ids & set(runs)


@pytest.mark.parametrize("action", ["history.open", "history.open_scenario"])
def test_a_run_that_cannot_be_read_is_told_and_the_plots_stay(
    qtbot: QtBot, window: MainWindow, runs: list[int], monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    window.history.select([runs[0]])
    with gone(window, monkeypatch):
        window.bar.trigger(action)
        until_done(qtbot, window)
        assert "the file is gone" in window.banners.text("action")

    assert window.shown.count == 0
    assert window.plots.waiting == ""


@pytest.mark.parametrize(
    ("pragma", "reason"),
    [("max_page_count = 1", "no space left to write"), ("query_only = ON", "the file or its folder cannot be written")],
    ids=["full", "read-only"],
)
@pytest.mark.parametrize(("action", "runs_begun"), [("run.toggle", 1), ("queue.add", 2)], ids=["run", "queue"])
def test_runs_whose_store_takes_no_more_are_complete_in_memory_and_can_be_kept_elsewhere(
    qtbot: QtBot,
    window: MainWindow,
    dialogs: ScriptedDialogs,
    tmp_path: Path,
    pragma: str,
    reason: str,
    action: str,
    runs_begun: int,
) -> None:
    store = present(window.database.store)
    # SQLite itself then reports a full disk, or a read-only folder.
    with writer_of(store).no_transaction() as connection:
        connection.execute(f"PRAGMA {pragma}")
    # More than the remaining free pages of the file.
    window.documents.open_text(TWO_PATHS + "#" * 100_000 + "\n", "two-paths")
    for _ in range(runs_begun):
        window.bar.trigger(action)
    qtbot.waitUntil(lambda: len(window.unsaved.jobs) == runs_begun)
    window.queue_session.refresh()

    assert reason in window.banners.text("not_stored")
    assert "complete in memory" in window.banners.text("not_stored")
    if runs_begun == 2:
        dialogs.answer("folder", tmp_path)
        with qtbot.waitSignal(window.unsaved.exported) as exported:
            window.banners.press("not_stored", "Export data…")
        assert (exported.args[0] / "subflows.csv").exists()
        # The remaining run is reported now.
        assert "complete in memory" in window.banners.text("not_stored")
    dialogs.answer("database_path", tmp_path / "other.db")
    with qtbot.waitSignal(window.unsaved.saved):
        window.banners.press("not_stored", "Save to another database…")

    assert window.unsaved.jobs == ()
    assert window.banners.text("not_stored") == ""
    with Store(tmp_path / "other.db", read_only=True) as other:
        assert [run.status for run in other.runs()] == ["finished"]
