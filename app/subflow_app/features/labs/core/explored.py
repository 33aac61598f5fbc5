"""What the runs of a lab measured of an explorable that a step shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from subflow_app.features.labs.core import checks
from subflow_app.features.labs.core.evidence import Evidence
from subflow_app.features.labs.core.explorables import Explorable, Point, load_explorable
from subflow_app.foundation.expressions import Missing

_MOST = 100  # of the last runs


@dataclass(frozen=True, slots=True)
class Exploration:
    """An explorable in a step.

    Attributes:
        name: of the explorable.
        measured: by input, and by the equation that is drawn, the expression over `last()` that a run gives it by.
    """

    name: str
    measured: tuple[tuple[str, str], ...] = ()

    @property
    def explorable(self) -> Explorable:
        """What is shown."""
        return load_explorable(self.name)

    def points(self, evidence: Evidence) -> list[Point]:
        """What the runs measured, in their order; those that have not all of it are left out."""
        found, result = [], self.explorable.result.name
        for place, run in list(enumerate(evidence.runs))[-_MOST:]:
            # For the expressions it is the last one.
            alone = replace(evidence, runs=evidence.runs[: place + 1], since=run.id - 1)
            values = {name: checks.number(text, alone) for name, text in self.measured}
            known = {name: value for name, value in values.items() if not isinstance(value, Missing)}
            if result in known and len(known) == len(values):
                found.append(Point({name: value for name, value in known.items() if name != result}, known[result]))
        return found
