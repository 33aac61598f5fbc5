"""Finds when a run that violates a claim diverges from a run that satisfies it, and the decision that explains this.

A claim is about a curve of each run, such as the goodput of the tested flows. The curves diverge at the earliest time t
for which, from t up to any later time, the mean of one curve is below 90 % of the mean of the other. No time before t
has this property, so earlier events need no explanation. The search for t ignores the time before the last change of
the network that precedes the measurement: a claim about freed capacity, for example, does not apply before the capacity
is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.breaking.core.claim_file import ENTRANT, ClaimFile, makespan_s
from subflow_app.features.breaking.core.counterexample import CaseRun, Counterexample
from subflow_app.features.breaking.core.trial import network_of
from subflow_app.features.running.core.runs import RunJob, decision_limits
from subflow_app.features.traces.core.events import DECISION
from subflow_app.features.traces.core.traces import (
    FLOW,
    NANOSECONDS,
    SUBFLOW,
    LiveTraces,
    SeriesKey,
    nearest_mark_s,
    select_keys,
)
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import rounded_text
from subflow_sim.arena.networks import Network
from subflow_sim.scenario import Scenario

SHARE = 0.9
"""The runs diverge when one mean falls below this share of the other."""

_SAMPLES = 1000  # samples per run
_REACH_RTTS = 2.0  # a loss within this many RTTs counts as the cause
_RATES = ("goodput_bps", "throughput_bps")
_WORDS = {  # by column: name, unit, scale
    "goodput_bps": (translatable("goodput"), "Mbit/s", 1e-6),
    "throughput_bps": (translatable("throughput"), "Mbit/s", 1e-6),
    "srtt_s": (translatable("round-trip time"), "ms", 1e3),
    "losses_pkts": (translatable("loss rate"), translatable("packets/s"), 1.0),
}

_Curve: TypeAlias = NDArray[np.float64]


class Moment(Enum):
    """Kind of the decision that is explained."""

    LOSS = "loss"  # a loss close to the divergence
    FIRST = "first"  # the owner's first decision, if it follows the divergence
    THERE = "there"  # the last decision before the divergence


class _Subject(NamedTuple):
    """The curves that a function in a claim measures.

    Attributes:
        scope: scope of the traces.
        column: column of the traces.
        of: flows to include: "tried", "beside", or "all" for both.
        is_each: whether each flow has its own curve; otherwise the flows share one curve.
    """

    scope: str
    column: str
    of: str = "tried"
    is_each: bool = False


_SUBJECTS: Mapping[str, _Subject] = {
    "goodput": _Subject(FLOW, "goodput_bps"),
    "each": _Subject(FLOW, "goodput_bps", is_each=True),
    "jain": _Subject(FLOW, "goodput_bps", is_each=True),
    "beside": _Subject(FLOW, "goodput_bps", "beside", is_each=True),
    "utilisation": _Subject(FLOW, "goodput_bps", "all"),
    "completion": _Subject(FLOW, "goodput_bps"),
    "makespan": _Subject(FLOW, "goodput_bps"),
    "rtt": _Subject(SUBFLOW, "srtt_s"),
    "queueing": _Subject(SUBFLOW, "srtt_s"),
    "loss": _Subject(SUBFLOW, "losses_pkts"),
    "carried": _Subject(SUBFLOW, "throughput_bps", is_each=True),
}


@dataclass(frozen=True, slots=True)
class Parting:
    """Divergence of two runs of a counterexample.

    Attributes:
        titles: displayed names of the run of the tested controller and of the other run.
        place: index of the other run, see `case_runs`.
        column: column of the diverging traces.
        flows: displayed names of the flows.
        time_s: time of the divergence.
        is_at_once: whether the runs diverge at the start, or at a change of the network.
        until_s: end of the time that both curves cover.
        means: means of both curves after the divergence in SI units; losses in packets per second.
        owner: owner of the explained decision: a subflow of the tested run or, for flows with a size, a scheduler.
        at_s: time of that decision.
        moment: kind of that decision.
    """

    titles: tuple[str, str]
    place: int
    column: str
    flows: str
    time_s: float
    is_at_once: bool
    until_s: float
    means: tuple[float, float]
    owner: str
    at_s: float
    moment: Moment

    @property
    def is_worse(self) -> bool:
        """True if the tested controller has less throughput than the other, or more delay or loss."""
        own, other = self.means
        return own < other if self.column in _RATES else own > other

    @property
    def words(self) -> str:
        """Sentences about the divergence and the explained decision."""
        low, high = sorted((0, 1), key=lambda side: self.means[side])
        name, unit, scale = _WORDS[self.column]
        known = {
            "what": tr(name),
            "flows": self.flows,
            "low": self.titles[low],
            "high": self.titles[high],
            "share": f"{SHARE:.0%}".replace("%", " %"),
            "time": f"{self.time_s:.3g}",
            "until": f"{self.until_s:.3g}",
            "one": rounded_text(self.means[low] * scale),
            "two": rounded_text(self.means[high] * scale),
            "unit": tr(unit),
        }
        parted = (
            tr(
                "They diverge at once: averaged from {time} s up to any later time, the {what} of {flows} with {low} "
                "is below {share} of that with {high} ({one} against {two} {unit} until {until} s).",
                **known,
            )
            if self.is_at_once
            else tr(
                "They diverge at {time} s: averaged from then up to any later time, the {what} of {flows} with {low} "
                "is below {share} of that with {high} ({one} against {two} {unit} until {until} s); from any earlier "
                "time it is not.",
                **known,
            )
        )
        values = {"owner": self.owner, "name": self.titles[0], "time": f"{self.at_s:.6g}"}
        explained = {
            Moment.LOSS: tr("Explained: the loss of {owner} ({name}) at that moment, at {time} s.", **values),
            Moment.FIRST: tr("Explained: the first decision of {owner} ({name}) after that, at {time} s.", **values),
            Moment.THERE: tr("Explained: the decision of {owner} ({name}) at that moment, at {time} s.", **values),
        }
        return f"{parted} {explained[self.moment]}"

    def document(self) -> dict[str, Any]:
        """The divergence as a JSON document."""
        own, other = self.titles
        return {
            "controller": own,
            "other": other,
            "column": self.column,
            "flows": self.flows,
            "share": SHARE,
            "time_s": self.time_s,
            "is_at_once": self.is_at_once,
            "until_s": self.until_s,
            "means": list(self.means),
            "owner": self.owner,
            "at_s": self.at_s,
            "moment": self.moment.value,
            "says": self.words,
        }


def find_parting(each: Counterexample, runs: Sequence[CaseRun]) -> Parting | None:
    """Find the divergence between the tested controller's run and one of the other runs.

    Of several divergences, those in which the tested controller is worse are preferred, then those of curves that the
    claim compares, then those with the largest ratio.

    Args:
        each: counterexample to explain.
        runs: runs of the counterexample, from `case_runs`.

    Returns:
        The preferred divergence; None if `runs` contains no other run, or if the curves differ by less than a tenth.

    Raises:
        SimError: if a run fails.
    """
    if len(runs) < 2:
        return None
    net = network_of(runs[0].source.scenario)
    traces, whole = _made([run.source.scenario for run in runs], net)
    found = [
        (parting, parting.is_worse, is_compared)
        for place in range(1, len(runs))
        for subject, is_compared in _subjects(each.claim, runs[place]).items()
        for parting in _partings(subject, net, runs, traces, whole, place)
    ]
    # Curves in which the tested controller is worse come first, because they explain why the claim fails.
    return max(found, key=lambda known: (*known[1:], _log_ratio(known[0].means)), default=(None,))[0]


def _subjects(claim: ClaimFile, run: CaseRun) -> dict[_Subject, bool]:
    """The subjects that a claim measures for the controller, each with True if the claim compares it with the run."""
    own = (None, ENTRANT, "entrant")
    asked = [call.name for call in claim.claim.calls() if not call.texts or call.texts[0] in own]
    compared = [call.name for pair in claim.claim.compared() for call in pair if call.texts[:1] == (run.name,)]
    known = [(name, name in compared) for name in (*compared, *asked) if name in _SUBJECTS]
    return {_SUBJECTS[name]: is_compared for name, is_compared in reversed(known)}


def _made(scenarios: Sequence[Scenario], net: Network) -> tuple[list[LiveTraces], LiveTraces]:
    """Simulate all scenarios; return finely sampled traces of each, and traces of the whole first run.

    If all tested flows have a size, the traces in the list end when the fastest run has completed.
    """
    tried = [net.scenario.flows[name] for name in net.competes]
    has_documents = all(flow.size_bytes is not None for flow in tried)
    jobs = [_run(scenario, has_decisions=has_documents) for scenario in scenarios]
    traces = [job.traces for job, _ in jobs]
    if has_documents:
        start_s = min(flow.start_s for flow in tried)
        until_s = min(start_s + makespan_s(net, summary) for _, summary in jobs)
        cut = (replace(each, duration_s=until_s, warmup_s=start_s) for each in scenarios)
        return [_run(each)[0].traces for each in cut], traces[0]
    return traces, traces[0]


def _run(scenario: Scenario, *, has_decisions: bool = False) -> tuple[RunJob, Mapping[str, Any]]:
    limits = decision_limits(scenario) if has_decisions else None
    job = RunJob(scenario, "", sample_interval_s=scenario.duration_s / _SAMPLES, decisions=limits)
    result = job.run()
    if result.error is not None:
        raise result.error
    return job, result.summary


def _partings(
    subject: _Subject,
    net: Network,
    runs: Sequence[CaseRun],
    traces: Sequence[LiveTraces],
    whole: LiveTraces,
    place: int,
) -> Iterator[Parting]:
    """Yield the divergence of each curve of a subject, for curves that both runs contain."""
    own, other = traces[0], traces[place]
    ours, theirs = (_curves(subject, net, each) for each in (own, other))
    for flows in ours:
        if flows not in theirs:
            continue
        curves = _both(ours[flows], theirs[flows])
        step_s = _interval_s(own)
        begins = math.floor(_last_change_s(net) / step_s)
        first = parting_sample(curves, begins, round(own.warmup_s / step_s))
        if first is None:
            continue
        means = [float(curve[first:].mean()) for curve in curves]
        owner = _explained(subject, net, (own, other), first, is_less=means[0] < means[1])
        decided_s = max(_first_ack_s(own, owner), _first_decision_s(whole, owner))
        at_s = max(first * step_s, decided_s)
        near_s = nearest_mark_s(own, owner, at_s, _REACH_RTTS * _mean_rtt_s(own, owner))
        is_loss = any(mark.time_s == near_s and mark.owner == owner for mark in own.marks())
        moment = Moment.LOSS if is_loss else Moment.FIRST if at_s > first * step_s else Moment.THERE
        scale = 1 / step_s if subject.column == "losses_pkts" else 1.0
        yield Parting(
            (runs[0].title, runs[place].title),
            place,
            subject.column,
            flows,
            first * step_s,
            first == begins,
            step_s * len(curves[0]),
            (means[0] * scale, means[1] * scale),
            owner,
            near_s if is_loss else at_s,
            moment,
        )


def _last_change_s(net: Network) -> float:
    """Time of the last change of the network before the measurement, s; 0 without changes."""
    scenario = net.scenario
    times_s = [event.at_s for event in scenario.events]
    times_s += [time_s for flow in scenario.flows.values() for time_s in (flow.start_s, flow.stop_s or 0.0)]
    return max((time_s for time_s in times_s if time_s <= scenario.warmup_s), default=0.0)


def parting_sample(curves: tuple[_Curve, _Curve], begins: int, measured: int) -> int | None:
    """Index of the first sample from which the mean of one curve stays below `SHARE` of the mean of the other.

    Args:
        curves: both curves, of equal length.
        begins: index of the first sample to consider.
        measured: index of the first sample after the warm-up; the sums from there on determine the lower curve.

    Returns:
        The index; None if the lower curve reaches `SHARE` of the other after the warm-up.
    """
    low, high = sorted(curves, key=lambda curve: float(curve[measured:].sum()))
    if not low[measured:].sum() < SHARE * high[measured:].sum():
        return None
    lead = np.concatenate([[0.0], np.cumsum((SHARE * high - low)[begins:])])
    # `lead` is accumulated, so its increase from its last minimum to any later time is positive.
    return begins + len(lead) - 1 - int(np.argmin(lead[::-1]))


def _curves(subject: _Subject, net: Network, traces: LiveTraces) -> dict[str, _Curve]:
    """The curves of a subject, by the displayed names of their flows."""
    beside = [name for flow in net.beside for name in net.scenario.flows[flow].instances]
    wanted = {"tried": net.connections, "beside": beside, "all": (*net.connections, *beside)}[subject.of]
    keys = [key for key in select_keys(traces, subject.scope, subject.column) if key.owner.partition("/")[0] in wanted]
    if subject.is_each:
        return {traces.labels[key.owner]: _read(traces, key) for key in keys}
    read = [_read(traces, key) for key in keys]
    names = ", ".join(dict.fromkeys(key.owner.partition("/")[0] for key in keys))
    return {names: _together(np.vstack(read), is_mean=subject.column == "srtt_s")} if read else {}


def _together(curves: NDArray[np.float64], *, is_mean: bool) -> _Curve:
    """Mean or sum, at each time, of those curves that have a value then; NaN where all values are missing."""
    known = np.isfinite(curves)
    count, total = known.sum(axis=0), np.where(known, curves, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1) if is_mean else total, np.nan)


def _read(traces: LiveTraces, key: SeriesKey) -> _Curve:
    return traces.read(key)[1].astype(np.float64)


def _both(*curves: _Curve) -> tuple[_Curve, _Curve]:
    """Cut both curves to the shorter length, and set samples that are missing in either curve to 0 in both."""
    count = min(map(len, curves))
    one, two = (curve[:count] for curve in curves)
    known = np.isfinite(one) & np.isfinite(two)
    return np.where(known, one, 0.0), np.where(known, two, 0.0)


def _explained(
    subject: _Subject, net: Network, runs: tuple[LiveTraces, LiveTraces], first: int, *, is_less: bool
) -> str:
    """Owner of the decision to explain: a scheduler for multipath flows with a size, otherwise a subflow.

    If the tested flows get less, this is the subflow that falls furthest short of the same path in the other run. If
    the competing flows get less, it is the subflow that exceeds the same path in the other run by most.
    """
    own, other = (_tried_subflows(net, subject, traces) for traces in runs)
    names = net.connections
    if net.scenario.flows[net.competes[0]].size_bytes is not None:
        several = [name for name in names if sum(key.owner.startswith(f"{name}/") for key in own.values()) > 1]
        if several:
            return several[0]
    # A subflow that has received no ACK by then has made no decision to explain.
    started = [label for label, key in own.items() if _first_ack_s(runs[0], key.owner) <= first * _interval_s(runs[0])]
    if not started:
        return min(own.values(), key=lambda key: _first_ack_s(runs[0], key.owner)).owner
    sign = 1.0 if is_less == (subject.of != "beside") else -1.0

    def lack(label: str) -> float:
        there = _mean_from(runs[1], other[label], first) if label in other else 0.0
        return sign * (there - _mean_from(runs[0], own[label], first))

    return own[max(started, key=lack)].owner


def _mean_from(traces: LiveTraces, key: SeriesKey, first: int) -> float:
    known = _read(traces, key)[first:]
    known = known[np.isfinite(known)]
    return float(known.mean()) if len(known) else 0.0


def _tried_subflows(net: Network, subject: _Subject, traces: LiveTraces) -> dict[str, SeriesKey]:
    """Keys of the traces of the tested flows' subflows, by the label of the subflow."""
    column = "throughput_bps" if subject.column in _RATES else subject.column
    keys = select_keys(traces, SUBFLOW, column)
    return {traces.labels[key.owner]: key for key in keys if key.owner.partition("/")[0] in net.connections}


def _interval_s(traces: LiveTraces) -> float:
    return traces.duration_s / _SAMPLES


def _first_ack_s(traces: LiveTraces, owner: str) -> float:
    """Time of the first RTT sample of a subflow, s; infinite if it has no sample, and 0 for a scheduler."""
    keys = select_keys(traces, SUBFLOW, "srtt_s", owner)
    if not keys:
        return 0.0
    known = np.flatnonzero(np.isfinite(_read(traces, keys[0])))
    return (int(known[0]) + 1) * _interval_s(traces) if len(known) else math.inf


def _first_decision_s(traces: LiveTraces, owner: str) -> float:
    """Time of the first decision of a scheduler, s; 0 if its decisions were not recorded."""
    table = traces.events(DECISION.name)
    if owner not in table.names.get("owner", ()):
        return 0.0
    times = table["time_ns"][table["owner"] == table.names["owner"].index(owner)]
    return float(times.min()) / NANOSECONDS if len(times) else 0.0


def _mean_rtt_s(traces: LiveTraces, owner: str) -> float:
    keys = select_keys(traces, SUBFLOW, "srtt_s", owner)
    return _mean_from(traces, keys[0], 0) if keys else 0.0


def _log_ratio(means: tuple[float, float]) -> float:
    low, high = sorted(means)
    return math.log(high / low) if low > 0 else math.inf
