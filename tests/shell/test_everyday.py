"""Settings, welcome, help and log: everyday parts of the window."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialogButtonBox, QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.members import for_each
from tests.helpers.present import child
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.crashes.qt.log_panel import LogPanel
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.features.settings.core import SETTINGS
from subflow_app.features.settings.qt import SettingsDialog
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.session_log import SessionLog
from subflow_app.foundation.settings import Settings, load_settings
from subflow_app.shell.file_menus import RECENT
from subflow_app.shell.help_dialogs import WelcomeDialog
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.workspaces import PANELS


def settings_dialog(window: MainWindow) -> SettingsDialog:
    window.bar.trigger("file.settings")
    dialog = child(window, SettingsDialog)
    return dialog


def press(dialog: SettingsDialog, which: QDialogButtonBox.StandardButton) -> None:
    buttons = child(dialog, QDialogButtonBox)
    buttons.button(which).click()


def welcome(window: MainWindow) -> WelcomeDialog:
    window.bar.trigger("help.welcome")
    (dialog,) = (found for found in window.findChildren(WelcomeDialog) if found.isVisible())
    return dialog


# ---- settings ----


def test_every_setting_has_a_row_that_is_found_by_typing(window: MainWindow) -> None:
    dialog = settings_dialog(window)

    assert {spec.key for spec in SETTINGS} <= {field.name for field in dataclasses.fields(Settings)}
    assert {key: row.value() for key, row in dialog.rows.items()} == {
        spec.key: getattr(window.preferences.settings, spec.key) for spec in SETTINGS
    }
    dialog.search.setText("crash recovery")

    assert [key for key, row in dialog.rows.items() if row.isVisibleTo(dialog)] == ["autosave"]
    dialog.reject()


def test_settings_take_effect_together(window: MainWindow) -> None:
    dialog = settings_dialog(window)
    for key, value in {"theme": "contrast", "sample_interval_s": 0.05, "record_decisions": True}.items():
        dialog.rows[key].set_value(value)
    press(dialog, QDialogButtonBox.StandardButton.Ok)

    assert window.theme.mode == "contrast"
    assert window.bar["view.theme_contrast"].isChecked()
    assert window.bar["run.record_decisions"].isChecked()
    saved = load_settings(window.preferences.path)
    assert (saved.theme, saved.sample_interval_s, saved.record_decisions) == ("contrast", 0.05, True)


def test_cancel_changes_nothing(window: MainWindow) -> None:
    before = window.preferences.settings
    dialog = settings_dialog(window)
    dialog.rows["theme"].set_value("dark")
    dialog.reject()

    assert window.preferences.settings == before
    assert window.theme.mode == "light"


def test_what_waits_for_the_next_start_is_said(window: MainWindow) -> None:
    dialog = settings_dialog(window)
    dialog.rows["language"].set_value("de")
    dialog.rows["scale_percent"].set_value(150)
    press(dialog, QDialogButtonBox.StandardButton.Ok)

    assert "Language" in window.banners.text("settings")
    assert "Size" in window.banners.text("settings")


def test_a_restart_is_offered_and_an_answer_may_prevent_it(window: MainWindow, dialogs: ScriptedDialogs) -> None:
    dialog = settings_dialog(window)
    dialog.rows["language"].set_value("de")
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    window.inspector.source.committed.emit(window.documents.doc.text + "# changed\n", 0)
    dialogs.answer("ask_save_changes", "cancel")
    window.banners.press("settings", "Restart now")
    assert window.isVisible()
    assert not window.restarts


def test_defaults_come_back_but_not_before_ok(window: MainWindow) -> None:
    window.preferences.change(dataclasses.replace(window.preferences.settings, autosave=False, scale_percent=150))
    dialog = settings_dialog(window)
    press(dialog, QDialogButtonBox.StandardButton.RestoreDefaults)

    assert not window.preferences.settings.autosave
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    assert window.preferences.settings.autosave
    assert window.preferences.settings.scale_percent == 100
    assert window.preferences.settings.database != ""


def test_precise_sample_interval_survives_the_dialog(window: MainWindow) -> None:
    window.preferences.change(dataclasses.replace(window.preferences.settings, sample_interval_s=0.00123456789))
    dialog = settings_dialog(window)
    press(dialog, QDialogButtonBox.StandardButton.Ok)

    assert window.preferences.settings.sample_interval_s == 0.00123456789


def test_purge_asks_unless_it_shall_not(window: MainWindow, qtbot: QtBot, dialogs: ScriptedDialogs) -> None:
    window.preferences.change(dataclasses.replace(window.preferences.settings, confirm_purge=False))

    with qtbot.waitSignal(window.database.purged):
        window.bar.trigger("history.purge")

    assert dialogs.asked == []


# ---- welcome ----


def test_welcome_is_shown_once(window: MainWindow) -> None:
    window.window_dialogs.show_welcome_once()
    (dialog,) = window.findChildren(WelcomeDialog)
    dialog.reject()
    dialog.deleteLater()
    assert window.preferences.settings.is_welcomed

    window.window_dialogs.show_welcome_once()

    assert not any(found.isVisible() for found in window.findChildren(WelcomeDialog))


def test_door_to_the_demo_runs_it(qtbot: QtBot, window: MainWindow) -> None:
    with qtbot.waitSignal(window.runs.ended):
        welcome(window).doors["demo"].click()

    assert window.documents.name == "demo (example)"
    assert window.workspaces.current == "run"


def test_door_to_the_labs_lists_them(window: MainWindow) -> None:
    welcome(window).doors["lab"].click()

    assert window.workspaces.current == "lab"
    assert window.docks.is_open("lab")
    panel = window.features[LabFeature].session.panel
    assert panel.currentWidget() is panel.list


def test_door_to_a_new_topology(window: MainWindow) -> None:
    welcome(window).doors["new"].click()

    assert window.documents.doc.path is None
    assert window.workspaces.current == "design"


def test_welcome_offers_recent_files_that_are_there(window: MainWindow, tmp_path: Path) -> None:
    for name in ("there.toml", "gone.toml"):
        (tmp_path / name).write_text(TWO_PATHS)
        window.documents.open(tmp_path / name)
    (tmp_path / "gone.toml").unlink()

    dialog = welcome(window)

    assert [link.title for link in dialog.files] == ["there.toml"]
    dialog.files[0].click()
    assert window.documents.name == "there.toml"


# ---- help ----


@for_each("name", [*PANELS, "plots"])
def test_every_panel_has_a_page(name: str) -> None:
    text = resource_path(f"help/{name}.md").read_text(encoding="utf-8")

    assert text.startswith("# ")
    assert len(text.split()) < 300


def test_f1_explains_the_panel_that_has_the_keyboard(window: MainWindow) -> None:
    window.docks.set_open("history", True)
    window.history.search.setFocus()
    window.bar.trigger("help.panel")
    assert window.help.page == "history"

    window.inspector.start_editing()
    window.bar.trigger("help.panel")
    assert window.help.page == "inspector"
    assert window.docks.is_open("help")


def test_links_of_help_lead_to_other_pages(window: MainWindow) -> None:
    from PySide6.QtCore import QUrl

    window.help.browser.anchorClicked.emit(QUrl("topology"))
    assert window.help.page == "topology"
    window.help.show_page("of-a-panel-that-came-later")
    assert window.help.page == "help"


# ---- log ----


def record(level: int, text: str) -> logging.LogRecord:
    return logging.LogRecord("subflow", level, "file.py", 1, text, None, None)


@pytest.fixture
def log(qtbot: QtBot) -> LogPanel:
    panel = LogPanel(SessionLog(most_kept=3))
    qtbot.addWidget(panel)
    panel.close_log()
    return panel


def say(log: LogPanel, *messages: tuple[int, str]) -> None:
    for level, text in messages:
        log._log.emit(record(level, text))
    log.refresh()


def test_log_shows_what_is_filtered_and_searched(log: LogPanel) -> None:
    say(log, (logging.INFO, "opened"), (logging.WARNING, "disk is slow"), (logging.ERROR, "disk is full"))
    assert "opened" in log.text.toPlainText()

    log.level.setCurrentIndex(1)
    assert "opened" not in log.text.toPlainText()
    log.search.setText("full")
    assert log.text.toPlainText().endswith("disk is full")
    assert "slow" not in log.text.toPlainText()
    log.copy()
    assert "disk is full" in QGuiApplication.clipboard().text()


def test_log_is_bounded(log: LogPanel) -> None:
    say(log, *((logging.INFO, f"message {number}") for number in range(10)))

    assert [line[-1] for line in log.text.toPlainText().splitlines()] == ["7", "8", "9"]


def test_warnings_are_counted_until_somebody_looks(qtbot: QtBot, log: LogPanel) -> None:
    counts: list[int] = []
    log.unseen_changed.connect(counts.append)
    say(log, (logging.INFO, "fine"), (logging.WARNING, "one"), (logging.ERROR, "two"))
    assert log.unseen == 2

    log.show()
    assert counts == [2, 0]
    log.hide()


def test_badge_opens_the_log(window: MainWindow) -> None:
    badge = child(window.toolbar, QToolButton, "warnings_button")
    assert badge.isHidden()
    window.docks.set_open("log", False)
    window.log._log.emit(record(logging.WARNING, "the disk is nearly full"))
    window.log.refresh()
    assert not badge.isHidden()
    assert badge.text().endswith("warning") or badge.text().endswith("warnings")

    badge.click()

    assert window.docks.is_open("log")
    assert badge.isHidden()


# ---- recent files ----


def test_recent_files_that_are_gone_are_grey_and_the_list_can_be_cleared(window: MainWindow, tmp_path: Path) -> None:
    for name in ("there.toml", "gone.toml"):
        (tmp_path / name).write_text(TWO_PATHS)
        window.documents.open(tmp_path / name)
    (tmp_path / "gone.toml").unlink()
    menu = window.file_menus.by_title()[RECENT]
    menu.aboutToShow.emit()
    entries = {action.text(): action.isEnabled() for action in menu.actions() if action.text()}
    assert entries == {"gone.toml (gone)": False, "there.toml": True, "&Clear list": True}

    window.documents.new()
    next(action for action in menu.actions() if action.text() == "there.toml").trigger()
    assert window.documents.doc.path == tmp_path / "there.toml"
    menu.actions()[-1].trigger()
    assert window.preferences.settings.recent_files == ()


def test_the_last_scenario_is_opened_again_or_told_to_be_gone(window: MainWindow, tmp_path: Path) -> None:
    assert not window.preferences.settings.reopens_last  # the default must not surprise
    assert not window.documents.reopen_last()
    mine = tmp_path / "mine.toml"
    mine.write_text(TWO_PATHS, encoding="utf-8")
    assert window.documents.open(mine)
    window.documents.open_example("demo")
    assert window.documents.reopen_last()
    assert window.documents.doc.path == mine
    mine.unlink()
    assert not window.documents.reopen_last()
    assert "mine.toml" in window.banners.text("file")
    assert window.preferences.settings.recent_files == ()
