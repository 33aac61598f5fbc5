"""Draws: values of a range, a choice and a number, and draws that are refused."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import TWO_PATHS, problems_of

from subflow_sim.draws import Pick, Range, multiplied, uniform
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension


def test_the_number_depends_on_each_of_its_four_parts():
    base = uniform(1, 2, 3, "links.wifi.rate")
    assert base == uniform(1, 2, 3, "links.wifi.rate")
    assert base not in [uniform(*others, "links.wifi.rate") for others in ((2, 2, 3), (1, 3, 3), (1, 2, 4))]
    assert base != uniform(1, 2, 3, "links.lte.rate")


def test_the_number_is_the_same_on_every_machine():
    """The first eight bytes of BLAKE2b; a double holds their upper 53 bits."""
    assert uniform(1, 0, 0, "k") == 0.33259458750289206


def test_the_number_is_uniform():
    """10 000 draws in ten bins: 1000 each, standard deviation 30; four of them are allowed."""
    counts = Counter(int(10 * uniform(1, 0, episode, "x")) for episode in range(10_000))
    assert sorted(counts) == list(range(10))
    assert all(abs(count - 1000) < 120 for count in counts.values())


@for_each(
    ("draw", "values"),
    [
        (Range(2e6, 16e6, Dimension.RATE), {0.0: 2e6, 0.5: 9e6}),
        # Half of a logarithmic range lies below the geometric mean.
        (Range(2e6, 32e6, Dimension.RATE, is_log=True), {0.25: 4e6, 0.5: 8e6}),
        (Range(1e-300, 1e300, is_log=True), {0.5: pytest.approx(1.0)}),
        (Range(1.0, 3.0), {1 / 3: 1.66667}),  # six digits
        (Range(1, 4, Dimension.COUNT), {0.0: 1, 0.249: 1, 0.25: 2, 0.5: 3, 0.75: 4, 0.999: 4}),
        (Range(10, 13, Dimension.QUEUE), {0.5: "12pkt"}),  # 11.5, which round() rounds to even
        (Range(10, 13, Dimension.SIZE), {0.9: "13B"}),
    ],
)
def test_a_range_has_these_values(draw, values):
    assert {u: draw.value(u) for u in values} == values


def test_ranges_have_their_ends_and_may_be_as_wide_as_numbers_go():
    assert Range(2e6, 16e6, Dimension.RATE).ends() == (2e6, 16e6)
    assert Range(1, 4, Dimension.COUNT).ends() == (1, 4)
    assert Range(-1.7e308, 1.7e308).ends() == (-1.7e308, 1.7e308)
    assert Range(0, 2**63 - 1, Dimension.COUNT).ends() == (0, 2**63 - 1024)  # a double has 53 bits


def test_a_choice_goes_by_its_weights():
    draw = Pick(("a", "b", "c"), (0.25, 0.25, 1.0))
    assert [draw.value(u) for u in (0.0, 0.24, 0.25, 0.9999)] == ["a", "a", "c", "c"]
    assert draw.trials() == ("a", "c")


def test_multiples_keep_the_unit_that_makes_them_whole():
    assert multiplied(8e6, 0.5) == 4e6
    assert multiplied("67pkt", 0.5) == "34pkt"
    assert multiplied("2%", 2) == 0.04
    with pytest.raises(ParamError, match="this is true or false, not a number"):
        multiplied(True, 2)


BAD_DRAWS = [
    ("{ uniform = [1] }", "this is a list of 1, not the two ends of a range"),
    ("{ uniform = 5 }", "this is a whole number, not the two ends of a range"),
    ('{ uniform = ["8Mbit/s", "50ms"] }', "the ends are of different kinds"),
    ('{ uniform = ["8Mbit/s", 1e6] }', "the ends are of different kinds"),
    ('{ uniform = ["fast", "slow"] }', "this is not a number with a unit"),
    ("{ uniform = [true, 2] }", "this is true or false, not a number"),
    ("{ uniform = [1, inf] }", "must be finite"),
    ("{ uniform = [1, nan] }", "must be finite"),
    ("{ uniform = [9e6, 8e6] }", "the first end is above the second"),
    ("{ log_uniform = [0, 8e6] }", "a ratio to it has no logarithm"),
    ("{ integer = [1, 2.5] }", "this is a number, not a whole number"),
    ("{ integer = [1, true] }", "this is true or false, not a whole number"),
    ("{ choice = [] }", "this is a list of 0, not a list of values"),
    ('{ choice = "a" }', "this is text, not a list of values"),
    ("{ choice = [1e6, 2e6], weights = [1] }", "not a weight for each value"),
    ("{ choice = [1e6, 2e6], weights = [1, -1] }", "not a weight"),
    ("{ choice = [1e6, 2e6], weights = [0, 0] }", "nothing can be drawn"),
    ("{ uniform = [1e6, 2e6], integer = [1, 2] }", "both uniform and integer"),
    ("{ uniform = [1e6, 2e6], weights = [1, 2] }", "unknown key"),
    ("{ choice = [1e6], weight = [1] }", 'unknown key, did you mean "weights"?'),
    ("{ of = 5 }", "this is a whole number, not a key"),
    ('{ of = "links.lte.delay" }', '"links.lte.delay" is not drawn, did you mean "links.lte.rate"?'),
    ('{ of = "links.lte.queue" }', '"links.lte.queue" follows from another draw itself'),
    ('{ of = "links.lte.rate", times = 0 }', "not a factor"),
    ('{ of = "links.lte.rate", times = "2" }', "not a factor"),
    ('{ of = "links.lte.rate", times = { bdp = 2 } }', "bdp is not possible here"),
    ("{ bdp = 1 }", "only a queue or a buffer is measured by what a path holds"),
]


@for_each(("draw", "message"), BAD_DRAWS)
def test_what_is_no_draw_is_refused_with_its_place(draw, message):
    lte = "links.lte.rate = { uniform = [1e6, 2e6] }\nlinks.lte.queue = { bdp = 1 }\n"
    text = f"{TWO_PATHS}[training.draws]\n{lte}links.wifi.rate = {draw}\n"
    (problem,) = problems_of(text)
    assert problem.message.startswith(message)
    assert problem.key.startswith("training.draws.links.wifi.rate")
    assert problem.line == len(text.splitlines())
    assert problem.allowed
