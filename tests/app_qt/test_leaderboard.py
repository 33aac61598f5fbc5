"""The leaderboard in the window: contests run by its action, are shown in three views, and are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from tests.app_core.leaderboard.tiny_contest import write_tiny
from tests.helpers.window import ScriptedDialogs

from subflow_app.core.experiments import cost
from subflow_app.core.leaderboard import board
from subflow_app.core.leaderboard.competitors import Competitor, chosen_competitors
from subflow_app.qt.leaderboard.feature import EXPORT, RUN_QUICK, STOP, LeaderboardFeature
from subflow_app.qt.main_window import MainWindow


def test_contests_are_run_shown_and_written(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, dialogs: ScriptedDialogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(names: object) -> tuple[Competitor, ...]:
        return chosen_competitors(["newreno", "lia"])

    monkeypatch.setattr(board, "chosen_competitors", few)
    monkeypatch.setattr(cost, "LEAST_CPU_S", 0.0)
    monkeypatch.setattr("subflow_app.core.jobs.executors.jobs_beside_window", lambda: 1)
    feature = window.features[LeaderboardFeature]
    window.docks.set_open("leaderboard", True)
    qtbot.waitUntil(lambda: feature.is_settled, timeout=20_000)
    content = feature.content
    # Nothing was run here yet: what ships is shown, and said to ship. Full runs do not.
    assert {row.name for row in content.rows} == {"newreno", "lia"}
    for _ in range(2):
        assert "Quick runs that ship with Subflow, made 20" in content.words.text()
        content.quick.toggle()
        qtbot.waitUntil(lambda: feature.is_settled, timeout=20_000)
    feature.limit_to(list(map(str, write_tiny(tmp_path))))
    window.docks.raise_panel("leaderboard")
    feature.read()
    qtbot.waitUntil(lambda: feature.is_settled, timeout=20_000)
    assert not content.rows
    assert feature.possible() >= {RUN_QUICK}
    assert EXPORT not in feature.possible()

    feature.run(is_quick=True)
    assert feature.possible() == {STOP}
    qtbot.waitUntil(lambda: feature.is_settled, timeout=60_000)
    assert {row.name for row in content.rows} == {"newreno", "lia"}
    assert not content.bar.isVisible()
    assert "4 of 4 runs" in content.words.text()
    assert "contests each (Student's t). Few make them wide: ranks whose intervals overlap are not settled." in (
        content.words.text()
    )
    QAbstractItemModelTester(content.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    content.table.selectRow(0)
    assert [shape.name for shape in content.radar.shapes] == list(content.selected)
    content.contests.setCurrentIndex(1)
    assert "Mbit/s" in str(content.scatter.titles[1])
    assert "seeds each (Student's t)" in content.words.text()
    assert len(content.scatter.marks) == 2
    for number, name in ((0, "board.csv"), (1, "radar.svg"), (2, "scatter.png")):
        content.tabs.setCurrentIndex(number)
        content.grab()
        dialogs.answer("save_path", tmp_path / name)
        feature.ask_export()
        assert (tmp_path / name).stat().st_size > 500
