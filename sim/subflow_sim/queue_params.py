"""The keys of a queue table in a scenario file, and the default limits."""

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
        "How the queue decides what to drop. droptail: what does not fit. red: at random, more often the longer the "
        "queue. codel: the first in line, when waiting times have been too long for too long. fq_codel: codel for "
        "each subflow by itself, served in turn. dualpi2: a short queue that marks, for prague, coupled to one for "
        "all others (L4S, RFC 9332).",
        default="droptail",
        choices=("droptail", "red", "codel", "fq_codel", "dualpi2"),
    ),
    Param(
        "limit",
        Dimension.QUEUE,
        "Packets (or bytes) that fit at most, including the one being sent. Default: 100pkt for droptail, four times "
        "max for red, 1000pkt for codel, 10240pkt for fq_codel, 10000pkt for dualpi2.",
        minimum=1,
        maximum=10_000_000,
        allows_unlimited=True,
    ),
    Param(
        "mode",
        Dimension.CHOICE,
        "instantaneous: by the current queue, each packet on its own, as fluid models assume. classic: by the "
        "average over time, with evenly spaced drops (Floyd and Jacobson 1993).",
        default="instantaneous",
        choices=("instantaneous", "classic"),
        applies_to=("red",),
    ),
    Param(
        "min",
        Dimension.QUEUE,
        "Queue below which nothing is dropped. Default: half of max, or 25 packets per 10 Mbit/s of the link's first "
        "rate (at least one packet).",
        minimum=1,
        maximum=10_000_000,
        applies_to=("red",),
        field="min_pkts",
    ),
    Param(
        "max",
        Dimension.QUEUE,
        "Queue at which the share max_p is dropped. Default: twice min.",
        minimum=1,
        maximum=10_000_000,
        applies_to=("red",),
        field="max_pkts",
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
        "Beyond max, the share grows to 100 % at twice max; otherwise it jumps to 100 %.",
        default=True,
        applies_to=("red",),
    ),
    Param(
        "weight",
        Dimension.RATIO,
        "Weight of a new sample in the average of the classic mode. Default: 0.2%.",
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
        applies_to=("red",),
    ),
    Param(
        "ecn",
        Dimension.FLAG,
        "Marks packets instead of dropping them, if their flow supports ECN (RFC 3168; ecn of the transport). "
        "Packets that find no room are still dropped.",
        default=False,
        applies_to=("red", *_CODEL),
        field="marks",
    ),
    Param(
        "ce_threshold",
        Dimension.TIME,
        "Packets that have waited longer are always marked: a step for dctcp and similar controllers. Default: none.",
        minimum=1e-6,
        maximum=100.0,
        applies_to=_CODEL,
    ),
    Param(
        "target",
        Dimension.TIME,
        "Acceptable standing waiting time.",
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
        "Bytes that a flow may send per turn.",
        default=1514,
        minimum=64,
        maximum=1_000_000,
        applies_to=("fq_codel",),
    ),
    Param(
        "flows",
        Dimension.COUNT,
        "Number of queues over which a hash spreads the subflows.",
        default=1024,
        minimum=1,
        maximum=65_536,
        applies_to=("fq_codel",),
    ),
    Param(
        "delay_target",
        Dimension.TIME,
        "Target waiting time of the classic queue.",
        default=0.015,
        minimum=1e-6,
        maximum=100.0,
        applies_to=("dualpi2",),
        field="target",
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
        "From the step to the step plus this, the chance of a mark grows with the waiting time; beyond, every packet "
        "is marked. 0 is Linux's step; step = 0.8 ms and ramp = 0.4 ms are those of RFC 9332.",
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
        "Integral gain, 1/s: by how much the probability changes per update for each second beyond the target.",
        default=0.16,
        minimum=0.0,
        maximum=1000.0,
        applies_to=("dualpi2",),
        field="alpha_hz",
    ),
    Param(
        "beta",
        Dimension.NUMBER,
        "Proportional gain, 1/s: by how much it changes for each second by which the waiting time has grown.",
        default=3.2,
        minimum=0.0,
        maximum=1000.0,
        applies_to=("dualpi2",),
        field="beta_hz",
    ),
)
"""The keys of a queue table: `{ discipline = "red", limit = "67pkt", ... }`."""

QUEUE_LIMITS: Mapping[str, int] = MappingProxyType(
    {"droptail": 100, "codel": 1000, "fq_codel": 10_240, "dualpi2": 10_000}
)
"""Default limits by discipline, in packets, as in Linux except for droptail. RED has no entry, because its default
limit depends on its thresholds.
"""

RED_CLASSIC_WEIGHT = 0.002
