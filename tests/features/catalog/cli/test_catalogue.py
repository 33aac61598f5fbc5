"""Catalogue commands print lists of the available things as text and JSON."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.foundation.resources import scenario_names
from subflow_sim.catalog import controllers, schedulers
from subflow_sim.scenario import scenario_schema
from subflow_sim.script_reader import shipped_scripts


@pytest.mark.parametrize(("command", "listed"), [("controllers", controllers), ("schedulers", schedulers)])
def test_every_algorithm_is_listed_with_summary_and_options(subflow: Subflow, command: str, listed: object) -> None:
    document = subflow(command, "--json").document
    text = subflow(command).out

    built_in = [entry["name"] for entry in document if entry["script"] is None]
    assert built_in == [algorithm.name for algorithm in listed()]  # type: ignore[operator]
    for entry in document:
        assert entry["name"] in text
        assert entry["summary"] in text
        for option in entry["options"]:
            assert option["name"] in text


@for_each(
    ("command", "name"),
    [("controllers", each.name) for each in controllers()] + [("schedulers", each.name) for each in schedulers()],
)
def test_every_algorithm_tells_its_options_and_rules(subflow: Subflow, command: str, name: str) -> None:
    document = subflow(command, name, "--json").document
    text = subflow(command, name).out

    assert document["name"] == name
    assert text.startswith(f"{name}: {document['summary']}")
    told = " ".join(text.split())  # a column may be too narrow for its longest texts
    for option in document["options"]:
        assert option["help"] in told
        assert option.keys() >= {"name", "kind", "unit", "minimum", "maximum", "choices", "default"}
    for rule in document["rules"]:
        assert f"{rule['name']}: {rule['formula']}" in text
        assert rule["source"] in text
        assert ", ".join(rule["numbers"]) in text


def test_those_that_ship_as_text_are_listed_and_shown(subflow: Subflow) -> None:
    scripts = {each["name"]: each for each in subflow("controllers", "--json").document if each["script"] is not None}
    assert set(scripts) < set(shipped_scripts())
    listed = subflow("controllers").out
    for name, each in scripts.items():
        assert each["summary"] in listed
        assert each["script"] in subflow("controllers", name).out


@for_each(
    ("words", "named"),
    [
        (("controllers", "renoo"), "newreno"),
        (("controllers", "olai"), "olia"),
        (("schedulers", "nosuch"), "minrtt"),
        (("schedulers", "minrt"), "minrtt"),
        (("guide", "nosuch"), ""),
        (("guide", "minrt"), "minrtt"),
        (("bench", "nosuch"), ""),
        (("break", "nosuch"), "improve"),
        (("arena", "nosuch"), "lia"),
        (("assess", "lia", "--only", "nosuch"), "collapse"),
        (("labs", "show", "nosuch"), ""),
        (("run", "nosuch"), "demo"),
        (("run", "demoo"), "demo"),
        (("reproduce", "nosuch"), ""),
    ],
)
def test_an_unknown_name_is_answered_with_names_once_each(subflow: Subflow, words: tuple[str, ...], named: str) -> None:
    answer = subflow(*words)

    assert answer.code == 2
    assert words[-1] in answer.err
    found = re.search(r"(?:allowed|shipped scenarios|shipped labs|papers|did you mean):?(.*)", answer.err)
    assert found, answer.err
    names = re.split(r", | or | and ", found[1].strip().partition(";")[0])
    assert len(names) == len(set(names)), names
    assert named in found[1]


def test_the_filter_of_runs_suggests_a_name_once(subflow: Subflow, scenario: Path, database: Path) -> None:
    """Several flows have controllers, and runs record the key of each."""
    subflow("run", scenario, "--db", database)

    answer = subflow("runs", "controler:olia", "--db", database)

    assert answer.code == 2
    assert 'unknown field "controler"; did you mean "controller"' in answer.err
    assert answer.err.count('"controller"') == 1


def test_shipped_scenarios_are_listed_and_run_by_name(subflow: Subflow) -> None:
    document = subflow("scenarios", "--json").document

    assert [entry["name"] for entry in document] == list(scenario_names())
    assert subflow("run", document[0]["name"], "--no-store").code == 0
    assert document[0]["title"] in subflow("scenarios").out


def test_schema_is_one_json_document(subflow: Subflow) -> None:
    assert subflow("schema").document == scenario_schema()
