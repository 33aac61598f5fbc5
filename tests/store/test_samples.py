"""Samples and marks: round trips, chunk boundaries, windows, pyramids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each
from tests.store.examples import COLUMNS, SUMMARY, ramp, record, start, values_of, writer_of

from subflow_store import ColumnSpec, RunNotFound, Store, open_store
from subflow_store.ingest import CHUNK_SAMPLES, SampleIngest, group


@for_each("n", [0, 1, 4095, 4096, 4097, 10_000])
def test_samples_come_back_as_they_went_in(store: Store, n: int) -> None:
    run_id = record(store, ramp(n))
    assert np.array_equal(values_of(store, run_id), ramp(n))
    assert {series.n for series in store.series(run_id)} == {n}


def test_series_describe_the_columns(store: Store) -> None:
    with store.start_run(start(sample_interval_s=0.5), COLUMNS) as run:
        run.append(0, ramp(8))
        run.finish("finished", SUMMARY)
    series = store.series(run.run_id)
    assert [ColumnSpec(s.scope, s.owner, s.name, s.unit) for s in series] == list(COLUMNS)
    # Sample k of column 1 is k + 1/4, k = 0..7: mean 3.5 + 0.25.
    assert (series[1].vmin, series[1].vmax, series[1].mean) == (0.25, 7.25, 3.75)
    assert {(s.t0_s, s.dt_s, s.n, s.dtype, s.codec) for s in series} == {(0.5, 0.5, 8, "f4", "f4/shuffle/zstd3")}


def test_nan_stays_nan_and_is_left_out_of_the_figures(store: Store) -> None:
    block = ramp(5000)
    block[::2, 0] = np.nan
    block[:, 1] = np.nan
    block[10, 2] = np.inf
    run_id = record(store, block)
    assert np.array_equal(values_of(store, run_id), block, equal_nan=True)
    first, empty, infinite = store.series(run_id)
    # The odd k below 5000: from 1 to 4999, 2500 on average.
    assert (first.vmin, first.vmax, first.mean) == (1.0, 4999.0, 2500.0)
    assert (empty.vmin, empty.vmax, empty.mean) == (None, None, None)
    assert (infinite.vmin, infinite.vmax, infinite.mean) == (0.5, math.inf, math.inf)


@given(st.lists(st.integers(0, 9000), min_size=1, max_size=6), st.integers(0, 2**32))
def test_many_appends_store_the_same_as_one(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    block = random.random((sum(sizes), 2)).astype(np.float32)
    block[random.random(block.shape) < 0.2] = np.nan
    at_once, in_parts = SampleIngest(2), SampleIngest(2)
    at_once.append(block)
    for part in np.split(block, np.cumsum(sizes)[:-1]):
        in_parts.append(part)
    assert in_parts.pending_chunks() == at_once.pending_chunks()
    assert in_parts.statistics() == at_once.statistics()
    for level in (1, 2):
        assert in_parts.pyramid(level) == at_once.pyramid(level)


def test_a_partial_chunk_grows_from_commit_to_commit(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        for n in (10, 4000, 5000):
            run.append(run.n_samples, ramp(n)[run.n_samples :])
            run.flush()
            assert np.array_equal(values_of(store, run.run_id), ramp(n))
            assert store.series(run.run_id)[0].vmax == n - 1
        assert store.run(run.run_id).simulated_s == pytest.approx(5000 * 0.1)


def test_a_block_is_copied(store: Store) -> None:
    block = ramp(10)
    with store.start_run(start(), COLUMNS) as run:
        run.append(0, block)
        block[:] = -1.0
        run.finish("finished", SUMMARY)
    assert np.array_equal(values_of(store, run.run_id), ramp(10))


def test_a_block_must_follow_the_last_one_and_have_all_columns(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.append(0, ramp(10))
        with pytest.raises(ValueError, match="from sample 11 instead of sample 10"):
            run.append(11, ramp(10))
        with pytest.raises(ValueError, match=r"\(10, 2\) instead of \[n_samples, 3\]"):
            run.append(10, ramp(10, 2))
        run.append(10, ramp(0))
        assert run.n_samples == 10


def test_a_run_may_have_no_columns(store: Store) -> None:
    with store.start_run(start(), []) as run:
        run.add_marks([(5, "wifi", "link_down", 0.0)])
        run.finish("finished", SUMMARY)
    assert store.series(run.run_id) == []
    assert len(store.marks(run.run_id)) == 1


# Windows. Sample k is at t0 + k dt; a chunk holds 4096 samples.


@pytest.fixture
def hundred(store: Store) -> int:
    """The series of 100 samples at 0.1, 0.2, ... 10.0 s."""
    return store.series(record(store, ramp(100, 1)))[0].id


@pytest.fixture
def ten_thousand(store: Store) -> int:
    """The series of ten thousand samples, in three chunks."""
    return store.series(record(store, ramp(10_000, 1)))[0].id


@for_each(
    ("first", "last"),
    [(0, 0), (0, 4095), (4095, 4096), (4096, 8191), (4000, 9000), (8192, 9999), (9999, 9999), (5000, 5000)],
)
def test_a_window_holds_the_samples_from_bound_to_bound(store: Store, ten_thousand: int, first: int, last: int) -> None:
    data = store.read(ten_thousand, 0.1 + 0.1 * first, 0.1 + 0.1 * last)
    assert np.array_equal(data.values, ramp(10_000, 1)[first : last + 1, 0])
    assert data.times_s == pytest.approx(0.1 + 0.1 * np.arange(first, last + 1))


@for_each(
    ("t_from_s", "t_to_s", "expected"),
    [
        (None, 0.35, [0, 1, 2]),
        (9.75, None, [97, 98, 99]),
        (0.21, 0.29, []),
        (0.3, 0.1 + 0.2, [2]),  # 0.1 + 0.2 is slightly more than 0.3, and so is 0.1 + 2 * 0.1
        (-5.0, 0.1, [0]),
        (-math.inf, 0.2, [0, 1]),
        (9.9, math.inf, [98, 99]),
        (9.9, 1e300, [98, 99]),
        (50.0, 60.0, []),
        (3.0, 1.0, []),
        (-3.0, -1.0, []),
    ],
)
def test_windows_at_odd_places(
    store: Store, hundred: int, t_from_s: float | None, t_to_s: float | None, expected: list[int]
) -> None:
    data = store.read(hundred, t_from_s, t_to_s)
    assert data.values.tolist() == expected
    assert data.times_s == pytest.approx(0.1 + 0.1 * np.array(expected))


def test_a_window_reads_no_chunk_outside_it(file_store: Store) -> None:
    series = file_store.series(record(file_store, ramp(3 * CHUNK_SAMPLES, 1)))[0]
    # With the first and last chunk damaged, the second can still be read.
    with writer_of(file_store).no_transaction() as connection:
        connection.execute("DROP TRIGGER chunk_fixed_update")
        connection.execute("UPDATE chunk SET data = x'00' WHERE idx <> 1")
    first, last = 0.1 + 0.1 * CHUNK_SAMPLES, 0.1 * 2 * CHUNK_SAMPLES
    assert len(file_store.read(series.id, first, last).values) == CHUNK_SAMPLES


# Pyramids


def brute_force(values: np.ndarray, step: int) -> tuple[list[float], list[float]]:
    """Minimum and maximum of each group, computed directly."""
    least, greatest = [], []
    for begin in range(0, len(values), step):
        numbers = [value for value in values[begin : begin + step].tolist() if value == value]
        least.append(min(numbers, default=math.nan))
        greatest.append(max(numbers, default=math.nan))
    return least, greatest


@for_each("n", [1, 63, 64, 65, 4096, 4100, 10_000, 300_000])
@for_each(("level", "step"), [(1, 64), (2, 4096)])
def test_a_pyramid_equals_brute_force(n: int, level: int, step: int) -> None:
    random = np.random.default_rng(n)
    values = random.normal(size=(n, 1)).astype(np.float32)
    values[random.random(n) < 0.3] = np.nan
    values[n // 3 : n // 3 + 200] = np.nan  # whole groups of NaN
    with open_store(":memory:") as store:
        pyramid = store.read_pyramid(store.series(record(store, values))[0].id, level)
    least, greatest = brute_force(values[:, 0], step)
    np.testing.assert_array_equal(pyramid.vmin, least)
    np.testing.assert_array_equal(pyramid.vmax, greatest)
    assert pyramid.t0_s == 0.1
    assert pyramid.dt_s == pytest.approx(step * 0.1)


@pytest.mark.parametrize("level", [1, 2])
def test_a_pyramid_of_a_running_run_covers_what_is_committed(store: Store, level: int) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.append(0, ramp(5000))
        run.flush()
        pyramid = store.read_pyramid(store.series(run.run_id)[0].id, level)
    step = {1: 64, 2: 4096}[level]
    assert pyramid.vmin.tolist() == list(range(0, 5000, step))
    assert pyramid.vmax.tolist()[-1] == 4999


def test_groups_of_an_empty_signal_are_none() -> None:
    assert group(np.fmin, np.empty((2, 0), np.float32), 64).shape == (2, 0)


def test_there_are_two_pyramid_levels(store: Store) -> None:
    with pytest.raises(ValueError, match="level 3 is not one of 1, 2"):
        store.read_pyramid(1, 3)


# Marks


def test_marks_come_back_by_time(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.add_marks([(7, "download/1", "loss", 1.5), (3, "wifi", "link_down", 0.0)])
        run.flush()
        run.add_marks([(3, "download/1", "rto", math.nan), (2**62, "download/2", "loss", -1.0)])
        run.finish("finished", SUMMARY)
    marks = store.marks(run.run_id)
    rows = list(marks.rows())
    # Two at 3 ns keep their order of addition.
    assert [(mark.time_ns, mark.owner, mark.kind) for mark in rows] == [
        (3, "wifi", "link_down"),
        (3, "download/1", "rto"),
        (7, "download/1", "loss"),
        (2**62, "download/2", "loss"),
    ]
    np.testing.assert_array_equal(marks.value, [0.0, math.nan, 1.5, -1.0])
    assert [str(c.dtype) for c in (marks.time_ns, marks.owner_index, marks.kind_index, marks.value)] == [
        "int64",
        "int32",
        "int32",
        "float64",
    ]


def test_marks_fill_chunks_over_several_commits(store: Store) -> None:
    expected = [(time_ns, f"flow.{time_ns % 7}", "loss", float(time_ns)) for time_ns in range(10_000)]
    with store.start_run(start(), COLUMNS) as run:
        for begin, end in ((0, 100), (100, 4096), (4096, 9000), (9000, 10_000)):
            run.add_marks(expected[begin:end])
            run.flush()
            assert list(store.marks(run.run_id).rows()) == expected[:end]
        run.finish("finished", SUMMARY)
    assert list(store.marks(run.run_id).rows()) == expected


def test_a_run_without_marks_has_an_empty_table(store: Store) -> None:
    marks = store.marks(record(store))
    assert len(marks) == 0
    assert (marks.owners, marks.kinds, list(marks.rows())) == ((), (), [])


# Missing data


@for_each("ask", [Store.run, Store.series, Store.marks, Store.read, lambda s, i: s.read_pyramid(i, 1)])
def test_what_is_not_there_is_named(store: Store, ask) -> None:
    with pytest.raises(RunNotFound, match=r"unknown (run|series) 77"):
        ask(store, 77)
