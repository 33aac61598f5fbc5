"""Who makes the runs of a sweep: this process, processes beside it, or a cluster; to the sweep they are alike."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from subflow_app.core.running.runs import RunJob
from subflow_app.core.sweeps.sweep_run import Answer, RunTask, make_run


class Executor(Protocol):
    """Makes runs. Used by one thread, but for `stop`; the order of the answers is not that of the tasks."""

    @property
    def slots(self) -> int:
        """How many tasks it should have: more would only wait, and take memory."""

    @property
    def jobs(self) -> int:
        """How many runs it makes at once."""

    def submit(self, task: RunTask) -> None:
        """Take a task.

        Raises:
            ClusterError: if there is nobody left to make it.
        """

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """What has come since; waits for a while if that is nothing.

        Raises:
            ClusterError: if there is nobody left to make the runs.
        """

    def stop(self) -> None:
        """End what is under way; its tasks have no answers. Any thread may call this."""

    def close(self) -> None:
        """End everything that was started."""


ExecutorMaker = Callable[[], Executor]


class OwnProcess:
    """Makes the runs one after the other, in the thread that waits for them."""

    slots = 1
    jobs = 1

    def __init__(self) -> None:
        """Nothing is to be done yet."""
        self._tasks: deque[RunTask] = deque()
        self._job: RunJob | None = None
        self._stopped = threading.Event()

    def submit(self, task: RunTask) -> None:
        """Take a task."""
        self._tasks.append(task)

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """Make the next run."""
        if not self._tasks or self._stopped.is_set():
            return ()
        task = self._tasks.popleft()
        outcome = make_run(task, self._begin)
        self._job = None
        return () if self._stopped.is_set() else (Answer(task.number, outcome),)

    def stop(self) -> None:
        """End the run under way."""
        self._stopped.set()
        if (job := self._job) is not None:
            job.stop()

    def close(self) -> None:
        """Nothing was started."""

    def _begin(self, job: RunJob) -> None:
        self._job = job
        if self._stopped.is_set():
            job.stop()


class Shared:
    """Lends one executor to jobs that run one after the other, so that its processes are started once.

    It is an `ExecutorMaker`; what it lends stays open until `close`.
    """

    def __init__(self, make: ExecutorMaker) -> None:
        """Nothing is started yet."""
        self._make = make
        self._executor: Executor | None = None

    def __call__(self) -> Executor:
        """The executor."""
        if self._executor is None:
            self._executor = self._make()
        return _Lent(self._executor)

    def close(self) -> None:
        """End everything that was started."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None


class _Lent:
    """An executor that whoever borrowed it does not close."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    @property
    def slots(self) -> int:
        return self._executor.slots

    @property
    def jobs(self) -> int:
        return self._executor.jobs

    def submit(self, task: RunTask) -> None:
        self._executor.submit(task)

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        return self._executor.wait(timeout_s)

    def stop(self) -> None:
        self._executor.stop()

    def close(self) -> None:
        pass


def core_count() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def executor_maker(jobs: int = 1, cluster: str | None = None) -> ExecutorMaker:
    """Who makes the runs.

    Args:
        jobs: how many at once on this machine; 1: this process itself.
        cluster: address of a Ray cluster that makes them instead; None: none.
    """

    def make() -> Executor:
        # Imported here: one that is not used needs not even be installed.
        if cluster is not None:
            from subflow_app.core.sweeps.cluster import RayCluster

            return RayCluster(cluster)
        if jobs > 1:
            from subflow_app.core.sweeps.process_pool import ProcessPool

            return ProcessPool(jobs)
        return OwnProcess()

    return make


def jobs_beside_window() -> int:
    """How many runs at once are suggested where a window is to stay quick: a core less, but not half of two."""
    cores = os.cpu_count() or 1
    return cores - 1 if cores > 2 else cores
