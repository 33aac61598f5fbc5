"""Encodes the headers of IPv4, TCP and UDP, with TCP options including those of MPTCP.

Source: RFC 791, RFC 9293, RFC 2018 (SACK), RFC 7323 (timestamps, window scale), RFC 8684 (MPTCP version 1),
RFC 3168 and RFC 9768 (ECN).
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

TCP, UDP = 6, 17
SYN, RST, PSH, ACK = 0x02, 0x04, 0x08, 0x10
IP_BYTES, TCP_BYTES, UDP_BYTES = 20, 20, 8
MOST_OPTION_BYTES: Final = 40
"""Space for options in the TCP header, bytes."""
LARGEST_WINDOW: Final = 0xFFFF
LARGEST_WINDOW_SCALE: Final = 14
"""Largest window scale, for windows of up to 1 GiB; RFC 7323 section 2.3."""

_MPTCP = 30
_MP_CAPABLE, _MP_JOIN, _DSS, _ADD_ADDR, _REMOVE_ADDR = 0, 1, 2, 3, 4
_ECHO = 0x01
_VERSION = 1
_HMAC_SHA256 = 0x01  # flag H of MP_CAPABLE
_DSN_8_OCTETS, _HAS_MAPPING, _HAS_DATA_ACK = 0x08, 0x04, 0x01
_BACKUP = 0x01
_NOP = b"\x01"
_MASK_32 = 0xFFFFFFFF


class End(NamedTuple):
    """An end of a TCP connection or of a UDP flow.

    Attributes:
        address: IPv4, 4 bytes.
        port: TCP or UDP port.
    """

    address: bytes
    port: int


def mss(size: int) -> bytes:
    """Option of a SYN: maximum segment size, bytes."""
    return struct.pack(">BBH", 2, 4, size)


def sack_permitted() -> bytes:
    """Option of a SYN: SACK is permitted."""
    return b"\x04\x02"


def window_scale(shift: int) -> bytes:
    """Option of a SYN: windows are in multiples of 2^shift bytes."""
    return bytes((3, 3, shift))


def timestamps(value: int, echo: int) -> bytes:
    """Timestamps option, with the sender's own timestamp and the one that it echoes; RFC 7323 section 3."""
    return struct.pack(">BBII", 8, 10, value & _MASK_32, echo & _MASK_32)


def sack(ranges: Sequence[tuple[int, int]]) -> bytes:
    """SACK option: ranges received beyond the cumulative ACK, each as first byte and byte after the last."""
    edges = [edge & _MASK_32 for pair in ranges for edge in pair]
    return struct.pack(f">BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)


def accurate_ecn(with_ect0: int, marked: int, with_ect1: int) -> bytes:
    """AccECN option in the order AccECN0: bytes received with ECT(0), CE and ECT(1); RFC 9768 section 3.2.3."""
    return b"".join((bytes((172, 11)), *(struct.pack(">I", count)[1:] for count in (with_ect0, marked, with_ect1))))


def with_ecn(packet: bytes, ecn: int) -> bytes:
    """A copy of a packet in which the ECN field of the IP header is replaced, as a router does."""
    return _with_checksum(packet[:1] + bytes((packet[1] & 0xFC | ecn,)) + packet[2:IP_BYTES]) + packet[IP_BYTES:]


def mp_capable(*keys: bytes) -> bytes:
    """MP_CAPABLE: no key in the SYN, the sender's key in the SYN/ACK, both keys in the ACK; RFC 8684 section 3.1."""
    head = struct.pack(">BBBB", _MPTCP, 4 + sum(map(len, keys)), _MP_CAPABLE << 4 | _VERSION, _HMAC_SHA256)
    return head + b"".join(keys)


def mp_join_syn(token: bytes, nonce: bytes, address_id: int, *, is_backup: bool) -> bytes:
    """MP_JOIN of a SYN; RFC 8684 section 3.2, figure 5."""
    first = _MP_JOIN << 4 | (_BACKUP if is_backup else 0)
    return struct.pack(">BBBB", _MPTCP, 12, first, address_id) + token + nonce


def mp_join_syn_ack(proof: bytes, nonce: bytes, address_id: int, *, is_backup: bool) -> bytes:
    """MP_JOIN of a SYN/ACK with the leftmost 64 bits of the HMAC; RFC 8684 section 3.2, figure 6."""
    first = _MP_JOIN << 4 | (_BACKUP if is_backup else 0)
    return struct.pack(">BBBB", _MPTCP, 16, first, address_id) + proof[:8] + nonce


def mp_join_ack(proof: bytes) -> bytes:
    """MP_JOIN of an ACK with the leftmost 160 bits of the HMAC; RFC 8684 section 3.2, figure 7."""
    return struct.pack(">BBBB", _MPTCP, 24, _MP_JOIN << 4, 0) + proof[:20]


def add_addr(address_id: int, address: bytes, proof: bytes = b"") -> bytes:
    """ADD_ADDR with the rightmost 64 bits of the HMAC `proof`, or its echo without `proof`; RFC 8684 section 3.4.1."""
    first = _ADD_ADDR << 4 | (0 if proof else _ECHO)
    return struct.pack(">BBBB", _MPTCP, 8 + len(proof[-8:]), first, address_id) + address + proof[-8:]


def remove_addr(address_id: int) -> bytes:
    """REMOVE_ADDR for one address; RFC 8684 section 3.4.2."""
    return struct.pack(">BBBB", _MPTCP, 4, _REMOVE_ADDR << 4, address_id)


def address_proof(own_key: bytes, other_key: bytes, address_id: int, address: bytes) -> bytes:
    """HMAC of an ADD_ADDR without a port, which proves that the sender has both keys; RFC 8684 section 3.4.1."""
    return hmac.digest(own_key + other_key, bytes([address_id]) + address + b"\0\0", "sha256")


def dss(data_ack: int, mapping: tuple[int, int, int] | None = None) -> bytes:
    """Data sequence signal (DSS) without checksum; RFC 8684 section 3.3.

    Args:
        data_ack: next expected byte of the connection; the lower 32 bits are sent.
        mapping: data sequence number, subflow sequence number relative to the SYN's, and length in bytes; None for a
            DSS that only acknowledges.
    """
    if mapping is None:
        return struct.pack(">BBBBI", _MPTCP, 8, _DSS << 4, _HAS_DATA_ACK, data_ack & _MASK_32)
    data_seq, subflow_seq, length = mapping
    flags = _HAS_DATA_ACK | _HAS_MAPPING | _DSN_8_OCTETS
    head = struct.pack(">BBBBI", _MPTCP, 22, _DSS << 4, flags, data_ack & _MASK_32)
    return head + struct.pack(">QIH", data_seq & (1 << 64) - 1, subflow_seq & _MASK_32, length)


def token_of(key: bytes) -> bytes:
    """Token of a connection in MP_JOIN: the leftmost 32 bits of the key's hash; RFC 8684 section 3.2."""
    return hashlib.sha256(key).digest()[:4]


def initial_data_seq(key: bytes) -> int:
    """The initial data sequence number: the rightmost 64 bits of the key's hash; RFC 8684 section 3.1."""
    return int.from_bytes(hashlib.sha256(key).digest()[-8:], "big")


def join_proof(own_key: bytes, other_key: bytes, own_nonce: bytes, other_nonce: bytes) -> bytes:
    """HMAC of MP_JOIN, which proves that the joining host has both keys; RFC 8684 section 3.2."""
    return hmac.digest(own_key + other_key, own_nonce + other_nonce, "sha256")


def tcp_packet(
    source: End,
    destination: End,
    *,
    seq: int,
    ack: int,
    flags: int,
    window: int,
    options: Sequence[bytes],
    payload_bytes: int,
    identification: int,
    ecn: int = 0,
) -> bytes:
    """IP and TCP headers of a packet with a payload of zeros.

    Args:
        source: sending end.
        destination: receiving end.
        seq: sequence number of the first byte; taken modulo 2^32.
        ack: next expected sequence number; taken modulo 2^32.
        flags: SYN, RST, PSH, ACK, and the result of `ecn_flags`.
        window: window field, 0 to 65535.
        options: options in order; each is padded to four bytes.
        payload_bytes: length of the payload after the headers.
        identification: identification field of the IP header; taken modulo 2^16.
        ecn: ECN field of the IP header.
    """
    option_bytes = b"".join(_NOP * (-len(option) % 4) + option for option in options)  # Linux also pads each option
    offset = (TCP_BYTES + len(option_bytes)) // 4
    head = struct.pack(
        ">HHIIBBHHH",
        source.port,
        destination.port,
        seq & _MASK_32,
        ack & _MASK_32,
        offset << 4 | flags >> 8,
        flags & 0xFF,
        window,
        0,
        0,
    )
    segment = head + option_bytes
    length = len(segment) + payload_bytes
    pseudo = struct.pack(">4s4sBBH", source.address, destination.address, 0, TCP, length)
    # A payload of zeros adds nothing to the checksum.
    checksum = _checksum(pseudo + segment)
    segment = segment[:16] + struct.pack(">H", checksum) + segment[18:]
    return ip_header(source, destination, TCP, length, identification, ecn) + segment


def udp_packet(source: End, destination: End, *, payload_bytes: int, identification: int) -> bytes:
    """IP and UDP headers of a datagram with a payload of zeros."""
    length = UDP_BYTES + payload_bytes
    head = struct.pack(">HHHH", source.port, destination.port, length, 0)
    pseudo = struct.pack(">4s4sBBH", source.address, destination.address, 0, UDP, length)
    checksum = _checksum(pseudo + head) or 0xFFFF  # RFC 768: zero would mean that the checksum is unused
    return ip_header(source, destination, UDP, length, identification) + head[:6] + struct.pack(">H", checksum)


def ip_header(
    source: End, destination: End, protocol: int, payload_bytes: int, identification: int, ecn: int = 0
) -> bytes:
    """IPv4 header without options, with the flag Don't Fragment."""
    head = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        ecn,
        IP_BYTES + payload_bytes,
        identification & 0xFFFF,
        0x4000,
        64,
        protocol,
        0,
        source.address,
        destination.address,
    )
    return _with_checksum(head)


def ecn_flags(field: int) -> int:
    """The ECN bits AE (4), CWR (2) and ECE (1) at their position in `flags`; RFC 9768 section 3.1, figure 1."""
    return field << 6


def _with_checksum(head: bytes) -> bytes:
    return head[:10] + struct.pack(">H", _checksum(head[:10] + bytes(2) + head[12:])) + head[12:]


def _checksum(data: bytes) -> int:
    """Ones' complement of the ones' complement sum of 16-bit words; RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    total += total >> 16
    return ~total & 0xFFFF
