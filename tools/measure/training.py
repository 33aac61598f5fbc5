"""Response times of a training, and durations of recipes: measurements beyond the core's part of learning.

A recipe takes minutes, so it is trained only if its name is given; otherwise the card of its policy supplies the
duration of the original training.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.measure.learning import LearningFigure

from subflow_agents import Command, ReportKind, TrainingConfig
from subflow_app.features.policies.core import card_of
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_setup import (
    TrainingRequest,
    check_torch,
    load_recipe,
    prepare,
    recipe_names,
    request_of,
)
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.json_document import number
from subflow_sim.policy_library import PolicyLibrary, shipped_policies

RECIPE_PREFIX = "recipe:"

ANSWERS = ("pause", "checkpoint")
"""Commands to a training whose response times are measured."""

TARGET_MINUTES: Mapping[str, float] = {"drl-cc": 4, "dql-mptcp": 3, "rl-explore": 4, "ddpg-mpcc": 15}
"""Limits of recipes on two cores in minutes; other recipes state their limits."""

_TIMES = 5
_PATIENCE_S = 120.0
_PAUSE_S, _CHECKPOINT_S = 0.1, 0.2
# The number of steps is never reached: the training ends after the measurements.
_SETTINGS = {"steps": 10**9, "num_envs": 4, "evaluation_every": 0, "checkpoint_minutes": 1e3}
_LEARNED = 1000


def figure_names() -> tuple[str, ...]:
    """Names of the figures that this module measures."""
    return (*ANSWERS, *(f"{RECIPE_PREFIX}{name}" for name in recipe_names()))


def measure(name: str) -> LearningFigure:
    """Measure one of `figure_names`.

    Raises:
        TrainingError: if training is impossible on this system, or fails.
    """
    check_torch()
    return measure_recipe(name.removeprefix(RECIPE_PREFIX)) if name.startswith(RECIPE_PREFIX) else measure_answer(name)


def measure_answer(name: str, trainer: str | None = None) -> LearningFigure:
    """Median response time of DRL-CC while it learns on its scenario 1.

    Args:
        name: "pause" or "checkpoint".
        trainer: module of the training process; None for the real one.

    Raises:
        TrainingError: if the training fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = prepare(TrainingRequest("drl-cc", "drlcc-sc1", settings=_SETTINGS), Path(folder, "training"))
        job = TrainingJob(config) if trainer is None else TrainingJob(config, trainer=trainer)
        job.start()
        try:
            _wait(job, lambda: job.metrics.get("step", 0) >= _LEARNED)
            times = [_pause_s(job) if name == "pause" else _checkpoint_s(job) for _ in range(_TIMES)]
        finally:
            job.kill()
            job.wait(_PATIENCE_S)
    limit_s = _PAUSE_S if name == "pause" else _CHECKPOINT_S
    text = f"from the command {name} until its report: DRL-CC, {_LEARNED} decisions after its start"
    return LearningFigure(name, text, 1e3 * statistics.median(times), "ms", 1e3 * limit_s, is_limit=True)


def measure_recipe(name: str) -> LearningFigure:
    """Train a recipe and measure the duration.

    Raises:
        TrainingError: if the training does not finish.
        InputError: if no such recipe exists.
    """
    recipe = load_recipe(name)
    with tempfile.TemporaryDirectory() as folder:
        config: TrainingConfig = prepare(request_of(recipe), Path(folder, "training"))
        job = TrainingJob(config)
        started = time.monotonic()
        job.start()
        try:
            job.wait()
        except BaseException:
            job.kill()
            job.wait(_PATIENCE_S)
            raise
        taken_s = time.monotonic() - started
        if job.state is not JobState.FINISHED:
            raise TrainingError(f"the recipe {name} was not trained to its end: {job.message or job.state.value}")
    return _recipe_figure(name, taken_s / 60, "training it from its recipe, evaluations included")


def recipe_on_card(name: str) -> LearningFigure | None:
    """Duration of a recipe when its shipped policy was made; None without a policy or an entry on its card."""
    minutes = number(card_of(PolicyLibrary((shipped_policies(),)), name).get("minutes"))
    if math.isnan(minutes):
        return None
    return _recipe_figure(name, minutes, "training it took so long when it was made, by its card")


def recipes_on_cards() -> list[LearningFigure]:
    """Durations of the recipes with shipped policies, from their cards."""
    return [figure for name in recipe_names() if (figure := recipe_on_card(name)) is not None]


def _recipe_figure(name: str, minutes: float, text: str) -> LearningFigure:
    expected_s = load_recipe(name).expected_s
    limit = TARGET_MINUTES.get(name) or (math.inf if expected_s is None else expected_s / 60)
    return LearningFigure(f"{RECIPE_PREFIX}{name}", text, minutes, "min", limit, is_limit=True)


def _pause_s(job: TrainingJob) -> float:
    asked = time.perf_counter()
    job.tell(Command.PAUSE)
    _wait(job, lambda: job.state is JobState.PAUSED)
    taken_s = time.perf_counter() - asked
    job.tell(Command.RESUME)
    _wait(job, lambda: job.state is JobState.RUNNING)
    return taken_s


def _checkpoint_s(job: TrainingJob) -> float:
    before = job.last(ReportKind.CHECKPOINT)
    asked = time.perf_counter()
    job.tell(Command.CHECKPOINT)
    _wait(job, lambda: job.last(ReportKind.CHECKPOINT) != before)
    return time.perf_counter() - asked


def _wait(job: TrainingJob, until: Callable[[], bool]) -> None:
    if not job.wait(_PATIENCE_S, until=until):
        raise TrainingError(f"the training does not answer: {job.message or job.state.value}")
