"""What a run would take, and the limits beyond which it is refused before it starts or ended while it runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_sim import _core
from subflow_sim.core_time import nanos
from subflow_sim.errors import ParamError, SimulationError, TooLargeError
from subflow_sim.lowering import lower
from subflow_sim.units import Dimension, parse_quantity

if TYPE_CHECKING:
    from subflow_sim.decisions import DecisionLimits
    from subflow_sim.scenario import Scenario

__all__ = ["MAX_CROSSINGS_VARIABLE", "MAX_MEMORY_VARIABLE", "Estimate", "Limits", "bytes_text", "estimate"]

MAX_MEMORY_VARIABLE = "SUBFLOW_MAX_MEMORY"
MAX_CROSSINGS_VARIABLE = "SUBFLOW_MAX_EVENTS"

_DEFAULT_MEMORY_BYTES = 4e9
_DEFAULT_CROSSINGS = 2e10
_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes if its flows fill their links for as long as they exist.

    It makes at most 1.25 times as many link crossings, and at least half as many where nothing but the links holds the
    flows back; random loss, careful controllers and schedulers can leave it far below, and what controllers send beyond
    what their paths carry, because their options say so, comes on top. The memory is what must be available at
    once: traces, and what fits on wires and in queues that have a limit. What piles up beyond that, in queues and
        buffers
    without one, is limited while it runs. Snapshots are extra.

    Attributes:
        link_crossings: packets offered to links, ACKs included: the events that cost time, 10 to 50 million a second.
        memory_bytes: at its peak, bytes: the sum of the next four.
        trace_bytes: of the sampled columns.
        packet_bytes: of packets in queues and on wires, and of what their senders and receivers keep of them.
        object_bytes: of links, flows, subflows and marks.
        decision_bytes: of decisions that are recorded, and of the columns of those that are taken at once.
        samples: per column.
        columns: how many traces are sampled.
        busiest_flow: the one with most crossings; empty if none has any.
        busiest_crossings: of that flow.
        fullest: "link 'wifi/forward'": where most packets fit; empty if none do.
        fullest_bytes: of that one.
    """

    link_crossings: float
    memory_bytes: float
    trace_bytes: float
    packet_bytes: float
    object_bytes: float
    decision_bytes: float
    samples: int
    columns: int
    busiest_flow: str
    busiest_crossings: float
    fullest: str
    fullest_bytes: float


def estimate(
    scenario: Scenario, *, sample_interval_s: float = 0.1, decisions: DecisionLimits | None = None
) -> Estimate:
    """What a run of this scenario would take, estimated without building it.

    Args:
        scenario: what would be simulated.
        sample_interval_s: simulated time between two samples, s.
        decisions: how many of them are recorded; None: none.

    Raises:
        SimulationError: if the core refuses the scenario or the interval.
    """
    return estimate_core(lower(scenario).core, nanos(sample_interval_s), decisions)


def estimate_core(core: _core.Scenario, sample_interval_ns: int, decisions: DecisionLimits | None = None) -> Estimate:
    """`estimate` of a scenario that is lowered already."""
    try:
        told = _core.estimate(core, sample_interval_ns, None if decisions is None else decisions.capacity)
    except _core.CoreScenarioError as error:
        raise SimulationError(str(error)) from error
    return Estimate(**{name: getattr(told, name) for name in Estimate.__slots__})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may take.

    Attributes:
        memory_bytes: the most memory, bytes, by the estimate and while it runs.
        link_crossings: the most crossings of links, by the estimate and while it runs.
    """

    memory_bytes: float = _DEFAULT_MEMORY_BYTES
    link_crossings: float = _DEFAULT_CROSSINGS

    @classmethod
    def from_environment(cls) -> Limits:
        """The defaults of 4 GB and 2 * 10^10 crossings, or what `SUBFLOW_MAX_MEMORY` and `SUBFLOW_MAX_EVENTS` say.

        Raises:
            ParamError: if one of these variables is set and holds no such number.
        """
        return cls.parse(os.environ.get(MAX_MEMORY_VARIABLE), os.environ.get(MAX_CROSSINGS_VARIABLE))

    @classmethod
    def parse(cls, memory: str | None, crossings: str | None) -> Limits:
        """Limits from text such as "16GB" and "1e11"; None or empty: the default.

        Raises:
            ParamError: naming the one that is no such number.
        """
        return cls(
            _positive(memory, Dimension.SIZE, "memory", _DEFAULT_MEMORY_BYTES),
            _positive(crossings, Dimension.NUMBER, "events", _DEFAULT_CROSSINGS),
        )

    def check(self, told: Estimate) -> None:
        """Refuse what goes beyond.

        Raises:
            TooLargeError: with the estimate, the limit, what dominates and how to raise the limit.
        """
        if told.memory_bytes > self.memory_bytes:
            if told.decision_bytes >= max(told.trace_bytes, told.packet_bytes):
                most = f"{bytes_text(told.decision_bytes)} of it are decisions to be explained"
                advice = "keep fewer of them or simulate less"
            elif told.trace_bytes >= told.packet_bytes:
                most = (
                    f"{bytes_text(told.trace_bytes)} of it are traces, {told.columns} columns of {told.samples} samples"
                )
                advice = "sample less often or simulate less"
            else:
                most = f"{bytes_text(told.fullest_bytes)} of it are packets that {told.fullest} keeps"
                advice = "give queues a limit, lower rates or delays, or simulate less"
            raise TooLargeError(
                f"the run would take about {bytes_text(told.memory_bytes)} of memory, more than the limit of "
                f"{bytes_text(self.memory_bytes)}; {most}: {advice}, or raise the limit "
                f"({_how('memory', MAX_MEMORY_VARIABLE, '16GB')})"
            )
        if told.link_crossings > self.link_crossings:
            raise TooLargeError(
                f"the run would take about {told.link_crossings:.2g} events (packets that cross a link), more than the "
                f"limit of {self.link_crossings:.2g}; {told.busiest_crossings:.2g} of them belong to flow "
                f"'{told.busiest_flow}': lower rates or simulate less, or raise the limit "
                f"({_how('events', MAX_CROSSINGS_VARIABLE, '1e11')})"
            )

    def exceeded(self, core: _core.Simulation, *, by_memory: bool) -> TooLargeError:
        """What ends a run that has gone beyond: where it stands, the limit, what dominates, how to raise it."""
        at = f"at t = {core.now_ns / 1e9:.6g} s of {core.duration_ns / 1e9:.6g} s"
        if by_memory:
            fullest, bytes_there = core.fullest
            return TooLargeError(
                f"the run has taken {bytes_text(core.memory_bytes)} of memory {at}, more than the limit of "
                f"{bytes_text(self.memory_bytes)}; {bytes_text(bytes_there)} of it are packets and records that "
                f"{fullest} keeps: give queues and buffers a limit, lower rates or delays, keep fewer decisions, or "
                f"raise the limit ({_how('memory', MAX_MEMORY_VARIABLE, '16GB')})"
            )
        return TooLargeError(
            f"the run has made {core.link_crossings:.2g} events (packets that cross a link) {at}, more than the limit "
            f"of {self.link_crossings:.2g}: lower rates or simulate less, or raise the limit "
            f"({_how('events', MAX_CROSSINGS_VARIABLE, '1e11')})"
        )

    def apply_to(self, core: _core.Simulation) -> None:
        """From now on a run ends when it goes beyond."""
        core.set_limits(*(int(min(most, _MOST)) for most in (self.link_crossings, self.memory_bytes)))


def _how(option: str, variable: str, example: str) -> str:
    return f"--max-{option} {example}, or {variable}={example} in the environment"


def bytes_text(count: float) -> str:
    """Bytes with two digits or more and a unit: "3.4 GB"."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f} {unit}"
    return f"{count / 1e3:.1f} kB"


def _positive(text: str | None, dimension: Dimension, name: str, default: float) -> float:
    if not text:
        return default
    try:
        value = parse_quantity(text, dimension)
    except ParamError as error:
        raise ParamError(f'the limit of {name}, "{text}": {error.message}', error.allowed) from error
    if not value > 0:
        raise ParamError(f'the limit of {name}, "{text}": must be greater than 0', 'e.g. "16GB" or 1e11')
    return value
