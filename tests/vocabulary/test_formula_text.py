"""Formulas of rules as trees: fractions, indices, and words that stay words."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.vocabulary.formula_text import (
    Fraction,
    Node,
    Root,
    Row,
    Script,
    Word,
    block_formulas,
    parse_formula,
    split_blocks,
)


def told(node: Node) -> str:
    """A tree as one line: {above ÷ below}, base_[index]^[power], √[inside]."""
    gap = " " if node.gap else ""
    if isinstance(node, Word):
        return gap + node.text
    if isinstance(node, Row):
        return gap + "".join(map(told, node.parts))
    if isinstance(node, Fraction):
        return f"{gap}{{{told(node.above).strip()} ÷ {told(node.below).strip()}}}"
    if isinstance(node, Root):
        return f"{gap}√[{told(node.inside)}]"
    assert isinstance(node, Script)
    index = "" if node.index is None else f"_[{told(node.index)}]"
    power = "" if node.power is None else f"^[{told(node.power)}]"
    return f"{gap}{told(node.base).strip()}{index}{power}"


@for_each(
    ("text", "tree"),
    [
        ("cwnd + acked / cwnd", "cwnd + {acked ÷ cwnd}"),
        ("max(basis / 2, floor)", "max({basis ÷ 2}, floor)"),
        # Factors before a slash belong to the numerator, its line replaces brackets, and later factors do not count.
        ("acked * (target - cwnd) / cwnd", "{acked · (target − cwnd) ÷ cwnd}"),
        ("x_r / rtt_r / total_rate^2 * (1 + alpha) / 2", "{x_[r] ÷ rtt_[r] total_rate^[2]} · {1 + α ÷ 2}"),
        ("gradient / 2 (1 + amplifier)", "{gradient ÷ 2} (1 + amplifier)"),
        ("max(4, 2 rate srtt / packet)", "max(4, {2 rate srtt ÷ packet})"),
        ("best = max(cwnd_i / rtt_i^2)", "best = max({cwnd_[i] ÷ rtt_[i]^[2]})"),
        ("sum of theta, sum(x_i)", "Σ θ, Σ(x_[i])"),
        ("1.2 / sqrt(p) <= -1", "{1.2 ÷ √[p]} ≤ −1"),
        # Words, hyphens and units are no parts of formulas.
        ("a packet per cwnd / (W_est - cwnd) acknowledged", "a packet per {cwnd ÷ W_[est] − cwnd} acknowledged"),
        ("until a round-trip time, 0.5 Mbit/s", "until a round-trip time, 0.5 Mbit/s"),
        # Unclosed brackets.
        ("min(1, (2", "min(1, (2"),
    ],
)
def test_a_formula_is_read_as_it_is_written_by_hand(text: str, tree: str) -> None:
    assert told(parse_formula(text)) == tree


def test_every_rule_keeps_all_its_words_and_numbers() -> None:
    catalog = app_catalog()
    rules = [rule for each in (*catalog.controllers, *catalog.schedulers) for rule in each.rules]
    assert len(rules) > 100
    for rule in rules:
        tree = told(parse_formula(rule.formula))
        for word in ("cwnd", "rate", "0.99", "subflow", "probe"):
            assert tree.count(word) == rule.formula.count(word), rule.formula


def test_blocks_of_a_text_are_its_indented_lines() -> None:
    text = "A pipe holds\n\n    BDP = rate x time\n\nof packets.\n\n- a point\n  and more of it\n\n    a\n    b\n"
    assert split_blocks(text) == [
        (False, "A pipe holds"),
        (True, "    BDP = rate x time"),
        (False, "of packets.\n\n- a point\n  and more of it"),
        (True, "    a\n    b"),
    ]
    assert split_blocks("Words alone.") == [(False, "Words alone.")]


@for_each(
    ("block", "trees"),
    [
        # The notation of labs: words are names, a single x is the sign of a product, squares are letters.
        ("BDP = rate x round-trip time / size of a packet", ["BDP = rate × {round-trip time ÷ size of a packet}"]),
        ("W/2 rounds x 3W/4 packets = 3/8 W²", ["{W ÷ 2} rounds × {3W ÷ 4} packets = {3 ÷ 8} W^[2]"]),
        ("U = [ (1 - b)/2 + b² ]  /  [ b + b²/2 ]", ["U = {{1 − b ÷ 2} + b^[2] ÷ b + {b^[2] ÷ 2}}"]),
        (
            "w_r  +=  min( max_k(w_k/RTT_k²) / (sum_k w_k/RTT_k)² ,  1/w_r )",
            ["w_[r] += min({max_[k]({w_[k] ÷ RTT_[k]^[2]}) ÷ (Σ_[k] {w_[k] ÷ RTT_[k]})^[2]}, {1 ÷ w_[r]})"],
        ),
        ("u(x) = x^0,9  -  900·x·(dRTT_j/dt)", ["u(x) = x^[0,9] − 900·x·({dRTT_[j] ÷ dt})"]),
        (
            "mean = 1.22 / sqrt(p)          rate = 1.22 / (RTT x sqrt(p)) per second",
            ["mean = {1.22 ÷ √[p]}", "rate = {1.22 ÷ RTT × √[p]} per second"],
        ),
    ],
)
def test_formulas_of_a_block_are_read_as_people_write_them(block: str, trees: list[str]) -> None:
    assert [told(parse_formula(text)) for text in block_formulas("    " + block)] == trees
