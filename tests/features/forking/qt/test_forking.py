"""Forking a run by its actions; the original stays as a ghost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import child, present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.exporting.qt.plots_figure import shown_plan
from subflow_app.features.forking.core.draft import ForkDraft
from subflow_app.features.forking.core.origin import ForkOrigin
from subflow_app.features.forking.qt.dialog import ForkDialog
from subflow_app.features.forking.qt.feature import ForkFeature
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

LONG = TWO_PATHS.replace('duration = "2s"', 'duration = "30s"')
WIFI = "download/1"


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with forks, and with the queue for forks beside a running run."""
    return make_desk(QueueSession, PlayheadFeature, ExplainFeature, ForkFeature)


def dialog_of(qtbot: QtBot, desk: Desk, action: str = "fork.new") -> ForkDialog:
    feature = desk.features[ForkFeature]
    desk.bar.trigger(action)
    qtbot.waitUntil(lambda: feature.dialog is not None)
    return present(feature.dialog)


def type_into(field: QLineEdit, text: str) -> None:
    field.selectAll()
    QTest.keyClicks(field, text)


def text_of(dialog: ForkDialog, name: str) -> str:
    label = child(dialog, QLabel, name)
    return label.text() if label.isVisible() else ""


def fork(qtbot: QtBot, desk: Desk, at: str = "1s", loss: str = "20%") -> None:
    dialog = dialog_of(qtbot, desk)
    type_into(dialog.time, at)
    dialog.thing.setCurrentIndex(dialog.thing.findData("links.wifi"))
    type_into(dialog.field("loss"), loss)
    with qtbot.waitSignal(desk.runs.ended):
        dialog.start.click()


def curves(desk: Desk, plot: int = 0) -> dict[CurveId, Curve]:
    return {CurveId(c.run, c.owner, c.kind): c for c in desk.plots.stack.time_plots[plot].shown_curves()}


def test_a_run_that_is_shown_is_forked_at_the_crosshair_and_stays_as_a_ghost(qtbot: QtBot, desk: Desk) -> None:
    original = desk.run_once()
    desk.topology.select("links.wifi")
    desk.plots.stack.set_cursor(1.2003456789)

    dialog = dialog_of(qtbot, desk)
    filled_in = (dialog.time.text(), dialog.thing.currentData(), dialog.field("loss").text())
    assert filled_in == ("1.2 s", "links.wifi", "1%")
    assert not dialog.start.isEnabled()
    # A bare number gets the previous unit; a pixel does not determine a time to the nanosecond.
    type_into(dialog.field("loss"), "20")
    dialog.field("loss").editingFinished.emit()  # the focus leaves the field
    assert dialog.field("loss").text() == "20%"
    type_into(dialog.time, "1.2")
    dialog.time.editingFinished.emit()
    assert dialog.time.text() == "1.2s"
    assert dialog.summary == "from 1.2 s: wifi loss 1 % → 20 %"
    with qtbot.waitSignal(desk.runs.ended):
        dialog.start.click()

    fork_row = desk.history.runs()[0]
    store = desk.store
    tip = desk.history.table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert f"Fork of run {original} at 1.2 s: wifi loss 1 % → 20 %" in tip
    origin = present(store.forks.origin_of(fork_row.id))
    assert (origin.parent_id, origin.forked_at_s, origin.difference) == (original, 1.2, "wifi loss 1 % → 20 %")
    again = Simulation(parse_scenario(store.run(fork_row.id).scenario_text or ""), seed=fork_row.seed)
    again.run_until(again.duration_s)
    assert again.signature() == fork_row.signature

    assert [desk.shown.id_of(run) for run in range(2)] == [fork_row.id, original]
    shown = curves(desk)
    line, ghost = shown[CurveId(0, WIFI, "subflow")], shown[CurveId(1, WIFI, "subflow")]
    assert (line.is_ghost, ghost.is_ghost) == (False, True)
    assert line.colour == ghost.colour
    assert (line.run_title, ghost.run_title) == ("Fork: wifi loss 1 % → 20 %", "Original")
    # One curve until the runs differ.
    assert (line.time_s[0], ghost.time_s[0]) == pytest.approx((0.1, 1.2))
    assert line.time_s[-1] == ghost.time_s[-1] == pytest.approx(2.0)
    assert not (line.values[-len(ghost.values) :] == ghost.values).all()
    items = desk.plots.stack.time_plots[0].curves
    pens = [items[CurveId(run, WIFI, "subflow")].opts["pen"] for run in range(2)]
    assert pens[1].color().alpha() < pens[0].color().alpha() == 255
    assert pens[1].dashPattern()
    assert not pens[0].dashPattern()
    assert items[CurveId(1, WIFI, "subflow")].zValue() < items[CurveId(0, WIFI, "subflow")].zValue()
    assert desk.plots.stack.forks.texts == [(1.2, "wifi loss 1 % → 20 %")]


def test_the_time_of_the_playhead_comes_before_clicks_and_crosshair(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    feature, stack = desk.features[ForkFeature], desk.plots.stack
    playhead = desk.features[PlayheadFeature].playhead
    desk.plots.set_pin(0.4)
    stack.set_cursor(None)
    assert feature.time_s() == 0.4
    stack.set_cursor(0.8)
    assert feature.time_s() == 0.8
    desk.plots.time_clicked.emit(1.0)
    assert feature.time_s() == 1.0
    playhead.seek(1.6)
    assert feature.time_s() == 1.6
    playhead.leave()
    assert feature.time_s() == 1.0
    qtbot.waitUntil(lambda: not playhead.is_waiting)


def test_ghosts_can_be_hidden_and_figures_have_what_is_shown(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    fork(qtbot, desk)
    for plot in range(len(desk.plots.stack.time_plots)):
        assert any(curve.is_ghost for curve in curves(desk, plot).values())
    assert any(curve.is_ghost for plot in shown_plan(desk.plots.stack).plots for curve in plot.curves)
    desk.plots.set_choices(replace(desk.plots.choices, ghosts_shown=False))
    assert not any(curve.run for curve in curves(desk).values())
    assert not any(curve.run for plot in shown_plan(desk.plots.stack).plots for curve in plot.curves)
    desk.plots.set_choices(replace(desk.plots.choices, ghosts_shown=True))
    assert any(curve.run for curve in curves(desk).values())
    desk.shown.keep_first()
    assert desk.plots.stack.forks.texts == []


def test_stored_runs_that_are_a_fork_and_its_original_are_shown_as_such(qtbot: QtBot, desk: Desk) -> None:
    original = desk.run_once()
    fork(qtbot, desk)
    forked = desk.history.runs()[0].id
    desk.shown.show_stored(desk.store, [original, forked])
    assert [desk.shown.id_of(run) for run in range(2)] == [forked, original]
    assert all(isinstance(traces, StoredTraces) for traces in desk.plots.runs)
    assert curves(desk)[CurveId(1, WIFI, "subflow")].is_ghost

    dialog = dialog_of(qtbot, desk)
    type_into(dialog.time, "1500 ms")
    # The fork has another loss since 1 s, and the dialog forks the fork.
    assert dialog.field("loss").text() == "20%"
    dialog.reject()


def test_a_run_of_the_history_is_forked(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    desk.plots.show_runs([])
    desk.history.table.selectRow(0)
    dialog = dialog_of(qtbot, desk, "history.fork")
    assert dialog.time.text() == "1 s"
    dialog.thing.setCurrentIndex(dialog.thing.findData("flows.download"))
    child(dialog, QCheckBox, "fork_open_2").click()
    assert dialog.summary == "from 1 s: download subflow 2 open → closed"
    with qtbot.waitSignal(desk.runs.ended):
        dialog.start.click()
    assert desk.shown.count == 2
    assert desk.history.runs()[0].name == "Two paths · fork at 1 s: download subflow 2 open → closed"


def test_several_changes_of_links_and_flows_are_listed_and_can_be_taken_back(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    dialog = dialog_of(qtbot, desk)
    dialog.thing.setCurrentIndex(dialog.thing.findData("links.wifi"))
    type_into(dialog.field("loss"), "20%")
    dialog.thing.setCurrentIndex(dialog.thing.findData("links.lte"))
    type_into(dialog.field("delay"), "99ms")
    dialog.thing.setCurrentIndex(dialog.thing.findData("flows.download"))
    box = present(dialog.controller)
    box.setCurrentIndex(box.findData("olia"))
    assert len(dialog.removers) == 3
    dialog.removers[1].click()
    assert len(dialog.removers) == 2
    with qtbot.waitSignal(desk.runs.ended):
        dialog.start.click()
    origin = present(desk.store.forks.origin_of(desk.history.runs()[0].id))
    assert "wifi loss" in origin.difference
    assert "olia" in origin.difference
    assert "lte" not in origin.difference


def test_what_is_not_possible_is_said_beside_its_field(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    # The dialog begins with the flow of the chosen curve.
    desk.plots.stack.curve_clicked.emit(CurveId(0, WIFI, "subflow"))
    dialog = dialog_of(qtbot, desk)
    assert dialog.thing.currentData() == "flows.download"
    assert dialog.options.width() > dialog.width() / 2
    assert "Learned controllers" in text_of(dialog, "fork_learned")
    dialog.thing.setCurrentIndex(dialog.thing.findData("links.lte"))
    type_into(dialog.field("rate"), "2Mbits/s")
    assert "did you mean" in text_of(dialog, "fork_rate_problem")
    assert not dialog.start.isEnabled()
    type_into(dialog.field("rate"), "2Mbit/s")
    assert text_of(dialog, "fork_rate_problem") == ""
    assert dialog.start.isEnabled()
    type_into(dialog.time, "5s")
    assert "cannot be forked at 5 s" in text_of(dialog, "fork_time_problem")
    assert not dialog.start.isEnabled()
    type_into(dialog.time, "0.5s")
    assert dialog.summary == "from 0.5 s: lte rate 4 Mbit/s → 2 Mbit/s"
    type_into(dialog.field("rate"), "4 Mbit/s")
    assert not dialog.start.isEnabled()
    dialog.direction.setCurrentIndex(2)  # type: ignore[union-attr] # the dialog shows a link
    type_into(dialog.field("delay"), "5ms")
    assert dialog.summary == "from 0.5 s: lte (direction of data) delay 30 ms → 5 ms"
    dialog.reject()


def test_a_run_that_goes_on_is_forked_beside_it(qtbot: QtBot, desk: Desk) -> None:
    desk.documents.open_text(LONG, "long")
    desk.session.start(0.1)
    qtbot.waitUntil(lambda: desk.runs.is_paused)
    dialog = dialog_of(qtbot, desk)
    type_into(dialog.time, "0.05s")
    dialog.thing.setCurrentIndex(dialog.thing.findData("links.wifi"))
    type_into(dialog.field("rate"), "2Mbit/s")
    with qtbot.waitSignal(desk.features[QueueSession].fork_began):
        dialog.start.click()
    # The fork appears at once and grows, while its original is paused.
    assert desk.runs.is_paused
    assert desk.shown.count == 2
    qtbot.waitUntil(lambda: desk.shown.id_of(0) == 2)
    shown = curves(desk)
    assert shown[CurveId(0, WIFI, "subflow")].time_s[-1] == pytest.approx(30.0)
    assert shown[CurveId(1, WIFI, "subflow")].is_ghost
    with qtbot.waitSignal(desk.runs.ended):
        desk.session.toggle()
    qtbot.waitUntil(lambda: curves(desk)[CurveId(1, WIFI, "subflow")].time_s[-1] == pytest.approx(30.0))
    assert [desk.shown.id_of(run) for run in range(2)] == [2, 1]


def test_the_controller_of_a_fork_has_options(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    dialog = dialog_of(qtbot, desk)
    dialog.thing.setCurrentIndex(dialog.thing.findData("flows.download"))
    choice = present(dialog.controller)
    of_lia = dialog.options.placeholderText()
    assert of_lia.startswith('counting = "packets", ')
    choice.setCurrentIndex(choice.findData("balia"))
    assert dialog.options.placeholderText() == f"kernel_int = false, {of_lia}"
    for wrong, said in (
        ("kernel_int", "name = value"),
        ("kernel_int = 3", "true or false"),
        ("gamma = 1", 'allowed: "kernel_int", '),
    ):
        type_into(dialog.options, wrong)
        assert said in text_of(dialog, "fork_options_problem")
        assert not dialog.start.isEnabled()
    type_into(dialog.options, "kernel_int = true")
    assert text_of(dialog, "fork_options_problem") == ""
    assert dialog.start.isEnabled()
    with qtbot.waitSignal(desk.runs.ended):
        dialog.start.click()
    forked = desk.store.run(desk.history.runs()[0].id)
    assert present(forked.fork).changes[0]["controller"] == {"name": "balia", "kernel_int": True}


def test_another_version_is_said_before(qtbot: QtBot, desk: Desk) -> None:
    origin = replace(ForkOrigin.stored(desk.store, desk.run_once()), version="0.0.1")
    dialog = ForkDialog(ForkDraft.at(origin, 1.0), "", desk)
    dialog.show()
    assert "version 0.0.1" in text_of(dialog, "fork_notice")
    dialog.close()
    dialog.deleteLater()


def test_closing_closes_the_dialog(qtbot: QtBot, desk: Desk) -> None:
    desk.run_once()
    dialog = dialog_of(qtbot, desk)
    desk.close_at_once()
    qtbot.waitUntil(lambda: not desk.isVisible())
    assert not dialog.isVisible()


def test_explain_opens_the_dialog_with_its_proposal(desk: Desk, qtbot: QtBot) -> None:
    from subflow_app.features.explain.core.story import Try

    desk.run_once()
    change = Try("Try a longer queue at wifi", 1.2345, "wifi", "forward", "queue", "134pkt")
    desk.features[ExplainFeature].try_wanted.emit(0, change)
    feature = desk.features[ForkFeature]
    qtbot.waitUntil(lambda: feature.dialog is not None)

    dialog = present(feature.dialog)
    assert (dialog.time.text(), dialog.field("queue").text()) == ("1.234 s", "134pkt")
    assert "134 pkt" in dialog.summary
    dialog.reject()
