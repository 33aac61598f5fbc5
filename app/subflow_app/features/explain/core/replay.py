"""The replay of a run to any of its states: from the nearest kept state before it, and from there by simulation.

The same scenario, seed and version give the same run bit for bit, so nothing has to be stored per packet. A replay
simulates the stored text once more, and keeps states to come back to.

The distance between kept states is counted in work, which decides the time of a jump: the packets offered to links and
the decisions of learning agents. States are thinned when their memory is used up.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import subflow_app
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
    from subflow_sim.instant import Instant
    from subflow_sim.scenario import Event, Scenario
    from subflow_sim.simulation import Snapshot
    from subflow_store import Store


# States come a little late, and later ones may be larger.
_ROOM = 1.35

FIRST_SPACING = 1 << 16
"""Work between two states at first: about 7 ms of a CPU of 2024."""


@dataclass(frozen=True, slots=True)
class TimedSnapshot:
    """One state.

    Attributes:
        snapshot: to restore.
        work: done from the start of the run to it, see `Replay`.
    """

    snapshot: Snapshot
    work: int

    @property
    def now_ns(self) -> int:
        """Simulated time of it, ns."""
        return self.snapshot.now_ns

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        return self.snapshot.bytes


class Snapshots:
    """The states of one run in order of time; the one at the start is always kept.

    Spacing by simulated time would keep thousands of states of an idle network and too few of a busy second.
    """

    def __init__(self, start: TimedSnapshot, budget_bytes: int) -> None:
        """Begin with the state at the start, and keep no more than so many bytes, but for that one."""
        self._states = [start]
        self._budget_bytes = budget_bytes
        self.bytes = start.bytes  # memory that they take
        self.spacing = FIRST_SPACING

    def __len__(self) -> int:
        return len(self._states)

    @property
    def last(self) -> TimedSnapshot:
        """The latest of them."""
        return self._states[-1]

    @property
    def last_work(self) -> int:
        """Work up to the latest of them."""
        return self._states[-1].work

    @property
    def is_thinned(self) -> bool:
        """Whether the budget was too small for all that were wanted."""
        return self.spacing > FIRST_SPACING

    @property
    def largest_gap(self) -> int:
        """The most work from one state to the next."""
        works = [state.work for state in self._states]
        return max((after - before for before, after in pairwise(works)), default=0)

    def before(self, time_ns: int) -> TimedSnapshot:
        """The last state at or before a time."""
        return self._states[max(0, self._position(time_ns) - 1)]

    def wants(self, now_ns: int, work: int) -> bool:
        """Whether a state of that time would close a gap."""
        position = self._position(now_ns)
        if work - self._states[position - 1].work < self.spacing:
            return False
        # A state that comes soon after serves nearly as well.
        return position == len(self._states) or self._states[position].work - work >= self.spacing // 2

    def keep(self, state: TimedSnapshot, share: float) -> None:
        """Add a state; when all of them take too much, only every second, third, ... stays.

        Args:
            state: to be added.
            share: of the run's time that lies before it, 0 to 1. If the rest is as busy, what stays now is as far apart
                as the budget asks for at the end; by halves it would be up to twice as far.
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
        """How many states are at or before a time."""
        return bisect_right(self._states, time_ns, key=lambda state: state.now_ns)


DEFAULT_BUDGET_BYTES = 256 << 20

# A jump in time shall take no longer than this, s of CPU time.
_GOAL_S = 0.1
# Work between two looks at whether somebody gave up or a state is wanted: a millisecond, and well below any spacing. A
# slice of time is made as long as that; where a busy time begins, it is the events of the core that end it.
_WORK_PER_SLICE = 1 << 13
_EVENTS_PER_SLICE = 1 << 12
_FIRST_SLICE_NS = 1_000_000
# A decision of a learning agent takes as long as so many packets do: some microseconds to 0.2 ms, by its network.
_WORK_PER_ACTION = 1000
# Decisions of one owner within a slice that there is room for: some per event.
_DECISIONS_PER_SLICE = 1 << 16
# The share of the goal that is planned with: machines are not always this fast.
_MARGIN = 0.5


class ReplayCancelledError(AppError):
    """Somebody gave up waiting; the replay is as good as before."""


def never() -> bool:
    """Nobody gives up."""
    return False


@dataclass(frozen=True, slots=True)
class ReplayCost:
    """What a replay takes.

    Attributes:
        states: that are kept.
        bytes: memory of them.
        worst_seek_s: CPU time of the longest jump, from what was measured so far; NaN before that.
        wanted_bytes: memory with which every jump would take 0.1 s at most, as far as the run was simulated.
    """

    states: int
    bytes: int
    worst_seek_s: float
    wanted_bytes: int


class Replay:
    """A run that can be gone through again, for one thread at a time.

    Args:
        origin: the run.
        budget_bytes: memory for states to come back to; the one at the start is kept even if it takes more.

    Raises:
        SimError: if the simulator refuses the scenario.
    """

    def __init__(self, origin: Origin, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        from subflow_sim.simulation import Simulation

        self._origin = origin
        self._budget_bytes = budget_bytes
        scenario = origin.scenario
        # Samples would be in the way of jumps, and who looks at states needs none: the first comes after the end.
        self._simulation = Simulation(scenario, seed=origin.seed, sample_interval_s=2 * scenario.duration_s)
        # What of a run that goes on is its duration; one that was stopped will not get that far.
        self._end_s = min(scenario.duration_s, origin.known_until_s) if origin.signature else scenario.duration_s
        self._drain()
        self._work_before = self._crossings = 0
        self._states = Snapshots(self._take_state(), budget_bytes)
        # Whether the simulation stands where no state may be kept, and nothing may go on from: it records decisions,
        # or failed, or was left half-way.
        self._is_spoilt = False
        self._slice_ns = _FIRST_SLICE_NS
        self._cpu_s = 0.0
        self._cpu_work = 0
        # True if it repeats the stored run bit for bit; None: unknown, e.g. before `prepare`.
        self.is_same: bool | None = None

    @classmethod
    def stored(cls, store: Store, run_id: int, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> Replay:
        """The replay of a run in the database; of one that is going on, as far as it was stored by now.

        Raises:
            InputError: if the run was measured and not simulated, or this version cannot read its scenario.
            SimError: if the simulator refuses the scenario.
            StoreError: if there is no such run or the database cannot be read.
        """
        return cls(StoredOrigin.read(store, run_id), budget_bytes=budget_bytes)

    @classmethod
    def live(cls, job: RunJob, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> Replay:
        """The replay of a run that goes on or has ended in this process, live changes included.

        Raises:
            SimError: if the simulator refuses the scenario.
        """
        return cls(LiveOrigin(job), budget_bytes=budget_bytes)

    @property
    def scenario(self) -> Scenario:
        """What is simulated, without the changes that were made while it went on."""
        return self._origin.scenario

    @property
    def changes(self) -> Sequence[Event]:
        """Those changes, as far as they are known."""
        return self._origin.changes_until(self._origin.known_until_s)

    @property
    def duration_s(self) -> float:
        """Simulated time that was asked for, s."""
        return self._simulation.duration_s

    @property
    def known_until_s(self) -> float:
        """Simulated time up to which the run can be replayed, s: how far it is, or where it was stopped."""
        return self._origin.known_until_s

    @property
    def _deciding_subflows(self) -> list[str]:
        return [column.owner for column in self._simulation.columns if column.name == "cwnd_pkts"]

    @property
    def title(self) -> str:
        """The run in messages: "run 7"."""
        return self._origin.title

    @property
    def notice(self) -> str:
        """What a person has to know of this replay; empty if all is well."""
        return " ".join(part for part in (self._version_notice(), self._budget_notice()) if part)

    @property
    def cost(self) -> ReplayCost:
        """What it takes as far as it was prepared."""
        speed = self._cpu_work / self._cpu_s if self._cpu_s > 0 else math.nan
        done = max(self._states.last_work, self._work)
        gap = max(self._states.largest_gap, done - self._states.last_work)
        mean_bytes = self._states.bytes / len(self._states)
        wanted = done / (speed * _GOAL_S * _MARGIN) * mean_bytes if speed > 0 else 0.0
        return ReplayCost(len(self._states), self._states.bytes, gap / speed, math.ceil(wanted + mean_bytes))

    def prepare(
        self, is_cancelled: Callable[[], bool] = never, progress: Callable[[float], None] = lambda _fraction: None
    ) -> bool:
        """Go through the whole run once and keep states, so that every later jump is short.

        Of a run that goes on: as far as it is by now; later calls go on from there.

        Args:
            is_cancelled: whether to give up; asked every millisecond or so.
            progress: is told the share that is done, 0 to 1.

        Returns:
            Whether it came to the end; False if it was cancelled. What was kept until then is of use.

        Raises:
            SimulationError: if the run fails, as it did when it was made.
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
        """The state at a time. Before the start and after `known_until_s` it is that of the start and the end.

        Args:
            t_s: simulated time, s.
            is_cancelled: whether to give up; without `prepare` the first jump takes as long as the run did.

        Raises:
            InputError: if the time is not a number.
            ReplayCancelledError: if it was given up.
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
        """Why something was decided: from records of the run, else by simulating it again with records on.

        No run keeps which lines of a script were executed: where a script decides, it is always simulated again.

        Args:
            owner: a subflow ("download.1/2") or, for its scheduler, a flow of several ("download.1").
            t_s: the time, taken as by `seek`.
            before: how many decisions at or before it, one at least; fewer at the beginning.
            after: how many after it; fewer at the end.
            is_cancelled: whether to give up.
            progress: is told the share of the way to that time, 0 to 1, while it is simulated again.

        Raises:
            InputError: if there is no such owner, none of its decisions is so early, or the time is not a number.
            ReplayCancelledError: if it was given up.
            SimulationError: if the run fails before that time.
            StoreError: if the database cannot be read.
        """
        check_owner(self._deciding_subflows, owner, self.title)
        time_ns = self._clamped_ns(t_s)
        recorded = None
        if not is_scripted(self.scenario, self.changes, owner):
            recorded = self._origin.recorded(owner, time_ns / NANOSECONDS, before, after)
        if recorded is not None:
            told = recorded_decisions(recorded, owner, time_ns / NANOSECONDS, before, after)
            if told is not None:
                return told.of_run(self.scenario)
        if self._states.last.now_ns < time_ns:
            # Without records, which take longer and from which no state may be kept: later jumps are short then.
            first_ns = self._states.last.now_ns

            def gives_up() -> bool:
                progress(max(0.0, (self._now_ns - first_ns) / (time_ns - first_ns)))
                return is_cancelled()

            self._go_to(time_ns, gives_up)
            progress(1.0)
        return self._explain_again(owner, time_ns, before, after, is_cancelled).of_run(self.scenario)

    def decide_again(
        self,
        take: Callable[[Decisions], None],
        is_cancelled: Callable[[], bool] = never,
        progress: Callable[[float], None] = lambda _fraction: None,
    ) -> None:
        """Simulate the whole run again, as far as it is known, and tell all of its decisions, batch by batch.

        Of a run that failed, those until then.

        Args:
            take: is told them, in order of time.
            is_cancelled: whether to give up.
            progress: is told the share that is done, 0 to 1.

        Raises:
            ReplayCancelledError: if it was given up.
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

    def agent_behind(self, told: Explanation) -> AgentDecision | None:
        """The decision of a learning agent that a subflow's decision carried out; None: it was none, or is not known.

        Raises:
            StoreError: if the database cannot be read.
        """
        return self._origin.agent_behind(told)

    def check_time(self, t_s: float) -> None:
        """Raise InputError unless the run is known at that time, for whoever was given it by a person."""
        check_time(self.title, t_s, self.known_until_s)

    # ---------------------------------------------------------------------------------------- going to a state

    @property
    def _now_ns(self) -> int:
        return self._nanos(self._simulation.now_s)

    @property
    def _work(self) -> int:
        """Done from the start of the run to where the simulation stands."""
        return self._work_before + self._simulation.link_crossings - self._crossings

    @staticmethod
    def _nanos(t_s: float) -> int:
        return round(t_s * NANOSECONDS)

    def _clamped_ns(self, t_s: float) -> int:
        if math.isnan(t_s):
            raise InputError("the requested time is not a number")
        return self._nanos(min(max(t_s, 0.0), self.known_until_s))

    def _go_to(self, time_ns: int, is_cancelled: Callable[[], bool], start: TimedSnapshot | None = None) -> None:
        """Bring the simulation to a time, from where it stands or from a state that was kept, whichever is nearer."""
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
        """Simulate up to a time in slices, with the changes that were made while the run went on.

        Args:
            until_ns: the time.
            is_cancelled: asked between two slices.
            after_slice: called after each of them.
            goes_on: whether to go on to the next.

        Raises:
            ReplayCancelledError: between two slices.
        """
        for change in self._origin.changes_until(until_ns / NANOSECONDS)[len(self._simulation.live_changes) :]:
            # It was made where the run stood, and happened a nanosecond later.
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
                # The slice may end among the events of one instant: a state is kept between two instants only.
                self._simulation.run_until(self._simulation.now_s)
            self._count_actions()
            self._cpu_s += time.thread_time() - began_s
            self._count_work(self._work - work)
            after_slice()
            if not is_there and is_cancelled():
                raise ReplayCancelledError(tr("Given up at {time} s.", time=f"{self._simulation.now_s:g}"))

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
            # What nobody takes would be copied with every state.
            self._drain()
            self._states.keep(self._take_state(), self._simulation.now_s / self._end_s)

    def _take_state(self) -> TimedSnapshot:
        return TimedSnapshot(self._simulation.snapshot(), self._work)

    def _drain(self) -> None:
        self._simulation.take_marks()
        self._simulation.take_intervals()

    # ---------------------------------------------------------------------------------------- decisions, recorded again

    def _explain_again(
        self, owner: str, time_ns: int, before: int, after: int, is_cancelled: Callable[[], bool]
    ) -> ToldDecisions:
        """Simulate with records on: to the time and on to the later decisions, then stretch by stretch before it."""
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
        """The owner's latest decisions from a state that was kept until a time, so many at most."""
        self._restore(start)
        self._is_spoilt = True
        self._simulation.record_decisions(DecisionLimits(_DECISIONS_PER_SLICE))
        told: list[Explanation] = []
        self._record_on(owner, told, until_ns, is_cancelled, lambda: True, most)
        return told

    def _record_on(
        self,
        owner: str,
        told: list[Explanation],
        until_ns: int,
        is_cancelled: Callable[[], bool],
        is_wanted: Callable[[], bool],
        most: int | None = None,
    ) -> None:
        """Go on with records on until a time, or until no more are wanted."""

        def take() -> None:
            decisions = self._simulation.take_decisions()
            rows = decisions.rows(owner)
            told.extend(decisions.explain(int(row)) for row in (rows if most is None else rows[-most:]))
            if most is not None:
                del told[: max(0, len(told) - most)]

        self._simulate(until_ns, is_cancelled, take, is_wanted)

    # ---------------------------------------------------------------------------------------- what to know of it

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
