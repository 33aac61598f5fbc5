"""The mean of a curve: weighted by time, over a stated interval, without gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subflow_app.vocabulary.means import time_mean

TIMES = np.array([1.0, 2.0, 3.0, 4.0])


def test_samples_count_for_the_time_since_the_one_before() -> None:
    # 10 for 1 s, 20 for 3 s, 60 for 1 s.
    assert time_mean(np.array([1.0, 4.0, 5.0]), np.array([10.0, 20.0, 60.0]), from_s=0.0) == pytest.approx(130 / 5)


def test_an_interval_takes_parts_of_samples() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    # Half of the second sample, all of the third, and a quarter of the fourth.
    assert time_mean(TIMES, values, 1.5, 3.25) == pytest.approx((0.5 * 2 + 3 + 0.25 * 4) / 1.75)


def test_gaps_count_for_nothing() -> None:
    assert time_mean(TIMES, np.array([math.nan, 2.0, math.inf, 4.0])) == pytest.approx(3.0)
    assert math.isnan(time_mean(TIMES, np.full(4, math.nan)))


def test_nothing_has_no_mean_and_one_sample_is_its_own() -> None:
    assert math.isnan(time_mean(np.empty(0), np.empty(0)))
    assert time_mean(np.array([2.0]), np.array([5.0])) == 5.0
    assert math.isnan(time_mean(TIMES, np.ones(4), from_s=4.0))


def test_samples_of_one_instant_count_alike() -> None:
    assert time_mean(np.array([3.0, 3.0]), np.array([1.0, 2.0])) == pytest.approx(1.5)


def test_curves_that_are_still_growing_have_the_mean_of_what_is_there() -> None:
    assert time_mean(TIMES, np.array([2.0, 4.0])) == pytest.approx(3.0)
