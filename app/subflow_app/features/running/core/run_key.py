"""What makes two runs the same: if this is equal, so is everything that comes out, and one of them need not be run."""

from __future__ import annotations

import hashlib
from functools import cache

import subflow_app
from subflow_sim.build import core_fingerprint


@cache
def simulator_version() -> str:
    """The version of Subflow together with that of its compiled core."""
    return f"{subflow_app.__version__}+{core_fingerprint()}"


def run_key(
    scenario: str, seed: int, *, sample_interval_s: float, records_decisions: bool, version: str | None = None
) -> str:
    """What a run is found by.

    Args:
        scenario: its `scenario_hash`.
        seed: in use.
        sample_interval_s: of its traces.
        records_decisions: whether decisions are kept with it.
        version: of the simulator; None: of this one.
    """
    parts = (scenario, seed, sample_interval_s, records_decisions, version or simulator_version())
    return hashlib.sha256("/".join(map(repr, parts)).encode()).hexdigest()
