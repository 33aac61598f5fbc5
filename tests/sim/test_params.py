"""Parameters: values read from files and from fields, bounds, help, and texts that read back."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each

from subflow_sim.errors import ParamError
from subflow_sim.params import SECTIONS, Dimension, Param, params_by_key
from subflow_sim.plain_text import closest, did_you_mean, either
from subflow_sim.scenario import QueueSpec

ALL_PARAMS = [(section, param) for section, params in SECTIONS.items() for param in params]
NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
IDS = [f"{section}.{param.key}" for section, param in ALL_PARAMS]
LINK, FLOW, SCENARIO, NODE = (params_by_key(section) for section in ("link", "flow", "scenario", "node"))


@for_each(
    ("param", "value", "expected"),
    [
        (LINK["rate"], "8Mbit/s", 8e6),
        (LINK["rate"], 8_000_000, 8e6),
        (LINK["rate"], 8e6, 8e6),
        (LINK["rate"], "unlimited", math.inf),
        (LINK["delay"], 0, 0.0),
        (LINK["queue"], "67pkt", QueueSpec(limit_pkts=67)),
        (LINK["queue"], 67, QueueSpec(limit_pkts=67)),
        (LINK["queue"], "100kB", QueueSpec(limit_bytes=100_000)),
        (LINK["queue"], "unlimited", QueueSpec()),
        (LINK["loss"], "100%", 1.0),
        (LINK["ends"], ["a", "b"], ("a", "b")),
        (LINK["ends"], '["a", "b"]', ("a", "b")),
        (FLOW["size"], 8e6, 8_000_000),
        (FLOW["recv_buffer"], "unlimited", math.inf),
        (FLOW["count"], 5, 5),
        (FLOW["count"], "5", 5),
        (FLOW["backup"], "[2, 3]", (2, 3)),
        (FLOW["backup"], [], ()),
        (FLOW["paths"], '[["wifi", "x"], ["lte"]]', (("wifi", "x"), ("lte",))),
        (SCENARIO["seed"], 2**63 - 1, 2**63 - 1),
        (SCENARIO["name"], "Zwei Wege, ein Ziel", "Zwei Wege, ein Ziel"),
        (SCENARIO["profile"], "textbook", "textbook"),
        (NODE["at"], [10, -2.5], (10.0, -2.5)),
        (NODE["at"], "[10, 20]", (10.0, 20.0)),
        (params_by_key("event")["up"], "false", False),
    ],
)
def test_a_value_from_a_file_or_a_field_is_read_as_si(param, value, expected):
    parsed = param.parse(value)
    assert parsed == expected
    assert type(parsed) is type(expected)


@for_each(
    ("param", "value", "message"),
    [
        (LINK["rate"], "0.5bit/s", "too small"),
        (LINK["rate"], True, "this is true or false"),
        (LINK["delay"], "0.05", "unit is missing"),
        (LINK["delay"], "unlimited", "not a number with a unit"),
        (LINK["queue"], "0B", "must not be zero"),
        (LINK["queue"], "1.5pkt", "not a whole number"),
        (LINK["queue"], "67", "unit is missing"),
        (SCENARIO["duration"], 10**400, "too large"),
        (SCENARIO["mss"], "1.5B", "not a whole number"),
        (SCENARIO["mss"], 65_001, "too large"),
        (SCENARIO["seed"], "one", "this is text"),
        (SCENARIO["seed"], 2**63, "too large"),
        (SCENARIO["name"], "  ", "empty"),
        (SCENARIO["name"], "x" * 201, "too long"),
        (SCENARIO["name"], "\x1b[31mred", "control character"),
        (FLOW["from"], "a b", "not a name"),
        (FLOW["from"], 5, "this is a whole number"),
        (NODE["at"], [1, "x"], "this is text, not a number"),
        (NODE["at"], [1, math.nan], "not a number"),
    ],
)
def test_an_impossible_value_is_refused_and_says_what_is_allowed(param, value, message):
    with pytest.raises(ParamError) as caught:
        param.parse(value)
    assert message in caught.value.message
    assert caught.value.allowed


def test_text_that_spells_a_count_or_a_flag_is_refused_in_a_file():
    """A field on screen only has text; in a file `seed = "3"` is a mistake that the JSON Schema reports too."""
    assert SCENARIO["seed"].parse("3") == 3
    with pytest.raises(ParamError, match="this is text, not a whole number"):
        SCENARIO["seed"].read("3")


@for_each(("section", "param"), ALL_PARAMS, ids=IDS)
def test_every_parameter_explains_itself_and_allows_its_default(section, param):
    assert param.help[0].isupper() or param.help[0] in '"ft'
    assert param.help.endswith(".")
    assert len(param.help) > 15
    assert param.allowed_text()
    assert param.default is None or param.parse(param.format(param.default)) == param.default


def test_what_is_allowed_names_bounds_and_an_example():
    assert LINK["rate"].allowed_text() == ('a rate from "1bit/s" to "1000Gbit/s" or "unlimited", e.g. "8Mbit/s" or 8e6')
    assert SCENARIO["duration"].allowed_text() == ('a time greater than 0 and at most "1000000s", e.g. "60s" or 60')
    assert SCENARIO["profile"].allowed_text() == '"linux" or "textbook"'


def test_units_of_parsed_values_are_si():
    assert [LINK[key].unit for key in ("rate", "delay", "queue", "loss")] == ["bit/s", "s", "pkt", ""]
    assert FLOW["size"].unit == "B"


def finite_values_of(param: Param) -> st.SearchStrategy[Any]:
    low, high = param.minimum or 0, param.maximum or 0
    coordinates = st.floats(low, high)
    paths = st.lists(st.lists(NAMES).map(tuple), min_size=1).map(tuple)
    strategies: dict[Dimension, st.SearchStrategy[Any]] = {
        Dimension.COUNT: st.integers(int(low), int(high)),
        Dimension.COUNTS: st.lists(st.integers(int(low), int(high))).map(tuple),
        Dimension.SIZE: st.integers(int(low), int(high)),
        Dimension.QUEUE: st.builds(QueueSpec, limit_pkts=st.integers(1, 10**7))
        | st.builds(QueueSpec, limit_bytes=st.integers(1, 10**12)),
        Dimension.FLAG: st.booleans(),
        Dimension.POINT: st.tuples(coordinates, coordinates),
        Dimension.CHOICE: st.sampled_from(param.choices or ("lia", "newreno")),
        Dimension.NAME: NAMES,
        Dimension.TEXT: st.text(min_size=1, max_size=200).filter(lambda text: text.strip() and text.isprintable()),
        Dimension.LIST: st.lists(NAMES).map(tuple),
        Dimension.PATHS: paths,
    }
    return strategies.get(param.dimension, st.floats(low, high, exclude_min=param.exclusive_minimum))


def values_of(param: Param) -> st.SearchStrategy[Any]:
    """Values that `param` allows."""
    unlimited = QueueSpec() if param.dimension is Dimension.QUEUE else math.inf
    return finite_values_of(param) | st.just(unlimited) if param.allows_unlimited else finite_values_of(param)


@given(st.data(), st.sampled_from([param for _, param in ALL_PARAMS]))
def test_the_text_of_a_value_parses_back_to_exactly_that_value(data, param):
    value = data.draw(values_of(param))
    assert param.parse(param.format(value)) == value


def test_a_value_of_the_wrong_kind_has_no_text():
    with pytest.raises(ValueError, match="is not a value of delay"):
        LINK["delay"].format(object())


def test_names_are_listed_as_prose_and_of_very_many_only_the_first():
    assert either([]) == "nothing"
    assert either(["a"]) == '"a"'
    assert either(["a", "b", "c"]) == '"a", "b" or "c"'
    assert either([f"n{number}" for number in range(100)]).endswith('"n27", "n28" or 71 others')


def test_a_close_word_is_suggested_unless_there_are_very_many():
    assert did_you_mean("Wfi", ["lte", "wifi"]) == ', did you mean "wifi"?'
    assert did_you_mean("satellite", ["lte", "wifi"]) == ""
    assert did_you_mean("n1", [f"n{number}" for number in range(1001)]) == ""


def test_no_name_is_suggested_or_allowed_twice():
    known = ["controller", "lia", "controller", "lia", "controllers"]
    assert closest("controler", known, most=3) == 'did you mean "controller" or "controllers"?'
    assert did_you_mean("controler", known) == ', did you mean "controller"?'
    assert either(known) == '"controller", "lia" or "controllers"'
