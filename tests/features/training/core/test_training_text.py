"""Trainings and evaluations as text."""

from __future__ import annotations

from typing import Any

from tests.helpers.present import present

from subflow_app.features.training.core.training_text import (
    budget_fraction,
    contender_label,
    evaluation_line,
    evaluation_table,
    metric_rows,
    progress_line,
    reward_of,
    reward_text,
    stored_evaluation_table,
)
from subflow_store import EvaluationFigure


def controller(label: str, goodput_bps: float, ratio: float, *, is_baseline: bool) -> dict[str, Any]:
    return {
        "label": label,
        "is_baseline": is_baseline,
        "ratio_to_best_baseline": ratio,
        "goodput_bps": {"mean": goodput_bps, "ci95": 31e3, "values": []},
        "rtt_s": {"mean": 0.1, "ci95": None, "values": []},
        "loss_ratio": {"mean": 0.02, "ci95": 0.001, "values": []},
        "jain": {"mean": 0.99, "ci95": None, "values": []},
        "total_goodput_bps": {"mean": 2 * goodput_bps, "ci95": None, "values": []},
        "other_goodput_bps": {"mean": None, "ci95": None, "values": []},
    }


EVALUATION = {
    "scenario": "Two paths",
    "seeds": [1, 2, 3],
    "step": 20_000,
    "is_best": True,
    "best_baseline": "olia",
    "controllers": [
        controller("drl-cc", 6.12e6, 1.53, is_baseline=False),
        controller("olia", 4e6, 1.0, is_baseline=True),
    ],
}


def test_metrics_have_units_in_the_order_in_which_people_read_them() -> None:
    metrics = {"goodput_bps": 6.12e6, "flow_goodput_bps": 1.2e6, "return_mean": -1.23456, "loss_ratio": 0.02, "step": 5}
    metrics |= {"updates_per_s": 449.3, "rtt_s": 0.0501}
    assert metric_rows(metrics) == [
        ("Return", "−1.235", "per decision"),
        ("Goodput of all flows", "6.120", "Mbit/s"),
        ("Goodput of a flow", "1.200", "Mbit/s"),
        ("RTT", "50.1", "ms"),
        ("Loss", "2.00", "%"),
        ("Updates", "449.3", "per s"),
    ]
    assert metric_rows({"kl": 1.234e-8, "td_error": 0.0123456}) == [
        ("TD error", "0.0123", ""),
        ("KL divergence", "1.23e−08", "nat"),
    ]
    assert metric_rows({"q_mean": float("nan")}) == [("Mean Q", "–", "")]


def test_progress_is_told_as_far_as_it_is_known() -> None:
    known = {"step": 12_000, "updates": 3400, "episodes": 41, "elapsed_s": 100.0, "eta_s": 140.0}
    assert progress_line(known) == ("step 12 000, 3 400 updates, 41 episodes in 1 min 40 s, 2 min 20 s to go")
    assert progress_line({"step": 1, "elapsed_s": 2.0}) == "step 1 in 2 s"
    spent = progress_line(known, is_spent=True)
    assert spent == "step 12 000, 3 400 updates, 41 episodes in 1 min 40 s, evaluating the policy, 2 min 20 s to go"
    unknown = progress_line(known | {"eta_s": None}, is_spent=True)
    assert unknown == "step 12 000, 3 400 updates, 41 episodes in 1 min 40 s, evaluating the policy"


def test_the_budget_that_is_spent_first_counts() -> None:
    metrics = {"step": 500, "elapsed_s": 60.0}
    assert budget_fraction(metrics, 1000, None) == 0.5
    assert budget_fraction(metrics, 1000, 1.25) == 0.8
    assert budget_fraction(metrics, 100, None) == 1.0
    assert budget_fraction({}, 100, 1.0) == 0.0


def test_an_evaluation_is_a_table_and_a_line() -> None:
    table = evaluation_table(EVALUATION)
    assert table.title == "Two paths, 3 seeds, mean ± 95 % confidence"
    assert table.rows == (
        ("drl-cc", "6.120 ± 0.031", "1.53", "100.0", "2.00 ± 0.10", "0.990"),
        ("olia *", "4.000 ± 0.031", "1.00", "100.0", "2.00 ± 0.10", "0.990"),
    )
    assert evaluation_line(EVALUATION) == (
        "evaluated at step 20 000: 6.120 ± 0.031 Mbit/s, 1.53 × olia, the best so far, RTT per flow 100.0 ms, "
        "Loss per flow 2.00 %, Jain index 0.990"
    )
    assert contender_label("/a/very/long/way/to/run/best.safetensors") == "run/best.safetensors"


def test_a_reward_has_parts_with_their_shares() -> None:
    reward = {"reward": -0.45, "goodput": 1.2, "delay": -0.3, "loss": -1.35}
    said = "Reward of a decision −0.450 = goodput +1.200 (42 %), delay −0.300 (11 %), loss −1.350 (47 %)"
    assert reward_text(reward) == said
    figures: dict[str, Any] = {name: {"mean": mean, "ci95": None, "values": []} for name, mean in reward.items()}
    controllers: Any = EVALUATION["controllers"]
    agent, *others = controllers
    with_reward = {**EVALUATION, "controllers": [{**agent, "reward": figures}, *others]}
    assert reward_of(with_reward) == reward
    assert evaluation_line(with_reward).endswith(said)
    assert reward_text({"reward": 1.2, "goodput": 1.2, "delay": 0.0, "loss": 0.0}) == (
        "Reward of a decision 1.200 = goodput +1.200 (100 %)"
    )
    assert reward_text({"reward": 0.5}) == "Reward of a decision 0.500"
    assert reward_text(reward_of(EVALUATION)) == ""


def test_an_evaluation_fits_a_terminal_of_80_columns() -> None:
    table = evaluation_table(EVALUATION)
    widths = [
        max(len(text) for text in (column.title, column.unit, *(row[index] for row in table.rows)))
        for index, column in enumerate(table.columns)
    ]
    assert sum(width + 1 for width in widths) <= 80


def test_the_last_evaluation_in_the_store_is_shown() -> None:
    figures = [
        EvaluationFigure(1000, "drl-cc", "goodput_bps", 1e6, None, 3),
        EvaluationFigure(2000, "drl-cc", "goodput_bps", 6.12e6, 31e3, 3),
        EvaluationFigure(2000, "olia", "goodput_bps", 4e6, None, 3),
        EvaluationFigure(2000, "olia", "jain", 0.5, None, 3),
    ]
    table = present(stored_evaluation_table(figures))
    assert table.title == "Evaluated at step 2 000"
    assert table.rows == (("drl-cc", "6.120 ± 0.031", "–", "–", "–"), ("olia", "4.000", "–", "–", "0.500"))
    assert stored_evaluation_table([]) is None
