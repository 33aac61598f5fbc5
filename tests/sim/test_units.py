"""Quantities: the meaning of texts, the errors for refused texts, and printing without loss."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each

from subflow_sim.errors import ParamError
from subflow_sim.units import UNITS, Dimension, format_quantity, parse_quantity

RATE, TIME, SIZE, QUEUE, RATIO = Dimension.RATE, Dimension.TIME, Dimension.SIZE, Dimension.QUEUE, Dimension.RATIO


@for_each(
    ("text", "dimension", "expected"),
    [
        ("8Mbit/s", RATE, 8e6),
        ("8 Mbit/s", RATE, 8e6),
        (" 1.5Gbit/s ", RATE, 1.5e9),
        ("64kbit/s", RATE, 64e3),
        ("1_000bit/s", RATE, 1000.0),
        ("50ms", TIME, 0.05),
        ("120us", TIME, 120e-6),
        ("120µs", TIME, 120e-6),
        ("7ns", TIME, 7e-9),
        ("2min", TIME, 120.0),
        ("1e-3s", TIME, 1e-3),
        ("-1s", TIME, -1.0),
        ("600MB", SIZE, 600e6),
        ("1.5kB", SIZE, 1500.0),
        ("1GB", SIZE, 1e9),
        ("67pkt", QUEUE, 67.0),
        ("2%", RATIO, 0.02),
        ("0.001%", RATIO, 1e-5),
        ("0.02", RATIO, 0.02),
        ("0.9", Dimension.NUMBER, 0.9),
        # decimal scaling, then one rounding: 0.1 * 3 in binary would give 0.30000000000000004
        ("300ms", TIME, 0.3),
        ("1e999s", TIME, math.inf),
    ],
)
def test_a_number_with_a_unit_becomes_the_si_value(text, dimension, expected):
    assert parse_quantity(text, dimension) == expected


@for_each(
    ("text", "dimension", "message", "allowed"),
    [
        ("8Mbs", RATE, 'did you mean "Mbit/s"', '"bit/s", "kbit/s", "Mbit/s" or "Gbit/s"'),
        ("8mbit/s", RATE, 'did you mean "Mbit/s"', "8Mbit/s"),
        ("8Mbps", RATE, 'did you mean "Mbit/s"', "8Mbit/s"),
        ("8parsec", RATE, '"parsec" is not a unit of rate', "8Mbit/s"),
        ("8ms", RATE, '"ms" is not a unit of rate', "8Mbit/s"),
        ("8", RATE, "unit is missing", "8Mbit/s"),
        ("50", TIME, "unit is missing", '"ns", "us", "ms", "s" or "min"'),
        ("50msec", TIME, 'did you mean "ms"', "50ms"),
        ("1,5ms", TIME, "decimals need a point", "50ms"),
        ("fast", RATE, "not a number with a unit", "8Mbit/s"),
        ("", RATE, "not a number with a unit", "8Mbit/s"),
        ("nan s", TIME, "not a number", "50ms"),
        ("inf", TIME, "not a number", "50ms"),
        ("1.5.2s", TIME, "not a number", "50ms"),
        ("8MiB", SIZE, 'did you mean "MB"', '"kB"'),
        ("67packets", QUEUE, 'did you mean "pkt"', '"pkt"'),
        ("100kb", QUEUE, 'did you mean "kB"', '"pkt"'),
        ("2 percent", RATIO, 'did you mean "%"', '"%"'),
        ("3s", Dimension.NUMBER, "this number has no unit", "0.9"),
        ("9" * 100 + "s", TIME, "not a number", "50ms"),
    ],
)
def test_text_that_is_no_quantity_is_refused_with_the_units_that_are(text, dimension, message, allowed):
    with pytest.raises(ParamError) as caught:
        parse_quantity(text, dimension)
    assert message in caught.value.message
    assert allowed in caught.value.allowed


@for_each(
    ("value", "dimension", "expected"),
    [
        (8e6, RATE, "8Mbit/s"),
        (1e12, RATE, "1000Gbit/s"),
        (1234567.0, RATE, "1234567bit/s"),
        (0.05, TIME, "50ms"),
        (0.12, TIME, "120ms"),
        (0.1, TIME, "0.1s"),
        (60.0, TIME, "60s"),
        (120.0, TIME, "120s"),
        (1e-9, TIME, "1ns"),
        (0.0, TIME, "0s"),
        (1500, SIZE, "1500B"),
        (75_000_000, SIZE, "75MB"),
        (67, QUEUE, "67pkt"),
        (0.02, RATIO, "2%"),
        (1e-5, RATIO, "0.001%"),
        (-0.5, Dimension.NUMBER, "-0.5"),
        (3.0, Dimension.NUMBER, "3"),
        (1e300, Dimension.NUMBER, "1e300"),
        (5e-324, Dimension.NUMBER, "5e-324"),
        (2**63 - 1, Dimension.COUNT, "9223372036854775807"),
    ],
)
def test_a_value_is_written_with_the_unit_that_makes_it_shortest(value, dimension, expected):
    assert format_quantity(value, dimension) == expected


@given(st.sampled_from(list(UNITS)), st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_written_reads_back_as_exactly_the_same_value(dimension, value):
    text = format_quantity(value, dimension)
    assert parse_quantity(text, dimension) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_has_no_text(value):
    with pytest.raises(ValueError, match="no text"):
        format_quantity(value, RATE)
