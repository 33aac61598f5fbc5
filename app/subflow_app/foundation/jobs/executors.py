"""Executors of tasks, and the speed of this machine with the cost of runs beside their simulation.

Tasks are carried out by threads of this process, by processes beside it, or by a cluster; to a job they are alike. The
speed counts whatever else runs on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from subflow_app.foundation.jobs.tasks import Answer, Stoppable, Task


class Executor(Protocol):
    """Carries tasks out. Used by one thread, but for `stop`; the order of the answers is not that of the tasks."""

    @property
    def slots(self) -> int:
        """How many tasks it should have: more would only wait, and take memory."""

    @property
    def jobs(self) -> int:
        """How many tasks it carries out at once."""

    def submit(self, task: Task) -> None:
        """Take a task.

        Raises:
            ClusterError: if there is nobody left to carry it out.
        """

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """What has come since; waits for a while if that is nothing.

        Raises:
            ClusterError: if there is nobody left to carry tasks out.
        """

    def stop(self) -> None:
        """End what is under way; its tasks have no answers. Any thread may call this."""

    def close(self) -> None:
        """End everything that was started."""


ExecutorMaker = Callable[[], Executor]


class Threads:
    """Carries tasks out in this process: simulations run without Python's lock."""

    def __init__(self, jobs: int = 1) -> None:
        """With so many threads, which are started when there is something to do."""
        self.jobs = self.slots = jobs
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="subflow-task")
        self._numbers: dict[Future[Any], int] = {}
        self._under_way: list[Stoppable] = []
        self._is_stopped = False

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._numbers[self._pool.submit(self._carry_out, task)] = task.number

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """What has come since."""
        done, _ = wait(self._numbers, timeout_s, FIRST_COMPLETED)
        answers = [Answer(self._numbers.pop(future), future.result()) for future in done]
        return () if self._is_stopped else answers

    def stop(self) -> None:
        """End what is under way."""
        self._is_stopped = True
        for stoppable in list(self._under_way):
            stoppable.stop()

    def close(self) -> None:
        """End the threads."""
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    def close(self) -> None:
        pass


def core_count() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def executor_maker(jobs: int = 1, cluster: str | None = None) -> ExecutorMaker:
    """Who carries tasks out.

    Args:
        jobs: how many at once on this machine; 1: this process itself.
        cluster: address of a Ray cluster that does it instead; None: none.

    Raises:
        InputError: if the text is no address of a cluster.
        ClusterError: if Ray is not installed, or nobody answers at the address.
    """
    if cluster is not None:
        from subflow_app.foundation.jobs.cluster_address import check_cluster

        # Before anything is begun: the points of a plan may take minutes to read.
        check_cluster(cluster)

    def make() -> Executor:
        # Imported here: one that is not used needs not even be installed.
        if cluster is not None:
            from subflow_app.foundation.jobs.cluster import RayCluster

            return RayCluster(cluster)
        if jobs > 1:
            from subflow_app.foundation.jobs.process_pool import ProcessPool

            return ProcessPool(jobs)
        return Threads()

    return make


def jobs_beside_window() -> int:
    """How many runs at once are suggested where a window is to stay quick: a core less, but not half of two."""
    cores = os.cpu_count() or 1
    return cores - 1 if cores > 2 else cores


# Processor time, measured on scenarios of 2 to 9 nodes: of a run where it is made and where it is stored, of a column
# and of a byte of its traces, and of a process that is started to make runs.
RUN_MADE_S = 3e-3
RUN_STORED_S = 8e-3
COLUMN_STORED_S = 1.5e-4
TRACE_S_PER_BYTE = 2e-8
WORKER_STARTED_S = 0.9
# Memory of a program that simulates and nothing else, and what storing adds: at all, for each column, and for each byte
# of the traces.
PROGRAM_BYTES = 55e6
STORE_BYTES = 8e6
COLUMN_BYTES = 20e3
BYTES_PER_TRACE_BYTE = 2.2
# Disk space of a run, of a column, and of a byte of traces, packed.
RUN_DISK_BYTES = 40e3
PACKED = 0.6

# A machine with a free core is not exactly as fast as its clock.
_FREE = 1.15


def speed(processes: int, slowness: float = 1.0) -> float:
    """Processor seconds that so many processes of ours get together in a second.

    Args:
        processes: that compute all the time.
        slowness: wall-clock time of a process of this machine by its processor time, before they are started.
    """
    cores = core_count()
    # Processes of others that want a core each, as far as one process can see them.
    others = cores * slowness - 1 if slowness > _FREE else 0.0
    return min(float(processes), cores * processes / max(processes + others, cores))


def storing_s(columns: int, trace_bytes: float) -> float:
    """Processor time for storing a run with these traces, s."""
    return RUN_STORED_S + COLUMN_STORED_S * columns + TRACE_S_PER_BYTE * trace_bytes
