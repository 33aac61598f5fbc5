"""The writing thread, the only user of the write connection; other threads submit work to it.

Two kinds of work arrive in one queue, in order. Calls (rename, tag, finish, ...) run in separate transactions while the
caller waits for the result. Blocks of a running run are only collected in memory; the thread commits them together a
little later, so that a transaction per block does not slow down a fast simulation.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, Protocol, TypeVar

from subflow_store.database import Database
from subflow_store.errors import StoreClosed

T = TypeVar("T")

QUEUE_BYTES = 64 << 20
"""Size of blocks that may wait in memory, bytes. A simulation must wait only if the disk falls this far behind."""

_log = logging.getLogger(__name__)


class Stream(Protocol):
    """An object that collects data in memory and commits them from time to time, such as a running run."""

    def due_at(self) -> float:
        """Time of the next commit, on the clock of time.monotonic()."""

    def commit(self, transaction: Callable[[], contextlib.AbstractContextManager[Connection]]) -> None:
        """Write pending data; an error is stored in the stream and not raised."""

    def abandon(self, transaction: Callable[[], contextlib.AbstractContextManager[Connection]]) -> None:
        """Write the collected data when the store closes before the run has finished; raises no error."""


@dataclass(slots=True)
class _Job:
    """A piece of work; `future` is None if no caller waits for it."""

    work: Callable[[], Any]
    future: Future[Any] | None
    size: int


class Writer:
    """Runs the writing thread of a store."""

    def __init__(self, database: Database) -> None:
        """Start the thread on the database's write connection."""
        self._database = database
        self._jobs: deque[_Job] = deque()
        self._queued_bytes = 0
        self._changed = threading.Condition()
        self._is_closing = False
        self._streams: list[Stream] = []
        # A daemon thread, so that a program that forgets to close the store can still end; a finalizer then closes the
        # store.
        self._thread = threading.Thread(target=self._run, name="subflow-store-writer", daemon=True)
        self._thread.start()

    # For callers, from any thread

    def call(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction and wait for its result.

        Raises:
            StoreError: a subclass; the transaction is then rolled back.
        """

        def in_transaction() -> T:
            with self.transaction() as connection:
                return work(connection)

        return self.call_bare(in_transaction)

    def call_bare(self, work: Callable[[], T]) -> T:
        """Run `work` on the writing thread, outside any transaction, and wait for its result.

        Raises:
            StoreError: a subclass.
        """
        future: Future[T] = Future()
        self._put(_Job(work, future, 0))
        return future.result()

    def post(self, work: Callable[[], None], size: int) -> None:
        """Run `work` later; return immediately unless QUEUE_BYTES are waiting already. `work` must not raise.

        Args:
            work: function to call on the writing thread.
            size: memory of its data, bytes.

        Raises:
            StoreClosed: if the store is closed.
        """
        self._put(_Job(work, None, size))

    def close(self) -> None:
        """Finish all pending work, let the open streams write their data, and end the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()

    def is_current_thread(self) -> bool:
        """True if the caller is the writing thread itself."""
        return threading.current_thread() is self._thread

    # For work, on the writing thread

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A write transaction: committed at the end, or rolled back on an error, which is raised as StoreError."""
        self._database.check_file(at_most_every_s=0.0)
        with self._database.write_lock, self._database.translated(), self._connection as connection:
            # IMMEDIATE, because a transaction that begins by reading cannot wait for another writer later.
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextlib.contextmanager
    def no_transaction(self) -> Iterator[Connection]:
        """The connection outside a transaction, for pragmas that need this; errors are raised as StoreError."""
        with self._database.write_lock, self._database.translated():
            yield self._connection

    def add_stream(self, stream: Stream) -> None:
        """Commit this stream at its `due_at` times from now on."""
        self._streams.append(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Stop committing a stream that has ended."""
        self._streams.remove(stream)

    @property
    def _connection(self) -> Connection:
        connection = self._database.write_connection
        assert connection is not None
        return connection

    # The thread

    def _put(self, job: _Job) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._queued_bytes + job.size <= QUEUE_BYTES or not self._jobs)
            if self._is_closing:
                raise StoreClosed("the store is closed", path=self._database.label)
            self._jobs.append(job)
            self._queued_bytes += job.size
            self._changed.notify_all()

    def _run(self) -> None:
        while (job := self._take()) is not None:
            self._do(job)
            del job  # the job may hold the last reference to the store
            self._commit_streams()
        for stream in self._streams:
            stream.abandon(self.transaction)

    def _take(self) -> _Job | None:
        """The next job, or an empty job when a commit is pending; None when all work is done and the store closes."""
        with self._changed:
            if not self._jobs and not self._is_closing:
                due_at = min((stream.due_at() for stream in self._streams), default=None)
                timeout = None if due_at is None else min(max(0.0, due_at - time.monotonic()), threading.TIMEOUT_MAX)
                self._changed.wait_for(lambda: self._jobs or self._is_closing, timeout)
            if not self._jobs:
                return None if self._is_closing else _Job(lambda: None, None, 0)
            job = self._jobs.popleft()
            self._queued_bytes -= job.size
            self._changed.notify_all()
            return job

    def _do(self, job: _Job) -> None:
        try:
            result = job.work()
        except BaseException as error:
            if job.future is None:
                # This is a bug. The thread must continue for other runs; the traceback goes to the log.
                _log.exception("work handed to the store failed")
            else:
                job.future.set_exception(error)
        else:
            if job.future is not None:
                job.future.set_result(result)

    def _commit_streams(self) -> None:
        now = time.monotonic()
        for stream in self._streams:
            if stream.due_at() <= now:
                stream.commit(self.transaction)
