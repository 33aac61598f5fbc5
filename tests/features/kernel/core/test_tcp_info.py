"""Parsing of the kernel's structs."""

from __future__ import annotations

import math
import struct

from subflow_app.features.kernel.core.endpoint import parse_tcp_info


def info_bytes(values: dict[int, tuple[str, int]], length: int = 248) -> bytes:
    """A struct tcp_info with these (format, value) pairs at these offsets, otherwise zeros."""
    data = bytearray(length)
    for offset, (kind, value) in values.items():
        struct.pack_into("=" + kind, data, offset, value)
    return bytes(data)


def test_fields_are_where_the_header_has_them() -> None:
    # Offsets from linux/tcp.h: 8 bytes of flags, 24 fields of 4 bytes, then fields of 8 from 104 on.
    info = parse_tcp_info(
        info_bytes(
            {
                24: ("I", 30),  # unacked, sacked, lost, retransmitted
                28: ("I", 5),
                32: ("I", 2),
                36: ("I", 1),
                68: ("I", 41500),  # rtt in us, ssthresh, cwnd
                76: ("I", 25),
                80: ("I", 33),
                100: ("I", 17),  # retransmits; pacing rate in B/s; acknowledged bytes
                104: ("Q", 1_250_000),
                120: ("Q", 99),
                148: ("I", 40100),  # min RTT in us, data packets sent, delivered; timeouts
                156: ("I", 700),
                192: ("I", 650),
                240: ("H", 3),
                176: ("Q", 2_000_000),  # limited by the receiver, by the send buffer, us
                184: ("Q", 500_000),
            }
        )
    )
    assert (info.cwnd_pkts, info.ssthresh_pkts, info.srtt_s, info.min_rtt_s) == (33, 25.0, 0.0415, 0.0401)
    assert info.inflight_pkts == 30 - 5 - 2 + 1
    assert info.pacing_rate_bps == 10e6
    assert (info.retransmitted_pkts, info.acked_bytes, info.sent_pkts, info.delivered_pkts) == (17, 99, 700, 650)
    assert (info.timeouts, info.rwnd_limited_s, info.sndbuf_limited_s) == (3, 2.0, 0.5)


def test_what_is_not_known_yet_is_nan() -> None:
    info = parse_tcp_info(info_bytes({76: ("I", 0x7FFFFFFF), 104: ("Q", 2**64 - 1), 148: ("I", 0xFFFFFFFF)}))
    assert all(math.isnan(value) for value in (info.ssthresh_pkts, info.srtt_s, info.min_rtt_s, info.pacing_rate_bps))


def test_an_older_kernel_writes_less() -> None:
    info = parse_tcp_info(info_bytes({80: ("I", 10)}, length=232))
    assert (info.cwnd_pkts, info.timeouts) == (10, 0)
