"""DDPG-MPCC: an agent per subflow that changes the rate of MPCC.

Source: DDPG-MPCC (Future Internet 2024), sections 2 and 3; the utility and the probing are MPCC's (sim/core/cc/mpcc.h).
The paper gives no layer sizes, learning rates or discount. The paper's agent learns from a log of MPCC's monitor
intervals (log_env.py), whereas the default here is to learn in the simulator. Results from the log and from the
simulator must not be mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from subflow_agents.ddpg_options import RULING, DdpgConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, integer
from subflow_agents.registry import AgentInfo

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.learner import TrainingEnv

LOGGED_RUNS = 3
"""Number of MPCC runs in the log of an offline training."""


@dataclass(frozen=True, slots=True)
class DdpgMpccConfig(DdpgConfig):
    """Options of DDPG, the MPCC variant, and the training environment."""

    hidden: int = integer(256, "Width of the two hidden layers of actor and critic.", RULING, minimum=1, maximum=4096)
    base: str = choice("loss", "MPCC variant that it moves.", RULING, choices=("loss", "latency"))
    mode: str = choice(
        "closed_loop",
        "closed_loop: learn in the simulator; offline_log: learn from a log of MPCC's own runs of the scenario, "
        "which answers each rate with the entry of the nearest logged rate.",
        "DDPG-MPCC, section 2.2, is offline; its results mean little for a network",
        choices=("closed_loop", "offline_log"),
    )


def _make_learner(config: DdpgMpccConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    return DdpgLearner(config, setup, head="slot")


def _make_environment(training: TrainingConfig, config: DdpgMpccConfig) -> TrainingEnv | None:
    if config.mode == "closed_loop":
        return None
    from subflow_agents.interval_log import record_log
    from subflow_agents.log_env import LogEnv
    from subflow_agents.scenarios import read_scenario, require_paths
    from subflow_sim.scenario_model import Choice
    from subflow_sim.vec_env import learner_spec

    scenario = read_scenario(training.scenario, training.scenario_name, training.scenario_folder, training.overrides)
    require_paths(scenario, AGENT)
    flows = {
        name: replace(flow, controller=Choice(f"mpcc-{config.base}", {}), scheduler=Choice("mpcc-rate", {}))
        if flow.kind == "mptcp"
        else flow
        for name, flow in scenario.flows.items()
    }
    log = record_log(replace(scenario, flows=flows), range(training.seed, training.seed + LOGGED_RUNS))
    spec = learner_spec("ddpg-mpcc", _controller_options(config))
    return LogEnv(log, spec, training.num_envs, seed=training.seed)


def _controller_options(config: DdpgMpccConfig) -> Mapping[str, Any]:
    return {"base": config.base}


AGENT = AgentInfo(
    name="ddpg-mpcc",
    title="DDPG-MPCC",
    summary="An agent per subflow takes the steps of MPCC's moving phase.",
    source="DDPG-MPCC, Future Internet 2024",
    controller="ddpg-mpcc",
    scope="subflow",
    default_recipe="ddpg-mpcc",
    config_class=DdpgMpccConfig,
    make_learner=_make_learner,
    controller_options=_controller_options,
    make_environment=_make_environment,
)
