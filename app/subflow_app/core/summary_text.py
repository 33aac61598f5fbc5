"""The summary document of a run as tables of text, for the terminal and the window alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from subflow_app.core.traces import path_label
from subflow_app.vocabulary.number_text import (
    NOTHING,
    count_text,
    counted,
    duration_text,
    finite,
    fixed,
    mbit_text,
    milliseconds_text,
    percent_text,
)
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

_DROPS = ("drops_queue", "drops_random", "drops_down", "drops_scripted")
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


class _Line(NamedTuple):
    """A flow, or one of its subflows below it."""

    name: str
    of: Mapping[str, Any]
    subflows: Sequence[Mapping[str, Any]] | None = None  # of a flow

    def text(self, key: str, show: Callable[[object], str]) -> str:
        """Of a flow; nothing is told of its subflows."""
        return "" if self.subflows is None else show(self.of.get(key))


def _lines(flows: Iterable[Mapping[str, Any]]) -> Iterator[_Line]:
    for flow in flows:
        subflows = flow.get("subflows", ())
        yield _Line(readable_line(str(flow["name"])), flow, subflows)
        if len(subflows) > 1:
            yield from (_Line(f"  · {path_label(each.get('path', ()))}", each) for each in subflows)


def flow_table(summary: Mapping[str, Any]) -> TextTable:
    """One row per flow, and below it one per subflow if there is more than one."""
    lines = list(_lines(summary.get("flows", ())))
    columns: list[Column[_Line]] = [
        Column("Flow", lambda line: line.name),
        Column("Controller", _controller),
        NumberColumn("Goodput", lambda line: line.of.get("goodput_bps"), mbit_text, "Mbit/s"),
        NumberColumn("cwnd", _window, fixed(1), "pkt"),
        NumberColumn("RTT", lambda line: line.of.get("mean_rtt_s"), milliseconds_text, "ms"),
        NumberColumn("RTT p95", lambda line: line.text("p95_rtt_s", milliseconds_text), unit="ms"),
        NumberColumn("Loss", lambda line: line.of.get("loss_ratio"), percent_text, "%"),
        NumberColumn("Retransmissions", lambda line: line.text("retransmits", count_text), unit="pkt"),
        NumberColumn("Done at", lambda line: line.text("completion_s", fixed(3)), unit="s"),
    ]
    if any(line.of.get("marked_packets") for line in lines):
        columns.insert(-2, NumberColumn("Marked", lambda line: line.of.get("marked_packets"), count_text, "pkt"))
    return TextTable.of(lines, columns, "Flows")


def _controller(line: _Line) -> str:
    return "" if line.subflows is None else str(line.of.get("controller") or line.of.get("kind", ""))


def _window(line: _Line) -> object:
    """That of a subflow, or of a flow with one alone."""
    if line.subflows is None:
        return line.of.get("mean_cwnd_pkts")
    return line.subflows[0].get("mean_cwnd_pkts") if len(line.subflows) == 1 else None


def connection_table(summary: Mapping[str, Any]) -> TextTable:
    """How the flows with several subflows shared their packets out, and what that cost at the receiver.

    Flows of which none of it is known, as in runs of older versions, are left out.
    """
    flows = [
        flow
        for flow in summary.get("flows", ())
        if len(flow.get("subflows", ())) > 1 and any(finite(flow.get(name)) is not None for name in _CONNECTION_FIGURES)
    ]
    columns: tuple[Column[_Line], ...] = (
        Column("Multipath flow", lambda line: line.name),
        NumberColumn(
            "Share", lambda line: percent_text(line.of.get("schedule_share")) if line.subflows is None else "", unit="%"
        ),
        NumberColumn("Reinjected", lambda line: line.text("reinjections", count_text), unit="pkt"),
        NumberColumn("Duplicates", lambda line: line.text("duplicates", count_text), unit="pkt"),
        NumberColumn("HoL blocking", lambda line: line.text("mean_hol_blocking_s", milliseconds_text), unit="mean ms"),
        NumberColumn("Reorder queue", lambda line: line.text("max_reorder_queue_bytes", fixed(1, 1e-3)), unit="max kB"),
    )
    return TextTable.of(_lines(flows), columns, "Connections")


def link_table(summary: Mapping[str, Any]) -> TextTable:
    """One row per link direction that mattered; drops of rare kinds have a column only where there are any.

    Idle directions (access links, the way back of ACKs) are counted in the title: twenty rows of zeros hide the
    bottleneck. If all are idle, all are shown.
    """
    all_links = summary.get("links", ())
    links = [link for link in all_links if not _is_idle(link)] or all_links
    left_out = len(all_links) - len(links)
    told = f" (left out: {counted(left_out, 'direction')} without drops, used less than 1 %)" if left_out else ""
    columns: list[Column[Mapping[str, Any]]] = [
        Column("Link", lambda link: readable_line(str(link["name"]))),
        Column("Direction", lambda link: link["direction"]),
        NumberColumn("Used", lambda link: link.get("utilisation"), percent_text, "%"),
        NumberColumn("Queue", lambda link: link.get("mean_queue_pkts"), fixed(1), "mean pkt"),
        NumberColumn("Queue", lambda link: link.get("max_queue_pkts"), count_text, "max pkt"),
        NumberColumn("Drops", lambda link: link.get("drops_queue"), count_text, "queue pkt"),
        NumberColumn("Drops", lambda link: link.get("drops_random"), count_text, "random pkt"),
    ]
    if any(link.get("drops_down") for link in links):
        columns.append(NumberColumn("Drops", lambda link: link.get("drops_down"), count_text, "down pkt"))
    if any(link.get("drops_scripted") for link in links):
        columns.append(NumberColumn("Drops", lambda link: link.get("drops_scripted"), count_text, "script pkt"))
    if any(link.get("marks") for link in links):
        columns.append(NumberColumn("Marked", lambda link: link.get("marks"), count_text, "pkt"))
    return TextTable.of(links, columns, f"Links{told}")


def _is_idle(link: Mapping[str, Any]) -> bool:
    drops = sum(finite(link.get(name)) or 0.0 for name in _DROPS)
    return not drops and (finite(link.get("utilisation")) or 0.0) < 0.01
