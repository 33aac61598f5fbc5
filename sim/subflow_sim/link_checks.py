"""What the tables of a link must not say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from math import inf, isinf
from typing import Any

from subflow_sim.link_params import LINK_TABLES
from subflow_sim.params import HEADER_BYTES
from subflow_sim.section_reader import Context
from subflow_sim.toml_map import Path
from subflow_sim.units import Dimension, format_quantity

_MOST_OUTAGES = 100_000
_MOST_LATE_S = 2.0

_Problem = tuple[tuple[str, ...], str, str]


def check_tables(context: Context, path: Path, values: Mapping[str, Any], changed: Set[str] | None = None) -> None:
    """Note what does not go together in a direction of a link.

    Args:
        context: gets the problems.
        path: of the direction.
        values: all that it has, also what it has from the other direction.
        changed: what it says itself; None: everything. What is as in the other direction was told there.
    """
    for key in LINK_TABLES:
        if key not in values or "rate" not in values:
            continue
        for place, message, allowed in _problems_of(context, key, values[key], values):
            is_old = changed is not None and not changed & {key, "rate", "queue", "delay", place[0]}
            if not is_old:
                context.report.add((*path, *place), message, allowed)


def _problems_of(context: Context, key: str, table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[_Problem]:
    rate = values["rate"]
    has_rate = rate.trace is None and rate.first_bps < inf
    what = "a recording" if rate.trace is not None else "no rate"
    match key:
        case "bucket":
            if not has_rate:
                yield ("bucket",), f"the link has {what}, at which no tokens come", "a link with a rate"
            elif table["peak"] < rate.first_bps:
                allowed = f'at least "{format_quantity(rate.first_bps, Dimension.RATE)}"'
                yield ("bucket", "peak"), "below the rate of the link", allowed
            if context.mss_bytes is not None and table["burst"] < context.mss_bytes + HEADER_BYTES:
                allowed = f'at least "{context.mss_bytes + HEADER_BYTES}B"'
                yield ("bucket", "burst"), "not even one packet fits", allowed
        case "retransmission":
            if table["delay"] * (table["attempts"] - 1) > _MOST_LATE_S:
                message = "the last attempt would come after more than 2 s"
                yield ("retransmission", "attempts"), message, "fewer attempts or a shorter delay"
        case "outages":
            expected = 0.0 if context.duration_s is None else context.duration_s / (table["up"] + table["down"])
            if expected > _MOST_OUTAGES:
                message = f"about {expected:.0f} outages in the run"
                yield ("outages", "up"), message, f"mean times with at most {_MOST_OUTAGES}"
        case "handover":
            yield from _problems_of_handover(table, values)
        case "grants":
            if not has_rate:
                yield ("grants",), f"the link has {what}, of which a grant is a part", "a link with a rate"
            if table["jitter"] > table["period"]:
                yield ("grants", "jitter"), "longer than a period", "at most the period"
            if "bucket" in values:
                yield ("grants",), "the link has a token bucket", "one of bucket and grants"
        case "access":
            yield from _problems_of_access(has_rate, what, table, values)


def _problems_of_handover(table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[_Problem]:
    rate, delay = values["rate"], values.get("delay", 0.0)
    if table["gap"] >= table["period"]:
        yield ("handover", "gap"), "not shorter than the period", "a time below the period"
    if table["rate"] < 1 and (rate.trace is not None or rate.steps or isinf(rate.first_bps) or "bucket" in values):
        message = "the link has no rate that is always the same"
        yield ("handover", "rate"), message, "a link with a rate and no token bucket, or leave it out"
    if table["delay"] > 0 and not isinstance(delay, float | int):
        yield ("handover", "delay"), "the delay of the link is a recording", "a link with a delay, or leave it out"


def _problems_of_access(
    has_rate: bool, what: str, table: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[_Problem]:
    if not has_rate:
        yield ("access",), f"the link has {what}, and a station has a rate", "a link with a rate"
    if table["window_min"] > table["window_max"]:
        yield ("access", "window_min"), "larger than window_max", "at most window_max"
    if table["kind"] == "cell" and table["group"] is not None:
        yield ("access", "group"), "stations that take turns need not hear each other", 'kind = "wifi"'
    for other in ("bucket", "grants"):
        if other in values:
            yield ("access",), f"the link has {other}, but its medium sets when it sends", f"one of access and {other}"
    if "outages" in values and values["outages"]["queue"] == "kept":
        yield ("outages", "queue"), "a link that shares a medium keeps no queue in an outage", '"lost"'
    if "handover" in values and values["handover"]["gap"] > 0:
        yield ("handover", "gap"), "the link shares a medium, which has no gaps", "0"
    queue = values.get("queue")
    if getattr(queue, "discipline", "droptail") == "red":
        yield ("access",), "the queue is red, which a link that shares a medium cannot have", "another discipline"
