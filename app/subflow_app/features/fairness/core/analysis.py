"""The fairness analysis, which compares the goodput of each connection of a run over a window with its fair share.

The goodput comes from the traces of the run.

Resource pooling compares the capacity that a multipath connection gets from all its paths with the capacity of one
path. The principle: "make a collection of resources behave like a single pooled resource" (Wischik, Handley, Bagnulo
2008, "The resource pooling principle", ACM CCR 38(5)). Its success is measured by comparison with two reference shares,
which correspond to single-path TCP and the optimum in Raiciu et al. 2011 ("Improving datacenter performance and
robustness with Multipath TCP", SIGCOMM):

* the single-path share b: the share of a connection if all connections used only their best path
  (`single_path_totals`);
* the pooled share o: its max-min fair share if all connections may split over all paths (`max_min_split`).

With the goodput g of a connection:

    gain       = g / b            above 1: more than with the best single path (goal 1 of RFC 6356: at least 1)
    potential  = o / b            gain of perfect pooling; 1: pooling cannot help here
    efficiency = (g - b)/(o - b)  0: as with single paths, 1: perfect pooling; undefined if o = b

For all connections together, g, b and o are the sums over the multipath connections.
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
    """Traces with a scenario; traces of measured runs lack the property."""

    @property
    def scenario(self) -> Scenario | None:
        """The scenario with all events, including live changes; None if it cannot be read."""


def scenario_of(traces: Traces) -> Scenario | None:
    """The scenario of a run; None if unknown."""
    return traces.scenario if isinstance(traces, OfScenario) else None


def end_of(traces: Traces) -> float:
    """Time of the last goodput sample in seconds; 0 before the first sample.

    For an active or stopped run, it is less than the duration.
    """
    keys = select_keys(traces, FLOW, _GOODPUT)
    if not keys:
        return 0.0
    time_s, values = traces.read(keys[0])
    count = min(len(time_s), len(values))
    return float(time_s[count - 1]) if count else 0.0


def measured_lifetimes(scenario: Scenario, traces: Traces) -> dict[str, Lifetime]:
    """Lifetime of each connection of a run. It ends at the completion, close or planned stop, or else never.

    A randomly arriving connection starts when its first subflow is established.
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
            continue  # reserved for a copy that has not arrived
        start_s = established[name] if life is None else life.from_s
        end_s = min(math.inf if life is None else life.to_s, ends_s.get(name, math.inf))
        alive[name] = Lifetime(start_s, end_s)
    return alive


def goodputs(traces: Traces, from_s: float, to_s: float, alive: Mapping[str, Lifetime]) -> dict[str, float]:
    """Mean goodput of each connection, bit/s, over the part of a window in which it is active.

    Connections that are inactive in the whole window are omitted. A sample is the mean over the interval that ends with
    it, and counts in proportion to its overlap with the window.
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
        # Samples after the end of a flow also count, because their bytes were sent before its end.
        inside_s = np.clip(np.minimum(ends_s, to_s) - np.maximum(begins_s, start_s), 0.0, None)
        known = np.nan_to_num(values[:count].astype(np.float64), posinf=0.0, neginf=0.0)
        span_s = min(end_s, float(ends_s[-1])) - start_s
        if span_s > 0:
            found[key.owner] = float(known @ inside_s) / span_s
    return found


_NOTHING_TO_POOL = 1e-3


@dataclass(frozen=True, slots=True)
class PoolingGain:
    """Goodput of one or several connections, compared with the single-path share and the pooled share.

    Attributes:
        goodput_bps: measured goodput; NaN for a scenario without a run.
        single_path_bps: share with only the best path.
        pooled_bps: share with all paths pooled.
    """

    goodput_bps: float
    single_path_bps: float
    pooled_bps: float

    @property
    def gain(self) -> float:
        """Goodput over the single-path share; NaN if undefined."""
        return _ratio(self.goodput_bps, self.single_path_bps)

    @property
    def potential(self) -> float:
        """Pooled share over the single-path share; NaN if undefined."""
        return _ratio(self.pooled_bps, self.single_path_bps)

    @property
    def efficiency(self) -> float:
        """Fraction of the possible pooling gain that was reached; NaN if no gain is possible or the goodput is NaN."""
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
    """Gains of multipath connections with finite shares, and the gain of their sums; None if these gains are empty."""
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
    """Goodput and fair shares of one connection over the window; payload rates in bit/s.

    Attributes:
        name: name of the connection, "download.2".
        flow: key of the connection's flow in the scenario, "download".
        kind: "tcp" or "mptcp".
        controller: name of the congestion controller.
        goodput_bps: goodput while active; NaN before the first sample, and for a scenario without a run.
        max_min_bps: share in the max-min fair split; infinite if no link limits the connection.
        proportional_bps: share in the proportionally fair split.
        single_path_bps: share if every connection used only one path.
        bottlenecks: link directions that limit the connection in the max-min fair split, "wifi/forward".
        pooling: pooling gain of a limited multipath connection; None for other connections.
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
        """Goodput over the max-min fair share; NaN for unlimited or zero shares."""
        return self.goodput_bps / self.max_min_bps if 0 < self.max_min_bps < math.inf else math.nan

    @property
    def of_proportional(self) -> float:
        """Goodput over the proportionally fair share; NaN for unlimited or zero shares."""
        return self.goodput_bps / self.proportional_bps if 0 < self.proportional_bps < math.inf else math.nan


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A link direction that limits connections in the max-min fair split.

    Attributes:
        name: name of the link direction, "wifi/forward".
        time_share: fraction of the window in which the link limits connections, 0 to 1.
        connections: number of connections that the link limits.
        price: increase of the smallest total among these connections per additional bit/s of payload capacity.
    """

    name: str
    time_share: float
    connections: int
    price: float


@dataclass(frozen=True, slots=True)
class FairnessAnalysis:
    """Results of the fairness analysis of a scenario or of a run.

    Attributes:
        title: title of the run or scenario.
        from_s: start of the window in seconds.
        to_s: end of the window in seconds.
        is_run: whether the analysis includes measured goodputs.
        connections: connections that send in the window, in the order of the scenario.
        bottlenecks: bottlenecks, the most limiting first.
        jain: Jain's index of the goodputs while active, see `shared_index`.
        jain_of_shares: Jain's index of goodput over max-min fair share; 1 if all ratios are equal.
        to_max_min: distance to the max-min fair split, see `distance`.
        to_proportional: distance to the proportionally fair split.
        pooling: pooling gain of all multipath connections together; None if no multipath connection is limited.
        gap: duality gap of the proportionally fair split, see `Split`.
        notices: limitations of these numbers, as sentences for display.
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
    """Jain's index of the finite rates, 1/n to 1; NaN for fewer than two rates, or if all are zero."""
    known = [rate for rate in rates if math.isfinite(rate)]
    return jain_index(known) if len(known) > 1 and any(known) else math.nan


def distance(goodputs_bps: Sequence[float], shares_bps: Sequence[float]) -> float:
    """Distance of rates g from shares s: the sum of |g - s| divided by the sum of s.

    It is 0 if the rates equal the shares, and 1 if all rates are zero. Connections without a goodput or with an
    unlimited share are ignored. The distance is NaN if no other connection exists.
    """
    pairs = [
        (rate, share)
        for rate, share in zip(goodputs_bps, shares_bps, strict=True)
        if math.isfinite(rate) and math.isfinite(share)
    ]
    total = math.fsum(share for _, share in pairs)
    return math.fsum(abs(rate - share) for rate, share in pairs) / total if total > 0 else math.nan


def scenario_analysis(scenario: Scenario, from_s: float | None = None, to_s: float | None = None) -> FairnessAnalysis:
    """Compute the fair shares of a scenario without a run, over a window or by default from the warm-up to the end.

    Raises:
        InputError: if the window lies outside the scenario, or no split is found.
    """
    start_s = scenario.warmup_s if from_s is None else from_s
    end_s = scenario.duration_s if to_s is None else to_s
    check_window(start_s, end_s, scenario.duration_s)
    alive = lifetimes(scenario)
    ideal = _ideal(scenario, start_s, end_s, alive)
    notices = _of_scenario(scenario)
    if any(flow.arrivals is not None for flow in scenario.flows.values()):
        notices.append(tr("Flows that arrive at random are not included: only a run shows which arrive, and when."))
    if any(flow.size_bytes is not None for flow in scenario.flows.values()):
        notices.append(tr("Transfers of a limited size count as endless: only a run shows when they end."))
    return _analysis(scenario.name, scenario, ideal, None, notices)


def run_analysis(
    traces: Traces,
    from_s: float | None = None,
    to_s: float | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> FairnessAnalysis:
    """Compare the goodputs of a run's connections with the fair shares.

    Args:
        traces: traces of the run, which may be active.
        from_s: start of the window in seconds; None for the end of the warm-up.
        to_s: end of the window in seconds; None for the last sample.
        is_cancelled: returns True to cancel.

    Raises:
        InputError: if the scenario is unknown, or the window lies outside the run.
        InterruptedError: if the caller cancels.
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
        start_s = 0.0  # during the warm-up, use all samples
    check_window(start_s, end_s, known_s)
    alive = measured_lifetimes(scenario, traces)
    ideal = _ideal(scenario, start_s, end_s, alive, is_cancelled)
    rates = goodputs(traces, start_s, end_s, alive)
    if from_s is None and to_s is None and start_s == traces.warmup_s:
        rates |= _summed_up(traces, rates)
    return _analysis(traces.title, scenario, ideal, rates, _of_scenario(scenario))


def _summed_up(traces: Traces, rates: Mapping[str, float]) -> dict[str, float]:
    """Goodputs while active, from the summary of a run; empty if the run has no summary yet.

    The summary covers the whole measured interval with full precision. Goodputs from samples are less exact, because a
    connection may begin or end within a sample.
    """
    summary = traces.row.summary if traces.row is not None else None
    told = {str(flow["name"]): finite(flow.get("active_goodput_bps")) for flow in (summary or {}).get("flows", ())}
    return {name: rate for name in rates if (rate := told.get(name)) is not None}


def check_window(from_s: float, to_s: float, end_s: float) -> None:
    """Check that a window lies in a run.

    Raises:
        InputError: if the window is empty or exceeds the run; the message names the times and the allowed range.
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
    """JSON document of the analysis, with null for NaN and "unlimited" for unlimited shares."""
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
