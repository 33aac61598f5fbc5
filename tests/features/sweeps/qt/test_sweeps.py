"""Sweeps by their actions: the dialog, a complete sweep, its views, and its stored data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk, export_figure
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.qt.export_dialog import FigureDialog
from subflow_app.features.sweeps.core.sweep_draft import SweepDraft, estimate_draft
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.sweeps.qt.new_dialog import SweepWish
from subflow_store import open_store
from subflow_store.liveness import this_process

CONTROLLER = "flows.download.controller"
LOSS = "links.wifi.loss"
SHORT = TWO_PATHS.replace('duration = "2s"', 'duration = "1s"')


def wish(*axes: tuple[str, str], seeds: str = "1..2") -> SweepWish:
    found = estimate_draft(SweepDraft("LIA or OLIA", axes, seeds), SHORT, None, None)
    assert found.plan is not None, found.problems
    return SweepWish(found.plan, jobs=1)


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with sweeps and their comparisons."""
    return make_desk(CompareFeature, SweepFeature)


@pytest.fixture
def swept(qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs) -> Desk:
    """LIA against OLIA at two losses with two seeds each, run to the end."""
    dialogs.answer("NewSweepDialog", wish((CONTROLLER, "lia, olia"), (LOSS, "1%, 10%")))
    desk.bar.trigger("sweep.new")
    session = desk.features[SweepFeature].session
    qtbot.waitUntil(lambda: not session.is_busy)
    session.panel.page.patience_ms = 20_000
    qtbot.waitUntil(lambda: session.panel.page.study is not None and settled(session))
    return desk


def settled(session) -> bool:
    study = session.panel.page.study
    return [entry.state for entry in session.entries()] == ["finished"] and sum(len(p.runs) for p in study.points) == 8


def test_sweep_runs_and_shows_means_with_intervals(swept: Desk, qtbot: QtBot):
    page = swept.features[SweepFeature].session.panel.page
    rows = page.table.study_model.rows
    assert [row.levels for row in rows] == [("lia", "1%"), ("lia", "10%"), ("olia", "1%"), ("olia", "10%")]
    # Two seeds each, with different random losses: an interval.
    assert all(row.runs == 2 and row.figures[0].ci95 > 0 for row in rows)
    # A loss of a tenth of the packets costs goodput under any controller.
    assert rows[1].figures[0].mean < rows[0].figures[0].mean
    assert len(swept.history.runs()) == 8
    # The runs selected by a click can be opened.

    def select_first() -> None:
        page.table.selectRow(0)  # again if the rows were read anew
        assert len(page.run_ids()) == 2

    qtbot.waitUntil(select_first)
    assert sorted(row.id for row in swept.history.selected()) == sorted(page.run_ids())
    with qtbot.waitSignal(swept.shown.changed):
        swept.bar.trigger("sweep.show_runs")
    assert swept.shown.ids == frozenset(page.run_ids())


def test_compare_takes_the_sweep_that_is_in_front(swept: Desk, qtbot: QtBot):
    feature = swept.features[CompareFeature]
    swept.history.select([swept.history.runs()[0].id, swept.history.runs()[1].id])
    swept.docks.raise_panel("sweeps")
    swept.bar.trigger("history.tabulate")
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1)
    assert len(feature.view.settings.runs) == 8


def test_a_narrow_list_of_sweeps_shows_where_they_stand(swept: Desk):
    table = swept.features[SweepFeature].session.panel.table
    table.resize(330, 200)
    header = table.horizontalHeader()
    wide = header.sectionSize(0)
    table.resize(wide + header.sectionSize(1) + header.sectionSize(2) - 30, 200)
    assert header.sectionSize(0) < wide
    assert header.sectionPosition(2) + header.sectionSize(2) <= table.viewport().width()


def test_views_of_a_sweep_are_drawn_and_exported(swept: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path):
    session = swept.features[SweepFeature].session
    page = session.panel.page
    assert "sweep.export_figure" not in session.possible()
    page.set_view("heat")
    chart = page.chart("heat")
    assert page.pages.currentIndex() == page.pages.indexOf(chart)
    # Both parameters have an axis: no values are averaged, and every cell has its interval.
    assert all("95 % interval" in hit.text for hit in chart.hits())
    assert len(chart.hits()) == 4
    path = tmp_path / "map.svg"

    def choose(dialog: FigureDialog) -> None:
        dialog.style_box.choose("page")
        dialog.data.setChecked(True)
        dialog.set_word("Goodput (Mbit/s)", "Rate of data (Mbit/s)")

    export_figure(swept, "sweep.export_figure", path, choose)
    assert 'width="453.5' in path.read_text()  # 160 mm in points
    assert "Rate of data (Mbit/s)" in path.read_text()
    assert "Goodput (Mbit/s)" not in path.read_text()
    assert len((tmp_path / "map.csv").read_text().splitlines()) == 9
    export_figure(swept, "sweep.export_figure", tmp_path / "figure.html")
    assert len(read_page(tmp_path / "figure.html").names) == 4
    data = tmp_path / "sweep.csv"
    dialogs.answer("save_path", data)
    with qtbot.waitSignal(swept.exports.written):
        swept.bar.trigger("sweep.export_data")
    assert len(data.read_text().splitlines()) == 9
    web_page = tmp_path / "sweep.html"
    dialogs.answer("save_path", web_page)
    with qtbot.waitSignal(swept.exports.written):
        swept.bar.trigger("sweep.page")
    assert len(read_page(web_page).names) == 4
    page.set_view("table")
    page.table.clearSelection()
    swept.bar.trigger("sweep.copy")
    assert QGuiApplication.clipboard().text().startswith(f"{CONTROLLER}\t{LOSS}\tGoodput (Mbit/s)")


def test_the_menu_of_measures_fits_a_small_screen(swept: Desk):
    page = swept.features[SweepFeature].session.panel.page
    menu = present(page.choosers.figures.menu())
    submenus = [each for each in menu.findChildren(QMenu) if each.actions()]
    assert {each.title() for each in submenus} == {each.owner for each in present(page.study).figures if each.owner}
    assert max(each.sizeHint().height() for each in (menu, *submenus)) < 600
    before = page.choosers._choice.figures
    action = next(each for each in submenus[0].actions() if not each.isChecked())
    action.trigger()
    assert set(page.choosers._choice.figures) == {*before, action.data()}


def test_deleted_sweep_leaves_its_runs(swept: Desk, qtbot: QtBot, dialogs: ScriptedDialogs):
    session = swept.features[SweepFeature].session
    dialogs.answer("confirm", False, True)
    swept.bar.trigger("sweep.delete")
    assert len(session.entries()) == 1
    swept.bar.trigger("sweep.delete")
    qtbot.waitUntil(lambda: session.entries() == [])
    assert len(swept.history.runs()) == 8
    assert session.panel.page.study is None


def test_stopped_sweep_goes_on_and_makes_what_is_missing(desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs):
    # Enough runs to be unfinished at the stop.
    dialogs.answer("NewSweepDialog", wish((LOSS, "1%..9%/9"), seeds="1..400"))
    session = desk.features[SweepFeature].session
    desk.bar.trigger("sweep.new")
    finished = [0]
    for _ in range(2):
        qtbot.waitUntil(lambda: session.entries()[0].finished >= finished[-1] + 2)
        desk.bar.trigger("sweep.stop")
        qtbot.waitUntil(lambda: not session.is_busy and session.entries()[0].state == "stopped")
        entry = session.entries()[0]
        assert finished[-1] < entry.finished < 3600
        assert entry.can_resume
        finished.append(entry.finished)
        # Existing runs were not made again.
        qtbot.waitUntil(lambda: len(desk.history.runs()) == finished[-1])
        desk.bar.trigger("sweep.toggle")
        qtbot.waitUntil(lambda: session.is_busy)
    desk.bar.trigger("sweep.stop")
    qtbot.waitUntil(lambda: not session.is_busy)


def test_closing_asks_while_a_sweep_goes_on(desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs):
    dialogs.answer("NewSweepDialog", wish((LOSS, "1%..9%/9"), seeds="1..9"))
    session = desk.features[SweepFeature].session
    desk.bar.trigger("sweep.new")
    dialogs.answer("confirm", False)
    assert not desk.features.may_close()
    assert session.is_busy
    assert "can be continued later" in dialogs.asked[-1][1][2]


def test_another_database_ends_the_sweep_for_now(desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path):
    dialogs.answer("NewSweepDialog", wish((LOSS, "1%..9%/9"), seeds="1..9"))
    session = desk.features[SweepFeature].session
    desk.bar.trigger("sweep.new")
    qtbot.waitUntil(lambda: session.entries()[0].finished >= 1)
    assert desk.database.path is not None
    first, other = desk.database.path, tmp_path / "other.db"
    desk.database.open(other)
    qtbot.waitUntil(lambda: desk.database.path == other and not desk.workers.is_busy)
    assert session.entries() == []
    assert not session.is_busy
    # No failure was reported.
    assert [desk.banners.text(topic) for topic in desk.banners.topics()] == []
    desk.database.open(first)
    qtbot.waitUntil(lambda: desk.database.path == first and bool(session.entries()))
    entry = session.entries()[0]
    assert (entry.state, entry.can_resume) == ("stopped", True)
    assert 0 < entry.finished < 81


def test_interrupted_sweep_is_offered_at_the_start_and_goes_on(desk: Desk, qtbot: QtBot, tmp_path: Path):
    with open_store(tmp_path / "other.db") as store:
        job = SweepJob(wish((LOSS, "1%, 10%")).plan, store, jobs=1)
        job.run()
        # As after a crash: a run is missing, and its process no longer exists.
        gone = replace(this_process(), started="another start")
        store.sweeps.set_state(present(job.sweep_id), "running", process=gone)
        store.delete([store.runs()[0].id])
    desk.database.open(tmp_path / "other.db")
    desk.docks.set_open("sweeps", True)
    qtbot.waitUntil(lambda: "sweep" in desk.banners.topics())
    assert desk.banners.text("sweep") == 'The sweep "LIA or OLIA" was interrupted: 3 of 4 runs exist.'
    session = desk.features[SweepFeature].session
    desk.banners.press("sweep", "Make the missing runs")
    qtbot.waitUntil(lambda: session.entries()[0].state == "finished")
    assert session.entries()[0].finished == 4
    assert "sweep" not in desk.banners.topics()
