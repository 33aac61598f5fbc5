"""Parts of a validated scenario: immutable, in SI units. Plain values without behaviour."""

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
"""Kinds of flows without feedback: no controller, no subflows to close, no retransmissions."""
Direction: TypeAlias = Literal["both", "forward", "reverse"]
Profile: TypeAlias = Literal["linux", "textbook"]
OptionValue: TypeAlias = float | bool | str


@dataclass(frozen=True, slots=True)
class Node:
    """An end system or a router.

    Attributes:
        name: key in the file.
        kind: hosts start and end flows and never forward; routers only forward.
        at: position on the canvas in pixels; None for automatic layout.
    """

    name: str
    kind: NodeKind = "host"
    at: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """The queue in front of a link direction; unlimited if both limits are None.

    Attributes:
        discipline: "droptail", "red", "codel", "fq_codel" or "dualpi2".
        limit_pkts: packets that fit, including the one in transmission.
        limit_bytes: wire bytes that fit, including the packet in transmission.
        options: all options of the discipline by key of `QUEUE_TABLE`, in SI units. The thresholds min and max of red
            are in packets and may be fractional.
    """

    discipline: str = "droptail"
    limit_pkts: int | None = None
    limit_bytes: int | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GilbertLoss:
    """Loss in bursts: a Markov chain of a good and a bad state with one step per packet.

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
    """Recorded delivery times of a link.

    Attributes:
        file: name in the scenario.
        packed: `times_ms` as the bytes of a uint32 array, because a recording may contain millions of values.
    """

    file: str
    packed: bytes = field(repr=False)

    @property
    def times_ms(self) -> npt.NDArray[np.uint32]:
        """Times at which the link can deliver 1500 bytes, ms, ascending; the sequence repeats after the last."""
        import numpy as np

        return np.frombuffer(self.packed, dtype=np.uint32)

    @property
    def rate_bps(self) -> float:
        """Mean rate if every opportunity is used, bit/s."""
        times_ms = self.times_ms
        return len(times_ms) * 12_000 / (int(times_ms[-1]) * 1e-3)


@dataclass(frozen=True, slots=True)
class DelayTrace:
    """Recorded delays of a link.

    Attributes:
        file: name in the scenario.
        packed: `delays_us` as the bytes of a uint32 array.
        interval_s: time for which each delay applies, s.
    """

    file: str
    packed: bytes = field(repr=False)
    interval_s: float = 0.01

    @property
    def delays_us(self) -> npt.NDArray[np.uint32]:
        """One-way delays, microseconds; the sequence repeats after the last."""
        import numpy as np

        return np.frombuffer(self.packed, dtype=np.uint32)

    @property
    def mean_s(self) -> float:
        """Mean delay, s."""
        return float(self.delays_us.mean()) * 1e-6


@dataclass(frozen=True, slots=True)
class LossTrace:
    """Recorded losses of a link.

    Attributes:
        file: name in the scenario.
        text: the recording as a table with the columns time_s and loss_ratio.
    """

    file: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Jitter:
    """Random difference between the delay of a packet and its link's delay.

    Attributes:
        kind: "uniform" within the spread, "normal" with the spread as standard deviation, "exponential" with the spread
            as mean, "pareto" as in netem.
        spread_s: parameter of the distribution, s.
    """

    kind: JitterDistribution
    spread_s: float


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """Token bucket: capacity that an idle link saves for later bursts.

    Attributes:
        burst_bytes: maximum saved amount, bytes.
        peak_bps: rate of a burst, bit/s; None: unlimited.
    """

    burst_bytes: int
    peak_bps: float | None = None


@dataclass(frozen=True, slots=True)
class Retransmission:
    """Retransmission of damaged packets by the link layer.

    Attributes:
        loss: probability that an attempt fails.
        delay_s: time until the next attempt, s.
        attempts: number of attempts after which a packet is lost.
    """

    loss: float
    delay_s: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Outages:
    """Random times without service.

    Attributes:
        up_s: mean of the exponential times in service, s.
        down_s: mean of the exponential times out of service, s.
        queue: "lost": waiting and arriving packets are lost; "kept": they wait until the link is in service again.
    """

    up_s: float
    down_s: float
    queue: OutageQueue = "lost"


@dataclass(frozen=True, slots=True)
class Handover:
    """Periodic changes of a link at hand-overs between satellites or cells.

    Attributes:
        period_s: time between hand-overs, s.
        offset_s: time of the first hand-over, s.
        gap_s: time without transmissions, s; queued packets remain in the queue.
        delay_s: upper bound of the uniform extra delay until the next hand-over, s.
        rate: lower bound of the uniform factor of the rate until the next hand-over.
    """

    period_s: float
    offset_s: float = 0.0
    gap_s: float = 0.0
    delay_s: float = 0.0
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Grants:
    """A link that sends only what a scheduler grants, like the uplink of a cellular terminal.

    Attributes:
        period_s: time between grants, s.
        jitter_s: upper bound of the uniform delay of a grant, s.
    """

    period_s: float
    jitter_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Access:
    """Medium access of a link direction that shares a medium with others.

    Attributes:
        medium: name of the medium.
        kind: "wifi": contention; "cell": in turns.
        aggregation: maximum number of packets per access.
        airtime_s: a packet joins an access only if it starts less than this time after the first packet, s.
        overhead_s: time per access in addition to its packets, s.
        window_min: size of the smallest contention window in slots, minus one.
        window_max: size of the largest contention window in slots, minus one.
        group: group of stations that hear each other; None: the station hears all stations, and all stations hear it.
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
        rate_bps: wire rate, bit/s; None: unlimited (a wire without a transmitter); for a rate trace its mean.
        delay_s: one-way propagation delay, s.
        queue: queue in front of the transmitter.
        loss: probability 0..1 that a packet is lost before the queue; for a loss model the stationary probability.
        loss_model: burst loss model; None: independent losses.
        trace: rate trace; None: constant rate.
        reorder: whether packets with a shorter delay may overtake earlier ones.
        delay_trace: delay trace, whose mean is `delay_s`; None: constant delay.
        jitter: random difference of each packet's delay from `delay_s`; None: no jitter.
        bucket: token bucket; None: no bursts beyond the rate.
        retransmission: link-layer retransmission; None: no retransmission below the transport.
        outages: random times without service; None: no outages.
        handover: periodic changes; None: no hand-overs.
        grants: scheduler grants; None: the link may send at any time.
        access: access to a shared medium; None: the medium is not shared.
        loss_trace: loss trace, whose first value is `loss`, and whose later values are events; None: no recording.
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
    loss_trace: LossTrace | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """A data packet that a link always drops.

    The number counts the data packets of a subflow that reach the link, including retransmissions and packets dropped
    there for other reasons.

    Attributes:
        flow: name of the flow, with the number of the copy if it has several: "download.3".
        subflow: ordinal from 1 in path order.
        number: number of the packet, from 1.
        after_s: time from which packets are counted, s.
    """

    flow: str
    subflow: int
    number: int
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """A full-duplex link; "forward" is from `ends[0]` to `ends[1]`.

    Attributes:
        name: key in the file.
        ends: names of the two joined nodes.
        forward: direction from the first node to the second.
        reverse: direction from the second node to the first.
        drops: scripted drops, each in the direction in which its flow sends.
    """

    name: str
    ends: tuple[str, str]
    forward: LinkDirection
    reverse: LinkDirection
    drops: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The content of a trained policy's file; `subflow_sim.policy` parses it.

    Attributes:
        name: name in the scenario.
        content_hash: SHA-256 in hex.
        content: content of the file.
        path: absolute path of the file; None without a file.
    """

    name: str
    content_hash: str
    content: bytes = field(repr=False, compare=False)
    path: Path | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """The text of a scenario's controller or scheduler; `subflow_sim.script` compiles it.

    Attributes:
        name: name by which flows refer to the script.
        kind: "controller" or "scheduler".
        text: text of the script, with line feeds as the only line ends.
        file: file name in the scenario.
    """

    name: str
    kind: ScriptKind
    text: str = field(repr=False)
    file: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """A controller or scheduler by name, with all its options (omitted ones have their defaults).

    Attributes:
        name: name in the file.
        options: SI values by key.
        policy: trained policy named by the option `policy`; None without this option.
        script: source script; None for built-in algorithms.
    """

    name: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    policy: PolicyFile | None = None
    script: ScriptFile | None = None


NO_CHOICE = Choice("")
"""The controller and scheduler of a cbr or onoff flow, which has neither."""


MAX_COPIES = 10_000
"""Maximum number of copies of a flow."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Copies of a flow that arrive as a Poisson process from the flow's start to its stop.

    Attributes:
        mean_gap_s: mean of the exponential times between arrivals, s.
        lifetime_s: sending time of each copy, or its mean, s; None: until its transfer is complete or the flow stops.
        lifetime_distribution: "fixed": equal lifetimes; "exponential": random lifetimes with the mean `lifetime_s`.
        limit: maximum number of arrivals; None: no limit.
    """

    mean_gap_s: float
    lifetime_s: float | None = None
    lifetime_distribution: LifetimeDistribution = "fixed"
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """Traffic from one host to another, in `count` identical copies or in copies that arrive at random.

    Attributes:
        name: key in the file; `instances` names the copies.
        kind: "tcp" (one path), "mptcp" (a subflow on each path), "cbr" (constant bit rate, one path, no feedback) or
            "onoff" (like cbr, but in bursts).
        source: host that sends the data.
        destination: host that receives the data.
        controller: congestion controller; `NO_CHOICE` for cbr and onoff.
        scheduler: packet scheduler; "minrtt" for tcp, which has no choice; `NO_CHOICE` for cbr and onoff.
        paths: one path per subflow, each a tuple of link names from source to destination. A path may occur twice.
        count: number of identical copies.
        start_s: start time, s; the scenario's start jitter is added.
        stop_s: time after which the flow sends no new data, s; None: the end of the run.
        size_bytes: payload of the transfer; None: endless.
        recv_buffer_bytes: connection-level receive buffer; None: unlimited.
        send_buffer_bytes: connection-level send buffer, which holds data until it is DATA_ACKed; None: unlimited.
        backup: mptcp only, ordinals from 1 of the subflows that carry data only while no other is usable, ascending.
        late: mptcp only, ordinals from 2 of the subflows that wait for an event to open or announce them, ascending.
        subflow_limit: mptcp only, maximum number of simultaneous additional subflows; None: one for each path.
        address_limit: mptcp only, maximum number of accepted announced addresses; None: all.
        rate_bps: cbr and onoff only, wire bit/s; for onoff during bursts.
        packet_bytes: cbr and onoff only, size of a packet on the wire.
        spacing: cbr and onoff only, "constant" or "poisson" (exponential) gaps between packets.
        mean_on_s: onoff only, mean of the exponential burst lengths, s; the first burst begins at `start_s`.
        mean_off_s: onoff only, mean of the exponential lengths of the pauses between bursts, s.
        ecn: tcp and mptcp only, ECN mode negotiated by the two ends: "off", "rfc3168", "accecn"; None: as in the
            transport, or as required by the controller.
        arrivals: random arrivals of copies, with a `count` of 1; None: all `count` copies start at `start_s`.
        one_way_delay: True to measure one-way delay, jitter and reordering of its packets.
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
    one_way_delay: bool = False

    @property
    def sends_datagrams(self) -> bool:
        """True for flows without a transport connection: no controller, no subflows and no round trips."""
        return self.kind in DATAGRAM_KINDS

    @property
    def instances(self) -> tuple[str, ...]:
        """Names of the copies: ("download",), or ("download.1", "download.2", ...) for several.

        Empty for arrivals, whose number depends on the seed of the run.
        """
        if self.arrivals is not None:
            return ()
        if self.count == 1:
            return (self.name,)
        return tuple(f"{self.name}.{ordinal}" for ordinal in range(1, self.count + 1))

    @property
    def most_copies(self) -> int:
        """Maximum number of copies in a run."""
        return self.count if self.arrivals is None else self.arrivals.limit or MAX_COPIES

    def has_copy(self, name: str) -> bool:
        """True if a run can contain a flow with this name: the flow itself, or a copy, for example "download.3"."""
        if self.count == 1 and self.arrivals is None:
            return name == self.name
        base, _, ordinal = name.partition(".")
        is_number = (
            ordinal.isdecimal() and ordinal.isascii() and ordinal[0] != "0" and len(ordinal) <= len(str(MAX_COPIES))
        )
        return base == self.name and is_number and int(ordinal) <= self.most_copies


@dataclass(frozen=True, slots=True)
class Event:
    """A change at a given time of either a link or a flow. Values that are None do not change.

    Attributes:
        at_s: time of the change, s.
        link: the link that changes.
        direction: changed directions of the link.
        flow: the flow whose subflows open or close, with all its copies, or one copy: "download.3".
        subflow: ordinal of the subflow from 1 in path order; None: all.
        rate_bps: new rate; infinite: unlimited.
        delay_s: new one-way delay of subsequently sent packets, s.
        loss: new loss probability.
        loss_model: new burst loss model; None with a new `loss`: independent losses.
        queue: new queue limits; the discipline does not change.
        up: False: all queued and arriving packets are lost. True: back in service.
        open: False: the subflow closes, and the other subflows send its outstanding data. True: a new subflow opens.
        backup: True: the subflow carries data only while no other is usable. False: it becomes a normal subflow.
        announce: True: the receiver announces the subflow's address, and the subflow joins. False: the address is
            withdrawn, and the subflow closes.
        refuse: True: the receiver answers attempts to open the subflow with a reset. False: it may be opened.
        controller: controller that takes over all subflows of the flow; it keeps window, ssthresh and RTT estimates,
            as with Linux's setsockopt(TCP_CONGESTION).
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
    """A note on the drawing: the position of its upper left corner on the canvas in pixels, and its text."""

    at: tuple[float, float]
    text: str
