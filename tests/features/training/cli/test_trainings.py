"""The command ``subflow trainings``: the list, one training, and orders to running trainings of any program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.fake_agent import TRAINER, fake_config
from tests.helpers.members import for_each

from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_record import list_training
from subflow_app.foundation.jobs.progress import JobState
from subflow_store import open_store

PATIENCE_S = 30.0


@pytest.fixture
def job(tmp_path: Path, database: Path) -> Iterator[TrainingJob]:
    """Training 1, which runs without a watching program."""
    made = TrainingJob(fake_config(tmp_path / "run", steps=10**6), trainer=TRAINER)
    with open_store(database) as store:
        list_training(store, made.config, name="Runs")
    made.start()
    assert made.wait(PATIENCE_S, until=lambda: bool(made.metrics))
    yield made
    made.stop()
    assert made.wait(PATIENCE_S)


@pytest.fixture
def over(tmp_path: Path, database: Path) -> TrainingJob:
    """Training 1, which has ended, while the store does not contain its end yet."""
    made = TrainingJob(fake_config(tmp_path / "over", steps=60), trainer=TRAINER)
    with open_store(database) as store:
        list_training(store, made.config, name="Over")
    made.start()
    assert made.wait(PATIENCE_S)
    return made


def test_the_list_is_up_to_date_with_what_nobody_watched(subflow: Subflow, database: Path, over: TrainingJob) -> None:
    answer = subflow("trainings", "--db", database).check()
    assert "Over" in answer.out
    assert "finished" in answer.out
    document = subflow("trainings", "--db", database, "--json").document
    assert [(each["training_id"], each["state"], each["steps"]) for each in document] == [(1, "finished", 60)]
    assert subflow("trainings", "--db", database, "--state", "running", "--json").document == []


def test_one_training_is_shown_with_its_latest_figures(subflow: Subflow, database: Path, over: TrainingJob) -> None:
    answer = subflow("trainings", "show", "last", "--db", database).check()
    assert "training 1: Over" in answer.out
    assert "fake on Two paths, seed 7" in answer.out
    assert str(over.folder) in answer.out
    document = subflow("trainings", "show", 1, "--db", database, "--json").document
    assert document["metrics"]["return_mean"] == -1 / 60
    assert document["config"]["steps"] == 60
    assert document["evaluations"] == []


def test_a_running_one_obeys_from_another_terminal(subflow: Subflow, database: Path, job: TrainingJob) -> None:
    def tell(command: str) -> None:
        subflow("trainings", command, 1, "--db", database).check()

    tell("pause")
    assert job.wait(PATIENCE_S, until=lambda: job.state is JobState.PAUSED)
    assert subflow("trainings", "--db", database, "--json").document[0]["state"] == "paused"
    tell("resume")
    assert job.wait(PATIENCE_S, until=lambda: job.state is JobState.RUNNING)
    tell("checkpoint")
    tell("evaluate")
    assert job.wait(PATIENCE_S, until=lambda: (job.folder / "best.safetensors").exists())
    tell("stop")
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.STOPPED
    shown = subflow("trainings", "show", 1, "--db", database)
    assert "olia" in shown.out
    assert "best policy: step" in shown.out
    subflow("trainings", "pause", 1, "--db", database).check_refusal(
        f"training 1 is not running; `subflow train --resume {job.folder}`"
    )


def test_names_notes_and_removal(subflow: Subflow, database: Path, over: TrainingJob) -> None:
    assert subflow("trainings", "rename", 1, "Kept", "--db", database).code == 0
    assert subflow("trainings", "note", 1, "for the paper", "--db", database).code == 0
    assert "for the paper" in subflow("trainings", "show", 1, "--db", database).out
    assert subflow("trainings", "delete", 1, "--files", "--db", database).code == 0
    assert not over.folder.exists()
    assert "no trainings yet" in subflow("trainings", "--db", database).out


def test_a_running_training_stays(subflow: Subflow, database: Path, job: TrainingJob, tmp_path: Path) -> None:
    subflow("trainings", "delete", 1, "--db", database).check_refusal(
        "training 1 is running: `subflow trainings stop 1` first"
    )
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    with open_store(database) as store:
        number = list_training(store, fake_config(precious, steps=5))
    assert subflow("trainings", "delete", number, "--files", "--db", database).code == 0
    assert (precious / "thesis.txt").exists()


@for_each(
    ("words", "problem"),
    [
        (["show", "99"], "unknown training 99"),
        (["show", "x"], '"x" is not a training'),
        (["show", "last"], "no trainings yet"),
        (["--state", "asleep"], '--state = "asleep": must be one of waiting'),
        (["stop", "3"], "unknown training 3"),
    ],
)
def test_bad_input_is_refused(subflow: Subflow, database: Path, words: list[str], problem: str) -> None:
    open_store(database).close()
    subflow("trainings", *words, "--db", database).check_refusal(problem)
