"""Controls the rate of one path by PPO with its own settings. Save as agents/subflow_agents/my_agent.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_agents.options import integer
from subflow_agents.ppo_config import PpoConfig
from subflow_agents.registry import AgentInfo

if TYPE_CHECKING:
    from subflow_agents.learner import Learner, LearnerSetup


@dataclass(frozen=True, slots=True)
class MyConfig(PpoConfig):
    """Every field is an option of forms, recipes and the command line: default, what it is, where it is from."""

    history: int = integer(4, "Epochs that the agent sees.", "a choice of mine", minimum=1, maximum=32)


def _make_learner(config: MyConfig, setup: LearnerSetup) -> Learner:
    """Only here may PyTorch be imported. A learner of your own has the methods of `learner.Learner`."""
    from subflow_agents.ppo import PpoLearner

    return PpoLearner(config, setup)


def _controller_options(config: MyConfig) -> dict[str, Any]:
    """Options of the controller that it drives, as a scenario names them."""
    return {"probe_bw": False, "history": float(config.history)}


AGENT = AgentInfo(
    name="my-agent",
    title="My agent",
    summary="Raises, keeps or lowers the rate of one path.",
    source="this guide",
    controller="rl-explore",
    scope="subflow",
    default_recipe="rl-pure",
    config_class=MyConfig,
    make_learner=_make_learner,
    controller_options=_controller_options,
)
