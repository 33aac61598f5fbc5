"""Simulation of a scenario: the Python interface to the core, which adds no cost per packet."""

from __future__ import annotations

import copy
import math
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_sim import _core
from subflow_sim.agent_steps import AgentSteps, RunAgent
from subflow_sim.core_time import nanos
from subflow_sim.decisions import DecisionLimits, Decisions, from_core
from subflow_sim.errors import ParamError, ScriptRunError, SimulationError
from subflow_sim.fates import DEFAULT_CAPACITY as FATE_CAPACITY
from subflow_sim.fates import Loss, PacketFate, fates_from_core, losses_from_core
from subflow_sim.instant import Instant
from subflow_sim.instant import from_core as instant_from_core
from subflow_sim.limits import Estimate, Limits, estimate_core
from subflow_sim.lowering import Lowered, lower, lower_changes
from subflow_sim.notebook import DataFrameLibrary, data_frame, html
from subflow_sim.packets import DEFAULT_CAPACITY, CapturedPackets
from subflow_sim.packets import from_core as packets_from_core
from subflow_sim.scenario import Choice, Event, Scenario
from subflow_sim.stats import jain_index
from subflow_sim.trace import Column, Intervals, Mark, Scope
from subflow_sim.transport_params import effective_transport
from subflow_sim.vec_env import learner_spec

_SCOPES: Mapping[_core.TraceScope, Scope] = {
    _core.TraceScope.FLOW: "flow",
    _core.TraceScope.SUBFLOW: "subflow",
    _core.TraceScope.LINK: "link",
}
_MARK_SCOPES: Mapping[_core.MarkKind, Scope] = {
    _core.MarkKind.COMPLETED: "flow",
    _core.MarkKind.META_RTO: "flow",
    _core.MarkKind.CONTROLLER_CHANGE: "flow",
    _core.MarkKind.LINK_UP: "link",
    _core.MarkKind.LINK_DOWN: "link",
    _core.MarkKind.LINK_CHANGE: "link",
}


def mark_kinds() -> tuple[tuple[str, Scope], ...]:
    """All kinds of marks by their numbers in the core, each with the scope of its owner."""
    kinds = sorted(_core.MarkKind.__members__.values(), key=lambda kind: kind.value)
    return tuple((kind.name.lower(), _MARK_SCOPES.get(kind, "subflow")) for kind in kinds)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A saved state of a simulation, valid even after the simulation is deleted; its forks can restore it, too.

    Attributes:
        core: state of the network.
        live_changes: changes made with `Simulation.apply` before the snapshot.
    """

    core: _core.Snapshot
    live_changes: tuple[Event, ...]

    @property
    def now_ns(self) -> int:
        """Simulated time of the state, ns."""
        return self.core.now_ns

    @property
    def bytes(self) -> int:
        """Memory of the snapshot, bytes: packets in transit, state of senders and receivers, records not yet taken."""
        return self.core.bytes


# Number of core events per call in the main thread; they delay Ctrl-C by about ten milliseconds.
_EVENTS_PER_CALL = 1 << 17


class Simulation:
    """One run of a scenario, advanced by its caller.

    Only one thread may use it at a time. During `run_until`, other threads may read `sample_count` and `values` and
    call `interrupt`; all other calls raise BusyError and change nothing. The same scenario, seed and version give the
    same `signature`, whatever the sequence of steps and the load of the machine.

    Args:
        scenario: the scenario to simulate.
        seed: seed of the run; None: the seed of the scenario.
        sample_interval_s: simulated time between two samples, s.
        limits: maximum cost of the run, checked before its start and during the run; None: `Limits.from_environment`.
        decisions: limits for recording the decisions of controllers and schedulers from the start; None: no recording
            until `record_decisions`.

    Raises:
        SimulationError: if the core refuses the scenario (no finite rate on a path, …).
        TooLargeError: if the estimate exceeds the limits.
        ParamError: if the environment sets a limit that is not a number.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int | None = None,
        sample_interval_s: float = 0.1,
        limits: Limits | None = None,
        decisions: DecisionLimits | None = None,
    ) -> None:
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else seed
        self.sample_interval_s = sample_interval_s
        self.duration_s = scenario.duration_s
        self._lowered: Lowered = lower(scenario, self.seed)
        self.estimate: Estimate = estimate_core(self._lowered.core, nanos(sample_interval_s), decisions)
        self._limits = limits or Limits.from_environment()
        self._limits.check(self.estimate)
        self._decision_limits = decisions
        self.live_changes: tuple[Event, ...] = ()
        try:
            self._core = _core.Simulation(self._lowered.core, self.seed, nanos(sample_interval_s))
        except (_core.CoreScenarioError, _core.CoreScriptRunError) as error:
            raise SimulationError(str(error)) from error
        except MemoryError as error:
            raise SimulationError("not enough memory for this scenario and its traces") from error
        self._limits.apply_to(self._core)
        self._subflow_names = tuple(name for name, _ in self._lowered.subflows)
        self._flow_names = tuple(name for name, _ in self._lowered.flows)
        self.agents: tuple[RunAgent, ...] = self._describe_agents()
        if decisions is not None:
            self.record_decisions(decisions)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The sampled quantities, in the order of `values`."""
        return tuple(
            # Networks have thousands of columns with few different names.
            Column(_SCOPES[c.scope], self._owner(_SCOPES[c.scope], c.owner), intern(c.name), intern(c.unit))
            for c in self._core.columns()
        )

    @property
    def now_s(self) -> float:
        """Simulated time reached, in seconds."""
        return self._core.now_ns / 1e9

    @property
    def finished(self) -> bool:
        """True if the simulation reached the end of the scenario."""
        return self._core.is_finished

    @property
    def packets(self) -> int:
        """Data packets and datagrams that have reached their destination."""
        return self._core.packets_delivered

    @property
    def link_crossings(self) -> int:
        """Packets offered to links so far, ACKs included; the work of a run is proportional to this number."""
        return self._core.link_crossings

    @property
    def memory_bytes(self) -> int:
        """Memory currently in use, bytes, traces included."""
        return self._core.memory_bytes

    @property
    def sample_count(self) -> int:
        """Samples taken so far, the same for all columns."""
        return self._core.sample_count

    def run_until(self, t_s: float, *, max_events: int | None = None) -> bool:
        """Simulates up to `t_s` seconds or to the end. Releases the GIL.

        Ctrl-C in the main thread, and `interrupt` in any other, stop the call within about ten milliseconds. The
        simulation remains readable, and the next call continues as if the run had not been stopped.

        Args:
            t_s: simulated time, s.
            max_events: maximum number of events of the core, which bounds the duration of the call; None: no bound.

        Returns:
            True if the simulation reached that time or its end; False after `interrupt` or `max_events`.

        Raises:
            SimulationError: if the core detects a violated invariant or runs out of memory. Earlier results remain
                readable; only `restore` makes this object usable again. Other simulations are not affected.
            ScriptRunError: if a script of the scenario cannot continue.
            TooLargeError: soon after the run exceeds its limits; the simulation can still be read and restored.
            BusyError: if another thread uses the simulation.
        """
        until_ns = nanos(t_s)
        try:
            # Python runs signal handlers only in the main thread and between calls of compiled code.
            if max_events is not None:
                end = self._core.run_until(until_ns, max_events)
            elif threading.current_thread() is not threading.main_thread():
                end = self._core.run_until(until_ns)
            else:
                end = _core.RunEnd.EXHAUSTED
                while end == _core.RunEnd.EXHAUSTED:
                    end = self._core.run_until(until_ns, _EVENTS_PER_CALL)
        except _core.CoreScriptRunError as error:
            name, line = self._core.failed_script or ("", 0)
            raise ScriptRunError(str(error), name, line) from error
        except _core.CoreInternalError as error:
            raise SimulationError(f"the simulator failed at t = {self.now_s:.9f} s: {error}") from error
        except MemoryError as error:
            raise SimulationError(f"the simulator ran out of memory at t = {self.now_s:.9f} s") from error
        if end in (_core.RunEnd.OVER_EVENTS, _core.RunEnd.OVER_MEMORY):
            raise self._limits.exceeded(self._core, by_memory=end == _core.RunEnd.OVER_MEMORY)
        return end == _core.RunEnd.REACHED

    def apply(self, event: Event) -> Event:
        """Applies a change between two calls of `run_until`.

        The change takes effect one nanosecond from now, after the scenario's events of the current time. The rest of
        the run equals, bit for bit, a run of the scenario with the returned event appended, so a changed run can be
        repeated.

        Args:
            event: an event as in a scenario, checked by `scenario_reader.read_change`; its time is ignored.

        Returns:
            The event with its time. `live_changes` contains all returned events.

        Raises:
            SimulationError: if the core refuses the event, or the run has ended or failed. Nothing changes then.
            TooLargeError: if the changed run would exceed the limits.
        """
        timed = replace(event, at_s=(self._core.now_ns + 1) / 1e9)
        changes = (*self.live_changes, timed)
        changed = self._lowered.core.with_events(lower_changes(self._lowered, changes))
        try:
            self._limits.check(estimate_core(changed, nanos(self.sample_interval_s), self._decision_limits))
            self._core.apply(lower_changes(self._lowered, (timed,)))
        except (_core.CoreScenarioError, _core.CoreInternalError) as error:
            raise SimulationError(str(error)) from error
        self.live_changes = changes
        return timed

    def interrupt(self) -> None:
        """Stops a `run_until` that is active in another thread, otherwise the next one. Callable from any thread."""
        self._core.interrupt()

    def values(self, index: int, first: int = 0) -> NDArray[np.float32]:
        """Samples of `columns[index]` so far, in the column's unit: a read-only float32 array of its own.

        Args:
            index: position in `columns`.
            first: number of samples at the start to leave out; the array is [sample_count - first].
        """
        return self._core.values(index, first)

    def take_marks(self) -> list[Mark]:
        """Marks since the last call, in order of time."""
        return [self._mark(mark) for mark in self._core.take_marks()]

    @property
    def marks_lost(self) -> int:
        """Marks lost because more than 65 536 occurred between two calls of `take_marks`."""
        return self._core.marks_lost

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        """Starts recording the decisions of controllers and schedulers for `take_decisions`.

        Recording does not change the run. The limits apply to each subflow and each connection. A snapshot contains the
        decisions recorded before it; restoring a snapshot from before this call stops the recording.
        """
        chosen = limits or DecisionLimits()
        self._decision_limits = chosen
        self._core.record_decisions(chosen.capacity, None if chosen.window_s is None else nanos(chosen.window_s))

    def take_decisions(self) -> Decisions:
        """Removes and returns the decisions since the last call, in order of time; empty without recording."""
        table = self._core.take_decisions()
        scripts = self._core.scripts()
        rules = self._core.script_rules() if scripts else ()
        return from_core(table, self._subflow_names, self._flow_names, scripts, rules)

    @property
    def decisions_fill(self) -> float:
        """Fill level of the fullest decision record, 0 to 1; a full record drops its oldest decisions."""
        return self._core.decisions_fill

    @property
    def decisions_lost(self) -> int:
        """Decisions lost because they exceeded the capacity between two calls of `take_decisions`."""
        return self._core.decisions_lost

    def capture_packets(self, flow: str, capacity: int = DEFAULT_CAPACITY) -> None:
        """Starts recording the packets that leave and reach the hosts of a flow, for `take_packets`.

        Recording does not change the run. If it begins at the start of the run, it allows the derivation of real TCP
        sequence numbers.

        Args:
            flow: name of the flow, "download.1".
            capacity: maximum number of packets kept until they are taken; `packets_not_captured` counts the rest.

        Raises:
            ParamError: if the flow is unknown or the capacity is below 1.
        """
        if flow not in self._flow_names:
            raise ParamError(f'unknown flow "{flow}"', ", ".join(self._flow_names))
        if capacity < 1:
            raise ParamError(f"the capacity of a capture is {capacity}", "1 or more")
        self._core.capture_packets(self._flow_names.index(flow), capacity)

    def take_packets(self) -> CapturedPackets:
        """Packets of the captured flows since the last call, in order of time."""
        return packets_from_core(self._core.take_packets(), self._subflow_names)

    @property
    def packets_not_captured(self) -> int:
        """Packets lost because they exceeded the capacity between two calls of `take_packets`."""
        return self._core.packets_not_captured

    def record_fates(self, flow: str, capacity: int = FATE_CAPACITY) -> None:
        """Starts recording drops and marks of a flow's packets, and the losses that its senders notice.

        Recording does not change the run. Packets sent before this call have incomplete records.

        Args:
            flow: name of the flow, "download.1".
            capacity: maximum number of records; `fates_lost` counts the rest.

        Raises:
            ParamError: if the flow is unknown or the capacity is below 1.
        """
        if flow not in self._flow_names:
            raise ParamError(f'unknown flow "{flow}"', ", ".join(self._flow_names))
        if capacity < 1:
            raise ParamError(f"the capacity of fates is {capacity}", "1 or more")
        self._core.record_fates(self._flow_names.index(flow), capacity)

    def losses(self) -> list[Loss]:
        """The losses and marks that senders noticed since `record_fates`, with the fates of the packets."""
        return losses_from_core(self._core.losses(), self._subflow_names, self._lowered.links)

    def fates(self) -> list[PacketFate]:
        """The drops and marks of data packets and ACKs since `record_fates`, in order of time."""
        return fates_from_core(self._core.fates(), self._subflow_names, self._lowered.links)

    @property
    def fates_lost(self) -> int:
        """Packets without a record, because they exceeded the capacity of `record_fates`."""
        return self._core.fates_lost

    def take_intervals(self) -> Intervals:
        """The monitor intervals that have finished since the last call, for all subflows, in order of time."""
        return Intervals(owners=self._subflow_names, **self._core.take_intervals())

    def take_agent_steps(self) -> AgentSteps | None:
        """The decisions of learning agents since the last call; None if no controller learns."""
        if not self.agents:
            return None
        table = self._core.take_agent_steps()
        # Contiguous copies instead of views of rows, so that a search in one column reads no other data.
        arrays = {name: np.ascontiguousarray(getattr(table, name)) for name in AgentSteps.columns()}
        return AgentSteps(self.agents, self._subflow_names, **arrays)

    @property
    def agent_steps_lost(self) -> int:
        """Agents' decisions lost because they exceeded the buffer of 16 MiB between two calls of `take_agent_steps`."""
        return self._core.agent_steps_lost

    @property
    def intervals_lost(self) -> int:
        """Intervals lost because they exceeded the buffer of 4096 per subflow between two calls of `take_intervals`."""
        return self._core.intervals_lost

    def inspect(self) -> Instant:
        """The current state: positions of packets, queues, windows, deliveries. Changes nothing.

        Raises:
            BusyError: if another thread uses the simulation.
        """
        return instant_from_core(self._core.inspect(), self._lowered.links, self._subflow_names, self._flow_names)

    def to_dataframe(self, library: DataFrameLibrary | None = None) -> Any:
        """All samples as a data frame of the named library, or of any installed library; see `notebook.data_frame`."""
        return data_frame(self, library)

    def _repr_html_(self) -> str:
        """HTML with the results so far and curves, which notebooks display."""
        return html(self)

    def signature(self) -> str:
        """Hash of all events so far, 16 hexadecimal digits."""
        return f"{self._core.signature():016x}"

    def snapshot(self) -> Snapshot:
        """Saves the current state.

        Raises:
            SimulationError: if the simulator failed before.
        """
        try:
            return Snapshot(self._core.snapshot(), self.live_changes)
        except _core.CoreInternalError as error:
            raise SimulationError(str(error)) from error

    def restore(self, snapshot: Snapshot) -> None:
        """Restores a snapshot of this simulation or of a related fork, including live changes.

        The simulation then continues exactly, bit for bit, as it did after the snapshot, samples included. Samples from
        before the snapshot are those that this object recorded itself. They are NaN for times that it never simulated,
        or simulated with different live changes.

        Raises:
            SimulationError: if the snapshot belongs to another simulation.
        """
        try:
            self._core.restore(snapshot.core)
            self.live_changes = snapshot.live_changes
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from error

    def fork(self, snapshot: Snapshot | None = None) -> Simulation:
        """A second simulation of the same scenario and seed, which begins at a snapshot or at the current state.

        The fork is independent and has the samples that `restore` would keep; without changes it repeats this
        simulation bit for bit. Both simulations return marks, decisions, intervals and agents' steps that were not yet
        taken at the snapshot. Each can restore snapshots of the other. A fork needs as much memory as a second
        simulation; limits are not checked again.

        Raises:
            BusyError: if another thread uses the simulation.
            SimulationError: if the snapshot belongs to another simulation, if the simulator failed before and no
                snapshot is given, or if memory is insufficient.
        """
        at = self.snapshot() if snapshot is None else snapshot
        twin = copy.copy(self)  # all other attributes are constant or replaced as a whole
        try:
            twin._core = self._core.fork(at.core)
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from error
        except MemoryError as error:
            raise SimulationError("not enough memory for another simulation and its traces") from error
        twin.live_changes = at.live_changes
        return twin

    def check_invariants(self) -> None:
        """Verifies the conservation of packets on every link and the consistency of every sender's counters.

        Raises:
            SimulationError: if an invariant is violated; the message names it.
        """
        try:
            self._core.check_invariants()
        except _core.CoreInternalError as error:
            raise SimulationError(str(error)) from error

    def summary(self) -> dict[str, Any]:
        """Results from the end of the warm-up to now: the JSON document of `subflow run`, without wall_s and run_id.

        The `controller` of a flow is its initial controller; the scenario's events and `live_changes` list later
        controllers.

        Undefined results (a mean RTT without a sample, the completion time of an incomplete flow) are None.

        Flows with `one_way_delay`, and their subflows, also have the delays of their packets, jitter and reordering of
        the arrivals, and the delays of their ACKs (None for datagrams).

        Packets are data packets and datagrams, retransmissions included. `packets_in_flight_at_start` + `packets_sent`
        = `packets_delivered` + `packets_dropped` + `packets_in_flight_at_end`: packets on links at the start of the
        measured interval are dropped or delivered within it. `packets_lost` counts the dropped packets among
        `packets_sent`, and `loss_ratio` is their share. `packets_acked` counts the packets whose acknowledgement
        arrived within the interval: the weights for a mean RTT over several flows.

        `size_bytes` is the payload after which a flow is complete, None for an endless flow. `completion_s` is the time
        from its start until the arrival of the last byte.

        A flow is active from its start until its transfer is complete, or until all data sent before its stop has
        arrived. `goodput_bps` covers the whole measured interval, so that goodputs add up; `active_goodput_bps` covers
        only the active part (`active_s`). The fairness index uses active goodputs of the tcp and mptcp flows that were
        active at all: flows that start and end are compared by their rates while active.
        """
        active_goodputs: list[float] = []
        flows: list[dict[str, Any]] = []
        next_subflow = 0
        in_flight = self._core.packets_in_flight
        for index, (name, flow) in enumerate(self._lowered.flows):
            result = self._core.flow_result(index)
            if result.active_s > 0 and not flow.sends_datagrams:
                active_goodputs.append(result.active_goodput_bps)
            subflow_indices = range(next_subflow, next_subflow + len(flow.paths))
            next_subflow += len(flow.paths)
            flows.append(
                {
                    "name": name,
                    "kind": flow.kind,
                    "controller": flow.controller.name,
                    "controller_options": dict(flow.controller.options),
                    "policy": _policy_summary(flow.controller),
                    "scheduler": flow.scheduler.name,
                    "scheduler_options": dict(flow.scheduler.options),
                    "size_bytes": flow.size_bytes,
                    "goodput_bps": result.goodput_bps,
                    "start_s": _defined(result.start_s),
                    "active_s": result.active_s,
                    "active_goodput_bps": result.active_goodput_bps,
                    "completion_s": _defined(result.completion_s),
                    "mean_rtt_s": _defined(result.mean_rtt_s),
                    "p95_rtt_s": _defined(result.p95_rtt_s),
                    "loss_ratio": result.loss_ratio,
                    **_balance_summary(result.packets, sum(in_flight[i] for i in subflow_indices)),
                    "retransmits": result.retransmits,
                    "marked_packets": result.marked_pkts,
                    "mark_reductions": result.mark_reductions,
                    "reinjections": result.reinjections,
                    "duplicates": result.duplicates,
                    "mean_hol_blocking_s": _defined(result.mean_hol_blocking_s),
                    "max_reorder_queue_bytes": result.max_reorder_queue_bytes,
                    **_delay_summary(result.delays),
                    "subflows": []
                    if flow.sends_datagrams
                    else [self._subflow_summary(i, in_flight[i]) for i in subflow_indices],
                }
            )
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "duration_s": self.scenario.duration_s,
            "simulated_s": self.now_s,
            "warmup_s": self.scenario.warmup_s,
            "profile": self.scenario.profile,
            "transport": effective_transport(self.scenario.profile, self.scenario.transport),
            "signature": self.signature(),
            "packets": self.packets,
            "flows": flows,
            "links": [self._link_summary(i) for i in range(len(self._lowered.links))],
            "fairness": {"jain": _jain_or_none(active_goodputs)},
        }

    def _describe_agents(self) -> tuple[RunAgent, ...]:
        """The learning agents of the run, in the order of the core."""
        taken: Counter[str] = Counter()
        agents = []
        for told in self._core.agents():
            name, flow = self._lowered.flows[told["flow"]]
            spec = learner_spec(flow.controller.name, flow.controller.options)
            places = {"host": flow.source, "connection": name, "subflow": self._subflow_names[told["subflow"]]}
            place = places[spec.scope]
            taken[place] += 1
            policy = flow.controller.policy
            agents.append(
                RunAgent(
                    name=place if taken[place] == 1 else f"{place} #{taken[place]}",
                    controller=spec.controller,
                    scope=spec.scope,
                    policy=told["decider"] if policy is None else policy.name,
                    features=spec.features,
                    actions=spec.actions,
                    choices=spec.choices,
                    history=spec.history,
                    reward=spec.reward,
                )
            )
        return tuple(agents)

    def _subflow_summary(self, index: int, in_flight: int) -> dict[str, Any]:
        result = self._core.subflow_result(index)
        return {
            "path": list(self._lowered.subflows[index][1]),
            "throughput_bps": result.throughput_bps,
            "goodput_bps": result.goodput_bps,
            "mean_cwnd_pkts": result.mean_cwnd_pkts,
            "active_mean_cwnd_pkts": _defined(result.active_mean_cwnd_pkts),
            "mean_rtt_s": _defined(result.mean_rtt_s),
            "loss_ratio": result.loss_ratio,
            **_balance_summary(result.packets, in_flight),
            "retransmits": result.retransmits,
            "timeouts": result.timeouts,
            "marked_packets": result.marked_pkts,
            "mark_reductions": result.mark_reductions,
            "schedule_share": _defined(result.schedule_share),
            **_delay_summary(result.delays),
        }

    def _link_summary(self, index: int) -> dict[str, Any]:
        name, direction = self._lowered.links[index].split("/")
        result = self._core.link_result(index)
        return {
            "name": name,
            "direction": direction,
            "utilisation": result.utilisation,
            "drops_queue": result.drops_queue,
            "drops_random": result.drops_random,
            "drops_down": result.drops_down,
            "drops_scripted": result.drops_scripted,
            "marks": result.marks,
            "mean_queue_pkts": result.mean_queue_pkts,
            "max_queue_pkts": result.max_queue_pkts,
        }

    def _owner(self, scope: Scope, index: int) -> str:
        match scope:
            case "flow":
                return self._lowered.flows[index][0]
            case "subflow":
                return self._lowered.subflows[index][0]
            case "link":
                return self._lowered.links[index]

    def _mark(self, mark: _core.Mark) -> Mark:
        owner = self._owner(_MARK_SCOPES.get(mark.kind, "subflow"), mark.owner)
        return Mark(mark.time_ns / 1e9, owner, mark.kind.name.lower(), mark.value, mark.time_ns)


def _jain_or_none(rates_bps: list[float]) -> float | None:
    return jain_index(rates_bps) if any(rates_bps) else None


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _balance_summary(packets: _core.PacketBalance, in_flight: int) -> dict[str, int]:
    """Data packets of the measured interval by fate, counted independently, so that a test can check the sum."""
    return {
        "packets_in_flight_at_start": packets.in_flight_at_start,
        "packets_sent": packets.sent,
        "packets_delivered": packets.delivered,
        "packets_dropped": packets.dropped,
        "packets_in_flight_at_end": in_flight,
        "packets_lost": packets.lost,
        "packets_acked": packets.acked,
    }


def _delay_summary(delays: _core.DelayResult | None) -> dict[str, float | None]:
    """One-way delays, jitter and reordering of the measured interval; empty for a flow that does not measure them."""
    if delays is None:
        return {}
    return {
        "mean_one_way_delay_s": _defined(delays.mean_s),
        "p95_one_way_delay_s": _defined(delays.p95_s),
        "max_one_way_delay_s": _defined(delays.max_s),
        "mean_jitter_s": _defined(delays.mean_jitter_s),
        "reordered_packets": delays.reordered_pkts,
        "reordered_ratio": delays.reordered_ratio,
        "max_reorder_extent_pkts": delays.max_extent_pkts,
        "mean_ack_delay_s": _defined(delays.mean_ack_s),
        "p95_ack_delay_s": _defined(delays.p95_ack_s),
        "max_ack_delay_s": _defined(delays.max_ack_s),
    }


def _policy_summary(controller: Choice) -> dict[str, str] | None:
    """Name of the trained policy, and hash of its content, because the file may change; None without a policy file."""
    policy = controller.policy
    return None if policy is None else {"name": policy.name, "content_hash": policy.content_hash}
