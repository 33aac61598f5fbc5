"""Topologies of other programs: labels of rates, topohub, SNDlib, containerlab and MiniEdit, with their delays."""

from __future__ import annotations

import csv
import json
import math
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.editor.core.graph_import import FIBRE_M_PER_S, Imported, import_graph
from subflow_app.features.editor.core.rate_labels import rate_in
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import Link

CASES = Path(__file__).with_name("topologies")


def links(found: Imported) -> list[Link]:
    return list(present(ScenarioDoc(found.text).sketch).links.values())


def test_every_rate_label_of_the_topology_zoo() -> None:
    """The 277 labels with digits on the links of its 261 source files, of which 189 have such labels."""
    with (CASES / "rate_labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 277
    wrong = []
    for row in rows:
        rate = rate_in(row["label"])
        found = (
            ("", "", "")
            if rate is None
            else (
                f"{rate.bps / 1e6:.12g}",
                f"{rate.low_bps / 1e6:.12g}" if rate.low_bps != rate.bps else "",
                "bound" if rate.is_bound else "",
            )
        )
        if found != (row["mbps"], row["low_mbps"], row["bound"]):
            wrong.append((row, found))
    assert wrong == []


@for_each(
    ("label", "bps"),
    [("10 Gbit/s", 10e9), ("2.5Gbps", 2.5e9), ("OC-48", 2488.32e6), ("STM-1", 155.52e6), ("T3 line", 44.736e6),
     ("155 Mb/s", 155e6), ("Gigabit Ethernet", 1e9), ("34M", 34e6), ("2x OC-48", 4976.64e6), ("10GEx12", 120e9),
     ("2 × 10 GE", 20e9), ("4*2 Mbps PDH", 8e6), ("9600 bit/s", 9600.0), ("1 Gbps + 100 Mbps", 1.1e9)],
)  # fmt: skip
def test_speeds_in_labels(label: str, bps: float) -> None:
    assert present(rate_in(label)).bps == bps


@for_each("label", ["dark fibre", "", "TAT-14", "Completion 2007-2008", "KCN2", "72 Lambda", "x2", "1Q 2003"])
def test_labels_without_a_speed(label: str) -> None:
    assert rate_in(label) is None


def test_labels_of_links_give_their_rates_and_doubts() -> None:
    found = import_graph(CASES / "labels.gml")
    rates = [link.forward.rate_bps for link in links(found)]
    assert rates == [20e9, 19.90656e9, 8e9, 100e9, 620e6, 1.866e9, 4.31104e9, 20e9, 1e9, 2.5e9]
    doubts = [link.rate.partition('", ')[2] for link in found.links]
    assert doubts == [*[""] * 7, *["a range, of which the upper end is taken"] * 2, "a bound"]


def test_lengths_of_topohub_become_delays_on_a_map() -> None:
    found = import_graph(CASES / "topohub-style.gml")
    assert [link.forward.delay_s for link in links(found)] == [pytest.approx(5.65e-3), pytest.approx(7.51e-3)]
    places = ScenarioDoc(found.text).positions()
    # Denver lies north-west of Atlanta, and Houston south-west of it.
    assert places["Denver"][0] < places["Atlanta"][0]
    assert places["Denver"][1] < places["Atlanta"][1] < places["Houston"][1]
    assert "follows from 1129 km in the file at 2/3 of the speed of light" in found.details


def test_drawings_of_sndlib_keep_their_places() -> None:
    found = import_graph(CASES / "sndlib-style.gml")
    places = ScenarioDoc(found.text).positions()
    assert places["Seattle"][1] < places["LosAngeles"][1]
    assert places["LosAngeles"][0] < places["Dallas"][0]
    assert "laid out" not in found.details


SNDLIB = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0"><networkStructure>
<nodes coordinatesType="geographical">
<node id="Berlin"><coordinates><x>13.48</x><y>52.52</y></coordinates></node>
<node id="Bremen"><coordinates><x>8.80</x><y>53.08</y></coordinates></node>
<node id="Hof"><coordinates><x>11.9</x><y>50.3</y></coordinates></node></nodes>
<links><link id="L1"><source>Berlin</source><target>Bremen</target></link>
<link id="L2"><source>Hof</source><target>Berlin</target></link></links></networkStructure></network>
"""


def test_xml_of_sndlib(tmp_path: Path) -> None:
    path = tmp_path / "germany.xml"
    path.write_text(SNDLIB)
    found = import_graph(path)
    (first, _) = links(found)
    assert (first.name, first.ends) == ("L1", ("Berlin", "Bremen"))
    assert first.forward.delay_s == pytest.approx(322e3 / FIBRE_M_PER_S, rel=0.01)
    path.write_text(SNDLIB.replace("<target>Bremen", "<target>Bonn"))
    with pytest.raises(InputError, match='this edge leads to node "Bonn", which does not exist'):
        import_graph(path)
    path.write_text(SNDLIB.replace("13.48", "east"))
    with pytest.raises(InputError, match=r'germany\.xml:4: x = "east" is not a number'):
        import_graph(path)


def test_a_lab_of_containerlab_has_both_links() -> None:
    found = import_graph(CASES / "lab.clab.yml")
    assert [link.ends for link in links(found)] == [("h1", "h2"), ("h1", "h2")]
    assert [link.name for link in links(found)] == ["h1-eth1_h2-eth1", "h1-eth2_h2-eth2"]
    assert "Containerlab states no rates" in found.details
    assert found.guessed_count == 2


def test_long_forms_and_outside_links_of_containerlab(tmp_path: Path) -> None:
    path = tmp_path / "lab.clab.yml"
    path.write_text(
        "name: lab\ntopology:\n  defaults: {kind: nokia_srlinux}\n  nodes:\n    r1:\n    h1: {kind: linux}\n  links:\n"
        "    - {type: veth, endpoints: [{node: r1, interface: e1}, {node: h1, interface: eth1}]}\n"
        "    - endpoints: ['r1:e9', 'host:veth9']\n    - {type: mgmt-net, endpoint: {node: r1, interface: e2}}\n"
    )
    found = import_graph(path)
    assert [link.ends for link in links(found)] == [("r1", "h1")]
    assert {name: node.kind for name, node in present(ScenarioDoc(found.text).sketch).nodes.items()} == {
        "r1": "router",
        "h1": "host",
    }
    assert "2 links to the outside of the lab were left out." in found.details


@for_each(
    ("text", "said"),
    [
        ("topology: {nodes: [", r"lab\.yml:1: broken YAML"),
        ("topology:\n  nodes: {a: {}}\n  links: [{endpoints: ['a:1', 'b:1']}]", r'yml:3: the node "b" does not exist'),
        ("topology:\n  nodes: {a: {}}\n  links: [{endpoints: ['a:1', 'b']}]", r"yml:3: a link without two endpoints"),
        ("topology:\n  nodes: {}\n", "holds no nodes"),
        ("topology:\n  nodes: {[[]]: {}}\n", r"lab\.yml:2: the name of a node is a list or a table; allowed: a text"),
        ("topology: &a\n  nodes: *a\n", "broken YAML|holds no"),
    ],
)
def test_bad_labs_are_refused_with_the_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "lab.yml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        import_graph(path)


def test_a_file_of_miniedit(tmp_path: Path) -> None:
    path = tmp_path / "net.mn"
    document = {
        "application": {"ipBase": "10.0.0.0/8"},
        "controllers": [],
        "hosts": [{"number": "1", "opts": {"hostname": "h1"}, "x": "100", "y": "200"},
                  {"number": "2", "opts": {"hostname": "h2"}, "x": "500", "y": "200"}],
        "switches": [{"number": "1", "opts": {"hostname": "s1"}, "x": "300", "y": "100"}],
        "links": [{"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "20ms", "loss": 1, "max_queue_size": 100}},
                  {"src": "s1", "dest": "h2", "opts": {"bw": "5", "jitter": "2ms"}},
                  {"src": "s1", "dest": "h2", "opts": {}}],
    }  # fmt: skip
    path.write_text(json.dumps(document))
    found = import_graph(path)
    first, second, plain = links(found)
    assert (first.forward.rate_bps, first.forward.delay_s, first.forward.loss) == (10e6, 0.02, 0.01)
    assert first.forward.queue.limit_pkts == 100
    assert second.forward.rate_bps == 5e6
    assert present(second.forward.jitter).spread_s == 0.002
    assert (plain.forward.rate_bps, plain.forward.delay_s) == (None, 0.0), "a link of Mininet without options"
    assert {name: node.kind for name, node in present(ScenarioDoc(found.text).sketch).nodes.items()}["s1"] == "router"


@for_each(
    ("text", "said"),
    [
        ("{", "broken JSON"),
        ('{"nodes": 3, "links": []}', "this JSON is not a topology; allowed: node-link JSON"),
        ('{"nodes": [{"id": {}}], "edges": []}', "node 1 is {}; allowed: a text or a whole number"),
        ('{"nodes": [{"id": 0}, {"id": 1}], "edges": [3]}', "edge 1 is not an object"),
        ('{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 2}]}', 'leads to node "2"'),
        ('{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1, "dist": -1}]}', "dist = -1"),
    ],
)
def test_bad_json_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "net.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        import_graph(path)


# ---- the package topohub: 707 topologies, of which 229 are Topology Zoo and SNDlib ----

_PACKAGE = present(present(find_spec("topohub")).submodule_search_locations)[0]
_ALL = sorted(Path(_PACKAGE, "data").rglob("*.json"))


def _check(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    edges = [edge for edge in document["edges"] if edge["source"] != edge["target"]]
    found = links(import_graph(path))
    assert len(found) == len(edges)
    for link, edge in zip(found, edges, strict=True):
        wanted_s = max(edge["dist"] * 1e3 / FIBRE_M_PER_S, 10e-6)
        assert math.isclose(link.forward.delay_s, wanted_s, abs_tol=6e-6), (path.name, link.name)


def test_topology_zoo_and_sndlib_of_topohub_have_right_delays() -> None:
    chosen = [path for path in _ALL if path.parent.name in ("topozoo", "sndlib")]
    assert (len(_ALL), len(chosen)) == (707, 229)
    for path in chosen:
        _check(path)


@pytest.mark.full("reads 707 files")
def test_all_topologies_of_topohub_have_right_delays() -> None:
    for path in _ALL:
        _check(path)
