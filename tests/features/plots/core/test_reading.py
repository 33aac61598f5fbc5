"""The values of a curve between the cursors A and B."""

from __future__ import annotations

import numpy as np
import pytest

from subflow_app.features.plots.core.reading import stretch

TIMES = np.array([1.0, 2.0, 3.0, 4.0])


def test_a_stretch_has_its_ends_and_what_lies_between() -> None:
    found = stretch(TIMES, np.array([5.0, 9.0, 1.0, 8.0]), 1.4, 3.6)

    # The nearest samples are at 1 s and 4 s. The mean covers the 3 s between them; the first covers the time before.
    assert found == pytest.approx((5.0, 8.0, 3.0, 1.0, 6.0, 1.0, 9.0))
    # The first cursor may be the later one.
    found = stretch(TIMES, np.array([5.0, 9.0, 1.0, 8.0]), 4.0, 1.0)
    assert found[:4] == (8.0, 5.0, -3.0, 1.0)


def test_what_is_unknown_is_left_out() -> None:
    found = stretch(TIMES, np.array([np.nan, 2.0, np.inf, 4.0]), 1.0, 4.0)

    assert np.isnan([found.first, found.difference, found.per_second]).all()
    assert (found.last, found.mean, found.lowest, found.highest) == (4.0, 3.0, 2.0, 4.0)


def test_one_sample_has_no_rate_and_no_sample_nothing() -> None:
    assert np.isnan(stretch(TIMES, np.ones(4), 2.0, 2.0).per_second)
    assert np.isnan(stretch(np.empty(0), np.empty(0), 1.0, 2.0)).all()
    assert np.isnan(stretch(TIMES, np.full(4, np.nan), 1.0, 4.0)).all()
