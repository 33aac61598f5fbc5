"""Decisions of a stored run, found by owner and time, and told to people and programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from subflow_app.core.errors import InputError
from subflow_app.core.events import DECISION, decisions_of
from subflow_app.core.number_text import count_text
from subflow_app.core.traces import NANOSECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from subflow_app.core.replay.worked_rules import WorkedRule
    from subflow_sim.decisions import Explanation
    from subflow_store import EventExtent, Store

_MOST_OWNERS = 12


def decisions_around(
    store: Store, run_id: int, owner: str, at_s: float, *, before: int = 1, after: int = 0
) -> tuple[list[Explanation], list[Explanation]]:
    """The decisions of an owner at or before a time, `before` of them at most and one at least, and the next ones.

    Raises:
        InputError: if the run has no decisions, none of this owner, or none so early; or the time is not of the run.
        StoreError: if the database cannot be read.
    """
    extents = store.event_extents(run_id, DECISION.name)
    if not extents:
        raise InputError(f"run {run_id} has no decisions: run it again with `subflow run --decisions`")
    if owner not in extents:
        names = list(extents)
        more = f" and {len(names) - _MOST_OWNERS} more" if len(names) > _MOST_OWNERS else ""
        raise InputError(
            f'run {run_id} has no decisions of "{owner}"; it has those of {", ".join(names[:_MOST_OWNERS])}{more}'
        )
    # Samples may end before the run does, by less than their distance.
    end_s = max(store.run(run_id).simulated_s, *(extent.t_last_ns / NANOSECONDS for extent in extents.values()))
    if not 0 <= at_s <= end_s:
        raise InputError(f"run {run_id} is from 0 s to {end_s:g} s; {at_s:g} s is not in it")
    decisions = decisions_of(store.decisions_around(run_id, owner, at_s, before=before, after=after))
    told = [decisions.explain(row) for row in range(len(decisions))]
    current = decisions.at(owner, at_s) if told else None
    if current is None:
        first_s = extents[owner].t_first_ns / NANOSECONDS
        raise InputError(f"the decisions that run {run_id} has of {owner} begin at {first_s:.6f} s")
    return told[: current + 1], told[current + 1 :]


def explanation_lines(told: Explanation, worked: Sequence[WorkedRule] = ()) -> list[str]:
    """A decision as lines of text, with what of it was computed again."""
    lines = [
        f"{told.owner} at {told.time_s:.9f} s, {told.cause_text}: {told.effect}",
        f"  rule     {told.rule.name}: {told.rule.formula}",
    ]
    if told.rule.source:
        lines.append(f"  source   {told.rule.source}")
    if told.numbers:
        lines.append(f"  numbers  {', '.join(number.text for number in told.numbers)}")
    lines += [f"  computed {rule.result} = {rule.filled} = {_amount(rule)}" for rule in worked]
    return lines


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
        "numbers": {name: _defined(number.value) for name, number in zip(told.rule.numbers, told.numbers, strict=True)},
        "computed": [
            {"result": rule.result, "expression": rule.filled, "value": rule.value, "recorded": _defined(rule.recorded)}
            for rule in worked
        ],
        "text": told.text,
    }
    if told.scope == "subflow":
        (before_pkts, after_pkts), (before_bps, after_bps) = told.cwnd_pkts, told.rate_bps
        return document | {
            "cwnd_before_pkts": _defined(before_pkts),
            "cwnd_after_pkts": _defined(after_pkts),
            "rate_before_bps": before_bps or None,
            "rate_after_bps": after_bps or None,
        }
    return document | {
        "data_seq": told.data_seq,
        "chosen": told.chosen,
        "available": list(told.available),
        "usable": list(told.usable),
    }


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


def _amount(rule: WorkedRule) -> str:
    return f"{rule.value / 1e6:.6g} Mbit/s" if rule.result == "rate" else f"{rule.value:.6g} pkt"


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None
