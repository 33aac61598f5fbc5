"""The history: lists, searches, opening, overlays, and changes that can all be undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import child
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.history.core.run_columns import COLUMNS
from subflow_app.features.history.qt.run_table import NARROW, SECOND_ROLE, RunNames, RunTable
from subflow_app.shell.actions.run import history_rows
from subflow_store import StoreLocked


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=history_rows())


@pytest.fixture
def two_runs(desk: Desk) -> tuple[int, int]:
    """Two stored runs of different seeds, both named "Two paths"; the first is older."""
    from subflow_app.features.editor.qt import documents

    first = desk.run_once()
    documents.set_value(desk.document_stack, desk.documents.doc, "seed", 8)
    second = desk.run_once()
    desk.document_stack.setClean()
    return first, second


def listed(desk: Desk) -> list[int]:
    return [run.id for run in desk.history.runs()]


def cell(desk: Desk, row: int, title: str) -> str:
    model = desk.history.table.model()
    titles = [str(model.headerData(n, Qt.Orientation.Horizontal)).partition(",")[0] for n in range(model.columnCount())]
    return str(model.index(row, titles.index(title)).data())


def test_newest_run_comes_first_with_its_figures(desk: Desk, two_runs: tuple[int, int]) -> None:
    assert listed(desk) == [two_runs[1], two_runs[0]]
    assert [cell(desk, row, "Seed") for row in (0, 1)] == ["8", "7"]
    told = [cell(desk, 0, title) for title in ("Name", "Controllers", "Status")]
    assert told == ["Two paths", "lia", "finished"]
    assert 1.0 < float(cell(desk, 0, "Goodput")) < 12.0
    assert 20.0 < float(cell(desk, 0, "RTT")) < 200.0
    assert [cell(desk, row, "Run") for row in (0, 1)] == [str(run) for run in reversed(two_runs)]
    headings = [desk.history.table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(len(COLUMNS))]
    # Goodput precedes the figures of transfers, whose headings are short and explained by tooltips.
    assert headings.index("Goodput, Mbit/s") + 2 == headings.index("Active goodput, Mbit/s") < headings.index("RTT, ms")
    model, role = desk.history.table.model(), Qt.ItemDataRole.ToolTipRole
    assert model.headerData(headings.index("RTT, ms"), Qt.Orientation.Horizontal, role).startswith("Mean RTT\n")
    assert cell(desk, 0, "Jain index") == "1.000"  # a single flow is fair
    assert cell(desk, 0, "Started").startswith("today")
    # Runs shown in the plots are marked.
    fonts = [model.index(row, 0).data(Qt.ItemDataRole.FontRole) for row in (0, 1)]
    assert (fonts[0].bold(), fonts[1]) == (True, None)
    assert desk.history.bar.count.text() == "2 runs"


def test_columns_sort_by_value_not_by_text(desk: Desk) -> None:
    from subflow_app.features.editor.qt import documents

    for seed in (9, 10, 100):
        documents.set_value(desk.document_stack, desk.documents.doc, "seed", seed)
        number = desk.run_once()
        if seed == 9:
            desk.history.select([number])
    assert [run.seed for run in desk.history.selected()] == [9], "later runs leave the selection"
    seeds = [c.title for c in COLUMNS].index("Seed")
    desk.history.table.sortByColumn(seeds, Qt.SortOrder.AscendingOrder)
    assert [run.seed for run in desk.history.runs()] == [9, 10, 100]


def test_search_finds_by_word_or_says_nothing_matches(qtbot: QtBot, desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.store.rename(two_runs[0], "baseline on wifi")
    desk.history.start_search()

    QTest.keyClicks(desk.history.search, "wifi")
    qtbot.waitUntil(lambda: listed(desk) == [two_runs[0]])
    assert desk.history.bar.count.text() == "1 run, the search hides 1 (Esc)"

    desk.history.search.setText("nothing of the kind")
    qtbot.waitUntil(lambda: listed(desk) == [])
    assert "No run found" in child(desk.history, QLabel, "empty_title").text()

    desk.history.search.clear()
    qtbot.waitUntil(lambda: len(listed(desk)) == 2)


def test_a_search_says_how_many_runs_it_hides_and_esc_shows_them(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0], two_runs[1]])
    desk.history.bar.search.set_text("nothing-like-this")
    assert desk.history.bar.count.text() == "0 runs, the search hides 2 (Esc)"
    # Runs that cannot be seen are no longer selected.
    assert desk.history.selected() == []
    assert not desk.bar["history.delete"].isEnabled()
    QTest.keyClick(desk.history, Qt.Key.Key_Escape)
    assert desk.history.bar.count.text() == "2 runs"
    assert len(desk.history.runs()) == 2


def test_two_runs_are_laid_over_each_other(desk: Desk, two_runs: tuple[int, int]) -> None:
    # A stored run is added to the latest run; repeating the action changes nothing.
    desk.history.select([two_runs[0]])
    for _ in range(2):
        desk.bar.trigger("history.overlay")
        assert (set(desk.shown.ids), desk.shown.count) == (set(two_runs), 2)
    desk.bar.trigger("history.clear_overlay")
    desk.history.select(list(two_runs))
    desk.bar.trigger("history.open")

    assert (set(desk.shown.ids), desk.shown.count) == (set(two_runs), 2)
    assert len(desk.plots.stack.curves) == 6
    desk.bar.trigger("history.clear_overlay")
    assert desk.shown.count == 1


def test_rename_and_undo(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    dialogs.answer("line", "", "baseline")
    desk.bar.trigger("history.rename")
    assert desk.history_stack.count() == 0, "an empty name changes nothing"
    desk.bar.trigger("history.rename")
    assert cell(desk, 1, "Name") == "baseline"
    assert desk.history.selected()[0].id == two_runs[0]

    assert desk.history_stack.undoText() == 'rename "Two paths"'
    desk.history_stack.undo()
    assert cell(desk, 1, "Name") == "Two paths"
    desk.history_stack.redo()
    assert cell(desk, 1, "Name") == "baseline"


def test_tags_of_several_runs(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    dialogs.answer("line", " baseline ,  paper 1")
    desk.bar.trigger("history.tag")
    assert desk.history.selected()[0].tags == ("baseline", "paper 1")
    desk.history.select(list(two_runs))
    dialogs.answer("line", "shared")
    desk.bar.trigger("history.tag")

    # Tags of only one of the runs stay.
    assert dialogs.asked[-1][1][2] == ""
    tags = {run.id: set(run.tags) for run in desk.history.runs()}
    assert tags == {two_runs[0]: {"baseline", "paper 1", "shared"}, two_runs[1]: {"shared"}}

    desk.history_stack.undo()
    desk.history_stack.undo()
    assert [run.tags for run in desk.history.runs()] == [(), ()]


def test_delete_and_undo(qtbot: QtBot, desk: Desk, two_runs: tuple[int, int]) -> None:
    for takes_back_last in (True, False):
        desk.history.select([two_runs[1]])
        with qtbot.waitSignal(desk.history.deleted) as deleted:
            desk.bar.trigger("history.delete")
        assert listed(desk) == [two_runs[0]]
        # The next run is selected, so that Del can be pressed again.
        assert desk.history.selected()[0].id == two_runs[0]
        assert not desk.documents.is_modified
        if takes_back_last:
            desk.history_stack.undo()
        else:
            desk.history.undo(deleted.args[1])
        assert listed(desk) == [two_runs[1], two_runs[0]]


def test_undoing_all_restores_the_history(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    def state() -> list[tuple[int, str, tuple[str, ...], str]]:
        return [(run.id, run.name, run.tags, run.note) for run in desk.history.runs()]

    before = state()
    desk.history.select([two_runs[0]])
    dialogs.answer("line", "a", "b, c")
    dialogs.answer("paragraph", "LTE was\nslow today")
    for action in ("history.rename", "history.tag", "history.note", "history.delete"):
        desk.bar.trigger(action)
        if action == "history.note":
            tip = desk.history.table.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
            assert (desk.history.selected()[0].note, "slow today" in tip) == ("LTE was\nslow today", True)
    assert state() != before

    while desk.history_stack.canUndo():
        desk.history_stack.undo()

    assert state() == before


def test_a_refusal_changes_nothing(
    qtbot: QtBot, desk: Desk, two_runs: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_arguments: object) -> None:
        raise StoreLocked("another program writes to it", path="runs.db", way_on="Close it and try again.")

    monkeypatch.setattr("subflow_store.store.Store.delete", locked)
    desk.history.select([two_runs[0]])
    with qtbot.waitSignal(desk.history.failed) as failed:
        desk.bar.trigger("history.delete")

    assert "another program writes to it" in str(failed.args[0])
    assert len(listed(desk)) == 2
    assert desk.history_stack.count() == 0


def test_chosen_runs_are_marked_while_another_scenario_is_open(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    desk.bar.trigger("history.open")
    assert desk.shown.count == 1
    line = child(desk.plots, QLabel, "results_line")
    desk.plots.refresh()
    assert line.text() == ""  # the legend shows all results of a single run
    desk.documents.new()
    assert desk.shown.count == 1
    assert "not of the open scenario" in line.text()

    desk.bar.trigger("history.open_scenario")
    assert line.text() == ""
    assert desk.documents.doc.value("seed") == 7
    assert (desk.documents.shown_name, desk.documents.doc.path) == (f"Two paths (run {two_runs[0]})", None)
    desk.shown.clear()
    assert desk.plots.runs == ()


def test_runs_leave_with_their_scenario(desk: Desk, tmp_path: Path) -> None:
    text = desk.documents.doc.text
    path = tmp_path / "longer.toml"
    path.write_text(text.replace("seed = 7", 'seed = 7\nwarmup = "1s"'))
    desk.run_once()
    desk.documents.open_text(text, "Two paths")
    assert desk.shown.count == 1
    desk.documents.new()
    assert desk.plots.runs == ()

    desk.documents.open_text(text, "Two paths")
    desk.run_once()
    desk.document_stack.setClean()
    desk.documents.open(path)
    assert desk.plots.runs == ()


def test_a_database_has_own_runs(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int], tmp_path: Path
) -> None:
    desk.history.select([two_runs[0]])
    desk.bar.trigger("history.open")
    dialogs.answer("database_path", tmp_path / "fresh.db")

    with qtbot.waitSignal(desk.database.opened):
        desk.database.ask_open()

    assert listed(desk) == []
    # The curves of the closed database are removed.
    assert desk.shown.count == 0
    desk.plots.set_marks_shown(False)


def test_table_model_is_sound(qtmodeltester, desk: Desk, two_runs: tuple[int, int]) -> None:
    qtmodeltester.check(desk.history.model)
    empty = RunTable()
    qtmodeltester.check(empty)
    assert empty.data(QModelIndex()) is None


@pytest.mark.parametrize("width", [340, 1200])
def test_ticks_select_runs_in_columns_and_in_a_narrow_list(desk: Desk, two_runs: tuple[int, int], width: int) -> None:
    table = desk.history.table
    desk.history.setParent(None)
    desk.history.resize(width, 400)
    desk.history.show()
    QApplication.processEvents()
    model, viewport = table.model(), table.viewport()
    is_narrow = width < NARROW
    assert table.has_two_lines == is_narrow
    assert table.isColumnHidden(1) == table.horizontalHeader().isHidden() == is_narrow
    assert model.index(0, 0).data(SECOND_ROLE).startswith(f"run {two_runs[1]} · lia · ")
    desk.history.select([])

    def click(row: int) -> None:
        names = table.itemDelegateForColumn(0)
        assert isinstance(names, RunNames)
        tick = names.tick_area(model.index(row, 0))
        assert 10 < tick.width() < 40
        QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=tick.center())

    click(0)
    click(1)
    assert {run.id for run in desk.history.selected()} == set(two_runs), "without Ctrl"
    click(0)
    assert [run.id for run in desk.history.selected()] == [two_runs[0]]
    # Beside its tick, a click chooses one run alone, and the space bar ticks another.
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=table.visualRect(model.index(0, 0)).center())
    assert [run.id for run in desk.history.selected()] == [two_runs[1]]
    table.selectionModel().setCurrentIndex(model.index(1, 0), QItemSelectionModel.SelectionFlag.NoUpdate)
    QTest.keyClick(table, Qt.Key.Key_Space)
    assert {run.id for run in desk.history.selected()} == set(two_runs)
    # The widths of the columns survive a narrow list.
    desk.history.table.set_widths({"seed": 77})
    desk.history.resize(1200, 400)
    QApplication.processEvents()
    assert not table.has_two_lines
    assert desk.history.table.widths()["seed"] == 77
    assert table.verticalHeader().defaultSectionSize() < 30
    desk.history.close()
