"""Alignment: known shifts and clock rates are recovered within a sample, and errors equal those computed by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.members import for_each
from tests.helpers.table_traces import TableTraces

from subflow_app.features.comparison.core.alignment import (
    FIRST_DATA,
    AlignedTraces,
    Alignment,
    align,
    errors_document,
    match_series,
    series_errors,
)
from subflow_app.features.traces.core.events import AGENT
from subflow_app.features.traces.core.traces import SeriesKey, TraceMark
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store.values import EventTable

FloatArray = NDArray[Any]  # of any precision
STEP_S = 0.1
CWND = SeriesKey("subflow", "download/1", "cwnd_pkts", "pkt")
RATE = SeriesKey("subflow", "download/1", "throughput_bps", "bit/s")

SCENARIO = """
format = 1
name = "lossy"
duration = "100s"
nodes = { a = {}, b = {} }
links.wifi = { ends = ["a", "b"], rate = "8Mbit/s", delay = "30ms", queue = "50pkt", loss = "0.1%" }
flows.download = { kind = "tcp", from = "a", to = "b", controller = "newreno" }
"""


class Given(TableTraces):
    """Traces made of given arrays."""

    def __init__(self, title: str, series: Mapping[SeriesKey, tuple[FloatArray, FloatArray]]) -> None:
        columns = {(key.scope, key.owner, key.name): values.tolist() for key, (_, values) in series.items()}
        super().__init__(columns, title=title, marks=[TraceMark(2.0, "download/1", "loss", 1.0)])
        self.series = series
        self.duration_s = max(float(times[-1]) for times, _ in series.values())

    def keys(self) -> Sequence[SeriesKey]:
        return tuple(self.series)

    def read(self, key: SeriesKey) -> tuple[FloatArray, NDArray[np.float32]]:
        times, values = self.series[key]
        return times, values.astype(np.float32)

    def events(self, stream: str) -> EventTable:
        return EventTable({"time_ns": np.array([10**9]), "owner": np.array([0])}, {"owner": ("a",)})


@pytest.fixture(scope="module")
def simulated() -> Given:
    """A simulated saw-tooth of 100 s."""
    simulation = Simulation(parse_scenario(SCENARIO), sample_interval_s=STEP_S)
    simulation.run_until(100.0)
    series = {}
    for index, column in enumerate(simulation.columns):
        key = SeriesKey(column.scope, column.owner, column.name, column.unit)
        if key in (CWND, RATE):
            values = simulation.values(index).astype(np.float64)
            series[key] = (STEP_S * np.arange(1, len(values) + 1), values)
    return Given("simulated", series)


def copy(original: Given, *, offset_s: float, rate: float = 1.0, from_s: float = 0.0, noise: float = 0.0) -> Given:
    """Traces on another clock: reference time = rate * time + offset, sampled every 0.1 s of that clock."""
    dice = np.random.default_rng(1)
    series = {}
    for key, (times, values) in original.series.items():
        end_s = (times[-1] - offset_s) / rate
        own_s = np.arange(round(max(from_s, -offset_s / rate + STEP_S) / STEP_S), math.floor(end_s / STEP_S)) * STEP_S
        seen = np.interp(rate * own_s + offset_s, times, values)
        series[key] = (own_s, seen + noise * values.std() * dice.normal(size=len(seen)))
    return Given("measured", series)


@for_each("offset_s", [0.0, 3.0, -7.3, 12.34, 40.0])
def test_a_shift_is_found_within_a_sample(simulated: Given, offset_s: float) -> None:
    found = align(simulated, copy(simulated, offset_s=offset_s, noise=0.2))
    assert found.offset_s == pytest.approx(offset_s, abs=STEP_S / 2)
    assert found.rate == 1.0
    assert found.agreement > 0.9


@pytest.mark.parametrize(("offset_s", "rate"), [(2.0, 1.003), (-5.0, 0.9985), (0.0, 1.0), (8.0, 1.015)])
def test_a_clock_that_goes_wrong_is_found_within_a_sample(simulated: Given, offset_s: float, rate: float) -> None:
    measured = copy(simulated, offset_s=offset_s, rate=rate, noise=0.1)
    found = align(simulated, measured, with_skew=True)
    times = measured.series[CWND][0]
    ends = times[[0, -1]]
    np.testing.assert_allclose(found.reference_s(ends), rate * ends + offset_s, atol=STEP_S / 2)
    assert found.agreement > 0.95


def test_part_of_a_trace_with_gaps_is_enough(simulated: Given) -> None:
    measured = copy(simulated, offset_s=-4.0)
    for times, values in measured.series.values():
        values[(times > 30) & (times < 45)] = np.nan
        values[times > 80] = np.nan
    assert align(simulated, measured).offset_s == pytest.approx(-4.0, abs=STEP_S / 2)


def test_first_data_tell_the_offset_too(simulated: Given) -> None:
    values = simulated.series[RATE][1]
    later = Given("measured", {RATE: (np.arange(1, 1051) * STEP_S, np.concatenate([np.zeros(50), values]))})
    found = align(simulated, later, method=FIRST_DATA)
    assert found.offset_s == pytest.approx(-5.0, abs=1e-6)
    assert found.agreement > 0.95


def test_errors_are_those_worked_out_by_hand() -> None:
    times = np.arange(1, 5) * 1.0
    reference = Given("a", {CWND: (times, np.array([10.0, 20.0, 30.0, 40.0]))})
    measured = Given("b", {CWND: (times - 1.0, np.array([11.0, 18.0, 33.0, np.nan]))})
    (error,) = series_errors(reference, measured, Alignment(1.0))
    # The errors are 1, -2 and 3; the fourth is unknown.
    assert error.count == 3
    assert error.rmse == pytest.approx(math.sqrt(14 / 3))
    assert error.mae == pytest.approx(2.0)
    assert error.relative == pytest.approx((0.1 + 0.1 + 0.1) / 3)
    assert error.mean_difference == pytest.approx(2 / 3)
    assert error.p95_difference == pytest.approx(31.5 - 29.0)
    assert error.correlation == pytest.approx(np.corrcoef([10, 20, 30], [11, 18, 33])[0, 1])
    document = errors_document(Alignment(1.0), [error], is_by_order=False)
    assert document["series"][0]["rmse"] == error.rmse
    assert document["agreement"] is None
    reference.warmup_s = 2.0  # the warm-up does not count
    (error,) = series_errors(reference, reference, Alignment(0.0))
    assert error.count == 2


def test_owners_of_other_names_go_together_in_their_order() -> None:
    times = np.arange(1, 20) * 1.0
    second = SeriesKey("subflow", "download/2", "cwnd_pkts", "pkt")
    reference = Given("a", {CWND: (times, times), second: (times, times**2)})
    keys = {k: SeriesKey("subflow", f"measured/{k}", "cwnd_pkts", "pkt") for k in (1, 2)}
    matching = match_series(reference, Given("b", {key: (times, times**k) for k, key in keys.items()}))
    assert matching.is_by_order
    pairs = [(pair.reference.owner, pair.measured.owner) for pair in matching.pairs]
    assert pairs == [("download/1", "measured/1"), ("download/2", "measured/2")]
    assert not match_series(reference, reference).is_by_order


def test_runs_without_a_common_trace_are_refused() -> None:
    times = np.arange(1, 20) * 1.0
    with pytest.raises(InputError, match='"a" and "b" have no trace in common'):
        align(Given("a", {CWND: (times, times)}), Given("b", {RATE: (times, times)}))
    with pytest.raises(InputError, match='no trace of "b" varies'):
        align(Given("a", {CWND: (times, times)}), Given("b", {CWND: (times, np.ones(19))}))


def test_aligned_traces_are_the_same_at_other_times(simulated: Given) -> None:
    aligned = AlignedTraces(simulated, Alignment(1.5, 1.01))
    time_s, values = aligned.read(CWND)
    np.testing.assert_allclose(time_s, 1.01 * simulated.series[CWND][0] + 1.5)
    np.testing.assert_array_equal(values, simulated.read(CWND)[1])
    assert aligned.title == "simulated (+1.5 s, clock 1 % slow)"
    assert aligned.duration_s == pytest.approx(1.01 * 100 + 1.5)
    assert aligned.marks()[0].time_s == pytest.approx(3.52)
    assert aligned.events(AGENT.name)["time_ns"][0] == 2_510_000_000
