"""Connections of programs as flows: samples of sockets become rows of traces.

A connection between the source and the destination of a flow of the scenario belongs to that flow, whichever end opened
it; its subflows are those of the flow's paths. Any other data is a flow named ``NODE:PORT`` after the node that sends
it and the port of the server, which is the lower of both ports. Only connections that send at least 16 kB become such
flows, so that requests and control connections do not. Of a conversation by UDP, a direction with less than a tenth of
the data of the other carries acknowledgements, as in QUIC, and is no flow either.

Several connections may belong to one flow. Rates, packets in flight and losses are then sums; the other values are
those of the connection that delivers most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.kernel.core.endpoint import TcpInfo
from subflow_app.features.kernel.core.recording import SUBFLOW_COLUMNS

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.network import EmulatedNetwork
    from subflow_sim.scenario import Flow

LEAST_BYTES = 16_000
"""Data from which a connection is a flow of its own, bytes."""
MOST_FLOWS = 64
"""Further connections outside the flows of the scenario are not recorded."""

_NAN = math.nan
IDLE_ROW = (0.0, 0.0, 0.0, _NAN, _NAN, _NAN, 0.0, _NAN, 0.0)
"""Row of a subflow without a connection, with `SUBFLOW_COLUMNS`."""
_UDP_HEADER_BYTES = 28
# A direction of a conversation by UDP that carries less than this share of the other carries acknowledgements.
_LEAST_SHARE = 0.1


class GrowingTable:
    """Rows of float32 that grow; other threads may read the rows that exist.

    Args:
        columns: number of columns.
        first_row: number of rows before the first, which are empty.
    """

    def __init__(self, columns: int, first_row: int = 0) -> None:
        self.first_row = first_row
        self.count = 0
        self._rows = np.empty((256, columns), np.float32)

    def append(self, row: Sequence[float], times: int = 1) -> None:
        """Add a row, or several equal ones."""
        while self.count + times > len(self._rows):
            grown = np.empty((2 * len(self._rows), self._rows.shape[1]), np.float32)
            grown[: self.count] = self._rows[: self.count]
            self._rows = grown
        self._rows[self.count : self.count + times] = row
        self.count += times

    def values(self, column: int, first: int = 0) -> NDArray[np.float32]:
        """One column from a row on, float32 [count - first]."""
        return self._rows[first : self.count, column]

    def whole(self, count: int, before: Sequence[float]) -> NDArray[np.float32]:
        """`count` rows, with `before` in those before the first, float32 [count, columns]."""
        rows = np.empty((count, self._rows.shape[1]), np.float32)
        begin = min(self.first_row, count)
        rows[:begin] = before
        kept = self._rows[: min(count - begin, self.count)]
        rows[begin : begin + len(kept)] = kept
        rows[begin + len(kept) :] = before
        return rows


@dataclass(frozen=True, slots=True)
class Mark:
    """An event of a subflow or link; see `subflow_sim.trace.Mark`."""

    time_s: float
    owner: str
    kind: str
    value: float


@dataclass(slots=True)
class _Part:
    """One connection, or one subflow of it, as seen by its sender."""

    flow: str = ""
    ordinal: int = 0
    info: TcpInfo | None = None
    before: TcpInfo | None = None
    counted: bool = False


@dataclass(slots=True)
class _Totals:
    """Sums over a subflow since the end of the warm-up."""

    delivered_bytes: float = 0.0
    acked_bytes: float = 0.0
    cwnd_sum: float = 0.0
    cwnd_looks: int = 0
    rtt_sum: float = 0.0
    rtt_weight: float = 0.0
    sent_pkts: int = 0
    lost_pkts: int = 0
    timeouts: int = 0
    rwnd_limited_s: float = 0.0
    sndbuf_limited_s: float = 0.0


@dataclass(slots=True)
class _Now:
    """Values of a subflow in the sample that is being made."""

    delivered_bytes: float = 0.0
    acked_bytes: float = 0.0
    inflight_pkts: float = 0.0
    lost_pkts: float = 0.0
    leader: TcpInfo | None = None
    leader_bytes: float = -1.0
    is_there: bool = False


@dataclass(slots=True)
class SubflowTrace:
    """A subflow: its rows and sums.

    Attributes:
        owner: "download/1".
        path: names of the links, as far as known.
        table: rows with `SUBFLOW_COLUMNS`.
        totals: sums since the end of the warm-up.
    """

    owner: str
    path: tuple[str, ...]
    table: GrowingTable
    totals: _Totals = field(default_factory=_Totals)
    last: TcpInfo | None = None
    now: _Now = field(default_factory=_Now)


@dataclass(slots=True)
class FlowTrace:
    """A flow: its rows and subflows.

    Attributes:
        name: "download", "download.2" or "server:8000".
        flow: the flow of the scenario; None for other connections.
        table: rows of the goodput, bit/s.
        subflows: subflows by ordinal from 1.
        goodput_bytes: payload delivered since the end of the warm-up.
        first_s: time of the first data, s; None before.
        last_s: time of the last data, s.
        protocol: "tcp", "mptcp" or "udp"; empty before the first data.
        controllers: congestion controls of its connections.
    """

    name: str
    flow: Flow | None
    table: GrowingTable
    subflows: dict[int, SubflowTrace] = field(default_factory=dict)
    goodput_bytes: float = 0.0
    first_s: float | None = None
    last_s: float = 0.0
    protocol: str = ""
    controllers: dict[str, None] = field(default_factory=dict)
    connections: int = 0
    now_bytes: float = 0.0


def _ends_of(conversation: Mapping[str, Any]) -> tuple[str, int, str, int]:
    """Address and port of both ends."""
    return (
        *(conversation["source"], conversation["port"]),
        *(conversation["destination"], conversation["remote_port"]),
    )


class FlowRecorder:
    """Traces of all flows of a run.

    Args:
        network: the network.
        warmup_s: time from which sums count, s.
    """

    def __init__(self, network: EmulatedNetwork, warmup_s: float) -> None:
        self._network = network
        self._warmup_s = warmup_s
        self._node_of = network.node_of()
        self._targets = [node for link in network.scenario.links.values() for node in reversed(link.ends)]
        self.flows: dict[str, FlowTrace] = {}
        self.rows = 0
        self.left_out = 0
        self._parts: dict[tuple[str, str], _Part] = {}
        self._flow_of_token: dict[tuple[str, int], str] = {}
        self._meta_bytes: dict[tuple[str, int], float] = {}
        self._udp_counts: dict[tuple[Any, ...], tuple[float, float, float]] = {}
        self._between: dict[tuple[str, str], list[str]] = {}
        self._ordinals: dict[tuple[str, str, str], int] = {}
        self._at_s = 0.0
        self._marks: list[Mark] = []
        for flow in network.scenario.flows.values():
            for instance in flow.instances or (flow.name,):
                self._add_flow(instance, flow)
        self.planned = tuple(self.flows.values())
        for (name, ordinal), route in network.plan.route_of.items():
            is_back = name.endswith(" back")
            ends = (route.destination, route.source) if is_back else (route.source, route.destination)
            base = name.removesuffix(" back")
            self._ordinals.setdefault((base, ends[0].ipv4, ends[1].ipv4), ordinal)
            if ends[0].ipv6:
                self._ordinals.setdefault((base, ends[0].ipv6, ends[1].ipv6), ordinal)

    def _add_flow(self, name: str, flow: Flow | None) -> FlowTrace:
        trace = FlowTrace(name, flow, GrowingTable(1, self.rows))
        self.flows[name] = trace
        if flow is not None:
            self._between.setdefault((flow.source, flow.destination), []).append(name)
            for ordinal, path in enumerate(flow.paths, start=1):
                self._add_subflow(trace, ordinal, path)
        return trace

    def _add_subflow(self, trace: FlowTrace, ordinal: int, path: tuple[str, ...]) -> SubflowTrace:
        subflow = SubflowTrace(f"{trace.name}/{ordinal}", path, GrowingTable(len(SUBFLOW_COLUMNS), self.rows))
        trace.subflows[ordinal] = subflow
        return subflow

    # ---- samples ----

    def add(self, t_s: float, sample: Mapping[str, Any], rows: int = 1) -> None:
        """Add a sample to each trace.

        Args:
            t_s: time of the row, s.
            sample: message `sample` of the worker, with sockets.
            rows: number of rows that the sample covers; more than one if the worker was late.
        """
        at_s = float(sample["at_s"])
        interval_s = max(at_s - self._at_s, 1e-6)
        self._at_s = at_s
        for trace in self.flows.values():
            trace.now_bytes = 0.0
            for subflow in trace.subflows.values():
                subflow.now = _Now()
        is_measured = t_s > self._warmup_s
        sockets = sample["sockets"]
        for socket in sockets:
            self._add_socket(socket)
        for meta in sample["mptcp"]:
            self._add_meta(meta)
        arriving = {_ends_of(talk): talk for talk in sample["udp"] if self._arrives(talk)}
        for (source, port, destination, remote_port), talk in arriving.items():
            answers = arriving.get((destination, remote_port, source, port))
            if answers is None or talk["bytes"] >= _LEAST_SHARE * answers["bytes"]:
                self._add_conversation(talk)
        for trace in self.flows.values():
            self._end_row(trace, t_s, interval_s, rows, is_measured=is_measured)
        self.rows += rows

    def take_marks(self) -> list[Mark]:
        """Losses and timeouts since the last call."""
        marks, self._marks = self._marks, []
        return marks

    def _add_socket(self, socket: Mapping[str, Any]) -> None:
        key = (socket["node"], socket["id"])
        part = self._parts.setdefault(key, _Part())
        info = TcpInfo(*socket["info"])
        is_gone = bool(socket.get("gone"))
        token = int(socket["token"])
        remote = self._node_of.get(socket["remote"], "")
        if not part.flow and remote and remote != socket["node"]:
            known = self._flow_of_token.get((socket["node"], token)) if token else None
            if known is not None:
                part.flow = known
            elif info.acked_bytes >= LEAST_BYTES or (is_gone and info.acked_bytes):
                part.flow = self._flow_for(socket, remote, info.acked_bytes)
                if token and part.flow:
                    self._flow_of_token[socket["node"], token] = part.flow
        if part.flow:
            trace = self.flows[part.flow]
            if not part.ordinal:
                part.ordinal = self._ordinal_of(trace, socket["local"], socket["remote"])
            if not part.counted:
                part.counted = True
                trace.protocol = "mptcp" if token else trace.protocol or "tcp"
                trace.controllers[str(socket["controller"])] = None
            self._sum_up(trace, trace.subflows[part.ordinal], part, info, is_gone=is_gone, is_meta=bool(token))
            part.before = info
        if is_gone:
            self._parts.pop(key, None)

    def _sum_up(
        self, trace: FlowTrace, subflow: SubflowTrace, part: _Part, info: TcpInfo, *, is_gone: bool, is_meta: bool
    ) -> None:
        before = part.before
        if before is not None and info.sent_pkts < before.sent_pkts:
            return  # MPTCP resets the counters of a subflow before it closes it
        acked = info.acked_bytes - (before.acked_bytes if before else 0)
        delivered = (info.delivered_pkts - (before.delivered_pkts if before else 0)) * self._network.scenario.mss_bytes
        lost = info.retransmitted_pkts - (before.retransmitted_pkts if before else 0)
        timeouts = info.timeouts - (before.timeouts if before else 0)
        now, totals = subflow.now, subflow.totals
        now.acked_bytes += acked
        now.delivered_bytes += (
            min(delivered, acked + 10 * self._network.scenario.mss_bytes) if not before else delivered
        )
        now.lost_pkts += lost
        now.is_there = True
        if not is_gone:
            now.inflight_pkts += max(info.inflight_pkts, 0)
        if acked > now.leader_bytes:
            now.leader, now.leader_bytes = info, acked
        if not is_meta:
            trace.now_bytes += acked
        if timeouts > 0:
            self._marks.append(Mark(self._at_s, subflow.owner, "rto", info.ssthresh_pkts))
        elif lost > 0 and before is not None and info.ssthresh_pkts != before.ssthresh_pkts:
            self._marks.append(Mark(self._at_s, subflow.owner, "loss", info.ssthresh_pkts))
        if self._at_s > self._warmup_s:
            packets = info.delivered_pkts - (before.delivered_pkts if before else 0)
            totals.sent_pkts += info.sent_pkts - (before.sent_pkts if before else 0)
            totals.lost_pkts += lost
            totals.timeouts += timeouts
            totals.rwnd_limited_s += info.rwnd_limited_s - (before.rwnd_limited_s if before else 0.0)
            totals.sndbuf_limited_s += info.sndbuf_limited_s - (before.sndbuf_limited_s if before else 0.0)
            if packets > 0 and not math.isnan(info.srtt_s):
                totals.rtt_sum += info.srtt_s * packets
                totals.rtt_weight += packets

    def _add_meta(self, meta: Mapping[str, Any]) -> None:
        """Count the data of an MPTCP connection, which is less than that of its subflows after reinjections."""
        key = (meta["node"], int(meta["token"]))
        name = self._flow_of_token.get(key)
        if name is None:
            return
        acked = float(meta["acked_bytes"])
        self.flows[name].now_bytes += max(0.0, acked - self._meta_bytes.get(key, 0.0))
        self._meta_bytes[key] = acked

    def _arrives(self, conversation: Mapping[str, Any]) -> bool:
        """True if the link of a conversation by UDP is the last before its destination."""
        target = self._node_of.get(conversation["destination"])
        return conversation["source"] in self._node_of and self._targets[conversation["link"]] == target

    def _add_conversation(self, conversation: Mapping[str, Any]) -> None:
        """Count the packets of a conversation by UDP."""
        source, target = self._node_of[conversation["source"]], self._node_of[conversation["destination"]]
        key = (conversation["link"], *_ends_of(conversation))
        packets, lost, size = (float(conversation[each]) for each in ("offered", "lost", "bytes"))
        before = self._udp_counts.get(key, (0.0, 0.0, 0.0))
        candidates = self._between.get((source, target))
        name = candidates[0] if candidates else f"{source}:{min(conversation['port'], conversation['remote_port'])}"
        if name not in self.flows:
            if size < LEAST_BYTES or not self._has_room():
                return
            self._add_flow(name, None)
        self._udp_counts[key] = (packets, lost, size)
        trace = self.flows[name]
        trace.protocol = trace.protocol or "udp"
        ordinal = self._ordinal_of(trace, conversation["source"], conversation["destination"])
        now = trace.subflows[ordinal].now
        arrived = packets - lost - (before[0] - before[1])
        payload = max(0.0, size - before[2] - _UDP_HEADER_BYTES * arrived)
        now.delivered_bytes += payload
        now.acked_bytes += payload
        now.lost_pkts += lost - before[1]
        now.is_there = True
        trace.now_bytes += payload
        if self._at_s > self._warmup_s:
            trace.subflows[ordinal].totals.sent_pkts += int(packets - before[0])
            trace.subflows[ordinal].totals.lost_pkts += int(lost - before[1])

    def _has_room(self) -> bool:
        if len(self.flows) - len(self.planned) < MOST_FLOWS:
            return True
        self.left_out += 1
        return False

    def _flow_for(self, socket: Mapping[str, Any], remote: str, acked_bytes: int) -> str:
        """Name of the flow of a new connection; empty if it is too small to be one."""
        candidates = self._between.get((socket["node"], remote))
        if candidates:
            name = min(candidates, key=lambda each: self.flows[each].connections)
            if acked_bytes < LEAST_BYTES:
                return candidates[0]
        else:
            name = f"{socket['node']}:{min(socket['port'], socket['remote_port'])}"
            if acked_bytes < LEAST_BYTES or (name not in self.flows and not self._has_room()):
                return ""
            if name not in self.flows:
                self._add_flow(name, None)
        self.flows[name].connections += 1
        return name

    def _ordinal_of(self, trace: FlowTrace, local: str, remote: str) -> int:
        base = trace.flow.name if trace.flow is not None else trace.name
        ordinal = self._ordinals.get((base, local, remote))
        if ordinal is None:
            ordinal = 1 if trace.flow is not None else len(trace.subflows) + 1
            self._ordinals[base, local, remote] = ordinal
        if ordinal not in trace.subflows:
            self._add_subflow(trace, ordinal, self._path_between(local, remote))
        return ordinal

    def _path_between(self, local: str, remote: str) -> tuple[str, ...]:
        """Links between two addresses, if a path of the plan connects them; otherwise the first link."""
        for route in self._network.plan.routes:
            ends = {(route.source.ipv4, route.destination.ipv4), (route.source.ipv6, route.destination.ipv6)}
            links = tuple(hop.link for hop in route.hops)
            if (local, remote) in ends:
                return links
            if (remote, local) in ends:
                return links[::-1]
        for machine in self._network.plan.machines.values():
            for interface in machine.interfaces:
                if any(local in (address.ipv4, address.ipv6) for address in interface.addresses):
                    return (interface.link,)
        return ()

    def _end_row(self, trace: FlowTrace, t_s: float, interval_s: float, rows: int, *, is_measured: bool) -> None:
        trace.table.append((trace.now_bytes * 8 / interval_s,), rows)
        if trace.now_bytes > 0:
            trace.first_s = t_s - interval_s if trace.first_s is None else trace.first_s
            trace.last_s = t_s
            if is_measured:
                trace.goodput_bytes += trace.now_bytes
        for subflow in trace.subflows.values():
            now = subflow.now
            if not now.is_there:
                subflow.table.append(IDLE_ROW, rows)
                continue
            leader = now.leader
            subflow.last = leader or subflow.last
            rates = (now.delivered_bytes * 8 / interval_s, now.acked_bytes * 8 / interval_s)
            if leader is None:
                subflow.table.append((*rates, _NAN, _NAN, _NAN, _NAN, _NAN, _NAN, now.lost_pkts / rows), rows)
            else:
                subflow.table.append(
                    (
                        *rates,
                        leader.cwnd_pkts,
                        leader.ssthresh_pkts,
                        leader.srtt_s,
                        leader.min_rtt_s,
                        now.inflight_pkts,
                        leader.pacing_rate_bps,
                        now.lost_pkts / rows,
                    ),
                    rows,
                )
            if is_measured:
                subflow.totals.delivered_bytes += now.delivered_bytes
                subflow.totals.acked_bytes += now.acked_bytes
                if leader is not None:
                    subflow.totals.cwnd_sum += leader.cwnd_pkts
                    subflow.totals.cwnd_looks += 1

    # ---- results ----

    def others(self) -> Iterator[FlowTrace]:
        """Flows outside the scenario, in the order in which they began."""
        planned = {trace.name for trace in self.planned}
        yield from (trace for trace in self.flows.values() if trace.name not in planned)
