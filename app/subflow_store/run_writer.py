"""The caller's side of a running run: start -> columns -> blocks and events -> finish."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subflow_store.codec import codec
from subflow_store.errors import RunClosed, StoreClosed
from subflow_store.run_stream import RunStream
from subflow_store.streams import MARK, STREAMS, StreamSpec, table_of_marks
from subflow_store.values import FINAL_STATUSES, EventTable
from subflow_store.writer import Writer


class RunWriter:
    """Stores a run while it runs. `Store.start_run` makes it; one thread at a time may use it.

    Appending returns at once: the store's own thread encodes and commits. What was committed survives a crash of the
    program, and the run then shows as interrupted. If storing fails, the next `append`, `add_marks`,
    `add_events`, `flush` or `finish` raises that failure; the data is the caller's still, to be saved elsewhere.

    As a context manager it marks the run as interrupted unless `finish` was called.

    Attributes:
        run_id: the run's id in the store.
    """

    def __init__(
        self, store: object, writer: Writer, stream: RunStream, run_id: int, n_columns: int, label: str
    ) -> None:
        """For the store."""
        self.run_id = run_id
        self._store = store  # it closes itself when nobody holds it, which must not happen before the run has ended
        self._writer = writer
        self._stream = stream
        self._n_columns = n_columns
        self._n_samples = 0
        self._label = label
        self._latest_ns: dict[str, int] = {}  # time of the last row of each event stream
        self._widths: dict[str, list[tuple[int, ...]]] = {}  # of its columns
        self._is_open = True

    @property
    def n_samples(self) -> int:
        """Samples appended so far, of each column."""
        return self._n_samples

    def append(self, first_sample: int, block: ArrayLike) -> None:
        """Append samples of all columns.

        Args:
            first_sample: index of the block's first sample: as many as were appended before.
            block: float32 [n_samples, n_columns], columns in the order given to `start_run`; it is copied.

        Raises:
            ValueError: if the block does not follow the last one or has another number of columns.
            StoreError: if the run is closed, or storing an earlier block has failed.
        """
        values = np.array(block, np.float32, order="C")
        if values.ndim != 2 or values.shape[1] != self._n_columns:
            raise ValueError(f"a block of shape {values.shape} where [n_samples, {self._n_columns}] is due")
        if first_sample != self._n_samples:
            raise ValueError(f"a block from sample {first_sample} where sample {self._n_samples} is due")
        self._check()
        if len(values):
            self._writer.post(lambda: self._stream.take_block(values), values.nbytes)
            self._n_samples += len(values)

    def add_marks(self, rows: Iterable[tuple[int, str, str, float]]) -> None:
        """Append marks.

        Args:
            rows: (time_ns, owner, kind, value) each.

        Raises:
            StoreError: if the run is closed, or storing something earlier has failed.
        """
        self._post(MARK, table_of_marks(rows))

    def add_events(self, stream: str, table: EventTable) -> None:
        """Append rows of an event stream.

        Args:
            stream: "decision", "interval" or "agent".
            table: all columns of that stream, in order of time and from the last row before on; they are copied.

        Raises:
            ValueError: if a column is missing, unknown or of another length or width, or the order is not kept.
            StoreError: if the run is closed, or storing something earlier has failed.
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
        """Keep another scenario text: the run was changed while it went on, and this is what gives it again.

        Raises:
            StoreError: if the run is closed, or storing something earlier has failed.
        """
        self._check()
        self._writer.post(lambda: self._stream.take_scenario(text), len(text))

    def flush(self) -> None:
        """Wait until everything appended so far is committed.

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
        """End the run: write the rest, the pyramids and the summary. The run is immutable from then on.

        The headline figures of the list (goodput, RTT, fairness, packets) are read from the summary.

        Args:
            status: "finished", "stopped" or "failed".
            summary: the JSON document of the run, as far as there is one; NaN and infinities become null.
            signature: fingerprint of the run.
            wall_s: seconds the run took; None: as the summary's `wall_s` says.

        Raises:
            StoreError: if the run is closed or storing fails. If it was this call itself that failed (a full disk, a
                lock), the run is still open: try again, or `abandon` it so that it is not listed as running.
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
        """End the run without a summary, as interrupted, keeping what was appended; nothing if it has ended.

        What cannot be written is logged and not raised: whoever abandons a run has an error to deal with already.
        """
        if not self._is_open:
            return

        def abandon() -> None:
            self._stream.abandon(self._writer.transaction)
            self._writer.remove_stream(self._stream)

        self._is_open = False
        with contextlib.suppress(StoreClosed):  # closing the store has done it
            self._writer.call_bare(abandon)

    def __enter__(self) -> RunWriter:
        """This run."""
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
        """Raise what keeps the run from taking more."""
        if self._stream.error is not None:
            raise self._stream.error
        if not self._is_open:
            raise RunClosed(f"run {self.run_id} has ended and accepts no more data", path=self._label)
