"""DDPG-MPCC: an agent per subflow moves the rate of MPCC.

Source: DDPG-MPCC (Future Internet 2024), sections 2 and 3; the utility and the probing are MPCC's (sim/core/cc/mpcc.h).
The paper gives no sizes, learning rates or discount.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from subflow_agents.ddpg_options import RULING, DdpgConfig
from subflow_agents.learner import Learner, LearnerSetup
from subflow_agents.options import choice, integer
from subflow_agents.registry import AgentInfo


@dataclass(frozen=True, slots=True)
class DdpgMpccConfig(DdpgConfig):
    """DDPG with the DDPG paper's constants."""

    hidden: int = integer(256, "Width of the two hidden layers of actor and critic.", RULING, minimum=1, maximum=4096)
    base: str = choice("loss", "Which MPCC it moves.", RULING, choices=("loss", "latency"))


def _make_learner(config: DdpgMpccConfig, setup: LearnerSetup) -> Learner:
    from subflow_agents.ddpg import DdpgLearner

    return DdpgLearner(config, setup, head="slot")


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
)
