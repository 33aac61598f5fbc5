"""A measured file becomes a run: sampling grids, gaps and sums, its figures, and its storage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.present import present

from subflow_app.features.measured.core.measured_run import keep_run, make_run, read_trace
from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn, ReadingOptions, Target
from subflow_app.features.traces.core.traces import StoredTraces, select_keys
from subflow_app.foundation.errors import InputError
from subflow_store import Store

CWND = Target("subflow", "download/1", "cwnd_pkts")
LOSSES = Target("subflow", "download/1", "losses_pkts")


def table(time_s: list[float], *columns: tuple[Target, list[float]]) -> MeasuredTable:
    at = np.array(time_s)
    return MeasuredTable("csv", tuple(RawColumn(t.text, at, np.array(v), target=t) for t, v in columns))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv"
    file.write_text("something")
    return file


def test_a_longer_interval_averages_states_and_adds_losses(path: Path) -> None:
    times = [0.1 * k for k in range(1, 11)]
    measured = table(times, (CWND, list(range(1, 11))), (LOSSES, [1.0] * 10))
    run = make_run(measured, name="x", path=path, interval_s=0.5)
    np.testing.assert_allclose(run.values, [[3.0, 5.0], [8.0, 5.0]])
    # Uneven samples are interpolated.
    run = make_run(table([0.09, 0.21, 0.29, 0.4], (CWND, [9.0, 21.0, 29.0, 40.0])), name="x", path=path, interval_s=0.1)
    np.testing.assert_allclose(run.values[:, 0], [10.0, 20.0, 30.0, 40.0])
    # An interval near a round value is rounded to it.
    times = [0.1004 * k for k in range(1, 50)]
    assert make_run(table(times, (CWND, times)), name="x", path=path).interval_s == pytest.approx(0.1)


def test_it_is_a_run_like_any_other(path: Path, tmp_path: Path) -> None:
    path.write_text("time_s,cwnd,throughput (Mbit/s)\n1,10,4\n2,,5\n3,12,6\n")
    run = make_run(read_trace(path, ReadingOptions(flow="download")), name="bench", path=path)
    with Store(tmp_path / "runs.db") as store:
        number = keep_run(run, store)
        again = keep_run(run, store)
        row = store.run(number)
        assert (row.name, row.status, row.tags, row.profile) == ("bench", "finished", ("measured",), "measured")
        assert row.goodput_bps == pytest.approx(5e6)
        assert present(row.summary)["measured"]["file"] == "trace.csv"
        assert row.signature == store.run(again).signature
        traces = StoredTraces(store, number)
        time_s, values = traces.read(select_keys(traces, "subflow", "cwnd_pkts", "download/1")[0])
        np.testing.assert_allclose(time_s, [1, 2, 3])
        np.testing.assert_allclose(values, [10, 11, 12])  # between two samples, not beyond a gap
        assert traces.labels["download/1"] == "download/1"
        # Without a scenario, repetitions of a measurement cannot be recognised.
        assert traces.condition != StoredTraces(store, again).condition


def test_columns_without_a_number_are_refused(path: Path) -> None:
    empty = table([0.1, 0.2], (CWND, [np.nan, np.nan]))
    with pytest.raises(InputError, match="none of the chosen columns holds a number: cwnd_pkts:download/1"):
        make_run(empty, name="x", path=path)
    some = table([0.1, 0.2], (CWND, [np.nan, np.nan]), (LOSSES, [1.0, 0.0]))
    assert len(make_run(some, name="x", path=path).values) == 2
