"""The summary document of a run as tables of text, for the terminal and the window alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from subflow_app.core.number_text import (
    NOTHING,
    count_text,
    duration_text,
    finite,
    fixed_text,
    mbit_text,
    milliseconds_text,
    percent_text,
)
from subflow_app.core.tables import TextColumn, TextTable
from subflow_app.core.traces import path_label

if TYPE_CHECKING:
    from subflow_sim.limits import Estimate

_CONNECTION_FIGURES = ("reinjections", "duplicates", "mean_hol_blocking_s", "max_reorder_queue_bytes")


def summary_tables(summary: Mapping[str, Any]) -> list[TextTable]:
    """Tables of a summary document: flows with their subflows, what is told of those with several, then links.

    Missing figures show as a dash.
    """
    connections = connection_table(summary)
    return [flow_table(summary), *([connections] if connections.rows else []), link_table(summary)]


def summary_line(summary: Mapping[str, Any]) -> str:
    """One line with what was simulated and how fast, e.g. ``60 s simulated in 0.41 s, 123 456 packets, seed 1``."""
    simulated_s = summary.get("simulated_s", summary.get("duration_s"))
    parts = [f"{duration_text(simulated_s)} simulated in {duration_text(summary.get('wall_s'))}"]
    if "packets" in summary:
        parts.append(f"{count_text(summary['packets'])} packets")
    parts.append(f"seed {summary.get('seed', NOTHING)}")
    if summary.get("warmup_s"):
        parts.append(f"the first {duration_text(summary['warmup_s'])} not counted")
    if (jain := finite((summary.get("fairness") or {}).get("jain"))) is not None and len(summary.get("flows", ())) > 1:
        parts.append(f"Jain index {jain:.3f}")
    return ", ".join(parts)


def estimate_lines(told: Estimate) -> list[str]:
    """What a run would take, in two sentences."""
    from subflow_sim.limits import bytes_text

    busiest = f", most of them of flow '{told.busiest_flow}'" if told.busiest_flow else ""
    decisions = f"{bytes_text(told.decision_bytes)} decisions at most, " if told.decision_bytes else ""
    fullest = f" (most for {told.fullest})" if told.fullest else ""
    return [
        f"About {count_text(told.link_crossings)} events (packets that cross a link){busiest}.",
        f"About {bytes_text(told.memory_bytes)} of memory: {bytes_text(told.trace_bytes)} traces ({told.columns} "
        f"columns of {told.samples} samples), {bytes_text(told.packet_bytes)} packets{fullest}, "
        f"{decisions}{bytes_text(told.object_bytes)} the rest.",
    ]


def flow_table(summary: Mapping[str, Any]) -> TextTable:
    """One row per flow, and below it one per subflow if there is more than one."""
    columns = (
        TextColumn("Flow", is_number=False),
        TextColumn("Controller", is_number=False),
        TextColumn("Goodput", "Mbit/s"),
        TextColumn("cwnd", "pkt"),
        TextColumn("RTT", "ms"),
        TextColumn("RTT p95", "ms"),
        TextColumn("Loss", "%"),
        TextColumn("Retransmissions", "pkt"),
        TextColumn("Done at", "s"),
    )
    rows: list[tuple[str, ...]] = []
    for flow in summary.get("flows", ()):
        subflows = flow.get("subflows", ())
        only = subflows[0] if len(subflows) == 1 else {}
        rows.append(
            (
                str(flow["name"]),
                str(flow.get("controller") or flow.get("kind", "")),
                mbit_text(flow.get("goodput_bps")),
                fixed_text(only.get("mean_cwnd_pkts"), 1),
                milliseconds_text(flow.get("mean_rtt_s")),
                milliseconds_text(flow.get("p95_rtt_s")),
                percent_text(flow.get("loss_ratio")),
                count_text(flow.get("retransmits")),
                fixed_text(flow.get("completion_s"), 3),
            )
        )
        if len(subflows) > 1:
            rows.extend(_subflow_row(subflow) for subflow in subflows)
    return TextTable("Flows", columns, tuple(rows))


def connection_table(summary: Mapping[str, Any]) -> TextTable:
    """How the flows with several subflows shared their packets out, and what that cost at the receiver.

    Flows of which none of it is known, as in runs of older versions, are left out.
    """
    columns = (
        TextColumn("Multipath flow", is_number=False),
        TextColumn("Share", "%"),
        TextColumn("Reinjected", "pkt"),
        TextColumn("Duplicates", "pkt"),
        TextColumn("HoL blocking", "mean ms"),
        TextColumn("Reorder queue", "max kB"),
    )
    rows: list[tuple[str, ...]] = []
    for flow in summary.get("flows", ()):
        subflows = flow.get("subflows", ())
        if len(subflows) < 2 or all(finite(flow.get(name)) is None for name in _CONNECTION_FIGURES):
            continue
        rows.append(
            (
                str(flow["name"]),
                "",
                count_text(flow.get("reinjections")),
                count_text(flow.get("duplicates")),
                milliseconds_text(flow.get("mean_hol_blocking_s")),
                fixed_text(flow.get("max_reorder_queue_bytes"), 1, 1e-3),
            )
        )
        rows.extend((_path_cell(each), percent_text(each.get("schedule_share")), *("",) * 4) for each in subflows)
    return TextTable("Connections", columns, tuple(rows))


def link_table(summary: Mapping[str, Any]) -> TextTable:
    """One row per link direction that mattered; drops while a link was down have a column only where there are any.

    Idle directions (access links, the way back of ACKs) are counted in the title: twenty rows of zeros hide the
    bottleneck. If all are idle, all are shown.
    """
    all_links = summary.get("links", ())
    links = [link for link in all_links if not _is_idle(link)] or all_links
    left_out = len(all_links) - len(links)
    noun = "direction" if left_out == 1 else "directions"
    title = f"Links (left out: {left_out} {noun} without drops, used less than 1 %)" if left_out else "Links"
    columns = (
        TextColumn("Link", is_number=False),
        TextColumn("Direction", is_number=False),
        TextColumn("Used", "%"),
        TextColumn("Queue", "mean pkt"),
        TextColumn("Queue", "max pkt"),
        TextColumn("Drops", "queue pkt"),
        TextColumn("Drops", "random pkt"),
    )
    rows = [
        (
            str(link["name"]),
            str(link["direction"]),
            percent_text(link.get("utilisation")),
            fixed_text(link.get("mean_queue_pkts"), 1),
            count_text(link.get("max_queue_pkts")),
            count_text(link.get("drops_queue")),
            count_text(link.get("drops_random")),
        )
        for link in links
    ]
    if any(link.get("drops_down") for link in links):
        down = [(count_text(link.get("drops_down")),) for link in links]
        return TextTable(
            title,
            (*columns, TextColumn("Drops", "down pkt")),
            tuple(row + more for row, more in zip(rows, down, strict=True)),
        )
    return TextTable(title, columns, tuple(rows))


def _is_idle(link: Mapping[str, Any]) -> bool:
    drops = sum(finite(link.get(name)) or 0.0 for name in ("drops_queue", "drops_random", "drops_down"))
    return not drops and (finite(link.get("utilisation")) or 0.0) < 0.01


def _subflow_row(subflow: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        _path_cell(subflow),
        "",
        mbit_text(subflow.get("goodput_bps")),
        fixed_text(subflow.get("mean_cwnd_pkts"), 1),
        milliseconds_text(subflow.get("mean_rtt_s")),
        "",
        percent_text(subflow.get("loss_ratio")),
        "",
        "",
    )


def _path_cell(subflow: Mapping[str, Any]) -> str:
    return f"  · {path_label(subflow.get('path', ()))}"
