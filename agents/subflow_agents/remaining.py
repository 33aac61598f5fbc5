"""Estimates the remaining time of a training: learning, waiting for evaluations, the last checkpoint and evaluation."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

_RECENT = 0.25  # share of the learning time over which the speed is measured


@dataclass(frozen=True, slots=True)
class RemainingTime:
    """Remaining time of a training from its speed and the durations of its other work.

    Evaluations run beside the learning, one at a time: a training that learns faster than it is evaluated waits.

    Attributes:
        steps: transitions until the budget is spent; infinite without such a budget.
        seconds: time until the budget is spent, s; infinite without such a budget.
        steps_per_s: transitions per second of learning, without waiting for evaluations; more than 0.
        next_evaluation: transitions until the next evaluation; infinite without evaluations.
        evaluation_every: transitions between two evaluations; 0: no evaluations.
        evaluation_s: duration of an evaluation, s.
        pending_s: remaining time of the current evaluation, s; 0 without one.
        checkpoint_s: duration of the last checkpoint, s.
    """

    steps: float
    seconds: float
    steps_per_s: float
    next_evaluation: float = math.inf
    evaluation_every: int = 0
    evaluation_s: float = 0.0
    pending_s: float = 0.0
    checkpoint_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Time until the training ends, s; NaN if the speed or the duration of an evaluation is unknown."""
        if any(map(math.isnan, (self.steps_per_s, self.evaluation_s, self.pending_s))):
            return math.nan
        speed = self.steps_per_s
        steps = min(self.steps, self.seconds * speed)
        if not self.evaluation_every:
            return min(steps / speed, self.seconds) + self.checkpoint_s
        learned_s, busy_s = steps / speed, self.pending_s
        waiting = steps - self.next_evaluation
        if waiting > 0:
            count = math.ceil(waiting / self.evaluation_every)
            first_s = max(self.next_evaluation / speed, self.pending_s)
            last_s = first_s + (count - 1) * max(self.evaluation_every / speed, self.evaluation_s)
            rest = waiting - (count - 1) * self.evaluation_every
            learned_s = min(last_s + rest / speed, self.seconds)
            busy_s = min(last_s, learned_s) + self.evaluation_s
        # The last policy is evaluated after the previous evaluation.
        return max(learned_s + self.checkpoint_s, busy_s) + self.evaluation_s


class Speed:
    """Transitions per second over the last quarter of the learning time.

    A fast warm-up soon stops counting, and so does the time in which baselines compete for the processor.
    """

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()  # learning time in s, number of transitions
        self._begin_s = math.nan

    def note(self, learning_s: float, step: int) -> None:
        """Adds a point.

        Args:
            learning_s: time of learning so far, s, without waiting for evaluations; rises.
            step: number of transitions so far.
        """
        if not self._points:
            self._begin_s = learning_s
        self._points.append((learning_s, step))
        first_s = self._begin_s + (1 - _RECENT) * (learning_s - self._begin_s)
        while len(self._points) > 2 and self._points[1][0] <= first_s:
            self._points.popleft()

    @property
    def steps_per_s(self) -> float:
        """Transitions per second of learning; NaN before the first progress."""
        if len(self._points) < 2:
            return math.nan
        (first_s, first_step), (last_s, last_step) = self._points[0], self._points[-1]
        return (
            (last_step - first_step) / (last_s - first_s) if last_s > first_s and last_step > first_step else math.nan
        )
