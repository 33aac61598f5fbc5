"""Decisions of a run, told to people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from subflow_app.features.traces.core.traces import NANOSECONDS
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.number_text import count_text, finite
from subflow_sim.decisions import meanings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from subflow_app.features.explain.core.decisions import WorkedRule
    from subflow_sim.decisions import Explanation, Number
    from subflow_store import EventExtent

_MOST_OWNERS = 12

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
"""What a decision was because of, in the words of windows and pages; by what is known of a loss, or by its cause."""


def explanation_lines(told: Explanation, worked: Sequence[WorkedRule] = ()) -> list[str]:
    """A decision as lines of text, with what of it was computed again."""
    lines = [
        f"{told.owner} at {told.time_s:.9f} s, {told.cause_text}: {told.effect}",
        f"  rule     {told.rule.name}: {told.rule.formula}",
    ]
    if told.rule.source:
        lines.append(f"  source   {told.rule.source}")
    lines += _number_lines(told.numbers)
    lines += [f"  line {each.line:<4} {each.text}" for each in told.lines]
    lines += [f"  computed {rule.result} = {rule.filled} = {amount_text(rule.result, rule.value)}" for rule in worked]
    return lines


def _number_lines(numbers: Sequence[Number]) -> list[str]:
    """A line per number with its meaning, which numbers of older versions lack."""
    width = max((len(number.text) for number in numbers), default=0)
    return [
        f"  {'' if place else 'numbers':<7}  {number.text:<{width}}  {meanings().get(number.name, '')}".rstrip()
        for place, number in enumerate(numbers)
    ]


def explanation_document(told: Explanation, worked: Sequence[WorkedRule] = ()) -> dict[str, Any]:
    """A decision for programs, with what of it was computed again; what is not known or does not apply is null."""
    document: dict[str, Any] = {
        "time_s": told.time_s,
        "owner": told.owner,
        "scope": told.scope,
        "cause": told.cause,
        "detection": told.detection or None,
        "rule": told.rule.name,
        "formula": told.rule.formula,
        "source": told.rule.source,
        "numbers": {name: finite(number.value) for name, number in zip(told.rule.numbers, told.numbers, strict=True)},
        "computed": [
            {"result": rule.result, "expression": rule.filled, "value": rule.value, "recorded": finite(rule.recorded)}
            for rule in worked
        ],
        "script": told.script.name if told.script is not None else None,
        "lines": [fields(each, "line", "source", "filled", "result") for each in told.lines],
        "steps": [
            fields(each, "line", "kind", "name", "source") | {"value": finite(each.value)} for each in told.steps
        ],
        "text": told.text,
    }
    if told.scope == "subflow":
        (before_pkts, after_pkts), (before_bps, after_bps) = told.cwnd_pkts, told.rate_bps
        return document | {
            "cwnd_before_pkts": finite(before_pkts),
            "cwnd_after_pkts": finite(after_pkts),
            "rate_before_bps": before_bps or None,
            "rate_after_bps": after_bps or None,
        }
    return document | fields(told, "data_seq", "chosen", "available", "usable")


def decisions_line(extents: Mapping[str, EventExtent]) -> str:
    """How many decisions a run has, of whom and of what time."""
    count = sum(extent.n for extent in extents.values())
    first_s = min(extent.t_first_ns for extent in extents.values()) / NANOSECONDS
    last_s = max(extent.t_last_ns for extent in extents.values()) / NANOSECONDS
    owners = f"{len(extents)} owners" if len(extents) > _MOST_OWNERS else ", ".join(extents)
    return f"{count_text(count)} decisions of {owners}, from {first_s:.3f} s to {last_s:.3f} s"


def extents_document(extents: Mapping[str, EventExtent]) -> dict[str, Any]:
    """The same for programs: by owner, how many and of what time."""
    return {
        owner: {
            "count": extent.n,
            "first_s": extent.t_first_ns / NANOSECONDS,
            "last_s": extent.t_last_ns / NANOSECONDS,
        }
        for owner, extent in extents.items()
    }


def amount_text(result: str, value: float) -> str:
    """What a rule gives, in its unit: that of a rate, or of a window."""
    return f"{value / 1e6:.6g} Mbit/s" if result == "rate" else f"{value:.6g} pkt"
