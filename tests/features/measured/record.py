"""Records the measurements in `recordings/` again, as root on Linux with iperf3, tcpdump, tshark, ss and aioquic.

    python -m tests.features.measured.record FOLDER

Two network namespaces are connected by two links of 4 and 2 Mbit/s; they vanish with this process. Each file is a few
seconds of a transfer. `expected.json` has the figures of the tools' own summaries, which the tests compare.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CLIENT, SERVER = "rec-client", "rec-server"
RATES = ("4mbit", "2mbit")
SECONDS = 3
_MPTCP = 262  # IPPROTO_MPTCP


def sh(*words: str | Path, ns: str = "", check: bool = True) -> str:
    """Standard output of a command, in a namespace if given."""
    command = [*(("ip", "netns", "exec", ns) if ns else ()), *map(str, words)]
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


@contextmanager
def started(*words: str | Path, ns: str, out: Path | None = None, stop: int = signal.SIGINT) -> Iterator[Any]:
    """A program in the background, ended by a signal."""
    with (out or Path(os.devnull)).open("wb") as file:
        process = subprocess.Popen(
            ["ip", "netns", "exec", ns, *map(str, words)], stdout=file, stderr=subprocess.DEVNULL
        )
        time.sleep(0.7)
        try:
            yield process
        finally:
            process.send_signal(stop)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()


@contextmanager
def network() -> Iterator[None]:
    """Client and server with two links, MPTCP endpoints, IPv6, and a loopback."""
    for name in (CLIENT, SERVER):
        sh("ip", "netns", "add", name)
        sh("ip", "link", "set", "lo", "up", ns=name)
    try:
        for number, rate in enumerate(RATES, start=1):
            sh(
                "ip",
                "link",
                "add",
                f"c{number}",
                "netns",
                CLIENT,
                "type",
                "veth",
                "peer",
                f"s{number}",
                "netns",
                SERVER,
            )
            for name, end, host in ((CLIENT, "c", 1), (SERVER, "s", 2)):
                device = f"{end}{number}"
                sh("ip", "addr", "add", f"192.0.2.{16 * number + host}/28", "dev", device, ns=name)
                sh("ip", "-6", "addr", "add", f"2001:db8:{number}::{host}/64", "dev", device, "nodad", ns=name)
                sh("ip", "link", "set", device, "up", ns=name)
                # Segments of the size of packets, as a network card with its offloads switched off sends them.
                sh("ip", "link", "set", device, "gso_max_segs", "1", ns=name, check=False)
                sh("ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off", ns=name, check=False)
                sh(
                    "tc",
                    "qdisc",
                    "add",
                    "dev",
                    device,
                    "root",
                    "tbf",
                    "rate",
                    rate,
                    "burst",
                    "4kb",
                    "latency",
                    "100ms",
                    ns=name,
                )
        for name in (CLIENT, SERVER):
            sh("ip", "mptcp", "limits", "set", "subflow", "2", "add_addr_accepted", "2", ns=name)
        sh("ip", "mptcp", "endpoint", "add", "192.0.2.33", "dev", "c2", "subflow", ns=CLIENT)
        yield
    finally:
        for name in (CLIENT, SERVER):
            sh("ip", "netns", "del", name)


_SINK = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1])); s.setsockopt(1, 2, 1)
s.bind((sys.argv[2], int(sys.argv[3]))); s.listen()
import threading
def drain(c):
    while c.recv(65536): pass
while True: threading.Thread(target=drain, args=(s.accept()[0],), daemon=True).start()
"""
_SOURCE = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1])); s.connect((sys.argv[2], int(sys.argv[3])))
s.settimeout(1.0)
end, sent = time.time() + float(sys.argv[4]), 0
while time.time() < end:
    try: sent += s.send(b"x" * 8192)
    except TimeoutError: pass
print(sent, flush=True)
s.close(); time.sleep(1.5)
"""


@contextmanager
def transfer(protocol: int, seconds: float = SECONDS, connections: int = 1) -> Iterator[list[Any]]:
    """Transfers over the network from client to server; the processes print the bytes that they sent."""
    with started(sys.executable, "-c", _SINK, str(protocol), "192.0.2.18", "5201", ns=SERVER):
        sources = [
            subprocess.Popen(
                [
                    "ip",
                    "netns",
                    "exec",
                    CLIENT,
                    sys.executable,
                    "-c",
                    _SOURCE,
                    str(protocol),
                    "192.0.2.18",
                    "5201",
                    str(seconds),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(connections)
        ]
        try:
            yield sources
        finally:
            for source in sources:
                source.wait()


def ss_log(path: Path, words: str, end: str, form: str, seconds: float = SECONDS, every: str = "0.1") -> None:
    """Repeated output of ss; `form` is a shell loop's body with {ss} in it."""
    body = form.format(ss=f"ss {words} dport = :5201 or sport = :5201")
    script = f"end=$(($(date +%s)+{int(seconds)})); while [ $(date +%s) -lt $end ]; do {body}; sleep {every}; done"
    with path.open("w") as file:
        subprocess.run(["ip", "netns", "exec", end, "bash", "-c", script], stdout=file, check=True)


def counts(path: Path, field: str) -> list[list[int]]:
    """First and last count of a field for each TCP socket of a log, in the order of the log."""
    found: dict[str, list[int]] = {}
    key = ""
    for line in path.read_text().splitlines():
        socket_line = re.search(r"(mptcp\s+)?ESTAB\s+\d+\s+\d+\s+(\S+)\s+(\S+)", line)
        if socket_line:
            key = "" if socket_line[1] else f"{socket_line[2]} {socket_line[3]}"
        count = re.search(rf"\b{field}:(\d+)", line)
        if count and key:
            found.setdefault(key, [int(count[1]), 0])[1] = int(count[1])
    return list(found.values())


def conversations(path: Path) -> dict[str, int]:
    """Payload bytes by stream and sender's port, as tshark counts them (retransmissions included)."""
    table = sh(
        "tshark", "-r", path, "-T", "fields", "-e", "tcp.stream", "-e", "tcp.srcport", "-e", "tcp.len", "-Y", "tcp"
    )
    total: dict[str, int] = {}
    for line in table.splitlines():
        stream, port, size = line.split("\t")
        total[f"{stream} {port}"] = total.get(f"{stream} {port}", 0) + int(size)
    return total


def main() -> None:
    """Record all files."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    expected: dict[str, Any] = {}
    tmp = folder / "tmp"
    tmp.mkdir(exist_ok=True)
    with network():
        with started("iperf3", "-s", ns=SERVER):
            run_iperf(folder, expected)
        for name, words, form, protocol, end, field, count in (
            ("ss-tcp.log", "-tin", "date +%s.%N; {ss}", 0, CLIENT, "bytes_acked", 1),
            ("ss-one-line.log", "-tinO", '{ss} | sed "s/^/$(date +%s.%N) /"', 0, CLIENT, "bytes_acked", 1),
            ("ss-date.log", "-tinHe", "date; {ss}", 0, CLIENT, "bytes_acked", 1),
            ("ss-mptcp.log", "-tinmM", "date --rfc-3339=ns; {ss}", _MPTCP, CLIENT, "bytes_acked", 1),
            ("ss-mptcp-server.log", "-tin", "date +%s.%N; {ss}", _MPTCP, SERVER, "bytes_received", 2),
        ):
            with transfer(protocol, connections=count):
                ss_log(folder / name, words, end, form, every="1" if name == "ss-date.log" else "0.2")
            expected[name] = {field: counts(folder / name, field)}
        record_captures(folder, tmp, expected)
    record_qlog(folder, expected)
    shutil.rmtree(tmp)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def run_iperf(folder: Path, expected: dict[str, Any]) -> None:
    """Reports of iperf3."""
    for name, words in (
        ("iperf3-tcp.json", ("--json", "-t", "4")),
        ("iperf3-reverse.json", ("--json", "-t", "3", "-R")),
        ("iperf3-udp.json", ("--json", "-t", "3", "-u", "-b", "1M", "-l", "1200")),
        ("iperf3-two-streams.txt", ("-t", "4", "-P", "2")),
        ("iperf3-half-seconds.txt", ("-t", "3", "-i", "0.5", "-f", "k")),
    ):
        text = sh("iperf3", "-c", "192.0.2.18", *words, ns=CLIENT)
        (folder / name).write_text(text)
        if name.endswith(".json"):
            end = json.loads(text)["end"]
            key = "sum" if "udp" in name else "sum_received" if "reverse" in name else "sum_sent"
            expected[name] = {"bits_per_second": end[key]["bits_per_second"], "lost": end[key].get("lost_packets")}
            if "sum_sent" in end and "retransmits" in end["sum_sent"]:
                expected[name]["retransmits"] = end["sum_sent"]["retransmits"]
        else:
            found = re.findall(r"\[\s*(\d+|SUM)\].*?([\d.]+) ([KM])bits/sec\s+(\d+)\s+sender", text)
            expected[name] = {
                who: [float(rate) * {"K": 1e3, "M": 1e6}[unit], int(again)] for who, rate, unit, again in found
            }


def record_captures(folder: Path, tmp: Path, expected: dict[str, Any]) -> None:
    """Captures of tcpdump and tshark, and a table of tshark."""
    for name, words, protocol, count in (
        ("mptcp-ethernet.pcap", ("tcpdump", "-i", "c1", "-s", "100", "-w"), _MPTCP, 0),
        ("mptcp-any.pcap", ("tcpdump", "-i", "any", "-s", "110", "-w"), _MPTCP, 1),
        ("tcp-nanoseconds.pcap", ("tcpdump", "-i", "c1", "-s", "90", "--time-stamp-precision=nano", "-w"), 0, 2),
        ("mptcp-two-interfaces.pcapng", ("tshark", "-q", "-s", "110", "-i", "c1", "-i", "c2", "-w"), _MPTCP, 2),
    ):
        path = tmp / name
        tmp.chmod(0o777)  # tshark writes as another user
        with started(*words, path, *(("-Z", "root") if words[0] == "tcpdump" else ()), ns=CLIENT):
            time.sleep(1.0)
            with transfer(protocol, seconds=1, connections=max(1, count)):
                time.sleep(2.5)
        shutil.copy(path, folder / name)
        expected[name] = conversations(path)
    # IPv6 over the loopback.
    path = tmp / "ipv6-loopback.pcap"
    with (
        started("iperf3", "-s", ns=CLIENT),
        started("tcpdump", "-i", "lo", "-s", "100", "-Z", "root", "-w", path, "port", "5201", ns=CLIENT),
    ):
        time.sleep(0.5)
        sh("iperf3", "-6", "-c", "::1", "-t", "1", "-b", "2M", "-l", "1200", "--set-mss", "1200", ns=CLIENT)
        time.sleep(0.5)
    shutil.copy(path, folder / path.name)
    expected[path.name] = conversations(path)
    whole = (
        "frame.time_relative",
        "tcp.stream",
        "mptcp.stream",
        "tcp.srcport",
        "tcp.len",
        "frame.len",
        "tcp.analysis.ack_rtt",
        "tcp.analysis.bytes_in_flight",
        "tcp.analysis.retransmission",
    )
    few = ("frame.time_epoch", "tcp.stream", "tcp.srcport", "tcp.len", "tcp.analysis.ack_rtt")
    for name, source, separator, fields in (
        ("tshark-fields.csv", folder / "mptcp-any.pcap", ",", whole),
        ("tshark-fields.tsv", folder / "tcp-nanoseconds.pcap", "/t", few),
    ):
        chosen = [part for field in fields for part in ("-e", field)]
        table = sh("tshark", "-r", source, "-T", "fields", "-E", "header=y", "-E", f"separator={separator}", *chosen)
        (folder / name).write_text(table)
        expected[name] = conversations(source)


def record_qlog(folder: Path, expected: dict[str, Any]) -> None:
    """Qlog files of aioquic at both ends of a download over the loopback."""
    helper = Path(__file__).with_name("record_quic.py")
    out = subprocess.run(
        [os.environ.get("QUIC_PYTHON", sys.executable), helper, folder], check=True, capture_output=True, text=True
    )
    expected.update(json.loads(out.stdout))


if __name__ == "__main__":
    if os.geteuid() != 0 or not hasattr(socket, "AF_UNIX"):
        sys.exit("recording takes root on Linux")
    main()
