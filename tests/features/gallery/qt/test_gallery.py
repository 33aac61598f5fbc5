"""The gallery on a desk: real experiments started by its buttons, interrupted, resumed, viewed and written."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk, export_figure
from tests.helpers.experiments import TINY, tiny_recipe
from tests.helpers.present import present
from tests.helpers.shipped_policies import use_printed
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.gallery.core import recipe_reader
from subflow_app.features.gallery.core.exhibits import Exhibit
from subflow_app.features.gallery.core.recipe import CauseKind, experiments_folder, rulings
from subflow_app.features.gallery.core.reproduction import QueuedState, ReproductionQueue
from subflow_app.features.gallery.core.results import Settlement
from subflow_app.features.gallery.qt.cards import COUNTS_ROLE, PICTURE_ROLE, ExperimentModel
from subflow_app.features.gallery.qt.feature import GalleryFeature
from subflow_app.features.gallery.qt.panel import ExperimentPage
from subflow_app.features.gallery.qt.session import GallerySession
from subflow_app.features.library.core import shipped
from subflow_app.features.library.core.building import LibraryBuild
from subflow_app.foundation.jobs.job import JobOutcome
from subflow_store import open_store

# An agent whose policy does not exist.
AGENT = TINY.replace(
    'set = { "flows.download.controller" = "olia" }',
    'set = { "flows.download.controller" = { name = "drl-cc", policy = "nowhere" } }',
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recipes with one small experiment."""
    rulings()  # caches the rulings of the shipped folder
    made = tmp_path / "experiments"
    made.mkdir()
    shutil.copy(experiments_folder() / "rulings.toml", made)
    tiny_recipe(made, name="drl-cc-tiny")
    monkeypatch.setattr(recipe_reader, "experiments_folder", lambda: made)
    monkeypatch.setattr("subflow_app.features.gallery.qt.session.jobs_beside_window", lambda: 1)
    return made


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(GalleryFeature)


@pytest.fixture
def gallery(folder: Path, desk: Desk) -> GallerySession:
    """The gallery of that folder, in front."""
    desk.docks.set_open("gallery", True)
    session = desk.features[GalleryFeature].session
    desk.wait_for_workers(60_000)
    return session


def test_experiment_runs_by_its_button_and_is_there_after_a_restart(
    gallery: GallerySession, desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path
):
    panel = gallery.panel
    assert "A run will draw here: Goodput, Round-trip time of OLIA, LIA against Loss." in panel.page.figure.text()
    assert panel.page.verdicts.text_model.rowCount() == 0
    assert gallery.possible() == {"gallery.run_quick", "gallery.run_full", "gallery.open_scenario"}
    # The heading of a paper selects all its experiments.
    panel.choose_paper(0)
    assert [exhibit.name for exhibit in panel.selected()] == ["drl-cc-tiny"]
    desk.bar.trigger("gallery.run_full")
    assert "gallery.stop" in gallery.possible()
    desk.wait_for_workers(60_000)
    exhibit = present(panel.current())
    assert (exhibit.finished, exhibit.wanted, exhibit.is_begun) == (8, 8, False)
    assert (exhibit.counts[Settlement.MET], exhibit.counts[CauseKind.CONTRADICTION]) == (2, 1)
    assert sum(exhibit.counts.values()) == 3
    assert not panel.page.figure.content.isNull()
    index = panel.model.index_of("drl-cc-tiny")
    assert index.data(PICTURE_ROLE) is not None
    assert index.parent().data(COUNTS_ROLE) == exhibit.counts
    assert "2 of 3 checks met, 1 contradiction" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert "2 of 3 checks met, 1 contradiction" in panel.page.state.text()
    cause, otherwise = (panel.page.trials.text_model.index(0, column).data() for column in (1, 2))
    assert (cause, otherwise) == ("contradiction: The paths carry 12 Mbit/s.", "These results")
    assert panel.page.verdicts.text_model.index(1, 4).data() == "contradiction, shown"
    assert panel.page.verdicts.text_model.index(0, 1).data() == "✓ inside band"
    assert panel.page.published.text_model.rowCount() == 2
    assert "the paths are short" in panel.page.why.toPlainText()
    # Its runs are ordinary runs.
    with qtbot.waitSignal(desk.shown.changed):
        desk.bar.trigger("gallery.show_runs")
    assert desk.shown.count == 2
    # The drawing process draws figure and report.
    figure = tmp_path / "figure.svg"
    export_figure(desk, "gallery.export_figure", figure)
    assert figure.read_bytes().startswith(b"<?xml")
    dialogs.answer("folder", tmp_path / "report")
    with qtbot.waitSignal(desk.exports.written):
        desk.bar.trigger("gallery.report")
    written = {path.name for path in (tmp_path / "report").iterdir()}
    assert written == {"report.html", "report.pdf", "results.csv", "verdicts.csv"}
    # Another gallery of the same database shows all results, and running the experiment again makes no runs.
    gallery.reload()
    desk.wait_for_workers(60_000)
    desk.bar.trigger("gallery.run_full")
    desk.wait_for_workers(60_000)
    assert len(desk.store.runs()) == 8
    desk.bar.trigger("gallery.open_scenario")
    assert desk.documents.doc.path == tmp_path / "experiments" / "base" / "small.toml"


def test_cut_off_experiment_is_shown_as_such_and_resumed(gallery: GallerySession, desk: Desk, qtbot: QtBot):
    panel = gallery.panel
    store = desk.store
    desk.bar.trigger("gallery.run_full")
    qtbot.waitUntil(lambda: len(store.runs()) >= 1)
    desk.bar.trigger("gallery.stop")
    desk.wait_for_workers(60_000)
    exhibit = present(panel.current())
    made = len(store.runs())
    if made < 8:  # interrupted in time
        assert exhibit.is_begun
        assert "gallery.resume" in gallery.possible()
        assert f"{exhibit.finished} of 8 runs exist" in panel.page.state.text()
        desk.bar.trigger("gallery.resume")
        desk.wait_for_workers(60_000)
    exhibit = present(panel.current())
    assert (exhibit.finished, len(store.runs())) == (8, 8)


def test_another_database_gets_its_runs_while_experiments_of_the_first_end(
    gallery: GallerySession, desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    may_end, run = threading.Event(), ReproductionQueue.run

    def end_late(queue: ReproductionQueue) -> JobOutcome:
        outcome = run(queue)
        may_end.wait(20)
        return outcome

    monkeypatch.setattr(ReproductionQueue, "run", end_late)
    desk.bar.trigger("gallery.run_full")
    with qtbot.waitSignal(desk.database.opened):
        desk.database.open(tmp_path / "other.db")
    assert not gallery.is_busy
    qtbot.waitUntil(desk.bar["gallery.run_full"].isEnabled)
    desk.bar.trigger("gallery.run_full")
    may_end.set()
    desk.wait_for_workers(60_000)
    assert desk.database.path == tmp_path / "other.db"
    assert len(desk.store.runs()) == 8


def test_missing_agent_and_unreadable_recipe_and_library_are_shown_where_they_belong(
    folder: Path, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tiny_recipe(folder, AGENT, "drl-cc-agent")
    (folder / "drl-cc-broken.toml").write_text("format = 1\n")
    (tmp_path / "torn.db").write_bytes(b"no database")
    monkeypatch.setattr(shipped, "shipped_library", lambda: tmp_path / "torn.db")
    desk.docks.set_open("gallery", True)
    gallery = desk.features[GalleryFeature].session
    desk.wait_for_workers(60_000)
    panel = gallery.panel
    names = [exhibit.name for exhibit in panel.model.exhibits()]
    assert names == ["drl-cc-agent", "drl-cc-tiny", "drl-cc-broken"]
    assert "the library of results cannot be used" in desk.banners.text("action")
    panel.choose(["drl-cc-broken"])
    assert "title" in panel.page.figure.text()
    assert gallery.possible() == frozenset()
    panel.choose(["drl-cc-agent"])
    desk.bar.trigger("gallery.run_quick")
    desk.wait_for_workers(60_000)
    exhibit = present(panel.current())
    assert present(exhibit.results).is_quick
    assert exhibit.counts[Settlement.NOT_MEASURED] >= 1
    assert "nowhere" in panel.page.why.toPlainText()


def test_keys_go_through_the_list_and_to_the_figure(gallery: GallerySession, qtbot: QtBot):
    tree = gallery.panel.tree
    tree.setFocus()
    tree.setCurrentIndex(gallery.panel.model.index(0, 0))
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    assert [exhibit.name for exhibit in gallery.panel.selected()] == ["drl-cc-tiny"]
    tree.activated.emit(tree.currentIndex())
    assert gallery.panel.page.figure.hasFocus()


def test_queue_tells_where_each_experiment_stands(folder: Path, tmp_path: Path):
    first, second = tiny_recipe(folder), tiny_recipe(folder, AGENT, "agent")
    with open_store(tmp_path / "queue.db") as store:
        queue = ReproductionQueue(store, jobs=1)
        assert queue.add([first, second], is_quick=True) == ["tiny", "agent"]
        assert queue.add([first], is_quick=False) == []
        assert queue.states()["tiny"].eta_s == 1.0
        queue.stop(["agent"])
        assert queue.is_busy
        queue.run()
        queue.wait()
        told = queue.states()
        assert (told["tiny"].state, told["agent"].state) == ("finished", "stopped")
        assert not queue.is_busy
        assert len(store.runs()) == 4


def test_shipped_results_are_shown_and_copied_when_their_runs_are_opened(
    folder: Path, desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    library = tmp_path / "library.db"
    LibraryBuild(library, recipes=[recipe_reader.load_recipe(str(folder / "drl-cc-tiny.toml"))], labs=[]).run()
    monkeypatch.setattr(shipped, "shipped_library", lambda: library)
    desk.docks.set_open("gallery", True)
    gallery = desk.features[GalleryFeature].session
    desk.wait_for_workers(60_000)
    panel, store = gallery.panel, desk.store
    panel.choose(["drl-cc-tiny"])
    exhibit = present(panel.current())
    assert exhibit.is_shipped
    assert panel.page.state.text().startswith("quick run, shipped with Subflow")
    assert "shipped" in str(panel.model.index_of("drl-cc-tiny").data(Qt.ItemDataRole.AccessibleTextRole))
    assert "gallery.show_runs" in gallery.possible()
    assert store.runs() == []
    with qtbot.waitSignal(desk.shown.changed):
        desk.bar.trigger("gallery.show_runs")
    desk.wait_for_workers(60_000)
    assert desk.shown.count == 2
    exhibit = present(panel.current())
    assert not exhibit.is_shipped
    assert len(store.runs(tag="shipped")) == 4
    # A second run of the experiment makes no runs.
    desk.bar.trigger("gallery.run_quick")
    desk.wait_for_workers(60_000)
    assert len(store.runs()) == 4


def test_cards_come_first_and_one_page_is_drawn(
    folder: Path, desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
):
    names = [f"drl-cc-{number:02}" for number in range(20)]
    for name in names:
        tiny_recipe(folder, name=name)
    pages: list[str] = []
    show_exhibit = ExperimentPage.show_exhibit

    def draw(page: ExperimentPage, exhibit: Exhibit, queued: QueuedState | None) -> None:
        pages.append(exhibit.name)
        show_exhibit(page, exhibit, queued)

    monkeypatch.setattr(ExperimentPage, "show_exhibit", draw)
    cards: list[int] = []
    read: list[str] = []
    replace = ExperimentModel.replace

    def note(model: ExperimentModel, exhibit: Exhibit) -> None:
        cards.append(len(model.exhibits()))
        read.append(exhibit.name)
        # An unread card does not claim that the experiment was not run.
        before = model.index_of(exhibit.name).data(Qt.ItemDataRole.AccessibleTextRole)
        assert "not run yet" not in str(before)
        replace(model, exhibit)

    monkeypatch.setattr(ExperimentModel, "replace", note)
    desk.docks.set_open("gallery", True)
    gallery = desk.features[GalleryFeature].session
    qtbot.waitUntil(lambda: bool(gallery.panel.model.exhibits()))
    # The chosen and visible experiments are read first.
    gallery.panel.choose(["drl-cc-19"])
    in_sight = gallery.panel.in_sight()
    desk.wait_for_workers(60_000)
    assert set(cards) == {len(names) + 1}
    assert len(in_sight) < len(names)
    assert "drl-cc-19" in in_sight
    assert set(read[: len(in_sight) + 3]) >= set(in_sight)  # a few others may have been read before
    assert sorted(read) == sorted([*names, "drl-cc-tiny"])
    assert pages in (["drl-cc-19"], ["drl-cc-00", "drl-cc-19"])
    # Choosing the same experiment again draws nothing; choosing several counts as one choice.
    del pages[:]
    gallery.panel.choose(["drl-cc-19"])
    gallery.panel.choose(["drl-cc-03", "drl-cc-04"])
    assert pages == ["drl-cc-03"]


LEARNED = TINY.replace('scenario = "base/small.toml"', 'scenario = "rlx-fixed"').replace(
    'keys = ["links.wifi.loss"]', 'keys = ["links.data.loss"]'
)
LEARNED = LEARNED.replace("[quick]\n", '[set]\nduration = "1s"\n\n[quick]\n').replace('"olia"', '"rl-explore"')
LEARNED = LEARNED.replace('"lia"', '"cubic"')


def test_the_agents_can_be_chosen_and_their_results_are_kept_apart(
    folder: Path, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    use_printed(monkeypatch, tmp_path / "shipped")
    tiny_recipe(folder, LEARNED, "learned")
    desk.docks.set_open("gallery", True)
    session = desk.features[GalleryFeature].session
    panel = session.panel
    desk.wait_for_workers(60_000)
    assert [each.name for each in panel.model.exhibits()] == ["drl-cc-tiny", "learned"]
    panel.choose(["learned"])
    desk.bar.trigger("gallery.run_quick")
    desk.wait_for_workers(60_000)
    printed = present(panel.current())
    assert (printed.name, printed.finished) == ("learned", 4)

    panel.column.setCurrentIndex(1)
    desk.wait_for_workers(60_000)
    # The other experiment has no agent and is the same in both columns.
    wide = present(panel.current())
    assert [each.name for each in panel.model.exhibits()] == [wide.name] == ["learned (wide)"]
    assert (wide.results, wide.counts) == (None, {})
    assert panel.page.state.text().startswith("agents with wider training · not run yet")
    desk.bar.trigger("gallery.run_quick")
    desk.wait_for_workers(60_000)
    wide = present(panel.current())
    assert wide.finished == 4
    # Only the claim about the agent counts here.
    assert (sum(printed.counts.values()), sum(wide.counts.values())) == (3, 1)
    means = [present(each.results).cell("goodput", "OLIA", "1%").mean for each in (printed, wide)]
    assert means[0] != means[1]
    assert panel.page.settings.text_model.index(2, 1).data() == "agents with wider training"
    assert panel.model.index_of("learned (wide)").data(PICTURE_ROLE) is not None

    panel.column.setCurrentIndex(0)
    desk.wait_for_workers(60_000)
    assert [each.name for each in panel.model.exhibits()] == ["drl-cc-tiny", "learned"]
    back = present(panel.current())
    assert (back.name, back.counts, back.finished) == ("learned", printed.counts, 4)
    assert panel.page.exhibit is back
    session.reload()
    desk.wait_for_workers(60_000)
    assert present(panel.current()).counts == printed.counts


def test_without_agents_the_wide_column_is_empty(gallery: GallerySession, desk: Desk):
    panel = gallery.panel
    panel.column.setCurrentIndex(1)
    desk.wait_for_workers(60_000)
    assert panel.model.exhibits() == []
    assert gallery.possible() == frozenset()
    panel.column.setCurrentIndex(0)
    desk.wait_for_workers(60_000)
    assert present(panel.current()).name == "drl-cc-tiny"
    assert "gallery.run_quick" in gallery.possible()
