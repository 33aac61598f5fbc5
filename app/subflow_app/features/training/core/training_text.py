"""Tables and lines of text about training runs and evaluations, for the terminal and the window."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents.reward_terms import TERMS
from subflow_app.foundation.json_document import number
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.number_text import (
    NOTHING,
    count_text,
    counted,
    duration_text,
    finite,
    fixed,
    fixed_text,
    mbit_text,
    rounded_text,
    short_time_text,
    signed_text,
)
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable
from subflow_app.vocabulary.trace_measures import EVALUATION_MEASURES, REPORT_MEASURES
from subflow_sim.stats import Estimate

if TYPE_CHECKING:
    from subflow_store import EvaluationFigure, TrainingRow

# Reported metrics in the order of display.
_SHOWN = (
    *(
        "return_mean",
        "goodput_bps",
        "flow_goodput_bps",
        "rtt_s",
        "rtt_inflation",
        "loss_ratio",
        "jain",
        "td_error",
        "q_mean",
    ),
    *("actor_saturation", "kl", "entropy", "updates_per_s", "steps_per_s", "sim_s_per_s"),
)


def metric_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Heading, value and unit of each reported metric, in the order of display."""
    shown = [REPORT_MEASURES[key] for key in _SHOWN if key in metrics]
    return [(each.title, _metric_text(each, number(metrics[each.key])), each.unit) for each in shown]


def _metric_text(measure: Measure, value: float) -> str:
    """A metric with its usual decimals, or else with three significant digits; small values are not rounded to 0."""
    if measure.decimals is not None or not math.isfinite(value):
        return measure.text(value)
    return rounded_text(value * measure.scale)


def progress_line(metrics: Mapping[str, Any], *, is_spent: bool = False) -> str:
    """Progress of a training run: ``step 12 000, 3 400 updates, 41 episodes in 1 min 40 s, 2 min 20 s to go``.

    Args:
        metrics: latest value of each metric.
        is_spent: whether the budget is used up, so that only the evaluation remains.
    """
    parts = [f"step {count_text(metrics.get('step', 0))}"]
    if "updates" in metrics:
        parts.append(f"{count_text(metrics['updates'])} updates")
    if "episodes" in metrics:
        parts.append(f"{count_text(metrics['episodes'])} episodes")
    line = f"{', '.join(parts)} in {duration_text(metrics.get('elapsed_s', 0.0))}"
    if is_spent:
        line += ", evaluating the policy"
    return line if metrics.get("eta_s") is None else f"{line}, {duration_text(metrics['eta_s'])} to go"


def budget_fraction(metrics: Mapping[str, Any], steps: int | None, minutes: float | None) -> float:
    """Used share of the budget, 0 to 1; the larger share if both budgets apply."""
    shares = [0.0]
    if steps:
        shares.append(metrics.get("step", 0) / steps)
    if minutes:
        shares.append(metrics.get("elapsed_s", 0.0) / (60 * minutes))
    return float(min(1.0, max(shares)))


def evaluation_table(values: Mapping[str, Any], title: str = "") -> TextTable:
    """Table of the controllers of an evaluation: mean and 95 % confidence interval over its seeds.

    Goodput is the active goodput of an evaluated flow. A star marks the best classic controller.

    Args:
        values: `subflow_agents.evaluation.Evaluation.to_json()`.
        title: title of the table; default: the scenario and the number of seeds.
    """
    best = values.get("best_baseline")
    columns: list[Column[Mapping[str, Any]]] = [
        Column(
            "Controller",
            lambda each: contender_label(each["label"]) + " *" * (each["label"] == best and each["is_baseline"]),
        ),
        _interval_column("goodput_bps"),
        NumberColumn("× best", lambda each: each.get("ratio_to_best_baseline"), fixed(2), "classic"),
        _interval_column("rtt_s"),
        _interval_column("loss_ratio"),
        _interval_column("jain"),
    ]
    contenders = values.get("controllers") or ()
    others = _interval_column("other_goodput_bps")
    if any(others.text(each) != NOTHING for each in contenders):  # only if some flows have a different controller
        columns.append(others)
    seeds = values.get("seeds") or ()
    text = f"{values.get('scenario', '')}, {counted(len(seeds), 'seed')}, mean ± 95 % confidence"
    return TextTable.of(contenders, columns, title or text)


def reward_text(reward: Mapping[str, object]) -> str:
    """The reward of a decision and the share of each part: ``-0.450 = goodput 1.200 (42 %), loss -1.340 (47 %)``.

    Args:
        reward: mean reward and its parts by name, as in `subflow_agents.reward_terms`; empty: unknown.

    Returns:
        The text, in which shares are those of the sum of magnitudes; only the reward if it has no such parts, empty if
        it is unknown.
    """
    mean = finite(reward.get("reward"))
    if mean is None:
        return ""
    parts = {name: value for name in TERMS if (value := finite(reward.get(name))) is not None}
    total = math.fsum(map(abs, parts.values()))
    if not total > 0:
        return tr("Reward of a decision {reward}", reward=fixed_text(mean, 3))
    # Prices of 0 are no parts of the reward.
    text = ", ".join(
        f"{tr(_TERM_TITLES[name])} {signed_text(value, 3)} ({100 * abs(value) / total:.0f} %)"
        for name, value in parts.items()
        if value
    )
    return tr("Reward of a decision {reward} = {parts}", reward=fixed_text(mean, 3), parts=text)


_TERM_TITLES = {"goodput": translatable("goodput"), "delay": translatable("delay"), "loss": translatable("loss")}


def reward_of(values: Mapping[str, Any]) -> dict[str, float]:
    """Mean reward and its parts of the evaluated agent in an evaluation report; empty if they are unknown."""
    parts = _own(values).get("reward")
    return {name: number(each.get("mean")) for name, each in parts.items()} if isinstance(parts, Mapping) else {}


def _own(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The evaluated agent: the first controller that is not a baseline."""
    return next((each for each in values.get("controllers") or () if not each.get("is_baseline")), {})


def _interval_column(key: str) -> Column[Mapping[str, Any]]:
    shown = EVALUATION_MEASURES[key]
    return NumberColumn(shown.heading, lambda each: _interval(key, each.get(key)), unit=shown.unit)


def contender_label(label: str) -> str:
    """Short name of a contender in a table: for a policy file, only the name and its folder."""
    return "/".join(Path(label).parts[-2:]) if label.endswith(".safetensors") else label


def evaluation_line(values: Mapping[str, Any]) -> str:
    """One line about an evaluation during training: ``evaluated at step 20 000: 6.12 ± 0.03 Mbit/s, 1.55 × olia``."""
    mine = _own(values)
    parts = [f"{_interval('goodput_bps', mine.get('goodput_bps'))} Mbit/s"]
    ratio = fixed_text(mine.get("ratio_to_best_baseline"), 2)
    if values.get("best_baseline") and ratio != NOTHING:
        parts.append(f"{ratio} × {values['best_baseline']}")
    if values.get("is_best"):
        parts.append("the best so far")
    for key in ("rtt_s", "loss_ratio", "jain"):
        shown = EVALUATION_MEASURES[key]
        if isinstance(figure := mine.get(key), Mapping):
            parts.append(f"{shown.title} {shown.text(number(figure.get('mean')))} {shown.unit}".rstrip())
    line = f"evaluated at step {count_text(values.get('step'))}: {', '.join(parts)}"
    reward = reward_text(reward_of(values))
    return f"{line}. {reward}" if reward else line


def stored_evaluation_table(figures: Sequence[EvaluationFigure]) -> TextTable | None:
    """The last of the stored evaluations as a table; None if `figures` is empty."""
    if not figures:
        return None
    last: dict[str, dict[str, Any]] = {}
    for figure in figures:
        if figure.step == figures[-1].step:
            last.setdefault(figure.controller, {})[figure.metric] = {"mean": figure.mean, "ci95": figure.ci95}
    names: Column[str] = Column("Controller", str)
    columns = [names, *(_stored_column(last, key) for key in ("goodput_bps", "rtt_s", "loss_ratio", "jain"))]
    return TextTable.of(last, columns, f"Evaluated at step {count_text(figures[-1].step)}")


def _stored_column(last: Mapping[str, Mapping[str, Any]], key: str) -> Column[str]:
    shown = EVALUATION_MEASURES[key]
    return NumberColumn(shown.heading, lambda name: _interval(key, last[name].get(key)), unit=shown.unit)


TRAINING_COLUMNS: tuple[Column[TrainingRow], ...] = (
    NumberColumn("Training", lambda row: row.id),
    Column("Name", lambda row: row.name),
    Column("Agent", lambda row: row.agent),
    Column("State", lambda row: row.state),
    NumberColumn("Steps", lambda row: row.steps, count_text),
    NumberColumn("Time", lambda row: row.elapsed_s, duration_text),
    NumberColumn("Best goodput", lambda row: row.best_goodput_bps, mbit_text, "Mbit/s"),
    Column("Started", lambda row: short_time_text(row.started_at)),
)
"""Columns of the list of training runs."""


def _interval(key: str, figure: object) -> str:
    """``6.120 ± 0.030``, or only the mean if it has no interval."""
    if not isinstance(figure, Mapping):
        return NOTHING
    return EVALUATION_MEASURES[key].interval_text(Estimate(number(figure.get("mean")), number(figure.get("ci95"))))
