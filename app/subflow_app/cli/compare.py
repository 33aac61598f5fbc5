"""``subflow compare``: stored runs in groups, their figures side by side, with differences and significance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.cli.options import Database, Json, RunIds, opened_store, run_number, time_option
from subflow_app.cli.terminal import print_json, print_line, print_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_app.core.comparison.alignment import SeriesError
    from subflow_app.core.comparison.conditions import By
    from subflow_app.core.comparison.group_table import GroupTable
    from subflow_app.core.text_table import TextTable
    from subflow_store import RunRow, Store


def compare(
    runs: RunIds,
    by: Annotated[
        str,
        typer.Option(metavar="WAY", help="What groups have in common: condition, controller, scenario, tag, run."),
    ] = "condition",
    reference: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="The group that others are compared with: letter, label or a run's number."),
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
            help="Lay the others on the first run's time and tell the errors: correlation, first-data, or manual.",
        ),
    ] = None,
    offset: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --align manual: the others begin so much later.")
    ] = None,
    skew: Annotated[bool, typer.Option("--skew", help="With --align correlation: clocks may differ by 2 %.")] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Also write the table there.")] = None,
    as_json: Json = False,
    database: Database = None,
) -> None:
    """Compare stored runs, or groups of them.

    Tells per figure the mean and 95 % interval of each group, the difference to the first, and Welch's t test.

    Runs that differ in nothing but their seed are a group; `subflow compare 3-7 8-12` compares five seeds with five.
    With --align the traces of the others, e.g. of a measured run, are compared with those of the first one instead.
    """
    if align is not None or offset is not None:
        _compare_traces(runs, align or "manual", offset, skew, database, as_json=as_json)
        return
    from subflow_app.core.comparison.conditions import group_runs
    from subflow_app.core.comparison.group_table import compare_groups, reference_of, table_csv, table_document

    way = _way(by)
    with opened_store(database, read_only=True) as store:
        found = _runs(store, runs)
    grouping = group_runs(found, way)
    place = 0 if reference is None else reference_of(grouping.groups, reference)
    table = compare_groups(grouping, reference=place, figures=figures or (), is_paired=paired, is_corrected=holm)
    if not figures and not as_json:
        shown = _first_figures(table)
        if holm:
            # The correction is for what is looked at, not for all that could have been.
            keys = [row.column.key for row in shown.rows]
            shown = compare_groups(grouping, reference=place, figures=keys, is_paired=paired, is_corrected=True)
        table = shown
    if csv_file is not None:
        _write(csv_file, table_csv(table, table.rows))
    if as_json:
        print_json(table_document(table))
        return
    print_tables(_groups_table(table), _figures_table(table))
    print_line(table.method_text)
    for notice in table.notices:
        print_line(notice)
    if csv_file is not None:
        print_line(f"wrote {csv_file}")


def _compare_traces(
    runs: list[str], way: str, offset: str | None, with_skew: bool, database: Path | None, *, as_json: bool
) -> None:
    from subflow_app.core.comparison.alignment import (
        CORRELATION,
        FIRST_DATA,
        MANUAL,
        Alignment,
        Method,
        align,
        errors_document,
        match_series,
        series_errors,
    )
    from subflow_app.core.errors import InputError
    from subflow_app.core.traces import StoredTraces

    ways: dict[str, Method] = {"correlation": CORRELATION, "first-data": FIRST_DATA, "manual": MANUAL}
    if way not in ways:
        raise InputError(f'--align = "{way}": must be one of {", ".join(ways)}')
    if (offset is not None) != (way == "manual"):
        raise InputError("--align manual and --offset go together, e.g. --align manual --offset 1.5s")
    offset_s = 0.0 if offset is None else time_option("--offset", offset)
    documents = []
    with opened_store(database, read_only=True) as store:
        first, *others = _runs(store, runs)
        reference = StoredTraces(store, first.id)
        for run in others:
            measured = StoredTraces(store, run.id)
            alignment = (
                Alignment(offset_s)
                if way == "manual"
                else align(reference, measured, method=ways[way], with_skew=with_skew)
            )
            errors = series_errors(reference, measured, alignment)
            matching = match_series(reference, measured)
            document = errors_document(alignment, errors, is_by_order=matching.is_by_order)
            documents.append({"reference": first.id, "run": run.id, **document})
            if as_json:
                continue
            print_line(f'run {run.id} "{run.name}" on the time of run {first.id} "{first.name}": {alignment.text}')
            if matching.is_by_order:
                print_line("their owners have other names: the first goes with the first, and so on")
            print_tables(_errors_table(errors))
            print_line()
    if as_json:
        print_json({"alignments": documents})


def _errors_table(errors: Sequence[SeriesError]) -> TextTable:
    """The errors of matched traces, in the units of the list of runs."""
    from subflow_app.core.comparison.alignment import error_cells
    from subflow_app.core.text_table import TextColumn, TextTable

    titles = (("of", False), ("trace", False), ("unit", False), ("n", True), ("RMSE", True), ("MAE", True))
    more = (("rel. error %", True), ("correlation", True), ("mean diff.", True), ("p95 diff.", True))
    columns = tuple(TextColumn(title, "", is_number) for title, is_number in titles + more)
    return TextTable("", columns, tuple(error_cells(error) for error in errors))


def _way(by: str) -> By:
    from subflow_app.core.comparison.conditions import WAYS
    from subflow_app.core.errors import InputError

    for way in WAYS:
        if way == by:
            return way
    raise InputError(f'--by = "{by}": must be one of {", ".join(WAYS)}')


def _runs(store: Store, texts: list[str]) -> list[RunRow]:
    """The runs that a person names by numbers and ranges of them, each once, with their documents.

    Raises:
        InputError: if a text is neither, or there are fewer than two runs.
        RunNotFound: if there is no such run.
    """
    from subflow_app.core.errors import InputError

    numbers: list[int] = []
    listed = [row.id for row in store.runs()] if any("-" in text for text in texts) else []
    for text in texts:
        first, dash, last = text.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            within = sorted(number for number in listed if int(first) <= number <= int(last))
            if not within:
                raise InputError(f'"{text}": there is no run with such a number; `subflow runs` lists them')
            numbers += within
        else:
            numbers.append(run_number(store, text))
    distinct = list(dict.fromkeys(numbers))
    if len(distinct) < 2:
        raise InputError("a comparison takes two runs or more: `subflow runs` lists them")
    return [store.run(number) for number in distinct]


def _first_figures(table: GroupTable) -> GroupTable:
    """What the table for people shows unless told otherwise; JSON has all figures."""
    from subflow_app.core.comparison.group_table import is_main

    rows = tuple(row for row in table.rows if is_main(row.column.key))
    return replace(table, rows=rows or table.rows)


def _groups_table(table: GroupTable) -> TextTable:
    from subflow_app.core.text_table import TextColumn, TextTable

    return TextTable(
        "",
        (TextColumn("group", "", False), TextColumn("of", "", False), TextColumn("runs", "", False), TextColumn("n")),
        tuple(
            (
                f"{group.letter}{' (reference)' if place == table.reference else ''}",
                group.label,
                _numbers_text([run.id for run in group.runs]),
                str(len(group.runs)),
            )
            for place, group in enumerate(table.groups)
        ),
    )


def _figures_table(table: GroupTable) -> TextTable:
    from subflow_app.core.comparison.group_table import difference_text, significance_text, spread_text
    from subflow_app.core.language import tr
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = [TextColumn("figure", "", False), TextColumn("unit", "", False)]
    for place, group in enumerate(table.groups):
        columns.append(TextColumn(group.letter))
        if place != table.reference:
            columns.append(TextColumn(f"{group.letter} - {table.groups[table.reference].letter}"))
            columns.append(TextColumn("significance", "", False))
    rows = []
    for row in table.rows:
        cells = [tr(row.column.title), row.column.unit]
        for place in range(len(table.groups)):
            cells.append(spread_text(row, place))
            if place != table.reference:
                cells += [difference_text(row, place, table.reference), significance_text(row.differences[place])]
        rows.append(tuple(cells))
    return TextTable("", tuple(columns), tuple(rows))


def _numbers_text(numbers: list[int]) -> str:
    """Numbers with ranges for those that follow one another: ``3-7, 9``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _write(path: Path, text: str) -> None:
    from subflow_app.core.errors import ExportError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}; choose another folder") from error
