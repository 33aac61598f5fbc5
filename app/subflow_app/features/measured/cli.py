"""``subflow import-trace``: stores a measurement made outside Subflow as a run, like a simulated run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, ListedCommand, opened_store, positive_time_option
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_rows
from subflow_app.vocabulary.number_text import counted
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn


def _format_names() -> str:
    from subflow_app.features.measured.core.trace_formats import format_names

    return ", ".join(format_names())


class ImportTraceCommand(ListedCommand):
    """`import-trace`, whose help lists the file formats."""

    lists: ClassVar = {"formats": _format_names}


def import_trace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, a log of ss -tin, or a capture (pcap, pcapng).")],
    format: Annotated[str, typer.Option(metavar="FORMAT", help="Any of {formats}.")] = "auto",
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="COLUMN=TRACE:OWNER", help="Meaning of a column, e.g. cwnd=cwnd_pkts:download/1."
        ),
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option("--unit", metavar="COLUMN=UNIT", help="Unit of a column, or of the times (time=ms). Repeatable."),
    ] = None,
    time: Annotated[str, typer.Option(metavar="COLUMN", help="The column of times.")] = "",
    interval: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Time between samples; for ss logs without times, also between their entries."
        ),
    ] = None,
    clock: Annotated[
        str, typer.Option(metavar="WAY", help="If times go back: refuse, sort, drop, or join (shift the rest).")
    ] = "refuse",
    flow: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the flow that connections belong to.")
    ] = "measured",
    mss: Annotated[
        int | None, typer.Option(min=1, max=65535, metavar="BYTES", help="Payload of a full packet.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Name of the run; default: that of the file.")
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show the meaning of the columns.")] = False,
    as_json: Json = False,
    database: Database = None,
) -> None:
    """Import a measurement as a run.

    The run has the tag "measured", and is plotted and compared like any other.

    Meanings and units of columns are guessed from their headings; --preview shows the guess; --map, --unit change it.
    Give measured connections the names of the scenario's flows (--flow download) to lay them over simulated ones.
    """
    from subflow_app.features.measured.core.measured_run import keep_run, make_run, read_trace
    from subflow_app.features.measured.core.measured_table import CLOCKS, ReadingOptions

    found = next((each for each in CLOCKS if each == clock), None)
    if found is None:
        raise InputError(f'--clock = "{clock}": must be one of {", ".join(CLOCKS)}')
    told_units = _pairs("--unit", units)
    interval_s = None if interval is None else positive_time_option("--interval", interval, "100ms")
    options = ReadingOptions(
        format=format,
        time_unit=told_units.pop("time", ""),
        time_column=time,
        interval_s=interval_s,
        clock=found,
        flow=flow,
        mss_bytes=mss,
        maps=_pairs("--map", maps),
        units=told_units,
    )
    table = read_trace(file, options)
    if preview:
        _tell_columns(table, as_json)
        return
    run = make_run(table, name=name or file.stem, path=file, interval_s=interval_s, mss_bytes=mss)
    with opened_store(database) as store:
        run_id = keep_run(run, store)
    if as_json:
        print_json({**run.summary(), "run_id": run_id, "columns": [target.text for target in run.targets]})
        return
    for notice in run.notices:
        print_note(notice)
    _print_columns(table)
    print_line(
        f'kept as run {run_id}: "{run.name}", {counted(len(run.values), "sample")} of'
        f" {counted(len(run.targets), 'trace')},"
        f" every {run.interval_s:g} s"
    )


def _tell_columns(table: MeasuredTable, as_json: bool) -> None:
    if as_json:
        columns: list[dict[str, Any]] = [
            {
                "title": column.title,
                "unit": column.unit,
                "trace": column.target.text if column.target is not None else None,
                "samples": len(column.values),
            }
            for column in table.columns
        ]
        print_json({"format": table.format, "columns": columns, "notices": list(table.notices)})
        return
    _print_columns(table)
    for notice in table.notices:
        print_line(notice)


def _print_columns(table: MeasuredTable) -> None:
    shown: tuple[Column[RawColumn], ...] = (
        Column("column", lambda column: column.title),
        Column("unit", _unit),
        Column("trace", lambda column: column.target.text if column.target is not None else "left out"),
        NumberColumn("samples", lambda column: len(column.values)),
    )
    print_rows(table.columns, shown)


def _unit(column: RawColumn) -> str:
    from subflow_app.features.measured.core.measured_table import BY_NAME

    return column.unit or (BY_NAME[column.target.name].unit if column.target is not None else "")


def _pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Dictionary from ``NAME=VALUE`` strings, which are split at the last "=", because names may contain "=" too."""
    pairs = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals or not name.strip():
            raise InputError(f'{option} "{text}": must be COLUMN=VALUE')
        pairs[name.strip()] = value.strip()
    return pairs
