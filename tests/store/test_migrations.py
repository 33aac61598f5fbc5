"""Upgrading from every older version, in one transaction, with a copy of the old file."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import zstandard
from tests.helpers.present import present
from tests.store.examples import (
    FOLLOWS_A_RECORDING,
    OUTCOME,
    decisions,
    figures,
    intervals,
    record,
    reports,
    start,
    training,
    values_of,
)

from subflow_store import MarkRow, RunFork, Store, StoreReadOnly, migrations, open_store, upgrade
from subflow_store.migrations import m0007_arena
from subflow_store.migrations.script import make_immutable

VERSIONS = Path(__file__).parent / "versions"
OLD_VERSIONS = range(1, upgrade.head() + 1)


@pytest.fixture(params=OLD_VERSIONS, ids="v{}".format)
def old_file(request: pytest.FixtureRequest, path: Path) -> Path:
    """A database written by each version; `versions/README.md` describes its content."""
    packed = (VERSIONS / f"v{request.param}.db.zst").read_bytes()
    path.write_bytes(zstandard.ZstdDecompressor().decompress(packed))
    return path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def schema_of(path: Path) -> set[str]:
    """All statements of the file's schema, with normalised whitespace."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {" ".join(sql.split()) for (sql,) in rows}


def check_content(store: Store, made_by: int) -> None:
    """Checks the content described in `versions/README.md` for this version."""
    first, second = store.runs()[::-1]
    assert [(run.name, run.status, run.tags, run.note) for run in (first, second)] == [
        ("Finished", "finished", ("paper", *(["sweep 1"] if made_by >= 6 else [])), "kept for ever"),
        ("Interrupted", "interrupted", (), ""),
    ]
    assert (first.seed, first.goodput_bps, first.signature) == (2**64 - 1, 4e6, "0123456789abcdef")
    expected = (np.arange(5000)[:, np.newaxis] + np.arange(3) / 4).astype(np.float32)
    expected[7] = np.nan
    assert np.array_equal(values_of(store, first.id), expected, equal_nan=True)
    assert np.array_equal(values_of(store, second.id), expected[:100], equal_nan=True)
    assert store.read_pyramid(store.series(first.id)[0].id, 1).vmax[0] == 63.0
    assert list(store.marks(first.id).rows()) == [MarkRow(7, "download/1", "loss", 1.5)]
    assert [run.name for run in store.runs(search="paper")] == ["Finished"]
    assert store.run(first.id).scenario_text == (FOLLOWS_A_RECORDING if made_by >= 9 else start().scenario_text)
    summary = present(store.run(first.id).summary)
    assert summary["packets"] == 123
    assert store.values("fairness.jain") == {first.id: 0.8}
    assert store.values("flows.download.2.mean_rtt_s") == {first.id: 0.3}
    found = store.decisions(first.id), store.intervals(first.id)
    expected_events = (decisions(5000), intervals(10)) if made_by >= 2 else (decisions(0), intervals(0))
    for table, expected_table in zip(found, expected_events, strict=True):
        assert table.columns.keys() == expected_table.columns.keys()
        for field in table.columns:
            np.testing.assert_array_equal(table[field], expected_table[field])
    assert set(store.event_extents(first.id, "decision")) == (
        set(decisions(0).names["owner"]) if made_by >= 2 else set()
    )


def check_forks(store: Store, made_by: int) -> None:
    first, second = store.runs()[::-1]
    fork = RunFork(first.id, "Finished", 12.5, "wifi: loss 2 % → 5 %", [{"link": "wifi", "loss": "5%"}])
    assert store.forks.origin_of(first.id) is None
    assert store.forks.origin_of(second.id) == (fork if made_by >= 5 else None)


def check_sweeps(store: Store, made_by: int) -> None:
    found = store.sweeps.rows()
    assert [(row.name, row.state, row.points, row.runs, row.finished) for row in found] == (
        [("Swept", "stopped", 1, 2, 1)] if made_by >= 6 else []
    )
    for row in found:
        assert store.sweeps.points(row.id) == [{"links.wifi.loss": "1%"}]
        assert [(run.seed, run.run_id) for run in store.sweeps.runs(row.id)] == [
            (2**64 - 1, store.runs()[-1].id),
            (2, None),
        ]


def check_trainings(store: Store, made_by: int) -> None:
    learned = store.trainings.rows()
    if made_by < 3:
        assert learned == []
        return
    assert [(row.name, row.state, row.steps, row.best_step, row.policy_hash) for row in learned] == [
        ("Learned", "finished", 29_990, 20_000, "0123456789abcdef")
    ]
    row = store.trainings.get(learned[0].id)
    assert (row.config, row.seed, row.reports_read) == (training().config, 7, 123)
    curve = store.trainings.curve(row.id, "return_mean")
    np.testing.assert_array_equal(curve.values, -np.arange(3000.0))
    np.testing.assert_array_equal(curve.step, 10 * np.arange(3000))
    assert store.trainings.evaluations(row.id) == figures(20_000)


def test_every_old_version_is_upgraded_and_read(old_file: Path) -> None:
    made_by = version_of(old_file)
    with open_store(old_file) as store:
        check_content(store, made_by)
        check_trainings(store, made_by)
        check_forks(store, made_by)
        check_sweeps(store, made_by)
        assert list(store.arena.outcomes().values()) == ([OUTCOME] if made_by >= 7 else [])
        record(store)
        assert len(store.runs()) == 3
        added = store.trainings.add(training("Another"))
        store.trainings.append(added, reports(5))
        assert len(store.trainings.curve(added, "return_mean")) == 5
    assert version_of(old_file) == upgrade.head()


def test_an_upgraded_file_has_the_schema_of_a_new_one(old_file: Path, tmp_path: Path) -> None:
    # This also detects a migration that was edited after its release, because the old file no longer matches.
    open_store(old_file).close()
    open_store(tmp_path / "new.db").close()
    assert schema_of(old_file) == schema_of(tmp_path / "new.db")


def test_the_list_of_migrations_is_the_folder() -> None:
    files = sorted(path.stem for path in Path(present(migrations.__file__)).parent.glob("m[0-9]*.py"))
    listed = [step.__module__.rpartition(".")[2] for step in migrations.MIGRATIONS]
    assert listed == files
    assert [int(name[1:5]) for name in listed] == list(range(1, len(listed) + 1))


# A version that does not exist yet


def add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'")


def rebuild_and_fail(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE run_tag")
    connection.execute("ALTER TABLE run ADD COLUMN size TEXT")
    raise RuntimeError("half-way")


def leave_dangling(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO run_tag (run_id, tag) VALUES (999, 'nobody')")


def add_version(monkeypatch: pytest.MonkeyPatch, *steps: migrations.Migration) -> None:
    monkeypatch.setattr(upgrade, "MIGRATIONS", (*migrations.MIGRATIONS, *steps))


@pytest.fixture
def newest(path: Path) -> Path:
    """A database of the newest version."""
    packed = (VERSIONS / f"v{upgrade.head()}.db.zst").read_bytes()
    path.write_bytes(zstandard.ZstdDecompressor().decompress(packed))
    return path


def test_a_new_step_is_run_once_and_the_old_file_is_kept(newest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = version_of(newest)
    add_version(monkeypatch, add_colour)
    for _ in range(2):
        with open_store(newest) as store:
            check_content(store, before)
    assert version_of(newest) == before + 1
    assert any("colour" in sql for sql in schema_of(newest))
    backup = newest.with_name(f"runs.v{before}.db")
    assert sorted(entry.name for entry in newest.parent.iterdir()) == sorted([newest.name, backup.name])
    monkeypatch.undo()
    with open_store(backup) as store:
        check_content(store, before)


def test_an_earlier_copy_is_not_overwritten(newest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = newest.with_name(f"runs.v{version_of(newest)}.db")
    earlier.write_text("precious")
    add_version(monkeypatch, add_colour)
    open_store(newest).close()
    assert earlier.read_text() == "precious"
    assert newest.with_name(f"{earlier.stem}-2.db").exists()


@pytest.mark.parametrize(("step", "error"), [(rebuild_and_fail, RuntimeError), (leave_dangling, AssertionError)])
def test_a_failing_step_leaves_the_file_as_it_was(
    newest: Path, monkeypatch: pytest.MonkeyPatch, step: migrations.Migration, error: type[Exception]
) -> None:
    version, statements = version_of(newest), schema_of(newest)
    add_version(monkeypatch, add_colour, step)
    with pytest.raises(error):
        open_store(newest)
    assert (version_of(newest), schema_of(newest)) == (version, statements)
    assert [entry.name for entry in newest.parent.iterdir()] == [newest.name]
    monkeypatch.undo()
    with open_store(newest) as store:
        check_content(store, version)


def test_nothing_is_upgraded_for_reading_alone(newest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = newest.read_bytes()
    add_version(monkeypatch, add_colour)
    with pytest.raises(StoreReadOnly, match=r"has to be upgraded first .*`subflow upgrade .*runs\.db` does it"):
        open_store(newest, read_only=True)
    assert newest.read_bytes() == before


def test_an_upgrade_that_another_process_has_done_is_not_repeated(
    newest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = version_of(newest)
    add_version(monkeypatch, add_colour)
    open_store(newest).close()
    with closing(sqlite3.connect(newest, isolation_level=None)) as connection:
        upgrade.upgrade(connection, newest, version)  # the version it read before the other process upgraded
    assert version_of(newest) == version + 1


def test_summaries_that_an_older_library_compressed_are_unpacked(path: Path) -> None:
    """The library of version 9 compressed a summary with that of an alike run as dictionary."""
    with open_store(path) as store:
        for number in (1, 2):
            record(store, name=f"Run {number}")
        summaries = [json.dumps(store.run(number).summary) for number in (1, 2)]
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("light_run", "packed_run", "document_pack", "arena_outcome"):
            connection.execute(f"DROP TABLE {table}")
        for table in ("arena_entry", "arena_network", "arena_names"):
            connection.execute(f"DROP TABLE {table}")
        m0007_arena.upgrade(connection)
        connection.execute("PRAGMA user_version = 9")
        connection.execute("DROP TRIGGER run_document_fixed_update")
        dictionary = zstandard.ZstdCompressionDict(summaries[0].encode(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        packed = [
            {"simulated_s": 60.0, "packed": base64.b85encode(zlib.compress(summaries[0].encode())).decode()},
            {
                "like": 1,
                "packed": base64.b85encode(
                    zstandard.ZstdCompressor(dict_data=dictionary).compress(summaries[1].encode())
                ).decode(),
            },
        ]
        for number, document in enumerate(packed, start=1):
            change = "UPDATE run_document SET text = ? WHERE run_id = ? AND kind = 'summary'"
            connection.execute(change, (json.dumps(document), number))
        make_immutable_again(connection)
    with open_store(path) as store:
        assert [json.dumps(store.run(number).summary) for number in (1, 2)] == summaries
    with closing(sqlite3.connect(path)) as connection:
        assert upgrade.has_schema(connection)


def make_immutable_again(connection: sqlite3.Connection) -> None:
    """Puts back the trigger that the test removed."""
    for verb in ("insert", "delete"):
        connection.execute(f"DROP TRIGGER run_document_fixed_{verb}")
    make_immutable(connection, ("run_document",))
