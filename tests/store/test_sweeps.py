"""Sweeps in the store: their runs, existing results, and the remains of a killed process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.present import present
from tests.store.examples import COLUMNS, SUMMARY, ramp, record, start

from subflow_store import RunNotFound, Store, SweepRunPlace, SweepStart, open_store
from subflow_store.liveness import ProcessIdentity, this_process

PLACES = (SweepRunPlace(0, 1, "a"), SweepRunPlace(0, 2, "b"), SweepRunPlace(1, 1, "c"), SweepRunPlace(1, 2, "a"))


def sweep(name: str = "Loss", places: tuple[SweepRunPlace, ...] = PLACES) -> SweepStart:
    return SweepStart(name, f"name = '{name}'\n", "0.1.0", [{"loss": "0%"}, {"loss": "1%"}], places)


def make_run(store: Store, sweep_id: int, key: str, *, has_traces: bool = True, finish: bool = True) -> int:
    places = [(row.point, row.seed) for row in store.sweeps.runs(sweep_id) if row.key == key]
    writer = store.start_run(start(), COLUMNS)
    writer.append(0, ramp(10))
    store.sweeps.attach_run(sweep_id, places, writer.run_id, key, has_traces=has_traces)
    if finish:
        writer.finish("finished", SUMMARY, "0123")
    else:
        writer.abandon()
    return writer.run_id


def test_a_sweep_lists_its_points_and_runs(store: Store) -> None:
    first = store.sweeps.add(sweep())
    second = store.sweeps.add(sweep("Delay"))
    assert [(row.id, row.name, row.state, row.points, row.runs, row.finished) for row in store.sweeps.rows()] == [
        (second, "Delay", "waiting", 2, 4, 0),
        (first, "Loss", "waiting", 2, 4, 0),
    ]
    assert store.sweeps.get(first).plan == "name = 'Loss'\n"
    assert store.sweeps.points(first) == [{"loss": "0%"}, {"loss": "1%"}]
    assert [(row.point, row.seed, row.key) for row in store.sweeps.runs(first)] == list(PLACES)
    found = present(store.sweeps.of_plan("name = 'Loss'\n"))
    assert found.id == first
    with pytest.raises(RunNotFound, match="unknown sweep 99"):
        store.sweeps.get(99)


def test_a_run_counts_when_it_has_finished_at_all_places_of_its_key(store: Store) -> None:
    sweep_id = store.sweeps.add(sweep())
    run_id = make_run(store, sweep_id, "a")
    half = make_run(store, sweep_id, "b", finish=False)
    assert [(row.point, row.seed, row.run_id) for row in store.sweeps.runs(sweep_id)] == [
        (0, 1, run_id),
        (0, 2, None),
        (1, 1, None),
        (1, 2, run_id),
    ]
    assert store.run(run_id).tags == (f"sweep {sweep_id}",)
    assert store.sweeps.get(sweep_id).finished == 2
    # The repeated run replaces the interrupted run, which is deleted.
    again = make_run(store, sweep_id, "b")
    assert store.run(half).deleted
    assert [row.run_id for row in store.sweeps.runs(sweep_id)] == [run_id, again, None, run_id]


def test_a_deleted_run_is_missing_and_comes_back(store: Store) -> None:
    sweep_id = store.sweeps.add(sweep())
    run_id = make_run(store, sweep_id, "c")
    store.delete([run_id])
    assert store.sweeps.get(sweep_id).finished == 0
    store.undelete([run_id])
    assert store.sweeps.get(sweep_id).finished == 1
    store.delete([run_id])
    store.purge_deleted()
    assert [row.run_id for row in store.sweeps.runs(sweep_id)] == [None] * 4


def test_another_sweep_takes_over_finished_runs_of_the_same_key(store: Store) -> None:
    first = store.sweeps.add(sweep())
    with_contents = make_run(store, first, "a")
    without = make_run(store, first, "b", has_traces=False)
    make_run(store, first, "c", finish=False)
    assert store.sweeps.known(["a", "b", "c", "d"], needs_traces=True) == {"a"}
    assert store.sweeps.known(["a", "b", "c", "d"], needs_traces=False) == {"a", "b"}
    second = store.sweeps.add(sweep("Again"))
    assert store.sweeps.link_finished(second, needs_traces=True) == 2
    assert [row.run_id for row in store.sweeps.runs(second)] == [with_contents, None, None, with_contents]
    third = store.sweeps.add(sweep("Figures"))
    assert store.sweeps.link_finished(third, needs_traces=False) == 3
    assert [row.run_id for row in store.sweeps.runs(third)] == [with_contents, without, None, with_contents]
    assert store.sweeps.link_finished(third, needs_traces=False) == 0


def test_a_run_that_could_not_be_made_says_why_until_it_is(store: Store) -> None:
    sweep_id = store.sweeps.add(sweep())
    store.sweeps.set_message(sweep_id, [(0, 2)], "its worker died")
    assert store.sweeps.get(sweep_id).failed == 1
    assert store.sweeps.runs(sweep_id)[1].message == "its worker died"
    make_run(store, sweep_id, "b")
    assert store.sweeps.get(sweep_id).failed == 0


def test_another_version_asks_for_other_runs(store: Store) -> None:
    sweep_id = store.sweeps.add(sweep())
    kept = make_run(store, sweep_id, "a")
    make_run(store, sweep_id, "b")
    store.sweeps.replace_keys(sweep_id, "0.2.0", [SweepRunPlace(0, 1, "a"), SweepRunPlace(0, 2, "newer")])
    assert store.sweeps.get(sweep_id).version == "0.2.0"
    assert [row.run_id for row in store.sweeps.runs(sweep_id)] == [kept, None, None, kept]


def test_figures_are_those_of_finished_runs(store: Store) -> None:
    sweep_id = store.sweeps.add(sweep(places=(SweepRunPlace(0, 2**64 - 1, "a"), SweepRunPlace(0, 2, "b"))))
    run_id = make_run(store, sweep_id, "a")
    make_run(store, sweep_id, "b", finish=False)
    record(store)
    found = store.sweeps.figures(sweep_id, lambda key: key.endswith("jain") or "download.1" in key)
    assert found == {
        (0, 2**64 - 1): (
            run_id,
            {"fairness.jain": 0.8, "flows.download.1.goodput_bps": 3e6, "flows.download.1.mean_rtt_s": 0.1},
        )
    }
    assert store.sweeps.signatures(sweep_id) == {(0, 2**64 - 1): store.run(run_id).signature}


def test_the_sweep_of_a_process_that_is_gone_is_interrupted(store: Store) -> None:
    sweep_id = store.sweeps.add(sweep())
    store.sweeps.set_state(sweep_id, "running", process=this_process())
    assert store.sweeps.get(sweep_id).state == "running"
    here = this_process()
    gone = ProcessIdentity(here.host, here.boot, here.pid, "another start")
    store.sweeps.set_state(sweep_id, "running", process=gone)
    row = store.sweeps.get(sweep_id)
    assert (row.state, row.process_pid) == ("interrupted", 0)
    store.sweeps.set_state(sweep_id, "failed", message="no cluster")
    row = store.sweeps.get(sweep_id)
    assert (row.state, row.message, row.ended_at is not None) == ("failed", "no cluster", True)
    with pytest.raises(ValueError, match="is not one of waiting"):
        store.sweeps.set_state(sweep_id, "gone")


def test_a_deleted_sweep_leaves_its_runs(path: Path) -> None:
    with open_store(path) as store:
        sweep_id = store.sweeps.add(sweep())
        store.sweeps.rename(sweep_id, "Renamed")
        run_id = make_run(store, sweep_id, "a")
        store.sweeps.delete([sweep_id, 77])
        assert store.sweeps.rows() == []
        assert store.run(run_id).status == "finished"
        again = store.sweeps.add(sweep())
        assert again > sweep_id
        assert store.sweeps.link_finished(again, needs_traces=True) == 2
