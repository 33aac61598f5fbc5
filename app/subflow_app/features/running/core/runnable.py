"""What a run asks of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from subflow_app.features.traces.core.traces import ColumnLike
    from subflow_sim.agent_steps import AgentSteps
    from subflow_sim.decisions import DecisionLimits, Decisions
    from subflow_sim.scenario import Event
    from subflow_sim.trace import Intervals


class RunnableSimulation(Protocol):
    """What a run asks of a simulation; `subflow_sim.Simulation` has it."""

    @property
    def seed(self) -> int:
        """Seed in use."""

    @property
    def now_s(self) -> float:
        """Simulated time so far, s."""

    @property
    def duration_s(self) -> float:
        """Simulated time asked for, s."""

    @property
    def finished(self) -> bool:
        """True when `now_s` has reached `duration_s`."""

    @property
    def packets(self) -> int:
        """Data packets delivered so far."""

    @property
    def columns(self) -> Sequence[ColumnLike]:
        """All trace columns."""

    @property
    def sample_count(self) -> int:
        """Samples published so far."""

    def run_until(self, t_s: float) -> bool:
        """Simulate up to that time; False if `interrupt` ended it before."""

    def apply(self, event: Event) -> Event:
        """Make a change now; the event as the scenario would need to have it."""

    def interrupt(self) -> None:
        """End the `run_until` under way, or else the next one, within some milliseconds."""

    def values(self, index: int) -> NDArray[np.float32]:
        """Samples of one column."""

    def take_marks(self) -> Sequence[Any]:
        """Marks since the last call."""

    def take_intervals(self) -> Intervals | None:
        """Monitor intervals finished since the last call; None: it knows nothing of them."""

    def take_agent_steps(self) -> AgentSteps | None:
        """What learning agents saw, did and earned since the last call; None: it knows nothing of agents."""

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        """Record decisions from now on, where it knows of them."""

    def take_decisions(self) -> Decisions | None:
        """Decisions since the last call; None: it knows nothing of them."""

    @property
    def decisions_lost(self) -> int:
        """Decisions for which there was no room."""

    def signature(self) -> str:
        """Signature of the run so far."""

    def summary(self) -> dict[str, Any]:
        """Summary of the run so far."""
