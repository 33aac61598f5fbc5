"""The queue: runs continue side by side, fail independently, and can be moved, cancelled and repeated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pytest
from tests.helpers.raising import raising
from tests.helpers.scenario_texts import TWO_PATHS
from tests.helpers.waiting import wait_until

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.features.running.core import run_queue
from subflow_app.features.running.core.run_queue import QueuedRun, RunQueue
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store import Store
from subflow_store.errors import StoreFull

CONTROLLER = "flows.download.controller"
SHORT = TWO_PATHS.replace('"60s"', '"2s"')
ENDLESS = TWO_PATHS.replace('"60s"', '"100000s"')
LONG = QueuedRun(ScenarioSource(parse_scenario(ENDLESS), ENDLESS, Use.QUEUE), "long")


def grid(seeds: Sequence[int], controllers: Sequence[str] = ("lia",)) -> list[QueuedRun]:
    return [
        QueuedRun(source_of(Use.SWEEP, SHORT, overrides=(f"seed={seed}", f"{CONTROLLER}={name}")), f"Two paths, {name}")
        for name in controllers
        for seed in seeds
    ]


@pytest.fixture
def queue(store: Store) -> Iterator[RunQueue]:
    made = RunQueue(lambda: store, lambda: 0.1, parallel=2)
    yield made
    made.close()


def states(queue: RunQueue) -> list[str]:
    return [entry.state.value for entry in queue.entries()]


def test_a_grid_is_each_controller_with_each_seed_and_every_run_has_the_tag(queue: RunQueue, store: Store) -> None:
    runs = grid([1, 2, 3], ["lia", "olia"])
    queue.add(runs, "batch")
    wait_until(lambda: not queue.is_busy)
    stored = {(run.controllers, run.seed): run for run in store.runs()}
    assert set(stored) == {(name, seed) for name in ("lia", "olia") for seed in (1, 2, 3)}
    assert {run.name for run in stored.values()} == {"Two paths, lia", "Two paths, olia"}
    assert all(run.tags == ("batch",) for run in stored.values())
    # The stored run is that of its scenario and seed.
    kept = store.run(stored["olia", 2].id)
    simulation = Simulation(parse_scenario(kept.scenario_text or ""))
    simulation.run_until(2.0)
    assert simulation.signature() == kept.signature
    progress = queue.progress()
    assert (progress.finished, progress.runs, progress.fraction, progress.eta_s) == (6, 6, 1.0, 0.0)
    assert len(queue.take_ended()) == 6
    assert queue.take_ended() == []


def test_a_grid_that_the_scenario_does_not_take_is_refused() -> None:
    with pytest.raises(ScenarioError, match="nonsense"):
        grid([1], ["nonsense"])


def test_no_more_runs_go_on_than_asked_for_and_the_others_wait(queue: RunQueue) -> None:
    queue.add([LONG] * 4)
    wait_until(lambda: sum(entry.fraction > 0 for entry in queue.entries()) == 2)
    assert states(queue) == ["running", "running", "waiting", "waiting"]
    queue.set_parallel(3)
    wait_until(lambda: sum(entry.fraction > 0 for entry in queue.entries()) == 3)
    assert queue.progress().eta_s > 0


def test_a_cancelled_run_is_kept_as_far_as_it_went_and_can_be_tried_again(queue: RunQueue, store: Store) -> None:
    first, second, third = queue.add([LONG] * 3)
    wait_until(lambda: queue.entries()[0].fraction > 0)
    queue.cancel([first, third])
    wait_until(lambda: states(queue)[0] == "cancelled")
    assert states(queue)[1:] == ["running", "cancelled"]
    assert store.run(queue.entries()[0].run_id or 0).status == "stopped"
    queue.retry([third])
    wait_until(lambda: states(queue)[2] == "running")
    queue.remove([first, second])  # the second is running, and stays
    assert [entry.number for entry in queue.entries()] == [second, third]


def test_a_paused_queue_starts_nothing_and_holds_what_goes_on(queue: RunQueue) -> None:
    queue.add([LONG])
    wait_until(lambda: queue.entries()[0].fraction > 0)
    queue.pause()
    queue.add([LONG])
    assert states(queue) == ["running", "waiting"]
    assert queue.progress().state is JobState.PAUSED
    queue.unpause()
    assert states(queue) == ["running", "running"]


def test_the_time_of_a_queue_is_estimated_before_it_starts_and_corrected(queue: RunQueue) -> None:
    queue.pause()
    queue.add([*grid(range(3)), LONG])
    assert math.isnan(queue.progress().eta_s)
    queue.estimate()
    first_s = queue.progress().eta_s
    assert 0 < first_s < math.inf
    queue.cancel([4])
    # The estimate counts simulated time: a cancelled run takes no time.
    assert queue.progress().eta_s < first_s / 1000
    queue.unpause()
    wait_until(lambda: not queue.is_busy)
    assert queue.progress().eta_s == 0
    queue.pause()
    queue.add(grid([9]))
    walls_s = [item.wall_s for item in queue._items if item.wall_s]
    assert queue.progress().eta_s == pytest.approx(sum(walls_s) / len(walls_s))


def test_runs_move_among_each_other(queue: RunQueue) -> None:
    queue.pause()
    numbers = queue.add([LONG] * 4)
    queue.move([numbers[3], numbers[2]], -1)
    assert [entry.number for entry in queue.entries()] == [numbers[i] for i in (0, 2, 3, 1)]
    queue.move([numbers[0]], -1)
    queue.move([numbers[0]], 1)
    assert [entry.number for entry in queue.entries()] == [numbers[i] for i in (2, 0, 3, 1)]


def test_a_run_that_raises_or_is_too_large_stops_no_other(queue: RunQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    class Raising(RunJob):
        def run(self) -> RunResult:
            if self.seed == 2:
                raise ValueError("a plug-in raised this")
            return super().run()

    monkeypatch.setattr(run_queue, "RunJob", Raising)
    fast = parse_scenario(SHORT.replace('"8Mbit/s"', '"900Gbit/s"').replace('"2s"', '"900s"'))
    queue.add([*grid([1, 2, 3]), QueuedRun(ScenarioSource(fast, SHORT, Use.QUEUE), "fast")])
    queue.add(grid([4]))
    wait_until(lambda: not queue.is_busy)
    assert states(queue) == ["finished", "failed", "finished", "failed", "finished"]
    assert queue.entries()[1].note == "a plug-in raised this"
    assert queue.entries()[3].note
    monkeypatch.undo()
    queue.retry([queue.entries()[1].number])
    wait_until(lambda: states(queue)[1] == "finished")
    queue.clear_finished()
    assert states(queue) == ["failed"]


def test_a_store_that_fails_leaves_runs_in_memory_and_the_queue(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "start_run", raising(StoreFull("the disk is full", path="x.db", way_on="Free some.")))
    queue = RunQueue(lambda: store, lambda: 0.1, parallel=1)
    queue.add(grid([1, 2]))
    wait_until(lambda: not queue.is_busy)
    assert states(queue) == ["finished", "finished"]
    assert all("the disk is full" in entry.note for entry in queue.entries())
    ended = queue.take_ended()
    assert [result.run_id for _job, result in ended] == [None, None]
    queue.close()


def test_closing_keeps_what_was_simulated(store: Store) -> None:
    queue = RunQueue(lambda: store, lambda: 0.1, parallel=1)
    queue.add([LONG, LONG])
    wait_until(lambda: queue.entries()[0].fraction > 0)
    queue.close()
    assert states(queue) == ["cancelled", "cancelled"]
    assert [run.status for run in store.runs()] == ["stopped"]
    assert JobState.CANCELLED.is_over
