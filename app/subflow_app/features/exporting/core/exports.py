"""Data of a run as files: CSV tables, summary, scenario and figures.

The first column of a table is ``time_s``, and each other column is one trace with the heading ``owner:column``. The
name of the column includes the unit (``download/1:throughput_bps``). Values are SI, in the shortest form that parses to
the same float32, and cells of unknown values (NaN) are empty. Each mark, monitor interval, decision and agent step is
one row, which begins with time and owner.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.catalog.core.uses import Use, policies_of, read_stored
from subflow_app.features.editor.core.scenario_source import with_policies
from subflow_app.features.history.core.run_names import run_names
from subflow_app.features.paper.core.figure_plan import FIGURE_KINDS, FigureKind, FigureLook, run_plan
from subflow_app.features.plots.core import BARS, PLOTS, TIME, Bar, PlotSpec
from subflow_app.features.plots.core.spec import Curve
from subflow_app.features.traces.core.events import AGENT, DECISION, INTERVAL, agent_steps_of, stored_object
from subflow_app.features.traces.core.traces import FLOW, LINK, NANOSECONDS, SUBFLOW, SeriesKey, Traces, select_keys
from subflow_app.features.training.core.agent_explanations import number_names, steps_of
from subflow_app.foundation.errors import ExportError, InputError
from subflow_app.foundation.files import made_folder, write_csv, write_file
from subflow_app.foundation.json_document import json_text
from subflow_app.foundation.paths import rescue_directories, rescue_places
from subflow_app.vocabulary.palette import written
from subflow_app.vocabulary.tables import csv_text
from subflow_sim.errors import ScenarioError
from subflow_sim.params import MAX_PATHS
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_sim.policy_library import shipped_policies
from subflow_store.values import EventTable

DATA_FORMAT = "csv"

_INTERVAL_COLUMNS = tuple(name for name in INTERVAL.fields if name not in ("time_ns", "owner", "begin_ns", "end_ns"))
TABLE_FILES = {SUBFLOW: "subflows.csv", FLOW: "flows.csv", LINK: "links.csv"}


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """The files to write for runs.

    Attributes:
        run_data: whether to write all data: subflows.csv, flows.csv, links.csv, marks.csv, summary.json, scenario.toml,
            and, for runs with these data, intervals.csv, decisions.csv, decision_rules.json, agent_steps.csv and
            agents.json.
        figures: plots to draw.
        figure_formats: subset of `FIGURE_KINDS`.
        figure_data: whether to write the data of each plot as ``<plot>.csv``.
        look: style, size and legend of the figures.
    """

    run_data: bool = True
    figures: tuple[PlotSpec, ...] = PLOTS
    figure_formats: tuple[FigureKind, ...] = FIGURE_KINDS
    figure_data: bool = False
    look: FigureLook = field(default_factory=FigureLook)


def export_run(
    traces: Traces,
    directory: str | Path,
    plan: ExportPlan,
    *,
    summary: Mapping[str, Any] | None = None,
    scenario_text: str | None = None,
) -> list[Path]:
    """Write the files of a run into a folder, creating it if necessary and replacing files of the same name.

    Args:
        traces: the run.
        directory: the folder.
        plan: the files to write.
        summary: content of summary.json; None omits the file.
        scenario_text: content of scenario.toml; None omits the file.

    Returns:
        The files written, in order.

    Raises:
        ExportError: if a file cannot be written.
        StoreError: if stored traces cannot be read.
    """
    target = made_folder(directory)
    written: list[Path] = []
    if plan.run_data:
        written += _export_tables(traces, target)
        if summary is not None:
            written.append(write_file(target / "summary.json", json_text(summary)))
        if scenario_text is not None:
            written += _export_scenario(scenario_text, summary, target)
    return written + export_figures([traces], target, plan)


def _export_scenario(text: str, summary: Mapping[str, Any] | None, target: Path) -> list[Path]:
    """Write the scenario, and its policies unless shipped with Subflow, so that other computers can run it."""
    written = []
    try:
        scenario = read_stored(Use.EXPORT, text, summary, file="scenario.toml")
    except (InputError, ScenarioError):
        scenario = None  # a policy is missing or has changed; the text still contains its name
    names: dict[str, str] = {}
    for _flow, policy in policies_of(scenario) if scenario is not None else ():
        if policy.path is not None and policy.path.parent == shipped_policies():
            continue
        names[policy.name] = f"policy-{policy.content_hash[:12]}{POLICY_SUFFIX}"
        written.append(write_file(target / names[policy.name], policy.content))
    return [*dict.fromkeys(written), write_file(target / "scenario.toml", with_policies(text, names))]


def require_numbers(figures: Iterable[PlotSpec], runs: Sequence[Traces]) -> None:
    """Check that every number that the plots show exists for at least one agent of the runs.

    Raises:
        InputError: if a plot shows a number that no agent has, or if no agent made decisions in the runs.
        StoreError: if stored traces cannot be read.
    """
    for plot in figures:
        if plot.numbers is None or not plot.number:
            continue
        agents = [agent for traces in runs for agent in steps_of(traces).agents]
        known = dict.fromkeys(name for agent in agents for name in number_names(agent, plot.numbers))
        if not known:
            raise InputError(f"no agent decided in these runs, so the figure of the {plot.numbers} would be empty")
        if plot.number not in known:
            raise InputError(f'"{plot.number}" is not an {plot.numbers} of the agents; available: {", ".join(known)}')


def export_figures(runs: Sequence[Traces], directory: str | Path, plan: ExportPlan) -> list[Path]:
    """Write the figures of a plan and their data, with all runs overlaid; omit plots that apply to no run.

    Returns:
        The files written, in order.

    Raises:
        ExportError: if a file cannot be written.
        StoreError: if stored traces cannot be read.
    """
    target = made_folder(directory)
    plots = [plot for plot in plan.figures if any(plot.is_in(traces) for traces in runs)]
    written: list[Path] = []
    if plan.figure_data:
        for plot in plots:
            path = target / f"{plot.id}.csv"
            if plot.kind == BARS:
                written.append(export_bars(plot.all_bars(runs), path))
            else:
                written.append(export_curves(plot.overlay(runs), path, plot))
    if plan.figure_formats:
        from subflow_app.features.paper.core.figures import save_figure

        together = [plots] if plan.look.is_stacked and plots else [[plot] for plot in plots]
        for group in together:
            name = "-".join(plot.id for plot in group)
            drawn = run_plan(group, runs)
            written += [
                save_figure(plan.look.of(drawn, kind), target / f"{name}.{kind}") for kind in plan.figure_formats
            ]
    return written


def export_csv(traces: Traces, path: str | Path, keys: Sequence[SeriesKey] | None = None) -> Path:
    """Write traces as one CSV table.

    Args:
        traces: the run.
        path: the file.
        keys: traces to write, which share their sample times as all traces of a run do; None for all traces.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if no trace is selected, or the run lacks a selected trace.
    """
    chosen = list(traces.keys() if keys is None else keys)
    if not chosen:
        raise InputError(f'run "{traces.title}" has no such traces to export')
    columns = [traces.read(key) for key in chosen]
    # A live run adds samples during the export, so the table ends with the shortest column.
    count = min(len(values) for _, values in columns)
    headings = [f"{written(key.owner)}:{key.name}" for key in chosen]
    return _write_table(path, headings, columns[0][0][:count], [values[:count] for _, values in columns])


def export_curves(curves: Sequence[Curve], path: str | Path, plot: PlotSpec) -> Path:
    """Write the data that a figure shows as CSV, in SI units: one column for each curve over time, totals included.

    For plots without a time axis, the table has one row for each point instead, see `export_points`.

    Overlaid runs may have different sample times, so the table merges the times of all curves. A curve without a sample
    at a time has an empty cell.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if no curve is given.
    """
    if not curves:
        raise InputError(f"the {plot.title.lower()} figure has no curves to export")
    return export_plots([(plot, curves)], path) if plot.x is None else export_points(curves, path, plot)


def export_shown(
    plots: Sequence[tuple[PlotSpec, Sequence[Curve], Sequence[Bar]]], path: str | Path, runs: Sequence[Traces] = ()
) -> list[Path]:
    """Write the data of plots of all kinds: one table for plots over time, and one for each other plot.

    Tables of other plots are named after the file and the plot: ``run-rtt_cdf.csv`` next to ``run.csv``. If no plot is
    over time, the table of the first plot takes the name of the file. For several runs, ``run-runs.csv`` lists the runs
    that the tables call run 1, run 2 …

    Raises:
        ExportError: if a file cannot be written.
        InputError: if all plots are empty.
    """
    over_time = [(plot, curves) for plot, curves, _ in plots if plot.kind == TIME and curves]
    others = [each for each in plots if each[0].kind != TIME and (each[1] or each[2])]
    written = [export_plots(over_time, path)] if over_time or not others else []
    for plot, curves, bars in others:
        target = Path(path)
        if written:
            target = target.with_name(f"{target.stem}-{plot.id}{target.suffix}")
        written.append(export_bars(bars, target) if plot.kind == BARS else export_points(curves, target, plot))
    if len(runs) > 1:
        target = Path(path)
        written.append(export_run_list(runs, target.with_name(f"{target.stem}-runs{target.suffix}")))
    return written


def export_run_list(runs: Sequence[Traces], path: str | Path) -> Path:
    """List the runs that other tables call run 1, run 2 …, with number in the history, name, controllers and seed.

    Unknown values, e.g. the number of a run that is not stored, are empty cells.

    Raises:
        ExportError: if the file cannot be written.
    """
    rows = (
        (
            place,
            (run.row.id or "") if run.row else "",
            name,
            run.row.controllers if run.row else ", ".join(dict.fromkeys(run.controllers.values())),
            run.row.seed if run.row else "",
        )
        for place, (run, name) in enumerate(zip(runs, run_names(runs), strict=True), start=1)
    )
    return write_csv(path, ("run", "id", "name", "controllers", "seed"), rows)


def export_points(curves: Sequence[Curve], path: str | Path, plot: PlotSpec) -> Path:
    """Write the curves of a plot without a time axis as CSV, with a row for each point: run, owner, x, y; SI units.

    Raises:
        ExportError: if the file cannot be written.
    """
    assert plot.x is not None
    rows = (
        (curve.run + 1, _curve_owner(curve), _number_text(x), _number_text(value))
        for curve in curves
        for x, value in zip(curve.positions, curve.values, strict=False)
    )
    return write_csv(path, ("run", "owner", plot.x.name, plot.data_name), rows)


def export_bars(bars: Sequence[Bar], path: str | Path) -> Path:
    """Write bars as CSV: names, mean, half width of the 95 % interval, number of runs, values of the runs, and a note.

    Values are in SI units.

    Raises:
        ExportError: if the file cannot be written.
    """
    rows = (
        (
            bar.run_title,
            bar.category,
            _number_text(bar.mean),
            _number_text(bar.ci95),
            len(bar.values),
            " ".join(_number_text(value) for value in bar.values),
            bar.note if math.isnan(bar.mean) else "",
        )
        for bar in bars
    )
    return write_csv(path, ("experiment", "category", "mean", "ci95", "runs", "values", "note"), rows)


def export_plots(plots: Sequence[tuple[PlotSpec, Sequence[Curve]]], path: str | Path) -> Path:
    """Write the data of several plots of the same runs into one table, in the form of `export_curves`.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if all plots are empty.
    """
    everything = [curve for _, curves in plots for curve in curves]
    if not everything:
        raise InputError("no curve is visible, so no data can be exported: switch one on in the legend")
    time_s = np.unique(np.concatenate([curve.time_s for curve in everything]))
    several = len({curve.run for curve in everything}) > 1
    headings, columns = [], []
    for plot, curves in plots:
        name = plot.data_name
        for curve in curves:
            column = np.full(len(time_s), np.nan, dtype=np.float32)
            count = min(len(curve.time_s), len(curve.values))
            column[np.searchsorted(time_s, curve.time_s[:count])] = curve.values[:count]
            columns.append(column)
            owner = _curve_owner(curve)
            headings.append(f"run {curve.run + 1}:{owner}:{name}" if several else f"{owner}:{name}")
    return _write_table(path, headings, time_s, columns)


def _curve_owner(curve: Curve) -> str:
    owner = written(curve.owner)
    return f"{owner}/total" if curve.kind == "total" else owner


def export_marks(traces: Traces, path: str | Path) -> Path:
    """Write the marks as CSV: ``time_s,owner,kind,value``.

    Raises:
        ExportError: if the file cannot be written.
    """
    rows = (
        (_time_text(mark.time_s), written(mark.owner), mark.kind, _number_text(mark.value)) for mark in traces.marks()
    )
    return write_csv(path, ("time_s", "owner", "kind", "value"), rows)


def export_intervals(table: EventTable, path: str | Path) -> Path:
    """Write monitor intervals as CSV, in order of their completion.

    Raises:
        ExportError: if the file cannot be written.
    """
    columns = {"begin_s": time_texts(table["begin_ns"]), "end_s": time_texts(table["end_ns"])}
    columns |= {name: number_texts(table[name]) for name in _INTERVAL_COLUMNS}
    return _write_events(table, columns, path)


def export_decisions(table: EventTable, path: str | Path, rules_path: str | Path) -> list[Path]:
    """Write decisions as CSV, and as JSON their rules, each with formula, source and the names of its numbers.

    The numbers of a decision follow the order of the names in its rule. Subflows are counted from 1, and the subflows
    of a set are separated by spaces.

    Raises:
        ExportError: if a file cannot be written.
    """
    rules = [stored_object(text, "name") for text in table.names["rule"]]
    is_flow = np.array(["/" not in owner for owner in table.names["owner"]], bool)[table["owner"]]
    columns = {"cause": table.texts("cause"), "rule": [rules[number]["name"] for number in table["rule"].tolist()]}
    for name in ("cwnd_before_pkts", "cwnd_after_pkts", "rate_before_bps", "rate_after_bps"):
        columns[name] = _where(~is_flow, number_texts(table[name]))
    columns["data_seq"] = _where(is_flow, number_texts(table["data_seq"]))
    columns["chosen"] = _where(is_flow & (table["chosen"] < MAX_PATHS), number_texts(table["chosen"] + 1))
    columns |= {name: _set_texts(table[name]) for name in ("available", "usable")}
    columns |= {name: number_texts(table[name]) for name in DECISION.fields if name.startswith("number_")}
    return [_write_events(table, columns, path), write_file(Path(rules_path), json_text(rules))]


def export_agent_steps(table: EventTable, path: str | Path, agents_path: str | Path) -> list[Path]:
    """Write the steps of agents as CSV, and descriptions of the agents and their numbers as JSON.

    The table has one row for each subflow that an agent observed at a decision; the rows of one decision share its
    number. Each observation and action has a column with its name; the column is empty for agents without this number.
    Values of earlier epochs are in the columns ``see:rtt[1]``, ``see:rtt[2]`` and so on. Discrete actions are numbered
    from 0.

    Raises:
        ExportError: if a file cannot be written.
    """
    from subflow_sim.agent_steps import EPOCH_FIGURES

    steps = agent_steps_of(table)
    columns: dict[str, Sequence[str]] = {"decision": number_texts(table["number"]), "subflow": table.texts("subflow")}
    columns["is_acting"] = number_texts(table["is_acting"])
    columns |= {name: number_texts(table[name]) for name in ("value", "reward", *EPOCH_FIGURES)}
    numbers: dict[str, NDArray[np.float32]] = {}
    for position, agent in enumerate(steps.agents):
        rows = steps.agent == position
        seen = [
            f"see:{feature.name}{f'[{past}]' if past else ''}"
            for past in range(agent.history)
            for feature in agent.features
        ]
        done = [f"do:{name}" for name in agent.action_names]
        for names, values in ((seen, steps.observation), (done, steps.action)):
            for index, name in enumerate(names):
                column = numbers.setdefault(name, np.full(len(steps), np.nan, np.float32))
                column[rows] = values[rows, index]
    columns |= {name: number_texts(column) for name, column in numbers.items()}
    agents = list(map(stored_object, table.names["agent"]))
    return [_write_events(table, columns, path), write_file(Path(agents_path), json_text(agents))]


def save_rescue_copy(traces: Traces, summary: Mapping[str, Any], scenario_text: str) -> Path:
    """Save data, summary and scenario of a run in a new folder, because the store could not keep the run.

    Returns:
        The folder.

    Raises:
        ExportError: if no folder is writable.
    """
    plan = ExportPlan(run_data=True, figures=(), figure_formats=())
    reasons = []
    for directory in rescue_directories(traces.title):
        try:
            export_run(traces, directory, plan, summary=summary, scenario_text=scenario_text)
        except ExportError as error:
            # On a full disk, the folder may have been created, but remains empty.
            shutil.rmtree(directory, ignore_errors=True)
            reasons.append(str(error))
        else:
            return directory
    places = ", ".join(map(str, rescue_places()))
    raise ExportError("; ".join((f"no folder to save the run in is writable: tried {places}", *reasons)))


def _export_tables(traces: Traces, target: Path) -> list[Path]:
    """Write one table for each scope of the run, and the marks, intervals, decisions and agent steps."""
    written = [
        export_csv(traces, target / file_name, keys)
        for scope, file_name in TABLE_FILES.items()
        if (keys := select_keys(traces, scope))
    ]
    written.append(export_marks(traces, target / "marks.csv"))
    intervals, decisions, steps = (traces.events(stream.name) for stream in (INTERVAL, DECISION, AGENT))
    if len(intervals):
        written.append(export_intervals(intervals, target / "intervals.csv"))
    if len(decisions):
        written += export_decisions(decisions, target / "decisions.csv", target / "decision_rules.json")
    if len(steps):
        written += export_agent_steps(steps, target / "agent_steps.csv", target / "agents.json")
    return written


def _write_table(
    path: str | Path, headings: Iterable[str], time_s: NDArray[np.float64], columns: Sequence[NDArray[np.float32]]
) -> Path:
    texts = [list(map(_time_text, time_s.tolist()))]
    texts += [number_texts(column) for column in columns]
    lines = (",".join(row) + "\n" for row in zip(*texts, strict=True))
    return write_file(path, "".join((csv_text(("time_s", *headings), ()), *lines)))


def _write_events(table: EventTable, columns: Mapping[str, Sequence[str]], path: str | Path) -> Path:
    """Write one row for each event: time, owner, and the given columns."""
    start = {"time_s": time_texts(table["time_ns"]), "owner": table.texts("owner")}
    everything = {**start, **columns}
    return write_csv(path, everything, zip(*everything.values(), strict=True))


def _where(is_known: NDArray[np.bool_], texts: Sequence[str]) -> list[str]:
    """The texts, with empty strings for values that do not apply."""
    return [text if known else "" for text, known in zip(texts, is_known.tolist(), strict=True)]


def time_texts(time_ns: NDArray[np.int64]) -> list[str]:
    """Exact times in seconds, without trailing zeros."""
    return [_time_text(time / NANOSECONDS) for time in time_ns.tolist()]


def _time_text(time_s: float) -> str:
    """A time with at most nine decimals (1 ns), which removes the rounding of binary fractions."""
    return f"{time_s:.9f}".rstrip("0").rstrip(".")


def _set_texts(masks: NDArray[np.int64]) -> list[str]:
    """Texts of sets of subflows, given as bit masks: the numbers of the subflows from 1, separated by spaces."""
    distinct, where = np.unique(masks, return_inverse=True)
    sets = [" ".join(str(bit + 1) for bit in range(MAX_PATHS) if mask >> bit & 1) for mask in distinct.tolist()]
    return [sets[number] for number in where.tolist()]


def number_texts(column: NDArray[Any]) -> list[str]:
    """Each value in the shortest form that parses to the same number; an empty string for NaN."""
    if column.dtype.kind != "f":
        return [str(value) for value in column.tolist()]
    # Formatting takes most of the time, and most traces contain few distinct values (windows, losses, zero).
    distinct, where = np.unique(column, return_inverse=True)
    texts = np.array([_number_text(value) for value in distinct], dtype=object)
    return list(texts[where])


def _number_text(value: np.floating[Any] | float) -> str:
    """The shortest text that keeps the precision of a value, without exponents for moderate values; empty for NaN."""
    if np.isnan(value):
        return ""
    size = abs(float(value))
    if size == 0 or 1e-4 <= size < 1e15:
        return np.format_float_positional(value, trim="-")
    return str(value)
