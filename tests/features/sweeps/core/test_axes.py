"""The values of an axis: lists, ranges and random draws."""

from __future__ import annotations

import pytest
from tests.helpers.members import for_each

from subflow_app.features.sweeps.core.axes import SweptValue, read_range, read_values, split_list, swept, with_units
from subflow_sim.errors import ParamError


@for_each(
    ("text", "values"),
    [
        ("1%..5%/5", ["1%", "2%", "3%", "4%", "5%"]),
        ("10ms..1s/3 log", ["10ms", "100ms", "1000ms"]),
        ("500kbit/s..2Mbit/s/4", ["500kbit/s", "1000kbit/s", "1500kbit/s", "2000kbit/s"]),
        ("1..10/4", [1, 4, 7, 10]),
        ("0.1..0.5/5", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("10pkt..67pkt/4", ["10pkt", "29pkt", "48pkt", "67pkt"]),  # whole packets
        ("4%..0%/3", ["4%", "2%", "0%"]),
        ("3%..3%/1", ["3%"]),
        ("1ms .. 2ms / 3", ["1ms", "1.5ms", "2ms"]),
    ],
)
def test_a_range_has_both_ends_and_values_at_equal_distances_or_ratios(text: str, values: list[object]) -> None:
    assert list(read_values(text)) == values


def test_a_range_reads_back_from_its_text() -> None:
    for text in ("1%..5%/5", "10ms..1s/7 log", "1..2/3"):
        assert read_range(read_range(text).text) == read_range(text)


def test_a_range_of_a_billion_values_takes_no_time() -> None:
    values = read_values("0%..100%/1000000000")
    assert len(values) == 10**9
    assert values[10**9 - 1] == "100%"
    assert values[500_000_000] == "50.0000001%"


@for_each(
    ("text", "problem"),
    [
        ("1%..5%", 'lacks its number of values; allowed: e.g. "1%..5%/5"'),
        ("1%..5ms/3", "not a range"),
        ("a..b/3", "not a range"),
        ("1%..5%/1", "cannot have 1 values"),
        ("1%..5%/0", "cannot have 0 values"),
        ("0ms..5ms/3 log", "begins and ends above 0"),
        ("", "no values"),
    ],
)
def test_what_is_no_range_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ParamError) as error:
        read_values(text)
    assert problem in str(error.value)


def test_a_single_value_and_a_list_are_themselves() -> None:
    assert list(read_values("lia")) == ["lia"]
    assert list(read_values(3)) == [3]
    assert list(read_values(["lia", {"name": "mpcc-loss"}])) == ["lia", {"name": "mpcc-loss"}]
    with pytest.raises(ParamError, match="no values"):
        read_values([])


def test_values_are_shown_with_their_number_in_si_units() -> None:
    assert swept("2%") == SweptValue("2%", 0.02)
    assert swept("8Mbit/s") == SweptValue("8Mbit/s", 8e6)
    assert swept("lia") == SweptValue("lia", None)
    assert swept(5) == SweptValue("5", 5.0)
    assert swept({"name": "lia"}) == SweptValue('{ name = "lia" }', None)
    assert swept(None) == SweptValue("", None)


def test_a_typed_list_is_cut_at_its_own_commas() -> None:
    typed = 'lia, { name = "a,b", alpha = 0.9 }, [1, 2]'
    assert list(split_list(typed)) == ["lia", '{ name = "a,b", alpha = 0.9 }', "[1, 2]"]


@for_each(
    ("text", "unit", "completed"),
    [
        ("10, 20", "Mbit/s", "10Mbit/s, 20Mbit/s"),
        ("10..50/5", "Mbit/s", "10Mbit/s..50Mbit/s/5"),
        ("1..100/3 log", "ms", "1ms..100ms/3 log"),
        ("1..5", "%", "1%..5%"),  # of a random sweep
        ("10kbit/s, 20", "Mbit/s", "10kbit/s, 20Mbit/s"),
        ("8e6", "Mbit/s", "8e6"),  # as written in files
        ("lia,olia", "", "lia,olia"),
        ("1,2 ,5", "", "1,2 ,5"),
    ],
)
def test_bare_numbers_take_the_unit_of_the_parameter(text: str, unit: str, completed: str) -> None:
    assert with_units(text, unit) == completed
