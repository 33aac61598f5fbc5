"""Drawn intervals: those of quantities that cannot be negative begin at zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.members import for_each

from subflow_app.features.plots.core.drawing import mean_of_seeds
from subflow_app.features.plots.core.spec import Curve
from subflow_app.vocabulary.measures import measure
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import Panel, PanelSeries, interval_ends


def test_an_interval_ends_at_zero_unless_its_quantity_may_be_negative() -> None:
    """13.0 +- 18.1 Mbit/s, as in lab 8 with two seeds."""
    means, halves = np.array([13.0, 13.0, -2.0, 5.0]), np.array([18.1, 2.0, 1.0, np.nan])
    low, high = interval_ends(means, halves, is_signed=False)
    assert low[:3] == pytest.approx([0.0, 11.0, -3.0])
    assert high[:3] == pytest.approx([31.1, 15.0, -1.0])
    assert np.isnan([low[3], high[3]]).all()
    low, high = interval_ends(means, halves, is_signed=True)
    assert low[:3] == pytest.approx([-5.1, 11.0, -3.0])


def test_a_panel_has_the_ends_of_both_axes() -> None:
    series = PanelSeries(
        "lia", ColourKey(0, 0), 0, True, np.array([13.0]), np.array([18.1]), x=np.array([2.0]), x_halves=np.array([3.0])
    )
    panel = Panel("scatter", "", "", "", ("",), np.empty(0), (series,))
    assert [end.tolist() for end in (*panel.ends(series), *panel.x_ends(series))] == [[0.0], [31.1], [0.0], [5.0]]
    signed = replace(panel, is_signed=True, x_is_signed=True)
    assert signed.ends(series)[0].tolist() == pytest.approx([-5.1])
    assert signed.x_ends(series)[0].tolist() == [-1.0]


@for_each(
    ("key", "is_signed"),
    [
        ("goodput_bps", False),
        ("flows.download.goodput_bps", False),
        ("mean_rtt_s", False),
        ("loss_ratio", False),
        ("jain", False),
        ("retransmits", False),
        ("drops_queue", False),
        ("friendliness", False),
        ("links.wifi.queue_pkts", False),
        ("return_mean", True),
        ("score", True),
        ("flows.download.mean_utility", True),
        ("nothing_that_is_known", True),
    ],
)
def test_measures_say_whether_they_may_be_negative(key: str, is_signed: bool) -> None:
    assert measure(key).is_signed is is_signed


def test_the_band_of_the_mean_of_seeds_does_not_reach_below_zero() -> None:
    """0 and 2 have the mean 1 and half an interval of 12.7."""
    time_s = np.array([1.0, 2.0])
    curves = [Curve("f", "f", "flow", ColourKey(0, 0), time_s, np.full(2, value, np.float32)) for value in (0.0, 2.0)]
    (band,) = mean_of_seeds(curves).bands
    assert band.low.tolist() == [0.0, 0.0]
    assert band.high == pytest.approx([13.706, 13.706], rel=1e-3)
    (band,) = mean_of_seeds(curves, is_signed=True).bands
    assert band.low == pytest.approx([-11.706, -11.706], rel=1e-3)
