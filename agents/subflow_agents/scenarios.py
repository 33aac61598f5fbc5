"""Environments and evaluation scenarios from the scenario text of a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents.errors import ConfigError

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.learner import TrainingEnv
    from subflow_agents.registry import AgentInfo
    from subflow_sim import Scenario

SINGLE_PATH_BASELINES = ("cubic", "newreno")
"""Default baselines for agents of single-path flows."""


def read_scenario(text: str, name: str, folder: str, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario in the TOML text of a training.

    Raises:
        ScenarioError: if the text has problems; the error contains all of them.
    """
    from subflow_sim import parse_scenario

    return parse_scenario(text, file=name, overrides=overrides, folder=Path(folder) if folder else None)


def make_environment(config: TrainingConfig, info: AgentInfo, options: Any) -> TrainingEnv:
    """The environments of a training.

    Args:
        config: configuration of the training.
        info: agent of the training.
        options: options of the agent.

    Raises:
        ScenarioError: if the scenario has problems.
        ConfigError: if the scenario lacks the flows or paths required by the agent.
    """
    from subflow_agents.families import FamilyEpisodes
    from subflow_sim.errors import SimulationError
    from subflow_sim.training import Distribution
    from subflow_sim.vec_env import VecEnv, with_learner

    if info.make_environment is not None:
        own = info.make_environment(config, options)
        if own is not None:
            return own
    scenario = read_scenario(config.scenario, config.scenario_name, config.scenario_folder, config.overrides)
    require_paths(scenario, info)
    distribution = Distribution.from_scenario(scenario)
    given = info.controller_options(options)
    families = FamilyEpisodes(config, info, given)

    def make(env: int, episode: int) -> Scenario:
        of_family = families.draw(env, episode)
        if of_family is not None:
            return of_family
        return with_learner(distribution.draw(config.seed, env, episode), info.controller, given)

    try:
        return VecEnv(
            make,
            info.controller,
            config.num_envs,
            seed=config.seed,
            threads=config.threads,
            slots=max(distribution.slots(info.controller, given), families.slots()),
            episode_s=config.episode_s,
            stagger=config.num_envs > 1,
            fair=getattr(options, "relative", False),
        )
    except SimulationError as error:
        raise ConfigError("scenario", str(error)) from error


def require_paths(scenario: Scenario, info: AgentInfo) -> None:
    """Refuses a scenario without the flows and paths required by an agent.

    Raises:
        ConfigError: if flows or paths are missing; the message names them.
    """
    kinds = ("mptcp",) if info.scope in ("host", "connection") else ("mptcp", "tcp")
    candidates = {name: flow for name, flow in scenario.flows.items() if flow.kind in kinds}
    if not candidates:
        raise ConfigError(
            "scenario", f"{info.title} needs a flow of kind {' or '.join(kinds)}, which it lacks", " or ".join(kinds)
        )
    steered = {name: flow for name, flow in candidates.items() if flow.controller.name == info.controller}
    for name, flow in (steered or candidates).items():
        if flow.kind == "mptcp" and len(flow.paths) < info.min_paths:
            raise ConfigError(
                "scenario",
                f"flow {name!r} has {len(flow.paths)} path, and {info.title} needs {info.min_paths}",
                f"a flow with {info.min_paths} paths or more",
            )


def steered_flows(scenario: Scenario, controller: str) -> tuple[str, ...]:
    """Names of the flows that receive a controller under evaluation.

    These are the flows of learning agents, otherwise the MPTCP flows, otherwise the TCP flows.

    Raises:
        ConfigError: if the scenario has no such flow.
    """
    from subflow_sim.vec_env import agent_spec

    flows = {name: flow for name, flow in scenario.flows.items() if flow.kind in ("mptcp", "tcp")}
    built_in = {name: flow.controller.name for name, flow in flows.items() if flow.controller.script is None}
    learned = tuple(name for name, controller in built_in.items() if agent_spec(controller) is not None)
    multipath = tuple(name for name, flow in flows.items() if flow.kind == "mptcp")
    chosen = learned or multipath or tuple(flows)
    if not chosen:
        raise ConfigError("scenario", f"it has no tcp or mptcp flow for {controller!r}")
    return chosen
