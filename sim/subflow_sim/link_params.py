"""The keys of `[links.NAME]`, and of its tables for queues, loss models, rates and so on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from subflow_sim.parameter import NAME_PATTERN, Param
from subflow_sim.scenario_model import (
    Access,
    Grants,
    Handover,
    Jitter,
    Outages,
    QueueSpec,
    Retransmission,
    TokenBucket,
)
from subflow_sim.units import Dimension


@dataclass(frozen=True, slots=True)
class LinkTable:
    """An optional table of a link direction.

    Attributes:
        help: meaning, in one sentence.
        params: keys of the table.
        kind: class of the model that holds the values.
    """

    help: str
    params: tuple[Param, ...]
    kind: type


LINK: tuple[Param, ...] = (
    Param(
        "ends",
        Dimension.LIST,
        "The two nodes it joins. The direction from the first to the second is called forward.",
        required=True,
    ),
    Param(
        "rate",
        Dimension.RATE,
        "How fast packets are sent, headers included. The slowest link of a path is its bottleneck. "
        '{ steps = [["0s", "4Mbit/s"], ["70s", "8Mbit/s"]] } changes it at given times; { trace = "lte.up" } follows '
        "the recording in a file.",
        required=True,
        minimum=1.0,
        maximum=1e12,
        allows_unlimited=True,
    ),
    Param(
        "delay",
        Dimension.TIME,
        "One-way propagation delay. A round trip over the link takes twice as long, and longer when packets queue. "
        '{ trace = "delays.txt" } follows the recording in a file.',
        default=0.0,
        minimum=0.0,
        maximum=1000.0,
    ),
    Param(
        "queue",
        Dimension.QUEUE,
        "Packets (or bytes) that can wait for the link, including the one being sent; any more are dropped. { "
        'discipline = "codel" } and others drop earlier to keep the queue short.',
        default=QueueSpec(limit_pkts=100),
        minimum=1,
        maximum=10_000_000,
        allows_unlimited=True,
    ),
    Param(
        "loss",
        Dimension.RATIO,
        "Share of packets lost at random before the queue, independently of each other, as on a radio link. { model "
        '= "gilbert", p = "1%", r = "25%" } loses them in bursts.',
        default=0.0,
        minimum=0.0,
        maximum=1.0,
    ),
    Param(
        "reorder",
        Dimension.FLAG,
        "true: packets with a shorter delay may overtake earlier ones, after the delay fell, through jitter, or in a "
        "recording. false: they wait for the earlier ones.",
        default=False,
    ),
    Param(
        "drops",
        Dimension.LIST,
        'Data packets that are always lost here: "download/1:17" is the 17th packet of the first subflow of '
        'download to reach this link, "download/1:3@2s" the third from 2 s on. Retransmissions count. Default: none.',
        example='["download/1:17"]',
    ),
)

DIRECTION: tuple[Param, ...] = tuple(param for param in LINK if param.key not in ("ends", "drops"))
"""The keys that each direction of a link can have."""

DROP_PATTERN = rf"({NAME_PATTERN})(\.[1-9][0-9]{{0,4}})?(/[0-9]{{1,10}})?:([0-9]{{1,20}})(@.+)?"
"""Pattern of a scripted drop: flow, copy, subflow, number and time, as in "download.3/2:1@2s" or "download/1:17"."""

MOST_DROPS = 1000
"""Maximum number of scripted drops per link."""

LOSS_TABLE: tuple[Param, ...] = (
    Param(
        "model",
        Dimension.CHOICE,
        "gilbert: a good and a bad state that follow each other at random, packet by packet.",
        required=True,
        choices=("gilbert",),
    ),
    Param(
        "p",
        Dimension.RATIO,
        "Probability per packet that the good state ends.",
        required=True,
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
    ),
    Param(
        "r",
        Dimension.RATIO,
        "Probability per packet that the bad state ends: it lasts 1/r packets on average.",
        required=True,
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
    ),
    Param(
        "good",
        Dimension.RATIO,
        "Share of packets lost in the good state.",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
    ),
    Param(
        "bad",
        Dimension.RATIO,
        "Share of packets lost in the bad state. Over time (r good + p bad) / (p + r) of all packets are lost.",
        default=1.0,
        minimum=0.0,
        maximum=1.0,
    ),
)
"""The keys of a loss model: `{ model = "gilbert", p = "1%", r = "25%" }`."""

TRACE_TABLE: tuple[Param, ...] = (
    Param(
        "trace",
        Dimension.TEXT,
        "File with a packet-delivery trace in the format of mahimahi, beside the scenario or in a folder below: one "
        "line for each 1500 bytes that can be sent, in milliseconds; after the last line it starts over. Or a table "
        "whose first line names columns: time_s,rate_mbps,delay_ms.",
        required=True,
    ),
    Param(
        "content",
        Dimension.TEXT,
        "Content of the file. Written with a stored run, so that it can be repeated without the file.",
    ),
)
"""The keys of a rate trace: `{ trace = "lte.up" }`."""

DELAY_TRACE_TABLE: tuple[Param, ...] = (
    Param(
        "trace",
        Dimension.TEXT,
        "File with delays in the format of LeoReplayer, one per line, beside the scenario or in a folder below; after "
        "the last line it starts over. Or a table whose first line names columns: time_s,rate_mbps,delay_ms, or "
        "rtt_ms, of which each direction takes half.",
        required=True,
    ),
    Param(
        "interval",
        Dimension.TIME,
        "How long the delay of a line holds. A table has times of its own.",
        default=0.01,
        minimum=1e-6,
        maximum=1000.0,
    ),
    Param(
        "unit",
        Dimension.CHOICE,
        "Unit of the numbers in the file. Default: ms. A table has its own units.",
        choices=("ms", "us", "s"),
    ),
    Param(
        "content",
        Dimension.TEXT,
        "Content of the file. Written with a stored run, so that it can be repeated without the file.",
    ),
)
"""The keys of a delay trace: `{ trace = "delays.txt" }`."""

LOSS_TRACE_TABLE: tuple[Param, ...] = (
    Param(
        "trace",
        Dimension.TEXT,
        "File with losses, beside the scenario or in a folder below: a table whose first line names columns, "
        "time_s,loss_percent; after the last line it starts over.",
        required=True,
    ),
    Param(
        "content",
        Dimension.TEXT,
        "Content of the file. Written with a stored run, so that it can be repeated without the file.",
    ),
)
"""The keys of a loss trace: `{ trace = "losses.csv" }`."""

JITTER_TABLE: tuple[Param, ...] = (
    Param(
        "distribution",
        Dimension.CHOICE,
        "uniform: up to spread earlier or later. normal: with spread as standard deviation. exponential: only later, "
        "by spread on average. pareto: most a little early, a few very late, as in Linux's netem. No packet arrives "
        "before it leaves; except with exponential, packets are late by at most four times spread.",
        default="uniform",
        choices=("uniform", "normal", "exponential", "pareto"),
        field="kind",
    ),
    Param(
        "spread",
        Dimension.TIME,
        "How much the delay of each packet may differ from that of the link. reorder allows packets to overtake "
        "one another then.",
        required=True,
        minimum=0.0,
        maximum=0.5,
    ),
)
"""The keys of a link's table `jitter`, whose values form a `Jitter`."""

BUCKET_TABLE: tuple[Param, ...] = (
    Param(
        "burst",
        Dimension.SIZE,
        "Bytes that can be saved up while sending below the rate. At least one packet.",
        required=True,
        minimum=1,
        maximum=1_000_000_000,
    ),
    Param(
        "peak",
        Dimension.RATE,
        "The rate of the burst. At least the rate of the link.",
        default=float("inf"),
        minimum=1.0,
        maximum=1e12,
        allows_unlimited=True,
    ),
)
"""The keys of a link's table `bucket`, whose values form a `TokenBucket`."""

RETRANSMISSION_TABLE: tuple[Param, ...] = (
    Param(
        "loss",
        Dimension.RATIO,
        "Share of attempts that fail, independently of each other.",
        required=True,
        minimum=0.0,
        maximum=0.9,
    ),
    Param(
        "delay",
        Dimension.TIME,
        "Time until the next attempt; LTE's HARQ takes 8 ms.",
        default=0.008,
        minimum=0.0,
        maximum=0.1,
    ),
    Param(
        "attempts",
        Dimension.COUNT,
        "How often a packet is tried at most; after that it is lost.",
        default=4,
        minimum=1,
        maximum=16,
    ),
)
"""The keys of a link's table `retransmission`, whose values form a `Retransmission`."""

OUTAGES_TABLE: tuple[Param, ...] = (
    Param(
        "up",
        Dimension.TIME,
        "Mean time in service. The times are exponential; the link starts in service.",
        required=True,
        minimum=0.001,
        maximum=1e6,
    ),
    Param(
        "down",
        Dimension.TIME,
        "Mean time out of service, also exponential.",
        required=True,
        minimum=0.001,
        maximum=1e6,
    ),
    Param(
        "queue",
        Dimension.CHOICE,
        "lost: waiting and arriving packets are lost. kept: they wait, as far as the queue has room, and an "
        "interrupted transmission continues where it stopped.",
        default="lost",
        choices=("lost", "kept"),
    ),
)
"""The keys of a link's table `outages`, whose values form an `Outages`."""

HANDOVER_TABLE: tuple[Param, ...] = (
    Param(
        "period",
        Dimension.TIME,
        "Time from one handover to the next; Starlink's terminals get a new satellite every 15 s.",
        default=15.0,
        minimum=0.1,
        maximum=1e6,
    ),
    Param(
        "offset",
        Dimension.TIME,
        "Time of the first.",
        default=0.0,
        minimum=0.0,
        maximum=1e6,
    ),
    Param(
        "gap",
        Dimension.TIME,
        "For how long nothing is sent; queued packets stay.",
        default=0.0,
        minimum=0.0,
        maximum=100.0,
    ),
    Param(
        "delay",
        Dimension.TIME,
        "Until the next handover, the link's delay is longer by a uniform draw up to this.",
        default=0.0,
        minimum=0.0,
        maximum=100.0,
    ),
    Param(
        "rate",
        Dimension.RATIO,
        "Until the next handover, the link's rate is multiplied by a uniform draw between this and 1.",
        default=1.0,
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
    ),
)
"""The keys of a link's table `handover`, whose values form a `Handover`."""

GRANTS_TABLE: tuple[Param, ...] = (
    Param(
        "period",
        Dimension.TIME,
        "Time from one grant to the next. A grant carries what is waiting then, up to one period at the rate.",
        required=True,
        minimum=1e-5,
        maximum=10.0,
    ),
    Param(
        "jitter",
        Dimension.TIME,
        "Each grant is late by a uniform draw up to this, at most a period.",
        default=0.0,
        minimum=0.0,
        maximum=10.0,
    ),
)
"""The keys of a link's table `grants`, whose values form a `Grants`."""

ACCESS_TABLE: tuple[Param, ...] = (
    Param(
        "medium",
        Dimension.NAME,
        "Any name: directions of links that name the same medium in the same way share its time.",
        required=True,
    ),
    Param(
        "kind",
        Dimension.CHOICE,
        "wifi: by contention; those that begin in the same slot of 9 us collide. cell: a scheduler lets one after "
        "the other send, each for its airtime.",
        default="wifi",
        choices=("wifi", "cell"),
    ),
    Param(
        "aggregation",
        Dimension.COUNT,
        "Maximum number of packets sent together in one access (A-MPDU). Default: 1 with wifi, as many as begin within "
        "the airtime with cell.",
        minimum=1,
        maximum=1024,
    ),
    Param(
        "airtime",
        Dimension.TIME,
        "No packet of an access begins later than this after the first. The longest frame of 802.11 takes 5.484 ms.",
        default=0.005,
        minimum=0.0,
        maximum=1.0,
    ),
    Param(
        "overhead",
        Dimension.TIME,
        "Time that an access takes in addition to its packets: preamble, headers and block acknowledgement, without "
        "the wait before it.",
        default=1e-4,
        minimum=0.0,
        maximum=0.1,
    ),
    Param(
        "window_min",
        Dimension.COUNT,
        "Slots to wait before an access: a uniform draw from 0 to this, doubled after each collision.",
        default=15,
        minimum=0,
        maximum=32_767,
    ),
    Param(
        "window_max",
        Dimension.COUNT,
        "Upper bound of the slots to wait, after repeated collisions.",
        default=1023,
        minimum=0,
        maximum=32_767,
    ),
    Param(
        "group",
        Dimension.NAME,
        "Stations of different groups are hidden from each other: they do not wait for one another, and overlapping "
        "transmissions are lost. Default: it hears all and all hear it, like an access point.",
    ),
)
"""The keys of a link's table `access`, whose values form an `Access`."""

LINK_TABLES: Mapping[str, LinkTable] = MappingProxyType(
    {
        "jitter": LinkTable("Delays that differ from packet to packet.", JITTER_TABLE, Jitter),
        "bucket": LinkTable(
            "A token bucket that fills at the rate of the link: unused tokens are saved for a burst.",
            BUCKET_TABLE,
            TokenBucket,
        ),
        "retransmission": LinkTable(
            "The radio link repeats damaged packets: they are late, and those behind them wait.",
            RETRANSMISSION_TABLE,
            Retransmission,
        ),
        "outages": LinkTable(
            "Times without service, at random; both directions fail together.", OUTAGES_TABLE, Outages
        ),
        "handover": LinkTable("Periodic changes, as with satellites.", HANDOVER_TABLE, Handover),
        "grants": LinkTable("A cellular bearer: it sends when a scheduler grants it time.", GRANTS_TABLE, Grants),
        "access": LinkTable(
            "Airtime that several links share; the rate is that of this station.", ACCESS_TABLE, Access
        ),
    }
)
"""Optional tables of a link direction, by key."""
