"""The learning part of MPLibra: an agent per subflow proposes a rate that competes with a classic controller's rate.

The core implements the stages, utilities and the choice among candidates (sim/core/cc/mplibra.h). Source: Yu, Zheng,
Du, Chen, "MPLibra: Complementing the Benefits of Classic and Learning-Based Multipath Congestion Control", section IV.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from subflow_agents.ddpg_options import DdpgConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, flag, integer, memory, number, seen_rtt
from subflow_agents.registry import AgentInfo

PAPER = "Yu et al. (MPLibra), section IV"
MOTIVATION = "a ruling: the width that section II uses"


@dataclass(frozen=True, slots=True)
class MplibraConfig(DdpgConfig):
    """DDPG with the paper's constants, supplemented by those of the DDPG paper."""

    hidden: int = integer(
        256, "Width of the two hidden layers of actor and critic.", MOTIVATION, minimum=1, maximum=4096
    )
    history: int = integer(10, "Past records that the agent sees.", PAPER, minimum=1, maximum=32)
    classic: str = choice(
        "olia",
        "The classic controller that it works with during training.",
        PAPER,
        choices=("olia", "lia", "balia", "wvegas"),
    )
    action_range: float = number(
        5.0,
        "The cwnd is multiplied by at most 2 to this power; Orca, which the paper names as its source, has 2.",
        PAPER,
        minimum=0.01,
        maximum=5,
    )
    price: str = choice(
        "by_rate",
        "Factor of the utility's weights of loss and of a growing RTT: the rate in Mbit/s, as printed, so a "
        "fast link tolerates no loss at all; or nothing.",
        PAPER,
        choices=("by_rate", "alone"),
    )
    loss_price: float = number(
        10.0, "Weight of loss in the utility, beta of equation (1).", PAPER, minimum=0, maximum=1e6
    )
    rtt_price: float = number(
        5.0, "Weight of the growth of the RTT in the utility, gamma of equation (1).", PAPER, minimum=0, maximum=1e6
    )
    reward: str = choice(
        "linear",
        "How the reward uses rate and RTT relative to their extremes: the ratios, or their logarithms.",
        PAPER,
        choices=("linear", "log"),
    )
    reward_delay: float = number(1.0, "Weight of the RTT in the reward.", PAPER, minimum=0, maximum=1e3)
    reward_loss: float = number(10.0, "Weight of the loss ratio in the reward.", PAPER, minimum=0, maximum=1e3)
    memory: float = memory(3600.0, f"{PAPER}: largest rate and lowest RTT without a limit of time")
    rtt: str = seen_rtt(f"{PAPER}: current RTT, a statistic of the exploration; the mean is nearest")
    sees: str = choice(
        "exploration",
        "Time that a record of the agent covers: all stages since its last action, or the exploration alone.",
        "Yu et al. (MPLibra), section III: the statistics gathered during the exploration",
        choices=("all", "exploration"),
    )
    reward_over: str = choice(
        "all",
        "Time that the reward of an action covers: until the next action, with the trials of both rates, or the "
        "exploration alone.",
        f"{PAPER}: rates of a subflow, without a time; an action is charged for the trial of its rate",
        choices=("all", "exploration"),
    )
    falling_rtt: bool = flag(
        True,
        "A falling RTT counts in full in the utility, so a lower rate wins while a queue drains.",
        "Yu et al. (MPLibra), equation (1): the gradient with its sign",
    )


def _make_learner(config: MplibraConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    return DdpgLearner(config, setup, head="slot")


def _controller_options(config: MplibraConfig) -> Mapping[str, Any]:
    return {
        "classic": config.classic,
        "history": config.history,
        "memory": config.memory,
        "rtt": config.rtt,
        "sees": config.sees,
        "reward_over": config.reward_over,
        "falling_rtt": config.falling_rtt,
        "action_range": config.action_range,
        "price": config.price,
        "beta": config.loss_price,
        "gamma": config.rtt_price,
        "reward": config.reward,
        "reward_delay": config.reward_delay,
        "reward_loss": config.reward_loss,
    }


AGENT = AgentInfo(
    name="mplibra",
    title="MPLibra",
    summary="An agent per subflow proposes rates alongside a classic controller; the utility decides between them.",
    source="Yu et al., MPLibra",
    controller="mplibra",
    scope="subflow",
    default_recipe="mplibra",
    config_class=MplibraConfig,
    make_learner=_make_learner,
    controller_options=_controller_options,
)
