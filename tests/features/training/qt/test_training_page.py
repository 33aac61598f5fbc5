"""The Train page with fake trainings: start, follow, pause, race, promote, close."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QSplitter
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_trainings import FakeDesk
from tests.helpers.policies import make_plan, write_random_policy
from tests.helpers.present import child, present
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.editor.qt.inspector.editors import TextEditor
from subflow_app.features.training.core.training_draft import DOCUMENT
from subflow_app.features.training.core.training_progress import TRAINING_ACTIONS, Training
from subflow_app.features.training.qt.page import COLUMNS, TrainPage
from subflow_app.features.training.qt.promote_dialog import PromoteDialog, Promotion
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.shell.actions.file import file_rows
from subflow_app.shell.actions.run import run_rows
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.picture import Panel


@pytest.fixture
def trainings(tmp_path: Path) -> FakeDesk:
    return FakeDesk(tmp_path / "trainings")


@pytest.fixture
def desk(make_desk: MakeDesk, qtbot: QtBot, trainings: FakeDesk) -> Desk:
    """The Train page with these trainings and its form, and the actions on runs and files."""
    made = make_desk(TrainingSession, actions=chain(run_rows(), file_rows()))
    made.desk_maker = lambda _store: trainings
    made.docks.set_open("train", True)
    qtbot.waitUntil(lambda: page_of(made).form is not None)
    return made


@dataclass
class LonePage:
    """The page without a desk, which takes most of the time of a test that needs only the page."""

    train: TrainPage
    workers: Workers


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication, dialogs: ScriptedDialogs, trainings: FakeDesk) -> Iterator[LonePage]:
    owner = QObject()
    workers = Workers(owner)
    actions = {name: QAction(name, owner) for name in ("start", *TRAINING_ACTIONS, "export_figure")}
    made = LonePage(TrainPage(workers, dialogs, actions), workers)
    qtbot.addWidget(made.train)
    made.train.resize(900, 700)
    made.train.show()
    made.train.open(trainings)
    yield made
    made.train.let_go()
    workers.finish_all()
    made.train.close()


def page_of(desk: Desk | LonePage) -> TrainPage:
    return desk.train if isinstance(desk, LonePage) else desk.features[TrainingSession].content


def settle(desk: Desk | LonePage) -> None:
    """Performs the work of the next timer tick."""
    page_of(desk)._on_tick()
    QApplication.processEvents()


def added(
    desk: Desk | LonePage, trainings: FakeDesk, state: JobState = JobState.RUNNING, *, policy: bool = True
) -> Training:
    training = trainings.add(state)
    if policy:
        trainings.write_policy(training)
    settle(desk)
    page_of(desk).select([training.id])
    return training


@pytest.fixture
def training(desk: Desk, trainings: FakeDesk) -> Training:
    """A running training, selected on the page of the desk."""
    return added(desk, trainings)


def cell(desk: Desk | LonePage, training: Training, title: str) -> str:
    row = next(row for row, each in enumerate(page_of(desk)._model.rows) if each.id == training.id)
    column = next(number for number, each in enumerate(COLUMNS) if each.title == title)
    return str(page_of(desk)._model.index(row, column).data())


def enabled(desk: Desk) -> set[str]:
    names = TRAINING_ACTIONS
    return {name for name in names if desk.bar[f"train.{name}"].isEnabled()}


def test_the_page_starts_what_its_form_says_on_the_scenario_in_the_window(desk: Desk, trainings: FakeDesk) -> None:
    form = present(page_of(desk).form)
    form.draft.set_value("training.scenario", DOCUMENT)
    form.draft.set_value("training.seed", 5)
    form.show_draft()

    desk.bar.trigger("train.start")

    order, document = trainings.orders[0]
    assert (order.agent, order.scenario, order.seed) == ("drl-cc", DOCUMENT, 5)
    assert document.text == desk.documents.doc.text
    assert [training.name for training in page_of(desk).selected()] == ["drl-cc on two-paths"]


def test_a_training_that_cannot_start_says_why(desk: Desk, trainings: FakeDesk) -> None:
    trainings.refusal = TrainingError("drl-cc cannot learn on this: it needs a flow with 2 paths")
    desk.bar.trigger("train.start")
    assert "needs a flow with 2 paths" in desk.banners.text("training")
    trainings.refusal = None
    desk.bar.trigger("train.start")
    assert desk.banners.text("training") == ""


def test_a_scenario_file_is_asked_for(desk: Desk, trainings: FakeDesk, dialogs: ScriptedDialogs) -> None:
    form = present(page_of(desk).form)
    dialogs.answer("open_path", None, Path("/nets/own.toml"))
    row = present(form.form.row("training.scenario"))

    row.committed.emit("training.scenario", "file", 0)
    assert form.draft.scenario == "drlcc-sc1"
    row = present(form.form.row("training.scenario"))
    row.committed.emit("training.scenario", "file", 0)

    assert form.draft.scenario == "/nets/own.toml"


def test_a_distribution_in_the_window_is_said_in_the_form(desk: Desk) -> None:
    form = present(page_of(desk).form)
    form.draft.set_value("training.scenario", DOCUMENT)
    form.changed.emit()

    def hints() -> str:
        return " ".join(label.text() for label in form.findChildren(QLabel))

    assert "new random numbers" in hints()
    desk.documents.open_text(
        TWO_PATHS + '\n[training.draws]\n"links.wifi.loss" = { uniform = ["0%", "2%"] }\n', "drawn"
    )
    assert "with these draws" in hints()
    assert "links.wifi.loss: 0% to 2%" in hints()


def test_the_table_follows_a_training(page: LonePage, trainings: FakeDesk) -> None:
    training = added(page, trainings)
    trainings.learn(training, 100, level=3.3e6)
    settle(page)

    assert cell(page, training, "Decisions") == "25\u202f000"
    assert cell(page, training, "Done") == "50 %"
    assert cell(page, training, "Against classics") == "1.63× lia"  # 3.3 x 0.99 x 1.02 over 2.05 Mbit/s
    assert cell(page, training, "Updates/s") == "440"
    assert cell(page, training, "Time left").endswith(" s")
    trainings.learn(training, 200, level=3.3e6)
    training.remaining_s = 20.0
    settle(page)
    assert (cell(page, training, "Done"), cell(page, training, "Time left")) == ("100 %", "evaluating, 20 s")
    training.remaining_s = math.nan
    settle(page)
    page.train._on_changed()
    assert cell(page, training, "Time left") == "evaluating"
    trainings.set_state(training, JobState.PAUSED)
    settle(page)
    assert cell(page, training, "State") == "paused"
    assert cell(page, training, "Time left") == "–"


def test_the_latest_evaluation_is_a_table_with_the_parts_of_the_reward(page: LonePage, trainings: FakeDesk) -> None:
    training = added(page, trainings)
    view = page.train.evaluation
    page.train.tabs.setCurrentWidget(view)
    trainings.compare(training, 3.3e6)
    settle(page)
    rows = [[view.model.index(row, column).data() for column in range(6)] for row in range(view.model.rowCount())]
    assert rows[0] == ["drl-cc", "3.300 ± 0.060", "80.0 ± 4.0", "1.20 ± 0.10", "0.980 ± 0.010", "1.61×"]
    assert [row[0] for row in rows] == ["drl-cc", "lia", "olia", "balia", "wvegas"]
    assert rows[1][5] == "best"
    assert view.reward.text() == (
        "Reward of a decision 0.500 = goodput +1.500 (60 %), delay −0.200 (8 %), loss −0.800 (32 %)"
    )
    assert "20 families" in page.train.grounds.text()


def test_selection_and_colours_stay_when_trainings_come(page: LonePage, trainings: FakeDesk) -> None:
    first = added(page, trainings)
    hue = page.train._model.hue(first.id)
    trainings.add()
    settle(page)
    assert page.train.selected() == [first]
    assert page.train._model.hue(first.id) == hue


def test_actions_are_enabled_where_they_make_sense(desk: Desk, trainings: FakeDesk) -> None:
    everything = set(TRAINING_ACTIONS)
    for state, can, word in (
        (JobState.RUNNING, everything, "Pause"),
        (JobState.PAUSED, everything, "Resume"),
        (JobState.INTERRUPTED, {"toggle", "race", "promote", "use"}, "Continue"),
        (JobState.FINISHED, {"race", "promote", "use"}, "Pause"),
    ):
        added(desk, trainings, state)
        assert enabled(desk) == can, state
        assert desk.bar["train.toggle"].iconText() == word, state


def test_the_rivals_are_those_of_the_selected_training_and_their_names_fit(page: LonePage, trainings: FakeDesk) -> None:
    rival = page.train.rival
    added(page, trainings)
    first = ["as in the scenario", "lia", "olia", "balia", "wvegas"]
    assert [rival.itemText(number) for number in range(5)] == first
    training = trainings.add(agent="rl-explore")
    settle(page)

    page.train.select([training.id])

    names = [rival.itemText(number) for number in range(rival.count())]
    assert "newreno" in names
    settle(page)
    arrow = rival.sizeHint().width() - max(map(rival.fontMetrics().horizontalAdvance, names))
    assert rival.width() >= rival.fontMetrics().horizontalAdvance("newreno") + arrow


def test_actions_reach_the_selected_trainings(desk: Desk, trainings: FakeDesk) -> None:
    first, second = trainings.add(), trainings.add()
    settle(desk)
    page_of(desk).select([first.id, second.id])
    trainings.calls.clear()

    for name in ("checkpoint", "evaluate", "toggle", "toggle", "stop", "toggle"):
        desk.bar.trigger(f"train.{name}")

    done = [(name, number) for name, number in trainings.calls if number == first.id]
    assert [name for name, _ in done] == ["checkpoint", "evaluate", "pause", "resume", "stop", "go_on"]
    assert len(trainings.calls) == 12


def test_a_killed_training_is_told_and_needs_a_checkpoint_to_go_on(
    desk: Desk, trainings: FakeDesk, training: Training
) -> None:
    trainings.set_state(training, JobState.INTERRUPTED, "its process was killed; continue from its last checkpoint")
    settle(desk)
    assert "its process was killed" in desk.banners.text("training")

    trainings.set_state(training, JobState.INTERRUPTED, "no checkpoint")
    settle(desk)
    desk.bar.trigger("train.toggle")
    assert "no checkpoint to continue from" in desk.banners.text("training")


def test_curves_show_the_selected_trainings(page: LonePage, trainings: FakeDesk) -> None:
    first = added(page, trainings)
    trainings.learn(first, 20)
    settle(page)
    shown = [plot.spec.metric.key for plot in present(page.train.curves.plots).plots]
    assert shown == [
        *("return_mean", "flow_goodput_bps", "rtt_s", "loss_ratio", "jain"),
        *("actor_saturation", "td_error"),
    ]
    page.train.curves.set_plot_wanted("q_mean", False)
    assert "q_mean" not in [plot.spec.metric.key for plot in present(page.train.curves.plots).plots]
    page.train.select([])
    empty = child(page.train.curves, QLabel, "empty_title")
    assert empty.isVisible()


def drawn(qtbot: QtBot, page: LonePage, before: Panel | None = None) -> Panel:
    """The next picture of the policy after `before`."""

    def panel() -> Panel | None:
        return page.train.policy.picture and page.train.policy.picture.panel

    qtbot.waitUntil(lambda: panel() is not None and panel() is not before and not page.workers.is_busy)
    return present(panel())


def test_the_policy_is_drawn_again_when_another_was_written(qtbot: QtBot, page: LonePage, trainings: FakeDesk) -> None:
    training = added(page, trainings)
    page.train.tabs.setCurrentWidget(page.train.policy)
    first = drawn(qtbot, page)
    view = page.train.policy
    assert [view.across.itemText(number) for number in range(view.across.count())] == ["sending rate", "RTT", "cwnd"]
    assert "Dots" in view.status.text()

    trainings.write_policy(training, slope=-1.0)
    settle(page)
    again = drawn(qtbot, page, first)
    assert (again.cells[0][0] > 0) != (first.cells[0][0] > 0)

    view.across.setCurrentIndex(2)
    drawn(qtbot, page, again)
    assert trainings.observed == 2  # another feature is drawn from the same observations


def test_several_selected_trainings_have_no_picture(page: LonePage, trainings: FakeDesk) -> None:
    page.train.tabs.setCurrentWidget(page.train.policy)
    trainings.add()
    trainings.add()
    settle(page)
    page.train.table.selectAll()
    empty = child(page.train.policy, QLabel, "empty_title")
    assert empty.text() == "No policy yet"


def test_a_policy_is_promoted_under_that_name(
    desk: Desk, trainings: FakeDesk, dialogs: ScriptedDialogs, training: Training
) -> None:
    dialogs.answer("PromoteDialog", None, Promotion("mine", "Good on lossy paths"))
    desk.bar.trigger("train.promote")
    assert trainings.promoted == []
    desk.bar.trigger("train.promote")
    assert trainings.promoted == [(training.id, "mine", "Good on lossy paths")]
    assert 'policy = "mine"' in desk.banners.text("training")
    before = desk.documents.doc.text
    desk.banners.press("training", "Use in this scenario")
    used = desk.documents.doc.value("flows.download.controller")
    assert used == {"name": training.controller, "policy": "mine"}
    desk.document_stack.undo()
    assert desk.documents.doc.text == before


def test_a_policy_is_used_in_the_scenario_without_a_question(
    desk: Desk, trainings: FakeDesk, training: Training
) -> None:
    before = desk.documents.doc.text
    desk.bar.trigger("train.use")
    (promoted,) = trainings.promoted
    assert promoted[:2] == (training.id, "my-drl-cc-1")
    used = desk.documents.doc.value("flows.download.controller")
    assert used == {"name": training.controller, "policy": "my-drl-cc-1"}
    desk.document_stack.undo()
    assert desk.documents.doc.text == before


def test_a_policy_that_no_flow_can_use_stays_out_of_the_library(
    desk: Desk, trainings: FakeDesk, training: Training
) -> None:
    datagrams = TWO_PATHS.replace('kind = "mptcp"', 'kind = "cbr"\nrate = "1Mbit/s"')
    desk.documents.open_text(
        datagrams.replace('controller = "lia"\n', "").replace('paths = [["wifi"], ["lte"]]\n', ""), "cbr"
    )
    assert desk.documents.doc.scenario is not None
    desk.bar.trigger("train.use")
    assert trainings.promoted == []
    assert "No flow of the scenario can use drl-cc" in desk.banners.text("action")


def test_the_page_fits_the_room_of_its_panel(page: LonePage) -> None:
    """The start button is in view without scrolling, even on a screen of 1366x768 at 150 %."""
    assert page.train.minimumSizeHint().height() <= TrainingSession.room[1]


def test_the_fields_of_the_form_stay_whole_where_the_page_is_narrow(desk: Desk) -> None:
    page = page_of(desk)
    form = present(page.form).form

    child(page, QSplitter, "train_splitter").setSizes([1, 2000])
    settle(desk)

    assert form.viewport().width() >= present(form.widget()).minimumSizeHint().width()


def test_the_page_is_shown_from_the_menu(desk: Desk) -> None:
    desk.docks.set_open("train", False)
    desk.bar.trigger("train.show")
    assert desk.docks.is_open("train")


def test_the_promote_dialog_refuses_names_that_are_taken_or_impossible(qtbot: QtBot, trainings: FakeDesk) -> None:
    training = trainings.add()
    trainings.learn(training, 10)
    dialog = PromoteDialog(training, ("drl-cc", "my-drl-cc-1"))
    qtbot.addWidget(dialog)
    assert dialog.answer.name == "my-drl-cc-2"
    assert "times the goodput of lia" in dialog.answer.note
    assert dialog.promote.isEnabled()
    impossible = [(name, "Letters") for name in ("a b", "../x", "-x", "_x")]
    for name, says in (("drl-cc", "already"), ("neutral", "already"), ("", "needs a name"), *impossible):
        dialog.name.setText(name)
        assert says in dialog.problem.text()
        assert not dialog.promote.isEnabled()
    dialog.name.setText("drl-cc.2")
    assert dialog.promote.isEnabled()


def test_closing_may_leave_trainings_running(desk: Desk, trainings: FakeDesk, dialogs: ScriptedDialogs) -> None:
    added(desk, trainings)
    dialogs.answer("ask_trainings", "cancel", "background")
    assert not desk.features.may_close()
    assert desk.features.may_close()
    desk.close_at_once()
    assert ("leave_running", "") in trainings.calls
    assert ("stop_all", "") not in trainings.calls
    assert trainings.is_closed


def test_closing_waits_for_checkpoints(
    qtbot: QtBot, desk: Desk, trainings: FakeDesk, dialogs: ScriptedDialogs, training: Training
) -> None:
    dialogs.answer("ask_trainings", "stop")

    def stop_later() -> None:
        trainings.calls.append(("stop_all", ""))
        trainings.set_state(training, JobState.STOPPING)

    trainings.stop_all = stop_later  # type: ignore[method-assign] # a stop takes time
    assert not desk.features.may_close()
    assert desk.isVisible()

    trainings.set_state(training, JobState.STOPPED)

    qtbot.waitUntil(lambda: not desk.isVisible())
    assert len(dialogs.asked) == 1


def test_the_database_cannot_be_changed_while_a_training_goes_on(
    desk: Desk, trainings: FakeDesk, training: Training
) -> None:
    assert not desk.bar["file.open_database"].isEnabled()
    trainings.set_state(training, JobState.FINISHED)
    settle(desk)
    assert desk.bar["file.open_database"].isEnabled()


def test_a_race_lays_both_runs_over_each_other(qtbot: QtBot, desk: Desk, training: Training) -> None:
    write_random_policy(present(training.policy_path), make_plan("drl-cc"))
    page_of(desk).rival.setCurrentText("olia")

    desk.bar.trigger("train.race")

    qtbot.waitUntil(lambda: len(desk.history.runs()) == 2 and not desk.runs.is_running)
    classic, learned = desk.history.runs()
    assert (learned.controllers, classic.controllers) == ("drl-cc", "olia")
    assert learned.seed == classic.seed
    qtbot.waitUntil(lambda: desk.shown.ids == {learned.id, classic.id})
    # The document is unchanged: the race is not written into it.
    assert desk.documents.doc.text == TWO_PATHS


def test_a_race_that_is_stopped_has_no_second_run(qtbot: QtBot, desk: Desk, training: Training) -> None:
    write_random_policy(present(training.policy_path), make_plan("drl-cc"))
    desk.bar.trigger("run.speed_real_time")
    desk.bar.trigger("train.race")
    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.stop")
    QApplication.processEvents()
    assert not desk.runs.is_running
    assert len(desk.history.runs()) == 1


def test_a_policy_that_does_not_fit_is_told(desk: Desk, trainings: FakeDesk) -> None:
    added(desk, trainings)  # its policy file does not exist
    desk.bar.trigger("train.race")
    assert "policy.safetensors: not a safetensors file" in desk.banners.text("action")
    assert not desk.runs.is_running


def test_a_time_that_is_none_is_said_at_its_field_alone(page: LonePage, trainings: FakeDesk, qtbot: QtBot) -> None:
    page.train.load_choices()
    qtbot.waitUntil(lambda: page.train.form is not None)
    refused: list[str] = []
    page.train.failed.connect(refused.append)
    row = present(present(page.train.form).form.row("training.time"))
    assert isinstance(row.editor, TextEditor)
    row.editor.setFocus()
    QTest.keyClicks(row.editor, "soon")

    page.train.start()

    assert "not a number with a unit" in row.message.text()
    assert (refused, trainings.orders) == ([], [])
    row.editor.selectAll()
    QTest.keyClicks(row.editor, "30s")
    page.train.start()
    assert row.message.text() == ""
    assert trainings.orders[-1][0].minutes == 0.5
