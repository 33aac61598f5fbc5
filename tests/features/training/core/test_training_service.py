"""Several trainings: the queue, the store, what other programs have started, and what is left when a program closes."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.fake_training import evaluation

from subflow_agents import Command, TrainingConfig
from subflow_app.features.training.core import training_service
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_folder import living_process
from subflow_app.features.training.core.training_record import evaluation_figures, list_training, sync_all
from subflow_app.features.training.core.training_service import TrainingService
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_store import EvaluationFigure, Store, StoreFull, open_store

TRAINER = "tests.helpers.fake_training"
PATIENCE_S = 30.0


def config(folder: Path, *, steps: int = 100_000, resume: bool = False, **options: Any) -> TrainingConfig:
    return TrainingConfig(
        agent="fake",
        scenario="format = 1",
        scenario_name="Two paths",
        steps=steps,
        seed=7,
        folder=str(folder),
        resume=resume,
        options=options,
    )


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person does not notice the second until the store is up to date; tests wait for it again and again."""
    monkeypatch.setattr(training_service, "TICK_S", 0.02)
    monkeypatch.setattr(training_service, "SYNC_S", 0.05)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture
def service(store: Store) -> Iterator[TrainingService]:
    made = TrainingService(store, limit=1, trainer=TRAINER)
    yield made
    made.close()


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def test_a_training_is_in_the_store_with_everything_it_told(
    service: TrainingService, store: Store, tmp_path: Path
) -> None:
    number = service.submit(config(tmp_path / "a"), name="First")
    job = service.job(number)
    wait(lambda: store.trainings.get(number).steps > 0)
    row = store.trainings.get(number)
    assert (row.name, row.agent, row.scenario_name, row.seed, row.state) == ("First", "fake", "Two paths", 7, "running")
    assert row.process_pid == job.pid
    assert row.config is not None
    assert (row.config["steps"], row.scenario_text) == (100_000, "format = 1")
    job.tell(Command.PAUSE)
    wait(lambda: store.trainings.get(number).state == "paused")
    job.tell(Command.RESUME)
    job.tell(Command.EVALUATE)
    wait(lambda: store.trainings.get(number).best_step is not None)
    job.stop()
    assert job.wait(PATIENCE_S)
    wait(lambda: store.trainings.get(number).state == "stopped")
    row = store.trainings.get(number)
    assert row.best_score == row.best_step
    assert row.best_goodput_bps == 1e6 * (row.best_step or math.nan)
    assert row.policy_hash == hashlib.sha256(b"policy").hexdigest()
    assert {(f.controller, f.metric) for f in store.trainings.evaluations(number)} == {
        (controller, metric) for controller in ("fake", "olia") for metric in ("goodput_bps", "score")
    }
    curve = store.trainings.curve(number, "return_mean")
    told = [report["values"]["step"] for report in job.take_reports() if report["kind"] == "metrics"]
    assert curve.step.tolist() == told == list(range(1, len(told) + 1))


def test_more_than_the_limit_wait_their_turn_and_may_be_called_off(service: TrainingService, tmp_path: Path) -> None:
    first, second, third = (service.submit(config(tmp_path / name)) for name in "abc")
    wait(lambda: service.job(first).state is JobState.RUNNING)
    assert [service.job(number).state for number in (second, third)] == [JobState.WAITING] * 2
    service.job(second).stop()
    assert service.job(second).state is JobState.STOPPED
    service.job(first).stop()
    wait(lambda: service.job(third).state is JobState.RUNNING)
    assert service.job(first).state is JobState.STOPPED
    service.limit = 2
    fourth = service.submit(config(tmp_path / "d"))
    wait(lambda: service.job(fourth).state is JobState.RUNNING)
    assert service.job(third).state is JobState.RUNNING


def test_a_killed_training_is_told_as_interrupted_and_resumed_under_its_number(
    service: TrainingService, store: Store, tmp_path: Path
) -> None:
    number = service.submit(config(tmp_path / "a", checkpoint_every=20))
    job = service.job(number)
    wait(lambda: job.metrics.get("step", 0) > 100)
    assert job.pid > 0  # 0 would be everybody here
    os.kill(job.pid, signal.SIGKILL)
    assert job.wait(PATIENCE_S)
    wait(lambda: "SIGKILL" in store.trainings.get(number).message)
    assert store.trainings.get(number).state == "interrupted"
    again = service.go_on_in(tmp_path / "a", steps=150)
    assert again == number
    assert service.job(again).wait(PATIENCE_S)
    wait(lambda: store.trainings.get(number).state == "finished")
    row = store.trainings.get(number)
    assert (row.steps, row.message) == (150, "")
    assert store.trainings.curve(number, "return_mean").step.tolist() == list(range(1, 151))


def test_one_that_cannot_be_started_fails_and_the_next_one_runs(
    service: TrainingService, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    wrong = service.submit(config(tmp_path / "file" / "inside"))
    right = service.submit(config(tmp_path / "b", steps=10))
    assert service.job(right).wait(PATIENCE_S)
    assert service.job(wrong).state is JobState.FAILED
    wait(lambda: store.trainings.get(wrong).state == "failed")
    assert "Not a directory" in store.trainings.get(wrong).message


def test_two_trainings_in_one_folder_are_refused(service: TrainingService, tmp_path: Path) -> None:
    service.submit(config(tmp_path / "a"))
    with pytest.raises(TrainingError, match=r"is in .* already"):
        service.submit(config(tmp_path / "a"))
    with pytest.raises(TrainingError, match="unknown training 99"):
        service.job(99)
    with pytest.raises(TrainingError, match="not a folder of a training"):
        service.go_on_in(tmp_path / "none")


def test_closing_stops_what_runs_with_a_checkpoint_and_calls_off_what_waits(store: Store, tmp_path: Path) -> None:
    with TrainingService(store, limit=1, trainer=TRAINER) as service:
        runs, waits = service.submit(config(tmp_path / "a")), service.submit(config(tmp_path / "b"))
        wait(lambda: service.job(runs).metrics.get("step", 0) > 5)
    assert [store.trainings.get(number).state for number in (runs, waits)] == ["stopped", "stopped"]
    assert list((tmp_path / "a").glob("checkpoint-*.json"))
    with pytest.raises(TrainingError, match="closing"):
        service.submit(config(tmp_path / "c"))


def test_trainings_kept_in_the_background_are_found_and_attached_to_later(store: Store, tmp_path: Path) -> None:
    before = TrainingService(store, limit=1, trainer=TRAINER)
    number = before.submit(config(tmp_path / "a"))
    wait(lambda: before.job(number).metrics.get("step", 0) > 5)
    assert before.close(keep=True) == []
    process = living_process(tmp_path / "a")
    assert process is not None
    reached = store.trainings.get(number).steps
    with TrainingService(store, limit=1, trainer=TRAINER) as later:
        assert later.go_on_in(tmp_path / "a") == number
        assert later.job(number).pid == process.pid
        wait(lambda: store.trainings.get(number).steps > reached + 10)
    assert living_process(tmp_path / "a") is not None  # it is not this service's to stop
    TrainingJob.attach(tmp_path / "a").stop()
    wait(lambda: living_process(tmp_path / "a") is None)
    sync_all(store)
    assert store.trainings.get(number).state == "stopped"


def test_what_nobody_watched_is_in_the_store_once_somebody_looks(store: Store, tmp_path: Path) -> None:
    job = TrainingJob(config(tmp_path / "a", steps=30), trainer=TRAINER)
    number = list_training(store, job.config)
    job.start()
    assert job.wait(PATIENCE_S)
    assert store.trainings.get(number).steps == 0
    for _ in range(2):
        sync_all(store)
        row = store.trainings.get(number)
        assert (row.steps, row.state) == (30, "finished")
        assert len(store.trainings.curve(number, "return_mean")) == 30


def test_a_store_that_fails_stops_no_training_and_catches_up(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **keywords: Any) -> None:
        raise StoreFull("no space left to write")

    with TrainingService(store, limit=1, trainer=TRAINER) as service:
        number = service.submit(config(tmp_path / "a", steps=100, step_s=0.005))
        with monkeypatch.context() as patch:
            patch.setattr("subflow_store.trainings.TrainingStore.append", fail)
            wait(lambda: service.served()[0].store_error is not None)
        assert service.job(number).wait(PATIENCE_S)
        assert service.job(number).state is JobState.FINISHED
        wait(lambda: store.trainings.get(number).state == "finished")
        assert service.served()[0].store_error is None
    assert len(store.trainings.curve(number, "return_mean")) == 100


def test_without_a_store_trainings_run_all_the_same(tmp_path: Path) -> None:
    with TrainingService(None, limit=2, trainer=TRAINER) as service:
        numbers = [service.submit(config(tmp_path / name, steps=10)) for name in "ab"]
        assert numbers == [1, 2]
        assert all(service.job(number).wait(PATIENCE_S) for number in numbers)


def test_figures_of_an_evaluation_are_read_as_far_as_they_are_there() -> None:
    assert evaluation_figures(evaluation(5))[0] == EvaluationFigure(5, "fake", "goodput_bps", 5e6, 1e5, 3)
    assert evaluation_figures(evaluation(5))[1] == EvaluationFigure(5, "fake", "score", 5.0, None, 1)
    assert evaluation_figures({"step": 5}) == []
