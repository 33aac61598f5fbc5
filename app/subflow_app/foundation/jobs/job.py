"""What all jobs have: a state, how far they are, what went wrong, and that they can be paused and stopped."""

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
"""How often a task is tried whose worker dies."""

# How long an executor is waited for before pause and stop are asked for again.
_WAIT_S = 0.1
# Tasks that must have ended in this session before their speed says when the rest will be done.
_KNOWN_SPEED = 2


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended.

    Attributes:
        state: finished, stopped, or failed: something could not be made, or it could not go on.
        progress: the last one.
        problems: what went wrong, a line each.
        error: what ended it before its time; None if nothing did.
    """

    state: JobState
    progress: JobProgress
    problems: tuple[str, ...] = ()
    error: Exception | None = None

    def check(self) -> None:
        """Raise what ended it before its time, if something did."""
        if self.error is not None:
            raise self.error


class Job(ABC):
    """Work that takes its time. `run` blocks and belongs into a worker thread; the rest may be called from any.

    Args:
        runs: all that it needs.
        name: for people; may be empty.
    """

    def __init__(self, runs: int = 0, name: str = "") -> None:
        self.name = name
        self._go = threading.Event()
        self._go.set()
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._problems: list[str] = []
        # Read by other threads, replaced as a whole by the one that runs: no lock needed.
        self._progress = JobProgress(runs, state=JobState.WAITING)

    @property
    def progress(self) -> JobProgress:
        """How far it is; cheap enough to ask for at every frame."""
        return self._progress

    @property
    def state(self) -> JobState:
        """Where it stands."""
        return self._progress.state

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong so far, a line each."""
        return tuple(self._problems)

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def pause(self) -> None:
        """Begin nothing more; what is under way is carried to its end."""
        self._go.clear()

    def unpause(self) -> None:
        """Go on after a pause."""
        self._go.set()

    def stop(self) -> None:
        """End soon; what has ended is kept, what is under way is given up."""
        self._stop.set()
        self._go.set()
        if self.state is JobState.WAITING:
            self._tell(state=JobState.STOPPED)

    def wait(self) -> None:
        """Until `run`, which has been called, is over and writes no more."""
        self._ended.wait()

    def run(self) -> JobOutcome:
        """To the end, or until `stop`; what is there already is not made again.

        An error that is to be expected ends it, and is part of the outcome.
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
            told = f"{type(exception).__name__}: {exception}" if is_ours else message_of(exception)
            if told not in self._problems:
                self._problems.append(told)
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
        """Do it."""

    def _settle(self, state: JobState) -> None:  # noqa: B027 # most jobs have nothing to say
        """What is to be written once it is over; must not raise."""

    def _tell(self, **changes: Any) -> None:
        self._progress = replace(self._progress, **changes)


@dataclass(slots=True, eq=False)
class _Pending(Generic[T]):
    """Something that is to be made, and how its workers were lost."""

    item: T
    losses: list[str] = field(default_factory=list)


class Batch(Job, Generic[T]):
    """A job of many tasks of one kind, which an executor carries out; a worker that dies loses its task only.

    Args:
        executor: makes who carries the tasks out.
        runs: all that it needs.
        name: for people; may be empty.
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
        """End soon; what has ended is kept, what is under way is given up."""
        super().stop()
        with self._executor_lock:
            if self._executor is not None:
                self._executor.stop()

    @abstractmethod
    def _task(self, item: T) -> Callable[[OnStart], Any]:
        """What is to be done for an item, as `Task.work` says."""

    @abstractmethod
    def _keep(self, item: T, outcome: Any) -> None:
        """Do with an item what it is made for, and tell it; whatever this raises ends the job."""

    def _give_up(self, item: T, problem: str) -> None:
        """Tell that an item cannot be made."""
        self._problems.append(problem)
        self._tell(failed=self._progress.failed + 1)

    def _say_alive(self, state: JobState, *, at_once: bool = False) -> None:
        """Tell whoever asks from elsewhere that somebody is at it; called all the time."""

    def _make(self, items: Iterable[T]) -> None:
        """Have these items made, until none is left or `stop` is called."""
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
        """Hand out and take back, with no more under way than the executor needs."""
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
        told = ", ".join(dict.fromkeys(wanted.losses))
        self._give_up(wanted.item, f"tried {ATTEMPTS} times, and each time {told}")
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
        """Time between two tasks that end, s: without the start of processes, once enough have ended."""
        made, since_s = self._first or (0, 0.0)
        if self._made - made >= 2 * jobs and elapsed_s > since_s:
            return (elapsed_s - since_s) / (self._made - made)
        return elapsed_s / self._made


J = TypeVar("J", bound=Job)


class Series(Job, Generic[J]):
    """Jobs one after the other; one that fails does not keep the others from their turn.

    Attributes:
        each: the jobs, in order.
        outcomes: of those that have ended, in order.
    """

    def __init__(self, each: Sequence[J], name: str = "") -> None:
        super().__init__(name=name)
        self.each = tuple(each)
        self.outcomes: tuple[JobOutcome, ...] = ()
        self._began = 0.0

    @property
    def current(self) -> J | None:
        """The one that goes on; before the first, that one; after the last, that one."""
        return self.each[min(len(self.outcomes), len(self.each) - 1)] if self.each else None

    @property
    def expected_s(self) -> float:
        """What they take on two cores, if nothing is there yet, s."""
        return math.fsum(self._weight(job) for job in self.each)

    @property
    def progress(self) -> JobProgress:
        """How far they are, by what they are expected to take."""
        told = [job.progress for job in self.each]
        ended, made, done, total = len(self.outcomes), 0.0, 0.0, self.expected_s
        for number, (job, progress) in enumerate(zip(self.each, told, strict=True)):
            weight, fraction = self._weight(job), 1.0 if number < ended else progress.fraction
            done += weight * fraction
            made += weight * (fraction - progress.reused / max(progress.runs, 1))
        elapsed_s = time.monotonic() - self._began if self._began else 0.0
        # What is left, at the speed of what was made so far: what is expected is told of another machine.
        pace = elapsed_s / made if made > 0.02 * total and elapsed_s > 2 else 1.0
        count, current = len(self.each), self.current
        number = min(ended + 1, count)
        name = "" if current is None else current.name
        return JobProgress(
            sum(each.runs for each in told),
            sum(each.finished for each in told),
            sum(each.reused for each in told),
            sum(each.failed for each in told),
            (total - done) * pace,
            name if count == 1 else f"{number} of {count} · {name}",
            elapsed_s=elapsed_s,
            share=min(done / total, 1.0) if total else 1.0,
            part=None if current is None else current.progress,
        )

    def stop(self) -> None:
        """End soon; what has ended is kept."""
        super().stop()
        for job in self.each:
            job.stop()

    def _weight(self, job: J) -> float:
        """What a job is expected to take, s."""
        return float(max(job.progress.runs, 1))

    def _next(self) -> J | None:
        """The first that waits for its turn."""
        return next((job for job in self.each if job.state is JobState.WAITING), None)

    def _work(self) -> None:
        self._began = time.monotonic()
        while not self.is_stopped and (job := self._next()) is not None:
            outcome = job.run()
            self._problems += [f"{job.name}: {text}" if job.name else text for text in outcome.problems]
            self.outcomes = (*self.outcomes, outcome)
