"""The picture of a policy: the right feature varies, the others keep their median, and padding is ignored."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from subflow_app.features.training.core.policy_surface import Feature, Observations, policy_surface
from subflow_app.foundation.errors import InputError

FEATURES = (Feature("a", minimum=0.0, maximum=10.0), Feature("b", minimum=0.0, maximum=10.0), Feature("c"))


class Recorder:
    """Returns 100 a + 10 b + c for each acting row, summed over the history, and records its arguments."""

    def __init__(self) -> None:
        self.asked: list[tuple[NDArray, NDArray, NDArray]] = []

    def act_many(self, rows: NDArray, acting: NDArray, mask: NDArray) -> tuple[NDArray, NDArray]:
        self.asked.append((rows.copy(), acting.copy(), mask.copy()))
        weights = np.tile([100.0, 10.0, 1.0], rows.shape[2] // 3)
        action = np.where(acting, rows @ weights, 0.0)
        return action.astype(np.float32)[..., None], np.zeros(len(rows), np.float32)


def seen(rows: list, mask: list, acting: list) -> Observations:
    return Observations(np.array(rows, np.float32), np.array(mask, bool), np.array(acting, bool))


def test_the_picture_moves_two_features_and_leaves_the_others_at_their_median() -> None:
    # One subflow, c of 1, 2, 9: its median is 2.
    known = seen([[[1, 4, 1]], [[2, 5, 2]], [[3, 6, 9]]], [[True]] * 3, [[True]] * 3)

    surface = policy_surface(Recorder(), FEATURES, known, 0, 1, resolution=5)

    expected = 100 * surface.x[None, :] + 10 * surface.y[:, None] + 2
    np.testing.assert_allclose(surface.action, expected, rtol=1e-5)
    # The observed values, 1 to 3 and 4 to 6, with a margin of 15 % of the range on both sides.
    np.testing.assert_allclose((surface.x[0], surface.x[-1]), (0.7, 3.3), rtol=1e-5)
    np.testing.assert_allclose((surface.y[0], surface.y[-1]), (3.7, 6.3), rtol=1e-5)
    np.testing.assert_allclose(surface.points, [[1, 4], [2, 5], [3, 6]])
    np.testing.assert_allclose(surface.point_actions, [141, 252, 369])


def test_a_picture_never_leaves_the_bounds_of_a_feature() -> None:
    known = seen([[[0, 9.9, 0]], [[0.1, 10, 0]]], [[True]] * 2, [[True]] * 2)
    surface = policy_surface(Recorder(), FEATURES, known, 0, 1, resolution=3)
    assert surface.x[0] == 0.0
    assert surface.y[-1] == 10.0


def test_a_feature_that_stood_still_is_shown_over_all_it_could_be() -> None:
    known = seen([[[5, 5, 0]]], [[True]], [[True]])
    surface = policy_surface(Recorder(), FEATURES, known, 0, 1, resolution=3)
    np.testing.assert_allclose(surface.x, [0, 5, 10])


def test_all_records_of_a_history_move_together() -> None:
    known = seen([[[1, 4, 0, 2, 5, 0]], [[2, 6, 0, 1, 4, 0]]], [[True]] * 2, [[True]] * 2)
    policy = Recorder()
    policy_surface(policy, FEATURES, known, 0, 1, resolution=3)
    rows = policy.asked[0][0]
    np.testing.assert_array_equal(rows[:, 0, 0], rows[:, 0, 3])
    np.testing.assert_array_equal(rows[:, 0, 1], rows[:, 0, 4])


def test_the_subflow_that_acted_last_moves_and_padding_counts_for_nothing() -> None:
    # Two subflows and a padded slot; an early decision about one subflow must not lower the medians.
    rows = [[[9, 9, 9], [0, 0, 0], [0, 0, 0]], [[1, 2, 0], [3, 4, 0], [0, 0, 0]], [[1, 2, 0], [5, 6, 0], [0, 0, 0]]]
    mask = [[True, False, False], [True, True, False], [True, True, False]]
    acting = [[True, False, False], [True, False, False], [False, True, False]]
    policy = Recorder()

    surface = policy_surface(policy, FEATURES, seen(rows, mask, acting), 0, 1, resolution=3)

    asked, acts, there = policy.asked[0]
    assert acts.tolist() == [[False, True, False]] * 9
    assert there.tolist() == [[True, True, False]] * 9
    np.testing.assert_allclose(asked[:, 0], [[1, 2, 0]] * 9)
    assert surface.points.tolist() == [[9, 9], [1, 2], [5, 6]]


def test_the_same_feature_twice_makes_stripes() -> None:
    known = seen([[[1, 4, 0]], [[2, 5, 0]]], [[True]] * 2, [[True]] * 2)
    surface = policy_surface(Recorder(), FEATURES, known, 0, 0, resolution=3)
    np.testing.assert_array_equal(surface.action[0], surface.action[2])


def test_what_cannot_be_drawn_is_refused() -> None:
    nothing = Observations(np.zeros((0, 1, 3), np.float32), np.zeros((0, 1), bool), np.zeros((0, 1), bool))
    with pytest.raises(InputError, match="no decision"):
        policy_surface(Recorder(), FEATURES, nothing, 0, 1)
    with pytest.raises(ValueError, match="features 0 and 3 of 3"):
        policy_surface(Recorder(), FEATURES, seen([[[1, 2, 3]]], [[True]], [[True]]), 0, 3)
