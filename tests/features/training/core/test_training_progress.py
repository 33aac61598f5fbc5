"""The comparison of a training, and the possible actions in each state."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.training.core.training_progress import (
    TRAINING_ACTIONS,
    Comparison,
    JobState,
    Training,
    possible,
    toggle_word,
)
from subflow_sim.stats import Estimate


def make_training(state: JobState, folder: Path | None = None) -> Training:
    return Training("1", "One", "drl-cc", "drl-cc", "demo", folder=folder, state=state)


@pytest.fixture
def with_policy(tmp_path: Path) -> Path:
    (tmp_path / "policy.safetensors").write_bytes(b"x")
    return tmp_path


def test_the_gain_is_over_the_best_classic_controller() -> None:
    classics = {"lia": Estimate(2e6), "olia": Estimate(2.5e6), "wvegas": Estimate(math.nan)}
    comparison = Comparison(100.0, 1.0, Estimate(5e6), classics)
    assert comparison.best_classic == "olia"
    assert comparison.gain == pytest.approx(2.0)


def test_without_classics_there_is_no_gain() -> None:
    comparison = Comparison(100.0, 1.0, Estimate(5e6))
    assert comparison.best_classic == ""
    assert math.isnan(comparison.gain)


@for_each(
    ("state", "can"),
    [
        (JobState.WAITING, {"stop"}),
        (JobState.STARTING, {"stop"}),
        (JobState.RUNNING, {"toggle", "stop", "checkpoint", "evaluate"}),
        (JobState.PAUSED, {"toggle", "stop", "checkpoint", "evaluate"}),
        (JobState.STOPPING, set()),
        (JobState.FINISHED, set()),
        (JobState.STOPPED, {"toggle"}),
        (JobState.FAILED, {"toggle"}),
        (JobState.INTERRUPTED, {"toggle"}),
    ],
)
def test_what_can_be_done_follows_from_the_state(state: JobState, can: set[str], with_policy: Path) -> None:
    assert possible([make_training(state)]) == can
    # A training with a policy can race, be promoted and be used, running or not.
    assert possible([make_training(state, with_policy)]) == can | {"race", "promote", "use"}
    assert can <= set(TRAINING_ACTIONS)


def test_of_several_only_what_all_of_them_can_and_never_a_race(with_policy: Path) -> None:
    trainings = [make_training(JobState.RUNNING, with_policy), make_training(JobState.WAITING, with_policy)]
    assert possible(trainings) == {"stop"}
    assert possible([]) == frozenset()


@for_each(
    ("states", "word"),
    [
        ([JobState.RUNNING], "&Pause"),
        ([JobState.RUNNING, JobState.PAUSED], "&Pause"),
        ([JobState.PAUSED, JobState.PAUSED], "&Resume"),
        ([JobState.STOPPED, JobState.INTERRUPTED], "&Continue"),
        ([], "&Pause"),
    ],
)
def test_one_action_pauses_resumes_and_continues(states: list[JobState], word: str) -> None:
    assert toggle_word([make_training(state) for state in states]) == word


def test_the_best_policy_is_the_newest_one_until_one_was_evaluated(with_policy: Path) -> None:
    training = make_training(JobState.RUNNING, with_policy)
    assert training.policy_path == training.best_policy_path == with_policy / "policy.safetensors"
    (with_policy / "best.safetensors").write_bytes(b"y")
    assert training.best_policy_path == with_policy / "best.safetensors"
    assert make_training(JobState.RUNNING).policy_path is None
