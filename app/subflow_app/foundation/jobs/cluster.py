"""Tasks on a Ray cluster, whose nodes need only Subflow and run the same code as local worker processes.

Ray's client ends its process when it loses the cluster, prints messages of its own, and cannot be interrupted while it
waits. So it runs in a separate process (`ray_client`), which reports every few seconds that the cluster answers. Ray
repeats no task here: a lost task is reported, and the job decides whether to repeat it, as with local processes.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import threading
import time
from collections.abc import Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from subflow_app.foundation.errors import ClusterError
from subflow_app.foundation.interruption import interrupts_held_back
from subflow_app.foundation.jobs.cluster_address import ClusterAddress, check_cluster
from subflow_app.foundation.jobs.ray_client import Beat, Joining, Made, Refused, no_answer, serve
from subflow_app.foundation.jobs.tasks import Answer, Task

# Number of tasks submitted per worker, so that a worker that finishes a task finds the next one waiting.
_TASKS_EACH = 2
# Number of tasks lost in a row after which the cluster counts as unusable.
_MOST_LOSSES = 50
# Time between two signs of life of the head, then the longest allowed silence of the client: while it loads Ray, while
# it joins the cluster, and afterwards. Loading and joining take seconds each, and ten times as long on a busy machine.
BEAT_S = 2.0
LOAD_S = 60.0
JOIN_S = 45.0
SILENT_S = 15.0
# Time that the client has to leave the cluster.
_LEAVE_S = 3.0
# One signal may end the client and also stop the job. So when the client ends, `wait` allows this much time for a call
# of `stop` before it reports that the cluster was lost.
_SAME_MOMENT_S = 0.3


class RayCluster:
    """Carries out tasks in the workers of a cluster, one worker per core; `submit` and `stop` never block."""

    def __init__(self, address: str) -> None:
        """Begin to join the cluster; if this fails later, `wait` raises the error.

        Raises:
            InputError: if the address is malformed.
            ClusterError: if Ray is not installed, or no server answers at that address.
        """
        check_cluster(address)
        self._address = ClusterAddress.parse(address)
        # Provisional values, until the number of cores in the cluster is known.
        self.jobs = 1
        self.slots = _TASKS_EACH
        self._limit_s = LOAD_S
        self._silent_s = 0.0
        self._is_joined = False
        self._losses = 0
        self._error: ClusterError | None = None
        self._stopped = threading.Event()
        context = multiprocessing.get_context("spawn")
        self._pipe: Connection
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, address, BEAT_S, SILENT_S), name="subflow-cluster", daemon=True
        )
        if os.name == "posix":
            # The first process starts the resource tracker, which unblocks interrupts. So start the tracker before
            # interrupts are blocked below.
            resource_tracker.ensure_running()
        with interrupts_held_back():
            self._process.start()
        theirs.close()  # so that the pipe closes when the process ends
        # A thread sends the messages, because a client that waits for a lost cluster does not empty the pipe.
        self._outbox: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        threading.Thread(target=self._send, name="subflow-cluster-out", daemon=True).start()

    def submit(self, task: Task) -> None:
        """Queue a task for the cluster.

        Raises:
            ClusterError: if the cluster could not be joined, or is lost.
        """
        if self._error is not None:
            raise self._error
        self._outbox.put((task.number, pickle.dumps(task.work)))

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """Return at most one answer, so that the job stores it before the next; none after a timeout or `stop`.

        Raises:
            ClusterError: if the cluster could not be joined, or is lost.
        """
        if self._error is not None:
            raise self._error
        began = time.monotonic()
        while not self._stopped.is_set():
            left_s = timeout_s - (time.monotonic() - began)
            if left_s <= 0:
                return ()
            # Only the time spent in this wait counts as silence of the client: while this process is busy elsewhere,
            # messages wait in the pipe. For the same reason, the client rather than this process detects a silent head.
            asked = time.monotonic()
            ready = wait([self._pipe, self._process.sentinel], left_s)
            self._silent_s += time.monotonic() - asked
            if self._pipe in ready:
                try:
                    answer = self._take(self._pipe.recv())
                except (EOFError, OSError):
                    ready = [self._process.sentinel]
                else:
                    if answer is not None:
                        return (answer,)
                    continue
            if ready:
                if self._stopped.wait(_SAME_MOMENT_S):
                    return ()
                self._process.join(_LEAVE_S)
                self._fail(f"Ray ended its client (code {self._process.exitcode})")
            elif self._silent_s > self._limit_s:
                self._fail(no_answer(self._limit_s))
        return ()

    def stop(self) -> None:
        """Cancel all tasks and end the client, without waiting for it."""
        self._stopped.set()
        self._outbox.put(None)

    def close(self) -> None:
        """Cancel the tasks of this executor and leave the cluster, which keeps running."""
        self.stop()
        if self._is_joined and self._error is None:
            self._process.join(_LEAVE_S)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()

    def _send(self) -> None:
        with contextlib.suppress(OSError):  # the client has ended, which `wait` detects
            while True:
                order = self._outbox.get()
                self._pipe.send(order)
                if order is None:
                    return

    def _take(self, said: Joining | Beat | Made | Refused) -> Answer | None:
        """Process a message of the client; returns the answer in it, or None for any other message.

        Raises:
            ClusterError: if the cluster is unusable.
        """
        match said:
            case Joining():
                self._silent_s, self._limit_s = 0.0, JOIN_S
            case Beat(cores):
                # Answers of workers do not reset the silence: workers continue for a minute after the head has ended.
                self._silent_s, self._limit_s = 0.0, SILENT_S
                self._is_joined = True
                self.jobs = cores
                self.slots = cores * _TASKS_EACH
            case Refused(problem):
                self._fail(problem)
            case Made(number, packed, loss):
                if packed is not None:
                    self._losses = 0
                    return Answer(number, pickle.loads(packed))
                self._losses += 1
                if self._losses >= _MOST_LOSSES:
                    self._fail(f"{_MOST_LOSSES} tasks were lost one after the other, the last one by {loss}")
                return Answer(number, None, f"its worker was lost ({loss})")
        return None

    def _fail(self, problem: str) -> Any:
        """Mark the cluster as unusable.

        Raises:
            ClusterError: always.
        """
        if self._is_joined:
            self._error = ClusterError(
                f"the Ray cluster at {self._address.text} was lost: {problem}; what has ended is kept, and what is "
                "missing can be made later"
            )
        else:
            self._error = self._address.unreachable(problem)
        self._process.kill()
        raise self._error
