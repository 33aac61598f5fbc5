"""The command palette finds all entries, works by keyboard only, and explains why an action is disabled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.command_palette import CommandPalette, Entry, entries_of
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.widgets.tables import ROW_ROLE


def open_palette(window: MainWindow) -> CommandPalette:
    window.bar.trigger("help.palette")
    (palette,) = (found for found in window.findChildren(CommandPalette) if found.isVisible())
    return palette


def shown(palette: CommandPalette) -> list[Entry]:
    return [palette.model.index(row, 0).data(ROW_ROLE) for row in range(palette.model.rowCount())]


def test_every_action_is_offered_with_its_menu_and_shortcut(window: MainWindow) -> None:
    entries = {(entry.title, entry.keys): entry for entry in entries_of(window) if "(" in entry.words}

    for spec in ACTIONS:
        if spec.id != "help.palette":
            keys = window.bar[spec.id].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            assert entries[window.bar[spec.id].text().replace("&", "").rstrip("…"), keys].path


def test_commands_are_found_by_the_words_that_people_try(window: MainWindow) -> None:
    wanted = {
        "run": "Run",
        "what if": "What if",
        "compare": "Compare",
        "tabulate": "Tabulate runs",
        "sweep": "New sweep",
        "labs": "Labs",
        "tra": "Trade-offs of the runs",
        "trade": "Trade-offs of the runs",
        "legend": "Legend",
        "dark": "Dark theme",
        "undo": "Undo",
        "export": "Export run",
        "analysis": "Analysis workspace",
    }
    for query, title in wanted.items():
        palette = open_palette(window)
        QTest.keyClicks(palette.search, query)

        first = [entry.title for entry in shown(palette)[:8]]

        assert title in first, (query, first)
        palette.reject()


def test_the_export_of_figures_is_found_by_all_that_it_writes(window: MainWindow) -> None:
    for query in ("web page", "pdf", "figure", "paper"):
        palette = open_palette(window)
        QTest.keyClicks(palette.search, query)
        assert "Export figure" in [entry.title for entry in shown(palette)], query
        palette.reject()


def test_typing_and_enter_do_it(window: MainWindow) -> None:
    palette = open_palette(window)
    QTest.keyClicks(palette.search, "dark theme")
    QTest.keyClick(palette.search, Qt.Key.Key_Return)

    assert window.preferences.settings.theme == "dark"
    assert not palette.isVisible()


def test_arrows_move_the_choice_while_typing_goes_on_until_nothing_matches(window: MainWindow) -> None:
    palette = open_palette(window)
    QTest.keyClicks(palette.search, "theme")
    first = palette.chosen()
    QTest.keyClick(palette.search, Qt.Key.Key_Down)

    second = present(palette.chosen())
    assert second != first
    QTest.keyClicks(palette.search, " light")
    chosen = present(palette.chosen())
    assert chosen.title == "Light theme"
    QTest.keyClicks(palette.search, "zzzzqqq")

    assert palette.model.rowCount() == 0
    assert "Nothing matches" in palette.hint.text()
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    palette.reject()


def test_what_cannot_be_done_says_why_and_is_not_done(window: MainWindow) -> None:
    reasons = {
        "run.stop": "no run is in progress",
        "undo": "nothing to undo",
        "export figure": "no panel shows a figure",
    }
    for query, reason in reasons.items():
        palette = open_palette(window)
        QTest.keyClicks(palette.search, query)
        entry = present(palette.chosen())
        assert reason in entry.refusal
        assert reason in palette.hint.text()

        QTest.keyClick(palette.search, Qt.Key.Key_Return)

        assert palette.isVisible()
        palette.reject()


def test_runs_examples_and_files_are_offered(window: MainWindow, run_once: Callable[[], int], tmp_path: Path) -> None:
    run = run_once()
    (tmp_path / "mine.toml").write_text(TWO_PATHS)
    window.documents.open(tmp_path / "mine.toml")
    (tmp_path / "mine.toml").unlink()

    kinds = {entry.path: entry for entry in entries_of(window)}

    assert kinds[f"Run {run}"].title == "Two paths"
    assert kinds["Recent file"].refusal == "the file is gone"
    window.shown.drop_stored()
    kinds[f"Run {run}"].run()
    assert window.shown.ids == {run}
    next(entry for entry in entries_of(window) if entry.title == "reno-sawtooth").run()
    assert window.documents.name == "reno-sawtooth (example)"


def test_panel_is_opened_and_gets_the_keyboard(window: MainWindow) -> None:
    window.docks.set_open("history", False)
    next(entry for entry in entries_of(window) if entry.title == "Go to History").run()

    assert window.docks.is_open("history")
    focused = present(window.focusWidget())
    assert window.history.isAncestorOf(focused)
