"""Executors of tasks, and estimates of the speed of this machine and of the cost of runs beyond their simulation.

Threads, worker processes or a cluster carry out tasks, all through the interface `Executor`. The estimated speed takes
other programs on the machine into account.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from subflow_app.foundation.jobs.tasks import Answer, Stoppable, Task


class Executor(Protocol):
    """Carries out tasks and returns answers in any order. Only one thread may use it, except for `stop`."""

    @property
    def slots(self) -> int:
        """Largest useful number of submitted tasks: any more would only wait and use memory."""

    @property
    def jobs(self) -> int:
        """Number of tasks carried out in parallel."""

    def submit(self, task: Task) -> None:
        """Accept a task.

        Raises:
            ClusterError: if no worker is left to carry it out.
        """

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """The answers since the last call; waits up to `timeout_s` for one.

        Raises:
            ClusterError: if no worker is left to carry out tasks.
        """

    def stop(self) -> None:
        """Abort the current tasks, which get no answers. Any thread may call this."""

    def close(self) -> None:
        """End all threads and processes of the executor."""


ExecutorMaker = Callable[[], Executor]


class Threads:
    """Carries out tasks in threads of this process; they run in parallel, because simulations release Python's GIL."""

    def __init__(self, jobs: int = 1) -> None:
        """Prepare `jobs` threads, which start on demand."""
        self.jobs = self.slots = jobs
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="subflow-task")
        self._numbers: dict[Future[Any], int] = {}
        self._under_way: list[Stoppable] = []
        self._is_stopped = False

    def submit(self, task: Task) -> None:
        """Queue a task for the threads."""
        self._numbers[self._pool.submit(self._carry_out, task)] = task.number

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """The answers since the last call; none after `stop`."""
        done, _ = wait(self._numbers, timeout_s, FIRST_COMPLETED)
        answers = [Answer(self._numbers.pop(future), future.result()) for future in done]
        return () if self._is_stopped else answers

    def stop(self) -> None:
        """Abort the current tasks, which get no answers."""
        self._is_stopped = True
        for stoppable in list(self._under_way):
            stoppable.stop()

    def close(self) -> None:
        """Abort the current tasks and wait for the end of the threads."""
        self.stop()
        self._pool.shutdown(cancel_futures=True)

    def _carry_out(self, task: Task) -> Any:
        begun: list[Stoppable] = []

        def on_start(stoppable: Stoppable) -> None:
            begun.append(stoppable)
            self._under_way.append(stoppable)
            if self._is_stopped:
                stoppable.stop()

        if self._is_stopped:
            return None
        try:
            return task.work(on_start)
        finally:
            for stoppable in begun:
                self._under_way.remove(stoppable)


class Shared:
    """Lends one executor to consecutive jobs, so that its processes start only once.

    It is an `ExecutorMaker`; the executor remains open until `close` is called.
    """

    def __init__(self, make: ExecutorMaker) -> None:
        """Store the maker, which creates the executor on first use."""
        self._make = make
        self._executor: Executor | None = None

    def __call__(self) -> Executor:
        """The shared executor, which ignores `close`."""
        if self._executor is None:
            self._executor = self._make()
        return _Lent(self._executor)

    def close(self) -> None:
        """End all threads and processes of the executor."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None


class _Lent:
    """Passes all calls on to an executor, except `close`, which has no effect."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    def close(self) -> None:
        pass


def core_count() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def executor_maker(jobs: int = 1, cluster: str | None = None) -> ExecutorMaker:
    """A function that creates the executor for these options.

    Args:
        jobs: number of tasks carried out in parallel on this machine; 1 uses a thread of this process.
        cluster: address of a Ray cluster to use instead; None: this machine.

    Raises:
        InputError: if the address is malformed.
        ClusterError: if Ray is not installed, or no server answers at the address.
    """
    if cluster is not None:
        from subflow_app.foundation.jobs.cluster_address import check_cluster

        # Checked here and not in `make`, which the job calls only after reading the points of its plan. That may take
        # minutes.
        check_cluster(cluster)

    def make() -> Executor:
        # Imported on demand, because most jobs need only threads.
        if cluster is not None:
            from subflow_app.foundation.jobs.cluster import RayCluster

            return RayCluster(cluster)
        if jobs > 1:
            from subflow_app.foundation.jobs.process_pool import ProcessPool

            return ProcessPool(jobs)
        return Threads()

    return make


def jobs_beside_window() -> int:
    """Number of simultaneous runs that leaves the window responsive: with more than two cores, one is left free."""
    cores = os.cpu_count() or 1
    return cores - 1 if cores > 2 else cores


# Processor time, s, measured on scenarios of 2 to 9 nodes: for a run in the simulating process, for a run in the
# storing process, for a trace column, for a byte of a trace, and for the start of a worker process.
RUN_MADE_S = 3e-3
RUN_STORED_S = 8e-3
COLUMN_STORED_S = 1.5e-4
TRACE_S_PER_BYTE = 4e-8
WORKER_STARTED_S = 0.9
# Memory of a program that only simulates, and additional memory for storing: a fixed amount, an amount per column, and
# bytes per byte of traces.
PROGRAM_BYTES = 55e6
STORE_BYTES = 8e6
COLUMN_BYTES = 20e3
BYTES_PER_TRACE_BYTE = 4.4
# Disk space of a run and of a column, and the ratio of stored to sampled traces.
RUN_DISK_BYTES = 40e3
PACKED = 1.2

# Largest measured slowness of a machine with a free core.
_FREE = 1.15


def speed(processes: int, slowness: float = 1.0) -> float:
    """Processor time per wall-clock time that the processes of a job get in total.

    Args:
        processes: number of processes that compute all the time.
        slowness: wall-clock time divided by processor time of a process on this machine, before the job starts.
    """
    cores = core_count()
    # Estimated number of other processes, assuming that each keeps one core busy.
    others = cores * slowness - 1 if slowness > _FREE else 0.0
    return min(float(processes), cores * processes / max(processes + others, cores))


def storing_s(columns: int, trace_bytes: float) -> float:
    """Processor time in seconds for storing a run, given the number and the total size of its trace columns."""
    return RUN_STORED_S + COLUMN_STORED_S * columns + TRACE_S_PER_BYTE * trace_bytes
