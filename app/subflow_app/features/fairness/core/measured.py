"""What connections really got: their goodput over a window, from the traces of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from subflow_app.features.plots.core.jain import flow_ends_s
from subflow_app.features.plots.core.spec import transport_flows
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces, select_keys
from subflow_sim.fairness.network import Lifetime, lifetimes
from subflow_sim.scenario import Scenario

_GOODPUT = "goodput_bps"


@runtime_checkable
class OfScenario(Protocol):
    """Traces that know what was simulated; those of a measurement do not."""

    @property
    def scenario(self) -> Scenario | None:
        """The scenario with all events, also those that were live changes; None if it cannot be read."""


def scenario_of(traces: Traces) -> Scenario | None:
    """What was simulated; None if that is not known."""
    return traces.scenario if isinstance(traces, OfScenario) else None


def end_of(traces: Traces) -> float:
    """How far the samples of a run go, s: less than its duration while it goes on, or where it was stopped."""
    keys = select_keys(traces, FLOW, _GOODPUT)
    if not keys:
        return 0.0
    time_s, values = traces.read(keys[0])
    count = min(len(time_s), len(values))
    return float(time_s[count - 1]) if count else 0.0


def measured_lifetimes(scenario: Scenario, traces: Traces) -> dict[str, Lifetime]:
    """When each connection of a run sent: from its start until it was done or closed, or to the end.

    What arrives starts when its first subflow is established.
    """
    planned, ends_s = lifetimes(scenario), flow_ends_s(traces)
    established: dict[str, float] = {}
    for mark in traces.marks():
        if mark.kind == "established":
            established.setdefault(mark.owner.partition("/")[0], mark.time_s)
    alive = {}
    for name in transport_flows(traces):
        life = planned.get(name)
        if life is None and name not in established:
            continue  # a place for a copy that has not come
        start_s = established[name] if life is None else life.from_s
        end_s = min(math.inf if life is None else life.to_s, ends_s.get(name, math.inf))
        alive[name] = Lifetime(start_s, end_s)
    return alive


def goodputs(traces: Traces, from_s: float, to_s: float, alive: Mapping[str, Lifetime]) -> dict[str, float]:
    """By connection, its mean goodput over the part of a window in which it sends, bit/s; without those that do not.

    A sample is the mean over the interval that ends with it; it counts as far as that lies in the window.
    """
    found = {}
    for key in select_keys(traces, FLOW, _GOODPUT):
        life = alive.get(key.owner)
        if life is None:
            continue
        start_s, end_s = max(from_s, life.from_s), min(to_s, life.to_s)
        time_s, values = traces.read(key)
        count = min(len(time_s), len(values))
        if count == 0 or end_s <= start_s:
            continue
        ends_s = time_s[:count]
        begins_s = np.concatenate([[0.0], ends_s[:-1]])
        # What arrives after the end of a flow was sent before it.
        inside_s = np.clip(np.minimum(ends_s, to_s) - np.maximum(begins_s, start_s), 0.0, None)
        known = np.nan_to_num(values[:count].astype(np.float64), posinf=0.0, neginf=0.0)
        span_s = min(end_s, float(ends_s[-1])) - start_s
        if span_s > 0:
            found[key.owner] = float(known @ inside_s) / span_s
    return found


def subflow_count(traces: Traces) -> dict[str, int]:
    """How many subflows each connection can have."""
    counts: dict[str, int] = {}
    for owner in dict.fromkeys(key.owner for key in select_keys(traces, SUBFLOW)):
        flow = owner.partition("/")[0]
        counts[flow] = counts.get(flow, 0) + 1
    return counts
