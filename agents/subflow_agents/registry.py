"""All agents, by name. `agent` imports only the module of that agent; creating a learner imports PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from subflow_agents.errors import ConfigError
from subflow_agents.options import OptionSpec, options_of, read_options

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.learner import Learner, LearnerSetup, TrainingEnv


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """Description of a learning agent, with the functions that create it.

    Attributes:
        name: name on the command line.
        title: displayed name.
        summary: description in one sentence.
        source: paper or document that describes the agent.
        controller: controller of the core that applies the agent's decisions.
        scope: "host", "connection" or "subflow": the flows or subflows that share a decision.
        default_recipe: name, without suffix, of the file in assets/agents/recipes that trained the shipped policy.
        config_class: frozen dataclass of the agent's options.
        make_learner: (config, setup) -> learner; the first call imports PyTorch.
        make_environment: (training, config) -> environment, for agents with a special training environment; None
            selects the simulation of the scenario.
        controller_options: (config) -> options of the controller in training, by their names in scenarios.
        min_paths: minimum number of paths of an mptcp flow in the training scenario.
    """

    name: str
    title: str
    summary: str
    source: str
    controller: str
    scope: str
    default_recipe: str
    config_class: type[Any]
    make_learner: Callable[[Any, LearnerSetup], Learner]
    controller_options: Callable[[Any], Mapping[str, Any]]
    make_environment: Callable[[TrainingConfig, Any], TrainingEnv | None] | None = None
    min_paths: int = 1

    def options(self) -> tuple[OptionSpec, ...]:
        """The options of the agent, in the order of a form."""
        return options_of(self.config_class)

    def config(self, options: Mapping[str, object] | None = None) -> Any:
        """A config with these options in place of the defaults.

        Raises:
            ConfigError: for an unknown option or an unacceptable value.
        """
        return read_options(self.config_class, options or {})


# Module and variable of each agent.
_AGENTS: Mapping[str, tuple[str, str]] = {
    "drl-cc": ("drl_cc", "AGENT"),
    "dql-mptcp": ("dql_mptcp", "AGENT"),
    "ddpg-mpcc": ("ddpg_mpcc", "AGENT"),
    "mplibra": ("mplibra", "AGENT"),
    "clean-slate": ("clean_slate", "AGENT"),
    "rl-explore": ("rl_explore", "AGENT"),
    "rl-pure": ("rl_explore", "PURE"),
    "confluence": ("confluence", "AGENT"),
}


def agent_names() -> tuple[str, ...]:
    """Names of all agents, without loading their modules."""
    return tuple(_AGENTS)


def agent(name: str) -> AgentInfo:
    """The agent with this name.

    Raises:
        ConfigError: if the name is unknown.
    """
    if name not in _AGENTS:
        raise ConfigError("agent", f"unknown agent {name!r}", ", ".join(_AGENTS))
    module, variable = _AGENTS[name]
    info = getattr(import_module(f"subflow_agents.{module}"), variable)
    assert isinstance(info, AgentInfo)
    return info


def agents() -> tuple[AgentInfo, ...]:
    """All agents; loads their modules."""
    return tuple(agent(name) for name in _AGENTS)
