"""Light runs: stored without traces, with their documents in packs, and simulated again when they are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.present import present
from tests.store.examples import COLUMNS, SUMMARY, decisions, intervals, ramp, start, values_of

from subflow_store import RunRow, Store, StoreCorrupt, StoreError, open_store
from subflow_store.copies import Changes
from subflow_store.salvage import check, salvage
from subflow_store.values import Records

N_RUNS = 70  # more than a pack holds


class FakeSimulator:
    """Stores the same samples as the recorded runs, and counts its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, bool]] = []
        self.signature = "signature {seed}"

    def __call__(
        self,
        run: RunRow,
        into: Store,
        *,
        has_decisions: bool,
        on_progress: Callable[[float], object],
        is_cancelled: Callable[[], bool],
    ) -> int:
        self.calls.append((run.id, has_decisions))
        on_progress(0.5)
        if is_cancelled():
            raise InterruptedError
        with into.start_run(start(run.name, seed=run.seed), COLUMNS) as writer:
            record(writer, run.seed, has_decisions=has_decisions)
            writer.finish("finished", SUMMARY, self.signature.format(seed=run.seed))
            return writer.run_id


def record(writer: object, seed: int, *, has_decisions: bool) -> None:
    writer.append(0, ramp(100) + seed)  # type: ignore[attr-defined] # a RunWriter
    writer.add_marks([(7, "download/1", "loss", 1.5)])  # type: ignore[attr-defined]
    writer.add_events("interval", intervals(10))  # type: ignore[attr-defined]
    if has_decisions:
        writer.add_events("decision", decisions(30))  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of light runs, copied from runs with traces; only run 1 recorded its decisions."""
    path = tmp_path_factory.mktemp("light") / "light.db"
    with open_store(":memory:") as source, open_store(path) as store:
        for seed in range(1, N_RUNS + 1):
            with source.start_run(start(f"Run {seed}", seed=seed), COLUMNS) as writer:
                record(writer, seed, has_decisions=seed == 1)
                writer.finish("finished", SUMMARY | {"run_id": seed}, f"signature {seed}")
        with source.start_run(start("Stopped"), COLUMNS) as writer:
            writer.append(0, ramp(3))
            writer.finish("stopped", SUMMARY, "partial")
        store.copies.take(source.copies, Records(tuple(range(1, N_RUNS + 2))), Changes(is_light=True))
    return path


@pytest.fixture
def simulator() -> FakeSimulator:
    return FakeSimulator()


@pytest.fixture
def store(file: Path, simulator: FakeSimulator) -> Iterator[Store]:
    with open_store(file, read_only=True, simulator=simulator) as store:
        yield store


def test_what_a_list_shows_needs_no_simulation(store: Store, simulator: FakeSimulator) -> None:
    assert len(store.runs(search="run 33")) == 1
    assert store.values("fairness.jain").keys() == set(range(1, N_RUNS + 2))
    for number in (1, 64, 65, N_RUNS):
        run = store.run(number)
        assert (run.scenario_text, run.machine) == (start().scenario_text, {"host": "here"})
        assert present(run.summary) == SUMMARY | {"run_id": number}
    assert store.is_light(1)
    assert not store.is_light(N_RUNS + 1), "only a finished run is determined by its scenario and seed"
    assert len(store.series(N_RUNS + 1)) == len(COLUMNS)
    assert simulator.calls == []


def test_all_traces_come_from_one_simulation(store: Store, simulator: FakeSimulator) -> None:
    np.testing.assert_array_equal(values_of(store, 2), ramp(100) + 2)
    series = store.series(2)
    assert {info.run_id for info in series} == {2}
    assert store.read(series[1].id, 1.0, 2.0).values[0] == 9 + 0.25 + 2
    assert store.read_pyramid(series[0].id, 1).vmax[0] == 63 + 2
    assert [mark.kind for mark in store.marks(2).rows()] == ["loss"]
    assert len(store.intervals(2)) == 10
    assert len(store.decisions(2)) == 0
    assert store.event_extents(2, "decision") == {}
    assert simulator.calls == [(2, False)]
    owner = decisions(1).names["owner"][0]
    assert owner in store.event_extents(1, "decision")
    assert len(store.decisions_around(1, owner, 1e9)) == 1
    assert len(store.agent_steps(1)) == 0
    assert simulator.calls == [(2, False), (1, True)]
    assert [(each.run_id, each.is_identical) for each in store.simulated_again()] == [(2, True), (1, True)]


def test_runs_that_are_not_in_memory_any_more_are_simulated_anew(store: Store, simulator: FakeSimulator) -> None:
    first = store.series(1)[0]
    for number in range(2, N_RUNS + 1):
        store.simulate_again(number)
    assert len(simulator.calls) == N_RUNS
    np.testing.assert_array_equal(store.read(first.id).values, (ramp(100) + 1)[:, 0])
    assert simulator.calls[-1] == (1, True)


def test_another_result_is_told(store: Store, simulator: FakeSimulator) -> None:
    simulator.signature = "another"
    store.series(3)
    (told,) = store.simulated_again()
    assert (told.run_id, told.recorded, told.made, told.is_identical) == (3, "signature 3", "another", False)
    assert store.run(3).signature == "signature 3", "summary and signature stay as recorded"


def test_progress_and_cancel(store: Store, simulator: FakeSimulator) -> None:
    shares: list[float] = []
    with pytest.raises(InterruptedError):
        store.simulate_again(4, on_progress=shares.append, is_cancelled=lambda: True)
    assert shares == [0.5]
    assert store.simulated_again() == ()
    store.simulate_again(4, on_progress=shares.append)
    store.simulate_again(4, on_progress=shares.append)
    store.simulate_again(N_RUNS + 1, on_progress=shares.append)
    assert shares == [0.5, 0.5]


def test_without_a_simulator_the_traces_are_refused(file: Path) -> None:
    with (
        open_store(file, read_only=True) as store,
        pytest.raises(StoreError, match="the traces of run 5 are not stored, and only Subflow can simulate them again"),
    ):
        store.series(5)


def test_a_copy_stays_light_and_has_its_documents(store: Store, simulator: FakeSimulator, tmp_path: Path) -> None:
    with open_store(tmp_path / "own.db", simulator=simulator) as own:
        taken = own.copies.take(store.copies, Records((1, 2)), Changes(tags=("shipped",)))
        assert simulator.calls == []
        number = taken.runs[2]
        assert own.run(number).scenario_text == start().scenario_text
        np.testing.assert_array_equal(values_of(own, number), ramp(100) + 2)
        own.delete([number])
        assert own.purge_deleted() == 1


def test_the_last_run_of_a_pack_takes_it_along(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(file.read_bytes())

    def packs() -> int:
        with closing(sqlite3.connect(copy)) as connection:
            return int(connection.execute("SELECT count(*) FROM document_pack").fetchone()[0])

    assert packs() == 2
    with open_store(copy) as store:
        store.delete(range(64, N_RUNS + 1))
        store.purge_deleted()
    assert packs() == 1


def test_damage_is_found_and_the_rest_is_salvaged(file: Path, tmp_path: Path, simulator: FakeSimulator) -> None:
    assert check(file).damage == ()
    damaged, sound = tmp_path / "damaged.db", tmp_path / "sound.db"
    damaged.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("UPDATE document_pack SET data = substr(data, 1, 40) WHERE id = 2")
    with open_store(damaged, read_only=True) as store:
        assert store.run(64).summary
        with pytest.raises(StoreCorrupt, match="run 65: run_document: the pack of its documents is damaged"):
            store.run(65)
    found = salvage(damaged, sound)
    assert {each.number for each in found.damage} == set(range(65, N_RUNS + 1))
    with open_store(sound, simulator=simulator) as store:
        assert len(store.runs()) == N_RUNS + 1
        assert present(store.run(64).summary)["packets"] == SUMMARY["packets"]
        np.testing.assert_array_equal(values_of(store, 64), ramp(100) + 64)
