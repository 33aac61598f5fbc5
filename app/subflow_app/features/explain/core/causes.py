"""The cause of a decision in the network, and the way in which the sender noticed it.

A replay records the fates of the packets (`subflow_sim.fates`). This module selects the losses behind a decision, and
describes the link, its queue, and the time until the sender noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_sim.decisions import Explanation
    from subflow_sim.fates import Loss, QueueState
    from subflow_sim.instant import Instant
    from subflow_sim.scenario_model import Event
    from subflow_sim.whole_scenario import Scenario

# Times of a run are whole nanoseconds, so times closer together than this are equal.
_SAME_S = 0.5e-9

CAUSE_KINDS = {
    "queue_full": translatable("the queue was full"),
    "queue_law": translatable("the queue's rule dropped it"),
    "random": translatable("random loss"),
    "collision": translatable("collisions on the shared medium"),
    "down": translatable("the link was down"),
    "scripted": translatable("dropped by the scenario"),
    "marked": translatable("marked by a queue"),
    "reordered": translatable("not lost: overtaken"),
    "late": translatable("not lost: late"),
    "lost_acks": translatable("not lost: its ACKs were"),
    "unreported": translatable("not lost: not yet acknowledged"),
    "none": translatable("nothing was lost"),
    "unknown": translatable("no drop was found"),
}
"""Causes in the network, by key, with their short texts."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Observations of the network during a replay.

    Attributes:
        losses: losses that the flow's senders noticed up to the time of the decision.
        instant: state right after the decision.
        began_s: start of the records, s; packets sent earlier have incomplete records.
    """

    losses: Sequence[Loss]
    instant: Instant
    began_s: float


@dataclass(frozen=True, slots=True)
class QueueCurve:
    """A link's queue around a drop or a mark.

    Attributes:
        link: link direction, e.g. "lte/forward".
        times_s: times, s, ascending.
        pkts: packets in the queue at these times, including the packet in service.
        limit_pkts: limit in packets; None: no limit in packets.
        at_s: time of the drop or mark, s.
        at_pkts: packets in the queue at that time.
    """

    link: str
    times_s: tuple[float, ...]
    pkts: tuple[int, ...]
    limit_pkts: int | None
    at_s: float
    at_pkts: int


@dataclass(frozen=True, slots=True)
class NetworkCause:
    """The cause of a decision in the network.

    Attributes:
        kind: a key of `CAUSE_KINDS`.
        loss: the packet that represents the cause; None if no packet was lost or marked.
        count: number of packets that the sender noticed together.
        counts: number of these packets by link direction and fate; the link is empty for packets that were not dropped.
        is_earlier: whether an earlier decision answered this loss first, as in the steps of a recovery.
        down_since_s: start of the outage behind the loss, s; None without one.
        rivals: link directions of the path whose delay varies, so that packets can overtake or be late there.
    """

    kind: str
    loss: Loss | None = None
    count: int = 0
    counts: tuple[tuple[tuple[str, str], int], ...] = ()
    is_earlier: bool = False
    down_since_s: float | None = None
    rivals: tuple[str, ...] = ()

    @property
    def link(self) -> str:
        """The link direction that caused the loss; empty if none did."""
        if self.loss is None:
            return ""
        return self.loss.ack_link if self.kind == "lost_acks" else self.loss.link

    @property
    def queue(self) -> QueueState | None:
        """The queue of the link at the drop or mark; None if a queue took no part."""
        return self.loss.queue if self.loss is not None and self.kind != "lost_acks" else None


def needs_losses(decision: Explanation) -> bool:
    """True if a decision answers a loss or marks, so that there must be a loss in the records."""
    return decision.scope == "subflow" and decision.cause in ("loss", "rto", "recovery_exit", "mark")


def losses_behind(decision: Explanation, losses: Sequence[Loss], since_s: float) -> tuple[list[Loss], bool]:
    """Select the losses behind a decision of a subflow.

    Args:
        decision: the decision.
        losses: noticed losses in order of time.
        since_s: time of the previous decision of an agent or at the end of a monitor interval, s.

    Returns:
        The losses, and whether the sender had noticed them before this decision.
    """
    own = [each for each in losses if each.owner == decision.owner and each.time_s <= decision.time_s + _SAME_S]
    now = [each for each in own if abs(each.time_s - decision.time_s) <= _SAME_S]
    if decision.cause in ("interval", "action"):
        within = [each for each in own if each.time_s > since_s + _SAME_S]
        return [each for each in within if each.sign != "marks"] or within, False
    if now or not needs_losses(decision):
        return now, False
    wanted = own
    if decision.cause == "mark":
        wanted = [each for each in own if each.sign == "marks"]
    latest_s = max((each.time_s for each in wanted), default=0.0)
    return [each for each in wanted if each.time_s >= latest_s - _SAME_S], True


def network_cause(
    scenario: Scenario, changes: Sequence[Event], decision: Explanation, evidence: Evidence, since_s: float
) -> NetworkCause:
    """Find the cause of a subflow's decision in the network.

    Args:
        scenario: scenario of the run.
        changes: changes made during the run.
        decision: the decision.
        evidence: records of a replay up to the decision.
        since_s: as for `losses_behind`.
    """
    found, is_earlier = losses_behind(decision, evidence.losses, since_s)
    if decision.rule.name == "undo":
        found = [each for each in found if not each.is_dropped] or found
    if not found:
        return NetworkCause("unknown" if needs_losses(decision) else "none")
    first = _representative(decision, found)
    kind = _kind_of(first)
    counts = Counter((each.link, _kind_of(each)) for each in found)
    link = first.ack_link if kind == "lost_acks" else first.link
    until_s = first.fate_s if first.fate_s is not None and kind != "lost_acks" else first.time_s
    since = down_since(scenario, changes, link, until_s) if kind in ("down", "lost_acks") else None
    rivals = tuple(
        each for each in path_directions(scenario, decision.owner) if _varies(scenario, each)
    )  # only for packets that were not dropped
    return NetworkCause(
        kind,
        first,
        len(found),
        tuple(counts.most_common()),
        is_earlier,
        since,
        rivals if kind in ("reordered", "late", "unreported") else (),
    )


def _representative(decision: Explanation, found: Sequence[Loss]) -> Loss:
    """The packet whose fate explains the decision: one that was dropped, unless most packets of a timeout arrived."""
    dropped = [each for each in found if each.is_dropped or each.fate == "marked"]
    is_rare = decision.cause == "rto" and 2 * len(dropped) < len(found)
    if not dropped or is_rare or decision.rule.name == "undo":
        return min(found, key=lambda each: each.seq)
    most, _count = Counter((each.link, each.fate) for each in dropped).most_common(1)[0]
    return min((each for each in dropped if (each.link, each.fate) == most), key=lambda each: each.seq)


def _kind_of(loss: Loss) -> str:
    if loss.is_dropped or loss.fate == "marked":
        return loss.fate
    if loss.fate == "under_way" or (loss.fate_s is not None and loss.fate_s > loss.time_s):
        return "reordered" if loss.overtaken_s is not None else "late"
    if loss.overtaken_s is not None:
        return "reordered"
    return "lost_acks" if loss.lost_acks else "unreported"


def path_directions(scenario: Scenario, owner: str) -> tuple[str, ...]:
    """The link directions that carry the data of a subflow, in order; empty for an unknown owner.

    A flow stands for its first subflow.
    """
    name, _, ordinal = owner.partition("/")
    flow = next((each for key, each in scenario.flows.items() if name == key or _is_copy(name, key)), None)
    position = int(ordinal) - 1 if ordinal.isdecimal() else 0
    if flow is None or not 0 <= position < len(flow.paths):
        return ()
    node, directions = flow.source, []
    for link in flow.paths[position]:
        first, second = scenario.links[link].ends
        directions.append(f"{link}/{'forward' if node == first else 'reverse'}")
        node = second if node == first else first
    return tuple(directions)


def _is_copy(name: str, flow: str) -> bool:
    stem, _, number = name.rpartition(".")
    return stem == flow and number.isdecimal()


def _varies(scenario: Scenario, direction: str) -> bool:
    name, _, side = direction.partition("/")
    link = scenario.links[name]
    state = link.forward if side == "forward" else link.reverse
    varying = (
        state.jitter,
        state.retransmission,
        state.delay_trace,
        state.access,
        state.grants,
        state.outages,
        state.handover,
    )
    return any(each is not None for each in varying)


def down_since(scenario: Scenario, changes: Sequence[Event], direction: str, at_s: float) -> float | None:
    """Time at which a link direction last went down, s; None if it is up then, or if no event took it down."""
    name, _, side = direction.partition("/")
    since = None
    for event in sorted((*scenario.events, *changes), key=lambda event: event.at_s):
        if event.link != name or event.up is None or event.at_s > at_s + _SAME_S:
            continue
        if event.direction in ("both", side):
            since = None if event.up else event.at_s
    return since
