"""Scripts on a desk: begun, saved and run with a ghost, compared, checked, and never lost."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import child, present
from tests.helpers.scripts import CONTROLLER, SCHEDULER
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.arena.core import results
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.editor.core.scripts import scripts_of
from subflow_app.features.script.qt.desk import NewScript, NewScriptDialog, ScriptDesk
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.script.qt.session import CHECK, COMPARE, NEXT_PROBLEM, RESTORE, SAVE
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.widgets.results_strip import ResultsStrip
from subflow_app.vocabulary.measures import MEASURES
from subflow_store.liveness import this_process

CONTROL = Qt.KeyboardModifier.ControlModifier
Begin = Callable[[str], ScriptDesk]
FAILS = CONTROLLER.replace("w.ssthresh = max(w.cwnd / 2, 2)", "w.ssthresh = 1 / (loss.inflight - loss.inflight)")


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with scripts and comparisons of their versions."""
    return make_desk(CompareFeature, ScriptFeature)


@pytest.fixture
def feature(desk: Desk) -> ScriptFeature:
    """The visible panel without a script."""
    found = desk.features[ScriptFeature]
    found.show()
    assert not found.session.desk.is_open
    return found


def settle(qtbot: QtBot, desk: Desk, feature: ScriptFeature) -> None:
    qtbot.waitUntil(
        lambda: not (desk.runs.is_running or feature.session.study.is_running or feature.session.reader.is_busy),
        timeout=30_000,
    )


@pytest.fixture
def begin(desk: Desk, feature: ScriptFeature, dialogs: ScriptedDialogs, qtbot: QtBot) -> Begin:
    """Begins a controller or scheduler with a text, and waits for its run."""

    def begun(text: str) -> ScriptDesk:
        kind = "scheduler" if "def select" in text else "controller"
        dialogs.answer("NewScriptDialog", NewScript("mine", ("download",)))
        desk.bar.trigger(f"script.new_{kind}")
        settle(qtbot, desk, feature)
        feature.session.panel.editor.put_text(text)
        save(qtbot, desk, feature)
        return feature.session.desk

    return begun


def save(qtbot: QtBot, desk: Desk, feature: ScriptFeature) -> None:
    """Saves the script by the key in the text."""
    QTest.keyClick(feature.session.panel.editor, Qt.Key.Key_S, CONTROL)
    settle(qtbot, desk, feature)


def test_new_controller_runs_at_once(
    desk: Desk, feature: ScriptFeature, dialogs: ScriptedDialogs, qtbot: QtBot
) -> None:
    assert desk.docks.is_open("script")
    dialogs.answer("NewScriptDialog", NewScript("mine", ("download",)))
    desk.bar.trigger("script.new_controller")
    settle(qtbot, desk, feature)

    scenario = present(desk.documents.doc.scenario)
    assert scenario.flows["download"].controller.name == "mine"
    assert feature.session.panel.editor.text.startswith('"""mine: ')
    assert feature.session.panel.choice.currentText() == "mine"
    assert not feature.session.desk.is_modified
    (version,) = feature.session.panel.versions.versions
    assert (version.number, version.run.id) == (1, desk.history.runs()[0].id)
    assert version.text == feature.session.panel.editor.text
    desk.document_stack.undo()
    assert not feature.session.desk.is_open
    assert "mine" not in desk.documents.doc.text


def test_saving_runs_again_at_full_speed_with_the_run_before_as_a_ghost(
    desk: Desk, feature: ScriptFeature, begin: Begin, qtbot: QtBot
) -> None:
    begin(CONTROLLER)
    before = desk.history.runs()[0].id
    feature.session.panel.editor.put_text(CONTROLLER.replace("w.cwnd / 2", "w.cwnd / 4"))
    assert feature.session.desk.is_modified
    assert "●" in feature.session.panel.state.text()
    desk.runs.set_speed_limit(1.0)
    with qtbot.waitSignal(desk.runs.ended, timeout=1900):  # two seconds without waiting for them
        QTest.keyClick(feature.session.panel.editor, Qt.Key.Key_S, CONTROL)
    settle(qtbot, desk, feature)

    # Returning to the text changes nothing.
    feature.session.panel.editor.entered.emit()
    assert desk.banners.topics() == ()
    strip = child(desk, ResultsStrip)
    assert "\n" not in strip.text
    after = desk.history.runs()[0].id
    assert [desk.shown.id_of(run) for run in range(desk.shown.count)] == [after, before]
    assert {curve.is_ghost for curve in desk.plots.stack.time_plots[0].shown_curves()} == {False, True}
    assert not feature.session.desk.is_modified
    assert desk.documents.doc.is_valid
    store = desk.store
    assert "w.cwnd / 4" in (store.run(after).scenario_text or "")


def test_the_keyboard_gets_everywhere(desk: Desk, feature: ScriptFeature, begin: Begin) -> None:
    begin(CONTROLLER)
    editor = feature.session.panel.editor
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    seen = []
    for _ in range(20):
        focused = present(QApplication.focusWidget())
        seen.append(focused)
        if focused is feature.session.panel.versions.table:
            break
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert seen[0] is not editor
    assert feature.session.panel.conformance.chip("loss") in seen
    assert seen[-1] is feature.session.panel.versions.table
    assert editor.text == CONTROLLER
    QTest.keyClick(editor, Qt.Key.Key_F, CONTROL)
    assert QApplication.focusWidget() is feature.session.panel.find_bar.line
    QTest.keyClick(feature.session.panel.find_bar.line, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is editor


def test_with_problems_nothing_runs(desk: Desk, feature: ScriptFeature, begin: Begin, qtbot: QtBot) -> None:
    begin(CONTROLLER)
    count = len(desk.history.runs())
    feature.session.panel.editor.put_text(CONTROLLER.replace("gain * left", "gone * left"))
    assert NEXT_PROBLEM in feature.possible()
    save(qtbot, desk, feature)
    assert len(desk.history.runs()) == count
    assert "nothing runs" in desk.statusBar().currentMessage()
    assert "gone * left" in desk.documents.doc.text
    assert not desk.documents.doc.is_valid
    model = feature.session.panel.problems.model
    assert "gone" in model.index(0, 0).data()
    feature.session.panel.editor.place_cursor(0, 0)
    feature.session.panel.problems.view.clicked.emit(model.index(0, 0))
    assert feature.session.panel.editor.textCursor().blockNumber() == 6
    feature.session.panel.editor.place_cursor(0, 0)
    desk.bar.trigger("script.next_problem")
    assert feature.session.panel.editor.textCursor().blockNumber() == 6


def test_a_failing_run_leads_to_its_line(desk: Desk, feature: ScriptFeature, begin: Begin) -> None:
    begin(FAILS)
    model = feature.session.panel.problems.model
    told = model.index(0, 0).data()
    assert told.startswith("line 11: the run failed: download/")
    assert " s: " in told
    assert "w.cwnd = " in told
    assert "division by zero" in told
    feature.session.panel.editor.place_cursor(0, 0)
    feature.session.panel.problems.view.clicked.emit(model.index(0, 0))
    assert feature.session.panel.editor.textCursor().blockNumber() == 10


def test_versions_are_compared(
    desk: Desk, feature: ScriptFeature, begin: Begin, qtbot: QtBot, dialogs: ScriptedDialogs
) -> None:
    begin(CONTROLLER)
    other = CONTROLLER.replace("w.cwnd / 2", "w.cwnd / 4")
    feature.session.panel.editor.put_text(other)
    save(qtbot, desk, feature)
    versions = feature.session.panel.versions
    assert [each.text for each in versions.versions][:2] == [other, CONTROLLER]
    assert {COMPARE} <= feature.possible()
    assert RESTORE not in feature.possible()

    versions.table.selectRow(1)
    assert RESTORE in feature.possible()
    desk.bar.trigger("script.difference")
    title, text = dialogs.told[-1]
    assert title == "From version 2 to the editor"
    assert [line for line in text.splitlines() if line[:1] in "+-"][2:] == [
        f"{sign}{line}"
        for sign, whole in (("-", CONTROLLER), ("+", other))
        for line in whole.splitlines()
        if "w.ssthresh = max" in line
    ]
    desk.bar.trigger("script.restore")
    assert feature.session.panel.editor.text == CONTROLLER
    assert feature.session.desk.is_modified
    feature.session.panel.editor.undo()
    assert feature.session.panel.editor.text == other

    versions.table.clearSelection()
    desk.bar.trigger("script.compare")
    compare = desk.features[CompareFeature]
    desk.wait_for_workers()
    numbers = sorted(each.run.id for each in versions.versions[:2])
    assert sorted(run.id for run in compare._runs) == numbers

    versions.opened.emit(versions.versions[1])
    qtbot.waitUntil(lambda: desk.shown.ids == {versions.versions[1].run.id})


def test_each_chip_opens_its_run(desk: Desk, feature: ScriptFeature, begin: Begin, qtbot: QtBot) -> None:
    begin(CONTROLLER.replace("max(w.cwnd / 2, 2)", "max(w.cwnd, 2)"))
    strip = feature.session.panel.conformance
    assert strip.text_of("loss").startswith("Loss ")
    assert strip.text_of("loss").endswith("%")
    chip = strip.chip("newreno")
    assert "no: a NewReno beside it keeps" in chip.toolTip()
    assert chip.toolTip().startswith("Is it fair to NewReno?")
    with qtbot.waitSignal(desk.runs.ended):
        QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
    settle(qtbot, desk, feature)
    assert desk.history.runs()[0].name == "mine: is it fair to NewReno?"
    assert desk.shown.ids == {desk.history.runs()[0].id}
    # The run belongs to another scenario, so it is no version of this script.
    assert desk.history.runs()[0].id not in {each.run.id for each in feature.session.panel.versions.versions}
    # The strip still shows the script, and the next run has no ghost of another scenario.
    assert strip.chip("newreno").isEnabled()
    save(qtbot, desk, feature)
    assert desk.shown.count == 1


def test_what_was_not_saved_can_be_tried_in_the_arena_too(
    desk: Desk,
    feature: ScriptFeature,
    begin: Begin,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "QUICK_NUMBERS", range(1, 2))
    begin(CONTROLLER)
    assert CHECK in feature.possible()
    feature.session.panel.editor.put_text(CONTROLLER.replace("max(w.cwnd / 2, 2)", "2").replace("gain *", "0.01 *"))
    count = len(desk.history.runs())
    desk.bar.trigger("script.check")
    settle(qtbot, desk, feature)
    assert len(desk.history.runs()) == count
    strip = feature.session.panel.conformance
    assert "no: " in strip.chip("loss").toolTip()
    assert "place " in strip.chip("arena").toolTip()
    assert strip.text_of("arena").startswith("Arena -")
    with qtbot.waitSignal(desk.runs.ended, timeout=60_000):
        strip.chip("arena").click()
    assert desk.history.runs()[0].name.startswith("mine: ")

    # The same text keeps its findings; after a change the findings are computed again only on a click.
    save(qtbot, desk, feature)
    assert strip.text_of("arena").startswith("Arena -")
    feature.session.panel.editor.put_text(CONTROLLER)
    save(qtbot, desk, feature)
    assert strip.text_of("loss").endswith("%")
    assert strip.text_of("arena") == "Arena"
    strip.chip("arena").click()
    assert strip.text_of("arena") == "Arena …"
    settle(qtbot, desk, feature)
    assert strip.text_of("arena").startswith("Arena -")


def test_a_scheduler_has_its_own_checks(desk: Desk, feature: ScriptFeature, begin: Begin) -> None:
    begin(SCHEDULER)
    scenario = present(desk.documents.doc.scenario)
    assert scenario.flows["download"].scheduler.name == "mine"
    assert feature.session.panel.conformance.findChild(QToolButton, "conformance_newreno") is None
    assert feature.session.panel.conformance.text_of("outage").endswith("%")


def test_a_scenario_that_is_a_file_has_its_scripts_beside_it(
    desk: Desk, feature: ScriptFeature, dialogs: ScriptedDialogs, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TWO_PATHS)
    desk.documents.open(path)
    dialogs.answer("NewScriptDialog", NewScript("mine", ("download",)))
    desk.bar.trigger("script.new_controller")
    settle(qtbot, desk, feature)
    file = tmp_path / "mine.py"
    assert file.read_text() == feature.session.panel.editor.text
    feature.session.panel.editor.put_text(CONTROLLER)
    save(qtbot, desk, feature)
    assert file.read_text() == CONTROLLER
    assert "content" not in desk.documents.doc.text
    assert len(feature.session.panel.versions.versions) == 2

    # Another program writes the file: the editor reloads it at once if no changes would be lost.
    file.write_text(CONTROLLER + "# theirs\n")
    feature.session.panel.editor.entered.emit()
    assert feature.session.panel.editor.text == CONTROLLER + "# theirs\n"
    assert not feature.session.desk.is_modified
    feature.session.panel.editor.put_text(CONTROLLER + "# mine\n")
    file.write_text(CONTROLLER + "# theirs again\n")
    feature.session.panel.editor.entered.emit()
    assert feature.session.panel.editor.text == CONTROLLER + "# mine\n"
    assert "script_changed" in desk.banners.topics()
    dialogs.answer("confirm", False)
    desk.bar.trigger(SAVE)
    assert file.read_text() == CONTROLLER + "# theirs again\n"
    dialogs.answer("confirm", True)
    desk.bar.trigger(SAVE)
    assert file.read_text() == CONTROLLER + "# mine\n"

    # Opening another scenario first asks about the unsaved changes.
    feature.session.panel.editor.put_text(CONTROLLER + "# more\n")
    settle(qtbot, desk, feature)
    dialogs.answer("ask_save_changes", "cancel")
    assert not desk.documents.new()
    assert feature.session.panel.editor.text == CONTROLLER + "# more\n"
    # The scenario now names the script, which counts as a change of the scenario.
    dialogs.answer("ask_save_changes", "save", "save")
    count = len(desk.history.runs())
    assert desk.documents.new()
    assert file.read_text() == CONTROLLER + "# more\n"
    assert not desk.runs.is_running
    assert len(desk.history.runs()) == count
    assert not feature.session.desk.is_open


def test_what_the_scenario_holds_goes_with_it_when_that_is_saved(
    desk: Desk, feature: ScriptFeature, begin: Begin, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    begin(CONTROLLER)
    feature.session.panel.editor.put_text(CONTROLLER + "# more\n")
    dialogs.answer("save_path", tmp_path / "kept.toml")
    desk.documents.save()
    assert "# more" in (tmp_path / "kept.toml").read_text()
    assert not feature.session.desk.is_modified


def test_saved_elsewhere_it_is_the_file_of_the_script_or_a_copy(
    desk: Desk, feature: ScriptFeature, begin: Begin, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    script = begin(CONTROLLER)
    dialogs.answer("save_path", tmp_path / "copy.py")
    desk.bar.trigger("script.save_as")
    assert (tmp_path / "copy.py").read_text() == CONTROLLER
    assert script.place is not None
    assert script.place.path is None

    dialogs.answer("save_path", tmp_path / "kept.toml", tmp_path / "own.py")
    desk.documents.save()
    desk.bar.trigger("script.save_as")
    assert script.place.path == tmp_path / "own.py"
    assert scripts_of(desk.documents.doc.data, tmp_path)[0].content is None
    assert desk.documents.doc.is_valid


def test_unsaved_changes_survive_the_program(desk: Desk, feature: ScriptFeature, begin: Begin, qtbot: QtBot) -> None:
    script = begin(CONTROLLER)
    feature.session.panel.editor.put_text(CONTROLLER + "# typed\n")
    script._keep()
    script.recovery.settle()
    dead = script.recovery.file.with_name("dead.json")
    entries = json.loads(script.recovery.file.read_text())
    entries["process"] = dataclasses.asdict(dataclasses.replace(this_process(), started="1"))
    dead.write_text(json.dumps(entries))
    feature.session.panel.editor.put_text(CONTROLLER)

    desk.recovery.offer()
    qtbot.waitUntil(lambda: any(topic.startswith("recovery_") for topic in desk.banners.topics()))
    (topic,) = (topic for topic in desk.banners.topics() if topic.startswith("recovery_"))
    desk.banners.press(topic, "Recover")
    assert feature.session.panel.editor.text == CONTROLLER + "# typed\n"
    assert script.draft == "mine"  # the script had no file: saving asks for one
    assert not dead.exists()


def test_the_dialog_says_at_once_what_a_name_cannot_be(qtbot: QtBot) -> None:
    def check(name: str) -> None:
        if name == "taken":
            raise InputError("<b>taken</b> already")

    dialog = NewScriptDialog("controller", "free", ("a", "b"), check)
    qtbot.addWidget(dialog)
    assert dialog.add.isEnabled()
    dialog.name.setText("taken")
    assert not dialog.add.isEnabled()
    assert dialog.problem.text() == "<b>taken</b> already"
    assert dialog.problem.textFormat() == Qt.TextFormat.PlainText
    dialog.name.setText(" mine ")
    assert [dialog.flows.itemText(n) for n in range(dialog.flows.count())] == ["a", "b", "all flows", "none for now"]
    dialog.flows.setCurrentIndex(2)
    assert dialog.answer == NewScript("mine", ("a", "b"))


SCALABLE = (
    "gain = option(0.01, min=0, max=1)",
    "",
    "def on_ack(w, ack):",
    "left = slow_start(w, ack)",  # the editor indents
    "w.cwnd += gain * left",
    "<",
    "def on_loss(w, loss):",
    "w.ssthresh = max(0.875 * w.cwnd, 2)",
)
LEAST_LOADED = (
    "def select(subflows, packet):",
    "return best(subflows, by=lambda s: s.inflight / s.cwnd, where=lambda s: s.is_available)",
)


@pytest.mark.parametrize(
    ("kind", "lines"), [("controller", SCALABLE), ("scheduler", LEAST_LOADED)], ids=["Scalable TCP", "least loaded"]
)
def test_whoever_has_only_the_keyboard_writes_one_and_sees_it_run(
    desk: Desk, feature: ScriptFeature, dialogs: ScriptedDialogs, qtbot: QtBot, kind: str, lines: tuple[str, ...]
) -> None:
    dialogs.answer("NewScriptDialog", NewScript("mine", ("download",)))
    desk.bar.trigger(f"script.new_{kind}")
    settle(qtbot, desk, feature)
    editor = feature.session.panel.editor
    QTest.keyClick(editor, Qt.Key.Key_A, CONTROL)
    for number, line in enumerate(lines):
        if number:
            QTest.keyClick(editor, Qt.Key.Key_Escape if editor._popup.isVisible() else Qt.Key.Key_Return)
            if editor.textCursor().atBlockEnd() and editor.textCursor().block().text():
                QTest.keyClick(editor, Qt.Key.Key_Return)
        if line == "<":
            QTest.keyClick(editor, Qt.Key.Key_Backspace)
        else:
            QTest.keyClicks(editor, line)
    if editor._popup.isVisible():
        QTest.keyClick(editor, Qt.Key.Key_Escape)
    save(qtbot, desk, feature)

    assert not editor.problems
    assert feature.session.panel.problems.isHidden()
    latest, first = feature.session.panel.versions.versions
    assert latest.text == editor.text
    goodput_bps = present(latest.figure(MEASURES["goodput_bps"]))
    assert goodput_bps > 1e6
    if kind == "controller":  # a scheduler has little choice while every window is full
        assert latest.run.signature != first.run.signature
    shown = [desk.shown.id_of(run) for run in range(desk.shown.count)]
    assert shown == [latest.run.id, first.run.id]
    assert feature.session.panel.conformance.text_of("loss").endswith("%")
