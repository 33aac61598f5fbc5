"""The script for Mininet, run by Mininet itself without Open vSwitch: addresses, routes, subflows of MPTCP, rates."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.features.testbed.core.test_netns_run import RECEIVER, SCENARIO, SENDER, lacking

from subflow_app.features.testbed.core.formats import export_topology
from subflow_sim.scenario import parse_scenario

# Runs the script with measurements in the place of Mininet's prompt. Argument 1 is the file for the results.
DRIVER = """
import json, runpy, sys, time
import mininet.net
mininet.net.fixLimits = lambda: None  # it would change settings of the whole machine

def transfer(net, to, source, is_mptcp, seconds=1.8):
    receiver = net["server"].popen([sys.executable, "receiver.py", "6" if ":" in to else "4"])
    receiver.stdout.readline()
    sender = net["client"].popen([sys.executable, "sender.py", json.dumps([to, source, is_mptcp, seconds])])
    time.sleep(seconds / 2)
    sockets = net["client"].popen(["ss", "-tinH"]).communicate()[0]
    sender.wait()
    return 8 * int(receiver.stdout.readline()), sockets.decode()

def measure(net):
    found, begin = {}, time.monotonic()
    found["nodes"] = {node.name: type(node).__name__ for node in net.hosts}
    found["links"] = [[link.intf1.node.name, link.intf2.node.name] for link in net.links]
    _, found["sockets"] = transfer(net, "10.0.0.34", "10.0.0.1", True)
    time.sleep(max(0.0, begin + 3.2 - time.monotonic()))
    found["wifi later"], _ = transfer(net, "10.0.0.34", "10.0.0.1", False)
    found["lte"], _ = transfer(net, "10.0.0.34", "10.0.0.18", False)
    found["ipv6"], _ = transfer(net, "fd00:0:0:3::2", "fd00:0:0:2::2", False)
    json.dump(found, open(sys.argv[1], "w"))

script = runpy.run_path("two.py")
script["main"].__globals__["CLI"] = measure
script["main"]()
"""


@cache
def interpreter() -> str | None:
    """A Python that has Mininet, whose Debian package brings it for that of the system."""
    if shutil.which("mnexec") is None or shutil.which("unshare") is None:
        return None
    for python in (sys.executable, "/usr/bin/python3"):
        found = subprocess.run([python, "-c", "import mininet.net"], capture_output=True, check=False)
        if found.returncode == 0:
            return python
    return None


@pytest.mark.timeout(120)
def test_mininet_builds_the_drawn_network(tmp_path: Path) -> None:
    python = interpreter()
    reason = "mininet is not installed" if python is None else lacking()
    if reason is not None or python is None:
        pytest.skip(str(reason))
    scenario = SCENARIO.replace("tb-", "")
    export_topology(parse_scenario(scenario), {}, tmp_path / "two.py", "mininet")
    for name, text in (("sender.py", SENDER), ("receiver.py", RECEIVER), ("driver.py", DRIVER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    # In a network namespace of its own, because Mininet makes its interfaces where it runs.
    command = ["unshare", "--net", python, "driver.py", "results.json"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=90
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found["nodes"] == {"client": "Host", "r1": "Router", "r2": "Router", "server": "Host"}
    assert sorted(found["links"]) == [["client", "r1"], ["r1", "server"], ["r2", "client"], ["r2", "server"]]
    # Mininet counts packets of 1514 bytes, each with 1448 bytes of payload; 20 fewer with IPv6.
    share = 1448 / 1514
    assert found["wifi later"] == pytest.approx(5e6 * share, rel=0.02)
    assert found["lte"] == pytest.approx(8e6 * share, rel=0.02)
    assert found["ipv6"] == pytest.approx(8e6 * (share - 20 / 1514), rel=0.02)
    carried = re.findall(
        r"ESTAB +\d+ +\d+ +(10\.0\.0\.\d+)\S* +10\.0\.0\.34:5300.*?bytes_acked:(\d+)", found["sockets"], re.S
    )
    assert sorted(address for address, _ in carried) == ["10.0.0.1", "10.0.0.18"]
    assert all(int(acked) > 100_000 for _, acked in carried)
