"""Lateness of the link emulator: whether the delays of a run can be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario

MOST_SHARE = 0.05
"""Largest 99th percentile, as a share of the smallest delay of a link."""
MOST_S = 0.5e-3
"""Largest 99th percentile, s."""


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late packets left the emulated links.

    Attributes:
        p50_s: median, s.
        p99_s: 99th percentile, s.
        max_s: maximum, s.
        limit_s: largest reliable 99th percentile, s.
    """

    p50_s: float
    p99_s: float
    max_s: float
    limit_s: float

    @property
    def is_reliable(self) -> bool:
        """True if the 99th percentile is within the limit."""
        return self.p99_s <= self.limit_s

    @property
    def text(self) -> str:
        """One sentence for people."""
        measured = f"packets left the links {_ms(self.p99_s)} late at the 99th percentile, {_ms(self.max_s)} at most"
        if self.is_reliable:
            return f"{measured}: reliable (limit {_ms(self.limit_s)})"
        return f"{measured}: UNRELIABLE, the limit is {_ms(self.limit_s)}"


def lateness_of(measured: Mapping[str, float], scenario: Scenario) -> Lateness:
    """Judge the lateness of a run.

    Args:
        measured: `p50_s`, `p99_s` and `max_s`, as the emulator reports them.
        scenario: its smallest delay above 0 limits the lateness.
    """
    delays_s = [side.delay_s for link in scenario.links.values() for side in (link.forward, link.reverse)]
    smallest_s = min((delay_s for delay_s in delays_s if delay_s > 0), default=float("inf"))
    limit_s = min(MOST_S, MOST_SHARE * smallest_s)
    return Lateness(measured["p50_s"], measured["p99_s"], measured["max_s"], limit_s)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2g} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"
