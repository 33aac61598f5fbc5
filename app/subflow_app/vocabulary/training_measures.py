"""Measures of trainings and of the evaluations of policies."""

from __future__ import annotations

from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.measure import Measure, told_by

TRAINING_MEASURES: tuple[Measure, ...] = (
    Measure(
        "return_mean",
        translatable("Return"),
        translatable("per decision"),
        decimals=3,
        better=1,
        of="training",
        definition=translatable("Reward of a decision, mean over those since the last report."),
        over="episodes",
    ),
    told_by(
        "flow_goodput_bps",
        translatable("Goodput of a flow"),
        of="training",
        definition=translatable("Goodput of a flow with the agent while active, mean over flows and episodes."),
        over="episodes",
    ),
    told_by("rtt_s", translatable("RTT"), of="training", definition=translatable("Mean RTT of the flows evaluated."),
            over="evaluation"),
    Measure(
        "rtt_inflation",
        translatable("RTT over the lowest RTT"),
        decimals=2,
        better=-1,
        of="training",
        definition=translatable("Mean RTT divided by the lowest RTT of those episodes; 1 without queues."),
        over="episodes",
    ),
    Measure("score", translatable("Score"), decimals=3, better=1, of="training", over="evaluation"),
    Measure("td_error", translatable("TD error"), better=-1, of="training", over="episodes"),
    Measure("q_mean", translatable("Mean Q"), of="training", over="episodes"),
    Measure("actor_saturation", translatable("Actor saturation"), "%", 100.0, 1, -1, of="training", over="episodes"),
    Measure("kl", translatable("KL divergence"), "nat", of="training", over="episodes"),
    Measure("entropy", translatable("Entropy"), "nat", of="training", over="episodes"),
    Measure("updates_per_s", translatable("Updates"), "per s", decimals=1, of="training", over="episodes"),
    Measure("steps_per_s", translatable("Steps"), "per s", decimals=1, of="training", over="episodes"),
    Measure("sim_s_per_s", translatable("Simulated"), "s per s", decimals=1, of="training", over="episodes"),
)  # fmt: skip
