"""Computation of measures from finished runs. The module `measures` lists the measures and their options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.gallery.core.run_data import RunData, Samples, average, total, trailing_mean
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.vocabulary.measures import NAMED

Options: TypeAlias = Mapping[str, Any]

DEFAULT_REDUCE: Mapping[str, str] = {
    "sum": "sum", "mean": "mean", "max": "max", "ratio": "all", "weighted": "packets",
}  # fmt: skip
"""Default of the option `reduce` for each way in which the table of measures combines several flows."""


def reduced(values: Sequence[float], how: str) -> float:
    """Reduce several values to one number; NaN if the sequence is empty or a value is unknown."""
    if not values or any(math.isnan(value) for value in values):
        return math.nan
    match how:
        case "sum":
            return math.fsum(values)
        case "min":
            return min(values)
        case "max":
            return max(values)
        case _:
            return math.fsum(values) / len(values)


def over_time(values: Samples, window: NDArray[np.bool_], how: str | None) -> float:
    """Reduce a time series within a window to one number; NaN if all samples in the window are unknown."""
    known = values[window[: len(values)]]
    known = known[~np.isnan(known)]
    if not len(known):
        return math.nan
    match how:
        case "max":
            return float(known.max())
        case "min":
            return float(known.min())
        case "last":
            return float(known[-1])
        case _:
            return float(known.mean())


def is_timed(options: Options) -> bool:
    """True if the options require time series."""
    return any(options.get(key) is not None for key in ("since", "until", "over_time"))


def combined(parts: Sequence[Samples], how: str, n: int, weights: Sequence[Samples] = ()) -> Samples:
    """Combine the time series of several flows or links.

    Args:
        parts: time series, [n] each.
        how: a method of `reduced`, or "packets" for the mean weighted by `weights`.
        n: number of samples.
        weights: weights of the parts, [n] each.
    """
    if how == "packets":
        return average(parts, n, weights)
    if how == "sum":
        return total(parts, n)
    if how == "mean":
        return average(parts, n)
    if not parts:
        return np.full(n, math.nan)
    extreme: Samples = (np.fmin if how == "min" else np.fmax).reduce(np.vstack(parts))
    return extreme


# Rates


def rates(run: RunData, options: Options, column: str) -> list[Samples]:
    """Time series of the rate of each flow, bit/s."""
    names = run.flows(options.get("flows"))
    return [run.flow_samples(name, column, options.get("subflow")) * factor(run, name, options) for name in names]


def factor(run: RunData, flow: str, options: Options) -> float:
    """Factor that converts payload to bits on the wire if the option `wire` is set, otherwise 1."""
    return run.wire_factor(flow) if options.get("wire") else 1.0


def rate_course(column: str) -> Callable[[RunData, Options], Samples]:
    """Return a function that computes the time series of a rate, combined over the flows."""

    def course(run: RunData, options: Options) -> Samples:
        return combined(rates(run, options, column), options["reduce"], len(run.times_s))

    return course


def rate(column: str) -> Callable[[RunData, Options], float]:
    """Return a function that computes a rate, reduced over the flows, bit/s."""

    def value(run: RunData, options: Options) -> float:
        if is_timed(options):
            window = run.window(options)
            how = options["reduce"]
            if options.get("over_time") in (None, "mean"):
                return reduced([over_time(each, window, None) for each in rates(run, options, column)], how)
            course = combined(rates(run, options, column), how, len(run.times_s))
            return over_time(course, window, options["over_time"])
        names = run.flows(options.get("flows"))
        values = [flow_rate(run, name, column, options) * factor(run, name, options) for name in names]
        return reduced(values, options["reduce"])

    return value


def flow_rate(run: RunData, flow: str, column: str, options: Options) -> float:
    """Rate of a flow, bit/s. Summaries list the throughput only for subflows, so it is summed over the subflows."""
    subflow = options.get("subflow")
    if subflow is None and column == "goodput_bps":
        return run.figure(f"flows.{flow}.goodput_bps")
    return reduced([run.figure(f"flows.{owner}.{column}") for owner in run.subflows(flow, subflow)], "sum")


def active_goodput(run: RunData, options: Options) -> float:
    """Goodput of each flow over its active time, reduced over the flows, bit/s."""
    flows = run.flows(options.get("flows"))
    values = [run.figure(f"flows.{name}.active_goodput_bps") * factor(run, name, options) for name in flows]
    return reduced(values, options["reduce"])


def capacity_share(run: RunData, options: Options) -> float:
    """Total rate of the flows on the wire, as a fraction of the capacity of the links."""
    column = "goodput_bps" if options["of_goodput"] else "throughput_bps"
    carried = rate(column)(run, {**options, "reduce": "sum", "wire": True})
    return carried / mean_capacity(run, options)


def mean_capacity(run: RunData, options: Options) -> float:
    """Sum of the mean rates of links, bit/s."""
    scenario = run.scenario
    since_s = options.get("since")
    since_s = scenario.warmup_s if since_s is None else since_s
    until_s = options.get("until")
    until_s = scenario.duration_s if until_s is None else min(until_s, scenario.duration_s)
    middles = np.linspace(since_s, until_s, 10_001)[:-1] + (until_s - since_s) / 20_000
    return sum(float(run.link_rate(owner, middles).mean()) for owner in run.links(options["links"]))


def capacity_course(run: RunData, links: str) -> Samples:
    """The sum of the rates of links at the sample times of a run, bit/s."""
    return total([run.link_rate(owner, run.times_s) for owner in run.links(links)], len(run.times_s))


def share_ratio(run: RunData, options: Options) -> float:
    """Mean goodput of the flows, divided by the mean goodput of the flows in the option `over`."""
    mine = rate("goodput_bps")(run, {**options, "reduce": "mean"})
    others = rate("goodput_bps")(run, {**options, "flows": options["over"], "subflow": None, "reduce": "mean"})
    return mine / others if others else math.nan


def jain(run: RunData, options: Options) -> float:
    """Jain's index of the goodputs that the flows reach while they are active.

    With time options, only the active time within the window counts. Results from older versions do not contain the
    goodput while active, so their index uses the plain goodput.
    """
    index = NAMED["jain"]
    flows = [run.part(name, (index.source, "active_s", "goodput_bps")) for name in run.flows(options.get("flows"))]
    if is_timed(options):
        window = run.window(options)
        names = run.flows(options.get("flows"))
        courses = [(run.flow_samples(name, "goodput_bps", None), window & run.active(name)) for name in names]
        rates = [over_time(course, active, None) if active.any() else 0.0 for course, active in courses]
    elif options["active"] and all(index.source in flow for flow in flows):
        rates = [flow[index.source] for flow in flows if flow.get("active_s") != 0]
    else:
        rates = [flow.get("goodput_bps", math.nan) for flow in flows]
    found = None if any(map(math.isnan, rates)) else index.of_parts([{index.source: rate} for rate in rates])
    return math.nan if found is None else found


# Delay


def rtts(run: RunData, options: Options) -> list[Samples]:
    """Smoothed RTT of each flow, averaged over its subflows with their throughputs as weights."""
    found = []
    for name in run.flows(options.get("flows")):
        owners = run.subflows(name, options.get("subflow"))
        rtts = [run.samples(SUBFLOW, owner, "srtt_s") for owner in owners]
        weights = [run.samples(SUBFLOW, owner, "throughput_bps") for owner in owners]
        found.append(average(rtts, len(run.times_s), weights))
    return found


def rtt_course(run: RunData, options: Options) -> Samples:
    """Time series of the RTT, combined over the flows."""
    weights = rates(run, {**options, "wire": False}, "throughput_bps")
    return combined(rtts(run, options), options["reduce"], len(run.times_s), weights)


def rtt(run: RunData, options: Options) -> float:
    """The RTT of the flows, s."""
    if not is_timed(options):
        return flow_figure("rtt")(run, options)
    window = run.window(options)
    values = [over_time(each, window, options.get("over_time")) for each in rtts(run, options)]
    if options["reduce"] != "packets" or any(map(math.isnan, values)):
        return reduced(values, options["reduce"])
    # In a window, each flow is weighted by its throughput instead of its number of acknowledged packets.
    carried = [over_time(each, window, None) for each in rates(run, {**options, "wire": False}, "throughput_bps")]
    weighted = NAMED["rtt"].of_parts(
        [{"mean_rtt_s": value, "packets_acked": weight} for value, weight in zip(values, carried, strict=True)]
    )
    return math.nan if weighted is None else weighted


def rtt_deviation(run: RunData, options: Options) -> float:
    """Standard deviation of the RTT over time, s."""
    window = run.window(options)
    values = []
    for each in rtts(run, options):
        known = each[window[: len(each)]]
        known = known[~np.isnan(known)]
        values.append(float(known.std()) if len(known) else math.nan)
    return reduced(values, options["reduce"])


def queueing_delay(run: RunData, options: Options) -> float:
    """Mean RTT minus the propagation delay of the path and the return path, s."""
    delays = []
    for name in run.flows(options.get("flows")):
        flow = run.flow(name)
        parts = []
        for owner in run.subflows(name, options.get("subflow")):
            rtt_s = run.figure(f"flows.{owner}.mean_rtt_s")
            weight = run.figure(f"flows.{owner}.throughput_bps")
            if weight > 0 and not math.isnan(rtt_s):
                parts.append((rtt_s - run.propagation_s(flow, int(owner.rpartition("/")[2])), weight))
        carried = math.fsum(weight for _, weight in parts)
        delays.append(math.fsum(delay * weight for delay, weight in parts) / carried if carried else math.nan)
    return reduced(delays, options["reduce"])


def flow_figure(name: str) -> Callable[[RunData, Options], float]:
    """Return a function that computes a shared measure, combined over flows as the measure or the recipe defines.

    Args:
        name: key of the measure in `vocabulary.measures.NAMED`.
    """
    measure = NAMED[name]

    def value(run: RunData, options: Options) -> float:
        how, subflow = options["reduce"], options.get("subflow")
        owners = [f"{flow}/{subflow}" if subflow else flow for flow in run.flows(options.get("flows"))]
        parts = [run.part(owner, measure.needed_keys) for owner in owners]
        known = [measure.of_parts([part]) for part in parts]
        values = [math.nan if each is None else each for each in known]
        if how not in ("all", "packets") or not values or any(map(math.isnan, values)):
            return reduced(values, how)
        found = measure.of_parts(parts)
        return math.nan if found is None else found

    return value


def makespan(run: RunData, options: Options) -> float:
    """Time from the first start of the flows to their last byte, s; NaN if a flow is incomplete."""
    span = NAMED["makespan"]
    found = span.of_parts([run.part(name, span.needed_keys) for name in run.flows(options.get("flows"))])
    return math.nan if found is None else found


def full_packets(count: Callable[[float, float], float]) -> Callable[[RunData, Options], float]:
    """Return a function that counts full packets of the flows, computed from goodput and loss.

    Args:
        count: computes the result from the numbers of acknowledged and lost packets.
    """

    def value(run: RunData, options: Options) -> float:
        counts = []
        for name in run.flows(options.get("flows")):
            acked = run.figure(f"flows.{name}.goodput_bps") * run.counted_s / (8 * run.payload_bytes(name))
            loss = run.figure(f"flows.{name}.loss_ratio")
            counts.append(count(acked, acked * loss / (1 - loss)) if loss < 1 else math.nan)
        return reduced(counts, options["reduce"])

    return value


# Windows, queues, links


def cwnds(run: RunData, options: Options, column: str = "cwnd_pkts") -> list[Samples]:
    """Time series of a column for each flow, packets; by default, of the congestion window."""
    return [run.flow_samples(name, column, options.get("subflow")) for name in run.flows(options.get("flows"))]


def cwnd_course(run: RunData, options: Options) -> Samples:
    """Time series of the congestion window, combined over the flows."""
    return combined(cwnds(run, options), options["reduce"], len(run.times_s))


def cwnd(run: RunData, options: Options) -> float:
    """Congestion window of the flows, packets."""
    if is_timed(options):
        window = run.window(options)
        values = [over_time(each, window, options.get("over_time")) for each in cwnds(run, options)]
        return reduced(values, options["reduce"])
    return reduced(
        [
            reduced(
                [run.figure(f"flows.{o}.mean_cwnd_pkts") for o in run.subflows(name, options.get("subflow"))], "sum"
            )
            for name in run.flows(options.get("flows"))
        ],
        options["reduce"],
    )


def inflight_course(run: RunData, options: Options) -> Samples:
    """Time series of the packets in flight, combined over the flows."""
    return combined(cwnds(run, options, "inflight_pkts"), options["reduce"], len(run.times_s))


def inflight(run: RunData, options: Options) -> float:
    """Packets in flight, from the samples of each flow, reduced over the flows."""
    window = run.window(options)
    values = [over_time(each, window, options.get("over_time")) for each in cwnds(run, options, "inflight_pkts")]
    return reduced(values, options["reduce"])


def link_figure(figure: str, column: str) -> Callable[[RunData, Options], float]:
    """Return a function that computes a measure of links, from the summary or, with time options, from samples."""

    def value(run: RunData, options: Options) -> float:
        owners = run.links(options["links"])
        if is_timed(options):
            window = run.window(options)
            how = options.get("over_time")
            values = [over_time(run.link_samples(owner, column), window, how) for owner in owners]
        else:
            values = [run.figure(f"links.{owner}.{figure}") for owner in owners]
        return reduced(values, options["reduce"])

    return value


def link_course(column: str) -> Callable[[RunData, Options], Samples]:
    """Return a function that computes the time series of a column, combined over links."""

    def course(run: RunData, options: Options) -> Samples:
        owners = run.links(options["links"])
        return combined([run.link_samples(owner, column) for owner in owners], options["reduce"], len(run.times_s))

    return course


def link_rate(run: RunData, options: Options) -> float:
    """Sum of the mean rates of links, bit/s."""
    return mean_capacity(run, options)


def link_rate_course(run: RunData, options: Options) -> Samples:
    """Time series of the sum of the rates of links, bit/s."""
    return capacity_course(run, options["links"])


# Convergence, and comparison over time


def steps(run: RunData, window_s: float) -> int:
    """Number of samples in a window, at least 1."""
    times = run.times_s
    return max(round(window_s / float(times[1] - times[0])), 1) if len(times) > 1 else 1


def columns(run: RunData, options: Options) -> list[Samples]:
    """Time series of the rate of each subflow, or of one subflow of each flow."""
    column = f"{options['column']}_bps"
    return [
        run.samples(SUBFLOW, owner, column)
        for name in run.flows(options.get("flows"))
        for owner in run.subflows(name, options.get("subflow"))
    ]


def convergence_time(run: RunData, options: Options) -> float:
    """Time from `since` until the rates of the subflows settle, s; NaN if a rate never settles."""
    times = run.times_s
    if not len(times):
        return math.nan
    since_s = options["since"]
    until_s = options.get("until")
    until_s = run.scenario.duration_s if until_s is None else until_s
    found = []
    for values in columns(run, options):
        steady = over_time(values, run.window({"since": until_s - options["steady"], "until": until_s}), None)
        smooth = trailing_mean(values, steps(run, options["window"]))
        inside = run.window({"since": since_s, "until": until_s})
        is_near = np.abs(smooth - steady) <= options["tolerance"] * abs(steady)
        away = np.flatnonzero(inside & ~is_near)
        near = np.flatnonzero(inside & is_near)
        if options["first"]:
            found.append(float(times[near[0]] - since_s) if len(near) else math.nan)
        elif not len(away):
            found.append(0.0)
        elif away[-1] + 1 < len(times) and inside[away[-1] + 1]:
            found.append(float(times[away[-1] + 1] - since_s))
        else:
            found.append(math.nan)
    return reduced(found, options["reduce"])


def time_to_reach(run: RunData, options: Options) -> float:
    """Time until the throughput reaches a share of the links' rate, s; the whole observed time if it never does."""
    times = run.times_s
    if not len(times):
        return math.nan
    inside = run.window(options)
    wanted = options["level"] * capacity_course(run, options["links"])
    found = []
    for values in rates(run, {**options, "wire": True}, "throughput_bps"):
        # The moving average must not include samples before `since`.
        smooth = trailing_mean(np.where(inside, values, math.nan), steps(run, options["window"]))
        reached = np.flatnonzero(inside & (smooth >= wanted))
        until_s = min(run.scenario.duration_s, options.get("until") or math.inf)
        # If the throughput never reaches the level, the observed time counts, rather than a missing value.
        found.append((times[reached[0]] if len(reached) else until_s) - options["since"])
    return reduced(found, options["reduce"])


def share_above(run: RunData, options: Options) -> float:
    """Share of windows in which the throughput exceeds the throughput of the series `over_series`."""
    other = run.siblings.other(options["over_series"])
    if other is None:
        return math.nan
    n = steps(run, options["window"])
    mine, theirs = (total(rates(each, options, "throughput_bps"), len(each.times_s)) for each in (run, other))
    inside = run.window(options)
    count = min(len(mine), len(theirs))
    pairs = np.vstack([mine[:count], theirs[:count]])[:, inside[:count]]
    n_windows = pairs.shape[1] // n
    if not n_windows:
        return math.nan
    means = pairs[:, : n_windows * n].reshape(2, n_windows, n).mean(axis=2)
    return float((means[0] > means[1]).mean())
