"""A damaged database: sound runs are listed, and check and salvage are one click away."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot
from tests.helpers.desk import MakeDesk
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.databases.qt import RescueFeature


def test_damage_is_told_and_salvaged(
    qtbot: QtBot, make_desk: MakeDesk, dialogs: ScriptedDialogs, damaged: Path
) -> None:
    desk, new = make_desk(RescueFeature), damaged.with_name("salvaged.db")
    desk.database.open(damaged)
    qtbot.waitUntil(lambda: "history" in desk.banners.topics())
    assert [row.name for row in desk.history.runs()] == ["Third", "First"]
    assert "run 2" in desk.banners.text("history")

    desk.banners.press("history", "Check…")
    qtbot.waitUntil(lambda: len(dialogs.told) == 1)
    assert "run 2: run" in dialogs.told[0][1]

    dialogs.answer("save_path", new)
    desk.history.reload()
    desk.features[RescueFeature].salvage(damaged)
    qtbot.waitUntil(lambda: len(dialogs.told) == 2 and desk.database.path == new)
    assert [row.name for row in desk.history.runs()] == ["Third", "Second", "First"]
