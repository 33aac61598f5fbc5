"""Formats the summary document of a run as tables of text, for the terminal and the window."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from subflow_app.features.traces.core.traces import path_label
from subflow_app.vocabulary.impossible import Impossible, impossible_values
from subflow_app.vocabulary.link_ways import way_of
from subflow_app.vocabulary.measures import MEASURES, flow_kind
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

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario

_DROPS = ("drops_queue", "drops_random", "drops_down", "drops_scripted")
_DELAYS = (
    *("mean_one_way_delay_s", "p95_one_way_delay_s", "max_one_way_delay_s", "mean_jitter_s"),
    *("reordered_ratio", "max_reorder_extent_pkts", "mean_ack_delay_s", "max_ack_delay_s"),
)
_CONNECTION_FIGURES = ("reinjections", "duplicates", "mean_hol_blocking_s", "max_reorder_queue_bytes")


def summary_tables(summary: Mapping[str, Any], scenario: Scenario | None = None) -> list[TextTable]:
    """Tables of a summary document: flows with their subflows, connections with several subflows, delays, then links.

    A dash replaces missing values. Impossible values, e.g. of a damaged or imported run, appear in a separate table.
    """
    tables = [flow_table(summary), link_table(summary, scenario)]
    if (connections := connection_table(summary)).rows:
        tables.insert(1, connections)
    if (delays := delay_table(summary)).rows:
        tables.insert(-1, delays)
    if (impossible := impossible_table(summary)).rows:
        tables.append(impossible)
    return tables


def summary_line(summary: Mapping[str, Any]) -> str:
    """One line about size and speed of the run, e.g. ``60 s simulated in 0.41 s, 123 456 packets, seed 1``."""
    simulated_s = summary.get("simulated_s", summary.get("duration_s"))
    if summary.get("profile") in ("kernel", "emulated"):
        parts = [f"{duration_text(simulated_s)} in real time"]
    else:
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
    """A row for a flow or for one of its subflows."""

    name: str
    of: Mapping[str, Any]
    subflows: Sequence[Mapping[str, Any]] | None  # None for the row of a subflow
    flow: Mapping[str, Any]

    def text(self, key: str, show: Callable[[Any], str]) -> str:
        """Text of a value of a flow; empty for a subflow."""
        return "" if self.subflows is None else show(self.of.get(key))

    def active_goodput_bps(self, span_s: float) -> float | None:
        """The goodput of a flow or subflow over the active time of the flow, bit/s; None if unknown.

        Args:
            span_s: length of the measured interval, s.
        """
        if self.subflows is not None:
            return finite(self.flow.get("active_goodput_bps"))
        goodput_bps, active_s = finite(self.of.get("goodput_bps")), finite(self.flow.get("active_s"))
        return None if goodput_bps is None or not active_s else finite(goodput_bps * span_s / active_s)


def _lines(flows: Iterable[Mapping[str, Any]]) -> Iterator[_Line]:
    for flow in flows:
        subflows = flow.get("subflows", ())
        yield _Line(readable_line(str(flow["name"])), flow, subflows, flow)
        if len(subflows) > 1:
            yield from (_Line(f"  · {path_label(each.get('path', ()))}", each, None, flow) for each in subflows)


def flow_table(summary: Mapping[str, Any]) -> TextTable:
    """Table with one row per flow, followed by one row per subflow if the flow has more than one.

    A flow with a size shows its completion time and its goodput while active; a flow without a size shows its goodput
    after the warm-up. A run with flows of both kinds has the columns of both.
    """
    flows = summary.get("flows", ())
    kinds = {flow_kind(flow) for flow in flows}
    lines = list(_lines(flows))
    columns: list[Column[_Line]] = [Column("Flow", lambda line: line.name), Column("Controller", _controller)]
    if "sized" in kinds:
        span_s = _measured_s(summary)
        columns += [
            NumberColumn("Took", lambda line: line.text("completion_s", MEASURES["completion_s"].text), unit="s"),
            NumberColumn("Goodput", lambda line: line.active_goodput_bps(span_s), mbit_text, "active Mbit/s"),
        ]
    if kinds != {"sized"}:
        columns.append(_column("goodput_bps"))
    columns += [
        _window_column(),
        _column("mean_rtt_s"),
        _flow_column("p95_rtt_s", milliseconds_text),
        NumberColumn("Loss", lambda line: line.of.get("loss_ratio"), percent_text, "% of sent"),
        _flow_column("retransmits", count_text),
    ]
    if any(line.of.get("marked_packets") for line in lines):
        columns.insert(-1, NumberColumn("Marked", lambda line: line.of.get("marked_packets"), count_text, "pkt"))
    if "sized" in kinds:
        columns.append(NumberColumn("Done at", _done_at, unit="s"))
    return TextTable.of(lines, columns, "Flows")


def _column(key: str) -> Column[_Line]:
    return MEASURES[key].column(lambda line: finite(line.of.get(key)))


def _flow_column(key: str, show: Callable[[object], str]) -> Column[_Line]:
    """A measure that only flows have; the cells of subflows are empty."""
    shown = MEASURES[key]
    return NumberColumn(shown.heading, lambda line: line.text(key, show), unit=shown.unit)


def _window_column() -> Column[_Line]:
    return MEASURES["mean_cwnd_pkts"].column(lambda line: finite(_window(line)))


def done_at_s(flow: Mapping[str, Any]) -> float | None:
    """Time at which the transfer of a flow was complete, s; None while unknown."""
    start_s, took_s = finite(flow.get("start_s")), finite(flow.get("completion_s"))
    return None if start_s is None or took_s is None else start_s + took_s


def _done_at(line: _Line) -> str:
    return "" if line.subflows is None else fixed(3)(done_at_s(line.of))


def _measured_s(summary: Mapping[str, Any]) -> float:
    """Length of the measured interval, s; NaN if unknown."""
    end_s = finite(summary.get("simulated_s", summary.get("duration_s")))
    return math.nan if end_s is None else end_s - (finite(summary.get("warmup_s")) or 0.0)


def _controller(line: _Line) -> str:
    return "" if line.subflows is None else str(line.of.get("controller") or line.of.get("kind", ""))


def _window(line: _Line) -> object:
    """The mean window of a subflow, or of a flow with one subflow; None for a flow with several."""
    if line.subflows is None:
        return _mean_window(line.of)
    return _mean_window(line.subflows[0]) if len(line.subflows) == 1 else None


def _mean_window(subflow: Mapping[str, Any]) -> object:
    """The mean window while the flow was active; older versions stored the mean over the established time."""
    return subflow.get("active_mean_cwnd_pkts", subflow.get("mean_cwnd_pkts"))


def connection_table(summary: Mapping[str, Any]) -> TextTable:
    """Table of the distribution of packets over the subflows of multipath flows, and of its cost at the receiver.

    Flows without these figures (in runs of older versions) are omitted.
    """
    flows = [
        flow
        for flow in summary.get("flows", ())
        if len(flow.get("subflows", ())) > 1 and any(finite(flow.get(name)) is not None for name in _CONNECTION_FIGURES)
    ]
    columns: tuple[Column[_Line], ...] = (
        Column("Multipath flow", lambda line: line.name),
        NumberColumn(
            "Share",
            lambda line: percent_text(line.of.get("schedule_share")) if line.subflows is None else "",
            unit="% of packets",
        ),
        NumberColumn("Reinjected", lambda line: line.text("reinjections", count_text), unit="pkt"),
        NumberColumn("Duplicates", lambda line: line.text("duplicates", count_text), unit="pkt"),
        NumberColumn("HoL blocking", lambda line: line.text("mean_hol_blocking_s", milliseconds_text), unit="mean ms"),
        NumberColumn("Reorder queue", lambda line: line.text("max_reorder_queue_bytes", fixed(1, 1e-3)), unit="max kB"),
    )
    return TextTable.of(_lines(flows), columns, "Connections")


def delay_table(summary: Mapping[str, Any]) -> TextTable:
    """One-way delays, jitter and reordering of the flows that measure them, and of their subflows."""
    flows = [flow for flow in summary.get("flows", ()) if "mean_one_way_delay_s" in flow]
    columns: tuple[Column[_Line], ...] = (
        Column("Delays of", lambda line: line.name),
        *(_column(key) for key in _DELAYS),
    )
    return TextTable.of(_lines(flows), columns, "Delays")


def impossible_table(summary: Mapping[str, Any]) -> TextTable:
    """The values of a summary that lie outside the range of their measure."""
    columns: tuple[Column[Impossible], ...] = (
        Column("Number", lambda each: each.key),
        NumberColumn("Value", lambda each: f"{each.value:.6g}"),
        NumberColumn("Possible", lambda each: each.allowed),
    )
    return TextTable.of(impossible_values(summary), columns, "Impossible numbers")


def link_table(summary: Mapping[str, Any], scenario: Scenario | None = None) -> TextTable:
    """Table with one row per relevant link direction, which is named by what it carries if the scenario is given.

    Rare kinds of drops have columns only if they occur.
    Idle directions (access links, the reverse path of ACKs) are only counted in the title, because many rows of zeros
    would hide the bottleneck. If all directions are idle, the table shows all of them.
    """
    all_links = summary.get("links", ())
    links = [link for link in all_links if not _is_idle(link)] or all_links
    left_out = len(all_links) - len(links)
    text = f" (left out: {counted(left_out, 'direction')} without drops, used less than 1 %)" if left_out else ""
    columns: list[Column[Mapping[str, Any]]] = [
        Column("Link", lambda link: readable_line(str(link["name"]))),
        Column("Direction", lambda link: way_of(scenario, link["name"], link["direction"]) or link["direction"]),
        NumberColumn("Used", lambda link: link.get("utilisation"), percent_text, "% of time"),
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
    return TextTable.of(links, columns, f"Links{text}")


def _is_idle(link: Mapping[str, Any]) -> bool:
    drops = sum(finite(link.get(name)) or 0.0 for name in _DROPS)
    return not drops and (finite(link.get("utilisation")) or 0.0) < 0.01
