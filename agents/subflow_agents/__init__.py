"""Learning agents on the simulator, in PyTorch: one file per algorithm, loaded on demand.

The public names load on first use; only the creation of a learner imports PyTorch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subflow_agents.config import CLASSICS, FIRST_EVALUATION_SEED, TrainingConfig
    from subflow_agents.errors import AgentError, CheckpointError, ConfigError, DivergenceError
    from subflow_agents.evaluation import Evaluation, evaluate
    from subflow_agents.options import OptionSpec
    from subflow_agents.registry import AgentInfo, agent, agent_names, agents
    from subflow_agents.reports import METRICS, Command, Control, Metric, NoControl, Report, ReportKind, TrainingState
    from subflow_agents.training import TrainingResult, run_training

__all__ = [
    "CLASSICS",
    "FIRST_EVALUATION_SEED",
    "METRICS",
    "AgentError",
    "AgentInfo",
    "CheckpointError",
    "Command",
    "ConfigError",
    "Control",
    "DivergenceError",
    "Evaluation",
    "Metric",
    "NoControl",
    "OptionSpec",
    "Report",
    "ReportKind",
    "TrainingConfig",
    "TrainingResult",
    "TrainingState",
    "agent",
    "agent_names",
    "agents",
    "evaluate",
    "run_training",
]

_HOMES = {
    **dict.fromkeys(("CLASSICS", "FIRST_EVALUATION_SEED", "TrainingConfig"), "config"),
    **dict.fromkeys(("AgentError", "CheckpointError", "ConfigError", "DivergenceError"), "errors"),
    **dict.fromkeys(("Evaluation", "evaluate"), "evaluation"),
    "OptionSpec": "options",
    **dict.fromkeys(("AgentInfo", "agent", "agent_names", "agents"), "registry"),
    **dict.fromkeys(
        ("METRICS", "Command", "Control", "Metric", "NoControl", "Report", "ReportKind", "TrainingState"), "reports"
    ),
    **dict.fromkeys(("TrainingResult", "run_training"), "training"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
