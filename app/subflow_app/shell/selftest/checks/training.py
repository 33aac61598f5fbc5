"""An agent learns for some steps in a process of its own, on the processor, and what it made controls a run."""

from __future__ import annotations

import json

from subflow_app.shell.selftest.check import Check, Place, require, skip_without
from subflow_app.shell.selftest.checks.policies import decisions

_AGENT, _SCENARIO, _STEPS = "drl-cc", "t-2link", 10


def check(place: Place) -> str:
    """Trains, then runs the policy."""
    skip_without("torch", "train")
    words = ("train", _AGENT, "--scenario", _SCENARIO, "--steps", _STEPS, "--eval-every", 0, "--episode", "10s")
    told = place.subflow(*words, "--no-store", "--out", "training", "--deterministic", "--json-lines").out
    result = json.loads(told.splitlines()[-1])["values"]
    require(result["state"] == "finished", f"the training ended as {result['state']}: {result['message']}")
    require(result["step"] >= _STEPS, f"it ended at step {result['step']}")
    require(decisions(_SCENARIO, "mptcp", _AGENT, result["policy"]) > 0, "its policy decides nothing in a run")
    return f"{_AGENT} made {result['step']} steps in a child process without a graphics card; its policy controls a run"


CHECK = Check("training", check)
