"""Files that disappear, are replaced, or break while open: reported with a remedy, and no data is lost silently."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.examples import SUMMARY, begun, ramp, record

from subflow_store import Store, StoreCorrupt, StoreError, StoreMissing, database, open_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not let go of an open file")


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database.Database.check_file, "__kwdefaults__", {"at_most_every_s": 0.0})


def test_a_deleted_file_is_noticed_by_reading_and_by_writing(file_store: Store, path: Path) -> None:
    run_id = record(file_store)
    path.unlink()
    for use in (file_store.runs, lambda: file_store.rename(run_id, "lost?"), lambda: file_store.run(run_id)):
        with pytest.raises(StoreMissing, match=r"the file is gone.*Put it back and try again"):
            use()


def test_a_file_that_took_its_place_is_not_taken_for_it(file_store: Store, path: Path) -> None:
    record(file_store)
    other = path.with_name("other.db")
    open_store(other).close()
    other.replace(path)
    with pytest.raises(StoreMissing, match="another file has taken its place"):
        file_store.runs()


def test_a_run_whose_file_goes_away_tells_so_and_does_not_write_into_nothing(file_store: Store, path: Path) -> None:
    run = begun(file_store, ramp(10))
    path.unlink()
    with pytest.raises(StoreMissing):
        run.finish("finished", SUMMARY, "0")


def test_a_damaged_page_of_the_list_is_told_and_the_store_can_be_closed(path: Path) -> None:
    with open_store(path) as store:
        for _ in range(200):
            record(store, ramp(1, 1))
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'run'").fetchone()[0]
    content[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"damaged.*subflow check .*subflow salvage"):
        open_store(path).runs()


def test_a_folder_that_goes_away_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "drive"
    with open_store(folder / "runs.db") as store:
        folder.rename(tmp_path / "unmounted")
        with pytest.raises(StoreError, match="the file is gone"):
            store.runs()
        (tmp_path / "unmounted").rename(folder)
        assert store.runs() == []
