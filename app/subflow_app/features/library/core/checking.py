"""Simulates runs of the library again: this version must reproduce their stored signatures exactly."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.features.breaking.core.counterexample import Counterexample, shipped_counterexamples
from subflow_app.features.explain.core.origin import StoredOrigin
from subflow_app.foundation.errors import AppError
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from subflow_store import Store


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run that was simulated again, or a shipped counterexample that was tried again.

    Attributes:
        run_id: number of the run; 0 for a counterexample.
        name: name of the run.
        seed: seed of the run.
        stored: signature in the library, or the margins of a counterexample.
        made: signature or margins of the repetition; empty after a failure.
        problem: reason for the failure; empty if the simulation succeeded.
    """

    run_id: int
    name: str
    seed: int
    stored: str
    made: str
    problem: str = ""

    @property
    def is_same(self) -> bool:
        """True if the repetition equals the stored result."""
        return self.made == self.stored


def sample(store: Store, count: int, seed: int, *, most_packets: int | None = None) -> list[int]:
    """Choose runs at random, and return their numbers in ascending order.

    Args:
        store: the library.
        count: number of runs; all runs if the library has fewer.
        seed: seed of the choice; the same seed chooses the same runs.
        most_packets: upper limit of delivered packets per run; None for no limit.

    Raises:
        StoreError: if the library cannot be read.
    """
    numbers = sorted(
        row.id
        for row in store.runs(status="finished")
        if row.signature and (most_packets is None or (row.packets or 0) <= most_packets)
    )
    return sorted(random.Random(seed).sample(numbers, min(count, len(numbers))))


def check(store: Store, numbers: list[int], *, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[CheckedRun]:
    """Simulate these runs again in order, until `is_stopped` returns True.

    Raises:
        StoreError: if the library cannot be read.
    """
    for number in numbers:
        if is_stopped():
            return
        yield check_run(store, number)


def check_counterexamples(*, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[CheckedRun]:
    """Try the shipped counterexamples again, one after the other, and compare their margins.

    Raises:
        ClaimFileError: if a counterexample cannot be used.
    """
    for each in shipped_counterexamples():
        if is_stopped():
            return
        try:
            made, problem = each.again(), ""
        except (AppError, SimError) as error:
            made, problem = None, str(error)
        yield CheckedRun(
            0, f"counterexample {each.name}", 0, _margins(each), "" if made is None else _margins(made), problem
        )


def _margins(each: Counterexample) -> str:
    return " ".join(f"{margin:.4f}" for margins in each.confirmed.values() for margin in margins)


def check_run(store: Store, number: int) -> CheckedRun:
    """Simulate a run again up to the time that it reached. If this fails, the result contains the reason.

    Raises:
        StoreError: if the library cannot be read.
    """
    from subflow_sim import Simulation

    row = store.run(number)
    try:
        origin = StoredOrigin.read(store, number)
        scenario = origin.scenario
        # Sampling does not influence the signature, so an interval beyond the duration saves time.
        simulation = Simulation(scenario, seed=origin.seed, sample_interval_s=2 * scenario.duration_s)
        simulation.run_until(min(scenario.duration_s, origin.known_until_s))
    except (AppError, SimError) as error:
        return CheckedRun(number, row.name, row.seed, row.signature, "", str(error))
    return CheckedRun(number, row.name, row.seed, row.signature, simulation.signature())
