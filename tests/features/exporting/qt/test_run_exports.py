"""Runs as files: the chosen parts are written, a bundle is verified, and wrong input is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.exporting.qt.actions import rows
from subflow_app.features.exporting.qt.run_export_dialog import RunExportDialog


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=rows())


def test_what_is_chosen_of_a_run_is_written_and_its_bundle_verified(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = desk.run_once()
    desk.history.select([number])

    def choose(dialog: RunExportDialog) -> int:
        qtbot.addWidget(dialog)
        (export,) = (button for button in dialog.buttons.buttons() if button.text() == "Export…")
        dialog.run_data.setChecked(False)
        export.click()
        assert "Nothing is chosen" in dialog.problem.text()
        dialog.packets.setChecked(True)
        dialog.until.setText("soon")
        export.click()
        assert "number with a unit" in dialog.problem.text()
        dialog.until.setText("500ms")
        dialog.station.setCurrentIndex(dialog.station.findData("both"))
        dialog.packet_file.setCurrentIndex(dialog.packet_file.findData("both"))
        dialog.run_data.setChecked(True)
        dialog.tables["parquet"].setChecked(True)
        dialog.bundle.setChecked(True)
        dialog.light_bundle.setChecked(True)
        export.click()
        return dialog.result()

    monkeypatch.setattr(RunExportDialog, "exec", choose)
    dialogs.answer("folder", tmp_path)
    with qtbot.waitSignal(desk.exports.written, timeout=60_000) as written:
        desk.bar.trigger("history.export")
    (folder,) = written.args
    assert folder == tmp_path / f"two-paths-run{number}"
    names = {path.name for path in folder.iterdir()}
    assert {"subflows.csv", "summary.json", "scenario.toml", "subflows.parquet", "download.pcapng"} <= names
    assert {"download.sender.sqlog", "download.receiver.sqlog"} <= names

    bundle = folder / f"run-{number}.light.subflow.zip"
    assert bundle.stat().st_size < (folder / f"run-{number}.subflow.zip").stat().st_size
    dialogs.answer("open_path", bundle)
    desk.bar.trigger("file.verify_bundle")
    qtbot.waitUntil(lambda: bool(dialogs.told), timeout=60_000)
    text = dialogs.told[-1][-1]
    assert text.startswith("Confirmed: the same run.")
    assert ".csv: byte for byte" not in text, "a light bundle holds no samples"

    bundle.write_text("no archive")
    dialogs.answer("open_path", bundle)
    with qtbot.waitSignal(desk.exports.failed, timeout=60_000) as failed:
        desk.bar.trigger("file.verify_bundle")
    assert "not a bundle of a run" in failed.args[0]
