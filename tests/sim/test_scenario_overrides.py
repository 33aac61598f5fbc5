"""Values on the command line: the keys that they reach, their conversion, and the origin of a problem."""

from __future__ import annotations

from tests.helpers.members import for_each
from tests.helpers.scenario_texts import TWO_PATHS, problem_of, problems_of, read

EVENT = '[[events]]\nat = "30s"\nlink = "wifi"\nup = false\n'


def test_overrides_replace_values_before_they_are_checked():
    scenario = read(
        TWO_PATHS.replace('"2%"', '"200%"') + EVENT,
        "links.wifi.loss=1%",
        "seed=4",
        "seed=3",
        "name=A new name",
        "events.0.at=5s",
        "links.lte.queue = 12",
        "flows.download.count=2",
        "links.wifi.reverse.rate=2Mbit/s",
        "nodes.client.at=[1, 2]",
    )
    assert (scenario.seed, scenario.name, scenario.events[0].at_s) == (3, "A new name", 5.0)
    assert scenario.links["wifi"].forward.loss == 0.01
    assert scenario.links["lte"].forward.queue.limit_pkts == 12
    assert (scenario.links["wifi"].forward.rate_bps, scenario.links["wifi"].reverse.rate_bps) == (8e6, 2e6)
    assert scenario.flows["download"].count == 2
    assert scenario.nodes["client"].at == (1.0, 2.0)


def test_elements_of_arrays_are_counted_from_0_with_dot_or_bracket():
    assert read(TWO_PATHS + EVENT, "events[0].at=5s").events[0].at_s == 5.0
    text = TWO_PATHS + 'paths = [["wifi"], ["wifi"]]\n'
    assert read(text, "flows.download.paths.1.0=lte").flows["download"].paths == (("wifi",), ("lte",))


def test_a_key_below_a_plain_value_keeps_the_value():
    """Controller = "uncoupled" is short for { name = "uncoupled" }, so an option can be set beside it."""
    text = TWO_PATHS + 'controller = "tunable"\n'
    assert read(text, "flows.download.controller.gain=1.5").flows["download"].controller.options["gain"] == 1.5
    assert read(text, "flows.download.controller.name=lia").flows["download"].controller.name == "lia"
    assert read(TWO_PATHS, "links.wifi.queue.discipline=droptail").links["wifi"].forward.queue.limit_pkts == 67
    stepped = read(TWO_PATHS, 'links.wifi.rate.steps=[["0s", 1e6], ["1s", 2e6]]')
    assert stepped.links["wifi"].forward.rate_bps == 1e6


def test_text_that_is_no_toml_is_text():
    assert read(TWO_PATHS, "name=No # comment").name == "No # comment"
    assert read(TWO_PATHS, "name=2020-01-01").name == "2020-01-01"
    assert read(TWO_PATHS, "flows.download.controller=lia").flows["download"].controller.name == "lia"


def test_a_line_break_cannot_smuggle_in_another_key():
    assert problem_of(TWO_PATHS, "seed=1\nduration = 1").key == "seed"


@for_each(
    ("override", "key", "message", "allowed"),
    [
        ("seed", "seed", "not of the form KEY=VALUE", "links.wifi.loss=1%"),
        ("=3", "=3", "not of the form KEY=VALUE", "links.wifi.loss=1%"),
        ("links.wify.loss=1%", "links.wify.loss", 'unknown link "wify", did you mean "wifi"?', '"wifi" or "lte"'),
        ("flows.x.count=1", "flows.x.count", 'unknown flow "x"', '"download"'),
        ("nodes.x.at=[0, 0]", "nodes.x.at", 'unknown node "x"', '"client" or "server"'),
        ("events.1.at=1", "events.1.at", 'no element "1"', "from 0 to 0"),
        ("events.first.at=1", "events.first.at", 'no element "first"', "from 0 to 0"),
        ("seed.x=1", "seed", "this is a table", "whole number"),
        ("duration.x=1", "duration.x", '"duration" is not a table', ""),
        ("links.wifi.loss=120%", "links.wifi.loss", "too large", "100%"),
        ("seed=", "seed", "this is text", "whole number"),
        ("flows.download.2.count=3", "flows.download.2.count", '"2" is a copy of a flow', '"flows.download.count"'),
    ],
)
def test_a_wrong_override_is_told_as_such(override, key, message, allowed):
    problem = problem_of(TWO_PATHS + EVENT.replace("30s", "0s"), override)
    assert (problem.file, problem.line, problem.key) == ("--set", None, key)
    assert message in problem.message
    assert allowed in problem.allowed


def test_problems_of_the_file_and_of_overrides_are_told_together():
    problems = problems_of(TWO_PATHS.replace('"50ms"', "-1"), "links.wifi.loss=2", "seed=x")
    assert [(problem.file, problem.line, problem.key) for problem in problems] == [
        ("test.toml", 12, "links.wifi.delay"),
        ("--set", None, "seed"),
        ("--set", None, "links.wifi.loss"),
    ]
