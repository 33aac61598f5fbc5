"""Names that scenarios may use: controllers, schedulers, shipped policies, and the policies of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.foundation.paths import policy_folder
from subflow_sim.policy_library import PolicyLibrary, shipped_policies

if TYPE_CHECKING:
    from pathlib import Path

    from subflow_sim.params import AlgorithmCatalog
    from subflow_sim.whole_scenario import Scenario


def policy_library() -> PolicyLibrary:
    """The policies by name. Shipped policies take precedence, so their names mean the same policies everywhere."""
    return PolicyLibrary((shipped_policies(), policy_folder()))


def catalog_before_library(folder: Path) -> AlgorithmCatalog:
    """Like `app_catalog`, but policies in a folder take precedence over library policies with the same name."""
    from subflow_sim.catalog import catalog_with

    return catalog_with(PolicyLibrary((folder, *policy_library().folders)))


def app_catalog(scenario: Scenario | None = None) -> AlgorithmCatalog:
    """Controllers, schedulers and policies that a scenario may name.

    Args:
        scenario: scenario whose scripts are included, or None.
    """
    from subflow_sim.catalog import catalog_of, catalog_with

    catalog = catalog_with(policy_library())
    return catalog if scenario is None else catalog_of(scenario, catalog)
