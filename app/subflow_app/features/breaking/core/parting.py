"""Where the run in which a claim fails parts from the one that keeps it: the moment at which to ask why.

What a claim is about is a curve of each run, such as the goodput of the flows that are tried. They part at the first
time from which on one of them stays below 90 % of the other in the mean, up to whatever later time. From any earlier
time there is a stretch in which it does not: so nothing before that moment has to be explained, and all that comes
after goes the same way. What is before the last change of the network that precedes the measured time is left out: of
a claim about freed capacity, nothing counts before that is free.
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
"""Of the upper curve, that the lower one stays below."""

_SAMPLES = 1000  # of each run
_REACH_RTTS = 2.0  # a loss so near is what made them part
_RATES = ("goodput_bps", "throughput_bps")
_WORDS = {  # of columns: name, unit, scale
    "goodput_bps": (translatable("goodput"), "Mbit/s", 1e-6),
    "throughput_bps": (translatable("throughput"), "Mbit/s", 1e-6),
    "srtt_s": (translatable("round-trip time"), "ms", 1e3),
    "losses_pkts": (translatable("loss rate"), translatable("packets/s"), 1.0),
}

_Curve: TypeAlias = NDArray[np.float64]


class Moment(Enum):
    """Which decision is explained of a parting."""

    LOSS = "loss"  # that is near
    FIRST = "first"  # of all: nobody has decided anything before
    THERE = "there"  # the last one before it


class _Subject(NamedTuple):
    """The curves behind a function of claims.

    Attributes:
        scope: of the traces.
        column: of the traces.
        of: whose: of the flows that are tried, of those beside, of all.
        is_each: each flow has a curve of its own; else they have one together.
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
    """Where two runs of a counterexample part.

    Attributes:
        titles: of the two: the controller that is tried, and what it is measured against.
        place: of the other among the runs of the counterexample, see `case_runs`.
        column: of the traces that part.
        flows: whose, for people.
        time_s: when.
        is_at_once: with the start, or with a change of the network.
        until_s: up to when both are known.
        means: of both from then on, SI; of losses, packets per second.
        owner: whose decision is explained: a subflow of the run that is tried or, of documents, its scheduler.
        at_s: the time of that decision.
        moment: why it is that one.
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
        """Whether the controller that is tried has less of what is good, or more of what is bad."""
        own, other = self.means
        return own < other if self.column in _RATES else own > other

    @property
    def words(self) -> str:
        """What parts, when, and why this is the moment."""
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
        told = {"owner": self.owner, "name": self.titles[0], "time": f"{self.at_s:.6g}"}
        explained = {
            Moment.LOSS: tr("Explained: the loss of {owner} ({name}) at that moment, at {time} s.", **told),
            Moment.FIRST: tr("Explained: the first decision of {owner} ({name}) after that, at {time} s.", **told),
            Moment.THERE: tr("Explained: the decision of {owner} ({name}) at that moment, at {time} s.", **told),
        }
        return f"{parted} {explained[self.moment]}"

    def document(self) -> dict[str, Any]:
        """It for programs."""
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
    """Where the run of the controller parts from that of a case; of several, from the one from which it differs most.

    Args:
        each: the counterexample.
        runs: of it, see `case_runs`.

    Returns:
        None if there is nothing to compare with, or what the claim is about differs by less than a tenth.

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
    # What is worse than in the other run makes the claim fail rather than what is better.
    return max(found, key=lambda known: (*known[1:], _log_ratio(known[0].means)), default=(None,))[0]


def _subjects(claim: ClaimFile, run: CaseRun) -> dict[_Subject, bool]:
    """All that the claim asks about the controller; of each, whether it is compared with a case."""
    own = (None, ENTRANT, "entrant")
    asked = [call.name for call in claim.claim.calls() if not call.texts or call.texts[0] in own]
    compared = [call.name for pair in claim.claim.compared() for call in pair if call.texts[:1] == (run.name,)]
    known = [(name, name in compared) for name in (*compared, *asked) if name in _SUBJECTS]
    return {_SUBJECTS[name]: is_compared for name, is_compared in reversed(known)}


def _made(scenarios: Sequence[Scenario], net: Network) -> tuple[list[LiveTraces], LiveTraces]:
    """Traces of these runs with many samples of the time that counts, and of the whole of the first run.

    Of documents that is the time until the first of them is through.
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
    """Of each curve of a subject that both runs have."""
    own, other = traces[0], traces[place]
    ours, theirs = (_curves(subject, net, each) for each in (own, other))
    for flows in ours:
        if flows not in theirs:
            continue
        curves = _both(ours[flows], theirs[flows])
        step_s = _interval_s(own)
        begins = math.floor(_last_change_s(net) / step_s)
        first = _parting(curves, begins, round(own.warmup_s / step_s))
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
    """When the network changes for the last time before the claim measures, s; 0: it does not."""
    scenario = net.scenario
    times_s = [event.at_s for event in scenario.events]
    times_s += [time_s for flow in scenario.flows.values() for time_s in (flow.start_s, flow.stop_s or 0.0)]
    return max((time_s for time_s in times_s if time_s <= scenario.warmup_s), default=0.0)


def _parting(curves: tuple[_Curve, _Curve], begins: int, measured: int) -> int | None:
    """The first sample from which on the mean of one curve stays below its share of the other's; None: there is none.

    Args:
        curves: of both, with as many samples.
        begins: the first sample that counts.
        measured: the first sample of the time in which the claim measures: it says which of them is the lower one.
    """
    low, high = sorted(curves, key=lambda curve: float(curve[measured:].sum()))
    if not low[measured:].sum() < SHARE * high[measured:].sum():
        return None
    lead = np.concatenate([[0.0], np.cumsum((SHARE * high - low)[begins:])])
    # Where the lead is least, for the last time: from there on it is greater whenever one looks.
    return begins + len(lead) - 1 - int(np.argmin(lead[::-1]))


def _curves(subject: _Subject, net: Network, traces: LiveTraces) -> dict[str, _Curve]:
    """By whose they are, for people."""
    beside = [name for flow in net.beside for name in net.scenario.flows[flow].instances]
    wanted = {"tried": net.connections, "beside": beside, "all": (*net.connections, *beside)}[subject.of]
    keys = [key for key in select_keys(traces, subject.scope, subject.column) if key.owner.partition("/")[0] in wanted]
    if subject.is_each:
        return {traces.labels[key.owner]: _read(traces, key) for key in keys}
    read = [_read(traces, key) for key in keys]
    names = ", ".join(dict.fromkeys(key.owner.partition("/")[0] for key in keys))
    return {names: _together(np.vstack(read), is_mean=subject.column == "srtt_s")} if read else {}


def _together(curves: NDArray[np.float64], *, is_mean: bool) -> _Curve:
    """Mean or sum of curves at each time, of those that have a value there; NaN where none has."""
    known = np.isfinite(curves)
    count, total = known.sum(axis=0), np.where(known, curves, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1) if is_mean else total, np.nan)


def _read(traces: LiveTraces, key: SeriesKey) -> _Curve:
    return traces.read(key)[1].astype(np.float64)


def _both(*curves: _Curve) -> tuple[_Curve, _Curve]:
    """As long as the shorter one; what one of them does not know counts in neither."""
    count = min(map(len, curves))
    one, two = (curve[:count] for curve in curves)
    known = np.isfinite(one) & np.isfinite(two)
    return np.where(known, one, 0.0), np.where(known, two, 0.0)


def _explained(
    subject: _Subject, net: Network, runs: tuple[LiveTraces, LiveTraces], first: int, *, is_less: bool
) -> str:
    """Whose decision it is: of documents the scheduler's, else that of the subflow which makes most of the difference.

    Of flows that get less, the subflow that lacks most of what its path carries in the other run; of flows beside
    which others get less, the one that takes most more than there.
    """
    own, other = (_tried_subflows(net, subject, traces) for traces in runs)
    names = net.connections
    if net.scenario.flows[net.competes[0]].size_bytes is not None:
        several = [name for name in names if sum(key.owner.startswith(f"{name}/") for key in own.values()) > 1]
        if several:
            return several[0]
    # Who has not heard anything yet decides nothing.
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
    """By flow and path."""
    column = "throughput_bps" if subject.column in _RATES else subject.column
    keys = select_keys(traces, SUBFLOW, column)
    return {traces.labels[key.owner]: key for key in keys if key.owner.partition("/")[0] in net.connections}


def _interval_s(traces: LiveTraces) -> float:
    return traces.duration_s / _SAMPLES


def _first_ack_s(traces: LiveTraces, owner: str) -> float:
    """When the first round trip of a subflow is over, s; infinite: none is. A scheduler need not wait for that."""
    keys = select_keys(traces, SUBFLOW, "srtt_s", owner)
    if not keys:
        return 0.0
    known = np.flatnonzero(np.isfinite(_read(traces, keys[0])))
    return (int(known[0]) + 1) * _interval_s(traces) if len(known) else math.inf


def _first_decision_s(traces: LiveTraces, owner: str) -> float:
    """When a scheduler decides for the first time, s; 0: nobody has recorded it."""
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
