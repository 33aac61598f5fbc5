"""Options of the agents trained by deterministic policy gradients; each agent overrides some defaults.

A ruling is a decision of this project for a value that the paper omits or contradicts.
"""

from __future__ import annotations

from dataclasses import dataclass

from subflow_agents.options import choice, flag, integer, memory, number, seen_rtt

LILLICRAP = "Lillicrap et al. 2015, section 7"
SCHAUL = "Schaul et al. 2015, proportional variant"
RULING = "a ruling: the paper is silent"


@dataclass(frozen=True, slots=True)
class DdpgConfig:
    """Options of the learner in `ddpg.py`."""

    algorithm: str = choice(
        "ddpg",
        "ddpg: one critic and Ornstein-Uhlenbeck noise; td3: twin critics, target smoothing, delayed actor; sac: a "
        "stochastic actor with entropy.",
        LILLICRAP,
        choices=("ddpg", "td3", "sac"),
    )
    gamma: float = number(0.99, "Discount of the reward one decision later.", LILLICRAP, minimum=0, maximum=0.9999)
    tau: float = number(
        0.001, "Share by which target networks follow at each update.", LILLICRAP, minimum=1e-6, maximum=1
    )
    actor_lr: float = number(1e-4, "Learning rate of the actor (Adam).", LILLICRAP, minimum=1e-7, maximum=1)
    critic_lr: float = number(1e-3, "Learning rate of the critic (Adam).", LILLICRAP, minimum=1e-7, maximum=1)
    critic_decay: float = number(
        0.0,
        "Weight decay of the critic; 0.01 in the DDPG paper; none of the agents' papers here names one.",
        RULING,
        minimum=0,
        maximum=1,
    )
    grad_norm: float = number(
        0.0, "Gradients are clipped to this norm; 0: no clipping.", RULING, minimum=0, maximum=1e6
    )
    batch: int = integer(64, "Transitions in a minibatch.", LILLICRAP, minimum=1, maximum=65536)
    replay: int = integer(100_000, "Transitions remembered.", RULING, minimum=100, maximum=5_000_000)
    warmup: int = integer(500, "Transitions before the first update.", RULING, minimum=1, maximum=1_000_000)
    updates_per_step: float = number(
        1.0, "Gradient steps per transition.", "Lillicrap et al. 2015, Algorithm 1", minimum=0.001, maximum=100
    )
    hidden: int = integer(128, "Width of the two hidden layers of actor and critic.", RULING, minimum=1, maximum=4096)
    encoder: str = choice(
        "none",
        "Summary of all subflows that the agent sees: none, an LSTM over them, or mean and maximum of a "
        "perceptron's output for each.",
        RULING,
        choices=("none", "lstm", "pool"),
    )
    encoder_hidden: int = integer(64, "Width of the encoder.", RULING, minimum=1, maximum=1024)
    slots: int = integer(2, "Subflows that a joint head has room for.", RULING, minimum=1, maximum=64)
    rep_grad: str = choice(
        "actor",
        "Through whose loss the encoder learns.",
        "Xu et al. 2019 (DRL-CC), Algorithm 1: only the policy gradient",
        choices=("actor", "critic", "both"),
    )
    reward_scale: float = number(
        1.0, "Rewards are multiplied by this before they are learned from.", RULING, minimum=1e-6, maximum=1e6
    )
    ou_theta: float = number(0.15, "How fast the exploration noise returns to 0.", LILLICRAP, minimum=0, maximum=1)
    ou_sigma: float = number(0.2, "How far it is driven at each decision.", LILLICRAP, minimum=0, maximum=10)
    noise_final: float = number(
        1.0, "Share of the noise that is left at the end of the budget.", RULING, minimum=0, maximum=1
    )
    squash_penalty: float = number(
        0.0,
        "Weight of the mean square of the actor's output before its tanh: keeps it off the bounds, where no gradient "
        "is left.",
        RULING,
        minimum=0,
        maximum=10,
    )
    prioritised: bool = flag(False, "Draw transitions in proportion to the critic's error on them.", SCHAUL)
    priority_alpha: float = number(0.6, "0: all alike; 1: in proportion to the error.", SCHAUL, minimum=0, maximum=1)
    priority_beta: float = number(
        0.4, "Correction of that bias at first; 1 at the end of the budget.", SCHAUL, minimum=0, maximum=1
    )
    priority_epsilon: float = number(1e-6, "Added to each error.", SCHAUL, minimum=1e-12, maximum=1)
    delete_after_sampling: bool = flag(
        False, "Draw no transition twice.", "Pokhrel, Walid 2021 (DQL-MPTCP): a footnote; off by ruling"
    )
    policy_delay: int = integer(
        2, "td3: updates of the critics per update of the actor.", "Fujimoto et al. 2018", minimum=1, maximum=100
    )
    target_noise: float = number(
        0.2, "td3: standard deviation of the noise on target actions.", "Fujimoto et al. 2018", minimum=0, maximum=1
    )
    target_noise_clip: float = number(0.5, "td3: bound of that noise.", "Fujimoto et al. 2018", minimum=0, maximum=2)
    entropy_scale: float = number(
        1.0,
        "sac: the temperature is learned so that the policy's entropy is minus this times the dimension of an action.",
        "Haarnoja et al. 2018",
        minimum=0,
        maximum=10,
    )


@dataclass(frozen=True, slots=True)
class WindowConfig(DdpgConfig):
    """Options of agents that set windows: scaling of rates, and weights of the reward terms besides goodput."""

    reference_rate: float = number(
        10e6, "Lower bound of what rates and cwnd are scaled by.", RULING, minimum=1e3, maximum=1e12, unit="bit/s"
    )
    loss_weight: float = number(
        0.0,
        "Price of the share of lost packets in the reward. No paper has this term.",
        RULING,
        minimum=0,
        maximum=100,
    )
    delay_weight: float = number(
        0.0, "Price of RTT / lowest RTT - 1 in the reward; not in any paper.", RULING, minimum=0, maximum=100
    )
    delay_price: str = choice(
        "linear",
        "How the price of delay grows: in proportion, or with ln(RTT / lowest RTT), as in the utility of the arena.",
        RULING,
        choices=("linear", "log"),
    )
    free_delay: float = number(
        0.0,
        "RTT / lowest RTT - 1 costs nothing up to this value, so agents look for the queue that reveals a full link.",
        RULING,
        minimum=0,
        maximum=10,
    )
    relative: bool = flag(
        False,
        "Learn from rewards relative to what fair shares would give. The speed of the network, which agents do not "
        "see, is then no noise to the critic; the best actions stay the same.",
        RULING,
    )
    memory: float = memory()
    rtt: str = seen_rtt("Xu et al. 2019 (DRL-CC), section III-A: average RTT; the other papers name no other")
    head: str = choice(
        "joint",
        "each: one network acts on each subflow in turn, from what it and the encoder see, for any number of "
        "subflows; joint: on all at once, with room for `slots` subflows.",
        "the papers' networks are made for one number of subflows",
        choices=("each", "joint"),
    )

    def window_options(self) -> dict[str, float | str]:
        """The options of the controller during training."""
        return {
            "reference_rate": self.reference_rate,
            "loss_weight": self.loss_weight,
            "delay_weight": self.delay_weight,
            "delay_price": self.delay_price,
            "free_delay": self.free_delay,
            "memory": self.memory,
            "rtt": self.rtt,
        }
