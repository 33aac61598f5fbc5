"""Confluence: one policy that multiplies the window of each subflow, trained by PPO on widely drawn networks.

The core defines observations, actions and the safety bounds that hold for every policy (sim/core/cc/confluence.h).
This module defines the training. Rewards come from measurements of the simulator, which the critic receives as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from subflow_agents.options import choice, flag, integer, number
from subflow_agents.ppo_config import PpoConfig
from subflow_agents.registry import AgentInfo
from subflow_agents.wide_draws import KINDS, wide_text
from subflow_sim.draws import uniform
from subflow_sim.scenario import parse_scenario

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.learner import Learner, LearnerSetup, TrainingEnv
    from subflow_sim import Scenario

PROTOTYPE = "found to work in a one-hour prototype"
UTILITY = "the utility of the arena"
_DRAWN_NETWORKS = 1_000_000


@dataclass(frozen=True, slots=True)
class ConfluenceConfig(PpoConfig):
    """Options of PPO, of the agent's observation, and of its reward."""

    learning_rate: float = number(0.001, "Initial learning rate of Adam.", PROTOTYPE, minimum=1e-7, maximum=1)
    gamma: float = number(0.9, "Discount per decision.", PROTOTYPE, minimum=0, maximum=0.99999)
    gae_lambda: float = number(0.9, "Lambda of the generalised advantage estimate.", PROTOTYPE, minimum=0, maximum=1)
    rollout: int = integer(
        4096,
        "Decisions between two updates, all environments together; each gives as many.",
        PROTOTYPE,
        minimum=16,
        maximum=1_000_000,
    )
    minibatches: int = integer(8, "Minibatches per pass.", PROTOTYPE, minimum=1, maximum=1024)
    entropy_weight: float = number(
        0.005, "Weight of the policy's entropy in the objective.", PROTOTYPE, minimum=0, maximum=10
    )
    history: int = integer(4, "Past epochs that the agent sees.", PROTOTYPE, minimum=1, maximum=32)
    memory: float = number(
        30.0,
        "How long the largest rate and the lowest RTT are remembered, to which the agent's measurements are related.",
        "a ruling: long enough for a queue to drain, and short enough for a path that has changed",
        minimum=1,
        maximum=3600,
        unit="s",
    )
    queue_rtt: str = choice("least", "RTT of an epoch that indicates queues.", PROTOTYPE, choices=("least", "mean"))
    window: str = choice(
        "own",
        "Window that it multiplies: the subflow's own, that which LIA would have, or the path model's.",
        PROTOTYPE,
        choices=("own", "lia", "model"),
    )
    pool: bool = flag(True, "The agent sees a summary of the siblings.", PROTOTYPE)
    safety: bool = flag(
        True, "The bounds also hold while it learns.", "a ruling: it trains on what it will meet in use"
    )
    limit: float = number(
        1.0,
        "Largest exponent that the agent chooses, in either direction; larger ones count as this one.",
        "tried: with the path model, larger choices harm others",
        minimum=0,
        maximum=1,
    )
    critic: str = choice(
        "privileged",
        "Input of the critic: the state of the simulator as well, or only the agent's observation.",
        "Pinto et al., Asymmetric Actor Critic, RSS 2018",
        choices=("privileged", "blind"),
    )
    draws: str = choice(
        "wide",
        "Networks that are drawn, besides those of the families.",
        "a ruling",
        choices=KINDS,
    )
    delay_price: float = number(0.5, "Weight of ln(1 + queue).", UTILITY, minimum=0, maximum=100)
    loss_price: float = number(
        5.0, "Weight of loss beyond that of the links themselves.", UTILITY, minimum=0, maximum=100
    )
    beside_tcp: float = number(
        0.3, "Weight of delay and loss where a TCP causes them, too.", "a ruling", minimum=0, maximum=1
    )
    excess_price: float = number(
        4.0, "Weight of ln(rate / fair rate), where others want the rest.", "tried: 1.5 to 4", minimum=0, maximum=100
    )
    harm_price: float = number(
        4.0,
        "Weight of ln(fair share of competing flows / what they get).",
        "the gate of the arena",
        minimum=0,
        maximum=100,
    )


def controller_options(config: ConfluenceConfig) -> dict[str, Any]:
    """Options of the controller, by their names in scenarios."""
    return {
        "history": float(config.history),
        "memory": config.memory,
        "queue_rtt": config.queue_rtt,
        "window": config.window,
        "pool": config.pool,
        "safety": config.safety,
        "limit": config.limit,
    }


def _make_learner(config: ConfluenceConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.judge import Judge, Prices
    from subflow_agents.ppo import PpoLearner

    prices = Prices(config.delay_price, config.loss_price, config.beside_tcp, config.excess_price, config.harm_price)
    judge = Judge(prices, setup.num_envs * setup.slots)
    return PpoLearner(config, setup, judge, is_critic_blind=config.critic == "blind")


def _make_environment(config: TrainingConfig, options: ConfluenceConfig) -> TrainingEnv:
    """Creates episodes on networks from the families' training split and on widely drawn networks.

    The scenario of the training is used only for evaluations.
    """
    from subflow_agents.families import FamilyEpisodes
    from subflow_sim.truth import TruthComputer
    from subflow_sim.vec_env import VecEnv, episode_seed, with_learner

    given = controller_options(options)
    families = FamilyEpisodes(config, AGENT, given)

    def drawn(env: int, episode: int) -> Scenario:
        number_of = 1 + int(uniform(config.seed, env, episode, "wide draws") * _DRAWN_NETWORKS)
        text = wide_text("wide", number_of, kind=options.draws)
        scenario = parse_scenario(text, file=f"wide/{number_of}")
        users = [name for name in scenario.flows if name.startswith("user")]
        seed = episode_seed(config.seed, env, episode)
        return replace(with_learner(scenario, AGENT.controller, given, users), seed=seed)

    def make(env: int, episode: int) -> Scenario:
        of_family = families.draw(env, episode)
        return drawn(env, episode) if of_family is None else of_family

    return VecEnv(
        make,
        AGENT.controller,
        config.num_envs,
        seed=config.seed,
        threads=config.threads,
        slots=12,
        episode_s=config.episode_s,
        stagger=config.num_envs > 1,
        truth=TruthComputer,
    )


AGENT = AgentInfo(
    name="confluence",
    title="Confluence",
    summary="Multiplies the cwnd of each subflow within stated bounds, and sees its siblings; trained by PPO on "
    "widely drawn networks.",
    source="docs/algorithms/confluence.md",
    controller="confluence",
    scope="subflow",
    default_recipe="confluence",
    config_class=ConfluenceConfig,
    make_learner=_make_learner,
    make_environment=_make_environment,
    controller_options=controller_options,
)
