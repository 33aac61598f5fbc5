"""Forecast of the events, memory and processor time of a run, from a short simulation of its beginning.

`subflow_sim.limits.estimate` assumes flows that fill their links. Loss, small queues and cautious controllers can keep
a run below this estimate by a factor of hundreds, which only a simulation reveals.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subflow_sim.errors import SimError
from subflow_sim.limits import Limits, estimate
from subflow_sim.simulation import Simulation

if TYPE_CHECKING:
    from subflow_sim.decisions import DecisionLimits
    from subflow_sim.scenario import Scenario

__all__ = ["TRIAL_S", "Forecast", "forecast"]

TRIAL_S = 0.2
"""Processor time of a trial, s."""

# Number of core events between two readings of the clock; they take a few milliseconds.
_EVENTS_PER_LOOK = 1 << 13


@dataclass(frozen=True, slots=True)
class Forecast:
    """Probable cost of a run on this machine, within a factor of two unless its network changes late.

    Attributes:
        link_crossings: packets offered to links, ACKs included.
        memory_bytes: peak memory of the simulation, traces included.
        building_s: processor time until the first event, s.
        cpu_s: processor time of the whole run, s.
        tried_s: simulated time of the trial, s; the scenario's duration if the trial completed.
        slowness: wall-clock time of the trial divided by its processor time; 1 on a machine with a free core.
    """

    link_crossings: float
    memory_bytes: float
    building_s: float
    cpu_s: float
    tried_s: float
    slowness: float


@dataclass(frozen=True, slots=True)
class _Look:
    """Measurements taken at one point of the trial."""

    now_s: float
    crossings: float
    cpu_s: float
    memory_bytes: float  # includes space for all samples from the start


def forecast(
    scenario: Scenario,
    *,
    sample_interval_s: float = 0.1,
    decisions: DecisionLimits | None = None,
    trial_s: float = TRIAL_S,
    trial_events: int | None = None,
) -> Forecast:
    """Forecasts a run of this scenario with the scenario's seed; the trial leaves no results.

    Args:
        scenario: the scenario to simulate.
        sample_interval_s: simulated time between two samples, s.
        decisions: limits of the recorded decisions; None: no recording.
        trial_s: maximum processor time of the trial, s.
        trial_events: number of link crossings after which the trial ends; None: no bound. If this bound ends the trial,
            the forecast of events and memory is the same on every machine.

    Raises:
        SimulationError: if the core refuses the scenario or the interval.
        TooLargeError: if the run would need more memory than the environment allows.
    """
    began, began_cpu_s = time.perf_counter(), time.thread_time()
    limits = replace(Limits.from_environment(), link_crossings=math.inf)
    simulation = Simulation(scenario, sample_interval_s=sample_interval_s, decisions=decisions, limits=limits)
    building_s = time.thread_time() - began_cpu_s

    def look() -> _Look:
        return _Look(
            simulation.now_s,
            simulation.link_crossings,
            time.thread_time() - began_cpu_s - building_s,
            simulation.memory_bytes,
        )

    looks = [look()]
    most_events = math.inf if trial_events is None else trial_events
    while not simulation.finished and looks[-1].cpu_s < trial_s and looks[-1].crossings < most_events:
        try:
            simulation.run_until(scenario.duration_s, max_events=_EVENTS_PER_LOOK)
        except SimError:
            break  # a script failed, or packets pile up: the run itself will report it
        looks.append(look())
    spent_s = time.thread_time() - began_cpu_s
    slowness = max(1.0, (time.perf_counter() - began) / spent_s) if spent_s > 0 else 1.0
    last = looks[-1]
    peak_bytes = max(each.memory_bytes for each in looks)
    if simulation.finished or last.crossings == 0:
        # If no packet has crossed a link yet, processor time is extrapolated from simulated time.
        part = last.now_s / scenario.duration_s
        cpu_s = building_s + (last.cpu_s / part if part > 0 else 0.0)
        return Forecast(last.crossings, peak_bytes, building_s, cpu_s, last.now_s, slowness)
    middle = _middle(looks)
    crossings = last.crossings + _rest(scenario, middle, last)
    cpu_s = building_s + last.cpu_s * crossings / last.crossings
    memory_bytes = peak_bytes + _growth(scenario, middle, last, simulation.estimate.packet_bytes)
    return Forecast(crossings, memory_bytes, building_s, cpu_s, last.now_s, slowness)


def _middle(looks: Sequence[_Look]) -> _Look:
    """The measurement nearest to the middle of the trial, whose first half is mostly slow start and not typical."""
    return min(looks[:-1], key=lambda each: abs(each.now_s - looks[-1].now_s / 2))


def _rest(scenario: Scenario, middle: _Look, last: _Look) -> float:
    """Link crossings after the trial, in the same ratio to `_bound` as in the second half of the trial."""
    seen, lasted_s = last.crossings - middle.crossings, last.now_s - middle.now_s
    try:
        half, trial, whole = (_bound(scenario, t_s) for t_s in (middle.now_s, last.now_s, scenario.duration_s))
    except SimError:  # a truncated scenario may be invalid
        half = trial = whole = math.nan
    if trial > half:
        return seen * (whole - trial) / (trial - half)
    return seen * (scenario.duration_s - last.now_s) / lasted_s if lasted_s > 0 else 0.0


def _bound(scenario: Scenario, t_s: float) -> float:
    """Link crossings until a time if flows fill their links; accounts for flows that start and end."""
    if t_s <= 0:
        return 0.0
    events = tuple(event for event in scenario.events if event.at_s <= t_s)
    return estimate(replace(scenario, duration_s=t_s, warmup_s=0.0, events=events)).link_crossings


def _growth(scenario: Scenario, middle: _Look, last: _Look, most_bytes: float) -> float:
    """Growth of packet memory after the trial, bytes, at most the capacity of limited queues."""
    lasted_s = last.now_s - middle.now_s
    if lasted_s <= 0:
        return 0.0
    per_s = max(0.0, last.memory_bytes - middle.memory_bytes) / lasted_s
    grown = per_s * (scenario.duration_s - last.now_s)
    queues = (side.queue for link in scenario.links.values() for side in (link.forward, link.reverse))
    is_bounded = all(queue.limit_pkts is not None or queue.limit_bytes is not None for queue in queues)
    return min(grown, most_bytes) if is_bounded else grown
