"""Large lists of runs: queries, groups, columns, order, revealing, saved searches, and databases that disappear."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QFont, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCompleter, QLineEdit, QListView, QMenu
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import child, present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.history.core.run_columns import RunGroup
from subflow_app.features.history.qt.list_bar import KeyDialog
from subflow_app.features.history.qt.run_table import shortened
from subflow_app.shell.actions.run import history_rows
from subflow_app.toolkit.widgets.shorthand import TagLine
from subflow_store import RunRow, RunStart, Store, StoreError, open_store
from subflow_store.values import SweepRunPlace, SweepStart


def summary_of(goodput_bps: float) -> dict[str, Any]:
    return {"flows": [{"name": "download", "goodput_bps": goodput_bps}]}


def fill(store: Store) -> list[int]:
    """Six runs of two controllers and three seeds; goodputs are 1 to 6 Mbit/s in the order of their numbers."""
    numbers = []
    for index in range(6):
        controller = ("lia", "olia")[index % 2]
        start = RunStart(
            name=f"run {index}",
            scenario_name=("Demo", "T-10b: two links")[index // 3],
            scenario_text=f'[links.wifi]\nloss = "{index}%"\n',
            seed=index // 2,
            duration_s=10.0,
            controllers=controller,
            machine={},
        )
        run = store.start_run(start, [])
        run.finish("finished", summary_of(1e6 * (index + 1)), f"signature {index}")
        numbers.append(run.run_id)
    store.add_tag(numbers[0], "paper")
    return numbers


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=history_rows())


@pytest.fixture
def runs(desk: Desk) -> list[int]:
    numbers = fill(desk.store)
    desk.history.reload()
    return numbers


def names(desk: Desk) -> list[str]:
    """Names of the visible runs."""
    return [run.name for run in desk.history.model.listed]


def click_arrow(desk: Desk, row: int) -> None:
    table = desk.history.table
    area = table.visualRect(table.model().index(row, 0))
    place = QPoint(area.left() + table.iconSize().width() // 2 + 3, area.center().y())
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def search(desk: Desk, query: str) -> list[str]:
    desk.history.bar.search.set_text(query)
    return names(desk)


def selected(desk: Desk) -> set[int]:
    return {run.id for run in desk.history.selected()}


def cell(desk: Desk, row: int, heading: str) -> str:
    return str(desk.history.table.model().index(row, headings(desk).index(heading)).data())


def headings(desk: Desk) -> list[str]:
    model = desk.history.table.model()
    return [str(model.headerData(n, Qt.Orientation.Horizontal)) for n in range(model.columnCount())]


def test_runs_are_found_by_any_recorded_value(desk: Desk, runs: list[int]) -> None:
    assert search(desk, "goodput>=5Mbit/s") == ["run 5", "run 4"]
    assert search(desk, "links.wifi.loss<2% controller=lia") == ["run 0"]
    assert search(desk, "tag:paper") == ["run 0"]
    assert search(desk, "-tag:paper seed:0") == ["run 1"]
    assert len(search(desk, "")) == 6


def test_query_that_is_wrong_says_so_below_and_leaves_the_list(qtbot: QtBot, desk: Desk, runs: list[int]) -> None:
    assert search(desk, "tag:paper") == ["run 0"]
    field = desk.history.bar.search

    QTest.keyClicks(desk.history.search, " godput>5")

    qtbot.waitUntil(lambda: not field.error.isHidden())
    assert 'unknown field "godput"; did you mean "goodput"' in field.error.text()
    assert desk.history.search.accessibleDescription() == field.error.text()
    assert names(desk) == ["run 0"]
    desk.history.reload()
    assert names(desk) == ["run 0"]

    field.set_text("tag:paper")
    assert field.error.isHidden()


def test_return_says_at_once_what_is_wrong_and_goes_to_the_list_when_nothing_is(desk: Desk, runs: list[int]) -> None:
    desk.activateWindow()
    desk.history.start_search()
    desk.history.search.setText("rtt<fast")
    QTest.keyClick(desk.history.search, Qt.Key.Key_Return)
    assert "not a number" in desk.history.bar.search.error.text()

    desk.history.search.setText("lia")
    QTest.keyClick(desk.history.search, Qt.Key.Key_Return)
    assert [run.name for run in desk.history.selected()] == ["run 4"]

    desk.history.search.setFocus()
    QTest.keyClick(desk.history.search, Qt.Key.Key_Escape)
    assert desk.history.search.text() == ""
    QTest.keyClick(desk.history.search, Qt.Key.Key_Down)
    assert desk.history.table.hasFocus()


def offered(completer: QCompleter) -> list[str]:
    model = completer.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def choose(completer: QCompleter, text: str) -> None:
    completer.activated[str].emit(text)  # type: ignore[index] # overloaded signal


def test_names_and_values_are_completed_while_typing(desk: Desk, runs: list[int]) -> None:
    completer = child(desk.history.bar.search, QCompleter)
    QTest.keyClicks(desk.history.search, "ta")
    assert offered(completer) == ["tag:"]
    choose(completer, "tag:")
    QTest.keyClicks(desk.history.search, "p")
    assert offered(completer) == ["paper"]
    choose(completer, "paper")

    assert desk.history.search.text() == "tag:paper "
    present(completer.popup()).hide()


def test_groups_have_counts_and_means_and_fold(desk: Desk, runs: list[int]) -> None:
    desk.history.set_grouping("controllers")
    table = desk.history.table
    assert [cell(desk, row, "Name") for row in (0, 4)] == ["olia", "lia"]
    assert cell(desk, 0, "Scenario") == "3 runs"
    # Runs 1, 3 and 5 of OLIA have 2, 4 and 6 Mbit/s; t of 2 degrees is 4.303, the standard error 2 / sqrt(3).
    assert cell(desk, 0, "Goodput, Mbit/s") == "4.000 ± 4.968"

    click_arrow(desk, 0)
    assert names(desk) == ["run 4", "run 2", "run 0"]
    assert len(desk.history.model.rows) == 6
    table.setCurrentIndex(table.model().index(0, 0))
    QTest.keyClick(table, Qt.Key.Key_Right)
    assert len(names(desk)) == 6
    QTest.keyClick(table, Qt.Key.Key_Left)
    assert len(names(desk)) == 3
    # A heading selects its runs, and cannot be opened itself.
    table.selectAll()
    assert len(desk.history.selected()) == 6
    table.selectRow(0)
    assert [run.controllers for run in desk.history.selected()] == ["olia"] * 3
    table.clearSelection()
    table.doubleClicked.emit(table.model().index(0, 0))
    assert desk.shown.count == 0
    # Runs of several controllers have no mean.
    desk.history.set_grouping("scenario")
    assert cell(desk, 0, "Goodput, Mbit/s") == "varies"
    assert "different controllers" in table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


# ---- sweeps ----


@pytest.fixture
def sweep(desk: Desk, runs: list[int]) -> list[int]:
    """Three runs of a sweep, stored like those of a real sweep."""
    store = desk.store
    points = [{"links.wifi.rate": f"{rate}Mbit/s"} for rate in (4, 8, 16)]
    places = [SweepRunPlace(point, 1, f"key {point}") for point in range(3)]
    number = store.sweeps.add(SweepStart("rates", "", "0", points, places))
    made: list[int] = []
    for point, place in zip(points, places, strict=True):
        label = f"rates: links.wifi.rate = {point['links.wifi.rate']}"
        run = store.start_run(RunStart(label, "Demo", "", 1, 1.0, controllers="lia", machine={}), [])
        store.sweeps.attach_run(number, [(place.point, 1)], run.run_id, place.key, has_traces=False)
        run.finish("finished", summary_of(1e6 * (len(made) + 1)), "0")
        made.append(run.run_id)
    desk.history.reload()
    return made


def test_runs_of_a_sweep_are_one_row_until_it_is_opened(desk: Desk, runs: list[int], sweep: list[int]) -> None:
    table = desk.history.table
    assert desk.history.model.rowCount() == 7
    assert names(desk) == [f"run {number}" for number in (5, 4, 3, 2, 1, 0)]
    told = [cell(desk, 0, column) for column in ("Name", "Scenario", "Goodput, Mbit/s")]
    assert told == ["Sweep 1: rates", "3 runs", "2.000"]

    table.setCurrentIndex(table.model().index(0, 0))
    # The row selects the runs of the sweep, and actions apply to them.
    assert selected(desk) == set(sweep)
    assert not desk.bar["history.rename"].isEnabled()
    QTest.keyClick(table, Qt.Key.Key_Right)

    assert [cell(desk, row, "Name") for row in range(1, 4)] == [
        f"…links.wifi.rate = {rate}Mbit/s" for rate in (16, 8, 4)
    ]
    assert "rates: links.wifi.rate = 16Mbit/s" in str(table.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole))
    assert selected(desk) == set(sweep)
    click_arrow(desk, 0)
    assert desk.history.model.rowCount() == 7
    assert selected(desk) == set(sweep)
    # A collapsed sweep is deleted and restored as a whole.
    desk.bar.trigger("history.delete")
    assert (desk.history.table.model().rowCount(), selected(desk)) == (6, {runs[5]})
    desk.history_stack.undo()
    assert desk.history.model.rowCount() == 7


def test_a_search_looks_into_sweeps_and_a_run_in_one_is_revealed(desk: Desk, sweep: list[int]) -> None:
    assert search(desk, "16Mbit") == ["rates: links.wifi.rate = 16Mbit/s"]
    assert len(search(desk, "rates")) == 3
    search(desk, "")
    model = desk.history.model
    assert model.rowCount() == 7
    desk.history.select([sweep[1]])
    assert (selected(desk), model.rowCount()) == ({sweep[1]}, 10)
    # Expanded sweeps are remembered.
    state = desk.history.state()
    model.set_opened(())
    assert model.rowCount() == 7
    desk.history.restore(state)
    assert model.rowCount() == 10


def test_long_names_are_cut_where_they_agree(qtbot: QtBot) -> None:
    metrics = QFontMetrics(QFont())
    name = "experiment t-10b of two bottlenecks (quick): flows.download.rate = 4Mbit/s, seed 3"
    shared = name.index("4Mbit")
    for width in (150, 220, 300, 400):
        text = shortened(name, shared, metrics, width)
        assert metrics.horizontalAdvance(text) <= width
        assert text.endswith("4Mbit/s, seed 3")
        assert "…" in text
    # Names that are still too long lose more text; a name without a shared part is cut in its middle.
    assert metrics.horizontalAdvance(shortened(name, shared, metrics, 60)) <= 60
    assert shortened(name, 0, metrics, 200).startswith("exp")


def test_every_grouping_lists_every_run(desk: Desk, runs: list[int]) -> None:
    table = desk.history.table
    keys = [each.key for each in desk.history.model.columns]
    table.sortByColumn(keys.index("goodput_bps"), Qt.SortOrder.DescendingOrder)
    desk.history.select(runs[:2])
    table.sortByColumn(keys.index("controllers"), Qt.SortOrder.AscendingOrder)
    assert names(desk) == ["run 4", "run 2", "run 0", "run 5", "run 3", "run 1"], "ties keep the order before"
    for by in ("scenario", "controllers", "tag", "seed", "status", "day"):
        desk.history.set_grouping(by)
        model = desk.history.model
        shown = [model.row_at(number) for number in range(model.rowCount())]
        assert {row.id for row in shown if isinstance(row, RunRow)} == set(runs), by
        assert any(isinstance(row, RunGroup) for row in shown), by
        assert desk.history.bar.grouping.currentData() == by
        assert selected(desk) == set(runs[:2]), by


def action_of(menu: QMenu, text: str) -> QAction:
    return next(action for action in menu.actions() if action.text() == text)


def test_any_recorded_value_becomes_a_column(desk: Desk, dialogs: ScriptedDialogs, runs: list[int]) -> None:
    dialogs.answer("KeyDialog", ["links.wifi.loss", "flows.download.goodput_bps"])
    columns = desk.history.bar.columns_menu
    columns.aboutToShow.emit()
    action_of(columns, "Any recorded value…").trigger()

    assert headings(desk)[-2:] == ["links.wifi.loss, %", "download: Goodput, Mbit/s"]
    assert cell(desk, 0, "links.wifi.loss, %") == "5.00"
    loss = headings(desk).index("links.wifi.loss, %")
    desk.history.table.sortByColumn(loss, Qt.SortOrder.AscendingOrder)
    assert names(desk)[0] == "run 0"
    alignment = desk.history.table.model().index(0, loss).data(Qt.ItemDataRole.TextAlignmentRole)
    assert alignment & Qt.AlignmentFlag.AlignRight

    columns.aboutToShow.emit()
    texts = [action.text() for action in columns.actions() if action.isChecked()]
    assert texts[-2:] == ["links.wifi.loss", "flows.download.goodput_bps"]
    action_of(columns, "Tags").setChecked(False)
    assert "Tags" not in headings(desk)


def test_the_list_looks_the_next_time_as_it_did(qtbot: QtBot, desk: Desk, qapp: QApplication, runs: list[int]) -> None:
    desk.history.set_columns(["jain", "links.wifi.loss", "started"])
    desk.history.table.horizontalHeader().resizeSection(1, 77)
    desk.history.table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    desk.history.set_grouping("seed")
    state = desk.history.state()
    before = names(desk)

    desk.history.restore("")
    desk.history.set_grouping("")
    assert len(headings(desk)) > 4
    desk.history.restore(state)

    assert headings(desk) == ["Name", "Jain index", "links.wifi.loss, %", "Started"]
    assert desk.history.table.columnWidth(1) == 77
    assert desk.history.model.grouping == "seed"
    assert names(desk) == before
    # In another language, titles have other widths.
    other = json.loads(state) | {"language": "de", "widths": {"jain": 99}}
    desk.history.restore(json.dumps(other))
    assert desk.history.table.columnWidth(1) == 77
    desk.history.restore(json.dumps(other | {"language": "en"}))
    assert desk.history.table.columnWidth(1) == 99
    desk.history.restore(state)
    desk.history.restore('{"columns": 3}')
    desk.history.restore("broken")
    assert json.loads(desk.history.state()) == json.loads(state)


def test_a_run_is_revealed_wherever_it_hides(desk: Desk, runs: list[int]) -> None:
    told: list[str] = []
    desk.history.told.connect(told.append)
    desk.history.set_grouping("controllers")
    desk.history.model.fold({"lia", "olia"}, True)
    desk.history.select([runs[3]])
    assert selected(desk) == {runs[3]}
    assert told == []

    search(desk, "tag:paper")
    desk.history.select([runs[5]])
    assert desk.history.search.text() == "tag:paper"
    desk.history.reveal([runs[5]])
    assert selected(desk) == {runs[5]}
    assert desk.history.search.text() == ""
    assert "search was cleared" in told[0]


def test_note_is_written_in_its_cell_and_taken_back(desk: Desk, runs: list[int]) -> None:
    table, model = desk.history.table, desk.history.table.model()
    index = model.index(0, headings(desk).index("Note"))
    assert index.flags() & Qt.ItemFlag.ItemIsEditable
    assert not model.index(0, 0).flags() & Qt.ItemFlag.ItemIsEditable
    model.setData(index, "short  ")
    assert desk.history.runs()[0].note == "short"
    assert table.state() != table.State.EditingState

    desk.history_stack.undo()
    assert desk.history.runs()[0].note == ""


def test_searches_are_saved_by_name_and_forgotten(desk: Desk, dialogs: ScriptedDialogs, runs: list[int]) -> None:
    search(desk, "goodput>=5Mbit/s")
    dialogs.answer("line", "fast ones")
    desk.history.bar.save_search()
    assert desk.preferences.settings.saved_searches == {"fast ones": "goodput>=5Mbit/s"}
    search(desk, "")

    bar = desk.history.bar
    bar.saved_menu.aboutToShow.emit()
    bar.saved_menu.actions()[0].trigger()
    assert names(desk) == ["run 5", "run 4"]

    bar.saved_menu.aboutToShow.emit()
    forget = next(menu for action in bar.saved_menu.actions() if isinstance(menu := action.menu(), QMenu))
    forget.actions()[0].trigger()
    assert desk.preferences.settings.saved_searches == {}
    bar.saved_menu.aboutToShow.emit()
    action_of(bar.saved_menu, "Search terms…").trigger()
    assert "goodput" in dialogs.told[0][1]


def test_known_tags_and_names_are_offered_while_one_is_typed(qtbot: QtBot) -> None:
    line = QLineEdit()
    qtbot.addWidget(line)
    tags = TagLine(line, ["paper", "Paris", "lab"])
    typed = {"pa": ["paper", "Paris"], "paper, pa": ["Paris"], "paper, ": []}
    assert {text: tags.offers(text) for text in typed} == typed
    line.setText("lab, pa")
    choose(child(tags, QCompleter), "Paris")
    assert line.text() == "lab, Paris"

    dialog = KeyDialog("Columns", ["a.loss", "b.loss", "c.rate"], {"c.rate"}, None)
    qtbot.addWidget(dialog)
    dialog.line.setText("loss")
    assert dialog.answer == ["c.rate"]
    model = child(dialog, QListView).model()
    model.setData(model.index(0, 0), Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    assert dialog.answer == ["a.loss", "c.rate"]


@pytest.fixture
def slow(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Semaphore]:
    """A store whose list arrives only when the semaphore is released, as from a drive in standby."""
    gate = threading.Semaphore(0)
    original: Callable[..., list[RunRow]] = Store.runs

    def waiting(self: Store, *arguments: object, **others: object) -> list[RunRow]:
        gate.acquire()
        return original(self, *arguments, **others)

    monkeypatch.setattr("subflow_store.store.Store.runs", waiting)
    desk.history.reader.patience_ms = 1
    yield gate
    for _ in range(50):
        gate.release()


def test_a_slow_store_does_not_hold_up_the_window_and_stale_answers_are_dropped(
    qtbot: QtBot, desk: Desk, runs: list[int], slow: threading.Semaphore
) -> None:
    search(desk, "tag:paper")
    assert desk.history.bar.count.text() == "Reading…"
    assert len(names(desk)) == 6  # the list is unchanged
    search(desk, "seed:2")
    listed: list[list[str]] = []
    desk.history.reader.read.connect(lambda listing: listed.append([row.name for row in listing.rows]))

    slow.release()
    slow.release()

    qtbot.waitUntil(lambda: names(desk) == ["run 5", "run 4"])
    assert listed == [["run 5", "run 4"]]
    assert desk.history.bar.count.text() == "2 runs, the search hides 4 (Esc)"


def test_a_list_read_in_the_background_gives_way_to_a_person(
    desk: Desk, runs: list[int], slow: threading.Semaphore
) -> None:
    desk.history.reader.patience_ms = 10_000
    desk.history.refresh()

    slow.release()
    slow.release()
    search(desk, "seed:2")

    assert names(desk) == ["run 5", "run 4"]


def test_an_unreadable_store_says_why(
    qtbot: QtBot, desk: Desk, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_arguments: object, **_others: object) -> None:
        raise StoreError("reading failed", path="runs.db", way_on="Try again.")

    with monkeypatch.context() as patched:
        patched.setattr("subflow_store.store.Store.runs", gone)
        with qtbot.waitSignal(desk.history.failed) as failed:
            desk.history.reload()
    assert len(names(desk)) == 6
    assert "reading failed" in str(failed.args[0])
    desk.history.reload()
    assert desk.history.bar.count.text() == "6 runs"


def test_a_run_that_ends_when_its_database_has_vanished_can_be_saved_elsewhere(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    path = present(desk.database.path)
    path.rename(path.with_name("away.db"))

    with qtbot.waitSignal(desk.runs.ended):
        desk.toggle_run()

    assert "the file is gone" in desk.banners.text("not_stored")
    assert "complete in memory" in desk.banners.text("not_stored")
    dialogs.answer("database_path", tmp_path / "other.db")
    with qtbot.waitSignal(desk.unsaved.saved):
        desk.banners.press("not_stored", "Save to another database…")
    with qtbot.waitSignal(desk.database.opened):
        desk.banners.press("saved", "Use this database")
    assert [run.status for run in desk.history.runs()] == ["finished"]


def test_read_only_runs_have_no_notes_to_write(qtbot: QtBot, desk: Desk, runs: list[int], tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with open_store(other) as store:
        fill(store)
    with open_store(other, read_only=True) as store:
        desk.history.set_store(store)
        index = desk.history.table.model().index(0, headings(desk).index("Note"))
        assert not index.flags() & Qt.ItemFlag.ItemIsEditable
        desk.history.set_store(desk.database.store)
