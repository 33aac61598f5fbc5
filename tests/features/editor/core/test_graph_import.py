"""Graph files become scenarios that list the values read and the values guessed; impossible graphs are explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.editor.core.graph_files import GraphFileError
from subflow_app.features.editor.core.graph_formats import read_graph
from subflow_app.features.editor.core.graph_import import Imported, distance_m, import_graph
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc

GRAPHS = Path(__file__).parents[3] / "helpers" / "graphs"
_NUMBER = '<key id="k" attr.type="double"/>'
FLOW = '\n[flows.f]\nkind = "tcp"\nfrom = "{0}"\nto = "{1}"\n'


@pytest.fixture
def alpine() -> Imported:
    return import_graph(GRAPHS / "alpine.graphml")


def imported(tmp_path: Path, text: str, suffix: str = ".gml") -> Imported:
    path = tmp_path / f"net{suffix}"
    path.write_text(text, encoding="utf-8")
    return import_graph(path)


def refused(tmp_path: Path, text: str, suffix: str = ".gml") -> str:
    with pytest.raises(GraphFileError) as caught:
        imported(tmp_path, text, suffix)
    return str(caught.value).replace(str(tmp_path), "")


def gml(*parts: str) -> str:
    return "graph [\nnode [ id 0 ]\nnode [ id 1 ]\n" + "\n".join(parts) + "\n]"


def graphml(body: str, keys: str = "") -> str:
    graph = f'<graph edgedefault="undirected">\n{body}\n</graph>'
    return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}\n{graph}</graphml>'


def test_a_file_of_the_topology_zoo_becomes_a_scenario_that_waits_for_a_flow(alpine: Imported) -> None:
    doc = ScenarioDoc(alpine.text)
    assert [problem.key for problem in doc.problems] == ["flows"]
    assert list(doc.data["nodes"]) == ["Zurich", "Bern-1", "Geneva", "Geneva-2", "External"]
    assert doc.value("name") == "Alpine Research Net"
    # A host is added, and the scenario runs.
    hosts = '[nodes.h]\n[links.h]\nends = ["h", "Zurich"]\nrate = "1Gbit/s"\n'
    assert ScenarioDoc(alpine.text + hosts + FLOW.format("h", "External")).problems == ()


def test_speeds_are_read_from_where_they_stand(alpine: Imported) -> None:
    doc = ScenarioDoc(alpine.text)
    rates = {name: link["rate"] for name, link in doc.data["links"].items()}
    assert rates == {
        "Zurich_Bern-1": "10Gbit/s",
        "Bern-1_Geneva": "2.5Gbit/s",
        "Zurich_Geneva-2": "2488320kbit/s",
        "Zurich_Geneva-2-2": "100Mbit/s",
        "Geneva_Geneva-2": "100Mbit/s",
        "Geneva_External": "100Mbit/s",
    }


def test_guesses_are_marked_in_the_report_and_in_the_file(alpine: Imported) -> None:
    link = next(link for link in alpine.links if link.name == "Zurich_Geneva-2-2")
    assert link.is_guessed
    assert "guessed: the file gives no speed" in link.rate
    assert "km at 2/3 of the speed of light" in link.delay
    assert "# guessed: the file gives no speed" in alpine.text
    assert "edges from a node to itself" in alpine.details
    assert "add one between two hosts" in alpine.text
    assert "(line 20)" in alpine.details


def test_delays_come_from_the_distance_in_glass(alpine: Imported) -> None:
    # Zurich to Bern: 96 km; at 199,862 km/s that is 0.48 ms.
    assert ScenarioDoc(alpine.text).value("links.Zurich_Bern-1.delay") == "480us"
    assert distance_m((0.0, 0.0), (0.0, 180.0)) == pytest.approx(20_015_087, rel=1e-4)


def test_a_map_keeps_its_directions_on_the_canvas(alpine: Imported) -> None:
    places = ScenarioDoc(alpine.text).positions()
    assert places["Geneva"][0] < places["Bern-1"][0] < places["Zurich"][0]
    assert places["Geneva-2"][1] > places["Zurich"][1], "Milan lies south"
    assert "External" in places


def test_directed_edges_in_opposite_directions_are_one_link() -> None:
    islands = import_graph(GRAPHS / "islands.gml")
    doc = ScenarioDoc(islands.text)
    assert len(doc.data["links"]) == 2
    link = doc.data["links"]["North-West_South"]
    assert (link["rate"], link["reverse"]["rate"]) == ("10Gbit/s", "1Gbit/s")
    assert "falls into 2 parts" in islands.details
    assert "directed" in islands.details


def test_nodes_without_coordinates_are_laid_out(tmp_path: Path) -> None:
    found = imported(tmp_path, gml("edge [ source 0 target 1 ]"))
    places = ScenarioDoc(found.text).positions()
    assert len(set(places.values())) == 2
    assert "laid out automatically" in found.details


@for_each(
    ("text", "message"),
    [
        ("", "no topology: no graph"),
        ("hello", "no topology: no graph"),
        ("graph [ node [ id 1 ]", ':1: this "[" is never closed'),
        ("graph [\n node id 1 ]\n", ':2: "node" has no value'),
        ("graph [ ]", "holds no nodes"),
        (gml(), "holds no link"),
        (gml("edge [ source 0 target 7 ]"), ':4: this edge leads to node "7"'),
        (gml("edge [ source 0 ]"), ":4: edge [ ... ] without target"),
        (gml("node [ id 1 ]"), 'node "1" exists on line 3 already'),
        (gml("edge [ source 0 target 1 LinkSpeedRaw -5 ]"), ":4: LinkSpeedRaw = -5.0; allowed: a speed greater"),
        (gml("edge [ source 0 target 1 LinkSpeedRaw 1e30 ]"), ":4: rate = "),
        (gml('edge [ source 0 target 1 delay "-3ms" ]'), ":4: delay = -3ms"),
        (gml("node [ id 2 Latitude 123 Longitude 0 ]", "edge [ source 0 target 1 ]"), ":4: Latitude = 123.0; allowed"),
        ("graph [" * 50, "nested too deep"),
        ("graph [ \x01 ]", "cannot read"),
    ],
)
def test_broken_gml_is_explained(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


@for_each(
    ("text", "message"),
    [
        ("<graphml><graph>", "broken XML: no element found"),
        ("<svg/>", "holds no <graph>"),
        (graphml("<node/>"), ":3: <node> without id"),
        (graphml('<node id="a"/><node id="b"/>\n<edge source="a" target="c"/>'), ':4: this edge leads to node "c"'),
        (graphml('<node id="a"><data key="k">1</data></node>'), "has no <key> of that id"),
        (graphml('<node id="a"><graph/></node>'), "nested <graph>"),
        (graphml("<hyperedge/>"), "<hyperedge> has no meaning"),
        (graphml('<node id="a"><data key="k">x</data></node>', _NUMBER), "is not one; allowed: a number"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', ":1: this file declares a document type"),
        ('<?xml version="1.0" encoding="klingon"?><graphml/>', "broken XML"),
    ],
)  # fmt: skip
def test_broken_graphml_is_explained(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text, ".graphml")


def test_a_billion_laughs_is_refused_before_it_laughs(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(12))
    bomb = f'<!DOCTYPE lolz [<!ENTITY a0 "lol">{entities}]><graphml>&a12;</graphml>'
    assert "document type" in refused(tmp_path, bomb, ".graphml")


def test_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.gml"
    path.write_bytes(b"#" * 8_000_001)
    with pytest.raises(GraphFileError, match="at most 8 MB"):
        read_graph(path)
    many = "graph [\n" + "\n".join(f"node [ id {i} ]" for i in range(5001)) + "\n]"
    assert "at most 5 000 nodes" in refused(tmp_path, many)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match="cannot be opened"):
        import_graph(tmp_path / "none.gml")


def test_hostile_names_become_harmless(tmp_path: Path) -> None:
    text = gml('node [ id 2 label "]\\n[evil" ]', 'node [ id 3 label "日本" ]', "edge [ source 2 target 3 ]")
    doc = ScenarioDoc(imported(tmp_path, text).text)
    assert list(doc.data["nodes"]) == ["0", "1", "n-evil", "node-3"]
