"""The trainings of the program: started by an order, followed by their reports, found again by the next session."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.fake_agent import TRAINER, fake_config, register_fake_agent
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_agents import Command, OptionSpec
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_draft import DOCUMENT, DocumentText, TrainingOrder
from subflow_app.features.training.core.training_progress import Training
from subflow_app.features.training.core.training_record import evaluation_figures
from subflow_app.features.training.core.trainings import Trainings, _comparison, _comparisons, _param
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.paths import trainings_directory
from subflow_sim.errors import ScenarioError
from subflow_sim.params import Dimension
from subflow_store import Store

PATIENCE_S = 60.0
HERE = DocumentText("Two paths", TWO_PATHS)


@pytest.fixture(autouse=True)
def _fake_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    register_fake_agent(monkeypatch)


@pytest.fixture
def desk(store: Store) -> Iterator[Trainings]:
    made = Trainings(store, limit=2, trainer=TRAINER)
    yield made
    made.stop_all()
    wait(made, lambda: not made.is_busy)
    made.close()


def order(**changes: Any) -> TrainingOrder:
    values: dict[str, Any] = {
        "agent": "fake",
        "recipe": "",
        "scenario": DOCUMENT,
        "minutes": None,
        "steps": 100_000,
        "seed": 3,
        "num_envs": 2,
        "evaluation_every": 0,
        "deterministic": False,
        "options": {},
    }
    return TrainingOrder(**(values | changes))


def wait(desk: Trainings, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, [(each.state, each.message) for each in desk.trainings()]
        desk.poll()
        time.sleep(0.02)


def job_of(desk: Trainings, training: Training) -> TrainingJob:
    return desk.job(int(training.id))


def started(desk: Trainings, **changes: Any) -> Training:
    training = desk.start(order(**changes), HERE)
    wait(desk, lambda: training.log.latest("step") > 3)
    return training


def test_an_order_becomes_a_training_that_is_followed(desk: Trainings, store: Store) -> None:
    training = desk.start(order(), HERE)
    assert desk.trainings() == [training]
    assert (training.name, training.controller) == ("fake on Two paths, seed 3", "drl-cc")
    assert training.budget == "100 000 decisions"
    assert present(training.folder).parent == trainings_directory()

    wait(desk, lambda: training.state is JobState.RUNNING and training.log.latest("step") > 10)

    assert training.fraction == pytest.approx(training.log.latest("step") / 100_000)
    assert desk.is_busy
    steps = training.log.values("step")
    np.testing.assert_array_equal(steps, np.arange(1, len(steps) + 1))
    assert store.trainings.get(int(training.id)).name == training.name


def test_pause_resume_and_stop_are_obeyed(desk: Trainings) -> None:
    training = started(desk)
    desk.tell(training, Command.PAUSE)
    wait(desk, lambda: training.state is JobState.PAUSED)
    held = len(training.log)
    desk.poll()
    assert len(training.log) == held
    desk.tell(training, Command.RESUME)
    wait(desk, lambda: len(training.log) > held)
    desk.tell(training, Command.STOP)
    wait(desk, lambda: training.state is JobState.STOPPED)
    assert not desk.is_busy
    with pytest.raises(TrainingError, match="has ended"):
        desk.tell(training, Command.PAUSE)


def test_an_evaluation_is_compared_with_the_classics(desk: Trainings) -> None:
    training = started(desk)
    desk.tell(training, Command.EVALUATE)
    wait(desk, lambda: training.comparison is not None)
    comparison = present(training.comparison)
    assert comparison.best_classic == "olia"
    assert comparison.goodput_bps.mean == comparison.step * 1e6
    assert comparison.goodput_bps.high - comparison.goodput_bps.mean == pytest.approx(1e5)
    assert comparison.gain == pytest.approx(comparison.step)


def test_a_killed_training_goes_on_from_its_checkpoint_and_its_curve_with_it(desk: Trainings, store: Store) -> None:
    training = started(desk, options={"checkpoint_every": 20})
    wait(desk, lambda: training.log.latest("step") > 30)
    os.kill(store.trainings.get(int(training.id)).process_pid or job_of(desk, training).pid, signal.SIGKILL)
    wait(desk, lambda: training.state is JobState.INTERRUPTED)
    assert "killed" in training.message
    reached = training.log.latest("step")

    desk.go_on(training)
    wait(desk, lambda: training.log.latest("step") > reached)

    assert desk.trainings() == [training]
    steps = training.log.values("step")
    assert (np.diff(steps) > 0).all()


def test_the_next_session_lists_what_there_was_with_its_curves(store: Store) -> None:
    first = Trainings(store, limit=1, trainer=TRAINER)
    training = first.start(order(steps=60), HERE)
    wait(first, lambda: training.log.latest("step") > 3)
    first.tell(training, Command.EVALUATE)
    wait(first, lambda: training.state is JobState.FINISHED)
    first.close()

    second = Trainings(store, trainer=TRAINER)
    (again,) = second.trainings()

    assert (again.name, again.state, again.fraction) == (training.name, JobState.FINISHED, 1.0)
    assert len(again.log) == 0
    second.load_log(again)
    second.load_log(again)  # once is enough
    np.testing.assert_array_equal(again.log.values("step"), np.arange(1.0, 61.0))
    assert [(each.step, each.best_classic) for each in again.comparisons] == [
        (each.step, "olia") for each in training.comparisons
    ]
    second.close()


def test_a_training_that_went_on_without_the_window_is_attached_to(store: Store) -> None:
    first = Trainings(store, limit=1, trainer=TRAINER)
    training = first.start(order(), HERE)
    wait(first, lambda: training.log.latest("step") > 3)
    first.leave_running()
    first.close()
    assert store.trainings.get(int(training.id)).state == "running"

    second = Trainings(store, trainer=TRAINER)
    (again,) = second.trainings()
    reached = again.log.latest("step")
    wait(second, lambda: again.state is JobState.RUNNING and not again.log.latest("step") <= reached)
    np.testing.assert_array_equal(again.log.values("step"), np.arange(1.0, len(again.log) + 1))
    second.tell(again, Command.STOP)
    wait(second, lambda: again.state is JobState.STOPPED)
    second.close()


def test_closing_stops_what_was_not_to_be_left_running(store: Store) -> None:
    desk = Trainings(store, limit=1, trainer=TRAINER)
    training = desk.start(order(), HERE)
    wait(desk, lambda: training.log.latest("step") > 3)
    job = job_of(desk, training)
    begun = time.monotonic()
    desk.close()
    assert time.monotonic() - begun < 5.0
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.STOPPED


def test_what_lacks_paths_or_is_no_scenario_is_refused_and_leaves_no_folder(desk: Trainings) -> None:
    one_path = TWO_PATHS.replace('paths = [["wifi"], ["lte"]]', 'paths = [["wifi"]]')
    with pytest.raises(InputError, match="2 paths"):
        desk.start(order(), DocumentText("One path", one_path))
    with pytest.raises(ScenarioError):
        desk.start(order(), DocumentText("Broken", TWO_PATHS.replace("8Mbit/s", "8 apples")))
    with pytest.raises(InputError, match="gamma"):
        desk.start(order(options={"gamma": 7.0}), HERE)
    assert desk.trainings() == []
    assert not trainings_directory().exists() or not list(trainings_directory().iterdir())


def test_without_a_store_trainings_are_kept_by_their_folders_alone() -> None:
    desk = Trainings(None, limit=1, trainer=TRAINER)
    training = desk.start(order(steps=20), HERE)
    wait(desk, lambda: training.state is JobState.FINISHED)
    assert len(training.log) == 20
    desk.close()


def test_a_training_needs_a_policy_to_be_looked_at_or_promoted(desk: Trainings) -> None:
    training = started(desk)
    with pytest.raises(TrainingError, match="no policy yet"):
        desk.observe(training)
    with pytest.raises(TrainingError, match="no policy yet"):
        desk.promote(training, "mine", "")


def test_a_shipped_distribution_is_known_as_one(desk: Trainings) -> None:
    assert "[training" in desk.scenario_text("train-lossy-paths")
    assert desk.scenario_text("/nowhere/at-all.toml") == ""
    assert desk.scenario_text(DocumentText("", "[training]\n")) == "[training]\n"


def test_the_form_offers_every_agent_with_its_options(desk: Trainings) -> None:
    choices = desk.choices()
    fake = next(each for each in choices.agents if each.name == "fake")
    assert [option.key for option in fake.options] == ["gamma", "checkpoint_every", "fail_at"]
    assert "drlcc-sc1" in choices.scenarios
    assert {recipe.agent for recipe in choices.recipes} <= {each.name for each in choices.agents}


@for_each(
    ("spec", "dimension", "text"),
    [
        (OptionSpec("a", "number", 0.5, "Help.", "paper", "s", 0.0, 1.0), Dimension.TIME, "0.5s"),
        (OptionSpec("a", "number", 0.5, "Help.", "paper", "1", 0.0, 1.0), Dimension.NUMBER, "0.5"),
        (OptionSpec("a", "integer", 7, "Help.", "paper", "1", 1, 10), Dimension.COUNT, "7"),
        (OptionSpec("a", "flag", True, "Help.", "paper"), Dimension.FLAG, "true"),
        (OptionSpec("a", "choice", "x", "Help.", "paper", choices=("x", "y")), Dimension.CHOICE, "x"),
    ],
)
def test_an_option_of_an_agent_is_a_parameter_of_the_form(spec: OptionSpec, dimension: Dimension, text: str) -> None:
    param = _param(spec)
    assert param.dimension is dimension
    assert param.format(spec.default) == text
    assert param.read(spec.default) == spec.default
    assert param.help == "Help. (paper)"
    assert param.allowed_text()


def test_a_stored_evaluation_has_the_figures_and_the_reward_of_the_report() -> None:
    def figure(mean: float) -> dict[str, Any]:
        return {"mean": mean, "ci95": 0.1, "values": [mean]}

    agent = {"label": "fake", "is_baseline": False, "goodput_bps": figure(2e6), "rtt_s": figure(0.05)}
    reward = {"reward": figure(-1.0), "goodput": figure(0.5), "delay": figure(-0.5), "loss": figure(-1.0)}
    classic = {"label": "olia", "is_baseline": True, "goodput_bps": figure(1e6), "reward": {}}
    report = {"step": 10, "controllers": [{**agent, "reward": reward}, classic]}
    training = Training("1", "One", "fake", "drl-cc", "demo")

    told = present(_comparison(report, training))
    (stored,) = _comparisons(evaluation_figures(report), fake_config(Path()), training)

    assert told.reward == stored.reward == {"reward": -1.0, "goodput": 0.5, "delay": -0.5, "loss": -1.0}
    assert told.figures["fake"]["rtt_s"].mean == stored.figures["fake"]["rtt_s"].mean == 0.05
    assert told.gain == stored.gain == 2.0
