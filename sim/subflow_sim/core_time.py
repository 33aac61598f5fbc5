"""Conversion of times from seconds to nanoseconds, the unit of the core."""

from __future__ import annotations

from subflow_sim.errors import SimulationError
from subflow_sim.gate import MOST_SECONDS


def nanos(seconds: float) -> int:
    """The time in nanoseconds, rounded.

    Raises:
        SimulationError: if the result does not fit in 64 bits.
    """
    if not -MOST_SECONDS <= seconds <= MOST_SECONDS:
        raise SimulationError(f"a time of {seconds:g} s cannot be simulated; allowed: at most {MOST_SECONDS:g} s")
    return round(seconds * 1e9)
