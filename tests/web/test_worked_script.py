"""The script of pages that fills numbers into rules: its results equal those of window and terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import pytest
from PySide6.QtQml import QJSEngine, QJSValue
from PySide6.QtWidgets import QApplication
from tests.features.explain.core.test_worked_rules import MSS_BYTES, TEXT
from tests.helpers.members import for_each
from tests.helpers.web_core import ASSETS

from subflow_app.features.explain.core.decisions import packet_bits, worked
from subflow_app.features.explain.core.explained import amount_text
from subflow_app.features.exporting.core.web_page import told_words
from subflow_app.vocabulary.number_text import finite
from subflow_sim import controllers
from subflow_sim.decisions import DecisionLimits, Explanation
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation


@pytest.fixture(scope="module")
def script(qapp: QApplication) -> QJSEngine:
    """The script in a JavaScript engine without a page."""
    assert qapp is not None  # the engine needs an application
    made = QJSEngine()
    source = (ASSETS / "page" / "worked.js").read_text(encoding="utf-8")
    words = json.dumps(told_words("en")["words"])
    names = "worked_rule, worked_text, number_parts, six_digits"
    text = f"var page = (() => {{ const told_words = {words};\n{source}\nreturn {{ {names} }}; }})()"
    found = cast("QJSValue", made.evaluate(text))
    assert not found.isError(), found.toString()
    return made


def value_of(script: QJSEngine, call: str) -> Any:
    found = cast("QJSValue", script.evaluate(f"JSON.stringify(page.{call})"))
    assert not found.isError(), found.toString()
    return json.loads(found.toString()) if found.isString() else None


def document(told: Explanation) -> Mapping[str, Any]:
    """A decision as the core of pages reports it."""
    numbers = [
        {"name": name, "value": finite(number.value)}
        for name, number in zip(told.rule.numbers, told.numbers, strict=True)
    ]
    return {"rule": told.rule.name, "cwnd_before_pkts": finite(told.cwnd_pkts[0]), "numbers": numbers}


def taken(name: str) -> list[Explanation]:
    """Some decisions by each rule of a controller."""
    algorithm = next(each for each in controllers() if each.name == name)
    has_policy = name != "uncoupled" and any(option.key == "policy" for option in algorithm.options)
    text = TEXT.format(
        profile="linux",
        kind="mptcp" if algorithm.is_coupled else "tcp",
        controller=f'{{ name = "{name}"{", policy = {}".format(chr(34) + "random" + chr(34)) if has_policy else ""} }}',
        paths='[["one"], ["two"]]' if algorithm.is_coupled else '[["one"]]',
    )
    simulation = Simulation(parse_scenario(text), sample_interval_s=60.0, decisions=DecisionLimits(1 << 20))
    simulation.run_until(4.0)
    decisions, counts, found = simulation.take_decisions(), Counter[int](), []
    for row in range(len(decisions)):
        rule = int(decisions.rule[row])
        counts[rule] += 1
        if counts[rule] <= 5:
            found.append(decisions.explain(row))
    return found


@for_each("name", [each.name for each in controllers()])
def test_a_rule_is_filled_in_as_in_window_and_terminal(script: QJSEngine, name: str) -> None:
    count = 0
    for told in taken(name):
        here = worked(told, MSS_BYTES)
        call = f"worked_rule({json.dumps(document(told))}, {packet_bits(MSS_BYTES)}, null)"
        there = value_of(script, call)
        if here is None:
            assert there is None, told.text
            continue
        assert there is not None, told.text
        assert (there["result"], there["text"]) == (here.result, here.filled)
        amount = amount_text(here.result, here.value).replace("-", "−")
        assert value_of(script, f"worked_text({json.dumps(there)})").endswith(f"= {amount}")
        count += 1
    assert count > 2


def test_a_window_that_is_taken_to_its_threshold_is_filled_in_with_that_threshold(script: QJSEngine) -> None:
    decision = {"rule": "recovery_exit", "cwnd_before_pkts": 20, "numbers": []}
    there = value_of(script, f"worked_rule({json.dumps(decision)}, 12000, 17.25)")
    assert value_of(script, f"worked_text({json.dumps(there)})") == "cwnd = 17.25 pkt"


@for_each(
    ("name", "parts"),
    [
        ("best_pkts_per_s2", ("best", "pkt/s²")),
        ("total_rate_pps", ("total_rate", "pkt/s")),
        ("W_max_before_pkts", ("W_max_before", "pkt")),
        ("base_rtt_s", ("base_rtt", "s")),
        ("alpha", ("alpha", "")),
    ],
)
def test_a_number_has_the_unit_of_its_name(script: QJSEngine, name: str, parts: tuple[str, str]) -> None:
    found = value_of(script, f"number_parts({json.dumps(name)})")
    assert (found["name"], found["unit"]) == parts


@for_each("value", [0.0, 1.0, -0.25, 123456.0, 1234567.0, 0.0001, 0.00001234567, 1e21, 999999.7, 42.83879])
def test_a_number_is_written_in_six_digits(script: QJSEngine, value: float) -> None:
    assert value_of(script, f"six_digits({value!r})") == f"{value:.6g}".replace("-", "−")
