"""Decisions and monitor intervals: round trips, windows and neighbours in time, and chunks that need no reading."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.members import for_each
from tests.store.examples import COLUMNS, SUMMARY, agent_steps, database_of, decisions, intervals, start, writer_of

from subflow_store import EventExtent, EventTable, RunClosed, RunNotFound, Store, ingest, open_store
from subflow_store.ingest import EVENT_CHUNK, EventIngest
from subflow_store.streams import AGENT, DECISION, INTERVAL

# Row k of the examples is at k ms; owners take turns: "download/1" has rows 0, 3, 6 ...


def stored(store: Store, *tables: EventTable) -> int:
    """A finished run with these decisions, appended and committed one table after the other."""
    with store.start_run(start(), COLUMNS) as run:
        for table in tables:
            run.add_events("decision", table)
            run.flush()
        run.finish("finished", SUMMARY)
    return run.run_id


def rows_of(table: EventTable) -> list[int]:
    """Numbers of these rows in the examples."""
    rows: list[int] = (table["time_ns"] // 1_000_000).tolist()
    for field in ("cwnd_before_pkts", "number_8", "available", "data_seq", "chosen"):
        assert table[field].tolist() == rows
    return rows


@for_each("n", [1, EVENT_CHUNK - 1, EVENT_CHUNK, EVENT_CHUNK + 1, 3 * EVENT_CHUNK])
def test_events_come_back_as_they_went_in(store: Store, n: int) -> None:
    found = store.decisions(stored(store, decisions(n)))
    expected = decisions(n)
    assert found.columns.keys() == DECISION.fields.keys()
    for field, column in expected.columns.items():
        np.testing.assert_array_equal(found[field], column)
        assert found[field].dtype == column.dtype
    assert found.texts("owner")[:4] == ["download/1", "download/2", "download", "download/1"][:n]


def test_the_streams_of_a_run_do_not_mix(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.add_marks([(5, "download/1", "loss", 1.0)])
        run.add_events("interval", intervals(7))
        run.add_events("decision", decisions(9))
        run.finish("finished", SUMMARY)
    assert len(store.marks(run.run_id)) == 1
    assert len(store.intervals(run.run_id)) == 7
    assert len(store.decisions(run.run_id)) == 9
    assert store.intervals(run.run_id, "download/1", 0.002, 0.004)["tag"].tolist() == [2, 3, 4]


def test_names_are_those_of_the_table_that_brought_them(store: Store) -> None:
    # The second table numbers its owners in another order, and has an owner without a row.
    second = decisions(4, first=3, owners=("upload", "download/1", "download/2", "nobody"))
    second.columns["owner"][:] = (0, 1, 1, 2)
    found = store.decisions(stored(store, decisions(3), second))
    assert found.texts("owner") == [
        *("download/1", "download/2", "download"),
        *("upload", "download/1", "download/1", "download/2"),
    ]
    assert "nobody" not in found.names["owner"]


@given(st.lists(st.integers(0, 6000), min_size=1, max_size=5))
def test_many_appends_store_the_same_as_one(sizes: list[int]) -> None:
    at_once, in_parts = EventIngest(DECISION), EventIngest(DECISION)
    at_once.append(decisions(sum(sizes)))
    for begin, end in pairwise(np.cumsum([0, *sizes]).tolist()):
        in_parts.append(decisions(end - begin, first=begin))
    assert in_parts.pending() == at_once.pending()
    assert in_parts.has_pending == (sum(sizes) > 0)


def test_what_is_stored_is_not_stored_again_and_a_partial_chunk_grows() -> None:
    ingest = EventIngest(INTERVAL)
    ingest.append(intervals(EVENT_CHUNK + 10))
    assert {(idx, n) for idx, _, n, _, _ in ingest.pending().chunks} == {(0, EVENT_CHUNK), (1, 10)}
    assert ingest.pending_bytes > 0
    ingest.mark_stored()
    assert not ingest.has_pending
    assert ingest.pending_bytes == 0
    ingest.append(intervals(5, first=EVENT_CHUNK + 10))
    pending = ingest.pending()
    assert {(idx, n) for idx, _, n, _, _ in pending.chunks} == {(1, 15)}
    assert [(span.idx, span.n) for span in pending.spans] == [(1, 15)]
    assert pending.names == []


def test_a_running_run_tells_what_is_committed(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        for begin, end in ((0, 10), (10, 4090), (4090, 4200)):
            run.add_events("decision", decisions(end - begin, first=begin))
            run.flush()
            assert rows_of(store.decisions(run.run_id)) == list(range(end))
            assert store.event_extents(run.run_id, "decision")["download/1"].n == len(range(0, end, 3))


# Windows


@pytest.fixture
def ten(store: Store) -> int:
    """The run of ten decisions."""
    return stored(store, decisions(10))


@pytest.fixture
def ten_thousand(store: Store) -> int:
    """The run of ten thousand decisions."""
    return stored(store, decisions(10_000))


@for_each(
    ("first_ms", "last_ms"), [(0, 0), (0, 4095), (4095, 4096), (4094, 4099), (5000, 9999), (9999, 20_000), (-5, 2)]
)
def test_a_window_holds_the_rows_in_its_bounds(store: Store, ten_thousand: int, first_ms: int, last_ms: int) -> None:
    in_window = [row for row in range(10_000) if first_ms <= row <= last_ms]
    window = (first_ms / 1000, last_ms / 1000)
    assert rows_of(store.decisions(ten_thousand, None, *window)) == in_window
    assert rows_of(store.decisions(ten_thousand, "download/2", *window)) == [row for row in in_window if row % 3 == 1]


@for_each(
    ("t_from_s", "t_to_s", "rows"),
    [
        (None, 0.0015, [0, 1]),
        (0.0075, None, [8, 9]),
        (-math.inf, 0.001, [0, 1]),
        (0.009, math.inf, [9]),
        (0.005, 0.004, []),
        (0.1 + 0.2 - 0.3 + 0.003, 0.003, [3]),  # a rounding error beyond 3 ms counts as 3 ms
        (20.0, 30.0, []),
    ],
)
def test_windows_at_odd_places(
    store: Store, ten: int, t_from_s: float | None, t_to_s: float | None, rows: list[int]
) -> None:
    assert rows_of(store.decisions(ten, None, t_from_s, t_to_s)) == rows


def damage_all_but(store: Store, *chunks: int) -> None:
    """Makes every other chunk unreadable."""
    with writer_of(store).no_transaction() as connection:
        connection.execute("DROP TRIGGER event_chunk_fixed_update")
        kept = ", ".join(map(str, chunks))
        connection.execute(f"UPDATE event_chunk SET data = x'00' WHERE idx NOT IN ({kept})")


def test_a_window_reads_no_chunk_outside_it(file_store: Store) -> None:
    run_id = stored(file_store, decisions(5 * EVENT_CHUNK))
    damage_all_but(file_store, 2)
    first, last = 2 * EVENT_CHUNK, 3 * EVENT_CHUNK - 1
    assert rows_of(file_store.decisions(run_id, None, first / 1000, last / 1000)) == list(range(first, last + 1))


def test_an_owner_with_few_rows_is_found_without_the_chunks_of_others(file_store: Store) -> None:
    # The owner "rare" has one row in the first chunk and one in the last.
    rare = decisions(5 * EVENT_CHUNK, owners=("often", "rare"))
    rare.columns["owner"][:] = 0
    rare.columns["owner"][[7, 4 * EVENT_CHUNK + 7]] = 1
    run_id = stored(file_store, rare)
    damage_all_but(file_store, 0, 4)
    late = (4 * EVENT_CHUNK - 1) / 1000
    assert rows_of(file_store.decisions_around(run_id, "rare", late)) == [7]
    assert rows_of(file_store.decisions_around(run_id, "rare", late, after=1)) == [7, 4 * EVENT_CHUNK + 7]
    assert rows_of(file_store.decisions(run_id, "rare")) == [7, 4 * EVENT_CHUNK + 7]


@for_each(("n", "width"), [(1, 3), (EVENT_CHUNK + 1, 14), (20, 0)])
def test_what_agents_saw_comes_back_with_its_width(store: Store, n: int, width: int) -> None:
    steps = agent_steps(n, width=width)
    with store.start_run(start(), COLUMNS) as run:
        run.add_events("agent", steps.select(slice(0, n // 2)))
        run.flush()
        run.add_events("agent", steps.select(slice(n // 2, None)))
        run.finish("finished", SUMMARY)
    found = store.agent_steps(run.run_id)
    assert found.columns.keys() == AGENT.fields.keys()
    for field, column in steps.columns.items():
        np.testing.assert_array_equal(found[field], column)
        assert found[field].dtype == column.dtype
    assert found["observation"].shape == (n, width)


def test_steps_are_found_by_agent_and_time(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.add_events("agent", agent_steps(10_000))
        run.finish("finished", SUMMARY)
    found = store.agent_steps(run.run_id, "client", 4.5, 4.505)
    assert found.texts("owner") == ["client"] * 3
    assert found["observation"].tolist() == [[k, k + 0.25, k + 0.5] for k in (4501, 4503, 4505)]
    assert store.event_extents(run.run_id, "agent") == {
        "server": EventExtent(5000, 0, 9_998_000_000),
        "client": EventExtent(5000, 1_000_000, 9_999_000_000),
    }
    assert len(store.agent_steps(run.run_id, "nobody")) == 0


def test_steps_of_a_run_are_all_equally_wide(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.add_events("agent", agent_steps(3, width=4))
        with pytest.raises(ValueError, match="not as wide"):
            run.add_events("agent", agent_steps(3, first=3, width=5))
        flat = agent_steps(3, first=3)
        flat.columns["observation"] = flat["reward"]  # type: ignore[index]
        with pytest.raises(ValueError, match="differ in length"):
            run.add_events("agent", flat)
        run.finish("finished", SUMMARY)
    assert store.agent_steps(run.run_id)["observation"].shape == (3, 4)


# Neighbours


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.integers(-1, 100),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from("abcd"),
)
def test_neighbours_equal_brute_force(steps: list[int], t_ms: int, before: int, after: int, owner: str) -> None:
    # Rows of the same instant, chunks of four, and owners in any order.
    table = decisions(len(steps), owners=("a", "b", "c", "d"))
    times = np.cumsum(steps)
    table.columns["time_ns"][:] = times * 1_000_000
    table.columns["owner"][:] = np.array(steps) * 7 % 4
    mine = [row for row, each in enumerate(table.texts("owner")) if each == owner]
    early = [row for row in mine if times[row] <= t_ms]
    late = [row for row in mine if times[row] > t_ms]
    with pytest.MonkeyPatch.context() as patch, open_store(":memory:") as store:
        patch.setattr(ingest, "EVENT_CHUNK", 4)
        run_id = stored(store, table)
        found = store.decisions_around(run_id, owner, t_ms / 1000, before=before, after=after)
    assert found["data_seq"].tolist() == early[max(0, len(early) - before) :] + late[:after]


# Invalid input


def test_a_run_without_events_has_empty_tables(store: Store) -> None:
    run_id = stored(store)
    asked = (store.decisions(run_id), store.decisions(run_id, "x", 0.0, 1.0), store.decisions_around(run_id, "x", 1.0))
    for table in asked:
        assert len(table) == 0
        assert table.columns.keys() == DECISION.fields.keys()
    for table, stream in ((store.intervals(run_id), INTERVAL), (store.agent_steps(run_id), AGENT)):
        assert (len(table), table.columns.keys()) == (0, stream.fields.keys())
    assert store.event_extents(run_id, "interval") == {}


def test_columns_that_an_older_version_did_not_have_are_unknown(store: Store) -> None:
    run_id = stored(store, decisions(10))
    with writer_of(store).no_transaction() as connection:
        connection.execute("DROP TRIGGER event_chunk_fixed_delete")
        connection.execute("DELETE FROM event_chunk WHERE field IN ('number_8', 'data_seq')")
    found = store.decisions(run_id, "download/1")
    np.testing.assert_array_equal(found["number_8"], [math.nan] * 4)
    assert found["data_seq"].tolist() == [0] * 4
    assert found["number_7"].tolist() == [0, 3, 6, 9]


def test_an_unknown_owner_has_no_rows(store: Store) -> None:
    run_id = stored(store, decisions(10))
    assert len(store.decisions(run_id, "nobody")) == 0
    assert len(store.decisions_around(run_id, "nobody", 1.0, before=3, after=3)) == 0


def test_events_of_a_run_that_is_not_there(store: Store) -> None:
    for ask in (
        lambda: store.decisions(77),
        lambda: store.intervals(77),
        lambda: store.agent_steps(77),
        lambda: store.decisions_around(77, "x", 0.0),
        lambda: store.event_extents(77, "decision"),
    ):
        with pytest.raises(RunNotFound, match="unknown run 77"):
            ask()


def test_rows_must_have_all_columns_and_follow_one_another(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        with pytest.raises(ValueError, match="columns of a stream of intervals"):
            run.add_events("interval", decisions(1))
        short = intervals(3)
        short.columns["tag"] = short["tag"][:2]  # type: ignore[index]
        with pytest.raises(ValueError, match="differ in length"):
            run.add_events("interval", short)
        run.add_events("decision", decisions(10))
        run.add_events("decision", decisions(0))
        with pytest.raises(ValueError, match="do not follow one another"):
            run.add_events("decision", decisions(3, first=8))
        run.add_events("decision", decisions(3, first=9))
        backwards = decisions(3, first=20)
        backwards.columns["time_ns"][:] = backwards["time_ns"][::-1].copy()
        with pytest.raises(ValueError, match="do not follow one another"):
            run.add_events("decision", backwards)
        run.finish("finished", SUMMARY)
    with pytest.raises(RunClosed):
        run.add_events("decision", decisions(1, first=50))
    assert len(store.decisions(run.run_id)) == 13


def test_a_table_is_copied(store: Store) -> None:
    table = decisions(10)
    with store.start_run(start(), COLUMNS) as run:
        run.add_events("decision", table)
        table.columns["chosen"][:] = -1
        run.finish("finished", SUMMARY)
    assert rows_of(store.decisions(run.run_id)) == list(range(10))


def test_purging_removes_events_and_their_index(store: Store) -> None:
    run_id = stored(store, decisions(10))
    store.delete([run_id])
    store.purge_deleted()
    with database_of(store).reading() as reader:
        for table in ("event_chunk", "event_name", "event_span"):
            assert reader.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
