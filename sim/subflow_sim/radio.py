"""What of a radio link depends on the seed: outages and hand-overs, as the core takes them, and media by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from subflow_sim import _core
from subflow_sim.core_time import nanos
from subflow_sim.scenario_model import Handover, LinkDirection

_KINDS = {"wifi": _core.AccessKind.CONTENTION, "cell": _core.AccessKind.TURNS}

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Change:
    """An event of a link direction."""

    at_ns: int
    link: int
    rate_bps: float | None = None
    delay_ns: int | None = None
    up: bool | None = None


@dataclass(slots=True)
class Radio:
    """Gives link directions what radio has.

    Attributes:
        core: the scenario they are in.
        duration_ns: of the run.
        seed: of its draws.
    """

    core: _core.Scenario
    duration_ns: int
    seed: int
    _media: dict[tuple[str, str], int] = field(default_factory=dict)
    _groups: dict[str, int] = field(default_factory=dict)
    _changes: list[_Change] = field(default_factory=list)

    def add(self, index: int, name: str, side: LinkDirection) -> None:
        """Add what a direction has; both directions of a link draw the same where they say the same."""
        if side.retransmission is not None:
            repeated = side.retransmission
            self.core.use_retransmission(index, repeated.loss, nanos(repeated.delay_s), repeated.attempts)
        if side.grants is not None:
            self.core.use_grants(index, nanos(side.grants.period_s), nanos(side.grants.jitter_s))
        if side.access is not None:
            access = side.access
            self.core.use_access(
                index,
                medium=self._media.setdefault((access.kind, access.medium), len(self._media)),
                kind=_KINDS[access.kind],
                aggregation=access.aggregation,
                airtime_ns=nanos(access.airtime_s),
                overhead_ns=nanos(access.overhead_s),
                window_min=access.window_min,
                window_max=access.window_max,
                group=0 if access.group is None else self._groups.setdefault(access.group, len(self._groups) + 1),
            )
        pauses: list[_Span] = []
        if side.outages is not None:
            up_ns, down_ns = nanos(side.outages.up_s), nanos(side.outages.down_s)
            spans = _core.random_outages(name, self.seed, up_ns, down_ns, self.duration_ns)
            if side.outages.queue == "kept":
                pauses += spans
            else:
                for start, end in spans:
                    self._changes += [_Change(start, index, up=False), _Change(end, index, up=True)]
        if side.handover is not None:
            pauses += self._handovers(index, name, side, side.handover)
        if pauses:
            self.core.use_pauses(index, list(_joined(pauses)))

    def _handovers(self, index: int, name: str, side: LinkDirection, handover: Handover) -> Iterator[_Span]:
        """Note what changes at each hand-over, and yield the gaps."""
        period_ns, gap_ns = nanos(handover.period_s), nanos(handover.gap_s)
        times = range(nanos(handover.offset_s), self.duration_ns, period_ns)
        for number, at_ns in enumerate(times):
            if gap_ns:
                yield at_ns, at_ns + gap_ns
            more, less = (_core.draw(f"handover {what} {name}", self.seed, number) for what in ("delay", "rate"))
            delay_ns = nanos(side.delay_s + more * handover.delay_s) if handover.delay_s else None
            rate_bps = None
            if handover.rate < 1 and side.rate_bps is not None:
                rate_bps = max(1.0, side.rate_bps * (1 - less * (1 - handover.rate)))
            if delay_ns is not None or rate_bps is not None:
                self._changes.append(_Change(at_ns, index, rate_bps, delay_ns))

    def add_events(self) -> None:
        """Add what changes at times, in their order."""
        for change in sorted(self._changes, key=lambda each: each.at_ns):
            self.core.add_link_event(
                at_ns=change.at_ns,
                link=change.link,
                rate_bps=change.rate_bps,
                delay_ns=change.delay_ns,
                loss=None,
                loss_model=None,
                sets_queue=False,
                queue_limit_pkts=None,
                queue_limit_bytes=None,
                up=change.up,
            )


def _joined(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Spans in order, those that touch as one."""
    start, end = 0, 0
    for here, there in sorted(spans):
        if here > end or end == 0:
            if end:
                yield start, end
            start = here
        end = max(end, there)
    if end:
        yield start, end
