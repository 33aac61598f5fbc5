"""Breaking a claim: the form, the search, its list and maps, and failures that are opened, run and written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk, export_figure
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER, SCENARIO, SCHEDULER
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_app.features.breaking.core.break_text import failure_words
from subflow_app.features.breaking.core.claim_file import load_claim, said_claim
from subflow_app.features.breaking.core.counterexample import PROFILES, Counterexample, read_counterexample
from subflow_app.features.breaking.core.job import BreakJob, Question
from subflow_app.features.breaking.core.space import load_space
from subflow_app.features.breaking.qt.feature import (
    EXPORT,
    FILL,
    OPEN,
    PAGE,
    PAUSE,
    RUN_BOTH,
    SAVE,
    START,
    STOP,
    BreakFeature,
)
from subflow_app.features.breaking.qt.form import OWN
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.script.qt.feature import ScriptFeature

_NETWORK = """\
format = 1
name = "small"
duration = "4s"
nodes = { server = {}, client = {} }
[links]
a = { ends = ["server", "client"], rate = "5Mbit/s", delay = "5ms" }
b = { ends = ["server", "client"], rate = "9Mbit/s", delay = "5ms" }
[flows]
download = { kind = "mptcp", from = "server", to = "client", controller = "olia", paths = [["a"], ["b"]] }
"""


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with claims to break and the feature that explains the moment at which two runs part."""
    return make_desk(PlayheadFeature, ExplainFeature, BreakFeature, ScriptFeature)


def settled(desk: Desk) -> BreakFeature:
    """The feature with its panel in front and all data read."""
    feature = desk.features[BreakFeature]
    desk.docks.set_open("break", True)
    desk.wait_for_workers()
    return feature


def test_what_was_found_is_shown_run_and_written(
    desk: Desk, qtbot: QtBot, tmp_path: Path, dialogs: ScriptedDialogs
) -> None:
    store = desk.store
    claim = load_claim("improve")
    question = Question(claim, chosen_entrants(["olia"])[0], load_space(claim.spaces[0]))
    job = BreakJob(question, store, minutes=None, networks=48, most=0)
    job.run().check()
    margins = dict.fromkeys(PROFILES, (-0.5,) * 10)
    told = Counterexample(claim, "olia", "Not here", "1 Mbit/s >= 2 Mbit/s", _NETWORK, margins)
    store.searches.put_found(present(job.record).id, [told.document()])

    feature = settled(desk)
    content = feature.content
    QAbstractItemModelTester(content.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert present(content.row).title == "improve: olia, two-links"
    each = present(content.selected)
    for text in (each.says, *list(failure_words(each))[1:]):
        assert text in content.told.text()
    assert ">= 2 Mbit/s" not in content.told.text()
    assert "48 networks were tried" in content.words.text()
    assert "The list shows the clearest failure" in content.words.text()
    assert feature.possible() >= {START, OPEN, RUN_BOTH, SAVE, EXPORT}

    tried = present(content.tried)
    assert min(tried.failed, tried.kinds) > 0
    assert "Mbit/s" in tried.words(0)
    table = tried.csv().splitlines()
    assert len(table) == 49
    assert table[0].split(",") == ["network", *question.space.keys, "margin"]
    content.up.setCurrentIndex(3)
    panel = present(content.chart.panel)
    assert (panel.x_text, panel.y_text) == (question.space.keys[0], question.space.keys[3])
    worst = int(tried.margins.argmin())
    assert content.chart.words(content.chart.hits()[worst]) == tried.words(worst)
    assert content.chart.accessibleDescription() == f"The claim fails in {tried.failed} of 48"
    for name in ("map.svg", "map.png"):
        export_figure(desk, EXPORT, tmp_path / name, lambda dialog: dialog.data.setChecked(True))
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "map.csv").read_text().splitlines() == table

    dialogs.answer("save_path", tmp_path / "small.toml")
    feature.ask_save()
    assert read_counterexample(tmp_path / "small.claim.toml").says == each.says

    dialogs.answer("save_path", tmp_path / "small.html")
    with qtbot.waitSignal(desk.exports.written):
        desk.bar.trigger(PAGE)
    assert read_page(tmp_path / "small.html").names[0].startswith("olia")

    feature.run_selected()
    explain = desk.features[ExplainFeature]
    qtbot.waitUntil(lambda: explain.content.point is not None, timeout=60_000)
    assert len(desk.plots.runs) == 1 + len(claim.cases)
    point = present(explain.content.point)
    assert point.told.owner.startswith("download/")
    assert explain.content.why.text().startswith("They diverge at")
    at_s = float(explain.content.why.text().split(", at ")[-1].removesuffix(" s."))
    assert 0 <= at_s - point.told.time_s < 0.2
    explain.step(-1)
    qtbot.waitUntil(lambda: not explain.is_busy)
    assert not explain.content.why.text()

    feature.open_selected()
    assert desk.documents.doc.text == each.text
    assert desk.documents.doc.is_valid


def test_a_search_is_held_and_stopped_and_goes_on(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subflow_app.foundation.jobs.executors.jobs_beside_window", lambda: 1)
    feature = settled(desk)
    form = feature.content.form
    form.claim.choose("equals-newreno")
    form.space.choose("one-link")
    qtbot.waitUntil(lambda: START in feature.possible())
    tried = [0]

    def told() -> int:
        number = feature.content.bar.format().partition(" networks")[0]
        return int(number) if number.isdecimal() else 0

    def search() -> None:
        feature.start()
        assert START not in feature.possible()
        assert feature.possible() >= {PAUSE, STOP}
        qtbot.waitUntil(lambda: told() > tried[-1], timeout=60_000)
        feature.pause()
        assert "paused" in feature.content.bar.format()
        feature.pause()
        feature.stop()
        desk.wait_for_workers(60_000)
        assert not feature.content.bar.isVisible()
        tried.append(len(present(feature.content.tried).margins))

    search()
    search()
    assert 0 < tried[1] < tried[2]
    assert len(feature.content.searches.rows) == 2


@for_each(
    ("claim", "controller", "space", "told"),
    [
        ("goodput() >= blub", "olia", "two-links", 'column 14: unknown name "blub"'),
        ("goodput() >=", "olia", "two-links", "column 13"),
        ("goodput() >= goodput('nobody')", "olia", "two-links", "nobody"),
        ("", "olia", OWN, "nothing in it varies"),
        ("", "nobody", "two-links", "nobody"),
    ],
)
def test_what_cannot_be_searched_is_told(
    desk: Desk, qtbot: QtBot, claim: str, controller: str, space: str, told: str
) -> None:
    feature = settled(desk)
    form = feature.content.form
    form.claim.choose(OWN) if claim else form.claim.setCurrentIndex(0)
    form.own.setText(claim)
    form.controller.setEditText(controller)
    form.space.choose(space)
    qtbot.waitUntil(lambda: told in form.problem.text())
    assert START not in feature.possible()


def test_the_open_scenario_is_a_space_once_it_has_ranges(desk: Desk, qtbot: QtBot) -> None:
    feature = settled(desk)
    form = feature.content.form
    form.claim.setCurrentIndex(0)
    form.space.choose(OWN)
    link = next(iter(present(desk.documents.doc.scenario).links))
    form.ranges.setText(form.ranges.placeholderText().partition("e.g. ")[2].replace("links.a", f"links.{link}"))
    qtbot.waitUntil(lambda: START in feature.possible())
    assert not form.problem.text()
    assert f"links.{link}.rate, links.{link}.loss" in form.says.text()


def test_an_earlier_search_fills_the_form_and_goes_on(desk: Desk, qtbot: QtBot) -> None:
    store = desk.store
    ranges = ("links.wifi.rate=2Mbit/s..50Mbit/s", "links.lte.loss=0,1%")
    own = "goodput() >= 0.9 * goodput('newreno@best')"
    space = load_space("demo", ranges)
    asked = [
        Question(said_claim(own), chosen_entrants(["cubic"])[0], space, 7),
        Question(load_claim("improve"), chosen_entrants(["olia"])[0], load_space("four-links")),
    ]
    for question in asked:
        BreakJob(question, store, minutes=None, networks=24, most=0).run().check()
    feature = settled(desk)
    content, form = feature.content, feature.content.form
    for row, question in ((2, asked[0]), (1, asked[1])):
        content.list.setCurrentIndex(content.searches.index(row, 0))
        desk.wait_for_workers()
        desk.bar.trigger(FILL)
        qtbot.waitUntil(lambda: feature.question is not None)
        assert not form.problem.text()
        assert present(feature.question).key == question.key
    assert form.space.currentData() == "four-links"

    content.list.setCurrentIndex(content.searches.index(2, 0))
    content.list.activated.emit(content.list.currentIndex())
    desk.wait_for_workers()
    assert (form.own.text(), form.seed.value(), form.ranges.text()) == (own, 7, "; ".join(ranges))
    assert form.controller.currentText() == "cubic"
    assert re.search(r"links\.wifi\.rate: .*Mbit/s", present(content.tried).words(0), re.DOTALL)
    content.list.setCurrentIndex(content.searches.index(0, 0))
    assert FILL not in feature.possible()


def test_controllers_of_the_open_scenario_are_entered(desk: Desk, qtbot: QtBot) -> None:
    feature = settled(desk)
    form = feature.content.form
    assert form.controller.findText("mine") < 0
    text = SCENARIO.split("[[events]]")[0]
    for script, content in (("mine", CONTROLLER), ("nearest", SCHEDULER)):
        text = text.replace(f'script = "{script}.py"', f"script = '{script}.py'\ncontent = '''{content}'''")
    assert desk.documents.open_text(text, "own.toml")
    # The controller with the options of the scenario, then with its own defaults.
    assert [form.controller.itemText(place) for place in range(2)] == ["mine:gain=2.0", "mine"]
    assert form.controller.findText("nearest") < 0
    form.controller.setEditText("mine:gain=3")
    form.space.choose(OWN)
    form.ranges.setText("links.x.rate=2Mbit/s..50Mbit/s")
    qtbot.waitUntil(lambda: feature.question is not None)
    assert not form.problem.text()
    assert present(present(feature.question).entrant.script).text == CONTROLLER
