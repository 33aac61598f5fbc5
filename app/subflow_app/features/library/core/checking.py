"""Simulates runs of the library again: with this version they have to come out as they are stored, bit for bit."""

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
    """A run that was simulated again, or a counterexample that was tried again.

    Attributes:
        run_id: its number; 0: it is a counterexample.
        name: of the run.
        seed: of the run.
        stored: its signature in the library, or the margins of a counterexample.
        made: what came out now; empty if nothing did.
        problem: why it could not be simulated; empty if it could.
    """

    run_id: int
    name: str
    seed: int
    stored: str
    made: str
    problem: str = ""

    @property
    def is_same(self) -> bool:
        """Whether it came out as it is stored."""
        return self.made == self.stored


def sample(store: Store, count: int, seed: int, *, most_packets: int | None = None) -> list[int]:
    """Some runs, chosen by chance.

    Args:
        store: the library.
        count: how many; all if there are not so many.
        seed: of the choice: the same one chooses the same runs.
        most_packets: only runs that delivered no more; None: any.

    Raises:
        StoreError: if it cannot be read.
    """
    numbers = sorted(
        row.id
        for row in store.runs(status="finished")
        if row.signature and (most_packets is None or (row.packets or 0) <= most_packets)
    )
    return sorted(random.Random(seed).sample(numbers, min(count, len(numbers))))


def check(store: Store, numbers: list[int], *, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[CheckedRun]:
    """Simulate these runs again, one after the other.

    Raises:
        StoreError: if the library cannot be read.
    """
    for number in numbers:
        if is_stopped():
            return
        yield check_run(store, number)


def check_counterexamples(*, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[CheckedRun]:
    """Try the counterexamples that ship again, one after the other; what they are compared by are their margins.

    Raises:
        ClaimFileError: if one is not usable.
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
    """Simulate a run again.

    Raises:
        StoreError: if the library cannot be read.
    """
    from subflow_sim import Simulation

    row = store.run(number)
    try:
        origin = StoredOrigin.read(store, number)
        scenario = origin.scenario
        # Samples change nothing of what comes out, and are not needed.
        simulation = Simulation(scenario, seed=origin.seed, sample_interval_s=2 * scenario.duration_s)
        simulation.run_until(min(scenario.duration_s, origin.known_until_s))
    except (AppError, SimError) as error:
        return CheckedRun(number, row.name, row.seed, row.signature, "", str(error))
    return CheckedRun(number, row.name, row.seed, row.signature, simulation.signature())
