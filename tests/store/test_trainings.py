"""Trainings in the store: their state, curves and evaluations."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.store.examples import figures, reports, training

from subflow_store import BestPolicy, EvaluationFigure, RunNotFound, Store, StoreFull, TrainingMoment, open_store
from subflow_store.liveness import ProcessIdentity, this_process
from subflow_store.trainings import METRIC_CHUNK


@pytest.fixture
def number(store: Store) -> int:
    """The training of the examples."""
    return store.trainings.add(training())


def test_a_training_is_listed_with_what_was_asked_for(store: Store) -> None:
    first = store.trainings.add(training(seed=2**64 - 1))
    second = store.trainings.add(training("Second", parent_id=first))
    assert [(row.id, row.name, row.state) for row in store.trainings.rows()] == [
        (second, "Second", "waiting"),
        (first, "First", "waiting"),
    ]
    row = store.trainings.get(first)
    assert (row.seed, row.agent, row.folder, row.parent_id) == (2**64 - 1, "drl-cc", "/trainings/first", None)
    assert (row.config, row.scenario_text) == (training().config, training().scenario_text)
    assert store.trainings.get(second).parent_id == first
    assert store.trainings.rows(limit=1)[0].id == second
    assert store.trainings.rows()[0].config is None


def test_a_training_runs_as_long_as_its_process(store: Store) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    here = this_process()
    stat = Path(f"/proc/{child.pid}/stat").read_text()
    identity = ProcessIdentity(here.host, here.boot, child.pid, stat.rpartition(")")[2].split()[19])
    number = store.trainings.add(training())
    store.trainings.set_state(number, "running", process=identity)
    row = store.trainings.get(number)
    assert (row.state, row.process_pid, row.ended_at) == ("running", child.pid, None)
    assert store.trainings.rows(state="interrupted") == []
    child.kill()
    child.wait()
    row = store.trainings.get(number)
    assert (row.state, row.process_pid, row.ended_at) == ("interrupted", 0, row.updated_at)
    assert [row.id for row in store.trainings.rows(state="interrupted")] == [number]
    store.trainings.set_state(number, "running", process=here)  # resumed
    assert store.trainings.get(number).state == "running"
    store.trainings.set_state(number, "failed", message="no memory")
    row = store.trainings.get(number)
    assert (row.state, row.message, row.process_pid) == ("failed", "no memory", 0)
    assert row.ended_at is not None
    present(child.stdin).close()


@for_each("batches", [[5], [1] * 7, [METRIC_CHUNK], [METRIC_CHUNK - 1, 2], [3, 2 * METRIC_CHUNK, 5]])
def test_curves_do_not_depend_on_how_reports_came(store: Store, batches: list[int]) -> None:
    number = store.trainings.add(training())
    for size in batches:
        store.trainings.append(number, reports(size, store.trainings.get(number).steps // 10 + 1))
    total = sum(batches)
    curve = store.trainings.curve(number, "return_mean")
    np.testing.assert_array_equal(curve.step, 10 * np.arange(1, total + 1))
    np.testing.assert_array_equal(curve.values, -np.arange(1.0, total + 1))
    np.testing.assert_array_equal(curve.elapsed_s, np.arange(1, total + 1) / 2)
    row = store.trainings.get(number)
    assert (row.steps, row.elapsed_s) == (10 * total, total / 2)


def test_a_metric_may_come_late_and_be_missing_in_between(store: Store, number: int) -> None:
    store.trainings.append(number, reports(METRIC_CHUNK + 3))
    store.trainings.append(number, [{"step": 20_000, "elapsed_s": 1e3, "jain": 0.9, "return_mean": None}])
    store.trainings.append(number, [{"step": 20_010, "elapsed_s": 1e3, "return_mean": math.nan}])
    curves = store.trainings.curves(number, ["return_mean", "jain", "never"])
    assert len(curves["jain"]) == len(curves["return_mean"]) == METRIC_CHUNK + 5
    assert np.flatnonzero(~np.isnan(curves["jain"].values)).tolist() == [METRIC_CHUNK + 3]
    assert np.flatnonzero(np.isnan(curves["return_mean"].values)).tolist() == [METRIC_CHUNK + 3, METRIC_CHUNK + 4]
    assert len(curves["never"]) == 0
    assert store.trainings.metrics(number) == ["jain", "return_mean"]


def test_what_was_learned_again_after_a_crash_stands_once(store: Store, number: int) -> None:
    store.trainings.append(number, reports(100))
    again = [{"step": 500.0 + 10 * k, "elapsed_s": 25 + k / 2, "return_mean": 1000.0 + k} for k in range(10)]
    store.trainings.append(number, again)  # from the checkpoint at step 500 on; 510 ... 990 are removed
    curve = store.trainings.curve(number, "return_mean")
    np.testing.assert_array_equal(curve.step, [*range(0, 500, 10), *range(500, 600, 10)])
    np.testing.assert_array_equal(curve.values, [*(-np.arange(50.0)), *(1000 + np.arange(10.0))])


def test_evaluations_are_kept_by_step_and_replaced_when_repeated(store: Store, number: int) -> None:
    store.trainings.append(number, [], [*figures(1000, 5e6), *figures(2000)])
    store.trainings.append(number, [], figures(1000))
    assert store.trainings.evaluations(number) == [*figures(1000), *figures(2000)]
    unknown = EvaluationFigure(3000, "drl-cc", "rtt_s", None, None, 1)
    store.trainings.append(number, [], [unknown])
    assert store.trainings.evaluations(number)[-1] == unknown


def test_the_best_policy_name_and_note_are_noted(store: Store, number: int) -> None:
    store.trainings.append(number, [], best=BestPolicy(40, 1.5, 6e6, "ab"), moment=TrainingMoment("failed", "why"))
    store.trainings.rename(number, "Kept")
    store.trainings.set_note(number, "for the paper")
    row = store.trainings.get(number)
    assert (row.best_step, row.best_score, row.best_goodput_bps, row.policy_hash) == (40, 1.5, 6e6, "ab")
    assert (row.name, row.note, row.state, row.message) == ("Kept", "for the paper", "failed", "why")


def test_a_folder_names_its_newest_training(store: Store) -> None:
    store.trainings.add(training())
    newer = store.trainings.add(training("Newer"))
    found = present(store.trainings.of_folder("/trainings/first"))
    assert found.id == newer
    assert store.trainings.of_folder("/trainings/other") is None


def test_deleting_takes_curves_along_and_leaves_children(store: Store) -> None:
    first = store.trainings.add(training())
    child = store.trainings.add(training(parent_id=first))
    store.trainings.append(first, reports(5), figures(10))
    store.trainings.delete([first, 999])
    assert [(row.id, row.parent_id) for row in store.trainings.rows()] == [(child, None)]
    with pytest.raises(RunNotFound, match="unknown training 1"):
        store.trainings.curve(first, "return_mean")


def test_wrong_values_are_refused_and_change_nothing(store: Store, number: int) -> None:
    with pytest.raises(ValueError, match="seed -1"):
        store.trainings.add(training(seed=-1))
    with pytest.raises(ValueError, match='"dreaming" is not one of waiting'):
        store.trainings.set_state(number, "dreaming")
    with pytest.raises(ValueError, match="without step or elapsed_s"):
        store.trainings.append(number, [{"step": 1.0}])
    with pytest.raises(RunNotFound, match="unknown training 99"):
        store.trainings.append(99, reports(1))
    with pytest.raises(RunNotFound, match="unknown training 99"):
        store.trainings.add(training(parent_id=99))
    with pytest.raises(RunNotFound, match="unknown training 99"):
        store.trainings.get(99)
    assert len(store.trainings.rows()) == 1
    assert store.trainings.metrics(number) == []


def test_reports_and_the_mark_of_how_far_they_were_read_are_committed_together(path: Path) -> None:
    with open_store(path) as store:
        number = store.trainings.add(training())
        store.trainings.append(number, reports(10), reports_read=1000)
    size = path.stat().st_size
    with open_store(path) as store:
        # A full disk: the database may not grow beyond its pages.
        pages = size // 4096
        store._writing().call(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}"))
        noise = np.random.default_rng(1).normal(size=50_000)
        many = [{"step": 100.0 + k, "elapsed_s": 6.0, "q_mean": value} for k, value in enumerate(noise.tolist())]
        with pytest.raises(StoreFull):
            store.trainings.append(number, many, reports_read=2000)
        assert len(store.trainings.curve(number, "return_mean")) == 10
        assert store.trainings.get(number).reports_read == 1000
