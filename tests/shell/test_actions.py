"""The table of actions: complete, without conflicts, in menu and toolbar, and enabled only when useful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.members import for_each
from tests.helpers.present import child, present
from tests.helpers.raising import raising
from tests.helpers.window import ScriptedDialogs

from subflow_app.foundation.paths import crash_directory, log_path
from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.menus import HISTORY_MENU, MENUS, PLOT_MENU, SUBMENUS, TOOLBAR, TOOLBAR_WORDS
from subflow_app.toolkit.action_bar import ActionSpec, Scope, WindowState
from subflow_app.toolkit.icons import GLYPHS
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES
from subflow_app.vocabulary.language import tr

# Conventions of other programs, familiar to people.
CONVENTIONS = """
file.new Ctrl+N | file.open Ctrl+O | file.save Ctrl+S | file.save_as Ctrl+Shift+S | file.export_figure Ctrl+E |
file.export_data Ctrl+Shift+E | file.quit Ctrl+Q | edit.undo Ctrl+Z | edit.redo Ctrl+Shift+Z |
edit.find_run Ctrl+F | run.toggle F5 | run.stop Shift+F5 | run.speed_fast F6 | run.speed_express F7 |
view.legend L | view.crosshair X | view.log_y G | view.fit F | view.zoom_in Ctrl++ | view.zoom_out Ctrl+- |
view.zoom_reset Ctrl+0 | history.rename F2 | history.delete Del | topology.cut Ctrl+X | topology.copy Ctrl+C |
topology.paste Ctrl+V | topology.duplicate Ctrl+D | topology.delete Del | topology.rename F2 |
topology.select_all Ctrl+A | help.shortcuts Ctrl+/
"""


@for_each("spec", ACTIONS, ids=lambda spec: spec.id)
def test_every_action_is_complete(spec: ActionSpec[Any]) -> None:
    assert spec.text.strip("&… ")
    assert len(spec.tip) > 10
    assert spec.tip[0].isupper()
    assert not spec.tip.endswith(".")
    assert spec.icon in GLYPHS
    for shortcut in spec.shortcuts:
        assert QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.PortableText)


def test_no_two_actions_share_a_shortcut_where_both_work() -> None:
    anywhere = [(spec.id, key) for spec in ACTIONS if spec.scope is Scope.WINDOW for key in spec.shortcuts]
    for scope in Scope:
        here = [(spec.id, key) for spec in ACTIONS if spec.scope is scope is not Scope.WINDOW for key in spec.shortcuts]
        keys = Counter(QKeySequence(key).toString() for _id, key in (*anywhere, *here))
        assert [key for key, count in keys.items() if count > 1] == [], scope


def test_no_shortcut_has_ctrl_and_alt_which_systems_and_keyboards_use_themselves() -> None:
    owned = [spec.id for spec in ACTIONS for key in spec.shortcuts if {"Ctrl", "Alt"} <= {*key.split("+")}]
    assert owned == []


def test_single_keys_work_only_where_nobody_types() -> None:
    for spec in ACTIONS:
        for shortcut in spec.shortcuts:
            if "+" not in shortcut and not (shortcut.startswith("F") and shortcut[1:].isdigit()):
                assert spec.scope is not Scope.WINDOW, spec.id


@for_each(("action_id", "shortcut"), [pair.split() for pair in CONVENTIONS.split("|")])
def test_shortcuts_follow_the_conventions(action_id: str, shortcut: str) -> None:
    assert next(spec for spec in ACTIONS if spec.id == action_id).shortcuts[0] == shortcut


def test_redo_also_listens_to_ctrl_y(window: MainWindow) -> None:
    assert QKeySequence("Ctrl+Y") in window.bar["edit.redo"].shortcuts()


def test_every_action_is_in_a_menu_once() -> None:
    menus = (MENUS | SUBMENUS).values()
    entries = Counter(entry for menu in menus for entry in menu if entry != "-" and not entry.startswith(">"))
    assert set(entries) == {spec.id for spec in ACTIONS}
    assert set(entries.values()) == {1}


def test_toolbar_and_context_menus_name_actions_that_exist() -> None:
    ids = {spec.id for spec in ACTIONS}
    for entry in (*TOOLBAR, *HISTORY_MENU, *PLOT_MENU):
        assert entry in ids or entry[0] in "-><"


def test_actions_of_the_window_carry_what_the_table_says(window: MainWindow) -> None:
    for spec in ACTIONS:
        action = window.bar[spec.id]
        assert action.objectName() == spec.id
        refusal = spec.refusal(window.bar.state)
        assert action.statusTip() == (f"Not now: {refusal}." if refusal else spec.tip)
        assert spec.tip in action.toolTip()
        assert refusal in action.toolTip()
        assert not action.icon().isNull()
        assert action.shortcut() == QKeySequence(*spec.shortcuts[:1])
        assert action.isCheckable() == spec.checkable


def test_menus_hold_what_the_table_says(window: MainWindow) -> None:
    menus = {menu.title(): menu for menu in window.menuBar().findChildren(QMenu) if menu.title() in MENUS}
    assert list(menus) == list(MENUS)
    menus |= {menu.title(): menu for menu in window.findChildren(QMenu) if menu.title() in SUBMENUS}
    assert set(menus) == set(MENUS) | set(SUBMENUS)
    for title, menu in menus.items():
        shown = [action.objectName() for action in menu.actions() if action.objectName()]
        wanted = [entry for entry in (MENUS | SUBMENUS)[title] if entry != "-" and not entry.startswith(">")]
        assert [name for name in shown if not name.startswith("menu_")] == wanted


@for_each("spec", [spec for spec in ACTIONS if spec.needs], ids=lambda spec: spec.id)
def test_what_cannot_be_done_says_why(spec: ActionSpec[Any]) -> None:
    for need in spec.needs:
        assert need.otherwise[0].islower()
        assert not need.otherwise.endswith(".")
    for state in (
        WindowState(),
        WindowState(is_valid=True, is_running=True, runs_shown=1, features=frozenset({"train.wait"})),
    ):
        assert bool(spec.refusal(state)) != spec.enabled_when(state)


def test_reason_comes_and_goes_with_the_state(window: MainWindow) -> None:
    export = window.bar["file.export_figure"]
    assert "Not now: no panel shows a figure." in export.toolTip()
    window.bar.update_state(WindowState(runs_shown=1))
    assert export.isEnabled()
    assert "Not now" not in export.toolTip() + export.statusTip()
    menus = [menu for menu in window.findChildren(QMenu) if menu.title() in MENUS | SUBMENUS]
    assert all(menu.toolTipsVisible() for menu in menus)


def test_what_belongs_to_something_that_goes_on_is_in_menus_only_then(window: MainWindow) -> None:
    stop = window.bar["study.stop_kernel"]
    assert not stop.isVisible()
    window.bar.update_state(WindowState(features=frozenset({"study.stop_kernel"})))
    assert stop.isVisible()


# Height available below the title bar and the menu bar of a screen of 1366x768.
HIGHEST_MENU = 700


def test_every_menu_fits_a_small_screen(window: MainWindow) -> None:
    lists_of_files = window.file_menus.by_title().values()
    for menu in window.findChildren(QMenu):
        if menu in lists_of_files:
            continue
        # The height of the rows: an offscreen screen is large enough for any menu.
        rows = [menu.actionGeometry(action).height() for action in menu.actions()]
        assert max(sum(rows), menu.sizeHint().height()) <= HIGHEST_MENU, (menu.title(), len(rows))
    for menu in lists_of_files:
        menu.aboutToShow.emit()
        # Qt arranges a long list in columns of the screen's height.
        assert menu.sizeHint().height() <= menu.screen().size().height(), (menu.title(), len(menu.actions()))


def test_toolbar_says_what_people_look_for_and_fits(window: MainWindow) -> None:
    words = {}
    window.resize(1366, 768)
    QApplication.processEvents()
    for action_id in ("run.toggle", "run.compare", "fork.new", "sweep.new", "view.explain", "view.history"):
        button = window.toolbar.widgetForAction(window.bar[action_id])
        assert isinstance(button, QToolButton)
        assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        words[action_id] = button.text()
    assert list(words.values()) == ["Run", "Compare…", "What if", "Sweep", "Explain", "History"]


@for_each("size", [(1366, 768), (1093, 614), (911, 512), (800, 600)])
def test_every_button_of_the_toolbar_stays_in_a_narrow_window(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    QApplication.processEvents()
    for action in window.toolbar.actions():
        button = window.toolbar.widgetForAction(action)
        if isinstance(button, QToolButton) and action.isVisible():
            assert button.isVisible(), action.text()
            assert window.toolbar.rect().contains(button.geometry()), action.text()
    compare = window.toolbar.widgetForAction(window.bar["run.compare"])
    assert isinstance(compare, QToolButton)
    assert compare.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon


def named_like_commands() -> set[str]:
    """Titles of workspaces that other entries of menus and toolbar have too, in the current language."""
    titles = {tr(title) for title, *_more in WORKSPACES.values()}
    panels = [title for title, *_more in PANELS.values()]
    others = (*(spec.text for spec in ACTIONS), *panels, *MENUS, *SUBMENUS, *TOOLBAR_WORDS.values())
    return titles & {tr(each).replace("&", "").rstrip("…") for each in others}


def test_no_workspace_is_called_like_a_command() -> None:
    assert named_like_commands() == set()


IDLE = WindowState(is_valid=True)


@for_each(
    ("state", "enabled", "disabled"),
    [
        (IDLE, ["run.toggle", "file.open_database"], ["run.stop", "file.export_figure", "edit.undo", "history.open"]),
        (WindowState(is_valid=False), ["file.save"], ["run.toggle"]),
        (WindowState(is_valid=False, is_running=True), ["run.toggle", "run.stop"], ["file.open_database"]),
        (WindowState(runs_shown=1), ["file.export_figure", "file.export_data", "view.fit"], ["history.clear_overlay"]),
        (WindowState(runs_shown=2), ["history.clear_overlay"], ["history.overlay"]),
        (
            WindowState(runs_shown=1, runs_selected=1, runs_seen=1, has_store=True, can_write=True),
            ["history.overlay", "history.rename", "history.tag", "history.note", "history.delete", "history.export"],
            [],
        ),
        (
            WindowState(runs_selected=2, runs_seen=2, has_store=True, can_write=True),
            ["history.open", "history.tag", "history.delete"],
            ["history.rename", "history.note", "history.open_scenario", "history.export", "history.overlay"],
        ),
        (
            WindowState(runs_shown=1, plots_without_data=frozenset({"utility"})),
            ["view.plot_cwnd", "view.plot_recv_buffer"],
            ["view.plot_utility"],
        ),
        (WindowState(runs_selected=1, has_store=True), ["history.open"], ["history.rename", "history.delete"]),
    ],
)
def test_actions_are_enabled_when_they_can_be_done(state: WindowState, enabled: list[str], disabled: list[str]) -> None:
    possible = {spec.id for spec in ACTIONS if spec.enabled_when(state)}

    assert set(enabled) <= possible
    assert not set(disabled) & possible


def test_window_enables_what_the_table_says(window: MainWindow) -> None:
    for state in (IDLE, WindowState(is_running=True, runs_shown=1)):
        window.bar.update_state(state)
        assert [spec.id for spec in ACTIONS if window.bar[spec.id].isEnabled() != spec.enabled_when(state)] == []


def test_run_action_says_what_it_does_next(window: MainWindow, qtbot: QtBot) -> None:
    run = window.bar["run.toggle"]
    assert run.iconText() == "Run"
    run.trigger()
    assert run.iconText() == "Pause"
    run.trigger()
    assert run.iconText() == "Resume"
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.stop")
    assert run.iconText() == "Run"


def test_undo_says_what_it_takes_back(window: MainWindow) -> None:
    from subflow_app.features.editor.qt import documents

    documents.set_value(window.document_stack, window.documents.doc, "links.wifi.rate", "9Mbit/s")

    assert window.bar["edit.undo"].text() == "&Undo Change wifi rate"


def test_letters_switch_plots_where_nobody_types(qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]) -> None:
    run_once()
    window.activateWindow()
    window.plots.setFocus()
    QTest.keyClick(window.plots.stack, Qt.Key.Key_L)
    assert not window.bar["view.legend"].isChecked()
    assert present(window.plots._legend).isHidden()

    window.bar.trigger("edit.find_run")
    QTest.keyClicks(window.history.search, "lgx")

    assert window.history.search.text() == "lgx"
    assert not window.bar["view.legend"].isChecked()
    assert not window.bar["view.log_y"].isChecked()


def test_theme_is_switched_and_remembered(window: MainWindow) -> None:
    from subflow_app.toolkit.theme import DARK, current_tokens

    window.bar.trigger("view.theme_dark")

    assert current_tokens() is DARK
    assert window.plots.stack.backgroundBrush().color() == QColor(DARK.base)
    # The docking library would restore its own style sheet after a change of the palette, in the next event loop cycle.
    QApplication.processEvents()
    assert DARK.accent in window.docks._manager.styleSheet()
    assert window.preferences.settings.theme == "dark"
    assert [mode for mode in ("light", "dark", "system") if window.bar[f"view.theme_{mode}"].isChecked()] == ["dark"]


def test_zoom_goes_to_where_the_focus_is(window: MainWindow, run_once: Callable[[], int]) -> None:
    run_once()
    window.plots.setFocus()
    before = window.plots.stack.time_range
    window.bar.trigger("view.zoom_in")
    low, high = window.plots.stack.time_range
    assert high - low == pytest.approx((before[1] - before[0]) / 1.25, rel=1e-3)

    window.topology.canvas.setFocus()
    scale = window.topology.canvas.transform().m11()
    window.bar.trigger("view.zoom_in")
    assert window.topology.canvas.transform().m11() > scale
    assert window.plots.stack.time_range == (low, high)


def test_shortcut_list_has_every_action(window: MainWindow) -> None:
    from subflow_app.shell.help_dialogs import ShortcutsDialog

    window.bar.trigger("help.shortcuts")
    dialog = child(window, ShortcutsDialog)
    text = dialog.list.toPlainText()
    with_keys = [spec for spec in ACTIONS if spec.shortcuts]
    missing = [spec.id for spec in with_keys if spec.text.replace("&", "").rstrip("…") not in text]
    assert missing == []

    dialog.filter.setText("legend")
    assert "Legend" in dialog.list.toPlainText()
    assert "Quit" not in dialog.list.toPlainText()
    dialog.close()


def test_about_says_where_files_are(window: MainWindow, dialogs: ScriptedDialogs) -> None:
    from PySide6.QtWidgets import QLabel

    from subflow_app.features.about.qt import AboutDialog

    window.bar.trigger("help.about")
    dialog = child(window, AboutDialog)
    text = " ".join(label.text() for label in dialog.findChildren(QLabel))
    for part in ("runs.db", "LGPL", str(log_path()), str(crash_directory()), "sends nothing anywhere"):
        assert part in text
    dialog.close()


def test_failure_of_an_action_is_told_in_a_banner(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    from subflow_app.foundation.errors import InputError

    monkeypatch.setattr(window, "zoom", raising(InputError("nothing to zoom into")))
    window.bar.trigger("view.zoom_in")

    assert window.banners.text("action") == "nothing to zoom into"
