"""What the kernel says of its sockets: TCP_INFO, and for MPTCP the same per subflow.

Source: linux/tcp.h (struct tcp_info), linux/mptcp.h (struct mptcp_subflow_data, mptcp_subflow_addrs).
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from dataclasses import dataclass

_SOL_MPTCP, _MPTCP_TCPINFO, _MPTCP_SUBFLOW_ADDRS = 284, 2, 3
_TCP_INFO_BYTES = 280
_ADDRESS_BYTES, _ADDRESS_PAIR_BYTES = 128, 256  # struct __kernel_sockaddr_storage, and local and remote of it
_MOST_SUBFLOWS = 16
_INFINITE_SSTHRESH = 0x7FFFFFFF
_NO_MIN_RTT_US = 0xFFFFFFFF
_SYN_SENT, _SYN_RECEIVED, _CLOSED = 2, 3, 7  # net/tcp_states.h

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """A socket at an instant.

    Attributes:
        is_connected: the handshake is over.
        cwnd_pkts: congestion window.
        ssthresh_pkts: slow start threshold; NaN while there is none.
        srtt_s: smoothed RTT; NaN before the first sample.
        min_rtt_s: smallest RTT; NaN likewise.
        inflight_pkts: sent, neither acknowledged nor taken for lost.
        pacing_rate_bps: what the kernel would pace at; only BBR uses it.
        delivered_pkts: data packets acknowledged or selectively acknowledged so far.
        sent_pkts: data packets sent so far, again or for the first time.
        retransmitted_pkts: those sent again.
        acked_bytes: payload acknowledged so far.
        timeouts: retransmission timeouts so far; 0 where the kernel does not tell (before 6.7).
        rwnd_limited_s: time so far in which the receiver's window was the limit.
        sndbuf_limited_s: time so far in which the send buffer was.
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
    """Read a struct tcp_info; older kernels write less of it, what is missing is 0."""
    data = data.ljust(_TCP_INFO_BYTES, b"\0")
    # 8 bytes of flags, then 24 counters of 32 bits, then 64-bit ones from offset 104 on.
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
    """Of a plain TCP socket."""
    return parse_tcp_info(tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES))


def mptcp_info(mptcp: socket.socket) -> dict[str, TcpInfo]:
    """Of each subflow of an MPTCP socket, by its local IPv4 address; empty while there is none.

    Raises:
        OSError: if the connection fell back to plain TCP, or the kernel is older than 5.16.
    """
    infos = _subflow_structs(mptcp, _MPTCP_TCPINFO, _TCP_INFO_BYTES)
    addresses = _subflow_structs(mptcp, _MPTCP_SUBFLOW_ADDRS, _ADDRESS_PAIR_BYTES)
    return {
        socket.inet_ntoa(address[4:8]): parse_tcp_info(info) for address, info in zip(addresses, infos, strict=False)
    }


def _subflow_structs(mptcp: socket.socket, option: int, item_bytes: int) -> list[bytes]:
    """An array with one struct per subflow; a header says how large the kernel's and ours are."""
    header_bytes = 16
    buffer = ctypes.create_string_buffer(header_bytes + _MOST_SUBFLOWS * item_bytes)
    struct.pack_into("=4I", buffer, 0, header_bytes, 0, 0, item_bytes)
    length = ctypes.c_uint32(len(buffer))
    # Python's getsockopt passes no input, and this option wants that header.
    if _libc.getsockopt(mptcp.fileno(), _SOL_MPTCP, option, buffer, ctypes.byref(length)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    _, count, kernel_bytes, _ = struct.unpack_from("=4I", buffer, 0)
    used = min(kernel_bytes, item_bytes)
    starts = [header_bytes + index * item_bytes for index in range(min(count, _MOST_SUBFLOWS))]
    return [buffer.raw[start : start + used] for start in starts]
