"""Finds decisions of a stored run by time, steps through them, and formats them as text or JSON.

If the run did not record its decisions, a replay finds them. `DecisionSteps` steps through the decisions of one subflow
or flow, from a chosen time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from subflow_app.features.explain.core.causes import network_cause
from subflow_app.features.explain.core.decisions import (
    ToldDecisions,
    WorkedRule,
    all_worked,
    deciding_algorithm,
    is_scripted,
    recorded_decisions,
    reduction_behind,
)
from subflow_app.features.explain.core.origin import readable_scenario, recorded_by
from subflow_app.features.explain.core.replay import DEFAULT_BUDGET_BYTES, Replay, never
from subflow_app.features.explain.core.story import Story, Told, story_of
from subflow_app.features.traces.core.events import DECISION
from subflow_app.features.traces.core.traces import NANOSECONDS, check_kept, listed, not_kept
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.number_text import count_text, finite
from subflow_app.vocabulary.plain_text import capitalised
from subflow_sim.decisions import Explanation, Number, claim_meaning, meanings

if TYPE_CHECKING:
    from subflow_sim.agent_steps import AgentDecision
    from subflow_store import EventExtent, Store


def explained(
    store: Store,
    run_id: int,
    owner: str,
    at_s: float,
    *,
    before: int = 1,
    after: int = 0,
    budget_bytes: int = DEFAULT_BUDGET_BYTES,
    replay: Replay | None = None,
) -> tuple[ToldDecisions, str]:
    """Find the decisions around a given time in the records of the run, or else by a replay.

    Args:
        store: an open store.
        run_id: the run.
        owner: a subflow or, for its scheduler, a flow.
        at_s: simulated time in seconds.
        before: number of decisions at or before the time; at least one.
        after: number of decisions after the time.
        budget_bytes: memory for the states of the replay.
        replay: a replay of the run; None to make one if it is needed.

    Returns:
        The decisions, and a notice about the replay; the notice is empty if the decisions come from records.

    Raises:
        InputError: if the owner does not exist or has no decision at or before the time, if the time lies outside the
            run, or if the run kept no decisions and cannot be replayed.
        SimError: if the simulation fails.
        StoreError: if the run does not exist or the database cannot be read.
    """
    row = store.run(run_id)

    def with_worked(told: ToldDecisions) -> ToldDecisions:
        """Add the computed rules, and drop an additional first decision that the caller did not request.

        On a loss, the controller decides first and the sender second. Computing the sender's rule requires both
        decisions, so one more than requested was read.
        """
        everything = (*told.before, *told.after)
        worked = [all_worked(each, everything[:position], row.mss_bytes) for position, each in enumerate(everything)]
        first = max(0, len(told.before) - before)
        return replace(told, before=told.before[first:], worked=tuple(worked[first:]))

    recorded = recorded_by(store, run_id, owner, at_s, before + 1, after)
    told = None
    if recorded is not None:
        counts = (before + 1, before)  # the second is for runs that kept only their last decisions
        found = (recorded_decisions(recorded, owner, at_s, count, after) for count in counts)
        told = next((each for each in found if each is not None), None)
    scenario = readable_scenario(row)
    has_lines = recorded is not None and scenario is not None and is_scripted(scenario, (), owner)
    # For a time after the end of the run, the last decision would be a wrong answer.
    if told is not None and not has_lines and at_s <= max(row.simulated_s, told.current.time_s):
        return with_worked(told if scenario is None else told.of_run(scenario)), ""
    try:
        replay = replay or Replay.stored(store, run_id, budget_bytes=budget_bytes)
    except InputError:
        if recorded is None:
            raise
        check_kept(row, store.event_extents(run_id, DECISION.name), owner, at_s)
        told = recorded_decisions(recorded, owner, at_s, before, after, may_be_fewer=True)
        if told is None:
            raise not_kept(run_id, owner, at_s) from None
        return with_worked(told), ""
    replay.check_time(at_s)
    told = with_worked(replay.explain(owner, at_s, before=before + 1, after=after))
    if not told.is_resimulated:
        return told, ""
    # Only a replay to the end shows whether it reproduces the run.
    if replay.notice:
        replay.prepare()
    missing = "record of the lines that scripts execute" if has_lines else "stored decisions for this time"
    notice = f"{capitalised(replay.title)} has no {missing}, so it was simulated again."
    return told, f"{notice} {replay.notice}".rstrip()


def replayed_story(
    replay: Replay, given: Told, earlier: Sequence[Explanation], is_cancelled: Callable[[], bool] = never
) -> Story:
    """Make the story of a decision, with the cause that a replay finds.

    Args:
        replay: replay of the run.
        given: the decision, with its rules.
        earlier: decisions of the same owner before it, in order of time.
        is_cancelled: returns True to cancel.

    Raises:
        ReplayCancelledError: if the caller cancels.
        SimulationError: if the run fails before that time.
    """
    decision = given.told
    since_s = decision.time_s
    if decision.cause in ("interval", "action"):
        first_s = earlier[0].time_s if earlier else decision.time_s
        since_s = next((each.time_s for each in reversed(earlier) if each.cause == decision.cause), first_s)
    evidence = replay.evidence(decision, since_s, is_cancelled)
    if decision.scope == "flow":
        return story_of(replay.scenario, replay.changes, given, None, evidence)
    cause = network_cause(replay.scenario, replay.changes, decision, evidence, since_s)
    queue = None
    if cause.loss is not None and cause.queue is not None:
        queue = replay.queue_curve(cause.loss, min(decision.time_s, cause.loss.time_s), is_cancelled)
    return story_of(replay.scenario, replay.changes, given, cause, evidence, queue)


def story_at(replay: Replay, mss_bytes: int, owner: str, at_s: float) -> tuple[Story, str]:
    """Make the story of the last decision at or before a time.

    Args:
        replay: replay of the run.
        mss_bytes: payload of a packet in bytes.
        owner: a subflow or, for its scheduler, a flow.
        at_s: simulated time in seconds.

    Returns:
        The story, and a notice about the replay, usually empty.

    Raises:
        InputError: if the owner does not exist, or has no decision at or before the time.
        SimError: if the simulation fails.
        StoreError: if the database cannot be read.
    """
    story = DecisionSteps(replay, mss_bytes).go_to(owner, at_s).story
    if replay.notice:
        replay.prepare()  # only a replay to the end shows whether it reproduces the run
    return story, replay.notice


def replay_if_possible(store: Store, run_id: int, *, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> Replay | None:
    """A replay of a stored run; None if the run was measured, or if this version cannot read its scenario.

    Raises:
        SimError: if the simulator refuses the scenario.
        StoreError: if the run does not exist or the database cannot be read.
    """
    try:
        return Replay.stored(store, run_id, budget_bytes=budget_bytes)
    except InputError:
        return None


# Number of decisions fetched on each side of the time, so that most steps need no further replay.
_FETCHED = 100


@dataclass(frozen=True, slots=True)
class ExplainedDecision:
    """A decision as the panel shows it, with its rules and a possible warning.

    Attributes:
        told: the decision.
        worked: the computed rule of `reduced_by`, if any, then that of `told`; empty if neither can be computed.
        reduced_by: the controller's decision on ssthresh that `told` carries out; None for other decisions.
        agent: observation and action of the learning agent that made the decision; None if no agent did.
        is_resimulated: whether the decision comes from a replay, because the run did not record it.
        has_previous: whether an earlier decision exists.
        has_next: whether a later decision exists.
        notice: warning about the replay; usually empty.
        topic: guide topic of the algorithm that made the decision, e.g. "controller/lia".
        story: cause in the network, notice of the sender, and rule.
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
    story: Story

    @property
    def scripted(self) -> Explanation | None:
        """The decision that a script made, which is `told` or `reduced_by`; None if no script made either."""
        return next((each for each in (self.told, self.reduced_by) if each is not None and each.steps), None)


class DecisionSteps:
    """Steps through the decisions of one run. Only one thread at a time may use it."""

    def __init__(self, replay: Replay, mss_bytes: int) -> None:
        """Step through the decisions of a replayed run whose packets carry ``mss_bytes`` of payload."""
        self._replay = replay
        self._mss_bytes = mss_bytes
        self._owner = ""
        self._told: list[Explanation] = []
        self._position = 0
        self._is_resimulated = False
        self._asked_s = 0.0

    def go_to(
        self,
        owner: str,
        t_s: float,
        is_cancelled: Callable[[], bool] = never,
        progress: Callable[[float], None] = lambda _fraction: None,
    ) -> ExplainedDecision:
        """Go to the owner's last decision at or before a time.

        ``progress`` receives the completed fraction of the replay, 0 to 1.

        Raises:
            InputError: if the owner does not exist, or has no decision at or before the time.
            ReplayCancelledError: if the caller cancels the replay.
            SimulationError: if the run fails before that time.
            StoreError: if the database cannot be read.
        """
        self._fetch(owner, t_s, is_cancelled, progress=progress)
        self._asked_s = t_s
        return self._point(is_cancelled)

    def step(self, by: int, is_cancelled: Callable[[], bool] = never) -> ExplainedDecision:
        """Step to the previous (-1) or next (1) decision, or stay at the current one if no such decision exists.

        Raises:
            ReplayCancelledError: if the caller cancels the replay.
            StoreError: if the database cannot be read.
        """
        wanted = self._position + by
        if 0 <= wanted < len(self._told):
            self._position = wanted
        if not 0 < self._position < len(self._told) - 1:
            self._fetch_around(is_cancelled)
        self._asked_s = self._told[self._position].time_s
        return self._point(is_cancelled)

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
            # Drop the decisions of the last instant, some of which may be missing. `_fetch_around` identifies a
            # decision by the number of later decisions at the same instant, so an instant must be complete.
            later = [told for told in later if told.time_s < later[-1].time_s]
        self._owner = owner
        self._told = [*found.before, *later]
        self._position = len(found.before) - 1
        self._is_resimulated = found.is_resimulated

    def _fetch_around(self, is_cancelled: Callable[[], bool]) -> None:
        """Fetch the decisions around the current one, and stay at it even if others happened at the same instant."""
        time_s = self._told[self._position].time_s
        later = sum(told.time_s == time_s for told in self._told[self._position + 1 :])
        self._fetch(self._owner, time_s, is_cancelled, before=_FETCHED + later)
        self._position -= later

    def _point(self, is_cancelled: Callable[[], bool]) -> ExplainedDecision:
        told = self._told[self._position]
        earlier = self._told[: self._position]
        given = Told(
            told,
            reduction_behind(told, earlier),
            all_worked(told, earlier, self._mss_bytes),
            self._replay.agent_behind(told),
            self._asked_s,
        )
        return ExplainedDecision(
            told=told,
            worked=tuple(given.worked),
            reduced_by=given.reduced_by,
            agent=given.agent,
            story=replayed_story(self._replay, given, earlier, is_cancelled),
            is_resimulated=self._is_resimulated,
            has_previous=self._position > 0,
            has_next=self._position < len(self._told) - 1,
            notice=self._replay.notice,
            topic=deciding_algorithm(self._replay.scenario, self._replay.changes, told),
        )


CAUSES = {
    "start": translatable("The subflow begins"),
    "ack": translatable("An acknowledgement came"),
    "loss": translatable("A loss was found"),
    "duplicate_acks": translatable("Third duplicate ACK"),
    "reordering_window": translatable("RACK reordering window passed"),
    "tail_loss_probe": translatable("A tail loss probe repaired a loss"),
    "recovery": translatable("An acknowledgement came during fast recovery"),
    "rto": translatable("The retransmission timeout expired"),
    "recovery_exit": translatable("A recovery ended"),
    "interval": translatable("A monitor interval ended or began"),
    "idle": translatable("A pause ended"),
    "schedule": translatable("A packet needed a subflow"),
    "action": translatable("A learning agent acted"),
    "mark": translatable("Queues had marked packets"),
}
"""Display texts for the causes of decisions. The key is the kind of loss detection or, without one, the cause."""


def explanation_lines(decision: Explanation, worked: Sequence[WorkedRule] = ()) -> list[str]:
    """Lines of text for a decision, including its recomputed rules."""
    lines = [
        f"{decision.owner} at {decision.time_s:.9f} s, {decision.cause_text}: {decision.effect}",
        f"  rule     {decision.rule.name}: {decision.rule.formula}",
    ]
    if decision.rule.source:
        lines.append(f"  source   {decision.rule.source}")
    lines += _number_lines(decision.numbers)
    lines += [f"  line {each.line:<4} {each.text}" for each in decision.lines]
    lines += [f"  computed {rule.result} = {rule.filled} = {amount_text(rule.result, rule.value)}" for rule in worked]
    return lines


def _number_lines(numbers: Sequence[Number]) -> list[str]:
    """One line for each number, with its meaning; numbers that only older versions record appear without a meaning."""
    width = max((len(number.text) for number in numbers), default=0)
    texts = [meanings().get(number.name, "") for number in numbers]
    texts = [claim_meaning(text) if number.is_claim else text for number, text in zip(numbers, texts, strict=True)]
    return [
        f"  {'' if place else 'numbers':<7}  {number.text:<{width}}  {texts[place]}".rstrip()
        for place, number in enumerate(numbers)
    ]


def explanation_document(decision: Explanation, worked: Sequence[WorkedRule] = ()) -> dict[str, Any]:
    """JSON document of a decision, including its recomputed rules; null for unknown or inapplicable values."""
    document: dict[str, Any] = {
        "time_s": decision.time_s,
        "owner": decision.owner,
        "scope": decision.scope,
        "cause": decision.cause,
        "detection": decision.detection or None,
        "rule": decision.rule.name,
        "formula": decision.rule.formula,
        "source": decision.rule.source,
        "numbers": {
            name: finite(number.value) for name, number in zip(decision.rule.numbers, decision.numbers, strict=True)
        },
        "computed": [
            {"result": rule.result, "expression": rule.filled, "value": rule.value, "recorded": finite(rule.recorded)}
            for rule in worked
        ],
        "script": decision.script.name if decision.script is not None else None,
        "lines": [fields(each, "line", "source", "filled", "result") for each in decision.lines],
        "steps": [
            fields(each, "line", "kind", "name", "source") | {"value": finite(each.value)} for each in decision.steps
        ],
        "text": decision.text,
    }
    if decision.scope == "subflow":
        (before_pkts, after_pkts), (before_bps, after_bps) = decision.cwnd_pkts, decision.rate_bps
        return document | {
            "cwnd_before_pkts": finite(before_pkts),
            "cwnd_after_pkts": finite(after_pkts),
            "rate_before_bps": before_bps or None,
            "rate_after_bps": after_bps or None,
        }
    return document | fields(decision, "data_seq", "chosen", "available", "usable")


def decisions_line(extents: Mapping[str, EventExtent]) -> str:
    """One line with the number, owners and time range of a run's decisions."""
    count = sum(extent.n for extent in extents.values())
    first_s = min(extent.t_first_ns for extent in extents.values()) / NANOSECONDS
    last_s = max(extent.t_last_ns for extent in extents.values()) / NANOSECONDS
    owners = listed(list(extents), many="owners")
    return f"{count_text(count)} decisions of {owners}, from {first_s:.3f} s to {last_s:.3f} s"


def extents_document(extents: Mapping[str, EventExtent]) -> dict[str, Any]:
    """JSON document with the number and the time range of each owner's decisions."""
    return {
        owner: {
            "count": extent.n,
            "first_s": extent.t_first_ns / NANOSECONDS,
            "last_s": extent.t_last_ns / NANOSECONDS,
        }
        for owner, extent in extents.items()
    }


def amount_text(result: str, value: float) -> str:
    """The result of a rule with its unit: Mbit/s for a rate, packets for a window."""
    return f"{value / 1e6:.6g} Mbit/s" if result == "rate" else f"{value:.6g} pkt"
