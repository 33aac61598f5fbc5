"""The criteria of RFC 9743, as recipes of experiments with a placeholder for the assessed controller.

Each file in `assets/assess` is a recipe in which `{entrant}` represents the name of the controller. The scenarios are
in a subfolder. `written_criteria` fills in the name, and writes a copy `entered-NAME.toml` of each scenario NAME.toml
with the controller on its flows of kind mptcp. The result is a folder of recipes that `subflow reproduce` runs.

`dossier.toml` lists the claims to search and the sections that are not tried:

format = 1
search = ["improve", "do-no-harm"]      # claims of `subflow break`
[[untried]]
section = "7.2"                         # section of RFC 9743
title = "Circuit breakers of the network"
why = "The simulator lacks them."
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subflow_app.features.arena.core.entrants import Entrant
from subflow_app.features.breaking.core.claim_file import ClaimFile, claim_names, load_claim
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.foundation.errors import ArenaError, ClaimFileError, ExportError, RecipeError
from subflow_app.foundation.files import made_folder, write_file
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_edit import read_toml
from subflow_app.foundation.toml_files import checked, read_text, toml_tree
from subflow_sim.parameter import Param
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_sim.section_reader import Report, read_section
from subflow_sim.units import Dimension

_ENTRANT = "{entrant}"
_ENTERED = "entered-"
_SCENARIOS = "scenarios"
_SUFFIX = ".toml"
_DOSSIER = "dossier"
_REFERENCE = "NewReno"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 _.,:=+/-]")

_PARAMS = (Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),)
_UNTRIED = (
    Param("section", Dimension.TEXT, "Section of RFC 9743.", required=True),
    Param("title", Dimension.TEXT, "Subject of the section.", required=True),
    Param("why", Dimension.TEXT, "Reason for not trying it.", required=True),
)


@dataclass(frozen=True, slots=True)
class Untried:
    """A requirement of RFC 9743 that the assessment does not test.

    Attributes:
        section: number of the section of the RFC.
        title: subject of the section.
        why: reason for not testing it.
    """

    section: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class Dossier:
    """The content of `dossier.toml`.

    Attributes:
        claims: claims for which to search counterexamples.
        untried: sections that are not tested.
    """

    claims: tuple[ClaimFile, ...]
    untried: tuple[Untried, ...]


def criterion_names() -> tuple[str, ...]:
    """Names of the criteria, one for each file in the folder, ordered by their section of the RFC."""
    names = [path.stem for path in resource_path("assess").glob(f"*{_SUFFIX}") if path.stem != _DOSSIER]
    return tuple(sorted(names, key=lambda name: (_section_key(_section_of(name)), name)))


def criterion_facts() -> list[tuple[str, str, str]]:
    """Name, section of RFC 9743 and title of each criterion.

    Raises:
        RecipeError: if a criterion is not usable, which means that the installation is damaged.
    """
    found = []
    for name in criterion_names():
        path = resource_path(f"assess/{name}{_SUFFIX}")
        tree = toml_tree(_template(name), path, RecipeError)
        found.append((name, _section_of(name), str(tree.get("title", ""))))
    return found


def section(recipe: Recipe) -> str:
    """Number of the recipe's section in RFC 9743, e.g. "5.1.2"."""
    return recipe.figure.rpartition(" ")[2]


def load_dossier() -> Dossier:
    """The claims to search and the sections that are not tried.

    Raises:
        RecipeError: if the file is invalid because the installation is damaged; the error lists all problems.
    """
    path = resource_path(f"assess/{_DOSSIER}{_SUFFIX}")
    return checked(read_text(path, RecipeError, "a dossier"), path, RecipeError, _read)


def shown_name(entrant: Entrant) -> str:
    """Name of the entrant's data series, safe in a quoted string and different from the name of the reference."""
    name = _NOT_IN_NAMES.sub("-", entrant.name)
    return f"{name} (tried)" if name == _REFERENCE else name


def written_criteria(entrant: Entrant, folder: Path) -> tuple[Recipe, ...]:
    """Write the criteria and their scenarios for an entrant, and read the criteria as recipes.

    Args:
        entrant: controller to assess.
        folder: folder for the files, created if missing; existing files with the same names are replaced.

    Raises:
        ArenaError: if the entrant cannot be assessed.
        ExportError: if a file cannot be written.
        RecipeError: if a criterion is not usable, which means that the installation is damaged.
    """
    check_entrant(entrant)
    scenarios = made_folder(folder / _SCENARIOS)
    for path in sorted(resource_path(f"assess/{_SCENARIOS}").glob(f"*{_SUFFIX}")):
        text = read_text(path, RecipeError, "a scenario")
        write_file(scenarios / path.name, text)
        tried = [flow for flow, table in read_toml(text)["flows"].items() if table.get("kind") == "mptcp"]
        write_file(scenarios / f"{_ENTERED}{path.name}", entrant.put_into(text, tried))
    policy = entrant.options.get("policy")
    if entrant.folder is not None and isinstance(policy, str) and policy.endswith(POLICY_SUFFIX):
        try:
            content = (entrant.folder / policy).read_bytes()
        except OSError as error:
            raise ExportError(f"{policy}: this policy file cannot be read: {error.strerror or error}") from error
        write_file(scenarios / policy, content)
    name = shown_name(entrant)
    recipes = []
    for each in criterion_names():
        target = folder / f"{each}{_SUFFIX}"
        write_file(target, _template(each).replace(_ENTRANT, name))
        recipes.append(load_recipe(str(target)))
    return tuple(recipes)


def check_entrant(entrant: Entrant) -> None:
    """Refuse blind senders and entrants with a problem.

    Raises:
        ArenaError: if the entrant cannot be assessed.
    """
    if entrant.is_blind:
        raise ArenaError(
            f"{entrant.name} is not a congestion controller: it reacts to nothing and serves only for comparison"
        )
    if entrant.problem:
        raise ArenaError(entrant.problem)


def _template(name: str) -> str:
    return read_text(resource_path(f"assess/{name}{_SUFFIX}"), RecipeError, "a criterion")


def _section_of(name: str) -> str:
    found = re.search(r'^figure = "section ([0-9.]+)"$', _template(name), re.MULTILINE)
    return found[1] if found else ""


def _section_key(text: str) -> list[int]:
    return [int(part) for part in text.split(".") if part]


def _read(tree: Mapping[str, Any], report: Report) -> Dossier | None:
    known = ("search", "untried")
    read_section(report, (), tree, _PARAMS, also_known=known)
    names = report.names(("search",), tree.get("search", []))
    report.check_names(("search",), names, "claim", claim_names())
    untried = []
    for place, table in report.tables("untried"):
        values = read_section(report, place, table, _UNTRIED)
        untried.append(Untried(values.get("section", ""), values.get("title", ""), values.get("why", "")))
    if report.problems:
        return None
    try:
        claims = tuple(map(load_claim, names))
    except ClaimFileError as error:
        report.add(("search",), str(error))
        return None
    return Dossier(claims, tuple(untried))
