"""The links, paths and sockets of a kernel run as plain values, which are passed to the worker process as JSON.

The worker imports this module before it enters a user namespace, which a process with threads cannot do. The module
therefore imports only the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HEADER_BYTES = 52
"""Size of IPv4 and TCP headers with timestamps, as in the simulator: the MTU is the scenario's mss plus this size."""

CONGESTION_CONTROLS: Mapping[str, str] = {"newreno": "reno", "cubic": "cubic", "bbr": "bbr", "vegas": "vegas"}
"""Controllers of the simulator that Linux also has, with the kernel's names."""

SCRIPT_MARK = "script of "
"""Beginning of the `congestion_control` of a flow until its script is loaded; the kernel has no such names."""

ECN_MODES: Mapping[str, int] = {"off": 0, "rfc3168": 1, "accecn": 3}
"""Values of `[transport] ecn` that Linux supports, with the kernel's values of net.ipv4.tcp_ecn."""

SCHEDULERS = ("linux-mptcp", "minrtt")
"""Schedulers accepted for a kernel run: the model of the kernel's scheduler, and the simulator's default."""


MIN_MTU_BYTES, MAX_MTU_BYTES = 576, 9000


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """One direction of a link; its behaviour follows from `NetworkPlan.document`.

    Attributes:
        name: owner name of its traces, e.g. "wifi/forward".
        rate_bps: largest wire rate during the run, bit/s; None for unlimited.
        delay_s: one-way delay at the start, s.
        loss: loss probability at the start.
    """

    name: str
    rate_bps: float | None
    delay_s: float
    loss: float


@dataclass(frozen=True, slots=True)
class PathPlan:
    """Path of a subflow.

    Attributes:
        links: names of the links, in order.
        data: indices of the link directions that carry data, in order.
        acks: indices of the link directions that carry acknowledgements, in order.
    """

    links: tuple[str, ...]
    data: tuple[int, ...]
    acks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathChange:
    """Change of a path during a connection.

    Attributes:
        at_s: time of the change, s.
        path: ordinal from 0; path 0 cannot change, because the connection is bound to the address of this path.
        is_there: whether the path has a subflow after the change.
        is_backup: whether the subflow carries data only while no other subflow is usable.
    """

    at_s: float
    path: int
    is_there: bool
    is_backup: bool


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """One connection.

    Attributes:
        name: name of the instance, e.g. "download.1".
        controller: controller of the scenario, for tables.
        congestion_control: name of the congestion control in the kernel, set on the socket.
        is_mptcp: whether the connection uses MPTCP instead of TCP.
        paths: the path of each subflow.
        start_s: start of the connection, s.
        stop_s: end of sending, s; None for the end of the run.
        size_bytes: payload to send, bytes; None for unlimited data.
        recv_buffer_bytes: SO_RCVBUF of the receiver; None for the kernel's autotuning.
        late: ordinals of the paths whose subflow opens only with a change.
        backup: ordinals of the paths whose subflow is a backup from the start.
        changes: changes of paths in time order.
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
    """One network with its connections; a worker can run several networks side by side.

    Attributes:
        links: link directions, numbered as in the simulator: forward and reverse of each link in turn.
        document: links and their events for the emulator (`portable.links_document`).
        flows: connections.
        duration_s: duration of the run, s.
        warmup_s: initial interval that the results exclude, s.
        sample_interval_s: time between two samples of the traces, s.
        mtu_bytes: size of the largest IP packet, bytes.
        seed: seed of the random losses.
        socket_buffer_bytes: upper bound of the kernel's send and receive buffer autotuning, bytes.
        ecn: net.ipv4.tcp_ecn of the hosts.
    """

    links: tuple[LinkPlan, ...]
    document: str
    flows: tuple[FlowPlan, ...]
    duration_s: float
    warmup_s: float
    sample_interval_s: float
    mtu_bytes: int
    seed: int
    socket_buffer_bytes: int
    ecn: int = 0

    def base_rtt_s(self, path: PathPlan) -> float:
        """Sum of the propagation delays of the path and the return path, s."""
        return sum(self.links[index].delay_s for index in (*path.data, *path.acks))

    @property
    def total_rate_bps(self) -> float:
        """Estimate of the traffic, bit/s: the sum over the bottleneck links of all paths.

        Random loss keeps Reno and CUBIC below the link rate, because their windows are around 1.3/sqrt(p) packets (the
        square root law). The estimate uses three times this window as a margin. BBR ignores random loss.
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
        """The plan from the JSON values of `to_json`."""
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
        links = tuple(LinkPlan(**link) for link in document["links"])
        return cls(**{**document, "links": links, "flows": tuple(flows)})


def _rate(link: LinkPlan) -> float:
    return math.inf if link.rate_bps is None else link.rate_bps
