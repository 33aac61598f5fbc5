"""Runs in the foreground: curves equal the stored traces, and a stop, pause or failure keeps the run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_simulation import FakeSimulation
from tests.helpers.present import present
from tests.helpers.raising import raising
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.qt.curve_id import curve_id
from subflow_app.features.running.core import runs as core_runs
from subflow_app.features.running.qt.run_control import RunControl, is_kept
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.shell.actions.run import run_rows
from subflow_app.toolkit.workers import Workers
from subflow_store import RunRow, StoreFull, open_store

# Long enough to be running during any action of a test: 20,000 s at real time.
ENDLESS = TWO_PATHS.replace('duration = "2s"', 'duration = "20000s"')


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=run_rows())


def start_endless(qtbot: QtBot, desk: Desk) -> None:
    desk.documents.open_text(ENDLESS, "endless")
    desk.bar.trigger("run.speed_brisk")
    desk.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: desk.runs.progress is not None and desk.runs.progress.sim_time_s > 0.3)


def stored_runs(path: Path) -> list[RunRow]:
    with open_store(path, read_only=True) as store:
        return store.runs()


def test_curves_of_a_finished_run_equal_the_stored_traces(desk: Desk) -> None:
    run_id = desk.run_once()

    stored = StoredTraces(desk.store, run_id)
    for plot in desk.plots.stack.time_plots:
        expected = {curve_id(curve): curve for curve in PLOTS_BY_ID[plot.spec.id].curves(stored)}
        assert set(plot.curves) == set(expected)
        for key, item in plot.curves.items():
            # 2 s sampled every 0.1 s.
            assert len(item.time_s) == 20
            np.testing.assert_array_equal(item.time_s, expected[key].time_s)
            np.testing.assert_array_equal(item.shown_values, expected[key].values.astype(float) * plot.spec.scale)


def test_decisions_are_kept_once_switched_on(desk: Desk) -> None:
    plain = desk.run_once()
    desk.bar.trigger("run.record_decisions")
    recorded = desk.run_once()

    store = desk.store
    assert store.event_extents(plain, "decision") == {}
    assert "download" in store.event_extents(recorded, "decision")
    assert store.run(plain).signature == store.run(recorded).signature


def test_a_run_after_a_change_has_the_one_before_as_a_ghost(qtbot: QtBot, desk: Desk) -> None:
    before = desk.run_once()
    desk.bar.trigger("run.speed_real_time")  # two seconds without waiting for them
    desk.documents.doc.set_value("links.wifi.loss", "20%")
    with qtbot.waitSignal(desk.runs.ended, timeout=1900):
        desk.session.run_again()

    after = desk.history.runs()[0].id
    assert [desk.shown.id_of(run) for run in range(desk.shown.count)] == [after, before]
    shown = {curve_id(curve): curve for curve in desk.plots.stack.time_plots[0].shown_curves()}
    now, ghost = ([curve for key, curve in shown.items() if key.run == run] for run in range(2))
    assert {curve.is_ghost for curve in now} == {False}
    assert {curve.is_ghost for curve in ghost} == {True}
    assert {curve.run_title for curve in ghost} == {"Before"}
    assert {len(curve.values) for curve in shown.values()} == {20}  # complete, as the runs have no common part
    assert desk.plots.stack.forks.texts == []

    # After another change the first run disappears, and the second becomes the previous one.
    desk.documents.doc.set_value("links.wifi.loss", "5%")
    with qtbot.waitSignal(desk.runs.ended):
        desk.session.run_again()
    assert [desk.shown.id_of(run) for run in range(desk.shown.count)] == [after + 1, after]


def test_a_run_that_goes_on_ends_for_the_one_after_a_change(qtbot: QtBot, desk: Desk) -> None:
    start_endless(qtbot, desk)
    desk.documents.doc.set_value("duration", "2s")
    with qtbot.waitSignal(desk.runs.ended), qtbot.waitSignal(desk.runs.started):
        desk.session.run_again()
    qtbot.waitUntil(lambda: not desk.runs.is_running)

    assert [row.status for row in desk.history.runs()] == ["finished", "stopped"]


def test_run_that_is_over_before_the_first_tick_shows_its_curves(qtbot: QtBot, desk: Desk) -> None:
    usual = desk.runs._timer.interval()
    desk.runs._timer.setInterval(60_000)

    desk.run_once()
    desk.runs._timer.setInterval(usual)

    assert desk.plots.stack.latest_time_s == pytest.approx(2.0)
    assert desk.run_status.text() == "finished"
    assert desk.run_status.accessibleDescription().startswith("2.0 of 2 s")


def test_curves_grow_while_the_run_goes_on(qtbot: QtBot, desk: Desk) -> None:
    start_endless(qtbot, desk)
    qtbot.waitUntil(lambda: desk.plots.stack.latest_time_s > 0.2)
    seen = desk.plots.stack.latest_time_s
    qtbot.waitUntil(lambda: desk.plots.stack.latest_time_s > seen)
    assert desk.runs._timer.isActive()
    assert desk.runs._timer.interval() >= 33  # 30 frames a second at most

    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.stop")

    assert not desk.runs._timer.isActive()
    (run,) = desk.history.runs()
    assert (run.status, run.simulated_s > 0.2) == ("stopped", True)
    assert not desk.bar["run.stop"].isEnabled()


def test_pause_holds_the_run_and_resume_goes_on(qtbot: QtBot, desk: Desk) -> None:
    start_endless(qtbot, desk)
    desk.bar.trigger("run.toggle")
    assert desk.runs.is_paused
    job = present(desk.runs.job)
    qtbot.waitUntil(lambda: job.progress.state == "paused")
    held = job.progress.sim_time_s
    # Three frames later the time is unchanged.
    for _ in range(3):
        with qtbot.waitSignal(desk.runs.ticked):
            pass
    assert job.progress.sim_time_s == held

    desk.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: job.progress.sim_time_s > held)
    assert not desk.runs.is_paused


def test_speed_can_be_changed_while_it_runs(qtbot: QtBot, desk: Desk) -> None:
    start_endless(qtbot, desk)
    assert desk.runs.job is not None
    assert desk.runs.job.speed_limit == 10.0

    desk.bar.trigger("run.speed_real_time")
    assert desk.runs.job.speed_limit == 1.0

    desk.bar.trigger("run.speed_express")
    assert desk.runs.job.speed_limit is None


def test_links_show_what_they_do_until_the_run_ends(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, ...]] = []
    cleared: list[bool] = []
    monkeypatch.setattr(desk.topology, "set_link_state", lambda *state: told.append(state))
    monkeypatch.setattr(desk.topology, "clear_link_states", lambda: cleared.append(True))
    start_endless(qtbot, desk)
    qtbot.waitUntil(lambda: len(told) >= 4)
    assert {state[0] for state in told} == {"wifi/forward", "wifi/reverse", "lte/forward", "lte/reverse"}
    assert all(0.0 <= state[1] <= 1.0 and state[2] >= 0.0 and state[3] is True for state in told)

    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.stop")

    assert cleared


# ---- failures ----


def test_full_disk_loses_nothing(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "subflow_store.run_writer.RunWriter.append",
        raising(StoreFull("the disk is full", path="runs.db", way_on="Make room, or choose another file.")),
    )
    with qtbot.waitSignal(desk.runs.ended) as ended:
        desk.bar.trigger("run.toggle")
    _, result = ended.args
    assert not is_kept(result)
    assert "the disk is full" in desk.banners.text("not_stored")
    assert desk.plots.stack.latest_time_s == pytest.approx(2.0)
    monkeypatch.undo()
    dialogs.answer("database_path", tmp_path / "other.db")

    with qtbot.waitSignal(desk.unsaved.saved):
        desk.banners.press("not_stored", "Save to another database…")

    (run,) = stored_runs(tmp_path / "other.db")
    assert (run.status, run.signature) == ("finished", result.signature)
    assert desk.unsaved.jobs == ()
    with qtbot.waitSignal(desk.database.opened):
        desk.banners.press("saved", "Use this database")
    assert [row.signature for row in desk.history.runs()] == [result.signature]


def test_unstored_run_is_exported_whole(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subflow_store.store.Store.start_run", raising(StoreFull("the disk is full", path="runs.db")))
    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.toggle")
    dialogs.answer("folder", tmp_path)

    with qtbot.waitSignal(desk.unsaved.exported) as exported:
        desk.banners.press("not_stored", "Export data…")

    (folder,) = exported.args
    assert (folder / "scenario.toml").read_text() == TWO_PATHS
    # A header and 20 samples.
    assert len((folder / "subflows.csv").read_text().splitlines()) == 21
    assert desk.unsaved.jobs == ()


def test_failed_simulation_keeps_what_there_is(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(simulation: FakeSimulation) -> None:
        if simulation.now_s > 1.0:
            raise ArithmeticError("a window below one packet")

    monkeypatch.setattr(
        core_runs, "make_simulation", lambda scenario, seed, dt: FakeSimulation(scenario, on_chunk=explode)
    )
    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.toggle")

    assert "a window below one packet" in desk.banners.text("run")
    assert [run.status for run in desk.history.runs()] == ["failed"]
    assert desk.plots.stack.latest_time_s >= 1.0


def test_result_arrives_on_the_gui_thread(qtbot: QtBot) -> None:
    import threading

    from PySide6.QtCore import QObject

    owner = QObject()

    where: list[tuple[threading.Thread, threading.Thread]] = []
    Workers(owner).start(
        "who",
        threading.current_thread,
        succeeded=lambda worker: where.append((worker, threading.current_thread())),
        failed=lambda error: None,
    )

    qtbot.waitUntil(lambda: len(where) == 1)
    worker, receiver = where[0]
    assert receiver is threading.main_thread()
    assert worker is not receiver


def test_refused_scenario_is_told(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtCore import QObject

    from subflow_sim.errors import SimulationError
    from subflow_sim.scenario import parse_scenario

    monkeypatch.setattr(core_runs, "make_simulation", raising(SimulationError("too many samples")))
    parent = QObject()
    runs = RunControl(Workers(parent), parent)

    with qtbot.waitSignal(runs.refused) as refused:
        runs.start(parse_scenario(TWO_PATHS), TWO_PATHS, None, 0.1)

    assert refused.args == ["too many samples"]
    assert not runs.is_running


@pytest.mark.usefixtures("qapp")
def test_eta_and_speed_are_shown(qtbot: QtBot) -> None:
    from subflow_app.features.running.core.runs import RunProgress
    from subflow_app.features.running.qt.run_status import RunStatus
    from subflow_app.foundation.jobs.progress import JobState

    status = RunStatus()
    qtbot.addWidget(status)
    status.show_progress(RunProgress(JobState.RUNNING, 12.34, 60.0, 9.98, 4.77, 1000, 0.1))
    assert status.text() == "9.98×, 4.8 s left"
    assert status.accessibleDescription().startswith("12.3 of 60 s")
    status.show_progress(RunProgress(JobState.RUNNING, 0.0, 60.0, 0.0, math.nan, 0, 0.0))
    assert status.accessibleDescription().startswith("0.0 of 60 s")
    status.show_progress(RunProgress(JobState.PAUSED, 12.34, 60.0, 9.98, 4.77, 1000, 0.1))
    assert status.text().endswith("paused")
