"""The table of measures: name, unit, definition, formula and period of each, and the flows for which it is shown first.

Legends, tables, history, sweeps, queries, labs, claims, recipes, the arena, reports, forks, trainings and web pages
read this table. A key without an entry, e.g. of a recorded parameter (``links.wifi.delay``), gets its unit from its
suffix. A key never changes its formula: a new formula gets a new key. In `MEASURES`, a key belongs to one flow,
subflow, link or training. In `RUN_MEASURES`, the same key may mean a sum or a mean over all flows of a run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.measure import (
    BY_DELIVERED,
    BY_PACKETS,
    GREATEST,
    JAIN,
    LOST_OVER_SENT,
    MEAN,
    SPAN,
    SUM,
    FlowKind,
    Measure,
    Part,
    grouped,
    told_by,
)
from subflow_app.vocabulary.number_text import finite
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.trace_measures import TRACE_MEASURES, TRAINING_MEASURES

__all__ = [
    "DELAYS",
    "MEASURES",
    "NAMED",
    "RUN_MEASURES",
    "default_measures",
    "flow_kind",
    "headline_measures",
    "is_measure",
    "measure",
    "measure_title",
    "owner_of",
    "rate_measure",
    "run_measure",
    "run_values",
]


def _count(key: str, title: str, definition: str, **more: Any) -> Measure:
    """A count of packets after the warm-up."""
    formula = translatable("count after the warm-up")
    return Measure(key, title, "pkt", definition=definition, formula=formula, **more)


_OF_FLOWS_AND_SUBFLOWS = (
    told_by(
        "goodput_bps",
        translatable("Goodput"),
        function="goodput",
        definition=translatable("Payload delivered in order per time; of several flows the sum."),
        formula=translatable("8 × bytes delivered in order after the warm-up / time after the warm-up"),
        combine=SUM,
        default_for=("endless",),
        of_run="goodput_bps",
    ),
    told_by(
        "active_goodput_bps",
        translatable("Goodput while active"),
        function="active_goodput",
        definition=translatable(
            "Payload delivered in order per time in which the flow was active; of several the mean."
        ),
        formula=translatable("8 × bytes delivered in order after the warm-up / time active after the warm-up"),
        over="active",
        combine=MEAN,
        default_for=("sized",),
        of_run="active_goodput_per_flow_bps",
    ),
    told_by(
        "completion_s",
        translatable("Completion time"),
        function="completion",
        definition=translatable("Time that the transfer of a flow with a size took; of several the mean."),
        formula=translatable("time of the last byte delivered − start of the flow"),
        over="transfer",
        combine=MEAN,
        default_for=("sized",),
        of_run="mean_completion_s",
    ),
    told_by(
        "throughput_bps",
        translatable("Throughput"),
        of="subflow",
        function="throughput",
        definition=translatable(
            "Payload that arrived over a subflow for the first time, per time; of several the sum."
        ),
        formula=translatable("8 × bytes arrived after the warm-up / time after the warm-up"),
        combine=SUM,
    ),
    told_by(
        "mean_rtt_s",
        translatable("Mean RTT"),
        "RTT",
        function="rtt",
        definition=translatable("Mean round-trip time; of several flows weighted by packets acknowledged."),
        formula=translatable("sum of the RTT samples after the warm-up / their number"),
        combine=BY_PACKETS,
        of_run="weighted_rtt_s",
    ),
    told_by(
        "p95_rtt_s",
        translatable("95th percentile of the RTT"),
        "RTT p95",
        function="p95_rtt",
        definition=translatable("Round-trip time that 95 % of a flow's samples stay below; of several flows the mean."),
        formula=translatable("0.95 quantile of the RTT samples after the warm-up, to 1/32 of its value"),
        combine=MEAN,
        of_run="p95_rtt_s",
    ),
    told_by(
        "loss_ratio",
        translatable("Loss"),
        function="loss_ratio",
        definition=translatable("Share of the packets sent that the network lost, of several flows taken together."),
        formula=translatable("packets lost / packets sent, both of packets sent after the warm-up"),
        combine=LOST_OVER_SENT,
        of_run="total_loss_ratio",
    ),
    _count(
        "retransmits",
        translatable("Retransmissions"),
        translatable("Packets that a flow sent again; of several flows the sum."),
        better=-1,
        function="retransmits",
        combine=SUM,
        of_run="retransmits",
    ),
    _count(
        "packets_sent",
        translatable("Packets sent"),
        translatable("Data packets sent, retransmissions included."),
        function="packets_sent",
        decimals=0,
        combine=SUM,
        of_run="packets_sent",
    ),
    _count(
        "packets_delivered",
        translatable("Packets delivered"),
        translatable("Data packets that reached the far end, needed there or not."),
        decimals=0,
        combine=SUM,
    ),
    _count(
        "packets_acked",
        translatable("Packets acknowledged"),
        translatable("Data packets of which the sender learned that they had arrived."),
        function="packets_acked",
        instead="packets_delivered",
        decimals=0,
        combine=SUM,
    ),
    _count(
        "packets_dropped",
        translatable("Packets dropped"),
        translatable("Data packets that the network dropped, those sent before the warm-up ended included."),
        decimals=0,
        better=-1,
        combine=SUM,
        of_run="packets_dropped",
    ),
    _count(
        "packets_lost",
        translatable("Packets lost of those sent"),
        translatable("Packets that the network dropped of those sent after the warm-up."),
        function="packets_lost",
        decimals=0,
        better=-1,
        combine=SUM,
    ),
    _count(
        "marked_packets",
        translatable("Packets that arrived marked"),
        translatable("Packets that reached the far end with the mark of a queue."),
        decimals=0,
        combine=SUM,
    ),
    Measure(
        "mark_reductions",
        translatable("Reductions because of marks"),
        decimals=0,
        definition=translatable("Reductions of the congestion window because of marks."),
        formula=translatable("count after the warm-up"),
        combine=SUM,
    ),
    told_by(
        "mean_hol_blocking_s",
        translatable("Head-of-line blocking"),
        function="hol_blocking",
        definition=translatable(
            "Mean time that data waited for earlier data at the receiver; of several flows the mean."
        ),
        formula=translatable("sum of the waiting times of packets delivered in order / their number"),
        combine=MEAN,
    ),
    told_by(
        "mean_cwnd_pkts",
        translatable("Mean congestion window"),
        "cwnd",
        of="subflow",
        function="mean_cwnd",
        definition=translatable("Mean congestion window; of several subflows the sum."),
        formula=translatable("integral of cwnd over the time established after the warm-up / that time"),
        combine=SUM,
    ),
    told_by(
        "active_mean_cwnd_pkts",
        translatable("Mean congestion window while active"),
        "cwnd",
        of="subflow",
        definition=translatable(
            "Mean congestion window while the subflow was established and its flow active; of several subflows the sum."
        ),
        formula=translatable("integral of cwnd over the time established and active after the warm-up / that time"),
        over="active",
        combine=SUM,
    ),
)

DELAYS: tuple[Measure, ...] = tuple(
    replace(each, of_run=each.key)
    for each in (
        told_by(
            "mean_one_way_delay_s",
            translatable("Mean one-way delay"),
            "Delay",
            function="one_way_delay",
            definition=translatable(
                "Mean time from the sender to the receiver of the packets that arrived; of several flows weighted by "
                "packets delivered."
            ),
            formula=translatable(
                "sum of (arrival − departure) of the packets that arrived after the warm-up / their number"
            ),
            combine=BY_DELIVERED,
        ),
        told_by(
            "p95_one_way_delay_s",
            translatable("95th percentile of the one-way delay"),
            "Delay p95",
            function="p95_one_way_delay",
            definition=translatable(
                "One-way delay that 95 % of a flow's packets stay below; of several flows the mean."
            ),
            formula=translatable("0.95 quantile of the delays after the warm-up, to 1/32 of its value"),
            combine=MEAN,
        ),
        told_by(
            "max_one_way_delay_s",
            translatable("Longest one-way delay"),
            "Delay max",
            function="max_one_way_delay",
            definition=translatable("Greatest one-way delay of a packet; of several flows the greatest."),
            formula=translatable("greatest delay of the packets that arrived after the warm-up"),
            combine=GREATEST,
        ),
        told_by(
            "mean_jitter_s",
            translatable("Mean jitter"),
            "Jitter",
            function="jitter",
            definition=translatable(
                "Mean interarrival jitter of the packets (RFC 3550); of several flows weighted by packets delivered."
            ),
            formula=translatable(
                "mean over the arrivals after the warm-up of J, with J ← J + (|change of the delay| − J) / 16"
            ),
            combine=BY_DELIVERED,
        ),
        _count(
            "reordered_packets",
            translatable("Reordered packets"),
            translatable("Packets that arrived after a packet sent later (RFC 4737); of several flows the sum."),
            decimals=0,
            better=-1,
            combine=SUM,
        ),
        told_by(
            "reordered_ratio",
            translatable("Share of reordered packets"),
            "Reordered",
            function="reordered_ratio",
            definition=translatable(
                "Share of the packets that arrived after a packet sent later (RFC 4737); of several flows weighted by "
                "packets delivered."
            ),
            formula=translatable("reordered packets / packets that arrived, both after the warm-up"),
            combine=BY_DELIVERED,
        ),
        Measure(
            "max_reorder_extent_pkts",
            translatable("Greatest reordering extent"),
            "pkt",
            decimals=0,
            better=-1,
            symbol="Extent",
            definition=translatable(
                "Greatest number of arrivals from the first packet sent later to the reordered packet (RFC 4737); of "
                "several flows the greatest."
            ),
            formula=translatable("greatest difference of the two positions among the arrivals after the warm-up"),
            combine=GREATEST,
        ),
        told_by(
            "mean_ack_delay_s",
            translatable("Mean one-way delay of ACKs"),
            "ACK delay",
            function="ack_delay",
            definition=translatable(
                "Mean time from the receiver to the sender of the ACKs that arrived; of several flows weighted by "
                "packets acknowledged."
            ),
            formula=translatable(
                "sum of (arrival − departure) of the ACKs that arrived after the warm-up / their number"
            ),
            combine=BY_PACKETS,
        ),
        told_by(
            "p95_ack_delay_s",
            translatable("95th percentile of the one-way delay of ACKs"),
            "ACK delay p95",
            definition=translatable("One-way delay that 95 % of a flow's ACKs stay below; of several flows the mean."),
            formula=translatable("0.95 quantile of the delays after the warm-up, to 1/32 of its value"),
            combine=MEAN,
        ),
        told_by(
            "max_ack_delay_s",
            translatable("Longest one-way delay of ACKs"),
            "ACK delay max",
            definition=translatable("Greatest one-way delay of an ACK; of several flows the greatest."),
            formula=translatable("greatest delay of the ACKs that arrived after the warm-up"),
            combine=GREATEST,
        ),
    )
)
"""Measures of flows with the key ``one_way_delay``, and of their subflows; other flows lack them."""

_OF_LINKS = grouped(
    told_by(
        "utilisation",
        translatable("Utilisation"),
        function="utilisation",
        definition=translatable("Share of the time in which a link was sending; 'wifi' or 'wifi/reverse'."),
        formula=translatable("time busy after the warm-up / time after the warm-up"),
    ),
    told_by(
        "mean_queue_pkts",
        translatable("Mean queue"),
        function="mean_queue",
        definition=translatable("Mean length of a link's queue."),
        formula=translatable("integral of the length after the warm-up / time after the warm-up"),
    ),
    told_by(
        "max_queue_pkts",
        translatable("Longest queue"),
        function="max_queue",
        definition=translatable("Greatest length of a link's queue."),
    ),
    Measure(
        "drops",
        translatable("Dropped packets"),
        "pkt",
        better=-1,
        definition=translatable("Packets that a link dropped for any reason."),
    ),
    _count(
        "drops_queue",
        translatable("Dropped by the full queue"),
        translatable("Packets that the queue of a link dropped."),
        better=-1,
        function="drops",
    ),
    _count(
        "drops_random",
        translatable("Lost at random"),
        translatable("Packets that a link lost by chance."),
        better=-1,
    ),
    _count(
        "marks",
        translatable("Marked by the queue"),
        translatable("Packets that the queue of a link marked."),
        decimals=0,
    ),
    of="link",
)

# Measures of whole runs, with keys that no flow has.
_OF_RUNS = grouped(
    Measure(
        "jain",
        translatable("Jain index"),
        decimals=3,
        better=1,
        function="jain",
        definition=translatable(
            "Jain's index of the flows with congestion control, by goodput while active; 1 when all are equal."
        ),
        formula=translatable("(sum x)² / (n × sum x²), x the goodput while active of the flows that were active"),
        over="active",
        combine=JAIN,
        source="active_goodput_bps",
    ),
    told_by(
        "goodput_per_flow_bps",
        translatable("Goodput per flow"),
        function="goodput_per_flow",
        definition=translatable("Mean goodput of the flows."),
        formula=translatable("sum of the goodputs / number of flows"),
        combine=MEAN,
        source="goodput_bps",
    ),
    told_by(
        "active_goodput_per_flow_bps",
        translatable("Goodput while active, per flow"),
        translatable("Active goodput"),
        definition=translatable("Mean goodput of the flows while each was active."),
        formula=translatable("sum of the goodputs while active / number of flows"),
        over="active",
        combine=MEAN,
        source="active_goodput_bps",
        default_for=("sized",),
    ),
    told_by(
        "weighted_rtt_s",
        translatable("Mean RTT"),
        "RTT",
        definition=translatable("Mean round-trip time of the flows, weighted by packets acknowledged."),
        formula=translatable("sum of mean RTT × packets acknowledged / sum of packets acknowledged"),
        combine=BY_PACKETS,
        source="mean_rtt_s",
    ),
    told_by(
        "total_loss_ratio",
        translatable("Loss"),
        definition=translatable("Share of the packets sent that the network lost, of all flows together."),
        formula=translatable("packets lost of all flows / packets sent of all flows"),
        combine=LOST_OVER_SENT,
        source="loss_ratio",
    ),
    told_by(
        "mean_completion_s",
        translatable("Completion time"),
        definition=translatable("Mean time that the transfers of the flows with a size took."),
        formula=translatable("sum of the completion times / number of complete flows"),
        over="transfer",
        combine=MEAN,
        source="completion_s",
        default_for=("sized",),
    ),
    told_by(
        "makespan_s",
        translatable("Makespan"),
        function="makespan",
        definition=translatable("Time from the first start of several flows to the last byte of the last one."),
        formula=translatable("latest end − earliest start; unknown while a flow is incomplete"),
        over="transfers",
        combine=SPAN,
        source="completion_s",
    ),
    told_by(
        "multipath_goodput_bps",
        translatable("Goodput of the multipath connections"),
        definition=translatable("Goodput of the connections with several paths together."),
        formula=translatable("sum of the goodputs of the flows with several paths"),
    ),
    Measure(
        "friendliness",
        translatable("Friendliness"),
        decimals=2,
        better=1,
        definition=translatable("Goodput of competing TCP over its goodput next to one NewReno connection instead."),
    ),
    Measure(
        "convergence_s",
        translatable("Convergence"),
        "s",
        decimals=1,
        better=-1,
        definition=translatable("Time from a change of capacity until a connection has its new fair share."),
        over="run",
    ),
    Measure("duration_s", translatable("Duration"), "s", decimals=1, over="run"),
    Measure("simulated_s", translatable("Simulated"), "s", decimals=1, over="run"),
    Measure("warmup_s", translatable("Warm-up"), "s", decimals=1, over="run"),
    Measure("wall_s", translatable("Wall time"), "s", decimals=2, over="run"),
    Measure("packets", translatable("Packets"), decimals=0, over="run"),
    of="run",
)

MEASURES: Mapping[str, Measure] = {
    each.key: each
    for each in (*_OF_FLOWS_AND_SUBFLOWS, *DELAYS, *_OF_LINKS, *TRACE_MEASURES, *_OF_RUNS, *TRAINING_MEASURES)
}
"""Measures by key. A key that exists for flows and for whole runs means the measure of a flow here."""


def _of_run(key: str, **changed: Any) -> Measure:
    """The measure of a whole run that shares its key with a measure of flows."""
    return replace(MEASURES[key], of="run", function="", source=key, of_run="", **changed)


RUN_MEASURES: Mapping[str, Measure] = {
    **{each.key: each for each in MEASURES.values() if each.of == "run"},
    "goodput_bps": _of_run("goodput_bps"),
    **{key: _of_run(key) for key in ("retransmits", "packets_sent", "packets_dropped")},
    **{each.key: _of_run(each.key) for each in DELAYS},
    "mean_rtt_s": _of_run(
        "mean_rtt_s",
        title=translatable("RTT per flow"),
        symbol="",
        definition=translatable("Mean of the flows' mean round-trip times, each flow counted alike."),
        formula=translatable("sum of the mean RTTs / number of flows"),
        combine=MEAN,
    ),
    "p95_rtt_s": _of_run(
        "p95_rtt_s",
        title=translatable("95th percentile of the RTT, per flow"),
        definition=translatable("Mean of the flows' 95th percentiles of the round-trip time."),
        formula=translatable("sum of the percentiles / number of flows"),
    ),
    "loss_ratio": _of_run(
        "loss_ratio",
        title=translatable("Loss per flow"),
        definition=translatable("Mean of the flows' losses, each flow counted alike."),
        formula=translatable("sum of the losses / number of flows"),
        combine=MEAN,
    ),
    "completion_s": _of_run(
        "completion_s",
        title=translatable("Longest completion time"),
        definition=translatable("Greatest of the times that the transfers took."),
        formula=translatable("greatest completion time of the flows"),
        combine=GREATEST,
        default_for=(),
    ),
}
"""Measures of whole runs by key, as in the store and in tables of sweeps. For some keys that also exist for flows, the
value is a mean over the flows.
"""

NAMED: Mapping[str, Measure] = {each.function: each for each in MEASURES.values() if each.function}
"""Measures by their function names in labs, claims and recipes."""

_OWNERS = ("flows", "links")


def measure(key: str) -> Measure:
    """The measure of a recorded value: ``flows.download.mean_rtt_s`` is the mean RTT of one flow.

    The result keeps the given key. For a key without an entry, the suffix determines the unit, and the key is the
    title. A key without an owner means a flow here, and a whole run in `run_measure`.
    """
    known = MEASURES.get(key.rpartition(".")[2].rpartition(":")[2]) if is_measure(key) else None
    return told_by(key, key) if known is None else replace(known, key=key, source=known.source or known.key)


def run_measure(key: str) -> Measure:
    """Like `measure`, for the record of a whole run: ``mean_rtt_s`` without an owner is the mean RTT over all flows."""
    return RUN_MEASURES[key] if key in RUN_MEASURES else measure(key)


def is_measure(key: str) -> bool:
    """True if a key names a measure in the table, of a run or of a flow or link of a run; False for parameters."""
    owner = key.partition(".")[0]
    return key in MEASURES or key == "fairness.jain" or (owner in _OWNERS and key.rpartition(".")[2] in MEASURES)


def owner_of(key: str) -> str:
    """The flow, subflow or direction of a link in the key of a measure; empty for whole runs and for other keys."""
    kind, _, rest = key.partition(".")
    return rest.rpartition(".")[0] if kind in _OWNERS and is_measure(key) else ""


def measure_title(key: str) -> str:
    """Name of a recorded value in the language of the window, e.g. ``download: Mean RTT``, or its key."""
    if not is_measure(key):
        return key
    owner, title = owner_of(key), tr(run_measure(key).title)
    return f"{readable_line(owner)}: {title}" if owner else title


def flow_kind(flow: Any) -> FlowKind:
    """The kind of a flow, "sized" or "endless", which determines the measures that are shown first.

    Args:
        flow: a flow of a summary document, or of a scenario. Summaries of older versions lack ``size_bytes``: their
            flows count as sized if they are complete, and as endless otherwise.
    """
    if not isinstance(flow, Mapping):
        return "endless" if flow.size_bytes is None else "sized"
    if "size_bytes" in flow:
        return "endless" if flow["size_bytes"] is None else "sized"
    return "endless" if finite(flow.get("completion_s")) is None else "sized"


def default_measures(flow: Any) -> tuple[Measure, ...]:
    """The measures shown first for a flow, e.g. completion time and goodput while active for a flow with a size.

    Args:
        flow: as in `flow_kind`.
    """
    kind = flow_kind(flow)
    found = [each for each in MEASURES.values() if each.of == "flow" and kind in each.default_for]
    return tuple(sorted(found, key=lambda each: each.over != "transfer"))


def headline_measures(flows: Iterable[Any]) -> tuple[Measure, ...]:
    """The measures that a table of several flows shows first, which are those of all kinds of flows in the table.

    Args:
        flows: as in `flow_kind`. Without flows, the measures of endless flows.
    """
    kinds = {flow_kind(flow): flow for flow in flows}
    if not kinds:
        return tuple(each for each in MEASURES.values() if each.of == "flow" and "endless" in each.default_for)
    return tuple(
        dict.fromkeys(each for kind in ("sized", "endless") if kind in kinds for each in default_measures(kinds[kind]))
    )


def rate_measure(*flows: Any) -> Measure:
    """The rate for comparing flows: goodput while active if any of them has a size, else goodput.

    Args:
        flows: as in `flow_kind`.
    """
    return next(each for each in headline_measures(flows) if each.key.endswith("_bps"))


def run_values(flows: Sequence[Part]) -> dict[str, float]:
    """The numbers of a whole run that follow from its flows, SI, by key; unknown numbers are left out.

    Args:
        flows: flows of the summary.
    """
    found = {key: each.of_parts(_counted(each, flows)) for key, each in RUN_MEASURES.items() if each.combine}
    return {key: value for key, value in found.items() if value is not None and math.isfinite(value)}


def _counted(measured: Measure, flows: Sequence[Part]) -> Sequence[Part]:
    """The flows to include: for makespan, those with a size; for Jain's index, active ones with subflows; else all."""
    if measured.combine is SPAN:
        return [flow for flow in flows if flow_kind(flow) == "sized"]
    if measured.combine is JAIN:
        return [flow for flow in flows if flow.get("active_s") != 0 and flow.get("subflows")]
    return flows
