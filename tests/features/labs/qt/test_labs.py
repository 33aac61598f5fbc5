"""A lab in the window: explanations, spotlights, predictions, runs, checks, answers, and the result."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.labs import SAWTOOTH_LAB, small_lab
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.form import form_for
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.features.exporting.core.lab_page import check_page
from subflow_app.features.labs.core import lab_file
from subflow_app.features.labs.core.lab import Prediction, Step, Target
from subflow_app.features.labs.core.progress import ProgressFolder
from subflow_app.features.labs.core.result_file import result_document, write_result
from subflow_app.features.labs.core.runner import LabRunner, run_lab
from subflow_app.features.labs.core.solution import parse_order
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.features.labs.qt.forms import OptionButton, SketchCanvas, round_ticks
from subflow_app.features.labs.qt.places import PREDICTION, Spotlight, place_of_widget
from subflow_app.features.labs.qt.step_page import StepPage
from subflow_app.features.labs.qt.teacher import Teacher
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.sweeps.qt.new_dialog import SweepSuggestion
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import labs_directory
from subflow_store import open_store

LAB = "01-small"


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with labs and the features that show their runs."""
    return make_desk(QueueSession, TrainingSession, SweepFeature, LabFeature)


@pytest.fixture
def labs(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Teacher:
    """The teacher with only the small lab in its list."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lab = small_lab(tmp_path)
    monkeypatch.setattr(lab_file, "shipped_labs", lambda: [lab])
    desk.bar.trigger("study.labs")
    return desk.features[LabFeature].session


@pytest.fixture
def page(labs: Teacher, qtbot: QtBot) -> StepPage:
    """The first step of the lab just begun."""
    labs.panel.list.begin.click()
    qtbot.waitUntil(lambda: labs.begun is not None)
    return labs.panel.step


def _passed(labs: Teacher) -> int:
    begun = present(labs.begun)
    return begun.progress.passed(begun.lab)


def _say(page: StepPage, number: int, said: str) -> None:
    form = page.questions[number]
    if form.number is not None:
        form.number.setText(said)
    for radio in form.choices.buttons():
        radio.setChecked(radio.text() == said)
    form.button.click()


def _is_at_the_prediction(page: StepPage, spotlight: Spotlight) -> bool:
    """True if the spotlight covers the form of the prediction after scrolling: text above it may still grow."""
    page.show_prediction_form()
    corner = present(page.prediction).mapTo(page.window(), QPoint(5, 5))
    return any(place.contains(corner) for place in spotlight.places)


def test_a_lab_is_done(
    labs: Teacher, page: StepPage, desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    desk.set_plot_shown("cwnd", False)
    # The first step: its text, its spotlight, a hint, and the missing action.
    assert "One flow, one bottleneck." in page.text.text()
    qtbot.waitUntil(lambda: "no run has finished yet" in page.verdict.text())
    assert not desk.bar["study.lab_next"].isEnabled()
    desk.bar.trigger("study.lab_hint")
    assert "Look at the tool bar." in page.hints.text()

    desk.run_once()
    qtbot.waitUntil(lambda: _passed(labs) == 1)
    desk.bar.trigger("study.lab_next")
    assert page.place.text() == "Step 2 of 5"

    # Questions: a common mistake has its own answer, and a second wrong answer shows the right one.
    _say(page, 0, "41.7")
    qtbot.waitUntil(lambda: "Not right. That is the way there" in page.questions[0].outcome.text())
    qtbot.waitUntil(lambda: place_of_widget(desk, page.questions[0].outcome) is not None)
    _say(page, 0, "41.7")  # repeating the same answer costs nothing
    qtbot.wait(50)
    _say(page, 0, "9")
    qtbot.waitUntil(lambda: "The right answer is 83.33 pkt. Enter it" in page.questions[0].outcome.text())
    _say(page, 0, "83")
    qtbot.waitUntil(lambda: page.questions[0].outcome.text().startswith("Right. 10 Mbit/s"))
    _say(page, 1, "The queue")
    qtbot.waitUntil(lambda: _passed(labs) == 2)
    page.next.click()

    # A prediction comes first and gets the spotlight, and only later runs count.
    predicted = present(page.prediction)
    spotlight = labs.spotlight
    assert spotlight.targets == (PREDICTION,)
    qtbot.waitUntil(lambda: "First enter your prediction below the text" in page.verdict.text())
    qtbot.waitUntil(lambda: _is_at_the_prediction(page, spotlight))
    predicted.button.click()
    assert "Choose an answer" in predicted.outcome.text()
    next(radio for radio in predicted.choices.buttons() if radio.text() == "It stays").setChecked(True)
    predicted.button.click()
    qtbot.waitUntil(lambda: "Change only the queue" in page.verdict.text())
    assert "Prediction saved. Change only the queue" in predicted.outcome.text()
    assert spotlight.targets == present(page.shown).shows
    desk.documents.doc.set_value("links.bottleneck.queue", "17pkt")
    desk.run_once()
    qtbot.waitUntil(lambda: _passed(labs) == 3)
    assert "It falls. The pipe is not full after each halving. The link" in present(page.prediction).outcome.text()
    # The formula beside it has the numbers of that run, and its plot has both runs.
    explorable = present(page.explorable)
    qtbot.waitUntil(lambda: explorable.plot.measured.getData()[0].tolist() == [84, 17])
    assert explorable.fields["buffer"][0].text() == "17 pkt"
    page.next.click()

    # A sketch; the curve of the run is drawn over it.
    sketch = present(page.prediction)
    canvas = present(sketch.canvas)
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(60, 150))
    QTest.mouseMove(canvas, QPoint(150, 100))
    QTest.mouseMove(canvas, QPoint(250, 60))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(250, 60))
    sketch.button.click()
    qtbot.waitUntil(lambda: "Prediction saved." in sketch.outcome.text())
    desk.documents.doc.set_value("flows.reno.controller", "cubic")
    desk.run_once()
    qtbot.waitUntil(lambda: canvas.curve is not None)
    assert "On average, your curve is" in sketch.outcome.text()
    page.next.click()

    # A step with text only, and the result.
    page.next.click()
    assert present(labs.begun).is_finished
    assert "The lab is done." in page.verdict.text()
    dialogs.answer("line", "Ada")
    dialogs.answer("save_path", tmp_path / "ada.json")
    desk.bar.trigger("study.lab_result")
    qtbot.waitUntil(lambda: (tmp_path / "ada.json").exists())
    document = json.loads((tmp_path / "ada.json").read_text())
    assert (document["student"], document["passed"], len(document["runs"])) == ("Ada", 5, 3)

    # It was the only lab. Its plots are hidden again, and its scenario is kept without a question.
    assert "cwnd" in [spec.id for spec in desk.plots.wanted]
    assert (page.next.text(), page.next.isEnabled()) == ("All labs", True)
    page.next.click()
    assert labs.panel.currentWidget() is labs.panel.list
    assert "cwnd" not in [spec.id for spec in desk.plots.wanted]
    desk.document_stack.resetClean()
    assert desk.documents.is_modified
    assert desk.documents.new()
    assert 'controller = "cubic"' in present(labs.begun).progress.document


def test_from_the_last_step_one_goes_on_to_the_next_lab(labs: Teacher, page: StepPage, qtbot: QtBot) -> None:
    session = present(labs.begun)
    labs._labs["02-next"] = replace(session.lab, name="02-next", number=2, title="The next")
    for step in session.lab.steps:
        session._set(step, replace(session.step_progress(step), passed_at="2026-01-01T00:00:00+00:00"))
    labs._step = session.lab.steps[-1]
    labs._show_step()
    assert page.next.text() == "Next lab"
    page.next.click()
    qtbot.waitUntil(lambda: labs.begun is not session)
    assert page.lab_title.text() == "Lab 2: The next"


def test_a_new_sweep_of_a_lab_has_the_seeds_that_the_step_asks_for(labs: Teacher, page: StepPage, desk: Desk) -> None:
    session = present(labs.begun)
    sweeps = desk.features[SweepFeature]
    assert sweeps.suggests() is None
    labs._step = replace(session.lab.steps[0], do=("sweep links.bottleneck.queue=8pkt,17pkt seeds=1..1",))
    assert sweeps.suggests() == SweepSuggestion("1", compares_controllers=False)
    desk.documents.new()
    assert sweeps.suggests() is None


def test_a_lab_goes_on_where_it_was_left(labs: Teacher, page: StepPage, desk: Desk, qtbot: QtBot) -> None:
    desk.run_once()
    qtbot.waitUntil(lambda: _passed(labs) == 1)
    desk.documents.doc.set_value("seed", 9)
    page.to_list.click()
    assert labs.panel.list.begin.text() == "Continue"
    desk.document_stack.setClean()
    desk.documents.open_text(TWO_PATHS, "two-paths")
    desk.shown.clear()
    labs.begun = None
    labs.panel.list.begin.click()
    assert "seed = 9" in desk.documents.doc.text
    qtbot.waitUntil(lambda: len(desk.shown.ids) == 1)  # its runs are shown again
    assert labs.panel.currentWidget() is page
    desk.documents.open_text(TWO_PATHS, "two-paths")
    assert page.reopen.isVisible()
    page.reopen.click()
    assert "seed = 9" in desk.documents.doc.text
    assert not page.reopen.isVisible()


def test_a_finished_lab_is_shown_and_begun_anew(labs: Teacher, desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.run_once()
    assert desk.shown.count == 1
    progress = run_lab(small_lab(tmp_path)).progress
    ProgressFolder(labs_directory()).write(replace(progress, database=str(desk.database.path)))
    labs.to_list()
    assert labs.panel.list.begin.text() == "Look back"
    labs.panel.list.anew.click()
    qtbot.waitUntil(lambda: labs.begun is not None)
    assert _passed(labs) == 0
    assert desk.plots.runs == (), "other runs leave when a lab begins"
    assert (labs_directory() / f"{LAB}.old-1.json").exists()
    # Damaged progress is reported, and the lab begins anew as well.
    labs.to_list()
    labs.begun = None
    (labs_directory() / f"{LAB}.json").write_text("{")
    labs.begin(LAB)
    qtbot.waitUntil(lambda: labs.begun is not None)
    assert "cannot be read" in labs.panel.list.notice.text()


def test_a_handed_out_lab_of_the_same_name_begins_anew_and_keeps_what_was(
    labs: Teacher, page: StepPage, dialogs: ScriptedDialogs, qtbot: QtBot, tmp_path: Path
) -> None:
    first = labs.begun
    page.to_list.click()
    handed_out = tmp_path / "handed" / f"{LAB}.md"
    handed_out.parent.mkdir()
    handed_out.write_text(SAWTOOTH_LAB.replace("Another controller.", "Another one."))
    dialogs.answer("open_path", handed_out)
    labs.panel.list.open.click()
    assert f"another text than that of {handed_out}" in labs.panel.list.other_text.text()
    assert labs.panel.list.other_text.isVisible()
    assert not labs.panel.list.begin.isVisible()
    labs.begin(LAB)  # same as a double click
    assert labs.begun is first
    assert labs.panel.currentWidget() is labs.panel.list
    labs.panel.list.anew.click()
    qtbot.waitUntil(lambda: labs.begun is not first)
    assert present(labs.begun).lab.path == handed_out
    assert (labs_directory() / f"{LAB}.old-1.json").exists()
    page.to_list.click()
    assert not labs.panel.list.other_text.isVisible()
    assert labs.panel.list.begin.text() == "Continue"


def test_a_curve_is_drawn_with_the_keys(qtbot: QtBot) -> None:
    canvas = SketchCanvas(Prediction("?", sketch="cwnd_pkts", owner="reno/1", unit="pkt", until_s=60.0, top=100.0))
    qtbot.addWidget(canvas)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Down):
        QTest.keyClick(canvas, key)
    # A twentieth of the height at a time: 5; and one of 60 parts of the time: 1 s.
    assert canvas.points() == ((0.0, 5.0), (1.0, 10.0), (2.0, 5.0))
    QTest.keyClick(canvas, Qt.Key.Key_Delete)
    assert canvas.points() == ()
    canvas.set_closed()
    QTest.keyClick(canvas, Qt.Key.Key_Up)
    assert canvas.points() == ()
    # Long options are wrapped, not cut.
    short, long = OptionButton("Yes"), OptionButton("A queue that is nearly full loses nothing " * 3)
    for button in (short, long):
        qtbot.addWidget(button)
    assert long.minimumSizeHint().width() <= 160
    assert long.heightForWidth(200) > long.heightForWidth(400) > short.heightForWidth(200)


def test_all_of_the_scenario_that_the_shipped_labs_speak_of_is_there() -> None:
    """The scenario before the step or the scenario after it contains each part."""
    missing = []
    for lab in lab_file.shipped_labs():
        doc = ScenarioDoc(lab.scenario_text())
        for step in lab.steps:
            documents = [ScenarioDoc(text) for text in _documents(doc, step)]
            named = [each for each in step.shows if each.kind in ("node", "link", "flow", "field")]
            absent = [each for each in named if not any(_has(found, each) for found in documents)]
            missing += [(lab.name, step.id, each) for each in absent]
    assert missing == []


def _has(doc: ScenarioDoc, target: Target) -> bool:
    if target.kind != "field":
        return form_for(doc, f"{target.kind}s.{target.name}", app_catalog()) is not None
    parts = target.name.split(".")
    form = form_for(doc, ".".join(parts[:2]) if len(parts) > 1 else "", app_catalog())
    return form is not None and target.name in {each.key for each in form.fields()}


def _documents(doc: ScenarioDoc, step: Step) -> list[str]:
    """The scenario before a step and after it, with the changes of its solution that need no runs."""
    before = doc.text
    for text in step.do:
        order = parse_order(text)
        match order.verb:
            case "set":
                doc.set_text(with_overrides(doc.text, [f"{key}={value}" for key, value in order.values.items()]))
            case "open":
                doc.set_text(open_scenario(order.words[0]).text)
    return list(dict.fromkeys((before, doc.text)))


_TICKS = [(338.0, [0, 100, 200, 300]), (100.0, [0, 20, 40, 60, 80, 100]), (60.0, [0, 20, 40, 60])]


@for_each(("top", "ticks"), [*_TICKS, (0.35, [0, 0.1, 0.2, 0.3])])
def test_the_axes_of_a_sketch_have_round_ticks(top: float, ticks: list[float]) -> None:
    assert round_ticks(top) == ticks


def test_a_handed_out_lab_opens(
    labs: Teacher, desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    page = labs.panel.list
    handed_out = tmp_path / "handed-out.md"
    text = SAWTOOTH_LAB.replace("A small lab", "The lab of today")
    handed_out.write_text(re.sub(r"^do = .*\n", "", text, flags=re.MULTILINE))
    dialogs.answer("open_path", tmp_path / "none.md")
    page.open.click()
    assert "none.md" in page.notice.text()
    dialogs.answer("open_path", handed_out)
    page.open.click()
    assert [each.lab.title for each in page.model.rows] == ["A small lab", "The lab of today"]
    assert "**The lab of today** (handed-out.md)" in page.about.text()
    page.begin.click()
    qtbot.waitUntil(lambda: labs.begun is not None)
    assert present(labs.begun).lab.path == handed_out
    # The lab does not specify the values of a sweep: no controllers are checked.
    assert desk.features[SweepFeature].suggests() == SweepSuggestion("1..3", compares_controllers=False)

    # At the next start it is listed again, and the lab in progress is selected; a damaged file is reported.
    labs.to_list()
    labs._read_labs()
    assert page.model.rows[1].lab.path == handed_out
    assert present(page.selected).lab.title == "The lab of today"
    handed_out.write_text("no lab")
    labs._read_labs()
    assert [each.lab.title for each in page.model.rows] == ["A small lab"]
    assert "handed-out.md" in page.notice.text()
    # A lab on a removed drive is not reported.
    handed_out.unlink()
    labs._read_labs()
    assert not page.notice.text()


def test_a_lab_becomes_a_web_page(
    labs: Teacher, desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    page = labs.panel.list
    dialogs.answer("save_path", tmp_path / "lab.html")
    with qtbot.waitSignal(desk.exports.written):
        page.page.click()
    assert "A small lab" in (tmp_path / "lab.html").read_text(encoding="utf-8")
    # With the message of the command, before the dialog for a file.
    training = lab_file.load_lab("13")
    labs._labs[training.name] = training
    labs._list_labs()
    page.select(training.name)
    page.page.click()
    with pytest.raises(InputError) as refused:
        check_page(training)
    assert page.notice.text() == str(refused.value)
    assert "cannot be a page" in page.notice.text()


OWN_NUMBERS_LAB = SAWTOOTH_LAB.replace(
    "\n\n[[steps]]", '\n\n[own]\nrate = ["6 Mbit/s", "8 Mbit/s", "12 Mbit/s", "15 Mbit/s"]\n\n[[steps]]', 1
).replace("Press **F5**.", "Your rate is {own:rate}.")


def test_a_lab_with_numbers_for_each_student_asks_for_the_code_first(
    labs: Teacher, desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    lab = small_lab(tmp_path, OWN_NUMBERS_LAB)
    labs._labs = {lab.name: lab}
    labs._list_labs()
    dialogs.answer("line", None)  # cancelled: the lab does not begin
    labs.panel.list.begin.click()
    assert labs.begun is None
    assert not labs._folder().path(lab.name).exists()

    dialogs.answer("line", "Ada")
    labs.panel.list.begin.click()
    qtbot.waitUntil(lambda: labs.begun is not None)
    rate = lab_file.load_lab(lab.path, code="Ada").own["rate"]
    assert f"Your rate is {rate}." in labs.panel.step.text.text()
    assert labs.panel.step.lab_title.text() == "Lab 1 for Ada: A small lab"
    # The window asks no second time, writes the code into the result, and offers it when the lab begins anew.
    labs.to_list()
    labs.panel.list.begin.click()
    dialogs.answer("line", "Ada Lovelace")
    dialogs.answer("save_path", tmp_path / "ada.json")
    with qtbot.waitSignal(desk.exports.written):
        labs.write_result()
    assert json.loads((tmp_path / "ada.json").read_text())["own"] == {"code": "Ada", "values": {"rate": rate}}
    labs.to_list()
    dialogs.answer("line", "")
    labs.panel.list.anew.click()
    assert dialogs.asked[-1][1][2] == "Ada"
    qtbot.waitUntil(lambda: present(labs.begun).progress.code == "")
    assert "Your rate is 6 Mbit/s." in labs.panel.step.text.text()
    assert labs.panel.step.lab_title.text() == "Lab 1: A small lab"


def test_a_class_is_graded(desk: Desk, qtbot: QtBot, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    lab = small_lab(tmp_path)
    folder = tmp_path / "class"
    folder.mkdir()
    with open_store(":memory:") as store:
        runner = LabRunner(lab, store, tmp_path / "scratch")
        progress = runner.run().progress
        evidence = runner.session.reader(store).read("", progress.step_runs())
        write_result(folder / "ada.json", result_document(lab, progress, evidence, "Ada"))
    (folder / "notes.json").write_text("{}")
    desk.bar.trigger("study.lab_class")
    dialog = present(desk.features[LabFeature].class_dialog)
    dialogs.answer("open_path", lab.path)
    dialog.lab.click()
    assert dialog.lab_name.text() == "01-small.md"
    dialogs.answer("folder", folder)
    dialog.folder.click()
    qtbot.waitUntil(lambda: len(dialog.grades) == 2)
    assert [(each.student, each.passed, each.confirmed) for each in dialog.grades] == [("Ada", 5, 3), ("", 0, 0)]
    assert "notes.json: it cannot be graded" in dialog.odd.toPlainText()
    dialogs.answer("save_path", tmp_path / "class.csv")
    dialog.csv.click()
    assert (tmp_path / "class.csv").read_text().splitlines()[1].startswith("Ada,01-small,confirmed,5,5,100.0,2,")
    # The status bar reports the file like all written files.
    told = f"Written: {tmp_path / 'class.csv'}"
    qtbot.waitUntil(lambda: any(told == label.text() for label in desk.findChildren(QLabel)))
    dialogs.answer("folder", tmp_path / "none")
    dialog.folder.click()
    qtbot.waitUntil(lambda: "is not a folder" in dialog.said.text())
    dialog.close()
