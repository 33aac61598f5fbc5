"""States of a simulation to come back to: spaced by the work between them, thinned when their memory is used up."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_sim.simulation import Snapshot

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
        self._bytes = start.bytes
        self.spacing = FIRST_SPACING

    def __len__(self) -> int:
        return len(self._states)

    @property
    def bytes(self) -> int:
        """Memory that they take."""
        return self._bytes

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
        self._bytes += state.bytes
        while self._bytes > self._budget_bytes and len(self._states) > 1:
            mean_bytes = self._bytes / len(self._states)
            most_states = max(1.0, self._budget_bytes / mean_bytes)
            whole_work = self._states[-1].work / max(share, 0.01)
            factor = max(2, math.ceil(_ROOM * whole_work / most_states / self.spacing))
            self._states = self._states[::factor]
            self._bytes = sum(kept.bytes for kept in self._states)
            self.spacing *= factor

    def _position(self, time_ns: int) -> int:
        """How many states are at or before a time."""
        return bisect_right(self._states, time_ns, key=lambda state: state.now_ns)
