"""Captures read by Wireshark's dissector: no malformed packets, and the same data as in the simulation."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.helpers.present import present

from subflow_app.features.capture.core.headers import initial_data_seq
from subflow_app.features.capture.core.packet_capture import CapturePlan, write_capture
from subflow_app.features.capture.core.tcp_wire import HANDSHAKE, Secrets
from subflow_app.foundation.errors import ExportError, InputError
from subflow_sim import Scenario, Simulation, parse_scenario

SCENARIO = """
format = 1
name = "Two paths, a transfer, and one path that goes"
duration = "20s"
nodes = { client = {}, server = {} }
events = [
  { at = "1s", flow = "download", subflow = 2, open = false },
  { at = "2s", flow = "download", subflow = 2, open = true },
]
[links]
wifi = { ends = ["server", "client"], rate = "8Mbit/s", delay = "20ms", queue = "40pkt", loss = "1%" }
lte = { ends = ["client", "server"], rate = "4Mbit/s", delay = "35ms", queue = "40pkt" }
[flows]
plain = { kind = "tcp", from = "server", to = "client", paths = [["wifi"]] }
bursts = { kind = "cbr", from = "client", to = "server", paths = [["lte"]], rate = "400kbit/s" }
[flows.download]
kind = "mptcp"
from = "server"
to = "client"
paths = [["wifi"], ["lte"]]
size = "3MB"
recv_buffer = 200000
"""


def with_events(text: str, *events: str) -> str:
    return text.replace("events = [", "\n".join(["events = [", *(f"  {{ {event} }}," for event in events)]))


needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


@dataclass(frozen=True)
class MadeRun:
    """A source of captures without a database."""

    scenario: Scenario
    seed: int = 1
    known_until_s: float = 6.0
    signature: str = ""
    version: str = "0.0"
    title: str = "the run"


@pytest.fixture(scope="module")
def run() -> MadeRun:
    scenario = parse_scenario(SCENARIO)
    simulation = Simulation(scenario, seed=1)
    simulation.run_until(6.0)
    return MadeRun(scenario, signature=simulation.signature())


def fields(path: Path, *names: str, only: str = "") -> list[list[str]]:
    """Fields of each packet, printed by tshark."""
    command: list[str | Path] = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=|"]
    command += [part for name in names for part in ("-e", name)]
    command += ["-Y", only] if only else []
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("|") for line in done.stdout.splitlines()]


def time_s(epoch: str) -> float:
    """Seconds since 2000, where captures begin."""
    return float(epoch) - 946_684_800


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.pcapng"


@needs_tshark
def test_wireshark_finds_nothing_malformed_and_sees_the_data_sequence_mapping(run: MadeRun, path: Path) -> None:
    result = present(write_capture(run, path, CapturePlan("download")))
    assert result.notice == ""

    packets = fields(path, "frame.number", "_ws.malformed", "ip.len", "frame.len", "tcp.options.mptcp.subtype")
    assert len(packets) == result.packets
    assert all(not malformed and total == seen for _, malformed, total, seen, _ in packets)
    assert {subtype for *_, subtype in packets} == {"0", "1", "2"}  # MP_CAPABLE, MP_JOIN, DSS on all others

    # Each byte of the 3 MB has its own sequence number, counted from the hash of the key in the handshake.
    first = initial_data_seq(Secrets.of("download", run.signature).sender) + 1
    mapped = fields(path, "tcp.options.mptcp.rawdataseqno", "tcp.options.mptcp.datalvllen", only="tcp.len > 0")
    assert len(mapped) > 3_000_000 / 1424
    ends = {int(number) - first + int(length) for number, length in mapped}
    assert min(int(number) - first for number, _ in mapped) == 0
    assert max(ends) == 3_000_000
    assert len(ends) == -(-3_000_000 // 1424)

    # Keys, tokens and HMACs match: the analysis finds one connection of three TCP connections.
    streams = fields(path, "mptcp.stream", "tcp.stream", only="tcp.len > 0")
    assert {stream for stream, _ in streams} == {"0"}
    assert {stream for _, stream in streams} == {"0", "1", "2"}


@needs_tshark
def test_numbers_of_bytes_are_those_of_a_real_tcp(run: MadeRun, path: Path) -> None:
    """The sequence numbers at the sender's interface have no gaps; ACKs and SACK ranges lie within the sent data."""
    write_capture(run, path, CapturePlan("plain"))
    names = ("tcp.srcport", "tcp.seq", "tcp.len", "tcp.ack", "tcp.options.sack_re", "tcp.options.mptcp.subtype")
    sent = 1
    some = 0
    for port, seq, length, ack, right_edges, subtype in fields(path, *names):
        assert not subtype
        if port == "50001":
            assert int(seq) <= max(sent, 1)
            sent = max(sent, int(seq) + int(length))
            continue
        assert int(ack) <= sent
        for edge in filter(None, right_edges.split(",")):
            some += 1
            assert int(edge) <= sent
    assert sent > 100_000
    assert some > 10
    assert not fields(path, "frame.number", only="tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment")


@needs_tshark
def test_the_receive_window_is_that_of_the_buffer(run: MadeRun, path: Path) -> None:
    write_capture(run, path, CapturePlan("download", "receiver"))
    windows = [int(size) for (size,) in fields(path, "tcp.window_size", only="tcp.dstport == 50001 && tcp.len == 0")]
    assert 190_000 < max(windows[3:]) <= 200_000
    assert min(windows[3:]) < 150_000  # packets wait for earlier packets


@needs_tshark
def test_datagrams_are_udp_and_hosts_have_names(run: MadeRun, path: Path) -> None:
    write_capture(run, path, CapturePlan("bursts", "both", since_s=1.0, until_s=2.0))
    rows = fields(path, "udp.length", "frame.interface_name", "frame.time_epoch", "_ws.malformed")
    assert {length for length, *_ in rows} == {"1480"}
    assert {name for _, name, *_ in rows} == {"sender", "receiver"}
    epochs = [time_s(time) for _, _, time, _ in rows]
    assert epochs == sorted(epochs)
    assert 1.0 <= min(epochs) <= max(epochs) <= 2.0
    command = ["tshark", "-N", "n", "-r", str(path), "-c", "1"]
    named = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert all(name in named for name in ("client.lte", "server.lte"))


@needs_tshark
def test_a_part_begins_with_how_the_connection_was_opened(run: MadeRun, path: Path) -> None:
    write_capture(run, path, CapturePlan("download", since_s=4.0, until_s=4.5))
    rows = fields(path, "frame.time_epoch", "frame.comment", "tcp.flags.syn", "tcp.seq", "tcp.len")
    times = [time_s(epoch) for epoch, *_ in rows]
    opening = [(time, syn) for time, (_, _, syn, *_) in zip(times, rows, strict=True) if time < 4.0]
    # SYN, SYN-ACK and ACK of the first TCP connection, and one ACK more for each of the two that join.
    assert len(opening) == 3 + 4 + 4
    assert [syn for _, syn in opening].count("1") == 6
    assert opening[0][0] == 0.0
    assert 0.040 < opening[1][0] < 0.041  # a round trip of 40 ms
    assert not any(comment for _, comment, *_ in rows)
    assert len(rows) > 100
    assert min(int(seq) for *_, seq, length in rows if int(length)) > 100_000


@needs_tshark
def test_a_lost_syn_is_seen_again_a_second_later(path: Path) -> None:
    outage = 'at = "0s", link = "wifi", up = false', 'at = "500ms", link = "wifi", up = true'
    scenario = parse_scenario(with_events(SCENARIO, *outage))
    write_capture(MadeRun(scenario, known_until_s=2.0), path, CapturePlan("plain"))
    rows = fields(path, "frame.time_epoch", "tcp.flags.syn", "tcp.flags.ack", "_ws.malformed")
    syns = [round(time_s(epoch), 3) for epoch, syn, ack, _ in rows if (syn, ack) == ("1", "0")]
    assert syns == [0.0, 1.0]
    assert fields(path, "frame.number", only="tcp.analysis.retransmission && tcp.flags.syn == 1")
    assert not any(malformed for *_, malformed in rows)


@needs_tshark
def test_addresses_are_announced_echoed_and_taken_back_by_their_options(path: Path) -> None:
    announced = SCENARIO.replace("recv_buffer = 200000", "late = [2]").replace("open = true", "announce = true")
    taken_back = 'at = "3s", flow = "download", subflow = 2, announce = false'
    scenario = parse_scenario(with_events(announced, taken_back))
    write_capture(MadeRun(scenario), path, CapturePlan("download"))
    names = ("tcp.options.mptcp.addrid", "tcp.options.mptcp.ipv4", "ip.src", "ip.len", "_ws.malformed")
    told = fields(path, *names, only="tcp.options.mptcp.subtype == 3")
    # The receiver's option has an HMAC, the echo has not: 8 bytes fewer.
    assert [(number, address, source) for number, address, source, _, _ in told] == [
        ("2", "10.0.1.2", "10.0.0.2"),
        ("2", "10.0.1.2", "10.0.0.1"),
    ]
    assert int(told[0][3]) - int(told[1][3]) == 8
    (removed,) = fields(path, "tcp.options.mptcp.addrid", "_ws.malformed", only="tcp.options.mptcp.subtype == 4")
    assert removed == ["2", ""]
    (reset,) = fields(path, "ip.src", "_ws.malformed", only="tcp.flags.reset == 1")
    assert reset == ["10.0.1.2", ""]
    assert not any(malformed for *_, malformed in told)


@needs_tshark
def test_without_handshakes_in_the_simulation_they_are_made_up(path: Path) -> None:
    scenario = parse_scenario(SCENARIO.replace('duration = "20s"', 'duration = "20s"\nprofile = "textbook"'))
    write_capture(MadeRun(scenario), path, CapturePlan("download", since_s=4.0, until_s=4.5))
    rows = fields(path, "frame.comment", "frame.time_epoch", "_ws.malformed")
    made_up = [time_s(epoch) for comment, epoch, _ in rows if comment == HANDSHAKE]
    assert len(made_up) == 9  # three TCP connections, captured at one interface
    assert made_up[:3] == pytest.approx([-0.04, 0.0, 0.0])  # the flow may send when it starts
    assert not any(malformed for *_, malformed in rows)


def test_what_cannot_be_captured_is_told_and_leaves_no_file(run: MadeRun, path: Path, tmp_path: Path) -> None:
    for plan, told in (
        (CapturePlan("upload"), '"upload".*plain, bursts, download'),
        (CapturePlan("download", "middle"), '"middle".*sender, receiver, both'),
        (CapturePlan("download", since_s=3.0, until_s=2.0), "3 s to 2 s"),
        (CapturePlan("download", since_s=9.0, until_s=12.0), "ends at 6 s"),
    ):
        with pytest.raises(InputError, match=told):
            write_capture(run, path, plan)
    with pytest.raises(ExportError, match="no-folder"):
        write_capture(run, tmp_path / "no-folder" / "x.pcapng", CapturePlan("download"))
    assert write_capture(run, path, CapturePlan("download"), is_cancelled=lambda: True) is None
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_another_version_is_told(run: MadeRun, path: Path) -> None:
    other = MadeRun(run.scenario, known_until_s=0.5, signature="0123456789abcdef", version="0.0.9")
    assert "0.0.9" in present(write_capture(other, path, CapturePlan("plain"))).notice


@needs_tshark
@pytest.mark.parametrize(("ecn", "profile"), [("rfc3168", "textbook"), ("accecn", "linux")])
def test_marks_are_in_the_headers(ecn: str, profile: str, path: Path) -> None:
    """Wireshark reads the ECN codepoints, the marks, the echoed marks, and AccECN's counters."""
    text = SCENARIO.replace('queue = "40pkt", loss = "1%"', 'queue = { discipline = "codel", ecn = true }')
    scenario = parse_scenario(text, overrides=(f"transport.ecn={ecn}", f"profile={profile}", "transport.undo=false"))
    simulation = Simulation(scenario)
    simulation.run_until(1.5)
    made = MadeRun(scenario, known_until_s=1.5, signature=simulation.signature())
    write_capture(made, path, CapturePlan("plain", station="receiver"))

    assert not fields(path, "frame.number", only="_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0")
    flags = ("tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece")
    if not fields(path, *flags, only="frame.number == 1")[0][0]:
        flags = ("tcp.flags.ns", "tcp.flags.cwr", "tcp.flags.ece")  # older versions of Wireshark
    is_set = {"True": "1", "False": "0"}
    opening = [[is_set.get(flag, flag) for flag in row] for row in fields(path, *flags, only="tcp.flags.syn == 1")]
    assert opening[0] == (["1", "1", "1"] if ecn == "accecn" else ["0", "1", "1"])
    assert opening[-1] == (["0", "1", "0"] if ecn == "accecn" else ["0", "0", "1"])

    at_receiver = "ip.dst == 10.0.0.2 && tcp.len > 0"
    ecn_fields = [row[0] for row in fields(path, "ip.dsfield.ecn", only=at_receiver)]
    assert set(ecn_fields) >= {"2", "3"}
    marked = ecn_fields.count("3")
    assert marked == simulation.summary()["flows"][0]["marked_packets"] > 0
    counters = fields(path, "tcp.options", only="ip.src == 10.0.0.2 && tcp.option_kind == 172")
    assert bool(counters) == (ecn == "accecn")
