"""Numbers of rules with their meaning, and the values that follow from them: declared beside each rule."""

from __future__ import annotations

from collections import defaultdict

from subflow_sim import _core
from subflow_sim.decisions import expressions, meanings, rules


def test_every_number_of_every_rule_has_a_meaning_and_but_one() -> None:
    told = defaultdict(set)
    for info in _core.all_rules():
        for number in info.numbers:
            told[number.name].add(number.meaning)

    assert len(told) > 100
    assert {name: words for name, words in told.items() if len(words) != 1 or "" in words} == {}


def test_numbers_are_explained_by_their_names_without_units() -> None:
    assert meanings()["acked"] == "packets that this ACK acknowledged"
    assert meanings()["B"] == "subflows with the best paths"
    assert meanings()["is_app_limited"] == "1 where too little was ready to send"


def test_what_can_be_computed_is_a_window_a_rate_or_a_threshold() -> None:
    assert set(expressions()) <= {rule.name for rule in rules()}
    assert {text.partition(" = ")[0] for text in expressions().values()} == {"cwnd", "rate", "ssthresh"}
    assert expressions()["halving"] == "ssthresh = max(basis / 2, floor)"
