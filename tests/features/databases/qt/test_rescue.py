"""A damaged database: what is sound is listed, and check and salvage are a click away."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.window import ScriptedDialogs
from tests.store.examples import record

from subflow_app.features.databases.qt import RescueFeature
from subflow_store import open_store


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(RescueFeature)


def test_damage_is_told_checked_and_salvaged(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    path, new = tmp_path / "damaged.db", tmp_path / "salvaged.db"
    with open_store(path) as store:
        for name in ("First", "Second", "Third"):
            record(store, name=name)
    path.write_bytes(path.read_bytes().replace(b"Second", b"\xffecond", 1))

    desk.database.open(path)
    qtbot.waitUntil(lambda: "history" in desk.banners.topics())
    assert [row.name for row in desk.history.runs()] == ["Third", "First"]
    assert "run 2" in desk.banners.text("history")

    desk.banners.press("history", "Check…")
    qtbot.waitUntil(lambda: len(dialogs.told) == 1)
    title, text = dialogs.told[0]
    assert title == "Check of the database"
    assert "run 2: run" in text

    dialogs.answer("save_path", new)
    desk.history.reload()
    desk.features[RescueFeature].salvage(path)
    qtbot.waitUntil(lambda: len(dialogs.told) == 2 and desk.database.path == new)
    assert [row.name for row in desk.history.runs()] == ["Third", "Second", "First"]
