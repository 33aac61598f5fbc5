"""Clean-slate RL: one agent for all subflows of a connection, without a classic controller.

The agent is a baseline in the MPLibra paper and fills any link regardless of competing flows. Source: Yu, Zheng, Du,
Chen, "MPLibra: Complementing the Benefits of Classic and Learning-Based Multipath Congestion Control", section II.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from subflow_agents.ddpg_options import WindowConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, integer, memory, number
from subflow_agents.registry import AgentInfo

PAPER = "Yu et al. (MPLibra), section II"
REWARD = "Yu et al. (MPLibra), section V: its reward includes the latency; a ruling: with the weights of section IV-A"


@dataclass(frozen=True, slots=True)
class CleanSlateConfig(WindowConfig):
    """DDPG over the states of all subflows of a connection."""

    hidden: int = integer(256, "Width of the two hidden layers of actor and critic.", PAPER, minimum=1, maximum=4096)
    encoder: str = choice(
        "none",
        "Summary of the states of all subflows, for a head that acts on each; the paper concatenates them.",
        PAPER,
        choices=("none", "lstm", "pool"),
    )
    slots: int = integer(
        2,
        "Maximum number of subflows of a connection, for a joint head: as in the paper, another number means another "
        "network.",
        PAPER,
        minimum=1,
        maximum=64,
    )
    history: int = integer(
        10, "Past records that the agent sees.", "Yu et al. (MPLibra), section IV", minimum=1, maximum=32
    )
    action_range: float = number(
        2.0,
        "A cwnd is multiplied by at most 2 to this power.",
        "a ruling: not stated; that of Orca, from which the paper takes the form of MPLibra's action",
        minimum=0.01,
        maximum=5,
    )
    loss_weight: float = number(
        10.0, "Price of the share of lost packets in the reward.", REWARD, minimum=0, maximum=100
    )
    delay_weight: float = number(1.0, "Price of RTT / lowest RTT - 1 in the reward.", REWARD, minimum=0, maximum=100)
    memory: float = memory(3600.0, "Yu et al. (MPLibra), section IV-A: lowest RTT without a limit of time")
    epoch: str = choice(
        "time",
        "Common monitor interval of all subflows. time: epoch_time; rtt: the longest round trip.",
        "Yu et al. (MPLibra), section V: its length is fixed",
        choices=("time", "rtt"),
    )
    epoch_time: float = number(
        0.12,
        "Duration of the monitor interval; with rtt, its minimum.",
        "a ruling: the RTT of the paper's networks, which does not state the length",
        minimum=0.001,
        maximum=60,
        unit="s",
    )


def _make_learner(config: CleanSlateConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    head = "slot" if config.head == "each" else "all"
    return DdpgLearner(config, setup, head, relative_to="flow" if config.relative else None)


def _controller_options(config: CleanSlateConfig) -> Mapping[str, Any]:
    return {
        "epoch": config.epoch,
        "epoch_time": config.epoch_time,
        "history": config.history,
        "action_range": config.action_range,
        **config.window_options(),
    }


AGENT = AgentInfo(
    name="clean-slate",
    title="Clean-slate RL",
    summary="One agent sets the cwnd of every subflow of a connection, without any classic controller.",
    source="Yu et al., MPLibra, its baseline",
    controller="clean-slate",
    scope="connection",
    default_recipe="clean-slate",
    config_class=CleanSlateConfig,
    make_learner=_make_learner,
    controller_options=_controller_options,
)
