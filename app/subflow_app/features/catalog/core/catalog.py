"""What scenarios can name: controllers, schedulers, and the policies that ship or are the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.foundation.paths import policy_folder
from subflow_sim.policy_library import PolicyLibrary, shipped_policies

if TYPE_CHECKING:
    from pathlib import Path

    from subflow_sim.params import AlgorithmCatalog
    from subflow_sim.whole_scenario import Scenario


def policy_library() -> PolicyLibrary:
    """The policies by name: what ships first, so that its names mean the same everywhere, then the user's."""
    return PolicyLibrary((shipped_policies(), policy_folder()))


def catalog_before_library(folder: Path) -> AlgorithmCatalog:
    """The same as `app_catalog`, where policies of a folder come before those of the same names in the library."""
    from subflow_sim.catalog import catalog_with

    return catalog_with(PolicyLibrary((folder, *policy_library().folders)))


def app_catalog(scenario: Scenario | None = None) -> AlgorithmCatalog:
    """Everything a scenario may name as controller, scheduler or policy.

    Args:
        scenario: whose own scripts are among it; None: it brings none.
    """
    from subflow_sim.catalog import catalog_of, catalog_with

    catalog = catalog_with(policy_library())
    return catalog if scenario is None else catalog_of(scenario, catalog)
