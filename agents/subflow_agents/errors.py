"""What can go wrong with learning agents; everything raised on purpose derives from `AgentError`."""

from __future__ import annotations


class AgentError(Exception):
    """Base of all errors that this package raises on purpose."""


class ConfigError(AgentError):
    """A value of a training is not acceptable.

    Attributes:
        key: which one, dotted, such as "options.gamma".
        message: what is wrong with it.
        allowed: what would be accepted instead; may be empty.
    """

    def __init__(self, key: str, message: str, allowed: str = "") -> None:
        super().__init__(f"{key}: {message}{'; allowed: ' if allowed else ''}{allowed}")
        self.key = key
        self.message = message
        self.allowed = allowed


class CheckpointError(AgentError):
    """A checkpoint cannot be written or is not one that this version can go on from."""


class DivergenceError(AgentError):
    """Learning left the numbers: a weight or a metric is no longer finite.

    Attributes:
        metric: which one.
        step: of the training, when it was seen.
    """

    def __init__(self, metric: str, step: int) -> None:
        super().__init__(f"{metric} is no longer a finite number at step {step}")
        self.metric = metric
        self.step = step
