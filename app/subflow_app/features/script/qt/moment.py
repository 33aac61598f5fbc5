"""A line of a script at the time of a decision."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_sim.scenario_model import ScriptKind


@dataclass(frozen=True, slots=True)
class ScriptMoment:
    """Where a decision of a script stands.

    Attributes:
        kind: of the script.
        name: of it.
        text: that the run has of it.
        line: that is executed, from 1.
    """

    kind: ScriptKind
    name: str
    text: str
    line: int
