"""Reads ablations: variants of a recipe that differ from it in one respect.

[steps]
drl-cc = 4000                     # budget of this recipe's ablations, and of the unchanged recipe beside them

[[ablation]]
recipe = "drl-cc"                 # a shipped recipe
name = "td3"                      # lower-case letters, digits and -
says = "TD3 in place of DDPG"
options.algorithm = "td3"         # the change, by the keys of recipes

Ablations of a recipe that `[steps]` does not list have the recipe's own budget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from subflow_app.features.training.core.training_setup import Recipe, read_recipe
from subflow_app.foundation.errors import RecipeError
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_files import read_text, toml_tree

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_OWN = ("recipe", "name", "says")

AS_PRINTED = "as-printed"
"""Name of the unchanged recipe with the budget of its ablations."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """A recipe with one change, or with a smaller budget alone.

    Attributes:
        base: name of the recipe without the change.
        name: name of the change, unique for this recipe.
        says: the change in a few words.
        recipe: the changed recipe.
    """

    base: str
    name: str
    says: str
    recipe: Recipe


def load_ablations(path: Path | None = None) -> tuple[Ablation, ...]:
    """Read all ablations of a file. A recipe with a smaller budget comes first, unchanged, as `AS_PRINTED`.

    Args:
        path: path of the file; None: the shipped one.

    Raises:
        RecipeError: if the file cannot be read, or an ablation is incomplete, occurs twice or is not a valid recipe.
    """
    path = path or resource_path("agents/ablations.toml")
    tree = toml_tree(read_text(path, RecipeError, "a list of ablations"), path, RecipeError)
    listed = tree.get("ablation")
    if set(tree) - {"format", "steps", "ablation"} or tree.get("format") != 1 or not isinstance(listed, list):
        raise RecipeError(f"{path}: allowed: format = 1, a table [steps], and tables [[ablation]]")
    steps = tree.get("steps", {})
    found: dict[tuple[str, str], Ablation] = {
        (base, AS_PRINTED): _changed(path, base, AS_PRINTED, "as printed", {"steps": count})
        for base, count in steps.items()
    }
    for number, table in enumerate(listed, start=1):
        ablation = _ablation(path, number, table, steps)
        if (ablation.base, ablation.name) in found:
            raise RecipeError(f"{path}: the ablation {ablation.name} of {ablation.base} occurs twice")
        found[ablation.base, ablation.name] = ablation
    return tuple(found.values())


def _ablation(path: Path, number: int, table: Mapping[str, Any], steps: Mapping[str, Any]) -> Ablation:
    base, name, says = (table.get(key) for key in _OWN)
    for key, value in zip(_OWN, (base, name, says), strict=True):
        if not isinstance(value, str) or not value:
            raise RecipeError(f"{path}: ablation {number}: {key} = {value!r}; allowed: a text")
    if not _NAME.fullmatch(str(name)):
        raise RecipeError(f'{path}: ablation {number}: name = "{name}"; allowed: up to 32 letters a to z, digits and -')
    changes = {key: value for key, value in table.items() if key not in _OWN}
    if not changes:
        raise RecipeError(f"{path}: the ablation {name} of {base} changes nothing")
    budget = {"steps": steps[str(base)]} if base in steps else {}
    return _changed(path, str(base), str(name), str(says), {**budget, **changes})


def _changed(path: Path, base: str, name: str, says: str, changes: Mapping[str, Any]) -> Ablation:
    text = tomlkit.dumps({"format": 1, "like": base, "title": says, **changes})
    # The path names the ablation in messages. The recipe's scenarios are shipped.
    return Ablation(base, name, says, read_recipe(text, path.with_name(f"{path.name}, {name} of {base}")))
