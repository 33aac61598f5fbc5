"""`subflow import` and `subflow export-topology`."""

from __future__ import annotations

from pathlib import Path

from tests.features.sweeps.core.plans import SCENARIO
from tests.helpers.command_line import Subflow
from tests.helpers.policies import make_plan, write_random_policy

from subflow_app.foundation.paths import policy_folder
from subflow_app.foundation.toml_edit import set_value

GRAPH = Path(__file__).parents[3] / "helpers" / "graphs" / "alpine.graphml"


def test_a_graph_becomes_a_scenario_and_a_report(subflow: Subflow, tmp_path: Path) -> None:
    out = tmp_path / "alpine.toml"
    result = subflow("import", GRAPH, "-o", out)
    assert "5 nodes and 6 links" in result.out
    assert "guessed" in result.out
    assert "[links.Zurich_Bern-1]" in out.read_text(encoding="utf-8")
    again = subflow("import", GRAPH, "-o", out)
    assert again.code == 2
    assert "--force" in again.err
    document = subflow("import", GRAPH, "-o", out, "--force", "--json").document
    assert (document["nodes"], len(document["links"])) == (5, 6)


def test_a_broken_graph_is_bad_input(subflow: Subflow, tmp_path: Path) -> None:
    path = tmp_path / "net.gml"
    path.write_text("graph [", encoding="utf-8")
    answer = subflow("import", path)
    assert answer.code == 2
    assert "net.gml:1" in answer.err


def test_the_topology_of_a_shipped_scenario_is_written(subflow: Subflow, tmp_path: Path) -> None:
    out = tmp_path / "net.graphml"
    assert "left out: flows" in subflow("export-topology", "t-10b", "-o", out).out
    back = tmp_path / "net.toml"
    subflow("import", out, "-o", back)
    assert 'rate = "5Mbit/s"' in back.read_text(encoding="utf-8")


def test_the_run_of_a_page_is_repeated_where_its_policy_is_not(subflow: Subflow, tmp_path: Path) -> None:
    beside, scenario, page, other = (tmp_path / name for name in ("p.safetensors", "own.toml", "page.html", "b.toml"))
    write_random_policy(beside, make_plan("confluence"), seed=2)
    learned = {"name": "confluence", "policy": beside.name}
    scenario.write_text(set_value(SCENARIO, ("flows", "download", "controller"), learned), encoding="utf-8")
    db = ("--db", tmp_path / "runs.db")
    signature = subflow("run", scenario, *db, "--json").document["signature"]
    subflow("export", 1, "--page", "--out", page, *db)
    beside.unlink()
    scenario.unlink()
    imported = subflow("import", page, "-o", other, "--json").document
    assert imported["signature"] == signature
    (name,) = imported["policies_added"]
    assert [path.name for path in policy_folder().iterdir()] == [f"{name}.safetensors"]
    assert subflow("run", other, "--no-store", "--json").document["signature"] == signature
    assert subflow("import", page, "-o", other, "--force", "--json").document["policies_added"] == []
