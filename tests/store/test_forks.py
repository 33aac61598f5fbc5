"""Runs that fork others: stored with their changes, also after the other run is deleted."""

from __future__ import annotations

from pathlib import Path

from tests.store.examples import record, values_of

from subflow_store import RunFork, open_store
from subflow_store.conditions import Condition

CHANGES = [{"link": "wifi", "loss": "5%"}]


def fork_of(run_id: int | None) -> RunFork:
    return RunFork(run_id, "First", 12.5, "wifi: loss 2 % → 5 %", CHANGES)


def test_a_fork_knows_its_origin_and_the_origin_its_forks(path: Path) -> None:
    with open_store(path) as store:
        origin = record(store)
        first = record(store, name="Fork", fork=fork_of(origin))
        second = record(store, name="Fork of the fork", fork=fork_of(first))
    with open_store(path, read_only=True) as store:
        assert store.forks.origin_of(origin) is None
        assert store.forks.origin_of(first) == fork_of(origin)
        assert store.forks.of(origin) == {first: fork_of(origin)}
        assert store.forks.of(first) == {second: fork_of(first)}
        assert store.forks.of(second) == {}


def test_a_fork_outlives_the_run_that_it_branched_off(path: Path) -> None:
    with open_store(path) as store:
        origin = record(store)
        fork = record(store, name="Fork", fork=fork_of(origin))
        store.delete([origin])
        assert store.forks.origin_of(fork) == fork_of(origin)  # the original can still be restored
        assert store.purge_deleted() == 1
        assert store.forks.origin_of(fork) == fork_of(None)
        assert [run.id for run in store.runs()] == [fork]
        assert len(values_of(store, fork)) == 100


def test_a_deleted_fork_is_not_listed_and_goes_with_its_note(path: Path) -> None:
    with open_store(path) as store:
        origin = record(store)
        fork = record(store, name="Fork", fork=fork_of(origin))
        store.delete([fork])
        assert store.forks.of(origin) == {}
        store.purge_deleted()
        assert store.forks.origin_of(fork) is None
        assert store.run(origin).name == "First"


def test_the_list_tells_forks_and_finds_them(path: Path) -> None:
    with open_store(path) as store:
        origin = record(store)
        fork = record(store, name="Fork", fork=fork_of(origin))
        other = record(store, name="Fork of what is not stored", fork=fork_of(None))
        assert {run.id: run.fork for run in store.runs()} == {origin: None, fork: fork_of(origin), other: fork_of(None)}
        assert store.run(fork).fork == fork_of(origin)

        def found(field: str, operator: str, value: float, *, is_negated: bool = False) -> list[int]:
            return [run.id for run in store.runs([Condition(field, operator, value, is_negated)])]

        assert found("parent_id", ":", origin) == [fork]
        assert found("forked_at_s", ">=", 0.0) == [other, fork]
        assert found("forked_at_s", "<", 12.0) == []
        assert found("forked_at_s", ">=", 0.0, is_negated=True) == [origin]
