"""A guided lab from its first step to the last, each done by the lab's own solution and judged as a student's."""

from __future__ import annotations

from subflow_app.shell.selftest.check import Check, Place, require

_LAB = "03-two-paths"


def check(place: Place) -> str:
    """Carries it out."""
    (done,) = place.subflow("labs", "check", _LAB, "--run", "--json").document
    require(not done["problems"], f"{_LAB}: {'; '.join(done['problems'])}")
    require(not done["notices"], f"{_LAB}: {'; '.join(done['notices'])}")
    require(done["runs"] > 0, f"{_LAB} made no run")
    return f"{_LAB}: {done['steps']} steps passed with {done['runs']} runs"


CHECK = Check("lab", check)
