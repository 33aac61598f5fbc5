"""All events of a run in order of time: marks, planned and live changes, and recorded decisions.

A run may have hundreds of thousands of events. They are stored as columns of numbers, and only displayed rows become
text.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.editor.core.event_words import change_text, entry_of
from subflow_app.features.running.core.live_changes import LiveChange
from subflow_app.features.traces.core.events import stored_object
from subflow_app.features.traces.core.traces import NANOSECONDS, TraceMark, Traces
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.link_ways import with_way
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_sim.scenario import Event, Scenario
    from subflow_store.values import EventTable

KINDS: Mapping[str, str] = {
    "loss": translatable("Loss, fast retransmit"),
    "rto": translatable("Retransmission timeout"),
    "meta_rto": translatable("Timeout of the connection"),
    "scripted_drop": translatable("Dropped by the script"),
    "marked": translatable("Marked packets, window reduced"),
    "recovered": translatable("Recovered"),
    "penalised": translatable("Penalised"),
    "stale": translatable("Subflow is stale"),
    "announced": translatable("Address announced"),
    "refused": translatable("Subflow refused"),
    "established": translatable("Subflow opens"),
    "closed": translatable("Subflow closes"),
    "completed": translatable("Flow completed"),
    "link_down": translatable("Link down"),
    "link_up": translatable("Link up"),
    "link_change": translatable("Link changes"),
    "controller_change": translatable("Controller changes"),
    "start": translatable("Flow starts"),
    "stop": translatable("Flow stops"),
    "scenario": translatable("Planned change"),
    "live": translatable("Live change"),
    "action": translatable("Action of an agent"),
    "decision": translatable("Decision"),
}
"""Title of each kind of event in the list."""

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "losses": (
        translatable("Losses and timeouts"),
        ("loss", "rto", "meta_rto", "scripted_drop", "marked", "recovered", "penalised", "stale"),
    ),
    "flows": (
        translatable("Flows and subflows"),
        ("established", "announced", "refused", "closed", "completed", "start", "stop"),
    ),
    "changes": (
        translatable("Changes of links and flows"),
        ("link_down", "link_up", "link_change", "controller_change", "scenario", "live"),
    ),
    "decisions": (translatable("Decisions and actions"), ("action", "decision")),
}
"""Filters of the list, by key: the title, and the kinds of events that the filter covers."""

DEFAULT_KINDS = frozenset(KINDS) - {"action", "decision"}
"""Kinds listed initially: all except the frequent actions and decisions."""

TICKED = (
    "loss",
    "rto",
    "meta_rto",
    "scripted_drop",
    "link_down",
    "link_up",
    "link_change",
    "start",
    "scenario",
    "live",
)
"""Kinds with a tick on the time line."""

_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
VALUES: Mapping[str, str] = {
    **dict.fromkeys(("loss", "rto"), "ssthresh {value} pkt"),
    **dict.fromkeys(("marked", "recovered", "penalised", "established", "closed", "action"), "cwnd {value} pkt"),
    "completed": translatable("{time} s after its start"),
    "scripted_drop": translatable("packet {number}"),
    "meta_rto": translatable("{time} s without progress"),
}
"""Text for the value of a mark, by kind. `number` counts from 1. Values of marks of other kinds are not shown."""


class RunEvent(NamedTuple):
    """An event as text: `what` describes it, `who` labels its owner, and `value` adds details or is empty."""

    time_s: float
    kind: str
    owner: str
    what: str
    who: str
    value: str


@dataclass(frozen=True, slots=True)
class _Columns:
    """Events as columns of numbers. `source` is the index of a text, or for a decision its table row; -1 for a mark."""

    time_s: NDArray[np.float64]
    kind: NDArray[np.int16]
    owner: NDArray[np.int32]
    value: NDArray[np.float64]
    source: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Sequence[tuple[float, int, int, float, int]]) -> _Columns:
        columns = list(zip(*rows, strict=True)) if rows else [()] * 5
        types = (np.float64, np.int16, np.int32, np.float64, np.int32)
        return cls(*(np.array(column, dtype) for column, dtype in zip(columns, types, strict=True)))

    def with_more(self, more: _Columns) -> _Columns:
        """The events of both tables in order of time; simultaneous events keep their order."""
        joined = [np.concatenate([getattr(self, name), getattr(more, name)]) for name in self.__slots__]
        order = np.argsort(joined[0], kind="stable")
        return _Columns(*(column[order] for column in joined))


class RunEvents:
    """The events of one run. If the run is active, `take_new` adds its new events."""

    def __init__(
        self, traces: Traces, scenario: Scenario | None = None, *, decisions: EventTable | None = None
    ) -> None:
        """Collect the events up to now.

        Args:
            traces: traces of the run.
            scenario: scenario of the run, for planned events; None if unknown.
            decisions: table of the run's decisions; None if the run recorded none.
        """
        self._traces, self._scenario = traces, scenario
        self._owners: dict[str, int] = {}
        self._texts: list[str] = []
        self._marks_taken = self._changes_taken = 0
        self._decisions = decisions
        self._columns = _Columns.of(list(self._planned(scenario)) if scenario is not None else [])
        if decisions is not None and len(decisions):
            self._columns = self._columns.with_more(self._decision_columns(decisions))
        self.take_new()

    def __len__(self) -> int:
        return len(self._columns.time_s)

    @property
    def times_s(self) -> NDArray[np.float64]:
        """Times of the events, float64 [n], s, in order."""
        return self._columns.time_s

    @property
    def owners(self) -> tuple[str, ...]:
        """Owners of the events, in order of appearance."""
        return tuple(self._owners)

    def take_new(self, changes: Sequence[LiveChange] = ()) -> bool:
        """Add new marks and live changes; True if events were added."""
        marks = self._traces.marks()
        rows = [self._of_mark(mark) for mark in marks[self._marks_taken :] if mark.kind in _NUMBERS]
        self._marks_taken = len(marks)
        for change in changes[self._changes_taken :]:
            target = change.event.link or change.event.flow or ""
            words = change_text(with_way(self._scenario, change.values), has_target=False)
            rows.append(self._of_text("live", change.event.at_s, target, words))
        self._changes_taken = max(self._changes_taken, len(changes))
        if rows:
            self._columns = self._columns.with_more(_Columns.of(rows))
        return bool(rows)

    def rows_of(self, kinds: Collection[str] | None = None, owner: str = "") -> NDArray[np.int64]:
        """Select the rows of some kinds and of one owner. A flow includes its subflows, and a link its directions.

        Args:
            kinds: kinds of events; None for the kinds listed initially.
            owner: flow, subflow, link or direction; empty for all.

        Returns:
            int64 [n], in order of time.
        """
        wanted = np.isin(self._columns.kind, [_NUMBERS[kind] for kind in (DEFAULT_KINDS if kinds is None else kinds)])
        if owner:
            numbers = [number for name, number in self._owners.items() if is_of(name, owner)]
            wanted &= np.isin(self._columns.owner, numbers)
        return np.flatnonzero(wanted)

    def ticks_s(self) -> dict[str, NDArray[np.float64]]:
        """Times of the ticks on a time line, float64 [n] by kind, s."""
        found = {kind: self._columns.time_s[self._columns.kind == _NUMBERS[kind]] for kind in TICKED}
        return {kind: times for kind, times in found.items() if len(times)}

    def row(self, number: int) -> RunEvent:
        """One event as text, by its row in order of time, from 0."""
        columns = self._columns
        kind = tuple(KINDS)[columns.kind[number]]
        owner = tuple(self._owners)[columns.owner[number]]
        source = int(columns.source[number])
        what, value = tr(KINDS[kind]), ""
        if kind == "decision":
            what, value = self._decision_words(source)
        elif source >= 0:
            value = self._texts[source]
        else:
            value = _value_words(kind, float(columns.value[number]))
        who = self._traces.labels.get(owner, owner)
        return RunEvent(float(columns.time_s[number]), kind, owner, what, who, value)

    def row_at(self, rows: NDArray[np.int64], time_s: float) -> int:
        """Index of the last of these rows at or before a time; -1 if all are later."""
        return int(np.searchsorted(self._columns.time_s[rows], time_s + 0.5e-9, side="right")) - 1

    # ---- internals ----

    def _owner(self, name: str) -> int:
        return self._owners.setdefault(name, len(self._owners))

    def _of_mark(self, mark: TraceMark) -> tuple[float, int, int, float, int]:
        return (mark.time_s, _NUMBERS[mark.kind], self._owner(mark.owner), mark.value, -1)

    def _of_text(self, kind: str, time_s: float, owner: str, text: str) -> tuple[float, int, int, float, int]:
        self._texts.append(text)
        return (time_s, _NUMBERS[kind], self._owner(owner), math.nan, len(self._texts) - 1)

    def _planned(self, scenario: Scenario) -> Iterator[tuple[float, int, int, float, int]]:
        for flow in scenario.flows.values():
            if flow.arrivals is None:
                # The simulator draws a random start, so the list shows the earliest possible time.
                text = tr("or up to {time} later", time=format_quantity(scenario.start_jitter_s, Dimension.TIME))
                yield self._of_text("start", flow.start_s, flow.name, text if scenario.start_jitter_s else "")
            if flow.stop_s is not None and flow.stop_s <= scenario.duration_s:
                yield self._of_text("stop", flow.stop_s, flow.name, "")
        for event in scenario.events:
            if event.at_s <= scenario.duration_s:
                yield self._of_text(
                    "scenario", event.at_s, event.link or event.flow or "", _event_text(scenario, event)
                )

    def _decision_columns(self, table: EventTable) -> _Columns:
        numbers = np.array([self._owner(name) for name in table.names["owner"]], np.int32)
        count = len(table)
        return _Columns(
            table["time_ns"] / NANOSECONDS,
            np.full(count, _NUMBERS["decision"], np.int16),
            numbers[table["owner"]] if len(numbers) else np.empty(0, np.int32),
            np.full(count, math.nan),
            np.arange(count, dtype=np.int32),
        )

    def _decision_words(self, row: int) -> tuple[str, str]:
        assert self._decisions is not None
        table = self._decisions
        rule = stored_object(table.names["rule"][table["rule"][row]], "name")
        before, after = float(table["cwnd_before_pkts"][row]), float(table["cwnd_after_pkts"][row])
        if math.isfinite(before) and math.isfinite(after):
            value = f"cwnd {before:.4g} → {after:.4g} pkt"
        else:
            before, after = float(table["rate_before_bps"][row]), float(table["rate_after_bps"][row])
            is_rate = math.isfinite(before) and math.isfinite(after) and before + after > 0.0
            value = f"{before / 1e6:.4g} → {after / 1e6:.4g} Mbit/s" if is_rate else ""
        return tr("Decision: {rule}", rule=rule["name"]), value


def is_of(name: str, owner: str) -> bool:
    """True if a name is an owner or belongs to it: "wifi/forward" to "wifi", "flow.2/1" to "flow"."""
    return name == owner or name.startswith((f"{owner}/", f"{owner}."))


def _event_text(scenario: Scenario, event: Event) -> str:
    where: dict[str, Any] = {"subflow": event.subflow} if event.subflow else {}
    if event.link:
        where = with_way(scenario, {"link": event.link, "direction": event.direction})
    return change_text(where | entry_of(event), has_target=False)


def _value_words(kind: str, value: float) -> str:
    if kind not in VALUES or not math.isfinite(value):
        return ""
    return tr(VALUES[kind], value=f"{value:.4g}", time=f"{value:.4g}", number=f"{value + 1:.0f}")
