"""``subflow compare`` runs controllers side by side, or takes stored runs; it shows differences and significance."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.features.sweeps.cli import Jobs, job_count
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.options import (
    Database,
    Json,
    opened_store,
    positive_time_option,
    run_number,
    time_option,
)
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note, print_tables
from subflow_app.vocabulary.number_text import count_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from subflow_app.features.comparison.core.alignment import SeriesError
    from subflow_app.features.comparison.core.batch import ComparisonDraft, ComparisonEstimate
    from subflow_app.features.comparison.core.conditions import By, ConditionGroup
    from subflow_app.features.comparison.core.group_table import FigureRow, GroupTable
    from subflow_app.features.sweeps.core.sweep_job import SweepJob
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_sim.scenario import Scenario
    from subflow_store import RunRow, Store


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="SCENARIO|RUN...", help="A scenario with --controllers; or numbers of runs, or `last`."),
    ],
    controllers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Run the scenario with each of these: lia,olia; the first is the reference."
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="SEEDS", help="Number of seeds of each, or the seeds: 5, 1..5 or 1,2,7. Default: 5."),
    ] = None,
    flow: Annotated[
        str | None, typer.Option(metavar="FLOW", help="Flow whose controller differs; default: the only MPTCP flow.")
    ] = None,
    varied: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="KEY=VALUES", help="Vary this key, too: links.wifi.loss=0%,1%. Repeatable."),
    ] = None,
    starts_apart: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Delay the start of each flow by a random time up to this, e.g. 100ms."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario for all runs. Repeatable."),
    ] = None,
    jobs: Jobs = "all",
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Only estimate the comparison of a scenario: runs, time, disk.")
    ] = False,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the runs of a scenario.")] = False,
    by: Annotated[
        str,
        typer.Option(metavar="WAY", help="Property shared in a group: condition, controller, scenario, tag, run."),
    ] = "condition",
    reference: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="The group to compare the others with: letter, label or a run's number."),
    ] = None,
    figures: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Only this measure, e.g. goodput_bps or 'flows.*.mean_rtt_s'. Repeatable."),
    ] = None,
    paired: Annotated[bool, typer.Option("--paired", help="Compare runs of the same seed with each other.")] = False,
    holm: Annotated[bool, typer.Option("--holm", help="Correct p for the number of measures and groups.")] = False,
    align: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="Align the others with the first run's time and show the errors: correlation, first-data, or manual.",
        ),
    ] = None,
    offset: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --align manual: the others begin this much later.")
    ] = None,
    skew: Annotated[
        bool, typer.Option("--skew", help="With --align correlation: allow clocks to differ by 2 %.")
    ] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Also write the table there.")] = None,
    as_json: Json = False,
    database: Database = None,
) -> None:
    """Compare controllers, stored runs, or groups of them.

    Shows for each measure the mean and 95 % interval of each group, the difference from the first, and Welch's t-test.

    `subflow compare demo --controllers lia,olia --seeds 5` runs the scenario with each controller and each seed. Every
    run is kept, and a run that is already in the database is not repeated: the same command completes a comparison that
    was stopped. If nothing in the scenario is random, all seeds are one run; --starts-apart 100ms makes them differ.
    `subflow sweeps` lists comparisons, too. Exit code: as for `subflow sweep`.

    `subflow compare 3-7 8-12` compares ten stored runs: those that differ only in their seed form a group. With
    --align, the traces of the other runs, e.g. a measured one, are compared with those of the first instead.
    """
    if controllers is None:
        for option, value in (
            ("--seeds", seeds),
            ("--flow", flow),
            ("--vary", varied),
            ("--starts-apart", starts_apart),
            ("--set", overrides),
            ("--estimate", estimate_only),
            ("--no-store", no_store),
        ):
            if value:
                raise InputError(f"{option} needs a scenario and --controllers, e.g. --controllers lia,olia")
    elif align is not None or offset is not None:
        raise InputError("--align and --offset take stored runs, without --controllers")
    elif len(runs) != 1:
        raise InputError(f"--controllers takes one scenario, not {len(runs)}: {', '.join(runs)}")
    if align is not None or offset is not None:
        _compare_traces(runs, align or "manual", offset, skew, database, as_json=as_json)
        return
    way = _Way(_by(by), reference, tuple(figures or ()), paired, holm, csv_file, as_json)
    if controllers is None:
        from subflow_app.features.history.core.script_versions import version_names

        with opened_store(database, read_only=True) as store:
            found = _runs(store, runs)
            versions = version_names(store, found)
        _tell(found, way, versions)
        return
    asked = _Asked(runs[0], controllers, seeds or "5", flow, tuple(varied or ()), starts_apart, tuple(overrides or ()))
    raise typer.Exit(_run(asked, way, jobs, database, no_store=no_store, estimate_only=estimate_only))


@dataclass(frozen=True, slots=True)
class _Way:
    """Options of the table."""

    by: By
    reference: str | None
    figures: tuple[str, ...]
    is_paired: bool
    is_corrected: bool
    csv_file: Path | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """Options of a comparison that simulates its runs, as typed."""

    scenario: str
    controllers: str
    seeds: str
    flow: str | None
    varied: tuple[str, ...]
    starts_apart: str | None
    overrides: tuple[str, ...]


def _tell(
    found: Sequence[RunRow],
    way: _Way,
    versions: Mapping[tuple[str, int], str],
    more: dict[str, Any] | None = None,
) -> None:
    """Print the table of some runs, and write it if wanted.

    Args:
        found: runs with their documents.
        way: options of the table.
        versions: names of script versions in the runs.
        more: further keys of the JSON document.
    """
    from subflow_app.features.comparison.core.conditions import group_runs
    from subflow_app.features.comparison.core.group_table import compare_groups, reference_of, table_csv, table_document

    grouping = group_runs(found, way.by, versions=versions)
    table = compare_groups(
        grouping,
        reference=0 if way.reference is None else reference_of(grouping.groups, way.reference),
        figures=way.figures,
        has_all=bool(way.figures) or way.as_json,
        is_paired=way.is_paired,
        is_corrected=way.is_corrected,
    )
    if way.csv_file is not None:
        _write(way.csv_file, table_csv(table, table.rows))
    if way.as_json:
        print_json((more or {}) | table_document(table))
        return
    print_tables(_groups_table(table, way.by), _figures_table(table))
    print_line(table.method_text)
    for notice in table.notices:
        print_line(notice)
    if way.csv_file is not None:
        print_line(f"wrote {way.csv_file}")


def _run(asked: _Asked, way: _Way, jobs: str, database: Path | None, *, no_store: bool, estimate_only: bool) -> int:
    """Simulate the missing runs of a comparison and print its table; returns the exit code."""
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.comparison.core.batch import compared_ids, comparison_job, estimate_comparison
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.history.core.script_versions import version_names
    from subflow_app.features.sweeps.core.sweep_plan import DEFAULT_SAMPLE_INTERVAL_S
    from subflow_app.terminal.progress import in_background
    from subflow_store import open_store

    n_jobs = job_count(jobs)
    source = open_scenario(asked.scenario, use=Use.SWEEP, overrides=asked.overrides)
    draft = _draft(asked, source.scenario)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(":memory:") if no_store else opened_store(database))
        found = estimate_comparison(draft, source.text, None, sample_interval_s=DEFAULT_SAMPLE_INTERVAL_S, store=store)
        if found.plan is None:
            raise InputError("\n".join(found.problems.values()))
        for line in (*source.replaced, found.luck_text):
            if line:
                print_note(line)
        if found.is_one_run and found.luck_text:
            print_note("--starts-apart 100ms makes them differ")
        if estimate_only:
            _tell_estimate(found, n_jobs, as_json=way.as_json)
            return failures.OK
        if not way.as_json:
            print_note(f"{found.plan.name}: {found.cost_text(n_jobs)}")
        job = comparison_job(found.plan, store, n_jobs)
        result, signal_number = in_background(job, job.plan.name)
        ids = [] if job.sweep_id is None else compared_ids(store, job.sweep_id)
        if ids:
            rows = [store.run(number) for number in ids]
            more = _document(asked.scenario, draft, found, job, result)
            _tell(rows, way, version_names(store, rows), more)
        for problem in result.problems:
            print_error(problem)
        if result.state == "stopped":
            print_note(f"stopped with {len(ids)} of {job.plan.n_runs} runs; the same command makes the others")
            return failures.stopped_by(signal_number)
    result.check()
    return failures.OK if result.state == "finished" else failures.FAILED


def _draft(asked: _Asked, scenario: Scenario) -> ComparisonDraft:
    """Read the options of a comparison.

    Raises:
        InputError: if an option is invalid.
    """
    from subflow_app.features.comparison.core.batch import ComparisonDraft, suited_flows
    from subflow_app.features.sweeps.core.axes import split_list, typed_value

    flows = suited_flows(scenario)
    allowed = f"the flows of {asked.scenario} are {', '.join(flows)}" if flows else f"{asked.scenario} has no such flow"
    if asked.flow is not None and asked.flow not in flows:
        raise InputError(f'--flow = "{asked.flow}": no flow with a controller; {allowed}')
    usual = [name for name in flows if scenario.flows[name].kind == "mptcp"] or flows
    if asked.flow is None and len(usual) != 1:
        raise InputError(f"--flow must name the flow whose controller differs: {allowed}")
    values = [typed_value(part) for part in split_list(asked.controllers) if part]
    twice = [str(value) for place, value in enumerate(values) if value in values[:place]]
    if twice:
        raise InputError(f'--controllers = "{asked.controllers}": {twice[0]} is listed twice')
    varied = []
    for text in asked.varied:
        key, equals, written = text.partition("=")
        if not (equals and key.strip() and written.strip()):
            raise InputError(f'--vary = "{text}": must be KEY=VALUES, e.g. links.wifi.loss=0%,1%')
        varied.append((key.strip(), written.strip()))
    seeds = asked.seeds.strip()
    if seeds.isascii() and seeds.isdecimal():
        if not 1 <= int(seeds[:9]) <= 100_000:
            raise InputError(f'--seeds = "{seeds}": must be a number from 1 to 100000, or seeds such as 1..5 or 1,2,7')
        seeds = f"{scenario.seed}..{scenario.seed + int(seeds) - 1}"
    apart_s = 0.0
    if asked.starts_apart is not None:
        apart_s = positive_time_option("--starts-apart", asked.starts_apart, "100ms")
    return ComparisonDraft(asked.flow or usual[0], tuple(values), seeds, tuple(varied), apart_s)


def _tell_estimate(found: ComparisonEstimate, jobs: int, *, as_json: bool) -> None:
    assert found.cost is not None
    if not as_json:
        print_line(f"{count_text(found.runs)} runs: {found.cost_text(jobs)}")
        return
    print_json(
        {
            "runs": found.runs,
            "stored": found.stored,
            "deterministic": found.is_one_run,
            "jobs": jobs,
            "wall_s": found.wall_s(jobs),
            "disk_bytes": found.disk_bytes,
        }
    )


def _document(
    scenario: str, draft: ComparisonDraft, found: ComparisonEstimate, job: SweepJob, result: JobOutcome
) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "title": draft.title,
        "flow": draft.flow,
        "controllers": list(draft.controllers),
        "deterministic": found.is_one_run,
        "sweep_id": job.sweep_id,
        "state": result.state.value,
        **fields(result.progress, "runs", "finished", "reused", "failed"),
        "problems": list(result.problems),
    }


def _compare_traces(
    runs: list[str], way: str, offset: str | None, with_skew: bool, database: Path | None, *, as_json: bool
) -> None:
    from subflow_app.features.comparison.core.alignment import METHODS, errors_document
    from subflow_app.features.comparison.core.compared_runs import compare_traces

    ways = {name.replace(" ", "-"): method for name, method in METHODS.items()}
    if way not in ways:
        raise InputError(f'--align = "{way}": must be one of {", ".join(ways)}')
    if (offset is not None) != (way == "manual"):
        raise InputError("--align manual and --offset go together, e.g. --align manual --offset 1.5s")
    offset_s = 0.0 if offset is None else time_option("--offset", offset)
    documents = []
    with opened_store(database, read_only=True) as store:
        first, *others = _runs(store, runs)
        for run in others:
            found = compare_traces(store, first.id, run.id, ways[way], with_skew=with_skew, offset_s=offset_s)
            document = errors_document(found.alignment, found.errors, is_by_order=found.is_by_order)
            documents.append({"reference": first.id, "run": run.id, **document})
            if as_json:
                continue
            print_line(
                f'run {run.id} "{run.name}" on the time of run {first.id} "{first.name}": {found.alignment.text}'
            )
            if found.is_by_order:
                print_line("their owners have different names and are matched in order")
            print_tables(_errors_table(found.errors))
            print_line()
    if as_json:
        print_json({"alignments": documents})


def _errors_table(errors: Sequence[SeriesError]) -> TextTable:
    """The errors of matched traces, in the units of the list of runs."""
    from subflow_app.features.comparison.core.alignment import ERROR_COLUMNS

    titles = ("owner", "trace", "unit", "n", "RMSE", "MAE", "rel. error %", "correlation", "mean diff.", "p95 diff.")
    return TextTable.of(errors, [replace(each, title=told) for each, told in zip(ERROR_COLUMNS, titles, strict=True)])


def _by(by: str) -> By:
    from subflow_app.features.comparison.core.conditions import WAYS

    for way in WAYS:
        if way == by:
            return way
    raise InputError(f'--by = "{by}": must be one of {", ".join(WAYS)}')


def _runs(store: Store, texts: list[str]) -> list[RunRow]:
    """The runs with these numbers or in these ranges, with their documents and without duplicates.

    Raises:
        InputError: if a text is neither a number nor a range, if no run is in a range, or if fewer than two runs
            remain.
        RunNotFound: if a run does not exist.
    """
    numbers: list[int] = []
    listed = [row.id for row in store.runs()] if any("-" in text for text in texts) else []
    for text in texts:
        first, dash, last = text.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            within = sorted(number for number in listed if int(first) <= number <= int(last))
            if not within:
                raise InputError(f'"{text}": unknown run; `subflow runs` lists all runs')
            numbers += within
        else:
            numbers.append(run_number(store, text))
    distinct = list(dict.fromkeys(numbers))
    if len(distinct) < 2:
        raise InputError("a comparison takes two runs or more: `subflow runs` lists them")
    return [store.run(number) for number in distinct]


def _groups_table(table: GroupTable, by: By) -> TextTable:
    reference = table.groups[table.reference] if table.groups else None
    columns: tuple[Column[ConditionGroup], ...] = (
        Column("group", lambda group: f"{group.letter}{' (reference)' if group is reference else ''}"),
        Column(by, lambda group: group.label),
        Column("runs", lambda group: _numbers_text([run.id for run in group.runs])),
        NumberColumn("n", lambda group: len(group.runs)),
    )
    return TextTable.of(table.groups, columns)


def _figures_table(table: GroupTable) -> TextTable:
    from subflow_app.features.comparison.core.group_table import figure_columns
    from subflow_app.vocabulary.language import tr

    columns: list[Column[FigureRow]] = [
        Column("measure", lambda row: tr(row.column.title)),
        Column("unit", lambda row: row.column.unit),
    ]
    for place, group in enumerate(table.groups):
        titles = (group.letter, f"{group.letter} - {table.groups[table.reference].letter}", "significance")
        columns += [
            replace(each, title=title) for each, title in zip(figure_columns(table, place), titles, strict=False)
        ]
    return TextTable.of(table.rows, columns)


def _numbers_text(numbers: list[int]) -> str:
    """Numbers in one line, with ranges for consecutive numbers: ``3-7, 9``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _write(path: Path, text: str) -> None:
    from subflow_app.foundation.files import writing

    with writing(path):
        path.write_text(text, encoding="utf-8")
