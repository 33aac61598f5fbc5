"""PyTorch is whole: not only what a first training step needs, but what is imported by name when it is asked for."""

from __future__ import annotations

from subflow_app.selftest.check import Check, Place


def check(_place: Place) -> str:
    """Tries the parts that are known to be lost when a program is frozen."""
    from subflow_agents.torch_check import check_torch

    return check_torch()


CHECK = Check("PyTorch", check)
