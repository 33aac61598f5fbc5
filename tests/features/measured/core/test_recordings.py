"""Files of real tools give the figures of the tools' own summaries; `record` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest
from tests.features.measured.core.reading import column, imported
from tests.helpers.members import for_each

from subflow_app.features.measured.core.measured_run import MeasuredRun, found_text, read_trace
from subflow_app.features.measured.core.measured_table import ReadingOptions
from subflow_app.features.measured.core.pcap_files import frames
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import resource_path

FOLDER = Path(__file__).parents[1] / "recordings"
SHIPPED = resource_path("measurements")
CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())


def recorded(name: str) -> Path:
    """A recording, which may be one of those that ship."""
    return SHIPPED / name if (SHIPPED / name).exists() else FOLDER / name


def found(path: Path) -> str:
    return found_text(read_trace(path, ReadingOptions()))


def flows(run: MeasuredRun) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = run.summary()["flows"]
    return result


def payloads(run: MeasuredRun) -> dict[str, int]:
    """Payload bytes by subflow, from the notices of a capture."""
    said = [notice.split() for notice in run.notices if notice.endswith("bytes of payload.")]
    return {words[0]: int(words[2]) for words in said}


@for_each("name", [name for name in EXPECTED if name.startswith("iperf3")])
def test_iperf3(name: str) -> None:
    run, expected = imported(recorded(name)), EXPECTED[name]
    if name.endswith(".json"):
        assert "3.12" in found(recorded(name))
        (flow,) = flows(run)
        assert flow["goodput_bps"] == pytest.approx(expected["bits_per_second"], rel=0.002)
        assert flow["retransmits"] in (expected.get("retransmits", expected["lost"]), None)
    else:
        streams = {who: figures for who, figures in expected.items() if who != "SUM"}
        # The text has three digits.
        for flow, (rate_bps, again) in zip(flows(run), streams.values(), strict=True):
            assert flow["goodput_bps"] == pytest.approx(rate_bps, rel=0.006)
            assert flow["retransmits"] == again


@for_each("name", [name for name in EXPECTED if name.startswith("ss-")])
def test_ss(name: str) -> None:
    run = imported(recorded(name))
    ((_, counts),) = EXPECTED[name].items()
    names = [part["name"] for part in flows(run)]
    sizes = [len(part["subflows"]) for part in flows(run)]
    assert sum(sizes) == len(counts)
    assert len(names) == (2 if "server" in name else 1)
    delivered = []
    for flow, size in zip(names, sizes, strict=True):
        for number in range(1, size + 1):
            rate_bps = np.array(column(run, f"goodput_bps:{flow}/{number}"))
            delivered.append(np.nansum(rate_bps) * run.interval_s / 8)
    # Times of the samples vary by some milliseconds, and the grid by as much.
    assert sorted(delivered) == pytest.approx(sorted(last - first for first, last in counts), rel=0.06)
    assert ("2 subflows" in found(recorded(name))) == (name == "ss-mptcp.log")


@for_each("name", [name for name in EXPECTED if name.endswith((".pcap", ".pcapng"))])
def test_captures(name: str) -> None:
    run = imported(recorded(name))
    sent = [
        size for size in EXPECTED[name].values() if size > 100
    ]  # iperf3's answers on its control connection are less
    assert sorted(payloads(run).values()) == sorted(sent)
    if name == "mptcp-any.pcap":
        assert found(recorded(name)).startswith("capture: 1 MPTCP connection, 2 subflows")
    if name == "mptcp-two-interfaces.pcapng":
        assert found(recorded(name)).startswith("capture: 2 MPTCP connections, 4 subflows")


@for_each("name", [name for name in EXPECTED if name.startswith("tshark")])
def test_tables_of_tshark(name: str) -> None:
    run = imported(recorded(name))
    by_stream: dict[str, int] = {}
    for key, size in EXPECTED[name].items():
        by_stream[key.split()[0]] = max(size, by_stream.get(key.split()[0], 0))
    if name.endswith(".tsv"):
        # Without the length of frames, the throughput is that of the payload.
        measured = [
            np.nansum(column(run, f"throughput_bps:{flow['name']}/1")) * run.interval_s / 8
            for flow in flows(run)
            if flow["goodput_bps"]
        ]
        assert measured == pytest.approx([size for size in by_stream.values() if size], rel=1e-4)
    else:
        assert found(recorded(name)).startswith("table of tshark: 1 MPTCP connection, 2 subflows")
        capture = imported(recorded("mptcp-any.pcap"))
        for owner in ("measured/1", "measured/2"):
            ours, theirs = (np.nanmedian(column(each, f"srtt_s:{owner}")) for each in (capture, run))
            assert ours == pytest.approx(theirs, rel=0.3)


@for_each("name", [name for name in EXPECTED if name.startswith("quic")])
def test_qlog_of_both_ends(name: str) -> None:
    run, expected = imported(recorded(name)), EXPECTED[name]
    is_client = "client" in name
    word = "received" if is_client else "sent"
    assert any(f"{expected[f'packet_{word}']} bytes {word}" in notice for notice in run.notices)
    total = np.nansum(column(run, "throughput_bps:measured/1")) * run.interval_s / 8
    assert total == pytest.approx(expected[f"packet_{word}"], rel=1e-4)
    assert found(recorded(name)).startswith("qlog file of aioquic: 1 QUIC connection")
    if not is_client:
        assert max(column(run, "cwnd_pkts:measured/1")[1:]) * run.mss_bytes > 14_000


# ---- small cases with known values ----


def test_cases_of_the_field() -> None:
    one, total = (imported(CASES / name) for name in ("ss-client-one-connection.txt", "ss-M-total-line.txt"))
    for run in (one, total):
        (flow,) = flows(run)
        assert [part["goodput_bps"] for part in flow["subflows"]] == [10e6, 20e6]
    pcap = imported(CASES / "two-mptcp.pcap")
    assert [
        [size for owner, size in payloads(pcap).items() if owner.startswith(f"{flow}/")]
        for flow in ("measured", "measured.2")
    ] == [[2000, 3000], [4000, 1000]]
    ppp = imported(CASES / "ns3-ppp.pcap")
    assert payloads(ppp) == {"measured/1": 1500}
    assert flows(ppp)[0]["mean_rtt_s"] == pytest.approx(0.04)
    pico = imported(CASES / "picoquic.csv")
    assert column(pico, "srtt_s:measured/1")[:2] == pytest.approx([0.0201, 0.022])
    assert column(pico, "cwnd_pkts:measured/2")[1] * pico.mss_bytes == pytest.approx(12_500)
    iperf = imported(CASES / "iperf3.json")
    assert column(iperf, "throughput_bps:measured/1") == pytest.approx([409.95e6, 618.66e6], rel=1e-4)
    assert column(iperf, "losses_pkts:measured/1") == [0, 3]
    assert column(iperf, "srtt_s:measured/1") == pytest.approx([0.038714, 0.039029])
    qlog = imported(CASES / "quic.sqlog")
    windows = np.array(column(qlog, "cwnd_pkts:measured/1")) * qlog.mss_bytes
    assert sorted(set(windows[np.isfinite(windows)].round())) == [13_500, 15_500]
    other = np.array(column(qlog, "cwnd_pkts:measured/2")) * qlog.mss_bytes
    assert sorted(set(other[np.isfinite(other)].round())) == [12_500]


# Synthesised from a recording, because this kernel makes neither VLANs nor PPP devices: link-layer type, bytes in front
# of the IP header.
_LINKS = {
    "raw": (101, b""),
    "raw of BSD": (12, b""),
    "IPv4 alone": (228, b""),
    "PPP": (9, b"\x00\x21"),
    "PPP with address": (9, b"\xff\x03\x00\x21"),
    "loopback": (0, b"\x02\x00\x00\x00"),
    "loopback of OpenBSD": (108, b"\x00\x00\x00\x02"),
    "VLAN": (1, b"\x02" * 12 + b"\x81\x00\x00\x0a\x08\x00"),
    "VLAN in VLAN": (1, b"\x02" * 12 + b"\x88\xa8\x00\x0b\x81\x00\x00\x0a\x08\x00"),
}


@for_each("link", list(_LINKS))
def test_other_link_layers_give_the_same_figures(tmp_path: Path, link: str) -> None:
    number, head = _LINKS[link]
    source = FOLDER / "mptcp-ethernet.pcap"
    path = tmp_path / "made.pcap"
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, snaplen=65535, linktype=number)
        for each in frames(source, lambda _: None, []):
            if each.content[12:14] == b"\x08\x00":
                writer.writepkt(head + each.content[14:], ts=each.at_s)
    made, real = imported(path), imported(source)
    assert payloads(made) == payloads(real)
    np.testing.assert_allclose(made.values[:, 0], real.values[: len(made.values), 0], rtol=1e-6)


def test_a_link_layer_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wifi.pcap"
    with path.open("wb") as file:
        dpkt.pcap.Writer(file, linktype=127).writepkt(b"\0" * 60, ts=1.0)
    with pytest.raises(InputError, match=r"link-layer type 127, which is not read; allowed: Ethernet"):
        imported(path)


def test_subflows_without_a_handshake_are_flows_of_their_own(tmp_path: Path) -> None:
    late = tmp_path / "late.pcap"
    with late.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=276)
        for number, each in enumerate(frames(recorded("mptcp-any.pcap"), lambda _: None, [])):
            if number >= 60:
                writer.writepkt(each.content, ts=each.at_s)
    run = imported(late)
    assert [flow["name"] for flow in flows(run)] == ["measured", "measured.2"]
    assert any("2 subflows of MPTCP began before the capture" in notice for notice in run.notices)


def test_absurd_values_and_unstated_units_are_questioned(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for text, said in (
        ("time,rtt\n0.1,40\n0.2,41\n", r'the unit of "rtt" is not stated, and in s its median of 40.5'),
        ("time,cwnd\n0.1,13500\n0.2,15500\n", r'the unit of "cwnd" is not stated, and in pkt'),
        ("time,throughput\n0.1,25\n0.2,26\n", r'state the unit with --unit "throughput=UNIT"; allowed: bit/s, kbit/s'),
        ("time,rtt_s\n0.1,20100\n0.2,20200\n", r'"rtt_s" reaches 20200 s; at most 600 s is plausible'),
    ):
        with pytest.raises(InputError, match=said):
            imported(path, text)
    run = imported(path, "time,rtt\n0.1,40\n0.2,41\n", units={"rtt": "ms"})
    assert column(run, "srtt_s:measured/1") == pytest.approx([0.04, 0.041])
    assumed = imported(path, "time,rtt\n0.1,0.040\n0.2,0.041\n")
    assert "without a stated unit, read in s: rtt." in assumed.notices


def test_a_packet_of_absurd_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlog"
    header = (CASES / "quic.sqlog").read_text().splitlines()[0]
    packet = '{{"time":{},"name":"transport:packet_sent","data":{{"header":{{}},"raw":{{"length":{}}}}}}}'
    path.write_text("\n".join([header, packet.format(1, 1200), packet.format(2, "1e300")]))
    with pytest.raises(InputError, match=r"a packet of 1e\+300 bytes; allowed: at most 1e\+15"):
        read_trace(path, ReadingOptions())
