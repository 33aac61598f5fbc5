"""Parameters and figures by key: the recorded values of a run, and finding runs by them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.store.examples import COLUMNS, start

from subflow_sim.units import UNITS as SIMULATOR_UNITS
from subflow_store import Condition, Store, open_store
from subflow_store.conditions import STARTED, TAG, WORDS, matching_keys
from subflow_store.run_values import LONGEST_TEXT, UNITS, RunValue, figure_values, parameter_values, quantity

SCENARIO = """\
format = 1
name = "Two paths"
profile = "linux"
[nodes.server]
at = [0, 0]
[links.wifi]
ends = ["server", "client"]
rate = "8Mbit/s"
loss = "2%"
queue = { discipline = "codel", limit = "67pkt" }
[flows.download]
controller = "olia"
paths = [["wifi"], ["lte", "core"]]
[[events]]
at = "5s"
up = false
"""

RICH = {
    "scenario": "Two paths",
    "profile": "linux",
    "transport": {"initial_window": 10, "dsack": True},
    "flows": [
        {
            "name": "download",
            "controller": "olia",
            "goodput_bps": 5e6,
            "completion_s": None,
            "subflows": [{"path": ["wifi"], "loss_ratio": 0.02}, {"path": ["lte"], "loss_ratio": 0.0}],
        }
    ],
    "links": [{"name": "wifi", "direction": "forward", "utilisation": 0.75, "drops_queue": 3}],
    "fairness": {"jain": 0.9},
}


def stored(store: Store, name: str, loss: str = "0%", goodput_bps: float = 1e6, **changes: object) -> int:
    """A finished run with this loss of its link and goodput of its flow."""
    text = f'[links.wifi]\nloss = "{loss}"\n[flows.download]\ncontroller = "{name}"\n'
    run = store.start_run(start(name, scenario_text=text, **changes), COLUMNS)
    run.finish("finished", {"flows": [{"name": "download", "goodput_bps": goodput_bps}]}, "0")
    return run.run_id


def names(store: Store, *conditions: Condition) -> list[str]:
    return [run.name for run in store.runs(conditions)]


def test_parameters_are_recorded_by_dotted_key_in_si_units() -> None:
    values = {value.key: (value.number, value.text) for value in parameter_values(SCENARIO)}
    assert values == {
        "profile": (None, "linux"),
        "links.wifi.ends": (None, "server, client"),
        "links.wifi.rate": (8e6, "8Mbit/s"),
        "links.wifi.loss": (0.02, "2%"),
        "links.wifi.queue.discipline": (None, "codel"),
        "links.wifi.queue.limit": (67.0, "67pkt"),
        "flows.download.controller": (None, "olia"),
        "flows.download.paths": (None, "wifi, lte-core"),
        "events.1.at": (5.0, "5s"),
        "events.1.up": (None, "false"),
    }


def test_figures_are_recorded_with_their_owners_as_traces_name_them() -> None:
    values = {value.key: value.number if value.text is None else value.text for value in figure_values(RICH)}
    assert values == {
        "profile": "linux",
        "transport.initial_window": 10.0,
        "transport.dsack": "true",
        "flows.download.controller": "olia",
        "flows.download.goodput_bps": 5e6,
        "flows.download/1.loss_ratio": 0.02,
        "flows.download/2.loss_ratio": 0.0,
        "links.wifi/forward.utilisation": 0.75,
        "links.wifi/forward.drops_queue": 3.0,
        "fairness.jain": 0.9,
    }


@for_each("text", ["not = [toml", "\x00", "format = 1"])
def test_a_scenario_that_cannot_be_read_has_no_parameters(text: str) -> None:
    assert parameter_values(text) == []


@for_each("summary", [{}, {"flows": None}, {"flows": ["?"]}, {"links": 3}])
def test_a_summary_without_its_parts_has_no_figures(summary: dict[str, object]) -> None:
    assert figure_values(summary) == []


def test_numbers_that_are_none_and_long_texts_do_not_break_the_index() -> None:
    document = {"a": float("nan"), "b": float("inf"), "c": 10**400, "d": "x" * 1000}
    assert figure_values(document) == [
        RunValue("a", None, None),
        RunValue("b", None, None),
        RunValue("c", None, None),
        RunValue("d", None, "x" * LONGEST_TEXT),
    ]


def test_units_are_those_of_the_simulator() -> None:
    assert {unit: float(factor) for units in SIMULATOR_UNITS.values() for unit, factor in units.items()} == UNITS


@for_each(
    ("text", "number"),
    [("8 Mbit/s", 8e6), ("50ms", 0.05), ("-3", -3.0), ("1_000pkt", 1000.0), ("2 apples", None), ("lia", None)],
)
def test_quantities_are_read_as_numbers(text: str, number: float | None) -> None:
    assert quantity(text) == number


def test_runs_are_found_by_parameters_and_figures(store: Store) -> None:
    stored(store, "lia", "1%", 2e6)
    stored(store, "olia", "0%", 5e6)

    def recorded(field: str, operator: str, value: float | str, *, is_negated: bool = False) -> list[str]:
        return names(store, Condition(field, operator, value, is_negated, is_recorded=True))

    assert recorded("links.wifi.loss", ">", 0.0) == ["lia"]
    assert recorded("links.wifi.loss", "=", 0.01) == ["lia"]
    assert recorded("flows.*.goodput_bps", ">=", 5e6) == ["olia"]
    assert recorded("flows.download.controller", "=", "OLIA") == ["olia"]
    assert recorded("flows.download.controller", ":", "lia") == ["olia", "lia"]
    assert recorded("flows.download.controller", "=", "*lia", is_negated=True) == []
    assert recorded("flows.download.goodput_bps", "!=", 5e6) == ["lia"]
    assert recorded("nothing.of.it", "=", 1.0) == []
    assert recorded("nothing.of.it", "=", 1.0, is_negated=True) == ["olia", "lia"]
    assert "links.wifi.loss" in store.value_keys()
    assert store.values("links.wifi.loss") == {1: 0.01, 2: 0.0}
    assert store.values("flows.download.controller") == {1: "lia", 2: "olia"}


def test_conditions_on_columns_words_and_tags_are_joined(store: Store) -> None:
    first = stored(store, "first", seed=2**64 - 1)
    stored(store, "second", seed=3, started_at_utc=None)
    store.add_tag(first, "fairness 1")

    assert names(store, Condition("seed", "=", 3.0)) == ["second"]
    assert names(store, Condition("seed", ">", 2.0**63)) == ["first"]
    assert names(store, Condition(TAG, "=", "FAIR*")) == ["first"]
    assert names(store, Condition(TAG, "=", "fair")) == []
    assert names(store, Condition(TAG, "!=", "fairness 1")) == ["second"]
    assert names(store, Condition(TAG, "=", "fair*", is_negated=True)) == ["second"]
    assert names(store, Condition(WORDS, ":", "sec")) == ["second"]
    assert names(store, Condition(WORDS, ":", "sec", is_negated=True)) == ["first"]
    assert names(store, Condition(WORDS, ":", "–"), Condition("jain", "<", 0.9)) == []
    assert names(store, Condition("note", "=", "")) == ["second", "first"]
    assert names(store, Condition("name", ":", "100%_")) == []
    assert names(store, Condition(STARTED, ">=", "2020-01-01"), Condition("name", "<", "g")) == ["first"]
    with pytest.raises(ValueError, match="unknown field 'colour'"):
        store.runs([Condition("colour", "=", 1.0)])


def test_a_running_run_is_found_by_its_parameters_only(store: Store) -> None:
    with store.start_run(start(scenario_text=SCENARIO), COLUMNS) as run:
        assert store.values("links.wifi.rate") == {run.run_id: 8e6}
        assert store.values("fairness.jain") == {}
        run.finish("finished", RICH, "0")
    assert store.values("fairness.jain") == {run.run_id: 0.9}


def test_recorded_values_of_a_finished_run_stay_and_go_with_it(path: Path) -> None:
    with open_store(path) as store:
        run_id = stored(store, "lia")
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("DELETE FROM run_value", "UPDATE run_value SET number = 1"):
            with pytest.raises(sqlite3.IntegrityError, match="immutable"):
                connection.execute(statement)
    with open_store(path) as store:
        store.delete([run_id])
        store.purge_deleted()
        assert store.value_keys() == []


@for_each(
    ("pattern", "expected"),
    [
        ("A.b", ["a.b"]),
        ("*.b", ["a.b", "x.y.b"]),
        ("a.*", ["a.b", "a.c"]),
        ("b", ["a.b", "x.y.b"]),
        ("y.b", ["x.y.b"]),
        ("*.d", ["e.d"]),
        ("*/*.d", ["e/1.d"]),
        ("a?b", []),
    ],
)
def test_patterns_stand_for_keys(pattern: str, expected: list[str]) -> None:
    assert matching_keys(pattern, ["a.b", "a.c", "x.y.b", "e.d", "e/1.d"]) == expected


def test_a_scenario_replaced_during_the_run_is_what_is_recorded(store: Store) -> None:
    with store.start_run(start(scenario_text='[links.old]\nloss = "1%"\n'), COLUMNS) as run:
        run.replace_scenario('[links.wifi]\nloss = "2%"\n')
        run.finish("finished", RICH, "0")
    assert store.values("links.wifi.loss") == {run.run_id: 0.02}
    assert store.values("links.old.loss") == {}
    assert store.values("fairness.jain") == {run.run_id: 0.9}


def test_texts_of_scripts_are_told_apart_by_a_digest_on_one_line() -> None:
    beginning = "# the same\n" * LONGEST_TEXT
    texts = [beginning + end for end in ("a", "b", "a")]
    written = [f"[controllers.mine]\nscript = 'mine.py'\ncontent = '''\n{text}'''\n" for text in texts]
    found = [{each.key: each.text for each in parameter_values(text)} for text in written]
    first, second, third = (each["controllers.mine.content"] for each in found)
    assert first is not None
    assert (len(first), first.isalnum()) == (8, True)
    assert first == third != second


def test_numbers_of_the_flows_of_all_runs_are_read_together(store: Store) -> None:
    flows = [
        {"name": "short", "completion_s": 2.5, "goodput_bps": 1e6, "subflows": [{"goodput_bps": 1e6}]},
        {"name": "long.2", "completion_s": None, "goodput_bps": 3e6},
    ]
    measured = [
        {"name": "http://10.0.0.1/2", "goodput_bps": 5e6, "subflows": [{"goodput_bps": 4e6}]},
        {"name": "a/b", "goodput_bps": 6e6},
    ]
    numbers = []
    for told in (flows, flows[1:], [{"name": "short", "goodput_bps": None}], measured):
        run = store.start_run(start(scenario_text='[flows.short]\nsize = "1MB"\n'), COLUMNS)
        run.finish("finished", {"flows": told}, "0")
        numbers.append(run.run_id)
    assert store.flow_values(("completion_s", "goodput_bps", "unknown")) == {
        numbers[0]: [{"goodput_bps": 3e6}, {"completion_s": 2.5, "goodput_bps": 1e6}],
        numbers[1]: [{"goodput_bps": 3e6}],
        numbers[3]: [{"goodput_bps": 6e6}, {"goodput_bps": 5e6}],
    }
