"""``subflow compare``: figures of groups of stored runs side by side, with differences and significance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, RunIds, opened_store, run_number, time_option
from subflow_app.terminal.terminal import print_json, print_line, print_tables
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_app.features.comparison.core.alignment import SeriesError
    from subflow_app.features.comparison.core.conditions import By, ConditionGroup
    from subflow_app.features.comparison.core.group_table import FigureRow, GroupTable
    from subflow_store import RunRow, Store


def compare(
    runs: RunIds,
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
        typer.Option(metavar="KEY", help="Only this figure, e.g. goodput_bps or 'flows.*.mean_rtt_s'. Repeatable."),
    ] = None,
    paired: Annotated[bool, typer.Option("--paired", help="Compare runs of the same seed with each other.")] = False,
    holm: Annotated[bool, typer.Option("--holm", help="Correct p for the number of figures and groups.")] = False,
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
    """Compare stored runs, or groups of them.

    Shows for each figure the mean and 95 % interval of each group, the difference from the first, and Welch's t-test.

    Runs that differ only in their seed form a group; `subflow compare 3-7 8-12` compares five seeds with five.
    With --align, the traces of the other runs, e.g. a measured one, are compared with those of the first instead.
    """
    if align is not None or offset is not None:
        _compare_traces(runs, align or "manual", offset, skew, database, as_json=as_json)
        return
    from subflow_app.features.comparison.core.conditions import group_runs
    from subflow_app.features.comparison.core.group_table import compare_groups, reference_of, table_csv, table_document

    way = _way(by)
    with opened_store(database, read_only=True) as store:
        found = _runs(store, runs)
    grouping = group_runs(found, way)
    place = 0 if reference is None else reference_of(grouping.groups, reference)
    table = compare_groups(
        grouping,
        reference=place,
        figures=figures or (),
        has_all=bool(figures) or as_json,
        is_paired=paired,
        is_corrected=holm,
    )
    if csv_file is not None:
        _write(csv_file, table_csv(table, table.rows))
    if as_json:
        print_json(table_document(table))
        return
    print_tables(_groups_table(table, way), _figures_table(table))
    print_line(table.method_text)
    for notice in table.notices:
        print_line(notice)
    if csv_file is not None:
        print_line(f"wrote {csv_file}")


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


def _way(by: str) -> By:
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
        Column("figure", lambda row: tr(row.column.title)),
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
