"""Where a step of a run ends, and the scale on which its speed is chosen."""

from __future__ import annotations

import math
from typing import Literal

from subflow_sim.scenario import Scenario

StepSize = Literal["sample", "event", "1ms", "100ms"]

_NANOSECONDS = 1_000_000_000
_LENGTHS_S: dict[StepSize, float] = {"1ms": 0.001, "100ms": 0.1}

SLOWEST = 0.01
FASTEST = 1000.0
_STEPS_PER_DECADE = 10
MOST_SPEED_STEPS = round(math.log10(FASTEST / SLOWEST) * _STEPS_PER_DECADE) + 1
"""The last position of the scale: as fast as it goes."""


def next_event_s(scenario: Scenario, now_s: float) -> float | None:
    """When something is next to happen that the scenario plans, s: an event, or a flow that starts or stops.

    Flows that arrive at random, and starts with a random delay, are known to the simulator alone.
    """
    times = [event.at_s for event in scenario.events]
    for flow in scenario.flows.values():
        if flow.arrivals is None and scenario.start_jitter_s == 0:
            times.append(flow.start_s)
        if flow.stop_s is not None:
            times.append(flow.stop_s)
    now_ns = round(now_s * _NANOSECONDS)
    to_come = (at_s for at_s in times if now_ns < round(at_s * _NANOSECONDS) and at_s < scenario.duration_s)
    return min(to_come, default=None)


def step_end_s(size: StepSize, scenario: Scenario, now_s: float, sample_interval_s: float) -> float:
    """Where a step from `now_s` ends, s: at the end of the run at the latest."""
    end_s = scenario.duration_s
    if size == "event":
        at_s = next_event_s(scenario, now_s)
        return end_s if at_s is None else at_s
    if size == "sample":
        # In whole nanoseconds: a sum of tenths of seconds would come to stand a little before a sample.
        interval_ns = max(1, round(sample_interval_s * _NANOSECONDS))
        return min(end_s, (round(now_s * _NANOSECONDS) // interval_ns + 1) * interval_ns / _NANOSECONDS)
    return min(end_s, (round(now_s * _NANOSECONDS) + round(_LENGTHS_S[size] * _NANOSECONDS)) / _NANOSECONDS)


def speed_at(position: int) -> float | None:
    """The speed limit at a position of the logarithmic scale from 0 to `MOST_SPEED_STEPS`; None: no limit."""
    if position >= MOST_SPEED_STEPS:
        return None
    exact = SLOWEST * 10.0 ** (max(0, position) / _STEPS_PER_DECADE)
    # Two digits: 0.1, 0.13, 0.16 and so on.
    return float(f"{exact:.2g}")


def position_of(limit: float | None) -> int:
    """The nearest position of a speed limit."""
    if limit is None:
        return MOST_SPEED_STEPS
    position = round(math.log10(max(limit, SLOWEST) / SLOWEST) * _STEPS_PER_DECADE)
    return min(MOST_SPEED_STEPS - 1, position)


def speed_text(limit: float | None) -> str:
    """A speed limit as a button says it: ``0.1×``; empty without a limit."""
    return "" if limit is None else f"{limit:g}×"
