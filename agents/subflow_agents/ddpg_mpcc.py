"""DDPG-MPCC: an agent per subflow that changes the rate of MPCC.

Source: DDPG-MPCC (Future Internet 2024), sections 2 and 3; the utility and the probing are MPCC's (sim/core/cc/mpcc.h).
The paper gives no layer sizes, learning rates or discount. As in the paper, the agent learns from a log of MPCC's
monitor intervals (log_env.py) on the three networks of figure 2 (logged_networks.py). The mode closed_loop learns in
the simulator instead. Results from the log and from the simulator must not be mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_agents.ddpg_options import RULING, DdpgConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, integer, number
from subflow_agents.registry import AgentInfo

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.learner import TrainingEnv
    from subflow_sim import Scenario

PAPER = "DDPG-MPCC, sections 2.3 and 3"


@dataclass(frozen=True, slots=True)
class DdpgMpccConfig(DdpgConfig):
    """Options of DDPG, the MPCC variant, and the training environment."""

    hidden: int = integer(256, "Width of the two hidden layers of actor and critic.", RULING, minimum=1, maximum=4096)
    base: str = choice(
        "latency",
        "MPCC variant that it moves.",
        "DDPG-MPCC, section 1.2: a utility with loss and a growing RTT",
        choices=("loss", "latency"),
    )
    updates_per_step: float = number(
        0.001,
        "Gradient steps per transition.",
        "DDPG-MPCC, Algorithm 1: one after each episode of 1000 steps",
        minimum=0.001,
        maximum=100,
    )
    mode: str = choice(
        "offline_log",
        "closed_loop: learn in the simulator; offline_log: learn from a log of MPCC's own runs, which answers each "
        "rate with the entry of the nearest logged rate.",
        "DDPG-MPCC, section 2.2: trained offline from logs",
        choices=("closed_loop", "offline_log"),
    )
    log_networks: str = choice(
        "paper",
        "Networks of the log: those of the paper with drawn rates and losses, the scenario of the training, or both.",
        PAPER,
        choices=("paper", "scenario", "both"),
    )
    log_runs: int = integer(5, "Runs of each network in the log.", PAPER, minimum=1, maximum=100)
    log_duration: float = number(
        300.0,
        "Duration of a run on the paper's networks; the scenario of the training has its own.",
        PAPER,
        minimum=10,
        maximum=3600,
        unit="s",
    )


def _make_learner(config: DdpgMpccConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    return DdpgLearner(config, setup, head="slot")


def _make_environment(training: TrainingConfig, config: DdpgMpccConfig) -> TrainingEnv | None:
    if config.mode == "closed_loop":
        return None
    from subflow_agents.interval_log import record_log
    from subflow_agents.log_env import LogEnv
    from subflow_agents.logged_networks import paper_runs, with_mpcc
    from subflow_agents.scenarios import read_scenario, require_paths
    from subflow_sim.vec_env import learner_spec

    runs: list[tuple[Scenario, int]] = []
    if config.log_networks != "scenario":
        of_paper = paper_runs(config.base, config.log_runs, config.log_duration, training.seed)
        runs += [(scenario, training.seed + number) for number, scenario in enumerate(of_paper)]
    if config.log_networks != "paper":
        own = read_scenario(training.scenario, training.scenario_name, training.scenario_folder, training.overrides)
        require_paths(own, AGENT)
        runs += [(with_mpcc(own, config.base), training.seed + number) for number in range(config.log_runs)]
    spec = learner_spec("ddpg-mpcc", _controller_options(config))
    return LogEnv(record_log(runs, training.threads), spec, training.num_envs, seed=training.seed)


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
