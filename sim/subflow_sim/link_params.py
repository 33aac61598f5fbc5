"""The keys of `[links.NAME]` and of the tables that may stand in them for a queue, a loss model or a rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from subflow_sim.parameter import NAME_PATTERN, Param
from subflow_sim.scenario_model import QueueSpec
from subflow_sim.units import Dimension


@dataclass(frozen=True, slots=True)
class LinkTable:
    """Something that a direction of a link can have.

    Attributes:
        help: what it is, in a sentence.
        params: the keys of its table.
    """

    help: str
    params: tuple[Param, ...]


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
        "Packets (or bytes) that can wait for the link, the one being sent included; what comes on top is dropped. "
        '{ discipline = "codel" } and others drop earlier, so that the queue stays short.',
        default=QueueSpec(limit_pkts=100),
        minimum=1,
        maximum=10_000_000,
        allows_unlimited=True,
    ),
    Param(
        "loss",
        Dimension.RATIO,
        "Share of packets lost at random before the queue, each independent of the others, as on a radio link. "
        '{ model = "gilbert", p = "1%", r = "25%" } loses them in bursts.',
        default=0.0,
        minimum=0.0,
        maximum=1.0,
    ),
    Param(
        "reorder",
        Dimension.FLAG,
        "Whether packets may overtake those sent before where their delay is shorter: after it fell, by jitter, or in "
        "a recording. Otherwise they wait for them.",
        default=False,
    ),
    Param(
        "drops",
        Dimension.LIST,
        'Data packets that are lost here, whatever else happens: "download/1:17" is the 17th packet of the first '
        'subflow of download that gets to this link, "download/1:3@2s" the third from 2 s on. Retransmissions count. '
        "Left out: none.",
        example='["download/1:17"]',
    ),
)

DROP_PATTERN = rf"({NAME_PATTERN})(\.[1-9][0-9]{{0,4}})?(/[0-9]{{1,10}})?:([0-9]{{1,20}})(@.+)?"
"""A packet to be lost: flow, copy, subflow, number, time; "download/1:17", "download.3/2:1@2s"."""

MOST_DROPS = 1000
"""On one link."""

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
        "What the file holds. Written with a stored run, so that it can be repeated without the file.",
    ),
)
"""The keys of a rate that follows a recording: `{ trace = "lte.up" }`."""

DELAY_TRACE_TABLE: tuple[Param, ...] = (
    Param(
        "trace",
        Dimension.TEXT,
        "File with delays, one per line, as LeoReplayer has them, beside the scenario or in a folder below; after the "
        "last line it starts over. Or a table whose first line names columns: time_s,rate_mbps,delay_ms, or rtt_ms, of "
        "which a direction has half.",
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
        "What the numbers of the file are in. Left out: ms. A table has units of its own.",
        choices=("ms", "us", "s"),
    ),
    Param(
        "content",
        Dimension.TEXT,
        "What the file holds. Written with a stored run, so that it can be repeated without the file.",
    ),
)
"""The keys of a delay that follows a recording: `{ trace = "delays.txt" }`."""

JITTER_TABLE: tuple[Param, ...] = (
    Param(
        "distribution",
        Dimension.CHOICE,
        "uniform: up to spread earlier or later. normal: with spread as standard deviation. exponential: later only, "
        "by spread on average. pareto: mostly a little early, few very late, as Linux's netem has it. No packet "
        "arrives before it leaves; but for exponential, none is more than four times spread late.",
        default="uniform",
        choices=("uniform", "normal", "exponential", "pareto"),
    ),
    Param(
        "spread",
        Dimension.TIME,
        "How much the delay of each packet differs from that of the link. Whether packets then overtake one another is "
        "told by reorder.",
        required=True,
        minimum=0.0,
        maximum=0.5,
    ),
)
"""The keys of `jitter`."""

BUCKET_TABLE: tuple[Param, ...] = (
    Param(
        "burst",
        Dimension.SIZE,
        "Bytes that can be saved up while less than the rate is sent. At least a packet.",
        required=True,
        minimum=1,
        maximum=1_000_000_000,
    ),
    Param(
        "peak",
        Dimension.RATE,
        "How fast they are sent then. At least the rate of the link.",
        default=float("inf"),
        minimum=1.0,
        maximum=1e12,
        allows_unlimited=True,
    ),
)
"""The keys of `bucket`."""

RETRANSMISSION_TABLE: tuple[Param, ...] = (
    Param(
        "loss",
        Dimension.RATIO,
        "Share of attempts that fail, each independent of the others.",
        required=True,
        minimum=0.0,
        maximum=0.9,
    ),
    Param(
        "delay",
        Dimension.TIME,
        "How much later the next attempt is; LTE's HARQ takes 8 ms.",
        default=0.008,
        minimum=0.0,
        maximum=0.1,
    ),
    Param(
        "attempts",
        Dimension.COUNT,
        "How often a packet is sent at most; after that it is lost.",
        default=4,
        minimum=1,
        maximum=16,
    ),
)
"""The keys of `retransmission`."""

OUTAGES_TABLE: tuple[Param, ...] = (
    Param(
        "up",
        Dimension.TIME,
        "Mean time for which it works. The times are exponential; it begins in working order.",
        required=True,
        minimum=0.001,
        maximum=1e6,
    ),
    Param(
        "down",
        Dimension.TIME,
        "Mean time for which it does not work, exponential as well.",
        required=True,
        minimum=0.001,
        maximum=1e6,
    ),
    Param(
        "queue",
        Dimension.CHOICE,
        "lost: what waits and what comes meanwhile is lost. kept: it waits, as far as the queue takes it, and what was "
        "being sent goes on where it stopped.",
        default="lost",
        choices=("lost", "kept"),
    ),
)
"""The keys of `outages`."""

HANDOVER_TABLE: tuple[Param, ...] = (
    Param(
        "period",
        Dimension.TIME,
        "From one to the next; Starlink's terminals get another satellite every 15 s.",
        default=15.0,
        minimum=0.1,
        maximum=1e6,
    ),
    Param(
        "offset",
        Dimension.TIME,
        "When the first is.",
        default=0.0,
        minimum=0.0,
        maximum=1e6,
    ),
    Param(
        "gap",
        Dimension.TIME,
        "For how long nothing is sent; what waits stays.",
        default=0.0,
        minimum=0.0,
        maximum=100.0,
    ),
    Param(
        "delay",
        Dimension.TIME,
        "Until the next one, the delay of the link is longer by a uniform draw up to this.",
        default=0.0,
        minimum=0.0,
        maximum=100.0,
    ),
    Param(
        "rate",
        Dimension.RATIO,
        "Until the next one, the rate of the link is lower, by a uniform draw between this share of it and all.",
        default=1.0,
        minimum=0.0,
        maximum=1.0,
        exclusive_minimum=True,
    ),
)
"""The keys of `handover`."""

GRANTS_TABLE: tuple[Param, ...] = (
    Param(
        "period",
        Dimension.TIME,
        "From one grant to the next. Each carries what the rate makes in a period, of what waits at its time.",
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
"""The keys of `grants`."""

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
        "wifi: by contention, where those that begin in the same slot of 9 us collide. cell: a scheduler lets one "
        "after the other send, each for as long as airtime says.",
        default="wifi",
        choices=("wifi", "cell"),
    ),
    Param(
        "aggregation",
        Dimension.COUNT,
        "Packets that an access sends together at most (A-MPDU).",
        default=1,
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
        "Time that an access takes beside its packets: preamble, headers and block acknowledgement, without the "
        "waiting before it.",
        default=1e-4,
        minimum=0.0,
        maximum=0.1,
    ),
    Param(
        "window_min",
        Dimension.COUNT,
        "Slots that are waited before an access: a uniform draw from 0 to this, twice as many after each collision.",
        default=15,
        minimum=0,
        maximum=32_767,
    ),
    Param(
        "window_max",
        Dimension.COUNT,
        "And never more than this.",
        default=1023,
        minimum=0,
        maximum=32_767,
    ),
    Param(
        "group",
        Dimension.NAME,
        "Stations of different groups are hidden from each other: they do not wait for one another, and what overlaps "
        "is lost. Left out: it hears all, and all hear it, as an access point.",
    ),
)
"""The keys of `access`."""

LINK_TABLES: Mapping[str, LinkTable] = MappingProxyType(
    {
        "jitter": LinkTable("Delays that differ from packet to packet.", JITTER_TABLE),
        "bucket": LinkTable(
            "A token bucket, which fills at the rate of the link: what is not used is saved up for a burst.",
            BUCKET_TABLE,
        ),
        "retransmission": LinkTable(
            "Radio repeats what it damages: such packets are late, those behind them wait.", RETRANSMISSION_TABLE
        ),
        "outages": LinkTable("Times without service, at random; both directions fail together.", OUTAGES_TABLE),
        "handover": LinkTable("What changes periodically, as with satellites.", HANDOVER_TABLE),
        "grants": LinkTable("A cellular bearer: it sends when a scheduler grants it something.", GRANTS_TABLE),
        "access": LinkTable("Airtime that several links share; the rate is that of this station.", ACCESS_TABLE),
    }
)
"""What a direction of a link can have beside the keys that are values, each a table with keys of its own."""
