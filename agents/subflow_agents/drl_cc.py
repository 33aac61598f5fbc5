"""DRL-CC: one agent that sets the windows of all MPTCP flows of a host, one flow at a time.

Source: Xu, Tang, Yin, Wang, Xue, "Experience-Driven Congestion Control: When Multi-Path TCP Meets Deep Reinforcement
Learning", IEEE JSAC 2019: sections III-A (state, action, reward), III-B and III-C (networks), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from subflow_agents.ddpg_options import WindowConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, flag, integer, number
from subflow_agents.registry import AgentInfo

PAPER = "Xu et al. 2019 (DRL-CC), section III-C"


@dataclass(frozen=True, slots=True)
class DrlCcConfig(WindowConfig):
    """Algorithm 1 with the paper's constants."""

    gamma: float = number(0.90, "Discount of the reward one decision later.", PAPER, minimum=0, maximum=0.9999)
    tau: float = number(0.001, "Share by which target networks follow at each update.", PAPER, minimum=1e-6, maximum=1)
    actor_lr: float = number(1e-4, "Learning rate of actor and representation (Adam).", PAPER, minimum=1e-7, maximum=1)
    critic_lr: float = number(1e-3, "Learning rate of the critic (Adam).", PAPER, minimum=1e-7, maximum=1)
    hidden: int = integer(128, "Width of the two hidden layers of actor and critic.", PAPER, minimum=1, maximum=4096)
    encoder: str = choice(
        "lstm",
        "Summary of the states of all flows.",
        "Xu et al. 2019 (DRL-CC), section III-C: an LSTM, whose last hidden state represents them",
        choices=("none", "lstm", "pool"),
    )
    slots: int = integer(
        2,
        "Maximum number of subflows of a flow, for a joint head.",
        "Xu et al. 2019 (DRL-CC), section IV: 2 throughout",
        minimum=1,
        maximum=64,
    )
    history: int = integer(
        1,
        "Past records that the agent sees: with more than one it sees the effect of its last actions.",
        "Xu et al. 2019 (DRL-CC), section III-A: only the latest",
        minimum=1,
        maximum=32,
    )
    epoch: str = choice(
        "rtt",
        "time: each flow is served once in this time; rtt: the next flow is served a round trip of this one later.",
        "Xu et al. 2019 (DRL-CC), section III-D: 50 000 epochs in 2.5 hours at an RTT of 200 ms, so about an RTT",
        choices=("time", "rtt"),
    )
    epoch_time: float = number(
        0.01,
        "Time in which each flow is served once; with rtt, the minimum from one flow to the next.",
        "a ruling: shorter than any RTT of the paper, so that it limits decisions only on short paths",
        minimum=0.001,
        maximum=60,
        unit="s",
    )
    state: str = choice(
        "epoch",
        "Time that the state of a flow covers: from one turn of the flow to the next, or the past epoch for all flows.",
        "Xu et al. 2019 (DRL-CC), section III-A: the past epoch",
        choices=("turn", "epoch"),
    )
    shows_kind: bool = flag(
        False,
        "The agent sees which subflows belong to MPTCP flows and which are new.",
        "Xu et al. 2019 (DRL-CC), section III-A: no such inputs",
    )


def _make_learner(config: DrlCcConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    head = "slot" if config.head == "each" else "target"
    return DdpgLearner(config, setup, head, relative_to="flow" if config.relative else None)


def _controller_options(config: DrlCcConfig) -> Mapping[str, Any]:
    return {
        "epoch": config.epoch,
        "epoch_time": config.epoch_time,
        "history": config.history,
        "state": config.state,
        "shows_kind": config.shows_kind,
        **config.window_options(),
    }


AGENT = AgentInfo(
    name="drl-cc",
    title="DRL-CC",
    summary="One agent per host sets the cwnd of all its MPTCP flows; an LSTM sums up their states.",
    source="Xu et al., IEEE JSAC 2019",
    controller="drl-cc",
    scope="host",
    default_recipe="drl-cc",
    config_class=DrlCcConfig,
    make_learner=_make_learner,
    controller_options=_controller_options,
)
