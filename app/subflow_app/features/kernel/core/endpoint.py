"""Endpoints of the connections: bulk senders and receivers in their namespaces, and samples of their socket state.

The kernel reports TCP_INFO of a TCP socket, and of each subflow of an MPTCP socket.

Source: linux/tcp.h (struct tcp_info), linux/mptcp.h (struct mptcp_subflow_data, mptcp_subflow_addrs).
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from subflow_app.features.kernel.core.namespaces import Netlink, inside
from subflow_app.features.kernel.core.network_plan import FlowPlan, NetworkPlan, PathChange
from subflow_sim.link_emulator import NANOSECONDS

_SOL_MPTCP, _MPTCP_TCPINFO, _MPTCP_SUBFLOW_ADDRS = 284, 2, 3
_TCP_INFO_BYTES = 280
_ADDRESS_BYTES, _ADDRESS_PAIR_BYTES = 128, 256  # struct __kernel_sockaddr_storage, and a pair of them (local, remote)
_MOST_SUBFLOWS = 16
_INFINITE_SSTHRESH = 0x7FFFFFFF
_NO_MIN_RTT_US = 0xFFFFFFFF
_SYN_SENT, _SYN_RECEIVED, _CLOSED = 2, 3, 7  # net/tcp_states.h

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """State of a TCP socket or subflow at an instant.

    Attributes:
        is_connected: whether the handshake has finished.
        cwnd_pkts: congestion window.
        ssthresh_pkts: slow start threshold; NaN before the first loss.
        srtt_s: smoothed RTT; NaN before the first sample.
        min_rtt_s: smallest RTT; NaN before the first sample.
        inflight_pkts: packets in flight: sent, not acknowledged and not declared lost.
        pacing_rate_bps: pacing rate of the kernel, which only BBR uses; NaN if unlimited.
        delivered_pkts: data packets acknowledged or selectively acknowledged so far.
        sent_pkts: data packets sent so far, including retransmissions.
        retransmitted_pkts: retransmissions so far.
        acked_bytes: payload acknowledged so far.
        timeouts: retransmission timeouts so far; 0 on kernels before 6.7, which do not report them.
        rwnd_limited_s: total time during which the receive window limited sending.
        sndbuf_limited_s: total time during which the send buffer limited sending.
    """

    is_connected: bool
    cwnd_pkts: int
    ssthresh_pkts: float
    srtt_s: float
    min_rtt_s: float
    inflight_pkts: int
    pacing_rate_bps: float
    delivered_pkts: int
    sent_pkts: int
    retransmitted_pkts: int
    acked_bytes: int
    timeouts: int
    rwnd_limited_s: float
    sndbuf_limited_s: float


def parse_tcp_info(data: bytes) -> TcpInfo:
    """Read a struct tcp_info; fields that an older kernel does not write are 0."""
    data = data.ljust(_TCP_INFO_BYTES, b"\0")
    # Layout: 8 bytes of flags, 24 counters of 32 bits, then 64-bit counters from offset 104.
    (_, _, _, _, unacked, sacked, lost, retrans) = struct.unpack_from("=8I", data, 8)
    rtt_us, _, ssthresh, cwnd = struct.unpack_from("=4I", data, 68)
    (total_retrans,) = struct.unpack_from("=I", data, 100)
    pacing_rate, _, acked_bytes = struct.unpack_from("=3Q", data, 104)
    min_rtt_us, _, data_segs_out = struct.unpack_from("=3I", data, 148)
    rwnd_limited_us, sndbuf_limited_us = struct.unpack_from("=2Q", data, 176)
    (delivered,) = struct.unpack_from("=I", data, 192)
    (timeouts,) = struct.unpack_from("=H", data, 240)
    return TcpInfo(
        is_connected=data[0] not in (_CLOSED, _SYN_SENT, _SYN_RECEIVED),
        cwnd_pkts=cwnd,
        ssthresh_pkts=float(ssthresh) if ssthresh < _INFINITE_SSTHRESH else float("nan"),
        srtt_s=rtt_us / 1e6 if rtt_us else float("nan"),
        min_rtt_s=min_rtt_us / 1e6 if min_rtt_us not in (0, _NO_MIN_RTT_US) else float("nan"),
        inflight_pkts=unacked - sacked - lost + retrans,
        pacing_rate_bps=float(pacing_rate) * 8 if pacing_rate < 1 << 60 else float("nan"),
        delivered_pkts=delivered,
        sent_pkts=data_segs_out,
        retransmitted_pkts=total_retrans,
        acked_bytes=acked_bytes,
        timeouts=timeouts,
        rwnd_limited_s=rwnd_limited_us / 1e6,
        sndbuf_limited_s=sndbuf_limited_us / 1e6,
    )


def tcp_info(tcp: socket.socket) -> TcpInfo:
    """State of a plain TCP socket."""
    return parse_tcp_info(tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES))


def mptcp_info(mptcp: socket.socket) -> dict[str, TcpInfo]:
    """State of each subflow of an MPTCP socket, by local IPv4 address; empty before the first subflow.

    Raises:
        OSError: if the connection fell back to plain TCP, or the kernel is older than 5.16.
    """
    infos = _subflow_structs(mptcp, _MPTCP_TCPINFO, _TCP_INFO_BYTES)
    addresses = _subflow_structs(mptcp, _MPTCP_SUBFLOW_ADDRS, _ADDRESS_PAIR_BYTES)
    return {
        socket.inet_ntoa(address[4:8]): parse_tcp_info(info) for address, info in zip(addresses, infos, strict=False)
    }


def _subflow_structs(mptcp: socket.socket, option: int, item_bytes: int) -> list[bytes]:
    """Bytes of one struct per subflow, at most `item_bytes` each and `_MOST_SUBFLOWS` in total; raises OSError."""
    header_bytes = 16
    buffer = ctypes.create_string_buffer(header_bytes + _MOST_SUBFLOWS * item_bytes)
    struct.pack_into("=4I", buffer, 0, header_bytes, 0, 0, item_bytes)
    length = ctypes.c_uint32(len(buffer))
    # The kernel reads this header from the buffer. Python's getsockopt passes no input, so libc is called directly.
    if _libc.getsockopt(mptcp.fileno(), _SOL_MPTCP, option, buffer, ctypes.byref(length)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    _, count, kernel_bytes, _ = struct.unpack_from("=4I", buffer, 0)
    used = min(kernel_bytes, item_bytes)
    starts = [header_bytes + index * item_bytes for index in range(min(count, _MOST_SUBFLOWS))]
    return [buffer.raw[start : start + used] for start in starts]


RECEIVER_ADDRESS = "10.9.0.1"
PORT = 5001
HOST_INTERFACE = "net0"

_IPPROTO_MPTCP = 262
_TCP_NOTSENT_LOWAT = 25
_SO_RCVBUFFORCE = 33
_WRITE_BYTES = 65536
_CHUNK = bytes(_WRITE_BYTES)
# Limit of unsent data in the send buffer of a flow with a stop time, because TCP would send the data after the stop.
_UNSENT_BYTES = 16384
# Readings of the socket state per sample of the traces; means are taken over these readings.
_LOOKS_PER_SAMPLE = 5
_NAN = math.nan


def sender_address(path: int) -> str:
    """Source address of the subflow on a path; equal for all connections, because each has its own namespaces."""
    return f"10.8.{path}.1"


class _SubflowTrace:
    """Samples and sums of one subflow."""

    def __init__(self) -> None:
        self.rows: list[list[float]] = []
        self.info: TcpInfo | None = None
        self._at_row: TcpInfo | None = None
        self._is_measured = False
        self._measured_from: TcpInfo | None = None
        self._cwnd_sum = 0.0
        self._looks = 0
        self._rtt_sum = 0.0
        self._rtt_weight = 0
        self._before: TcpInfo | None = None

    def begin_measurement(self) -> None:
        """End the warm-up. Results cover only the time from now on."""
        self._is_measured = True
        self._measured_from = self.info

    def look(self, info: TcpInfo) -> None:
        """Add the state at this instant; called only while the subflow is established."""
        if self._is_measured:
            self._cwnd_sum += info.cwnd_pkts
            self._looks += 1
            # Each acknowledged packet counts as an RTT sample, as in the simulator. Its value is the current smoothed
            # RTT.
            weight = info.delivered_pkts - (self._before.delivered_pkts if self._before else 0)
            if weight > 0 and not math.isnan(info.srtt_s):
                self._rtt_sum += info.srtt_s * weight
                self._rtt_weight += weight
        self.info = self._before = info

    def sample(self, interval_s: float, payload_bytes: int) -> None:
        """Append a row with the columns of `recording.SUBFLOW_COLUMNS`."""
        info = self.info
        if info is None:
            self.rows.append([0.0, 0.0, 0.0, _NAN, _NAN, _NAN, 0.0, _NAN, 0.0])
            return
        before = self._at_row or _nothing_yet(info)
        delivered_bps = (info.delivered_pkts - before.delivered_pkts) * payload_bytes * 8 / interval_s
        acked_bps = (info.acked_bytes - before.acked_bytes) * 8 / interval_s
        lost = info.retransmitted_pkts - before.retransmitted_pkts
        self.rows.append(
            [
                delivered_bps,
                acked_bps,
                info.cwnd_pkts,
                info.ssthresh_pkts,
                info.srtt_s,
                info.min_rtt_s,
                info.inflight_pkts,
                info.pacing_rate_bps,
                lost,
            ]
        )
        self._at_row = info

    def result(self, measured_s: float, payload_bytes: int) -> dict[str, Any]:
        """Results over the measured interval, as JSON values."""
        info = self.info
        if info is None or not self._looks:
            return {"is_established": False, "rows": self.rows}
        base = self._measured_from or _nothing_yet(info)
        return {
            "is_established": True,
            "throughput_bps": (info.delivered_pkts - base.delivered_pkts) * payload_bytes * 8 / measured_s,
            "goodput_bps": (info.acked_bytes - base.acked_bytes) * 8 / measured_s,
            "mean_cwnd_pkts": self._cwnd_sum / self._looks,
            "mean_rtt_s": self._rtt_sum / self._rtt_weight if self._rtt_weight else _NAN,
            "rtt_weight": self._rtt_weight,
            "sent_pkts": info.sent_pkts - base.sent_pkts,
            "retransmits": info.retransmitted_pkts - base.retransmitted_pkts,
            "timeouts": info.timeouts - base.timeouts,
            "rwnd_limited_s": info.rwnd_limited_s - base.rwnd_limited_s,
            "sndbuf_limited_s": info.sndbuf_limited_s - base.sndbuf_limited_s,
            "rows": self.rows,
        }


class Connection:
    """One flow: a sender that connects at the flow's start, and a receiver that reads all data.

    Args:
        plan: the network of the flow.
        flow: the flow.
        sender_namespace: file descriptor of the sender's namespace.
        receiver_namespace: file descriptor of the receiver's namespace.
        start_ns: start of the network's time, in ns of the monotonic clock.
    """

    def __init__(
        self, plan: NetworkPlan, flow: FlowPlan, sender_namespace: int, receiver_namespace: int, start_ns: int
    ) -> None:
        self.plan, self.flow = plan, flow
        self._sender_namespace = sender_namespace
        self.connect_at_ns = start_ns + round(flow.start_s * NANOSECONDS)
        self._stops_at_ns = math.inf if flow.stop_s is None else start_ns + round(flow.stop_s * NANOSECONDS)
        self._left_bytes = math.inf if flow.size_bytes is None else float(flow.size_bytes)
        self._network_start_ns = start_ns
        self.sender: socket.socket | None = None
        self.receiver: socket.socket | None = None
        self.wants_to_write = False
        self.received_bytes = 0
        self.completed_s: float | None = None
        self.traces = [_SubflowTrace() for _ in flow.paths]
        self._flow_rows: list[list[float]] = []
        self._at_row_bytes = 0
        self._measured_from_bytes = 0
        self._measured_from_s = 0.0
        self._is_measured = False
        self._looked_at_s = 0.0
        self._index_of = {sender_address(index): index for index in range(len(flow.paths))}
        with inside(receiver_namespace):
            self.listener = self._socket()
        if flow.recv_buffer_bytes is not None:
            try:
                self.listener.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, flow.recv_buffer_bytes)
            except OSError:
                self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, flow.recv_buffer_bytes)
        self.listener.bind((RECEIVER_ADDRESS, PORT))
        self.listener.listen(1)
        self.listener.setblocking(False)

    def connect(self) -> socket.socket:
        """Open the sender's socket, begin the handshake, and return the socket."""
        with inside(self._sender_namespace):
            sender = self._socket()
        if self.flow.stop_s is not None:
            with suppress(OSError):  # MPTCP supports the option only from Linux 6.10 on
                sender.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        sender.setblocking(False)
        sender.bind((sender_address(0), 0))
        with suppress(BlockingIOError):
            sender.connect((RECEIVER_ADDRESS, PORT))
        self.sender = sender
        self.wants_to_write = True
        return sender

    def changes(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """Yield the time of each path change, in ns of the monotonic clock, with a function that applies the change."""
        is_there = {path: path not in self.flow.late for path in range(len(self.flow.paths))}
        for change in self.flow.changes:
            at_ns = self._network_start_ns + round(change.at_s * NANOSECONDS)
            yield at_ns, partial(self._change_path, change, is_new=not is_there[change.path])
            is_there[change.path] = change.is_there

    def _change_path(self, change: PathChange, *, is_new: bool) -> None:
        """Open or close the subflow of a path, or change its backup flag."""
        number, address = change.path, sender_address(change.path)
        with inside(self._sender_namespace), Netlink.generic() as netlink:
            if not change.is_there:
                netlink.remove_subflow_address(HOST_INTERFACE, number, address)
            elif is_new:
                netlink.add_subflow_address(HOST_INTERFACE, number, address, is_backup=change.is_backup)
            else:
                netlink.set_backup(HOST_INTERFACE, number, address, is_backup=change.is_backup)

    def accept(self) -> socket.socket:
        """Accept the connection. The listener stays open, because further subflows connect to its address."""
        self.receiver, _ = self.listener.accept()
        self.receiver.setblocking(False)
        return self.receiver

    def write(self, now_ns: int) -> bool:
        """Fill the send buffer; return False after the last data or the stop time, or if the handshake failed."""
        assert self.sender is not None
        while now_ns < self._stops_at_ns and self._left_bytes > 0:
            chunk = _CHUNK if self._left_bytes >= _WRITE_BYTES else _CHUNK[: int(self._left_bytes)]
            try:
                self._left_bytes -= self.sender.send(chunk)
            except BlockingIOError:
                return True
            except OSError:  # the handshake failed
                break
        self.wants_to_write = False
        return False

    def read(self, now_ns: int) -> None:
        """Read all available data, and note the completion time of a transfer."""
        assert self.receiver is not None
        while True:
            try:
                data = self.receiver.recv(1 << 18)
            except BlockingIOError:
                return
            if not data:
                return
            self.received_bytes += len(data)
            size = self.flow.size_bytes
            if size is not None and self.received_bytes >= size and self.completed_s is None:
                self.completed_s = (now_ns - self.connect_at_ns) / NANOSECONDS

    def begin_measurement(self, elapsed_s: float) -> None:
        """End the warm-up. Results cover only the time from now on."""
        self._is_measured = True
        self._measured_from_bytes, self._measured_from_s = self.received_bytes, elapsed_s
        for trace in self.traces:
            trace.begin_measurement()

    def look(self, elapsed_s: float) -> None:
        """Read the state of all subflows; `elapsed_s` is the time since the start of the network."""
        self._looked_at_s = elapsed_s
        for index, info in self._infos():
            if info.is_connected:
                self.traces[index].look(info)
        if not self._is_measured and elapsed_s >= self.plan.warmup_s:
            self.begin_measurement(elapsed_s)

    def _infos(self) -> list[tuple[int, TcpInfo]]:
        """State of each open subflow, with the ordinal of its path."""
        if self.sender is None:
            return []
        if not self.flow.is_mptcp:
            return [(0, tcp_info(self.sender))]
        try:
            infos = mptcp_info(self.sender)
        except OSError:  # fallback to plain TCP, or a kernel before 5.16
            return []
        return [(self._index_of[address], info) for address, info in infos.items() if address in self._index_of]

    def sample(self) -> None:
        """Append a row to the traces of the flow and its subflows."""
        interval_s = self.plan.sample_interval_s
        for trace in self.traces:
            trace.sample(interval_s, self.payload_bytes)
        self._flow_rows.append([(self.received_bytes - self._at_row_bytes) * 8 / interval_s])
        self._at_row_bytes = self.received_bytes

    def latest(self) -> tuple[float, list[float]]:
        """Goodput in bit/s and windows of the subflows in packets in the latest sample."""
        return self._flow_rows[-1][0], [trace.rows[-1][2] for trace in self.traces]

    @property
    def payload_bytes(self) -> int:
        """Payload of a full packet; MPTCP needs 24 bytes for its DSS option (RFC 8684 section 3.3)."""
        payload = self.plan.mtu_bytes - 52
        return payload - 24 if self.flow.is_mptcp else payload

    def result(self) -> dict[str, Any]:
        """Results of the connection as JSON values."""
        measured_s = self._looked_at_s - self._measured_from_s
        return {
            "name": self.flow.name,
            "goodput_bps": (self.received_bytes - self._measured_from_bytes) * 8 / measured_s,
            "completion_s": self.completed_s,
            "rows": self._flow_rows,
            "subflows": [trace.result(measured_s, self.payload_bytes) for trace in self.traces],
        }

    def _socket(self) -> socket.socket:
        """Create a socket in the current namespace, for TCP or MPTCP and with the congestion control of this flow."""
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, _IPPROTO_MPTCP if self.flow.is_mptcp else 0)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.flow.congestion_control.encode())
        return made


def run_connections(connections: Sequence[Connection], start_ns: int, live: Path | None = None) -> list[dict[str, Any]]:
    """Run all connections of a worker to the end, and return their results in the same order.

    Args:
        connections: the connections.
        start_ns: start of the networks, by the monotonic clock.
        live: a file that receives each sample at once, as a line of JSON: the time in s, and for each connection its
            goodput in bit/s and the windows of its subflows in packets; None to write nothing.
    """
    pump = _Pump(connections, start_ns, live)
    pump.run()
    return [connection.result() for connection in connections]


class _Pump:
    """Event loop of a worker: serves all sockets, changes paths, and takes samples."""

    def __init__(self, connections: Sequence[Connection], start_ns: int, live: Path | None) -> None:
        self._connections = connections
        self._start_ns = start_ns
        self._live = live
        self._epoll = select.epoll()
        self._listening = {connection.listener.fileno(): connection for connection in connections}
        self._reading: dict[int, Connection] = {}
        self._writing: dict[int, Connection] = {}
        for connection in connections:
            if connection.plan.warmup_s == 0:
                connection.begin_measurement(0.0)
        for descriptor in self._listening:
            self._epoll.register(descriptor, select.EPOLLIN)

    def run(self) -> None:
        """Run until the end of the longest network."""
        # (time, ordinal, function) of pending starts of connections and changes of paths, in time order.
        waiting: list[tuple[int, int, Callable[[], None]]] = []
        for connection in self._connections:
            waiting.append((connection.connect_at_ns, len(waiting), partial(self._begin, connection)))
            for at_ns, change in connection.changes():
                waiting.append((at_ns, len(waiting), change))
        waiting.sort()
        # All networks of a worker have the same sampling interval.
        interval_s = self._connections[0].plan.sample_interval_s
        look_ns = round(interval_s * NANOSECONDS) // _LOOKS_PER_SAMPLE
        end_ns = max(round(c.plan.duration_s * NANOSECONDS) for c in self._connections)
        looks = 0
        while looks * look_ns < end_ns:
            next_look_ns = self._start_ns + (looks + 1) * look_ns
            now = time.monotonic_ns()
            while waiting and waiting[0][0] <= now:
                waiting.pop(0)[2]()
            if now >= next_look_ns:
                looks += 1
                self._look(looks * look_ns, looks % _LOOKS_PER_SAMPLE == 0)
                continue
            until = next_look_ns if not waiting else min(next_look_ns, waiting[0][0])
            # Timeouts have a resolution of 1 ms in epoll, but of 1 µs in select.
            select.select([self._epoll.fileno()], (), (), max(0.0, (until - now) / NANOSECONDS))
            self._serve()

    def _begin(self, connection: Connection) -> None:
        sender = connection.connect()
        self._writing[sender.fileno()] = connection
        self._epoll.register(sender.fileno(), select.EPOLLOUT)

    def _serve(self) -> None:
        now = time.monotonic_ns()
        for descriptor, _ in self._epoll.poll(0):
            if descriptor in self._reading:
                self._reading[descriptor].read(now)
            elif descriptor in self._writing:
                connection = self._writing[descriptor]
                if not connection.write(now):
                    self._epoll.unregister(descriptor)
                    del self._writing[descriptor]
            elif descriptor in self._listening:
                connection = self._listening.pop(descriptor)
                self._epoll.unregister(descriptor)
                receiver = connection.accept()
                self._reading[receiver.fileno()] = connection
                self._epoll.register(receiver.fileno(), select.EPOLLIN)

    def _look(self, elapsed_ns: int, is_sample: bool) -> None:
        elapsed_s = elapsed_ns / NANOSECONDS
        for connection in self._connections:
            if elapsed_s > connection.plan.duration_s + 1e-9:
                continue
            connection.look(elapsed_s)
            if is_sample:
                connection.sample()
        if is_sample and self._live is not None:
            with self._live.open("a", encoding="ascii") as file:
                file.write(json.dumps([elapsed_s, *(connection.latest() for connection in self._connections)]) + "\n")


def _nothing_yet(info: TcpInfo) -> TcpInfo:
    """State of a subflow at its start: all counters are 0."""
    return TcpInfo(True, info.cwnd_pkts, _NAN, _NAN, _NAN, 0, _NAN, 0, 0, 0, 0, 0, 0.0, 0.0)
