"""Changes by other programs to the open database appear in the window."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.store.examples import ramp, record

from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit import database
from subflow_store import open_store


def names(window: MainWindow) -> list[str]:
    return [run.name for run in window.history.runs()]


def test_what_others_write_and_delete_is_listed(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    assert database._LOOK_MS <= 1000  # two seconds with the time to read the list
    assert names(window) == []
    with open_store(tmp_path / "runs.db") as elsewhere:
        record(elsewhere, ramp(50), name="Of another program")
        qtbot.waitUntil(lambda: names(window) == ["Of another program"])
        record(elsewhere, ramp(50), name="Second")
        qtbot.waitUntil(lambda: names(window) == ["Second", "Of another program"])
        elsewhere.delete([1])
        elsewhere.purge_deleted()
        qtbot.waitUntil(lambda: names(window) == ["Second"])


def test_a_run_that_is_gone_is_told_and_leaves_the_list(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as elsewhere:
        record(elsewhere, ramp(50))
        window.history.reload()
        qtbot.waitUntil(lambda: len(names(window)) == 1)
        elsewhere.delete([1])
        elsewhere.purge_deleted()

        store = present(window.database.store)
        window.shown.show_stored(store, [1])

        qtbot.waitUntil(lambda: names(window) == [])
        qtbot.waitUntil(lambda: "unknown run 1" in window.banners.text("action"))
