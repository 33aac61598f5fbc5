"""Reads and writes plans of sweeps, which are given as TOML files (`*.sweep.toml`) or as command-line options.

format = 1
name = "Loss against controller"
scenario = "t-2link"                    # a shipped scenario, or a file in this folder; or scenario_text = '''...'''
kind = "grid"                           # grid (default), list or random
seeds = "1..5"                          # or [1, 2, 5]; left out: the scenario's own seed
sample_interval = "100ms"               # simulated time between two samples of the traces
traces = true                           # false: store only the figures
decisions = false                       # true: also store the decisions of controllers and schedulers

[set]                                   # fixed changes, as with --set
duration = "20s"

[axes]                                  # for a grid: every combination of these values
"links.one.loss" = "0%..4%/5"           # five values with equal differences; "10ms..1s/5 log": with equal ratios
"flows.pool.controller" = ["lia", "olia", { name = "mpcc-loss", alpha = 0.9 }]

[[together]]                            # for a grid: keys that vary together and form one axis
"links.one.rate" = ["4Mbit/s", "8Mbit/s"]
"links.two.rate" = ["8Mbit/s", "4Mbit/s"]

[[points]]                              # for a list: one point each; or points_file = "points.csv"
"links.one.loss" = "1%"

# for random draws: draws = 100, sweep_seed = 1, and
# [axes]
# "links.one.loss" = { uniform = ["0%", "5%"] }         # or log_uniform, or integer
# "flows.pool.controller" = { choice = ["lia", "olia"] }
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, open_scenario, replaced_options, source_of
from subflow_app.features.sweeps.core.axes import (
    MOST_VALUES,
    RANGE_FORM,
    Axis,
    Drawn,
    check_value,
    outer_first,
    overlaps,
    read_values,
    split_list,
    typed_value,
)
from subflow_app.features.sweeps.core.sweep_plan import DEFAULT_SAMPLE_INTERVAL_S, KINDS, SweepKind, SweepPlan
from subflow_app.foundation.errors import InputError, SweepError
from subflow_app.foundation.resources import PLAN_SUFFIX, find_scenario, is_to_read, shipped_sweep
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_app.foundation.toml_files import read_text, refusal, toml_tree
from subflow_sim.draws import Independent, fixed, is_draw, read_independent
from subflow_sim.errors import ParamError
from subflow_sim.gate import is_file
from subflow_sim.parameter import Param, kind_name
from subflow_sim.section_reader import Noted, Report, read_section
from subflow_sim.toml_map import Path as Place
from subflow_sim.toml_map import toml_lines
from subflow_sim.units import Dimension, format_quantity

SEEDS_FORM = '"1..5", "1,2,5" or [1, 2, 5]'

MAX_BYTES = 10_000_000
MOST_LISTED_SEEDS = 100_000
_MAX_SEED = (1 << 63) - 1
_SEEDS = re.compile(r"\s*([0-9]{1,19})\s*(?:(?:\.\.|-)\s*([0-9]{1,19})\s*)?\Z")
_DRAWN_RANGE = re.compile(r"\s*(.+?)\s*\.\.\s*(.+?)\s*\Z")
_TABLES = ("set", "axes", "together", "points", "seeds", "scenario_text")
_POINTS = ("axes", "together", "points", "points_file", "draws")

_PLAN = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("name", Dimension.TEXT, "Name of the sweep; left out: the scenario's name."),
    Param("scenario", Dimension.TEXT, "Scenario to run: a shipped one, or a file beside this one."),
    Param("kind", Dimension.CHOICE, "Form of the points.", choices=KINDS),
    Param("sample_interval", Dimension.TIME, "Interval of the traces.", minimum=0, exclusive_minimum=True),
    Param("traces", Dimension.FLAG, "Keep traces, not the figures alone.", default=True),
    Param("decisions", Dimension.FLAG, "Keep the reasons of controllers and schedulers.", default=False),
    Param("draws", Dimension.COUNT, "Number of random points.", minimum=1, maximum=MOST_VALUES),
    Param("sweep_seed", Dimension.COUNT, "Seed of the random points.", default=1, minimum=0),
    Param("points_file", Dimension.TEXT, "A CSV file with a point in each line and the keys in the first."),
    Param("folder", Dimension.TEXT, "Folder of the scenario's policies."),
)


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Command-line options that replace or extend a plan file. If an option is None or empty, the plan's value is used.

    Attributes:
        axes: "KEY=VALUES" for each axis; "&" joins keys that vary together.
        seeds: seeds in the notation of a plan.
        draws: number of random points.
        sweep_seed: seed of the random points.
        overrides: "KEY=VALUE" for each fixed change.
        name: name of the sweep.
        sample_interval_s: simulated time between two samples of the traces, s.
        keeps_traces: whether traces are stored.
        records_decisions: whether decisions are stored.
        points_file: CSV file with a point in each line.
    """

    axes: Sequence[str] = ()
    seeds: str | None = None
    draws: int | None = None
    sweep_seed: int | None = None
    overrides: Sequence[str] = ()
    name: str | None = None
    sample_interval_s: float | None = None
    keeps_traces: bool | None = None
    records_decisions: bool | None = None
    points_file: Path | None = None


def open_plan(name_or_path: str, options: SweepOptions | None = None) -> SweepPlan:
    """Read a plan file, or create a plan from a scenario and options.

    Args:
        name_or_path: path of a plan file or scenario, or name of a shipped plan or scenario.
        options: options that take precedence over the file.

    Raises:
        InputError: if the file or scenario does not exist.
        SweepError: if the plan has problems, which the error lists.
        ScenarioError: if its scenario has problems, which the error lists.
    """
    options = options or SweepOptions()
    path = Path(name_or_path)
    shipped = None if is_to_read(path) else shipped_sweep(name_or_path)
    if shipped is not None:
        written = _read(shipped)
        return read_plan(toml_tree(written, name_or_path, SweepError), file=name_or_path, text=written, options=options)
    text = _read(path) if is_to_read(path) or name_or_path.endswith(PLAN_SUFFIX) else None
    tree = None if text is None else toml_tree(text, name_or_path, SweepError)
    if text is not None and tree is not None and any(key in tree for key in _POINTS):
        return read_plan(tree, file=name_or_path, text=text, folder=path.parent, options=options)
    find_scenario(name_or_path)  # raises an error that lists the shipped scenarios
    return read_plan({"format": 1, "scenario": name_or_path}, file="the command line", options=options)


def parse_plan(text: str, *, file: str = "<sweep>", folder: Path | None = None) -> SweepPlan:
    """Read a plan from the text of a plan file, such as `plan_text` returns.

    Raises:
        SweepError: if the plan has problems, which the error lists.
        ScenarioError: if its scenario has problems, which the error lists.
    """
    return read_plan(toml_tree(text, file, SweepError), file=file, text=text, folder=folder)


def read_plan(
    tree: Mapping[str, Any],
    *,
    file: str = "<sweep>",
    text: str = "",
    folder: Path | None = None,
    options: SweepOptions | None = None,
) -> SweepPlan:
    """Create a plan from the parsed contents of a plan file.

    Args:
        tree: keys and values of a plan file.
        file: name of the file in messages.
        text: text of the file, from which messages take line numbers.
        folder: folder of the file; base of the relative paths to the scenario and the points.
        options: options that take precedence over the tree.

    Raises:
        SweepError: if the plan has problems, which the error lists.
        ScenarioError: if its scenario has problems, which the error lists.
    """
    changed = _with_options(dict(tree), options or SweepOptions())
    report = Report(file, lambda: toml_lines(text), changed)
    values = read_section(report, (), changed, _PLAN, also_known=_TABLES)
    base = values.get("folder")
    folder = Path(base) if base else folder
    if values.get("points_file") is not None:
        changed["points"] = [*_tables(report, changed, "points"), *_csv_points(report, values["points_file"], folder)]
    source, folder = _scenario(report, changed, values, folder)
    kind = values.get("kind") or _kind(changed)
    axes = _axes(report, changed, values, kind)
    seeds = _seeds(report, changed, source)
    if report.problems or source is None:
        raise refusal(report, SweepError)
    return SweepPlan(
        name=values.get("name") or source.scenario.name,
        scenario_text=source.text,
        axes=axes,
        seeds=seeds,
        kind=kind,
        sample_interval_s=values.get("sample_interval") or DEFAULT_SAMPLE_INTERVAL_S,
        keeps_traces=values.get("traces", True),
        records_decisions=values.get("decisions", False),
        sweep_seed=values.get("sweep_seed", 1),
        folder=folder,
        replaced_by_changes=source.replaced,
        written={key: changed[key] for key in ("axes", "together", "points", "seeds") if key in changed},
    )


def plan_text(plan: SweepPlan) -> str:
    """Text of a self-contained plan file, which includes the scenario."""
    lines = ["format = 1", f"name = {render(plan.name)}", f"kind = {render(plan.kind)}"]
    written = plan.written
    seeds: Any = written.get("seeds", list(plan.seeds))
    lines.append(f"seeds = {render(seeds)}")
    lines.append(f"sample_interval = {render(format_quantity(plan.sample_interval_s, Dimension.TIME))}")
    lines.append(f"traces = {render(plan.keeps_traces)}")
    lines.append(f"decisions = {render(plan.records_decisions)}")
    if plan.kind == "random":
        lines += [f"draws = {plan.n_points}", f"sweep_seed = {plan.sweep_seed}"]
    if plan.folder is not None:
        lines.append(f"folder = {render(str(plan.folder.absolute()))}")
    lines.append(f"scenario_text = {tomlkit.string(plan.scenario_text, multiline=True).as_string()}")
    tables: list[tuple[str, Any]] = [("[axes]", written["axes"])] if written.get("axes") else []
    for name in ("together", "points"):
        tables += [(f"[[{name}]]", table) for table in _listed(written.get(name))]
    for header, table in tables:
        lines += ["", header, *(f"{render(key)} = {render(value)}" for key, value in flat_pairs(table))]
    return "\n".join(lines) + "\n"


def read_seeds(written: object) -> Sequence[int]:
    """Read seeds in any of these notations: "1..5", "1,2,7..9", [1, 2, 5], 3.

    Returns:
        The seeds in the given order, without repetition. A single range is returned as a `range`.

    Raises:
        ParamError: if the value has a different form, or lists too many seeds.
    """
    if isinstance(written, int) and not isinstance(written, bool):
        written = [written]
    if isinstance(written, list):
        parts = [str(each) if isinstance(each, int) and not isinstance(each, bool) else "?" for each in written]
    elif isinstance(written, str):
        parts = written.split(",")
    else:
        raise ParamError(f"this is {kind_name(written)}, not seeds", SEEDS_FORM)
    ranges = [_seed_range(part) for part in parts]
    if not ranges:
        raise ParamError("no seeds", SEEDS_FORM)
    if len(ranges) == 1:
        return ranges[0]
    if sum(map(len, ranges)) > MOST_LISTED_SEEDS:
        raise ParamError("too many seeds in a list", f"up to {MOST_LISTED_SEEDS}, or a single range")
    return tuple(dict.fromkeys(seed for each in ranges for seed in each))


def _seed_range(part: str) -> range:
    match = _SEEDS.match(part)
    if match is None:
        raise ParamError(f'"{part.strip()}" is not a seed', SEEDS_FORM)
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first or last > _MAX_SEED or last - first >= MOST_VALUES:
        raise ParamError(
            f'"{part.strip()}" are not seeds',
            f"whole numbers from 0 to {_MAX_SEED}, the smaller one first, up to {MOST_VALUES:.0e} of them",
        )
    return range(first, last + 1)


# ---- reading ----


def _read(path: Path) -> str:
    return read_text(path, SweepError, "a plan", most_bytes=MAX_BYTES)


def _with_options(tree: dict[str, Any], options: SweepOptions) -> dict[str, Any]:
    """Apply the command-line options to the tree of a plan."""
    typed = [key for axis in options.axes for key, _values in _typed_axis(axis)]
    for key in dict.fromkeys(key for key in typed if typed.count(key) > 1):
        raise SweepError(f"--axis {key}: the key is swept twice; allowed: each key once, with all its values")
    for axis in options.axes:
        keys = dict(_typed_axis(axis))
        if len(keys) == 1:
            tree["axes"] = {**tree.get("axes", {}), **keys}
        else:
            tree["together"] = [*tree.get("together", []), keys]
    if options.overrides:
        changes = dict(tree.get("set", {}))
        for override in options.overrides:
            key, equals, value = override.partition("=")
            if not equals or not key.strip():
                raise SweepError(f'--set {override}: not of the form KEY=VALUE, e.g. "links.wifi.loss=1%"')
            changes[key.strip()] = typed_value(value.strip())
        tree["set"] = changes
    given = {
        "draws": options.draws,
        "kind": "random" if options.draws is not None else "list" if options.points_file is not None else None,
        "sweep_seed": options.sweep_seed,
        "seeds": options.seeds,
        "name": options.name,
        "sample_interval": options.sample_interval_s,
        "traces": options.keeps_traces,
        "decisions": options.records_decisions,
        "points_file": None if options.points_file is None else str(options.points_file.absolute()),
    }
    return tree | {key: value for key, value in given.items() if value is not None}


def _typed_axis(text: str) -> Iterator[tuple[str, object]]:
    """Parse the keys and values of a typed axis, e.g. "KEY=1%,2%", "KEY=1%..5%/5" or "A=1,2 & B=3,4"."""
    for part in split_list(text, "&"):
        key, equals, values = part.partition("=")
        if not equals or not key.strip() or not values.strip():
            form = 'KEY=VALUES, e.g. "links.wifi.loss=0%,1%,2%" or "links.wifi.delay=10ms..100ms/4"'
            raise SweepError(f"--axis {text}: not of the form {form}")
        listed = [typed_value(each) for each in split_list(values)]
        only = listed[0]
        yield key.strip(), only if len(listed) == 1 and isinstance(only, str) and ".." in only else listed


def _scenario(
    report: Report, tree: Mapping[str, Any], values: Mapping[str, Any], folder: Path | None
) -> tuple[ScenarioSource | None, Path | None]:
    """Read the scenario with the fixed changes; returns it with the folder for its relative paths."""
    changes = []
    for key, value in _flat(report, ("set",), tree.get("set", {})):
        try:
            check_value(value)
            changes.append(f"{key}={render(value)}")
        except ParamError as error:
            report.add(("set", key), error.message, error.allowed)
    text, name = tree.get("scenario_text"), values.get("scenario")
    if (text is None) == (name is None) and "scenario" not in tree:
        report.add(("scenario",), "missing", "a shipped scenario, or a scenario file beside this one")
        return None, folder
    if text is not None:
        if not isinstance(text, str):
            report.add(("scenario_text",), f"this is {kind_name(text)}", "the text of a scenario file")
            return None, folder
        file = f"scenario of {report_name(tree)}"
        source = source_of(Use.SWEEP, text, file=file, overrides=changes, folder=folder)
        return replace(source, replaced=tuple(replaced_options(text, source.text))), folder
    if name is None:
        return None, folder
    path = Path(name) if folder is None else folder / name
    is_own = is_file(path)
    try:
        return open_scenario(
            str(path) if is_own else name, use=Use.SWEEP, overrides=changes
        ), path.parent if is_own else folder
    except InputError as error:
        report.add(("scenario",), str(error))
        return None, folder


def report_name(tree: Mapping[str, Any]) -> str:
    """Name of the sweep in messages."""
    name = tree.get("name")
    return f'sweep "{name}"' if isinstance(name, str) else "the sweep"


def noted_seeds(report: Report, place: Place, written: object) -> Sequence[int]:
    """Like `read_seeds`, but adds a problem to the report instead of raising an error, and then returns one seed."""
    try:
        return read_seeds(written)
    except ParamError as error:
        report.add(place, error.message, error.allowed or SEEDS_FORM)
        return range(1, 2)


def _seeds(report: Report, tree: Mapping[str, Any], source: ScenarioSource | None) -> Sequence[int]:
    if "seeds" in tree:
        return noted_seeds(report, ("seeds",), tree["seeds"])
    seed = source.scenario.seed if source is not None else 1
    return range(seed, seed + 1)


def _kind(tree: Mapping[str, Any]) -> SweepKind:
    """Infer the kind of a plan that lacks the key `kind`."""
    return "random" if "draws" in tree else "list" if "points" in tree else "grid"


def _axes(report: Report, tree: Mapping[str, Any], values: Mapping[str, Any], kind: str) -> tuple[Axis, ...]:
    """Read the axes of a plan of any kind; problems are added to the report."""
    if kind == "list":
        _refuse(report, tree, ("axes", "together", "draws"), "a list has points")
        axes = _list_axis(report, tree)
    elif kind == "random":
        _refuse(report, tree, ("together", "points"), "random points are drawn by [axes]")
        axes = _random_axis(report, tree, values)
    else:
        _refuse(report, tree, ("draws",), "a grid has every combination")
        _refuse(report, tree, ("points",), "a grid has axes")
        axes = _grid_axes(report, tree)
    if not axes and not report.problems:
        example = '"links.wifi.loss" = "0%..4%/5"'
        report.add(("axes",), "nothing to sweep over", f"a key and its values, e.g. {example}")
    keys = [key for axis in axes for key in axis.keys]
    for key, (problem, allowed) in overlaps(keys).items():
        report.add(("axes", key), problem, allowed)
    for key, _value in flat_pairs(tree["set"]) if isinstance(tree.get("set"), dict) else ():
        for swept in keys:
            if key == swept or key.startswith(f"{swept}."):
                report.add(("set", key), f"{swept} is swept, and each of its values replaces this one", "left out")
    if "seed" in keys:
        report.add(("axes", "seed"), "seeds are not an axis", f"seeds = {SEEDS_FORM}")
    return axes


def _refuse(report: Report, tree: Mapping[str, Any], keys: Sequence[str], reason: str) -> None:
    for key in keys:
        if key in tree:
            report.add((key,), reason, 'left out, or another kind: "grid", "list" or "random"')


def _grid_axes(report: Report, tree: Mapping[str, Any]) -> tuple[Axis, ...]:
    axes = []
    for key, written in _flat(report, ("axes",), tree.get("axes", {})):
        found = _values(report, ("axes", key), written)
        if found is not None:
            axes.append(Axis((key,), (found,)))
    for number, table in enumerate(_tables(report, tree, "together")):
        place = ("together", number)
        columns = {
            key: found
            for key, written in _flat(report, place, table)
            if (found := _values(report, (*place, key), written)) is not None
        }
        lengths = {key: len(found) for key, found in columns.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            report.add(place, f"keys that move together need equally many values: {told}", "equally many")
        elif columns:
            axes.append(Axis(tuple(columns), tuple(columns.values())))
    return tuple(axes)


def _values(report: Report, place: tuple[str | int, ...], written: object) -> Sequence[TomlValue] | None:
    try:
        if isinstance(written, dict) and is_draw(written):
            raise ParamError("a draw", f'a list of values or a range such as {RANGE_FORM}; or kind = "random"')
        found = read_values(written)
        if not isinstance(written, str):
            check_value(written)
    except ParamError as error:
        report.add(place, error.message, error.allowed)
        return None
    return found


def _list_axis(report: Report, tree: Mapping[str, Any]) -> tuple[Axis, ...]:
    tables: list[dict[str, TomlValue]] = []
    for number, table in enumerate(_tables(report, tree, "points")):
        tables.append(dict(_flat(report, ("points", number), table)))
        for key, value in tables[-1].items():
            try:
                check_value(value)
            except ParamError as error:
                report.add(("points", number, key), error.message, error.allowed)
    if not tables and not report.problems:
        report.add(("points",), "no points", '[[points]] with keys and values, or points_file = "points.csv"')
    keys = outer_first(key for table in tables for key in table)
    if not keys:
        return ()
    return (Axis(keys, tuple(tuple(table.get(key) for table in tables) for key in keys)),)


def _csv_points(report: Report, name: str, folder: Path | None) -> list[dict[str, TomlValue]]:
    """Read points from a CSV file, with keys in the first line, and values or empty cells in the other lines."""
    path = Path(name) if folder is None else folder / name

    def refuse(problem: str, allowed: str) -> list[dict[str, TomlValue]]:
        report.add(("points_file",), problem, allowed)
        return []

    try:
        text = _read(path)
    except SweepError as error:
        return refuse(str(error), "a CSV file with keys in its first line")
    try:
        rows = [row for row in csv.reader(text.splitlines()) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        return refuse(f"it is no table: {error}", "cells with closed quotation marks")
    if len(rows) < 2:
        return refuse("it has no points", "keys in the first line, and a line for each point")
    keys = [key.strip() for key in rows[0]]
    if not all(keys) or len(set(keys)) < len(keys):
        return refuse("a key is missing or repeated in its first line", "dotted keys, each once")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(keys):
            return refuse(f"its line {number} has {len(row)} cells", f"{len(keys)}, as the first line")
    return [
        {key: typed_value(cell.strip()) for key, cell in zip(keys, row, strict=True) if cell.strip()}
        for row in rows[1:]
    ]


def _random_axis(report: Report, tree: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Axis, ...]:
    count = values.get("draws")
    if count is None:
        if "draws" not in tree:
            report.add(("draws",), "missing", "how many random points, e.g. draws = 100")
        return ()
    keys: list[str] = []
    columns: list[Sequence[TomlValue]] = []
    for key, written in _flat(report, ("axes",), tree.get("axes", {})):
        try:
            draw = _draw(report, ("axes", key), written)
        except Noted:
            continue
        keys.append(key)
        columns.append(Drawn(draw, values.get("sweep_seed", 1), key, count))
    return (Axis(tuple(keys), tuple(columns)),) if keys else ()


def _draw(report: Report, place: tuple[str | int, ...], written: object) -> Independent:
    """Read a draw from a table, from a list of choices, or from text: "5ms..200ms" or "5ms..200ms log"."""
    if isinstance(written, str) and ".." in written:
        is_log = written.rstrip().endswith("log")
        match = _DRAWN_RANGE.match(written.rstrip().removesuffix("log") if is_log else written)
        if match is None or "/" in match[2].replace("bit/s", ""):
            report.add(place, "this is not a range to draw from", '"0%..5%" or "5ms..200ms log"')
            raise Noted
        ends = [typed_value(match[1]), typed_value(match[2])]
        return read_independent(report, place, {"log_uniform" if is_log else "uniform": ends})
    if isinstance(written, dict):
        return read_independent(report, place, written)
    try:
        check_value(written)
    except ParamError as error:
        report.add(place, error.message, error.allowed)
        raise Noted from error
    return read_independent(report, place, {"choice": written}) if isinstance(written, list) else fixed(written)


def _flat(report: Report, place: tuple[str | int, ...], table: object) -> Iterator[tuple[str, Any]]:
    """Dotted keys and their values; includes nested tables, because TOML turns unquoted dotted keys into tables."""
    if not isinstance(table, dict):
        report.add(place, f"this is {kind_name(table)}, not a table", 'keys and values, e.g. "links.wifi.loss" = "1%"')
        return
    yield from flat_pairs(table)


def flat_pairs(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and their values, including those in nested tables. A table that describes a draw is a value."""
    for key, value in table.items():
        if isinstance(value, dict) and "." not in key and not is_draw(value):
            yield from flat_pairs(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _tables(report: Report, tree: Mapping[str, Any], name: str) -> list[Any]:
    written = tree.get(name, [])
    if not isinstance(written, list):
        report.add((name,), f"this is {kind_name(written)}, not an array of tables", f"[[{name}]]")
        return []
    return written


def _listed(written: object) -> list[Any]:
    return written if isinstance(written, list) else []
