"""Network of a kernel run as plain values, which travel to the worker process as JSON: links, paths and sockets.

The standard library alone: the worker imports this module before it enters a user namespace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HEADER_BYTES = 52
"""IPv4, TCP and timestamps, as in the simulator: a segment's MTU is the scenario's mss and this."""

CONGESTION_CONTROLS: Mapping[str, str] = {"newreno": "reno", "cubic": "cubic", "bbr": "bbr", "vegas": "vegas"}
"""Our controllers that the kernel has too, with its names."""

ECN_MODES: Mapping[str, int] = {"off": 0, "rfc3168": 1, "accecn": 3}
"""Values of `[transport] ecn` that the kernel has too, with its own of net.ipv4.tcp_ecn."""

SCHEDULERS = ("linux-mptcp", "minrtt")
"""Our schedulers that stand for the kernel's: its own, and the usual one, so that a scenario need not name any."""


@dataclass(frozen=True, slots=True)
class RedPlan:
    """Random early detection by the queue as it is, as `subflow_sim.queue_params` has it.

    Attributes:
        min_pkts: below it nothing is dropped.
        max_pkts: at it `max_p` is.
        max_p: share of packets.
        gentle: whether the share grows to 1 at twice `max_pkts`, instead of jumping there.
        marks: whether packets that can be marked are, instead.
    """

    min_pkts: float
    max_pkts: float
    max_p: float
    gentle: bool
    marks: bool

    def probability(self, queue_pkts: int) -> float:
        """Share of the packets that find so many which is dropped or marked."""
        if queue_pkts < self.min_pkts:
            return 0.0
        if queue_pkts < self.max_pkts:
            return self.max_p * (queue_pkts - self.min_pkts) / (self.max_pkts - self.min_pkts)
        if not self.gentle or queue_pkts >= 2 * self.max_pkts:
            return 1.0
        return self.max_p + (1 - self.max_p) * (queue_pkts - self.max_pkts) / self.max_pkts


MIN_MTU_BYTES, MAX_MTU_BYTES = 576, 9000


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """One direction of a link.

    Attributes:
        name: owner name of its traces, e.g. "wifi/forward".
        rate_bps: wire bit/s; None: unlimited.
        delay_s: one way.
        limit_pkts: packets that fit, the one in service included; None: unlimited.
        limit_bytes: wire bytes that fit, likewise.
        loss: probability that a packet is lost before the queue.
        red: what the queue does before it is full; None: nothing.
        outages: times from and to, s, in order: what waits when one begins, and what comes until its end, is lost.
    """

    name: str
    rate_bps: float | None
    delay_s: float
    limit_pkts: int | None
    limit_bytes: int | None
    loss: float
    red: RedPlan | None = None
    outages: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PathPlan:
    """Where the packets of a subflow go: indices of link directions, in order, for data and for acknowledgements."""

    links: tuple[str, ...]
    data: tuple[int, ...]
    acks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathChange:
    """Change of a path during a connection.

    Attributes:
        at_s: when.
        path: ordinal from 0; the first one cannot change, as the connection is bound to its address.
        is_there: whether a subflow is opened on it, or closed.
        is_backup: whether it carries data only while no other is usable.
    """

    at_s: float
    path: int
    is_there: bool
    is_backup: bool


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """One connection.

    Attributes:
        name: instance name, e.g. "download.1".
        controller: the scenario's controller, for tables.
        congestion_control: the kernel's name of it, set on the socket.
        is_mptcp: MPTCP or plain TCP.
        paths: one per subflow.
        start_s: when data may flow.
        stop_s: when no new data is sent any more; None: at the end.
        size_bytes: payload; None: endless.
        recv_buffer_bytes: SO_RCVBUF of the receiver; None: the kernel's autotuning.
        late: ordinals of the paths that wait for a change.
        backup: of those that are backups from the start.
        changes: in order.
    """

    name: str
    controller: str
    congestion_control: str
    is_mptcp: bool
    paths: tuple[PathPlan, ...]
    start_s: float
    stop_s: float | None
    size_bytes: int | None
    recv_buffer_bytes: int | None
    late: tuple[int, ...] = ()
    backup: tuple[int, ...] = ()
    changes: tuple[PathChange, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """One network with its connections; several run side by side in one worker.

    Attributes:
        links: link directions, numbered as in the simulator: forward, reverse, link by link.
        flows: connections.
        duration_s: how long.
        warmup_s: beginning that is left out of the figures.
        sample_interval_s: time between two samples of the traces.
        mtu_bytes: largest IP packet.
        seed: of the random losses.
        socket_buffer_bytes: upper bound of the kernel's send and receive buffer autotuning.
        ecn: net.ipv4.tcp_ecn of its hosts.
    """

    links: tuple[LinkPlan, ...]
    flows: tuple[FlowPlan, ...]
    duration_s: float
    warmup_s: float
    sample_interval_s: float
    mtu_bytes: int
    seed: int
    socket_buffer_bytes: int
    ecn: int = 0

    def base_rtt_s(self, path: PathPlan) -> float:
        """Propagation there and back, s."""
        return sum(self.links[index].delay_s for index in (*path.data, *path.acks))

    @property
    def total_rate_bps(self) -> float:
        """Estimate of the traffic, bit/s: what the slowest link of each path lets through, each such link once.

        Random loss keeps Reno and CUBIC below that: their windows stay around 1.3/sqrt(p) packets (the square root
        law), and with four times that the estimate is on the safe side. BBR does not care about such loss.
        """
        carried: dict[int, float] = {}
        for flow in self.flows:
            for path in flow.paths:
                rates = {index: _rate(self.links[index]) for index in path.data}
                slowest = min(rates, key=lambda index: rates[index])
                most_bps = math.inf
                loss = sum(self.links[index].loss for index in path.data)
                if loss > 0 and flow.congestion_control in ("reno", "cubic"):
                    round_trip_s = max(self.base_rtt_s(path), 1e-3)
                    most_bps = 4 / math.sqrt(loss) * self.mtu_bytes * 8 / round_trip_s
                carried[slowest] = min(rates[slowest], carried.get(slowest, 0.0) + most_bps)
        return sum(carried.values())

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> NetworkPlan:
        """The plan that `to_json` wrote."""
        flows = [
            FlowPlan(
                **flow
                | {
                    "paths": tuple(PathPlan(*map(tuple, path.values())) for path in flow["paths"]),
                    "late": tuple(flow["late"]),
                    "backup": tuple(flow["backup"]),
                    "changes": tuple(PathChange(**change) for change in flow["changes"]),
                }
            )
            for flow in document["flows"]
        ]
        links = tuple(
            LinkPlan(
                **link
                | {
                    "red": None if link["red"] is None else RedPlan(**link["red"]),
                    "outages": tuple(map(tuple, link["outages"])),
                }
            )
            for link in document["links"]
        )
        return cls(**{**document, "links": links, "flows": tuple(flows)})


def _rate(link: LinkPlan) -> float:
    return math.inf if link.rate_bps is None else link.rate_bps
