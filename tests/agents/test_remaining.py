"""The remaining time of a training, by a clock that the tests advance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from subflow_agents.remaining import RemainingTime, Speed


@dataclass
class Work:
    """A training by a fake clock: learning and evaluating take given times, as in the loop of a training."""

    steps: int
    every: int
    evaluation_s: float
    step_s: float = 0.01
    warmup: int = 0  # transitions that take a tenth of the time, because nothing is learned from them
    checkpoint_s: float = 0.5
    minutes: float | None = None

    def estimates(self) -> tuple[list[tuple[float, float]], float]:
        """Time and estimate at each report, once per second, and the time of the end, all in s."""
        told: list[tuple[float, float]] = []
        speed, now, waited, busy_until, due, step, reported = Speed(), 0.0, 0.0, 0.0, self.every, 0, 0.0
        speed.note(0.0, 0)
        limit_s = math.inf if self.minutes is None else 60 * self.minutes
        while step < self.steps and now < limit_s:
            step += 1
            now += self.step_s / 10 if step <= self.warmup else self.step_s
            if now - reported >= 1:
                reported = now
                speed.note(now - waited, step)
                estimate = RemainingTime(
                    self.steps - step,
                    limit_s - now,
                    speed.steps_per_s,
                    due - step if self.every else math.inf,
                    self.every,
                    self.evaluation_s,
                    max(0.0, busy_until - now),
                    self.checkpoint_s,
                )
                told.append((now, estimate.total_s))
            if self.every and step >= due and step < self.steps:
                due += self.every
                waited += max(0.0, busy_until - now)
                now = max(now, busy_until)
                busy_until = now + self.evaluation_s
        now = max(now + self.checkpoint_s, busy_until)
        return told, now + (self.evaluation_s if self.every else 0.0)


@pytest.mark.parametrize(
    "work",
    [
        Work(steps=6000, every=0, evaluation_s=0),
        Work(steps=6000, every=600, evaluation_s=3),
        Work(steps=6000, every=600, evaluation_s=20),  # learning waits for evaluations
        Work(steps=6000, every=100_000, evaluation_s=20),  # only the last policy is evaluated
        Work(steps=6000, every=3000, evaluation_s=15, warmup=500),
        Work(steps=3000, every=3000, evaluation_s=40),  # the evaluation takes longer than the learning
        Work(steps=10**9, every=700, evaluation_s=10, minutes=1),
        Work(steps=3000, every=700, evaluation_s=10, minutes=5),
    ],
    ids=str,
)
def test_after_a_fifth_the_estimate_is_right_within_half(work: Work) -> None:
    told, end_s = work.estimates()
    later = [(now, estimate) for now, estimate in told if now >= 0.2 * end_s]
    assert len(later) > 5
    for now, estimate in later:
        # Near the end, the resolution of the reports is the limit.
        assert (end_s - now) / 1.5 - 1 <= estimate <= 1.5 * (end_s - now) + 1, now


def test_an_unknown_duration_of_evaluations_makes_the_estimate_unknown() -> None:
    assert math.isnan(RemainingTime(100, math.inf, 10.0, 50, 50, math.nan).total_s)
    assert math.isnan(RemainingTime(100, math.inf, math.nan).total_s)
    assert RemainingTime(100, math.inf, 10.0).total_s == 10


def test_speed_follows_the_last_quarter() -> None:
    speed = Speed()
    assert math.isnan(speed.steps_per_s)
    for second in range(11):
        speed.note(second, 1000 * second)
    for second in range(11, 101):
        speed.note(second, 10_000 + 10 * (second - 10))
    assert speed.steps_per_s == pytest.approx(10)
