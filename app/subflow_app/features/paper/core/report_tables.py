"""Tables of a report: parameters of a scenario, and comparisons of runs."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from subflow_app.features.comparison.core.conditions import copies_among
from subflow_app.features.editor.core.event_words import change_words, entry_of
from subflow_app.features.history.core.run_columns import totals_of
from subflow_app.features.traces.core.traces import Traces, path_label
from subflow_app.vocabulary.link_ways import way_of
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import RUN_MEASURES, headline_measures
from subflow_app.vocabulary.number_text import NOTHING, count_text, duration_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable, text_columns
from subflow_sim.scenario import Flow, Link, LinkDirection, QueueSpec, Scenario
from subflow_sim.stats import Estimate
from subflow_sim.units import Dimension, format_quantity
from subflow_store.values import RunRow

UNLIMITED = "unlimited"


@dataclass(frozen=True, slots=True, eq=False)
class ReportRun:
    """A run with the data that a report needs.

    Attributes:
        row: stored data of the run, with scenario text and summary.
        traces: samples of the run.
        scenario: the scenario; None if this version of Subflow cannot read it.
    """

    row: RunRow
    traces: Traces
    scenario: Scenario | None

    @property
    def summary(self) -> Mapping[str, Any]:
        """The summary document; empty if the run ended without one."""
        return self.row.summary or {}


def _headline(runs: Iterable[ReportRun]) -> list[Measure]:
    """Measures of whole runs that correspond to the headline measures of flows, followed by the weighted RTT."""
    keys = [each.of_run for each in headline_measures(flow for run in runs for flow in _flows(run))]
    return [RUN_MEASURES[key] for key in (*keys, "weighted_rtt_s")]


def _figure(run: ReportRun, key: str) -> float | None:
    """A measure of all flows together, SI, from the summary or else from the row of the run; None if unknown."""
    return totals_of(run.row).get(key, _RECORDED[key](run.row) if key in _RECORDED else None)


_RECORDED: Mapping[str, Callable[[RunRow], float | None]] = {
    "goodput_bps": lambda row: row.goodput_bps,
    "weighted_rtt_s": lambda row: row.mean_rtt_s,
    "jain": lambda row: row.jain,
}


def run_table(runs: Sequence[ReportRun]) -> TextTable:
    """One row per run with its identity and headline measures."""
    simulated = RUN_MEASURES["simulated_s"]
    columns: tuple[Column[ReportRun], ...] = (
        NumberColumn("Run", lambda run: run.row.id),
        Column("Name", lambda run: run.row.name),
        Column("Controllers", lambda run: run.row.controllers or NOTHING),
        NumberColumn("Seed", lambda run: run.row.seed),
        NumberColumn(simulated.title, lambda run: f"{run.row.simulated_s:.5g}", unit=simulated.unit),
        *(each.column(partial(_figure, key=each.key)) for each in _headline(runs)),
        RUN_MEASURES["jain"].column(lambda run: run.row.jain),
        Column("Status", lambda run: run.row.status),
    )
    return TextTable.of(runs, columns, "Runs")


def comparison_table(runs: Sequence[ReportRun]) -> TextTable:
    """One row per experiment, i.e. all runs that differ only in their seed: mean ± 95 % interval over the seeds.

    Identical repetitions of a run are left out.
    """
    experiments: dict[str, list[ReportRun]] = {}
    for run in runs:
        experiments.setdefault(run.traces.condition, []).append(run)
    compared = [*_headline(runs), *(RUN_MEASURES[key] for key in ("total_loss_ratio", "retransmits", "jain"))]
    columns: tuple[Column[list[ReportRun]], ...] = (
        Column("Experiment", lambda members: members[0].row.name),
        Column("Controllers", lambda members: members[0].row.controllers or NOTHING),
        NumberColumn("Runs", len),
        *map(_mean_column, compared),
    )
    return TextTable.of(map(_distinct, experiments.values()), columns, "Experiments")


def _distinct(members: Sequence[ReportRun]) -> list[ReportRun]:
    copies = copies_among([run.row for run in members])
    return [run for place, run in enumerate(members) if place not in copies]


def _mean_column(shown: Measure) -> Column[list[ReportRun]]:
    def value(members: Sequence[ReportRun]) -> Estimate:
        return Estimate.of(_numbers(_figure(run, shown.key) for run in members))

    return NumberColumn(shown.heading, value, shown.interval_text, shown.unit)


def general_table(scenario: Scenario) -> TextTable:
    """Parameters of a whole scenario."""
    rows = [
        ("Duration", duration_text(scenario.duration_s)),
        ("Warm-up, not counted in summaries", duration_text(scenario.warmup_s)),
        ("Seed of the file", str(scenario.seed)),
        ("Payload of a full packet", f"{scenario.mss_bytes} B"),
        ("Transport profile", scenario.profile),
        ("Start jitter", delay_text(scenario.start_jitter_s)),
    ]
    rows += [(f"transport.{key}", _option_text(value)) for key, value in scenario.transport.items()]
    return TextTable("General", text_columns("Parameter", "Value"), tuple(rows))


def links_table(links: Iterable[Link]) -> TextTable:
    """One row per link, or two if its directions differ."""
    columns = text_columns("Link", "Between", "Rate", "Delay", "Queue", "Loss")
    rows = []
    for link in links:
        first, second = link.ends
        if link.forward == link.reverse:
            rows.append((link.name, f"{first} ↔ {second}", *_direction_cells(link.forward)))
        else:
            rows.append((link.name, f"{first} → {second}", *_direction_cells(link.forward)))
            rows.append(("", f"{second} → {first}", *_direction_cells(link.reverse)))
    return TextTable("Links", columns, tuple(rows))


def flows_table(flows: Iterable[Flow]) -> TextTable:
    """One row per flow of the scenario file."""
    columns: tuple[Column[Flow], ...] = (
        Column("Flow", lambda flow: flow.name if flow.count == 1 else f"{flow.name} × {flow.count}"),
        Column("Kind", lambda flow: flow.kind),
        Column("From → to", lambda flow: f"{flow.source} → {flow.destination}"),
        Column("Controller", lambda flow: flow.controller.name or NOTHING),
        Column("Scheduler", lambda flow: (flow.scheduler.name if flow.kind == "mptcp" else "") or NOTHING),
        Column("Paths", lambda flow: ", ".join(map(path_label, flow.paths))),
        Column("Sends", _sends),
    )
    return TextTable.of(flows, columns, "Flows")


def options_table(flows: Iterable[Flow]) -> TextTable:
    """Options of controllers and schedulers, including defaults, so that a reader can reproduce the runs."""
    columns = text_columns("Flow", "Algorithm", "Options")
    rows = []
    for flow in flows:
        # Only MPTCP flows use their scheduler.
        for choice in (flow.controller, flow.scheduler) if flow.kind == "mptcp" else (flow.controller,):
            told = [f"{key} = {_option_text(value)}" for key, value in choice.options.items()]
            if choice.policy is not None:
                told.append(f"policy {choice.policy.name} (SHA-256 {choice.policy.content_hash[:16]}…)")
            if choice.script is not None:
                digest = hashlib.sha256(choice.script.text.encode()).hexdigest()
                told.append(f"script {choice.script.file} (SHA-256 {digest[:16]}…)")
            if told:
                rows.append((flow.name, choice.name, ", ".join(told)))
    return TextTable("Options of algorithms", columns, tuple(rows))


def events_table(scenario: Scenario) -> TextTable:
    """One row per scheduled change of the scenario."""
    columns = text_columns("At", "Of", "Change")
    rows = []
    for event in scenario.events:
        subject = event.link or event.flow or NOTHING
        if event.link is not None and event.direction != "both":
            subject += f" ({way_of(scenario, event.link, event.direction)})"
        if event.subflow is not None:
            subject += f", subflow {event.subflow}"
        rows.append((delay_text(event.at_s), subject, ", ".join(change_words(entry_of(event), str)) or NOTHING))
    return TextTable("Events", columns, tuple(rows))


def rate_text(rate_bps: float | None) -> str:
    """Rate as text, e.g. ``8 Mbit/s``; None and infinity give "unlimited"."""
    return UNLIMITED if rate_bps is None or math.isinf(rate_bps) else _spaced(format_quantity(rate_bps, Dimension.RATE))


def delay_text(time_s: float) -> str:
    """Time as text, e.g. ``50 ms``."""
    return _spaced(format_quantity(time_s, Dimension.TIME))


def _direction_cells(direction: LinkDirection) -> tuple[str, str, str, str]:
    rate = rate_text(direction.rate_bps)
    if direction.trace is not None:
        rate = f"trace {direction.trace.file} (mean {rate})"
    loss = f"{direction.loss * 100:.4g} %"
    if direction.loss_model is not None:
        loss = f"bursts (Gilbert), mean {loss}"
    if direction.loss_trace is not None:
        loss = f"trace {direction.loss_trace.file} (at first {loss})"
    if direction.bucket is not None:
        rate = f"{rate}, bursts of {direction.bucket.burst_bytes} B at {rate_text(direction.bucket.peak_bps)}"
    delay = delay_text(direction.delay_s)
    if direction.delay_trace is not None:
        delay = f"trace {direction.delay_trace.file} (mean {delay})"
    if direction.jitter is not None:
        delay = f"{delay}, jitter {direction.jitter.kind} {delay_text(direction.jitter.spread_s)}"
    return rate, delay, _queue_text(direction.queue), loss


def _queue_text(queue: QueueSpec) -> str:
    limits = []
    if queue.limit_pkts is not None:
        limits.append(f"{queue.limit_pkts} pkt")
    if queue.limit_bytes is not None:
        limits.append(f"{queue.limit_bytes} B")
    text = f"{queue.discipline}, {' and '.join(limits) or UNLIMITED}"
    options = [f"{key} = {_option_text(value)}" for key, value in queue.options.items()]
    return f"{text} ({', '.join(options)})" if options else text


def _sends(flow: Flow) -> str:
    told = []
    if flow.rate_bps is not None:
        told.append(rate_text(flow.rate_bps))
    told.append(f"{count_text(flow.size_bytes)} B" if flow.size_bytes is not None else "endless")
    if flow.arrivals is not None:
        told.append(f"arrivals every {delay_text(flow.arrivals.mean_gap_s)} on average")
    if flow.start_s:
        told.append(f"from {delay_text(flow.start_s)}")
    if flow.stop_s is not None:
        told.append(f"until {delay_text(flow.stop_s)}")
    return ", ".join(told)


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _spaced(text: str) -> str:
    return re.sub(r"^([-\d.]+)(?=[^\d.])", r"\1 ", text)


def _numbers(values: Iterable[object]) -> list[float]:
    return [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]


def _flows(run: ReportRun) -> Sequence[Mapping[str, Any]]:
    flows: Sequence[Mapping[str, Any]] = run.summary.get("flows", ())
    return flows
