"""Runs, sweeps and trainings are copied completely, once, and with ids of the destination store."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.present import present
from tests.store.examples import COLUMNS, SUMMARY, decisions, ramp, start, values_of

from subflow_store import RunFork, Store, StoreReadOnly, SweepStart, TrainingStart, open_store
from subflow_store.copies import Changes
from subflow_store.values import Records, SweepRunPlace


@pytest.fixture
def source(tmp_path: Path) -> Store:
    """Two runs of a sweep, the second a fork of the first, and a training."""
    store = open_store(tmp_path / "source.db")
    sweep = store.sweeps.add(
        SweepStart(
            "Sweep", "plan", "v1", [{"links.wifi.loss": "1%"}], [SweepRunPlace(0, 1, "a"), SweepRunPlace(0, 2, "b")]
        )
    )
    for seed, key in ((1, "a"), (2, "b")):
        fork = RunFork(1, "First", 10.0, "more loss", []) if seed == 2 else None
        run = store.start_run(start(f"Run {seed}", seed=seed, fork=fork), COLUMNS)
        store.sweeps.attach_run(sweep, [(0, seed)], run.run_id, key, has_traces=True)
        run.append(0, ramp(100))
        run.add_events("decision", decisions(30))
        run.finish("finished", SUMMARY | {"run_id": run.run_id}, f"signature {seed}")
        store.add_tag(run.run_id, "mine")
    store.sweeps.set_state(sweep, "finished")
    training = store.trainings.add(
        TrainingStart("Learned", "rl", "Two paths", "format = 1", {"folder": "/there", "k": 2}, 1, "/there", "0.1.0")
    )
    store.trainings.append(training, [{"step": 1.0, "elapsed_s": 0.5, "reward": 3.0}])
    store.trainings.set_state(training, "finished")
    return store


EVERYTHING = Records(runs=(1, 2), sweeps=(1,), trainings=(1,))


def test_everything_that_belongs_to_it_is_taken(source: Store, store: Store) -> None:
    other = store.start_run(start("Other"), COLUMNS)
    other.finish("finished", SUMMARY, "other")
    taken = store.copies.take(source.copies, EVERYTHING, Changes(tags=("shipped",)))
    assert (taken.runs, taken.sweeps, taken.trainings, taken.n_new) == ({1: 2, 2: 3}, {1: 1}, {1: 1}, 4)
    run = store.run(3)
    assert (run.name, run.seed, run.signature, run.status) == ("Run 2", 2, "signature 2", "finished")
    assert (run.scenario_text, run.machine) == (source.run(2).scenario_text, {"host": "here"})
    assert (run.summary or {})["run_id"] == 3
    assert sorted(run.tags) == ["mine", "shipped", "sweep 1"]
    np.testing.assert_array_equal(values_of(store, 3), values_of(source, 2))
    assert len(store.decisions(3)) == 30
    assert store.values("flows.download.1.goodput_bps")[3] == 3e6
    fork = present(store.forks.origin_of(3))
    assert fork.parent_id == 2
    assert [(row.seed, row.run_id) for row in store.sweeps.runs(1)] == [(1, 2), (2, 3)]
    assert store.sweeps.get(1).plan == "plan"
    assert store.trainings.get(1).name == "Learned"
    assert store.trainings.curve(1, "reward").values.tolist() == [3.0]
    # The copies are ordinary runs: found by words, deleted and purged.
    assert [row.id for row in store.runs(search="shipped")] == [3, 2]
    store.delete([2, 3])
    assert store.purge_deleted() == 2


def test_what_was_taken_before_is_not_taken_again(source: Store, store: Store) -> None:
    first = store.copies.take(source.copies, EVERYTHING)
    store.rename(first.runs[1], "Another name")
    again = store.copies.take(source.copies, EVERYTHING)
    assert (again.runs, again.n_new) == (first.runs, 0)
    assert len(store.runs()) == 2
    # A run that was deleted since is restored, and belongs to the sweep again.
    store.delete([first.runs[1]])
    back = store.copies.take(source.copies, EVERYTHING)
    assert back.n_new == 1
    assert [row.run_id for row in store.sweeps.runs(1)] == [back.runs[1], first.runs[2]]


def test_what_is_changed_on_the_way_is_changed_there_alone(source: Store, store: Store) -> None:
    def document(kind: str, text: str) -> str:
        return json.dumps({"k": 3}) if kind == "config" else text

    changes = Changes(
        document=document,
        folder=lambda folder: f"{folder}/here",
        names={1: "Renamed"},
        notes={1: "A note"},
        values={1: frozenset({"fairness.jain"})},
    )
    taken = store.copies.take(source.copies, EVERYTHING, changes)
    run = store.run(taken.runs[1])
    assert (run.name, run.note) == ("Renamed", "A note")
    assert store.values("fairness.jain") == dict.fromkeys(taken.runs.values(), 0.8)
    assert store.values("flows.download.1.goodput_bps").keys() == {taken.runs[2]}
    assert (store.trainings.get(1).folder, store.trainings.get(1).config) == ("/there/here", {"k": 3})


def test_nothing_is_there_when_a_copy_fails_halfway(source: Store, store: Store) -> None:
    def document(kind: str, text: str) -> str:
        if kind == "config":
            raise ValueError("no")
        return text

    with pytest.raises(ValueError, match="no"):
        store.copies.take(source.copies, EVERYTHING, Changes(document=document))
    assert (store.runs(), store.sweeps.rows(), store.value_keys()) == ([], [], [])


def test_a_store_that_is_read_alone_gives_and_takes_nothing(source: Store, tmp_path: Path, store: Store) -> None:
    running = source.start_run(start("Going on"), COLUMNS)
    with open_store(tmp_path / "source.db", read_only=True) as shipped:
        assert store.copies.take(shipped.copies, Records(runs=(1, running.run_id, 99))).runs == {1: 1}
        with pytest.raises(StoreReadOnly):
            shipped.copies.take(store.copies, Records(runs=(1,)))
    running.finish("stopped", SUMMARY, "")
