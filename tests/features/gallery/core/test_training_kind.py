from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.features.gallery.core.tiny import carried_out, read_text
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.gallery.core import training_kind
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.results import Results
from subflow_app.features.gallery.core.training_kind import TrainingCurve, TrainingKind, common_level, wanted_trainings
from subflow_app.features.training.core import kept_trainings
from subflow_app.foundation.errors import RecipeError, TrainingError
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_store import Store

RECIPE = """
format = 1
paper = "rl-explore"
figure = "2"
title = "Two agents learn"
claim = "One learns."
kind = "training"
scenario = "rlx-fixed"
seeds = "2"
panels = [{ form = "trace", measure = "reward" }]
checks = [{ says = "Learning pays", holds = "reward('Long') > 2 * reward('Short')" }]
set = { duration = "10s" }
training = { agent = "rl-explore", steps = 40, num_envs = 2, options = { gamma = 0.9 }, quick = { steps = 20 } }
measures = { reward = { of = "reward" }, steps = { of = "steps_to_reach" } }
[series]
Short = { training = { options = { history = 1 } } }
Long = { training = { options = { history = 8 }, steps = 60 }, set = { "links.data.delay" = "30ms" } }
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return read_text(tmp_path, RECIPE)


def test_curves_are_measured_kept_and_told_again_from_the_store(recipe: Recipe, tmp_path: Path) -> None:
    kind = TrainingKind("tests.helpers.fake_training")
    with Store(tmp_path / "one.db") as store:
        progress, results = carried_out(recipe, store, kind)
        assert (progress.fraction, progress.reused) == (1.0, 0)
        # The fake trainer's reward is -1 / step.
        assert results.cell("reward", "Short", "").mean == pytest.approx(-0.0277, abs=1e-3)
        assert results.cell("steps", "Long", "").n == 1
        assert present(results.trace("reward", "Long", "", 2))[0].tolist() == list(range(1, 61))
        assert [verdict.kind.is_met for verdict in results.verdicts()] == [True]

        progress, again = carried_out(recipe, store, kind)
        assert progress.reused == 2
        assert again.cell("reward", "Short", "") == results.cell("reward", "Short", "")


def test_a_series_adds_to_what_all_train_and_a_quick_run_to_both(recipe: Recipe) -> None:
    wanted = wanted_trainings(recipe, is_quick=False, seeds=(1, 2))
    quick = wanted_trainings(recipe, is_quick=True, seeds=(1,))

    long = wanted["Long", 2].request
    assert dict(long.options) == {"gamma": 0.9, "history": 8}
    assert (long.settings["steps"], long.settings["seed"], long.settings["deterministic"]) == (60, 2, True)
    assert set(long.overrides) == {'duration="10s"', 'links.data.delay="30ms"'}
    assert quick["Long", 1].request.settings["steps"] == 20


def test_without_pytorch_it_says_what_it_needs(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise TrainingError("training needs torch, which is not installed: pip install 'subflow-workbench[train]'")

    monkeypatch.setattr(kept_trainings, "check_torch", missing)
    monkeypatch.setattr(training_kind, "check_torch", missing)
    with Store(tmp_path / "one.db") as store:
        job = TrainingKind().job(recipe, store, is_quick=True, seeds=(1,), executor=executor_maker(1, None))
        job.run()
        assert job.progress.failed == job.progress.runs == 2
        assert "not measured: training needs torch" in job.problems[0]
        values = TrainingKind().stored(recipe, store, is_quick=True, seeds=(1,))
        (verdict,) = Results(recipe, values, is_quick=True, seeds=(1,)).verdicts()
    assert verdict.kind.value == "not measured"
    assert "training needs torch" in verdict.reason


@for_each(
    ("before", "after", "told"),
    [
        ('agent = "rl-explore", ', "", "agent is missing"),
        ('agent = "rl-explore"', 'agent = "rl-explorer"', 'unknown agent "rl-explorer"'),
        ("history = 8 }, steps", "history = 8 }, stepz", "stepz"),
        ("steps = 40", "steps = 0", "steps"),
        ("set = { dur", 'axis = { keys = ["duration"], values = ["5s"] }\nset = { dur', "has no axis"),
    ],
)
def test_what_cannot_be_trained_is_told_by_key(tmp_path: Path, before: str, after: str, told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        read_text(tmp_path, RECIPE.replace(before, after))


def curve(values: list[float], budget: float = 100.0) -> TrainingCurve:
    steps = np.linspace(budget / len(values), budget, len(values))
    return TrainingCurve.of_points(steps, np.array(values), budget)


def test_a_part_of_a_training_is_told_by_the_reports_that_fall_into_it() -> None:
    rising = curve([1.0, 2.0, 3.0, 4.0, 5.0])

    assert rising.mean(0.8, 1.0) == 5.0
    assert rising.mean(0.0, 0.4) == 1.5
    assert math.isnan(rising.mean(0.05, 0.1)), "no report falls into it"
    # The last report counts even if the environments exceed the budget.
    assert TrainingCurve.of_points(np.array([50.0, 103.0]), np.array([1.0, 9.0]), 100.0).mean(0.8, 1.0) == 9.0


def test_what_was_reported_twice_counts_as_the_training_that_went_on_has_it() -> None:
    steps = np.array([10.0, 20.0, 30.0, 20.0, 30.0])
    values = np.array([1.0, 2.0, -7.0, 2.5, math.nan])

    told = TrainingCurve.of_points(steps, values, 100.0)

    assert told.steps.tolist() == [10.0, 20.0, 30.0]
    assert told.values.tolist() == [1.0, 2.5, -7.0]


def test_the_steps_to_a_level_are_those_of_the_smoothed_curve_and_at_most_the_budget() -> None:
    # Twenty reports: a tenth of the budget is two reports, so the single peak does not count as convergence.
    values = [0.0, 0.0, 10.0, 0.0, 2.0, 4.0, 6.0, 8.0, *[10.0] * 12]

    told = curve(values)

    assert told.steps_to_reach(9.0) == pytest.approx(45.0)
    assert told.steps_to_reach(11.0) == 100.0
    assert math.isnan(told.steps_to_reach(math.nan))


def test_the_level_lies_between_the_lowest_beginning_and_the_best_end_of_all_series() -> None:
    curves = {"fast": [curve([0.0, 5.0, 5.0, 5.0, 5.0])], "slow": [curve([-1.0, 0.0, 1.0, 2.0, 3.0])]}

    assert [common_level(curves, share) for share in (0.0, 0.5, 1.0)] == [-1.0, 2.0, 5.0]
    assert math.isnan(common_level({"none": []}, 0.5))
