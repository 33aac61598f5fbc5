"""Packet-level simulator of multipath transport: scenario files, simulations, traces.

The public names load on first use, so that importing the package, for example for its errors, loads neither numpy nor
the compiled core.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subflow_sim.catalog import controllers, schedulers
    from subflow_sim.decisions import DecisionLimits, Decisions, Explanation
    from subflow_sim.errors import (
        ParamError,
        PolicyError,
        Problem,
        ScenarioError,
        SimError,
        SimulationError,
        TooLargeError,
    )
    from subflow_sim.forecasts import Forecast, forecast
    from subflow_sim.instant import Instant
    from subflow_sim.limits import Estimate, Limits, estimate
    from subflow_sim.policy import Policy, write_policy
    from subflow_sim.scenario import Scenario, load_scenario, parse_scenario
    from subflow_sim.shipped import shipped_scenarios
    from subflow_sim.simulation import Simulation, Snapshot
    from subflow_sim.stats import jain_index
    from subflow_sim.trace import Column, Intervals, Mark
    from subflow_sim.training import Distribution
    from subflow_sim.vec_env import AgentSpec, VecEnv, agent_spec, with_learner

__all__ = [
    "AgentSpec",
    "Column",
    "DecisionLimits",
    "Decisions",
    "Distribution",
    "Estimate",
    "Explanation",
    "Forecast",
    "Instant",
    "Intervals",
    "Limits",
    "Mark",
    "ParamError",
    "Policy",
    "PolicyError",
    "Problem",
    "Scenario",
    "ScenarioError",
    "SimError",
    "Simulation",
    "SimulationError",
    "Snapshot",
    "TooLargeError",
    "VecEnv",
    "agent_spec",
    "controllers",
    "estimate",
    "forecast",
    "jain_index",
    "load_scenario",
    "parse_scenario",
    "schedulers",
    "shipped_scenarios",
    "with_learner",
    "write_policy",
]

_HOMES = {
    "AgentSpec": "vec_env",
    "Column": "trace",
    "DecisionLimits": "decisions",
    "Decisions": "decisions",
    "Distribution": "training",
    "Estimate": "limits",
    "Explanation": "decisions",
    "Forecast": "forecasts",
    "Instant": "instant",
    "Intervals": "trace",
    "Limits": "limits",
    "Mark": "trace",
    "ParamError": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "Problem": "errors",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "SimError": "errors",
    "Simulation": "simulation",
    "SimulationError": "errors",
    "Snapshot": "simulation",
    "TooLargeError": "errors",
    "VecEnv": "vec_env",
    "agent_spec": "vec_env",
    "controllers": "catalog",
    "estimate": "limits",
    "forecast": "forecasts",
    "jain_index": "stats",
    "load_scenario": "scenario",
    "parse_scenario": "scenario",
    "schedulers": "catalog",
    "shipped_scenarios": "shipped",
    "with_learner": "vec_env",
    "write_policy": "policy",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
