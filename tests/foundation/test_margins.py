"""Margins of claims: the logarithm of the ratio of both sides, combined by and, or, not."""

from __future__ import annotations

import math

import pytest
from tests.helpers.members import for_each

from subflow_app.foundation.claims import LARGEST_MARGIN, Claim
from subflow_app.foundation.expressions import Function, Missing, Value

FUNCTIONS = {"a": Function((), unit="Mbit/s"), "b": Function((), unit="Mbit/s"), "each": Function((), unit="Mbit/s")}


def margin(text: str, **values: Value) -> float | Missing:
    """The margin of a claim about these values, in bit/s."""
    return Claim(text, FUNCTIONS).margin(lambda name, _: values.get(name, Missing(f"{name} is not known")))


@for_each(
    ("text", "expected"),
    [
        ("a() >= b()", math.log(2)),
        ("a() < b()", -math.log(2)),
        ("b() >= 0.5 * a()", 0.0),
        ("a() in 1 Mbit/s .. 2.5 Mbit/s", math.log(2.5 / 2)),
        ("a() in 1 Mbit/s .. 1.5 Mbit/s", math.log(1.5 / 2)),
        ("a() > b() and b() > a()", -math.log(2)),
        ("a() > b() or b() > a()", math.log(2)),
        ("not a() > b()", -math.log(2)),
        ("a() > b() > 0.5 Mbit/s", math.log(2)),
        ("b() >= 0 Mbit/s", LARGEST_MARGIN),
        ("each() >= b()", math.log(0.5)),
        ("rises(each())", LARGEST_MARGIN),
        ("falls(each())", -LARGEST_MARGIN),
    ],
)
def test_a_margin_is_the_logarithm_of_the_ratio(text: str, expected: float) -> None:
    assert margin(text, a=2e6, b=1e6, each=(0.5e6, 4e6)) == pytest.approx(expected)


def test_equal_is_what_differs_by_nothing() -> None:
    same = margin("a() == b()", a=2e6, b=2e6)
    assert isinstance(same, float)
    assert 0 < same < 1e-6
    assert margin("a() == b()", a=2e6, b=1e6) == pytest.approx(-math.log(2))


def test_what_is_not_known_leaves_nothing_to_tell_but_where_the_rest_settles_it() -> None:
    assert isinstance(margin("a() > b()", a=2e6), Missing)
    assert isinstance(margin("a() > 1 Mbit/s and b() > 1 Mbit/s", a=2e6), Missing)
    assert margin("a() > 1 Mbit/s or b() > 1 Mbit/s", a=2e6) == pytest.approx(math.log(2))
    assert isinstance(margin("a() > 3 Mbit/s or b() > 1 Mbit/s", a=2e6), Missing)


@for_each("text", ["a() >= b()", "a() < b()", "a() in 1 Mbit/s .. 3 Mbit/s", "not a() > b()"])
@for_each("a", [0.0, 0.5e6, 1e6, 1.5e6, 4e6])
def test_a_margin_below_zero_is_a_claim_that_fails(text: str, a: float) -> None:
    values: dict[str, Value] = {"a": a, "b": 1.2e6}
    found = margin(text, **values)
    assert isinstance(found, float)
    assert (found >= 0) == Claim(text, FUNCTIONS).evaluate(lambda name, _: values[name]).holds
