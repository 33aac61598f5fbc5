"""Several trainings: the queue, the store, trainings of other programs, and the state after a program closes."""

from __future__ import annotations

import hashlib
import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.fake_agent import TRAINER, fake_config
from tests.helpers.fake_training import evaluation
from tests.helpers.present import present
from tests.helpers.raising import raising
from tests.helpers.waiting import wait_until

from subflow_agents import Command
from subflow_app.features.training.core import training_service
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_folder import living_process
from subflow_app.features.training.core.training_record import evaluation_figures, list_training, sync_all
from subflow_app.features.training.core.training_service import TrainingService
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_store import EvaluationFigure, Store, StoreFull

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens the intervals of the service: a person does not notice a second of delay, but tests add them up."""
    monkeypatch.setattr(training_service, "TICK_S", 0.02)
    monkeypatch.setattr(training_service, "SYNC_S", 0.05)


@pytest.fixture
def service(store: Store) -> Iterator[TrainingService]:
    made = TrainingService(store, limit=1, trainer=TRAINER)
    yield made
    made.close()


def test_a_training_is_stored_with_all_it_told(service: TrainingService, store: Store, tmp_path: Path) -> None:
    number = service.submit(fake_config(tmp_path / "a"), name="First")
    job = service.job(number)
    wait_until(lambda: store.trainings.get(number).steps > 0)
    row = store.trainings.get(number)
    assert (row.name, row.agent, row.scenario_name, row.seed, row.state) == ("First", "fake", "Two paths", 7, "running")
    assert row.process_pid == job.pid
    assert row.config is not None
    assert (row.config["steps"], row.scenario_text) == (100_000, "format = 1")
    job.tell(Command.PAUSE)
    wait_until(lambda: store.trainings.get(number).state == "paused")
    job.tell(Command.RESUME)
    job.tell(Command.EVALUATE)
    wait_until(lambda: store.trainings.get(number).best_step is not None)
    job.stop()
    assert job.wait(PATIENCE_S)
    wait_until(lambda: store.trainings.get(number).state == "stopped")
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
    first, second, third = (service.submit(fake_config(tmp_path / name)) for name in "abc")
    wait_until(lambda: service.job(first).state is JobState.RUNNING)
    assert [service.job(number).state for number in (second, third)] == [JobState.WAITING] * 2
    service.job(second).stop()
    assert service.job(second).state is JobState.STOPPED
    service.job(first).stop()
    wait_until(lambda: service.job(third).state is JobState.RUNNING)
    assert service.job(first).state is JobState.STOPPED
    service.limit = 2
    fourth = service.submit(fake_config(tmp_path / "d"))
    wait_until(lambda: service.job(fourth).state is JobState.RUNNING)
    assert service.job(third).state is JobState.RUNNING


def test_a_killed_training_is_resumed_under_its_number(service: TrainingService, store: Store, tmp_path: Path) -> None:
    number = service.submit(fake_config(tmp_path / "a", checkpoint_every=20))
    job = service.job(number)
    wait_until(lambda: job.metrics.get("step", 0) > 100)
    assert job.pid > 0  # 0 would mean all processes of the group
    os.kill(job.pid, signal.SIGKILL)
    assert job.wait(PATIENCE_S)
    wait_until(lambda: "SIGKILL" in store.trainings.get(number).message)
    assert store.trainings.get(number).state == "interrupted"
    again = service.go_on_in(tmp_path / "a", steps=150)
    assert again == number
    assert service.job(again).wait(PATIENCE_S)
    wait_until(lambda: store.trainings.get(number).state == "finished")
    row = store.trainings.get(number)
    assert (row.steps, row.message) == (150, "")
    assert store.trainings.curve(number, "return_mean").step.tolist() == list(range(1, 151))


def test_after_one_that_cannot_start_the_next_runs(service: TrainingService, store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    wrong = service.submit(fake_config(tmp_path / "file" / "inside"))
    right = service.submit(fake_config(tmp_path / "b", steps=10))
    assert service.job(right).wait(PATIENCE_S)
    assert service.job(wrong).state is JobState.FAILED
    wait_until(lambda: store.trainings.get(wrong).state == "failed")
    assert "Not a directory" in store.trainings.get(wrong).message


def test_two_trainings_in_one_folder_are_refused(service: TrainingService, tmp_path: Path) -> None:
    service.submit(fake_config(tmp_path / "a"))
    with pytest.raises(TrainingError, match=r"is in .* already"):
        service.submit(fake_config(tmp_path / "a"))
    with pytest.raises(TrainingError, match="unknown training 99"):
        service.job(99)
    with pytest.raises(TrainingError, match="not a folder of a training"):
        service.go_on_in(tmp_path / "none")


def test_closing_stops_what_runs_with_a_checkpoint_and_calls_off_what_waits(store: Store, tmp_path: Path) -> None:
    with TrainingService(store, limit=1, trainer=TRAINER) as service:
        runs, waits = service.submit(fake_config(tmp_path / "a")), service.submit(fake_config(tmp_path / "b"))
        wait_until(lambda: service.job(runs).metrics.get("step", 0) > 5)
    assert [store.trainings.get(number).state for number in (runs, waits)] == ["stopped", "stopped"]
    assert list((tmp_path / "a").glob("checkpoint-*.json"))
    with pytest.raises(TrainingError, match="closing"):
        service.submit(fake_config(tmp_path / "c"))


def test_trainings_kept_in_the_background_are_found_and_attached_to_later(store: Store, tmp_path: Path) -> None:
    before = TrainingService(store, limit=1, trainer=TRAINER)
    number = before.submit(fake_config(tmp_path / "a"))
    wait_until(lambda: before.job(number).metrics.get("step", 0) > 5)
    assert before.close(keep=True) == []
    process = present(living_process(tmp_path / "a"))
    reached = store.trainings.get(number).steps
    with TrainingService(store, limit=1, trainer=TRAINER) as later:
        assert later.go_on_in(tmp_path / "a") == number
        assert later.job(number).pid == process.pid
        wait_until(lambda: store.trainings.get(number).steps > reached + 10)
    assert living_process(tmp_path / "a") is not None  # it belongs to another service, which alone may stop it
    TrainingJob.attach(tmp_path / "a").stop()
    wait_until(lambda: living_process(tmp_path / "a") is None)
    sync_all(store)
    assert store.trainings.get(number).state == "stopped"


def test_what_nobody_watched_is_in_the_store_once_somebody_looks(store: Store, tmp_path: Path) -> None:
    job = TrainingJob(fake_config(tmp_path / "a", steps=30), trainer=TRAINER)
    number = list_training(store, job.config)
    job.start()
    assert job.wait(PATIENCE_S)
    assert store.trainings.get(number).steps == 0
    for _ in range(2):
        sync_all(store)
        row = store.trainings.get(number)
        assert (row.steps, row.state) == (30, "finished")
        assert len(store.trainings.curve(number, "return_mean")) == 30


def test_a_store_that_fails_catches_up_later(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TrainingService(store, limit=1, trainer=TRAINER) as service:
        number = service.submit(fake_config(tmp_path / "a", steps=100, step_s=0.005))
        with monkeypatch.context() as patch:
            patch.setattr("subflow_store.trainings.TrainingStore.append", raising(StoreFull("no space left to write")))
            wait_until(lambda: service.served()[0].store_error is not None)
        assert service.job(number).wait(PATIENCE_S)
        assert service.job(number).state is JobState.FINISHED
        wait_until(lambda: store.trainings.get(number).state == "finished")
        assert service.served()[0].store_error is None
    assert len(store.trainings.curve(number, "return_mean")) == 100


def test_figures_of_an_evaluation_are_read_as_far_as_they_are_there() -> None:
    assert evaluation_figures(evaluation(5))[0] == EvaluationFigure(5, "fake", "goodput_bps", 5e6, 1e5, 3)
    assert evaluation_figures(evaluation(5))[1] == EvaluationFigure(5, "fake", "score", 5.0, None, 1)
    assert evaluation_figures({"step": 5}) == []
