"""Scripts for testbeds: their content for each part of a scenario; no text of a file becomes a command."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from ruamel.yaml import YAML

from subflow_app.features.testbed.core import containerlab_file
from subflow_app.features.testbed.core.formats import FORMATS, export_topology
from subflow_sim.scenario import Scenario, load_scenario, parse_scenario
from subflow_sim.shipped import shipped_scenarios

EVIL = r"""A 'net'; $(touch pwned) `touch pwned` \" # x: {{a}} %s \\"""
SCENARIO = (
    f'format = 1\nname = "{EVIL}"'
    + """
duration = "20s"
[nodes.client]
[nodes.-rf]
kind = "router"
[nodes.server]
[links.wifi]
ends = ["client", "-rf"]
rate = "20Mbit/s"
delay = "10.5ms"
loss = { model = "gilbert", p = "1%", r = "25%" }
queue = { discipline = "fq_codel", ecn = true }
[links.-x]
ends = ["-rf", "server"]
rate = "10Mbit/s"
queue = "30000B"
jitter = { spread = "2ms", distribution = "normal" }
reverse = { rate = "2Mbit/s", loss = "0.5%", queue = "20pkt" }
[flows.up]
kind = "mptcp"
from = "client"
to = "server"
controller = "lia"
paths = [["wifi", "-x"], ["wifi", "-x"]]
late = [2]
[flows.datagrams]
kind = "cbr"
from = "server"
to = "client"
paths = [["-x", "wifi"]]
rate = "1Mbit/s"
start = "3s"
[[events]]
at = "2.5s"
link = "wifi"
up = false
[[events]]
at = "4s"
link = "wifi"
up = true
[[events]]
at = "5s"
link = "-x"
direction = "reverse"
delay = "7ms"
[[events]]
at = "6s"
flow = "up"
subflow = 2
open = true
"""
)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return parse_scenario(SCENARIO)


@pytest.fixture(scope="module")
def renamed(scenario: Scenario) -> Scenario:
    """The scenario with characters in its name that its file may not have, but an imported one once might."""
    return replace(scenario, name=scenario.name + "\n touch pwned \u202e \0")


def script(scenario: Scenario, name: str) -> str:
    return FORMATS[name].content(scenario, {})[0]


def test_links_become_netem_tbf_and_their_queue_in_both_directions(scenario: Scenario) -> None:
    lines = script(scenario, "tc").splitlines()
    assert "tc -n sf-client qdisc replace dev wifi root handle 1: netem delay 10.5ms loss gemodel 1% 25% 100% 0%" in (
        " ".join(line.split(" ")[:-2]) for line in lines
    )
    assert (
        "tc -n sf-client qdisc replace dev wifi parent 1:1 handle 2: tbf rate 20mbit burst 3028 limit 15503360" in lines
    )
    queue = "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 0.1s ecn"
    assert f"tc -n sf--rf qdisc replace dev wifi parent 2:1 handle 3: {queue}" in lines
    # The interface of the link "-x" has a name that no program takes for an option.
    assert (
        "tc -n sf--rf qdisc replace dev l1-x root handle 1: netem delay 0s 2ms distribution normal limit 100000"
        in lines
    )
    assert "tc -n sf--rf qdisc replace dev l1-x parent 1:1 handle 2: tbf rate 10mbit burst 3028 limit 30000" in lines
    # An event brings a delay, so that the direction has netem from the start.
    netem = "netem delay 0s 2ms distribution normal loss 0.5% limit 100000"
    assert f"tc -n sf-server qdisc replace dev l1-x root handle 1: {netem}" in lines
    assert "tc -n sf-server qdisc replace dev l1-x parent 2:1 handle 3: pfifo limit 20" in lines


def test_events_become_timed_commands(scenario: Scenario) -> None:
    changes = script(scenario, "netns").partition("changes() {")[2].partition("\n}")[0]
    assert re.findall(r"at (\d+)  # (.*)", changes) == [
        ("2500", "wifi: down"),
        ("4000", "wifi: up"),
        ("5000", "-x (reverse): delay 7ms"),
        ("6000", "up: subflow 2 opens"),
    ]
    assert "down sf-client wifi\n  down sf--rf wifi" in changes
    assert "shape sf-server l1-x 'delay 7ms 2ms distribution normal loss 0.5% limit 100000' 'rate 2mbit" in changes
    assert "ip -n sf-client mptcp endpoint add 10.0.0.3 id 1 dev wifi subflow" in changes
    pauses = [line for line in script(scenario, "tc").splitlines() if line.startswith("sleep")]
    assert pauses == ["sleep 2.5", "sleep 1.5", "sleep 1"]
    clab = script(scenario, "containerlab")
    assert "\"sh -c '(sleep 2.5; tc qdisc replace dev eth1 root blackhole) >/dev/null 2>&1 &'\"" in clab


def test_flows_become_runs_of_iperf3(scenario: Scenario) -> None:
    flows = script(scenario, "netns").partition("flows() {")[2]
    client = "mptcpize run iperf3 -c 10.0.0.18 -B 10.0.0.1 -p 5201 -t 20"
    assert f"later 0 ip netns exec sf-client {client} &" in flows
    assert (
        "later 3000 ip netns exec sf-server iperf3 -c 10.0.0.1 -B 10.0.0.18 -p 5202 -t 17 -u -b 1000000 -l 1472"
        in flows
    )


def test_what_the_target_lacks_stands_at_the_top_and_is_returned(scenario: Scenario) -> None:
    for name, made in FORMATS.items():
        text, missing = made.content(scenario, {})
        if name != "graphml":
            head = text.partition("\n\n")[0].replace("\n#", " ")
            assert missing
            for sentence in missing:
                assert sentence in head, name
    mininet = FORMATS["mininet"].content(scenario, {})[1]
    assert "links.wifi (forward): losses are independent, at their mean rate" in mininet
    assert "links.wifi (forward): the queue is droptail instead of fq_codel" in mininet
    assert any(text.startswith("flows.up: Linux has no controller lia") for text in mininet)


def test_no_text_of_a_scenario_becomes_a_command(renamed: Scenario, tmp_path: Path) -> None:
    for name, made in FORMATS.items():
        text = script(renamed, name)
        if name == "graphml":
            continue
        # The name appears in comments alone, on one line, without control characters.
        assert "\u202e" not in text
        assert "\0" not in text
        for line in text.splitlines():
            assert "pwned" not in line or line.startswith(("#", 'name: "a-net')), name
        assert all(line.isprintable() for line in text.splitlines()), name
        path = tmp_path / f"net{made.suffix}"
        path.write_text(text, encoding="utf-8")
        if made.suffix.endswith(".sh"):
            bash = shutil.which("bash")
            if bash is not None:
                subprocess.run([bash, "-n", path], check=True)
        elif made.suffix == ".py":
            ast.parse(text)


def test_containerlab_reads_the_file_as_yaml_with_both_ends_of_each_link(scenario: Scenario) -> None:
    document = YAML(typ="safe").load(script(scenario, "containerlab"))
    assert document["name"] == "a-net-touch-pwned-touch-pwned-x-a-s"
    assert [link["endpoints"] for link in document["topology"]["links"]] == [
        ["client:eth1", "n-rf:eth1"],
        ["n-rf:eth2", "server:eth1"],
    ]
    node = document["topology"]["nodes"]["n-rf"]
    assert node["sysctls"]["net.ipv4.ip_forward"] == "1"
    assert "ip address add 10.0.0.17/28 dev eth2" in node["exec"]
    assert all(re.match(r"(ip|tc|sh) ", command) for command in node["exec"])


@pytest.fixture(scope="module")
def clab() -> Draft7Validator:
    """Containerlab's own schema of its files."""
    schema = Path(__file__).parent / "golden" / "clab.schema.json"
    return Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))


def test_the_schema_of_containerlab_accepts_the_file(renamed: Scenario, clab: Draft7Validator) -> None:
    document = YAML(typ="safe").load(script(renamed, "containerlab"))
    assert list(clab.iter_errors(document)) == []
    nodes = document["topology"]["nodes"]
    nodes["client"]["sysctl"] = nodes["client"].pop("sysctls")
    nodes["-rf"] = nodes.pop("n-rf")
    assert len(list(clab.iter_errors(document))) == 2, "the schema refuses unknown keys and names"


def test_no_two_nodes_get_the_same_name() -> None:
    assert containerlab_file.node_names(["-a", "n-a", "_", "9"]) == {"-a": "nn-a", "n-a": "n-a", "_": "n_", "9": "9"}


@pytest.mark.parametrize("name", sorted(shipped_scenarios()))
def test_every_shipped_scenario_has_scripts_that_can_be_parsed(
    name: str, tmp_path: Path, clab: Draft7Validator
) -> None:
    scenario = load_scenario(name)
    for format_name, made in FORMATS.items():
        path = tmp_path / f"net{made.suffix}"
        export_topology(scenario, {}, path, format_name)
        if made.suffix == ".py":
            ast.parse(path.read_text(encoding="utf-8"))
        elif made.suffix.endswith(".yml"):
            document = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
            assert list(clab.iter_errors(document)) == []
            assert len(document["topology"]["links"]) == len(scenario.links)
        assert bool(path.stat().st_mode & 0o100) == made.is_script
