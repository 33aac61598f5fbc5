"""All agents, by name. Naming one loads its file, which describes it; its learner loads PyTorch."""

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
    """A learning agent: what it is, and how to get one.

    Attributes:
        name: as users write it.
        title: for people.
        summary: one sentence.
        source: the paper.
        controller: of the core that does what it decides.
        scope: "host", "connection" or "subflow": what decides together.
        default_recipe: file in assets/agents/recipes, without its ending, that trains the policy shipped.
        config_class: frozen dataclass of its options.
        make_learner: (config, setup) -> learner; the first call imports PyTorch.
        make_environment: (training, config) -> environment, for agents that learn on something other than
            the scenario's simulation with these options; if it returns None, on that after all.
        controller_options: (config) -> options of the controller that it is trained with, as a scenario names them.
        min_paths: the least number of paths that a flow of its scenario needs.
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
        """What can be set of it, in the order of a form."""
        return options_of(self.config_class)

    def config(self, options: Mapping[str, object] | None = None) -> Any:
        """Its config with these options in place of the defaults.

        Raises:
            ConfigError: for an option that does not exist or a value that is not acceptable.
        """
        return read_options(self.config_class, options or {})


# Each agent's module ends in `AGENT` (or names it otherwise); a name that is not listed here does not exist.
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
    """Names of all agents, without loading any."""
    return tuple(_AGENTS)


def agent(name: str) -> AgentInfo:
    """The agent of that name.

    Raises:
        ConfigError: if there is none.
    """
    if name not in _AGENTS:
        raise ConfigError("agent", f"unknown agent {name!r}", ", ".join(_AGENTS))
    module, variable = _AGENTS[name]
    info = getattr(import_module(f"subflow_agents.{module}"), variable)
    assert isinstance(info, AgentInfo)
    return info


def agents() -> tuple[AgentInfo, ...]:
    """All agents."""
    return tuple(agent(name) for name in _AGENTS)
