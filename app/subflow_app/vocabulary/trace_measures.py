"""Measures of traces, of trainings and of evaluations of policies.

A column of a trace holds states at the times of samples, or rates and counts over the time between two samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.measure import SUM, Measure, Of, grouped, told_by


def _state(key: str, title: str, definition: str, of: Of = "subflow", **more: Any) -> Measure:
    return told_by(key, title, of=of, definition=definition, over="instant", **more)


def _between(key: str, title: str, definition: str, of: Of = "flow", **more: Any) -> Measure:
    return told_by(key, title, of=of, definition=definition, over="sample", **more)


def _interval(key: str, title: str, definition: str) -> Measure:
    return told_by(key, title, of="subflow", definition=definition, over="interval")


TRACE_MEASURES: tuple[Measure, ...] = (
    told_by(
        "srtt_s",
        translatable("Smoothed RTT"),
        "RTT",
        of="subflow",
        definition=translatable("The sender's running estimate of the round-trip time (RFC 6298)."),
        over="instant",
    ),
    told_by(
        "cwnd_pkts",
        translatable("Congestion window"),
        "cwnd",
        of="subflow",
        definition=translatable("The sender's congestion window; of several subflows the sum."),
        over="instant",
        combine=SUM,
    ),
    Measure(
        "losses_pkts",
        translatable("Losses"),
        "pkt",
        better=-1,
        of="subflow",
        definition=translatable("Packets that the sender took for lost."),
        over="sample",
        combine=SUM,
    ),
    told_by(
        "queue_pkts", translatable("Queue"), of="link", definition=translatable("Length of a queue."), over="instant"
    ),
    Measure(
        "drops_pkts",
        translatable("Dropped packets"),
        "pkt",
        better=-1,
        of="link",
        definition=translatable("Packets that a link dropped for any reason."),
        over="sample",
    ),
    Measure(
        "marks_pkts",
        translatable("Marked packets"),
        "pkt",
        of="link",
        definition=translatable("Packets that were marked."),
        over="sample",
    ),
    _state(
        "ssthresh_pkts",
        translatable("Slow-start threshold"),
        translatable("Window above which the sender leaves slow start; a gap until one is set."),
    ),
    _state(
        "min_rtt_s",
        translatable("Minimum RTT"),
        translatable("Least round-trip time since the subflow was established."),
    ),
    _state(
        "inflight_pkts",
        translatable("In flight"),
        translatable("Packets in the network as estimated by the sender (pipe of RFC 6675)."),
    ),
    _state(
        "pacing_rate_bps",
        translatable("Pacing rate"),
        translatable("Rate at which the sender spaces its packets; a gap where acknowledgements alone clock them."),
    ),
    _state(
        "recv_buffer_bytes",
        translatable("Receive buffer"),
        translatable("Memory of the packets that wait for earlier ones at the receiver."),
        "flow",
    ),
    _state(
        "reorder_queue_bytes",
        translatable("Reorder queue"),
        translatable("Payload that waits for earlier data at the receiver."),
        "flow",
    ),
    _between(
        "hol_blocking_s",
        translatable("Head-of-line blocking"),
        translatable("Mean time that the data delivered waited for earlier data at the receiver."),
    ),
    _between(
        "reinjections_pkts",
        translatable("Reinjections"),
        translatable("Packets handed to a subflow that had been sent before on another one."),
    ),
    _between(
        "schedule_share",
        translatable("Share of packets"),
        translatable("Share of the packets of its connection that were handed to a subflow."),
        "subflow",
    ),
    _between(
        "one_way_delay_s",
        translatable("One-way delay"),
        translatable("Mean time from the sender to the receiver of the packets that arrived; a gap without arrivals."),
        "subflow",
    ),
    _between(
        "ack_delay_s",
        translatable("One-way delay of ACKs"),
        translatable("Mean time from the receiver to the sender of the ACKs that arrived; a gap without arrivals."),
        "subflow",
    ),
    _state(
        "jitter_s",
        translatable("Jitter"),
        translatable("The receiver's running estimate of the interarrival jitter (RFC 3550); a gap without arrivals."),
    ),
    Measure(
        "reordered_pkts",
        translatable("Reordered packets"),
        "pkt",
        better=-1,
        of="subflow",
        definition=translatable("Packets that arrived after a packet sent later (RFC 4737)."),
        over="sample",
        combine=SUM,
    ),
    _state("reward", translatable("Reward"), translatable("Reward of the latest decision of the agent.")),
    _interval(
        "interval_rate_bps",
        translatable("Rate of monitor interval"),
        translatable("Sending rate of the latest finished monitor interval."),
    ),
    _interval(
        "interval_throughput_bps",
        translatable("Throughput of monitor interval"),
        translatable("Rate at which the packets of the latest finished monitor interval arrived."),
    ),
    _interval(
        "interval_loss_ratio",
        translatable("Loss in monitor interval"),
        translatable("Share of the packets of the latest finished monitor interval that were lost."),
    ),
    _interval(
        "interval_rtt_s",
        translatable("RTT of monitor interval"),
        translatable("Mean round-trip time of the packets of the latest finished monitor interval."),
    ),
    _interval(
        "interval_min_rtt_s",
        translatable("Minimum RTT of monitor interval"),
        translatable("Least round-trip time of the packets of the latest finished monitor interval."),
    ),
    Measure(
        "interval_rtt_gradient",
        translatable("RTT gradient"),
        "ms/s",
        1e3,
        of="subflow",
        definition=translatable("Slope of the round-trip time over the latest finished monitor interval."),
        over="interval",
    ),
    _interval(
        "utility",
        translatable("Utility"),
        translatable("Utility that the controller gave the latest finished monitor interval."),
    ),
)
"""Measures of trace columns, except those whose key also occurs in summaries, such as goodput: see `measures`."""


_OF_EPISODES: Mapping[str, Any] = {"of": "training", "over": "episodes"}
_OF_EVALUATIONS: Mapping[str, Any] = {"of": "training", "over": "evaluation"}

TRAINING_MEASURES: tuple[Measure, ...] = (
    *grouped(
        Measure(
            "return_mean",
            translatable("Return"),
            translatable("per decision"),
            decimals=3,
            better=1,
            definition=translatable("Reward of a decision, mean over those since the last report."),
        ),
        told_by(
            "flow_goodput_bps",
            translatable("Goodput of a flow"),
            definition=translatable("Goodput of a flow with the agent while active, mean over flows and episodes."),
        ),
        Measure(
            "rtt_inflation",
            translatable("RTT over the lowest RTT"),
            decimals=2,
            better=-1,
            definition=translatable("Mean RTT divided by the lowest RTT of those episodes; 1 without queues."),
        ),
        **_OF_EPISODES,
    ),
    *grouped(Measure("score", translatable("Score"), decimals=3, better=1), **_OF_EVALUATIONS),
    *grouped(
        Measure("td_error", translatable("TD error"), better=-1),
        Measure("q_mean", translatable("Mean Q")),
        Measure("actor_saturation", translatable("Actor saturation"), "%", 100.0, 1, -1),
        Measure("kl", translatable("KL divergence"), "nat"),
        Measure("entropy", translatable("Entropy"), "nat"),
        Measure("updates_per_s", translatable("Updates"), "per s", decimals=1),
        Measure("steps_per_s", translatable("Steps"), "per s", decimals=1),
        Measure("sim_s_per_s", translatable("Simulated"), "s per s", decimals=1),
        **_OF_EPISODES,
    ),
)

REPORT_MEASURES: Mapping[str, Measure] = {
    each.key: each
    for each in (
        *TRAINING_MEASURES,
        *grouped(
            told_by(
                "goodput_bps",
                translatable("Goodput of all flows"),
                definition=translatable("Goodput of all flows of an episode together, mean over the episodes."),
            ),
            told_by(
                "rtt_s",
                translatable("RTT"),
                definition=translatable("Mean RTT of the subflows of an episode, mean over the episodes."),
            ),
            told_by(
                "loss_ratio",
                translatable("Loss"),
                definition=translatable("Packets lost over packets sent in those episodes."),
            ),
            Measure(
                "jain",
                translatable("Jain index"),
                decimals=3,
                better=1,
                definition=translatable("Jain's index of the flows of an episode, mean over the episodes."),
            ),
            **_OF_EPISODES,
        ),
    )
}
"""Measures in the reports of trainings, by key; runs use some of these keys for other measures."""

EVALUATION_MEASURES: Mapping[str, Measure] = {
    each.key: each
    for each in grouped(
        told_by(
            "goodput_bps",
            translatable("Goodput while active"),
            definition=translatable("Goodput of the flows under evaluation while each was active, their mean."),
        ),
        told_by(
            "total_goodput_bps",
            translatable("Goodput of all flows"),
            definition=translatable("Goodput of all flows with congestion control together."),
        ),
        told_by(
            "other_goodput_bps",
            translatable("Goodput of another flow"),
            "Others",
            definition=translatable("Goodput while active of the flows that keep their own controller, their mean."),
        ),
        told_by(
            "rtt_s",
            translatable("RTT per flow"),
            definition=translatable("Mean of the mean RTTs of the flows under evaluation."),
        ),
        told_by(
            "loss_ratio",
            translatable("Loss per flow"),
            definition=translatable("Mean of the losses of the flows under evaluation."),
        ),
        Measure(
            "jain",
            translatable("Jain index"),
            decimals=3,
            better=1,
            definition=translatable("Jain's index of all flows with congestion control, by goodput while active."),
        ),
        Measure("score", translatable("Score"), decimals=3, better=1),
        **_OF_EVALUATIONS,
    )
}
"""Measures in evaluations of policies, by key."""
