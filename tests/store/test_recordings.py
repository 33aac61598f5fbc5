"""Recordings: each is stored once for all runs that use it, and is deleted with the last of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import zstandard
from tests.helpers.changed_rows import changing_rows
from tests.helpers.present import present
from tests.store.examples import COLUMNS, FOLLOWS_A_RECORDING, RECORDING, SUMMARY, record, start, training

from subflow_sim.delivery_trace import parse_trace
from subflow_sim.errors import ParamError
from subflow_sim.recording import packed_text
from subflow_store import Store, SweepStart, open_store
from subflow_store.copies import Changes
from subflow_store.recording_texts import folded, hash_of
from subflow_store.recordings import decoded
from subflow_store.salvage import check, salvage
from subflow_store.values import Records

OTHER = FOLLOWS_A_RECORDING.replace(RECORDING, RECORDING + "x")


def contents(path: Path) -> list[str]:
    """Names in the table of recordings."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT hash, data FROM recording ORDER BY id").fetchall()
    return [decoded(data, digest) or "damaged" for digest, data in rows]


def changed(path: Path, statement: str, *values: object) -> None:
    with changing_rows(path) as connection:
        connection.execute(statement, values)


def test_runs_of_a_recording_share_it(path: Path) -> None:
    with open_store(path) as store:
        runs = [record(store, scenario_text=FOLLOWS_A_RECORDING) for _ in range(3)]
        other = record(store, scenario_text=OTHER)
        assert {store.run(run).scenario_text for run in runs} == {FOLLOWS_A_RECORDING}
        assert store.run(other).scenario_text == OTHER
        stored = store.values("links.wifi.rate.content")
        assert stored[runs[0]] == stored[runs[1]] != stored[other]
    assert contents(path) == [RECORDING, RECORDING + "x"]
    with closing(sqlite3.connect(path)) as connection:
        ((text,),) = connection.execute("SELECT text FROM run_document WHERE run_id = 1 AND kind = 'scenario'")
    assert RECORDING not in text
    assert hash_of(RECORDING) in text


def test_what_the_simulator_packs_is_what_the_store_folds() -> None:
    times = np.cumsum(np.random.default_rng(1).integers(0, 9, 5000)).astype(np.uint32)
    packed = packed_text(times)
    text, found = folded(f'rate = {{ trace = "lte.up", content = "{packed}" }}')
    assert list(found.values()) == [packed]
    with pytest.raises(ParamError, match="the database refers to a recording that it has lost"):
        parse_trace(text.rpartition('content = "')[2].partition('"')[0])


def test_a_recording_goes_with_the_last_that_needs_it(path: Path) -> None:
    with open_store(path) as store:
        first, second = (record(store, scenario_text=FOLLOWS_A_RECORDING) for _ in range(2))
        learned = store.trainings.add(training("Learned", scenario_text=FOLLOWS_A_RECORDING))
        plan = f"format = 1\nscenario_text = '''\n{FOLLOWS_A_RECORDING}'''\n"
        swept = store.sweeps.add(SweepStart("Swept", plan, "0.1.0", [], []))
        assert store.trainings.get(learned).scenario_text == FOLLOWS_A_RECORDING
        assert store.sweeps.get(swept).plan == plan
        found = present(store.sweeps.of_plan(plan))
        assert found.id == swept
        store.delete([first])
        store.purge_deleted()
        assert contents(path) == [RECORDING]
        store.delete([second])
        assert contents(path) == [RECORDING]  # the run can still be restored
        store.purge_deleted()
        store.trainings.delete([learned])
        assert contents(path) == [RECORDING]
        store.sweeps.delete([swept])
        assert contents(path) == []


def test_a_text_that_is_replaced_while_a_run_goes_on_keeps_its_recording(path: Path) -> None:
    with open_store(path) as store:
        run = store.start_run(start(), COLUMNS)
        run.replace_scenario(FOLLOWS_A_RECORDING)
        run.finish("finished", SUMMARY, "0123456789abcdef")
        assert store.run(run.run_id).scenario_text == FOLLOWS_A_RECORDING
    assert check(path).damage == ()


def test_what_is_taken_over_brings_its_recording(path: Path, tmp_path: Path) -> None:
    with open_store(path) as source, open_store(tmp_path / "other.db") as target:
        runs = [record(source, scenario_text=FOLLOWS_A_RECORDING, seed=seed) for seed in (1, 2)]
        learned = source.trainings.add(training("Learned", scenario_text=OTHER))
        taken = target.copies.take(source.copies, Records(runs=tuple(runs), trainings=(learned,)), Changes())
        assert {target.run(run).scenario_text for run in taken.runs.values()} == {FOLLOWS_A_RECORDING}
        assert target.trainings.get(taken.trainings[learned]).scenario_text == OTHER
    assert contents(tmp_path / "other.db") == [RECORDING, RECORDING + "x"]


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE recording SET data = ?", b"no frame"),
        ("UPDATE recording SET data = ?", zstandard.ZstdCompressor().compress(b"packed:something else")),
        ("DELETE FROM recording WHERE data <> ?", b""),
    ],
    ids=["damaged", "another", "missing"],
)
def test_a_lost_recording_costs_nothing_else(path: Path, tmp_path: Path, statement: str, value: bytes) -> None:
    with open_store(path) as store:
        record(store, scenario_text=FOLLOWS_A_RECORDING)
    changed(path, statement, value)
    findings = check(path)
    assert any("run 1: run_recording: 1 recordings of its scenario are lost" in str(each) for each in findings.damage)
    salvage(path, tmp_path / "new.db")
    for file in (path, tmp_path / "new.db"):
        with Store(file) as store:
            text = store.run(1).scenario_text
            assert text == FOLLOWS_A_RECORDING.replace(RECORDING, f"packed#{hash_of(RECORDING)}")
            assert len(store.series(1)) == 3
