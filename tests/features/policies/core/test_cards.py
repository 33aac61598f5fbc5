"""Training cards in words, including incomplete and unexpected ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.helpers.members import for_each
from tests.helpers.policies import make_plan, write_random_policy

from subflow_app.features.policies.core import card_line, card_text, policy_origin


def figure(mean: float, ci95: float | None = None) -> dict[str, Any]:
    return {"mean": mean, "ci95": ci95, "values": [mean]}


CARD: dict[str, Any] = {
    "note": "Good on lossy paths",
    "agent": "drl-cc",
    "scenario": "Sc1",
    "seed": 3,
    "steps": 50_000,
    "minutes": 3.5,
    "evaluation": {
        "scenario": "Sc1",
        "seeds": [1_000_000, 1_000_001],
        "best_baseline": "olia",
        "controllers": [
            {
                "label": "drl-cc",
                "is_baseline": False,
                "ratio_to_best_baseline": 1.518,
                "goodput_bps": figure(3.1e6, 1e5),
                "jain": figure(0.98),
            },
            {"label": "olia", "is_baseline": True, "ratio_to_best_baseline": 1.0, "goodput_bps": figure(2.042e6)},
        ],
    },
}


def test_a_line_says_what_it_learned_on_and_how_it_does() -> None:
    assert card_line(CARD) == "Sc1, 50 000 decisions, 1.52 × olia"


def test_the_text_has_the_note_first_and_the_figures_with_their_units() -> None:
    assert card_text(CARD).splitlines() == [
        "Good on lossy paths",
        "Agent: drl-cc",
        "Learned on: Sc1",
        "Decisions: 50 000",
        "Minutes: 3.5",
        "Seed: 3",
        "Goodput of a flow while active on Sc1, 2 held-out seeds:",
        "  drl-cc: 3.100 ± 0.100 Mbit/s, Jain 0.980",
        "  olia: 2.042 Mbit/s",
    ]


@for_each(
    "card",
    [
        {},
        {"evaluation": None},
        {"scenario": 7, "steps": "many", "note": ["x"], "evaluation": {"controllers": {"a": 1}, "best_baseline": 3}},
        {"tried": [None, {"seed": 1}, {"seed": "x", "score": 1}, {"score": float("nan"), "seed": 2}]},
        {"evaluation": {"controllers": [None, {"label": "x", "goodput_bps": {"mean": None}}]}},
    ],
)
def test_a_card_that_says_nothing_of_use_makes_no_words(card: dict[str, Any]) -> None:
    assert card_line(card) == ""
    assert card_text(card) == ""


def test_the_origin_of_a_policy_is_on_one_line(tmp_path: Path) -> None:
    shipped = policy_origin("drl-cc-wide")
    assert shipped.startswith("drl-cc-wide: Subflow's own variant, recipe ")
    assert "seed 1, " in shipped
    assert shipped.endswith("drl-cc-wide.safetensors")
    assert policy_origin("mplibra-even").startswith("mplibra-even: Subflow's own variant")
    assert policy_origin("confluence").startswith("confluence: Subflow's own variant")
    assert policy_origin("rl-pure").startswith("rl-pure: the paper's agent as printed")
    # A file elsewhere is no shipped policy, whatever its name.
    path = tmp_path / "drl-cc.safetensors"
    write_random_policy(path, make_plan("drl-cc"), card={"seed": 3})
    assert policy_origin(str(path)).startswith("drl-cc: not shipped with Subflow, seed 3, hash ")
    assert policy_origin("nowhere") == "nowhere: its file cannot be found or read"
    assert policy_origin("random") == "random: no policy, acts at random"
