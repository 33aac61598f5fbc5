"""Welch's t against the numbers of a textbook, an independent computation and a permutation test."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from tests.helpers.members import for_each

from subflow_sim.stats import Estimate, paired, stars, t_quantile, t_tail, welch, with_holm

# Known data and answers: example 3 of Wikipedia's article on Welch's t-test, unequal variances and sizes.
SMALL = [17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8]
LARGE = [
    21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8,
    20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8,
]  # fmt: skip


def test_welch_gives_the_numbers_of_the_published_example() -> None:
    # Published: means 20.6 and 22.1, t = 1.57, 9.9 degrees of freedom, p = 0.149.
    tested = welch(LARGE, SMALL)
    assert Estimate.of(SMALL).mean == pytest.approx(20.61)
    assert tested.t == pytest.approx(1.57, abs=0.01)
    assert tested.freedom == pytest.approx(9.90, abs=0.05)
    assert tested.p == pytest.approx(0.149, abs=0.001)


def test_welch_agrees_with_scipy() -> None:
    from scipy import stats

    theirs = stats.ttest_ind(LARGE, SMALL, equal_var=False)
    ours = welch(LARGE, SMALL)
    interval = theirs.confidence_interval()
    assert (ours.t, ours.p, ours.freedom) == pytest.approx((theirs.statistic, theirs.pvalue, theirs.df), rel=1e-12)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-12)
    assert ours.low <= ours.value <= ours.high


def test_p_is_about_the_share_of_permutations_that_differ_as_much() -> None:
    first, second = [5.1, 5.4, 4.9, 5.8, 5.2], [5.6, 6.1, 5.5, 6.0, 5.9]
    observed = abs(sum(first) / 5 - sum(second) / 5)
    everything = first + second
    differences = []
    for chosen in itertools.combinations(range(10), 5):
        ours = sum(everything[place] for place in chosen)
        differences.append(abs(ours / 5 - (sum(everything) - ours) / 5))
    share = sum(each >= observed - 1e-12 for each in differences) / len(differences)
    assert welch(first, second).p == pytest.approx(share, abs=0.02)


def test_where_nothing_differs_one_test_in_twenty_is_wrong() -> None:
    dice = random.Random(1)
    draws = [[[dice.gauss(10, 1) for _ in range(5)], [dice.gauss(10, 3) for _ in range(8)]] for _ in range(2000)]
    false = sum(welch(first, second).p < 0.05 for first, second in draws)
    assert 0.035 * 2000 < false < 0.065 * 2000


def test_the_paired_test_is_that_of_scipy_and_sees_what_luck_hides() -> None:
    from scipy import stats

    luck = [1.0, 9.0, 4.0, 16.0, 7.0]
    ours, theirs = [each + 0.5 + 0.01 * k for k, each in enumerate(luck)], luck
    tested = paired(ours, theirs)
    known = stats.ttest_rel(ours, theirs)
    assert (tested.t, tested.p, tested.freedom) == pytest.approx((known.statistic, known.pvalue, known.df))
    assert tested.p < 0.001
    assert welch(ours, theirs).p > 0.8


@pytest.mark.parametrize(
    ("values", "reference", "reason"),
    [([], [1.0, 2.0], "nothing"), ([1.0], [1.0, 2.0], "one seed"), ([2.0, 2.0], [1.0, 1.0], "no spread")],
)
def test_without_a_test_the_reason_is_told(values: list[float], reference: list[float], reason: str) -> None:
    tested = welch(values, reference)
    assert tested.reason == reason
    assert not tested.is_tested
    if values:
        assert tested.value == 1.0 or tested.value == -0.5


def test_pairs_that_all_differ_alike_are_not_tested() -> None:
    assert paired([2.0, 3.0, 4.0], [1.0, 2.0, 3.0]).reason == "no spread"
    assert paired([2.0], [1.0]).reason == "one pair"
    assert paired([], []).reason == "no pairs"


def test_holm_multiplies_the_least_p_by_the_number_of_tests() -> None:
    tests = [welch([1.0, 2.0, 3.0], [4.0, 5.0, 6.5]), welch([1.0], [2.0, 3.0]), welch([1.0, 2.0, 3.0], [1.5, 2.5, 3.0])]
    corrected = with_holm(tests)
    assert corrected[0].p_holm == pytest.approx(2 * tests[0].p)
    assert corrected[2].p_holm == pytest.approx(tests[2].p)  # the last is multiplied by 1
    assert math.isnan(corrected[1].p_holm)
    assert corrected[0].p == tests[0].p


def test_holm_keeps_the_order_of_p() -> None:
    tests = [welch([1.0, 2.0, 3.0], [2.0, 3.2, 3.9 + shift]) for shift in (0.0, 0.01, 0.02)]
    corrected = with_holm(tests)
    by_p = sorted(range(3), key=lambda k: tests[k].p)
    assert by_p == sorted(range(3), key=lambda k: (corrected[k].p_holm, tests[k].p))
    assert all(each.p_holm >= each.p for each in corrected)


def test_stars_say_what_they_say_everywhere() -> None:
    assert [stars(p) for p in (0.0005, 0.005, 0.04, 0.05, 0.5)] == ["***", "**", "*", "", ""]


def test_the_interval_of_a_mean_is_students() -> None:
    # 1, 2, 3: variance 1, t(0.975, 2) = 4.30265, half = 4.30265 / sqrt(3)
    found = Estimate.of([1.0, math.nan, 2.0, 3.0, math.inf])
    assert (found.n, found.mean) == (3, 2.0)
    assert found.ci95 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert (found.low, found.high) == (2.0 - found.ci95, 2.0 + found.ci95)
    assert len(found.values) == 5
    assert math.isnan(Estimate.of([1.0]).ci95)
    assert math.isnan(Estimate.of([]).mean)
    assert Estimate.of([1.0, math.nan]).to_json() == {"mean": 1.0, "ci95": None, "values": [1.0, None]}


@for_each("freedom", [0.5, 1, 1.3, 2, 2.7, 3, 5, 9.9, 30, 31, 99, 365.25, 1e4])
def test_students_t_is_that_of_scipy(freedom: float) -> None:
    from scipy.special import stdtr, stdtrit

    assert t_quantile(freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), rel=1e-11)
    for t in (0.1, 1.0, 2.0, 5.0, 30.0, 1e4):
        assert t_tail(t, freedom) == pytest.approx(2 * float(stdtr(freedom, -t)), rel=1e-10)
