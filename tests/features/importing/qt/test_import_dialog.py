"""The import of measured files: preview, editable meanings and units, refusals."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.importing.qt.feature import ImportFeature
from subflow_app.features.importing.qt.import_dialog import ImportDialog
from subflow_app.features.measured.core import reading
from subflow_app.features.measured.core.measured_table import ReadingOptions
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.foundation.resources import resource_path

TEXT = "t_ms;window;delay (ms);note\n" + "".join(f"{100 * k};{10 + k};{40 + k};x\n" for k in range(1, 9))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "bench.csv"
    path.write_text(TEXT)
    return path


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with comparisons, also of the runs of a sweep."""
    return make_desk(CompareFeature, SweepFeature, ImportFeature)


def opened(qtbot: QtBot, desk: Desk) -> ImportDialog:
    """The dialog after it has read the file."""
    qtbot.waitUntil(lambda: desk.findChild(ImportDialog) is not None)
    dialog = present(desk.findChild(ImportDialog))
    qtbot.waitUntil(lambda: dialog.told.text() != "Reading…")
    return dialog


def cells(dialog: ImportDialog, row: int) -> list[str]:
    return [str(dialog.model.index(row, column).data()) for column in range(dialog.model.columnCount())]


def test_a_file_is_shown_changed_and_imported(qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, trace: Path) -> None:
    dialogs.answer("open_path", trace)
    desk.bar.trigger("file.import")
    dialog = opened(qtbot, desk)
    QAbstractItemModelTester(dialog.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert cells(dialog, 0) == ["window", "pkt", "cwnd_pkts:measured/1", "8", "11, 12, 13, 14"]
    assert cells(dialog, 1) == ["delay (ms)", "ms", "srtt_s:measured/1", "8", "41, 42, 43, 44"]
    target = dialog.model.index(0, 2)
    dialog.model.setData(target, "windows:download/1")
    assert '"windows" is not a trace' in dialog.told.text()
    dialog.model.setData(target, "cwnd_pkts:download/1")
    dialog.model.setData(dialog.model.index(1, 1), "us")
    assert dialog.import_button.isEnabled()
    dialog.name.setText("Bench 1")
    with qtbot.waitSignal(dialog.imported):
        QTest.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(desk.history.selected()) == 1)
    (row,) = desk.history.selected()
    assert (row.name, row.tags, row.status) == ("Bench 1", ("measured",), "finished")
    assert row.mean_rtt_s == pytest.approx(44.5e-6)
    # The plots show the measured run like any other, without a further click.
    qtbot.waitUntil(lambda: desk.shown.count == 1)
    assert [key.owner for key in desk.plots.stack.curves] == ["download/1", "measured/1"]


def test_a_clock_that_goes_back_is_said_and_can_be_mended(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "back.csv"
    path.write_text("time_s,cwnd\n0.1,1\n0.2,2\n0.1,3\n0.2,4\n")
    desk.features[ImportFeature].import_file(path)
    dialog = opened(qtbot, desk)
    assert "times go back 1 time, first in line 4" in dialog.told.text()
    assert not dialog.import_button.isEnabled()
    dialog.clock.setCurrentIndex(3)
    dialog.clock.activated.emit(3)
    qtbot.waitUntil(dialog.import_button.isEnabled)
    assert "shifted to continue" in dialog.told.text()
    dialog.reject()
    QApplication.processEvents()


def test_the_dialog_says_what_was_found_and_asks_for_units(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,rtt\n0.1,40\n0.2,41\n")
    desk.features[ImportFeature].import_file(path)
    dialog = opened(qtbot, desk)
    assert dialog.found.text() == "table: 1 flow, 0.2 s, no queue information"
    assert 'the unit of "rtt" is not stated' in dialog.told.text()
    assert not dialog.import_button.isEnabled()
    dialog.model.setData(dialog.model.index(0, 1), "ms")
    assert dialog.import_button.isEnabled()
    dialog.reject()
    QApplication.processEvents()


def test_addresses_are_kept_on_request(qtbot: QtBot, desk: Desk) -> None:
    desk.features[ImportFeature].import_file(resource_path("measurements/ss-mptcp.log"))
    dialog = opened(qtbot, desk)
    assert "192.0.2" not in "".join(cells(dialog, 0)) + dialog.told.text()
    dialog.addresses.setChecked(True)
    qtbot.waitUntil(lambda: "192.0.2" in "".join(cells(dialog, 0)))
    dialog.reject()
    QApplication.processEvents()


def test_a_long_file_shows_progress_and_closing_stops_it(
    qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def read(_path: Path, options: ReadingOptions) -> None:
        try:
            while True:
                options.watch(0.4)
                time.sleep(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(reading, "read_trace", read)
    desk.features[ImportFeature].import_file(resource_path("measurements/ss-mptcp.log"))
    qtbot.waitUntil(lambda: desk.findChild(ImportDialog) is not None)
    dialog = present(desk.findChild(ImportDialog))
    qtbot.waitUntil(lambda: dialog.progress.isVisible() and dialog.progress.value() == 40)
    dialog.reject()
    assert ended.wait(5)


def test_files_of_other_kinds_take_their_way(desk: Desk, tmp_path: Path) -> None:
    graph = tmp_path / "network"
    graph.write_text("graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]")
    desk.features[ImportFeature].import_file(graph)
    assert "2 nodes and 1 link" in desk.banners.text("import")
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\x89PNG\r\n\0")
    desk.features[ImportFeature].import_file(picture)
    assert "picture.csv is a picture; allowed:" in desk.banners.text("import")


def test_a_recording_is_shown_and_opens_as_a_scenario(desk: Desk, dialogs: ScriptedDialogs) -> None:
    source = Path(__file__).parents[1] / "5g.csv"
    before = desk.documents.doc
    dialogs.answer("confirm", False)
    desk.features[ImportFeature].import_file(source)
    assert desk.documents.doc is before
    dialogs.answer("confirm", True)
    desk.features[ImportFeature].import_file(source)
    assert desk.documents.doc.problems == ()
    assert 'trace = "5g.csv"' in desk.documents.doc.text
    assert "mean 17.31 Mbit/s" in desk.banners.text("import")
