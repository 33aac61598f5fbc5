"""The training card of a policy in words: a line for lists, all of it for tool tips."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import Any

from subflow_app.foundation.json_document import number
from subflow_app.vocabulary.number_text import count_text, mbit_text

CARD_KEYS = ("note", "agent", "recipe", "scenario", "steps", "minutes", "seed", "tried", "evaluation")
"""What `card_text` tells of a card."""

_MOST_LINES = 24


def card_line(card: Mapping[str, Any]) -> str:
    """What it learned on and how it does, e.g. "drlcc-sc1, 50 000 decisions, 1.52 × olia". Empty if nobody says.

    Cards are free in form: what is not there, or is something else than expected, is left out.
    """
    parts = []
    if isinstance(card.get("scenario"), str) and card["scenario"]:
        parts.append(card["scenario"])
    steps = number(card.get("steps"))
    if math.isfinite(steps):
        parts.append(f"{count_text(steps)} decisions")
    evaluation = card.get("evaluation")
    if isinstance(evaluation, Mapping):
        ratio = number(_own(evaluation).get("ratio_to_best_baseline"))
        best = evaluation.get("best_baseline")
        if math.isfinite(ratio) and isinstance(best, str):
            parts.append(f"{ratio:.2f} × {best}")
    return ", ".join(parts)


def card_text(card: Mapping[str, Any]) -> str:
    """Note, how it was made, and the figures of its evaluation, one thing a line; empty if nobody says."""
    lines = []
    note = card.get("note")
    if isinstance(note, str) and note:
        lines.append(note)
    for key, label in (("agent", "Agent"), ("recipe", "Recipe"), ("scenario", "Learned on")):
        if isinstance(card.get(key), str) and card[key]:
            lines.append(f"{label}: {card[key]}")
    for key, label in (("steps", "Decisions"), ("minutes", "Minutes"), ("seed", "Seed")):
        value = number(card.get(key))
        if math.isfinite(value):
            lines.append(f"{label}: {count_text(value) if value == round(value) else f'{value:.10g}'}")
    lines += _tried_lines(card.get("tried"))
    evaluation = card.get("evaluation")
    if isinstance(evaluation, Mapping):
        lines += _evaluation_lines(evaluation)
    return "\n".join(lines[:_MOST_LINES])


def tried(scores: Mapping[int, float]) -> list[dict[str, float]]:
    """How a card tells of the seeds of a training that were tried: each with the score of its best policy."""
    return [{"seed": seed, "score": score} for seed, score in sorted(scores.items())]


def _tried_lines(told: object) -> list[str]:
    """Every seed with its score, their median and the worst; nothing if the card does not tell."""
    listed = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
    scores = {number(each.get("seed")): number(each.get("score")) for each in listed}
    known = {seed: score for seed, score in scores.items() if math.isfinite(seed) and math.isfinite(score)}
    if not known:
        return []
    each = ", ".join(f"{seed:.0f} ({score:.3f})" for seed, score in known.items())
    return [
        f"Seeds tried, with their scores in validation: {each}",
        f"Median {median(known.values()):.3f}, worst {min(known.values()):.3f}",
    ]


def _evaluation_lines(evaluation: Mapping[str, Any]) -> list[str]:
    seeds = evaluation.get("seeds")
    title = evaluation.get("scenario")
    count = f", {len(seeds)} held-out seeds" if isinstance(seeds, list) else ""
    lines = [
        f"Goodput of a flow while active on {title}{count}:"
        if isinstance(title, str)
        else f"Goodput of a flow while active{count}:"
    ]
    for each in _controllers(evaluation):
        goodput, jain = each.get("goodput_bps"), each.get("jain")
        if not isinstance(goodput, Mapping) or not math.isfinite(number(goodput.get("mean"))):
            continue
        half = number(goodput.get("ci95"))
        interval = f" ± {mbit_text(half)}" if math.isfinite(half) else ""
        fairness = number(jain.get("mean")) if isinstance(jain, Mapping) else math.nan
        fair = f", Jain {fairness:.3f}" if math.isfinite(fairness) else ""
        lines.append(f"  {each.get('label')}: {mbit_text(goodput['mean'])}{interval} Mbit/s{fair}")
    return lines if len(lines) > 1 else []


def _controllers(evaluation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = evaluation.get("controllers")
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _own(evaluation: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((each for each in _controllers(evaluation) if not each.get("is_baseline")), {})
