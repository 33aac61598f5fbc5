"""Measures of trainings and of the evaluations of policies."""

from __future__ import annotations

from collections.abc import Mapping

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

REPORT_MEASURES: Mapping[str, Measure] = {
    each.key: each
    for each in (
        *TRAINING_MEASURES,
        told_by(
            "goodput_bps",
            translatable("Goodput of all flows"),
            of="training",
            definition=translatable("Goodput of all flows of an episode together, mean over the episodes."),
            over="episodes",
        ),
        told_by(
            "loss_ratio",
            translatable("Loss"),
            of="training",
            definition=translatable("Packets lost over packets sent in those episodes."),
            over="episodes",
        ),
        Measure(
            "jain",
            translatable("Jain index"),
            decimals=3,
            better=1,
            of="training",
            definition=translatable("Jain's index of the flows of an episode, mean over the episodes."),
            over="episodes",
        ),
    )
}
"""By key of the reports of trainings, some of which runs use for measures of their own."""

EVALUATION_MEASURES: Mapping[str, Measure] = {
    each.key: each
    for each in (
        told_by(
            "goodput_bps",
            translatable("Goodput while active"),
            of="training",
            definition=translatable("Goodput of the flows under evaluation while each was active, their mean."),
            over="evaluation",
        ),
        told_by(
            "total_goodput_bps",
            translatable("Goodput of all flows"),
            of="training",
            definition=translatable("Goodput of all flows with congestion control together."),
            over="evaluation",
        ),
        told_by(
            "other_goodput_bps",
            translatable("Goodput of another flow"),
            "Others",
            of="training",
            definition=translatable("Goodput while active of the flows that keep their own controller, their mean."),
            over="evaluation",
        ),
        told_by(
            "rtt_s",
            translatable("RTT per flow"),
            of="training",
            definition=translatable("Mean of the mean RTTs of the flows under evaluation."),
            over="evaluation",
        ),
        told_by(
            "loss_ratio",
            translatable("Loss per flow"),
            of="training",
            definition=translatable("Mean of the losses of the flows under evaluation."),
            over="evaluation",
        ),
        Measure(
            "jain",
            translatable("Jain index"),
            decimals=3,
            better=1,
            of="training",
            definition=translatable("Jain's index of all flows with congestion control, by goodput while active."),
            over="evaluation",
        ),
        Measure("score", translatable("Score"), decimals=3, better=1, of="training", over="evaluation"),
    )
}
"""By key of evaluations of policies."""
