"""The JSON Schema of scenario files: valid, up to date, not stricter than the reader, and useful in an editor."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import CATALOG, FULL, ROUTED, TWO_PATHS, read

from subflow_sim.errors import ScenarioError
from subflow_sim.params import SECTIONS
from subflow_sim.scenario import scenario_schema
from subflow_sim.schema import schema_text
from subflow_sim.training import Distribution
from subflow_sim.training_params import TRAINING_EVENT

ASSETS = Path(__file__).parents[2] / "assets"
SCHEMA = scenario_schema(CATALOG)
Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = Draft202012Validator(SCHEMA)


def complaint(text: str) -> str | None:
    """The schema's error for a scenario file; None if it is valid."""
    error = best_match(VALIDATOR.iter_errors(tomllib.loads(text)))
    return None if error is None else f"{error.json_path}: {error.message}"


def test_the_file_in_assets_is_the_schema_of_this_version():
    """When keys or the core's algorithms change: python -m subflow_sim.schema > assets/scenario.schema.json."""
    assert (ASSETS / "scenario.schema.json").read_text(encoding="utf-8") == schema_text()


def test_every_key_is_described():
    definitions = {"scenario": SCHEMA, **SCHEMA["$defs"]}
    for section, params in SECTIONS.items():
        properties = definitions[section]["properties"]
        assert [properties[param.key]["description"] for param in params] == [param.help for param in params]


@for_each("path", sorted((ASSETS / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_scenarios_are_valid(path):
    validator = Draft202012Validator(json.loads((ASSETS / "scenario.schema.json").read_text(encoding="utf-8")))
    assert list(validator.iter_errors(tomllib.loads(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("text", [TWO_PATHS, ROUTED, FULL])
def test_what_the_reader_accepts_is_valid(text):
    read(text)
    assert complaint(text) is None
    drops = ["download/1:17", "download/1:1@2s"]
    assert complaint(TWO_PATHS.replace('"2%"', f'"2%"\ndrops = {drops}')) is None


SPELT_VALUES = """
"8Mbit/s" "+8Mbit/s" 8e6 1_000 "unlimited" "50ms" "1e-3s" "2min" 0 0.5 1 -1 2.0 "67pkt" "100kB" "2%" "0.02" true false
"linux" "both" "lia" [0,1] [["wifi"]] ["client","server"] {limit="5pkt"} {name="uncoupled",base="newreno"}
{name="uncoupled",base="brisk",pace=2} {name="uncoupled",leap=false,base="brisk"}
{discipline="red",max="9pkt"} {discipline="fq_codel",flows=9} {model="gilbert",p="1%",r=1} {trace="a",content="1"}
{name="tunable",gain=1} {steps=[["0s",1e6],["5s","unlimited"]]}
"""
VALUES = st.sampled_from(SPELT_VALUES.split())
KEYS = st.sampled_from(sorted({param.key for params in SECTIONS.values() for param in params}))
TABLES = st.sampled_from(
    ["", "[nodes.server]", "[links.wifi]", "[links.wifi.reverse]", "[flows.download]", "[[events]]", "[[notes]]"]
)


@given(st.lists(st.tuples(TABLES, KEYS, VALUES), min_size=1, max_size=3))
def test_no_text_that_the_reader_accepts_is_invalid(changes):
    text = TWO_PATHS
    for table, key, value in changes:
        addition = f"{key} = {value}\n"
        if table == "[[events]]":
            text += f'[[events]]\nat = "5s"\nlink = "wifi"\nup = true\n{addition}'
        elif table == "[[notes]]":
            text += f'[[notes]]\nat = [0, 9]\ntext = "here"\n{addition}'
        elif table == "[links.wifi.reverse]":
            text += f"{table}\n{addition}"
        else:
            text = text.replace(f"{table}\n", f"{table}\n{addition}", 1) if table else addition + text
    try:
        read(text)
    except ScenarioError:
        return
    assert complaint(text) is None


SPELT_DRAWS = """
{uniform=["1Mbit/s","2Mbit/s"]} {log_uniform=[1,9]} {uniform=[1]} {integer=[0,3]} {choice=["5s","lia",true,2]} {bdp=2}
{choice=[1,2],weights=[1,0]} {bdp={log_uniform=[0.5,2]}} {of="links.wifi.rate"} nan
{of="links.wifi.rate",times={uniform=[1,2]}}
{uniform=["1s","4s"]} "5s" 5 {} [] "wifi" "download" false {model="gilbert",p={uniform=[0.1,0.2]},r=1}
"""
DRAWS = st.sampled_from(SPELT_DRAWS.split())
SPELT_KEYS = """
links.wifi.rate links.wifi.loss links.lte.rate links.wifi.queue links.wifi.reverse.rate flows.download.count
flows.download.controller flows.download.start events.0.at warmup seed a.b
"""
DRAWN_KEYS = st.sampled_from(SPELT_KEYS.split())
ROW_KEYS = st.sampled_from([*(param.key for param in (*TRAINING_EVENT, *SECTIONS["event"])), "hue"])


@given(
    st.none() | DRAWS,
    st.dictionaries(DRAWN_KEYS, DRAWS, max_size=3),
    st.lists(st.dictionaries(ROW_KEYS, DRAWS, min_size=1, max_size=4), max_size=2),
)
def test_what_the_reader_accepts_of_training_is_valid_and_can_be_drawn(episode, draws, rows):
    lines = ["[training]", *([] if episode is None else [f"episode = {episode}"]), "[training.draws]"]
    lines += [f"{key} = {value}" for key, value in draws.items()]
    for row in rows:
        lines += ["[[training.events]]", *(f"{key} = {value}" for key, value in row.items())]
    text = TWO_PATHS + "\n".join(lines) + "\n"
    try:
        scenario = read(text)
    except ScenarioError:
        return
    assert complaint(text) is None
    with suppress(ScenarioError):  # values that fit together only in some draws
        Distribution.from_scenario(scenario).draw(1, 0, 0)


@for_each(
    ("old", "new"),
    [
        ("format = 1", "format = 2"),
        ("format = 1\n", ""),
        ('"60s"', '"60 parsec"'),
        ('"60s"', "0"),
        ('"60s"', "true"),
        ('"8Mbit/s"', '"8Mbs"'),
        ('"8Mbit/s"', "{ trace = 5 }"),
        ('"67pkt"', '"67"'),
        ('"67pkt"', '{ discipline = "pie" }'),
        ('"67pkt"', "{ flows = 5 }"),
        ('"67pkt"', '{ discipline = "codel", flows = 5 }'),
        ('"2%"', '{ model = "gilbert", p = 0.1 }'),
        ('"2%"', "2"),
        *(('"2%"', f'"2%"\ndrops = {drops}') for drops in (["d/1"], ["d/1:x"], [5], ["d:1"] * 1001)),
        ("loss", "los"),
        ('["client", "server"]\nrate = "8', '["client", "client"]\nrate = "8'),
        ("[nodes.client]", '[nodes.client]\nkind = "switch"'),
        ("[nodes.client]", '[nodes."a b"]'),
        ('"mptcp"', '"onoff"'),
        ('"mptcp"', '"cbr"'),  # needs a rate
        ('"mptcp"', '"tcp"\nscheduler = "minrtt"'),
        ('"mptcp"', '"tcp"\npaths = [["wifi"], ["lte"]]'),
        ('"mptcp"', '"mptcp"\nrate = 1e6'),
        ('"mptcp"', '"mptcp"\ncontroller = "olia"'),
        ('"mptcp"', '"mptcp"\ncontroller = { name = "lia", x = 1 }'),
        ('"mptcp"', '"mptcp"\ncontroller = { name = "uncoupled", pace = 1 }'),
        ('"mptcp"', '"mptcp"\ncontroller = { name = "uncoupled", base = "newreno", leap = true }'),
        ('"mptcp"', '"mptcp"\ncount = 0'),
        ('to = "client"\n', 'to = "client"\n[[events]]\nat = 5\n'),
        ('to = "client"\n', 'to = "client"\n[[events]]\nat = 5\nlink = "wifi"\nflow = "download"\n'),
        ('to = "client"\n', 'to = "client"\n[[events]]\nat = 5\nlink = "wifi"\nopen = true\n'),
        ('to = "client"\n', 'to = "client"\n[training]\nepisode = { uniform = [1] }\n'),
        ('to = "client"\n', 'to = "client"\n[training]\nlength = 5\n'),
        ('to = "client"\n', 'to = "client"\n[[training.events]]\nlink = "wifi"\nup = false\n'),
    ],
)
def test_an_editor_sees_common_mistakes(old, new):
    assert TWO_PATHS.count(old) == 1
    assert complaint(TWO_PATHS.replace(old, new)) is not None
