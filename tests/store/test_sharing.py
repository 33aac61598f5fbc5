"""Databases of other users, or on a full or read-only disk: reading does no harm, and space can be freed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.machine_limits import as_user, fill, make_read_only, open_folder, small_disk
from tests.store.examples import COLUMNS, SUMMARY, database_of, ramp, record, start, values_of

from subflow_store import RunBusy, RunWriter, Store, StoreFull, StoreLocked, StoreReadOnly, open_store, sharing
from subflow_store.salvage import check, salvage

OWNER, READER, GROUP = 41_001, 41_002, 41_003
MANY = 400_000


@pytest.fixture
def shared(path: Path) -> Iterator[Path]:
    """A database of one user that everyone may read, in a folder of all users."""
    add_run(path)
    names(path)  # loads the modules before the change of user
    with open_folder() as folder:
        database = folder / "shared.db"
        as_user(OWNER, lambda: add_run(database))
        database.chmod(0o644)
        yield database


def add_run(path: Path) -> int:
    with open_store(path) as store:
        return record(store, ramp(50))


def names(path: Path) -> list[str]:
    with open_store(path, read_only=True) as store:
        return [run.name for run in store.runs()]


def test_a_reader_leaves_nothing_that_locks_the_owner_out(shared: Path) -> None:
    def read() -> tuple[list[str], list[str]]:
        with open_store(shared, read_only=True) as store:
            found = [run.name for run in store.runs()]
            return found, sorted(file.name for file in shared.parent.iterdir())

    assert as_user(READER, read) == (["First"], ["shared.db"])
    assert as_user(OWNER, lambda: add_run(shared)) == 2


def test_a_reader_sees_what_the_owner_writes_meanwhile(shared: Path) -> None:
    ready, read = os.pipe(), os.pipe()

    def own() -> list[str]:
        with open_store(shared) as store:
            record(store, ramp(50), name="Second")
            os.write(ready[1], b".")
            os.read(read[0], 1)
            record(store, ramp(50), name="Third")
            return [run.name for run in store.runs()]

    with ThreadPoolExecutor() as threads:
        owner = threads.submit(as_user, OWNER, own)
        os.read(ready[0], 1)
        beside = sorted(shared.parent.iterdir())
        assert as_user(READER, lambda: names(shared)) == ["Second", "First"]
        assert sorted(shared.parent.iterdir()) == beside
        os.write(read[1], b".")
        assert owner.result() == ["Third", "Second", "First"]


def test_what_one_of_a_group_leaves_by_a_crash_does_not_lock_the_owner_out(shared: Path) -> None:
    os.chown(shared, -1, GROUP)
    shared.chmod(0o664)

    left_open = []

    def crash() -> int:
        left_open.append(open_store(shared))
        return record(left_open[0], ramp(50), name="Of the group")

    assert as_user(READER, crash, groups=[GROUP]) == 2
    beside = [sharing.wal_of(shared), sharing.shm_of(shared)]
    assert [(file.stat().st_gid, stat.S_IMODE(file.stat().st_mode)) for file in beside] == [(GROUP, 0o664)] * 2
    assert as_user(OWNER, lambda: add_run(shared), groups=[GROUP]) == 3


def test_files_of_somebody_else_that_lock_the_owner_out_are_named(shared: Path) -> None:
    for beside in (sharing.wal_of(shared), sharing.shm_of(shared)):
        beside.touch(0o644)

    with pytest.raises(AssertionError) as caught:
        as_user(OWNER, lambda: add_run(shared))

    assert "StoreReadOnly" in str(caught.value)
    assert "shared.db-wal and shared.db-shm beside it cannot be written by you (owner: root)" in str(caught.value)
    assert "remove them and try again" in str(caught.value)


def test_what_others_write_is_seen_by_a_reader_that_makes_no_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_run(path)
    monkeypatch.setattr(sharing, "may_make_files", lambda _path: False)

    with open_store(path, read_only=True) as reader:
        assert [run.id for run in reader.runs()] == [1]
        as_user(0, lambda: add_run(path))
        assert [run.id for run in reader.runs()] == [2, 1]
        with (
            pytest.raises(StoreLocked, match="another program wrote to it while it was read"),
            database_of(reader).reading(),
        ):
            as_user(0, lambda: add_run(path))
        assert [run.id for run in reader.runs()] == [3, 2, 1]


def test_on_a_read_only_disk_everything_can_be_read(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        database = disk / "runs.db"
        add_run(database)
        make_read_only(disk)

        assert names(database) == ["First"]
        with open_store(database, read_only=True) as store:
            assert np.array_equal(values_of(store, 1), ramp(50))
            store.save_copy(tmp_path / "copy.db")
        assert not check(database).damage
        with pytest.raises(StoreReadOnly, match="cannot be written"):
            open_store(database)


def test_on_a_full_disk_everything_can_be_read_and_runs_make_room(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).random((MANY, len(COLUMNS)), dtype=np.float32)
    with small_disk(tmp_path / "disk", 16) as disk:
        database = disk / "runs.db"
        with open_store(database) as store:
            record(store, ramp(50))
            record(store, noise, name="Large")
        fill(disk)

        # All data can be viewed and copied elsewhere.
        assert names(database) == ["Large", "First"]
        with open_store(database, read_only=True) as store:
            assert np.array_equal(values_of(store, 1), ramp(50))
            store.save_copy(tmp_path / "copy.db")
        assert not check(database).damage
        assert not salvage(database, tmp_path / "salvaged.db").damage
        with pytest.raises(StoreFull, match=r"again\.db: no space left to write\. Choose another place"):
            salvage(database, disk / "again.db")

        # Deleting a run frees space, which any other write needs.
        with open_store(database) as store:
            with pytest.raises(StoreFull):
                store.rename(1, "Renamed")
            store.delete([2])
            assert [run.id for run in store.runs()] == [1]
            assert names(database) == ["First"]  # others can read it at the same time
            with open_store(database) as elsewhere:
                elsewhere.undelete([2])
            store.delete([2])
            size = database.stat().st_size
            assert store.purge_deleted() == 1
            assert database.stat().st_size < size / 10
            store.rename(1, "Renamed")
            assert record(store, ramp(50), name="New") == 3
        assert names(database) == ["New", "Renamed"]
        assert not check(database).damage


def test_room_is_made_where_the_disk_fills_while_the_database_is_open(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).random((MANY, len(COLUMNS)), dtype=np.float32)
    with small_disk(tmp_path / "disk", 16) as disk:
        database = disk / "runs.db"
        with open_store(database) as store:
            record(store, noise, name="Large")
        with open_store(database) as store:
            assert [run.id for run in store.runs()] == [1]
            fill(disk)
            store.delete([1])
            assert store.purge_deleted() == 1
            assert store.runs() == []
            store.start_run(start(), COLUMNS).abandon()
        assert not check(database).damage


def test_a_run_in_progress_cannot_be_deleted_from_elsewhere(path: Path) -> None:
    with open_store(path) as store, open_store(path) as elsewhere:
        finished = record(store, ramp(50))
        run = store.start_run(start(), COLUMNS)
        with pytest.raises(RunBusy, match=rf"run {run.run_id} is still being recorded by process {os.getpid()} on "):
            elsewhere.delete([finished, run.run_id])
        assert [row.id for row in elsewhere.runs()] == [run.run_id, finished]
        run.finish("finished", SUMMARY, "")
        elsewhere.delete([finished, run.run_id])
        assert elsewhere.runs() == []


def test_a_run_whose_process_has_died_can_be_deleted(path: Path) -> None:
    left_open: list[Store | RunWriter] = []

    def crash() -> int:
        store = open_store(path)
        run = store.start_run(start(), COLUMNS)
        left_open.extend((store, run))
        return run.run_id

    with open_store(path) as store:
        run_id = as_user(0, crash)
        assert [(row.id, row.status) for row in store.runs()] == [(run_id, "running")]
        store.delete([run_id])
        assert store.runs() == []
