"""Runs in the list: stored fields, editable fields, searching, deleting and restoring."""

from __future__ import annotations

import math
import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.store.examples import COLUMNS, SUMMARY, database_of, ramp, record, start, values_of, writer_of

from subflow_store import RunClosed, RunNotFound, Store, StoreError, open_store


def names(store: Store, **filters) -> list[str]:
    return [run.name for run in store.runs(**filters)]


def test_a_run_is_kept_with_all_that_makes_it_repeatable(store: Store) -> None:
    began = datetime(2026, 11, 21, 13, 0, tzinfo=timezone(timedelta(hours=2)))
    run_id = record(store, ramp(600), seed=7, mss_bytes=1200, profile="textbook", started_at_utc=began)
    run = store.run(run_id)
    assert (run.name, run.scenario_name, run.controllers, run.version) == ("First", "Two paths", "lia", "0.1.0")
    assert (run.seed, run.duration_s, run.warmup_s, run.sample_interval_s) == (7, 60.0, 5.0, 0.1)
    assert (run.mss_bytes, run.profile) == (1200, "textbook")
    assert (run.status, run.signature, run.note, run.tags, run.deleted) == (
        "finished",
        "0123456789abcdef",
        "",
        (),
        False,
    )
    assert run.started_at == began
    assert run.started_at.tzinfo is UTC
    assert run.ended_at is not None
    assert run.simulated_s == pytest.approx(60.0)
    assert run.scenario_text == 'format = 1\nname = "Two paths"\n'
    assert run.summary == SUMMARY
    assert run.machine == {"host": "here"}


def test_deleted_runs_do_not_count(store: Store) -> None:
    first, _ = record(store, ramp(10)), record(store, ramp(10))
    assert store.count() == 2
    store.delete([first])
    assert store.count() == 1


def test_lists_have_headline_figures_and_no_documents(store: Store) -> None:
    run_id = record(store)
    (run,) = store.runs()
    # 3e6 + 1e6 bit/s; the mean of 0.1 and 0.3 s.
    assert run.mean_rtt_s == pytest.approx(0.2)
    assert (run.goodput_bps, run.jain, run.wall_s, run.packets) == (4e6, 0.8, 0.41, 123)

    assert (run.scenario_text, run.summary, run.machine) == (None, None, None)
    assert store.run(run_id)._replace(scenario_text=None, summary=None, machine=None) == run


def test_what_json_cannot_say_becomes_null(store: Store) -> None:
    with store.start_run(start(), []) as run:
        run.finish("failed", {"flows": [{"goodput_bps": math.nan, "mean_rtt_s": None}], "numbers": (1, math.inf)})
    stored = store.run(run.run_id)
    assert stored.summary == {"flows": [{"goodput_bps": None, "mean_rtt_s": None}], "numbers": [1, None]}
    assert (stored.status, stored.mean_rtt_s, stored.jain) == ("failed", None, None)


def test_a_summary_may_be_empty_and_the_wall_time_given(store: Store) -> None:
    with store.start_run(start(), []) as run:
        run.finish("stopped", {}, wall_s=1.5)
    stored = store.run(run.run_id)
    assert (stored.status, stored.summary, stored.wall_s, stored.goodput_bps) == ("stopped", {}, 1.5, None)


@for_each("seed", [0, 2**63 - 1, 2**63, 2**64 - 1])
def test_any_64_bit_seed_is_kept(store: Store, seed: int) -> None:
    assert store.run(record(store, seed=seed)).seed == seed


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_other_seeds_are_refused(store: Store, seed: int) -> None:
    with pytest.raises(ValueError, match="not from 0 to"):
        store.start_run(start(seed=seed), [])


def test_the_store_describes_the_machine_unless_told(store: Store) -> None:
    machine = present(store.run(record(store, machine=None)).machine)
    assert set(machine) == {"host", "system", "processor", "cores", "python"}
    assert all(machine.values())


def test_a_running_run_is_listed_at_once(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        (listed,) = store.runs()
        assert (listed.id, listed.status, listed.simulated_s, listed.ended_at) == (run.run_id, "running", 0.0, None)
        assert store.run(run.run_id).summary == {}


def test_runs_are_listed_newest_first_page_by_page(store: Store) -> None:
    for name in "abcde":
        record(store, name=name)
    assert names(store) == ["e", "d", "c", "b", "a"]
    assert names(store, limit=2) == ["e", "d"]
    assert names(store, limit=2, offset=3) == ["b", "a"]
    assert names(store, offset=4) == ["a"]
    assert names(store, limit=0) == []


# Editable fields


def test_name_note_and_tags_of_a_finished_run_may_change(store: Store) -> None:
    run_id = record(store)
    store.rename(run_id, "Second")
    store.set_note(run_id, "compare with OLIA")
    for tag in ("paper", " two  words ", "Ångström"):
        store.add_tag(run_id, tag)
    run = store.run(run_id)
    assert (run.name, run.note, run.tags) == ("Second", "compare with OLIA", ("paper", "two words", "Ångström"))


def test_names_notes_and_tags_are_stored_as_plain_text(store: Store) -> None:
    run_id = record(store)
    store.rename(run_id, "a\x1b[31m\u202eb\nc")
    store.set_note(run_id, "one\r\ntwo\tthree\x9b\ud800")
    store.add_tag(run_id, "bell\x07 tag")
    run = store.run(run_id)
    assert (run.name, run.note, run.tags) == ("a [31m b c", "one\ntwo\tthree", ("bell tag",))
    store.remove_tag(run_id, "bell\x07 tag")
    assert store.run(run_id).tags == ()


def test_tags_differ_by_more_than_case_and_are_not_blank(store: Store) -> None:
    run_id = record(store)
    store.add_tag(run_id, "Paper")
    store.add_tag(run_id, "paper")
    assert store.run(run_id).tags == ("Paper",)
    store.remove_tag(run_id, "PAPER")
    assert store.run(run_id).tags == ()
    store.remove_tag(run_id, "PAPER")

    with pytest.raises(ValueError, match="blank"):
        store.add_tag(run_id, "  ")


def test_tags_in_use_are_those_of_runs_that_are_not_deleted(store: Store) -> None:
    first, second = record(store), record(store)
    store.add_tag(first, "b")
    store.add_tag(second, "b")
    store.add_tag(second, "a")
    assert store.tags() == ["a", "b"]
    store.delete([second])
    assert store.tags() == ["b"]


@for_each(
    "change",
    [
        lambda store: store.rename(77, "x"),
        lambda store: store.set_note(77, "x"),
        lambda store: store.add_tag(77, "x"),
        lambda store: store.remove_tag(77, "x"),
    ],
)
def test_changing_a_run_that_is_not_there_says_so(store: Store, change) -> None:
    with pytest.raises(RunNotFound, match="unknown run 77"):
        change(store)


# Searching


@pytest.fixture
def library(store: Store) -> Store:
    """Three runs with different words in all places."""
    first = record(store, name="drlcc-sc1", controllers="lia, newreno", scenario_name="Two disjoint paths")
    second = record(store, name="Überlast", controllers="olia", scenario_name="One bottleneck")
    record(store, name="baseline", controllers="newreno", scenario_name="One bottleneck")
    store.add_tag(first, "paper figure")
    store.set_note(second, 'the "odd" one')
    return store


@for_each(
    ("search", "expected"),
    [
        ("", {"drlcc-sc1", "Überlast", "baseline"}),
        ("lia", {"drlcc-sc1"}),  # words match from their beginning
        ("drlcc-sc", {"drlcc-sc1"}),
        ("sc1", {"drlcc-sc1"}),
        ("NEWRENO", {"drlcc-sc1", "baseline"}),
        ("newreno bottle", {"baseline"}),
        ("uber", {"Überlast"}),
        ("fig", {"drlcc-sc1"}),
        ('"odd"', {"Überlast"}),
        ("disjoint OR bottleneck", set()),  # no query language: OR is an ordinary word
        ("one -", {"Überlast", "baseline"}),  # punctuation is ignored
        ("***", {"drlcc-sc1", "Überlast", "baseline"}),
        ("name:baseline", set()),
        ("nothing", set()),
    ],
)
def test_every_word_begins_a_word_in_some_field(library: Store, search: str, expected: set[str]) -> None:
    assert set(names(library, search=search)) == expected


def test_search_follows_changes(library: Store) -> None:
    first = library.runs(search="drlcc")[0].id
    library.rename(first, "renamed")
    library.set_note(first, "noted")
    library.remove_tag(first, "paper figure")
    assert [names(library, search=word) for word in ("drlcc", "renamed", "noted", "figure")] == [
        [],
        ["renamed"],
        ["renamed"],
        [],
    ]


def test_filters_combine(library: Store) -> None:
    library.add_tag(library.runs(search="baseline")[0].id, "Keep")
    assert names(library, tag="keep") == ["baseline"]
    assert names(library, tag="keep", search="drlcc") == []
    assert names(library, status="running") == []
    assert names(library, status="finished", search="one", limit=1) == ["baseline"]


# Deleting


def test_deleted_runs_are_hidden_until_undeleted(store: Store) -> None:
    first, second, third = (record(store, name=name) for name in "abc")
    store.delete([first, third, 999])
    assert names(store) == ["b"]
    assert [(run.name, run.deleted) for run in store.runs(include_deleted=True)] == [
        ("c", True),
        ("b", False),
        ("a", True),
    ]
    assert store.run(first).deleted
    store.undelete([first, second, third])
    assert names(store) == ["c", "b", "a"]
    assert values_of(store, first).shape == (100, 3)
    store.delete([])


def test_purging_removes_deleted_runs_with_all_they_had(store: Store) -> None:
    kept, gone = record(store, name="kept"), record(store, name="gone")
    store.add_tag(gone, "tag")
    series = store.series(gone)[0].id
    store.delete([gone])
    assert store.purge_deleted() == 1
    assert store.purge_deleted() == 0
    assert names(store, include_deleted=True) == ["kept"]
    store.undelete([gone])
    for ask in (lambda: store.run(gone), lambda: store.read(series)):
        with pytest.raises(RunNotFound):
            ask()
    assert names(store, search="gone") == []
    assert values_of(store, kept).shape == (100, 3)
    with database_of(store).reading() as reader:
        for table in (
            "run_document",
            "run_tag",
            "event_chunk",
            "event_name",
            "event_span",
            "pyramid",
            "chunk",
            "run_search",
        ):
            rows = reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            assert rows == {"run_document": 4, "pyramid": 3, "chunk": 3, "run_search": 1}.get(table, 0), table


def test_a_purged_number_is_not_given_again(store: Store) -> None:
    run_id = record(store)
    store.delete([run_id])
    store.purge_deleted()
    assert record(store) == run_id + 1


def test_purging_makes_the_file_smaller(file_store: Store, path: Path) -> None:
    import numpy as np

    noise = np.random.default_rng(1).random((150_000, 3)).astype(np.float32)
    record(file_store, noise)
    file_store.delete([record(file_store, noise)])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    before = path.stat().st_size
    file_store.purge_deleted()
    # Half of the data is gone, except the pages of tables and indices.
    assert path.stat().st_size < 0.55 * before


# Finished runs are immutable


def test_a_finished_run_takes_no_more(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run:
        run.finish("finished", SUMMARY)
    for more in (
        lambda: run.append(0, ramp(1)),
        lambda: run.add_marks([(1, "a", "b", 0.0)]),
        lambda: run.flush(),
        lambda: run.finish("stopped", {}),
    ):
        with pytest.raises(RunClosed, match="has ended"):
            more()
    run.abandon()
    assert store.run(run.run_id).status == "finished"


@pytest.fixture
def finished(store: Store) -> Store:
    """A store of one finished run, with samples and a mark."""
    with store.start_run(start(), COLUMNS) as run:
        run.append(0, ramp(10))
        run.add_marks([(1, "a", "b", 0.0)])
        run.finish("finished", SUMMARY)
    return store


FIXED = {
    "run_document": "(1, 'more', '')",
    "chunk": "(1, 99, 1, x'00')",
    "pyramid": "(1, 3, 1, '', x'00')",
    "event_chunk": "(1, 'mark', 9, 'time_ns', 1, '', x'00')",
    "event_name": "(1, 'mark', 'owner', 9, 'x')",
    "event_span": "(1, 'mark', 9, 9, 1, 0, 0)",
}
"""Another row for each table of recorded data."""


@for_each(
    "statement",
    [
        *(f"DELETE FROM {table}" for table in ("run", "series", *FIXED)),
        *(f"INSERT INTO {table} VALUES {row}" for table, row in FIXED.items()),
        *(f"UPDATE {table} SET n = 9" for table in ("chunk", "pyramid", "event_chunk", "event_span")),
        *(f"UPDATE run SET {change}" for change in ("status = 'running'", "seed = 2", "goodput_bps = 1e9")),
        "UPDATE run_document SET text = '{}'",
        "UPDATE series SET unit = 's'",
        "INSERT INTO series SELECT 99, run_id, 'x', owner, name, unit, t0_s, dt_s, n, dtype, codec, chunk_samples,"
        " vmin, vmax, mean FROM series LIMIT 1",
        "UPDATE event_name SET name = 'x'",
    ],
)
def test_the_database_itself_refuses_to_change_a_finished_run(finished: Store, statement: str) -> None:
    with pytest.raises((RunClosed, sqlite3.IntegrityError)):
        writer_of(finished).call(lambda connection: connection.execute(statement))


def test_an_unknown_status_is_refused(store: Store) -> None:
    with store.start_run(start(), COLUMNS) as run, pytest.raises(ValueError, match="status 'done' is not one of"):
        run.finish("done", {})


def test_columns_of_the_same_name_are_refused(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        store.start_run(start(), [COLUMNS[0], COLUMNS[0]])
    assert store.runs() == []


# Copies


def test_a_copy_is_complete_and_stands_alone(store: Store, tmp_path: Path) -> None:
    run_id = record(store, ramp(5000))
    target = tmp_path / "new folder" / "copy.db"
    store.save_copy(target)
    assert [entry.name for entry in target.parent.iterdir()] == ["copy.db"]
    with open_store(target, read_only=True) as copy:
        assert copy.run(run_id) == store.run(run_id)
        assert values_of(copy, run_id).shape == (5000, 3)


def test_a_copy_replaces_a_file_only_when_told(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(StoreError, match="exists already"):
        store.save_copy(target)
    assert target.read_text() == "precious"
    store.save_copy(target, overwrite=True)
    with open_store(target, read_only=True) as copy:
        assert copy.runs() == []


def test_a_copy_that_cannot_be_written_is_explained_and_leaves_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"copy\.db: its folder cannot be created"):
        store.save_copy(tmp_path / "file" / "copy.db")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match=r"folder: this is a folder"):
        store.save_copy(tmp_path / "folder", overwrite=True)
    assert sorted(entry.name for entry in tmp_path.iterdir() if not entry.name.startswith("runs.db")) == [
        "file",
        "folder",
    ]


def test_a_copy_cannot_replace_its_original(file_store: Store, path: Path) -> None:
    with pytest.raises(StoreError, match="its original"):
        file_store.save_copy(path, overwrite=True)
