"""Measures of runs, each compared with its components on one short run, and the arithmetic of time series."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.features.gallery.core.tiny import carried_out, read_text
from tests.helpers.present import present

from subflow_app.features.gallery.core.measures import MEASURES
from subflow_app.features.gallery.core.recipe import Measure
from subflow_app.features.gallery.core.run_data import RunData, average, matches, total, trailing_mean
from subflow_app.features.gallery.core.runs_kind import RunValues
from subflow_store import open_store

Value = Callable[..., float]

RECIPE = """\
# One run of two flows.
format = 1
paper = "mplibra"
figure = "11b"
title = "Two flows"
claim = "They share."
scenario = "t-10a"
seeds = "1"
traces = true
panels = [{ form = "bars", measure = "goodput" }]
checks = [{ says = "They share", holds = "goodput('LIA') > 1 bit/s" }]
set = { duration = "6s", warmup = "1s", "flows.tcp.one_way_delay" = true }
series = { LIA = {} }
measures = { goodput = { of = "goodput" } }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunData]:
    folder: Path = tmp_path_factory.mktemp("recipe")
    with open_store(":memory:") as store:
        values = carried_out(read_text(folder, RECIPE), store)[1].values
        assert isinstance(values, RunValues)
        yield present(values.run("LIA", "", 1))


@pytest.fixture(scope="module")
def value(run: RunData) -> Value:
    def of(name: str, **options: object) -> float:
        kind = MEASURES[name]
        given = {param.key: param.default for param in kind.options} | options
        return kind.value(run, Measure(name, kind, name, "", given).options)

    return of


def test_rates_of_flows_and_subflows_add_up(run: RunData, value: Value) -> None:
    assert run.all_flows == ("mptcp", "tcp")
    both = value("goodput")
    assert both == pytest.approx(value("goodput", flows="mptcp") + value("goodput", flows="tcp"))
    assert value("goodput", reduce="mean") == pytest.approx(both / 2)
    subflows = [value("throughput", flows="mptcp", subflow=number) for number in (1, 2)]
    assert value("throughput", flows="mptcp") == pytest.approx(sum(subflows))
    sampled = value("throughput", flows="mptcp", since=1.0)
    assert sampled == pytest.approx(value("throughput", flows="mptcp"), rel=0.02)
    assert value("throughput", flows="tcp", wire=True) / value("throughput", flows="tcp") == pytest.approx(1500 / 1448)
    assert value("throughput", flows="tcp", over_time="max") >= value("throughput", flows="tcp", since=1.0)
    wire = value("throughput", reduce="sum", wire=True)
    assert value("capacity_share", links="top,bottom") == pytest.approx(wire / 10e6)


def test_shares_and_fairness(value: Value) -> None:
    ours, theirs = value("goodput", flows="mptcp"), value("goodput", flows="tcp")
    assert value("share_ratio", flows="mptcp", over="tcp") == pytest.approx(ours / theirs)
    assert value("jain") == pytest.approx((ours + theirs) ** 2 / (2 * (ours**2 + theirs**2)))
    assert value("jain", since=1.0) == pytest.approx(value("jain"), rel=0.01)
    assert math.isnan(value("goodput", flows="nobody"))


def test_delays_windows_and_links(value: Value) -> None:
    assert 0.12 < value("rtt", flows="tcp") < 0.3
    assert value("queueing_delay", flows="tcp") == pytest.approx(value("rtt", flows="tcp") - 0.12, abs=5e-3)
    assert value("p95_rtt", flows="tcp") >= value("rtt", flows="tcp")
    assert value("rtt_deviation", flows="tcp") > 0
    assert value("cwnd", flows="tcp", over_time="max") >= value("cwnd", flows="tcp")
    assert value("utilisation", links="top,bottom", reduce="max") <= 1
    assert value("queue", links="top") > 0
    assert value("link_rate", links="top,bottom") == 10e6
    ways = value("one_way_delay", flows="tcp") + value("ack_delay", flows="tcp")
    assert 0.12 < ways == pytest.approx(value("rtt", flows="tcp"), rel=0.02)
    assert value("max_one_way_delay", flows="tcp") >= value("p95_one_way_delay", flows="tcp") > ways - 0.06
    assert value("jitter", flows="tcp") > 0
    assert value("reordered_ratio", flows="tcp") == 0
    assert math.isnan(value("one_way_delay", flows="mptcp"))
    assert math.isnan(value("completion_time"))
    assert math.isnan(value("makespan"))


def test_loss_and_rtt_of_several_flows_are_weighted_by_packets(value: Value) -> None:
    sent, lost, acked = (
        [value(f"packets_{name}", flows=flow) for flow in ("mptcp", "tcp")] for name in ("sent", "lost", "acked")
    )
    assert value("loss_ratio") == pytest.approx(sum(lost) / sum(sent))
    losses = [value("loss_ratio", flows=flow) for flow in ("mptcp", "tcp")]
    assert value("loss_ratio", reduce="mean") == pytest.approx(sum(losses) / 2)
    rtts = [value("rtt", flows=flow) for flow in ("mptcp", "tcp")]
    weighted = sum(rtt * weight for rtt, weight in zip(rtts, acked, strict=True)) / sum(acked)
    assert value("rtt") == pytest.approx(weighted) != pytest.approx(sum(rtts) / 2, rel=1e-3)
    assert value("rtt", reduce="mean") == pytest.approx(sum(rtts) / 2)
    assert value("rtt", since=1.0) == pytest.approx(value("rtt"), rel=0.05)


def test_full_packets_are_worked_out_of_goodput_and_loss(value: Value) -> None:
    acked, lost = value("full_packets_acked", flows="tcp"), value("full_packets_lost", flows="tcp")
    assert acked == pytest.approx(value("goodput", flows="tcp") * 5 / (8 * 1448))
    assert value("full_packets_sent", flows="tcp") == pytest.approx(acked + lost)
    assert lost / (acked + lost) == pytest.approx(value("loss_ratio", flows="tcp"))
    assert acked == pytest.approx(value("packets_acked", flows="tcp"), rel=0.03)


def test_times_until_something_is_reached(value: Value) -> None:
    soon = value("time_to_reach", flows="tcp", links="top", level=0.2)
    late = value("time_to_reach", flows="tcp", links="top", level=0.4)
    assert 0 < soon <= late
    # never reached: the whole remaining time
    assert value("time_to_reach", flows="tcp", links="top", level=5.0, since=1.0) == 5.0
    assert value("time_to_reach", flows="tcp", links="top", level=5.0, since=1.0, until=3.0) == 2.0
    assert value("convergence_time", flows="tcp", since=1.0, steady=2.0, window=1.0, tolerance=10.0) == 0
    first = value("convergence_time", flows="tcp", since=0.0, steady=2.0, window=1.0, tolerance=0.3, first=True)
    assert 0 < first < 6


def test_series_of_several_flows() -> None:
    one, two = np.array([1.0, math.nan, 3.0]), np.array([3.0, math.nan, math.nan])
    assert np.array_equal(total([one, two], 3), [4, math.nan, 3], equal_nan=True)
    assert np.array_equal(average([one, two], 3), [2, math.nan, 3], equal_nan=True)
    assert average([one, two], 3, [np.array([3.0, 1, 1]), np.array([1.0, 1, 1])])[0] == 1.5
    assert np.array_equal(trailing_mean(np.array([math.nan, 1.0, 3.0, 5.0]), 2), [math.nan, 1, 2, 4], equal_nan=True)
    assert len(total([], 3)) == 3
    # Patterns name flows and their copies.
    assert [matches("download.3", each) for each in ("download", "up*, down*", "tcp, up")] == [True, True, False]
