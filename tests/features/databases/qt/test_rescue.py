"""A damaged database in the window: what is sound is listed, and check and salvage are a click away."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot
from tests.helpers.window import ScriptedDialogs
from tests.store.examples import record

from subflow_app.features.databases.qt import RescueFeature
from subflow_app.shell.main_window import MainWindow
from subflow_store import open_store


def test_damage_is_told_checked_and_salvaged(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    path, new = tmp_path / "damaged.db", tmp_path / "salvaged.db"
    with open_store(path) as store:
        for name in ("First", "Second", "Third"):
            record(store, name=name)
    path.write_bytes(path.read_bytes().replace(b"Second", b"\xffecond", 1))

    window.database.open(path)
    qtbot.waitUntil(lambda: "history" in window.banners.topics())
    assert [row.name for row in window.history.runs()] == ["Third", "First"]
    assert "run 2" in window.banners.text("history")

    window.banners.press("history", "Check…")
    qtbot.waitUntil(lambda: len(dialogs.told) == 1)
    title, text = dialogs.told[0]
    assert title == "Check of the database"
    assert "run 2: run" in text

    dialogs.answer("save_path", new)
    window.history.reload()
    window.features[RescueFeature].salvage(path)
    qtbot.waitUntil(lambda: len(dialogs.told) == 2 and window.database.path == new)
    assert [row.name for row in window.history.runs()] == ["Third", "Second", "First"]


def test_a_database_whose_tables_are_damaged_offers_both(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    with open_store(path) as store:
        record(store)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE run_tag", b"CREATE T\xffBLE run_tag"))

    window.database.open(path)
    qtbot.waitUntil(lambda: "database" in window.banners.topics())
    assert {"Check…", "Salvage…"} <= set(window.banners._shown["database"].buttons)
