"""Reports and commands of a running training: plain values, for pipes and files."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a training reports.

    Attributes:
        name: name, with the unit as a suffix unless it is a plain number.
        unit: displayed unit; "1" for plain numbers.
        help: meaning, with its formula.
    """

    name: str
    unit: str
    help: str


METRICS: tuple[Metric, ...] = (
    Metric("step", "1", "Transitions learned from so far: an agent's decision with what came of it."),
    Metric("updates", "1", "Gradient steps so far."),
    Metric("episodes", "1", "Episodes that have ended so far."),
    Metric("elapsed_s", "s", "Time spent training, pauses and earlier processes' waiting left out."),
    Metric("return_mean", "1", "Reward of a decision, averaged over those since the last report."),
    Metric(
        "goodput_bps", "bit/s", "Goodput of all flows in the episodes that ended since the last report, their mean."
    ),
    Metric(
        "flow_goodput_bps",
        "bit/s",
        "Goodput of a flow with the agent while it was active, as in evaluations; mean over flows and episodes.",
    ),
    Metric("rtt_inflation", "1", "Mean RTT over the least RTT in those episodes."),
    Metric("rtt_s", "s", "Mean RTT of the subflows in those episodes."),
    Metric("loss_ratio", "1", "Packets lost over packets sent in those episodes."),
    Metric("jain", "1", "Jain's index over the goodputs of the flows in those episodes, their mean."),
    Metric("td_error", "1", "Mean |Q(s, a) - y| of the minibatches since the last report; PPO: of the value function."),
    Metric("q_mean", "1", "Mean of Q(s, a) over those minibatches; PPO: of the value function."),
    Metric("actor_saturation", "1", "Share of the policy's action components with |a| > 0.98 in those minibatches."),
    Metric("actor_loss", "1", "Loss of the actor, averaged over the updates since the last report."),
    Metric("critic_loss", "1", "Loss of the critic, averaged over the updates since the last report."),
    Metric("actor_grad_norm", "1", "Euclidean norm of the actor's gradient before clipping, their mean."),
    Metric("critic_grad_norm", "1", "Euclidean norm of the critic's gradient before clipping, their mean."),
    Metric("kl", "1", "Kullback-Leibler divergence of the policy before an update from that after it (PPO)."),
    Metric("entropy", "1", "Entropy of the policy (PPO, SAC), in nats."),
    Metric("updates_per_s", "1/s", "Gradient steps per second since the last report."),
    Metric("steps_per_s", "1/s", "Transitions per second since the last report."),
    Metric("sim_s_per_s", "1", "Simulated seconds per second since the last report, all environments together."),
    Metric(
        "eta_s",
        "s",
        "Estimated time until the training ends: rest of the budget, evaluations and the last checkpoint.",
    ),
)
"""All values of "metrics" reports. A report omits inapplicable and unknown values."""

SATURATED = 0.98
"""Magnitude beyond which an action component counts as saturated; a share above one half deserves a warning."""


class ReportKind(StrEnum):
    """Kind of a report; the comments list its values."""

    METRICS = "metrics"  # values: the known METRICS
    EVALUATION = "evaluation"  # values: step, is_best, score, those of Evaluation.to_json(), validation if used
    CHECKPOINT = "checkpoint"  # values: step, path, seconds
    PROGRESS = "progress"  # values: step, doing ("evaluating", after the budget is spent), eta_s (s, or null)
    STATE = "state"  # values: state (of TrainingState), step and why
    POLICY = "policy_view"  # values: step, path of the latest policy file
    # values: error (class name), message, metric (or null), step, checkpoint (path of the last good one, or null)
    FAILED = "failed"


class TrainingState(StrEnum):
    """State of a training, as in its reports."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"  # by request, resumable
    FINISHED = "finished"  # the budget is spent
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """A message from a training.

    Attributes:
        kind: kind of the message.
        values: plain JSON as listed in `ReportKind`.
    """

    kind: ReportKind
    values: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The report as a JSON object: {"kind": ..., "values": {...}}."""
        return {**asdict(self), "kind": self.kind.value}


class Command(StrEnum):
    """Commands to a training."""

    NONE = "none"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"  # saves a checkpoint first
    CHECKPOINT = "checkpoint"
    EVALUATE = "evaluate"


class Control(Protocol):
    """Source of commands for a training."""

    def poll(self) -> Command:
        """The next command, or NONE. Returns immediately; called at least every 50 ms."""
        ...


class NoControl:
    """A control that never sends a command."""

    def poll(self) -> Command:
        """Always NONE."""
        return Command.NONE
