"""Errors of learning agents, all derived from `AgentError`."""

from __future__ import annotations


class AgentError(Exception):
    """Base of all errors that this package raises on purpose."""


class ConfigError(AgentError):
    """A value of a training is not acceptable.

    Attributes:
        key: dotted key of the value, for example "options.gamma".
        message: description of the error.
        allowed: description of acceptable values; may be empty.
    """

    def __init__(self, key: str, message: str, allowed: str = "") -> None:
        super().__init__(f"{key}: {message}{'; allowed: ' if allowed else ''}{allowed}")
        self.key = key
        self.message = message
        self.allowed = allowed


class CheckpointError(AgentError):
    """A checkpoint, or another file of a training, cannot be written or read, or does not fit this training."""


class DivergenceError(AgentError):
    """Learning diverged: a weight, an action or a metric is no longer finite.

    Attributes:
        metric: name of the value that is not finite.
        step: step at which the training detected the divergence.
    """

    def __init__(self, metric: str, step: int) -> None:
        super().__init__(f"{metric} is no longer a finite number at step {step}")
        self.metric = metric
        self.step = step
