"""The ambiguity register: how what the papers leave open is read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from subflow_app.foundation.resources import resource_path

RULINGS_FILE = "rulings.toml"
"""It lies beside the recipes, which name its ids."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """How something that a paper leaves open is read.

    Attributes:
        id: "A1".
        problem: what is open.
        ruling: what we take it for.
    """

    id: str
    problem: str
    ruling: str


def experiments_folder() -> Path:
    """Where the shipped recipes are.

    Raises:
        ResourceError: if it is missing.
    """
    return resource_path("experiments")


@cache
def rulings() -> Mapping[str, Ruling]:
    """The ambiguity register by id, in order.

    Raises:
        ResourceError: if it is missing.
    """
    tree = tomllib.loads((experiments_folder() / RULINGS_FILE).read_text(encoding="utf-8"))
    return {name: Ruling(name, table["problem"], table["ruling"]) for name, table in tree.items()}
