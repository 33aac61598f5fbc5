"""A speed limit changes the wall time of a run, never its result; a stop and a new limit act at once."""

from __future__ import annotations

import threading
import time

import pytest
from tests.helpers.fake_simulation import FakeSimulation, make_scenario

from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.jobs.progress import JobState


def job_of(duration_s: float, speed_limit: float | None) -> RunJob:
    """A job with a simulation of almost no cost."""
    scenario = make_scenario(duration_s=duration_s)
    return RunJob(scenario, "", simulation_maker=lambda *_: FakeSimulation(scenario), speed_limit=speed_limit)


def test_limited_run_takes_the_time_that_the_limit_asks() -> None:
    job = job_of(2.0, speed_limit=10.0)
    started = time.perf_counter()

    result = job.run()

    # 2 s of simulated time at 10 times real time take 0.2 s of wall time; a busy machine may be late, but never early.
    assert time.perf_counter() - started >= 0.2
    assert result.status is JobState.FINISHED
    # Even a very busy machine reaches a tenth of the limit.
    assert 1.0 < job.progress.speed <= 10.0
    # The summary contains the time of the simulation without waiting.
    assert result.summary["wall_s"] < 0.1


@pytest.mark.parametrize("act", [RunJob.stop, lambda job: job.set_speed_limit(None)], ids=["stop", "no limit"])
def test_waiting_ends_at_once(act) -> None:
    # One slice of 1/60 s at this limit is followed by a wait of 1/60 s; the whole run would take four months.
    job = job_of(1e4, speed_limit=1e-3)
    thread = threading.Thread(target=job.run)
    thread.start()

    act(job)

    thread.join(timeout=20)
    assert not thread.is_alive()
    assert job.progress.state in (JobState.STOPPED, JobState.FINISHED)
