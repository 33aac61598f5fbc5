"""Valid inputs of every entry point: shipped files, and files that are made here quickly."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import dev

ASSETS = dev.ROOT / "assets"

SMALL_SCENARIO = """\
format = 1
name = "small"
duration = "400ms"
warmup = "100ms"
seed = 3

[nodes.client]
at = [0, 0]
[nodes.server]
at = [400, 0]

[links.wifi]
ends = ["client", "server"]
rate = "5Mbit/s"
delay = "5ms"
queue = { discipline = "codel", limit = "50pkt", ecn = true, ce_threshold = "3ms" }
loss = "1%"
[links.lte]
ends = ["client", "server"]
rate = { trace = "lte.up", content = "1 3 9 20" }
delay = "9ms"
reorder = true
[links.lte.reverse]
rate = "2Mbit/s"
loss = { model = "gilbert", p = "1%", r = "30%", bad = "50%" }

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = { name = "olia" }
scheduler = "minrtt"
paths = [["wifi"], ["lte"]]
[flows.noise]
kind = "onoff"
from = "client"
to = "server"
paths = [["wifi"]]
rate = "1Mbit/s"
on = "50ms"
off = "20ms"

[[events]]
at = "200ms"
link = "wifi"
rate = "1Mbit/s"
delay = "20ms"
[[notes]]
at = [5, 5]
text = "a note"
"""


def assets(pattern: str, count: int = 6) -> Callable[[], Sequence[bytes]]:
    """The smallest shipped files of a kind: a small file permits more trials."""
    return lambda: sorted((path.read_bytes() for path in ASSETS.glob(pattern)), key=len)[:count]


def scenarios() -> Sequence[bytes]:
    return [SMALL_SCENARIO.encode(), *assets("scenarios/*.toml")()]


@cache
def store_file() -> bytes:
    """A database with two runs, one of them with decisions, an empty sweep, and a tag."""
    import tempfile

    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.decisions import DecisionLimits
    from subflow_sim.scenario import parse_scenario
    from subflow_store import open_store

    with tempfile.TemporaryDirectory(prefix="subflow-fuzz-") as folder:
        path = Path(folder, "a.subflow")
        with open_store(path) as store:
            scenario = parse_scenario(SMALL_SCENARIO)
            for decisions in (None, DecisionLimits()):
                job = RunJob(scenario, SMALL_SCENARIO, store=store, decisions=decisions, sample_interval_s=0.02)
                store.add_tag(job.run().run_id or 1, "paper")
        return path.read_bytes()


def store_files() -> Sequence[bytes]:
    return [store_file()]


@cache
def bundles() -> Sequence[bytes]:
    import tempfile

    from subflow_app.features.exporting.core.bundle import write_bundle
    from subflow_app.features.history.cli import shown_document
    from subflow_store import open_store

    with tempfile.TemporaryDirectory(prefix="subflow-fuzz-") as folder:
        database, path = Path(folder, "a.subflow"), Path(folder, "a.zip")
        database.write_bytes(store_file())
        with open_store(database) as store:
            write_bundle(store, 1, path, summary=shown_document(store.run(1)), has_figures=False)
        return [path.read_bytes()]


def graphml() -> Sequence[bytes]:
    text = (
        '<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key attr.name="label" attr.type="string" for="node" id="l"/>'
        '<key attr.name="Latitude" attr.type="double" for="node" id="y"><default>1.5</default></key>'
        '<key attr.name="Longitude" attr.type="double" for="node" id="x"/>'
        '<key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="s"/>\n<graph edgedefault="undirected">\n'
        '<node id="0"><data key="l">Berlin &amp; more</data><data key="y">52.5</data><data key="x">13.4</data></node>\n'
        '<node id="1"><data key="l">Bern</data><data key="y">46.9</data><data key="x">7.4</data></node>\n'
        '<edge source="0" target="1"><data key="s">10000000000.0</data></edge>\n'
        '<edge source="0" target="1" id="e"/>\n</graph></graphml>'
    )
    return [text.encode()]


def gml() -> Sequence[bytes]:
    text = (
        'graph [\n  directed 0\n  node [ id 0 label "Berlin" Latitude 52.5 Longitude 13.4 ]\n'
        '  node [ id 1 label "K&#246;ln" Latitude 50.9 Longitude 6.9 ]\n  node [ id 2 label "C" ]\n'
        '  edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" delay 2.5 ]\n'
        '  edge [ source 1 target 2 LinkLabel "OC-48" ]\n]\n'
    )
    return [text.encode()]


def mininet_scripts() -> Sequence[bytes]:
    script = (
        "from mininet.topo import Topo\nclass T(Topo):\n    def build(self, bw=10):\n"
        "        opts = dict(bw=bw, loss=1)\n"
        "        a, b = self.addHost('a'), self.addHost('b')\n        s = self.addSwitch('s1')\n"
        "        self.addLink(a, s, delay='20ms', jitter='2ms', max_queue_size=100, **opts)\n"
        "        self.addLink(s, b, params1={'bw': 5}, params2={'bw': 2.5, 'delay': '1ms'})\n"
        "        for n in range(3):\n            self.addLink(s, self.addHost('h%d' % n))\n"
    )
    return [script.encode()]


def tc_scripts() -> Sequence[bytes]:
    commands = (
        "#!/bin/sh\nDEV=eth0\nip link add name a netns n1 type veth peer name b netns n2\n"
        "tc -n n1 qdisc replace dev a root handle 1: netem delay 20ms 2ms distribution normal loss gemodel 1% 25%\n"
        "tc -n n1 qdisc replace dev a parent 1:1 handle 2: tbf rate 8mbit burst 5000 limit 30000 peakrate 9mbit\n"
        "tc -n n1 qdisc replace dev a parent 2:1 handle 3: fq_codel limit 1000 target 5ms interval 100ms noecn\n"
        "ip netns exec n2 tc qdisc add dev b root red limit 50000 min 5000 max 15000 avpkt 1000 probability 0.1 ecn\n"
        "sudo tc qdisc add dev $DEV root handle 1: htb default 1\n"
        "tc class add dev $DEV parent 1: classid 1:1 htb rate 1mbit\n"
        "sleep 5\ntc qdisc del dev $DEV root\n(sleep 1m; tc -n n1 qdisc replace dev a root blackhole) &\n"
        "sleep 0.5 2\ntc -n n1 qdisc change dev a root handle 1: netem delay 30ms loss 2% limit 20\n"
        "tc -n n1 qdisc replace dev a parent 1:1 handle 2: tbf rate 4mbit burst 5000 limit 20000\n"
        "while true; do sleep 1; tc qdisc change dev b root netem delay 1ms; done\n"
    )
    shown = (
        "qdisc noqueue 0: dev lo root refcnt 2\nqdisc netem 1: dev eth1 root refcnt 2 limit 1000 delay 20ms loss 1%\n"
        " Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n"
        "qdisc tbf 2: dev eth1 parent 1:1 rate 4Mbit burst 3028b lat 53.9ms\n"
        "qdisc dualpi2 3: dev eth1 parent 2:1 limit 10000p target 15ms tupdate 16ms alpha 0.15 beta 3.19\n"
    )
    return [commands.encode(), shown.encode()]


def tables() -> Sequence[bytes]:
    wide = "time_s,download/1:cwnd_pkts,srtt_ms,note\n" + "".join(f"{k / 10},{10 + k},{40 + k},x\n" for k in range(30))
    german = "Zeit;cwnd;rtt [ms]\n" + "".join(f"{k},{5:02d};{k * 2};{k * 10},5\n" for k in range(30))
    long = "time,flow,metric,value\n" + "".join(
        f"{k},download/{1 + k % 2},{('cwnd_pkts', 'srtt_s')[k % 2]},{k}\n" for k in range(30)
    )
    dated = "time,bytes_acked\n" + "".join(f"2024-05-01T10:00:{k:02d}Z,{k * 1000}\n" for k in range(30))
    plain = "\n".join("time cwnd rtt" if k == 0 else f"{k * 1_000_000} {k} {k * k}" for k in range(30))
    return [each.encode() for each in (wide, german, long, dated, plain)]


def ss_logs() -> Sequence[bytes]:
    def output(k: int, port: int) -> str:
        return (
            f"ESTAB 0 0 10.0.0.1:{port} 10.0.0.2:40001\n\t cubic rto:204 rtt:{40 + k}.5/2.25 mss:1400 cwnd:{10 + k}"
            f" ssthresh:7 bytes_sent:{k * 9000} bytes_acked:{k * 8000} pacing_rate 12.5Mbps delivery_rate 8Mbps"
            f" unacked:9 retrans:0/{k} minrtt:39.9 token:{port:08x}\n"
        )

    epochs = "".join(f"{1690000000 + k}.5\n{output(k, 5001)}{output(k, 5002)}" for k in range(12))
    dates = "".join(f"Sat May 1 10:00:{k:02d} UTC 2024\n{output(k, 5001)}" for k in range(9))
    plain = "".join(f"State Recv-Q Send-Q Local Address:Port\n{output(k, 5001)}" for k in range(12))
    clocks = "".join(f"2024-05-01T10:00:{k:02d} {output(k, 5001)}" for k in range(12))
    return [each.encode() for each in (epochs, dates, plain, clocks)]


def topohub() -> Sequence[bytes]:
    node_link = {
        "directed": False,
        "multigraph": False,
        "graph": {"name": "x"},
        "nodes": [{"id": str(k), "name": f"n{k}", "pos": [k, 2 * k]} for k in range(4)],
        "edges": [{"source": str(k), "target": str(k + 1), "dist": 10.5 * k} for k in range(3)],
    }
    return [json.dumps(node_link).encode()]


def miniedit() -> Sequence[bytes]:
    document = {
        "hosts": [{"opts": {"hostname": f"h{k}"}, "x": "1", "y": "2"} for k in range(2)],
        "switches": [{"opts": {"hostname": "s1"}, "x": "3", "y": "4"}],
        "links": [
            {"src": "h0", "dest": "s1", "opts": {"bw": 10, "delay": "20ms", "loss": 1, "max_queue_size": 50}},
            {"src": "s1", "dest": "h1"},
        ],
    }
    return [json.dumps(document).encode()]


def sndlib() -> Sequence[bytes]:
    text = (
        "<network><networkStructure><nodes><node id='a'><coordinates><x>1</x><y>2</y></coordinates></node>"
        "<node id='b'/></nodes><links><link id='l'><source>a</source><target>b</target></link></links>"
        "</networkStructure></network>"
    )
    return [text.encode()]


def containerlab() -> Sequence[bytes]:
    lab = "name: x\ntopology:\n  nodes: {a: {kind: linux}, b: {}}\n  links:\n    - endpoints: ['a:e1', 'b:e1']\n"
    long = (
        "name: y\ntopology:\n  defaults: {kind: linux}\n  nodes:\n    a:\n    b: {kind: nokia_srlinux}\n  links:\n"
        "    - type: veth\n      endpoints:\n        - {node: a, interface: eth1}\n"
        '        - {node: b, interface: e1-1}\n    - endpoints: ["a:eth2", "host:a-eth2"]\n'
    )
    return [lab.encode(), long.encode()]


def recordings(*patterns: str, lines: int = 60) -> Callable[[], Sequence[bytes]]:
    """The beginnings of measurements of real tools."""
    folders = (
        Path(__file__).parents[1] / "features" / "measured" / "recordings",
        ASSETS / "measurements",
    )

    def read() -> Sequence[bytes]:
        files = [file for pattern in patterns for folder in folders for file in sorted(folder.glob(pattern))]
        return [b"".join(file.read_bytes().splitlines(keepends=True)[:lines]) for file in files]

    return read


def qlogs() -> Sequence[bytes]:
    """Qlog as JSON, with the first events of a recording, and as JSON-SEQ."""
    folder = Path(__file__).parents[1] / "features" / "measured"
    document = json.loads((ASSETS / "measurements" / "quic-server.qlog").read_text())
    trace = document["traces"][0]
    trace["events"] = trace["events"][:60]
    lines = (folder / "cases" / "quic.sqlog").read_text().splitlines()
    sequence = "".join(f"\x1e{line}\n" for line in lines)
    return [json.dumps(document).encode(), "\n".join(lines).encode(), sequence.encode()]


def captures() -> Sequence[bytes]:
    import dpkt

    def frame(is_data: bool, seq: int, ack: int, size: int) -> bytes:
        ports = (5001, 40001) if is_data else (40001, 5001)
        tcp = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 0x50, 0x10, 1000, 0, 0)
        ends = (b"\x0a\0\0\1", b"\x0a\0\0\2")
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + size, 0, 0, 64, 6, 0, *(ends if is_data else ends[::-1]))
        return bytes(6) + bytes(6) + b"\x08\0" + head + tcp + bytes(size)

    made = []
    for kind in (dpkt.pcap.Writer, dpkt.pcapng.Writer):
        buffer = io.BytesIO()
        writer = kind(buffer)
        for number in range(40):
            at_s = 1_690_000_000 + 0.01 * number
            writer.writepkt(frame(True, 2**32 - 5000 + 100 * number, 1, 100), ts=at_s)
            writer.writepkt(frame(False, 1, 2**32 - 4900 + 100 * number, 0), ts=at_s + 0.005)
        made.append(buffer.getvalue())
    return made


def delivery_traces() -> Sequence[bytes]:
    return [
        b"1\n3\n3\n9\n20\n",
        b"1 3 3 9 20\n",
        b"\n".join(b"%d" % (k * 7) for k in range(1, 300)),
        b"time_s,rate_mbps,delay_ms\n0,8,20\n0.5,4,30.5\n1,2e1,25\n",
    ]


def delay_traces() -> Sequence[bytes]:
    return [b"12\n13.5\n11\n", b"time_ms,rtt_ms\n0,40\n100,50\n200,41\n"]


def loss_traces() -> Sequence[bytes]:
    return [
        b"time_s,loss_percent\n0,0\n0.5,1.5\n1,100\n",
        b"time_ms,rate_mbps,loss_percent\n0,8,0.1\n500,4,2\n1500,8,0\n",
    ]


def link_recordings() -> Sequence[bytes]:
    data_set = b"Timestamp,State,DL_bitrate,UL_bitrate,PINGAVG\n2019.12.14_10.16.30,I,21465,210,43\n"
    return [
        data_set + b"2019.12.14_10.16.31,I,30465,102,-\n2019.12.14_10.16.32,D,0,8,51\n",
        b"time_s,rate_mbps,delay_ms,loss_percent\n0,8,20,0\n0.5,4,30.5,1\n1,2e1,25,0.5\n",
        b"1\n3\n3\n9\n20\n",
    ]


def scripts() -> Sequence[bytes]:
    from tests.helpers.scripts import CONTROLLER, SCHEDULER

    from subflow_sim.script import SKELETONS

    return [text.encode() for text in (CONTROLLER, SCHEDULER, *SKELETONS.values())]


def lab_result() -> dict[str, Any]:
    import hashlib

    import subflow_app
    from subflow_app.features.labs.core import result_file
    from subflow_app.features.labs.core.lab_file import load_lab

    lab = load_lab("03-two-paths")
    run = {
        "number": 1,
        "name": "small",
        "seed": 3,
        "version": subflow_app.__version__,
        "started_at": "2026-01-01T10:00:00+00:00",
        "sample_interval_s": 0.1,
        "fork": {"run": None, "at_s": 0.2},
        "signature": "0123456789abcdef",
        "scenario_hash": hashlib.sha256(SMALL_SCENARIO.encode()).hexdigest(),
        "scenario": SMALL_SCENARIO,
    }
    prediction = {"value": [[0.0, 1.0]], "at": "", "after_run": 0, "came": None, "is_right": True}
    answer = {"value": "a", "is_right": True, "at": "", "right": None}
    steps = [
        {
            "id": step.id,
            "title": step.title,
            "passed_at": "2026-01-01T10:00:00+00:00",
            "hints": 1,
            "last_run": 1,
            "prediction": prediction,
            "answers": {"why": [answer]},
        }
        for step in lab.steps
    ]
    return {
        "kind": result_file.KIND,
        "format": result_file.FORMAT,
        "version": subflow_app.__version__,
        "student": "Ada",
        "lab": {"name": lab.name, "title": lab.title, "hash": lab.file_hash, "begun_with": lab.file_hash},
        "begun_at": "2026-01-01T10:00:00+00:00",
        "finished_at": "",
        "written_at": "2026-01-01T10:00:00+00:00",
        "passed": 1,
        "of": len(steps),
        "steps": steps,
        "runs": [run],
        "sweeps": [{"points": 2, "runs": [1]}],
    }


def sign_result(document: dict[str, Any]) -> bytes:
    import hashlib

    plain = {name: value for name, value in document.items() if name != "signed"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    signed = {"method": "sha256", "digest": hashlib.sha256(text.encode()).hexdigest()}
    return json.dumps({**plain, "signed": signed}).encode()


def lab_results() -> Sequence[bytes]:
    return [sign_result(lab_result())]


def progress_files() -> Sequence[bytes]:
    from subflow_app.features.labs.core.progress import FORMAT

    steps = {step["id"]: {k: v for k, v in step.items() if k not in ("id", "title")} for step in lab_result()["steps"]}
    document = {
        "format": FORMAT,
        "lab": "lab",
        "lab_hash": "x",
        "begun_at": "",
        "finished_at": "",
        "database": "a.db",
        "begin": {"run": 1, "sweep": 0, "training": 0},
        "document": SMALL_SCENARIO,
        "steps": steps,
    }
    return [json.dumps(document).encode()]


def plans() -> Sequence[bytes]:
    grid = (
        'format = 1\nscenario = "t-2link"\nname = "grid"\nseeds = "1-4"\nsample_interval = "100ms"\n\n[axes]\n'
        '"links.top.loss" = ["0%", "1%"]\n"links.top.delay" = "10ms..40ms/4"\n\n[set]\nduration = "20s"\n'
    )
    drawn = (
        'format = 1\nkind = "random"\nscenario = "t-2link"\ndraws = 20\nsweep_seed = 4\nseeds = [1, 2]\n\n[axes]\n'
        '"links.top.loss" = "0%..5%"\n"links.top.rate" = { log_uniform = ["1Mbit/s", "50Mbit/s"] }\n'
    )
    points = (
        'format = 1\nkind = "list"\nscenario = "t-2link"\n\n[[points]]\n"links.top.loss" = "1%"\n[[points]]\n'
        '"links.top.loss" = "2%"\nduration = "20s"\n'
    )
    return [grid.encode(), drawn.encode(), points.encode(), *assets("sweeps/*.toml")()]


def settings() -> Sequence[bytes]:
    from dataclasses import asdict

    from subflow_app.foundation.settings import Settings

    entries = asdict(Settings(recent_files=("/a/b.toml",), saved_searches={"a": "tag:x"}, figure={"width": 3.5}))
    return [json.dumps(entries, indent=2).encode(), b"{}"]


def recovery_files() -> Sequence[bytes]:
    import hashlib
    from dataclasses import asdict

    from subflow_store.liveness import this_process

    elsewhere = {"host": "elsewhere", "boot": "gone", "pid": 123456, "started": "1"}
    entries = {
        "format": 1,
        "process": elsewhere,
        "name": "a.toml",
        "path": "a.toml",
        "base": SMALL_SCENARIO,
        "base_sha256": hashlib.sha256(SMALL_SCENARIO.encode()).hexdigest(),
        "text": SMALL_SCENARIO + "# more\n",
    }
    gone = {**asdict(this_process()), "pid": 2**22 + 1}
    return [json.dumps({**entries, "process": gone, "path": None}).encode(), json.dumps(entries).encode()]


def clipboards() -> Sequence[bytes]:
    from subflow_app.features.editor.core.scenario_clipboard import copy_parts

    parts = copy_parts(SMALL_SCENARIO, ["nodes.client", "nodes.server", "notes.0"])
    return [parts.encode(), copy_parts(SMALL_SCENARIO, ["links.lte"]).encode(), SMALL_SCENARIO.encode()]


def queries() -> Sequence[bytes]:
    return [
        b"demo tag:fairness -controller:olia goodput>5Mbit/s links.wifi.loss>0 started:today",
        b'-status:failed "two words" rtt<=40ms started:2024-01-01..2024-02-01 duration>1min jain>0.9',
        b'tag:"a b" started>yesterday seed=3 name:de*mo',
    ]


def training_configs() -> Sequence[bytes]:
    import tempfile

    from subflow_app.features.training.core.training_setup import load_recipe, prepare, recipe_names, request_of

    with tempfile.TemporaryDirectory(prefix="subflow-fuzz-") as folder:
        config = prepare(request_of(load_recipe(recipe_names()[0])), folder)
        report = json.dumps({"at": 1.0, "step": 10, "values": {"reward": 1.5}})
        return [json.dumps(config.to_json()).encode(), f"{report}\n{report}\n".encode()]


def checkpoints() -> Sequence[bytes]:
    import tempfile

    import numpy as np

    from subflow_agents.checkpoint import Checkpoint, save_checkpoint

    with tempfile.TemporaryDirectory(prefix="subflow-fuzz-") as folder:
        tensors: dict[str, Any] = {"actor/w": np.ones((3, 2), np.float32), "n": np.arange(4)}
        return [save_checkpoint(Path(folder), Checkpoint("drl-cc", 10, {"a": [1, 2]}, tensors)).read_bytes()]


def policies() -> Sequence[bytes]:
    return assets("agents/*.safetensors", 3)()
