"""Claims: their values from numbers, undecidable claims, and errors in claims that cannot be read."""

from __future__ import annotations

import inspect
import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.members import for_each

from subflow_app.foundation.claims import Claim
from subflow_app.foundation.expressions import ClaimError, Expression, Function, Missing, Value

FUNCTIONS = {
    "goodput": Function(("text", "text"), optional=1, unit="Mbit/s"),
    "rtt": Function(("text",), unit="ms"),
    "did": Function(("text",), gives="truth"),
    "controller": Function(("text",), gives="text"),
    "number": Function(()),
}
_MEANS = {"A": (3e6, 2e6, 1e6), "B": (1e6, 1e6, 0.5e6)}


def _resolve(name: str, arguments: tuple[Value, ...]) -> Value:
    match name, arguments:
        case "goodput", ("gone", *_):
            return Missing("policy gone is not there")
        case "goodput", (str(series),):
            return _MEANS[series]
        case "goodput", (str(series), str(point)):
            return _MEANS[series][int(point)]
        case "rtt", _:
            return math.nan if arguments == ("never",) else 0.02
        case "did", _:
            return arguments == ("run",)
        case "controller", _:
            return "lia"
        case _:
            return 7.0


def _holds(text: str) -> bool | None:
    return Claim(text, FUNCTIONS).evaluate(_resolve).holds


@for_each(
    "text",
    [
        "goodput('A', '0') in 3 Mbit/s .. 3.2Mbit/s",
        "goodput('A', '0') / goodput('B', '0') in 2.55 .. 3.45",
        "goodput('A','0') > goodput('A','1') > goodput('A','2') >= 1 Mbit/s",
        "goodput('A') > goodput('B', '0') * 0.99",
        "falls(goodput('A')) and not rises(goodput('A'))",
        "not (goodput('A') < 1 Mbit/s) and (1 > 2 or did('run'))",
        "1 s / 2 == 500 ms",
        "-2 + 3 * 4 - 1 == 9",
        "8 - 4 - 2 == 2 and 8 / 4 / 2 == 1",
        "mean(goodput('A')) == 2000 kbit/s and sum(1, 2) == 3 and max(goodput('A'), 5 Mbit/s) == 5 Mbit/s",
        "ratio(goodput('A')) in 33 % .. 34 %",
        "ratio(goodput('A', '0'), goodput('B', '0')) == 3",
        "spread(goodput('A')) == 1",
        "abs(goodput('A') - goodput('B')) < 3 Mbit/s",
        "rises(1 * goodput('A', '0') * goodput('B'), 10 %) or falls(goodput('B'))",
        "controller('x') == 'lia'",
        'controller("x") == "lia"',
        "rtt('x') <= 20 ms",
        "number() == 7",
        "true and not false",
    ],
)
def test_claims_that_hold(text: str) -> None:
    assert _holds(text) is True


@for_each(
    "text",
    [
        "goodput('A') > goodput('B', '0')",  # not at the last point
        "goodput('A', '0') in 1 Mbit/s .. 2 Mbit/s",
        "1 < 2 > 2",
        "did('nothing')",
        "rises(goodput('A'))",
    ],
)
def test_claims_that_fail(text: str) -> None:
    assert _holds(text) is False


def test_what_is_missing_is_told_unless_the_rest_settles_it() -> None:
    for text in (
        "goodput('gone') > 1 Mbit/s",
        "1 Mbit/s in 0 bit/s .. max(goodput('gone'))",
        "not goodput('gone') > 0",
    ):
        outcome = Claim(text, FUNCTIONS).evaluate(_resolve)
        assert outcome.holds is None
        assert outcome.reason == "policy gone is not there"
    assert _holds("1 > 2 and goodput('gone') > 0") is False
    assert _holds("goodput('gone') > 0 or 2 > 1") is True
    assert _holds("goodput('gone') > 0 or 1 > 2") is None


def test_what_has_no_value_is_not_measured() -> None:
    assert "division by 0" in Claim("1 / (number() - 7) > 0", FUNCTIONS).evaluate(_resolve).reason
    assert "no value" in Claim("rtt('never') > 0", FUNCTIONS).evaluate(_resolve).reason
    assert "two numbers" in Claim("rises(1)", FUNCTIONS).evaluate(_resolve).reason


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("(0 - 8) ** 0.5", "-8 ** 0.5 is not a real number"),
        ("10 ** 400", "10 ** 400 is too large"),
    ],
)
def test_a_power_without_value_says_why(formula: str, reason: str) -> None:
    class Formula(Expression):
        is_formula = True

    assert Formula(formula, {}).value(_resolve) == Missing(reason)


def test_the_outcome_tells_both_sides_with_numbers() -> None:
    outcome = Claim("goodput('A', '0') in 3.2 Mbit/s .. 4 Mbit/s", FUNCTIONS).evaluate(_resolve)
    assert (outcome.is_band, outcome.left, outcome.right) == (True, "3 Mbit/s", "3.2 Mbit/s .. 4 Mbit/s")
    outcome = Claim("goodput('A') > goodput('B') >= 0", FUNCTIONS).evaluate(_resolve)
    assert not outcome.is_band
    assert outcome.told == "3, 2, 1 Mbit/s > 1, 1, 0.5 Mbit/s >= 0 Mbit/s"
    assert Claim("1 in 1 .. 2 and 2 in 1 .. 3", {}).is_band
    assert not Claim("1 in 1 .. 2 or 2 in 1 .. 3", {}).is_band


def test_calls_are_told_with_their_texts_and_columns() -> None:
    claim = Claim("max(goodput('A', '8MB'), 1 Mbit/s) > rtt('B') * goodput('A')", FUNCTIONS)
    assert [(call.name, call.texts) for call in claim.calls()] == [
        ("goodput", ("A", "8MB")),
        ("rtt", ("B",)),
        ("goodput", ("A",)),
    ]
    assert next(claim.calls()).columns == (13, 18)


def test_what_a_claim_compares_is_told_in_pairs() -> None:
    text = "goodput('A') > max(goodput('B'), goodput('C')) > 1 Mbit/s and rtt('A') < 2 * rtt('B')"
    pairs = Claim(text, FUNCTIONS).compared()
    assert [(one.texts[0], other.texts[0]) for one, other in pairs] == [("A", "B"), ("A", "C"), ("A", "B")]


@for_each(
    ("text", "column", "message", "allowed"),
    [
        ("goodpt('A') > 1", 1, 'unknown name "goodpt", did you mean "goodput"?', '"goodput"'),
        ("goodput('A'", 12, "the end in", '")"'),
        ("3 Mbit > 2", 3, '"Mbit" is not a unit', '"Mbit/s"'),
        ("3 > 'a'", 5, "a text is compared", '"=="'),
        ("goodput('A')", 1, "nothing that could be true", "a comparison"),
        ("1 in 4 .. 3", 6, "lower end of the range", "low .. high"),
        ("1 in 4 , 3", 8, '"," in a band', '".."'),
        ("(1 > 2) + 3 > 1", 1, '"+" is for numbers', "a number"),
        ("1 and 2 > 1", 1, '"and" joins comparisons', "a comparison"),
        ("5 ! 3", 3, '"!" means nothing', "operators"),
        ("1 == 'a", 6, "the text has no end", "another '"),
        ("abs(1, 2) > 1", 1, '"abs" has 2 arguments', "1"),
        ("goodput(1) > 2", 9, 'argument 1 of "goodput"', "a text in quotes"),
        ("goodput > 2", 9, '"goodput" is called', "goodput(…)"),
        ("1 > 2 3", 7, '"3" is not expected here', "the end"),
        ("", 1, "the end where a value is expected", "a number"),
        ("mean(goodput('A')) > 3", 22, "3 has no unit", "3 Mbit/s"),
        ("goodput('A') > rtt('A')", 1, "Mbit/s is combined with ms", "same kind"),
        ("(" * 60 + "1", 42, "too deeply nested", "40"),
        ("1 > " + "1" * 2000, 1, "too long", "2000"),
        ("1 > " + "1 + " * 101 + "1", 407, "too many operators", "100"),
        ("1 > " + "-" * 101 + "1", 105, "too many operators", "100"),
        ("1 < 2 in 1 .. 3", 1, "a range cannot be combined with a comparison", "x in low .. high"),
        ("2 ** 9 > 1", 3, '"**" is not expected here', "an operator"),
        ("1 if 2 > 1 else 3", 3, '"if" is not expected here', "an operator"),
        ("number().real > 1", 9, '"." means nothing', "operators"),
        ("[1][0] > 0", 1, '"[" means nothing', "operators"),
        ("__import__('os') == 'os'", 1, 'unknown name "__import__"', '"goodput"'),
    ],
)
def test_what_cannot_be_read_is_told_by_column(text: str, column: int, message: str, allowed: str) -> None:
    with pytest.raises(ClaimError) as told:
        Claim(text, FUNCTIONS, file="x.toml", key="checks[0].holds")
    assert told.value.column == column
    assert message in told.value.message
    assert allowed in told.value.allowed
    assert str(told.value).startswith("x.toml: checks[0].holds = ")


def test_what_is_read_when_the_stack_is_nearly_full_is_told() -> None:
    def read_below(levels: int) -> None:
        if levels:
            read_below(levels - 1)
        else:
            Claim("0 < " + "-" * 80 + "1", {})

    read_below(100)
    with pytest.raises(ClaimError, match="too deeply nested"):
        read_below(sys.getrecursionlimit() - len(inspect.stack(0)) - 60)


def test_arguments_of_any_kind_are_taken_as_they_are() -> None:
    seen: list[tuple[Value, ...]] = []

    def resolve(_name: str, arguments: tuple[Value, ...]) -> Value:
        seen.append(arguments)
        return 1.0

    functions = {"last": Function(("any", "any"), optional=2, takes_any_number=True)}
    assert Claim("last('seed', 3) + last() + last('a', 'b', 'c', true) == 3", functions).evaluate(resolve).holds
    assert seen == [("seed", 3.0), (), ("a", "b", "c", True)]


def test_an_expression_is_a_number_to_be_worked_out() -> None:
    functions = {"rate": Function((), unit="Mbit/s")}
    expression = Expression("rate() * 0.1 / 12000", functions)
    assert expression.value(lambda *_: 10e6) == pytest.approx(83.33, abs=0.01)
    assert [call.name for call in expression.calls()] == ["rate"]
    assert expression.value(lambda *_: Missing("no run yet")) == Missing("no run yet")
    assert Expression("83 pkt", {}).unit == "pkt"
    with pytest.raises(ClaimError, match="a number is to be worked out, and this is a comparison"):
        Expression("1 < 2", {})


_numbers = st.floats(0.001, 1e6).map(lambda number: float(f"{number:.6g}"))


@settings(max_examples=60, deadline=None)
@given(_numbers, _numbers, _numbers)
def test_bands_and_arithmetic_are_those_of_python(a: float, b: float, c: float) -> None:
    low, high = sorted((b, c))
    values = iter((a, a))
    functions = {"f": Function(())}
    outcome = Claim(f"f() in {low:.6f} .. {high:.6f}", functions).evaluate(lambda *_: next(values))
    assert outcome.holds == (float(f"{low:.6f}") <= a <= float(f"{high:.6f}"))
    expression = f"{a:.6f} * ({b:.6f} + {c:.6f}) - {a:.6f} / {b:.6f} <= 0.5"
    assert Claim(expression, {}).evaluate(lambda *_: next(values)).holds == eval(expression)


def _any_value(name: str, _arguments: tuple[Value, ...]) -> Value:
    return True if name == "did" else "lia" if name == "controller" else 1.0


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="goput('A8).. in<>=+-*/ and or not 1.5 % msMbit/s\"\\é\n", max_size=40))
def test_any_text_is_read_or_told(text: str) -> None:
    try:
        claim = Claim(text, FUNCTIONS)
    except ClaimError as error:
        column = error.column
    else:
        claim.evaluate(_any_value)
        column = 1
    assert 1 <= column <= len(text) + 1
