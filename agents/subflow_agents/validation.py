"""The fixed set of networks whose utility selects the best policy of a training.

The arena's networks in this set come from the validation split. The test split is never read here, because test results
are only meaningful if no selection used them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from subflow_agents.evaluation import Contender, contender_scenario
from subflow_agents.families import family_names
from subflow_agents.scenarios import read_scenario, steered_flows
from subflow_sim.arena.networks import Network, networks
from subflow_sim.arena.utility import judged, mean_of, worst_decile_of

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig

HOME = "home"
"""Family name under which the evaluation scenario counts, with one network per evaluation seed."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Utilities of a policy on a fixed set of networks.

    Attributes:
        utilities: utilities of the networks, by family; see `subflow_sim.arena.utility`.
    """

    utilities: Mapping[str, tuple[float, ...]]

    @property
    def mean(self) -> float:
        """Mean of the families' mean utilities, so that all families count alike."""
        return mean_of([mean_of(each) for each in self.utilities.values()])

    @property
    def worst_decile(self) -> float:
        """Mean over the worst tenth of the networks, at least one."""
        return worst_decile_of([value for each in self.utilities.values() for value in each])

    @property
    def score(self) -> float:
        """Score that selects the best policy: the average of `mean` and `worst_decile`.

        The home scenario, if used, counts as much as all other networks together. The selected policy should be good in
        general without losing in its home scenario.
        """
        home = self.utilities.get(HOME, ())
        abroad = Validation({name: each for name, each in self.utilities.items() if name != HOME})
        scores = [(mean_of(home) + worst_decile_of(home)) / 2] if home else []
        scores += [(abroad.mean + abroad.worst_decile) / 2] if abroad.utilities else []
        return mean_of(scores)

    def to_json(self) -> dict[str, Any]:
        """The validation as a JSON object."""
        return {
            "score": self.score,
            "mean": self.mean,
            "worst_decile": self.worst_decile,
            "families": {name: mean_of(each) for name, each in self.utilities.items()},
        }


def validation_networks(config: TrainingConfig) -> tuple[Network, ...]:
    """The networks of the validation split and, with `validation_home`, the evaluation scenario once per seed."""
    names = family_names(config.validation_families)
    abroad = networks("validation", range(1, config.validation_networks + 1), names)
    if not config.validation_home:
        return tuple(abroad)
    text = config.evaluation_scenario or config.scenario
    overrides = () if config.evaluation_scenario else config.overrides
    plain = read_scenario(text, config.scenario_name, config.scenario_folder, overrides)
    competes = steered_flows(plain, "a controller")
    beside = tuple(name for name, flow in plain.flows.items() if flow.kind == "tcp" and name not in competes)
    has_documents = all(plain.flows[name].size_bytes is not None for name in competes)
    home = (
        Network(HOME, f"{HOME}/{seed}", replace(plain, seed=seed), competes, beside, has_documents, text)
        for seed in config.evaluation_seeds
    )
    return (*abroad, *home)


def validate(contender: Contender, net: Network, config: TrainingConfig) -> float:
    """The utility of a contender on a network; `WORST` if the run fails."""
    folder = config.scenario_folder if net.family == HOME else ""
    overrides = config.overrides if net.family == HOME and not config.evaluation_scenario else ()
    scenario, _ = contender_scenario(contender, net.text, net.name, folder, overrides)
    return judged(net, replace(scenario, seed=net.scenario.seed)).utility
