"""Jobs: their ends, the handling of a failed job in a series, and tasks whose workers are lost."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.executors import Threads
from subflow_app.foundation.jobs.job import ATTEMPTS, Batch, Job, Series
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import Answer, OnStart, Task


class Squares(Batch[int]):
    """Squares of numbers, except for one whose worker is lost each time."""

    def __init__(self, numbers: Sequence[int], lost: int | None = None) -> None:
        super().__init__(partial(Losing, lost), len(numbers), "squares")
        self._numbers = numbers
        self.made: dict[int, int] = {}

    def _work(self) -> None:
        self._make(self._numbers)

    def _task(self, item: int) -> Callable[[OnStart], int]:
        return lambda _on_start: item * item

    def _keep(self, item: int, outcome: int) -> None:
        self.made[item] = outcome
        self._tell(finished=len(self.made))


class Losing(Threads):
    def __init__(self, lost: int | None) -> None:
        super().__init__(2)
        self._lost = lost

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        found = super().wait(timeout_s)
        return [each if each.outcome != self._lost else Answer(each.number, None, "it was lost") for each in found]


class Failing(Job):
    def __init__(self, error: Exception) -> None:
        super().__init__(1, "failing")
        self._error = error

    def _work(self) -> None:
        raise self._error


def test_a_batch_makes_all_of_its_tasks_and_tells_how_far_it_is() -> None:
    job = Squares(range(1, 20))
    assert (job.state, job.progress.fraction) == (JobState.WAITING, 0.0)
    outcome = job.run()
    job.wait()
    assert (outcome.state, outcome.problems, outcome.progress.fraction) == (JobState.FINISHED, (), 1.0)
    assert job.made == {number: number * number for number in range(1, 20)}


def test_a_task_whose_worker_is_lost_each_time_is_given_up_and_the_others_are_made() -> None:
    job = Squares((1, 2, 3), lost=4)
    outcome = job.run()
    assert (outcome.state, job.made) == (JobState.FAILED, {1: 1, 3: 9})
    assert outcome.problems == (f"tried {ATTEMPTS} times, and each time it was lost",)


def test_a_job_that_waits_is_stopped_at_once_and_makes_nothing() -> None:
    job = Squares((1, 2))
    job.stop()
    assert job.state is JobState.STOPPED
    assert (job.run().state, job.made) == (JobState.STOPPED, {})


def test_a_series_goes_on_after_a_job_that_fails_and_names_it() -> None:
    series = Series([Failing(InputError("no such thing")), Squares((1, 2))])
    outcome = series.run()
    assert [each.state for each in series.outcomes] == [JobState.FAILED, JobState.FINISHED]
    assert (outcome.state, outcome.problems) == (JobState.FAILED, ("failing: no such thing",))
    with pytest.raises(InputError, match="no such thing"):
        series.outcomes[0].check()


def test_a_fault_of_the_program_is_raised_and_the_job_has_failed() -> None:
    job = Failing(ZeroDivisionError("by zero"))
    with pytest.raises(ZeroDivisionError):
        job.run()
    job.wait()
    assert (job.state, job.problems) == (JobState.FAILED, ("ZeroDivisionError: by zero",))


def test_a_paused_batch_begins_nothing_until_it_goes_on() -> None:
    job = Squares((1, 2, 3))
    job.pause()
    worker = threading.Thread(target=job.run)
    worker.start()
    while job.state is not JobState.PAUSED:
        worker.join(0.01)
    assert job.made == {}
    job.unpause()
    worker.join()
    assert (job.state, len(job.made)) == (JobState.FINISHED, 3)


class Slow:
    """An executor that takes ten seconds to start and then a second for each task, by its own clock."""

    jobs = slots = 1

    def __init__(self, clock: list[float]) -> None:
        self._clock = clock
        self._tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        self._clock[0] += 1.0 if self._clock[0] >= 10 else 11.0
        task = self._tasks.pop()
        return [Answer(task.number, task.work(lambda _stoppable: None))]

    def stop(self) -> None: ...

    def close(self) -> None: ...


def test_the_time_to_go_follows_the_tasks_and_forgets_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("subflow_app.foundation.jobs.job.time.monotonic", lambda: clock[0])
    told: list[tuple[int, float]] = []

    class Watched(Squares):
        def _keep(self, item: int, outcome: int) -> None:
            told.append((self.progress.finished, self.progress.eta_s))
            super()._keep(item, outcome)

    job = Watched(range(1, 21))
    job._make_executor = partial(Slow, clock)
    assert job.run().state is JobState.FINISHED
    assert math.isnan(told[0][1])  # no estimate yet
    assert told[2] == (2, 18 * 12.0 / 2)  # including the start
    assert told[3:] == [(made, 20.0 - made) for made in range(3, 20)]
