"""Runs of the window: curves equal the stored traces, and stop, pause, closing and failures keep the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.fake_simulation import FakeSimulation
from tests.helpers.window import TWO_PATHS, ScriptedDialogs, make_window
from tests.helpers.worn_window import close_window

from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.qt.curve_id import curve_id
from subflow_app.features.running.core import runs as core_runs
from subflow_app.features.running.qt.run_control import RunControl, is_kept
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.errors import ExportError
from subflow_app.foundation.settings import load_settings
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.workers import Workers
from subflow_store import RunRow, StoreFull, open_store

# So long that it is still going on whenever a test acts on it: 20,000 s at real time.
ENDLESS = TWO_PATHS.replace('duration = "2s"', 'duration = "20000s"')


def start_endless(qtbot: QtBot, window: MainWindow) -> None:
    window.documents.open_text(ENDLESS, "endless")
    window.bar.trigger("run.speed_brisk")
    window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: window.runs.progress is not None and window.runs.progress.sim_time_s > 0.3)


def stored_runs(path: Path) -> list[RunRow]:
    with open_store(path, read_only=True) as store:
        return store.runs()


def test_curves_of_a_finished_run_equal_the_stored_traces(window: MainWindow, run_once: Callable[[], int]) -> None:
    run_id = run_once()

    assert window.database.store is not None
    stored = StoredTraces(window.database.store, run_id)
    for plot in window.plots.stack.time_plots:
        expected = {curve_id(curve): curve for curve in PLOTS_BY_ID[plot.spec.id].curves(stored)}
        assert set(plot.curves) == set(expected)
        for key, item in plot.curves.items():
            # 2 s sampled every 0.1 s.
            assert len(item.time_s) == 20
            np.testing.assert_array_equal(item.time_s, expected[key].time_s)
            np.testing.assert_array_equal(item.shown_values, expected[key].values.astype(float) * plot.spec.scale)


def test_decisions_are_kept_once_switched_on_and_that_is_remembered(
    window: MainWindow, run_once: Callable[[], int]
) -> None:
    plain = run_once()
    window.bar.trigger("run.record_decisions")
    recorded = run_once()

    assert load_settings(window.preferences._path).record_decisions
    store = window.database.store
    assert store is not None
    assert store.event_extents(plain, "decision") == {}
    assert "download" in store.event_extents(recorded, "decision")
    assert store.run(plain).signature == store.run(recorded).signature


def test_same_seed_gives_the_same_run(window: MainWindow, run_once: Callable[[], int]) -> None:
    run_once()
    run_once()

    first, second = window.history.runs()
    assert first.id != second.id
    assert first.signature == second.signature != ""


def test_a_run_after_a_change_has_the_one_before_as_a_ghost(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]
) -> None:
    before = run_once()
    window.bar.trigger("run.speed_real_time")  # two seconds that nobody waits for
    window.documents.doc.set_value("links.wifi.loss", "20%")
    with qtbot.waitSignal(window.runs.ended, timeout=1900):
        window.session.run_again()

    after = window.history.runs()[0].id
    assert [window.shown.id_of(run) for run in range(window.shown.count)] == [after, before]
    shown = {curve_id(curve): curve for curve in window.plots.stack.time_plots[0].shown_curves()}
    now, ghost = ([curve for key, curve in shown.items() if key.run == run] for run in range(2))
    assert {curve.is_ghost for curve in now} == {False}
    assert {curve.is_ghost for curve in ghost} == {True}
    assert {curve.run_title for curve in ghost} == {"Before: Two paths"}
    assert {len(curve.values) for curve in shown.values()} == {20}  # whole, as nothing of it is the same
    assert window.plots.stack.forks.texts == []

    # Another change: the first run goes, and the second is what was before.
    window.documents.doc.set_value("links.wifi.loss", "5%")
    with qtbot.waitSignal(window.runs.ended):
        window.session.run_again()
    assert [window.shown.id_of(run) for run in range(window.shown.count)] == [after + 1, after]


def test_a_run_that_goes_on_ends_for_the_one_after_a_change(qtbot: QtBot, window: MainWindow) -> None:
    start_endless(qtbot, window)
    window.documents.doc.set_value("duration", "2s")
    with qtbot.waitSignal(window.runs.ended), qtbot.waitSignal(window.runs.started):
        window.session.run_again()
    qtbot.waitUntil(lambda: not window.runs.is_running)

    assert [row.status for row in window.history.runs()] == ["finished", "stopped"]


def test_run_that_is_over_before_the_first_tick_shows_its_curves(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]
) -> None:
    usual = window.runs._timer.interval()
    window.runs._timer.setInterval(60_000)

    run_once()
    window.runs._timer.setInterval(usual)

    assert window.plots.stack.latest_time_s == pytest.approx(2.0)
    assert window.run_status.text().startswith("2.0 of 2 s")
    assert window.run_status.text().endswith("finished")

    # It is not of a scenario that comes after it.
    assert window.run_status.isVisible()
    window.documents.open_text(TWO_PATHS, "another")
    assert not window.run_status.isVisible()


def test_curves_grow_while_the_run_goes_on(qtbot: QtBot, window: MainWindow) -> None:
    start_endless(qtbot, window)
    qtbot.waitUntil(lambda: window.plots.stack.latest_time_s > 0.2)
    seen = window.plots.stack.latest_time_s
    qtbot.waitUntil(lambda: window.plots.stack.latest_time_s > seen)
    assert window.runs._timer.isActive()
    assert window.runs._timer.interval() >= 33  # 30 pictures a second at most

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.stop")

    assert not window.runs._timer.isActive()


def test_stopped_run_is_kept(qtbot: QtBot, window: MainWindow) -> None:
    start_endless(qtbot, window)

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.stop")

    (run,) = window.history.runs()
    assert run.status == "stopped"
    assert run.simulated_s > 0.2
    assert not window.bar["run.stop"].isEnabled()
    assert window.bar["run.toggle"].iconText() == "Run"


def test_pause_holds_the_run_and_resume_goes_on(qtbot: QtBot, window: MainWindow) -> None:
    start_endless(qtbot, window)
    window.bar.trigger("run.toggle")
    assert window.bar["run.toggle"].iconText() == "Resume"
    job = window.runs.job
    assert job is not None
    qtbot.waitUntil(lambda: job.progress.state == "paused")
    held = job.progress.sim_time_s
    # Three pictures later it is where it was.
    for _ in range(3):
        with qtbot.waitSignal(window.runs.ticked):
            pass
    assert job.progress.sim_time_s == held

    window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: job.progress.sim_time_s > held)
    assert window.bar["run.toggle"].iconText() == "Pause"


def test_paused_run_can_be_stopped(qtbot: QtBot, window: MainWindow) -> None:
    start_endless(qtbot, window)
    window.bar.trigger("run.toggle")

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.stop")

    assert [run.status for run in window.history.runs()] == ["stopped"]


def test_space_on_the_canvas_runs(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    window.topology.canvas.setFocus()

    with qtbot.waitSignal(window.runs.ended, timeout=20_000):
        QTest.keyClick(window.topology.canvas, Qt.Key.Key_Space)

    assert len(window.history.runs()) == 1


@pytest.mark.own_window
def test_closing_the_window_keeps_the_run_as_stopped(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    start_endless(qtbot, window)

    window.bar.trigger("file.quit")
    qtbot.waitUntil(lambda: not window.isVisible())

    (run,) = stored_runs(tmp_path / "runs.db")
    assert run.status == "stopped"
    assert run.simulated_s > 0.2


def test_run_asked_for_during_start_up_is_kept(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    window = make_window(qapp, tmp_path)
    window.show()
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.bar.trigger("run.speed_express")
    window.load()
    assert window.database.is_opening

    with qtbot.waitSignal(window.runs.ended, timeout=20_000):
        window.bar.trigger("run.toggle")

    assert [run.status for run in window.history.runs()] == ["finished"]
    close_window(qtbot, window)


def test_what_is_typed_but_not_entered_counts(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    committed = []
    monkeypatch.setattr(window.inspector, "commit_pending", lambda: committed.append(window.runs.is_running))
    monkeypatch.setattr(window.session, "toggle", lambda: None)

    window.bar.trigger("run.toggle")

    assert committed == [False]


def test_speed_can_be_changed_while_it_runs(qtbot: QtBot, window: MainWindow) -> None:
    start_endless(qtbot, window)
    assert window.runs.job is not None
    assert window.runs.job.speed_limit == 10.0

    window.bar.trigger("run.speed_real_time")
    assert window.runs.job.speed_limit == 1.0

    window.bar.trigger("run.speed_express")
    assert window.runs.job.speed_limit is None
    assert window.toolbar._speed.text().startswith("Max")


def test_links_show_what_they_do_until_the_run_ends(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[Any, ...]] = []
    cleared: list[bool] = []
    monkeypatch.setattr(window.topology, "set_link_state", lambda *state: told.append(state))
    monkeypatch.setattr(window.topology, "clear_link_states", lambda: cleared.append(True))
    start_endless(qtbot, window)
    qtbot.waitUntil(lambda: len(told) >= 4)
    assert {state[0] for state in told} == {"wifi/forward", "wifi/reverse", "lte/forward", "lte/reverse"}
    assert all(0.0 <= state[1] <= 1.0 and state[2] >= 0.0 and state[3] is True for state in told)

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.stop")

    assert cleared


# ---- what can go wrong ----


def test_full_disk_loses_nothing(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any) -> None:
        raise StoreFull("the disk is full", path="runs.db", way_on="Make room, or choose another file.")

    monkeypatch.setattr("subflow_store.run_writer.RunWriter.append", full)
    with qtbot.waitSignal(window.runs.ended, timeout=20_000) as ended:
        window.bar.trigger("run.toggle")
    _, result = ended.args
    assert not is_kept(result)
    assert "the disk is full" in window.banners.text("not_stored")
    assert window.plots.stack.latest_time_s == pytest.approx(2.0)
    monkeypatch.undo()
    dialogs.answer("database_path", tmp_path / "other.db")

    with qtbot.waitSignal(window.unsaved.saved):
        window.banners.press("not_stored", "Save to another database…")

    (run,) = stored_runs(tmp_path / "other.db")
    assert (run.status, run.signature) == ("finished", result.signature)
    assert window.unsaved.jobs == ()
    with qtbot.waitSignal(window.database.opened):
        window.banners.press("saved", "Use this database")
    assert [row.signature for row in window.history.runs()] == [result.signature]


@pytest.mark.own_window
def test_a_run_that_no_disk_takes_is_asked_about_before_the_window_closes(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any) -> None:
        raise StoreFull("the disk is full", path="runs.db")

    def no_room(*_arguments: Any) -> None:
        raise ExportError("the run Two paths cannot be rescued: No space left on device")

    monkeypatch.setattr("subflow_store.store.Store.start_run", full)
    monkeypatch.setattr("subflow_app.features.running.qt.unsaved_runs.save_rescue_copy", no_room)
    with qtbot.waitSignal(window.runs.ended, timeout=20_000):
        window.bar.trigger("run.toggle")
    dialogs.answer("confirm", False)

    window.close()
    assert window.isVisible()
    assert "No space left" in dialogs.asked[-1][1][2]
    assert len(window.unsaved.jobs) == 1
    # Room was made: nothing is asked, and where the run is is told.
    monkeypatch.setattr(
        "subflow_app.features.running.qt.unsaved_runs.save_rescue_copy", lambda *_arguments: Path("rescued")
    )
    window.close()

    assert not window.isVisible()
    assert dialogs.told[-1][2] == "rescued"


def test_unstored_run_is_exported_whole(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_arguments: Any) -> None:
        raise StoreFull("the disk is full", path="runs.db")

    monkeypatch.setattr("subflow_store.store.Store.start_run", locked)
    with qtbot.waitSignal(window.runs.ended, timeout=20_000):
        window.bar.trigger("run.toggle")
    dialogs.answer("folder", tmp_path)

    with qtbot.waitSignal(window.unsaved.exported) as exported:
        window.banners.press("not_stored", "Export data…")

    (folder,) = exported.args
    assert (folder / "scenario.toml").read_text() == TWO_PATHS
    # A header and 20 samples.
    assert len((folder / "subflows.csv").read_text().splitlines()) == 21
    assert window.unsaved.jobs == ()


def test_failed_simulation_keeps_what_there_is(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(simulation: FakeSimulation) -> None:
        if simulation.now_s > 1.0:
            raise ArithmeticError("a window below one packet")

    monkeypatch.setattr(
        core_runs, "make_simulation", lambda scenario, seed, dt: FakeSimulation(scenario, on_chunk=explode)
    )
    with qtbot.waitSignal(window.runs.ended, timeout=20_000):
        window.bar.trigger("run.toggle")

    assert "a window below one packet" in window.banners.text("run")
    assert [run.status for run in window.history.runs()] == ["failed"]
    assert window.plots.stack.latest_time_s >= 1.0


def test_result_arrives_on_the_gui_thread(qtbot: QtBot, window: MainWindow) -> None:
    import threading

    where: list[tuple[threading.Thread, threading.Thread]] = []
    window.workers.start(
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

    def refuse(*_arguments: Any) -> Any:
        raise SimulationError("too many samples")

    monkeypatch.setattr(core_runs, "make_simulation", refuse)
    parent = QObject()
    runs = RunControl(Workers(parent), parent)

    with qtbot.waitSignal(runs.refused) as refused:
        runs.start(parse_scenario(TWO_PATHS), TWO_PATHS, None, 0.1)

    assert refused.args == ["too many samples"]
    assert not runs.is_running


@pytest.mark.usefixtures("qapp")
def test_eta_and_speed_are_shown() -> None:
    from subflow_app.features.running.core.runs import RunProgress
    from subflow_app.features.running.qt.run_status import RunStatus
    from subflow_app.foundation.jobs.progress import JobState

    status = RunStatus()
    status.show_progress(RunProgress(JobState.RUNNING, 12.34, 60.0, 9.98, 4.77, 1000, 0.1))
    assert status.text() == "12.3 of 60 s · 10× real time · 4.8 s left"
    status.show_progress(RunProgress(JobState.RUNNING, 0.0, 60.0, 0.0, math.nan, 0, 0.0))
    assert status.text() == "0.0 of 60 s"
    status.show_progress(RunProgress(JobState.PAUSED, 12.34, 60.0, 9.98, 4.77, 1000, 0.1))
    assert status.text().endswith("paused")
