"""Estimates the cost of a run, and enforces limits before its start and while it runs."""

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
    """Cost of a run whose flows fill their links for their whole lifetime.

    The actual number of link crossings is at most 1.25 times the estimate, and at least half of it if only the links
    limit the flows. Random loss, cautious controllers and schedulers can keep it far lower; options that make
    controllers send beyond the capacity of their paths exceed it. The memory covers traces and the packets that fit on
    wires and in limited queues. The memory of unlimited queues and buffers is only limited during the run. Snapshots
    need extra memory.

    Attributes:
        link_crossings: packets offered to links, ACKs included; a run simulates 10 to 50 million of these events per
            second.
        memory_bytes: peak memory, bytes; the sum of the next four attributes.
        trace_bytes: memory of the sampled columns, at 2 bytes a sample; similar samples need less.
        packet_bytes: memory of packets in queues and on wires, and of their records at senders and receivers.
        object_bytes: memory of links, flows, subflows and marks.
        decision_bytes: memory of recorded decisions, and of the arrays that return them.
        samples: samples per column.
        columns: number of sampled traces.
        busiest_flow: flow with the most crossings; empty if no flow has any.
        busiest_crossings: link crossings of that flow.
        fullest: place with room for the most packets, "link 'wifi/forward'"; empty without packets.
        fullest_bytes: packet memory of that place.
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
    """Estimates the cost of a run of this scenario without building the simulation.

    Args:
        scenario: the scenario to simulate.
        sample_interval_s: simulated time between two samples, s.
        decisions: limits of the recorded decisions; None: no recording.

    Raises:
        SimulationError: if the core refuses the scenario or the interval.
    """
    return estimate_core(lower(scenario).core, nanos(sample_interval_s), decisions)


def estimate_core(core: _core.Scenario, sample_interval_ns: int, decisions: DecisionLimits | None = None) -> Estimate:
    """As `estimate`, for a scenario in the form of the core and an interval in ns."""
    try:
        told = _core.estimate(core, sample_interval_ns, None if decisions is None else decisions.capacity)
    except _core.CoreScenarioError as error:
        raise SimulationError(str(error)) from error
    return Estimate(**{name: getattr(told, name) for name in Estimate.__slots__})


@dataclass(frozen=True, slots=True)
class Limits:
    """Maximum cost of a run.

    Attributes:
        memory_bytes: maximum memory, bytes, both estimated and in use during the run.
        link_crossings: maximum number of link crossings, both estimated and simulated.
    """

    memory_bytes: float = _DEFAULT_MEMORY_BYTES
    link_crossings: float = _DEFAULT_CROSSINGS

    @classmethod
    def from_environment(cls) -> Limits:
        """The limits from `SUBFLOW_MAX_MEMORY` and `SUBFLOW_MAX_EVENTS`; by default 4 GB and 2 * 10^10 crossings.

        Raises:
            ParamError: if one of these variables is set but not a valid number.
        """
        return cls.parse(os.environ.get(MAX_MEMORY_VARIABLE), os.environ.get(MAX_CROSSINGS_VARIABLE))

    @classmethod
    def parse(cls, memory: str | None, crossings: str | None) -> Limits:
        """Limits from text, for example "16GB" and "1e11"; None or empty: the default.

        Raises:
            ParamError: if a text is not a valid number; the message names the limit.
        """
        return cls(
            _positive(memory, Dimension.SIZE, "memory", _DEFAULT_MEMORY_BYTES),
            _positive(crossings, Dimension.NUMBER, "events", _DEFAULT_CROSSINGS),
        )

    def check(self, told: Estimate) -> None:
        """Refuses an estimate that exceeds the limits.

        Raises:
            TooLargeError: if the estimate exceeds a limit; the message names the estimate, the limit, the largest cost
                and how to raise the limit.
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
        """The error for a run that exceeded a limit; its message names the time reached and how to raise the limit."""
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
        """Makes the core end the run when it exceeds the limits."""
        core.set_limits(*(int(min(most, _MOST)) for most in (self.link_crossings, self.memory_bytes)))


def _how(option: str, variable: str, example: str) -> str:
    return f"--max-{option} {example}, or {variable}={example} in the environment"


def bytes_text(count: float) -> str:
    """A number of bytes as text with at least two digits and a unit: "3.4 GB"."""
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
