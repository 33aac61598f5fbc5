"""Runs a scenario: the Python interface to the core. It adds no cost per packet."""

from __future__ import annotations

import copy
import math
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_sim import _core
from subflow_sim.agent_steps import AgentSteps, RunAgent
from subflow_sim.core_time import nanos
from subflow_sim.decisions import DecisionLimits, Decisions, from_core
from subflow_sim.errors import ParamError, ScriptRunError, SimulationError
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
    """A state to return to, of a simulation and of those forked from it; it may outlive them.

    Attributes:
        core: the network.
        live_changes: made by then with `Simulation.apply`.
    """

    core: _core.Snapshot
    live_changes: tuple[Event, ...]

    @property
    def now_ns(self) -> int:
        """Simulated time of the state, ns."""
        return self.core.now_ns

    @property
    def bytes(self) -> int:
        """Memory it takes, bytes: packets in transit, what senders and receivers remember, records not yet taken."""
        return self.core.bytes


# How many events of the core the main thread stays away from Ctrl-C: some ten milliseconds.
_EVENTS_PER_CALL = 1 << 17


class Simulation:
    """One run of a scenario, stepped by whoever owns it.

    Only one thread may use it at a time. While `run_until` is running, other threads may read `sample_count` and
    `values` and call `interrupt`; anything else raises BusyError and changes nothing. The same scenario, seed and
    version give the same `signature`, whatever the steps and whatever else runs.

    Args:
        scenario: what to simulate.
        seed: instead of the scenario's.
        sample_interval_s: simulated time between two samples, s.
        limits: the most that the run may take, checked before it starts and while it runs; None:
            `Limits.from_environment`.
        decisions: how many decisions of controllers and schedulers to keep, from the start on; None: they are not
            recorded, until `record_decisions`.

    Raises:
        SimulationError: if the core refuses the scenario (no finite rate on a path, …).
        TooLargeError: if it would take more than the limits allow.
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
        self.columns: tuple[Column, ...] = tuple(
            Column(_SCOPES[c.scope], self._owner(_SCOPES[c.scope], c.owner), c.name, c.unit)
            for c in self._core.columns()
        )

        self._flow_names = tuple(name for name, _ in self._lowered.flows)
        self.agents: tuple[RunAgent, ...] = self._describe_agents()
        if decisions is not None:
            self.record_decisions(decisions)

    @property
    def now_s(self) -> float:
        """Simulated time reached, in seconds."""
        return self._core.now_ns / 1e9

    @property
    def finished(self) -> bool:
        """The end of the scenario is reached."""
        return self._core.is_finished

    @property
    def packets(self) -> int:
        """Data packets and datagrams that reached their destination so far."""
        return self._core.packets_delivered

    @property
    def link_crossings(self) -> int:
        """Packets offered to links so far, ACKs included; the work of a run is proportional to this number."""
        return self._core.link_crossings

    @property
    def memory_bytes(self) -> int:
        """Memory in use now, bytes, traces included."""
        return self._core.memory_bytes

    @property
    def sample_count(self) -> int:
        """Samples taken so far, the same for all columns."""
        return self._core.sample_count

    def run_until(self, t_s: float, *, max_events: int | None = None) -> bool:
        """Simulate up to `t_s` seconds, or to the end. Releases the GIL.

        Ctrl-C in the main thread, and `interrupt` in any other, end it within a few milliseconds. The simulation
        can then be read, and continues with the next call as if nothing had happened.

        Args:
            t_s: simulated time, s.
            max_events: the most events of the core to process, so that a call takes a bounded time; None: no bound.

        Returns:
            Whether that time was reached; False if `interrupt` or `max_events` ended it before.

        Raises:
            SimulationError: if the core finds one of its invariants broken or runs out of memory. What was simulated
                can be read; only `restore` makes this object usable again. Other simulations are not touched.
            TooLargeError: soon after the run has taken more than its limits. It can be read, and restored.
            BusyError: if another thread uses it.
        """
        until_ns = nanos(t_s)
        try:
            # A signal handler of Python runs in the main thread and between two calls of compiled code only.
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
        """Make a change while the simulation stands between two calls of `run_until`.

        It happens one nanosecond from now, after the scenario's own events of that time. What follows is bit for bit
        the run of the scenario with the returned event appended to its own, which is how a changed run is repeated.

        Args:
            event: as in a scenario, which `event_reader.read_change` checks; its time does not matter.

        Returns:
            The event with the time at which it happens. `live_changes` has all of them.

        Raises:
            SimulationError: if the core refuses it, the run is over, or it failed before. Nothing changes then.
            TooLargeError: if the run would take more than the limits allow from then on.
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
        """End the `run_until` that is under way in another thread, or else the next one. Any thread may call this."""
        self._core.interrupt()

    def values(self, index: int) -> NDArray[np.float32]:
        """Samples of `columns[index]` taken so far: a read-only float32 view [sample_count], in the column's unit.

        The view stays valid as long as this object and never moves; later samples are in later views.
        """
        return self._core.values(index)

    def take_marks(self) -> list[Mark]:
        """Marks since the last call, in order of time."""
        return [self._mark(mark) for mark in self._core.take_marks()]

    @property
    def marks_lost(self) -> int:
        """Marks that did not fit the buffer of 65 536 between two calls of `take_marks`."""
        return self._core.marks_lost

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        """From now on, record why controllers and schedulers do what they do, for `take_decisions`.

        It does not change the run. The limits are those of each subflow and each connection. A snapshot contains
        what was recorded by then; after restoring one from before this call, nothing is recorded.
        """
        chosen = limits or DecisionLimits()
        self._decision_limits = chosen
        self._core.record_decisions(chosen.capacity, None if chosen.window_s is None else nanos(chosen.window_s))

    def take_decisions(self) -> Decisions:
        """Decisions since the last call, in order of time, and forget them here; none if they are not recorded."""
        table = self._core.take_decisions()
        scripts = self._core.scripts()
        rules = self._core.script_rules() if scripts else ()
        return from_core(table, self._subflow_names, self._flow_names, scripts, rules)

    @property
    def decisions_fill(self) -> float:
        """How full the fullest record of decisions is, 0 to 1: from 1 on, taking them late loses the oldest."""
        return self._core.decisions_fill

    @property
    def decisions_lost(self) -> int:
        """Decisions that did not fit within the capacity between two calls of `take_decisions`."""
        return self._core.decisions_lost

    def capture_packets(self, flow: str, capacity: int = DEFAULT_CAPACITY) -> None:
        """From now on, record the packets of a flow as they leave and reach its hosts, for `take_packets`.

        It does not change the run. If packets are captured from the start, the sequence numbers of a real TCP can be
        derived.

        Args:
            flow: its name, "download.1".
            capacity: packets that are kept until they are taken; more are counted by `packets_not_captured`.

        Raises:
            ParamError: if there is no such flow or no capacity.
        """
        if flow not in self._flow_names:
            raise ParamError(f'unknown flow "{flow}"', ", ".join(self._flow_names))
        if capacity < 1:
            raise ParamError(f"the capacity of a capture is {capacity}", "1 or more")
        self._core.capture_packets(self._flow_names.index(flow), capacity)

    def take_packets(self) -> CapturedPackets:
        """Packets of the captured flows since the last call, up to now, in order of time."""
        return packets_from_core(self._core.take_packets(), self._subflow_names)

    @property
    def packets_not_captured(self) -> int:
        """Packets that did not fit within the capacity between two calls of `take_packets`."""
        return self._core.packets_not_captured

    def take_intervals(self) -> Intervals:
        """The monitor intervals finished since the last call, of all subflows that send by them, in order of time."""
        return Intervals(owners=self._subflow_names, **self._core.take_intervals())

    def take_agent_steps(self) -> AgentSteps | None:
        """What learning agents saw, did and earned since the last call; None: none of the controllers learns."""
        if not self.agents:
            return None
        table = self._core.take_agent_steps()
        # Columns of their own, not views of rows: who looks for one in many rows reads no other.
        arrays = {name: np.ascontiguousarray(getattr(table, name)) for name in AgentSteps.columns()}
        return AgentSteps(self.agents, self._subflow_names, **arrays)

    @property
    def agent_steps_lost(self) -> int:
        """Decisions of agents that did not fit the buffer of 16 MiB between two calls of `take_agent_steps`."""
        return self._core.agent_steps_lost

    @property
    def intervals_lost(self) -> int:
        """Intervals that did not fit the buffer of 4096 per subflow between two calls of `take_intervals`."""
        return self._core.intervals_lost

    def inspect(self) -> Instant:
        """The present state: where each packet is, queues, windows, deliveries. Changes nothing.

        Raises:
            BusyError: if another thread uses it.
        """
        return instant_from_core(self._core.inspect(), self._lowered.links, self._subflow_names, self._flow_names)

    def to_dataframe(self, library: DataFrameLibrary | None = None) -> Any:
        """All samples as a data frame of the named library, or of an installed one; see `notebook.data_frame`."""
        return data_frame(self, library)

    def _repr_html_(self) -> str:
        """Curves, for notebooks."""
        return html(self)

    def signature(self) -> str:
        """Hash of everything that happened so far, 16 hexadecimal digits."""
        return f"{self._core.signature():016x}"

    def snapshot(self) -> Snapshot:
        """The state of the network now.

        Raises:
            SimulationError: if the simulator failed before.
        """
        try:
            return Snapshot(self._core.snapshot(), self.live_changes)
        except _core.CoreInternalError as error:
            raise SimulationError(str(error)) from error

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this simulation, or of one related to it by a fork, live changes included.

        What follows is bit for bit what followed the snapshot, samples included. The samples before it are those
        that this object took on the way there; NaN where it never was, or not with these live changes.

        Raises:
            SimulationError: if the snapshot belongs to another simulation.
        """
        try:
            self._core.restore(snapshot.core)
            self.live_changes = snapshot.live_changes
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from error

    def fork(self, snapshot: Snapshot | None = None) -> Simulation:
        """Another simulation of the same scenario and seed, at a snapshot or else at this one's present state.

        It is independent from there on, with the samples that `restore` would leave; left unchanged, it repeats
        this one bit for bit. Marks, decisions, intervals and agents' steps that had not been taken at the snapshot can
        be taken from it as well: each of the two runs has all of its own. Snapshots of either can be restored in the
        other. It costs the memory of another simulation; limits are not checked again.

        Raises:
            BusyError: if another thread uses it.
            SimulationError: if the snapshot belongs to another simulation, the simulator failed before and none is
                given, or there is not enough memory.
        """
        at = self.snapshot() if snapshot is None else snapshot
        twin = copy.copy(self)  # everything but these two never changes, or is replaced as a whole
        try:
            twin._core = self._core.fork(at.core)
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from error
        except MemoryError as error:
            raise SimulationError("not enough memory for another simulation and its traces") from error
        twin.live_changes = at.live_changes
        return twin

    def check_invariants(self) -> None:
        """Verify that packets are conserved on every link, and that every sender's accounts are consistent.

        Raises:
            SimulationError: naming the invariant that does not hold.
        """
        try:
            self._core.check_invariants()
        except _core.CoreInternalError as error:
            raise SimulationError(str(error)) from error

    def summary(self) -> dict[str, Any]:
        """Figures from the end of the warm-up to now: the JSON document of `subflow run`, without wall_s and run_id.

        A flow's `controller` is the one that it started with; the scenario's events and `live_changes` tell of others.

        Undefined figures (a mean RTT without a sample, the completion time of an incomplete flow) are None.

        Packets are data packets and datagrams, retransmissions included. `packets_in_flight_at_start` + `packets_sent`
        = `packets_delivered` + `packets_dropped` + `packets_in_flight_at_end`: what lies on links when the measured
        interval begins is lost or delivered within it. `packets_lost` are those of `packets_sent` that were dropped,
        and `loss_ratio` is their share. `packets_acked` are those of which the sender learned within the interval that
        they had arrived: the weights of a mean RTT of several flows.

        `size_bytes` is the payload after which a flow is complete, None for an endless flow. Its `completion_s` is the
        time from its start until the last byte has arrived.

        A flow is active from its start until its transfer is complete, or until what it sent before its stop has
        arrived. `goodput_bps` is over the whole measured interval, so that goodputs add up; `active_goodput_bps` is
        over the part of it (`active_s`) in which the flow was active. Fairness is of the latter and among the tcp and
        mptcp flows that were active at all: flows that come and go are compared by what they got while they were there.
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
        """The learning agents of the run, in the order in which the core numbers them."""
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
    """Where the data packets of the measured interval are, each counted by itself, so that the sum can be checked."""
    return {
        "packets_in_flight_at_start": packets.in_flight_at_start,
        "packets_sent": packets.sent,
        "packets_delivered": packets.delivered,
        "packets_dropped": packets.dropped,
        "packets_in_flight_at_end": in_flight,
        "packets_lost": packets.lost,
        "packets_acked": packets.acked,
    }


def _policy_summary(controller: Choice) -> dict[str, str] | None:
    """The trained policy that decided, with the hash of its content: a file of that name can be another one later."""
    policy = controller.policy
    return None if policy is None else {"name": policy.name, "content_hash": policy.content_hash}
