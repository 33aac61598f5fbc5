"""A flipped byte costs only the data at its place: damage is reported and found, and salvage copies the rest."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.store.examples import (
    COLUMNS,
    SUMMARY,
    agent_steps,
    decisions,
    figures,
    intervals,
    ramp,
    record,
    reports,
    start,
    training,
    values_of,
)

from subflow_store import RunFork, Store, StoreCorrupt, StoreError, StoreFull, StoreMissing, SweepStart, open_store
from subflow_store.salvage import check, salvage
from subflow_store.values import SweepRunPlace

PAGE_BYTES = 4096


def fill(path: Path) -> None:
    """Two runs of a sweep with every kind of data, six small ones, one deleted, and a training."""
    with open_store(path) as store:
        places = [SweepRunPlace(0, 1, "a"), SweepRunPlace(1, 2, "b")]
        points = [{"links.wifi.loss": "1%"}, {"links.wifi.loss": "2%"}]
        sweep = store.sweeps.add(SweepStart("Sweep", "plan", "v1", points, places))
        for seed, key in ((1, "a"), (2, "b")):
            fork = RunFork(1, "Run 1", 10.0, "more loss", [{"link": "wifi"}]) if seed == 2 else None
            run = store.start_run(start(f"Run {seed}", seed=seed, fork=fork), COLUMNS)
            store.sweeps.attach_run(sweep, [(seed - 1, seed)], run.run_id, key, has_traces=True)
            run.append(0, ramp(5000))
            run.add_marks([(7, "download/1", "loss", 1.5)])
            for stream, table in (
                ("decision", decisions(300)),
                ("interval", intervals(20)),
                ("agent", agent_steps(20)),
            ):
                run.add_events(stream, table)
            run.finish("finished", SUMMARY | {"run_id": run.run_id, "seed": seed}, f"signature {seed}")
            store.add_tag(run.run_id, "mine")
            store.set_note(run.run_id, "Überlast")
        for number in range(6):
            record(store, name=f"Small {number}")
        store.delete([4])
        store.sweeps.set_state(sweep, "finished")
        learned = store.trainings.add(training())
        store.trainings.append(learned, reports(50), figures(100))
        store.trainings.set_state(learned, "finished")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled database, which tests must not change."""
    path = tmp_path_factory.mktemp("filled") / "runs.db"
    fill(path)
    return path


@pytest.fixture
def damaged(filled: Path, path: Path) -> Callable[[bytes, bytes], Path]:
    """Makes a copy with some bytes replaced."""

    def damage(before: bytes, after: bytes) -> Path:
        content = filled.read_bytes()
        assert content.count(before) >= 1
        assert len(before) == len(after)
        path.write_bytes(content.replace(before, after, 1))
        return path

    return damage


def use_everything(store: Store) -> int:
    """Reads everything except damaged parts; returns the number of errors that reported damage."""
    told = 0

    def asked(question: Callable[[], Any]) -> Any:
        nonlocal told
        try:
            return question()
        except StoreCorrupt:
            told += 1
            return ()

    for row in asked(store.runs):
        asked(partial(store.run, row.id))
        for series in asked(partial(store.series, row.id)):
            asked(partial(store.read, series.id))
            asked(partial(store.read_pyramid, series.id, 1))
        for read in (store.decisions, store.intervals, store.agent_steps, store.forks.of, store.forks.origin_of):
            asked(partial(read, row.id))
        marks = asked(partial(store.marks, row.id))
        assert len(marks and list(marks.rows())) == len(marks)
        asked(partial(store.event_extents, row.id, "decision"))
    asked(store.tags)
    asked(store.value_keys)
    asked(partial(store.values, "fairness.jain"))
    asked(partial(store.runs, search="small"))
    for learned in asked(store.trainings.rows):
        asked(partial(store.trainings.get, learned.id))
        asked(partial(store.trainings.curve, learned.id, "return_mean"))
        asked(partial(store.trainings.evaluations, learned.id))
    for sweep in asked(store.sweeps.rows):
        for ask in (store.sweeps.get, store.sweeps.points, store.sweeps.runs):
            asked(partial(ask, sweep.id))
        asked(partial(store.sweeps.figures, sweep.id, bool))
    return told


# Damage is named, and the rest stays readable


def test_a_sound_database_is_sound_and_comes_over_whole(filled: Path, tmp_path: Path) -> None:
    found = check(filled)
    assert (found.runs, found.trainings, found.sweeps, found.damage) == (tuple(range(1, 9)), (1,), (1,), ())
    assert salvage(filled, tmp_path / "new.db") == found
    with open_store(filled, read_only=True) as old, open_store(tmp_path / "new.db") as new:
        mine = [row._replace(deleted=False) for row in old.runs(include_deleted=True)]
        assert [row._replace(deleted=False) for row in new.runs(include_deleted=True)] == mine
        assert [row.id for row in new.runs()] == [row.id for row in old.runs()]
        for number in (1, 2):
            assert new.run(number) == old.run(number)
            assert np.array_equal(values_of(new, number), values_of(old, number))
            assert len(new.decisions(number)) == 300
            assert list(new.marks(number).rows()) == list(old.marks(number).rows())
        assert new.forks.of(1) == old.forks.of(1)
        assert new.sweeps.runs(1) == old.sweeps.runs(1)
        assert new.trainings.get(1)._replace(process_pid=0) == old.trainings.get(1)._replace(process_pid=0)
        assert new.trainings.evaluations(1) == old.trainings.evaluations(1)
        assert [row.id for row in new.runs(search="Small 3")] == [6]
    assert check(tmp_path / "new.db").damage == ()


def test_a_damaged_row_costs_the_list_that_row_and_its_name_comes_back(
    damaged: Callable[[bytes, bytes], Path], tmp_path: Path
) -> None:
    path = damaged(b"Small 3", b"\xffmall 3")
    with open_store(path, read_only=True) as store:
        assert [row.id for row in store.runs(limit=2)] == [8, 7]
        assert not store.damaged
        assert [row.id for row in store.runs()] == [8, 7, 5, 3, 2, 1]
        (damage,) = store.damaged
        assert (damage.table, damage.owner) == ("run", "run 6")
        with pytest.raises(StoreCorrupt, match=r"Small|decode.*subflow check .*subflow salvage"):
            store.run(6)

    (damage,) = salvage(path, tmp_path / "new.db").damage
    assert (damage.table, damage.owner) == ("run", "run 6")
    with open_store(tmp_path / "new.db") as store:
        assert store.run(6).name == "Small 3"


def test_lost_samples_are_gaps_and_the_others_stand_where_they_stood(filled: Path, path: Path, tmp_path: Path) -> None:
    path.write_bytes(filled.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER chunk_fixed_update")
        statement = "UPDATE chunk SET data = CAST(substr(data, 1, 40) || x'55' || substr(data, 42) AS BLOB)"
        connection.execute(f"{statement} WHERE series_id = 2 AND idx = 0")
        connection.commit()
    assert any("samples 0 to 4095" in damage.problem for damage in check(path).damage)
    salvage(path, tmp_path / "new.db")
    with open_store(tmp_path / "new.db") as store:
        lost, kept = values_of(store, 1)[:, 1], values_of(store, 1)[:, 0]
        assert np.isnan(lost[:4096]).all()
        assert np.array_equal(lost[4096:], ramp(5000)[4096:, 1])
        assert np.array_equal(kept, ramp(5000)[:, 0])


@pytest.mark.parametrize(
    "table", ["run", "run_document", "series", "chunk", "run_tag", "event_chunk", "sqlite_autoindex_series_1"]
)
def test_a_page_full_of_rubbish_costs_what_stood_there(filled: Path, path: Path, tmp_path: Path, table: str) -> None:
    content = bytearray(filled.read_bytes())
    with closing(sqlite3.connect(filled)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    content[(root - 1) * PAGE_BYTES : root * PAGE_BYTES] = b"\xa5" * PAGE_BYTES
    path.write_bytes(content)
    assert check(path).damage
    found = salvage(path, tmp_path / "new.db")
    assert found.runs == tuple(range(1, 9))  # rebuilt from their documents if the row is missing
    assert found.trainings == (1,)
    with open_store(tmp_path / "new.db") as store:
        assert use_everything(store) == 0
    assert check(tmp_path / "new.db").damage == ()


@pytest.mark.parametrize("is_copy", [False, True])
@pytest.mark.parametrize("offset", [0, 16, 18, 28, 44, 52, 60, 68, 100, 103, 108, 110])
def test_a_damaged_beginning_costs_nothing(
    filled: Path, path: Path, tmp_path: Path, offset: int, *, is_copy: bool
) -> None:
    if is_copy:  # with larger pages
        path.write_bytes(filled.read_bytes())
        with open_store(path) as store:
            store.save_copy(tmp_path / "copy.db")
    content = bytearray((tmp_path / "copy.db" if is_copy else filled).read_bytes())
    content[offset] ^= 0xA5
    path.write_bytes(content)
    salvage(path, tmp_path / "new.db")
    with open_store(tmp_path / "new.db") as store:
        assert [row.name for row in store.runs()][:2] == ["Small 5", "Small 4"]
        assert np.array_equal(values_of(store, 1), ramp(5000))


def test_what_is_no_database_of_ours_is_not_salvaged(path: Path, tmp_path: Path) -> None:
    for content in (b"plain text " * 1000, b"SQLite format 3\0" + b"\xff" * 9000):
        path.write_bytes(content)
        with pytest.raises(StoreCorrupt, match=r"Choose another file|subflow salvage"):
            salvage(path, tmp_path / "new.db")
    path.write_bytes(b"")
    with pytest.raises(StoreMissing, match="empty"):
        check(path)
    assert not (tmp_path / "new.db").exists()


def test_salvage_leaves_no_half_file_and_no_other_file_is_lost(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "new.db"
    target.write_text("precious")
    with pytest.raises(StoreError, match="exists already"):
        salvage(filled, target)
    with pytest.raises(StoreError, match="place of its original"):
        salvage(filled, filled, overwrite=True)
    target.unlink()

    def full(_done: int, _of: int) -> None:
        if _done == 5:
            raise StoreFull("no space left to write")

    with pytest.raises(StoreFull):
        salvage(filled, target, on_progress=full)
    assert list(tmp_path.iterdir()) == []


# Arbitrary bytes


def flips(n: int) -> list[tuple[int, int]]:
    """Places, as fractions of the file, and bits: the same for each run of the tests."""
    draw = random.Random(21)
    return [(draw.randrange(1 << 30), 1 << draw.randrange(8)) for _ in range(n)]


PART = 30
OTHER_PARTS = [pytest.param(k, marks=pytest.mark.full("50 parts of the flips")) for k in range(1, 1500 // PART)]


@pytest.mark.parametrize("part", [0, *OTHER_PARTS])
def test_any_flipped_bit_is_told_and_the_rest_comes_over(filled: Path, path: Path, tmp_path: Path, part: int) -> None:
    content = filled.read_bytes()
    for place, bit in flips(1500)[part * PART : (part + 1) * PART]:
        changed = bytearray(content)
        changed[place % len(content)] ^= bit
        path.write_bytes(changed)
        for read_only in (True, False):
            with suppress(StoreError), open_store(path, read_only=read_only) as store:
                use_everything(store)
        path.write_bytes(changed)  # restored: writing may have changed it
        found = check(path)
        target = tmp_path / "new.db"
        saved = salvage(path, target, overwrite=True)
        assert set(range(1, 9)) - set(saved.runs) == set(), found.damage
        with open_store(target, read_only=True) as store:
            assert use_everything(store) == 0
            assert len(store.runs(include_deleted=True)) == len(saved.runs)


def change(path: Path, statement: str) -> None:
    """Makes a change that the triggers forbid."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = connection.execute(query).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(statement).rowcount >= 1
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("run_document", "UPDATE run_document SET text = replace(text, '3000000.0', '7000000.0') WHERE run_id = 1"),
        ("run_document", "UPDATE run_document SET text = replace(text, 'paths', 'baths') WHERE kind = 'scenario'"),
        ("run", "UPDATE run SET signature = 'signature 3' WHERE id = 1"),
        ("series", "UPDATE series SET unit = 'pkd' WHERE run_id = 1"),
        ("event_name", "UPDATE event_name SET name = 'slow_smart' WHERE run_id = 1 AND name = 'slow_start'"),
        ("run_fork", "UPDATE run_fork SET difference = 'less loss'"),
    ],
)
def test_what_makes_sense_but_was_not_written_is_found(filled: Path, path: Path, table: str, statement: str) -> None:
    path.write_bytes(filled.read_bytes())
    change(path, statement)
    found = check(path)
    assert {(damage.table, damage.kind) for damage in found.damage} == {(table, "run")}


def test_an_impossible_interval_costs_its_run_alone(filled: Path, path: Path) -> None:
    path.write_bytes(filled.read_bytes())
    change(path, "UPDATE run SET sample_interval_s = 0 WHERE id = 1")
    change(path, "UPDATE series SET t0_s = 0 WHERE run_id = 2")
    with open_store(path, read_only=True) as store:
        assert 1 not in {row.id for row in store.runs()}
        with pytest.raises(StoreCorrupt, match=r"samples .* apart from 0"):
            store.read(store.series(2)[0].id)


def test_a_figure_that_was_not_written_is_not_shown(filled: Path, path: Path) -> None:
    path.write_bytes(filled.read_bytes())
    change(path, "UPDATE run_document SET text = replace(text, '3000000.0', '7000000.0') WHERE run_id = 1")
    with open_store(path, read_only=True) as store:
        with pytest.raises(StoreCorrupt, match="run 1: run_document: part of it is not what was written"):
            store.run(1)
        assert store.run(2).summary == SUMMARY | {"run_id": 2, "seed": 2}
