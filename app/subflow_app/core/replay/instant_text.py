"""One state of a run, told to people and programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from subflow_app.core.number_text import NOTHING, count_text
from subflow_app.core.text_table import TextColumn, TextTable

if TYPE_CHECKING:
    from subflow_sim.instant import Instant

_KINDS = ("data_pkts", "ack_pkts", "datagram_pkts")


def instant_document(instant: Instant, *, has_packets: bool = False) -> dict[str, Any]:
    """A state for programs; what is not defined then is null.

    Args:
        instant: the state.
        has_packets: whether every packet under way is told as well.
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
                    figure: _defined(float(getattr(subflows, figure)[index]))
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
    """A state as tables of text."""
    return [_subflow_table(instant), _link_table(instant), _flow_table(instant)]


def packets_on_wire(instant: Instant) -> list[list[int]]:
    """How many data packets, ACKs and datagrams are on the wire of each link: neither waiting nor being sent."""
    import numpy as np

    packets = instant.packets
    is_on_wire = packets.queue_position < 0
    counts = np.zeros((len(instant.links.names), len(_KINDS)), np.int64)
    np.add.at(counts, (packets.link[is_on_wire], packets.kind[is_on_wire]), 1)
    return counts.tolist()


def _subflow_table(instant: Instant) -> TextTable:
    columns = (
        TextColumn("Subflow", is_number=False),
        TextColumn("State", is_number=False),
        TextColumn("Window", "pkt"),
        TextColumn("Threshold", "pkt"),
        TextColumn("In flight", "pkt"),
        TextColumn("RTT", "ms"),
        TextColumn("Min RTT", "ms"),
        TextColumn("RTO", "ms"),
        TextColumn("Pacing", "Mbit/s"),
    )
    s = instant.subflows
    rows = tuple(
        (
            name,
            s.state[index],
            _number(s.cwnd_pkts[index]),
            _number(s.ssthresh_pkts[index]),
            _number(s.inflight_pkts[index]),
            *(_number(values[index] * 1e3) for values in (s.srtt_s, s.min_rtt_s, s.rto_s)),
            _number(s.pacing_rate_bps[index] / 1e6),
        )
        for index, name in enumerate(s.names)
    )
    return TextTable("Subflows", columns, rows)


def _link_table(instant: Instant) -> TextTable:
    columns = (
        TextColumn("Link", is_number=False),
        TextColumn("State", is_number=False),
        TextColumn("Queue", "pkt"),
        TextColumn("Queue", "B"),
        TextColumn("Data", "on the wire"),
        TextColumn("ACKs", "on the wire"),
        TextColumn("Datagrams", "on the wire"),
        TextColumn("Delivered", "pkt"),
        TextColumn("Dropped", "pkt"),
    )
    links, on_wire = instant.links, packets_on_wire(instant)
    rows = tuple(
        (
            name,
            "up" if links.is_up[index] else "down",
            count_text(int(links.queue_pkts[index])),
            count_text(int(links.queue_bytes[index])),
            *map(count_text, on_wire[index]),
            count_text(int(links.delivered_pkts[index])),
            count_text(int(links.dropped_pkts[index])),
        )
        for index, name in enumerate(links.names)
    )
    return TextTable("Links", columns, rows)


def _flow_table(instant: Instant) -> TextTable:
    columns = (
        TextColumn("Flow", is_number=False),
        TextColumn("Active", is_number=False),
        TextColumn("Delivered", "B"),
        TextColumn("Waits for earlier data", "B"),
    )
    flows = instant.flows
    rows = tuple(
        (
            name,
            "yes" if flows.is_active[index] else "no",
            count_text(int(flows.delivered_bytes[index])),
            count_text(int(flows.reorder_queue_bytes[index])),
        )
        for index, name in enumerate(flows.names)
    )
    return TextTable("Flows", columns, rows)


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else NOTHING


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None
