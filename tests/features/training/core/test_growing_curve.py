"""A curve of any length is drawn from few points, without losing visible details."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subflow_app.features.training.core.training_metrics import GrowingCurve

COUNT = 20_000


@pytest.fixture(params=[1, 7, COUNT], ids=lambda size: f"by {size}")
def curve(request: pytest.FixtureRequest) -> GrowingCurve:
    """`COUNT` points of noise, added in blocks of the given size."""
    made = GrowingCurve()
    y = noise()
    for begin in range(0, COUNT, request.param):
        end = min(COUNT, begin + request.param)
        made.extend(np.arange(float(begin), float(end)), y[begin:end])
    return made


def noise() -> np.ndarray:
    return np.random.default_rng(1).normal(size=COUNT)


def test_few_points_are_given_back_as_they_came(curve: GrowingCurve) -> None:
    x, y = curve.between(-math.inf, math.inf, COUNT)
    np.testing.assert_array_equal(x, np.arange(COUNT))
    np.testing.assert_array_equal(y, noise())


def test_the_outline_of_many_has_the_extremes_of_every_stretch(curve: GrowingCurve) -> None:
    x, y = curve.between(-math.inf, math.inf, 1000)

    # Halved down to at most 1000: 20,000 points become 625, plus at most three of each level.
    assert 600 < len(x) <= 1000
    assert (np.diff(x) >= 0).all()
    np.testing.assert_array_equal(noise()[x.astype(int)], y)
    # Each point combines 32: a stretch of 64 has at least one whole group, and all of the newest points remain.
    for begin in range(0, COUNT - 128, 64):
        stretch = noise()[begin : begin + 128]
        drawn = y[(x >= begin - 64) & (x < begin + 192)]
        assert drawn.min() <= stretch.min()
        assert drawn.max() >= stretch.max()
    assert x[-1] == COUNT - 1


def test_who_looks_closely_sees_every_point_and_the_next_on_both_sides(curve: GrowingCurve) -> None:
    x, y = curve.between(500.5, 504.0, 100)
    np.testing.assert_array_equal(x, [500.0, 501.0, 502.0, 503.0, 504.0, 505.0])
    np.testing.assert_array_equal(y, noise()[500:506])


def test_beside_the_curve_there_is_only_its_nearest_point(curve: GrowingCurve) -> None:
    assert curve.between(-9.0, -5.0, 100)[0].tolist() == [0.0]
    assert curve.between(COUNT + 5.0, COUNT + 9.0, 100)[0].tolist() == [COUNT - 1.0]
    assert len(GrowingCurve().between(0.0, 1.0, 100)[0]) == 0
