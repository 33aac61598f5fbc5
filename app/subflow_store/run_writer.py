"""Stores a run in progress: its start and columns, then blocks and events, and finally its end.

The caller uses `RunWriter`. On the writing thread, `RunStream` collects samples and events in memory, commits
them, and closes the run.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from sqlite3 import Connection
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subflow_store.checksums import insert_checksums
from subflow_store.codec import SAMPLES, codec
from subflow_store.errors import RunClosed, StoreClosed, StoreLocked
from subflow_store.ingest import PYRAMID_STEPS, EventIngest, SampleIngest
from subflow_store.liveness import HEARTBEAT_S
from subflow_store.recording_texts import folded
from subflow_store.recordings import keep_all
from subflow_store.rows import insert, now_text, strict_json, update, upsert
from subflow_store.run_values import RunValue, figure_values, headline, parameter_values
from subflow_store.streams import MARK, STREAMS, StreamSpec, table_of_marks
from subflow_store.values import FINAL_STATUSES, EventTable
from subflow_store.writer import Writer


class RunWriter:
    """Stores a run while it is simulated; created by `Store.start_run`, and used by one thread at a time.

    Appending returns immediately, unless `writer.QUEUE_BYTES` are waiting: the store's thread encodes and commits.
    Committed data survive a crash of the program, and the run then counts as interrupted. If storing fails, the next
    `append`, `add_marks`, `add_events`, `flush` or `finish` raises the error; the caller still has the data and may
    save it elsewhere.

    As a context manager it marks the run as interrupted unless `finish` was called.

    Attributes:
        run_id: the run's id in the store.
    """

    def __init__(
        self, store: object, writer: Writer, stream: RunStream, run_id: int, n_columns: int, label: str
    ) -> None:
        """Use a stream that the store has added to its writer."""
        self.run_id = run_id
        self._store = store  # this reference keeps the store open until the run has ended
        self._writer = writer
        self._stream = stream
        self._n_columns = n_columns
        self.n_samples = 0  # samples appended so far, of each column
        self._label = label
        self._latest_ns: dict[str, int] = {}  # time of the last row in each event stream
        self._widths: dict[str, list[tuple[int, ...]]] = {}  # by event stream: shapes of the elements of its columns
        self._is_open = True

    def append(self, first_sample: int, block: ArrayLike) -> None:
        """Append samples of all columns.

        Args:
            first_sample: index of the block's first sample, i.e. the number of samples appended before.
            block: float32 [n_samples, n_columns], columns in the order given to `start_run`; it is copied.

        Raises:
            ValueError: if the block does not continue the last one or has another number of columns.
            StoreError: if the run is closed, or storing an earlier block has failed.
        """
        values = np.array(block, np.float32, order="C")
        if values.ndim != 2 or values.shape[1] != self._n_columns:
            raise ValueError(f"a block of shape {values.shape} instead of [n_samples, {self._n_columns}]")
        if first_sample != self.n_samples:
            raise ValueError(f"a block from sample {first_sample} instead of sample {self.n_samples}")
        self._check()
        if len(values):
            self._writer.post(lambda: self._stream.take_block(values), values.nbytes)
            self.n_samples += len(values)

    def add_marks(self, rows: Iterable[tuple[int, str, str, float]]) -> None:
        """Append marks.

        Args:
            rows: tuples (time_ns, owner, kind, value).

        Raises:
            StoreError: if the run is closed, or storing earlier data has failed.
        """
        self._post(MARK, table_of_marks(rows))

    def add_events(self, stream: str, table: EventTable) -> None:
        """Append rows of an event stream.

        Args:
            stream: "decision", "interval" or "agent".
            table: all columns of that stream, in order of time and not before the last appended row; they are copied.

        Raises:
            ValueError: if a column is missing, unknown or of another length or width, or times decrease.
            StoreError: if the run is closed, or storing earlier data has failed.
        """
        spec = STREAMS[stream]
        if set(table.columns) != set(spec.fields) or set(table.names) != set(spec.named):
            raise ValueError(
                f"the columns of a stream of {stream}s are {', '.join(spec.fields)}, not {', '.join(table.columns)}"
            )
        copied = EventTable(
            {field: np.array(table[field], codec(name).dtype) for field, name in spec.fields.items()}, table.names
        )
        if any(
            column.ndim != len(codec(name).shape(0)) or len(column) != len(copied)
            for name, column in zip(spec.fields.values(), copied.columns.values(), strict=True)
        ):
            raise ValueError(f"the columns of {stream}s differ in length")
        widths = [column.shape[1:] for column in copied.columns.values()]
        if self._widths.setdefault(stream, widths) != widths:
            raise ValueError(f"{stream}s that are not as wide as those before")
        times = copied["time_ns"]
        if len(times):
            latest = self._latest_ns.get(stream, int(times[0]))
            if times[0] < latest or np.any(times[1:] < times[:-1]):
                raise ValueError(f"{stream}s that do not follow one another in time")
            self._latest_ns[stream] = int(times[-1])
        self._post(spec, copied)

    def replace_scenario(self, text: str) -> None:
        """Replace the stored scenario text after an interactive change; the new text reproduces the run.

        Raises:
            StoreError: if the run is closed, or storing earlier data has failed.
        """
        self._check()
        self._writer.post(lambda: self._stream.take_scenario(text), len(text))

    def flush(self) -> None:
        """Wait until all data appended so far are committed.

        Raises:
            StoreError: if the run is closed or storing fails.
        """
        self._check()

        def flush() -> None:
            if self._stream.error is None:
                self._stream.flush(self._writer.transaction)

        self._writer.call_bare(flush)
        self._check()

    def finish(
        self, status: str, summary: Mapping[str, Any], signature: str = "", *, wall_s: float | None = None
    ) -> None:
        """End the run: write the remaining data, the pyramids and the summary. The run is immutable from then on.

        The headline figures of the list (goodput, RTT, fairness, packets) come from the summary.

        Args:
            status: one of FINAL_STATUSES.
            summary: the JSON document of the run, possibly incomplete; NaN and infinities become null.
            signature: fingerprint of the run.
            wall_s: wall-clock time of the run, s; None: `wall_s` of the summary.

        Raises:
            ValueError: if the status is unknown.
            StoreError: if the run is closed or storing fails. If this call itself failed (a full disk, a lock), the run
                is still open: try again, or `abandon` it so that it is not listed as running.
        """
        if status not in FINAL_STATUSES:
            raise ValueError(f"status {status!r} is not one of {', '.join(FINAL_STATUSES)}")
        self._check()

        def close() -> None:
            self._stream.close(self._writer.transaction, status, summary, signature, wall_s)
            self._writer.remove_stream(self._stream)

        self._writer.call_bare(close)
        self._is_open = False

    def abandon(self) -> None:
        """End the run as interrupted, without a summary, and keep the appended data; does nothing for an ended run.

        Errors are logged and not raised, because the caller already handles an error.
        """
        if not self._is_open:
            return

        def abandon() -> None:
            self._stream.abandon(self._writer.transaction)
            self._writer.remove_stream(self._stream)

        self._is_open = False
        with contextlib.suppress(StoreClosed):  # the closed store has abandoned the run
            self._writer.call_bare(abandon)

    def __enter__(self) -> RunWriter:
        """Return this writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Abandon the run unless it has been finished."""
        self.abandon()

    def _post(self, spec: StreamSpec, table: EventTable) -> None:
        self._check()
        if len(table):
            size = sum(column.nbytes for column in table.columns.values())
            self._writer.post(lambda: self._stream.take_events(spec.name, table), size)

    def _check(self) -> None:
        """Raise the error that prevents further data, if any."""
        if self._stream.error is not None:
            raise self._stream.error
        if not self._is_open:
            raise RunClosed(f"run {self.run_id} has ended and accepts no more data", path=self._label)


COMMIT_INTERVAL_S = 0.5
"""Delay of a commit after new data, s; a crash loses at most the data of this time, unless the file was locked. A run
that takes less than a second needs only one or two transactions.
"""

_EAGER_BYTES = 8 << 20  # size of waiting chunks that triggers an immediate commit

_LONG_RUN_SAMPLES = 64 * PYRAMID_STEPS[2]
"""Minimum number of samples for storing the coarse level of the pyramid; with fewer samples, it is computed quickly
from the fine level.
"""

_STORE_CHUNK = upsert("chunk", "series_id, idx", "n, data")
_STORE_STATISTICS = "UPDATE series SET n = ?, vmin = ?, vmax = ?, mean = ? WHERE id = ?"
_STORE_PYRAMID = "INSERT INTO pyramid (series_id, level, n, codec, data) VALUES (?, ?, ?, ?, ?)"
_STORE_EVENTS = upsert("event_chunk", "run_id, stream, idx, field", "n, codec, data")
_STORE_SPAN = upsert("event_span", "run_id, stream, owner, idx", "n, t_first_ns, t_last_ns")
_STORE_NAME = "INSERT INTO event_name (run_id, stream, field, idx, name) VALUES (?, ?, ?, ?, ?)"
_STORE_SCENARIO = "UPDATE run_document SET text = ? WHERE run_id = ? AND kind = 'scenario'"
_STORE_KEY = "INSERT INTO value_key (key) VALUES (?) ON CONFLICT (key) DO NOTHING"
_STORE_VALUE = (
    "INSERT INTO run_value (key_id, run_id, number, text) SELECT id, ?, ?, ? FROM value_key WHERE key = ?"
    " ON CONFLICT (key_id, run_id) DO UPDATE SET number = excluded.number, text = excluded.text"
)
_INTERRUPT = "UPDATE run SET status = 'interrupted', ended_at = heartbeat_at WHERE id = ? AND status = 'running'"
_RENEW = "UPDATE run SET heartbeat_at = ?, simulated_s = ? WHERE id = ? AND status = 'running'"

Transaction = Callable[[], AbstractContextManager[Connection]]

_log = logging.getLogger(__name__)


class RunStream:
    """Data of a running run, collected and committed on the writing thread; other threads read only `error`."""

    def __init__(self, run_id: int, series_ids: Sequence[int], dt_s: float, label: str) -> None:
        """Start with nothing to commit.

        Args:
            run_id: number of the run, which has the status running.
            series_ids: numbers of its series, in the order of the blocks' columns.
            dt_s: time between two samples, s.
            label: name of the database in messages.
        """
        self.error: Exception | None = None
        self._run_id = run_id
        self._series_ids = tuple(series_ids)
        self._dt_s = dt_s
        self._label = label
        self._samples = SampleIngest(len(series_ids))
        self._events = {name: EventIngest(spec) for name, spec in STREAMS.items()}
        self._scenario: str | None = None  # text that replaces the stored one
        self._dirty_since: float | None = None
        self._last_commit = time.monotonic()

    # Collecting

    def take_block(self, block: NDArray[np.float32]) -> None:
        """Append samples, float32 [n, n_columns]; ignored after an error."""
        self._take(lambda: self._samples.append(block))

    def take_events(self, stream: str, table: EventTable) -> None:
        """Append rows of an event stream; ignored after an error."""
        self._take(lambda: self._events[stream].append(table))

    def take_scenario(self, text: str) -> None:
        """Replace the scenario text; ignored after an error."""

        def take() -> None:
            self._scenario = text

        self._take(take)

    def _take(self, append: Callable[[], None]) -> None:
        if self.error is not None:
            return
        try:
            append()
        except Exception as error:
            self.error = error  # a bug, or lack of memory; raised at the owner's next call
            return
        if self._dirty_since is None:
            self._dirty_since = time.monotonic()

    # Committing

    def due_at(self) -> float:
        """Time of the next commit, on the clock of time.monotonic(): soon after new data, or for the heartbeat.

        Infinite after an error.
        """
        if self.error is not None:
            return math.inf
        heartbeat = self._last_commit + HEARTBEAT_S
        if self._dirty_since is None:
            return heartbeat
        if self._samples.pending_bytes + sum(each.pending_bytes for each in self._events.values()) > _EAGER_BYTES:
            return self._dirty_since
        # Also measured from the last attempt, so that a locked database is not tried continuously.
        return min(heartbeat, max(self._dirty_since, self._last_commit) + COMMIT_INTERVAL_S)

    def commit(self, transaction: Transaction) -> None:
        """Write all data since the last commit; an error is stored for the run's owner.

        If the file is locked, the data stay pending without an error.
        """
        try:
            self.flush(transaction)
        except StoreLocked as error:
            # Another process uses the file, perhaps for a backup. The data stay pending for another attempt.
            _log.warning("run %d: %s", self._run_id, error)
            self._last_commit = time.monotonic()
        except Exception as error:
            self.error = error
            self._give_up(transaction)

    def flush(self, transaction: Transaction) -> None:
        """Like `commit`, but an error is raised and all data stay pending."""
        with transaction() as connection:
            self._write(connection)
        self._mark_stored()

    def close(
        self, transaction: Transaction, status: str, summary: Mapping[str, Any], signature: str, wall_s: float | None
    ) -> None:
        """Write the remaining data and the summary and end the run, all in one transaction.

        Args:
            transaction: makes a write transaction.
            status: one of FINAL_STATUSES.
            summary: summary document, as printed by `subflow run --json`.
            signature: fingerprint of the run.
            wall_s: wall-clock time, s; None: that of the summary.

        Raises:
            StoreError: if writing fails; the run is then unchanged, and closing can be tried again.
        """
        if self.error is not None:
            raise self.error
        figures = headline(summary)
        values = figure_values(summary)
        with transaction() as connection:
            self._write(connection)
            self._write_pyramids(connection)
            document = {"run_id": self._run_id, "kind": "summary", "text": strict_json(summary)}
            insert(connection, "run_document", document)
            store_values(connection, self._run_id, values)
            end = {
                "wall_s": figures.wall_s if wall_s is None else wall_s,
                "signature": signature,
                "ended_at": now_text(),
            }
            update(connection, "run", self._run_id, figures._asdict() | end)
            insert_checksums(connection, self._run_id)
            update(connection, "run", self._run_id, {"status": status})
        self._mark_stored()

    def abandon(self, transaction: Transaction) -> None:
        """End the run as interrupted and keep its data; errors are only logged."""
        if self.error is None:
            try:
                self.flush(transaction)
            except Exception as error:
                _log.warning("run %d: its last samples are lost: %s", self._run_id, error)
        self._give_up(transaction)

    def _give_up(self, transaction: Transaction) -> None:
        """Try to mark the run as interrupted; if this fails, the next opening of the file marks it."""
        try:
            with transaction() as connection:
                mark_interrupted(connection, [self._run_id])
        except Exception as error:
            _log.warning("run %d cannot be marked as interrupted: %s", self._run_id, error)

    def _write(self, connection: Connection) -> None:
        """Write all pending data, and the heartbeat."""
        simulated_s = self._samples.n_samples * self._dt_s
        renewed = connection.execute(_RENEW, (now_text(), simulated_s, self._run_id))
        if renewed.rowcount == 0:
            raise RunClosed(
                f"run {self._run_id} was closed by another Subflow, which took this one for crashed",
                path=self._label,
                way_on="Save the run as CSV, or run it again.",
            )
        if self._scenario is not None:
            scenario, recordings = folded(self._scenario)
            connection.execute(_STORE_SCENARIO, (scenario, self._run_id))
            keep_all(connection, "run", self._run_id, recordings)
            connection.execute("DELETE FROM run_value WHERE run_id = ?", (self._run_id,))
            store_values(connection, self._run_id, parameter_values(scenario))
        chunks = [
            (series_id, index, n, blob)
            for index, n, blobs in self._samples.pending_chunks()
            for series_id, blob in zip(self._series_ids, blobs, strict=True)
        ]
        if chunks:
            n = self._samples.n_samples
            statistics = zip(*self._samples.statistics(), self._series_ids, strict=True)
            connection.executemany(_STORE_CHUNK, chunks)
            connection.executemany(_STORE_STATISTICS, [(n, *row) for row in statistics])
        for stream, events in self._events.items():
            if not events.has_pending:
                continue
            pending = events.pending()
            place = (self._run_id, stream)
            connection.executemany(_STORE_EVENTS, [(*place, *row) for row in pending.chunks])
            connection.executemany(_STORE_SPAN, [(*place, *row) for row in pending.spans])
            connection.executemany(_STORE_NAME, [(*place, *row) for row in pending.names])

    def _write_pyramids(self, connection: Connection) -> None:
        for level in PYRAMID_STEPS:
            if not self._series_ids or (level > 1 and self._samples.n_samples < _LONG_RUN_SAMPLES):
                continue
            n, blobs = self._samples.pyramid(level)
            rows = zip(self._series_ids, blobs, strict=True)
            connection.executemany(_STORE_PYRAMID, [(series_id, level, n, SAMPLES, blob) for series_id, blob in rows])

    def _mark_stored(self) -> None:
        self._scenario = None
        self._samples.mark_stored()
        for events in self._events.values():
            events.mark_stored()
        self._dirty_since = None
        self._last_commit = time.monotonic()


def store_values(connection: Connection, run_id: int, values: Sequence[RunValue]) -> None:
    """Record parameters or figures of a running run; a figure replaces a parameter with the same key."""
    connection.executemany(_STORE_KEY, [(value.key,) for value in values])
    connection.executemany(_STORE_VALUE, [(run_id, value.number, value.text, value.key) for value in values])


def mark_interrupted(connection: Connection, run_ids: Iterable[int]) -> None:
    """Mark running runs as interrupted, with the time of their last heartbeat as end; ended runs are not changed."""
    connection.executemany(_INTERRUPT, [(run_id,) for run_id in run_ids])
