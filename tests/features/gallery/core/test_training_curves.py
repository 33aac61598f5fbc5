from __future__ import annotations

import math

import numpy as np
import pytest

from subflow_app.features.gallery.core.training_kind import TrainingCurve, common_level


def curve(values: list[float], budget: float = 100.0) -> TrainingCurve:
    steps = np.linspace(budget / len(values), budget, len(values))
    return TrainingCurve.of_points(steps, np.array(values), budget)


def test_a_part_of_a_training_is_told_by_the_reports_that_fall_into_it() -> None:
    rising = curve([1.0, 2.0, 3.0, 4.0, 5.0])

    assert rising.mean(0.8, 1.0) == 5.0
    assert rising.mean(0.0, 0.4) == 1.5
    assert math.isnan(rising.mean(0.05, 0.1)), "no report falls into it"
    # The last report counts even where the environments overshoot the budget.
    assert TrainingCurve.of_points(np.array([50.0, 103.0]), np.array([1.0, 9.0]), 100.0).mean(0.8, 1.0) == 9.0


def test_what_was_reported_twice_counts_as_the_training_that_went_on_has_it() -> None:
    steps = np.array([10.0, 20.0, 30.0, 20.0, 30.0])
    values = np.array([1.0, 2.0, -7.0, 2.5, math.nan])

    told = TrainingCurve.of_points(steps, values, 100.0)

    assert told.steps.tolist() == [10.0, 20.0, 30.0]
    assert told.values.tolist() == [1.0, 2.5, -7.0]


def test_the_steps_to_a_level_are_those_of_the_smoothed_curve_and_at_most_the_budget() -> None:
    # Twenty reports: a tenth of the budget are two of them, so the single peak is not an arrival.
    values = [0.0, 0.0, 10.0, 0.0, 2.0, 4.0, 6.0, 8.0, *[10.0] * 12]

    told = curve(values)

    assert told.steps_to_reach(9.0) == pytest.approx(45.0)
    assert told.steps_to_reach(11.0) == 100.0
    assert math.isnan(told.steps_to_reach(math.nan))


def test_the_level_lies_between_the_lowest_beginning_and_the_best_end_of_all_series() -> None:
    curves = {"fast": [curve([0.0, 5.0, 5.0, 5.0, 5.0])], "slow": [curve([-1.0, 0.0, 1.0, 2.0, 3.0])]}

    assert [common_level(curves, share) for share in (0.0, 0.5, 1.0)] == [-1.0, 2.0, 5.0]
    assert math.isnan(common_level({"none": []}, 0.5))
