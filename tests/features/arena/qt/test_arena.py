"""The arena: started by its action, shown as a table and as scatter plots, filtered by family, and written to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from tests.helpers.desk import MakeDesk, export_figure
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.arena.core import results
from subflow_app.features.arena.qt.feature import EXPORT, RUN_QUICK, STOP, ArenaFeature


def test_the_arena_is_run_shown_and_written(
    make_desk: MakeDesk, qtbot: QtBot, tmp_path: Path, dialogs: ScriptedDialogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subflow_app.foundation.jobs.executors.jobs_beside_window", lambda: 1)
    monkeypatch.setattr("subflow_app.features.library.core.shipped.shipped_outcomes", list)
    monkeypatch.setattr(results, "QUICK_NUMBERS", range(1, 2))
    desk = make_desk(ArenaFeature)
    feature = desk.features[ArenaFeature]
    feature.limit_to(["newreno", "lia", "idle"])
    desk.docks.set_open("arena", True)
    desk.wait_for_workers()
    content = feature.content
    content.quick.setChecked(True)
    desk.wait_for_workers()
    assert not content.rows
    assert re.fullmatch(r"Missing runs: about .* (ms|s|min)", content.estimate.text())
    assert feature.possible() >= {RUN_QUICK}
    assert EXPORT not in feature.possible()

    feature.run(is_quick=True)
    assert feature.possible() == {STOP}
    desk.wait_for_workers(100_000)
    assert {row.name for row in content.rows} == {"newreno", "lia", "idle"}
    assert content.rows[-1].name == "idle"
    assert not content.bar.isVisible()
    assert content.estimate.text() == ""
    assert "75 of 75 results, quick form." in content.words.text()
    QAbstractItemModelTester(content.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert content.delay.panel is not None
    assert content.harm.panel is not None
    assert {mark.name for mark in content.delay.panel.series} >= {"newreno", "lia"}
    place = content.families.findData("lossy")
    content.families.setCurrentIndex(place)
    assert all(row.n == 1 for row in content.rows)
    assert not content.harm.panel.series  # this family has no competing flows
    content.families.setCurrentIndex(0)
    names = {row.name for row in content.rows}
    assert {pair.name for pair in content.pairs.rows} == names - {content.rows[0].name}
    content.against.setCurrentIndex(content.against.findData("idle"))
    assert {pair.name for pair in content.pairs.rows} == names - {"idle"}
    assert "less that of idle" in content.pairs_words.text()
    QAbstractItemModelTester(content.pairs, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for number, name in ((0, "board.svg"), (1, "delay.svg"), (2, "friendliness.png"), (3, "differences.pdf")):
        content.tabs.setCurrentIndex(number)
        content.grab()
        export_figure(desk, "arena.export", tmp_path / name, lambda dialog: dialog.data.setChecked(True))
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "board.csv").stat().st_size > 500
    assert (tmp_path / "differences.csv").read_text().startswith("controller,against,difference,")
