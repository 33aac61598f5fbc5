"""Topologies of Mininet scripts and of tc: the values of each link, and the lines that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from subflow_app.features.editor.core.graph_files import GraphFileError
from subflow_app.features.editor.core.graph_formats import read_graph
from subflow_app.features.editor.core.graph_import import Imported, import_graph
from subflow_app.features.importing.core.door import Way, recognise
from subflow_sim.scenario import Link, parse_scenario

TOPOLOGIES = Path(__file__).parent / "topologies"
FLOW = '\n[flows.f]\nkind = "cbr"\nrate = "1kbit/s"\nfrom = "{0}"\nto = "{1}"\npaths = [["{2}"]]\n'

MININET = """
from mininet.topo import Topo
from mininet.node import Node
class LinuxRouter(Node):
    pass
class T(Topo):
    def build(self, rate=5, **opts):
        slow = dict(bw=rate, loss=0.5)
        a = self.addHost('a', ip='10.0.0.1/24')
        self.r = self.addHost('r', cls=LinuxRouter)
        b, c = self.addHost('b'), self.addHost('c')
        self.addLink(a, self.r, delay='15ms', jitter='2ms', **slow)
        self.addLink(self.r, b, params1={'bw': 10, 'delay': '1ms'}, params2={'bw': 2.5, 'max_queue_size': 20})
        self.addLink(b, 'c', bw=2000)
        for n in range(3):
            self.addLink(a, self.addHost('h%d' % n))
        if opts:
            self.addLink(a, b)
        self.addLink(a, c, bw=compute())
        net.addController('c0')
"""


def written(folder: Path, text: str, name: str = "net") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def links(found: Imported) -> dict[str, Link]:
    """The links by name; hosts get a flow, without which a scenario is incomplete."""
    first = found.links[0].name
    graph = {line for line in found.text.splitlines() if line.startswith("ends")}
    ends = next(line for line in found.text.partition(f"[links.{first}]")[2].splitlines() if line in graph)
    text = found.text.replace('kind = "router"\n', "")
    return dict(parse_scenario(text + FLOW.format(*ends.split('"')[1::2], first)).links)


def test_the_case_of_the_field() -> None:
    found = links(import_graph(TOPOLOGIES / "topo.py.txt"))
    first, second = found["a_s1"], found["s1_b"]
    for side in (first.forward, first.reverse):
        assert (side.rate_bps, side.delay_s, side.loss, side.queue.limit_pkts) == (10e6, 0.02, 0.01, 100)
    for side in (second.forward, second.reverse):
        assert (side.rate_bps, side.delay_s, side.loss) == (10e6, 0.0, 0.0)


def test_a_mininet_script_is_read_without_running_it_and_unread_lines_are_named(tmp_path: Path) -> None:
    found = import_graph(written(tmp_path, MININET + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n"))
    assert not (tmp_path / "ran").exists()
    made = links(found)
    assert list(made) == ["a_r", "r_b", "b_c"]
    one, two, three = made.values()
    assert (one.forward.rate_bps, one.forward.delay_s, one.forward.loss) == (5e6, 0.015, 0.005)
    assert one.forward.jitter is not None
    assert (one.forward.jitter.kind, one.forward.jitter.spread_s) == ("normal", 0.002)
    assert (two.forward.rate_bps, two.forward.delay_s, two.forward.queue.limit_pkts) == (10e6, 0.001, 1000)
    assert (two.reverse.rate_bps, two.reverse.delay_s, two.reverse.queue.limit_pkts) == (2.5e6, 0.0, 20)
    assert three.forward.rate_bps is None, "Mininet ignores more than 1000 Mbit/s"
    assert '[nodes.r]\nkind = "router"' in found.text
    notes = "\n".join(found.notes)
    for line, reason in (
        (15, "bw = 2000"),
        (17, "addLink appears in a loop"),
        (17, "addHost appears in a loop"),
        (19, "addLink appears in a condition"),
        (20, "addLink has an argument without a literal value: compute()"),
        (21, "addController has no counterpart"),
    ):
        assert f"Line {line - 1} is not read: {reason}" in notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from mininet.topo import Topo\ndef f(:\n", r"net:2: broken Python"),
        ("import mininet\n", "holds no nodes"),
        (
            "import mininet\nt.addHost('a')\nt.addHost('b')\nt.addLink('a', 'b', bw=-1)",
            r"net:4: bw = -1; allowed: a number",
        ),
        (
            "import mininet\nt.addHost('a')\nt.addHost('b')\nt.addLink('a', 'b', delay='x')",
            r"net:4: delay = x; allowed",
        ),
        ("import mininet\nt.addHost('a')\nt.addHost('b')\nt.addLink('a', 'b', loss=200)", r"net:4: loss = 200%"),
    ],
)
def test_a_bad_mininet_script_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(GraphFileError, match=said):
        import_graph(written(tmp_path, text))


def test_commands_of_tc_as_people_write_them(tmp_path: Path) -> None:
    text = """#!/bin/bash
DEV=eth0
RATE="1mbit"
sudo tc qdisc del dev $DEV root 2>/dev/null
sudo tc qdisc add dev $DEV root handle 1: tbf rate $RATE burst 32kbit latency 400ms
tc qdisc add dev ${DEV} parent 1:1 handle 10: netem delay 100ms 10ms 25% loss 0.3% 25% limit 50
# Mininet's and others' recipe
tc qdisc add dev eth1 root handle 5: htb default 1
tc class add dev eth1 parent 5: classid 5:1 htb rate 10Mbit burst 15k
tc qdisc add dev eth1 parent 5:1 handle 10: netem delay 20ms
tc filter add dev eth1 protocol ip parent 5: prio 1 u32 match ip dst 10.0.0.1 flowid 5:1
tc qdisc add dev $UNKNOWN root netem delay 1ms
tc qdisc add dev eth2 root cake bandwidth 5mbit
tc qdisc add dev eth0 ingress
sleep 10; tc qdisc change dev $DEV root tbf rate 2mbit burst 4k limit 9k
"""
    found = import_graph(written(tmp_path, text))
    made = links(found)
    shaped = made["eth0"].reverse  # a bucket makes this the second direction
    assert (shaped.rate_bps, shaped.delay_s, shaped.loss, shaped.queue.limit_pkts) == (1e6, 0.1, 0.003, 50)
    assert shaped.bucket is not None
    assert shaped.bucket.burst_bytes == 4096  # 32 kbit are 32 * 1024 bits for tc
    assert made["eth0"].forward.rate_bps is None
    htb = made["eth1"].forward
    assert (htb.rate_bps, htb.delay_s, htb.queue.limit_pkts) == (10e6, 0.02, 1000)
    notes = "\n".join(found.notes)
    for line, reason in (
        (11, "tc filter sorts packets"),
        (12, "it has variables without a literal value"),
        (13, "links of the simulator have no cake"),
        (14, "packets are shaped where they leave"),
    ):
        assert f"Line {line} is not read: {reason}" in notes
    # A change keeps the discipline below it.
    assert found.text.endswith('[[events]]\nat = "10s"\nlink = "eth0"\ndirection = "reverse"\nrate = "2Mbit/s"\n')
    assert "eth1 is shaped in one direction" in notes


def test_commands_after_a_sleep_become_events(tmp_path: Path) -> None:
    text = """
sleep 9  # before the first command, no time counts
tc qdisc add dev eth0 root handle 1: netem delay 20ms loss 1% limit 50
tc qdisc add dev eth0 parent 1:1 handle 2: tbf rate 8mbit burst 3028 limit 30000
( sleep 90 && tc qdisc replace dev eth0 root blackhole ) &
sleep 2.5
tc qdisc change dev eth0 root handle 1: netem delay 40ms
tc qdisc replace dev eth0 parent 1:1 handle 2: tbf rate 4mbit burst 3028 limit 60000
sleep 1m 0.5
tc qdisc change dev eth0 root handle 1: netem delay 40ms 3ms loss gemodel 1% 25% limit 50
tc qdisc add dev eth1 root netem rate 1mbit delay 5ms limit 9
sleep 1
tc qdisc change dev eth1 root netem delay 6ms limit 9
sleep 30; tc qdisc del dev eth0 root
"""
    found = import_graph(written(tmp_path, text))
    flow = '[flows.f]\nkind = "tcp"\nfrom = "here"\nto = "beyond-eth0"\n'
    scenario = parse_scenario(found.text.replace('kind = "router"\n', "") + flow)
    assert scenario.duration_s == pytest.approx(104)
    assert scenario.links["eth1"].forward.rate_bps is None
    made = [
        (event.at_s, event.link, event.direction, event.rate_bps, event.delay_s, event.loss, event.up)
        for event in scenario.events
    ]
    assert made == [
        (2.5, "eth0", "forward", 4e6, 0.04, 0.0, None),
        (63.0, "eth0", "forward", None, None, pytest.approx(1 / 26), None),
        (63.0, "eth1", "forward", 1e6, 0.005, None, None),
        (64.0, "eth1", "forward", None, 0.006, None, None),  # netem keeps its rate
        (90.0, "eth0", "forward", None, None, None, False),
        (94.0, "eth0", "forward", 1e12, 0.0, 0.0, True),
    ]
    assert next(event.queue for event in scenario.events if event.queue is not None).limit_bytes == 60000
    assert scenario.events[1].loss_model is not None
    assert "Line 10 is not read: a link cannot change its jitter during a run." in found.notes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sleep $1", "the sleep on line 2 has no known length"),
        ("sleep infinity", "the sleep on line 2 has no known length"),
        ("while true; do sleep 1; done", "the sleep on line 2 is part of a loop"),
        ("later() { sleep 1; }", "the sleep on line 2 is part of a function"),
        ("if [ -n x ]; then sleep 1; fi", "the sleep on line 2 is part of a condition"),
        ("sleep 9d 9d", "it runs later than 1000000 s"),
    ],
)
def test_commands_at_an_unknown_time_are_named(tmp_path: Path, text: str, reason: str) -> None:
    commands = "tc qdisc add dev a root netem delay {}ms\n"
    found = import_graph(written(tmp_path, f"{commands.format(1)}{text}\n{commands.format(2)}"))
    assert f"Line 3 is not read: {reason}." in found.notes
    assert "[[events]]" not in found.text


def test_a_bad_value_of_a_change_is_refused_with_its_line(tmp_path: Path) -> None:
    text = "tc qdisc add dev a root tbf rate 1mbit burst 5k limit 9k\nsleep 1\n"
    text += "tc qdisc change dev a root tbf rate 0mbit burst 5k limit 9k\n"
    with pytest.raises(GraphFileError, match=r"net:3: a change: .*; allowed: .*bit/s"):
        import_graph(written(tmp_path, text))


def test_pairs_of_veth_are_links_even_after_a_move(tmp_path: Path) -> None:
    text = """
ip netns add left && ip netns add right
ip link add v0 type veth peer name v1
ip link set v0 netns left
ip link set dev v1 netns right
ip netns exec left tc qdisc add dev v0 root netem delay 5ms rate 8mbit limit 30
tc -n right qdisc add dev v1 root fq_codel limit 500 target 4ms noecn
"""
    (link,) = links(import_graph(written(tmp_path, text))).values()
    assert link.ends == ("left", "right")
    assert (link.forward.rate_bps, link.forward.delay_s, link.forward.queue.limit_pkts) == (8e6, 0.005, 30)
    assert link.reverse.rate_bps is None


def test_the_output_of_tc(tmp_path: Path) -> None:
    text = """qdisc noqueue 0: dev lo root refcnt 2
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc netem 1: dev eth0 root refcnt 3 limit 100000 delay 20ms loss 1%
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
qdisc tbf 2: dev eth0 parent 1:1 rate 4Mbit burst 3028b lat 53.9ms
qdisc pfifo 3: dev eth0 parent 2:1 limit 27p
qdisc tbf 1: dev eth1 root refcnt 3 rate 8Mbit burst 3028b lat 50ms
qdisc codel 8001: dev eth1 parent 1:1 limit 1000p target 5ms interval 100ms ecn
"""
    made = links(import_graph(written(tmp_path, text)))
    first, second = made["eth0"].forward, made["eth1"].forward
    assert (first.rate_bps, first.delay_s, first.loss, first.queue.limit_pkts) == (4e6, 0.02, 0.01, 27)
    assert (first.bucket, second.rate_bps) == (None, 8e6)
    assert (second.queue.discipline, second.queue.limit_pkts, second.queue.options["ecn"]) == ("codel", 1000, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tc qdisc add dev a root netem delay fast", r'net:1: netem: time "fast" is not a number with a unit of tc'),
        ("\ntc qdisc add dev a root tbf burst 5k", r"net:2: tbf: has no rate; allowed"),
        ("tc qdisc add dev a root netem loss state 1%", r'net:1: netem: loss "state"'),
        ("tc qdisc add dev a root netem delay 1ms 900s", r"net:1: netem: .*; allowed"),
        ("tc qdisc show dev a\ntc qdisc add dev b ingress", "holds no interface with a discipline"),
    ],
)
def test_bad_commands_are_refused_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(GraphFileError, match=said):
        import_graph(written(tmp_path, text))


def test_the_door_recognises_both_by_their_content(tmp_path: Path) -> None:
    for text, form in ((MININET, "mininet"), ("sudo tc qdisc add dev a root netem delay 1ms", "tc")):
        found = recognise(written(tmp_path, text))
        assert (found.way, found.format) == (Way.GRAPH, form)
        assert read_graph(found.path).nodes
