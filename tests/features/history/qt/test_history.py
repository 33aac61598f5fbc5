"""The history: what it lists, finding, opening, laying over each other, and changes that can all be undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.history.core.run_columns import COLUMNS
from subflow_app.features.history.qt.run_table import RunTable
from subflow_app.shell.main_window import MainWindow
from subflow_store import RunRow, StoreLocked


@pytest.fixture
def two_runs(window: MainWindow, run_once: Callable[[], int]) -> tuple[int, int]:
    """Two stored runs of different seeds, "Two paths" both; the first is the older one."""
    from subflow_app.features.editor.qt import documents

    first = run_once()
    documents.set_value(window.document_stack, window.documents.doc, "seed", 8)
    second = run_once()
    window.document_stack.setClean()
    return first, second


def listed(window: MainWindow) -> list[int]:
    return [run.id for run in window.history.runs()]


def cell(window: MainWindow, row: int, title: str) -> str:
    model = window.history.table.model()
    titles = [str(model.headerData(n, Qt.Orientation.Horizontal)).partition(",")[0] for n in range(model.columnCount())]
    return str(model.index(row, titles.index(title)).data())


def test_newest_run_comes_first_with_its_figures(window: MainWindow, two_runs: tuple[int, int]) -> None:
    assert listed(window) == [two_runs[1], two_runs[0]]
    assert [cell(window, row, "Seed") for row in (0, 1)] == ["8", "7"]
    assert cell(window, 0, "Name") == "Two paths"
    assert cell(window, 0, "Controllers") == "lia"
    assert cell(window, 0, "Status") == "finished"
    assert 1.0 < float(cell(window, 0, "Goodput")) < 12.0
    assert 20.0 < float(cell(window, 0, "RTT")) < 200.0
    assert [cell(window, row, "Run") for row in (0, 1)] == [str(run) for run in reversed(two_runs)]
    headings = [window.history.table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(len(COLUMNS))]
    # Goodput comes before the figures of transfers, whose headings are short and explained by their tips.
    assert headings.index("Goodput, Mbit/s") + 2 == headings.index("Active goodput, Mbit/s") < headings.index("RTT, ms")
    tip = window.history.table.model().headerData(
        headings.index("RTT, ms"), Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    )
    assert tip.startswith("Mean RTT\n")
    assert cell(window, 0, "Jain index") == "1.000"  # one flow alone is fair
    assert cell(window, 0, "Started").startswith("today")
    assert window.history._count.text() == "2 runs"


def test_columns_sort_by_value_not_by_text(window: MainWindow, run_once: Callable[[], int]) -> None:
    from subflow_app.features.editor.qt import documents

    for seed in (9, 10, 100):
        documents.set_value(window.document_stack, window.documents.doc, "seed", seed)
        run_once()
    seeds = [c.title for c in COLUMNS].index("Seed")

    window.history.table.sortByColumn(seeds, Qt.SortOrder.AscendingOrder)

    assert [run.seed for run in window.history.runs()] == [9, 10, 100]


def test_search_finds_by_word_and_says_when_nothing_matches(
    qtbot: QtBot, window: MainWindow, two_runs: tuple[int, int]
) -> None:
    assert window.database.store is not None
    window.database.store.rename(two_runs[0], "baseline on wifi")
    window.bar.trigger("edit.find_run")

    QTest.keyClicks(window.history.search, "wifi")
    qtbot.waitUntil(lambda: listed(window) == [two_runs[0]])
    assert window.history._count.text() == "1 run"

    window.history.search.setText("nothing of the kind")
    qtbot.waitUntil(lambda: listed(window) == [])
    assert "No run found" in window.history._empty._title.text()

    window.history.search.clear()
    qtbot.waitUntil(lambda: len(listed(window)) == 2)


def test_double_click_opens_the_plots(window: MainWindow, two_runs: tuple[int, int]) -> None:
    index = window.history.table.model().index(1, 0)
    window.history.select([two_runs[0]])
    window.history.table.doubleClicked.emit(index)

    assert window.shown.ids == {two_runs[0]}
    assert len(window.plots.stack.curves) == 3


def test_two_runs_are_laid_over_each_other(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.history.select(list(two_runs))
    window.bar.trigger("history.open")

    assert window.shown.count == 2
    assert window.shown.ids == set(two_runs)
    assert len(window.plots.stack.curves) == 6
    window.bar.trigger("history.clear_overlay")
    assert window.shown.count == 1


def test_stored_run_is_laid_over_the_one_just_run(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    window.bar.trigger("history.overlay")
    assert window.shown.ids == set(two_runs)

    window.bar.trigger("history.overlay")  # once more changes nothing
    assert window.shown.count == 2


def test_runs_in_the_plots_are_marked(window: MainWindow, two_runs: tuple[int, int]) -> None:
    fonts = [window.history.table.model().index(row, 0).data(Qt.ItemDataRole.FontRole) for row in (0, 1)]
    assert fonts[0] is not None
    assert fonts[0].bold()
    assert fonts[1] is None


def test_rename_and_undo(window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    dialogs.answer("line", "baseline")
    window.bar.trigger("history.rename")
    assert cell(window, 1, "Name") == "baseline"
    assert window.history.selected()[0].id == two_runs[0]

    assert window.bar["edit.undo"].text() == '&Undo rename "Two paths"'
    window.bar.trigger("edit.undo")
    assert cell(window, 1, "Name") == "Two paths"
    window.bar.trigger("edit.redo")
    assert cell(window, 1, "Name") == "baseline"


def test_empty_name_changes_nothing(window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    dialogs.answer("line", "")

    window.bar.trigger("history.rename")

    assert cell(window, 1, "Name") == "Two paths"
    assert window.history_stack.count() == 0


def test_tags_of_several_runs(window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    dialogs.answer("line", " baseline ,  paper 1")
    window.bar.trigger("history.tag")
    assert window.history.selected()[0].tags == ("baseline", "paper 1")
    window.history.select(list(two_runs))
    dialogs.answer("line", "shared")
    window.bar.trigger("history.tag")

    # Tags that only one of them has are left alone.
    assert dialogs.asked[-1][1][2] == ""
    tags = {run.id: set(run.tags) for run in window.history.runs()}
    assert tags == {two_runs[0]: {"baseline", "paper 1", "shared"}, two_runs[1]: {"shared"}}

    window.bar.trigger("edit.undo")
    window.bar.trigger("edit.undo")
    assert [run.tags for run in window.history.runs()] == [(), ()]


def test_note_and_undo(window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    dialogs.answer("paragraph", "LTE was\nslow today")
    window.bar.trigger("history.note")
    assert window.history.selected()[0].note == "LTE was\nslow today"
    tip = window.history.table.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "LTE was" in tip

    window.bar.trigger("edit.undo")
    assert window.history.selected()[0].note == ""


@pytest.mark.parametrize("way", ["shortcut", "banner"])
def test_delete_and_undo(window: MainWindow, two_runs: tuple[int, int], way: str) -> None:
    window.history.select([two_runs[1]])
    window.bar.trigger("history.delete")
    assert listed(window) == [two_runs[0]]
    # The next run is selected, so that Del can be pressed again.
    assert window.history.selected()[0].id == two_runs[0]

    if way == "shortcut":
        window.bar.trigger("edit.undo")
    else:
        window.banners.press("deleted", "Undo")

    assert listed(window) == [two_runs[1], two_runs[0]]


def test_banner_brings_back_its_own_run_also_after_other_changes(
    window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]
) -> None:
    window.history.select([two_runs[1]])
    window.bar.trigger("history.delete")
    dialogs.answer("line", "renamed meanwhile")
    window.bar.trigger("history.rename")

    window.banners.press("deleted", "Undo")

    assert listed(window) == [two_runs[1], two_runs[0]]
    assert cell(window, 1, "Name") == "renamed meanwhile"


def test_undoing_all_restores_the_history(
    window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]
) -> None:
    def state() -> list[tuple[int, str, tuple[str, ...], str]]:
        return [(run.id, run.name, run.tags, run.note) for run in window.history.runs()]

    before = state()
    window.history.select([two_runs[0]])
    dialogs.answer("line", "a", "b, c")
    dialogs.answer("paragraph", "d")
    for action in ("history.rename", "history.tag", "history.note", "history.delete"):
        window.bar.trigger(action)
    assert state() != before

    while window.history_stack.canUndo():
        window.bar.trigger("edit.undo")

    assert state() == before


def test_undo_takes_back_the_last_change_wherever_the_focus_is(
    window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]
) -> None:
    from subflow_app.features.editor.qt import documents

    window.history.select([two_runs[0]])
    dialogs.answer("line", "renamed")
    window.bar.trigger("history.rename")
    documents.set_value(window.document_stack, window.documents.doc, "seed", 99)
    window.activateWindow()
    QTest.mouseClick(window.history.table.viewport(), Qt.MouseButton.LeftButton)
    assert window.bar["edit.undo"].isEnabled()

    window.bar.trigger("edit.undo")

    assert window.documents.doc.value("seed") == 8
    assert cell(window, 1, "Name") == "renamed"
    window.bar.trigger("edit.redo")
    assert window.documents.doc.value("seed") == 99
    while window.document_stack.canUndo():
        window.bar.trigger("edit.undo")
    assert cell(window, 1, "Name") == "renamed"
    window.topology.canvas.setFocus()
    window.bar.trigger("edit.undo")
    assert cell(window, 1, "Name") == "Two paths"
    assert window.documents.doc.value("seed") == 7


def test_changes_of_runs_do_not_make_the_scenario_modified(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    window.bar.trigger("history.delete")

    assert not window.isWindowModified()


def test_database_that_refuses_leaves_everything_as_it_is(
    window: MainWindow, two_runs: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_arguments: object) -> None:
        raise StoreLocked("another program writes to it", path="runs.db", way_on="Close it and try again.")

    monkeypatch.setattr("subflow_store.store.Store.delete", locked)
    window.history.select([two_runs[0]])
    window.bar.trigger("history.delete")

    assert "another program writes to it" in window.banners.text("history")
    assert len(listed(window)) == 2
    assert window.history_stack.count() == 0


def test_scenario_of_a_run_opens_in_the_editor(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])

    window.bar.trigger("history.open_scenario")

    assert window.documents.doc.value("seed") == 7
    assert window.windowTitle().startswith(f"Two paths (run {two_runs[0]})")
    assert window.documents.doc.path is None


def test_chosen_runs_are_marked_while_another_scenario_is_open(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    window.bar.trigger("history.open")
    assert window.shown.count == 1
    line = window.plots.findChild(QLabel, "results_line")
    assert line is not None
    window.plots.refresh()
    assert line.text() == ""  # the legend has what there is to know of a run alone
    window.documents.new()
    assert window.shown.count == 1
    name = window.plots.runs[0].title
    foreign = f"Run {two_runs[0]}, {name}: not of the open scenario"
    assert line.text() == foreign

    window.bar.trigger("history.open_scenario")
    assert line.text() == ""
    window.shown.clear()
    assert window.plots.runs == ()


def test_runs_leave_with_their_scenario(window: MainWindow, run_once: Callable[[], int], tmp_path: Path) -> None:
    text = window.documents.doc.text
    path = tmp_path / "longer.toml"
    path.write_text(text.replace("seed = 7", 'seed = 7\nwarmup = "1s"'))
    run_once()
    window.documents.open_text(text, "Two paths")
    assert window.shown.count == 1
    window.documents.new()
    assert window.plots.runs == ()

    window.documents.open_text(text, "Two paths")
    run_once()
    window.document_stack.setClean()
    window.documents.open(path)
    assert window.plots.runs == ()


def test_other_database_brings_its_own_runs(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int], tmp_path: Path
) -> None:
    window.history.select([two_runs[0]])
    window.bar.trigger("history.open")
    dialogs.answer("database_path", tmp_path / "fresh.db")

    with qtbot.waitSignal(window.database.opened):
        window.bar.trigger("file.open_database")

    assert listed(window) == []
    # Its curves came from the database that is closed now.
    assert window.shown.count == 0
    window.bar.trigger("view.marks")


def test_keys_work_in_the_table(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.activateWindow()
    window.history.select([two_runs[0]])
    window.history.table.setFocus()
    QTest.keyClick(window.history.table, Qt.Key.Key_Return)
    assert window.shown.ids == {two_runs[0]}

    QTest.keyClick(window.history.table, Qt.Key.Key_Delete)
    assert listed(window) == [two_runs[1]]


def test_table_model_is_sound(qtmodeltester, window: MainWindow, two_runs: tuple[int, int]) -> None:
    qtmodeltester.check(window.history._model)
    empty = RunTable()
    qtmodeltester.check(empty)
    assert empty.data(QModelIndex()) is None


def test_reload_keeps_the_selection(window: MainWindow, two_runs: tuple[int, int], run_once: Callable[[], int]) -> None:
    window.history.select([two_runs[0]])

    run_once()

    selected: list[RunRow] = window.history.selected()
    assert [run.id for run in selected] == [two_runs[0]]


def test_deleted_runs_are_removed_for_good_only_when_it_is_meant(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]
) -> None:
    window.history.select([two_runs[0]])
    window.bar.trigger("history.delete")
    dialogs.answer("confirm", False, True)
    window.bar.trigger("history.purge")
    assert window.bar["edit.undo"].isEnabled()

    with qtbot.waitSignal(window.database.purged) as purged:
        window.bar.trigger("history.purge")

    assert purged.args == [1]
    assert not window.history_stack.canUndo()
    assert "1 deleted run is gone." in window.banners.text("purged")
    assert listed(window) == [two_runs[1]]
