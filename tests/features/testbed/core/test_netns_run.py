"""The script for network namespaces, run on this machine: addresses, routes, subflows of MPTCP, rates, and the end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from subflow_app.features.testbed.core.formats import export_topology
from subflow_sim.scenario import parse_scenario

NODES = f"tb{os.getpid()}"
"""Beginning of the names of nodes, which other runs of the tests do not use."""

SCENARIO = """
format = 1
name = "Two ways"
duration = "4s"
[nodes.tb-client]
[nodes.tb-r1]
kind = "router"
[nodes.tb-r2]
kind = "router"
[nodes.tb-server]
[links.wifi]
ends = ["tb-client", "tb-r1"]
rate = "20Mbit/s"
queue = "50pkt"
[links.lte]
ends = ["tb-r2", "tb-client"]
rate = "10Mbit/s"
reverse = { rate = "8Mbit/s" }
[links.core1]
ends = ["tb-r1", "tb-server"]
rate = "unlimited"
[links.core2]
ends = ["tb-r2", "tb-server"]
rate = "100Mbit/s"
[flows.up]
kind = "mptcp"
from = "tb-client"
to = "tb-server"
paths = [["wifi", "core1"], ["lte", "core2"]]
[[events]]
at = "3s"
link = "wifi"
rate = "5Mbit/s"
"""

SENDER = """
import json, socket, sys, time
to, source, is_mptcp, seconds = json.loads(sys.argv[1])
family = socket.AF_INET6 if ":" in to else socket.AF_INET
sender = socket.socket(family, socket.SOCK_STREAM, 262 if is_mptcp else 0)
sender.bind((source, 0))
sender.connect((to, 5300))
end = time.monotonic() + seconds
while time.monotonic() < end:
    sender.send(bytes(65536))
"""

# Prints, for each connection, a line with the bytes that arrived between 0.6 and 1.6 s after its begin.
RECEIVER = """
import socket, sys, time
listener = socket.create_server(("", 5300), family=socket.AF_INET6, dualstack_ipv6=True) if sys.argv[1] == "6" else None
if listener is None:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", 5300))
    listener.listen()
print("ready", flush=True)
connection, _ = listener.accept()
begin, count = time.monotonic(), 0
while data := connection.recv(1 << 20):
    now = time.monotonic() - begin
    count += len(data) if 0.6 <= now < 1.6 else 0
print(count, flush=True)
"""

# Runs inside the network: argument 1 is the file for the results.
INSIDE = """
import json, subprocess, sys, time
def node(name, *command, **more):
    return ["ip", "netns", "exec", "sf-tb-" + name, *command]
def transfer(to, source, is_mptcp, seconds=1.8):
    receiver = subprocess.Popen(node("server", sys.executable, "receiver.py", "6" if ":" in to else "4"),
                                stdout=subprocess.PIPE, text=True)
    receiver.stdout.readline()
    sender = subprocess.Popen(node("client", sys.executable, "sender.py", json.dumps([to, source, is_mptcp, seconds])))
    time.sleep(seconds / 2)
    lines = subprocess.run(node("client", "ss", "-tinH"), capture_output=True, text=True).stdout
    sender.wait()
    return 8 * int(receiver.stdout.readline()), lines
found, begin = {}, time.monotonic()
_, found["sockets"] = transfer("10.0.0.34", "10.0.0.1", True)
time.sleep(max(0.0, begin + 3.2 - time.monotonic()))
found["wifi later"], _ = transfer("10.0.0.34", "10.0.0.1", False)
found["lte"], _ = transfer("10.0.0.34", "10.0.0.18", False)
found["ipv6"], _ = transfer("fd00:0:0:3::2", "fd00:0:0:2::2", False)
found["routers"] = subprocess.run(node("r1", "ip", "route", "get", "10.0.0.34", "from", "10.0.0.1", "iif", "wifi"),
                                  capture_output=True, text=True).stdout
json.dump(found, open(sys.argv[1], "w"))
"""


def lacking() -> str | None:
    """Reason why the test cannot run here; None if it can."""
    if not sys.platform.startswith("linux"):
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "network namespaces with names need root"
    for program in ("bash", "ip", "tc", "ss", "sysctl"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    made = subprocess.run(["ip", "netns", "add", f"sf-{NODES}-trial"], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"this machine makes no network namespaces: {made.stderr.strip()}"
    try:
        trials = [
            [
                "tc",
                "-n",
                f"sf-{NODES}-trial",
                "qdisc",
                "add",
                "dev",
                "lo",
                "root",
                "tbf",
                *["rate", "1mbit", "burst", "5k", "limit", "5k"],
            ],
            ["ip", "-n", f"sf-{NODES}-trial", "mptcp", "limits"],
        ]
        for trial in trials:
            if subprocess.run(trial, capture_output=True, check=False).returncode:
                return f"this kernel lacks {trial[4] if trial[0] == 'ip' else 'tbf'}"
    finally:
        subprocess.run(["ip", "netns", "del", f"sf-{NODES}-trial"], check=True)
    return None


def namespaces() -> list[str]:
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.startswith(f"sf-{NODES}-")]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    reason = lacking()
    if reason is not None:
        pytest.skip(reason)
    path = tmp_path / "two.sh"
    export_topology(parse_scenario(SCENARIO.replace("tb-", f"{NODES}-")), {}, path, "netns")
    for name, text in (
        ("sender.py", SENDER),
        ("receiver.py", RECEIVER),
        ("inside.py", INSIDE.replace("tb-", f"{NODES}-")),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return path


def test_paths_have_the_drawn_rates_and_nothing_is_left(script: Path) -> None:
    results = script.with_name("results.json")
    command = [str(script), sys.executable, "inside.py", str(results)]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(results.read_text(encoding="utf-8"))
    # tc counts packets of 1514 bytes, each with 1448 bytes of payload; 20 fewer with IPv6.
    share = 1448 / 1514
    assert found["wifi later"] == pytest.approx(5e6 * share, rel=0.02)
    assert found["lte"] == pytest.approx(8e6 * share, rel=0.02)
    assert found["ipv6"] == pytest.approx(8e6 * (share - 20 / 1514), rel=0.02)
    assert "via 10.0.0.34 dev core1 table 1000" in found["routers"]
    # Both subflows of MPTCP carry data. Their sum depends on the kernel's scheduler and the load of the machine.
    carried = re.findall(
        r"ESTAB +\d+ +\d+ +(10\.0\.0\.\d+)\S* +10\.0\.0\.34:5300.*?bytes_acked:(\d+)", found["sockets"], re.S
    )
    assert sorted(address for address, _ in carried) == ["10.0.0.1", "10.0.0.18"]
    assert all(int(acked) > 100_000 for _, acked in carried)
    assert namespaces() == []


def test_an_interrupted_script_leaves_nothing(script: Path) -> None:
    process = subprocess.Popen([script, "sleep", "60"], start_new_session=True)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and len(namespaces()) < 4:
        time.sleep(0.05)
    assert namespaces()
    os.killpg(process.pid, signal.SIGTERM)  # as a terminal does
    assert process.wait(timeout=20) == 143
    assert namespaces() == []


def test_the_script_names_what_the_kernel_lacks(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    script.write_text(
        text.replace("handle 1: tbf rate 1mbit", "handle 1: no-such-discipline rate 1mbit"), encoding="utf-8"
    )
    refused = subprocess.run([script, "true"], capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 3
    assert "this machine lacks: tbf" in refused.stderr
    assert subprocess.run([script, "--anyway", "true"], check=False, timeout=60).returncode == 0
    assert namespaces() == []
