"""The history: what it lists, finding, opening, laying over each other, and changes that can all be undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.history.core.run_columns import COLUMNS
from subflow_app.features.history.qt.run_table import RunTable
from subflow_app.shell.actions.run import history_rows
from subflow_store import RunRow, StoreLocked


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=history_rows())


@pytest.fixture
def two_runs(desk: Desk) -> tuple[int, int]:
    """Two stored runs of different seeds, "Two paths" both; the first is the older one."""
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
    assert cell(desk, 0, "Name") == "Two paths"
    assert cell(desk, 0, "Controllers") == "lia"
    assert cell(desk, 0, "Status") == "finished"
    assert 1.0 < float(cell(desk, 0, "Goodput")) < 12.0
    assert 20.0 < float(cell(desk, 0, "RTT")) < 200.0
    assert [cell(desk, row, "Run") for row in (0, 1)] == [str(run) for run in reversed(two_runs)]
    headings = [desk.history.table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(len(COLUMNS))]
    # Goodput comes before the figures of transfers, whose headings are short and explained by their tips.
    assert headings.index("Goodput, Mbit/s") + 2 == headings.index("Active goodput, Mbit/s") < headings.index("RTT, ms")
    tip = desk.history.table.model().headerData(
        headings.index("RTT, ms"), Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    )
    assert tip.startswith("Mean RTT\n")
    assert cell(desk, 0, "Jain index") == "1.000"  # one flow alone is fair
    assert cell(desk, 0, "Started").startswith("today")
    assert desk.history._count.text() == "2 runs"


def test_columns_sort_by_value_not_by_text(desk: Desk) -> None:
    from subflow_app.features.editor.qt import documents

    for seed in (9, 10, 100):
        documents.set_value(desk.document_stack, desk.documents.doc, "seed", seed)
        desk.run_once()
    seeds = [c.title for c in COLUMNS].index("Seed")

    desk.history.table.sortByColumn(seeds, Qt.SortOrder.AscendingOrder)

    assert [run.seed for run in desk.history.runs()] == [9, 10, 100]


def test_search_finds_by_word_and_says_when_nothing_matches(
    qtbot: QtBot, desk: Desk, two_runs: tuple[int, int]
) -> None:
    desk.store.rename(two_runs[0], "baseline on wifi")
    desk.history.start_search()

    QTest.keyClicks(desk.history.search, "wifi")
    qtbot.waitUntil(lambda: listed(desk) == [two_runs[0]])
    assert desk.history._count.text() == "1 run"

    desk.history.search.setText("nothing of the kind")
    qtbot.waitUntil(lambda: listed(desk) == [])
    assert "No run found" in desk.history._empty._title.text()

    desk.history.search.clear()
    qtbot.waitUntil(lambda: len(listed(desk)) == 2)


def test_two_runs_are_laid_over_each_other(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select(list(two_runs))
    desk.bar.trigger("history.open")

    assert desk.shown.count == 2
    assert desk.shown.ids == set(two_runs)
    assert len(desk.plots.stack.curves) == 6
    desk.bar.trigger("history.clear_overlay")
    assert desk.shown.count == 1


def test_stored_run_is_laid_over_the_one_just_run(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    desk.bar.trigger("history.overlay")
    assert desk.shown.ids == set(two_runs)

    desk.bar.trigger("history.overlay")  # once more changes nothing
    assert desk.shown.count == 2


def test_runs_in_the_plots_are_marked(desk: Desk, two_runs: tuple[int, int]) -> None:
    fonts = [desk.history.table.model().index(row, 0).data(Qt.ItemDataRole.FontRole) for row in (0, 1)]
    assert fonts[0] is not None
    assert fonts[0].bold()
    assert fonts[1] is None


def test_rename_and_undo(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    dialogs.answer("line", "baseline")
    desk.bar.trigger("history.rename")
    assert cell(desk, 1, "Name") == "baseline"
    assert desk.history.selected()[0].id == two_runs[0]

    assert desk.history_stack.undoText() == 'rename "Two paths"'
    desk.history_stack.undo()
    assert cell(desk, 1, "Name") == "Two paths"
    desk.history_stack.redo()
    assert cell(desk, 1, "Name") == "baseline"


def test_empty_name_changes_nothing(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    dialogs.answer("line", "")

    desk.bar.trigger("history.rename")

    assert cell(desk, 1, "Name") == "Two paths"
    assert desk.history_stack.count() == 0


def test_tags_of_several_runs(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    dialogs.answer("line", " baseline ,  paper 1")
    desk.bar.trigger("history.tag")
    assert desk.history.selected()[0].tags == ("baseline", "paper 1")
    desk.history.select(list(two_runs))
    dialogs.answer("line", "shared")
    desk.bar.trigger("history.tag")

    # Tags that only one of them has are left alone.
    assert dialogs.asked[-1][1][2] == ""
    tags = {run.id: set(run.tags) for run in desk.history.runs()}
    assert tags == {two_runs[0]: {"baseline", "paper 1", "shared"}, two_runs[1]: {"shared"}}

    desk.history_stack.undo()
    desk.history_stack.undo()
    assert [run.tags for run in desk.history.runs()] == [(), ()]


def test_note_and_undo(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    dialogs.answer("paragraph", "LTE was\nslow today")
    desk.bar.trigger("history.note")
    assert desk.history.selected()[0].note == "LTE was\nslow today"
    tip = desk.history.table.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "LTE was" in tip

    desk.history_stack.undo()
    assert desk.history.selected()[0].note == ""


@pytest.mark.parametrize("way", ["last change", "own change"])
def test_delete_and_undo(qtbot: QtBot, desk: Desk, two_runs: tuple[int, int], way: str) -> None:
    desk.history.select([two_runs[1]])
    with qtbot.waitSignal(desk.history.deleted) as deleted:
        desk.bar.trigger("history.delete")
    assert listed(desk) == [two_runs[0]]
    # The next run is selected, so that Del can be pressed again.
    assert desk.history.selected()[0].id == two_runs[0]

    if way == "last change":
        desk.history_stack.undo()
    else:
        _, command = deleted.args
        desk.history.undo(command)

    assert listed(desk) == [two_runs[1], two_runs[0]]


def test_undoing_all_restores_the_history(desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int]) -> None:
    def state() -> list[tuple[int, str, tuple[str, ...], str]]:
        return [(run.id, run.name, run.tags, run.note) for run in desk.history.runs()]

    before = state()
    desk.history.select([two_runs[0]])
    dialogs.answer("line", "a", "b, c")
    dialogs.answer("paragraph", "d")
    for action in ("history.rename", "history.tag", "history.note", "history.delete"):
        desk.bar.trigger(action)
    assert state() != before

    while desk.history_stack.canUndo():
        desk.history_stack.undo()

    assert state() == before


def test_changes_of_runs_do_not_make_the_scenario_modified(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    desk.bar.trigger("history.delete")

    assert not desk.documents.is_modified


def test_database_that_refuses_leaves_everything_as_it_is(
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


def test_scenario_of_a_run_opens_in_the_editor(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])

    desk.bar.trigger("history.open_scenario")

    assert desk.documents.doc.value("seed") == 7
    assert desk.documents.shown_name == f"Two paths (run {two_runs[0]})"
    assert desk.documents.doc.path is None


def test_chosen_runs_are_marked_while_another_scenario_is_open(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])
    desk.bar.trigger("history.open")
    assert desk.shown.count == 1
    line = desk.plots.findChild(QLabel, "results_line")
    assert line is not None
    desk.plots.refresh()
    assert line.text() == ""  # the legend has what there is to know of a run alone
    desk.documents.new()
    assert desk.shown.count == 1
    name = desk.plots.runs[0].title
    foreign = f"Run {two_runs[0]}, {name}: not of the open scenario"
    assert line.text() == foreign

    desk.bar.trigger("history.open_scenario")
    assert line.text() == ""
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


def test_other_database_brings_its_own_runs(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, two_runs: tuple[int, int], tmp_path: Path
) -> None:
    desk.history.select([two_runs[0]])
    desk.bar.trigger("history.open")
    dialogs.answer("database_path", tmp_path / "fresh.db")

    with qtbot.waitSignal(desk.database.opened):
        desk.database.ask_open()

    assert listed(desk) == []
    # Its curves came from the database that is closed now.
    assert desk.shown.count == 0
    desk.plots.set_marks_shown(False)


def test_table_model_is_sound(qtmodeltester, desk: Desk, two_runs: tuple[int, int]) -> None:
    qtmodeltester.check(desk.history._model)
    empty = RunTable()
    qtmodeltester.check(empty)
    assert empty.data(QModelIndex()) is None


def test_reload_keeps_the_selection(desk: Desk, two_runs: tuple[int, int]) -> None:
    desk.history.select([two_runs[0]])

    desk.run_once()

    selected: list[RunRow] = desk.history.selected()
    assert [run.id for run in selected] == [two_runs[0]]
