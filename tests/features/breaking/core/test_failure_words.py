"""A failed claim in words, without the false inequality."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.breaking.core.break_text import factor_text, failure_words, found_document, listed_words
from subflow_app.features.breaking.core.claim_file import claim_names, load_claim
from subflow_app.features.breaking.core.counterexample import (
    SUFFIX,
    measured_words,
    named_counterexample,
    read_counterexample,
)
from subflow_app.foundation.resources import resource_path

FILES = sorted(resource_path("counterexamples").glob(f"*{SUFFIX}"))
_INEQUALITY = re.compile(r"\d(?: [%A-Za-z/]+)? (?:>=|<=|>|<|==) \d")


def test_claimed_and_measured_are_labelled_with_seed_profile_factor_and_interval() -> None:
    """11.87 / 4.965 = 2.391; margins of ten seeds have the mean -0.9183 and the 95 % interval +- 0.0920."""
    assert [*failure_words(named_counterexample("improve-olia"))] == [
        "Claimed: goodput() >= 0.9 * goodput('newreno').",
        "Measured with seed 101, profile linux: 4.965 Mbit/s, where at least 11.87 Mbit/s is claimed.",
        "The claim fails by a factor of 2.39 with that seed, and of 2.5 (95 % interval 2.28 to 2.75) on average over "
        "10 seeds that the search has not seen.",
    ]


@for_each("path", FILES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_no_shipped_counterexample_states_what_is_false(path: Path) -> None:
    each = read_counterexample(path)
    document = found_document(each)
    texts = (each.says, *failure_words(each), document["measured"], each.text.partition("\nformat")[0])
    assert [text for text in texts if _INEQUALITY.search(text)] == []
    # The factor of the first seed is the ratio of the two numbers.
    pattern = r"([\d.]+)(?: [^,]+)?, where (at least|at most) ([\d.]+).* is claimed"
    numbers = present(re.fullmatch(pattern, measured_words(each.told)))
    measured, bound, claimed = float(numbers[1]), numbers[2], float(numbers[3])
    factor = present(re.search(r"by a factor of ([\d.]+) with that seed", " ".join(failure_words(each))))
    wanted = claimed / measured if bound == "at least" else measured / claimed
    assert float(factor[1]) == pytest.approx(wanted, rel=6e-3)


@for_each("name", claim_names())
def test_what_a_claim_says_of_a_failure_has_no_comparison_in_it(name: str) -> None:
    fails = load_claim(name).fails
    told = measured_words("5 Mbit/s >= 12 Mbit/s", str.format)
    assert not _INEQUALITY.search(fails.format(network="a network", entrant="lia", ratio="0.4", told=told))


@for_each(
    ("told", "words"),
    [
        ("16.88 % <= 5 %", "16.88 %, where at most 5 % is claimed"),
        ("1.791 s <= 0.747 s", "1.791 s, where at most 0.747 s is claimed"),
        ("900 ms < 0.8 s", "900 ms, where less than 0.8 s is claimed"),
        ("0.6029 > 0.9", "0.6029, where more than 0.9 is claimed"),
        ("3 == 2", "3, where 2 is claimed"),
        ("1.31 in 0.95 .. 1.05", "1.31, where 0.95 to 1.05 is claimed"),
        # Only the failing parts.
        ("41.9 Mbit/s >= 48.38 Mbit/s and 16.63 ms <= 37.55 ms", "41.9 Mbit/s, where at least 48.38 Mbit/s is claimed"),
        ("1 > 2 and 4 < 3", "1, where more than 2 is claimed; 4, where less than 3 is claimed"),
        # Vectors, chains, and values that differ only in digits that are not printed.
        ("3, 2 Mbit/s >= 4, 1 Mbit/s", "not true: 3, 2 Mbit/s >= 4, 1 Mbit/s"),
        ("5 > 4 > 4.5", "not true: 5 > 4 > 4.5"),
        ("0.9 >= 0.9", "not true: 0.9 >= 0.9"),
    ],
)
def test_only_what_fails_is_said_and_what_was_claimed_beside_it(told: str, words: str) -> None:
    assert measured_words(told) == words


def test_margins_at_their_end_are_a_least_factor() -> None:
    each = named_counterexample("improve-olia")
    assert factor_text(replace(each, confirmed={"linux": (-5.0,) * 3}), "linux").startswith("148 or more")
    assert factor_text(replace(each, confirmed={"linux": (0.1, 0.2)}), "linux") == "it holds"


def test_the_number_of_networks_listed_is_explained() -> None:
    assert listed_words(1).startswith("The list shows the clearest failure")
    assert "5 networks" in listed_words(5)
