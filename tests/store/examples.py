"""Small runs to store, in which every sample value identifies its position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_store import ColumnSpec, EvaluationFigure, EventTable, RunStart, RunWriter, Store, TrainingStart
from subflow_store.arena import ArenaOutcome
from subflow_store.codec import codec
from subflow_store.database import Database
from subflow_store.streams import AGENT, DECISION, INTERVAL, StreamSpec
from subflow_store.writer import Writer

COLUMNS = (
    ColumnSpec("subflow", "download/1", "cwnd_pkts", "pkt"),
    ColumnSpec("subflow", "download/1", "srtt_s", "s"),
    ColumnSpec("link", "wifi/forward", "queue_pkts", "pkt"),
)

RECORDING = "packed:" + "0123456789" * 200
FOLLOWS_A_RECORDING = f"""\
format = 1
name = "Two paths"
[links.wifi]
rate = {{ trace = "lte.up", content = "{RECORDING}" }}
"""

SUMMARY: dict[str, Any] = {
    "scenario": "Two paths",
    "wall_s": 0.41,
    "packets": 123,
    "flows": [
        {"name": "download.1", "goodput_bps": 3e6, "mean_rtt_s": 0.1},
        {"name": "download.2", "goodput_bps": 1e6, "mean_rtt_s": 0.3},
    ],
    "fairness": {"jain": 0.8},
}


def start(name: str = "First", **changes: Any) -> RunStart:
    """A run of 60 s, sampled every 0.1 s."""
    values: dict[str, Any] = {
        "name": name,
        "scenario_name": "Two paths",
        "scenario_text": 'format = 1\nname = "Two paths"\n',
        "seed": 1,
        "duration_s": 60.0,
        "warmup_s": 5.0,
        "controllers": "lia",
        "version": "0.1.0",
        "machine": {"host": "here"},
    }
    return RunStart(**(values | changes))


def ramp(n_samples: int, n_columns: int = len(COLUMNS)) -> NDArray[np.float32]:
    """float32 [n_samples, n_columns]: sample k of column c is k + c / 4, so each value is known and exact."""
    return (np.arange(n_samples)[:, np.newaxis] + np.arange(n_columns) / 4).astype(np.float32)


def begun(store: Store, block: NDArray[np.float32]) -> RunWriter:
    """A running run with these samples."""
    run = store.start_run(start(), COLUMNS)
    run.append(0, block)
    return run


def record(store: Store, block: NDArray[np.float32] | None = None, name: str = "First", **changes: Any) -> int:
    """Stores a finished run of these samples; returns its id."""
    block = ramp(100) if block is None else block
    columns = [ColumnSpec("flow", f"download.{index}", "goodput_bps", "bit/s") for index in range(block.shape[1])]
    run = store.start_run(start(name, **changes), columns)
    run.append(0, block)
    run.finish("finished", SUMMARY, "0123456789abcdef")
    return run.run_id


def values_of(store: Store, run_id: int) -> NDArray[np.float32]:
    """All samples of a run: float32 [n_samples, n_columns]."""
    return np.stack([store.read(series.id).values for series in store.series(run_id)], axis=1)


def events(spec: StreamSpec, n: int, first: int, names: dict[str, tuple[str, ...]]) -> EventTable:
    """Rows `first` ... `first + n - 1` of a stream: row k is at k ms and has k in every column except names.

    Row k has the name with index k modulo the number of names. Columns of several numbers are empty.
    """
    rows = np.arange(first, first + n)
    columns: dict[str, NDArray[Any]] = {
        field: np.resize(rows, codec(name).shape(n)).astype(codec(name).dtype) for field, name in spec.fields.items()
    }
    columns |= {field: rows.astype(np.int32) % len(each) for field, each in names.items()}
    columns["time_ns"] = rows * 1_000_000
    return EventTable(columns, names)


def decisions(n: int, first: int = 0, owners: tuple[str, ...] = ("download/1", "download/2", "download")) -> EventTable:
    """Decisions of these owners in turn, a millisecond apart."""
    return events(DECISION, n, first, {"owner": owners, "cause": ("ack", "loss"), "rule": ("slow_start", "loss")})


def intervals(n: int, first: int = 0) -> EventTable:
    """Intervals of one subflow, a millisecond apart."""
    return events(INTERVAL, n, first, {"owner": ("download/1",)})


def agent_steps(n: int, first: int = 0, width: int = 3, agents: tuple[str, ...] = ("server", "client")) -> EventTable:
    """Steps of these agents in turn, a millisecond apart; number j of observation k is k + j / 4."""
    table = events(AGENT, n, first, {"owner": agents, "agent": ("{}",), "subflow": ("download/1", "download/2")})
    rows = np.arange(first, first + n)[:, np.newaxis]
    observation, action = ((rows + np.arange(wide) / 4).astype(np.float32) for wide in (width, 1))
    return EventTable({**table.columns, "observation": observation, "action": action}, table.names)


def training(name: str = "First", **changes: Any) -> TrainingStart:
    """A training of an agent on two paths."""
    values: dict[str, Any] = {
        "name": name,
        "agent": "drl-cc",
        "scenario_name": "Two paths",
        "scenario_text": 'format = 1\nname = "Two paths"\n',
        "config": {"agent": "drl-cc", "steps": 50_000, "options": {"gamma": 0.9}},
        "seed": 7,
        "folder": "/trainings/first",
        "version": "0.1.0",
    }
    return TrainingStart(**(values | changes))


def reports(n: int, first: int = 0) -> list[dict[str, float | None]]:
    """Reports `first` ... `first + n - 1`: report k belongs to step 10 k, after k / 2 s, with a return of -k."""
    return [{"step": 10 * k, "elapsed_s": k / 2, "return_mean": -float(k)} for k in range(first, first + n)]


def figures(step: int, goodput_bps: float = 6e6) -> list[EvaluationFigure]:
    """An evaluation of an agent beside OLIA."""
    return [
        EvaluationFigure(step, "drl-cc", "goodput_bps", goodput_bps, 1e5, 5),
        EvaluationFigure(step, "olia", "goodput_bps", 4e6, 2e5, 5),
    ]


OUTCOME = ArenaOutcome(
    "a key", "lia", "0123456789abcdef", "lossy/test/3", "0.1.0", {"utility": -1.5, "reason": ""}, "2026-11-26T11:00:00"
)


def writer_of(store: Store) -> Writer:
    """The writing thread of a store, for tests that forge content or delay it."""
    assert store._writer is not None
    return store._writer


def database_of(store: Store) -> Database:
    """The connections of a store."""
    return store._database
