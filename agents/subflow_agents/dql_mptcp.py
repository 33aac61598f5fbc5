"""DQL-MPTCP: an agent per connection that sets the windows of its subflows and their shares of the packets.

Despite its name, the agent uses policy gradients with prioritised samples. Source: Pokhrel, Walid, "Learning to Harness
Bandwidth with Multipath Congestion Control and Scheduling", IEEE TMC 2021: sections II-A (state, action) and III
(networks, reward), Algorithms 1 and 2 of sections III-B and III-C.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from subflow_agents.ddpg_options import RULING, SCHAUL, WindowConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, flag, integer, number
from subflow_agents.registry import AgentInfo

PAPER = "Pokhrel, Walid 2021 (DQL-MPTCP), section III-C"
# "The learning rates of critic and actor are 0.001 and 0.01." In this order, the actor is saturated after 22 updates:
# docs/algorithms/dql-mptcp.md. The defaults are the same two rates in the reverse order.
PAPER_ACTOR_LR, PAPER_CRITIC_LR = 0.01, 0.001
REVERSED = f"{PAPER}: its two rates in the reverse order, with which the actor does not saturate"


@dataclass(frozen=True, slots=True)
class DqlMptcpConfig(WindowConfig):
    """Algorithms 1 and 2 with the paper's constants, and its two learning rates in the order that can learn."""

    gamma: float = number(0.95, "Discount of the reward one slot later.", PAPER, minimum=0, maximum=0.9999)
    tau: float = number(0.001, "Share by which target networks follow at each update.", PAPER, minimum=1e-6, maximum=1)
    actor_lr: float = number(
        1e-3,
        "Learning rate of actor and representation (Adam).",
        REVERSED,
        minimum=1e-7,
        maximum=1,
    )
    critic_lr: float = number(1e-2, "Learning rate of the critic (Adam).", REVERSED, minimum=1e-7, maximum=1)
    paper_lr: bool = flag(False, "Learn at the rates in the order printed: actor 0.01, critic 0.001.", PAPER)
    hidden: int = integer(128, "Width of the two hidden layers of actor and critic.", PAPER, minimum=1, maximum=4096)
    encoder: str = choice(
        "lstm",
        "Summary of the states of the subflows.",
        "Pokhrel, Walid 2021 (DQL-MPTCP), section III-A: an LSTM",
        choices=("none", "lstm", "pool"),
    )
    encoder_hidden: int = integer(
        128, "Width of the encoder.", f"{PAPER}: two hidden layers of 128", minimum=1, maximum=1024
    )
    prioritised: bool = flag(True, "Draw transitions in proportion to the critic's error on them.", SCHAUL)
    slots: int = integer(
        2,
        "Maximum number of subflows of a connection, for a joint head.",
        "Pokhrel, Walid 2021 (DQL-MPTCP), section V: 2 throughout",
        minimum=1,
        maximum=64,
    )
    epoch_time: float = number(
        0.05, "Minimum duration of a slot, which lasts one round trip.", RULING, minimum=0.001, maximum=60, unit="s"
    )


def _make_learner(config: DqlMptcpConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    if config.paper_lr:
        config = replace(config, actor_lr=PAPER_ACTOR_LR, critic_lr=PAPER_CRITIC_LR)
    head = "slot" if config.head == "each" else "target"
    return DdpgLearner(config, setup, head, relative_to="subflow" if config.relative else None)


def _controller_options(config: DqlMptcpConfig) -> Mapping[str, Any]:
    return {"epoch": "rtt", "epoch_time": config.epoch_time, "history": 1, **config.window_options()}


AGENT = AgentInfo(
    name="dql-mptcp",
    title="DQL-MPTCP",
    summary="An agent per connection sets cwnd and scheduling together, and learns from prioritised experience.",
    source="Pokhrel, Walid, IEEE TMC 2021",
    controller="dql-mptcp",
    scope="connection",
    default_recipe="dql-mptcp",
    config_class=DqlMptcpConfig,
    make_learner=_make_learner,
    controller_options=_controller_options,
)
