"""RL-explore: PPO with bandwidth probes, and pure reinforcement learning without probes.

Source: "RL-explore", sections 4 and 5. The controller `rl-explore` of the core implements observation, actions, reward
and probe; this module defines the training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_agents.options import choice, flag, integer, memory, number, seen_rtt
from subflow_agents.ppo_config import PpoConfig
from subflow_agents.registry import AgentInfo

if TYPE_CHECKING:
    from subflow_agents.learner import Learner, LearnerSetup


@dataclass(frozen=True, slots=True)
class RlPureConfig(PpoConfig):
    """Options of PPO, and of the agent's observation and epochs."""

    anneal: bool = flag(
        False,
        "The learning rate falls to 0 over the budget; without this, the policy collapses once it is good.",
        "RL-explore, section 4.4: one learning rate",
    )
    epoch: str = choice(
        "packets",
        "A decision after this many packets acknowledged or lost, or after each round trip.",
        "RL-explore, section 4.3: packets follow a fast link faster, round trips are steadier",
        choices=("packets", "rtt"),
    )
    epoch_packets: int = integer(50, "Packets of an epoch.", "RL-explore, section 4.3", minimum=1, maximum=1_000_000)
    history: int = integer(
        1,
        "Past epochs that the agent sees.",
        "RL-explore, section 4.4: 1, 2, 4, 8 tried, 1 kept",
        minimum=1,
        maximum=32,
    )
    throughput_epochs: int = integer(
        5,
        "Number of epochs over which throughput_max is the maximum. With 5, one epoch at the full rate is rewarded "
        "five times.",
        "RL-explore, section 4.1",
        minimum=1,
        maximum=5,
    )
    reference_rate: float = number(
        100e6,
        "Throughput is shown relative to this, or to the largest seen if that is larger. If it is above the rates of "
        "the training links, it reveals how fast a link is; without that, no value can be learned.",
        "the paper's links have 12 and 48 Mbit/s",
        minimum=1e3,
        maximum=1e12,
        unit="bit/s",
    )
    memory: float = memory()
    rtt: str = seen_rtt("RL-explore, section 4.1: average latency, in the state and in equation (4)")


@dataclass(frozen=True, slots=True)
class RlExploreConfig(RlPureConfig):
    """The options of pure RL, and the probe interval."""

    probe_interval: int = integer(
        8, "Decisions from one probe to the next.", "RL-explore, section 4.1: several", minimum=1, maximum=1000
    )


def _pure_options(config: RlPureConfig) -> dict[str, Any]:
    return {
        "probe_bw": False,
        "epoch": config.epoch,
        "epoch_packets": float(config.epoch_packets),
        "history": float(config.history),
        "throughput_epochs": float(config.throughput_epochs),
        "reference_rate": config.reference_rate,
        "memory": config.memory,
        "rtt": config.rtt,
    }


def _explore_options(config: RlExploreConfig) -> dict[str, Any]:
    return {**_pure_options(config), "probe_bw": True, "probe_interval": float(config.probe_interval)}


def _make_learner(config: RlPureConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ppo import PpoLearner

    return PpoLearner(config, setup)


AGENT = AgentInfo(
    name="rl-explore",
    title="RL-explore",
    summary="Raises, keeps or lowers the rate of one path and probes for more now and then; learned by PPO.",
    source="RL-explore, sections 4 and 5",
    controller="rl-explore",
    scope="subflow",
    default_recipe="rl-explore",
    config_class=RlExploreConfig,
    make_learner=_make_learner,
    controller_options=_explore_options,
)
PURE = AgentInfo(
    name="rl-pure",
    title="Pure RL",
    summary="RL-explore without its probe, for comparison.",
    source="RL-explore, figure 2",
    controller="rl-explore",
    scope="subflow",
    default_recipe="rl-pure",
    config_class=RlPureConfig,
    make_learner=_make_learner,
    controller_options=_pure_options,
)
