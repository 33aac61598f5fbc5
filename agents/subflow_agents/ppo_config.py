"""Options of PPO, in a separate module so that forms can read them without importing PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_agents.options import flag, integer, number


@dataclass(frozen=True, slots=True)
class PpoConfig:
    """Options of PPO. The defaults come from RL-explore or, where it gives none, from the PPO-PyTorch example."""

    hidden: int = integer(
        64, "Units of each of the two hidden layers.", "RL-explore, section 4.4", minimum=1, maximum=1024
    )
    learning_rate: float = number(
        0.002, "Initial learning rate of Adam.", "RL-explore, section 4.4", minimum=1e-7, maximum=1
    )
    anneal: bool = flag(
        True,
        "The learning rate falls to 0 over the budget; without this, the policy collapses once it is good.",
        "details 4",
    )
    gamma: float = number(0.99, "Discount per decision.", "RL-explore, section 4.4", minimum=0, maximum=0.99999)
    gae_lambda: float = number(
        0.95, "Lambda of the generalised advantage estimate.", "PPO, section 6.1", minimum=0, maximum=1
    )
    clip: float = number(
        0.2, "How far a probability ratio counts from 1.", "PPO, section 6.1", minimum=0.001, maximum=1
    )
    rollout: int = integer(
        2048,
        "Decisions between two updates, all environments together; each gives as many.",
        "PPO-PyTorch: 2000",
        minimum=16,
        maximum=1_000_000,
    )
    epochs: int = integer(4, "Passes over them per update.", "PPO-PyTorch", minimum=1, maximum=100)
    minibatches: int = integer(4, "Minibatches per pass.", "details 6", minimum=1, maximum=1024)
    value_weight: float = number(0.5, "Weight of the value loss.", "PPO-PyTorch", minimum=0, maximum=100)
    keep_logit: float = number(
        0.0,
        "Initial logit of the choice that changes nothing: with 2 and seven choices, a new policy chooses it in 55 % "
        "of the decisions, so that it starts close to the controller's rules.",
        "0: all choices are equally likely, as usual",
        minimum=0,
        maximum=10,
    )
    entropy_weight: float = number(
        0.01, "Weight of the policy's entropy in the objective.", "PPO-PyTorch", minimum=0, maximum=10
    )
    entropy_floor: float = number(
        0.1,
        "Below it the entropy's weight is ten times as large, so that a policy never stops exploring.",
        "in place of the floor under the deviation of a Gaussian policy",
        minimum=0,
        maximum=10,
        unit="nat",
    )
    gradient_norm: float = number(0.5, "Gradients are clipped to this norm.", "details 11", minimum=1e-6, maximum=1e6)
    kl_stop: float = number(
        0.02,
        "An update ends once the policy has moved this far from where it was (Kullback-Leibler divergence).",
        "Spinning Up, PPO: 0.01 to 0.05",
        minimum=1e-6,
        maximum=100,
        unit="nat",
    )
