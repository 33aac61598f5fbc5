"""What of a store belongs to an experiment or to a lab, by the numbers that it has there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.core.experiments.kinds import KINDS
from subflow_app.core.labs.lab import Lab

if TYPE_CHECKING:
    from subflow_app.core.experiments.recipe import Recipe
    from subflow_store import Store


@dataclass(frozen=True, slots=True)
class Belongings:
    """Numbers in a store.

    Attributes:
        runs: finished ones.
        sweeps: that they belong to.
        trainings: finished ones.
    """

    runs: tuple[int, ...] = ()
    sweeps: tuple[int, ...] = ()
    trainings: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.runs or self.trainings)

    def __add__(self, other: Belongings) -> Belongings:
        """Both, each once."""
        return Belongings(
            *(
                tuple(dict.fromkeys((*mine, *theirs)))
                for mine, theirs in (
                    (self.runs, other.runs),
                    (self.sweeps, other.sweeps),
                    (self.trainings, other.trainings),
                )
            )
        )


def of_experiment(store: Store, recipe: Recipe, *, is_quick: bool) -> Belongings:
    """What a store has of an experiment; nothing if it was not run there.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the store cannot be read.
    """
    seeds = recipe.seeds_of(is_quick=is_quick)
    values = KINDS[recipe.kind]().stored(recipe, store, is_quick=is_quick, seeds=seeds)
    told = getattr(values, "belongings", None)
    return Belongings() if told is None else Belongings(*told())


def of_lab(store: Store, lab: Lab) -> Belongings:
    """What a store has of the reference runs of a lab, whichever version of its text they are of.

    Raises:
        StoreError: if the store cannot be read.
    """
    runs = tuple(sorted(row.id for row in store.runs(tag=lab_tag(lab), status="finished")))
    return Belongings(runs, sweeps_of(store, runs))


def lab_tag(lab: Lab) -> str:
    """What the reference runs of a lab are tagged with."""
    return f"lab {lab.number}"


def sweeps_of(store: Store, runs: Sequence[int]) -> tuple[int, ...]:
    """Sweeps that have any of these runs.

    Raises:
        StoreError: if the store cannot be read.
    """
    wanted = set(runs)
    return tuple(
        sorted(
            row.id for row in store.sweeps.rows() if any(each.run_id in wanted for each in store.sweeps.runs(row.id))
        )
    )


def signature(store: Store, belongings: Belongings) -> str:
    """One signature for all of it, 16 hex digits: of those of its runs, and of what its trainings learned.

    Raises:
        StoreError: if the store cannot be read.
    """
    by_run = {row.id: row.signature for row in store.runs(include_deleted=True)}
    parts = [by_run[number] for number in belongings.runs if number in by_run]
    parts += [store.trainings.get(number).policy_hash for number in belongings.trainings]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]
