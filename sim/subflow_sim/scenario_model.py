"""Parts of a scenario as the simulator runs it: immutable, in SI units. Plain values without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt


NodeKind: TypeAlias = Literal["host", "router"]
FlowKind: TypeAlias = Literal["tcp", "mptcp", "cbr", "onoff"]
Spacing: TypeAlias = Literal["constant", "poisson"]
JitterDistribution: TypeAlias = Literal["uniform", "normal", "exponential", "pareto"]
OutageQueue: TypeAlias = Literal["lost", "kept"]
AccessKind: TypeAlias = Literal["wifi", "cell"]
LifetimeDistribution: TypeAlias = Literal["fixed", "exponential"]
ScriptKind: TypeAlias = Literal["controller", "scheduler"]
DATAGRAM_KINDS = ("cbr", "onoff")
"""Kinds of flows that send without listening: no controller, no subflows to close, nothing is sent again."""
Direction: TypeAlias = Literal["both", "forward", "reverse"]
Profile: TypeAlias = Literal["linux", "textbook"]
OptionValue: TypeAlias = float | bool | str


@dataclass(frozen=True, slots=True)
class Node:
    """An end system or a router.

    Attributes:
        name: its key in the file.
        kind: hosts start and end flows and never forward; routers only forward.
        at: position on the canvas in pixels; None if it is to be laid out automatically.
    """

    name: str
    kind: NodeKind = "host"
    at: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """The queue in front of a link direction. Both limits None: unlimited.

    Attributes:
        discipline: "droptail", "red", "codel", "fq_codel" or "dualpi2".
        limit_pkts: packets that fit, the one being sent included.
        limit_bytes: wire bytes that fit, the packet being sent included.
        options: all options of the discipline in SI units. red: mode, min and max (packets, maybe fractions), max_p,
            gentle, weight; codel: target, interval; fq_codel: these, quantum, flows.
    """

    discipline: str = "droptail"
    limit_pkts: int | None = None
    limit_bytes: int | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GilbertLoss:
    """Loss in bursts: a chain of a good and a bad state that takes a step per packet.

    Attributes:
        p: probability of the step from good to bad.
        r: probability of the step from bad to good.
        good: loss probability in the good state.
        bad: loss probability in the bad state.
    """

    p: float
    r: float
    good: float = 0.0
    bad: float = 1.0

    @property
    def mean(self) -> float:
        """Stationary loss probability."""
        return (self.r * self.good + self.p * self.bad) / (self.p + self.r)


@dataclass(frozen=True, slots=True)
class DeliveryTrace:
    """A recording of when a link could send.

    Attributes:
        file: as the scenario names it.
        packed: `times_ms` as bytes, of which a recording may have millions.
    """

    file: str
    packed: bytes = field(repr=False)

    @property
    def times_ms(self) -> npt.NDArray[np.uint32]:
        """When 1500 bytes can be delivered, ms, ascending; it starts over after the last."""
        import numpy as np

        return np.frombuffer(self.packed, dtype=np.uint32)

    @property
    def rate_bps(self) -> float:
        """Mean rate, if every opportunity is used."""
        times_ms = self.times_ms
        return len(times_ms) * 12_000 / (int(times_ms[-1]) * 1e-3)


@dataclass(frozen=True, slots=True)
class DelayTrace:
    """A recording of how long a link takes.

    Attributes:
        file: as the scenario names it.
        packed: `delays_us` as bytes.
        interval_s: for which each delay holds.
    """

    file: str
    packed: bytes = field(repr=False)
    interval_s: float = 0.01

    @property
    def delays_us(self) -> npt.NDArray[np.uint32]:
        """One-way delays, microseconds; it starts over after the last."""
        import numpy as np

        return np.frombuffer(self.packed, dtype=np.uint32)

    @property
    def mean_s(self) -> float:
        """Mean delay."""
        return float(self.delays_us.mean()) * 1e-6


@dataclass(frozen=True, slots=True)
class Jitter:
    """How the delay of a packet differs from that of its link.

    Attributes:
        distribution: "uniform" within the spread, "normal" with it as standard deviation, "exponential" with it as
            mean, "pareto" as netem has it.
        spread_s: see there.
    """

    distribution: JitterDistribution
    spread_s: float


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """What a link may save up of its rate while it sends less.

    Attributes:
        burst_bytes: at most so much.
        peak_bps: rate at which what was saved up is sent; None: at once.
    """

    burst_bytes: int
    peak_bps: float | None = None


@dataclass(frozen=True, slots=True)
class Retransmission:
    """Repetition of damaged packets below the transport.

    Attributes:
        loss: probability that an attempt fails.
        delay_s: until the next attempt.
        attempts: after which a packet is lost.
    """

    loss: float
    delay_s: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Outages:
    """When a link is out of service, at random.

    Attributes:
        up_s: mean of the exponential times for which it works.
        down_s: mean of those for which it does not.
        queue: "lost": what waits and what comes is lost; "kept": it waits until the link works again.
    """

    up_s: float
    down_s: float
    queue: OutageQueue = "lost"


@dataclass(frozen=True, slots=True)
class Handover:
    """What happens each time a link changes to another satellite or cell.

    Attributes:
        period_s: from one to the next.
        offset_s: when the first is.
        gap_s: for which nothing is sent then; what waits stays.
        delay_s: until the next one, the delay is longer by a uniform draw up to this.
        rate: and the rate lower, by a uniform draw between this share of it and all.
    """

    period_s: float
    offset_s: float = 0.0
    gap_s: float = 0.0
    delay_s: float = 0.0
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Grants:
    """A link that sends only when a scheduler grants it something.

    Attributes:
        period_s: from one grant to the next.
        jitter_s: each is late by a uniform draw up to this.
    """

    period_s: float
    jitter_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Access:
    """How a link direction shares a medium with all others that name it.

    Attributes:
        medium: its name.
        kind: "wifi": by contention, "cell": in turns.
        aggregation: packets that are sent together, at most.
        airtime_s: none of them begins later than this after the first.
        overhead_s: time that an access takes beside its packets.
        window_min: slots of the smallest contention window, less one.
        window_max: of the largest.
        group: of stations that hear each other; None: it hears all, and all hear it.
    """

    medium: str
    kind: AccessKind = "wifi"
    aggregation: int = 1
    airtime_s: float = 0.0
    overhead_s: float = 0.0
    window_min: int = 15
    window_max: int = 1023
    group: str | None = None


@dataclass(frozen=True, slots=True)
class LinkDirection:
    """One direction of a link.

    Attributes:
        rate_bps: wire bit/s; None: unlimited (a wire without a transmitter). Of a trace: its mean.
        delay_s: one-way propagation delay.
        queue: what waits in front of the transmitter.
        loss: probability 0..1 that a packet is lost before it reaches the queue; of a loss model the stationary one.
        loss_model: None: each packet is independent of all others.
        trace: the recording it follows; None: it has a rate.
        reorder: packets may overtake earlier ones where their delay is shorter.
        delay_trace: the recording that its delay follows, of which `delay_s` is the mean; None: it is constant.
        jitter: what comes on top of the delay, packet by packet.
        bucket: what it may save up of its rate.
        retransmission: what radio repeats, and how late that is.
        outages: when it is out of service, at random.
        handover: what changes periodically.
        grants: when it may send.
        access: whom it shares its medium with.
    """

    rate_bps: float | None
    delay_s: float
    queue: QueueSpec
    loss: float
    loss_model: GilbertLoss | None = None
    trace: DeliveryTrace | None = None
    reorder: bool = False
    delay_trace: DelayTrace | None = None
    jitter: Jitter | None = None
    bucket: TokenBucket | None = None
    retransmission: Retransmission | None = None
    outages: Outages | None = None
    handover: Handover | None = None
    grants: Grants | None = None
    access: Access | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """A packet that is lost on a link whatever else there is.

    Counted are the data packets of a subflow that get to the link, retransmissions and those that are lost there in
    other ways included.

    Attributes:
        flow: its name, with the number of the copy if there are several: "download.3".
        subflow: ordinal from 1 in path order.
        number: which of them, from 1.
        after_s: those that get there earlier do not count.
    """

    flow: str
    subflow: int
    number: int
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """A full-duplex link; "forward" is from `ends[0]` to `ends[1]`.

    Attributes:
        name: its key in the file.
        ends: the nodes it joins.
        forward: from the first to the second.
        reverse: from the second to the first.
        drops: packets lost by a script, each in the direction in which its flow sends.
    """

    name: str
    ends: tuple[str, str]
    forward: LinkDirection
    reverse: LinkDirection
    drops: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The content of a trained policy's file; `subflow_sim.policy` reads it.

    Attributes:
        name: as the scenario has it.
        content_hash: SHA-256 in hex.
        content: of the file.
        path: absolute path of the file that was read; None: it is not a file.
    """

    name: str
    content_hash: str
    content: bytes = field(repr=False, compare=False)
    path: Path | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """The text of a controller or scheduler that a scenario brings; `subflow_sim.script` compiles it.

    Attributes:
        name: by which flows choose it.
        kind: which of the two it is.
        text: of the script, with line feeds alone.
        file: as the scenario has it.
    """

    name: str
    kind: ScriptKind
    text: str = field(repr=False)
    file: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """A controller or scheduler by name, with all its options (those left out in the file have their defaults).

    Attributes:
        name: as in the file.
        options: SI values by key.
        policy: what its option `policy` names; None: no trained one.
        script: what it is written in; None: it is built in.
    """

    name: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    policy: PolicyFile | None = None
    script: ScriptFile | None = None


NO_CHOICE = Choice("")
"""The controller and scheduler of a cbr or onoff flow, which has neither."""


MAX_COPIES = 10_000
"""Copies that a flow can have at most."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Copies of a flow that come one after the other, as a Poisson process from the flow's start to its stop.

    Attributes:
        mean_gap_s: mean of the exponential times between two of them.
        lifetime_s: how long each sends, or the mean of that; None: until its transfer is complete or the flow stops.
        lifetime_distribution: "fixed": all live equally long; "exponential": that long on average.
        limit: at most that many come; None: as many as do.
    """

    mean_gap_s: float
    lifetime_s: float | None = None
    lifetime_distribution: LifetimeDistribution = "fixed"
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """Traffic from one host to another; `count` identical copies of it, or copies that arrive.

    Attributes:
        name: its key in the file; the copies are named by `instances`.
        kind: "tcp" (one path), "mptcp" (a subflow on each path), "cbr" (constant bit rate, one path, no feedback) or
            "onoff" (like cbr, but in bursts).
        source: host that sends the data.
        destination: host that receives it.
        controller: congestion controller; `NO_CHOICE` for cbr and onoff.
        scheduler: packet scheduler; "minrtt" for tcp, which has nothing to choose from; `NO_CHOICE` for cbr and onoff.
        paths: one per subflow, each the names of the links from source to destination. The same path may stand twice.
        count: number of identical copies.
        start_s: when it starts; the scenario's start jitter comes on top.
        stop_s: when it stops to send new data; None: at the end.
        size_bytes: payload after which it is complete; None: endless.
        recv_buffer_bytes: connection-level receive buffer; None: unlimited.
        send_buffer_bytes: connection-level send buffer, which holds data until it is DATA_ACKed; None: unlimited.
        backup: mptcp only, ordinals from 1 of the subflows that carry data while no other is usable, ascending.
        late: mptcp only, ordinals from 2 of the subflows that wait for an event to open or announce them, ascending.
        subflow_limit: mptcp only, further subflows at a time at most; None: one for each path.
        address_limit: mptcp only, announced addresses that are taken up at most; None: all.
        rate_bps: cbr and onoff only, wire bit/s, for onoff while it is on.
        packet_bytes: cbr and onoff only, size of a packet on the wire.
        spacing: cbr and onoff only, "constant" distances between packets or "poisson": exponential ones.
        mean_on_s: onoff only, mean of the exponential lengths of its bursts; the first begins at `start_s`.
        mean_off_s: onoff only, mean of the exponential lengths of the silences between them.
        ecn: tcp and mptcp only, what its two ends agree on about marks: "off", "rfc3168", "accecn"; None: what the
            transport says, or its controller needs.
        arrivals: how copies arrive in place of one flow at `start_s`; `count` is 1 then.
    """

    name: str
    kind: FlowKind
    source: str
    destination: str
    controller: Choice
    scheduler: Choice
    paths: tuple[tuple[str, ...], ...]
    count: int = 1
    start_s: float = 0.0
    stop_s: float | None = None
    size_bytes: int | None = None
    recv_buffer_bytes: int | None = None
    send_buffer_bytes: int | None = None
    backup: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    subflow_limit: int | None = None
    address_limit: int | None = None
    rate_bps: float | None = None
    packet_bytes: int = 1500
    spacing: Spacing = "constant"
    mean_on_s: float | None = None
    mean_off_s: float | None = None
    arrivals: Arrivals | None = None
    ecn: str | None = None

    @property
    def sends_datagrams(self) -> bool:
        """It is not a transport connection: it has no controller, no subflows and no round trips."""
        return self.kind in DATAGRAM_KINDS

    @property
    def instances(self) -> tuple[str, ...]:
        """Names of the copies: ("download",), or ("download.1", "download.2", ...) if there are several.

        None of those that arrive: how many come depends on the seed of the run.
        """
        if self.arrivals is not None:
            return ()
        if self.count == 1:
            return (self.name,)
        return tuple(f"{self.name}.{ordinal}" for ordinal in range(1, self.count + 1))

    @property
    def most_copies(self) -> int:
        """How many copies a run can have of it."""
        return self.count if self.arrivals is None else self.arrivals.limit or MAX_COPIES

    def has_copy(self, name: str) -> bool:
        """Whether a run can have a flow of that name: this one, or a copy such as "download.3" if it has several."""
        if self.count == 1 and self.arrivals is None:
            return name == self.name
        base, _, ordinal = name.partition(".")
        is_number = (
            ordinal.isdecimal() and ordinal.isascii() and ordinal[0] != "0" and len(ordinal) <= len(str(MAX_COPIES))
        )
        return base == self.name and is_number and int(ordinal) <= self.most_copies


@dataclass(frozen=True, slots=True)
class Event:
    """A change at a given time. Names either a link or a flow; what is None stays as it is.

    Attributes:
        at_s: when.
        link: the link that changes.
        direction: which of its directions.
        flow: the flow of which subflows open or close, with all its copies, or one of these: "download.3".
        subflow: ordinal of the subflow from 1 in path order; None: all.
        rate_bps: new rate; infinite: unlimited.
        delay_s: new one-way delay, for packets sent from then on.
        loss: new loss probability.
        loss_model: the model it is of; None: each packet is independent of all others.
        queue: new queue limits; the discipline stays.
        up: False: everything in the queue and on arrival is lost. True: back in service.
        open: False: the subflow is closed and what it had outstanding goes over the others. True: a fresh one opens.
        backup: True: the subflow carries data only while no other is usable. False: it is one like the others.
        announce: True: the receiver announces the subflow's address, and it joins. False: it is taken back, and closes.
        refuse: True: whoever opens the subflow is reset. False: it may be opened.
        controller: takes over all subflows of the flow; window, ssthresh and RTT estimates stay, as with Linux's
            setsockopt(TCP_CONGESTION).
    """

    at_s: float
    link: str | None = None
    direction: Direction = "both"
    flow: str | None = None
    subflow: int | None = None
    rate_bps: float | None = None
    delay_s: float | None = None
    loss: float | None = None
    loss_model: GilbertLoss | None = None
    queue: QueueSpec | None = None
    up: bool | None = None
    open: bool | None = None
    backup: bool | None = None
    announce: bool | None = None
    refuse: bool | None = None
    controller: Choice | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on the drawing: its upper left corner on the canvas in pixels, and what it says."""

    at: tuple[float, float]
    text: str
