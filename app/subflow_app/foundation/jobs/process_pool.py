"""Tasks in worker processes. A process that dies loses its current task, and a new process replaces it.

The pool of the standard library fails as a whole when one of its processes dies.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from subflow_app.foundation.crash_reports import forget_process, report_error, watched
from subflow_app.foundation.errors import ClusterError
from subflow_app.foundation.interruption import ignore_interrupts, interrupts_held_back
from subflow_app.foundation.jobs.tasks import Answer, Task, carry_out

# Number of tasks per process: one in progress, and one that it can begin while the previous outcome is being stored.
_TASKS_EACH = 2
_END_S = 5.0
# The pool fails after this many processes in a row have ended without an answer.
_MOST_STILLBORN = 20


class ProcessPool:
    """Carries out tasks in parallel, one per process; the processes start on demand."""

    def __init__(self, jobs: int) -> None:
        """Prepare for `jobs` processes."""
        self.jobs = jobs
        self.slots = jobs * _TASKS_EACH
        # Not forked: a forked child lacks the threads of this process, so the locks that they held are never released.
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._waiting: deque[Task] = deque()
        self._lock = threading.Lock()
        self._is_stopped = False
        self._stillborn = 0

    def submit(self, task: Task) -> None:
        """Give a task to the process with the fewest tasks, or queue it if all processes have enough tasks."""
        self._waiting.append(task)
        self._hand_out()

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """The answers since the last call, including answers for lost tasks.

        Raises:
            ClusterError: if many processes in a row ended without an answer.
        """
        self._hand_out()
        answers: list[Answer] = []
        handles: list[Any] = [each for worker in self._workers for each in (worker.pipe, worker.process.sentinel)]
        ready = set(wait(handles, timeout_s)) if handles else set()
        for worker in list(self._workers):
            if worker.pipe not in ready and worker.process.sentinel not in ready:
                continue
            try:
                while worker.pipe.poll():
                    outcome = worker.pipe.recv()  # outcome of the oldest task, which remains in `tasks` if this fails
                    answers.append(Answer(worker.tasks.popleft().number, outcome))
                    self._stillborn = 0
            except (EOFError, OSError):
                answers += self._bury(worker)
            else:
                if worker.process.sentinel in ready:
                    answers += self._bury(worker)
        if self._stillborn >= _MOST_STILLBORN:
            raise ClusterError(f"{_MOST_STILLBORN} processes ended one after the other without having made a run")
        return answers

    def stop(self) -> None:
        """Kill all processes."""
        with self._lock:
            self._is_stopped = True
            for worker in self._workers:
                worker.process.kill()

    def close(self) -> None:
        """End all processes: an idle process exits when its pipe closes, a busy process is killed."""
        with self._lock:
            self._is_stopped = True
        for worker in self._workers:
            worker.dismiss()
        for worker in self._workers:
            worker.process.join(0 if worker.tasks else _END_S)
            if worker.process.is_alive():
                worker.process.kill()
            worker.process.join()
            if worker.process.pid is not None:
                forget_process(worker.process.pid)
            worker.process.close()
        self._workers.clear()

    def _hand_out(self) -> None:
        """Give tasks to the processes with the fewest tasks."""
        while self._waiting and not self._is_stopped:
            free = min(self._workers, key=lambda worker: len(worker.tasks), default=None)
            if len(self._workers) < self.jobs and (free is None or free.tasks):
                free = self._hire()
            if free is None or len(free.tasks) >= _TASKS_EACH:
                return
            free.give(self._waiting.popleft())

    def _hire(self) -> _Worker | None:
        with self._lock:
            if self._is_stopped:
                return None
            worker = _Worker(self._context)
            self._workers.append(worker)
            return worker

    def _bury(self, worker: _Worker) -> Sequence[Answer]:
        """Remove a dead process: its current task is lost, and its other tasks are queued again."""
        with self._lock:
            self._workers.remove(worker)
        worker.process.join()
        code = worker.process.exitcode
        lost, *others = worker.tasks or [None]
        self._waiting.extendleft(reversed([task for task in others if task is not None]))
        worker.pipe.close()
        worker.process.close()
        self._stillborn += 1
        if lost is None or self._is_stopped:
            return ()
        return (Answer(lost.number, None, f"its process {_how(code)}"),)


class _Worker:
    """A worker process and its tasks, oldest first."""

    def __init__(self, context: Any) -> None:
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), name="subflow-worker", daemon=True)
        if os.name == "posix":
            # The first process starts the resource tracker, which unblocks interrupts. So start the tracker before
            # interrupts are blocked below.
            resource_tracker.ensure_running()
        with interrupts_held_back():
            self.process.start()
        theirs.close()  # so that the pipe closes when the process ends
        self.tasks: deque[Task] = deque()

    def give(self, task: Task) -> None:
        self.tasks.append(task)
        with contextlib.suppress(OSError):  # the process has just ended, which `wait` detects
            self.pipe.send(task)

    def dismiss(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.close()


def work(pipe: Connection) -> None:
    """Main function of a process in the pool: carries out tasks until the pipe closes."""
    ignore_interrupts()
    threading.Thread(target=end_with_parent, daemon=True).start()
    tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
    # A separate thread always receives, so that the sender need not wait for the end of a task.
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    with watched("sweep"):
        try:
            while (task := tasks.get()) is not None:
                outcome = carry_out(task.work)
                with contextlib.suppress(OSError):
                    pipe.send(outcome)
        except Exception as error:
            report_error(error, "sweep")
            raise


def _receive(pipe: Connection, tasks: queue.SimpleQueue[Task | None]) -> None:
    try:
        while True:
            tasks.put(pipe.recv())
    except (EOFError, OSError):
        tasks.put(None)


def end_with_parent() -> None:
    """Exit when the parent process ends; to be run in a thread."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
