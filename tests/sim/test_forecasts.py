"""Forecast of the events and the memory of a run from its beginning, compared with the complete run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.networks import link, scenario, tcp

from subflow_sim import DecisionLimits, Limits, Simulation, SimulationError, TooLargeError, forecast, load_scenario
from subflow_sim.forecasts import Forecast
from subflow_sim.shipped import shipped_scenarios
from subflow_sim.whole_scenario import Scenario

# Events of a trial, so that all machines forecast the same; most of the shipped scenarios take more.
TRIAL_EVENTS = 100_000


def taken(run: Scenario) -> tuple[int, int]:
    """Events of a run, and its peak memory."""
    simulation = Simulation(run)
    memory_bytes = simulation.memory_bytes
    while not simulation.finished:
        simulation.run_until(run.duration_s, max_events=10_000)
        memory_bytes = max(memory_bytes, simulation.memory_bytes)
    return simulation.link_crossings, memory_bytes


def told(run: Scenario) -> Forecast:
    return forecast(run, trial_s=60, trial_events=TRIAL_EVENTS)


def test_events_and_memory_are_within_a_factor_of_two_over_all_shipped_scenarios() -> None:
    offenders = []
    tried_in_part = 0
    for name in shipped_scenarios():
        run = load_scenario(name)
        is_told = told(run)
        crossings, memory_bytes = taken(run)
        tried_in_part += is_told.tried_s < run.duration_s
        forecasts = ((is_told.link_crossings, crossings), (is_told.memory_bytes, memory_bytes))
        offenders += [(name, pair) for pair in forecasts if not pair[1] / 2 <= pair[0] <= pair[1] * 2]
    assert offenders == []
    assert tried_in_part > 20


def endless(**options: object) -> Scenario:
    return scenario([link("path", **options)], [tcp("download", "path")], duration_s=600)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "run",
    [
        endless(queue_pkts=1, rate_bps=100e6),
        endless(loss=0.01, rate_bps=100e6),
        endless(queue_pkts=None, rate_bps=5e6),  # the forecast does not compute the growing queue
        scenario([link("path")], [replace(tcp("late", "path"), start_s=400.0)], duration_s=600),
        scenario([link("path")], [replace(tcp("short", "path"), size_bytes=100_000)], duration_s=600),
    ],
    ids=["one-packet queue", "loss", "endless queue", "late flow", "short flow"],
)
def test_what_arithmetic_cannot_tell(run: Scenario) -> None:
    is_told = forecast(run, trial_s=60, trial_events=20_000)
    crossings, memory_bytes = taken(run)
    assert crossings / 2 <= is_told.link_crossings <= 2 * crossings
    assert memory_bytes / 2 <= is_told.memory_bytes <= 2 * memory_bytes


def test_time_is_measured_on_this_machine() -> None:
    is_told = forecast(endless(), trial_s=0.01)
    assert is_told.tried_s < 600
    assert is_told.cpu_s > is_told.building_s > 0
    assert is_told.slowness >= 1


def test_records_of_decisions_take_time_and_memory() -> None:
    plain = told(endless())
    explained = forecast(endless(), decisions=DecisionLimits(), trial_s=60, trial_events=TRIAL_EVENTS)
    assert explained.link_crossings == plain.link_crossings
    assert explained.memory_bytes > plain.memory_bytes + 1e6


def test_what_cannot_be_built_cannot_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SimulationError, match="sampl"):
        forecast(endless(), sample_interval_s=0)
    # The limit of events does not stop a forecast, which computes their number.
    monkeypatch.setenv("SUBFLOW_MAX_EVENTS", "100")
    assert told(endless()).link_crossings > 100
    monkeypatch.setenv("SUBFLOW_MAX_MEMORY", "1kB")
    with pytest.raises(TooLargeError):
        told(endless())
    assert Limits.from_environment().link_crossings == 100
