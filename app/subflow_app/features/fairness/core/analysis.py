"""The fairness analysis: goodput of each connection of a run over a window, beside its fair share of the network.

The goodput comes from the traces of the run.

Resource pooling compares the capacity that multipath connections get from their paths together with that of one path.
The principle: "make a collection of resources behave like a single pooled resource" (Wischik, Handley, Bagnulo 2008,
"The resource pooling principle", ACM CCR 38(5)). Its success is measured between two marks, as Raiciu et al. 2011
("Improving datacenter performance and robustness with Multipath TCP", SIGCOMM) do with single-path TCP and the optimum:

* the single-path share b: the share of a connection if all connections used one path, the best for each
  (`single_path_totals`);
* the pooled share o: its max-min fair share if all connections may split over all paths (`max_min_split`).

With the goodput g of a connection:

    gain       = g / b            above 1: better off than with the best single path (goal 1 of RFC 6356: at least 1)
    potential  = o / b            what pooling could bring; 1: this topology has nothing to pool
    efficiency = (g - b)/(o - b)  0: as with single paths, 1: all that can be pooled is; undefined where o = b

In total the same with the sums over the multipath connections.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from subflow_app.features.plots.core.curve_plots import flow_ends_s
from subflow_app.features.plots.core.spec import transport_flows
from subflow_app.features.traces.core.traces import FLOW, Traces, select_keys
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import finite
from subflow_sim.fairness.ideal import IdealShares, ideal_shares
from subflow_sim.fairness.network import Lifetime, lifetimes
from subflow_sim.scenario import Scenario
from subflow_sim.stats import jain_index

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


_NOTHING_TO_POOL = 1e-3


@dataclass(frozen=True, slots=True)
class PoolingGain:
    """Goodput of a connection, or of several together, between what a single path gives and what pooling could.

    Attributes:
        goodput_bps: what it has; NaN: nothing was run.
        single_path_bps: what it would have with its best path alone.
        pooled_bps: what it would have if all paths were pooled.
    """

    goodput_bps: float
    single_path_bps: float
    pooled_bps: float

    @property
    def gain(self) -> float:
        """Goodput over the single-path share; NaN if there is none."""
        return _ratio(self.goodput_bps, self.single_path_bps)

    @property
    def potential(self) -> float:
        """Pooled share over the single-path share; NaN if there is none."""
        return _ratio(self.pooled_bps, self.single_path_bps)

    @property
    def efficiency(self) -> float:
        """Which part of what pooling could bring has been had; NaN where it could bring nothing."""
        room_bps = self.pooled_bps - self.single_path_bps
        if not self.pooled_bps > 0 or not abs(room_bps) > _NOTHING_TO_POOL * self.pooled_bps:
            return math.nan
        return _ratio(self.goodput_bps - self.single_path_bps, room_bps)


def pooling_gains(
    multipath: Collection[str],
    goodputs_bps: Mapping[str, float],
    single_path_bps: Mapping[str, float],
    pooled_bps: Mapping[str, float],
) -> tuple[dict[str, PoolingGain], PoolingGain | None]:
    """The gain of each multipath connection that anything limits, and of all together; None if there is none."""
    gains = {
        name: PoolingGain(goodputs_bps.get(name, math.nan), single_path_bps[name], pooled_bps[name])
        for name in multipath
        if name in pooled_bps and math.isfinite(pooled_bps[name]) and math.isfinite(single_path_bps[name])
    }
    if not gains:
        return {}, None
    sums = (
        math.fsum(getattr(gain, field) for gain in gains.values())
        for field in ("goodput_bps", "single_path_bps", "pooled_bps")
    )
    return gains, PoolingGain(*sums)


def _ratio(part: float, whole: float) -> float:
    return part / whole if math.isfinite(whole) and whole != 0 else math.nan


@dataclass(frozen=True, slots=True)
class ConnectionShare:
    """One connection over the window, rates of payload in bit/s.

    Attributes:
        name: "download.2".
        flow: its key in the scenario, "download".
        kind: "tcp" or "mptcp".
        controller: its congestion controller.
        goodput_bps: goodput while active; NaN: nothing was run, or no sample of it is there yet.
        max_min_bps: its share of the max-min fair split; infinite: nothing limits it.
        proportional_bps: its share of the proportionally fair split.
        single_path_bps: its share if everybody used one path only.
        bottlenecks: link directions that limit it in the max-min fair split, "wifi/forward".
        pooling: of a multipath connection that something limits.
    """

    name: str
    flow: str
    kind: str
    controller: str
    goodput_bps: float
    max_min_bps: float
    proportional_bps: float
    single_path_bps: float
    bottlenecks: tuple[str, ...]
    pooling: PoolingGain | None

    @property
    def of_max_min(self) -> float:
        """Goodput over the max-min fair share; NaN where there is none."""
        return self.goodput_bps / self.max_min_bps if 0 < self.max_min_bps < math.inf else math.nan

    @property
    def of_proportional(self) -> float:
        """Goodput over the proportionally fair share; NaN where there is none."""
        return self.goodput_bps / self.proportional_bps if 0 < self.proportional_bps < math.inf else math.nan


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A link direction that limits somebody.

    Attributes:
        name: "wifi/forward".
        time_share: share of the window in which it does, 0 to 1.
        connections: how many connections it limits.
        price: what 1 bit/s more of payload would add to the least of the totals that it limits, bit/s.
    """

    name: str
    time_share: float
    connections: int
    price: float


@dataclass(frozen=True, slots=True)
class FairnessAnalysis:
    """What the analysis shows of a scenario, or of a run of it.

    Attributes:
        title: of the run or scenario.
        from_s: start of the window, s.
        to_s: its end, s.
        is_run: whether there are measured shares.
        connections: those that send in the window, in the order of the scenario.
        bottlenecks: the most limiting first.
        jain: Jain's index of the goodputs while active; NaN for fewer than two.
        jain_of_shares: Jain's index of goodput over max-min fair share, 1 where all miss the ideal alike.
        to_max_min: distance to the max-min fair split, see `distance`.
        to_proportional: distance to the proportionally fair split.
        pooling: of all multipath connections together.
        gap: of the proportionally fair split, see `Split`.
        notices: what to know about these numbers, for people.
    """

    title: str
    from_s: float
    to_s: float
    is_run: bool
    connections: tuple[ConnectionShare, ...]
    bottlenecks: tuple[Bottleneck, ...]
    jain: float
    jain_of_shares: float
    to_max_min: float
    to_proportional: float
    pooling: PoolingGain | None
    gap: float
    notices: tuple[str, ...]


def shared_index(rates: Sequence[float]) -> float:
    """Jain's index of those rates that are known, 1/n to 1; NaN for fewer than two, or where all are zero."""
    known = [rate for rate in rates if math.isfinite(rate)]
    return jain_index(known) if len(known) > 1 and any(known) else math.nan


def distance(goodputs_bps: Sequence[float], shares_bps: Sequence[float]) -> float:
    """How far rates are from a split: sum of |g - s| over the sum of s. 0: there; 1: as far as nothing at all.

    Connections without a goodput or with an unlimited share are left out; NaN if none is left.
    """
    pairs = [
        (rate, share)
        for rate, share in zip(goodputs_bps, shares_bps, strict=True)
        if math.isfinite(rate) and math.isfinite(share)
    ]
    total = math.fsum(share for _, share in pairs)
    return math.fsum(abs(rate - share) for rate, share in pairs) / total if total > 0 else math.nan


def scenario_analysis(scenario: Scenario, from_s: float | None = None, to_s: float | None = None) -> FairnessAnalysis:
    """The ideal alone, without a run: from the warm-up to the end, or over that window.

    Raises:
        InputError: if the window is not in the scenario, or no split is found.
    """
    start_s = scenario.warmup_s if from_s is None else from_s
    end_s = scenario.duration_s if to_s is None else to_s
    check_window(start_s, end_s, scenario.duration_s)
    alive = lifetimes(scenario)
    ideal = _ideal(scenario, start_s, end_s, alive)
    notices = _of_scenario(scenario)
    if any(flow.arrivals is not None for flow in scenario.flows.values()):
        notices.append(tr("Flows that arrive at random are default: only a run shows which arrive, and when."))
    if any(flow.size_bytes is not None for flow in scenario.flows.values()):
        notices.append(tr("Transfers of a limited size count as endless: only a run shows when they end."))
    return _analysis(scenario.name, scenario, ideal, None, notices)


def run_analysis(
    traces: Traces,
    from_s: float | None = None,
    to_s: float | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> FairnessAnalysis:
    """What the connections of a run got, beside the ideal.

    Args:
        traces: of the run, which may be going on.
        from_s: start of the window, s; left out: the end of the warm-up.
        to_s: its end, s; left out: as far as the run is.
        is_cancelled: whether all this is in vain.

    Raises:
        InputError: if the scenario of the run is not known, or nothing of the run is in the window.
        InterruptedError: if it was cancelled.
        StoreError: if the database cannot be read.
    """
    scenario = scenario_of(traces)
    if scenario is None:
        raise InputError(
            tr('the scenario of run "{run}" is not known: no fair split to compare with', run=traces.title)
        )
    known_s = end_of(traces)
    start_s = min(traces.warmup_s, known_s) if from_s is None else from_s
    end_s = known_s if to_s is None else min(to_s, known_s)
    if known_s > 0 and start_s >= end_s and from_s is None and to_s is None:
        start_s = 0.0  # still warming up: better all there is than nothing
    check_window(start_s, end_s, known_s)
    alive = measured_lifetimes(scenario, traces)
    ideal = _ideal(scenario, start_s, end_s, alive, is_cancelled)
    rates = goodputs(traces, start_s, end_s, alive)
    if from_s is None and to_s is None and start_s == traces.warmup_s:
        rates |= _summed_up(traces, rates)
    return _analysis(traces.title, scenario, ideal, rates, _of_scenario(scenario))


def _summed_up(traces: Traces, rates: Mapping[str, float]) -> dict[str, float]:
    """The goodputs while active that the summary of a run has of the whole measured interval, with all their digits.

    Those from samples differ in the samples in which a connection begins or ends.
    """
    summary = traces.row.summary if traces.row is not None else None
    told = {str(flow["name"]): finite(flow.get("active_goodput_bps")) for flow in (summary or {}).get("flows", ())}
    return {name: rate for name in rates if (rate := told.get(name)) is not None}


def check_window(from_s: float, to_s: float, end_s: float) -> None:
    """Whether a window lies in a run.

    Raises:
        InputError: naming the times and what is allowed.
    """
    if not 0 <= from_s < to_s <= end_s * (1 + 1e-9):
        raise InputError(
            tr(
                "a window from {begin} s to {end} s: it must begin before it ends, and lie between 0 s and {last} s",
                begin=f"{from_s:g}",
                end=f"{to_s:g}",
                last=f"{end_s:g}",
            )
        )


def _ideal(
    scenario: Scenario,
    from_s: float,
    to_s: float,
    alive: Mapping[str, Lifetime],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> IdealShares:
    try:
        return ideal_shares(scenario, from_s, to_s, alive, is_cancelled)
    except ArithmeticError as error:
        raise InputError(str(error)) from error


def _of_scenario(scenario: Scenario) -> list[str]:
    notices = []
    if any(flow.recv_buffer_bytes is not None for flow in scenario.flows.values()):
        notices.append(tr("The fair splits ignore receive buffers, which can keep a connection below its share."))
    if any(flow.sends_datagrams for flow in scenario.flows.values()):
        notices.append(tr("Datagram flows are subtracted at their mean rate; the rest is shared."))
    return notices


def _analysis(
    title: str, scenario: Scenario, ideal: IdealShares, measured: Mapping[str, float] | None, notices: list[str]
) -> FairnessAnalysis:
    rates = measured or {}
    flows = {
        name: scenario.flows[name.partition(".")[0] if name not in scenario.flows else name]
        for name in ideal.max_min.totals_bps
    }
    multipath = [name for name, flow in flows.items() if len(flow.paths) > 1]
    max_min, proportional = ideal.max_min.totals_bps, ideal.proportional.totals_bps
    gains, together = pooling_gains(multipath, rates, ideal.single_path_bps, max_min)
    connections = tuple(
        ConnectionShare(
            name,
            flow.name,
            flow.kind,
            flow.controller.name,
            rates.get(name, math.nan),
            max_min[name],
            proportional[name],
            ideal.single_path_bps[name],
            ideal.max_min.bottlenecks[name],
            gains.get(name),
        )
        for name, flow in flows.items()
    )
    if any(math.isinf(each.max_min_bps) for each in connections):
        notices.append(tr("Nothing limits some connections: their fair share is unlimited."))
    if any(each.max_min_bps == 0 for each in connections):
        notices.append(tr("Some connections have no path to their destination: their fair share is 0."))
    goods = [each.goodput_bps for each in connections]
    bottlenecks = tuple(
        Bottleneck(
            name,
            share,
            sum(name in each.bottlenecks for each in connections),
            ideal.max_min.prices.get(name, 0.0),
        )
        for name, share in ideal.limiting.items()
    )
    return FairnessAnalysis(
        title,
        ideal.from_s,
        ideal.to_s,
        measured is not None,
        connections,
        bottlenecks,
        shared_index(goods),
        shared_index([each.of_max_min for each in connections]),
        distance(goods, [each.max_min_bps for each in connections]),
        distance(goods, [each.proportional_bps for each in connections]),
        together,
        ideal.proportional.gap,
        tuple(notices),
    )


def analysis_document(analysis: FairnessAnalysis) -> dict[str, Any]:
    """The analysis as a JSON document; numbers that are not finite are null, unlimited shares the text "unlimited"."""
    return {
        "title": analysis.title,
        "from_s": analysis.from_s,
        "to_s": analysis.to_s,
        "connections": [
            {
                "name": each.name,
                "kind": each.kind,
                "controller": each.controller,
                "goodput_bps": _value(each.goodput_bps),
                "active_goodput_bps": _value(each.goodput_bps),
                "max_min_bps": _value(each.max_min_bps),
                "proportional_bps": _value(each.proportional_bps),
                "single_path_bps": _value(each.single_path_bps),
                "of_max_min": _value(each.of_max_min),
                "of_proportional": _value(each.of_proportional),
                "bottlenecks": list(each.bottlenecks),
                "pooling": _pooling(each.pooling),
            }
            for each in analysis.connections
        ],
        "bottlenecks": [
            {"link": each.name, "time_share": each.time_share, "connections": each.connections, "price": each.price}
            for each in analysis.bottlenecks
        ],
        "jain": _value(analysis.jain),
        "jain_of_shares": _value(analysis.jain_of_shares),
        "distance_to_max_min": _value(analysis.to_max_min),
        "distance_to_proportional": _value(analysis.to_proportional),
        "pooling": _pooling(analysis.pooling),
        "duality_gap": analysis.gap,
        "notices": list(analysis.notices),
    }


def _pooling(gain: PoolingGain | None) -> dict[str, Any] | None:
    if gain is None:
        return None
    return {
        "goodput_bps": _value(gain.goodput_bps),
        "single_path_bps": _value(gain.single_path_bps),
        "pooled_bps": _value(gain.pooled_bps),
        "gain": _value(gain.gain),
        "potential": _value(gain.potential),
        "efficiency": _value(gain.efficiency),
    }


def _value(number: float) -> float | str | None:
    if math.isinf(number):
        return "unlimited"
    return None if math.isnan(number) else number
