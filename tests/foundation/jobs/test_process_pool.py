"""Worker processes make the same runs as this process; a killed process is replaced and its runs are made again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing import active_children

import pytest
from tests.features.sweeps.core.plans import LOSS, plan
from tests.helpers.present import present

from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_results import long_csv
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_app.foundation.jobs.process_pool import ProcessPool
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import Answer
from subflow_store import open_store


@pytest.fixture
def pids() -> Callable[[], list[int]]:
    """The living processes started by a test."""
    others = set(active_children())
    return lambda: [child.pid for child in active_children() if child not in others and child.pid is not None]


class Murderous(ProcessPool):
    """Kills one of its processes after so many answers."""

    def __init__(self, jobs: int, after: int, pids: Callable[[], list[int]]) -> None:
        super().__init__(jobs)
        self.killed: list[int] = []
        self.answers: list[Answer] = []
        self._after, self._pids = after, pids

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        answers = super().wait(timeout_s)
        self.answers += answers
        if not self.killed and len(self.answers) >= self._after:
            self.killed.append(self._pids()[0])
            os.kill(self.killed[0], signal.SIGKILL)
        return answers


def test_a_killed_process_is_replaced_and_the_results_are_the_same(pids: Callable[[], list[int]]) -> None:
    swept = plan(axes={LOSS: "0%..4%/5"}, seeds="1..4")
    texts = []
    pool = Murderous(2, 8, pids)
    for maker in (executor_maker(1), lambda: pool):
        with open_store(":memory:") as store:
            job = SweepJob(swept, store, executor=maker)
            result = job.run()
            assert (result.state, result.problems) == (JobState.FINISHED, ())
            table = present(job.table())
            texts.append(long_csv(table))
    assert texts[0] == texts[1]
    assert pool.killed
    assert pids() == []
    lost = [answer for answer in pool.answers if answer.outcome is None]
    # The killed process may have been idle; others make its runs in any case.
    assert all(answer.loss == "its process was ended by SIGKILL" for answer in lost)
    assert sum(answer.outcome is not None for answer in pool.answers) == 20


def test_a_stopped_pool_ends_its_processes(pids: Callable[[], list[int]]) -> None:
    swept = plan(axes={LOSS: "0%..4%/5"}, seeds="1..4")
    pool = ProcessPool(2)
    with open_store(":memory:") as store:
        job = SweepJob(swept, store, executor=lambda: pool)
        wait = pool.wait

        def wait_and_stop(timeout_s: float) -> Sequence[Answer]:
            answers = wait(timeout_s)
            if answers:
                job.stop()
            return answers

        pool.wait = wait_and_stop  # type: ignore[method-assign]
        result = job.run()
        assert result.state is JobState.STOPPED
        assert pids() == []
        assert 0 < result.progress.finished < 20
        assert len(store.runs(status="finished")) == result.progress.finished
