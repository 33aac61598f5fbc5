"""Formats comparisons as tables and lines of text, with simulated values next to measured values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from subflow_app.features.kernel.core.compare import TARGETS, Target, deviations
from subflow_app.features.traces.core.traces import path_label
from subflow_app.vocabulary.measures import MEASURES, rate_measure
from subflow_app.vocabulary.number_text import duration_text, fixed_text, signed_percent_text
from subflow_app.vocabulary.tables import TextColumn, TextTable, text_columns

_MBIT, _MS = 1e-6, 1e3
_ABSENT: Mapping[str, Any] = {"simulated": {"mean": None}, "kernel": {"mean": None}, "difference": None}

_FIGURE_COLUMNS = (
    TextColumn("Goodput", "sim Mbit/s"),
    TextColumn("", "kernel"),
    TextColumn("", "diff %"),
    TextColumn("", "kernel range"),
    TextColumn("Completion", "sim s"),
    TextColumn("", "kernel"),
    TextColumn("", "diff %"),
    TextColumn("RTT", "sim ms"),
    TextColumn("", "kernel"),
    TextColumn("cwnd", "sim pkt"),
    TextColumn("", "kernel"),
    TextColumn("Retransmissions", "sim pkt"),
    TextColumn("", "kernel"),
    TextColumn("RTOs", "sim"),
    TextColumn("", "kernel"),
)
_DROP_COLUMNS = (TextColumn("Drops", "sim pkt"), TextColumn("", "kernel"))


def comparison_table(document: Mapping[str, Any]) -> TextTable:
    """Table with one row per flow, followed by one row per subflow if the flow has several."""
    rows: list[tuple[str, ...]] = []
    for flow in document["flows"]:
        subflows = flow["subflows"]
        rows.append((str(flow["name"]), str(flow["controller"]), *_cells(flow, subflows)))
        if len(subflows) > 1:
            rows.extend((f"  · {path_label(one['path'])}", "", *_cells(one, [one])) for one in subflows)
    columns = (*text_columns("Flow", "Controller"), *_columns(document["flows"]))
    return TextTable("", columns, tuple(rows))


def grid_table(documents: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row per case, with its first flow (cases of the grid have one flow), all its drops and its missed targets."""
    rows = []
    for document in documents:
        flow = document["flows"][0]
        missed = [target.text for target, size in deviations(flow).items() if size > target.most]
        flags = ", ".join([*(["late"] if document["is_late"] else []), *missed])
        drops = (_whole_text(document["drops"], side) for side in ("simulated", "kernel"))
        rows.append((str(document["scenario"]), *_cells(flow, flow["subflows"]), *drops, flags))
    return TextTable(
        "",
        (
            *text_columns("Case"),
            *_columns(document["flows"][0] for document in documents),
            *_DROP_COLUMNS,
            TextColumn("Flags"),
        ),
        tuple(rows),
    )


def grid_verdict(documents: Sequence[Mapping[str, Any]]) -> str:
    """A line per target: number of cases that meet it, and the worst case."""
    found: dict[Target, list[tuple[float, str]]] = {target: [] for target in TARGETS}
    for document in documents:
        for flow in document["flows"]:
            for target, size in deviations(flow).items():
                found[target].append((size, str(document["scenario"])))
    lines = [_verdict(target, sizes) for target, sizes in found.items() if sizes]
    return "\n".join(lines) or "no case has a goodput to compare"


def _verdict(target: Target, sizes: Sequence[tuple[float, str]]) -> str:
    """A sentence about one target, from pairs (deviation, case)."""
    size, name = max(sizes)
    within = sum(size <= target.most for size, _ in sizes)
    return (
        f"{within} of {len(sizes)} within {_deviation_text(target, target.most)} of the kernel's {target.text};"
        f" furthest off by {_deviation_text(target, size)}: {name}"
    )


def _deviation_text(target: Target, size: float) -> str:
    if target.is_factor:
        return f"a factor of {1 + size:.1f}" if size < math.inf else "an infinite factor (zero on one side)"
    return f"{size * 100:.0f} %" if size == target.most else f"{size * 100:.1f} %"


def comparison_line(document: Mapping[str, Any], release: str) -> str:
    """One line with the number of runs on each side, and the lateness of the emulator."""
    late = document["lateness"]
    flag = "; TOO LATE to be trusted, run it on a quieter machine" if document["is_late"] else ""
    seeds = document["seeds"]
    return (
        f"{duration_text(document['duration_s'])}, {len(seeds)} simulations, {document['repetitions']} runs on Linux"
        f" {release}; emulator late by {_lateness(late['p50_s'])} (median), {_lateness(late['p99_s'])} (p99),"
        f" {_lateness(late['max_s'])} (max){flag}"
    )


def _cells(entry: Mapping[str, Any], subflows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    goodput, rtt = entry[_rate_key(entry)], entry["mean_rtt_s"]
    completion = entry.get("completion_s", _ABSENT)  # absent for a subflow
    cwnd = subflows[0]["mean_cwnd_pkts"] if len(subflows) == 1 else None
    return (
        fixed_text(goodput["simulated"]["mean"], 3, _MBIT),
        fixed_text(goodput["kernel"]["mean"], 3, _MBIT),
        signed_percent_text(goodput["difference"]),
        f"{fixed_text(goodput['kernel']['min'], 2, _MBIT)}…{fixed_text(goodput['kernel']['max'], 2, _MBIT)}",
        fixed_text(completion["simulated"]["mean"], 3),
        fixed_text(completion["kernel"]["mean"], 3),
        signed_percent_text(completion["difference"]),
        fixed_text(rtt["simulated"]["mean"], 1, _MS),
        fixed_text(rtt["kernel"]["mean"], 1, _MS),
        fixed_text(cwnd["simulated"]["mean"] if cwnd else None, 1),
        fixed_text(cwnd["kernel"]["mean"] if cwnd else None, 1),
        _whole_text(entry["retransmits"], "simulated"),
        _whole_text(entry["retransmits"], "kernel"),
        fixed_text(_total(subflows, "simulated"), 1),
        fixed_text(_total(subflows, "kernel"), 1),
    )


def _rate_key(entry: Mapping[str, Any]) -> str:
    """Key of the rate in the table: goodput while active for flows with a size, otherwise goodput."""
    return rate_measure(entry).key if entry.get("size_bytes") is not None else "goodput_bps"


def _columns(flows: Iterable[Mapping[str, Any]]) -> tuple[TextColumn, ...]:
    """The columns of measures; the heading of the first names the rates shown."""
    titles = dict.fromkeys(MEASURES[_rate_key(flow)].title for flow in flows)
    return (replace(_FIGURE_COLUMNS[0], title=" / ".join(titles)), *_FIGURE_COLUMNS[1:])


def _whole_text(figure: Mapping[str, Any], side: str) -> str:
    return fixed_text(figure[side]["mean"], 0)


def _total(subflows: Sequence[Mapping[str, Any]], side: str) -> float | None:
    """Sum of the subflows' mean numbers of timeouts; None if any of them is unknown."""
    means = [subflow["timeouts"][side]["mean"] for subflow in subflows]
    return None if any(mean is None for mean in means) else sum(means)


def _lateness(time_s: float) -> str:
    return f"{time_s * _MS:.2f} ms"
