"""Decisions of one subflow or flow one after the other, from the one at a chosen time on, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.features.explain.core.decisions import deciding_algorithm
from subflow_app.features.explain.core.replay import Replay, never
from subflow_app.features.explain.core.worked_rules import WorkedRule, all_worked, reduction_behind

if TYPE_CHECKING:
    from subflow_sim.agent_steps import AgentDecision
    from subflow_sim.decisions import Explanation

# Decisions fetched on either side: a step is at hand then, and simulating again is worth its while.
_FETCHED = 100


@dataclass(frozen=True, slots=True)
class ExplainedDecision:
    """A decision with all that is shown of it.

    Attributes:
        told: the decision.
        worked: its rule with the numbers filled in, after that of `reduced_by`; empty: none can be computed from them.
        reduced_by: the controller's decision on ssthresh that it carries out, if it carries out one.
        agent: what a learning agent saw and did, if it was one that decided.
        is_resimulated: whether the run kept no such records.
        has_previous: whether there is a decision before it.
        has_next: whether there is one after it.
        notice: what a person has to know of the replay; empty if all is well.
        topic: of the guide, on the algorithm that decided: "controller/lia".
    """

    told: Explanation
    worked: tuple[WorkedRule, ...]
    agent: AgentDecision | None
    is_resimulated: bool
    has_previous: bool
    has_next: bool
    notice: str
    topic: str
    reduced_by: Explanation | None

    @property
    def scripted(self) -> Explanation | None:
        """What a script decided: this, or what the sender carries out here; None: no script did."""
        return next((each for each in (self.told, self.reduced_by) if each is not None and each.steps), None)


class DecisionSteps:
    """Goes from decision to decision of one run, for one thread at a time."""

    def __init__(self, replay: Replay, mss_bytes: int) -> None:
        """Of the run that is replayed, whose packets carry so much payload."""
        self._replay = replay
        self._mss_bytes = mss_bytes
        self._owner = ""
        self._told: list[Explanation] = []
        self._position = 0
        self._is_resimulated = False

    def go_to(
        self,
        owner: str,
        t_s: float,
        is_cancelled: Callable[[], bool] = never,
        progress: Callable[[float], None] = lambda _fraction: None,
    ) -> ExplainedDecision:
        """The owner's last decision at or before a time; ``progress`` is told the share of simulating again, 0 to 1.

        Raises:
            InputError: if there is no such owner, or none of its decisions is so early.
            ReplayCancelledError: if it was given up.
            SimulationError: if the run fails before that time.
            StoreError: if the database cannot be read.
        """
        self._fetch(owner, t_s, is_cancelled, progress=progress)
        return self._point()

    def step(self, by: int, is_cancelled: Callable[[], bool] = never) -> ExplainedDecision:
        """The decision before (-1) or after (1) the present one; the present one if there is none.

        Raises:
            ReplayCancelledError: if it was given up.
            StoreError: if the database cannot be read.
        """
        wanted = self._position + by
        if 0 <= wanted < len(self._told):
            self._position = wanted
        if not 0 < self._position < len(self._told) - 1:
            self._fetch_around(is_cancelled)
        return self._point()

    def _fetch(
        self,
        owner: str,
        t_s: float,
        is_cancelled: Callable[[], bool],
        before: int = 0,
        progress: Callable[[float], None] = lambda _fraction: None,
    ) -> None:
        before, after = before or _FETCHED, _FETCHED
        found = self._replay.explain(
            owner, t_s, before=before, after=after, is_cancelled=is_cancelled, progress=progress
        )
        while len(found.after) == after and found.after[0].time_s == found.after[-1].time_s:
            after *= 4
            found = self._replay.explain(owner, t_s, before=before, after=after, is_cancelled=is_cancelled)
        later = list(found.after)
        if len(later) == after:
            # Of an instant all decisions are here or none, so that one is found again by how many come after it.
            later = [told for told in later if told.time_s < later[-1].time_s]
        self._owner = owner
        self._told = [*found.before, *later]
        self._position = len(found.before) - 1
        self._is_resimulated = found.is_resimulated

    def _fetch_around(self, is_cancelled: Callable[[], bool]) -> None:
        """Fetch the neighbours of the present one; of several at the same instant it stays the same."""
        time_s = self._told[self._position].time_s
        later = sum(told.time_s == time_s for told in self._told[self._position + 1 :])
        self._fetch(self._owner, time_s, is_cancelled, before=_FETCHED + later)
        self._position -= later

    def _point(self) -> ExplainedDecision:
        told = self._told[self._position]
        earlier = self._told[: self._position]
        return ExplainedDecision(
            told=told,
            worked=all_worked(told, earlier, self._mss_bytes),
            reduced_by=reduction_behind(told, earlier),
            agent=self._replay.agent_behind(told),
            is_resimulated=self._is_resimulated,
            has_previous=self._position > 0,
            has_next=self._position < len(self._told) - 1,
            notice=self._replay.notice,
            topic=deciding_algorithm(self._replay.scenario, self._replay.changes, told),
        )
