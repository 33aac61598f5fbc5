"""The document of a scenario: values that arrive in the core, and documents that the core refuses."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from subflow_sim import _core
from subflow_sim.core_document import core_scenario, option_fields
from subflow_sim.errors import SimulationError
from subflow_sim.params import QUEUE_TABLE


def written(fields: dict[str, Any]) -> Any:
    """The scenario in the core, read back from these fields."""
    return json.loads(core_scenario(fields).to_json())["scenario"]


@pytest.mark.parametrize("value", [1, 2**53, 2**53 + 1, 2**63 - 1, np.int64(7)])
def test_a_time_arrives_to_the_nanosecond(value: int) -> None:
    assert int(written({"duration": value})["duration"]) == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e308, 5e-324, 1 / 3])
def test_a_number_arrives_to_the_bit(value: float) -> None:
    arrived = float(written({"links": [{"loss": value}]})["links"][0]["loss"])
    assert repr(arrived) == repr(value)


def test_a_recording_arrives_as_a_list_of_numbers_would() -> None:
    numbers = [5, 0, 2**32 - 1, *range(100)]
    packed = np.array(numbers, np.uint32).tobytes()
    first, second = written({"links": [{"opportunities_ms": packed}, {"opportunities_ms": numbers}]})["links"]
    assert first == second != {}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"length": 1}, '"length" is not known; allowed: duration'),
        ({"duration": 2**63}, "duration: a whole number from"),
        ({"links": [{"discipline": {"blue": {}}}]}, r"links\[0\].discipline"),
        ({"flows": [{"host": -1}]}, r"flows\[0\].host: a whole number from 0"),
        ({"links": [{"delays_us": 0}]}, r"links\[0\].delays_us: only 0"),
    ],
)
def test_a_field_that_the_core_does_not_have_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        core_scenario(fields)


def test_an_unknown_option_of_a_queue_is_refused_with_the_allowed_names() -> None:
    options = option_fields(QUEUE_TABLE, {"min": 5.0, "nonsense": 1.0})
    with pytest.raises(SimulationError, match='"nonsense" is not known; allowed: min_pkts, max_pkts'):
        core_scenario({"links": [{"discipline": {"red": options}}]})


def test_another_object_is_refused() -> None:
    with pytest.raises(TypeError, match=r"no value of a document: \{1\}"):
        _core.read_scenario({"scenario": {"links": {1}}})
