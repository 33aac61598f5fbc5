"""Every option of every controller and scheduler can be set with --set and is documented, from its one declaration."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

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
SCHEMA = scenario_schema()
DESCRIBED = {key: json.dumps(SCHEMA["$defs"][f"built_in_{key}"]) for key in ("controller", "scheduler")}

every_algorithm = for_each(("key", "algorithm"), ALGORITHMS, ids=lambda each: getattr(each, "name", each))


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def values_of(option: Param) -> list[Any]:
    """The default and the bounds of an option, or each choice."""
    if option.dimension is Dimension.CHOICE:
        return list(option.choices)
    if option.dimension is Dimension.FLAG:
        return [True, False]
    if option.dimension is Dimension.POLICY:
        # A shipped policy is made for one history: controllers without one use these policies.
        return ["neutral", "random"]
    bounds = (option.default, option.minimum, option.maximum)
    return [value for value in bounds if isinstance(value, int | float) and math.isfinite(value)]


def settings(key: str, algorithm: Algorithm, values: Mapping[str, str]) -> Iterator[str]:
    """The arguments that choose the algorithm and set its options."""
    yield from ("--set", f"{FLOW}.{key}={algorithm.name}")
    for option, text in values.items():
        yield from ("--set", f"{FLOW}.{key}.{option}={text}")


def by_base(algorithm: Algorithm) -> dict[str, list[Param]]:
    """The options that one command can set, by the base that accepts them; "" for options of all bases."""
    groups: dict[str, list[Param]] = {}
    for option in algorithm.options:
        groups.setdefault(option.applies_to[0] if option.applies_to else "", []).append(option)
    return groups


@every_algorithm
def test_set_reaches_each_copy_of_a_flow(subflow: Subflow, scenario: Path, key: str, algorithm: Algorithm) -> None:
    for base, options in by_base(algorithm).items():
        # All options take the same bound at a time, because some limit each other.
        for position in range(max(len(values_of(option)) for option in options)):
            values = {option.key: values_of(option)[position % len(values_of(option))] for option in options}
            written = {option.key: option.format(values[option.key]) for option in options}
            bare = {name: json.dumps(value).strip('"') for name, value in values.items()}
            # As written by a person with units, and as bare SI numbers
            for texts in (written, bare):
                words = settings(key, algorithm, {**({"base": base} if base else {}), **texts})
                answer = subflow("run", scenario, "--no-store", "--json", *words).check()
                assert [flow["name"] for flow in answer.document["flows"]] == ["down-load_1.1", "down-load_1.2"]
                for flow in answer.document["flows"]:
                    assert flow[key] == algorithm.name
                    assert {name: flow[f"{key}_options"][name] for name in values} == values


@every_algorithm
def test_values_out_of_range_are_refused(subflow: Subflow, scenario: Path, key: str, algorithm: Algorithm) -> None:
    for base, options in by_base(algorithm).items():
        wrong: list[tuple[Param, float]] = []
        for option in options:
            if option.minimum is not None and option.maximum is not None:
                step = max(1.0, abs(option.minimum), abs(option.maximum))
                wrong += [(option, option.minimum - step), (option, option.maximum + step)]
        for group in filter(None, (wrong[::2], wrong[1::2])):
            texts = {option.key: option.format(value) for option, value in group}
            words = settings(key, algorithm, {**({"base": base} if base else {}), **texts})
            answer = subflow("run", scenario, "--no-store", *words)
            assert answer.code == 2
            told = {line.split(" = ")[0].split()[-1]: line for line in answer.err.splitlines() if " = " in line}
            for option, value in group:
                line = told[f"{FLOW}.{key}.{option.key}"]
                assert texts[option.key] in line or repr(value) in line
                assert option.allowed_text() in line


@every_algorithm
def test_an_unknown_option_is_told_the_known(subflow: Subflow, scenario: Path, key: str, algorithm: Algorithm) -> None:
    answer = subflow("run", scenario, "--no-store", *settings(key, algorithm, {"nonsense": "1"}))

    assert answer.code == 2
    assert f"{FLOW}.{key}.nonsense = 1" in answer.err
    assert '"name"' in answer.err
    for option in algorithm.options:
        assert f'"{option.key}"' in answer.err or option.applies_to


@every_algorithm
def test_options_are_told_as_they_are_declared(subflow: Subflow, key: str, algorithm: Algorithm) -> None:
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


@every_algorithm
def test_the_schema_allows_each_option_in_its_range_and_no_further(key: str, algorithm: Algorithm) -> None:
    validator = Draft202012Validator({**SCHEMA["$defs"][key], "$defs": SCHEMA["$defs"]})
    for option in algorithm.options:
        base = {"base": option.applies_to[0]} if option.applies_to else {}
        for value in values_of(option):
            assert validator.is_valid({"name": algorithm.name, **base, option.key: value}), option.key
        wrong_values: list[object] = ["" if option.dimension is Dimension.POLICY else "nonsense", []]
        if option.maximum is not None:
            wrong_values.append(option.maximum * 2 + 1)
        for wrong in wrong_values:
            assert not validator.is_valid({"name": algorithm.name, **base, option.key: wrong}), (option.key, wrong)
        assert json.dumps(option.help)[1:-1] in DESCRIBED[key]
