"""The keys of a queue that is written as a table, and what they are where the file gives none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from subflow_sim.parameter import Param
from subflow_sim.units import Dimension

_CODEL = ("codel", "fq_codel")

QUEUE_TABLE: tuple[Param, ...] = (
    Param(
        "discipline",
        Dimension.CHOICE,
        "How the queue decides what to drop. droptail: what does not fit. red: at random, the more the longer the "
        "queue is. codel: the first in line, when packets have waited too long for too long. fq_codel: codel for each "
        "subflow by itself, served in turn. dualpi2: a short queue that marks for prague, coupled to one for all "
        "others (L4S, RFC 9332).",
        default="droptail",
        choices=("droptail", "red", "codel", "fq_codel", "dualpi2"),
    ),
    Param(
        "limit",
        Dimension.QUEUE,
        "Packets (or bytes) that fit at most, the one being sent included. Left out: 100pkt for droptail, four "
        "times max for red, 1000pkt for codel, 10240pkt for fq_codel, 10000pkt for dualpi2.",
        minimum=1,
        maximum=10_000_000,
        allows_unlimited=True,
    ),
    Param(
        "mode",
        Dimension.CHOICE,
        "instantaneous: by the queue as it is, each packet by itself, as fluid models assume. classic: by the average "
        "over time, with drops at even distances (Floyd and Jacobson 1993).",
        default="instantaneous",
        choices=("instantaneous", "classic"),
        applies_to=("red",),
    ),
    Param(
        "min",
        Dimension.QUEUE,
        "Queue below which nothing is dropped. Left out: half of max, or 25 packets per 10 Mbit/s of the link's first "
        "rate (at least one packet).",
        minimum=1,
        maximum=10_000_000,
        applies_to=("red",),
    ),
    Param(
        "max",
        Dimension.QUEUE,
        "Queue at which max_p is dropped. Left out: twice min.",
        minimum=1,
        maximum=10_000_000,
        applies_to=("red",),
    ),
    Param(
        "max_p",
        Dimension.RATIO,
        "Share of packets dropped when the queue is as long as max.",
        default=0.1,
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
        applies_to=("red",),
    ),
    Param(
        "gentle",
        Dimension.FLAG,
        "Beyond max, the share grows to 100 % at twice max; otherwise it jumps there.",
        default=True,
        applies_to=("red",),
    ),
    Param(
        "weight",
        Dimension.RATIO,
        "Weight of a new sample in the average of the classic mode. Left out: 0.2%.",
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
        applies_to=("red",),
    ),
    Param(
        "ecn",
        Dimension.FLAG,
        "Marks packets instead of dropping them, if their flow understands that (RFC 3168; ecn of the transport). What "
        "finds no room is dropped all the same.",
        default=False,
        applies_to=("red", *_CODEL),
    ),
    Param(
        "ce_threshold",
        Dimension.TIME,
        "Packets that have waited longer are marked, whatever else is done with them: a step for dctcp and its kin. "
        "Left out: none.",
        minimum=1e-6,
        maximum=100.0,
        applies_to=_CODEL,
    ),
    Param(
        "target",
        Dimension.TIME,
        "Waiting time that is acceptable as the standing one.",
        default=0.005,
        minimum=1e-6,
        maximum=100.0,
        applies_to=_CODEL,
    ),
    Param(
        "interval",
        Dimension.TIME,
        "How long the target must be missed before the first drop: about the longest round trip.",
        default=0.1,
        minimum=1e-6,
        maximum=100.0,
        applies_to=_CODEL,
    ),
    Param(
        "quantum",
        Dimension.SIZE,
        "Bytes that a flow may send in its turn.",
        default=1514,
        minimum=64,
        maximum=1_000_000,
        applies_to=("fq_codel",),
    ),
    Param(
        "flows",
        Dimension.COUNT,
        "Queues over which the subflows are spread by a hash.",
        default=1024,
        minimum=1,
        maximum=65_536,
        applies_to=("fq_codel",),
    ),
    Param(
        "delay_target",
        Dimension.TIME,
        "Waiting time to which the classic queue is held.",
        default=0.015,
        minimum=1e-6,
        maximum=100.0,
        applies_to=("dualpi2",),
    ),
    Param(
        "step",
        Dimension.TIME,
        "Packets of the L4S queue that have waited longer are marked, unless they are alone.",
        default=0.001,
        minimum=1e-6,
        maximum=100.0,
        applies_to=("dualpi2",),
    ),
    Param(
        "ramp",
        Dimension.TIME,
        "So much beyond the step a packet is marked for certain, and until then the more likely the longer it has "
        "waited. 0 is the step of Linux; step = 0.8 ms and ramp = 0.4 ms are those of RFC 9332.",
        default=0.0,
        minimum=0.0,
        maximum=100.0,
        applies_to=("dualpi2",),
    ),
    Param(
        "coupling",
        Dimension.NUMBER,
        "Factor k: the L4S queue marks k times the square root of what the classic queue marks or drops. 2 gives "
        "prague and newreno about the same rate.",
        default=2.0,
        minimum=1.0,
        maximum=10.0,
        applies_to=("dualpi2",),
    ),
    Param(
        "update",
        Dimension.TIME,
        "How often the probability is computed anew.",
        default=0.016,
        minimum=1e-4,
        maximum=10.0,
        applies_to=("dualpi2",),
    ),
    Param(
        "alpha",
        Dimension.NUMBER,
        "Integral gain, 1/s: by how much the probability changes with each update for a second beyond the target.",
        default=0.16,
        minimum=0.0,
        maximum=1000.0,
        applies_to=("dualpi2",),
    ),
    Param(
        "beta",
        Dimension.NUMBER,
        "Proportional gain, 1/s: by how much it changes for a second by which the waiting time has grown.",
        default=3.2,
        minimum=0.0,
        maximum=1000.0,
        applies_to=("dualpi2",),
    ),
)
"""The keys of a queue that is written as a table: `{ discipline = "red", limit = "67pkt", ... }`."""

QUEUE_LIMITS: Mapping[str, int] = MappingProxyType(
    {"droptail": 100, "codel": 1000, "fq_codel": 10_240, "dualpi2": 10_000}
)
"""Limit of a discipline where the file gives none, in packets; RED's depends on its thresholds. The others
are those of Linux."""

RED_CLASSIC_WEIGHT = 0.002
