"""A finished run as input of measures: values of its summary, and time series from the store."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW, sample_times
from subflow_sim.params import HEADER_BYTES
from subflow_sim.transport_params import effective_transport

if TYPE_CHECKING:
    from subflow_sim.scenario import Flow, LinkDirection, Scenario
    from subflow_store import Store

Samples = NDArray[np.float64]

_FLOW_KEY = re.compile(r"flows\.(?P<flow>[^/]+)\.goodput_bps")
_EDGE_S = 1e-9


class Siblings(Protocol):
    """Access from one run to all runs of its experiment."""

    def other(self, series: str) -> RunData | None:
        """The run of a different series at the same point with the same seed; None if it is missing."""

    def all(self) -> Iterator[RunData]:
        """All finished runs of the experiment."""


class RunData:
    """A finished run.

    Args:
        store: store of the run.
        run_id: number of the run.
        figures: recorded values by key.
        scenario: reads the scenario of the run.
        siblings: access to all runs of the experiment.
    """

    def __init__(
        self,
        store: Store,
        run_id: int,
        figures: Mapping[str, float],
        scenario: Callable[[], Scenario],
        siblings: Siblings,
    ) -> None:
        self.store = store
        self.run_id = run_id
        self.figures = figures
        self.siblings = siblings
        self._read_scenario = scenario
        self._read: dict[tuple[str, str, str], Samples] = {}

    @cached_property
    def scenario(self) -> Scenario:
        """Scenario of the run, read at the first access."""
        return self._read_scenario()

    @cached_property
    def all_flows(self) -> tuple[str, ...]:
        """Names of all flows, e.g. "download.1"."""
        return tuple(match["flow"] for key in self.figures if (match := _FLOW_KEY.fullmatch(key)))

    def flows(self, patterns: str | None) -> tuple[str, ...]:
        """Flows whose names match the patterns ("download*, tcp"); without patterns, all flows with a controller."""
        if patterns is None:
            return tuple(name for name in self.all_flows if not self.flow(name).sends_datagrams)
        return tuple(name for name in self.all_flows if matches(name, patterns))

    def flow(self, name: str) -> Flow:
        """The flow of the scenario with this name; the name of a copy, e.g. "download.1", selects its original."""
        flows = self.scenario.flows
        return flows[name] if name in flows else flows[name.rpartition(".")[0]]

    def subflows(self, flow: str, only: int | None) -> tuple[str, ...]:
        """Names of the subflows of a flow, e.g. "download.1/2"; `only` selects one subflow by number, from 1."""
        numbers = range(1, 1 + sum(f"flows.{flow}/{n}.throughput_bps" in self.figures for n in range(1, 65)))
        return tuple(f"{flow}/{number}" for number in numbers if only in (None, number))

    def figure(self, key: str) -> float:
        """A recorded value; NaN if it is missing."""
        return self.figures.get(key, math.nan)

    def part(self, owner: str, keys: Iterable[str]) -> dict[str, float]:
        """Recorded values of a flow or subflow, e.g. "download.1/2", without missing keys."""
        found = {key: self.figures.get(f"flows.{owner}.{key}") for key in keys}
        return {key: value for key, value in found.items() if value is not None}

    def active(self, flow: str) -> NDArray[np.bool_]:
        """Mask of the samples within the active time of a flow, from its start to its completion, bool [n]."""
        start_s = self.figures.get(f"flows.{flow}.start_s", 0.0)
        end_s = start_s + self.figures.get(f"flows.{flow}.completion_s", math.inf)
        return (self.times_s > start_s + _EDGE_S) & (self.times_s - self.interval_s < end_s - _EDGE_S)

    def payload_bytes(self, flow: str) -> int:
        """Payload of a full packet, bytes; the DSS option of MPTCP reduces the payload."""
        scenario = self.scenario
        if self.flow(flow).kind != "mptcp":
            return scenario.mss_bytes
        chosen: Mapping[str, Any] = effective_transport(scenario.profile, scenario.transport)
        return scenario.mss_bytes - int(chosen["dss_option"])

    def wire_factor(self, flow: str) -> float:
        """Bits on the wire per bit of payload, in full packets."""
        return (self.scenario.mss_bytes + HEADER_BYTES) / self.payload_bytes(flow)

    @property
    def counted_s(self) -> float:
        """Measured time after the warm-up, s."""
        return self.scenario.duration_s - self.scenario.warmup_s

    # Time series

    @cached_property
    def _series(self) -> Mapping[tuple[str, str, str], Any]:
        return {(each.scope, each.owner, each.name): each for each in self.store.series(self.run_id)}

    @cached_property
    def times_s(self) -> Samples:
        """Times of all samples, s; empty without time series."""
        for info in self._series.values():
            return sample_times(info.t0_s, info.dt_s, info.n)
        return np.empty(0)

    @property
    def interval_s(self) -> float:
        """Sampling interval, s; 0 with fewer than two samples."""
        times = self.times_s
        return float(times[1] - times[0]) if len(times) > 1 else 0.0

    def samples(self, scope: str, owner: str, name: str) -> Samples:
        """Values of a series at each of `times_s`; NaN if the series is missing."""
        key = (scope, owner, name)
        found = self._read.get(key)
        if found is None:
            info = self._series.get(key)
            n = len(self.times_s)
            found = np.full(n, math.nan) if info is None else np.asarray(self.store.read(info.id).values, float)[:n]
            self._read[key] = found
        return found

    def flow_samples(self, flow: str, name: str, subflow: int | None) -> Samples:
        """Time series of a flow or of one subflow. A series that the flow lacks is summed over its subflows."""
        if subflow is not None:
            return self.samples(SUBFLOW, f"{flow}/{subflow}", name)
        if (FLOW, flow, name) in self._series:
            return self.samples(FLOW, flow, name)
        return total([self.samples(SUBFLOW, owner, name) for owner in self.subflows(flow, None)], len(self.times_s))

    def link_samples(self, owner: str, name: str) -> Samples:
        """Time series of a link direction."""
        return self.samples(LINK, owner, name)

    def window(self, options: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Mask of the samples between `since` and `until`; a sample describes the interval that ends at its time."""
        since_s = options.get("since")
        since_s = self.scenario.warmup_s if since_s is None else since_s
        until_s = math.inf if options.get("until") is None else options["until"]
        return (self.times_s > since_s + _EDGE_S) & (self.times_s <= until_s + _EDGE_S)

    # Links

    def links(self, patterns: str | None) -> tuple[str, ...]:
        """Link directions that match the patterns; "wifi" means "wifi/forward". None selects all directions."""
        owners = [f"{name}/{side}" for name in self.scenario.links for side in ("forward", "reverse")]
        if patterns is None:
            return tuple(owners)
        return tuple(
            owner
            for owner in owners
            if matches(owner, patterns) or (owner.endswith("/forward") and matches(owner.partition("/")[0], patterns))
        )

    def direction(self, owner: str) -> LinkDirection:
        """The initial state of a link direction."""
        name, _, side = owner.partition("/")
        link = self.scenario.links[name]
        return link.reverse if side == "reverse" else link.forward

    def link_rate(self, owner: str, times_s: Samples) -> Samples:
        """Rate of a link direction at these times, bit/s; NaN if unlimited, and the mean rate for a delivery trace."""
        direction = self.direction(owner)
        if direction.trace is not None:
            times_ms = direction.trace.times_ms
            return np.full(len(times_s), len(times_ms) * 1500 * 8 / (times_ms[-1] * 1e-3))
        rates = np.full(len(times_s), math.nan if direction.rate_bps is None else direction.rate_bps)
        name, _, side = owner.partition("/")
        for event in self.scenario.events:
            if event.link == name and event.rate_bps is not None and event.direction in ("both", side):
                rates[times_s > event.at_s + _EDGE_S] = event.rate_bps
        return rates

    def propagation_s(self, flow: Flow, subflow: int) -> float:
        """Propagation delay of a subflow's path and return path, s."""
        links = [self.scenario.links[name] for name in flow.paths[subflow - 1]]
        return sum(link.forward.delay_s + link.reverse.delay_s for link in links)


def matches(name: str, patterns: str) -> bool:
    """True if a pattern matches a flow's name, or its base name: "tcp" matches "tcp.3"."""
    wanted = [each.strip() for each in patterns.split(",")]
    base = name.rpartition(".")[0]
    return any(fnmatchcase(name, each) or (bool(base) and fnmatchcase(base, each)) for each in wanted)


def total(parts: Sequence[Samples], n: int) -> Samples:
    """The sum at each time; NaN if all parts lack a value."""
    if not parts:
        return np.full(n, math.nan)
    stacked = np.vstack(parts)
    return np.where(np.isnan(stacked).all(axis=0), math.nan, np.nansum(stacked, axis=0))


def average(parts: Sequence[Samples], n: int, weights: Sequence[Samples] | None = None) -> Samples:
    """The mean over the known values at each time, weighted by `weights` if given; NaN if all values are missing."""
    if not parts:
        return np.full(n, math.nan)
    stacked = np.vstack(parts)
    weighed = np.ones_like(stacked) if weights is None else np.nan_to_num(np.vstack(weights))
    weighed = np.where(np.isnan(stacked), 0.0, weighed)
    # If all weights at a time are zero, the parts count equally.
    weighed = np.where(weighed.sum(axis=0) > 0, weighed, (~np.isnan(stacked)).astype(float))
    sums = weighed.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums > 0, np.nansum(np.nan_to_num(stacked) * weighed, axis=0) / sums, math.nan)


def trailing_mean(values: Samples, n: int) -> Samples:
    """Moving average over each value and up to n - 1 values before it; NaN values are ignored."""
    n = max(n, 1)
    known = ~np.isnan(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - n, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            counts[ends] > counts[starts], (sums[ends] - sums[starts]) / (counts[ends] - counts[starts]), math.nan
        )
