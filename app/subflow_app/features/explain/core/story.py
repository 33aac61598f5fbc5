"""The story of a decision in order of time: the cause in the network, the notice of the sender, and the rule.

The texts are in the language of the window; on the command line, this is English.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_app.features.explain.core.causes import (
    CAUSE_KINDS,
    Evidence,
    NetworkCause,
    QueueCurve,
    down_since,
    path_directions,
)
from subflow_app.features.explain.core.decisions import WorkedRule
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.number_text import duration_text, rounded_text
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_sim.agent_steps import AgentDecision
    from subflow_sim.decisions import Explanation
    from subflow_sim.fates import Loss, QueueState
    from subflow_sim.scenario_model import Event
    from subflow_sim.whole_scenario import Scenario

CAUSE, NOTICED, RULE = "cause", "noticed", "rule"
_NBSP = "\N{NO-BREAK SPACE}"
_HALF = 0.005  # a reduction within this distance of one half is called a halving
_QUIET_RTTS = 2.0  # without a decision for this many round trips, nothing happened
_LEAST_QUIET_S = 0.1

_QUEUE_LAWS: Mapping[str, str] = {
    "red": translatable("RED drops packets at random, the more the longer the queue is, before it is full."),
    "codel": translatable("CoDel drops a packet if all packets have waited too long for a while."),
    "fq_codel": translatable("FQ-CoDel drops a packet of a flow whose packets have waited too long for a while."),
    "dualpi2": translatable("DualPI2 drops packets at random so that the waiting time stays near its target."),
}
_MARK_LAWS: Mapping[str, str] = {
    "red": translatable("RED marks packets at random, the more the longer the queue is."),
    "codel": translatable("CoDel marks a packet if all packets have waited too long for a while."),
    "fq_codel": translatable("FQ-CoDel marks a packet of a flow whose packets have waited too long for a while."),
    "dualpi2": translatable("DualPI2 marks packets so that the waiting time stays near its target."),
}


PAGE_WORDS: Mapping[str, Sequence[str]] = {
    "queue_full": (
        "Dropped at {link}: its queue was full",
        "The queue of {link} held {held} when one more came. That packet was lost.",
    ),
    "queue_law": ("Dropped at {link} by the rule of its queue", "The queue of {link} held {held}."),
    "random": (
        "Lost on {link} by chance",
        "The medium of {link} lost the packet; the queue held {held}. The loss is no sign of congestion.",
    ),
    "collision": (
        "Lost on {link}: too many collisions",
        "Stations of the shared medium sent at the same time, and {link} gave up.",
    ),
    "down": (
        "Lost at {link}: it has been down since {since}",
        "A link that is down loses all packets that it holds and all that arrive.",
    ),
    "scripted": (
        "Dropped on {link} by the scenario",
        "The scenario lists this packet among those that {link} drops.",
    ),
    "marked": (
        "Marked at {link}",
        "The queue of {link} held {held}. It marked the packet instead of dropping it.",
    ),
    "reordered": (
        "Not lost: another packet overtook it",
        "A packet that was sent later arrived first, at {time}.",
    ),
    "late": ("Not lost: it was late", "The packet arrived {late} after the sender had given it up."),
    "under_way": ("Not lost: it was late", "The packet was still under way when the sender gave it up."),
    "lost_acks": (
        "Not lost: its ACKs were lost at {link}",
        "The packet arrived {early} before the sender gave it up.",
    ),
    "unreported": (
        "Not lost: no ACK had reported it",
        "No ACK had reported it to the sender by then: ACKs can wait, and each names at most three gaps.",
    ),
    "down_before": ("Lost at {link}: the link was down",),
    "none": ("Nothing was lost", "The sender noticed {count} packets at once: {parts}."),
    "packets": ("{count} of {limit} packets", "{count} pkt"),
    "noticed": (
        "The sender noticed {delay} later",
        "The sender gave it up {delay} after sending it",
        "This decision belongs to the recovery that began then.",
    ),
    "signs": (
        "ACKs came for three packets sent after it (third duplicate ACK).",
        "ACKs came for packets sent after it, and RACK's reordering window had passed.",
        "A tail loss probe had sent it again, and the ACK showed that only the second copy arrived.",
        "No ACK came for the retransmission timeout of {rto}.",
        "An ACK reported the mark.",
    ),
    "picture": ("Queue of {link}: {count} packets at {time} s", "full: {count}"),
    "tries": (
        "Try a longer queue at {link}",
        "Try a faster {link}",
        "Try {link} without random loss",
        "Try it without the outage of {link}",
    ),
    "quiet": ("Nothing happened here: the last decision of {owner} came {gap} earlier.",),
}
"""Texts of stories for web pages, by cause or purpose: those of this module and its card, with equal placeholders."""


@dataclass(frozen=True, slots=True)
class StoryStep:
    """A step of the story.

    Attributes:
        kind: `CAUSE`, `NOTICED` or `RULE`.
        time_s: simulated time, s.
        title: the step in a few words.
        text: the step in sentences; may be empty.
        link: link direction that the step is about; may be empty.
    """

    kind: str
    time_s: float
    title: str
    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Try:
    """A change of the network that would avoid the cause, for a fork of the run.

    Attributes:
        text: the change in words: "Try a longer queue at lte".
        at_s: time of the fork, s.
        link: name of the link.
        direction: "forward" or "reverse".
        key: key of the changed value, e.g. "queue".
        value: new value as in a scenario file.
    """

    text: str
    at_s: float
    link: str
    direction: str
    key: str
    value: str | bool

    def command(self, run: str) -> str:
        """The command line that tries the change: ``subflow fork 7 --at 21.5s --set links.lte.forward.queue=200pkt``.

        Args:
            run: number of the run, or "last".
        """
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        at = f"{self.at_s:.9f}".rstrip("0").rstrip(".")
        return f"subflow fork {run} --at {at}s --set links.{self.link}.{self.direction}.{self.key}={value}"


@dataclass(frozen=True, slots=True)
class Story:
    """A decision, its cause and its rule.

    Attributes:
        title: the effect in words: "Window halved: 194.6 → 97.3 packets".
        cause: key of the cause, in `CAUSE_KINDS`.
        steps: the steps in order of time.
        queue: queue around the drop or mark; None if a queue took no part.
        tries: changes that would avoid the cause.
        quiet: statement that nothing happened at the requested time; empty if something did.
    """

    title: str
    cause: str
    steps: tuple[StoryStep, ...]
    queue: QueueCurve | None = None
    tries: tuple[Try, ...] = ()
    quiet: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """The decision behind a story.

    Attributes:
        told: the decision.
        reduced_by: the controller's decision on ssthresh that `told` carries out; None for other decisions.
        worked: the computed rules.
        agent: the learning agent's decision behind it; None if no agent acted.
        asked_s: the requested time, s.
    """

    told: Explanation
    reduced_by: Explanation | None
    worked: Sequence[WorkedRule]
    agent: AgentDecision | None
    asked_s: float


def story_of(
    scenario: Scenario,
    changes: Sequence[Event],
    given: Told,
    cause: NetworkCause | None,
    evidence: Evidence | None,
    queue: QueueCurve | None = None,
) -> Story:
    """Make the story of a decision.

    Args:
        scenario: scenario of the run.
        changes: changes made during the run.
        given: the decision, with its rules.
        cause: its cause in the network; None for schedulers, and if the run cannot be simulated again.
        evidence: records of the replay; None if the run cannot be simulated again.
        queue: queue around the drop or mark.
    """
    told = given.told
    steps = []
    if cause is None and evidence is None:
        steps.append(
            StoryStep(
                CAUSE,
                told.time_s,
                tr("The cause in the network is unknown"),
                tr("This run cannot be simulated again, and it kept only its decisions."),
            )
        )
    elif told.scope == "flow":
        steps.append(_schedule_step(scenario, told, evidence))
    elif cause is not None:
        steps.append(_cause_step(scenario, told, cause, evidence))
        noticed = _noticed_step(given, cause, evidence)
        if noticed is not None:
            steps.append(noticed)
    steps.append(_rule_step(given))
    order = {CAUSE: 0, NOTICED: 1, RULE: 2}
    steps.sort(key=lambda step: (step.time_s, order[step.kind]))
    return Story(
        title=effect_title(given),
        cause=cause.kind if cause is not None else "none",
        steps=tuple(steps),
        queue=queue,
        tries=_tries(scenario, cause),
        quiet=_quiet(scenario, changes, given, evidence),
    )


# ---- the effect ----


def effect_title(given: Told) -> str:
    """The effect of a decision in words: "Window halved: 194.6 → 97.3 packets"."""
    told = given.told
    if told.scope == "flow":
        if told.chosen is None:
            return tr("Packet {packet} waits", packet=told.data_seq)
        return tr("Packet {packet} goes to subflow {subflow}", packet=told.data_seq, subflow=told.chosen)
    before, after = told.cwnd_pkts
    threshold = next((each.recorded for each in given.worked if each.result == "ssthresh"), None)
    if given.reduced_by is not None and threshold is not None and told.cause in ("loss", "mark"):
        # The recovery reaches the threshold step by step: the title names its end.
        before, after = given.reduced_by.cwnd_pkts[0], threshold
    before_bps, after_bps = told.rate_bps
    if math.isnan(before):
        return tr("Window begins with {amount}", amount=_packets(rounded_text(after, 4)))
    if before == after and before_bps != after_bps and before_bps:
        values = _change(before_bps / 1e6, after_bps / 1e6)
        if after_bps > before_bps:
            return tr("Rate raised: {before} → {after} Mbit/s", **values)
        return tr("Rate lowered: {before} → {after} Mbit/s", **values)
    if before == after:
        return tr("Window unchanged: {amount}", amount=_packets(rounded_text(after, 4)))
    values = _change(before, after)
    values["after"] = _packets(values["after"])
    if told.rule.name == "undo":
        return tr("Reduction undone: {before} → {after}", **values)
    if after > before:
        return tr("Window grew: {before} → {after}", **values)
    if abs(after / before - 0.5) < _HALF:
        return tr("Window halved: {before} → {after}", **values)
    return tr("Window cut: {before} → {after}", **values)


def _change(before: float, after: float) -> dict[str, str]:
    """Two numbers with the fewest digits, at least four, that show their difference."""
    digits = next((n for n in range(4, 10) if rounded_text(before, n) != rounded_text(after, n)), 4)
    return {"before": rounded_text(before, digits), "after": rounded_text(after, digits)}


def _packets(amount: str) -> str:
    return trn("{amount} packet", "{amount} packets", 1 if amount == "1" else 2, amount=amount)


def _time(time_s: float) -> str:
    return duration_text(time_s).replace(" ", _NBSP)


def _moment(time_s: float) -> str:
    return f"{time_s:.3f}{_NBSP}s"


# ---- cause in the network ----


def link_text(direction: str) -> str:
    """Name of a link in a sentence, without the direction, which is that of the data or, for ACKs, the opposite."""
    return direction.partition("/")[0]


def _cause_step(scenario: Scenario, told: Explanation, cause: NetworkCause, evidence: Evidence | None) -> StoryStep:
    loss = cause.loss
    if loss is None:
        return _no_loss_step(scenario, told, cause, evidence)
    title, text = _CAUSES[cause.kind](scenario, cause, loss)
    if cause.kind == "unknown":
        return StoryStep(CAUSE, told.time_s, title, text)
    time_s = loss.fate_s if loss.fate_s is not None and cause.kind != "lost_acks" else loss.sent_s
    if cause.count > 1:
        text = f"{text} {_together(cause)}"
    return StoryStep(CAUSE, time_s, title, text, cause.link)


def _together(cause: NetworkCause) -> str:
    """Sentence about the other packets that the sender noticed at the same time."""
    parts = []
    for (link, kind), count in cause.counts[:3]:
        where = tr("at {link}", link=link_text(link)) + ", " if link else ""
        parts.append(f"{count} ({where}{tr(CAUSE_KINDS[kind])})")
    parts += [tr("others")] if len(cause.counts) > len(parts) else []
    return tr("The sender noticed {count} packets at once: {parts}.", count=cause.count, parts="; ".join(parts))


def _held(queue: QueueState | None) -> str:
    """Content of a queue: ``100 of 100 packets``."""
    if queue is None:
        return ""
    if queue.limit_pkts is not None:
        return tr("{count} of {limit} packets", count=queue.pkts, limit=queue.limit_pkts)
    if queue.limit_bytes is not None:
        return tr("{count} of {limit} bytes", count=queue.bytes, limit=queue.limit_bytes)
    return trn("{count} packet", "{count} packets", queue.pkts)


def _queue_full(_scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    queue = loss.queue
    link = link_text(cause.link)
    held = _held(queue)
    has_room = queue is not None and (queue.limit_pkts is None or queue.pkts < queue.limit_pkts)
    if queue is not None and has_room and queue.limit_bytes is not None:
        held = tr("{count} of {limit} bytes", count=queue.bytes, limit=queue.limit_bytes)
    return (
        tr("Dropped at {link}: its queue was full", link=link),
        tr("The queue of {link} held {held} when one more came. That packet was lost.", link=link, held=held),
    )


def _law(scenario: Scenario, direction: str, laws: Mapping[str, str]) -> str:
    name, _, side = direction.partition("/")
    link = scenario.links[name]
    discipline = (link.forward if side == "forward" else link.reverse).queue.discipline
    return tr(laws.get(discipline, ""))


def _queue_law(scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    text = tr("The queue of {link} held {held}.", link=link, held=_held(loss.queue))
    return (
        tr("Dropped at {link} by the rule of its queue", link=link),
        f"{text} {_law(scenario, cause.link, _QUEUE_LAWS)}".rstrip(),
    )


def _random(_scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    return (
        tr("Lost on {link} by chance", link=link),
        tr(
            "The medium of {link} lost the packet; the queue held {held}. The loss is no sign of congestion.",
            link=link,
            held=_held(loss.queue),
        ),
    )


def _collision(_scenario: Scenario, cause: NetworkCause, _loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    return (
        tr("Lost on {link}: too many collisions", link=link),
        tr("Stations of the shared medium sent at the same time, and {link} gave up.", link=link),
    )


def _down(_scenario: Scenario, cause: NetworkCause, _loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    text = tr("A link that is down loses all packets that it holds and all that arrive.")
    if cause.down_since_s is None:
        return tr("Lost at {link}: the link was down", link=link), text
    since = f"{rounded_text(cause.down_since_s, 6)}{_NBSP}s"
    return tr("Lost at {link}: it has been down since {since}", link=link, since=since), text


def _scripted(_scenario: Scenario, cause: NetworkCause, _loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    return (
        tr("Dropped on {link} by the scenario", link=link),
        tr("The scenario lists this packet among those that {link} drops.", link=link),
    )


def _marked(scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    text = tr(
        "The queue of {link} held {held}. It marked the packet instead of dropping it.",
        link=link,
        held=_held(loss.queue),
    )
    return tr("Marked at {link}", link=link), f"{text} {_law(scenario, cause.link, _MARK_LAWS)}".rstrip()


def _arrival(loss: Loss) -> str:
    """Sentence about the arrival of a packet that was not lost."""
    if loss.fate_s is None:
        return tr("The packet was still under way when the sender gave it up.")
    late_s = loss.fate_s - loss.time_s
    if late_s > 0:
        return tr("The packet arrived {late} after the sender had given it up.", late=_time(late_s))
    return tr("The packet arrived {early} before the sender gave it up.", early=_time(-late_s))


def _rivals(cause: NetworkCause) -> str:
    if not cause.rivals:
        return ""
    return tr("The delay of {links} varies.", links=", ".join(link_text(each) for each in cause.rivals))


def _reordered(_scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    at = "" if loss.overtaken_s is None else _moment(loss.overtaken_s)
    text = tr("A packet that was sent later arrived first, at {time}.", time=at)
    return tr("Not lost: another packet overtook it"), " ".join(filter(None, (text, _arrival(loss), _rivals(cause))))


def _late(_scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    return tr("Not lost: it was late"), " ".join(filter(None, (_arrival(loss), _rivals(cause))))


def _lost_acks(_scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    link = link_text(cause.link)
    text = trn(
        "{count} ACK of this subflow was lost at {link} meanwhile.",
        "{count} ACKs of this subflow were lost at {link} meanwhile.",
        loss.lost_acks,
        link=link,
    )
    since = ""
    if cause.down_since_s is not None:
        since = tr(
            "{link} has been down since {since}.", link=link, since=f"{rounded_text(cause.down_since_s, 6)}{_NBSP}s"
        )
    return tr("Not lost: its ACKs were lost at {link}", link=link), " ".join(
        filter(None, (_arrival(loss), text, since))
    )


def _unreported(_scenario: Scenario, cause: NetworkCause, loss: Loss) -> tuple[str, str]:
    text = tr("No ACK had reported it to the sender by then: ACKs can wait, and each names at most three gaps.")
    return tr("Not lost: no ACK had reported it"), " ".join(filter(None, (_arrival(loss), text, _rivals(cause))))


_CAUSES = {
    "queue_full": _queue_full,
    "queue_law": _queue_law,
    "random": _random,
    "collision": _collision,
    "down": _down,
    "scripted": _scripted,
    "marked": _marked,
    "reordered": _reordered,
    "late": _late,
    "lost_acks": _lost_acks,
    "unreported": _unreported,
}


def _no_loss_step(scenario: Scenario, told: Explanation, cause: NetworkCause, evidence: Evidence | None) -> StoryStep:
    if cause.kind == "unknown":
        return StoryStep(
            CAUSE,
            told.time_s,
            tr("No drop was found"),
            tr("No packet of this subflow was dropped or marked before this decision."),
        )
    titles = {
        "start": tr("The subflow is established"),
        "idle": tr("Nothing was sent for a while"),
        "interval": tr("Nothing was lost in this monitor interval"),
        "action": tr("Nothing was lost since the agent's last action"),
    }
    return StoryStep(
        CAUSE, told.time_s, titles.get(told.cause, tr("Nothing was lost")), _queue_now(scenario, told, evidence)
    )


def _queue_now(scenario: Scenario, told: Explanation, evidence: Evidence | None) -> str:
    """Sentence about the longest queue on the path of a subflow at the time of the decision."""
    if evidence is None:
        return ""
    names = evidence.instant.links.names
    queues = {
        each: int(evidence.instant.links.queue_pkts[names.index(each)])
        for each in path_directions(scenario, told.owner)
        if each in names
    }
    if not queues:
        return ""
    link = max(queues, key=lambda each: queues[each])
    if not queues[link]:
        return tr("The queues on its path were empty.")
    name, _, side = link.partition("/")
    spec = (scenario.links[name].forward if side == "forward" else scenario.links[name].reverse).queue
    if spec.limit_pkts is not None and not any(event.link == name and event.queue for event in scenario.events):
        return tr(
            "The longest queue on its path, at {link}, held {count} of {limit} packets.",
            link=link_text(link),
            count=queues[link],
            limit=spec.limit_pkts,
        )
    return tr(
        "The longest queue on its path, at {link}, held {count} packets.", link=link_text(link), count=queues[link]
    )


def _schedule_step(scenario: Scenario, told: Explanation, evidence: Evidence | None) -> StoryStep:
    """The state of the subflows among which a scheduler chose."""
    parts = []
    now = evidence.instant.subflows if evidence is not None else None
    ordinals = range(1, len([name for name in now.names if name.rpartition("/")[0] == told.owner]) + 1) if now else ()
    for ordinal in ordinals:
        assert now is not None
        row = now.names.index(f"{told.owner}/{ordinal}")
        if ordinal not in told.usable:
            state = tr("not usable")
        elif ordinal in told.available:
            state = tr("has room")
        else:
            state = tr("its window is full")
        srtt = float(now.srtt_s[row])
        rtt = tr(", RTT {time}", time=_time(srtt)) if math.isfinite(srtt) else ""
        path = " → ".join(link_text(each) for each in path_directions(scenario, f"{told.owner}/{ordinal}"))
        parts.append(tr("Subflow {number} ({path}): {state}{rtt}.", number=ordinal, path=path, state=state, rtt=rtt))
    return StoryStep(CAUSE, told.time_s, tr("A packet needed a subflow"), " ".join(parts))


# ---- notice of the sender ----


def _noticed_step(given: Told, cause: NetworkCause, evidence: Evidence | None) -> StoryStep | None:
    told, loss = given.told, cause.loss
    if loss is None:
        text = _NO_LOSS_NOTICED.get(told.cause)
        if text is None:
            return None
        return StoryStep(NOTICED, told.time_s, tr(text), _rtt_text(told, evidence))
    since_s = loss.fate_s if cause.kind not in ("lost_acks", "late", "reordered", "unreported") else loss.sent_s
    delay_s = loss.time_s - (loss.sent_s if since_s is None else since_s)
    if cause.kind in ("late", "reordered", "lost_acks", "unreported"):
        title = tr("The sender gave it up {delay} after sending it", delay=_time(delay_s))
    else:
        title = tr("The sender noticed {delay} later", delay=_time(delay_s))
    parts = [_sign_text(loss, told)]
    flight = _flight(given, evidence)
    if flight is not None and told.cause in ("loss", "mark", "rto"):
        parts.append(trn("{count} packet was in flight.", "{count} packets were in flight.", flight))
    if cause.is_earlier:
        parts.append(tr("This decision belongs to the recovery that began then."))
    return StoryStep(NOTICED, loss.time_s, title, " ".join(filter(None, parts)))


_NO_LOSS_NOTICED: Mapping[str, str] = {
    "ack": translatable("An ACK reached the sender"),
    "interval": translatable("The fate of all packets of an interval is known"),
    "recovery_exit": translatable("All packets of the loss are acknowledged"),
    "idle": translatable("The sender has data again"),
    "loss": translatable("The sender found a loss"),
    "rto": translatable("The retransmission timeout expired"),
    "mark": translatable("An ACK reported marks"),
}


def _rtt_text(told: Explanation, evidence: Evidence | None) -> str:
    if evidence is None or told.owner not in evidence.instant.subflows.names:
        return ""
    row = evidence.instant.subflows.names.index(told.owner)
    srtt = float(evidence.instant.subflows.srtt_s[row])
    flight = float(evidence.instant.subflows.inflight_pkts[row])
    if not math.isfinite(srtt) or not math.isfinite(flight):
        return ""
    return tr("Smoothed RTT {rtt}; {count} packets in flight.", rtt=_time(srtt), count=round(flight))


def _flight(given: Told, evidence: Evidence | None) -> int | None:
    """Packets in flight when the sender noticed, including the lost ones; None if unknown."""
    flight = given.told.value("flight_size")
    if flight is not None and given.told.cause in ("loss", "mark"):
        return round(flight)
    if evidence is None or given.told.owner not in evidence.instant.subflows.names:
        return None
    row = evidence.instant.subflows.names.index(given.told.owner)
    pipe = float(evidence.instant.subflows.inflight_pkts[row])
    lost = sum(
        each.owner == given.told.owner and each.sign != "marks" and abs(each.time_s - given.told.time_s) < 1e-9
        for each in evidence.losses
    )
    return round(pipe) + lost if math.isfinite(pipe) else None


def _sign_text(loss: Loss, told: Explanation) -> str:
    match loss.sign:
        case "duplicate_acks":
            return tr("ACKs came for three packets sent after it (third duplicate ACK).")
        case "reordering_window":
            return tr("ACKs came for packets sent after it, and RACK's reordering window had passed.")
        case "tail_loss_probe":
            return tr("A tail loss probe had sent it again, and the ACK showed that only the second copy arrived.")
        case "marks":
            return tr("An ACK reported the mark.")
    rto_s, backoffs = told.value("rto"), told.value("backoffs")
    if told.cause != "rto" or rto_s is None:
        return tr("No ACK came before the retransmission timeout expired.")
    text = tr("No ACK came for the retransmission timeout of {rto}.", rto=_time(rto_s))
    if backoffs is not None and backoffs > 1:
        times = round(backoffs) - 1
        text += " " + trn("It had been doubled once before.", "It had been doubled {count} times before.", times)
    return text


# ---- the rule ----


def _rule_step(given: Told) -> StoryStep:
    told = given.reduced_by if given.reduced_by is not None else given.told
    if given.agent is not None:
        from subflow_app.features.training.core.agent_numbers import action_text

        own = [each for each in given.agent.acting if each.name == told.owner] or list(given.agent.acting)
        acted = "; ".join(f"{each.name}: {action_text(given.agent.agent, each)}" for each in own)
        text = tr("The agent {policy} acted. {action}.", policy=given.agent.agent.policy, action=acted)
        meanings = {each.name: each.help for each in given.agent.agent.actions}
        helps = [f"{name}: {text}" for name, text in meanings.items() if text]
        return StoryStep(RULE, told.time_s, tr("Rule: the agent's action"), " ".join([text, *helps[:3]]))
    if told.script is not None:
        title = tr("Rule: {function} of the script {script}", function=told.rule.name, script=told.script.name)
        return StoryStep(RULE, told.time_s, title, "; ".join(line.text for line in told.lines[:4]))
    lines = [told.rule.formula]
    if given.worked:
        lines += [f"= {given.worked[0].filled}", f"= {_result(given.worked[0])}"]
    if given.reduced_by is not None:
        if given.told.rule.name == "proportional_rate_reduction":
            lines.append(tr("then cwnd shrinks to it as packets are delivered, within about one RTT"))
        else:
            then = [given.told.rule.formula, *(_result(each) for each in given.worked[1:])]
            lines.append(tr("then {rule}", rule=" = ".join(then)))
    name = told.rule.name.replace("_", " ")
    return StoryStep(RULE, given.told.time_s, tr("Rule: {name}", name=name), "\n".join(filter(None, lines)))


def _result(worked: WorkedRule) -> str:
    if worked.result == "rate":
        return f"{rounded_text(worked.value / 1e6, 6)}{_NBSP}Mbit/s"
    return _packets(rounded_text(worked.value, 6))


# ---- changes to try ----


def _tries(scenario: Scenario, cause: NetworkCause | None) -> tuple[Try, ...]:
    if cause is None or cause.loss is None or not cause.link:
        return ()
    loss = cause.loss
    name, _, side = cause.link.partition("/")
    at_s = max(0.0, (loss.fate_s if loss.fate_s is not None else loss.time_s) - 1e-6)
    link = link_text(cause.link)
    found = []
    if cause.kind == "queue_full" and cause.queue is not None:
        limit = cause.queue.limit_pkts
        longer = f"{2 * limit}pkt" if limit is not None else f"{2 * (cause.queue.limit_bytes or 0)}B"
        found.append(Try(tr("Try a longer queue at {link}", link=link), at_s, name, side, "queue", longer))
    rate_bps = (scenario.links[name].forward if side == "forward" else scenario.links[name].reverse).rate_bps
    if cause.kind in ("queue_law", "marked") and rate_bps is not None:
        faster = format_quantity(2 * rate_bps, Dimension.RATE)
        found.append(Try(tr("Try a faster {link}", link=link), at_s, name, side, "rate", faster))
    if cause.kind == "random":
        found.append(Try(tr("Try {link} without random loss", link=link), at_s, name, side, "loss", "0%"))
    if cause.down_since_s is not None:
        after_s = cause.down_since_s + 1e-3
        found.append(Try(tr("Try it without the outage of {link}", link=link), after_s, name, side, "up", True))
    return tuple(found)


# ---- nothing happened ----


def _quiet(scenario: Scenario, changes: Sequence[Event], given: Told, evidence: Evidence | None) -> str:
    """Statement that nothing happened at the requested time; empty if the decision is recent."""
    told = given.told
    gap_s = given.asked_s - told.time_s
    srtt_s = math.nan
    if evidence is not None and told.owner in evidence.instant.subflows.names:
        srtt_s = float(evidence.instant.subflows.srtt_s[evidence.instant.subflows.names.index(told.owner)])
    limit_s = max(_LEAST_QUIET_S, _QUIET_RTTS * srtt_s) if math.isfinite(srtt_s) else _LEAST_QUIET_S
    if gap_s <= limit_s:
        return ""
    text = tr(
        "Nothing happened here: the last decision of {owner} came {gap} earlier.", owner=told.owner, gap=_time(gap_s)
    )
    for link in path_directions(scenario, told.owner):
        since_s = down_since(scenario, changes, link, given.asked_s)
        if since_s is not None:
            down = tr(
                "{link} has been down since {since}.", link=link_text(link), since=f"{rounded_text(since_s, 6)}{_NBSP}s"
            )
            return f"{text} {down}"
    return text


# ---- command line ----


def story_lines(story: Story, run: str) -> list[str]:
    """The story as lines of text for the command line.

    Args:
        story: the story.
        run: number of the run, for commands to try.
    """
    lines = [story.quiet] if story.quiet else []
    lines.append(story.title)
    for step in story.steps:
        first, *rest = step.text.splitlines() or [""]
        lines.append(f"  {step.time_s:>12.6f} s  {step.title}")
        lines += [f"{'':17}{each}" for each in (first, *rest) if each]
    lines += [f"  {each.text}: {each.command(run)}" for each in story.tries]
    return lines


def story_document(story: Story, run: str) -> dict[str, Any]:
    """JSON document of a story; times in seconds, queues in packets."""
    queue = story.queue
    return {
        "title": story.title,
        "cause": story.cause,
        "quiet": story.quiet or None,
        "steps": [
            fields(step, "kind", "time_s", "title", "text") | {"link": step.link or None} for step in story.steps
        ],
        "queue": None if queue is None else fields(queue, "link", "times_s", "pkts", "limit_pkts", "at_s", "at_pkts"),
        "try": [
            fields(each, "text", "at_s", "link", "direction", "key", "value") | {"command": each.command(run)}
            for each in story.tries
        ],
    }
