"""A speed limit changes when a run is simulated, never what; stop and a new limit act at once."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.fake_simulation import make_scenario

from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.decisions import DecisionLimits
from subflow_sim.scenario import Event


class ClockSimulation:
    """Costs next to nothing and does nothing but keep the time."""

    def __init__(self, duration_s: float) -> None:
        self.seed = 1
        self.now_s = 0.0
        self.duration_s = duration_s
        self.packets = 0
        self.columns = ()
        self.sample_count = 0

    @property
    def finished(self) -> bool:
        return self.now_s >= self.duration_s

    def run_until(self, t_s: float) -> bool:
        self.now_s = t_s
        return True

    def apply(self, event: Event) -> Event:
        return event

    def interrupt(self) -> None:
        pass

    def values(self, index: int) -> np.ndarray:
        raise IndexError(index)

    def take_marks(self) -> list:
        return []

    def take_intervals(self) -> None:
        pass

    def take_agent_steps(self) -> None:
        pass

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        pass

    def take_decisions(self) -> None:
        pass

    @property
    def decisions_lost(self) -> int:
        return 0

    def signature(self) -> str:
        return "0" * 16

    def summary(self) -> dict:
        return {}


def job_of(duration_s: float, speed_limit: float | None) -> RunJob:
    scenario = replace(make_scenario(duration_s=duration_s), name="clock", flows={}, links={})
    return RunJob(
        scenario,
        "",
        simulation_maker=lambda *_: ClockSimulation(duration_s),
        speed_limit=speed_limit,
    )


def test_limited_run_takes_the_time_that_the_limit_asks() -> None:
    job = job_of(2.0, speed_limit=10.0)
    started = time.perf_counter()

    result = job.run()

    # 2 s of simulated time at 10 times real time: 0.2 s of wall time; late is possible on a busy machine, early is not.
    assert time.perf_counter() - started >= 0.2
    assert result.status is JobState.FINISHED
    assert job.progress.speed <= 10.0
    # The summary counts what simulating cost, not what was waited.
    assert result.summary["wall_s"] < 0.1


@pytest.mark.parametrize("act", [RunJob.stop, lambda job: job.set_speed_limit(None)], ids=["stop", "no limit"])
def test_waiting_ends_at_once(act) -> None:
    # One slice of 1/60 s at this limit is followed by a wait of 1/60 s; the whole run would take over three years.
    job = job_of(1e5, speed_limit=1e-3)
    thread = threading.Thread(target=job.run)
    thread.start()

    act(job)

    thread.join(timeout=20)
    assert not thread.is_alive()
    assert job.progress.state in (JobState.STOPPED, JobState.FINISHED)


def test_paused_run_can_be_stopped() -> None:
    job = job_of(1e5, speed_limit=1.0)
    job.pause()
    thread = threading.Thread(target=job.run)
    thread.start()

    job.stop()

    thread.join(timeout=20)
    assert job.progress.state is JobState.STOPPED
