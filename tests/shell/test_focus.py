"""The whole window by keyboard: Tab passes through every open panel and returns; no part keeps the focus."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.script.qt.desk import NewScript
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.shell.main_window import MainWindow

# Far more than the number of fields in all panels.
_MOST_STOPS = 500


def panels_of(window: MainWindow) -> dict[str, QWidget]:
    """The visible panels, and the plots."""
    panels: dict[str, QWidget] = {
        "plots": window.plots,
        "topology": window.topology,
        "inspector": window.inspector,
        "history": window.history,
        "agent": window.agent.panel,
        "train": window.training_session.panel,
    }
    return {name: panel for name, panel in panels.items() if panel.isVisible() and can_take_focus(panel)}


def can_take_focus(panel: QWidget) -> bool:
    """True if a part of the panel takes the keyboard; a panel may be empty."""
    wanted = Qt.FocusPolicy.TabFocus
    inside = [panel, *panel.findChildren(QWidget)]
    return any(w.isVisible() and w.isEnabled() and w.focusPolicy() & wanted and w.focusProxy() is None for w in inside)


def test_tab_goes_down_the_inspector_and_its_latest_form(window: MainWindow) -> None:
    window.bar.trigger("view.workspace_design")
    window.inspector.show_key("nodes.client")
    window.inspector.show_key("links.wifi")
    window.activateWindow()
    window.inspector.outline_button.setFocus()
    way: list[QWidget | None] = []
    for _ in range(6):
        focused = present(QApplication.focusWidget())
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        way.append(QApplication.focusWidget())

    rows = {row.key: row.editor for row in window.inspector.form.rows()}
    first, second = rows["links.wifi.ends"].findChildren(QComboBox)
    name, rate, delay = (rows[f"links.wifi.{key}"] for key in ("@name", "rate", "delay"))
    assert way == [window.inspector.text_button, name, first, second, rate, delay]


@pytest.mark.parametrize("workspace", ["design", "run", "analyse", "train"])
def test_tab_goes_through_every_panel_and_comes_back(window: MainWindow, workspace: str) -> None:
    window.bar.trigger(f"view.workspace_{workspace}")
    QApplication.processEvents()
    window.activateWindow()
    start = window.history.search if workspace == "analyse" else window.topology.canvas
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        assert_it_goes_round(window, start, key)


def assert_it_goes_round(window: MainWindow, start: QWidget, key: Qt.Key) -> None:
    start.setFocus()
    panels = panels_of(window)
    visited: set[str] = set()
    has_left = False
    for _ in range(_MOST_STOPS):
        focused = present(QApplication.focusWidget())
        visited |= {name for name, panel in panels.items() if panel is focused or panel.isAncestorOf(focused)}
        if focused is not start:
            has_left = True
        elif has_left and visited == panels.keys():
            break
        QTest.keyClick(focused, key)

    assert has_left
    assert visited == panels.keys()
    assert QApplication.focusWidget() is start


def test_ctrl_s_saves_what_was_worked_on_last(
    window: MainWindow, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    dialogs.answer("save_path", path)
    window.activateWindow()
    window.topology.canvas.setFocus()
    window.bar.trigger("file.save")
    assert path.exists()
    dialogs.answer("NewScriptDialog", NewScript("mine", ("download",)))
    window.bar.trigger("script.new_controller")
    desk = window.features[ScriptFeature].session.desk
    editor = window.features[ScriptFeature].session.panel.editor
    assert editor.hasFocus()
    assert window.bar["file.save"].text() == "&Save the script and run"
    editor.put_text(editor.text + "\n# changed\n")
    # Escape leaves the editor, which is still what the user works on.
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.hasFocus()
    window.bar.trigger("file.save")
    assert not desk.is_modified
    window.runs.stop()
    qtbot.waitUntil(lambda: not window.runs.is_running)
    window.bar.trigger("view.workspace_run")
    window.topology.canvas.setFocus()
    assert window.bar["file.save"].text() == "&Save"
