"""Rules computed from their recorded numbers: the results equal those of the run, for every controller."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.explain.core.decisions import WorkedRule, all_worked, worked
from subflow_sim import controllers
from subflow_sim.decisions import DecisionLimits, Decisions, Explanation, expressions
from subflow_sim.params import Algorithm
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

MSS_BYTES = 1200

TEXT = """
format = 1
duration = "15s"
profile = "{profile}"
mss = 1200
nodes = {{ a = {{}}, b = {{}} }}
events = [{{ at = "9s", link = "one", up = false }}, {{ at = "11s", link = "one", up = true }}]
[links]
one = {{ ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms", queue = "40pkt", loss = "0.3%" }}
two = {{ ends = ["a", "b"], rate = "12Mbit/s", delay = "40ms", queue = "60pkt" }}
[flows]
f = {{ kind = "{kind}", from = "a", to = "b", controller = {controller}, paths = {paths} }}
"""


def controller(name: str) -> Algorithm:
    return next(algorithm for algorithm in controllers() if algorithm.name == name)


def computed(told: Explanation) -> WorkedRule:
    """The worked rule of a decision, whose result equals that of the run."""
    found = present(worked(told, MSS_BYTES))
    assert found.is_same, (found, told.text)
    return found


def of_rule(decisions: Decisions, rule: str) -> list[Explanation]:
    rows = [row for row in range(len(decisions)) if decisions.rules[decisions.rule[row]].name == rule]
    return [decisions.explain(row) for row in rows]


def decisions_of(algorithm: Algorithm, profile: str, arithmetic: str = "", network: str = TEXT) -> Decisions:
    has_policy = algorithm.name != "uncoupled" and any(option.key == "policy" for option in algorithm.options)
    name, is_coupled = algorithm.name, algorithm.is_coupled
    options = ', policy = "random"' if has_policy else ""
    if arithmetic:
        options += f', arithmetic = "{arithmetic}"'
    text = network.format(
        profile=profile,
        kind="mptcp" if is_coupled else "tcp",
        controller=f'{{ name = "{name}"{options} }}',
        paths='[["one"], ["two"]]' if is_coupled else '[["one"]]',
    )
    simulation = Simulation(parse_scenario(text), sample_interval_s=60.0, decisions=DecisionLimits(1 << 20))
    simulation.run_until(15.0)
    return simulation.take_decisions()


def test_every_controllers_rules_give_what_the_run_had() -> None:
    # All rules except those that only apply a decision of the controller.
    known = {name for name, expression in expressions().items() if expression != "cwnd = ssthresh"}
    seen = Counter[str]()
    for algorithm in controllers():
        has_kernel = any(option.key == "arithmetic" and "kernel" in option.choices for option in algorithm.options)
        arithmetics = ("", "kernel") if has_kernel and algorithm.name != "uncoupled" else ("",)
        for profile, arithmetic in itertools.product(("linux", "textbook"), arithmetics):
            decisions = decisions_of(algorithm, profile, arithmetic)
            taken = Counter[str]()
            for row in range(len(decisions)):
                name = decisions.rules[decisions.rule[row]].name
                if name not in known or taken[name] >= 100:
                    continue
                taken[name] += 1
                computed(decisions.explain(row))
            seen += taken
    # All rules except those that never apply on these paths.
    rare = {"unused_window", "penalised", "hystart_plus_plus_slow_start", "cubic_convex", "agent_first_loss"}
    # No queue marks packets, and short queues lose packets before a round trip measures their delay.
    rare |= {"confluence_start_ends", "confluence_choice_of_lia", "confluence_model"}
    rare |= {"emergency_brake", "proportional_reduction", "alternative_backoff", "prague_classic_fallback"}
    assert known - set(seen) <= rare
    assert sum(seen.values()) > 5000


@pytest.mark.parametrize(
    ("rule", "network"),
    [
        ("confluence_start_ends", TEXT.replace("40pkt", "600pkt").replace("60pkt", "600pkt")),
        (
            "confluence_choice_of_lia",
            TEXT.replace("{controller}", '{{ name = "confluence", policy = "random", window = "lia" }}'),
        ),
        (
            "confluence_model",
            TEXT.replace("{controller}", '{{ name = "confluence", policy = "random", window = "model" }}'),
        ),
    ],
    ids=["a long queue", "the window of LIA", "the window of the model"],
)
def test_what_confluence_does_elsewhere_gives_what_the_run_had(rule: str, network: str) -> None:
    decisions = of_rule(decisions_of(controller("confluence"), "linux", network=network), rule)
    assert decisions
    for told in decisions:
        computed(told)


@pytest.fixture(scope="module")
def lia() -> Decisions:
    return decisions_of(controller("lia"), "linux")


def test_numbers_stand_in_the_formula(lia: Decisions) -> None:
    told = of_rule(lia, "linked_increase")[-1]
    found = computed(told)
    value = {number.name: f"{number.value:.6g}" for number in told.numbers}

    assert found.filled == (
        f"{value['cwnd']} + {value['acked']} · min({value['alpha']} / {value['cwnd_total']}, 1 / {value['cwnd']})"
    )
    assert (found.result, found.recorded) == ("cwnd", told.cwnd_pkts[1])


def test_brackets_stand_where_they_are_needed(lia: Decisions) -> None:
    told = of_rule(lia, "slow_start")[-1]
    used = replace(told.numbers[0], name="used")
    told = replace(told, rule=replace(told.rule, name="unused_window"), numbers=(used,), cwnd_pkts=(10.0, 6.0))
    assert present(worked(told, MSS_BYTES)).filled == f"(10 + {used.value:g}) / 2"


def test_a_result_that_is_not_what_was_recorded_is_seen() -> None:
    assert WorkedRule("cwnd", "1 + 1", 2.0, 2.0 + 1e-12).is_same
    assert not WorkedRule("cwnd", "1 + 1", 2.0, 2.001).is_same


def test_rules_that_need_more_than_what_was_recorded_are_left_alone(lia: Decisions) -> None:
    told = of_rule(lia, "linked_increase")[-1]

    assert worked(replace(told, rule=replace(told.rule, name="lowest_srtt")), MSS_BYTES) is None
    # A record of an older version may lack numbers.
    assert worked(replace(told, numbers=told.numbers[:1]), MSS_BYTES) is None


REDUCTIONS = {
    "newreno": "max({basis} / 2, 2)",
    "cubic": "max({beta} · {cwnd}, 2)",
    "lia": "max({basis} / 2, 2)",
    "olia": "max({basis} / 2, 1)",
    "balia": "max({cwnd} − {cwnd} / 2 · min({alpha}, 1.5), 1)",
}


@for_each("profile", ["textbook", "linux"])
@for_each("name", REDUCTIONS)
def test_a_reduction_is_computed_where_the_window_falls(name: str, profile: str) -> None:
    decisions = decisions_of(controller(name), profile)
    owner = decisions.owners[0]
    told = [decisions.explain(int(row)) for row in decisions.rows(owner)]
    falls = [
        position
        for position, each in enumerate(told)
        if each.rule.name in ("sack_recovery", "proportional_rate_reduction") and not each.value("prr_out")
    ]
    assert falls

    for position in falls:
        rules = all_worked(told[position], told[:position], MSS_BYTES)

        assert all(rule.is_same for rule in rules), rules
        decided = told[position - 1]
        numbers = {number.name: f"{number.value:.6g}" for number in decided.numbers}
        filled = rules[0].filled.replace("whole(", "").replace("), 2)", ", 2)")  # Linux rounds CUBIC's window down
        assert REDUCTIONS[name].format(**numbers) in filled
        assert [rule.result for rule in rules] == (["cwnd"] if profile == "textbook" else ["ssthresh", "cwnd"])
