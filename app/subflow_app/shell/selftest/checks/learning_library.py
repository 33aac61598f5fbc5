"""PyTorch is whole: not only what a first training step needs, but what is imported by name when it is asked for."""

from __future__ import annotations

import importlib

from subflow_app.shell.selftest.check import Check, Place, skip_without
from subflow_app.shell.selftest.checks.imports import modules_of


def check(_place: Place) -> str:
    """Imports all agents, and tries the parts of PyTorch that are known to be lost when a program is frozen."""
    skip_without("torch", "train")
    from subflow_agents.torch_check import check_torch

    agents = modules_of("subflow_agents")
    for name in agents:
        importlib.import_module(name)
    return f"{check_torch()}; {len(agents)} modules of agents"


CHECK = Check("PyTorch", check)
