"""A whole sweep: run once, reused, stopped, paused, resumed, and its handling of impossible runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.features.sweeps.core.plans import CONTROLLER, LOSS, SCENARIO, plan
from tests.helpers.present import present

from subflow_app.features.running.core.run_task import RunOutcome, RunTask, make_run
from subflow_app.features.sweeps.core import sweep_job
from subflow_app.features.sweeps.core.sweep_estimate import SweepEstimate, SweepLimits, estimate_sweep
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_plan import MOST_PROBLEMS, PointReader, SweepPlan, check_points
from subflow_app.features.sweeps.core.sweep_results import wide_csv
from subflow_app.foundation.errors import ClusterError, SweepError
from subflow_app.foundation.jobs import executors
from subflow_app.foundation.jobs.executors import Threads
from subflow_app.foundation.jobs.job import ATTEMPTS
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import Answer, OnStart, Task
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store import Store, open_store
from subflow_store.liveness import this_process


class Watched(Threads):
    """Counts the submitted runs, and calls `before` ahead of each."""

    def __init__(self, before: Callable[[int], None] = lambda made: None) -> None:
        super().__init__()
        self.made = 0
        self.tasks: list[Task] = []
        self._before = before

    def submit(self, task: Task) -> None:
        self.tasks.append(task)
        super().submit(task)

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        self._before(self.made)
        answers = super().wait(timeout_s)
        self.made += len(answers)
        return answers


class Losing(Threads):
    """Loses every run of some tasks, as if its worker had died."""

    def __init__(self, is_lost: Callable[[Task], bool]) -> None:
        super().__init__()
        self._is_lost = is_lost
        self._lost: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        if self._is_lost(task):
            self._lost.append(task)
        else:
            super().submit(task)

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        if self._lost:
            return (Answer(self._lost.popleft().number, None, "its process was ended by SIGKILL"),)
        return super().wait(timeout_s)


def swept(store: Store, wanted: SweepPlan) -> SweepJob:
    """A finished sweep."""
    job = SweepJob(wanted, store)
    job.run()
    return job


def test_each_run_is_that_of_the_scenario_with_its_values(store: Store) -> None:
    job = SweepJob(plan(), store)
    assert job.progress.state is JobState.WAITING
    result = job.run()
    assert (result.state, result.problems, result.error) == (JobState.FINISHED, (), None)
    assert (job.progress.finished, job.progress.fraction, job.progress.failed) == (12, 1.0, 0)
    rows = store.sweeps.runs(present(job.sweep_id))
    assert len(rows) == 12
    row = rows[9]  # the fifth point with its second seed: 2 %, lia
    run = store.run(present(row.run_id))
    again = parse_scenario(present(run.scenario_text))
    assert (again.links["wifi"].forward.loss, again.flows["download"].controller.name, again.seed) == (0.02, "lia", 2)
    assert "# so that it takes milliseconds" in present(run.scenario_text)
    simulation = Simulation(again)
    simulation.run_until(again.duration_s)
    assert (run.signature, run.status, run.seed) == (simulation.signature(), "finished", 2)
    assert run.name == f"Loss: {LOSS} = 2%, lia"
    assert run.simulated_s == pytest.approx(1.0)
    series = store.series(run.id)
    assert [(each.owner, each.name) for each in series] == [(c.owner, c.name) for c in simulation.columns]
    for index in (0, len(series) - 1):
        assert store.read(series[index].id).values.tobytes() == simulation.values(index).tobytes()
    assert len(store.marks(run.id)) == len(simulation.take_marks())
    table = present(job.table())
    assert table.rows[4].cells["goodput_bps"].values[1] == simulation.summary()["flows"][0]["goodput_bps"]


def test_without_traces_figures_are_kept_alone(store: Store) -> None:
    with_contents = swept(store, plan(axes={LOSS: ["1%"]}))
    job = swept(store, plan(traces=False))
    table, full = present(job.table()), present(with_contents.table())
    # Runs that another sweep has stored with traces are reused.
    assert job.progress.reused == 2
    run_id = present(table.rows[0].run_ids[0])
    run = store.run(run_id)
    assert store.series(run_id) == []
    assert run.simulated_s == pytest.approx(1.0)
    assert run.status == "finished"
    assert table.rows[2].cells["goodput_bps"] == full.rows[0].cells["goodput_bps"]
    # Runs with the traces required now have to be made.
    again = swept(store, plan())
    assert again.progress.reused == 2


def test_no_finished_run_is_made_twice_also_not_by_another_sweep(store: Store) -> None:
    SweepJob(plan(), store).run()
    watched = Watched()
    # The same runs in other notation and order, and one loss more.
    other = plan(name="Other", axes={CONTROLLER: ["olia", "lia"], LOSS: [0.02, 0.0, "10e-3", "3%"]}, seeds="2,1")
    job = SweepJob(other, store, executor=lambda: watched)
    assert job.run().state is JobState.FINISHED
    assert (job.progress.finished, job.progress.reused, watched.made) == (16, 12, 4)
    assert len(store.runs()) == 16


def test_points_that_are_the_same_share_their_runs(store: Store) -> None:
    watched = Watched()
    twice = plan(kind="list", axes=None, points=[{LOSS: "1%"}, {LOSS: "0.01"}, {CONTROLLER: "lia"}])
    job = SweepJob(twice, store, executor=lambda: watched)
    job.run()
    assert (watched.made, job.progress.finished, job.progress.fraction) == (2, 6, 1.0)
    table = present(job.table())
    assert len({row.run_ids for row in table.rows}) == 1


def test_a_stopped_sweep_is_kept_and_goes_on_where_it_was(store: Store) -> None:
    whole = SweepJob(plan(name="Whole"), open_store(":memory:"))
    whole.run()
    job = SweepJob(plan(), store, executor=lambda: Watched(lambda made: job.stop() if made == 5 else None))
    result = job.run()
    assert (result.state, job.progress.finished) == (JobState.STOPPED, 5)
    assert store.sweeps.get(present(job.sweep_id)).state == "stopped"
    watched = Watched()
    again = SweepJob.resumed(store, present(job.sweep_id), executor=lambda: watched)
    assert again.run().state is JobState.FINISHED
    assert watched.made == 12 - 5
    assert [row.state for row in store.sweeps.rows()] == ["finished"]
    table, expected = again.table(), whole.table()
    assert wide_csv(present(table)) == wide_csv(present(expected))


def test_a_paused_sweep_begins_nothing_until_it_is_resumed(store: Store) -> None:
    paused = threading.Event()

    def pause_once(made: int) -> None:
        if made == 3 and not paused.is_set():
            job.pause()
            paused.set()

    job = SweepJob(plan(), store, executor=lambda: Watched(pause_once))
    thread = threading.Thread(target=job.run)
    thread.start()
    assert paused.wait(30)
    while job.progress.state is not JobState.PAUSED or job.progress.under_way:
        assert thread.is_alive()
        thread.join(0.01)
    assert job.progress.finished == 4
    assert job.sweep_id is not None
    job.unpause()
    thread.join(30)
    assert job.progress.fraction == 1.0


def test_a_run_whose_worker_dies_is_tried_again_and_then_given_up(store: Store) -> None:
    lost: list[int] = []

    def is_lost(task: Task) -> bool:
        (run,) = task.work.args  # type: ignore[attr-defined] # it is a partial
        is_bad = bool(run.seed == 2 and run.scenario.links["wifi"].forward.loss == 0.02)
        if is_bad:
            lost.append(task.number)
        return is_bad

    job = SweepJob(plan(axes={LOSS: ["1%", "2%"]}), store, executor=lambda: Losing(is_lost))
    result = job.run()
    assert (result.state, job.progress.finished, job.progress.failed) == (JobState.FAILED, 3, 1)
    assert len(lost) == ATTEMPTS == 3
    told = "point 2 (links.wifi.loss = 2%), seed 2: tried 3 times, and each time its process was ended by SIGKILL"
    assert result.problems == (told,)
    record = store.sweeps.get(present(job.sweep_id))
    assert (record.state, record.failed, record.message) == ("failed", 1, told)
    # After the fault is fixed, only the lost run is made.
    watched = Watched()
    again = SweepJob.resumed(store, present(job.sweep_id), executor=lambda: watched)
    assert (again.run().state, watched.made) == (JobState.FINISHED, 1)


def test_a_run_that_fails_does_not_stop_the_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[RunTask] = []

    def fail_once(task: RunTask, on_start: OnStart) -> RunOutcome:
        made.append(task)
        return make_run(RunTask(task.scenario, -1, task.sample_interval_s) if len(made) == 2 else task, on_start)

    monkeypatch.setattr(sweep_job, "make_run", fail_once)
    job = SweepJob(plan(axes={LOSS: ["1%", "2%"]}), store)
    result = job.run()
    assert (result.state, job.progress.finished, job.progress.failed) == (JobState.FAILED, 3, 1)
    assert result.problems[0].startswith("point 1 (links.wifi.loss = 1%), seed 2: ")


def test_workers_of_another_version_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_elsewhere(task: RunTask, on_start: OnStart) -> RunOutcome:
        return replace(make_run(task, on_start), version="0.0.1+other")

    monkeypatch.setattr(sweep_job, "make_run", made_elsewhere)
    result = SweepJob(plan(), store).run()
    assert result.state is JobState.FAILED
    assert isinstance(result.error, ClusterError)
    assert "another version of Subflow (0.0.1+other)" in str(result.error)
    assert store.runs() == []


def test_a_sweep_that_somebody_is_at_is_refused(store: Store) -> None:
    job = swept(store, plan())
    store.sweeps.set_state(present(job.sweep_id), "running", process=this_process())
    with pytest.raises(SweepError, match=r"is running in process \d+: stop it there first"):
        SweepJob.resumed(store, present(job.sweep_id))


def test_another_version_makes_the_runs_of_a_sweep_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = swept(store, plan(axes={LOSS: ["1%"]}))
    for module in ("traces.core.scenario_hash", "sweeps.core.sweep_job", "running.core.run_task"):
        monkeypatch.setattr(f"subflow_app.features.{module}.simulator_version", lambda: "0.2.0+other")
    watched = Watched()
    SweepJob.resumed(store, present(job.sweep_id), executor=lambda: watched).run()
    assert watched.made == 2
    assert store.sweeps.get(present(job.sweep_id)).version == "0.2.0+other"


# Before any run


def test_every_point_is_read_and_each_problem_told_once_with_its_axis(store: Store) -> None:
    wrong = plan(axes={LOSS: ["1%", "150%", "lots"], CONTROLLER: ["lia", "ola"], "links.wlan.delay": ["1ms"]})
    with pytest.raises(SweepError) as error:
        SweepJob(wrong, store).run()
    lines = str(error.value).splitlines()
    assert len(lines) == 4
    assert any(line.startswith(f"axis {LOSS}, value 150%: too large; allowed: a ratio from 0 to") for line in lines)
    assert any(line.startswith(f"axis {LOSS}, value lots: this is not") for line in lines)
    assert any(
        line.startswith(f'axis {CONTROLLER}, value ola: unknown controller, did you mean "olia"?') for line in lines
    )
    assert any('unknown link "wlan"' in line and "first at the point" in line for line in lines)
    assert store.sweeps.rows() == []


def test_very_many_problems_are_cut() -> None:
    with pytest.raises(SweepError) as error:
        check_points(plan(axes={LOSS: [f"{percent}%" for percent in range(101, 160)]}))
    assert len(str(error.value).splitlines()) == MOST_PROBLEMS + 1


def test_a_point_that_would_take_too_much_is_refused() -> None:
    with pytest.raises(SweepError, match=r"point 2 \(duration = 100000s\): flow 'download': more than 2\^31 packets"):
        check_points(plan(axes={"duration": ["1s", "100000s"]}, set={"links.wifi.rate": "10Gbit/s"}))


def test_a_sweep_of_a_billion_runs_is_refused_at_once(store: Store) -> None:
    huge = plan(axes={LOSS: "0%..50%/1000000"}, seeds="1..1000")
    with pytest.raises(SweepError) as error:
        SweepJob(huge, store).run()
    text = str(error.value)
    assert "1 000 000 000 runs (1 000 000 points x 1 000 seeds), more than the limit of 100 000" in text
    assert "on one core of this machine they would take about" in text
    assert "--max-runs 1000000000, or SUBFLOW_MAX_SWEEP_RUNS=1000000000" in text
    assert store.sweeps.rows() == []


def test_limits_can_be_raised_and_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    told = estimate_sweep(plan(), is_tried=False)
    assert (told.points, told.seeds, told.runs) == (6, 2, 12)
    SweepLimits.parse("12").check(told)
    with pytest.raises(SweepError, match="12 runs"):
        SweepLimits.parse("11").check(told)
    monkeypatch.setenv("SUBFLOW_MAX_SWEEP_RUNS", "5")
    with pytest.raises(SweepError, match="more than the limit of 5"):
        SweepLimits.parse().check(told)
    with pytest.raises(SweepError, match=r"events .* more than the limit of 1e\+02"):
        SweepLimits.parse("100", "100").check(told)


def test_a_disk_that_is_too_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = estimate_sweep(plan(), is_tried=False)
    monkeypatch.setattr("subflow_app.features.sweeps.core.sweep_estimate._free_bytes", lambda database: 200e6)
    with pytest.raises(SweepError, match="its disk has 200 MB free, of which 200 MB stay unused: keep no traces"):
        SweepLimits().check(told, tmp_path / "x.db")


def test_the_estimate_follows_the_plan() -> None:
    small, large = estimate_sweep(plan(), is_tried=False), estimate_sweep(plan(set={"duration": "10s"}), is_tried=False)
    assert large.link_crossings == pytest.approx(10 * small.link_crossings, rel=0.2)
    assert large.disk_bytes > small.disk_bytes
    assert estimate_sweep(plan(traces=False), is_tried=False).disk_bytes < small.disk_bytes


def test_the_time_of_a_sweep_is_that_of_its_processes_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "core_count", lambda: 4)
    told = SweepEstimate(100, 1e9, rate=1e7, disk_bytes=0, memory_bytes=1e6, storing_s=20.0, points=10, seeds=10)
    assert told.cpu_s == 120
    assert told.wall_s(1) == 120
    # Starting processes takes time, and more processes than cores bring no gain.
    assert told.wall_s(2) == pytest.approx((120 + 2 * executors.WORKER_STARTED_S) / 2)
    assert told.wall_s(8) == pytest.approx((120 + 8 * executors.WORKER_STARTED_S) / 4)
    # One process stores the runs, regardless of the number of workers.
    assert replace(told, storing_s=100.0, rate=1e9).wall_s(4) == 100
    # Seven other processes use the four cores too.
    busy = replace(told, slowness=2.0)
    assert busy.wall_s(1) == 240
    assert busy.wall_s(2) == pytest.approx((120 + 2 * executors.WORKER_STARTED_S) / (4 * 2 / 9))


def test_events_of_a_sweep_are_those_that_its_runs_will_have() -> None:
    small = {f"links.{name}.{key}": value for name in ("wifi", "lte") for key, value in FAST_AND_SMALL.items()}
    swept = plan(axes={LOSS: ["0%", "20%"]}, set={"duration": "10s", **small})
    told = estimate_sweep(swept)
    reader = PointReader(swept)
    taken = 0
    for point in swept.points():
        simulation = Simulation(reader.scenario(point))
        simulation.run_until(10)
        taken += 2 * simulation.link_crossings  # the point has two seeds
    assert taken / 2 < told.expected_crossings < 2 * taken
    assert told.link_crossings > 50 * taken


FAST_AND_SMALL = {"rate": "1Gbit/s", "queue": "1pkt"}


def test_texts_of_points_mean_their_runs() -> None:
    # A line of a note that looks like a seed must not be taken for one.
    made = plan(scenario_text=SCENARIO + '\n[[notes]]\nat = [0, 0]\ntext = """\nseed = 7\n"""\n')
    reader = PointReader(made)
    for number in (0, 5):
        point = made.point(number)
        scenario = reader.scenario(point)
        for seed in (1, 99):
            again = parse_scenario(reader.text(point, scenario, seed))
            assert again.seed == seed
            assert again.links == scenario.links
            assert again.flows == scenario.flows
