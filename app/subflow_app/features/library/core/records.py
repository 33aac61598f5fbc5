"""What of a store belongs to an experiment or to a lab, by the numbers that it has there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.labs.core.lab import Lab
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_store import Store


def of_experiment(store: Store, recipe: Recipe, *, is_quick: bool) -> Records:
    """What a store has of an experiment; nothing if it was not run there.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the store cannot be read.
    """
    seeds = recipe.seeds_of(is_quick=is_quick)
    every = [(recipe, seeds)]
    every += [
        (each.recipe, recipe.variant_seeds(name, seeds, is_quick=is_quick)) for name, each in recipe.variants.items()
    ]
    found = Records()
    for each, chosen in every:
        values = KINDS[each.kind]().stored(each, store, is_quick=is_quick, seeds=chosen)
        found += Records() if values is None else values.records()
    return found


def of_lab(store: Store, lab: Lab) -> Records:
    """What a store has of the reference runs of a lab, whichever version of its text they are of.

    Raises:
        StoreError: if the store cannot be read.
    """
    runs = tuple(sorted(row.id for row in store.runs(tag=lab_tag(lab), status="finished")))
    return Records(runs, sweeps_of(store, runs))


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


def run_signatures(store: Store) -> dict[int, str]:
    """The signature of each run.

    Raises:
        StoreError: if the store cannot be read.
    """
    return {row.id: row.signature for row in store.runs()}


def signature(store: Store, records: Records, by_run: Mapping[int, str]) -> str:
    """One signature for all of it, 16 hex digits: of those of its runs, and of what its trainings learned.

    Args:
        store: where it is.
        records: all of it.
        by_run: `run_signatures`.

    Raises:
        StoreError: if the store cannot be read.
    """
    parts = [by_run[number] for number in records.runs if number in by_run]
    parts += [store.trainings.get(number).policy_hash for number in records.trainings]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]
