"""Base classes of jobs: state, progress, problems, pause and stop."""

from __future__ import annotations

import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from subflow_app.foundation.expected_errors import is_expected, message_of
from subflow_app.foundation.jobs.executors import Executor, ExecutorMaker
from subflow_app.foundation.jobs.progress import JobProgress, JobState
from subflow_app.foundation.jobs.tasks import OnStart, Task

_log = logging.getLogger(__name__)

T = TypeVar("T")

ATTEMPTS = 3
"""Number of attempts for a task whose worker dies."""

# Longest wait for an executor before pause and stop are checked again, s.
_WAIT_S = 0.1
# Number of tasks that must end in this session before the remaining time is estimated from their pace.
_KNOWN_SPEED = 2


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The end of a job.

    Attributes:
        state: finished, stopped, or failed (an item could not be made, or the job could not continue).
        progress: the progress at the end.
        problems: error messages, one line each.
        error: the error that ended the job early, or None.
    """

    state: JobState
    progress: JobProgress
    problems: tuple[str, ...] = ()
    error: Exception | None = None

    def check(self) -> None:
        """Raise the error that ended the job early, if any."""
        if self.error is not None:
            raise self.error


class Job(ABC):
    """A long computation. `run` blocks and belongs in a worker thread; any thread may call the other methods.

    Args:
        runs: number of runs of the whole job.
        name: name shown to users; may be empty.
    """

    def __init__(self, runs: int = 0, name: str = "") -> None:
        self.name = name
        self._go = threading.Event()
        self._go.set()
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._problems: list[str] = []
        # Needs no lock: the running thread replaces it as a whole, and other threads only read it.
        self._progress = JobProgress(runs, state=JobState.WAITING)

    @property
    def progress(self) -> JobProgress:
        """The current progress; cheap enough to read at every frame."""
        return self._progress

    @property
    def state(self) -> JobState:
        """The state in the current progress."""
        return self._progress.state

    @property
    def problems(self) -> tuple[str, ...]:
        """Error messages so far, one line each."""
        return tuple(self._problems)

    @property
    def is_stopped(self) -> bool:
        """True if `stop` was called."""
        return self._stop.is_set()

    def pause(self) -> None:
        """Start no new tasks; the current ones are completed."""
        self._go.clear()

    def unpause(self) -> None:
        """Continue after a pause."""
        self._go.set()

    def stop(self) -> None:
        """End soon: keep finished results and abort the current tasks."""
        self._stop.set()
        self._go.set()
        if self.state is JobState.WAITING:
            self._tell(state=JobState.STOPPED)

    def wait(self) -> None:
        """Block until `run` has ended and writes nothing more; if it has not started yet, wait for that, too."""
        self._ended.wait()

    def run(self) -> JobOutcome:
        """Work until the end or until `stop`, reusing existing results.

        An expected error ends the job and becomes part of the outcome; any other error is raised.
        """
        error: Exception | None = None
        state = JobState.FAILED
        self._ended.clear()
        try:
            if not self.state.is_over:
                self._tell(state=JobState.RUNNING)
            self._work()
            is_through = self.progress.fraction >= 1
            state = JobState.STOPPED if not is_through else JobState.FAILED if self._problems else JobState.FINISHED
        except Exception as exception:
            is_ours = not is_expected(exception)
            reason = f"{type(exception).__name__}: {exception}" if is_ours else message_of(exception)
            if reason not in self._problems:
                self._problems.append(reason)
            if is_ours:
                raise
            error = exception
        finally:
            self._tell(state=state, under_way=0)
            self._settle(state)
            self._ended.set()
        return JobOutcome(state, self.progress, self.problems, error)

    @abstractmethod
    def _work(self) -> None:
        """Do the work of the job, until `is_stopped`; called by `run`."""

    def _settle(self, state: JobState) -> None:  # noqa: B027 # most jobs write no records
        """Write final records after the end; must not raise."""

    def _tell(self, **changes: Any) -> None:
        self._progress = replace(self._progress, **changes)


@dataclass(slots=True, eq=False)
class _Pending(Generic[T]):
    """An item to be made, and how the workers that tried so far were lost."""

    item: T
    losses: list[str] = field(default_factory=list)


class Batch(Job, Generic[T]):
    """A job of many similar tasks, which an executor carries out. If a worker dies, only its current task is lost.

    Args:
        executor: function that creates the executor.
        runs: number of runs of the whole job.
        name: name shown to users; may be empty.
    """

    def __init__(self, executor: ExecutorMaker, runs: int = 0, name: str = "") -> None:
        super().__init__(runs, name)
        self._make_executor = executor
        self._executor: Executor | None = None
        self._executor_lock = threading.Lock()
        self._began = 0.0
        self._paused_s = 0.0
        self._made = 0
        self._first: tuple[int, float] | None = None

    def stop(self) -> None:
        """End soon: keep finished results and abort the current tasks."""
        super().stop()
        with self._executor_lock:
            if self._executor is not None:
                self._executor.stop()

    @abstractmethod
    def _task(self, item: T) -> Callable[[OnStart], Any]:
        """The work for an item, as in `Task.work`."""

    @abstractmethod
    def _keep(self, item: T, outcome: Any) -> None:
        """Store the outcome of an item and update the progress; an exception ends the job."""

    def _give_up(self, item: T, problem: str) -> None:
        """Record that an item cannot be made."""
        self._problems.append(problem)
        self._tell(failed=self._progress.failed + 1)

    def _say_alive(self, state: JobState, *, at_once: bool = False) -> None:
        """Record for other processes that this job is alive.

        Called continually; an override may ignore calls in quick succession, except those with `at_once`.
        """

    def _make(self, items: Iterable[T]) -> None:
        """Let the executor work on these items, until all are done or `stop` is called."""
        pending = deque(_Pending(item) for item in items)
        self._began, self._paused_s, self._made, self._first = time.monotonic(), 0.0, 0, None
        if not pending or self.is_stopped:
            return
        executor = self._make_executor()
        with self._executor_lock:
            self._executor = executor
        try:
            self._carry_out(pending, executor)
        finally:
            with self._executor_lock:
                self._executor = None
            executor.close()

    def _carry_out(self, pending: deque[_Pending[T]], executor: Executor) -> None:
        """Submit tasks and process answers, with at most `executor.slots` tasks submitted."""
        under_way: dict[int, _Pending[T]] = {}
        number = 0
        while (pending or under_way) and not self.is_stopped:
            while pending and len(under_way) < executor.slots and self._go.is_set():
                number += 1
                under_way[number] = pending.popleft()
                executor.submit(Task(number, self._task(under_way[number].item)))
            self._tell_running(len(under_way), executor)
            if not under_way:  # paused
                began = time.monotonic()
                while not self._go.wait(_WAIT_S):
                    self._say_alive(JobState.PAUSED)
                self._paused_s += time.monotonic() - began
                self._say_alive(JobState.RUNNING, at_once=True)
                continue
            for answer in executor.wait(_WAIT_S):
                wanted = under_way.pop(answer.number)
                if answer.outcome is not None:
                    self._keep(wanted.item, answer.outcome)
                    self._made += 1
                elif self._is_tried_again(wanted, answer.loss):
                    pending.append(wanted)
            self._say_alive(self._running_state)
        self._tell_running(0, executor)

    def _is_tried_again(self, wanted: _Pending[T], loss: str) -> bool:
        wanted.losses.append(loss)
        if len(wanted.losses) < ATTEMPTS:
            _log.warning("%s: made again, as %s", self.name, loss)
            return True
        text = ", ".join(dict.fromkeys(wanted.losses))
        self._give_up(wanted.item, f"tried {ATTEMPTS} times, and each time {text}")
        return False

    @property
    def _running_state(self) -> JobState:
        return JobState.RUNNING if self._go.is_set() else JobState.PAUSED

    def _tell_running(self, n_under_way: int, executor: Executor) -> None:
        elapsed_s = time.monotonic() - self._began - self._paused_s
        progress = self._progress
        rest = progress.runs - progress.finished - progress.failed
        is_known = self._made >= max(1, min(_KNOWN_SPEED, rest))
        if self._made and self._first is None:
            self._first = self._made, elapsed_s
        self._tell(
            state=self._running_state,
            under_way=min(n_under_way, executor.jobs),
            eta_s=rest * self._pace_s(elapsed_s, executor.jobs) if is_known else math.nan,
            elapsed_s=elapsed_s,
            jobs=executor.jobs,
        )

    def _pace_s(self, elapsed_s: float, jobs: int) -> float:
        """Mean time between the ends of two tasks, s.

        Once enough tasks have ended, it excludes the time that the processes took to start.
        """
        made, since_s = self._first or (0, 0.0)
        if self._made - made >= 2 * jobs and elapsed_s > since_s:
            return (elapsed_s - since_s) / (self._made - made)
        return elapsed_s / self._made


J = TypeVar("J", bound=Job)


class Series(Job, Generic[J]):
    """Jobs that run one after the other; a failed job does not prevent the following ones.

    Attributes:
        each: the jobs, in order.
        outcomes: outcomes of the jobs that have ended, in order.
    """

    def __init__(self, each: Sequence[J], name: str = "") -> None:
        super().__init__(name=name)
        self.each = tuple(each)
        self.outcomes: tuple[JobOutcome, ...] = ()
        self._began = 0.0

    @property
    def current(self) -> J | None:
        """The running job: the first one before the start, the last one after the end; None for an empty series."""
        return self.each[min(len(self.outcomes), len(self.each) - 1)] if self.each else None

    @property
    def expected_s(self) -> float:
        """Expected time of all jobs if they find no existing results, s."""
        return math.fsum(self._weight(job) for job in self.each)

    @property
    def progress(self) -> JobProgress:
        """Progress of the series, weighted with the expected times of the jobs."""
        progresses = [job.progress for job in self.each]
        ended, made, done, total = len(self.outcomes), 0.0, 0.0, self.expected_s
        for number, (job, progress) in enumerate(zip(self.each, progresses, strict=True)):
            weight, fraction = self._weight(job), 1.0 if number < ended else progress.fraction
            done += weight * fraction
            made += weight * (fraction - progress.reused / max(progress.runs, 1))
        elapsed_s = time.monotonic() - self._began if self._began else 0.0
        # The expected times were measured on a different machine, so scale the remaining time by the measured speed.
        pace = elapsed_s / made if made > 0.02 * total and elapsed_s > 2 else 1.0
        count, current = len(self.each), self.current
        number = min(ended + 1, count)
        name = "" if current is None else current.name
        return JobProgress(
            sum(each.runs for each in progresses),
            sum(each.finished for each in progresses),
            sum(each.reused for each in progresses),
            sum(each.failed for each in progresses),
            (total - done) * pace,
            name if count == 1 else f"{number} of {count} · {name}",
            elapsed_s=elapsed_s,
            share=min(done / total, 1.0) if total else 1.0,
            part=None if current is None else current.progress,
        )

    def stop(self) -> None:
        """End soon and keep finished results."""
        super().stop()
        for job in self.each:
            job.stop()

    def _weight(self, job: J) -> float:
        """Expected time of a job, s; by default one second per run."""
        return float(max(job.progress.runs, 1))

    def _next(self) -> J | None:
        """The first waiting job."""
        return next((job for job in self.each if job.state is JobState.WAITING), None)

    def _work(self) -> None:
        self._began = time.monotonic()
        while not self.is_stopped and (job := self._next()) is not None:
            outcome = job.run()
            self._problems += [f"{job.name}: {text}" if job.name else text for text in outcome.problems]
            self.outcomes = (*self.outcomes, outcome)
