"""Missing, foreign, damaged, newer, locked, read-only or full files: a message with a remedy, and no lost data."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.store.examples import (
    COLUMNS,
    SUMMARY,
    begun,
    database_of,
    ramp,
    record,
    start,
    training,
    values_of,
    writer_of,
)

from subflow_store import (
    RunClosed,
    Store,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreNewer,
    StoreReadOnly,
    open_store,
)
from subflow_store.database import Database
from subflow_store.upgrade import APPLICATION_ID


def make_file(path: Path) -> int:
    """Makes a database with one run; returns its id."""
    with open_store(path) as store:
        return record(store, ramp(5000))


@pytest.fixture
def made(path: Path) -> int:
    """The id of the run in a database at `path`."""
    return make_file(path)


@contextmanager
def plain(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the file as from another program."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


# Making and identifying


def test_a_new_file_is_made_with_its_folder_and_marked_as_ours(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "runs.db"
    with open_store(path) as store:
        assert (store.path, store.is_read_only) == (path, False)
        with plain(path) as connection:
            pragmas = {
                name: connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version", "journal_mode", "auto_vacuum", "page_size")
            }
    assert pragmas == {
        "application_id": APPLICATION_ID,
        "user_version": 10,
        "journal_mode": "wal",
        "auto_vacuum": 2,  # incremental
        "page_size": 4096,
    }


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    make_file(path)
    with open_store(path, read_only=True) as store:
        assert len(store.runs()) == 1


@for_each("name", ["with blank.db", "hash#.db", "what?.db", "50%.db", "Überlast.db", "a'b.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    make_file(tmp_path / name)
    with open_store(tmp_path / name, read_only=True) as store:
        assert len(store.runs()) == 1
    assert [entry.name for entry in tmp_path.iterdir() if entry.stat().st_size] == [name]


# Files that are no databases of Subflow


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "content", [b"plain text, longer than a header", b"SQL", b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_what_is_no_database_is_refused_and_left_alone(path: Path, content: bytes, read_only: bool) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"runs\.db: .*(--db|subflow salvage)"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == content


_ENDLESS = "CREATE VIEW run_tag AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("statements", "why"),
    [
        (("DROP TABLE run_tag", _ENDLESS), "its view 'run_tag' is not that of schema version"),
        (("CREATE VIEW more AS SELECT 1",), "its view 'more'"),
        (("CREATE TRIGGER more AFTER INSERT ON run BEGIN DELETE FROM run; END",), "its trigger 'more'"),
        (("CREATE TABLE more (x)",), "its table 'more'"),
        (("PRAGMA user_version = -5",), "its schema is version -5"),
        (("PRAGMA user_version = 0",), "its schema is version 0"),
        (("PRAGMA user_version = 3",), "is not that of schema version 3"),
    ],
)
def test_a_foreign_schema_is_refused(
    path: Path, read_only: bool, statements: tuple[str, ...], why: str, made: int
) -> None:
    with plain(path) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute("PRAGMA journal_mode = DELETE")
    before = path.read_bytes()
    with pytest.raises(StoreForeign, match=f"not a database that Subflow made: .*{why}"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == before


def test_statistics_of_sqlite_are_no_foreign_tables(path: Path, made: int) -> None:
    with plain(path) as connection:
        connection.execute("ANALYZE")
    with open_store(path) as store:
        assert len(store.runs()) == 1


def test_signals_are_heard_during_a_long_statement(path: Path, made: int) -> None:
    """A statement of SQLite would delay signals in Python until its end."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000000) SELECT max(i) FROM n"
    with open_store(path) as store, closing(database_of(store)._connect(path.as_uri())) as connection:
        before = signal.signal(signal.SIGALRM, lambda *_: connection.interrupt())
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        try:
            with pytest.raises(sqlite3.OperationalError, match="interrupted"):
                connection.execute(endless).fetchone()
        finally:
            signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_is_refused_and_left_alone(path: Path, read_only: bool) -> None:
    with plain(path) as connection:
        connection.execute("CREATE TABLE song (title)")
    before = path.read_bytes()
    with pytest.raises(StoreForeign, match=r"another program.*Choose another file"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize("pragma", ["application_id = 7", "user_version = 3"])
def test_an_empty_database_that_another_program_has_marked_is_refused(path: Path, pragma: str) -> None:
    with plain(path) as connection:
        connection.execute(f"PRAGMA {pragma}")
    with pytest.raises(StoreForeign):
        open_store(path)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_database_is_refused_politely(path: Path, read_only: bool, made: int) -> None:
    with plain(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreNewer, match=r"version 99, the newest known is \d+\)\. Update Subflow"):
        open_store(path, read_only=read_only)
    with plain(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (99,)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    for read_only in (False, True):
        with pytest.raises(StoreError, match="folder"):
            open_store(tmp_path, read_only=read_only)


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"folder cannot be created .*--db"):
        open_store(tmp_path / "file" / "runs.db")


def test_a_missing_file_is_not_made_for_reading(path: Path) -> None:
    with pytest.raises(StoreMissing, match="no such file"):
        open_store(path, read_only=True)
    assert not path.exists()


# Damage


def test_a_file_cut_short_is_recognised(path: Path, made: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreCorrupt, match=r"damaged .*subflow check .*subflow salvage"):
        open_store(path)


def test_a_damaged_block_is_an_error_instead_of_a_wrong_curve(store: Store) -> None:
    run_id = record(store, ramp(5000))
    with writer_of(store).no_transaction() as connection:
        connection.execute("DROP TRIGGER chunk_fixed_update")
        connection.execute("UPDATE chunk SET data = CAST(substr(data, 1, 40) || x'55' || substr(data, 42) AS BLOB)")
    with pytest.raises(StoreCorrupt, match="damaged data in a block"):
        values_of(store, run_id)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_schema_is_recognised(path: Path, read_only: bool, made: int) -> None:
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE run_tag", b"CREATE T\xffBLE run_tag"))
    with pytest.raises(StoreCorrupt, match=r"damaged .*subflow check"), open_store(path, read_only=read_only) as store:
        store.runs()


# Locks


def test_a_file_locked_at_opening_is_explained(path: Path, made: int) -> None:
    with plain(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLocked, match=r"another program has kept it locked for more than 0\.01 s"):
            open_store(path, busy_timeout_s=0.01)
        connection.execute("ROLLBACK")
    open_store(path, busy_timeout_s=0.01).close()


def test_a_lock_stops_changes_but_not_reading(path: Path, made: int) -> None:
    with open_store(path, busy_timeout_s=0.01) as store, plain(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            store.rename(made, "x")
        with pytest.raises(StoreLocked):
            store.start_run(start(), COLUMNS)
        assert np.array_equal(values_of(store, made), ramp(5000))
        connection.execute("ROLLBACK")
        store.rename(made, "x")
        assert store.run(made).name == "x"


def test_finishing_can_be_tried_again_after_a_lock(path: Path) -> None:
    with open_store(path, busy_timeout_s=0.01) as store, plain(path) as connection:
        run = begun(store, ramp(10))
        run.flush()
        connection.execute("BEGIN IMMEDIATE")
        run.append(10, ramp(5000)[10:])
        # The commit of the writing thread half a second later waits for the lock.
        force_commit(store)
        run.append(5000, ramp(6000)[5000:])
        with pytest.raises(StoreLocked):
            run.finish("finished", SUMMARY)
        connection.execute("ROLLBACK")
        run.finish("finished", SUMMARY)
        assert np.array_equal(values_of(store, run.run_id), ramp(6000))
        assert store.run(run.run_id).status == "finished"


def test_a_run_that_cannot_be_finished_can_be_abandoned(path: Path) -> None:
    with open_store(path, busy_timeout_s=0.01) as store, plain(path) as connection:
        run = begun(store, ramp(10))
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            run.finish("finished", SUMMARY)
        connection.execute("ROLLBACK")
        run.abandon()
        assert store.run(run.run_id).status == "interrupted"
        assert np.array_equal(values_of(store, run.run_id), ramp(10))


def force_commit(store: Store) -> None:
    """Commits like the writing thread when the data of a run is pending for too long."""
    writer = present(writer_of(store))

    def commit() -> None:
        for stream in writer._streams:
            stream.commit(writer.transaction)

    writer.call_bare(commit)


# No space


def limit_size(store: Store, pages: int) -> None:
    """Limits the file to so many pages of 4096 bytes; SQLite then reports a full disk."""
    with writer_of(store).no_transaction() as connection:
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {used + pages}")


def noise(n_samples: int) -> np.ndarray:
    return np.random.default_rng(1).random((n_samples, len(COLUMNS))).astype(np.float32)


def test_a_full_disk_ends_the_storing_and_the_run_can_be_saved_elsewhere(store: Store, tmp_path: Path) -> None:
    run = begun(store, noise(50_000)[:100])
    run.flush()
    limit_size(store, 3)
    run.append(100, noise(50_000)[100:])
    force_commit(store)
    for more in (
        lambda: run.append(50_000, noise(1)),
        lambda: run.add_marks([(1, "a", "b", 0.0)]),
        lambda: run.flush(),
        lambda: run.finish("finished", SUMMARY),
    ):
        with pytest.raises(StoreFull, match=r"no space left .*Free some space"):
            more()
    # Data committed earlier is kept, and marked as interrupted.
    assert store.run(run.run_id).status == "interrupted"
    assert np.array_equal(values_of(store, run.run_id), noise(50_000)[:100])
    # The caller still has its data.
    with open_store(tmp_path / "elsewhere.db") as elsewhere:
        assert np.array_equal(values_of(elsewhere, record(elsewhere, noise(50_000))), noise(50_000))


def test_finishing_can_be_tried_again_when_space_has_been_made(store: Store) -> None:
    run = begun(store, noise(50_000))
    limit_size(store, 3)
    with pytest.raises(StoreFull):
        run.finish("finished", SUMMARY)
    assert store.run(run.run_id).status == "running"
    limit_size(store, 10_000)
    run.finish("finished", SUMMARY)
    assert np.array_equal(values_of(store, run.run_id), noise(50_000))


def test_a_disk_that_is_full_from_the_start_is_explained(store: Store) -> None:
    limit_size(store, 0)
    with pytest.raises(StoreFull):
        store.start_run(start(scenario_text="#" * 100_000), COLUMNS)
    assert store.runs() == []


# Read-only


def test_a_store_opened_for_reading_refuses_every_change(path: Path, made: int) -> None:
    before = path.read_bytes()
    with open_store(path, read_only=True) as store:
        assert store.is_read_only
        for change in (
            lambda: store.start_run(start(), COLUMNS),
            lambda: store.rename(made, "x"),
            lambda: store.set_note(made, "x"),
            lambda: store.add_tag(made, "x"),
            lambda: store.remove_tag(made, "x"),
            lambda: store.delete([made]),
            lambda: store.undelete([made]),
            lambda: store.purge_deleted(),
            lambda: store.trainings.add(training()),
        ):
            with pytest.raises(StoreReadOnly, match="opened for reading only"):
                change()
        assert np.array_equal(values_of(store, made), ramp(5000))
        assert [run.name for run in store.runs(search="fir")] == ["First"]
        store.save_copy(path.with_name("copy.db"))
    assert path.read_bytes() == before


def keep_sqlite_from_sharing(path: Path) -> None:
    """A dangling link keeps SQLite from making the -shm file, like a read-only medium, even for root."""
    path.with_name(f"{path.name}-shm").symlink_to(path.parent / "nowhere" / "shm")


def test_a_file_where_nothing_can_be_written_can_be_read(path: Path, made: int) -> None:
    keep_sqlite_from_sharing(path)
    with open_store(path, read_only=True) as store:
        assert np.array_equal(values_of(store, made), ramp(5000))


def test_a_crashed_file_where_nothing_can_be_written_says_what_to_copy(path: Path, made: int) -> None:
    keep_sqlite_from_sharing(path)
    path.with_name("runs.db-wal").write_bytes(b"changes")
    with pytest.raises(StoreReadOnly, match=r"Copy it together with runs\.db-wal"):
        open_store(path, read_only=True)


def test_a_write_connection_that_turns_out_read_only_is_explained(
    path: Path, monkeypatch: pytest.MonkeyPatch, made: int
) -> None:
    connect = Database._connect
    monkeypatch.setattr(Database, "_connect", lambda self, uri: connect(self, uri.replace("mode=rw", "mode=ro")))
    with open_store(path) as store:
        with pytest.raises(StoreReadOnly, match=r"cannot be written\. Choose another file with --db"):
            store.rename(made, "x")
        assert store.run(made).name == "First"


@pytest.fixture
def unwritable(path: Path) -> Iterator[Path]:
    """A database without write permission in a folder without write permission."""
    make_file(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        if os.access(path, os.W_OK) or os.access(path.parent, os.W_OK):
            pytest.skip("permissions do not stop this user, who is root perhaps")
        yield path
    finally:
        path.parent.chmod(0o755)


def test_a_file_without_write_permission_can_only_be_read(unwritable: Path) -> None:
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        open_store(unwritable)
    with open_store(unwritable, read_only=True) as store:
        assert len(store.runs()) == 1


@pytest.mark.parametrize("name", ["new.db", "new folder/new.db"])
def test_no_file_can_be_made_where_nothing_can_be_written(unwritable: Path, name: str) -> None:
    target = unwritable.parent / name
    with pytest.raises(StoreReadOnly, match=r"new\.db: its folder cannot be"):
        open_store(target)
    with open_store(":memory:") as store, pytest.raises(StoreReadOnly, match=r"new\.db: its folder cannot be"):
        store.save_copy(target)


def test_permissions_are_asked_before_sqlite_opens_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, made: int
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        open_store(path)


# Other errors of SQLite


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("something")
    error.sqlite_errorcode = code
    return error


@for_each(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreLocked),
        (sqlite3.SQLITE_LOCKED, StoreLocked),
        (sqlite3.SQLITE_READONLY_DIRECTORY, StoreReadOnly),
        (sqlite3.SQLITE_PERM, StoreReadOnly),
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreFull),
        (sqlite3.SQLITE_IOERR_READ, StoreError),
        (sqlite3.SQLITE_CANTOPEN, StoreError),
        (sqlite3.SQLITE_CORRUPT_VTAB, StoreCorrupt),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
    ],
)
def test_errors_of_sqlite_become_ours(file_store: Store, path: Path, code: int, kind: type[StoreError]) -> None:
    explained = database_of(file_store).explain(sqlite_error(code))
    assert type(explained) is kind
    assert str(explained).startswith(f"{path}: ")
    assert str(explained).endswith(".")


@for_each("code", [sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_ERROR])
def test_bugs_stay_what_they_are(file_store: Store, code: int) -> None:
    error = sqlite_error(code)
    assert database_of(file_store).explain(error) is error


# Closing


def test_a_closed_store_says_so(store: Store) -> None:
    run = store.start_run(start(), COLUMNS)
    store.close()
    store.close()
    for use in (
        lambda: store.runs(),
        lambda: store.rename(1, "x"),
        lambda: run.append(0, ramp(1)),
        lambda: run.finish("finished", {}),
    ):
        with pytest.raises(StoreClosed, match="the store is closed"):
            use()
    run.abandon()


def test_closing_keeps_what_an_open_run_has_appended(path: Path) -> None:
    with open_store(path) as store:
        run = begun(store, ramp(5000))
        run.add_marks([(1, "a", "loss", 0.0)])
    with open_store(path) as store:
        assert store.run(run.run_id).status == "interrupted"
        assert np.array_equal(values_of(store, run.run_id), ramp(5000))
        assert len(store.marks(run.run_id)) == 1


def test_a_run_left_by_an_error_is_interrupted(store: Store) -> None:
    run = store.start_run(start(), COLUMNS)

    def simulate() -> None:
        with run:
            run.append(0, ramp(10))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        simulate()
    assert store.run(run.run_id).status == "interrupted"
    assert np.array_equal(values_of(store, run.run_id), ramp(10))
    with pytest.raises(RunClosed):
        run.append(10, ramp(1))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")
def test_what_is_made_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with open_store(path) as store:
        record(store)
        store.save_copy(tmp_path / "copy.db")
        modes = {entry.name: entry.stat().st_mode & 0o777 for entry in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["runs.db", "runs.db-wal", "runs.db-shm", "copy.db"], 0o600)


@pytest.mark.parametrize("is_header_there", [False, True])
def test_an_empty_file_is_called_empty(path: Path, is_header_there: bool) -> None:
    path.touch()
    if is_header_there:
        with plain(path) as connection:
            connection.execute("PRAGMA user_version = 0")
            connection.execute("VACUUM")
    with pytest.raises(StoreMissing, match=r"the file is empty\. The first run"):
        open_store(path, read_only=True)
