"""Crash reports: announced once after a crash, listed, copied, deleted."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from tests.helpers.desk import MakeDesk
from tests.helpers.present import child

from subflow_app.features.crashes.qt.crash_dialog import CrashDialog
from subflow_app.features.crashes.qt.feature import CrashFeature
from subflow_app.foundation.crash_reports import crash_reports, write_report
from subflow_app.foundation.paths import crash_directory


def test_crashes_are_told_once_and_shown_from_there(qtbot: QtBot, make_desk: MakeDesk) -> None:
    crash_directory().mkdir(parents=True)
    for name in ("one", "two"):
        content = f"subflow {name}\nversions\n----\nFatal Python error: Segmentation fault\n"
        (crash_directory() / f"running-1-{name}.txt").write_text(content)
    desk = make_desk(CrashFeature)
    desk.loaded.emit()
    qtbot.waitUntil(lambda: "crash" in desk.banners.topics())
    assert "crashed 2 times" in desk.banners.text("crash")
    assert "nothing was sent" in desk.banners.text("crash")

    desk.banners.press("crash", "Show report…")

    dialog = child(desk, CrashDialog)
    assert "Segmentation fault" in dialog.text.toPlainText()
    dialog.reject()
    desk.loaded.emit()
    desk.wait_for_workers()
    assert "crash" not in desk.banners.topics()


@pytest.fixture
def dialog(qtbot: QtBot) -> CrashDialog:
    for number in (1, 2):
        write_report(f"bug {number}", "the window", "", (), happened_at_s=1e9 + number)
    made = CrashDialog('name = "mine"')
    qtbot.addWidget(made)
    return made


def test_reports_are_listed_read_and_copied(dialog: CrashDialog) -> None:
    listed = [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())]
    assert [text.split("   ")[1] for text in listed] == ["bug 2", "bug 1"]
    dialog.show_report(crash_reports()[1])
    assert "What:     bug 1" in dialog.text.toPlainText()
    assert "mine" not in dialog.text.toPlainText()

    dialog.with_scenario.click()
    dialog.copy.click()

    copied = QGuiApplication.clipboard().text()
    assert "What:     bug 1" in copied
    assert copied.endswith('name = "mine"')
    # A report whose file was deleted in the meantime.
    dialog.list.setCurrentIndex(dialog.model.index(0, 0))
    crash_reports()[1].file.unlink()
    dialog.list.setCurrentIndex(dialog.model.index(1, 0))
    assert "cannot be read: No such file" in dialog.text.toPlainText()


def test_deleting_goes_on_to_the_next_until_none_is_left(dialog: CrashDialog) -> None:
    dialog.delete.click()
    assert "bug 1" in dialog.text.toPlainText()

    dialog.delete.click()

    assert crash_reports() == ()
    assert not dialog.copy.isEnabled()
    assert not dialog.list.isVisibleTo(dialog)
