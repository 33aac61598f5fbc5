"""Every option of every controller and scheduler is reached by --set, and told of, from the one declaration of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.helpers.command_line import Subflow

from subflow_sim.catalog import controllers, schedulers
from subflow_sim.params import Algorithm, Dimension, Param
from subflow_sim.scenario import scenario_schema

SCENARIO = """\
format = 1
duration = "100ms"
nodes = { client = {}, server = {} }

[links.near]
ends = ["server", "client"]
rate = "8Mbit/s"
delay = "5ms"
[links.far]
ends = ["server", "client"]
rate = "4Mbit/s"
delay = "10ms"

[flows.down-load_1]
kind = "mptcp"
from = "server"
to = "client"
paths = [["near"], ["far"]]
count = 2
"""
FLOW = "flows.down-load_1"

ALGORITHMS = [("controller", each) for each in controllers()] + [("scheduler", each) for each in schedulers()]
OPTIONS = [
    pytest.param(key, algorithm, option, id=f"{algorithm.name}-{option.key}")
    for key, algorithm in ALGORITHMS
    for option in algorithm.options
]
BOUNDED = [each for each in OPTIONS if isinstance(each.values[2], Param) and each.values[2].minimum is not None]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def values_of(option: Param) -> list[Any]:
    """The default and the ends of what is allowed, or each choice."""
    if option.dimension is Dimension.CHOICE:
        return list(option.choices)
    if option.dimension is Dimension.FLAG:
        return [True, False]
    if option.dimension is Dimension.POLICY:
        return ["neutral", "random"]
    bounds = (option.default, option.minimum, option.maximum)
    return [value for value in bounds if isinstance(value, int | float) and math.isfinite(value)]


def settings(key: str, algorithm: Algorithm, values: dict[str, str]) -> Iterator[str]:
    """The words that choose the algorithm and set options of it."""
    yield from ("--set", f"{FLOW}.{key}={algorithm.name}")
    for option, text in values.items():
        yield from ("--set", f"{FLOW}.{key}.{option}={text}")


def texts_with(option: Param, text: str) -> dict[str, str]:
    """The option, and the base that has it if not all do."""
    return {**({"base": option.applies_to[0]} if option.applies_to else {}), option.key: text}


def moved_together(algorithm: Algorithm, option: Param, value: object) -> dict[str, str]:
    """The option with all other numbers of the algorithm at the same end: some bound each other."""
    end = "minimum" if value == option.minimum else "maximum"
    others = {
        other.key: other.format(getattr(other, end))
        for other in algorithm.options
        if getattr(other, end) is not None and other.applies_to == option.applies_to
    }
    return {**texts_with(option, option.format(value)), **others}


@pytest.mark.parametrize(("key", "algorithm", "option"), OPTIONS)
def test_set_reaches_the_option_of_each_copy_of_a_flow(
    subflow: Subflow, scenario: Path, key: str, algorithm: Algorithm, option: Param
) -> None:
    for value in values_of(option):
        # As a person writes it, with its unit, and as a bare SI number
        for text in {option.format(value), str(value).lower() if isinstance(value, bool) else str(value)}:
            words = ("run", scenario, "--no-store", "--json")
            # A policy that ships is made for one history: others are for whoever decides without one.
            plain = {"policy": "neutral"} if option.key == "history" else {}
            answer = subflow(*words, *settings(key, algorithm, {**plain, **texts_with(option, text)}))
            if answer.code == 2 and "option" in answer.err:
                answer = subflow(*words, *settings(key, algorithm, moved_together(algorithm, option, value)))
            assert answer.code == 0, answer.err
            assert [flow["name"] for flow in answer.document["flows"]] == ["down-load_1.1", "down-load_1.2"]
            for flow in answer.document["flows"]:
                assert flow[key] == algorithm.name
                assert flow[f"{key}_options"][option.key] == value


@pytest.mark.parametrize(("key", "algorithm", "option"), BOUNDED)
def test_a_value_out_of_range_is_refused_with_key_value_and_what_is_allowed(
    subflow: Subflow, scenario: Path, key: str, algorithm: Algorithm, option: Param
) -> None:
    assert option.minimum is not None
    assert option.maximum is not None
    step = max(1.0, abs(option.minimum), abs(option.maximum))
    for value in (option.minimum - step, option.maximum + step):
        text = option.format(value)
        answer = subflow(*("run", scenario, "--no-store"), *settings(key, algorithm, texts_with(option, text)))
        assert answer.code == 2
        assert f"{FLOW}.{key}.{option.key} = " in answer.err
        assert text in answer.err or repr(value) in answer.err
        assert option.allowed_text() in answer.err


@pytest.mark.parametrize(("key", "algorithm"), ALGORITHMS, ids=lambda each: getattr(each, "name", each))
def test_an_unknown_option_is_told_what_there_is(
    subflow: Subflow, scenario: Path, key: str, algorithm: Algorithm
) -> None:
    answer = subflow("run", scenario, "--no-store", *settings(key, algorithm, {"nonsense": "1"}))

    assert answer.code == 2
    assert f"{FLOW}.{key}.nonsense = 1" in answer.err
    assert '"name"' in answer.err
    for option in algorithm.options:
        assert f'"{option.key}"' in answer.err or option.applies_to


@pytest.mark.parametrize(("key", "algorithm"), ALGORITHMS, ids=lambda each: getattr(each, "name", each))
def test_what_is_told_of_the_options_is_what_they_are_declared_as(
    subflow: Subflow, key: str, algorithm: Algorithm
) -> None:
    document = subflow(f"{key}s", algorithm.name, "--json").document
    text = " ".join(subflow(f"{key}s", algorithm.name).out.split())

    assert [each["name"] for each in document["options"]] == [option.key for option in algorithm.options]
    for told, option in zip(document["options"], algorithm.options, strict=True):
        assert (told["help"], told["unit"], told["bases"]) == (option.help, option.unit, list(option.applies_to))
        assert (told["minimum"], told["maximum"], told["choices"]) == (
            *(option.minimum, option.maximum),
            list(option.choices),
        )
        assert (told["default"], told["textbook_default"]) == (option.default, option.default_in("textbook"))
        assert option.key in text
        for value in values_of(option):
            assert option.dimension is Dimension.FLAG or option.format(value) in text


@pytest.mark.parametrize(("key", "algorithm"), ALGORITHMS, ids=lambda each: getattr(each, "name", each))
def test_the_schema_allows_each_option_in_its_range_and_no_further(key: str, algorithm: Algorithm) -> None:
    schema = scenario_schema()
    validator = Draft202012Validator({**schema["$defs"][key], "$defs": schema["$defs"]})
    for option in algorithm.options:
        base = {"base": option.applies_to[0]} if option.applies_to else {}
        for value in values_of(option):
            assert validator.is_valid({"name": algorithm.name, **base, option.key: value}), option.key
        wrong_values: list[object] = ["" if option.dimension is Dimension.POLICY else "nonsense", []]
        if option.maximum is not None:
            wrong_values.append(option.maximum * 2 + 1)
        for wrong in wrong_values:
            assert not validator.is_valid({"name": algorithm.name, **base, option.key: wrong}), (option.key, wrong)
        assert json.dumps(option.help)[1:-1] in json.dumps(schema["$defs"][f"built_in_{key}"])
