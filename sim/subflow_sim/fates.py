"""Fates of packets: where and why the network dropped or marked them, and when their sender noticed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from subflow_sim import _core

FATES: Final[tuple[str, ...]] = tuple(
    fate.name.lower() for fate in sorted(_core.Fate.__members__.values(), key=lambda fate: fate.value)
)
"""Fates of packets: "queue_full", "queue_law" (dropped by a queue that had room), "random", "down" and so on."""

SIGNS: Final[tuple[str, ...]] = tuple(
    sign.name.lower() for sign in sorted(_core.LossSign.__members__.values(), key=lambda sign: sign.value)
)
"""Mechanisms by which a sender notices a loss or marks."""

DROPS: Final = frozenset({"queue_full", "queue_law", "random", "collision", "down", "scripted"})
DEFAULT_CAPACITY: Final = 1 << 20
_NO_LINK: Final = 0xFFFFFFFF  # LossTable::kNoLink
_ACK: Final = 1  # PacketKind::Ack
_UNLIMITED: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class QueueState:
    """The queue of a link direction at one time, including the packet in service.

    Attributes:
        pkts: packets.
        bytes: bytes on the wire.
        limit_pkts: limit in packets; None: no limit.
        limit_bytes: limit in bytes; None: no limit.
    """

    pkts: int
    bytes: int
    limit_pkts: int | None
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class PacketFate:
    """A drop or a mark.

    Attributes:
        time_s: time of the drop or mark, s.
        sent_s: departure of the packet from its sender, s; for an ACK, the departure that it echoes.
        owner: subflow of the packet.
        seq: sequence number of the packet in its subflow.
        number: number of the transmission in its subflow.
        is_ack: whether the packet is an ACK.
        fate: one of `FATES`.
        link: link direction, e.g. "wifi/forward".
        queue: the queue of the link at that time.
    """

    time_s: float
    sent_s: float
    owner: str
    seq: int
    number: int
    is_ack: bool
    fate: str
    link: str
    queue: QueueState


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss, or marks, that a sender noticed, with the fate of the packet.

    Attributes:
        time_s: time at which the sender noticed, s.
        owner: subflow of the packet.
        seq: sequence number of the packet; for marks, one past the last packet acknowledged without gaps.
        number: number of the transmission; 0 for marks.
        sign: one of `SIGNS`.
        sent_s: departure of the packet, s.
        fate: one of `FATES`; "arrived" and "under_way" mean that the packet was not lost.
        fate_s: time of the drop, mark or arrival, s; None for a packet under way.
        link: link direction that dropped or marked the packet; empty if none did.
        queue: queue of that link; None if no link dropped or marked the packet.
        overtaken_s: first arrival of a packet sent later, if before the notice and this packet's arrival, s.
        lost_acks: number of ACKs of the subflow that were dropped between the departure and the notice.
        ack_link: link direction that dropped the last of these ACKs; empty if none were dropped.
    """

    time_s: float
    owner: str
    seq: int
    number: int
    sign: str
    sent_s: float
    fate: str
    fate_s: float | None
    link: str
    queue: QueueState | None
    overtaken_s: float | None
    lost_acks: int
    ack_link: str

    @property
    def is_dropped(self) -> bool:
        """True if a link dropped the packet."""
        return self.fate in DROPS


def losses_from_core(table: _core.LossTable, subflows: Sequence[str], links: Sequence[str]) -> list[Loss]:
    """The losses that the senders noticed, in order of time."""
    queues = _queues(table)
    rows = zip(
        table.time_ns.tolist(),
        table.subflow.tolist(),
        table.seq.tolist(),
        table.number.tolist(),
        table.sign.tolist(),
        table.sent_ns.tolist(),
        table.fate.tolist(),
        table.fate_ns.tolist(),
        table.link.tolist(),
        queues,
        table.overtaken_ns.tolist(),
        table.lost_acks.tolist(),
        table.ack_link.tolist(),
        strict=True,
    )
    return [
        Loss(
            time_s=time_ns / 1e9,
            owner=subflows[subflow],
            seq=seq,
            number=number,
            sign=SIGNS[sign],
            sent_s=sent_ns / 1e9,
            fate=FATES[fate],
            fate_s=None if fate_ns < 0 else fate_ns / 1e9,
            link="" if link == _NO_LINK else links[link],
            queue=None if link == _NO_LINK else queue,
            overtaken_s=None if overtaken_ns < 0 else overtaken_ns / 1e9,
            lost_acks=lost_acks,
            ack_link="" if ack_link == _NO_LINK else links[ack_link],
        )
        for (
            time_ns,
            subflow,
            seq,
            number,
            sign,
            sent_ns,
            fate,
            fate_ns,
            link,
            queue,
            overtaken_ns,
            lost_acks,
            ack_link,
        ) in rows
    ]


def fates_from_core(table: _core.FateTable, subflows: Sequence[str], links: Sequence[str]) -> list[PacketFate]:
    """The drops and marks, in order of time."""
    rows = zip(
        table.time_ns.tolist(),
        table.sent_ns.tolist(),
        table.subflow.tolist(),
        table.seq.tolist(),
        table.number.tolist(),
        table.kind.tolist(),
        table.fate.tolist(),
        table.link.tolist(),
        _queues(table),
        strict=True,
    )
    return [
        PacketFate(
            time_ns / 1e9, sent_ns / 1e9, subflows[subflow], seq, number, kind == _ACK, FATES[fate], links[link], queue
        )
        for time_ns, sent_ns, subflow, seq, number, kind, fate, link, queue in rows
    ]


def _queues(table: _core.LossTable | _core.FateTable) -> Iterator[QueueState]:
    columns = (table.queue_pkts, table.queue_bytes, table.limit_pkts, table.limit_bytes)
    for pkts, size_bytes, limit_pkts, limit_bytes in zip(*(column.tolist() for column in columns), strict=True):
        yield QueueState(
            pkts,
            size_bytes,
            None if limit_pkts == _UNLIMITED else limit_pkts,
            None if limit_bytes == _UNLIMITED else limit_bytes,
        )
