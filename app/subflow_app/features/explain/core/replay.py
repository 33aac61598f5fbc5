"""Replays a run to any time by restoring the nearest earlier snapshot and simulating from there.

The same scenario, seed and version give the same run bit for bit, so nothing has to be stored per packet. A replay
simulates the stored scenario once more and keeps snapshots for later jumps.

The distance between snapshots is measured in work, because work determines how long a jump takes. Work counts the
packets offered to links and the decisions of learning agents. If the snapshots exceed the memory budget, some of them
are dropped.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import subflow_app
from subflow_app.features.explain.core.causes import Evidence, QueueCurve, losses_behind, needs_losses
from subflow_app.features.explain.core.decisions import ToldDecisions, check_owner, is_scripted, recorded_decisions
from subflow_app.features.explain.core.origin import LiveOrigin, Origin, StoredOrigin
from subflow_app.features.traces.core.traces import NANOSECONDS, check_time
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.vocabulary.language import tr
from subflow_sim.decisions import DecisionLimits, Decisions, Explanation
from subflow_sim.errors import SimulationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.agent_steps import AgentDecision
    from subflow_sim.fates import Loss
    from subflow_sim.instant import Instant
    from subflow_sim.scenario import Event, Scenario
    from subflow_sim.simulation import Snapshot
    from subflow_store import Store


# Safety factor of the spacing: snapshots are taken slightly late, and later snapshots may be larger.
_ROOM = 1.35

FIRST_SPACING = 1 << 16
"""Initial work between two snapshots: about 7 ms on a CPU from 2024."""


@dataclass(frozen=True, slots=True)
class TimedSnapshot:
    """A snapshot, with the work that led to it.

    Attributes:
        snapshot: state of the simulation.
        work: packets and agent decisions from the start of the run to the snapshot.
    """

    snapshot: Snapshot
    work: int

    @property
    def now_ns(self) -> int:
        """Simulated time of the snapshot, ns."""
        return self.snapshot.now_ns

    @property
    def bytes(self) -> int:
        """Memory of the snapshot, bytes."""
        return self.snapshot.bytes


class Snapshots:
    """The snapshots of one run in order of time; the snapshot of the start is always kept.

    They are spaced by work. Spacing them by simulated time would keep thousands of snapshots of an idle network and
    too few of a busy second.
    """

    def __init__(self, start: TimedSnapshot, budget_bytes: int) -> None:
        """Begin with the snapshot of the run's start, which is kept even if it exceeds ``budget_bytes``."""
        self._states = [start]
        self._budget_bytes = budget_bytes
        self.bytes = start.bytes  # memory of all snapshots
        self.spacing = FIRST_SPACING

    def __len__(self) -> int:
        return len(self._states)

    @property
    def last(self) -> TimedSnapshot:
        """The snapshot with the latest simulated time."""
        return self._states[-1]

    @property
    def last_work(self) -> int:
        """Work up to the latest snapshot."""
        return self._states[-1].work

    @property
    def is_thinned(self) -> bool:
        """True if the budget was too small for the initial spacing."""
        return self.spacing > FIRST_SPACING

    @property
    def largest_gap(self) -> int:
        """Largest amount of work between two successive snapshots."""
        works = [state.work for state in self._states]
        return max((after - before for before, after in pairwise(works)), default=0)

    def before(self, time_ns: int) -> TimedSnapshot:
        """The last snapshot at or before a time; the snapshot of the start for earlier times."""
        return self._states[max(0, self._position(time_ns) - 1)]

    def wants(self, now_ns: int, work: int) -> bool:
        """True if a new snapshot at this time would be far enough from the existing ones."""
        position = self._position(now_ns)
        if work - self._states[position - 1].work < self.spacing:
            return False
        # A snapshot soon after this time serves nearly as well.
        return position == len(self._states) or self._states[position].work - work >= self.spacing // 2

    def keep(self, state: TimedSnapshot, share: float) -> None:
        """Add a snapshot; if the snapshots together exceed the budget, keep only every n-th of them.

        Args:
            state: the new snapshot.
            share: fraction of the run's time before the snapshot, 0 to 1. It serves to predict the spacing that the
                budget will allow at the end of the run, if the rest is as busy. Repeated doubling could end at twice
                that spacing.
        """
        self._states.insert(self._position(state.now_ns), state)
        self.bytes += state.bytes
        while self.bytes > self._budget_bytes and len(self._states) > 1:
            mean_bytes = self.bytes / len(self._states)
            most_states = max(1.0, self._budget_bytes / mean_bytes)
            whole_work = self._states[-1].work / max(share, 0.01)
            factor = max(2, math.ceil(_ROOM * whole_work / most_states / self.spacing))
            self._states = self._states[::factor]
            self.bytes = sum(kept.bytes for kept in self._states)
            self.spacing *= factor

    def _position(self, time_ns: int) -> int:
        """Number of snapshots at or before a time."""
        return bisect_right(self._states, time_ns, key=lambda state: state.now_ns)


DEFAULT_BUDGET_BYTES = 256 << 20

# Records of fates begin at least this long before a decision, which covers the round trip of most paths.
_BEFORE_NS = NANOSECONDS
_LEAST_CURVE_S = 0.02

# Target duration of a jump, in seconds of CPU time.
_GOAL_S = 0.1
# Work in a slice, the part of the simulation between two checks for cancellation and new snapshots: about a
# millisecond, and far less than the spacing of snapshots. The simulated length of slices is adapted to this work. When
# a busy period begins, the limit on events ends the slice.
_WORK_PER_SLICE = 1 << 13
_EVENTS_PER_SLICE = 1 << 12
_FIRST_SLICE_NS = 1_000_000
# Work counted for one agent decision, whose computation takes between a few microseconds and 0.2 ms.
_WORK_PER_ACTION = 1000
# Maximum number of recorded decisions in a slice; leaves room for several decisions per event.
_DECISIONS_PER_SLICE = 1 << 16
# Jumps are planned to take only this fraction of the goal, because machines are not always as fast as measured.
_MARGIN = 0.5


class ReplayCancelledError(AppError):
    """Raised when the caller cancels a replay. The replay remains usable."""


def never() -> bool:
    """Always False, for callers that never cancel."""
    return False


@dataclass(frozen=True, slots=True)
class ReplayCost:
    """Memory and time that a replay needs.

    Attributes:
        states: number of snapshots.
        bytes: memory of the snapshots.
        worst_seek_s: estimated CPU time of the longest jump, from the measured speed; NaN before a measurement.
        wanted_bytes: memory that would limit every jump within the part already simulated to 0.1 s.
    """

    states: int
    bytes: int
    worst_seek_s: float
    wanted_bytes: int


class Replay:
    """The replay of one run. Only one thread at a time may use it.

    Args:
        origin: the run to replay.
        budget_bytes: memory for snapshots; the snapshot of the start is kept even if it is larger.

    Raises:
        SimError: if the simulator refuses the scenario.
    """

    def __init__(self, origin: Origin, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        from subflow_sim.simulation import Simulation

        self._origin = origin
        self._budget_bytes = budget_bytes
        scenario = origin.scenario
        # Samples would slow down jumps, and states do not need them, so the first is due only after the end.
        self._simulation = Simulation(scenario, seed=origin.seed, sample_interval_s=2 * scenario.duration_s)
        # For an active run, the full duration of the scenario; a stopped run ends earlier.
        self._end_s = min(scenario.duration_s, origin.known_until_s) if origin.signature else scenario.duration_s
        self._drain()
        self._work_before = self._crossings = 0
        self._states = Snapshots(self._take_state(), budget_bytes)
        # True if the simulation can neither continue nor be saved as a snapshot, because it records decisions, failed,
        # or was cancelled.
        self._is_spoilt = False
        self._slice_ns = _FIRST_SLICE_NS
        self._cpu_s = 0.0
        self._cpu_work = 0
        # True if the replay repeats the stored run bit for bit; None while this is unknown, e.g. before `prepare`.
        self.is_same: bool | None = None

    @classmethod
    def stored(cls, store: Store, run_id: int, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> Replay:
        """Create a replay of a run in the database. If the run is active, it covers the part already stored.

        Raises:
            InputError: if the run was measured, not simulated, or if this version cannot read its scenario.
            SimError: if the simulator refuses the scenario.
            StoreError: if the run does not exist or the database cannot be read.
        """
        return cls(StoredOrigin.read(store, run_id), budget_bytes=budget_bytes)

    @classmethod
    def live(cls, job: RunJob, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> Replay:
        """Create a replay of an active or ended run of this process, including live changes.

        Raises:
            InputError: if the run is measured, not simulated.
            SimError: if the simulator refuses the scenario.
        """
        return cls(LiveOrigin(job), budget_bytes=budget_bytes)

    @property
    def scenario(self) -> Scenario:
        """The simulated scenario; for a stored run, it includes the changes made during the run."""
        return self._origin.scenario

    @property
    def changes(self) -> Sequence[Event]:
        """Known changes made during the run; empty for a stored run, whose scenario includes them."""
        return self._origin.changes_until(self._origin.known_until_s)

    @property
    def duration_s(self) -> float:
        """Duration of the scenario in seconds."""
        return self._simulation.duration_s

    @property
    def known_until_s(self) -> float:
        """Simulated time in seconds that the run has reached, or at which it was stopped; replays end there."""
        return self._origin.known_until_s

    @property
    def _deciding_subflows(self) -> list[str]:
        return [column.owner for column in self._simulation.columns if column.name == "cwnd_pkts"]

    @property
    def title(self) -> str:
        """Name of the run in messages: "run 7"."""
        return self._origin.title

    @property
    def notice(self) -> str:
        """Warnings about renamed policies, another version, differing results or slow jumps; empty if none apply."""
        parts = (self._origin.policy_notice, self._version_notice(), self._budget_notice())
        return " ".join(part for part in parts if part)

    @property
    def cost(self) -> ReplayCost:
        """Memory and time needed for the part already simulated."""
        speed = self._cpu_work / self._cpu_s if self._cpu_s > 0 else math.nan
        done = max(self._states.last_work, self._work)
        gap = max(self._states.largest_gap, done - self._states.last_work)
        mean_bytes = self._states.bytes / len(self._states)
        wanted = done / (speed * _GOAL_S * _MARGIN) * mean_bytes if speed > 0 else 0.0
        return ReplayCost(len(self._states), self._states.bytes, gap / speed, math.ceil(wanted + mean_bytes))

    def prepare(
        self, is_cancelled: Callable[[], bool] = never, progress: Callable[[float], None] = lambda _fraction: None
    ) -> bool:
        """Simulate the whole run once and keep snapshots, so that every later jump is short.

        For an active run, this covers the time already reached, and a later call continues from there.

        Args:
            is_cancelled: called about every millisecond; returns True to cancel.
            progress: receives the completed fraction, 0 to 1.

        Returns:
            True if the end was reached; False after a cancellation, which keeps the snapshots taken so far.

        Raises:
            SimulationError: if the run fails, as the original run did.
        """
        end_ns = self._nanos(self.known_until_s)

        def gives_up() -> bool:
            progress(self._now_ns / end_ns if end_ns else 1.0)
            return is_cancelled()

        try:
            self._go_to(end_ns, gives_up, start=self._states.last)
        except ReplayCancelledError:
            return False
        if self._origin.signature:
            self.is_same = self._simulation.signature() == self._origin.signature
        progress(1.0)
        return True

    def seek(self, t_s: float, is_cancelled: Callable[[], bool] = never) -> Instant:
        """Return the state at a time, limited to the range from the start of the run to `known_until_s`.

        Without `prepare`, the first jump simulates the whole run up to this time.

        Args:
            t_s: simulated time, s.
            is_cancelled: returns True to cancel.

        Raises:
            InputError: if the time is not a number.
            ReplayCancelledError: if the caller cancels.
            SimulationError: if the run fails before that time.
        """
        self._go_to(self._clamped_ns(t_s), is_cancelled)
        return self._simulation.inspect()

    def explain(
        self,
        owner: str,
        t_s: float,
        *,
        before: int = 1,
        after: int = 0,
        is_cancelled: Callable[[], bool] = never,
        progress: Callable[[float], None] = lambda _fraction: None,
    ) -> ToldDecisions:
        """Find the decisions around a time in the records of the run, or else by a replay that records them.

        Runs do not record which lines of a script were executed, so decisions of scripts always come from a replay.

        Args:
            owner: a subflow ("download.1/2") or, for its scheduler, a flow with several subflows ("download.1").
            t_s: simulated time in seconds, limited as in `seek`.
            before: number of decisions at or before the time, at least one; fewer at the beginning of the run.
            after: number of decisions after the time; fewer at the end of the run.
            is_cancelled: returns True to cancel.
            progress: receives the completed fraction of the replay, 0 to 1.

        Raises:
            InputError: if the owner does not exist or has no decision at or before the time, or if the time is not a
                number.
            ReplayCancelledError: if the caller cancels.
            SimulationError: if the run fails before that time.
            StoreError: if the database cannot be read.
        """
        check_owner(self._deciding_subflows, owner, self.title)
        time_ns = self._clamped_ns(t_s)
        recorded = None
        if not is_scripted(self.scenario, self.changes, owner):
            recorded = self._origin.recorded(owner, time_ns / NANOSECONDS, before, after)
        if recorded is not None:
            decisions = recorded_decisions(recorded, owner, time_ns / NANOSECONDS, before, after)
            if decisions is not None:
                return decisions.of_run(self.scenario)
        if self._states.last.now_ns < time_ns:
            # Simulate first without records, which slow the simulation and prevent snapshots. The snapshots shorten
            # later jumps.
            first_ns = self._states.last.now_ns

            def gives_up() -> bool:
                progress(max(0.0, (self._now_ns - first_ns) / (time_ns - first_ns)))
                return is_cancelled()

            self._go_to(time_ns, gives_up)
            progress(1.0)
        return self._explain_again(owner, time_ns, before, after, is_cancelled).of_run(self.scenario)

    def evidence(self, decision: Explanation, since_s: float, is_cancelled: Callable[[], bool] = never) -> Evidence:
        """Replay the time before a decision, and record the fates of the packets behind it.

        Args:
            decision: the decision.
            since_s: earliest time of losses that matter, s.
            is_cancelled: returns True to cancel.

        Raises:
            ReplayCancelledError: if the caller cancels.
            SimulationError: if the run fails before that time.
        """
        time_ns = self._clamped_ns(decision.time_s)
        if self._states.last.now_ns < time_ns:
            self._go_to(time_ns, is_cancelled)  # records prevent snapshots, which shorten later jumps
        if decision.scope != "subflow":
            self._go_to(time_ns, is_cancelled)
            return Evidence((), self._simulation.inspect(), time_ns / NANOSECONDS)
        start = self._states.before(max(0, min(time_ns, self._nanos(since_s)) - _BEFORE_NS))
        while True:
            losses = self._losses_until(decision.owner, start, time_ns, is_cancelled)
            found, _is_earlier = losses_behind(decision, losses, since_s)
            is_complete = all(self._nanos(each.sent_s) >= start.now_ns for each in found)
            if start.now_ns == 0 or (is_complete and (found or not needs_losses(decision))):
                return Evidence(losses, self._simulation.inspect(), start.now_ns / NANOSECONDS)
            start = self._states.before(max(0, start.now_ns - max(_BEFORE_NS, time_ns - start.now_ns)))

    def queue_curve(
        self, loss: Loss, until_s: float, is_cancelled: Callable[[], bool] = never, points: int = 61
    ) -> QueueCurve | None:
        """The queue of the link that dropped or marked a packet, from one round trip before until after the notice.

        Args:
            loss: the packet.
            until_s: end of the curve, s.
            is_cancelled: returns True to cancel.
            points: number of points of the curve, at least 2.

        Returns:
            None if no link dropped or marked the packet.

        Raises:
            ReplayCancelledError: if the caller cancels.
        """
        if loss.queue is None or loss.fate_s is None:
            return None
        before_s = max(loss.time_s - loss.sent_s, _LEAST_CURVE_S)
        first_ns = max(0, self._nanos(loss.fate_s - before_s))
        last_ns = self._clamped_ns(max(until_s, loss.fate_s + before_s / 4))
        drop_ns = self._nanos(loss.fate_s)
        wanted = {first_ns + (last_ns - first_ns) * place // (points - 1) for place in range(points)}
        times, pkts = [], []
        for time_ns in sorted({*wanted, drop_ns} if drop_ns <= last_ns else wanted):
            self._go_to(time_ns, is_cancelled)
            links = self._simulation.inspect().links
            times.append(time_ns / NANOSECONDS)
            pkts.append(int(links.queue_pkts[links.names.index(loss.link)]))
        return QueueCurve(loss.link, tuple(times), tuple(pkts), loss.queue.limit_pkts, loss.fate_s, loss.queue.pkts)

    def _losses_until(
        self, owner: str, start: TimedSnapshot, time_ns: int, is_cancelled: Callable[[], bool]
    ) -> list[Loss]:
        """Replay from a snapshot to a time, and return the losses that the senders of the owner's flow noticed."""
        self._restore(start)
        self._is_spoilt = True
        self._simulation.record_decisions(DecisionLimits(1))
        self._simulation.record_fates(owner.rpartition("/")[0])
        self._simulate(time_ns, is_cancelled, lambda: None)
        return self._simulation.losses()

    def decide_again(
        self,
        take: Callable[[Decisions], None],
        is_cancelled: Callable[[], bool] = never,
        progress: Callable[[float], None] = lambda _fraction: None,
    ) -> None:
        """Simulate the whole known part of the run again, and pass all decisions to ``take`` in batches.

        If the run failed, the decisions end at the failure.

        Args:
            take: receives the batches in order of time.
            is_cancelled: returns True to cancel.
            progress: receives the completed fraction, 0 to 1.

        Raises:
            ReplayCancelledError: if the caller cancels.
        """
        end_ns = self._nanos(self.known_until_s)

        def gives_up() -> bool:
            progress(self._now_ns / end_ns if end_ns else 1.0)
            return is_cancelled()

        self._restore(self._states.before(0))
        self._is_spoilt = True
        self._simulation.record_decisions(DecisionLimits(_DECISIONS_PER_SLICE))
        try:
            self._simulate(end_ns, gives_up, lambda: take(self._simulation.take_decisions()))
        except SimulationError:
            take(self._simulation.take_decisions())

    def agent_behind(self, decision: Explanation) -> AgentDecision | None:
        """The learning agent's decision that a subflow's decision carried out; None if no agent acted, or if unknown.

        Raises:
            StoreError: if the database cannot be read.
        """
        return self._origin.agent_behind(decision)

    def check_time(self, t_s: float) -> None:
        """Raise InputError if an entered time lies outside the known part of the run."""
        check_time(self.title, t_s, self.known_until_s)

    # ---------------------------------------------------------------------------------------- moving to a state

    @property
    def _now_ns(self) -> int:
        return self._nanos(self._simulation.now_s)

    @property
    def _work(self) -> int:
        """Work from the start of the run to the current state of the simulation."""
        return self._work_before + self._simulation.link_crossings - self._crossings

    @staticmethod
    def _nanos(t_s: float) -> int:
        return round(t_s * NANOSECONDS)

    def _clamped_ns(self, t_s: float) -> int:
        if math.isnan(t_s):
            raise InputError("the requested time is not a number")
        return self._nanos(min(max(t_s, 0.0), self.known_until_s))

    def _go_to(self, time_ns: int, is_cancelled: Callable[[], bool], start: TimedSnapshot | None = None) -> None:
        """Bring the simulation to a time, from its current state or from a snapshot, whichever is nearer."""
        start = start or self._states.before(time_ns)
        if self._is_spoilt or not start.now_ns <= self._now_ns <= time_ns:
            self._restore(start)
        self._is_spoilt = True
        self._simulate(time_ns, is_cancelled, self._keep_state)
        self._is_spoilt = False

    def _restore(self, state: TimedSnapshot) -> None:
        self._simulation.restore(state.snapshot)
        self._work_before, self._crossings = state.work, self._simulation.link_crossings

    def _simulate(
        self,
        until_ns: int,
        is_cancelled: Callable[[], bool],
        after_slice: Callable[[], None],
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        """Simulate up to a time in slices, and apply the changes made during the run.

        Args:
            until_ns: simulated time of the end, ns.
            is_cancelled: called between two slices; returns True to cancel.
            after_slice: called after each slice.
            goes_on: called between two slices; False ends the simulation early.

        Raises:
            ReplayCancelledError: if the caller cancels.
        """
        for change in self._origin.changes_until(until_ns / NANOSECONDS)[len(self._simulation.live_changes) :]:
            # A live change took effect one nanosecond after the time that the run had reached.
            self._run_until(self._nanos(change.at_s) - 1, is_cancelled, after_slice, goes_on)
            if not goes_on():
                return
            self._simulation.apply(change)
        self._run_until(until_ns, is_cancelled, after_slice, goes_on)

    def _run_until(
        self,
        until_ns: int,
        is_cancelled: Callable[[], bool],
        after_slice: Callable[[], None],
        goes_on: Callable[[], bool],
    ) -> None:
        is_there = False
        while not is_there and goes_on():
            work, began_s = self._work, time.thread_time()
            end_ns = min(until_ns, self._now_ns + self._slice_ns)
            is_whole = self._simulation.run_until(end_ns / NANOSECONDS, max_events=_EVENTS_PER_SLICE)
            is_there = is_whole and end_ns == until_ns
            if not is_whole:
                # The slice may have ended between two events of one instant. Finish the instant, because a snapshot
                # can only be taken between two instants.
                self._simulation.run_until(self._simulation.now_s)
            self._count_actions()
            self._cpu_s += time.thread_time() - began_s
            self._count_work(self._work - work)
            after_slice()
            if not is_there and is_cancelled():
                raise ReplayCancelledError(tr("Cancelled at {time} s.", time=f"{self._simulation.now_s:g}"))

    def _count_work(self, work: int) -> None:
        self._cpu_work += work
        if work > _WORK_PER_SLICE:
            self._slice_ns = max(1, self._slice_ns // 2)
        elif work < _WORK_PER_SLICE // 4:
            self._slice_ns = min(2 * self._slice_ns, NANOSECONDS)

    def _count_actions(self) -> None:
        steps = self._simulation.take_agent_steps()
        if steps is not None:
            self._work_before += _WORK_PER_ACTION * len(steps)

    def _keep_state(self) -> None:
        now_ns = self._now_ns
        if self._states.wants(now_ns, self._work):
            # Marks and intervals left in the simulation would be copied with every snapshot.
            self._drain()
            self._states.keep(self._take_state(), self._simulation.now_s / self._end_s)

    def _take_state(self) -> TimedSnapshot:
        return TimedSnapshot(self._simulation.snapshot(), self._work)

    def _drain(self) -> None:
        self._simulation.take_marks()
        self._simulation.take_intervals()

    # ---------------------------------------------------------------------------------------- replayed decisions

    def _explain_again(
        self, owner: str, time_ns: int, before: int, after: int, is_cancelled: Callable[[], bool]
    ) -> ToldDecisions:
        """Record the decisions up to the time and after it; if too few precede it, also replay earlier sections."""
        start = self._states.before(time_ns)
        earlier = self._record(owner, start, time_ns, is_cancelled, most=before)
        later: list[Explanation] = []
        end_ns = self._nanos(self.known_until_s)
        if after:
            self._record_on(owner, later, end_ns, is_cancelled, lambda: len(later) < after)
        while len(earlier) < before and start.now_ns > 0:
            until_ns, start = start.now_ns, self._states.before(start.now_ns - 1)
            earlier = self._record(owner, start, until_ns, is_cancelled, most=before - len(earlier)) + earlier
        if not earlier:
            first = f" begin at {later[0].time_s:.6f} s" if later else f" begin after {time_ns / NANOSECONDS:g} s"
            raise InputError(f"the decisions of {owner} in {self.title}{first}")
        return ToldDecisions(tuple(earlier), tuple(later[:after]), is_resimulated=True)

    def _record(
        self, owner: str, start: TimedSnapshot, until_ns: int, is_cancelled: Callable[[], bool], *, most: int
    ) -> list[Explanation]:
        """Replay from a snapshot to a time, and return the last ``most`` decisions of the owner."""
        self._restore(start)
        self._is_spoilt = True
        self._simulation.record_decisions(DecisionLimits(_DECISIONS_PER_SLICE))
        decisions: list[Explanation] = []
        self._record_on(owner, decisions, until_ns, is_cancelled, lambda: True, most)
        return decisions

    def _record_on(
        self,
        owner: str,
        told: list[Explanation],
        until_ns: int,
        is_cancelled: Callable[[], bool],
        is_wanted: Callable[[], bool],
        most: int | None = None,
    ) -> None:
        """Append the owner's decisions up to a time to ``told``; stop earlier if ``is_wanted`` returns False.

        If ``most`` is given, ``told`` keeps only that many of the latest decisions.
        """

        def take() -> None:
            decisions = self._simulation.take_decisions()
            rows = decisions.rows(owner)
            told.extend(decisions.explain(int(row)) for row in (rows if most is None else rows[-most:]))
            if most is not None:
                del told[: max(0, len(told) - most)]

        self._simulate(until_ns, is_cancelled, take, is_wanted)

    # ---------------------------------------------------------------------------------------- notices

    def _version_notice(self) -> str:
        made_by, this = self._origin.version, subflow_app.__version__
        values = {"run": self.title, "made_by": made_by, "this": this}
        if self.is_same is False and made_by != this:
            return tr(
                "Version {made_by} made {run}; this one, {this}, does not repeat it bit for bit: this version's run "
                "is shown.",
                **values,
            )
        if self.is_same is False:
            return tr(
                "{run} is not reproduced bit for bit, although this version made it: a trained policy or a file that "
                "it used may have changed.",
                **values,
            )
        if self.is_same is None and made_by != this:
            return tr(
                "Version {made_by} made {run}; one pass will show if this version, {this}, repeats it.",
                **values,
            )
        return ""

    def _budget_notice(self) -> str:
        from subflow_sim.limits import bytes_text

        cost = self.cost
        if not self._states.is_thinned or not cost.worst_seek_s > _GOAL_S:
            return ""
        return tr(
            "Snapshots of this run may take {budget}: a jump in time takes up to {seek} s. With {wanted} it would "
            "take {goal} s.",
            budget=bytes_text(self._budget_bytes),
            seek=f"{cost.worst_seek_s:.2g}",
            wanted=bytes_text(cost.wanted_bytes),
            goal=f"{_GOAL_S:g}",
        )
