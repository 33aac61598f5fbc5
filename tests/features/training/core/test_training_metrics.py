"""Metrics of a training as columns: they grow, have gaps, and are read as curves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.helpers.present import present

from subflow_agents import METRICS
from subflow_app.features.training.core.training_metrics import DEFAULT_TRAINING_PLOTS, TRAINING_PLOTS, MetricLog


@pytest.fixture
def log() -> MetricLog:
    return MetricLog()


def test_every_plot_shows_a_metric_that_trainings_report() -> None:
    reported = {metric.name for metric in METRICS}
    assert {plot.metric.key for plot in TRAINING_PLOTS} <= reported
    assert set(DEFAULT_TRAINING_PLOTS) <= {plot.metric.key for plot in TRAINING_PLOTS}
    assert len({plot.metric.key for plot in TRAINING_PLOTS}) == len(TRAINING_PLOTS)


def test_reports_become_columns_with_gaps_where_a_value_was_left_out(log: MetricLog) -> None:
    log.extend([{"step": 1, "kl": 0.5}, {"step": 2}, {"step": 3, "kl": 0.25, "state": "running", "flag": True}])

    assert len(log) == 3
    assert log.names == ("step", "kl")
    np.testing.assert_array_equal(log.values("step"), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(log.values("kl"), [0.5, math.nan, 0.25])


def test_a_metric_that_comes_late_has_gaps_before(log: MetricLog) -> None:
    for step in range(600):  # beyond the first capacity
        log.add({"step": float(step)})

    log.add({"step": 600.0, "entropy": 1.5})

    assert np.isnan(log.values("entropy")[:600]).all()
    assert log.values("entropy")[600] == 1.5
    np.testing.assert_array_equal(log.values("step"), np.arange(601.0))


def test_null_and_infinity_are_no_latest_value(log: MetricLog) -> None:
    log.extend([{"q_mean": 2.0}, {"q_mean": None}, {"q_mean": math.inf}])
    assert log.latest("q_mean") == 2.0
    assert log.has("q_mean")
    assert math.isnan(log.latest("kl"))
    assert not log.has("kl")


def test_a_curve_leaves_out_reports_without_either_value(log: MetricLog) -> None:
    log.extend([{"step": 1.0, "kl": 4.0}, {"step": 2.0}, {"kl": 5.0}, {"step": 4.0, "kl": 6.0}])

    at, values = log.curve("kl", "step")

    np.testing.assert_array_equal(at, [1.0, 4.0])
    np.testing.assert_array_equal(values, [4.0, 6.0])


def test_an_outline_follows_the_reports_and_forgets_with_them(log: MetricLog) -> None:
    log.extend([{"step": float(step), "kl": float(step % 7)} for step in range(1, 5001)])
    x, y = log.outline("kl", "step", 100)
    assert len(x) <= 120
    assert (y.min(), y.max()) == (0.0, 6.0)

    log.extend([{"step": 5001.0, "kl": 99.0}, {"step": 5002.0}])
    assert [values[-1] for values in log.outline("kl", "step", 100)] == [5001.0, 99.0]
    np.testing.assert_array_equal(log.outline("kl", "step", 100, 4999.0)[0], [4998.0, 4999.0, 5000.0, 5001.0])

    revision = log.revision
    log.forget_from("step", 4001.0)
    assert log.outline("kl", "step", 100)[0][-1] == 4000.0
    assert log.revision != revision


def test_a_long_training_comes_from_the_store_in_one_piece(log: MetricLog) -> None:
    log.extend_columns({"step": np.arange(1000.0), "kl": np.full(1000, 0.5)})
    log.add({"step": 1000.0, "entropy": 2.0})
    np.testing.assert_array_equal(log.values("step"), np.arange(1001.0))
    assert log.latest("kl") == 0.5
    assert np.isnan(log.values("entropy")[:1000]).all()


def test_what_was_learned_after_the_last_checkpoint_is_forgotten(log: MetricLog) -> None:
    log.extend([{"step": float(step), "kl": float(step)} for step in range(1, 9)])
    log.forget_from("step", 5.0)
    assert len(log) == 4
    assert log.latest("kl") == 4.0
    log.forget_from("step", 99.0)
    log.add({"step": 5.0})
    np.testing.assert_array_equal(log.values("kl"), [1.0, 2.0, 3.0, 4.0, math.nan])


def test_columns_of_different_length_are_refused_and_nothing_is_added(log: MetricLog) -> None:
    with pytest.raises(ValueError, match="columns of"):
        log.extend_columns({"step": [1.0, 2.0], "kl": [1.0]})
    assert len(log) == 0


def test_a_long_training_costs_no_more_per_report_than_a_short_one(log: MetricLog) -> None:
    # 100,000 reports enlarge their columns 9 times from 256: the array is then at most twice as long.
    for step in range(100_000):
        log.add({"step": step})
    base = present(log.values("step").base)
    assert len(base) < 2 * 131_073
