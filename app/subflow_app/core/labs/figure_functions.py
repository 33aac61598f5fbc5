"""Functions of checks over what runs have measured: figures of the whole run, and curves over time."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.core.expressions import Value
from subflow_app.core.labs.evidence import Evidence
from subflow_app.core.labs.function_table import FunctionTable, NotThereError, known, matching, pairs_text, run_at
from subflow_app.core.language import tr

TABLE = FunctionTable()

FIGURES = (
    *("goodput", "throughput", "rtt", "p95_rtt", "loss_ratio", "retransmits", "completion", "hol_blocking"),
    *("mean_cwnd", "jain", "utilisation", "drops", "mean_queue", "max_queue"),
)
"""What `over` takes."""


# ------------------------------------------------------------------------------------------------------------- figures


@TABLE.function("number", "text", optional=1, unit="Mbit/s")
def _goodput(evidence: Evidence, run: float, flow: str = "*") -> Value:
    """Goodput of a flow, bit/s; of several ("download*", or all) their sum."""
    return _of_flows(evidence, run, flow, "goodput_bps", math.fsum)


@TABLE.function("number", "text", "number", optional=1, unit="Mbit/s")
def _throughput(evidence: Evidence, run: float, flow: str, subflow: float = 0) -> Value:
    """What the subflows of a flow carried, bit/s; or the first, second … of them."""
    return _of_subflows(evidence, run, flow, subflow, "throughput_bps", math.fsum)


@TABLE.function("number", "text", "number", optional=1, unit="ms")
def _rtt(evidence: Evidence, run: float, flow: str, subflow: float = 0) -> Value:
    """Mean round-trip time of a flow, or of its first, second … subflow, s."""
    if not subflow:
        return _of_flows(evidence, run, flow, "mean_rtt_s", _mean)
    return _of_subflows(evidence, run, flow, subflow, "mean_rtt_s", _mean)


@TABLE.function("number", "text", unit="ms")
def _p95_rtt(evidence: Evidence, run: float, flow: str) -> Value:
    """The round-trip time that 95 % of a flow's samples stay below, s."""
    return _of_flows(evidence, run, flow, "p95_rtt_s", _mean)


@TABLE.function("number", "text", "number", optional=1, unit="%")
def _loss_ratio(evidence: Evidence, run: float, flow: str, subflow: float = 0) -> Value:
    """Packets lost over packets sent, of a flow or of its first, second … subflow."""
    if not subflow:
        return _of_flows(evidence, run, flow, "loss_ratio", _mean)
    return _of_subflows(evidence, run, flow, subflow, "loss_ratio", _mean)


@TABLE.function("number", "text")
def _retransmits(evidence: Evidence, run: float, flow: str) -> Value:
    """Packets that a flow sent again."""
    return _of_flows(evidence, run, flow, "retransmits", math.fsum)


@TABLE.function("number", "text", unit="s")
def _completion(evidence: Evidence, run: float, flow: str) -> Value:
    """How long the transfer of a flow took, s."""
    return _of_flows(evidence, run, flow, "completion_s", _mean)


@TABLE.function("number", "text", unit="ms")
def _hol_blocking(evidence: Evidence, run: float, flow: str) -> Value:
    """How long data waited on average for earlier data at the receiver of a flow, s."""
    return _of_flows(evidence, run, flow, "mean_hol_blocking_s", _mean)


@TABLE.function("number", "text", "number", optional=1, unit="pkt")
def _mean_cwnd(evidence: Evidence, run: float, flow: str, subflow: float = 0) -> Value:
    """Mean congestion window of a flow's subflows together, or of its first, second … subflow, packets."""
    return _of_subflows(evidence, run, flow, subflow, "mean_cwnd_pkts", math.fsum)


@TABLE.function("number")
def _jain(evidence: Evidence, run: float) -> Value:
    """Jain's index of the flows' goodputs: 1 when all have the same."""
    fairness = run_at(evidence, run).summary.get("fairness") or {}
    return known(fairness.get("jain"), tr("Jain index of run {number}", number=int(run)))


@TABLE.function("number", "text", unit="%")
def _utilisation(evidence: Evidence, run: float, link: str) -> Value:
    """Share of a link's capacity that was used: utilisation(last(), 'wifi'), or 'wifi/reverse'."""
    return _of_link(evidence, run, link, "utilisation")


@TABLE.function("number", "text")
def _drops(evidence: Evidence, run: float, link: str) -> Value:
    """Packets that the queue of a link dropped."""
    return _of_link(evidence, run, link, "drops_queue")


@TABLE.function("number", "text", unit="pkt")
def _mean_queue(evidence: Evidence, run: float, link: str) -> Value:
    """Mean length of a link's queue, packets."""
    return _of_link(evidence, run, link, "mean_queue_pkts")


@TABLE.function("number", "text", unit="pkt")
def _max_queue(evidence: Evidence, run: float, link: str) -> Value:
    """Greatest length of a link's queue, packets."""
    return _of_link(evidence, run, link, "max_queue_pkts")


@TABLE.function("text", "any", many=True, optional=1)
def _over(evidence: Evidence, figure: str, *rest: Value) -> Value:
    """Mean of a figure over all finished runs of the lab with certain values, as over seeds.

    over('goodput', 'download', 'flows.download.controller', 'lia'); over('jain', '', 'seed', 3).
    """
    what = str(rest[0]) if rest else ""
    pairs = rest[1:]
    found = matching(evidence.counted, pairs)
    if not found:
        raise NotThereError(tr("no run with {what} has finished yet", what=pairs_text(pairs)))
    if figure not in FIGURES:
        raise NotThereError(tr('"{name}" is not a figure of a run', name=figure))
    body = TABLE[figure].body
    values = [body(evidence, float(run.id), *([what] if what else [])) for run in found]
    numbers = [value for value in values if isinstance(value, int | float)]
    return math.fsum(numbers) / len(numbers)


# -------------------------------------------------------------------------------------------------------------- curves


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _mean_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Mean of a curve between two times: mean_of(last(), 'queue_pkts', 'wifi/forward', 20 s, 60 s)."""
    return float(np.mean(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _max_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Greatest value of a curve between two times."""
    return float(np.max(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _min_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Smallest value of a curve between two times."""
    return float(np.min(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _spread_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Greatest value of a curve between two times, less the smallest."""
    return float(np.ptp(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number")
def _value_at(evidence: Evidence, run: float, column: str, owner: str, time_s: float) -> Value:
    """Value of a curve at a time: the sample before it."""
    times, values = _curve(evidence, run, column, owner)
    index = int(np.searchsorted(times, time_s + 1e-9, side="right")) - 1
    if index < 0 or math.isnan(values[index]):
        raise NotThereError(tr("{column} of {owner} is not known at {time} s", column=column, owner=owner, time=time_s))
    return float(values[index])


@TABLE.function("number", "text", "number", "number", optional=2)
def _losses(evidence: Evidence, run: float, owner: str, since: float = 0.0, until: float = math.inf) -> Value:
    """How often a subflow ("download/1"), or all of a flow, took a loss as a sign of congestion between two times."""
    return _marks_between(evidence, run, "loss", owner, since, until)


@TABLE.function("number", "text", "text", optional=1)
def _marks(evidence: Evidence, run: float, kind: str, owner: str = "*") -> Value:
    """How many marks of a kind there are, e.g. "rto", "recovered", "link_down"; of an owner, or of all."""
    return _marks_between(evidence, run, kind, owner, 0.0, math.inf)


@TABLE.function("number", "text", "text", "number", optional=1, unit="s")
def _time_of(evidence: Evidence, run: float, kind: str, owner: str, since: float = 0.0) -> Value:
    """When an owner has its first mark of a kind, from a time on, s: time_of(last(), 'established', 'phone/2')."""
    marks = run_at(evidence, run).marks
    found = next(
        (each.time_s for each in marks if (each.kind, each.owner) == (kind, owner) and each.time_s >= since), None
    )
    return known(found, tr("{kind} of {owner}", kind=kind, owner=owner))


# -------------------------------------------------------------------------------------------------------------- inside


def _of_flows(
    evidence: Evidence, number: float, flow: str, figure: str, reduce: Callable[[Sequence[float]], float]
) -> Value:
    values = [each.get(figure) for each in _flows(evidence, number, flow)]
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    if not numbers:
        what = tr("{figure} of {flow} in run {number}", figure=figure, flow=flow, number=int(number))
        return known(None, what)
    return reduce(numbers)


def _of_subflows(
    evidence: Evidence,
    number: float,
    flow: str,
    subflow: float,
    figure: str,
    reduce: Callable[[Sequence[float]], float],
) -> Value:
    values = []
    for each in _flows(evidence, number, flow):
        subflows = each.get("subflows") or []
        if subflow > len(subflows):
            raise NotThereError(
                tr("{flow} has {count} subflows, not {wanted}", flow=flow, count=len(subflows), wanted=int(subflow))
            )
        values += [part.get(figure) for part in (subflows[int(subflow) - 1 : int(subflow)] if subflow else subflows)]
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    if not numbers:
        return known(None, tr("{figure} of {flow} in run {number}", figure=figure, flow=flow, number=int(number)))
    return reduce(numbers)


def _flows(evidence: Evidence, number: float, flow: str) -> list[Mapping[str, Any]]:
    all_flows = run_at(evidence, number).summary.get("flows") or []
    # `download` means its copies, too.
    found = [
        each
        for each in all_flows
        if each["name"] == flow or each["name"].rpartition(".")[0] == flow or fnmatch.fnmatchcase(each["name"], flow)
    ]
    if not found:
        raise NotThereError(tr("run {number} has no flow {flow}", number=int(number), flow=flow))
    return found


def _of_link(evidence: Evidence, number: float, link: str, figure: str) -> Value:
    name, _, direction = link.partition("/")
    for each in run_at(evidence, number).summary.get("links") or []:
        if each["name"] == name and each["direction"] == (direction or "forward"):
            return known(each.get(figure), tr("{figure} of {link}", figure=figure, link=link))
    raise NotThereError(tr("run {number} has no link {link}", number=int(number), link=link))


def _curve(
    evidence: Evidence, number: float, column: str, owner: str
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    found = run_at(evidence, number).curve(column, owner)
    if found is None:
        raise NotThereError(
            tr("run {number} has no curve {column} of {owner}", number=int(number), column=column, owner=owner)
        )
    return found


def _part(
    evidence: Evidence, number: float, column: str, owner: str, since: float, until: float
) -> NDArray[np.float32]:
    times, values = _curve(evidence, number, column, owner)
    part = values[(times > since - 1e-9) & (times <= until + 1e-9)]
    part = part[np.isfinite(part)]
    if not len(part):
        raise NotThereError(
            tr("{column} of {owner} is not known from {since} s on", column=column, owner=owner, since=f"{since:g}")
        )
    return part


def _marks_between(evidence: Evidence, number: float, kind: str, owner: str, since: float, until: float) -> Value:
    marks = run_at(evidence, number).marks
    return float(
        sum(
            mark.kind == kind
            and (owner in ("*", mark.owner) or mark.owner.partition("/")[0] == owner)
            and since <= mark.time_s <= until
            for mark in marks
        )
    )


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)
