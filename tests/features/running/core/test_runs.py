"""A run: kept in all circumstances, readable while it runs, and prompt to stop or pause."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.fake_runs import RICH
from tests.helpers.fake_simulation import FakeSimulation, make_flow, make_scenario
from tests.helpers.members import for_each
from tests.helpers.networks import link, scenario, tcp
from tests.helpers.present import present
from tests.helpers.raising import raising

from subflow_app.features.running.core import run_recorder, runs
from subflow_app.features.running.core.runs import RunJob, RunResult, decision_limits
from subflow_app.features.traces.core.traces import select_keys
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.decisions import DecisionLimits
from subflow_sim.errors import SimulationError
from subflow_sim.whole_scenario import Scenario
from subflow_store.errors import StoreFull, StoreLocked
from subflow_store.values import ColumnSpec, EventTable, RunStart

SCENARIO = make_scenario(duration_s=10.0)
# The fake costs nothing, so its chunks grow by 4 from 1 ms: 5.5 s are reached after seven, 87 s after nine.
LONG = make_scenario(duration_s=1000.0)
DEADLINE_S = 20.0


class RecordingStore:
    """Records the data of a run; raises `StoreFull` from the named step on."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.start: RunStart | None = None
        self.columns: Sequence[ColumnSpec] = ()
        self.blocks: list[tuple[int, np.ndarray]] = []
        self.events: list[tuple[str, EventTable]] = []
        self.marks: list[tuple[int, str, str, float]] = []
        self.finished: dict[str, Any] = {}
        self.is_abandoned = False
        self.run_id = 7

    def start_run(self, start: RunStart, columns: Sequence[ColumnSpec]) -> RecordingStore:
        self._fail_in("start_run")
        self.start, self.columns = start, columns
        return self

    def append(self, first_sample: int, block: np.ndarray) -> None:
        self._fail_in("append")
        self.blocks.append((first_sample, block.copy()))

    def add_marks(self, rows: Sequence[tuple[int, str, str, float]]) -> None:
        self._fail_in("add_marks")
        self.marks.extend(rows)

    def add_events(self, stream: str, table: EventTable) -> None:
        self._fail_in("add_events")
        self.events.append((stream, table))

    def finish(self, status: str, summary: dict[str, Any], signature: str) -> None:
        self._fail_in("finish")
        self.finished = {"status": status, "summary": dict(summary), "signature": signature}

    def abandon(self) -> None:
        self.is_abandoned = True

    def _fail_in(self, step: str) -> None:
        if step == self.failing:
            raise StoreFull("there is no space left", path="x.db", way_on="Free some.")


def make_job(
    store: Any = None,
    on_chunk: Callable[[FakeSimulation], None] = lambda simulation: None,
    scenario: Scenario = SCENARIO,
    **options: Any,
) -> RunJob:
    return RunJob(
        scenario,
        "format = 1\n",
        store=store,
        simulation_maker=lambda scenario, seed, interval_s: FakeSimulation(
            scenario, seed=seed, sample_interval_s=interval_s, on_chunk=on_chunk
        ),
        **options,
    )


def at(time_s: float, act: Callable[[], None]) -> Callable[[FakeSimulation], None]:
    """Acts in the first chunk that begins at that time or later."""
    done: list[bool] = []

    def on_chunk(simulation: FakeSimulation) -> None:
        if simulation.now_s >= time_s and not done:
            done.append(True)
            act()

    return on_chunk


def fail() -> None:
    raise SimulationError("a queue has lost count")


def test_finished_run_has_the_summary_with_wall_time_and_run_number() -> None:
    store = RecordingStore()
    result = make_job(store, seed=5).run()

    assert result.status is JobState.FINISHED
    assert result.error is None
    assert result.store_error is None
    assert result.run_id == result.summary["run_id"] == 7
    assert result.summary["seed"] == 5
    assert result.summary["status"] == "finished"
    assert result.summary["wall_s"] > 0
    assert store.finished["summary"] == result.summary
    assert store.finished["signature"] == result.signature == result.summary["signature"]


def test_store_is_told_what_the_run_is() -> None:
    store = RecordingStore()
    make_job(store, name="Mine", seed=5, sample_interval_s=0.5).run()

    start = present(store.start)
    assert (start.name, start.scenario_name, start.scenario_text) == ("Mine", "Fake", "format = 1\n")
    assert (start.seed, start.duration_s, start.warmup_s, start.sample_interval_s) == (5, 10.0, 2.0, 0.5)
    assert start.controllers == "lia"
    assert start.version


def test_store_gets_every_sample_of_every_column_once_and_in_order() -> None:
    store = RecordingStore()
    job = make_job(store)
    job.run()

    firsts = [first for first, _ in store.blocks]
    lengths = [len(block) for _, block in store.blocks]
    assert firsts == list(np.cumsum([0, *lengths[:-1]]))
    table = np.concatenate([block for _, block in store.blocks])
    for index, column in enumerate(store.columns):
        _, values = job.traces.read(select_keys(job.traces, column.scope, column.name, column.owner)[0])
        np.testing.assert_array_equal(table[:, index], values)
    assert len(table) == 100  # 10 s at 0.1 s


def seconds(store: RecordingStore, stream: str) -> list[float]:
    """Times of the stored rows of a stream, each once."""
    times = [table["time_ns"] / 1e9 for name, table in store.events if name == stream]
    return sorted(set(np.concatenate(times).tolist())) if times else []


@for_each("decisions", [None, DecisionLimits()], ids=["not asked for", "asked for"])
def test_events_reach_store_and_live_traces_and_decisions_if_asked_for(decisions: DecisionLimits | None) -> None:
    store = RecordingStore()
    job = make_job(store, scenario=RICH, decisions=decisions)
    job.run()

    whole_seconds = [float(second) for second in range(1, 11)]
    assert [mark.time_s for mark in job.traces.marks()] == whole_seconds
    assert [mark[0] for mark in store.marks] == [10**9 * second for second in range(1, 11)]
    # The fake finishes an interval of each subflow every second, and decides then and half a second earlier.
    assert seconds(store, "interval") == whole_seconds
    assert seconds(store, "decision") == ([0.5 * step for step in range(1, 21)] if decisions else [])
    for stream, count in (("interval", 20), ("decision", 30 if decisions else 0)):
        assert sum(len(table) for name, table in store.events if name == stream) == count
        assert len(job.traces.events(stream)) == count


@pytest.mark.parametrize(
    ("count", "capacity"),
    # Two subflows and a scheduler each: 2^22 rows for 3 x 200 owners are 6990 each.
    [(1, 1 << 18), (5, 1 << 18), (200, 6990), (5000, 1 << 12)],
)
def test_room_for_a_window_of_decisions_is_shared_out(count: int, capacity: int) -> None:
    many = make_scenario(make_flow("download", count=count), make_flow("noise", "cbr", ("wifi",)))

    assert decision_limits(many) == DecisionLimits(1 << 18)
    assert decision_limits(many, 2.5) == DecisionLimits(capacity, 2.5)


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_window_of_decisions_ends_with_the_run(is_stopped: bool) -> None:
    store = RecordingStore()
    job = make_job(
        store,
        on_chunk=at(5.0, lambda: job.stop()) if is_stopped else lambda simulation: None,
        scenario=replace(RICH, duration_s=1000.0),
        decisions=DecisionLimits(window_s=3.2),
    )
    job.run()

    end_s = job.progress.sim_time_s
    assert is_stopped == (end_s < 999.0)
    times = [0.5 * step for step in range(1, 2 * int(end_s) + 1)]
    assert seconds(store, "decision") == [time_s for time_s in times if time_s >= end_s - 3.2]
    assert len([name for name, _ in store.events if name == "decision"]) == 1


def test_very_many_decisions_do_not_wait_for_the_next_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_recorder, "BLOCK_WALL_S", 1e9)
    monkeypatch.setattr(run_recorder, "BLOCK_EVENTS", 50)
    store = RecordingStore()
    stored_at_30_s: list[int] = []
    job = make_job(
        store,
        on_chunk=at(30.0, lambda: stored_at_30_s.append(len(store.events))),
        scenario=replace(RICH, duration_s=200.0),
        decisions=DecisionLimits(),
        sample_interval_s=10.0,
    )
    job.run()

    assert stored_at_30_s[0] > 0
    assert seconds(store, "decision")[-1] == 200.0


def test_without_a_store_the_run_stays_in_memory() -> None:
    job = make_job()
    result = job.run()

    assert result.run_id is None
    assert result.summary["run_id"] is None
    assert result.store_error is None
    assert len(job.traces.read(job.traces.keys()[0])[1]) == 100


class SlowStore(RecordingStore):
    """Begins a run only after permission by the test."""

    def __init__(self) -> None:
        super().__init__()
        self.may_begin = threading.Event()

    def start_run(self, start: RunStart, columns: Sequence[ColumnSpec]) -> RecordingStore:
        assert self.may_begin.wait(DEADLINE_S)
        return super().start_run(start, columns)


def test_a_run_does_not_wait_for_the_store_to_begin_and_is_stored_whole() -> None:
    store = SlowStore()
    numbers: list[int | None] = []

    def begin() -> None:
        numbers.append(job.run_id)
        store.may_begin.set()

    job = make_job(store, at(5.0, begin), RICH)
    result = job.run()
    assert numbers == [None]
    assert result.status is JobState.FINISHED
    assert result.run_id == job.run_id == 7
    assert sum(len(block) for _, block in store.blocks) == 100
    assert len(store.marks) == 10
    assert len(set(seconds(store, "interval"))) == 10


def test_traces_grow_while_the_run_goes_on() -> None:
    lengths: list[int] = []
    job: RunJob | None = None

    def look(simulation: FakeSimulation) -> None:
        if job is not None:
            time_s, values = job.traces.read(job.traces.keys()[0])
            assert len(time_s) == len(values) == simulation.sample_count
            lengths.append(len(values))

    job = make_job(on_chunk=look)
    job.run()

    assert lengths == sorted(lengths)
    assert 0 < lengths[-1] < 100


def test_stopped_run_is_kept_with_what_it_has() -> None:
    store = RecordingStore()
    job: RunJob = make_job(store, on_chunk=at(4.0, lambda: job.stop()), scenario=LONG)
    result = job.run()

    assert result.status is JobState.STOPPED
    assert result.run_id == 7
    assert store.finished["status"] == "stopped"
    assert 4.0 <= job.progress.sim_time_s < 100.0
    assert sum(len(block) for _, block in store.blocks) >= 40


def test_run_that_is_stopped_before_it_starts_ends_at_once() -> None:
    job = make_job()
    job.stop()

    assert job.run().status is JobState.STOPPED
    assert job.progress.sim_time_s == 0.0


@pytest.mark.parametrize("error", [SimulationError("a queue has lost count"), ValueError("a bug")])
def test_failed_run_is_kept_up_to_the_failure(error: Exception) -> None:
    store = RecordingStore()
    job = make_job(store, on_chunk=at(4.0, raising(error)))
    result = job.run()

    assert result.status is JobState.FAILED
    assert result.error is error
    assert result.run_id == 7
    assert store.finished["status"] == "failed"
    assert sum(len(block) for _, block in store.blocks) >= 40
    assert job.progress.state is JobState.FAILED


def test_failure_without_even_a_summary_is_kept_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSimulation, "summary", raising(SimulationError("no summary either")))
    store = RecordingStore()
    result = make_job(store, on_chunk=at(4.0, fail)).run()

    assert result.status is JobState.FAILED
    assert str(result.error) == "a queue has lost count"
    assert result.summary["scenario"] == "Fake"
    assert store.finished["status"] == "failed"


@for_each("step", ["start_run", "append", "add_marks", "add_events", "finish"])
def test_failing_store_does_not_stop_the_run_and_traces_stay_whole(step: str) -> None:
    store = RecordingStore(failing=step)
    job = make_job(store, scenario=RICH, decisions=DecisionLimits())
    result = job.run()

    assert result.status is JobState.FINISHED
    assert isinstance(result.store_error, StoreFull)
    assert result.run_id is None
    assert result.summary["run_id"] is None
    assert store.is_abandoned == (step != "start_run")
    assert len(job.traces.read(job.traces.keys()[0])[1]) == 100
    assert len(job.traces.marks()) == 10
    assert len(job.traces.events("decision")) == 30
    assert len(job.traces.events("interval")) == 20


def test_paused_run_stands_still_stores_what_it_has_and_goes_on() -> None:
    paused = threading.Event()

    class NotifyingStore(RecordingStore):
        def append(self, first_sample: int, block: np.ndarray) -> None:
            super().append(first_sample, block)
            if job.progress.state is JobState.PAUSED:
                paused.set()

    store = NotifyingStore()
    job: RunJob = make_job(store, on_chunk=at(4.0, lambda: job.pause()), scenario=LONG)
    results: list[RunResult] = []
    worker = threading.Thread(target=lambda: results.append(job.run()))
    worker.start()
    assert paused.wait(DEADLINE_S)
    reached_s = job.progress.sim_time_s
    stored = sum(len(block) for _, block in store.blocks)

    assert 4.0 <= reached_s < 100.0
    assert stored == len(job.traces.read(job.traces.keys()[0])[1])

    job.unpause()
    worker.join(DEADLINE_S)
    assert results[0].status is JobState.FINISHED
    assert job.progress.sim_time_s == 1000.0


def test_paused_run_can_be_stopped() -> None:
    job = make_job()
    job.pause()
    worker = threading.Thread(target=job.run)
    worker.start()
    job.stop()
    worker.join(DEADLINE_S)

    assert job.progress.state is JobState.STOPPED


def test_stop_and_pause_reach_into_the_chunk_at_hand() -> None:
    def interrupts(ask: str) -> int:
        simulation = FakeSimulation(SCENARIO)
        job = RunJob(SCENARIO, "", simulation_maker=lambda *_: simulation)
        getattr(job, ask)()
        return simulation.interrupts

    assert (interrupts("stop"), interrupts("pause"), interrupts("unpause")) == (1, 1, 0)


class Interrupted(FakeSimulation):
    """Reaches half of the requested time in its third chunk, as if `interrupt` had been called then."""

    def run_until(self, t_s: float) -> bool:
        if self.chunks != 2:
            return super().run_until(t_s)
        super().run_until((self.now_s + t_s) / 2)
        return False


def test_a_chunk_that_was_cut_short_is_gone_on_with() -> None:
    job = RunJob(SCENARIO, "", simulation_maker=lambda *_: Interrupted(SCENARIO))

    assert job.run().status is JobState.FINISHED
    assert job.progress.sim_time_s == SCENARIO.duration_s


def test_a_real_run_that_is_stopped_can_be_read() -> None:
    # 2 * 10^4 s at 1 Gbit/s would take too long. The request comes during one of the chunks.
    path = link("path", rate_bps=1e9, delay_s=0.005, queue_pkts=500)
    job = RunJob(scenario([path], [tcp("t", "path")], duration_s=2e4), "", sample_interval_s=100.0)
    results: list[RunResult] = []
    worker = threading.Thread(target=lambda: results.append(job.run()))
    worker.start()
    while job.progress.state is JobState.WAITING:
        pass
    job.stop()
    worker.join(DEADLINE_S)

    assert results[0].status is JobState.STOPPED
    assert results[0].error is None
    assert results[0].summary["status"] == "stopped"
    assert results[0].summary["simulated_s"] == job.progress.sim_time_s < 2e4


def test_a_job_runs_once() -> None:
    job = make_job()
    job.run()

    with pytest.raises(RuntimeError, match="once"):
        job.run()


class Clock:
    """Replaces `time` in the module of runs; the test advances it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def perf_counter(self) -> float:
        return self.now_s


class CostlySimulation(FakeSimulation):
    """Takes wall time by its own clock: `cost` seconds per simulated second."""

    clock: Clock
    cost = 0.5
    chunk_walls_s: list[float]

    def run_until(self, t_s: float) -> bool:
        wall_s = self.cost * (t_s - self.now_s)
        self.clock.now_s += wall_s
        self.chunk_walls_s.append(wall_s)
        return super().run_until(t_s)


def costly_job(monkeypatch: pytest.MonkeyPatch, scenario: Scenario = SCENARIO) -> tuple[RunJob, CostlySimulation]:
    clock = Clock()
    monkeypatch.setattr(runs, "time", clock)
    simulation = CostlySimulation(scenario)
    simulation.clock, simulation.chunk_walls_s = clock, []
    return RunJob(scenario, "", simulation_maker=lambda *_: simulation), simulation


def test_chunks_settle_at_a_wall_time_that_keeps_stop_and_progress_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    job, simulation = costly_job(monkeypatch)
    job.run()

    # The first chunks grow by 4 from 0.5 ms: 0.5, 2, 8, then 15 ms; the last chunk takes the remaining time.
    assert simulation.chunk_walls_s[3:-1] == pytest.approx([0.015] * (len(simulation.chunk_walls_s) - 4))
    assert max(simulation.chunk_walls_s) < 0.016


def test_progress_tells_speed_and_time_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    job, simulation = costly_job(monkeypatch)
    assert job.progress.state is JobState.WAITING
    assert np.isnan(job.progress.eta_s)

    seen = []
    simulation._on_chunk = lambda _: seen.append(job.progress)
    job.run()

    halfway = next(progress for progress in seen if progress.sim_time_s > 5.0)
    # Half a second of wall time per simulated second: speed 2, and half of the remaining time to wait.
    assert halfway.speed == pytest.approx(2.0)
    assert halfway.eta_s == pytest.approx((10.0 - halfway.sim_time_s) * 0.5)
    assert halfway.fraction == pytest.approx(halfway.sim_time_s / 10.0)
    assert job.progress.wall_s == pytest.approx(5.0)


def test_refused_scenario_is_raised_at_once() -> None:
    with pytest.raises(SimulationError, match="beyond memory"):
        RunJob(SCENARIO, "", simulation_maker=raising(SimulationError("traces beyond memory")))


def test_controllers_of_a_run_are_listed_once() -> None:
    from subflow_app.features.running.core.run_recorder import controllers_text

    flows = {name: SimpleNamespace(controller=SimpleNamespace(name=name.rstrip("12"))) for name in ("lia1", "lia2", "")}

    scenario: Any = SimpleNamespace(flows=flows)
    assert controllers_text(scenario) == "lia"
    changes = ({"link": "wifi"}, {"flow": "f", "controller": "olia"}, {"flow": "f", "controller": {"name": "balia"}})
    assert controllers_text(scenario, changes) == "lia, olia, balia"


def test_a_database_that_is_locked_when_the_run_begins_gets_it_when_it_ends() -> None:
    class LockedAtFirst(RecordingStore):
        is_locked = True
        began_at: datetime | None = None

        def start_run(self, start: RunStart, columns: Sequence[ColumnSpec]) -> RecordingStore:
            if self.is_locked:
                raise StoreLocked("another program has kept it locked for more than 5 s", path="x.db")
            self.began_at = start.started_at_utc
            return super().start_run(start, columns)

    store = LockedAtFirst()
    began = datetime.now(UTC)
    job = make_job(store, on_chunk=at(4.0, lambda: setattr(store, "is_locked", False)), scenario=RICH)
    result = job.run()

    assert result.store_error is None
    assert result.run_id == result.summary["run_id"] == store.finished["summary"]["run_id"] == 7
    assert sum(len(block) for _, block in store.blocks) == 100
    assert began <= present(store.began_at) < datetime.now(UTC)
    assert job.traces.run_id == 7


def test_a_database_that_stays_locked_leaves_the_run_in_memory() -> None:
    class Locked(RecordingStore):
        def start_run(self, start: RunStart, columns: Sequence[ColumnSpec]) -> RecordingStore:
            raise StoreLocked("another program has kept it locked for more than 5 s", path="x.db")

    result = make_job(Locked()).run()

    assert isinstance(result.store_error, StoreLocked)
    assert result.run_id is None
