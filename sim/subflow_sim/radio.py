"""Fields of radio links in the core's document: shared media, and outages and hand-overs drawn from the seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from subflow_sim import _core
from subflow_sim.core_document import Fields, core_fields
from subflow_sim.core_time import nanos
from subflow_sim.link_params import ACCESS_TABLE
from subflow_sim.scenario_model import Access, Handover, LinkDirection

_Span = tuple[int, int]


@dataclass(slots=True)
class Radio:
    """Adds outages, hand-overs and shared media to the core's fields of link directions.

    Attributes:
        duration_ns: duration of the run, ns.
        seed: seed of the run's draws.
    """

    duration_ns: int
    seed: int
    _media: dict[tuple[str, str], int] = field(default_factory=dict)
    _groups: dict[str, int] = field(default_factory=dict)
    _changes: list[Fields] = field(default_factory=list)

    def add_to(self, fields: Fields, index: int, name: str, side: LinkDirection) -> None:
        """Adds a direction's radio fields, and records its events; both directions of a link draw the same numbers.

        Args:
            fields: fields of the direction; changed in place.
            index: index of the direction.
            name: name of the link.
            side: the direction.
        """
        if side.access is not None:
            fields["access"] = self._access(side.access)
        pauses = self._pauses(index, name, side)
        if pauses:
            fields["pauses"] = [{"from": start, "to": end} for start, end in _joined(pauses)]

    def events(self) -> list[Fields]:
        """The changes recorded so far, in order of time."""
        return sorted(self._changes, key=lambda change: change["at"])

    def _access(self, access: Access) -> Fields:
        return {
            **core_fields(ACCESS_TABLE, access),
            "medium": self._media.setdefault((access.kind, access.medium), len(self._media)),
            "group": 0 if access.group is None else self._groups.setdefault(access.group, len(self._groups) + 1),
        }

    def _pauses(self, index: int, name: str, side: LinkDirection) -> list[_Span]:
        """Pauses of the transmitter as (start, end) in ns, unordered; records all other changes."""
        pauses: list[_Span] = []
        if side.outages is not None:
            up_ns, down_ns = nanos(side.outages.up_s), nanos(side.outages.down_s)
            spans = _core.random_outages(name, self.seed, up_ns, down_ns, self.duration_ns)
            if side.outages.queue == "kept":
                pauses += spans
            else:
                for start, end in spans:
                    self._changes += [{"at": start, "link": index, "up": False}, {"at": end, "link": index, "up": True}]
        if side.handover is not None:
            pauses += self._handovers(index, name, side, side.handover)
        return pauses

    def _handovers(self, index: int, name: str, side: LinkDirection, handover: Handover) -> Iterator[_Span]:
        """Records the changes of each hand-over, and yields its gap as (start, end) in ns."""
        period_ns, gap_ns = nanos(handover.period_s), nanos(handover.gap_s)
        times = range(nanos(handover.offset_s), self.duration_ns, period_ns)
        for number, at_ns in enumerate(times):
            if gap_ns:
                yield at_ns, at_ns + gap_ns
            more, less = (_core.draw(f"handover {what} {name}", self.seed, number) for what in ("delay", "rate"))
            delay = nanos(side.delay_s + more * handover.delay_s) if handover.delay_s else None
            rate = None
            if handover.rate < 1 and side.rate_bps is not None:
                rate = max(1.0, side.rate_bps * (1 - less * (1 - handover.rate)))
            if delay is not None or rate is not None:
                self._changes.append({"at": at_ns, "link": index, "rate": rate, "delay": delay})


def _joined(spans: Iterable[_Span]) -> Iterator[_Span]:
    """The spans in order, with adjacent and overlapping spans merged."""
    start, end = 0, 0
    for here, there in sorted(spans):
        if here > end or end == 0:
            if end:
                yield start, end
            start = here
        end = max(end, there)
    if end:
        yield start, end
