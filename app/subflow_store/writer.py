"""The one thread that writes: it owns the write connection, and everybody else hands it work.

Two kinds of work arrive in one queue, in order. Calls (rename, tag, finish, ...) run in a transaction of their own
while the caller waits for the result. Blocks of a running run are only taken up in memory; the thread commits them
together a little later, so that a fast simulation is not slowed down by one transaction a block.
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
"""Blocks that may wait in memory. Only when the disk falls this far behind does a simulation have to wait for it."""

_log = logging.getLogger(__name__)


class Stream(Protocol):
    """Something that gathers data in memory and commits it from time to time: a running run."""

    def due_at(self) -> float:
        """When to commit next, on the clock of time.monotonic()."""

    def commit(self, transaction: Callable[[], contextlib.AbstractContextManager[Connection]]) -> None:
        """Write what is due; an error stays with the stream and does not come out."""

    def abandon(self, transaction: Callable[[], contextlib.AbstractContextManager[Connection]]) -> None:
        """The store closes before the run has finished: write what there is; no error comes out."""


@dataclass(slots=True)
class _Job:
    """A piece of work; `future` is None where nobody waits for it."""

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
        # A daemon, so that a program which forgets to close the store can still end; the store closes itself then.
        self._thread = threading.Thread(target=self._run, name="subflow-store-writer", daemon=True)
        self._thread.start()

    # For callers, from any thread

    def call(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in a transaction and wait for it.

        Raises:
            StoreError: one of its kinds; the transaction is then rolled back.
        """

        def in_transaction() -> T:
            with self.transaction() as connection:
                return work(connection)

        return self.call_bare(in_transaction)

    def call_bare(self, work: Callable[[], T]) -> T:
        """Do `work` on the writing thread, outside any transaction, and wait for it.

        Raises:
            StoreError: one of its kinds.
        """
        future: Future[T] = Future()
        self._put(_Job(work, future, 0))
        return future.result()

    def post(self, work: Callable[[], None], size: int) -> None:
        """Do `work`, which must not raise, later; returns at once unless QUEUE_BYTES are waiting already.

        Args:
            work: what to do on the writing thread.
            size: bytes of memory it holds until then.

        Raises:
            StoreClosed: if the store is closed.
        """
        self._put(_Job(work, None, size))

    def close(self) -> None:
        """Do all work that is waiting, let the open streams write what they have, and end the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()

    def is_current_thread(self) -> bool:
        """Whether the caller is the writing thread itself."""
        return threading.current_thread() is self._thread

    # For work, on the writing thread

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A write transaction: committed at the end, rolled back on an error, which leaves as StoreError."""
        self._database.check_file(at_most_every_s=0.0)
        with self._database.write_lock, self._database.translated(), self._connection as connection:
            # At once for writing: a transaction that begins by reading could not wait for another writer later on.
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextlib.contextmanager
    def no_transaction(self) -> Iterator[Connection]:
        """The bare connection, for pragmas that work only outside a transaction; errors leave as StoreError."""
        with self._database.write_lock, self._database.translated():
            yield self._connection

    def add_stream(self, stream: Stream) -> None:
        """Commit this stream from now on whenever it is due."""
        self._streams.append(stream)

    def remove_stream(self, stream: Stream) -> None:
        """The stream has ended."""
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
            del job  # it may be the last to hold the store
            self._commit_streams()
        for stream in self._streams:
            stream.abandon(self.transaction)

    def _take(self) -> _Job | None:
        """The next job, or one that does nothing when a stream is due; None when all is done and the store closes."""
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
                # A bug of ours: the thread must live on for the other runs, and the log has the traceback.
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
