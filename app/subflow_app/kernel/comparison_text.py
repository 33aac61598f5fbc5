"""A comparison as tables of text: simulated beside measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from subflow_app.core.number_text import NOTHING, duration_text
from subflow_app.core.text_table import TextColumn, TextTable
from subflow_app.core.traces import path_label
from subflow_app.kernel.compare import TARGET

_MBIT, _MS = 1e-6, 1e3

_FIGURE_COLUMNS = (
    TextColumn("Goodput", "sim Mbit/s"),
    TextColumn("", "kernel"),
    TextColumn("", "diff %"),
    TextColumn("", "kernel range"),
    TextColumn("RTT", "sim ms"),
    TextColumn("", "kernel"),
    TextColumn("cwnd", "sim pkt"),
    TextColumn("", "kernel"),
    TextColumn("Retransmissions", "sim pkt"),
    TextColumn("", "kernel"),
    TextColumn("RTOs", "sim"),
    TextColumn("", "kernel"),
)


def comparison_table(document: Mapping[str, Any]) -> TextTable:
    """One row per flow, and below it one per subflow if there is more than one."""
    rows: list[tuple[str, ...]] = []
    for flow in document["flows"]:
        subflows = flow["subflows"]
        rows.append((str(flow["name"]), str(flow["controller"]), *_cells(flow, subflows)))
        if len(subflows) > 1:
            rows.extend((f"  · {path_label(one['path'])}", "", *_cells(one, [one])) for one in subflows)
    columns = (TextColumn("Flow", is_number=False), TextColumn("Controller", is_number=False), *_FIGURE_COLUMNS)
    return TextTable("", columns, tuple(rows))


def grid_table(documents: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row per case, its flows summed up in the first (cases of the grid have one flow)."""
    rows = []
    for document in documents:
        flow = document["flows"][0]
        late = "late" if document["is_late"] else ""
        rows.append((str(document["scenario"]), *_cells(flow, flow["subflows"]), late))
    return TextTable("", (TextColumn("Case", is_number=False), *_FIGURE_COLUMNS, TextColumn("Flag")), tuple(rows))


def grid_verdict(documents: Sequence[Mapping[str, Any]]) -> str:
    """How many cases are within the target, and the worst one."""
    differences = [
        (abs(flow["goodput_bps"]["difference"]), str(document["scenario"]))
        for document in documents
        for flow in document["flows"]
        if flow["goodput_bps"]["difference"] is not None
    ]
    if not differences:
        return "no case has a goodput to compare"
    within = sum(size <= TARGET for size, _ in differences)
    size, name = max(differences)
    return (
        f"{within} of {len(differences)} within {TARGET * 100:.0f} % of the kernel's goodput;"
        f" furthest off by {size * 100:.1f} %: {name}"
    )


def comparison_line(document: Mapping[str, Any], release: str) -> str:
    """What was run, and how well the emulator kept time."""
    late = document["lateness"]
    flag = "; TOO LATE to be trusted, run it on a quieter machine" if document["is_late"] else ""
    seeds = document["seeds"]
    return (
        f"{duration_text(document['duration_s'])}, {len(seeds)} simulations, {document['repetitions']} runs on Linux"
        f" {release}; emulator late by {_lateness(late['p50_s'])} (median), {_lateness(late['p99_s'])} (p99),"
        f" {_lateness(late['max_s'])} (max){flag}"
    )


def _cells(entry: Mapping[str, Any], subflows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    goodput, rtt = entry["goodput_bps"], entry["mean_rtt_s"]
    cwnd = subflows[0]["mean_cwnd_pkts"] if len(subflows) == 1 else None
    return (
        _text(goodput["simulated"]["mean"], _MBIT, 3),
        _text(goodput["kernel"]["mean"], _MBIT, 3),
        _signed_percent(goodput["difference"]),
        f"{_text(goodput['kernel']['min'], _MBIT, 2)}…{_text(goodput['kernel']['max'], _MBIT, 2)}",
        _text(rtt["simulated"]["mean"], _MS, 1),
        _text(rtt["kernel"]["mean"], _MS, 1),
        _text(cwnd["simulated"]["mean"] if cwnd else None, 1, 1),
        _text(cwnd["kernel"]["mean"] if cwnd else None, 1, 1),
        _text(entry["retransmits"]["simulated"]["mean"], 1, 0),
        _text(entry["retransmits"]["kernel"]["mean"], 1, 0),
        _text(_total(subflows, "simulated"), 1, 1),
        _text(_total(subflows, "kernel"), 1, 1),
    )


def _total(subflows: Sequence[Mapping[str, Any]], side: str) -> float | None:
    """Timeouts of all subflows together."""
    means = [subflow["timeouts"][side]["mean"] for subflow in subflows]
    return None if any(mean is None for mean in means) else sum(means)


def _text(value: float | None, scale: float, decimals: int) -> str:
    return NOTHING if value is None else f"{value * scale:.{decimals}f}"


def _signed_percent(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio * 100:+.1f}"


def _lateness(time_s: float) -> str:
    return f"{time_s * _MS:.2f} ms"
