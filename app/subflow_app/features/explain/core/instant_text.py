"""The state of a run at one time, as tables and as a JSON document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from subflow_app.vocabulary.measures import MEASURES
from subflow_app.vocabulary.number_text import NOTHING, count_text, finite, typeset
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

if TYPE_CHECKING:
    from subflow_sim.instant import Instant

_KINDS = ("data_pkts", "ack_pkts", "datagram_pkts")


def instant_document(instant: Instant, *, has_packets: bool = False) -> dict[str, Any]:
    """JSON document of a state; null for values that are undefined at this time.

    Args:
        instant: the state.
        has_packets: whether the document lists every packet in flight.
    """
    links, subflows, flows, packets = instant.links, instant.subflows, instant.flows, instant.packets
    on_wire = packets_on_wire(instant)
    document: dict[str, Any] = {
        "now_s": instant.now_s,
        "links": [
            {
                "name": name,
                "is_up": bool(links.is_up[index]),
                "queue_pkts": int(links.queue_pkts[index]),
                "queue_bytes": int(links.queue_bytes[index]),
                **{f"wire_{kind}": count for kind, count in zip(_KINDS, on_wire[index], strict=True)},
                "delivered_pkts": int(links.delivered_pkts[index]),
                "dropped_pkts": int(links.dropped_pkts[index]),
            }
            for index, name in enumerate(links.names)
        ],
        "subflows": [
            {
                "name": name,
                "state": subflows.state[index],
                **{
                    figure: finite(float(getattr(subflows, figure)[index]))
                    for figure in (
                        *("cwnd_pkts", "ssthresh_pkts", "inflight_pkts"),
                        *("srtt_s", "min_rtt_s", "rto_s", "pacing_rate_bps"),
                    )
                },
            }
            for index, name in enumerate(subflows.names)
        ],
        "flows": [
            {
                "name": name,
                "is_active": bool(flows.is_active[index]),
                "delivered_bytes": int(flows.delivered_bytes[index]),
                "reorder_queue_bytes": int(flows.reorder_queue_bytes[index]),
            }
            for index, name in enumerate(flows.names)
        ],
    }
    if has_packets:
        kinds = ("data", "ack", "datagram")
        document["packets"] = [
            {
                "link": links.names[packets.link[row]],
                "subflow": subflows.names[packets.subflow[row]],
                "kind": kinds[packets.kind[row]],
                "seq": int(packets.seq[row]),
                "size_bytes": int(packets.size_bytes[row]),
                "progress": float(packets.progress[row]),
                "queue_position": int(packets.queue_position[row]),
            }
            for row in range(len(packets))
        ]
    return document


def instant_tables(instant: Instant) -> list[TextTable]:
    """Tables of the subflows, links and flows in a state."""
    return [_subflow_table(instant), _link_table(instant), _flow_table(instant)]


def packets_on_wire(instant: Instant) -> list[list[int]]:
    """Count the data packets, ACKs and datagrams that propagate on each link, neither queued nor being sent."""
    import numpy as np

    packets = instant.packets
    is_on_wire = packets.queue_position < 0
    counts = np.zeros((len(instant.links.names), len(_KINDS)), np.int64)
    np.add.at(counts, (packets.link[is_on_wire], packets.kind[is_on_wire]), 1)
    return counts.tolist()


def _subflow_table(instant: Instant) -> TextTable:
    s, rtt, inflight = instant.subflows, MEASURES["srtt_s"], MEASURES["inflight_pkts"]
    columns: tuple[Column[int], ...] = (
        Column("Subflow", s.names.__getitem__),
        Column("State", s.state.__getitem__),
        NumberColumn("Window", s.cwnd_pkts.__getitem__, _number, "pkt"),
        NumberColumn("Threshold", s.ssthresh_pkts.__getitem__, _number, "pkt"),
        NumberColumn(inflight.heading, s.inflight_pkts.__getitem__, _number, inflight.unit),
        NumberColumn(rtt.heading, lambda row: s.srtt_s[row] * rtt.scale, _number, rtt.unit),
        NumberColumn("Min RTT", lambda row: s.min_rtt_s[row] * 1e3, _number, "ms"),
        NumberColumn("RTO", lambda row: s.rto_s[row] * 1e3, _number, "ms"),
        NumberColumn("Pacing", lambda row: s.pacing_rate_bps[row] / 1e6, _number, "Mbit/s"),
    )
    return TextTable.of(range(len(s.names)), columns, "Subflows")


def _link_table(instant: Instant) -> TextTable:
    links, on_wire, queue = instant.links, packets_on_wire(instant), MEASURES["queue_pkts"]
    columns: tuple[Column[int], ...] = (
        Column("Link", links.names.__getitem__),
        Column("State", lambda row: "up" if links.is_up[row] else "down"),
        NumberColumn(queue.heading, lambda row: int(links.queue_pkts[row]), count_text, queue.unit),
        NumberColumn("Queue", lambda row: int(links.queue_bytes[row]), count_text, "B"),
        NumberColumn("Data", lambda row: on_wire[row][0], count_text, "on the wire"),
        NumberColumn("ACKs", lambda row: on_wire[row][1], count_text, "on the wire"),
        NumberColumn("Datagrams", lambda row: on_wire[row][2], count_text, "on the wire"),
        NumberColumn("Delivered", lambda row: int(links.delivered_pkts[row]), count_text, "pkt"),
        NumberColumn("Dropped", lambda row: int(links.dropped_pkts[row]), count_text, "pkt"),
    )
    return TextTable.of(range(len(links.names)), columns, "Links")


def _flow_table(instant: Instant) -> TextTable:
    flows = instant.flows
    columns: tuple[Column[int], ...] = (
        Column("Flow", flows.names.__getitem__),
        Column("Active", lambda row: "yes" if flows.is_active[row] else "no"),
        NumberColumn("Delivered", lambda row: int(flows.delivered_bytes[row]), count_text, "B"),
        NumberColumn("Waits for earlier data", lambda row: int(flows.reorder_queue_bytes[row]), count_text, "B"),
    )
    return TextTable.of(range(len(flows.names)), columns, "Flows")


def _number(value: float) -> str:
    return typeset(f"{value:.5g}") if math.isfinite(value) else NOTHING
