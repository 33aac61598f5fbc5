"""The curves drawn for several runs."""

from __future__ import annotations

from collections.abc import Sequence

from tests.features.history.core.test_run_columns import run as make_row
from tests.helpers.fake_runs import finished_traces

from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.qt.curve_id import curve_id
from subflow_app.features.plots.qt.fed_plots import CurveLooks
from subflow_app.features.traces.core.traces import LiveTraces

THROUGHPUT = PLOTS_BY_ID["throughput"]


def make_runs(count: int) -> list[LiveTraces]:
    return [finished_traces(title="LIA") for _ in range(count)]


def close_all(runs: Sequence[LiveTraces], signatures: str) -> None:
    for run, signature in zip(runs, signatures, strict=True):
        run.close(make_row(1, signature=signature))


def test_the_same_seed_twice_is_one_sample_of_the_mean() -> None:
    runs = make_runs(4)
    looks = CurveLooks()
    looks.set_runs(runs)
    assert {curve.run_title for curve in looks.curves(THROUGHPUT)} == {"LIA, mean of 4 seeds"}

    # A repetition of another run can be recognised only after its end.
    close_all(runs, "abac")
    curves = looks.curves(THROUGHPUT)
    assert {curve.run_title for curve in curves} == {"LIA, mean of 3 seeds"}
    assert {curve.run for curve in curves} == {0}
    assert all(len(curve.bands) == 1 for curve in curves)
    assert {run for run, _ in looks.behind(curve_id(curves[0]))} == {0, 1, 3}


def test_identical_runs_are_one_line_without_an_interval_and_two_seeds_have_no_mean() -> None:
    for signatures, shown in (("aaa", {0}), ("aab", {0, 1, 2})):
        runs = make_runs(3)
        close_all(runs, signatures)
        looks = CurveLooks()
        looks.set_runs(runs)
        curves = looks.curves(THROUGHPUT)
        assert {curve.run for curve in curves} == shown
        is_one = {curve.run_title for curve in curves} == {"LIA, 3 identical runs"}
        assert is_one == (signatures == "aaa")
        assert not any(curve.bands for curve in curves)
