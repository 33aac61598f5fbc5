"""Traces with known numbers, for tests of derived values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.events import AGENT, DECISION, INTERVAL, EventLog
from subflow_app.features.traces.core.traces import SeriesKey, TraceMark, sample_times
from subflow_store.values import EventTable, RunRow


class TableTraces:
    """A run with given samples.

    Args:
        columns: values by (scope, owner, column).
        interval_s: between samples.
        marks: events of the run.
        condition: experiment that the run repeats.
        controllers: controller by flow.
    """

    def __init__(
        self,
        columns: Mapping[tuple[str, str, str], Sequence[float]],
        *,
        interval_s: float = 0.5,
        warmup_s: float = 0.0,
        title: str = "Table",
        marks: Sequence[TraceMark] = (),
        condition: str = "",
        controllers: Mapping[str, str] | None = None,
    ) -> None:
        self._columns = {SeriesKey(*key, ""): np.array(values, np.float32) for key, values in columns.items()}
        self._interval_s = interval_s
        self._marks = tuple(marks)
        self.title = title
        self.warmup_s = warmup_s
        self.duration_s = interval_s * max(len(values) for values in columns.values())
        self.labels = {owner: owner for _, owner, _ in columns}
        self.condition = condition
        self.controllers = controllers or {owner: "newreno" for scope, owner, _ in columns if scope == "flow"}
        self.mss_bytes = 1448
        self.versions: dict[str, str] = {}
        self.row: RunRow | None = None  # the run is not finished

    def keys(self) -> Sequence[SeriesKey]:
        return tuple(self._columns)

    def read(self, key: SeriesKey) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        values = self._columns[key]
        return sample_times(self._interval_s, self._interval_s, len(values)), values

    def append(self, scope: str, owner: str, name: str, values: Sequence[float]) -> None:
        """Adds samples to a running run."""
        key = SeriesKey(scope, owner, name, "")
        self._columns[key] = np.concatenate([self._columns[key], np.array(values, np.float32)])

    def add_column(self, scope: str, owner: str, name: str, values: Sequence[float]) -> None:
        """Adds a trace to the run."""
        self._columns[SeriesKey(scope, owner, name, "")] = np.array(values, np.float32)
        self.labels.setdefault(owner, owner)

    def marks(self) -> Sequence[TraceMark]:
        return self._marks

    def events(self, stream: str) -> EventTable:
        return EventLog({spec.name: spec for spec in (AGENT, DECISION, INTERVAL)}[stream]).table()
