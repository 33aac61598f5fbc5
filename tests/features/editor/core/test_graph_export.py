"""GraphML of a scenario: the import reads back the exported scenario."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.editor.core.graph_files import export_graphml, left_out
from subflow_app.features.editor.core.graph_import import import_graph
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.topology import picture_of
from subflow_app.foundation.errors import ExportError
from subflow_app.foundation.resources import resource_path, scenario_names
from subflow_sim.scenario import Scenario

FLOWS = '\n[flows.{name}]\nkind = "tcp"\nfrom = "{source}"\nto = "{destination}"\npaths = [{path}]\n'


def again(scenario: Scenario, path: Path) -> Scenario:
    """The scenario after an export and an import, with its first flow added again."""
    export_graphml(scenario, picture_of(scenario).places, path)
    flow = next(iter(scenario.flows.values()))
    text = FLOWS.format(name="f", source=flow.source, destination=flow.destination, path=str(list(flow.paths[0])))
    return present(ScenarioDoc(import_graph(path).text + text).scenario)


@for_each("name", scenario_names())
def test_the_topology_of_a_shipped_scenario_comes_back(name: str, tmp_path: Path) -> None:
    before = present(ScenarioDoc.open(resource_path(f"scenarios/{name}.toml")).scenario)
    after = again(before, tmp_path / "net.graphml")
    assert {n: node.kind for n, node in after.nodes.items()} == {n: node.kind for n, node in before.nodes.items()}
    assert list(after.links) == list(before.links)
    for link, same in zip(before.links.values(), after.links.values(), strict=True):
        assert same.ends == link.ends
        for side, back in ((link.forward, same.forward), (link.reverse, same.reverse)):
            assert (back.rate_bps, back.delay_s, back.loss) == (side.rate_bps, side.delay_s, side.loss)
            assert (back.queue.limit_pkts, back.queue.limit_bytes) == (side.queue.limit_pkts, side.queue.limit_bytes)
    places = picture_of(before).places
    assert picture_of(after).places == {n: (round(x), round(y)) for n, (x, y) in places.items()}


def test_nothing_is_guessed_on_the_way_back(tmp_path: Path) -> None:
    scenario = present(ScenarioDoc.new().scenario)
    export_graphml(scenario, picture_of(scenario).places, tmp_path / "net.graphml")
    assert import_graph(tmp_path / "net.graphml").guessed_count == 0
    assert left_out(scenario) == ("flows",)
    with pytest.raises(ExportError, match="cannot be written"):
        export_graphml(scenario, {}, tmp_path / "none" / "net.graphml")
