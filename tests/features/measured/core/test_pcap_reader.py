"""Captures: a handmade connection with known rates, RTT and retransmissions; truncated files and other formats."""

from __future__ import annotations

import socket
import struct
import sys
from pathlib import Path

import dpkt
import pytest
from tests.features.measured.core.reading import column, imported
from tests.fuzz.entry_points import corpus
from tests.helpers.members import for_each

from subflow_app.foundation.errors import AppError, InputError

CLIENT, SERVER = ("10.0.0.2", 40001), ("10.0.0.1", 5001)
MSS = 1000
RTT_S = 0.05


def frame(source: tuple[str, int], target: tuple[str, int], seq: int, ack: int, size: int, flags: int) -> bytes:
    numbers = {"seq": seq % 2**32, "ack": ack % 2**32}
    tcp = dpkt.tcp.TCP(sport=source[1], dport=target[1], flags=flags, data=b"x" * size, **numbers)
    ip = dpkt.ip.IP(src=socket.inet_aton(source[0]), dst=socket.inet_aton(target[0]), p=dpkt.ip.IP_PROTO_TCP, data=tcp)
    ip.len = len(ip)
    return bytes(dpkt.ethernet.Ethernet(data=ip, type=dpkt.ethernet.ETH_TYPE_IP))


def capture(path: Path, *, start: int = 2**32 - 5000, kind: type = dpkt.pcap.Writer) -> None:
    """Ten packets of 1000 bytes each 10 ms, acknowledged after 50 ms; sequence numbers wrap; one is retransmitted."""
    packets: list[tuple[float, bytes]] = [
        (0.0, frame(CLIENT, SERVER, 99, 0, 0, dpkt.tcp.TH_SYN)),
        (0.0, frame(SERVER, CLIENT, start - 1, 100, 0, dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK)),
    ]
    for number in range(100):
        at_s = 0.001 + 0.01 * number
        seq = start + MSS * number
        packets.append((at_s, frame(SERVER, CLIENT, seq, 100, MSS, dpkt.tcp.TH_ACK)))
        packets.append((at_s + RTT_S, frame(CLIENT, SERVER, 100, seq + MSS, 0, dpkt.tcp.TH_ACK)))
        if number == 50:
            packets.append((at_s + 0.02, frame(SERVER, CLIENT, seq, 100, MSS, dpkt.tcp.TH_ACK)))
    with path.open("wb") as file:
        writer = kind(file)
        for at_s, content in sorted(packets, key=lambda packet: packet[0]):
            writer.writepkt(content, ts=1_690_000_000 + at_s)


@for_each("kind", [dpkt.pcap.Writer, dpkt.pcapng.Writer])
def test_figures_of_a_known_connection(tmp_path: Path, kind: type) -> None:
    path = tmp_path / "trace.pcap"
    capture(path, kind=kind)
    run = imported(path, kind="pcap", flow="download")
    assert run.mss_bytes == MSS
    assert run.interval_s == pytest.approx(0.1)
    # Ten packets of 1040 bytes on the wire in 100 ms; the sixth interval contains one retransmission more.
    assert column(run, "throughput_bps:download/1")[:7] == pytest.approx([832e3] * 5 + [915.2e3, 832e3])
    assert column(run, "goodput_bps:download/1")[1:9] == pytest.approx([800e3] * 8)
    assert column(run, "losses_pkts:download/1")[:7] == [0, 0, 0, 0, 0, 1, 0]
    assert column(run, "srtt_s:download/1")[1:9] == pytest.approx([RTT_S] * 8, rel=1e-3)
    # Five packets are in flight at any time.
    assert all(4.0 <= value <= 6.0 for value in column(run, "inflight_pkts:download/1")[1:9])
    assert "download/1 sent 101000 bytes of payload." in run.notices
    named = imported(path, flow="download", is_addressed=True)
    assert "download/1 is 10.0.0.1:5001 to 10.0.0.2:40001, 101000 bytes of payload." in named.notices
    assert run.summary()["flows"][0]["retransmits"] == 1


def test_of_a_file_that_is_cut_off_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cut = tmp_path / "whole.pcap", tmp_path / "cut.pcap"
    capture(whole)
    cut.write_bytes(whole.read_bytes()[:-30_000])
    run = imported(cut)
    assert 0 < run.duration_s < imported(whole).duration_s
    assert any("cut off or damaged" in notice for notice in run.notices)
    # Without the library that reads captures, the message explains how to install it.
    monkeypatch.setitem(sys.modules, "dpkt", None)
    with pytest.raises(AppError, match=r'pip install "subflow-workbench\[pcap\]"'):
        imported(whole)


HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


@for_each(
    ("content", "said"),
    [
        (b"\xd4\xc3\xb2", "is not a readable capture"),
        (HEAD[:4], "is not a readable capture"),
        (HEAD, "has no whole packet"),
        (HEAD + b"\x01\x02", "has no whole packet"),
    ],
)
def test_captures_that_end_before_their_first_packet_are_told(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        imported(tmp_path / "cut.pcap", content)


def test_a_capture_of_days_at_a_tenth_of_a_second_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    # Two days pass in the middle of a damaged capture of two connections: 1.9 million intervals with nine traces.
    content = (corpus("pcap") / "3daf45284271").read_bytes()
    with pytest.raises(InputError, match="samples of 9 traces; at most 2 000 000 samples and 10 000 000 figures"):
        imported(tmp_path / "days.pcapng", content)
