"""States of all sockets of a network namespace, by the kernel's sock_diag interface.

Source: linux/sock_diag.h, inet_diag.h, mptcp.h (struct mptcp_info); sock_diag(7).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from subflow_app.features.kernel.core.endpoint import TcpInfo, parse_tcp_info

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_NLA_F_NESTED = 0x8000
_DIAG_INFO, _DIAG_CONG, _DIAG_PROTOCOL, _DIAG_ULP_INFO = 2, 4, 10, 19
_REQUEST_PROTOCOL = 3
_ULP_MPTCP = 3
_MPTCP_TOKEN_LOCAL = 2
_IPPROTO_MPTCP = 262
_DESTROY_GROUPS = (1, 2)  # SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET_UDP_DESTROY
_DESTROYED_TCP = 1
_LISTEN, _TIME_WAIT, _NEW_SYN_RECEIVED = 10, 6, 12
_ALL_STATES = 0xFFF
_CONNECTED_STATES = _ALL_STATES & ~(1 << _LISTEN | 1 << _TIME_WAIT | 1 << _NEW_SYN_RECEIVED)
_MESSAGE_BYTES = 72  # struct inet_diag_msg
_MAPPED = b"\0" * 10 + b"\xff\xff"


@dataclass(frozen=True, slots=True)
class SocketState:
    """A TCP socket, or a subflow of an MPTCP connection.

    Attributes:
        id: number that the kernel gives to no other socket.
        token: number of the MPTCP connection; 0 for plain TCP.
        local: local address.
        port: local port.
        remote: remote address.
        remote_port: remote port.
        info: counters and windows.
        controller: name of the congestion control.
        is_gone: whether this is the last state of a socket that is gone.
    """

    id: str
    token: int
    local: str
    port: int
    remote: str
    remote_port: int
    info: TcpInfo
    controller: str
    is_gone: bool = False


class SocketMonitor:
    """Reads the sockets of the network namespace in which it is made.

    Raises:
        OSError: if the kernel lacks the interface.
    """

    def __init__(self) -> None:
        self._asking = _diag_socket()
        self._gone = _diag_socket()
        with suppress(OSError):  # without it, the last data of a connection is missing
            self._gone.bind((0, 1 << (_DESTROYED_TCP - 1)))
        self._gone.setblocking(False)
        self._has_mptcp = True
        self._sequence = 0

    def tcp(self) -> list[SocketState]:
        """Connected sockets, and the last states of those that have gone since the last call."""
        found = list(self._states_gone())
        for family in (socket.AF_INET, socket.AF_INET6):
            for body in self._dump(family, socket.IPPROTO_TCP, _CONNECTED_STATES):
                state = _tcp_state(body)
                if state is not None:
                    found.append(state)
        return found

    def mptcp(self) -> list[tuple[int, int]]:
        """Token and acknowledged bytes of each MPTCP connection."""
        found: list[tuple[int, int]] = []
        if not self._has_mptcp:
            return found
        try:
            for family in (socket.AF_INET, socket.AF_INET6):
                for body in self._dump(family, _IPPROTO_MPTCP, _CONNECTED_STATES):
                    info = _attributes(body).get(_DIAG_INFO, b"")
                    if len(info) >= 80:  # struct mptcp_info from Linux 6.5 on
                        found.append((struct.unpack_from("=I", info, 12)[0], struct.unpack_from("=Q", info, 72)[0]))
        except OSError:
            self._has_mptcp = False  # the module mptcp_diag is missing
        return found

    def waiting(self) -> int:
        """Number of sockets that wait for clients: listening ones of TCP, and those of UDP without a peer."""
        count = 0
        for family in (socket.AF_INET, socket.AF_INET6):
            count += sum(1 for _ in self._dump(family, socket.IPPROTO_TCP, 1 << _LISTEN))
            with suppress(OSError):  # the module udp_diag is missing
                for body in self._dump(family, socket.IPPROTO_UDP, _ALL_STATES):
                    (remote_port,) = struct.unpack_from("!H", body, 6)
                    count += remote_port == 0
        return count

    def _states_gone(self) -> Iterator[SocketState]:
        while True:
            try:
                data = self._gone.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError:
                continue  # events were lost, because they came faster than they were read
            for kind, body in _messages(data):
                if kind == _SOCK_DIAG_BY_FAMILY:
                    state = _tcp_state(body, is_gone=True)
                    if state is not None:
                        yield state

    def _dump(self, family: int, protocol: int, states: int) -> Iterator[bytes]:
        """Bodies of the kernel's messages, one for each socket; raises OSError."""
        self._sequence += 1
        wanted = 1 << (_DIAG_INFO - 1) | 1 << (_DIAG_CONG - 1)
        body = struct.pack("=BBBxI48x", family, min(protocol, 255), wanted, states)
        if protocol > 255:
            body += struct.pack("=HHI", 8, _REQUEST_PROTOCOL, protocol)
        header = struct.pack(
            "=IHHII", 16 + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST | _NLM_F_DUMP, self._sequence, 0
        )
        self._asking.sendall(header + body)
        while True:
            for kind, answer in _messages(self._asking.recv(1 << 18)):
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    (code,) = struct.unpack_from("=i", answer)
                    if code:
                        raise OSError(-code, "sock_diag")
                    return
                yield answer


def _diag_socket() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 16:
        length, kind = struct.unpack_from("=IH", data)
        yield kind, data[16:length]
        data = data[(length + 3) & ~3 :]


def _attributes(body: bytes, start: int = _MESSAGE_BYTES) -> dict[int, bytes]:
    found = {}
    while len(body) - start >= 4:
        length, kind = struct.unpack_from("=HH", body, start)
        if length < 4:
            break
        found[kind & ~_NLA_F_NESTED] = body[start + 4 : start + length]
        start += (length + 3) & ~3
    return found


def _tcp_state(body: bytes, *, is_gone: bool = False) -> SocketState | None:
    """The state in a message; None if it has no counters, as for half-open sockets."""
    attributes = _attributes(body)
    info = attributes.get(_DIAG_INFO)
    if info is None or len(info) < 104:
        return None
    family = body[0]
    port, remote_port = struct.unpack_from("!HH", body, 4)
    cookie = struct.unpack_from("=2I", body, 44)
    ulp = _attributes(attributes.get(_DIAG_ULP_INFO, b""), 0)
    token = _attributes(ulp.get(_ULP_MPTCP, b""), 0).get(_MPTCP_TOKEN_LOCAL, b"")
    return SocketState(
        id=f"{cookie[1]:x}{cookie[0]:08x}",
        token=struct.unpack("=I", token)[0] if len(token) == 4 else 0,
        local=_address(family, body[8:24]),
        port=port,
        remote=_address(family, body[24:40]),
        remote_port=remote_port,
        info=parse_tcp_info(info),
        controller=attributes.get(_DIAG_CONG, b"").rstrip(b"\0").decode("ascii", "replace"),
        is_gone=is_gone,
    )


def _address(family: int, data: bytes) -> str:
    """An address as text; IPv4 addresses in sockets of IPv6 count as IPv4."""
    if family == socket.AF_INET:
        return socket.inet_ntop(socket.AF_INET, data[:4])
    if data.startswith(_MAPPED):
        return socket.inet_ntop(socket.AF_INET, data[12:])
    return socket.inet_ntop(socket.AF_INET6, data)
