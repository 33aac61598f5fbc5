"""Bins, colours and summaries of curves, against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.plots.core import PLOTS_BY_ID, Curve, drawing
from subflow_app.features.plots.core.drawing import RAW_S, Colouring, in_bins, with_crowds
from subflow_app.vocabulary.palette import CONTROLLER_COLOURS, TOTAL, ColourKey
from subflow_sim.stats import Estimate

INTERVAL_S = 0.1


def make_curve(values: list[float] | np.ndarray, owner: str = "download/1", run: int = 0) -> Curve:
    samples = np.asarray(values, np.float32)
    times = INTERVAL_S * np.arange(1, len(samples) + 1, dtype=np.float64)
    return Curve(owner, owner, "subflow", ColourKey(0, 0), times, samples, run=run)


@for_each(
    ("span_s", "chosen_s", "is_rate", "bin_s"),
    [
        (20.0, None, True, RAW_S),
        # 600 samples are more than 250 points: five each are 120.
        (60.0, None, True, 0.5),
        (60.0, None, False, RAW_S),
        (200.0, None, False, 0.2),
        (60.0, RAW_S, True, RAW_S),
        (20.0, 2.0, False, 2.0),
    ],
)
def test_bins_follow_the_zoom_or_the_person(span_s: float, chosen_s: float | None, is_rate: bool, bin_s: float) -> None:
    assert drawing.bin_width_s((INTERVAL_S, 0.5), span_s, chosen_s=chosen_s, is_rate=is_rate) == pytest.approx(bin_s)


def test_bins_hold_the_mean_of_what_is_known() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, 103)
    values[20:26] = np.nan
    drawn = in_bins(make_curve(values), 0.5)

    samples = values.astype(np.float32)
    parts = np.split(samples, range(5, 103, 5))
    wanted = [float(np.nanmean(part)) if np.isfinite(part).any() else np.nan for part in parts]
    assert drawn.values == pytest.approx(wanted, rel=1e-5, nan_ok=True)
    assert drawn.time_s[[0, -1]] == pytest.approx([0.5, 10.3])
    assert drawn.bin_s == 0.5


def test_percentiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(2).normal(0.0, 1.0, (31, 40)).astype(np.float32)
    values[:7, 3] = np.nan
    values[:, 9] = np.nan

    found = drawing.percentiles(values, [0.1, 0.5, 0.9])
    known = np.arange(40) != 9
    np.testing.assert_allclose(found[:, known], np.nanpercentile(values[:, known], [10, 50, 90], axis=0), rtol=1e-4)
    assert np.isnan(found[:, 9]).all()


def test_more_than_twelve_flows_are_their_median() -> None:
    many = finished_traces(make_scenario(make_flow("many", count=13), make_flow("noise", "cbr", ("wifi",))))
    curves = PLOTS_BY_ID["throughput"].overlay([many])
    shown, crowds = with_crowds(curves, RAW_S)

    assert [curve.owner for curve in shown] == ["many/1", "many/2", "many", "noise"]
    medians = [f"many · {name}, median of 13" for name in ("wifi", "lte", "total")]
    assert [curve.label for curve in shown][:3] == medians
    members = np.stack([curve.values for curve in curves if curve.owner.endswith("/1")])
    np.testing.assert_allclose(shown[0].values, np.median(members, axis=0), rtol=1e-5)
    assert [band.share for band in shown[0].bands] == pytest.approx([0.8, 0.5])
    np.testing.assert_allclose(shown[0].bands[1].high, np.percentile(members, 75, axis=0), rtol=1e-5)
    assert len(crowds) == 3

    few = finished_traces(make_scenario(make_flow("few", count=12)))
    curves = PLOTS_BY_ID["throughput"].overlay([few])
    assert with_crowds(curves, RAW_S) == (curves, [])


def test_bins_of_a_crowd_are_those_of_its_members() -> None:
    values = np.random.default_rng(3).uniform(1.0, 9.0, (13, 20))
    curves = [make_curve(row, f"many.{number}/1") for number, row in enumerate(values, start=1)]
    (median,), _ = with_crowds(curves, 0.5)

    binned = np.stack([in_bins(curve, 0.5).values for curve in curves])
    np.testing.assert_allclose(median.values, np.median(binned, axis=0), rtol=1e-5)
    np.testing.assert_allclose(median.time_s, in_bins(curves[0], 0.5).time_s)


def test_mouse_finds_the_nearest_flow() -> None:
    curves = [make_curve([number] * 10, f"many.{number}/1") for number in range(1, 14)]
    _, crowds = with_crowds(curves, RAW_S)

    assert present(drawing.nearest_member(crowds, 0.5, 6.8)).owner == "many.7/1"
    assert drawing.nearest_member(crowds, 5.0, 6.8) is None


def test_mean_of_seeds_has_the_interval_of_student() -> None:
    values = np.random.default_rng(4).normal(10.0, 3.0, (5, 8))
    values[0, 2] = np.nan
    curves = [make_curve(row, run=run) for run, row in enumerate(values)]
    # One run has fewer samples.
    curves[4] = make_curve(values[4, :6], run=4)
    mean = drawing.mean_of_seeds(curves)

    (band,) = mean.bands
    for place in range(8):
        known = np.array([curve.values[place] for curve in curves if place < len(curve.values)])
        known = known[np.isfinite(known)].astype(np.float64)
        low, high = stats.t.interval(0.95, len(known) - 1, known.mean(), stats.sem(known))
        assert mean.values[place] == pytest.approx(known.mean(), rel=1e-5)
        assert (band.low[place], band.high[place]) == pytest.approx((low, high), rel=1e-4)
    first = [float(curve.values[0]) for curve in curves]
    assert band.high[0] - mean.values[0] == pytest.approx(Estimate.of(first).ci95, rel=1e-4)


def test_colours_tell_apart_what_was_asked_for() -> None:
    lia = finished_traces(make_scenario(make_flow("a", controller="lia"), make_flow("b", controller="olia")))
    runs = [lia, lia]
    wifi, lte, total = ColourKey(0, 0), ColourKey(1, 0), ColourKey(TOTAL, 0)

    by_run = Colouring(runs, drawing.BY_RUN, (0, 1))
    assert {by_run.colour(own, 1, "a/1").hue for own in (wifi, lte, total)} == {1}
    assert len({by_run.colour(own, 1, "a/1") for own in (wifi, lte, total)}) == 3
    assert (by_run.dash(wifi, 1), by_run.dash(lte, 1)) == (0, 1)

    by_controller = Colouring(runs, drawing.BY_CONTROLLER, (0, 1))
    # The colours of the controllers are those of all comparisons, and dashes distinguish the paths.
    lia_colour, olia_colour = CONTROLLER_COLOURS["lia"], CONTROLLER_COLOURS["olia"]
    found = [by_controller.colour(wifi, 0, owner) for owner in ("a/1", "b/1", "a")]
    assert found == [lia_colour, olia_colour, lia_colour]
    assert (by_controller.dash(wifi, 1), by_controller.dash(lte, 1)) == (0, 1)

    by_subflow = Colouring(runs, drawing.BY_SUBFLOW, (0, 1))
    assert by_subflow.colour(lte, 1, "a/2") == lte
    assert by_subflow.dash(lte, 1) == 1
    # A single run, or a fork with its original, needs no distinction.
    assert Colouring(runs[:1], drawing.BY_RUN, (0,)).colour(lte, 0, "a/2") == lte
    assert Colouring(runs, drawing.BY_RUN, (0, 0)).colour(lte, 1, "a/2") == lte
