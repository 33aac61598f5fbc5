"""Runs to store: small, and such that every sample tells where it belongs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_store import ColumnSpec, RunStart, Store

COLUMNS = (
    ColumnSpec("subflow", "download/1", "cwnd_pkts", "pkt"),
    ColumnSpec("subflow", "download/1", "srtt_s", "s"),
    ColumnSpec("link", "wifi/forward", "queue_pkts", "pkt"),
)

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


def record(store: Store, block: NDArray[np.float32] | None = None, name: str = "First", **changes: Any) -> int:
    """Store a finished run of these samples; returns its id."""
    block = ramp(100) if block is None else block
    columns = [ColumnSpec("flow", f"download.{index}", "goodput_bps", "bit/s") for index in range(block.shape[1])]
    run = store.start_run(start(name, **changes), columns)
    run.append(0, block)
    run.finish("finished", SUMMARY, "0123456789abcdef")
    return run.run_id


def values_of(store: Store, run_id: int) -> NDArray[np.float32]:
    """All samples of a run: float32 [n_samples, n_columns]."""
    return np.stack([store.read(series.id).values for series in store.series(run_id)], axis=1)
