"""Long tables and Parquet tables hold the same numbers as their traces, with units."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from subflow_app.features.exporting.core.table_formats import export_table
from subflow_app.features.exporting.core.tables import LONG_COLUMNS
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import Traces
from subflow_sim import load_scenario


@pytest.fixture(scope="module")
def traces() -> Traces:
    job = RunJob(load_scenario("assets/scenarios/t-10b.toml", overrides=["duration=3s", "warmup=0s"]), "")
    job.run()
    return job.traces


def units_of(table: Any) -> dict[str, str]:
    units: dict[str, str] = json.loads(table.schema.metadata[b"subflow"])["units"]
    return units


def test_long_csv_has_a_row_for_each_sample(traces: Traces, tmp_path: Path) -> None:
    (path,) = export_table(traces, tmp_path / "new", "csv-long")
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert tuple(heading) == LONG_COLUMNS
    read: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for time, *names, value in rows:
        read.setdefault(tuple(names), []).append((float(time), float(value or "nan")))
    keys = traces.keys()
    assert set(read) == {(key.scope, key.owner, key.name, key.unit) for key in keys}
    for key in keys:
        times, values = traces.read(key)
        found = np.array(read[key.scope, key.owner, key.name, key.unit])
        np.testing.assert_allclose(found[:, 0], times, atol=1e-9)
        np.testing.assert_array_equal(found[:, 1].astype(np.float32), values)


def test_parquet_holds_the_same_columns_with_their_units_and_the_run(traces: Traces, tmp_path: Path) -> None:
    paths = export_table(traces, tmp_path, "parquet", {"seed": 1, "signature": "0123"})
    assert [path.name for path in paths] == ["subflows.parquet", "flows.parquet", "links.parquet"]
    tables = [pq.read_table(path) for path in paths]
    keys = traces.keys()
    for key in keys:
        name = f"{key.owner}:{key.name}"
        table = next(table for table in tables if name in table.column_names)
        _, values = traces.read(key)
        np.testing.assert_array_equal(table[name].to_numpy(), values)
        assert units_of(table)[name] == key.unit
        assert table[name].null_count == np.isnan(values).sum()
    assert units_of(tables[0])["time_s"] == "s"
    facts = json.loads(tables[0].schema.metadata[b"subflow"])
    assert facts["signature"] == "0123"
    assert facts["duration_s"] == 3.0


def test_long_parquet_equals_long_csv(traces: Traces, tmp_path: Path) -> None:
    (written,) = export_table(traces, tmp_path, "parquet-long")
    table = pq.read_table(written)
    assert tuple(table.column_names) == LONG_COLUMNS
    (text,) = export_table(traces, tmp_path, "csv-long")
    with text.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert len(rows) == len(table)
    assert [row[1:5] for row in rows] == [
        list(row) for row in zip(*(table[name].to_pylist() for name in LONG_COLUMNS[1:5]), strict=True)
    ]
    values = np.array([float(row[5] or "nan") for row in rows], np.float32)
    np.testing.assert_array_equal(table["value"].to_numpy(), values)
